//! Edits: fragments, their meaning, messages, and what is written of them.

use super::*;
use crate::host_memory::Charge;
use crate::rib::{EditBatch, EditReader, EditScene, EditTrust, WorldConsumer, write_edits};
use crate::scene::{Edit, Touched};

/// A scene with two named objects, one of them hidden, and two lights.
const SCENE: &str = "Format 32 24 1
Display \"a.tif\" \"tiff\" \"rgba\"
Projection \"perspective\" \"fov\" 40
Translate 0 0 5
WorldBegin
LightSource \"distantlight\" \"sun\" \"intensity\" 0.5
LightSource \"pointlight\" \"lamp\" \"from\" [1 2 3]
AttributeBegin
Attribute \"identifier\" \"string name\" [\"/a/ball\"]
Color [1 0 0]
Translate 1 0 0
Surface \"matte\" \"Kd\" 0.5
Sphere 1 -1 1 360
Cylinder 1 -1 1 360
AttributeEnd
AttributeBegin
Attribute \"identifier\" \"string name\" [\"/a/ghost\"]
Attribute \"visibility\" \"int camera\" [0]
Disk 0 1 360
AttributeEnd
AttributeBegin
Attribute \"identifier\" \"string name\" [\"/b\"]
Color [0 1 0]
Torus 2 1 0 360 360
AttributeEnd
WorldEnd
";

/// Keeps the last world of a scene with what edits need to know of it.
#[derive(Default)]
struct Last(Option<World>, Option<EditScene>);

impl WorldConsumer for Last {
    fn editable(&mut self, scene: EditScene) {
        self.1 = Some(scene);
    }

    fn take(&mut self, world: World, _: Arc<Charge>) -> ControlFlow<()> {
        self.0 = Some(world);
        ControlFlow::Continue(())
    }
}

fn live() -> (World, EditReader) {
    live_of(SCENE)
}

fn live_of(scene: &str) -> (World, EditReader) {
    let settings = Settings { is_live: true, ..Settings::default() };
    let mut last = Last::default();
    let input = Input::Memory { name: "s.rib".into(), bytes: scene.into() };
    read(&input, &settings, &Reporter::silent(), &mut last);
    let reader = EditReader::new(last.1.expect("a scene"), &settings, EditTrust::Foreign, "-");
    (last.0.expect("a world"), reader)
}

fn fragment(text: &str) -> Input {
    Input::Memory { name: "e.rib".into(), bytes: text.into() }
}

/// Reads and makes edits; returns the messages.
fn edit(world: &mut World, reader: &mut EditReader, text: &str) -> (Touched, Vec<Diagnostic>) {
    let reporter = Reporter::silent();
    let batches = reader.read(&fragment(text), world, &reporter).expect("it is in memory");
    let touched = Edit::apply_all(edits_of(&batches), world);
    (touched, reporter.all().into_iter().map(|(message, _)| message).collect())
}

fn edits_of(batches: &[EditBatch]) -> impl Iterator<Item = &Edit> {
    batches.iter().flat_map(|batch| &batch.edits)
}

/// What a world is, without places in files.
fn meaning(world: &World) -> String {
    let text =
        format!("{:?} {:?} {:?} {:?} {:?}", world.options, world.camera, world.drawables, world.lights, world.spaces);
    let expression = regex_lite::Regex::new("location: SourceLocation \\{[^}]*\\}").expect("a pattern");
    expression.replace_all(&text, "").into_owned()
}

/// Checks that the scene with an edit is the scene with `from` written as `to`, edited live and by `--edits`.
fn check_edit(text: &str, from: &str, to: &str, wanted: Touched) {
    let (mut world, mut reader) = live();
    let (touched, messages) = edit(&mut world, &mut reader, text);
    assert!(messages.is_empty(), "{text}: {messages:?}");
    assert_eq!(touched, wanted, "{text}: {touched} for {wanted}");
    assert!(SCENE.contains(from), "{from}");
    let written = clean(&SCENE.replacen(from, to, 1));
    assert_eq!(meaning(&world), meaning(&written), "{text}");
    assert_eq!(meaning(edited(SCENE, text).world()), meaning(&written), "{text} in batch");
}

