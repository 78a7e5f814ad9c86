//! Captures of a region for RenderDoc, and what is said where there can be none.

use super::{Ran, anthill, directory, run};
use anthill::gpu::capture_layer;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

const SCENE: &str = "Format 48 32 1\nDisplay \"a.exr\" \"exr\" \"rgba\"\nProjection \"perspective\"\nTranslate 0 0 4\n\
    WorldBegin\nSurface \"matte\"\nSphere 1 -1 1 360\nWorldEnd\n";

fn picture(directory: &Path) -> Vec<u8> {
    let bytes = fs::read(directory.join("a.exr")).expect("it was drawn");
    fs::remove_file(directory.join("a.exr")).expect("it is there");
    bytes
}

/// The files beside the scene.
fn others(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).expect("a folder").map(|entry| entry.expect("a file").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".rdc") || name.starts_with('.')).collect()
}

#[test]
fn a_region_is_captured_whole_or_not_at_all_and_the_picture_is_the_same() {
    let directory = directory();
    let at = directory.path();
    fs::write(at.join("a.rib"), SCENE).expect("writable");
    assert_eq!(anthill(at, &["render", "a.rib"]).code, Some(0));
    let expected = picture(at);
    let flags =
        ["render", "a.rib", "--devices", "0", "--capture", "r.rdc", "--capture-region", "20,16", "--memory", "16M"];
    let Ran { code, err, .. } = anthill(at, &flags);
    assert!(picture(at) == expected, "{err}");
    if capture_layer().is_some() {
        assert!(code == Some(0) && err.contains("captured region [0, 48) x [0, 32) in \"r.rdc\""), "{err}");
        assert!(fs::read(at.join("r.rdc")).is_ok_and(|bytes| bytes.starts_with(b"RDOC")));
        fs::remove_file(at.join("r.rdc")).expect("it is there");
        // What does not fit the little memory of captures is captured in part: that with the pixel.
        let sizes = ["--format", "640", "480", "--samples", "4", "4"];
        let Ran { code, err, .. } = anthill(at, &[&flags[..], &sizes[..]].concat());
        assert!(code == Some(0) && err.contains("captured region [0, ") && !err.contains("[0, 640)"), "{err}");
        assert!(fs::read(at.join("r.rdc")).is_ok_and(|bytes| bytes.starts_with(b"RDOC")));
        fs::remove_file(at.join("r.rdc")).expect("it is there");
    } else {
        assert!(code == Some(1) && err.contains("RenderDoc's Vulkan layer is not installed"), "{err}");
    }
    assert!(others(at).is_empty(), "{:?}", others(at));
}

/// A shader whose line 4 has values that are known: `a` is 6, and `b` 6 and s. It has a function, and no derivatives.
const STEPPED: &str = "float twice(float x) { return x + x; }\nsurface stepped(float k = 3;) {\n  float a = twice(k);\n  \
    float b = a + s;\n  if (b > 6.5)\n    b = a;\n  Ci = Cs * b * noise(b * s);\n  Oi = Os;\n}\n";

/// RenderDoc's own replay shows labels, names and sources, and steps a vertex to a line with a known value.
#[test]
fn a_capture_shows_sources_and_steps_through_rsl() {
    let python = || Command::new("/usr/bin/python3");
    let has_module = python().args(["-c", "import renderdoc"]).output().is_ok_and(|output| output.status.success());
    if capture_layer().is_none() || !has_module {
        eprintln!("nothing is tested: RenderDoc's layer and its module for Python are not both installed");
        return;
    }
    let directory = directory();
    let at = directory.path();
    fs::write(at.join("stepped.sl"), STEPPED).expect("writable");
    fs::write(at.join("a.rib"), SCENE.replace("matte", "stepped")).expect("writable");
    let Ran { code, err, .. } =
        anthill(at, &["render", "a.rib", "--devices", "0", "--capture", "r.rdc", "--memory", "16M"]);
    assert_eq!(code, Some(0), "{err}");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/capture.py");
    let output = python()
        .arg(script)
        .args([at.join("r.rdc"), at.join("stepped.sl")])
        .args(["4", "a", "6"])
        .output()
        .expect("Python runs");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn where_there_can_be_no_capture_the_picture_is_drawn() {
    let directory = directory();
    let at = directory.path();
    fs::write(at.join("a.rib"), SCENE).expect("writable");
    assert_eq!(anthill(at, &["render", "a.rib"]).code, Some(0));
    let expected = picture(at);
    let without = [("VK_LOADER_LAYERS_DISABLE", OsStr::new("VK_LAYER_RENDERDOC_Capture"))];
    let cases = [
        ("0", "RenderDoc's Vulkan layer is not installed"),
        ("7", "there is no region 7: the last is 0"),
        ("60,3", "pixel 60, 3 was not drawn"),
    ];
    for (region, why) in cases {
        let Ran { code, err, .. } =
            run(at, &["render", "a.rib", "--capture", "r.rdc", "--capture-region", region], &without, "");
        assert!(code == Some(1) && err.contains(&format!("\"r.rdc\" is not written: {why}")), "{region}: {err}");
        assert!(picture(at) == expected && others(at).is_empty(), "{region}");
    }
    let nothing = "WorldBegin\nWorldEnd\n";
    fs::write(at.join("b.rib"), format!("Hider \"null\"\n{nothing}")).expect("writable");
    let Ran { code, err, .. } = anthill(at, &["render", "b.rib", "--capture", "r.rdc"]);
    assert!(code == Some(1) && err.contains("no region of a picture was drawn"), "{err}");
    // Without a folder for the recording, and with a picture that is written to the capture's file.
    let hidden = OsStr::new("/nowhere");
    for (flags, variable, why) in [
        (&["--capture-region", "-1,3"][..], without[0], "pixel -1, 3 was not drawn"),
        (&[], ("TMPDIR", hidden), "there is no temporary folder for RenderDoc: "),
    ] {
        if variable.0 == "TMPDIR" && capture_layer().is_none() {
            continue;
        }
        let Ran { code, err, .. } =
            run(at, &[&["render", "a.rib", "--capture", "r.rdc"], flags].concat(), &[variable], "");
        assert!(code == Some(1) && err.contains(&format!("\"r.rdc\" is not written: {why}")), "{err}");
        assert!(picture(at) == expected && others(at).is_empty(), "{flags:?}");
    }
    for flags in [&["--validate"][..], &["--check"], &["--capture-region", "all"]] {
        let Ran { code, err, .. } = anthill(at, &[&["render", "a.rib", "--capture", "r.rdc"], flags].concat());
        assert_eq!(code, Some(2), "{flags:?}: {err}");
    }
    let Ran { code, err, .. } = anthill(at, &["render", "a.rib", "--capture", "-"]);
    assert!(code == Some(2) && err.contains("--capture -: a capture is not written to standard output"), "{err}");
}
