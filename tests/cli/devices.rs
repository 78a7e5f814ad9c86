//! Devices: the list of them, and the messages if there is none, or if one has too little memory.

use super::{Ran, anthill, directory, run};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Runs a command on a scene of one sphere, with environment variables.
fn with_scene(directory: &Path, args: &[&str], variables: &[(&str, &OsStr)]) -> Ran {
    let scene = "Display \"a.exr\" \"exr\" \"rgba\" Format 16 16 1 WorldBegin Sphere 0.5 -0.5 0.5 360 WorldEnd\n";
    fs::write(directory.join("a.rib"), scene).expect("writable");
    run(directory, args, variables, "")
}

/// What is listed of the first device.
fn first_device(directory: &Path) -> serde_json::Value {
    let listed = anthill(directory, &["devices", "--json"]).out;
    serde_json::from_str::<serde_json::Value>(&listed).expect("valid JSON")[0].take()
}

/// Whether the first device is a CPU driver, where all buffers share one kind of memory.
pub(super) fn draws_on_processor(directory: &Path) -> bool {
    first_device(directory)["kind"] == "cpu"
}

#[test]
fn devices_are_listed_for_people_and_for_programs() {
    let directory = directory();
    let Ran { code, out, err } = anthill(directory.path(), &["devices", "--json"]);
    let text = anthill(directory.path(), &["devices"]);
    let devices: serde_json::Value = serde_json::from_str(&out).expect("valid JSON");
    let devices = devices.as_array().expect("a list");
    let usable = devices.iter().filter(|device| device["usable"] == true).count();
    assert!(usable > 0, "the tests need a Vulkan device: `make setup` installs one. {err}");
    assert_eq!((code, text.code), (Some(0), Some(0)), "{err}");
    assert_eq!(text.out.matches(": can render").count(), usable, "{}", text.out);
    assert!(text.out.contains(": can render, and is used by default\n"), "{}", text.out);
    for device in devices {
        for key in ["name", "driver", "api_version", "kind"] {
            assert!(device[key].as_str().is_some_and(|value| !value.is_empty()), "{key}: {device}");
        }
        assert!(text.out.contains(device["name"].as_str().unwrap_or("?")), "{}", text.out);
        assert!(device["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{device}");
        assert!(device["features"]["shaderInt64"].is_boolean() && device["limits"]["maxStorageBufferRange"].is_u64());
        assert_eq!(device["lacking"].as_array().is_some_and(Vec::is_empty), device["usable"] == true, "{device}");
    }
    let is_cpu = devices.iter().all(|device| device["kind"] == "cpu");
    assert_eq!(text.err.contains("no usable GPU was found"), is_cpu, "{}", text.err);
}

/// Rendering on the CPU is reported to those who ask, unless they chose the device.
#[test]
fn rendering_on_the_cpu_is_reported() {
    let directory = directory();
    let list = anthill(directory.path(), &["devices", "--json"]);
    let devices: serde_json::Value = serde_json::from_str(&list.out).expect("valid JSON");
    let has_gpu = devices.as_array().is_some_and(|list| list.iter().any(|device| device["kind"] != "cpu"));
    let is_reported = |args: &[&str]| {
        with_scene(directory.path(), args, &[]).err.contains("note: no GPU that can render was found: ")
    };
    assert_eq!(is_reported(&["render", "a.rib", "-v"]), !has_gpu);
    assert!(!is_reported(&["render", "a.rib"]) && !is_reported(&["render", "a.rib", "-v", "--devices", "0"]));
}

#[test]
fn without_a_driver_nothing_is_rendered_and_help_is_given() {
    let directory = directory();
    let nowhere: &OsStr = "/nonexistent".as_ref();
    for args in [&["render", "a.rib"][..], &["devices"], &["devices", "--json"]] {
        let ran = with_scene(directory.path(), args, &[("VK_DRIVER_FILES", nowhere), ("VK_ICD_FILENAMES", nowhere)]);
        assert_eq!((ran.code, ran.out.trim().trim_matches(['[', ']'])), (Some(3), ""), "{}", ran.err);
        let [error, help] = ran.messages()[..] else { panic!("{args:?}: {}", ran.err) };
        assert!(error.starts_with("anthill: error: Vulkan "), "{error}");
        assert!(help.starts_with("  help: install a Vulkan driver: "), "{help}");
    }
    assert!(!directory.path().join("a.exr").exists());
}

/// The driver was removed, but its manifest is still there.
#[test]
fn a_driver_without_its_library_is_unusable() {
    let directory = directory();
    let manifest = directory.path().join("gone.json");
    let text = r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "/nonexistent/libgone.so", "api_version": "1.3.0"}}"#;
    fs::write(&manifest, text).expect("writable");
    let variables = [("VK_DRIVER_FILES", manifest.as_os_str()), ("VK_ICD_FILENAMES", manifest.as_os_str())];
    let ran = with_scene(directory.path(), &["render", "a.rib"], &variables);
    let [error, help] = ran.messages()[..] else { panic!("{}", ran.err) };
    assert!(ran.code == Some(3) && error.starts_with("anthill: error: Vulkan "), "{}", ran.err);
    assert!(help.starts_with("  help: install a Vulkan driver: "), "{help}");
    assert!(!directory.path().join("a.exr").exists());
}