/// Reads a scene with `--edits`.
fn edited(scene: &str, text: &str) -> ReadOutcome {
    read_bytes(scene, &Settings { edits: vec![fragment(text)], ..Settings::default() })
}

fn options(requests: &str) -> String {
    format!("EditBegin \"option\"\n{requests}\nEditEnd\n")
}

fn object(kind: &str, name: &str, requests: &str) -> String {
    format!("EditBegin \"{kind}\" \"string scopename\" [\"{name}\"]\n{requests}\nEditEnd\n")
}

fn lights(handles: &str, requests: &str) -> String {
    format!("EditBegin \"attribute\" \"string editlights\" [\"{handles}\"]\n{requests}\nEditEnd\n")
}

#[test]
fn options_are_edited_as_if_they_stood_before_the_world() {
    use Touched as T;
    let at = "Translate 0 0 5\n";
    let cases: &[(&str, T)] = &[
        ("Rotate 20 0 1 0", T::CAMERA),
        ("Identity Projection \"perspective\" \"fov\" 60 Translate 0 1 9", T::CAMERA),
        ("ScreenWindow -1 1 -1 1", T::CAMERA),
        ("Clipping 1 100 ClippingPlane 0 0 1 0 0 1", T::CAMERA),
        ("DepthOfField 2 0.1 5", T::CAMERA),
        ("Shutter 0 1", T::CAMERA | T::SHUTTER),
        ("Format 64 32 1", T::FORMAT | T::CAMERA),
        ("CropWindow 0 0.5 0 1", T::CROP),
        ("PixelSamples 4 4", T::SAMPLES),
        ("PixelFilter \"box\" 1 1", T::FILTER),
        ("Exposure 2 2.2", T::EXPOSURE),
        ("Quantize \"rgba\" 65535 0 65535 0", T::EXPOSURE),
        ("Imager \"background\" \"bgcolor\" [1 0 0]", T::EXPOSURE),
        ("Display \"b.exr\" \"exr\" \"rgb\" Display \"+n.exr\" \"exr\" \"N\"", T::DISPLAYS),
        ("Hider \"hidden\" \"int jitter\" 0", T::OPTIONS | T::SAMPLES),
        ("Option \"limits\" \"int eyesplits\" 3 Option \"user\" \"float x\" 2", T::OPTIONS),
        ("Option \"hair\" \"float minwidth\" 1 RelativeDetail 2", T::OPTIONS),
    ];
    for (requests, touched) in cases {
        check_edit(&options(requests), at, &format!("{at}{requests}\n"), *touched);
    }
}

