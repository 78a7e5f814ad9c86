//! Programs that one library keeps from world to world, and what the programs of two worlds read.

use super::{RenderedScene, draw_with};
use anthill::diagnostic::Reporter;
use anthill::pipeline::look::ShadingKernel;
use anthill::rib;
use anthill::scene::World;
use anthill::shading::{ProgramAids, ProgramCounts, ShaderLibrary, Shading};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

const LOOK: &str = "surface look(float gain = 1; string map = \"a.tex\";) {
    string noted = \"x\";
    if (s > 0.5) noted = format(\"%f\", s);
    Ci = gain * color texture(map) * diffuse(normalize(N));
    if (noted == \"y\") Ci = 0;
    Oi = 1;
}";

const BUMP: &str = "displacement bump(float height = 0.1; string relief = \"\"; string space = \"world\";) {
    string named = space;
    P += height * float texture(relief) * normalize(N) + 0.01 * transform(named, point (0, 0, 0));
    N = calculatenormal(P);
}";

/// A surface that moves P by its light.
const LIT: &str = "surface lit() {
    float sum = 0;
    illuminance(P, N, 3) { sum += comp(Cl, 0); }
    P += 0.01 * sum * normalize(N);
    Ci = 0.5; Oi = 1;
}";

/// Shaders in a folder, and a library.
struct Library {
    folder: TempDir,
    library: ShaderLibrary,
}

impl Library {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for shaders");
        for (name, text) in [("look.sl", LOOK), ("bump.sl", BUMP), ("lit.sl", LIT)] {
            fs::write(folder.path().join(name), text).expect("a shader is written");
        }
        let mut library = ShaderLibrary::new(Arc::default(), &[]).expect("built with the compiler");
        library.compile_for(true, ProgramAids::default());
        Self { folder, library }
    }

    fn world(&self, rib: &str) -> World {
        world(self.folder.path(), rib)
    }

    fn shade(&mut self, rib: &str) -> Shading {
        let world = self.world(rib);
        self.library.shade(&world, &[], &Reporter::silent())
    }

    /// Returns how many programs were composed, and kernels compiled and kept, since this was last called.
    fn counts(&self) -> [u32; 3] {
        let ProgramCounts { composed, compiled, kept } = self.library.take_counts();
        [composed, compiled, kept]
    }
}

fn world(folder: &Path, rib: &str) -> World {
    let text = format!("Option \"searchpath\" \"shader\" [\"{}\"]\n{rib}", folder.display());
    let input = rib::Input::Memory { name: "t.rib".to_owned(), bytes: text.into_bytes() };
    let mut worlds = Vec::new();
    rib::read(&input, &rib::Settings::default(), &Reporter::silent(), &mut |world: World| {
        worlds.push(world);
        ControlFlow::Continue(())
    });
    worlds.remove(0)
}

fn labels(shading: &Shading) -> Vec<&str> {
    shading.kernels.iter().map(|kernel| kernel.passes[0].kernel.label()).collect()
}

fn are_the_same(a: &[ShadingKernel], b: &[ShadingKernel]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.kernels().zip(b.kernels()).all(|(a, b)| Arc::ptr_eq(a, b)))
}

const LOOKS: &str = "WorldBegin\nLightSource \"distantlight\" 1 \"intensity\" 1\nTranslate 0 0 3\n\
    Surface \"look\" \"gain\" 2\nSphere 1 -1 1 360\nSurface \"matte\"\nDisplacement \"bump\"\nSphere 1 -1 1 360\nWorldEnd\n";

#[test]
fn an_unchanged_world_compiles_nothing() {
    let mut library = Library::new();
    let first = library.shade(LOOKS);
    let [composed, compiled, kept] = library.counts();
    assert!((composed, compiled, kept) == (3, 3, 0), "{composed} {compiled} {kept}");
    let second = library.shade(LOOKS);
    assert_eq!(library.counts(), [0, 0, 3]);
    assert!(are_the_same(&first.kernels, &second.kernels));
    assert_eq!((&first.params, &first.textures.texts), (&second.params, &second.textures.texts));
    assert!(first.inputs().shades_like(&second.inputs()));
    // A value, and a name instead of another.
    let changed = library.shade(&LOOKS.replace("\"gain\" 2", "\"gain\" 3 \"map\" \"b.tex\""));
    assert_eq!(library.counts(), [0, 0, 3]);
    assert!(are_the_same(&first.kernels, &changed.kernels) && first.params != changed.params);
    assert!(!first.inputs().shades_like(&changed.inputs()) && first.inputs().displaces_like(&changed.inputs()));
}