/// The file with the name of the loader is not a library.
#[cfg(target_os = "linux")]
#[test]
fn without_a_loader_nothing_is_rendered_and_help_is_given() {
    let directory = directory();
    let fake = directory.path().join("lib");
    fs::create_dir(&fake).expect("writable");
    for name in ["libvulkan.so.1", "libvulkan.so"] {
        fs::write(fake.join(name), "no library").expect("writable");
    }
    for args in [&["render", "a.rib"][..], &["devices"]] {
        let ran = with_scene(directory.path(), args, &[("LD_LIBRARY_PATH", fake.as_os_str())]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{}", ran.err);
        assert!(
            ran.messages()[0].starts_with("anthill: error: the Vulkan loader could not be opened: "),
            "{}",
            ran.err
        );
        assert!(ran.messages()[1].contains("libvulkan1 and mesa-vulkan-drivers"), "{}", ran.err);
    }
}

#[test]
fn unknown_devices_are_wrong_usage() {
    let directory = directory();
    for which in ["99", "no such device", "0,,0", ""] {
        let ran = with_scene(directory.path(), &["render", "a.rib", "--devices", which], &[]);
        let asked = which.split(',').map(str::trim).find(|part| *part != "0").unwrap_or_default();
        assert!(ran.messages()[0].starts_with(&format!("anthill: error: there is no device {asked:?} (known: 0 ")));
        assert!(ran.messages()[1].starts_with("  help: give `all`, `alike`, or a list"), "{}", ran.err);
        assert_eq!(ran.code, Some(2));
    }
}

#[test]
fn too_little_memory_is_reported_with_what_is_needed() {
    let directory = directory();
    let draw = |memory: &str| with_scene(directory.path(), &["render", "a.rib", "--memory", memory], &[]);
    let none = draw("1M");
    let message = none.messages()[0];
    assert!(message.contains(" may use 1.0 MiB of memory but needs 4.0 MiB before anything is drawn"), "{message}");
    assert!(none.messages()[1].contains("--memory"), "{}", none.err);
    // This little is enough for a small picture, one block in each kind of memory; the module `memory` tests others.
    let little = if draws_on_processor(directory.path()) { "4M" } else { "12M" };
    assert_eq!([none.code, draw(little).code, draw("16M").code], [Some(2), Some(0), Some(0)]);
}

/// If a frame does not fit, its device still renders the next one.
#[test]
fn frames_after_one_that_does_not_fit_are_rendered() {
    let directory = directory();
    let frame = |name: &str, body: &str| {
        format!("Display \"{name}.exr\" \"exr\" \"rgba\" Format 16 16 1\nWorldBegin\n{body}\nWorldEnd\n")
    };
    // No two points are equal, so none is left out.
    let points: String = (0..400_000).map(|i| format!("{} 0 1 ", f64::from(i) * 1e-6)).collect();
    let large = format!("Points \"P\" [{points}] \"constantwidth\" 0.001");
    let scene = frame("a", &large) + &frame("b", "Sphere 0.5 -0.5 0.5 360");
    fs::write(directory.path().join("a.rib"), scene).expect("writable");
    let memory = if draws_on_processor(directory.path()) { "8M" } else { "16M" };
    let ran = anthill(directory.path(), &["render", "a.rib", "--memory", memory]);
    let exists = |name: &str| directory.path().join(name).exists();
    assert!(!exists("a.exr") && exists("b.exr") && ran.code == Some(1), "{}", ran.err);
}

/// Without the check, Mesa ends the program with SIGBUS. A small disk needs a name space of its own, which some systems
/// do not allow.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_for_the_drivers_cache_is_survived() {
    let folder = directory();
    fs::create_dir(folder.path().join("disk")).expect("writable");
    fs::write(folder.path().join("k.rib"), "Display \"o.exr\" \"exr\" \"rgba\" Format 8 8 1 WorldBegin WorldEnd\n")
        .expect("writable");
    let script = "mount -t tmpfs -o size=64k none disk && \
        exec env MESA_SHADER_CACHE_DIR=disk \"$0\" render k.rib --devices 0";
    let args = ["-rm", "sh", "-c", script, env!("CARGO_BIN_EXE_anthill")];
    let ran = std::process::Command::new("unshare").current_dir(folder.path()).args(args).output();
    let Ok(ran) = ran else { return };
    let err = String::from_utf8_lossy(&ran.stderr);
    if err.contains("unshare: ") || err.contains("mount: ") {
        return;
    }
    assert_eq!(ran.status.code(), Some(0), "{err}");
    assert!(err.contains("the drivers' shader cache") && folder.path().join("o.exr").exists(), "{err}");
}

/// What is dispatched ahead to have a kernel compiled, and what is drawn later, look the same to lavapipe of Mesa 22:
/// it keeps a file for each variant that it compiles. Mesa 25 has no such variants, and keeps other files too.
#[test]
fn lavapipe_compiles_each_kernel_once() {
    let folder = directory();
    let device = first_device(folder.path());
    if device["kind"] != "cpu" || !device["driver_info"].as_str().is_some_and(|info| info.starts_with("Mesa 22.")) {
        return;
    }
    let caches = ["ours", "mesa"].map(|name| folder.path().join(name));
    let variables = [
        ("XDG_CACHE_HOME", caches[0].as_os_str()),
        ("MESA_SHADER_CACHE_DIR", caches[1].as_os_str()),
        ("MESA_DISK_CACHE_MULTI_FILE", OsStr::new("1")),
    ];
    let ran = with_scene(folder.path(), &["render", "a.rib", "--devices", "0"], &variables);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let kernels = files_below(&caches[0].join("anthill/kernels"), 1);
    let variants = files_below(&caches[1].join("mesa_shader_cache"), 1);
    assert!(kernels > 20 && (kernels..kernels + kernels / 2).contains(&variants), "{variants} of {kernels}");
}

/// The number of files so many folders below a folder.
fn files_below(folder: &Path, depth: u32) -> usize {
    let entries = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    let count = |path: std::path::PathBuf| match (path.is_dir(), depth) {
        (true, 1..) => files_below(&path, depth - 1),
        (is_dir, _) => usize::from(depth == 0 && !is_dir),
    };
    entries.map(count).sum()
}
