//! Programs that make RIB.

use super::*;
use crate::host_memory::HostMemory;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const BOUND: &str = "[-1 1 -1 1 -1 1]";

fn allowed() -> Settings {
    Settings { programs: Some(Duration::from_secs(20)), ..Settings::default() }
}

/// A shell script, and the folder that holds it.
struct Script {
    folder: TempDir,
}

impl Script {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("make.sh"), text).expect("a file");
        Self { folder }
    }

    /// A procedural that asks it.
    fn procedural(&self, arguments: &str) -> String {
        let script = self.folder.path().join("make.sh");
        format!("Procedural \"RunProgram\" [\"sh {}\" \"{arguments}\"] {BOUND}\n", script.display())
    }

    /// What it wrote to a file.
    fn written(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }
}

fn read_allowed(body: &str) -> ReadOutcome {
    read_bytes(format!("WorldBegin\n{body}WorldEnd\n"), &allowed())
}

#[test]
fn programs_answer_many_requests() {
    let script = Script::new(
        "cd \"$(dirname \"$0\")\"\necho start >> starts\nwhile read detail args; do echo \"$detail|$args\" >> asked\n\
         echo \"Translate 0 0 2 Sphere $args -1 1 360\"; printf '\\377\\n'; done\necho end >> starts\n",
    );
    let ask: String = (1..=3).map(|radius| script.procedural(&radius.to_string())).collect();
    let unseen = format!("AttributeBegin\nTranslate 100 0 0\n{}AttributeEnd\n", script.procedural("9"));
    let object = format!("ObjectBegin 1\n{}ObjectEnd\nObjectInstance 1\n", script.procedural("4"));
    let outcome = read_allowed(&format!("{ask}{unseen}{object}Disk 0 1 360\n"));
    assert_eq!(outcome.codes(), [], "{:?}", outcome.messages);
    let places: Vec<_> = outcome.world().drawables.iter().map(|drawable| placed(drawable, [0.0; 3])[2]).collect();
    assert_eq!(places, [2.0, 2.0, 2.0, 2.0, 0.0]);
    // The picture of 640 by 480 pixels shows 2 units in its height; the bound covers 480 by 480 of them.
    assert_eq!(script.written("asked"), "2.304e5|1\n2.304e5|2\n2.304e5|3\n1e38|4\n");
    assert_eq!(script.written("starts"), "start\nend\n");
}

#[test]
fn binary_answers_end_where_no_token_goes_on() {
    let script = Script::new(
        "while read line; do printf 'Color [\\244\\377\\200\\000\\000 0 0]'; sleep 0.1; printf 'Sphere 1 -1 1 \\244\\103\\264\\000\\000\\377'; done\n",
    );
    let text = script.procedural("");
    let outcome = read_allowed(&format!("{text}{text}"));
    // The colour is not finite, and the spheres follow it.
    assert_eq!((outcome.codes(), outcome.summary.errors), (vec![("math", 1)], 2), "{:?}", outcome.messages);
    assert_eq!(outcome.world().drawables.len(), 2);
}

#[test]
fn programs_run_only_if_the_user_allows_it() {
    let script = Script::new("cd \"$(dirname \"$0\")\"; echo ran > ran");
    let text = script.procedural("").repeat(2);
    let path = script.folder.path().join("ran").display().to_string();
    let outcome =
        read_text(&format!("WorldBegin\n{text}ReadArchive \"|echo ran > {path}\"\nSphere 1 -1 1 360\nWorldEnd\n"));
    assert_eq!(outcome.codes(), [("incapable", 2)]);
    assert!(outcome.messages[0].to_string().contains("--allow-programs"), "{}", outcome.messages[0]);
    assert_eq!((outcome.world().drawables.len(), outcome.summary.left_out), (1, 2));
    assert!(outcome.summary.incomplete && script.written("ran").is_empty());
}