#[test]
fn objects_are_edited_where_they_are() {
    use Touched as T;
    let surface = "Surface \"matte\" \"Kd\" 0.5\n";
    let cases: &[(&str, &str, &str, T)] = &[
        ("Color [0 0 1]", "Color [1 0 0]", "Color [0 0 1]", T::COLOUR),
        ("Opacity 0.5 0.5 0.5", surface, "Surface \"matte\" \"Kd\" 0.5 Opacity [0.5 0.5 0.5]\n", T::OPACITY),
        ("Matte 1", "Color [1 0 0]", "Color [1 0 0] Matte 1", T::OPACITY),
        ("Surface \"*\" \"Kd\" 0.25", "0.5\nSphere", "0.25\nSphere", T::SHADER_PARAMETER),
        ("Surface \"plastic\" \"Ks\" 1", surface, "Surface \"plastic\" \"Ks\" 1\n", T::SHADER_SWAPPED),
        ("Surface \"null\"", surface, "Surface \"null\"\n", T::SHADER_SWAPPED),
        (
            "Displacement \"d\" \"a\" 1",
            surface,
            "Surface \"matte\" \"Kd\" 0.5 Displacement \"d\" \"a\" 1\n",
            T::DISPLACEMENT,
        ),
        (
            "Attribute \"displacementbound\" \"float sphere\" 2",
            surface,
            "Surface \"matte\" \"Kd\" 0.5 Attribute \"displacementbound\" \"float sphere\" 2\n",
            T::DISPLACEMENT,
        ),
        ("ShadingRate 4", "Color [1 0 0]", "Color [1 0 0] ShadingRate 4", T::RATE),
        (
            "ShadingInterpolation \"smooth\"",
            surface,
            "Surface \"matte\" \"Kd\" 0.5 ShadingInterpolation \"smooth\"\n",
            T::INTERPOLATION,
        ),
        ("Sides 1", "Color [1 0 0]", "Color [1 0 0] Sides 1", T::SIDES),
        ("ReverseOrientation", "Color [1 0 0]", "Color [1 0 0] ReverseOrientation", T::SIDES),
        (
            "Orientation \"lh\"",
            surface,
            "Surface \"matte\" \"Kd\" 0.5 Orientation \"inside\" Orientation \"outside\"\n",
            T::NOTHING,
        ),
        ("Illuminate \"sun\" 0", "Color [1 0 0]", "Color [1 0 0] Illuminate \"sun\" 0", T::LIGHT_SET),
        (
            "Attribute \"user\" \"float x\" 1",
            surface,
            "Surface \"matte\" \"Kd\" 0.5 Attribute \"user\" \"float x\" 1\n",
            T::SHADER_PARAMETER,
        ),
    ];
    for (requests, from, to, touched) in cases {
        check_edit(&object("attribute", "^/a/ball$", requests), from, to, *touched);
    }
    let place = "Translate 1 0 0\n";
    let cases: &[(&str, &str, &str, T)] = &[
        ("Rotate 90 0 0 1 Scale 1 1 -1", place, "Translate 1 0 0 Rotate 90 0 0 1 Scale 1 1 -1\n", T::TRANSFORM),
        ("Identity", place, "", T::TRANSFORM),
        (
            "MotionBegin [0 1] Translate 0 0 0 Translate 1 1 1 MotionEnd",
            place,
            "Translate 1 0 0 MotionBegin [0 1] Translate 0 0 0 Translate 1 1 1 MotionEnd\n",
            T::TRANSFORM,
        ),
        ("Cone 1 2 360", "Sphere 1 -1 1 360\nCylinder 1 -1 1 360\n", "Cone 1 2 360\n", T::GEOMETRY),
    ];
    for (requests, from, to, touched) in cases {
        // What follows keeps its number, by which `random` differs.
        let (mut world, mut reader) = live();
        let (found, messages) = edit(&mut world, &mut reader, &object("instance", "ball", requests));
        assert!(messages.is_empty() && found == *touched, "{requests}: {found} {messages:?}");
        let mut written = clean(&SCENE.replacen(from, to, 1));
        written.drawables.iter_mut().zip(&world.drawables).for_each(|(one, edited)| one.seed = edited.seed);
        assert_eq!(meaning(&world), meaning(&written), "{requests}");
    }
}

#[test]
fn lights_are_edited_added_and_removed() {
    use Touched as T;
    let sun = "LightSource \"distantlight\" \"sun\" \"intensity\" 0.5\n";
    check_edit(
        &lights("sun", "LightSource \"*\" \"sun\" \"intensity\" 2"),
        "0.5\nLight",
        "2\nLight",
        T::LIGHT_PARAMETER,
    );
    let spot = "LightSource \"spotlight\" \"sun\" \"coneangle\" 0.2";
    check_edit(&lights("sun", spot), sun, &format!("{spot}\n"), T::LIGHT_SET | T::LIGHT_PARAMETER);
    let moved = format!("TransformBegin Translate 0 3 0\n{sun}TransformEnd\n");
    check_edit(&lights("sun", "Translate 0 3 0"), sun, &moved, T::LIGHT_MOVED);
    let shadows = "Attribute \"light\" \"string shadows\" [\"on\"]";
    let after = "LightSource \"pointlight\" \"lamp\" \"from\" [1 2 3]\n";
    let (mut world, mut reader) = live();
    let (touched, _) = edit(&mut world, &mut reader, &lights("su.", shadows));
    assert!(touched == T::LIGHT_SET && world.lights[0].casts.is_some() && world.lights[1].casts.is_none());
    let added = "Translate 1 1 1 LightSource \"pointlight\" \"new\" \"intensity\" 3";
    let written = format!("{after}TransformBegin {added}\nTransformEnd\n");
    check_edit(&format!("EditBegin \"attribute\" {added} EditEnd"), after, &written, T::LIGHT_SET);
    check_edit(&lights("lamp", "LightSource \"null\" \"lamp\""), after, "", T::LIGHT_SET);
    // One that is on for some objects; and numbers of others stay when one in the middle goes.
    let (mut world, mut reader) = live();
    edit(&mut world, &mut reader, &object("attribute", "^/b$", "LightSource \"pointlight\" \"new\""));
    edit(&mut world, &mut reader, &lights("sun", "LightSource \"null\" \"sun\""));
    let on: Vec<Vec<u32>> =
        world.drawables.iter().map(|one| one.attributes.lights.iter().map(|light| light.0).collect()).collect();
    assert_eq!(on, [vec![1], vec![1], vec![1, 2]]);
    for _ in 0..9 {
        edit(&mut world, &mut reader, &object("attribute", "^/b$", "LightSource \"pointlight\" \"more\""));
        edit(&mut world, &mut reader, &lights("more", "LightSource \"null\" \"more\""));
    }
    assert_eq!(world.lights.len(), 3, "nothing grows");
}

