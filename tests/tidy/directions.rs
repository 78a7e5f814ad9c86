//! Which part of the program may use which (ARCHITECTURE.md, "Code map").

use super::code::{without_tests, words};
use super::expect_none;
use super::module_graph::{SourceTree, circles};
use super::paths::uses;
use super::tree::{File, files};

/// Parts of `src`, and what each may use beside itself: other parts, or single modules of them. `*` is all but `cli`.
const PARTS: &[(&str, &[&str])] = &[
    ("diagnostic", &[]),
    ("progress", &["schedule::Region"]),
    ("files", &[]),
    ("trace", &["files"]),
    ("schedule", &[]),
    ("heap", &[]),
    ("host_memory", &["stats::human_bytes"]),
    ("line_profile", &[]),
    ("scene", &["diagnostic"]),
    ("rib", &["scene", "diagnostic", "files", "host_memory", "parallel", "progress", "stats::human_bytes", "texture"]),
    ("exr_blocks", &[]),
    ("parallel", &[]),
    ("deep", &["exr_blocks"]),
    ("points", &["files"]),
    ("film", &["deep", "exr_blocks", "scene", "schedule::Region", "diagnostic", "files", "parallel"]),
    (
        "texture",
        &["deep", "diagnostic", "exr_blocks", "files", "host_memory", "parallel", "points", "progress", "stats"],
    ),
    ("pipeline", &["scene", "diagnostic", "schedule::Region"]),
    // Looks, imagers and compiled kernels are handed to the pipeline; raster space must be its own.
    (
        "shading",
        &[
            "scene",
            "diagnostic",
            "files",
            "line_profile",
            "points",
            "pipeline::look",
            "pipeline::imager",
            "pipeline::recording",
            "pipeline::kernels",
            "pipeline::frame",
        ],
    ),
    ("gpu", &["files", "pipeline::recording", "diagnostic", "progress", "stats"]),
    ("stats", &["film", "diagnostic"]),
    ("forecast", &["schedule", "stats"]),
    ("profile", &["line_profile", "pipeline::recording", "stats"]),
    ("outcome", &["film", "stats"]),
    ("pipeline_choice", &["files", "gpu", "pipeline::plan"]),
    (
        "options",
        &["film", "files", "gpu::Breadcrumbs", "line_profile", "pipeline_choice", "scene::SearchPaths", "trace"],
    ),
    // A study runs the program as its users do, and reads what it says of itself; devices are only looked up.
    (
        "scale",
        &["film", "files", "forecast", "stats", "gpu", "outcome::exit_code", "pipeline::plan", "scene::RESOLUTION_MAX"],
    ),
    // All that takes part in a render: not `forecast` and `scale`, which only read what a render reports.
    (
        "render",
        &[
            "deep",
            "diagnostic",
            "files",
            "film",
            "gpu",
            "heap",
            "host_memory",
            "line_profile",
            "options",
            "outcome",
            "pipeline",
            "pipeline_choice",
            "points",
            "progress",
            "rib",
            "scene",
            "schedule",
            "shading",
            "stats",
            "texture",
            "trace",
        ],
    ),
    ("lib", &["*"]),
    ("cli", &[]),
    ("main", &["cli"]),
];

/// Folders of `src/render`, each with what it may use beside itself: folders before it, or single items of them.
/// `render` is `mod.rs`; other files that are in no folder have rows of their own.
const RENDER: &[(&str, &[&str])] = &[
    ("grids", &[]),
    ("resident", &["grids"]),
    ("region", &["resident", "grids"]),
    ("device", &["region", "resident", "grids"]),
    // Observes: whoever draws hands it plain values, and nobody waits for it.
    ("report", &["device", "region", "grids"]),
    // Hashes what a device is given for a picture.
    ("checkpoint", &["device::picture"]),
    ("session", &["checkpoint", "report", "device", "region", "resident", "grids"]),
    ("live", &["session"]),
    ("render", &["live", "session"]),
];

