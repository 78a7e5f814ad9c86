//! Flags that other renderers have too, help, and values that are refused.

use super::*;
use crate::cli::flags::Flags;
use crate::cli::help::fitted;

#[test]
fn flags_of_displays_and_folders() {
    let plain = options_of("");
    assert!(plain.display_type.is_none() && plain.prologue.is_empty());
    let full = options_of("-d TIFF --option Bogus --option Sides --shaders a:/b --archives c: --textures t -t 1");
    assert_eq!((full.display_type.as_deref(), full.prologue), (Some("TIFF"), vec!["Bogus".into(), "Sides".into()]));
    let first = full.search_first;
    assert_eq!(
        (first.shader, first.archive, first.texture),
        (vec!["a".into(), "/b".into()], vec!["c".into()], vec!["t".into()])
    );
    assert!(first.display.is_empty() && first.procedural.is_empty());
    let last = options_of("--displays d:e --procedurals p").search_first;
    assert_eq!((last.display, last.procedural), (vec!["d".into(), "e".into()], vec!["p".into()]));
}

/// `-q` leaves errors and warnings, `-v` adds details.
#[test]
fn quiet_and_verbose() {
    use anthill::diagnostic::{Diagnostic, Severity};
    let render = |_: &RenderOptions, reporter: &Arc<Reporter>, watcher: &dyn Observer| {
        for severity in [Severity::Detail, Severity::Info, Severity::Warning, Severity::Error, Severity::Error] {
            let message = Diagnostic::new(severity, "x", SourceLocation::default(), format!("{severity:?}"));
            reporter.report(message);
        }
        watcher.notify(Event::WorldBegin { frame: None });
        watcher.notify(Event::WorldEnd);
        finished(&[DisplayState::Whole])
    };
    let shown = |flags: &str| {
        let err = type_in(&directory(), &format!("render SCENE {flags}"), &Arc::default(), &render).2;
        let lines =
            err.lines().map(|line| line.trim_start_matches("anthill: ").split(['[', '.']).next().unwrap_or("").trim());
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(shown("-q"), ["warning: Warning", "error: Error"]);
    assert_eq!(shown(""), ["note: Info", "warning: Warning", "error: Error", "2 times: Error", "a"]);
    assert_eq!(shown("-v")[..2], ["note: Detail", "note: Info"]);
    assert_eq!(shown("-q --progress percent")[2], "R90000    0%");
    assert!(error_of("render SCENE -q -v").contains("cannot be used with '--verbose'"));
}

#[test]
fn macros_have_names() {
    assert_eq!(options_of("-D PRMAN --define LEVEL=2").overrides.macros, ["PRMAN", "LEVEL=2"]);
    for bad in ["=1", "2D=1", "a-b"] {
        let message = error_of(&format!("render SCENE -D {bad}"));
        assert!(message.contains(&format!("--define {bad:?}: a macro is NAME or NAME=VALUE")), "{message}");
    }
}

#[test]
fn completions_and_manual_pages_come_from_the_flags() {
    let render = |_: &RenderOptions, _: &Arc<Reporter>, _: &dyn Observer| panic!("nothing to render");
    let directory = directory();
    let ask = |line: &str| type_in(&directory, line, &Arc::default(), &render);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, out, err) = ask(&format!("completions {shell}"));
        assert!(code == 0 && err.is_empty() && out.contains("display-type"), "{shell}: {err}");
    }
    let (code, page, _) = ask("man");
    assert!(code == 0 && page.contains(".TH anthill 1") && page.contains("render"), "{page}");
    let (code, out, _) = ask("man -o DIR");
    let page = std::fs::read_to_string(directory.path().join("anthill-render.1")).expect("a page of each command");
    assert!(code == 0 && out.is_empty() && page.contains("shading\\-rate"), "{page}");
    let (code, _, err) = ask("man -o DIR/no");
    assert!(code == 1 && err.starts_with("anthill: error: cannot write "), "{err}");
}

