//! The stream: encoding, parameter lists, archives, errors.

use super::*;
use crate::diagnostic::Severity;
use crate::rib::Stopped;
use crate::scene::{Class, ParamValue, QuadricShape};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

const SPHERE: &str = "Sphere 1 -1 1 360\n";

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).expect("writing to memory");
    encoder.finish().expect("writing to memory")
}

#[test]
fn arrays_and_scalars_are_the_same_arguments() {
    let cases = [
        "Sphere 1 -1 1 360",
        "Sphere [1 -1 1 360]",
        "Color [0 1 0]\nSphere 1 -1 1 360",
        "Color 0 1 0\nCone [1 1 360]",
        "Hyperboloid [1 0 0 1 0 1 360]",
        "Torus [2 .5 0 360 360]",
        "Opacity .5 .5 .5 TextureCoordinates 0 0 1 0 0 1 1 1 Disk [0 1 360]",
        "ConcatTransform 1 0 0 0 0 1 0 0 0 0 1 0 3 0 0 1 Disk 0 1 360",
        "Bound -1 1 -1 1 -1 1 Bound [-1 1 -1 1 -1 1] Detail 0 1 0 1 0 1 Skew [10 0 1 0 1 0 0] Disk 0 1 360",
        "Basis [-1 3 -3 1 3 -6 3 0 -3 3 0 0 1 0 0 0] 3 \"bezier\" 3 Disk 0 1 360",
    ];
    for case in cases {
        assert_eq!(drawn(case).drawables.len(), 1, "{case}");
    }
}

#[test]
fn a_length_one_array_may_be_a_scalar_and_the_other_way() {
    let world = drawn(
        "Surface \"plastic\" \"roughness\" .1 \"Kd\" [.5]\nLightSource \"l\" 1\nIlluminate [1] 1\nSphere 1 -1 1 360"
            .replace("[1] 1", "1 [1]")
            .as_str(),
    );
    let surface = world.drawables[0].attributes.surface.as_ref().expect("plastic");
    let values: Vec<_> = surface.params.iter().map(|param| param.value.clone()).collect();
    assert_eq!(values, [ParamValue::Floats(vec![0.1]), ParamValue::Floats(vec![0.5])]);
}