#[test]
fn objects_are_shown_and_hidden_at_their_places() {
    let (mut world, mut reader) = live();
    let shapes = |world: &World| -> Vec<String> {
        world.drawables.iter().map(|one| format!("{:?}", one.geometry.shape.first())[..22].to_owned()).collect()
    };
    let before = shapes(&world);
    let seeds: Vec<u32> = world.drawables.iter().map(|one| one.seed).collect();
    let show =
        |name: &str, on: u8| object("instance", name, &format!("Attribute \"visibility\" \"int camera\" [{on}]"));
    edit(&mut world, &mut reader, &show("ghost", 1));
    assert_eq!(world.drawables.len(), 4);
    assert!(shapes(&world)[2].contains("Quadric") && world.drawables[2].attributes.name.contains("ghost"));
    assert!(!seeds.contains(&world.drawables[2].seed));
    edit(&mut world, &mut reader, &show("^/a", 0));
    assert_eq!((world.drawables.len(), world.notes.hidden.len()), (1, 3));
    edit(&mut world, &mut reader, &show("ball", 1));
    assert_eq!((shapes(&world), world.notes.hidden.len()), (before, 1));
    assert_eq!(world.drawables.iter().map(|one| one.seed).collect::<Vec<_>>(), seeds);
    // In batch, what is shown is in the world, and nothing hidden is kept.
    let outcome = edited(SCENE, &show("ghost", 1));
    assert_eq!((outcome.world().drawables.len(), outcome.world().notes.hidden.len()), (4, 0));
}

#[test]
fn what_does_not_change_keeps_its_address_and_what_is_shared_stays_shared() {
    let (mut world, mut reader) = live();
    let before = world.clone();
    edit(&mut world, &mut reader, &object("attribute", "ball", "Color [0 0 1] Surface \"*\" \"Kd\" 1 Sides 1"));
    let [sphere, cylinder, torus] = &world.drawables[..] else { panic!("three") };
    assert!(Arc::ptr_eq(&sphere.attributes, &cylinder.attributes));
    assert!(!Arc::ptr_eq(&sphere.attributes, &before.drawables[0].attributes));
    assert!(Arc::ptr_eq(&torus.attributes, &before.drawables[2].attributes));
    for (one, old) in world.drawables.iter().zip(&before.drawables) {
        assert!(
            Arc::ptr_eq(&one.geometry, &old.geometry) && Arc::ptr_eq(&one.world_from_object, &old.world_from_object)
        );
    }
    assert!(world.lights.iter().zip(&before.lights).all(|(one, old)| Arc::ptr_eq(one, old)));
    // The same value again changes nothing.
    let again = world.clone();
    let (touched, _) = edit(&mut world, &mut reader, &object("attribute", "ball", "Color [0 0 1] Sides 1"));
    assert!(touched.is_empty(), "{touched}");
    assert!(world.drawables.iter().zip(&again.drawables).all(|(a, b)| Arc::ptr_eq(&a.attributes, &b.attributes)));
    edit(&mut world, &mut reader, &object("instance", "ball", "Translate 0 1 0"));
    assert!(Arc::ptr_eq(&world.drawables[0].world_from_object, &world.drawables[1].world_from_object));
    assert!(Arc::ptr_eq(&world.drawables[2].world_from_object, &again.drawables[2].world_from_object));
}

