//! Too little device memory: the messages, and that they are true.

use super::{anthill, directory};
use std::fs;
use std::path::Path;

/// The memory that a render reports to need, and its message. If it can only report "more than" so much before it has
/// counted, it is run again with that much.
fn needed_mib(directory: &Path, name: &str) -> Option<(u64, String)> {
    let mut limit = 4;
    loop {
        let ran = anthill(directory, &["render", name, "--memory", &format!("{limit}M")]);
        let message = ran.err.lines().find(|line| line.contains(" of memory and needs "))?;
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        let needs = message.split(" of memory and needs ").nth(1)?;
        let number = |text: &str| text.split(' ').next().and_then(|number| number.parse().ok());
        match needs.strip_prefix("more than ") {
            Some(more) => limit = number(more).filter(|more| *more > limit)?,
            None => return Some((number(needs)?, message.to_string())),
        }
    }
}

#[test]
fn the_memory_that_is_reported_to_be_needed_is_enough() {
    let directory = directory();
    let head =
        "Format 160 120 1 PixelSamples 2 2 Projection \"perspective\" Translate 0 0 4 LightSource \"distantlight\" 1";
    let hairs = |count: u32| -> String {
        let one = |i: u32| {
            let x = 2.0 * f64::from(i) / f64::from(count) - 1.0;
            format!("Curves \"linear\" [2] \"nonperiodic\" \"P\" [{x} -1 0 {x} 1 0.2] \"constantwidth\" [0.004]\n")
        };
        (0..count).map(one).collect()
    };
    // Little geometry, and a list of 300,000 grids. Not even one of its pages of the usual size fits into what is
    // needed.
    let blades = |i: u32| {
        format!(
            "AttributeBegin\nTranslate {} 0 {}\nObjectInstance 1\nAttributeEnd\n",
            1e-5 * f64::from(i),
            0.01 * f64::from(i)
        )
    };
    let lawn = format!("ObjectBegin 1\n{}ObjectEnd\n{}", hairs(1000), (0..150).map(blades).collect::<String>());
    let spheres: String = (0..60)
        .map(|i| format!("Color 1 0.5 {}\nOpacity 0.4 0.4 0.4\nSphere 1 -1 1 360\n", f64::from(i) / 60.0))
        .collect();
    let plain = "Surface \"plastic\" Sphere 1 -1 1 360".to_string();
    // The geometry of the meadow is larger than all that is needed together: pages of it are small where memory is.
    let meadow = hairs(100_000);
    for (name, body) in
        [("hair", hairs(3000)), ("meadow", meadow), ("lawn", lawn), ("spheres", spheres), ("plain", plain)]
    {
        let scene = format!("Display \"{name}.exr\" \"exr\" \"rgba\" {head}\nWorldBegin\n{body}\nWorldEnd\n");
        let file = format!("{name}.rib");
        fs::write(directory.path().join(&file), scene).expect("writable");
        let picture = || fs::read(directory.path().join(format!("{name}.exr"))).expect("it was drawn");
        let free = anthill(directory.path(), &["render", &file]);
        assert_eq!(free.code, Some(0), "{}", free.err);
        let expected = picture();
        let Some((needed, message)) = needed_mib(directory.path(), &file) else { continue };
        // The largest part comes first, and every part is named.
        let parts = [
            "iB for the pixels of one region",
            " grids",
            "geometry",
            "instances and shader parameters",
            "in blocks of 4.0 MiB",
        ];
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        fs::remove_file(directory.path().join(format!("{name}.exr"))).expect("it is there");
        let enough = anthill(directory.path(), &["render", &file, "--memory", &format!("{needed}M")]);
        assert!(enough.code == Some(0) && enough.messages().is_empty(), "{name} {needed}: {}", enough.err);
        assert!(picture() == expected, "{name} with {needed} MiB differs");
    }
}
