//! The page of a render, from the command line to the file.

use super::{Ran, directory, run};
use std::fs;

const SCENE: &str = "Display \"a.exr\" \"exr\" \"rgba\" Format 64 48 1 Projection \"perspective\" Translate 0 0 3\n\
                     WorldBegin Surface \"plastic\" Sphere 1 -1 1 360\nSurface \"missing\" Sphere 0.2 -0.2 0.2 360 WorldEnd\n";

/// The page shows the picture, and writing it changes no bit of that.
#[test]
fn a_page_shows_a_render() {
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.rib"), SCENE).expect("writable");
    let render = |more: &[&str]| run(folder.path(), &[&["render", "a.rib"], more].concat(), &[], "");
    let Ran { code, err, .. } = render(&["-o", "plain.exr", "--devices", "0"]);
    assert_eq!(code, Some(0), "{err}");
    let shown = ["-o", "shown.exr", "--devices", "0,0", "--regions", "8", "--report", "r.html", "--stats", "s.json"];
    let Ran { code, err, .. } = render(&shown);
    assert_eq!(code, Some(0), "{err}");
    assert!(fs::read(at("plain.exr")).expect("written") == fs::read(at("shown.exr")).expect("written"));
    let page = fs::read_to_string(at("r.html")).expect("written");
    for text in
        ["alt=\"The picture\"", "alt=\"Time\"", "alt=\"Micropolygons by tile\"", "alt=\"Samples\"", ", limit ", "shade"]
    {
        assert!(page.contains(text), "{text}");
    }
    // Warnings have their places.
    assert!(page.contains("<code>a.rib:3:") && page.contains("missing"), "{page}");
    let stats: serde_json::Value = serde_json::from_slice(&fs::read(at("s.json")).expect("written")).expect("JSON");
    let regions = stats["worlds"][0]["regions"].as_array().expect("a list");
    assert!(regions.len() > 1, "{stats}");
    for region in regions {
        assert!(region["memory_bytes"].as_u64() > Some(1 << 20) && region["subpixels"].as_u64() > Some(0), "{region}");
    }
}

/// A page that cannot be written is an error, and the picture stays.
#[cfg(target_os = "linux")]
#[test]
fn a_page_that_cannot_be_written_costs_no_picture() {
    let folder = directory();
    fs::write(folder.path().join("a.rib"), SCENE).expect("writable");
    let render = |page: &str| run(folder.path(), &["render", "a.rib", "--devices", "0", "--report", page], &[], "");
    let Ran { code, err, .. } = render("/dev/full");
    assert!(code == Some(1) && err.contains("/dev/full") && err.contains("No space left on device"), "{err}");
    assert!(folder.path().join("a.exr").exists());
    fs::remove_file(folder.path().join("a.exr")).expect("it is there");
    for (page, why) in
        [("-", "--report -: a page is not written to standard output"), ("none/r.html", "no such directory")]
    {
        let Ran { code, err, .. } = render(page);
        assert!(code == Some(2) && err.contains(why) && !folder.path().join("a.exr").exists(), "{page}: {err}");
    }
}