#[test]
fn mistakes_have_places_and_leave_out_one_edit() {
    let cases: &[(&str, &str, u32, &str)] = &[
        (
            "\nEditBegin \"attribute\" \"string scopename\" [\"/a/bal$\"]\nColor 1 1 1\nEditEnd",
            "badhandle",
            2,
            "\"/a/ball\"",
        ),
        ("EditBegin \"attribute\" \"scopname\" [\"x\"]\nEditEnd", "badtoken", 1, "scopename"),
        ("EditBegin \"attribute\" \"scopename\" [\"(\"]\nEditEnd", "badargument", 1, ""),
        ("EditBegin \"light\" \"x\" [\"y\"]\nColor 1 1 1 EditEnd", "badtoken", 1, "\"instance\""),
        ("EditBegin \"instance\"\nEditEnd", "badargument", 1, "pattern"),
        ("EditBegin \"option\"\n\nColor 1 1 1\nEditEnd", "illstate", 3, "EditBegin \"attribute\""),
        ("EditBegin \"attribute\"\nExposure 1 1\nEditEnd", "illstate", 2, "EditBegin \"option\""),
        ("EditBegin \"attribute\"\nSphere 1 -1 1 360\nEditEnd", "illstate", 2, "EditBegin \"instance\""),
        (
            "EditBegin \"instance\" \"scopename\" \"b\"\nProcedural \"RunProgram\" [\"x\" \"\"] [0 1 0 1 0 1]\nEditEnd",
            "illstate",
            2,
            "",
        ),
        ("EditBegin \"option\"\nExposure x 1\nEditEnd", "syntaxerror", 2, ""),
        ("EditBegin \"option\"\nExposure 1 -1\nEditEnd", "range", 2, ""),
        ("EditBegin \"option\"\nExposur 1 1\nEditEnd", "unregistered", 2, "Exposure"),
        ("EditBegin \"attribute\" \"editlights\" [\"sum\"]\nEditEnd", "badhandle", 1, "\"sun\""),
        ("EditBegin \"attribute\" \"editlights\" [\"sun\"]\nLightSource \"x\" \"lamp\"\nEditEnd", "badhandle", 2, ""),
        ("EditBegin \"attribute\" \"editlights\" [\"sun\"]\nColor 1 1 1\nEditEnd", "illstate", 3, "scopename"),
        ("EditBegin \"attribute\"\nLightSource \"x\" \"lamp\"\nEditEnd", "badhandle", 2, "editlights"),
        ("EditBegin \"attribute\"\nAttribute \"identifier\" \"string name\" \"x\"\nEditEnd", "illstate", 2, ""),
        ("ReadArchive \"x.rib\"", "illstate", 1, "--edits"),
        ("MakeTexture \"a\" \"b\" \"black\" \"black\" \"box\" 1 1", "illstate", 1, ""),
        ("WorldBegin WorldEnd", "illstate", 1, ""),
        ("EditBegin \"option\"\nExposure 9 9", "nesting", 1, ""),
        ("EditEnd", "nesting", 1, ""),
        ("EditBegin \"option\"\nMotionBegin [0 1]\nEditEnd", "badmotion", 3, ""),
    ];
    for (text, code, line, hint) in cases {
        let (mut world, mut reader) = live();
        let before = meaning(&world);
        let (touched, messages) = edit(&mut world, &mut reader, text);
        let Some(first) = messages.first() else { panic!("{text}: no message") };
        assert_eq!(
            (first.code, first.location.line, &*first.location.file),
            (*code, *line, "e.rib"),
            "{text}: {first}"
        );
        assert!(first.hint.contains(hint), "{text}: {first}");
        assert!(touched.is_empty() && meaning(&world) == before, "{text}: {touched}");
        // What follows is made.
        let (touched, _) = edit(&mut world, &mut reader, &format!("{text}\n{}", options("PixelSamples 7 7")));
        assert!(touched.contains(Touched::SAMPLES) && world.options.pixel_samples == [7, 7], "{text}: {touched}");
    }
    // In a block, only the request with the mistake is left out.
    let (mut world, mut reader) = live();
    let (_, messages) = edit(&mut world, &mut reader, &object("attribute", "^/b", "Color [1 2] Matte 1"));
    assert!(messages.len() == 1 && world.drawables[2].attributes.matte && !world.drawables[0].attributes.matte);
    // Edits are none of a scene.
    let outcome = read_text("EditBegin \"option\" Exposure 2 2 EditEnd WorldBegin Sphere 1 -1 1 360 WorldEnd");
    assert_eq!((outcome.codes().len(), outcome.world().options.exposure), (1, [1.0, 1.0]), "{:?}", outcome.messages);
}