#[test]
fn shortfalls_are_reported_for_each_world() {
    let mut library = Library::new();
    let world = library.world(LOOKS);
    let reporter = Reporter::silent();
    for round in 1..4 {
        library.library.shade_silently(&world, &[]);
        library.library.shade(&world, &[], &reporter);
        let said = reporter.all();
        let texts = said.iter().find(|(message, _)| message.message.contains("only known point by point"));
        assert_eq!(texts.map(|(_, count)| *count), Some(round), "{said:?}");
    }
    assert_eq!(library.counts(), [3, 3, 15], "what is foreseen is made once");
}

/// Kernels have the numbers of strings, which a world numbers by itself unless they are kept.
#[test]
fn worlds_number_their_strings_themselves() {
    let other =
        LOOKS.replace("Surface \"look\"", "Surface \"look\" \"map\" \"c.tex\"\nSphere 1 -1 1 360\nSurface \"look\"");
    let alone = Library::new().shade(LOOKS);
    let mut library = Library::new();
    let first = library.shade(&other);
    library.counts();
    let after = library.shade(LOOKS);
    let words = |shading: &Shading| {
        shading.kernels.iter().flat_map(ShadingKernel::kernels).map(|kernel| kernel.digest()).collect::<Vec<_>>()
    };
    assert_eq!((words(&alone), &alone.params, labels(&alone)), (words(&after), &after.params, labels(&after)));
    assert_eq!(alone.textures.texts, after.textures.texts);
    // Of two worlds in turn, both are kept.
    library.shade(&other);
    library.counts();
    let again = library.shade(LOOKS);
    assert_eq!(library.counts()[..2], [0, 0]);
    assert!(are_the_same(&after.kernels, &again.kernels));
    let mut library = Library::new();
    library.library.keep_texts();
    let kept = library.shade(&other);
    library.counts();
    let after = library.shade(LOOKS);
    assert_eq!(library.counts()[..2], [0, 0], "strings keep their numbers");
    assert_eq!((&kept.textures.texts, first.kernels.len()), (&after.textures.texts, after.kernels.len()));
}

#[test]
fn changed_sources_are_read_again_when_they_are_forgotten() {
    let mut library = Library::new();
    library.shade(LOOKS);
    assert!(!library.library.forget_changed_sources(), "nothing has changed");
    let source = library.folder.path().join("look.sl");
    let header = library.folder.path().join("half.h");
    fs::write(&header, "#define HALF 0.5\n").expect("a header is written");
    fs::write(&source, format!("#include \"half.h\"\n{}", LOOK.replace("Oi = 1", "Ci *= HALF; Oi = 1")))
        .expect("written");
    library.counts();
    let before = library.shade(LOOKS);
    assert_eq!(library.counts()[..2], [0, 0], "sources are read once");
    let mut inputs = before.inputs();
    for text in [None, Some("#define HALF 0.25\n")] {
        text.iter().for_each(|text| fs::write(&header, text).expect("a header is written"));
        assert!(library.library.forget_changed_sources());
        let after = library.shade(LOOKS);
        assert_eq!(library.counts()[..2], [1, 1], "only the changed one");
        assert!(!after.inputs().shades_like(&inputs) && after.inputs().displaces_like(&inputs));
        inputs = after.inputs();
    }
    fs::remove_file(&source).expect("it is removed");
    assert!(library.library.forget_changed_sources());
    let reporter = Reporter::silent();
    library.library.shade(&library.world(LOOKS), &[], &reporter);
    assert!(reporter.all().iter().any(|(message, _)| message.message.contains("no surface shader \"look\"")));
}