/// Folders and files of `src/rib`, each with what it may use beside itself: those before it, or single items of them.
/// `rib` is `mod.rs`.
const RIB: &[(&str, &[&str])] = &[
    ("stream", &[]),
    ("settings", &["stream::source::Input"]),
    ("summary", &[]),
    ("state", &["stream::messages", "stream::declare", "settings::RibOverrides"]),
    ("consumer", &["state::edit_scene"]),
    ("geometry", &["state::basis", "state::trim", "stream"]),
    ("world", &["geometry", "state", "stream", "settings", "summary", "consumer"]),
    // The table of requests is handed to it: requests have other sources read.
    ("reader", &["world", "stream", "settings", "summary", "consumer"]),
    ("requests", &["reader", "world", "geometry", "state", "stream", "consumer"]),
    ("interpreter", &["requests", "reader", "world", "stream"]),
    ("edits", &["interpreter", "reader", "world", "state", "stream", "settings", "consumer"]),
    ("rib", &["edits", "interpreter", "reader", "state", "stream", "settings", "summary", "consumer"]),
];

/// Phases of the shader compiler (spirv-gen/src/lib.rs draws them), each with what it may use beside itself: what
/// stands before it, or single items of that. `spirv_gen` is `lib.rs`.
const PHASES: &[(&str, &[&str])] = &[
    // What several phases share: places in sources, messages, the intermediate representation, the interface between
    // kernels and their host.
    ("span", &[]),
    ("diagnostic", &["span"]),
    ("ir", &["span"]),
    ("abi", &["ir"]),
    ("text", &["ir"]),
    ("bake", &["abi"]),
    // The phases in the order in which they run.
    ("syntax", &["diagnostic", "span"]),
    ("shadeops", &["ir", "syntax::ast"]),
    ("sema", &["shadeops", "syntax::ast", "syntax::token", "bake", "ir", "diagnostic", "span"]),
    ("front", &["sema", "syntax", "diagnostic", "span"]),
    ("lower", &["sema", "shadeops", "bake", "ir"]),
    ("interp", &["text", "abi", "ir"]),
    // Constants are folded with the arithmetic of the interpreter.
    ("passes", &["interp::evaluate", "interp::index", "abi", "ir"]),
    ("partition", &["passes", "ir"]),
    ("compose", &["passes", "interp::index", "interp::spline", "abi", "ir", "span"]),
    ("emit", &["partition::steps_of", "passes", "abi", "ir"]),
    ("compile", &["emit", "compose", "partition", "passes", "abi", "ir"]),
    ("standard", &[]),
    ("spirv_gen", &["compile", "compose", "front", "lower", "sema"]),
];

/// Crates that only some places may name.
const CRATES: &[(&str, &[&str])] = &[
    // The compiler's own tests have a device of their own: spirv-gen cannot use anthill's.
    ("ash", &["src/gpu/", "spirv-gen/tests/compiler/device.rs", "bench/sampler.rs"]),
    ("gpu_allocator", &["src/gpu/"]),
    ("libc", &["src/heap.rs"]),
    (
        "rspirv",
        &[
            "spirv-gen/src/emit/",
            "spirv-gen/tests/",
            "src/gpu/mutant.rs",
            "src/gpu/specialise.rs",
            "src/gpu/spirv_words.rs",
            "build/",
            "tests/",
        ],
    ),
    ("shaderc", &["build/", "spirv-gen/tests/", "bench/sampler.rs"]),
    // The interpreter is the oracle of the shader library's lookups, and of a picture.
    (
        "spirv_gen",
        &[
            "src/shading/",
            "spirv-gen/tests/",
            "tests/kernels/lookup.rs",
            "tests/kernels/points.rs",
            "tests/kernels/tiles.rs",
            "tests/features/raymarch.rs",
            "bench/",
            "fuzz/",
        ],
    ),
    ("osd", &["src/rib/geometry/subdivision/"]),
    ("clap", &["src/cli/"]),
    ("clap_complete", &["src/cli/"]),
    ("clap_mangen", &["src/cli/"]),
    ("terminal_size", &["src/cli/"]),
    ("indicatif", &["src/cli/"]),
    ("signal_hook", &["src/cli/"]),
    ("exr", &["src/film/", "src/texture/", "tests/"]),
    ("tiff", &["src/film/", "src/texture/", "tests/"]),
    // Where a test of the pipeline fails, its picture can be looked at.
    ("image", &["src/texture/"]),
    ("png", &["src/film/", "src/render/tests.rs", "src/texture/", "tests/"]),
    ("petgraph", &["spirv-gen/src/partition/", "spirv-gen/src/emit/debug_info.rs"]),
    ("plotters", &["src/scale/", "bench/partition/"]),
    ("maud", &["src/profile/", "src/scale/"]),
    ("base64", &["src/scale/"]),
    ("csv", &["src/scale/"]),
    ("encoding_rs", &["src/files/"]),
    ("encoding_rs_io", &["src/files/"]),
    ("serde_ply", &["src/points/"]),
    (
        "rustix",
        &[
            "src/files/",
            "src/gpu/driver_cache.rs",
            "src/gpu/error.rs",
            "src/points/mod.rs",
            "src/rib/stream/descendants.rs",
            "src/render/grids/list.rs",
            "src/scale/cpus.rs",
            "src/texture/patient_file.rs",
            "tests/cli/",
            "tests/hostile/",
        ],
    ),
    ("anthill", &["src/main.rs", "src/cli/", "tests/", "bench/", "fuzz/"]),
];