#[test]
fn a_stream_gives_each_block_when_it_ends() {
    let (mut world, mut reader) = live();
    let reporter = Reporter::silent();
    let text = "Declare \"x\" \"color\"\nEditBegin \"option\"\n# EditEnd\nExposure 2 1 EditEnd EditBegin \"attribute\" \"scopename\" \"nobody\"\n\
                Color 1 1 1 EditEnd\nEditBegin \"attribute\" \"scopename\" [\"^/b$\"] Surface \"s\" \"x\" [1 0 0] \"string t\" \"EditEnd\" EditEnd\n\
                EditBegin \"file\" \"string name\" [\"a.tx\" \"b.tx\"] EditEnd EditBegin \"option\" EditEnd\n";
    let mut batches = Vec::new();
    for byte in text.bytes() {
        batches.extend(reader.push(&[byte], &world, &reporter));
    }
    let counts: Vec<usize> = batches.iter().map(|batch| batch.edits.len()).collect();
    assert_eq!(counts, [2, 1, 1, 0], "{:?}", reporter.all());
    let lines: Vec<(u32, u32)> = batches.iter().map(|one| (one.location.line, one.location.column)).collect();
    assert_eq!(lines, [(2, 1), (6, 1), (7, 1), (7, 56)]);
    assert_eq!(reporter.all().len(), 1);
    assert_eq!((reporter.all()[0].0.location.line, reporter.all()[0].0.location.column), (4, 22));
    let touched = Edit::apply_all(edits_of(&batches), &mut world);
    assert_eq!(touched, Touched::EXPOSURE | Touched::SHADER_SWAPPED | Touched::FILES);
    assert!(reader.push(b"EditBegin \"option\" Exposure", &world, &reporter).is_empty());
    assert!(reader.finish(&world, &reporter).is_empty());
    assert_eq!(reporter.all().len(), 3, "{:?}", reporter.all());
}

#[test]
fn what_reading_depends_on_is_read_again() {
    let again = |scene: &str, requests: &str| {
        let (mut world, mut reader) = live_of(scene);
        edit(&mut world, &mut reader, &options(requests)).0.contains(Touched::READ_AGAIN)
    };
    let world = "WorldBegin Sphere 1 -1 1 360 WorldEnd";
    let turn = "Rotate 5 0 1 0";
    assert!(!again(world, turn) && !again(world, "Shutter 0 1") && !again(world, "Format 9 9 1"));
    assert!(again(world, "Scale -1 1 1"), "handedness");
    for scene in [
        "WorldBegin Detail [0 1 0 1 0 1] DetailRange 0 0 4 9 Sphere 1 -1 1 360 WorldEnd",
        "WorldBegin Procedural \"DelayedReadArchive\" [\"x.rib\"] [0 1 0 1 0 1] WorldEnd",
        "LightSource \"pointlight\" 1 WorldBegin Sphere 1 -1 1 360 WorldEnd",
        "Surface \"matte\" WorldBegin Sphere 1 -1 1 360 WorldEnd",
        "CoordinateSystem \"c\" WorldBegin Sphere 1 -1 1 360 WorldEnd",
        "WorldBegin CoordSysTransform \"camera\" Sphere 1 -1 1 360 WorldEnd",
    ] {
        assert!(again(scene, turn) && again(scene, "Format 9 9 1") && !again(scene, "Exposure 2 1"), "{scene}");
    }
    let moving = "WorldBegin MotionBegin [0 1] Color 1 1 1 Color 0 0 0 MotionEnd Sphere 1 -1 1 360 WorldEnd";
    assert!(again(moving, "Shutter 0 1") && !again(moving, turn));
    // In batch, what is read depends on the edited camera.
    let light = "LightSource \"pointlight\" 1 WorldBegin Sphere 1 -1 1 360 WorldEnd";
    assert_eq!(
        meaning(edited(light, &options(turn)).world()),
        meaning(&clean(
            &light.replace("World", &format!("{turn} World")).replace(&format!("{turn} WorldEnd"), "WorldEnd")
        ))
    );
}