/// Each of the edits of something that displacement programs read is noticed, and others are not.
#[test]
fn what_displacements_read_is_compared_by_content() {
    let mut library = Library::new();
    library.library.keep_texts();
    let scene = "Option \"searchpath\" \"texture\" [\".\"]\nTranslate 0 0 5\nCoordinateSystem \"there\"\nWorldBegin\n\
        LightSource \"distantlight\" 1 \"intensity\" 1\nLightSource \"ambientlight\" 2 \"intensity\" 0.5\n\
        Color [1 0.5 0.5]\nSurface \"lit\"\nSphere 1 -1 1 360\nSurface \"matte\" \"Kd\" 0.5\n\
        Displacement \"bump\" \"height\" 0.2 \"relief\" \"r.tex\" \"string space\" \"there\"\nSphere 1 -1 1 360\nWorldEnd\n";
    let before = library.shade(scene).inputs();
    assert_eq!(before.displacement_textures().iter().filter(|name| name.ends_with(".tex")).count(), 1);
    let mut like = |from: &str, to: &str| {
        assert!(scene.contains(from), "{from}");
        let after = library.shade(&scene.replace(from, to)).inputs();
        assert!(!after.shades_like(&before) && !before.shades_like(&after), "{from} to {to}");
        after.displaces_like(&before)
    };
    for (from, to) in [("\"Kd\" 0.5", "\"Kd\" 0.6"), ("[1 0.5 0.5]", "[1 1 0.5]"), ("\"matte\"", "\"plastic\"")] {
        assert!(like(from, to), "{from} to {to}");
    }
    for (from, to) in [
        ("\"height\" 0.2", "\"height\" 0.25"),
        ("\"r.tex\"", "\"q.tex\""),
        ("\"string space\" \"there\"", "\"string space\" \"world\""),
        ("Translate 0 0 5\nCoord", "Translate 0 1 5\nCoord"),
        ("\"texture\" [\".\"]", "\"texture\" [\"..\"]"),
        ("\"intensity\" 1\n", "\"intensity\" 2\n"),
        ("\"ambientlight\" 2 \"intensity\" 0.5", "\"pointlight\" 2 \"intensity\" 0.5"),
        ("LightSource \"ambientlight\" 2 \"intensity\" 0.5\n", ""),
        ("Surface \"lit\"\n", "Surface \"constant\"\n"),
        ("Sphere 1 -1 1 360\nWorldEnd", "Sphere 1 -1 1 360 \"varying float height\" [0.1 0.2 0.3 0.4]\nWorldEnd"),
        ("Color [1 0.5 0.5]\n", "Color [1 0.5 0.5]\nOpacity [0.5 0.5 0.5]\n"),
    ] {
        assert!(!like(from, to), "{from} to {to}");
    }
}

/// Of worlds that each have a program and a string of their own, only the last ones leave theirs.
#[test]
fn programs_that_nothing_uses_are_dropped() {
    let mut library = Library::new();
    library.library.keep_texts();
    let mut most = [0; 3];
    for round in 0..150 {
        let source = format!("surface made{round}() {{ Ci = {round}; Oi = 1; }}");
        fs::write(library.folder.path().join(format!("made{round}.sl")), source).expect("a shader is written");
        let name = format!("Surface \"made{round}\"");
        library.shade(&format!("WorldBegin\nTranslate 0 0 3\n{name}\nSphere 1 -1 1 360\nWorldEnd\n"));
        assert_eq!(library.counts()[..2], [1, 1]);
        let kept = library.library.kept_counts();
        if round < 70 {
            most = kept;
        } else {
            assert!(kept.iter().zip(most).all(|(now, most)| *now <= most), "round {round}: {kept:?} of {most:?}");
        }
    }
    assert!(most[0] >= 64, "{most:?}");
}

#[test]
fn strings_are_numbered_from_the_start_where_there_are_too_many() {
    let mut library = Library::new();
    library.library.keep_texts();
    let few = library.shade(LOOKS).textures.texts.len();
    let spheres: String =
        (0..4200).map(|i| format!("Surface \"look\" \"map\" \"{i}.tex\"\nSphere 1 -1 1 360\n")).collect();
    let many = library.shade(&format!("WorldBegin\nTranslate 0 0 3\n{spheres}WorldEnd\n"));
    assert!(many.textures.texts.len() > 4200);
    assert_eq!(library.shade(LOOKS).textures.texts.len(), few);
}

/// What comes first numbers the strings of what follows; the picture does not depend on it.
#[test]
fn pictures_do_not_depend_on_the_numbers_of_strings() {
    let shaders = [(
        "words.sl",
        "surface words(string a = \"\", b = \"\";) {
        string c = a;
        uniform float i;
        for (i = 0; i < 2; i += 1) { if (c == b) Ci += color(0.25, 0, 0); c = \"p\"; }
        Ci += 0.1 * transform(b, point (0, 0, 1)); Oi = 1; printf(\"%s %s\\n\", a, b); }",
    )];
    let drawn = |before: &str| -> RenderedScene {
        draw_with(
            &shaders,
            &format!(
                "Format 16 16 1\nProjection \"perspective\"\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\nWorldBegin\n{before}\nTranslate 0 0 3\n\
             Surface \"words\" \"a\" \"q\" \"b\" \"p\"\nSphere 1 -1 1 360\nSurface \"words\" \"a\" \"camera\" \"b\" \"camera\"\n\
             Translate 1 0 0\nSphere 1 -1 1 360\nWorldEnd\n"
            ),
        )
    };
    let [alone, after] = ["", "AttributeBegin Translate 0 0 3\nSurface \"words\" \"a\" \"p\" \"b\" \"z\"\nSphere 0.01 -0.01 0.01 360\nAttributeEnd"]
        .map(|before| ["R", "G", "B"].map(|name| drawn(before).picture("a.exr").channel(name).to_vec()));
    assert_eq!(alone, after);
}
