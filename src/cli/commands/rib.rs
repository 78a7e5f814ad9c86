//! `anthill rib`: copies, checks and counts the requests of scenes.

use crate::cli::console::Console;
use crate::cli::flags::rib::{RibCatFlags, RibCommand, RibFiles};
use anthill::diagnostic::{Reporter, Severity};
use anthill::files::{FileClaims, FileRole, write_bytes};
use anthill::host_memory::HostMemory;
use anthill::outcome::exit_code::{DONE, INCOMPLETE, WRONG_USAGE};
use anthill::rib::{CopyReport, Input, RibEncoding, Settings, copy, read_stream, renderer_resource};
use anthill::scene::World;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Runs the command and returns the exit code.
pub(crate) fn run(command: &RibCommand, console: &mut Console) -> u8 {
    match command {
        RibCommand::Cat(flags) => cat(flags, console),
        RibCommand::Check(files) => each(files, console, check),
        RibCommand::Stats(files) => each(files, console, stats),
        RibCommand::Capabilities => {
            console.print(&renderer_resource());
            DONE
        }
    }
}

fn inputs(files: &[PathBuf]) -> Vec<Input> {
    files.iter().map(Input::from_argument).collect()
}

/// Prints every message.
fn reporter(console: &Console) -> Reporter {
    let err = console.err.clone();
    Reporter::new(move |message| {
        if message.severity >= Severity::Warning {
            err.block(&message.to_string());
        }
    })
}

fn cat(flags: &RibCatFlags, console: &mut Console) -> u8 {
    let claims = FileClaims::default();
    let files = flags.scenes.files.iter().filter(|file| file.as_os_str() != "-").map(|file| (file, FileRole::Input));
    let output = flags.output.as_ref().map(|output| (output, FileRole::Picture));
    for (path, role) in files.chain(output) {
        if let Err(refused) = claims.claim(path, role) {
            console.err.error(&refused.to_string());
            return WRONG_USAGE;
        }
    }
    let encoding =
        if flags.binary { RibEncoding::Binary } else { RibEncoding::Text { indent: usize::from(flags.indent) } };
    let reporter = reporter(console);
    let written = match &flags.output {
        None => copy_to(flags, encoding, &reporter, BufWriter::new(&mut console.out)).map(|(report, _)| report),
        Some(path) => copy_to(flags, encoding, &reporter, Vec::new())
            .and_then(|(report, bytes)| write_bytes(path, &bytes).map(|()| report)),
    };
    match written {
        Ok(report) if report.errors == 0 => DONE,
        Ok(_) => INCOMPLETE,
        // Whoever reads the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => DONE,
        Err(error) => {
            let name = flags.output.as_deref().unwrap_or_else(|| Path::new("standard output"));
            console.err.error(&format!("cannot write {}: {error}", name.display()));
            INCOMPLETE
        }
    }
}

/// Copies all inputs as one stream, compressed if that is wanted.
fn copy_to<W: Write>(
    flags: &RibCatFlags,
    encoding: RibEncoding,
    reporter: &Reporter,
    mut sink: W,
) -> io::Result<(CopyReport, W)> {
    let inputs = inputs(&flags.scenes.files);
    let memory = HostMemory::of_machine();
    if !flags.gzip {
        let report = copy(&inputs, encoding, &memory, reporter, &mut sink)?;
        return Ok((report, sink));
    }
    let mut packed = GzEncoder::new(sink, Compression::default());
    let report = copy(&inputs, encoding, &memory, reporter, &mut packed)?;
    let mut sink = packed.finish()?;
    sink.flush()?;
    Ok((report, sink))
}

/// Prints what `say` returns for each file, and returns the exit code.
fn each(files: &RibFiles, console: &mut Console, say: impl Fn(&Input, &Reporter) -> (String, bool)) -> u8 {
    let mut code = DONE;
    for input in inputs(&files.files) {
        let (text, is_right) = say(&input, &reporter(console));
        console.print(&format!("{}: {text}\n", input.name().escape_debug()));
        if !is_right {
            code = INCOMPLETE;
        }
    }
    code
}

/// Reads a scene with its archives, and draws nothing.
fn check(input: &Input, reporter: &Reporter) -> (String, bool) {
    let mut drawables = 0;
    let summary = read_stream(std::slice::from_ref(input), &Settings::default(), reporter, &mut |world: World| {
        drawables += world.drawables.len();
        ControlFlow::Continue(())
    });
    let count = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let text = [
        count(summary.requests, "request"),
        count(summary.worlds.into(), "world"),
        count(drawables as u64, "object"),
        count(summary.errors, "error"),
    ];
    (text.join(", "), summary.errors == 0 && !summary.incomplete && summary.stopped.is_none())
}

fn stats(input: &Input, reporter: &Reporter) -> (String, bool) {
    let memory = HostMemory::of_machine();
    let encoding = RibEncoding::Text { indent: 0 };
    let report = match copy(std::slice::from_ref(input), encoding, &memory, reporter, &mut io::sink()) {
        Ok(report) => report,
        Err(error) => return (error.to_string(), false),
    };
    let mut counts: Vec<_> = report.requests.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let requests: u64 = report.requests.values().sum();
    let lines = counts.iter().map(|(name, count)| format!("\n{count:>10}  {name}"));
    let text = format!(
        "{requests} requests, {} numbers, {} strings{}",
        report.numbers,
        report.strings,
        lines.collect::<String>()
    );
    (text, report.errors == 0)
}