#[test]
fn flags_of_other_renderers_are_answered_with_ours() {
    let render = |_: &RenderOptions, _: &Arc<Reporter>, _: &dyn Observer| panic!("nothing to render");
    for (line, tip) in [
        ("render SCENE -res 640 480", "what other renderers call -res is --format W H"),
        ("render -crop 0 1 0 0.5 SCENE", "what other renderers call -crop is --crop X0 X1 Y0 Y1"),
        ("render -progress SCENE", "what other renderers call -progress is --progress bar"),
        ("render -Progress SCENE", "what other renderers call -Progress is --progress percent"),
        ("render -p:4 SCENE", "what other renderers call -p is -t N for a number of cores"),
        ("render -p SCENE", "or --progress bar"),
        ("render -f 1,3 SCENE", "what other renderers call -f is --frames 1,3-5"),
        ("render -type=tiff SCENE", "what other renderers call -type is -d TYPE"),
        ("render -shaders=a SCENE", "what other renderers call -shaders is --shaders PATH"),
        ("render -verbose=2 SCENE", "what other renderers call -verbose is -v"),
        ("scale SCENE -res 640 480", "what other renderers call -res is --format W H"),
    ] {
        let (code, out, err) = type_in(&directory(), line, &Arc::default(), &render);
        assert!(code == 2 && out.is_empty() && err.contains(tip), "{line}: {err}");
    }
    // Mistakes of another kind, and commands that have no such flags.
    for line in [
        "render SCENE --fromat 1 1",
        "render -f.rib --fromat 1 1",
        "render -t many SCENE",
        "texture info -verbose SCENE",
        "rib cat SCENE -f",
        "devices -type",
        "scale SCENE -p:4",
    ] {
        let (code, _, err) = type_in(&directory(), line, &Arc::default(), &render);
        assert!(code == 2 && !err.contains("other renderers"), "{line}: {err}");
    }
}

/// No line of any help is longer than the terminal, unless a single word is.
#[test]
fn help_fits_every_width() {
    use clap::CommandFactory;
    let commands = ["", "render", "devices", "shader compile", "texture make", "scale", "predict", "preview", "man"];
    for (width, line) in [20, 24, 40, 57, 80, 200].into_iter().flat_map(|width| commands.map(|line| (width, line))) {
        let command = Flags::command().term_width(width);
        let words = ["anthill"].into_iter().chain(line.split_whitespace()).chain(["--help"]);
        let answer = command.try_get_matches_from(words).expect_err("help");
        let text = fitted(&answer.render().to_string(), width);
        for shown in text.lines().filter(|shown| shown.chars().count() > width) {
            assert!(!shown.trim().contains(' '), "{line} at {width}: {shown:?}");
        }
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&text), words(&answer.render().to_string()));
    }
}

#[test]
fn every_bad_number_or_name_is_explained() {
    let table = [
        (
            "render SCENE --crop 0.5 0.5 0 1",
            "anthill: error: --crop 0.5 0.5 0 1: each pair must increase and be between 0 and 1; --overscan draws what is beyond",
        ),
        (
            "render SCENE --crop -1 1 0 1",
            "anthill: error: --crop -1 1 0 1: each pair must increase and be between 0 and 1; --overscan draws what is beyond",
        ),
        (
            "render SCENE --crop 0 1 0 nan",
            "error: invalid value 'nan' for '--crop <X0> <X1> <Y0> <Y1>': expected a finite number such as 0.25",
        ),
        ("render SCENE --samples 4 0", "error: invalid value '0' for '--samples <X> <Y>': 0 is not in 1..=256"),
        (
            "render SCENE --shading-rate 0",
            "anthill: error: --shading-rate 0: the area of a micropolygon must be above 0",
        ),
        (
            "render SCENE --shading-rate -1",
            "anthill: error: --shading-rate -1: the area of a micropolygon must be above 0",
        ),
        (
            "render SCENE --shading-rate inf",
            "error: invalid value 'inf' for '--shading-rate <R>': expected a finite number such as 0.25",
        ),
        ("render SCENE --samples 256 257", "error: invalid value '257' for '--samples <X> <Y>': 257 is not in 1..=256"),
        (
            "render SCENE -t many",
            "error: invalid value 'many' for '--threads <N>': expected a number of cores such as 4, 0 for all or -1 for all but one",
        ),
        (
            "render SCENE -d cineon",
            "error: invalid value 'cineon' for '--display-type <TYPE>': known drivers are file, exr (openexr), tiff, png, zfile, shadow, deepshad, framebuffer, null",
        ),
        (
            "preview a.exr b.png --gain nan",
            "error: invalid value 'nan' for '--gain <GAIN>': expected a finite number such as 0.5 or 2, not below 0",
        ),
    ];
    for (line, expected) in table {
        assert_eq!(error_of(line), expected, "{line}");
    }
}