#[test]
fn inline_declarations_and_declare() {
    let world = drawn(
        "Declare \"blades\" \"uniform integer\"\nSurface \"s\" \"blades\" 3 \"constant string tex\" \"a.tex\" \"uniform color[2] both\" [1 2 3 4 5 6]\n\
         Declare \"blades\" \"string\"\nDisplacement \"d\" \"blades\" [\"many\"]\nSphere 1 -1 1 360",
    );
    let attributes = &world.drawables[0].attributes;
    let params = &attributes.surface.as_ref().expect("s").params;
    assert_eq!(params[0].value, ParamValue::Ints(vec![3]));
    assert_eq!(params[1].value, ParamValue::Strings(vec!["a.tex".into()]));
    assert_eq!(params[2].value, ParamValue::Floats(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let displacement = attributes.displacement.as_ref().expect("d");
    assert_eq!(displacement.params[0].value, ParamValue::Strings(vec!["many".into()]));
}

#[test]
fn a_bad_pair_costs_only_itself() {
    let cases = [
        ("\"varying flot x\" [1]", "badtoken"),
        ("\"roughness\" \"text\"", "badargument"),
        ("\"roughness\" [\"text\"]", "syntaxerror"),
        ("\"texturename\" 3", "badargument"),
        ("\"int n\" 1.5", "badargument"),
        ("\"int n\" [1 2.5]", "badargument"),
        ("\"specularcolor\" [1 2]", "badarray"),
    ];
    for (pair, code) in cases {
        let outcome = read_text(&format!("WorldBegin\nSurface \"s\" \"Ka\" 1 {pair} \"Kd\" 2\n{SPHERE}WorldEnd"));
        assert_eq!(outcome.codes(), [(code, 2)], "{pair}");
        let surface = outcome.world().drawables[0].attributes.surface.clone().expect("s");
        let names: Vec<&str> = surface.params.iter().map(|param| &*param.name).collect();
        assert_eq!(names, ["Ka", "Kd"], "{pair}");
    }
    // A token that nothing declares has the type of the shader's parameter, which is not known here.
    let world = drawn(&format!("Surface \"s\" \"tint\" [1 2 3] \"map\" \"a\" \"count\" 2\n{SPHERE}"));
    let params = world.drawables[0].attributes.surface.clone().expect("s").params.clone();
    assert!(params.iter().all(|param| param.ty.is_none()));
    assert_eq!(params[0].value, ParamValue::Floats(vec![1.0, 2.0, 3.0]));
    assert_eq!(params[1].value, ParamValue::Strings(vec!["a".into()]));
    // A primitive's tokens have a class too, so they must be declared.
    assert_eq!(read_text("WorldBegin\nSphere 1 -1 1 360 \"nope\" 1\nWorldEnd").codes(), [("badtoken", 2)]);
    // Too many values are cut, with a warning.
    let outcome = read_text(&format!("WorldBegin\nSurface \"s\" \"Ka\" [1 2 3]\n{SPHERE}WorldEnd"));
    assert_eq!((outcome.codes(), outcome.messages[0].severity), (vec![("badarray", 2)], Severity::Warning));
}

#[test]
fn a_syntax_error_ends_its_request_and_has_a_location() {
    let cases = [
        ("TransforBegin 1 2 \"x\"", "unregistered", 2, 1),
        ("  Sphere 1 -1 ]", "syntaxerror", 2, 15),
        ("Color [1 0]", "badcolor", 2, 7),
        ("Color \"red\"", "syntaxerror", 2, 7),
        ("Translate 1 x 2", "syntaxerror", 2, 1),
        ("Sphere 1 -1 1 360 7", "badparamlist", 2, 19),
        ("Translate 1 2 3 4", "syntaxerror", 2, 17),
        ("Sphere 1 -1 1 360 \"P\"", "badparamlist", 2, 19),
        ("Surface \"never closed", "syntaxerror", 2, 9),
        ("Polygon \"P\" [0 0 0 1 0 0", "syntaxerror", 3, 1),
        ("@ 12", "syntaxerror", 2, 1),
        ("Sides 1.5", "badargument", 2, 7),
        ("Patch \"biquintic\" \"P\" [1]", "badargument", 2, 7),
        ("FrobnicatePolygons [1 2 3] \"WorldEnd\"", "unregistered", 2, 1),
    ];
    for (line, code, at_line, at_column) in cases {
        let outcome = read_text(&format!("WorldBegin\n{line}\n{SPHERE}WorldEnd"));
        let found: Vec<_> = outcome.messages.iter().map(|m| (m.code, m.location.line, m.location.column)).collect();
        let stray = line.starts_with("Translate 1 x");
        // The stray word is itself an unknown request.
        let wanted = if stray {
            vec![(code, at_line, at_column), ("unregistered", 2, 13)]
        } else {
            vec![(code, at_line, at_column)]
        };
        assert_eq!(found, wanted, "{line}");
        assert!(!outcome.world().drawables.is_empty(), "{line}: the sphere is drawn");
        assert_eq!(outcome.summary.errors, wanted.len() as u64, "{line}");
    }
}

/// Messages name their request, and one that ends too early is blamed itself, not the request after it.
#[test]
fn messages_name_the_request() {
    let cases = [
        ("  Sphere 1 -1 1", "t.rib:2:3: error: Sphere lacks arguments: expected 4 numbers, found 3 [syntaxerror]"),
        ("Sides", "t.rib:2:1: error: Sides lacks arguments: expected an integer, found a request [syntaxerror]"),
        ("Translate [1 2", "Translate lacks arguments: expected a number or ], found a request"),
        ("Sphere 1 -1 ]", "t.rib:2:13: error: Sphere: expected a number, found ] [syntaxerror]"),
        ("Cylinder 1 0 1 360 \"x\"", "t.rib:2:20: error: Cylinder: the parameter \"x\" has no value"),
        ("Cylinder 1 0 1 360 \"x\" 1", "t.rib:2:20: error: Cylinder: the token \"x\" is not declared"),
        ("Translate 1 2 3 4", "found a number after the arguments of Translate"),
    ];
    for (line, message) in cases {
        let outcome = read_text(&format!("WorldBegin\n{line}\nIdentity\nWorldEnd"));
        assert!(outcome.messages[0].to_string().contains(message), "{line}: {}", outcome.messages[0]);
    }
    let end = read_text("WorldBegin WorldEnd\nFormat 1 2");
    assert!(end.messages[0].to_string().starts_with("t.rib:2:1: error: Format lacks arguments: "));
}

#[test]
fn versions() {
    for version in ["3.03", "3.1", "3.2", "3.04"] {
        clean(&format!("version {version}\nWorldBegin WorldEnd"));
    }
    assert_eq!(read_text("version 4.0\nWorldBegin WorldEnd").codes(), [("badversion", 1)]);
}

#[test]
fn hints_are_comments_even_inside_a_parameter_list() {
    let world = clean(
        "##RenderMan RIB-Structure 1.1 Entity\n##Scene \"open [ quote\n##CapabilitiesNeeded Displacements\nFrameBegin 1\n\
         ##CameraOrientation 0 0 0 0 0 1\nWorldBegin\nSurface \"plastic\" \"Kd\"\n##Shaders plastic\n[.7] # \" [\n\"Ks\" [.1]\nSphere 1 -1 1 360\nWorldEnd\nFrameEnd\n",
    );
    let surface = world.drawables[0].attributes.surface.as_ref().expect("plastic");
    assert_eq!((surface.params.len(), surface.location.line), (2, 7));
}

#[test]
fn windows_files_and_byte_order_marks() {
    let text = "\u{feff}##RenderMan RIB\r\nWorldBegin\r\nSphere 1 -1 1 360\r\nWorldEnd\r\n\u{1a}";
    assert_eq!(clean(text).drawables[0].geometry.location.line, 3);
    // A lone carriage return ends a line too.
    let old = "##RenderMan RIB\rWorldBegin\r# comment\rSphere 1 -1 1 360 # comment\rWorldEnd\r";
    assert_eq!(clean(old).drawables[0].geometry.location.line, 4);
    // 0377 ends a stream.
    let outcome = read_bytes(b"WorldBegin\nWorldEnd\n\xffnot read".as_slice(), &Settings::default());
    assert!(outcome.messages.is_empty());
}

#[test]
fn a_lone_carriage_return_ends_a_line() {
    let text = "##RenderMan RIB\r# Bogus\rOption \"user\" \"string a\" \"x\\\ry\"\r\rWorldBegin # \"\rSphere 1 -1 1 360 # [\rBogus\rSurface \"open\rCone 1 1 360\rWorldEnd\r";
    let outcome = read_text(text);
    assert_eq!(outcome.codes(), [("unregistered", 8), ("syntaxerror", 9)]);
    let world = outcome.world();
    assert_eq!(world.drawables.iter().map(|d| d.geometry.location.line).collect::<Vec<_>>(), [7, 10]);
    assert_eq!(world.options.other["user:a"], ParamValue::Strings(vec!["xy".into()]));
}

#[test]
fn hints_are_placed_whatever_ends_their_lines() {
    for end in ["\n", "\r\n", "\r"] {
        let lines = ["##RenderMan RIB", "", "##CapabilitiesNeeded Ray Tracing", "WorldBegin WorldEnd"];
        assert_eq!(read_text(&lines.join(end)).codes()[0], ("incapable", 3), "{end:?}");
    }
}

#[test]
fn inputs_are_one_stream() {
    let inputs = [
        "Format 8 8 1\nDeclare \"gain\" \"float\"\nObjectBegin 1\nSphere 1 -1 1 360\nObjectEnd\nColor 1 0 0\nFrameBegin 7",
        "WorldBegin\nSurface \"s\" \"gain\" 2\nObjectInstance 1\n",
        "AttributeBegin\nWorldEnd\n",
    ];
    let input = |(text, number): (&&str, u32)| Input::Memory { name: format!("{number}.rib"), bytes: (*text).into() };
    let mut inputs: Vec<Input> = inputs.iter().zip(1..).map(input).collect();
    inputs.insert(1, Input::File("/nowhere/none.rib".into()));
    let reporter = Reporter::silent();
    let mut worlds = Vec::new();
    let summary = read_stream(&inputs, &Settings::default(), &reporter, &mut |world: World| {
        worlds.push(world);
        ControlFlow::Continue(())
    });
    let messages: Vec<String> = reporter.all().into_iter().map(|(message, _)| message.to_string()).collect();
    let found: Vec<&str> = messages.iter().filter_map(|message| message.lines().next()).collect();
    assert_eq!(
        found,
        [
            "/nowhere/none.rib: error: cannot read it: No such file or directory (os error 2) [nofile]",
            "3.rib:2:1: error: AttributeBegin at 3.rib:1:1 is still open at WorldEnd [nesting]",
            "1.rib:7:1: error: FrameBegin has no FrameEnd [nesting]",
        ]
    );
    assert_eq!((worlds.len(), summary.worlds, summary.errors, summary.stopped), (1, 1, 3, Some(Stopped::Unreadable)));
    let world = &worlds[0];
    assert_eq!((world.options.frame, world.camera.resolution), (Some(7), [8, 8]));
    assert_eq!(world.drawables[0].attributes.color, [1.0, 0.0, 0.0]);
    assert_eq!(world.drawables[0].attributes.surface.as_ref().expect("a surface").params.len(), 1);
}

/// A whole scene begins with its version; what has none goes on where the input before it ended.
#[test]
fn an_input_that_begins_with_its_version_is_a_scene_of_its_own() {
    let inputs = [
        "version 3.03\nFormat 8 8 1\nColor 1 0 0\n",
        "version 3.03\nProjection \"orthographic\"\nTranslate 0 0 1\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\n",
        "WorldBegin\nSphere 1 -1 1 360\nWorldEnd\n",
        "# another scene\nversion 3.03\nProjection \"perspective\" \"fov\" [30]\nWorldBegin\nversion 3.03\nSphere 1 -1 1 360\nWorldEnd\n",
    ];
    let input = |(text, number): (&&str, u32)| Input::Memory { name: format!("{number}.rib"), bytes: (*text).into() };
    let inputs: Vec<Input> = inputs.iter().zip(1..).map(input).collect();
    let settings = Settings { prologue: vec!["Opacity 0.5 0.5 0.5".into()], ..Settings::default() };
    let reporter = Reporter::silent();
    let mut worlds = Vec::new();
    read_stream(&inputs, &settings, &reporter, &mut |world: World| {
        worlds.push(world);
        ControlFlow::Continue(())
    });
    let messages: Vec<String> = reporter.all().into_iter().map(|(message, _)| message.to_string()).collect();
    assert_eq!(messages, [] as [&str; 0]);
    let seen = |world: &World| {
        let attributes = &world.drawables[0].attributes;
        (world.camera.resolution, attributes.color, attributes.opacity)
    };
    let settled = ([8, 8], [1.0, 0.0, 0.0], [0.5; 3]);
    assert_eq!(worlds.iter().map(seen).collect::<Vec<_>>(), [settled, settled, ([640, 480], [1.0; 3], [0.5; 3])]);
}

#[test]
fn gzip_and_binary() {
    let text = format!("WorldBegin\n{SPHERE}WorldEnd\n");
    let outcome = read_bytes(gzip(&text), &Settings::default());
    assert_eq!(outcome.world().drawables.len(), 1);
    let mut packed = gzip(&text);
    packed.truncate(packed.len() - 6);
    assert_eq!(read_bytes(packed, &Settings::default()).codes(), [("badfile", 0)]);
}

/// A number, as a program writes it to the binary encoding.
fn packed_number(word: &str) -> Vec<u8> {
    match word.parse::<i32>() {
        Ok(value) if value == value as i8 as i32 => vec![0o200, value as u8],
        Ok(value) => [&[0o203], &value.to_be_bytes()[..]].concat(),
        Err(_) => [&[0o244], &word.parse::<f32>().expect("a number").to_be_bytes()[..]].concat(),
    }
}

/// Text whose tokens are separated by blanks, in the binary encoding: requests and strings by codes that are defined
/// where they are first used, arrays of floats packed.
pub(super) fn packed(text: &str) -> Vec<u8> {
    let (mut bytes, mut requests, mut strings) = (Vec::new(), Vec::new(), Vec::new());
    let mut floats: Option<Vec<f32>> = None;
    for word in text.split_whitespace() {
        let code = |known: &mut Vec<String>| match known.iter().position(|other| other == word) {
            Some(code) => (code as u8, false),
            None => (known.len() as u8, {
                known.push(word.to_owned());
                true
            }),
        };
        match (word.as_bytes()[0], &mut floats) {
            (b'[', _) => floats = Some(Vec::new()),
            (b']', Some(values)) => {
                bytes.extend([0o310, values.len() as u8]);
                bytes.extend(values.iter().flat_map(|value| value.to_be_bytes()));
                floats = None;
            }
            (_, Some(values)) => values.push(word.parse().expect("a number")),
            (b'"', None) => {
                let text = word.trim_matches('"').as_bytes();
                let (code, is_new) = code(&mut strings);
                if is_new {
                    bytes.extend([0o316, 1, code, 0o220 + text.len() as u8]);
                    bytes.extend(text);
                }
                bytes.extend([0o320, 1, code]);
            }
            (first, None) if first.is_ascii_alphabetic() => {
                let (code, is_new) = code(&mut requests);
                if is_new {
                    bytes.extend([0o314, code, 0o240, word.len() as u8]);
                    bytes.extend(word.as_bytes());
                }
                bytes.extend([0o246, code]);
            }
            _ => bytes.extend(packed_number(word)),
        }
    }
    bytes
}

#[test]
fn the_binary_encoding_reads_as_its_text() {
    let text = "WorldBegin ArchiveBegin \"a\" Color [ .25 .5 1 ] Sphere 1.5 -1 1 360 ArchiveEnd Translate -300 2.5 70000 \
                Surface \"matte\" \"Kd\" .5 \"Ka\" [ .25 ] ReadArchive \"a\" \
                Polygon \"P\" [ 0 0 0 1 0 0 1 1 0.125 ] \"Cs\" [ 1 0 0 0 1 0 0 0 1 ] WorldEnd";
    let drawn = |outcome: &ReadOutcome| {
        assert_eq!(outcome.codes(), []);
        let drawables = outcome.world().drawables.iter();
        let parts = drawables.map(|drawable| {
            let surface = drawable.attributes.surface.as_ref().expect("a shader");
            let geometry = (drawable.geometry.shape.clone(), drawable.geometry.primvars.clone());
            (geometry, drawable.attributes.color, surface.params.clone(), surface.world_from_shader.clone())
        });
        format!("{:?}", parts.collect::<Vec<_>>())
    };
    let wanted = drawn(&read_text(text));
    assert!(wanted.contains("Kd") && wanted.contains("1.5") && wanted.contains("0.125"), "{wanted}");
    let bytes = packed(text);
    assert!(!bytes.windows(4).any(|part| part == b"2.5 "));
    assert_eq!(drawn(&read_bytes(bytes.clone(), &Settings::default())), wanted);
    // Text may stand between binary tokens.
    let mixed = [b"# \xa6 a comment\nColor [0 0 1]\n", &bytes[..]].concat();
    assert_eq!(drawn(&read_bytes(mixed, &Settings::default())), wanted);
}

#[test]
fn damaged_binary_tokens_are_reported_and_skipped() {
    let outcome = |middle: &[u8]| {
        let bytes = [b"WorldBegin\nSphere 1 -1 1 360\n", middle, b"\nSphere 1 -1 1 360\nWorldEnd\n"].concat();
        let outcome = read_bytes(bytes, &Settings::default());
        (outcome.codes(), outcome.summary.incomplete, outcome.world().drawables.len())
    };
    // A reserved byte, a request without a definition, a definition without its string, a string without one.
    assert_eq!(outcome(b"\xb0"), (vec![("syntaxerror", 3)], true, 2));
    assert_eq!(outcome(b"\xa6\x01 1 2 [3]"), (vec![("syntaxerror", 3)], true, 2));
    assert_eq!(outcome(b"\xcc\x01 7"), (vec![("syntaxerror", 3)], true, 2));
    assert_eq!(outcome(b"Surface \xcf\x07"), (vec![("syntaxerror", 3)], false, 2));
    // Definitions that follow each other without end.
    let definitions = b"\xcc\x01".repeat(100_000);
    assert!(!outcome(&definitions).0.is_empty());
    // A token that the end of the file cuts off.
    let bytes = b"WorldBegin\nSphere 1 -1 1 360\nColor \xc8\x03\0\0".to_vec();
    let outcome = read_bytes(bytes, &Settings::default());
    assert!(outcome.summary.incomplete && outcome.world().drawables.len() == 1);
}

#[test]
fn real_but_ill_formed_input() {
    drawn("GeometricRepresentation \"primitive\"\nSphere 1 -1 1 360");
    assert_eq!(faults("Geometry \"teapot\"\nGeometry \"bunny\""), [("unimplement", 3)]);
    assert_eq!(faults("ShadingRate 0\nSphere 1 -1 1 360"), [("range", 2)]);
    let world = drawn("Sphere -1 -1 1 360\nSphere 1 .5 -.5 360");
    let shape = |index: usize| match world.drawables[index].geometry.shape.first() {
        Shape::Quadric(quadric) => quadric.shape,
        other => panic!("{other:?}"),
    };
    assert_eq!(shape(0), QuadricShape::Sphere { radius: -1.0, zmin: -1.0, zmax: 1.0 });
    assert_eq!(shape(1), QuadricShape::Sphere { radius: 1.0, zmin: 0.5, zmax: -0.5 });
    let world = drawn("Attribute \"user\" \"uniform string stage\" [\"\"]\nSphere 1 -1 1 360");
    assert_eq!(world.drawables[0].attributes.other["user:stage"], ParamValue::Strings(vec!["".into()]));
    let world = drawn("LightSource \"a\" 4711\nLightSource \"b\" 4711\nIlluminate 4711 0\nSphere 1 -1 1 360");
    let lights = &world.drawables[0].attributes.lights;
    assert_eq!((world.lights.len(), lights.len(), &*world.lights[lights[0].0 as usize].shader.name), (2, 1, "a"));
    let text = "ArchiveBegin \"a\"\n# \"unclosed [ and ArchiveEnd\nSurface \"ArchiveEnd ]\"\nArchiveEnd\nReadArchive \"a\"\nSphere 1 -1 1 360";
    assert_eq!(&*drawn(text).drawables[0].attributes.surface.as_ref().expect("a shader").name, "ArchiveEnd ]");
}

#[test]
fn the_first_branch_whose_condition_holds_is_read() {
    let colour = |condition: &str| {
        let text = format!(
            "Option \"user\" \"string pass\" [\"final\"]\nFrameBegin 3\nWorldBegin\nAttribute \"user\" \"float x\" [.5]\n\
             IfBegin \"{condition}\"\nColor 1 0 0\nIfBegin \"0\" FutureRequest \"IfEnd\" [1 2] Else Opacity .5 .5 .5 IfEnd\n\
             ElseIf \"$Frame == 3 && $user:x == .5\"\nColor 0 1 0\nElse\nColor 0 0 1\nIfEnd\n{SPHERE}WorldEnd\nFrameEnd\n"
        );
        let outcome = read_text(&text);
        let drawable = &outcome.world().drawables[0];
        (drawable.attributes.color, drawable.attributes.opacity[0], outcome.codes())
    };
    assert_eq!(colour("$user:pass == 'final'"), ([1.0, 0.0, 0.0], 0.5, vec![]));
    assert_eq!(colour("$Option:user:pass == 'final' && $Attribute:user:x < 1"), ([1.0, 0.0, 0.0], 0.5, vec![]));
    assert_eq!(colour("$Attribute:user:pass == 'final'"), ([0.0, 1.0, 0.0], 1.0, vec![("badtoken", 5)]));
    assert_eq!(colour("defined(user:none)"), ([0.0, 1.0, 0.0], 1.0, vec![]));
    assert_eq!(colour("1 +"), ([0.0, 1.0, 0.0], 1.0, vec![("badargument", 5)]));
    let otherwise =
        drawn("IfBegin \"0\" Color 1 0 0 ElseIf \"0\" Color 0 1 0 Else Color 0 0 1 IfEnd Sphere 1 -1 1 360");
    assert_eq!(otherwise.drawables[0].attributes.color, [0.0, 0.0, 1.0]);
    assert_eq!(drawn("IfBegin \"0\" Nope 1 IfEnd Sphere 1 -1 1 360").drawables.len(), 1);
}

#[test]
fn conditionals_end_in_the_text_in_which_they_begin() {
    assert_eq!(faults("ScopedCoordinateSystem \"x\"\nIfEnd"), [("nesting", 3)]);
    assert_eq!(faults("Else\nSphere 1 -1 1 360\nIfEnd"), [("nesting", 2), ("nesting", 4)]);
    assert_eq!(faults("IfBegin \"0\"\nSphere 1 -1 1 360"), [("nesting", 2), ("nesting", 1)]);
    let text = "WorldBegin\nSphere 1 -1 1 360\nWorldEnd\nIfBegin \"1\"\nColor 1 0 0\n";
    let outcome = read_text(text);
    assert_eq!((outcome.codes(), outcome.summary.incomplete), (vec![("nesting", 4)], true));
    let text =
        "ArchiveBegin \"a\"\nIfBegin \"1\"\nArchiveEnd\nIfBegin \"1\"\nReadArchive \"a\"\nIfEnd\nWorldBegin WorldEnd";
    assert_eq!(read_text(text).codes(), [("nesting", 2)]);
}

#[test]
fn error_handlers() {
    let text = "ErrorHandler \"ignore\"\nNope 1\nErrorHandler \"print\"\nNope2 1\nErrorHandler \"abort\"\nShutter 1 0\nWorldBegin\nWorldEnd\n";
    let outcome = read_text(text);
    assert_eq!(outcome.codes(), [("unregistered", 4), ("range", 6)]);
    assert_eq!((outcome.worlds.len(), outcome.summary.errors), (0, 3));
    assert_eq!(outcome.summary.stopped, Some(Stopped::Aborted));
    // A warning does not abort.
    assert_eq!(read_text("ErrorHandler \"abort\"\nversion 9\nWorldBegin WorldEnd").worlds.len(), 1);
    assert_eq!(read_text("ErrorHandler \"panic\"\nWorldBegin WorldEnd").codes(), [("badargument", 1)]);
}

#[test]
fn inline_archives_keep_their_lines_and_nest() {
    let text = "ArchiveBegin \"outer\"\nArchiveBegin \"inner\"\nSphere 1 -1 1 360\nArchiveEnd\nReadArchive \"inner\"\nColor 0 1 0\nNope\nArchiveEnd\n\
                WorldBegin\nReadArchive \"outer\"\nReadArchive \"inner\"\nWorldEnd\n";
    let outcome = read_text(text);
    assert_eq!(outcome.codes(), [("unregistered", 7)]);
    let world = outcome.world();
    assert_eq!(world.drawables.len(), 2);
    assert_eq!(world.drawables[0].geometry.location.line, 3);
    // State stays after an archive.
    assert_eq!(world.drawables[1].attributes.color, [0.0, 1.0, 0.0]);
}

#[test]
fn archives_in_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("a new file");
    std::fs::create_dir(folder.path().join("lib")).expect("a new folder");
    write("main.rib", b"Option \"searchpath\" \"archive\" [\"lib:&\"]\nWorldBegin\nReadArchive \"a.rib\"\nReadArchive \"b.rib\"\nWorldEnd\n");
    write("a.rib", b"Declare \"mine\" \"color\"\nReadArchive \"lib/c.rib\"\n");
    // Gzip under a plain name.
    write("b.rib", &gzip("Surface \"s\" \"mine\" [1 2 3]\nSphere 1 -1 1 360\nLightSource \"l\" \"key\"\n"));
    write("lib/c.rib", b"Cone 1 1 360\nReadArchive \"missing.rib\"\nReadArchive \"a.rib\"\n");
    let reporter = Reporter::silent();
    let mut worlds = Vec::new();
    let input = Input::File(folder.path().join("main.rib"));
    let summary = read(&input, &Settings::default(), &reporter, &mut |world| {
        worlds.push(world);
        ControlFlow::Continue(())
    });
    let codes: Vec<_> = reporter.all().iter().map(|(message, _)| (message.code, message.location.line)).collect();
    assert_eq!(codes, [("nofile", 2), ("limitcheck", 3)], "{:?}", reporter.all());
    assert!(reporter.all()[0].0.location.file.ends_with("c.rib"));
    assert_eq!((worlds[0].drawables.len(), worlds[0].lights.len(), summary.worlds), (2, 1, 1));
    assert_eq!(worlds[0].drawables[1].attributes.surface.as_ref().expect("s").params.len(), 1);
}

#[test]
fn an_input_that_cannot_be_opened() {
    let reporter = Reporter::silent();
    let input = Input::from_argument("no such file.rib");
    let summary = read(&input, &Settings::default(), &reporter, &mut |_| ControlFlow::Continue(()));
    assert_eq!((summary.stopped, summary.errors), (Some(Stopped::Unreadable), 1));
    assert_eq!((reporter.all()[0].0.code, reporter.all()[0].0.severity), ("nofile", Severity::Severe));
    assert_eq!(Input::from_argument("-"), Input::Stdin);
}

#[test]
fn what_is_not_supported_is_named_once() {
    let known = [
        "Procedural \"DynamicLoad\" [\"evil.so\" \"args\"] [-1 1 -1 1 -1 1]",
        "Interior \"fog\"",
        "Exterior \"fog\" \"distance\" 3",
        "Deformation \"d\"",
        "ShaderLayer \"surface\" \"a\" \"b\"",
    ];
    for request in known {
        let outcome = read_text(&format!("WorldBegin\n{request}\n{request}\n{SPHERE}WorldEnd"));
        assert_eq!(outcome.codes(), [("unimplement", 2)], "{request}");
        assert_eq!(outcome.messages[0].severity, Severity::Warning, "{request}");
        let name = request.split(' ').next().expect("a name");
        assert!(outcome.messages[0].message.contains(name), "{request}");
        assert_eq!(outcome.world().drawables.len(), 1, "{request}");
    }
}

#[test]
fn the_consumer_of_worlds_may_stop() {
    let mut count = 0;
    let input = Input::Memory { name: "t".into(), bytes: b"WorldBegin WorldEnd WorldBegin WorldEnd Nope".to_vec() };
    let reporter = Reporter::silent();
    let summary = read(&input, &Settings::default(), &reporter, &mut |_| {
        count += 1;
        ControlFlow::Break(())
    });
    assert_eq!((count, summary.worlds, summary.stopped), (1, 1, Some(Stopped::Consumer)));
    assert!(reporter.all().is_empty());
}

#[test]
fn classes_are_kept_and_shaders_take_one_value_of_any() {
    let world = drawn(
        "Surface \"s\" \"varying color tint\" [1 0 0]\nPatch \"bilinear\" \"P\" [0 0 0 1 0 0 0 1 0 1 1 0] \"facevarying float wear\" [1 2 3 4] \"constant float id\" 7",
    );
    let classes: Vec<_> = world.drawables[0].geometry.primvars.iter().map(|primvar| primvar.class).collect();
    assert_eq!(classes, [Class::FaceVarying, Class::Constant]);
}