const DIRECTION: &str = "This part may not use that one. Hand the value in from outside (src/render plugs the parts together), or move what \
     both need to the part that both may use. A new direction is a decision: it goes into PARTS in tests/tidy/directions.rs and into the \
     code map of ARCHITECTURE.md.";

/// The part that a file of `src` belongs to.
fn part(file: &File) -> &str {
    let inside = file.path.strip_prefix("src/").unwrap_or_default();
    inside.split_once('/').map_or(inside.trim_end_matches(".rs"), |(folder, _)| folder)
}

#[test]
fn parts_use_only_what_they_may() {
    let mut found = Vec::new();
    for file in files().iter().filter(|file| file.is_in("src/") && file.is_product()) {
        let part = part(file);
        let Some((_, allowed)) = PARTS.iter().find(|(name, _)| *name == part) else {
            found.push(format!("{}: {part} is not in the table of parts", file.path));
            continue;
        };
        for (at, used) in uses(&without_tests(&file.code)) {
            let covers = |name: &&str| used == **name || used.starts_with(&format!("{name}::"));
            let is_own = covers(&part) || part == "main" && covers(&"cli");
            let is_free = allowed.contains(&"*") && !covers(&"cli");
            if !(is_own || is_free || allowed.iter().any(covers)) {
                found.push(format!("{}: {part} uses {used}", file.at(at)));
            }
        }
    }
    expect_none(found, DIRECTION);
}

const RENDER_DIRECTION: &str = "Inside src/render, callers use what they call: live, session, device, region, resident, grids, in this order; only \
     session uses report and checkpoint. Hand the value in, or move what both need to the folder that both may use. A new direction is a \
     decision: it goes into RENDER in tests/tidy/directions.rs.";

#[test]
fn folders_of_render_use_only_what_they_may() {
    check_folders("src/render/", RENDER, RENDER_DIRECTION);
}

const RIB_DIRECTION: &str = "Inside src/rib, stream, state, geometry, world, reader, requests, interpreter use only what is before them, in \
     this order. Take what is needed as an argument, or move what both need to the folder that both may use. A new direction is a decision: it \
     goes into RIB in tests/tidy/directions.rs.";

#[test]
fn folders_of_rib_use_only_what_they_may() {
    check_folders("src/rib/", RIB, RIB_DIRECTION);
}

