//! `anthill shader`: compiling, describing and refusing shaders.

use super::{anthill, directory, run};
use std::fs;

const WOOD: &str =
    "surface wood(float Kd = 0.5; color grain = color \"hsv\" (0.1, 1, 1);) {\n    Ci = Kd * grain * diffuse(N);\n}\n";
const BAD: &str = "surface bad() {\n    Ci = Cs * nothing;\n}\n";

#[test]
fn shaders_become_kernels() {
    let directory = directory();
    let file = |name: &str| directory.path().join(name);
    fs::write(file("wood.sl"), WOOD).expect("writable");
    fs::create_dir(file("kernels")).expect("writable");
    let ran = anthill(directory.path(), &["shader", "compile", "wood.sl", "spotlight", "-o", "kernels"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    for name in ["wood", "spotlight"] {
        let spirv = fs::read(file(&format!("kernels/{name}.spv"))).expect("written");
        assert_eq!(spirv[..4], [3, 2, 0x23, 7], "{name}");
        assert!(ran.err.contains(&format!("shader {name}, {} bytes", spirv.len())), "{}", ran.err);
    }
    assert_eq!(anthill(directory.path(), &["shader", "compile", "wood.sl", "-o", "x.spv"]).code, Some(0));
    assert_eq!(fs::read(file("x.spv")).expect("written"), fs::read(file("kernels/wood.spv")).expect("written"));
    let text = anthill(directory.path(), &["shader", "compile", "wood.sl", "--ir"]);
    assert!(text.code == Some(0) && text.out.starts_with("surface wood\n") && text.err.is_empty(), "{text:?}");
}

#[test]
fn shaders_are_described() {
    let directory = directory();
    fs::write(directory.path().join("wood.sl"), WOOD).expect("writable");
    let ran = anthill(directory.path(), &["shader", "info", "wood.sl", "constant"]);
    let expected =
        "surface wood\n    uniform float Kd = 0.5\n    uniform color grain = \"hsv\" (0.1, 1, 1)\nsurface constant\n";
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), expected, ""));
    let json = anthill(directory.path(), &["shader", "info", "wood.sl", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("valid JSON");
    let grain = &json[0]["parameters"][1];
    assert_eq!((&grain["type"], &grain["space"]), (&"color".into(), &"hsv".into()));
}

/// Programs of the time wrote Latin-1, and some of Windows write UTF-16; so are scenes read, too.
#[test]
fn sources_in_other_encodings() {
    let directory = directory();
    let write = |name: &str, bytes: &[u8]| fs::write(directory.path().join(name), bytes).expect("writable");
    let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let source = "#include \"name.h\"\nsurface a(string map = NAME; string other = \"é.tx\";) { }\n";
    let included = "#define NAME \"é.tx\"\n";
    let latin_1 = |text: &str| text.chars().map(|letter| letter as u8).collect::<Vec<u8>>();
    for [file, header] in [
        [source.into(), included.into()],
        [latin_1(source), latin_1(included)],
        [utf_16(&format!("\u{feff}{source}")), utf_16(&format!("\u{feff}{included}"))],
        [utf_16(source), latin_1(included)],
    ] {
        write("a.sl", &file);
        write("name.h", &header);
        let ran = anthill(directory.path(), &["shader", "info", "a.sl", "--json"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{file:?}");
        let json: serde_json::Value = serde_json::from_str(&ran.out).expect("valid JSON");
        let defaults = [0, 1].map(|i| &json[0]["parameters"][i]["default"]);
        assert_eq!(defaults, ["é.tx", "é.tx"], "{file:?}");
    }
}

/// Of several shaders, those without errors are compiled.
#[test]
fn errors_look_like_those_of_rustc() {
    let directory = directory();
    fs::write(directory.path().join("bad.sl"), BAD).expect("writable");
    let expected = "\
error: unknown variable `nothing`
 --> bad.sl:2:15
  |
2 |     Ci = Cs * nothing;
  |               ^^^^^^^ not found
";
    let ran = anthill(directory.path(), &["shader", "compile", "bad.sl", "constant"]);
    assert!(ran.code == Some(1) && ran.err.starts_with(expected), "{}", ran.err);
    assert!(directory.path().join("constant.spv").exists() && !directory.path().join("bad.spv").exists());
    let ran = run(directory.path(), &["shader", "info", "-"], &[], BAD);
    assert_eq!((ran.code, ran.err), (Some(1), expected.replace("bad.sl", "-")));
    let ran = anthill(directory.path(), &["shader", "compile", "constant", "-o", "no/x.spv"]);
    assert_eq!(
        (ran.code, ran.messages()),
        (Some(1), vec!["anthill: error: cannot write \"no/x.spv\": there is no such directory"])
    );
}

#[test]
fn includes_and_macros_come_from_the_command_line() {
    let directory = directory();
    fs::create_dir(directory.path().join("lib")).expect("writable");
    fs::write(directory.path().join("lib/k.h"), "#define K SCALE * 2\n").expect("writable");
    fs::write(directory.path().join("a.sl"), "#include \"k.h\"\nsurface a(float k = K;) { Ci = k; }\n")
        .expect("writable");
    let missing = anthill(directory.path(), &["shader", "info", "a.sl"]);
    assert!(missing.code == Some(1) && missing.err.contains("a.sl:1:"), "{}", missing.err);
    let found = anthill(directory.path(), &["shader", "info", "a.sl", "-I", "lib", "-D", "SCALE=1.5"]);
    assert_eq!(found.out, "surface a\n    uniform float k = 3\n", "{}", found.err);
}