#[test]
fn a_program_that_hangs_is_given_up() {
    for text in ["sleep 60", "read line; echo Sphere 1 -1 1 360; sleep 60", "exec >/dev/null; sleep 1; exit"] {
        let script = Script::new(text);
        let settings = Settings { programs: Some(Duration::from_millis(700)), ..Settings::default() };
        let begin = Instant::now();
        let body = format!("WorldBegin\n{}Disk 0 1 360\nWorldEnd\n", script.procedural(&"x".repeat(200_000)));
        let outcome = read_bytes(body, &settings);
        assert!(begin.elapsed() < Duration::from_secs(10), "{text}");
        assert_eq!(outcome.codes(), [("badfile", 2)], "{text}: {:?}", outcome.messages);
        assert!(outcome.summary.incomplete && !outcome.world().drawables.is_empty());
    }
}

/// What a program starts ends with it, also where that began a session of its own, lost its parent, or has another
/// environment.
#[cfg(target_os = "linux")]
#[test]
fn what_a_program_started_does_not_outlive_its_time() {
    let helper = "cd \"$(dirname \"$0\")\"; printf 'echo $$ >> ids; exec sleep 60\\n' > helper";
    for start in [
        "setsid sh helper & sleep 60",
        "setsid sh helper & exit",
        "(env -i PATH=\"$PATH\" setsid sh helper &); sleep 60",
        "setsid sh -c 'sh helper & sh helper &'; exit",
        "(env -i PATH=\"$PATH\" sh helper &); exit",
    ] {
        let script = Script::new(&format!("{helper}\n{start}\n"));
        let settings = Settings { programs: Some(Duration::from_millis(700)), ..Settings::default() };
        let body = format!("WorldBegin\n{}Disk 0 1 360\nWorldEnd\n", script.procedural(""));
        let outcome = read_bytes(body, &settings);
        assert_eq!(outcome.codes(), [("badfile", 2)], "{start}: {:?}", outcome.messages);
        let ids = script.written("ids");
        assert!(!ids.is_empty(), "{start}: nothing was started");
        for id in ids.lines() {
            let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
            assert!(status.is_empty() || status.contains("State:\tZ"), "{start}: {status}");
        }
    }
}

/// So it does when the program ends by itself.
#[cfg(target_os = "linux")]
#[test]
fn what_a_program_leaves_running_ends_with_it() {
    let helper = "cd \"$(dirname \"$0\")\"; printf 'echo $$ >> ids; exec sleep 60\\n' > helper";
    let until = "while [ ! -s ids ]; do sleep 0.01; done";
    for start in [
        "setsid sh helper >/dev/null 2>&1 </dev/null &",
        "(setsid sh helper >/dev/null 2>&1 </dev/null &)",
        "(env -i PATH=\"$PATH\" sh helper >/dev/null 2>&1 </dev/null &)",
    ] {
        for end in ["exit", "printf 'Disk 0 1 360\\377'; cat > /dev/null"] {
            let script = Script::new(&format!("{helper}\n{start}\n{until}\n{end}\n"));
            let outcome = read_allowed(&script.procedural(""));
            assert_eq!(outcome.codes(), [], "{start} {end}: {:?}", outcome.messages);
            let id = script.written("ids");
            let status = std::fs::read_to_string(format!("/proc/{}/status", id.trim())).unwrap_or_default();
            assert!(!id.is_empty() && status.is_empty(), "{start} {end}: {id} {status}");
        }
    }
}

/// What another program, or an application that this library is a part of, has started is no concern of one that ends.
#[cfg(target_os = "linux")]
#[test]
fn a_program_that_ends_leaves_those_of_others_alone() {
    let script = Script::new(
        "cd \"$(dirname \"$0\")\"; printf 'echo $$ > id; exec sleep 60\\n' > helper\n\
         (env -i PATH=\"$PATH\" setsid sh helper >/dev/null 2>&1 </dev/null &)\n\
         while [ ! -s id ]; do sleep 0.01; done; printf '\\377'; cat > /dev/null\n",
    );
    let id = script.folder.path().join("id").display().to_string();
    let others = format!("ReadArchive \"|true\"\nReadArchive \"|kill -0 $(cat {id}) && echo Sphere 1 -1 1 360\"\n");
    let outcome = read_allowed(&format!("{}{others}", script.procedural("")));
    let killed = std::process::Command::new("kill").arg(script.written("id").trim()).status();
    assert_eq!((outcome.codes(), outcome.world().drawables.len()), (vec![], 1), "{:?}", outcome.messages);
    assert!(killed.expect("there is kill").success());
}

