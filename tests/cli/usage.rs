//! Command lines that are wrong, and the documentation of those that are right.

use super::{Ran, anthill, directory, run};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;

#[test]
fn wrong_usage_exits_with_2_and_is_explained_on_standard_error() {
    let directory = directory();
    fs::write(directory.path().join("a.rib"), "WorldBegin WorldEnd\n").expect("writable");
    let table = [
        (vec![], "Usage: anthill <COMMAND>"),
        (vec!["render"], "<SCENE.rib>"),
        (vec!["render", "none.rib"], "cannot read \"none.rib\": No such file or directory"),
        (vec!["render", "."], "cannot read \".\": it is a directory"),
        (vec!["render", "a.rib", "--no-such-flag"], "unexpected argument '--no-such-flag'"),
        (vec!["render", "a.rib", "-o", "a"], "must end with .exr, .tif, .tiff or .png"),
        (vec!["render", "a.rib", "--memory", "1"], "expected a size such as 512M"),
        (vec!["render", "a.rib", "--samples", "0", "4"], "0 is not in 1..=256"),
        (vec!["render", "a.rib", "--crop", "0.5", "0.2", "0", "1"], "each pair must increase"),
        (vec!["render", "a.rib", "--crop", "-0.1", "1", "0", "1"], "between 0 and 1; --overscan draws what is beyond"),
        (vec!["render", "a.rib", "--overscan", "--crop", "1", "-1", "0", "1"], "each pair must increase"),
        (vec!["render", "a.rib", "--overscan", "--crop", "NaN", "2", "0", "1"], "expected a finite number"),
        (vec!["render", "a.rib", "--stats", "no/such/stats.json"], "cannot write \"no/such/stats.json\""),
        (vec!["shader", "compile", "none.sl"], "cannot read \"none.sl\": No such file or directory"),
        (vec!["shader", "info", "plastik"], "did you mean plastic?"),
        (vec!["scale", "none.rib", "--devices", "0", "-o", "d"], "cannot read \"none.rib\": No such file or directory"),
        (vec!["scale", "-", "--devices", "0", "-o", "d"], "the scene cannot be standard input"),
        (vec!["scale", "a.rib", "-o", "d"], "required arguments were not provided"),
        (vec!["scale", "a.rib", "--devices", "0", "-o", "a.rib"], "cannot write \"a.rib\""),
        (vec!["scale", "a.rib", "--devices", "0", "--crop", "0", "0", "0", "1", "-o", "d"], "each pair must increase"),
        (vec!["scale", "a.rib", "--devices", "0,0", "-o", "d"], "no --devices names one device alone"),
        (vec!["scale", "a.rib", "--devices", "0", "--devices", "0", "-o", "d"], "--devices 0 is given twice"),
        (vec!["scale", "a.rib", "--devices", "0", "--devices", "99", "-o", "d"], "there is no device \"99\""),
        (vec!["render", "a.rib", "--pipeline", "batch"], "a similar value exists: 'batches'"),
        (vec!["explore", "-"], "the scene is read once for each run, so it cannot be standard input"),
        (vec!["explore", "a.rib", "--devices", "99"], "there is no device \"99\""),
        (vec!["explore", "a.rib", "--pipelines", "batches,hide"], "invalid value 'hide'"),
        (vec!["texture", "make", "a.tif", "-o", "./a.tif"], "(a texture to write) is the same file as \"a.tif\""),
        (vec!["texture", "make", "a.tif", "b.tif", "-o", "a.tex"], "A texture is made of one picture, but there are 2"),
        (vec!["texture", "make", "a.tif", "-o", "a.tex", "--filter", "disk"], "there are box, triangle, gaussian"),
        (
            vec!["texture", "make", "a.tif", "-o", "a.tex", "--wrap", "clamp,soft"],
            "nor two of these as in periodic,clamp",
        ),
    ];
    for (args, expected) in table {
        let Ran { code, out, err } = anthill(directory.path(), &args);
        assert!(code == Some(2) && out.is_empty() && err.contains(expected), "{args:?}: {code:?} {err}");
    }
}

/// Test aids with invalid values.
#[test]
fn invalid_test_aids_exit_with_2() {
    let directory = directory();
    fs::write(directory.path().join("a.rib"), "Display \"a.exr\" \"exr\" \"rgba\" WorldBegin WorldEnd\n")
        .expect("writable");
    for (name, value, expected) in [
        ("ANTHILL_RECALL", "0", "a whole number from 1 on is expected"),
        ("ANTHILL_BUCKET", "0", "a whole number from 1 on is expected"),
        ("ANTHILL_BUCKET", "-16", "a whole number is expected"),
        ("ANTHILL_PAGE_KIB", "0", "a whole number from 1 on is expected"),
        ("ANTHILL_PASSES", "0", "a whole number from 1 on or \"calls\" is expected"),
        ("ANTHILL_UNROLLED", "yes", "a whole number is expected"),
        ("ANTHILL_UNDECIDED", "yes", "a whole number is expected"),
        ("ANTHILL_PERTURB", "often", "a whole number is expected"),
        (
            "ANTHILL_AS_GPU",
            "parallel,fast",
            "\"fast\" is not known: parallel, staged, clockless, clockless-kernels and some of reciprocal",
        ),
        ("ANTHILL_THROTTLE", "0:0.5", "DEVICE:TIMES[,...] is expected"),
    ] {
        let ran = run(directory.path(), &["render", "a.rib"], &[(name, OsStr::new(value))], "");
        assert_eq!(ran.code, Some(2), "{name}={value}: {}", ran.err);
        assert!(ran.err.contains(&format!("error: {name}={value}: {expected}")), "{}", ran.err);
    }
    assert!(!directory.path().join("a.exr").exists(), "nothing is drawn");
}

/// All words that begin with two hyphens.
fn flags(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.filter(|word| word.starts_with("--") && word.len() > 3).collect()
}

/// The page about the command line has the flags of `anthill render --help`.
#[test]
fn every_flag_of_render_is_documented() {
    let page = include_str!("../../docs/command-line.md");
    let section = page.split("\n## ").find(|section| section.starts_with("Flags of `anthill render`"));
    let table: String = section.expect("a section").lines().filter(|line| line.starts_with("| `-")).collect();
    let help = anthill(directory().path(), &["render", "--help"]).out;
    let (mut offered, listed) = (flags(&help), flags(&table));
    for said_elsewhere in ["--help", "--output"] {
        offered.remove(said_elsewhere);
    }
    assert_eq!(listed, offered, "docs/command-line.md and `anthill render --help` differ");
}