/// Checks that the folders and files inside of a folder use only what a table allows, and that the table has layers.
fn check_folders(folder: &'static str, table: &[(&str, &[&str])], advice: &str) {
    let tree = SourceTree::of(folder);
    let mut found = Vec::new();
    for used in tree.uses() {
        let user = tree.folder_of(&used.user);
        let Some((_, allowed)) = table.iter().find(|(name, _)| *name == user) else {
            found.push(format!("{}: {user} is not in the table of folders", used.at));
            continue;
        };
        let path = used.used.strip_prefix(&format!("{}::", tree.name)).unwrap_or(&used.used);
        let covers = |name: &str| path == name || path.strip_prefix(name).is_some_and(|rest| rest.starts_with("::"));
        if !covers(user) && !allowed.iter().any(|name| covers(name)) {
            found.push(format!("{}: {user} uses {path}", used.at));
        }
    }
    // Modules of one folder may use each other: a type with two duties has a file for each.
    for (index, (name, allowed)) in table.iter().enumerate() {
        let is_before = |used: &&str| table[..index].iter().any(|(before, _)| used.split("::").next() == Some(before));
        assert!(allowed.iter().all(is_before), "{folder}: {name} may only use folders before it");
    }
    found.extend(circles(&tree.folder_graph(&tree.module_graph())).into_iter().map(|circle| circle.join(", ")));
    expect_none(found, advice);
}

const PHASE_DIRECTION: &str = "A phase of the shader compiler uses only earlier ones. Move what both need down, to the earliest phase that \
     knows what it is about. A new direction is a decision: it goes into PHASES in tests/tidy/directions.rs and into the picture in \
     spirv-gen/src/lib.rs.";

#[test]
fn phases_of_the_compiler_use_only_earlier_ones() {
    check_folders("spirv-gen/src/", PHASES, PHASE_DIRECTION);
}

#[test]
fn no_part_is_reached_around_the_fence() {
    let mut found = Vec::new();
    for file in files().iter().filter(|file| file.is_in("src/") && file.is_product()) {
        // src/a.rs and src/a/mod.rs are one step below the crate, src/a/b.rs is two.
        let depth = file.path.split('/').filter(|part| *part != "mod.rs").count() - 1;
        let code = without_tests(&file.code);
        let steps = "super::".repeat(depth);
        let climbs = code.match_indices(&steps).map(|(at, _)| format!("{}: {steps}", file.at(at)));
        found.extend(climbs);
    }
    expect_none(found, "This leaves the part by `super`. Write `crate::`, so that the fence between parts sees it.");
}

#[test]
fn crates_are_named_only_where_they_may() {
    let mut found = Vec::new();
    for file in files().iter().filter(|file| file.is_rust() && !file.is_in("tests/tidy/")) {
        for (name, places) in CRATES {
            if places.iter().any(|place| file.is_in(place)) {
                continue;
            }
            let is_path = |at: &usize| {
                let before = file.code[..*at].trim_end();
                let is_root = !before.ends_with("::") || before.ends_with(" ::");
                is_root && file.code[at + name.len()..].starts_with("::")
            };
            let names = words(&file.code, name).filter(is_path);
            found.extend(names.map(|at| format!("{} names {name}", file.at(at))));
        }
    }
    expect_none(
        found,
        "One folder has the duty of this crate (CRATES in tests/tidy/directions.rs): call what that folder offers, or add it there.",
    );
}

#[test]
fn unsafe_code_is_in_one_folder() {
    // Besides Vulkan, which one benchmark calls itself to measure the driver alone, only OpenSubdiv, in a crate of its
    // own, and glibc's malloc: its thresholds are set by foreign functions, which no crate wraps safely.
    let places = ["src/gpu/", "src/heap.rs", "osd/src/", "spirv-gen/tests/compiler/device.rs", "bench/sampler.rs"];
    let outside = files().iter().filter(|file| file.is_rust() && !places.iter().any(|place| file.is_in(place)));
    let found = outside.flat_map(|file| words(&file.code, "unsafe").map(|at| file.at(at)));
    expect_none(
        found,
        "`unsafe` is for src/gpu, osd, src/heap.rs and bench/sampler.rs alone: find a safe way, or let src/gpu offer what you need.",
    );
    for (root, line) in [
        ("src/main.rs", "#![forbid(unsafe_code)]"),
        ("src/lib.rs", "#![deny(unsafe_code)]"),
        ("spirv-gen/src/lib.rs", "#![forbid(unsafe_code)]"),
    ] {
        assert!(super::tree::file(root).text.contains(line), "{root} must say {line}");
    }
}