#[test]
fn written_edits_read_back() {
    let texts = [
        options("Rotate 20 0 1 0 ScreenWindow -1 1 -1 1 Exposure 2 2.2 PixelSamples 3 4 PixelFilter \"box\" 1 2"),
        options(
            "Display \"b.exr\" \"exr\" \"rgb\" Display \"+n.exr\" \"exr\" \"N,varying float k\" \"string compression\" \"zip\"",
        ),
        options(
            "Hider \"hidden\" \"int jitter\" 0 Option \"limits\" \"int eyesplits\" 3 Format 99 10 2 CropWindow 0 0.5 0 1",
        ),
        options(
            "Imager \"background\" \"bgcolor\" [1 0 0] DepthOfField 2 0.1 5 Shutter 0 1 Clipping 1 9 RelativeDetail 2",
        ),
        object(
            "attribute",
            "^/a/ball$",
            "Color [0.1 1e-9 3] Opacity 0 0 0.5 Matte 1 Sides 1 ReverseOrientation ShadingRate 0.3",
        ),
        object(
            "attribute",
            "ball",
            "Surface \"*\" \"Kd\" 0.25 \"uniform color c\" [1 2 3] \"string[2] s\" [\"a\\\"\" \"\\\\\"] \"undeclared\" [1 2]",
        ),
        object(
            "attribute",
            "ball",
            "Rotate 7 1 2 3 Displacement \"d\" Illuminate \"sun\" 0 Attribute \"user\" \"int x\" 4",
        ),
        object(
            "attribute",
            "ball",
            "Attribute \"displacementbound\" \"float sphere\" 2 \"string coordinatesystem\" \"shader\"",
        ),
        object(
            "instance",
            "ball",
            "MotionBegin [0 1] Rotate 0 0 0 1 Rotate 90 0 0 1 MotionEnd Transform [1 0 0 0 0 1 0 0 0 0 1 0 1 2 3 1]",
        ),
        lights("su.,lamp", "Translate 0 0 1"),
        lights("sun", "LightSource \"spotlight\" \"sun\" \"from\" [1 2 3]"),
        lights("sun", "Attribute \"light\" \"string shadows\" [\"on\"]"),
        lights("sun", "LightSource \"null\" \"sun\""),
        "EditBegin \"attribute\" Translate 1 2 3 LightSource \"pointlight\" \"new\" \"intensity\" 3 EditEnd".to_owned(),
        "EditBegin \"file\" \"string[2] name\" [\"a.tx\" \"b c\"] EditEnd".to_owned(),
    ];
    for text in texts {
        let reporter = Reporter::silent();
        let (world, mut reader) = live();
        let batches = reader.read(&fragment(&text), &world, &reporter).expect("in memory");
        let edits: Vec<Edit> = edits_of(&batches).cloned().collect();
        let mut written = String::new();
        write_edits(&edits, &mut written).unwrap_or_else(|what| panic!("{text}: {what}"));
        let (again_world, mut again) = live();
        let batches = again.read(&fragment(&written), &again_world, &reporter).expect("in memory");
        assert!(!edits.is_empty() && reporter.all().is_empty(), "{text}\n{written}: {:?}", reporter.all());
        let plain = |edits: Vec<&Edit>| {
            let text = format!("{edits:?}");
            let expression = regex_lite::Regex::new("location: SourceLocation \\{[^}]*\\}").expect("a pattern");
            expression.replace_all(&text, "").into_owned()
        };
        assert_eq!(plain(edits_of(&batches).collect()), plain(edits.iter().collect()), "{text}\n{written}");
    }
}