#[test]
fn a_program_that_fails_or_prints_garbage_is_reported() {
    let failing = Script::new("read line; echo no such leaf >&2; exit 3");
    let outcome = read_allowed(&failing.procedural("a").repeat(2));
    // It is started again for the second request; messages that differ only in their place are given once.
    assert_eq!((outcome.codes(), outcome.summary.errors), (vec![("badfile", 2)], 2));
    let message = outcome.messages[0].to_string();
    assert!(message.contains("exit status: 3") && message.contains("no such leaf"), "{message}");
    // Its last words may come after its end.
    let late = Script::new("(exec >&-; sleep 0.1; echo no such leaf >&2) & exit 3");
    let outcome = read_allowed(&late.procedural("a"));
    assert!(outcome.messages[0].to_string().contains("no such leaf"), "{:?}", outcome.messages);
    let garbage = Script::new("while read line; do printf '\\001\\002 Nonsense \"open [ ]]\\377'; done");
    let outcome = read_allowed(&format!("{}Sphere 1 -1 1 360\n", garbage.procedural("a")));
    assert!(outcome.codes().iter().all(|(code, _)| matches!(*code, "syntaxerror" | "unregistered")));
    assert!(outcome.messages[0].location.file.starts_with("output of sh "), "{:?}", outcome.messages[0]);
    assert_eq!(outcome.world().drawables.len(), 1);
    let missing = read_allowed(&format!("Procedural \"RunProgram\" [\"/no/such program\" \"\"] {BOUND}\n"));
    assert_eq!((missing.codes(), missing.summary.left_out), (vec![("nofile", 2)], 1));
    assert_eq!(read_allowed(&format!("Procedural \"RunProgram\" [\"\" \"\"] {BOUND}\n")).codes(), [("nofile", 2)]);
}

#[test]
fn output_without_end_is_cut_where_memory_ends() {
    let script = Script::new("yes 'Sides 1'");
    let settings = Settings { memory: HostMemory::new(4 << 20), ..allowed() };
    let outcome = read_bytes(format!("WorldBegin\n{}Disk 0 1 360\nWorldEnd\n", script.procedural("")), &settings);
    assert_eq!(outcome.messages[0].code, "limitcheck");
    assert!(outcome.summary.incomplete && outcome.world().drawables.len() == 1);
}

#[test]
fn programs_that_ask_for_themselves_end() {
    let script = Script::new(
        "while read line; do echo \"Procedural \\\"RunProgram\\\" [\\\"sh $0\\\" \\\"\\\"] [-1 1 -1 1 -1 1] Disk 0 1 360\"; printf '\\377'; done",
    );
    let outcome = read_allowed(&script.procedural(""));
    assert_eq!(outcome.codes(), [("limitcheck", 1)]);
    assert_eq!(outcome.world().drawables.len(), 128);
}

#[test]
fn the_output_of_a_command_is_an_archive() {
    let text = "ReadArchive \"|echo 'Color 1 0 0 Sphere 1 -1 1 360'\"\nDisk 0 1 360\n";
    let outcome = read_allowed(text);
    assert_eq!(outcome.codes(), []);
    let drawables = &outcome.world().drawables;
    assert!(drawables.len() == 2 && drawables.iter().all(|drawable| drawable.attributes.color == [1.0, 0.0, 0.0]));
    let failing = read_allowed("ReadArchive \"|exit 4\"\n");
    assert_eq!((failing.codes(), failing.summary.incomplete), (vec![("badfile", 2)], true));
    let delayed =
        read_allowed(&format!("Procedural \"DelayedReadArchive\" \"|echo Sphere 1 -1 1 360\" {BOUND}\n").repeat(3));
    assert_eq!((delayed.codes(), delayed.world().drawables.len()), (vec![], 3));
}
