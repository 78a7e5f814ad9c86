//! Finding and choosing devices, and what is said where that fails.

use super::{ALONE, open_with, options};
use anthill::diagnostic::Reporter;
use anthill::gpu::{
    DeviceInfo, Fault, FaultKind, Faults, GpuError, KeptDevices, OpenOptions, Usage, devices, open, open_each, reopen,
};
use std::env;
use std::fs;
use std::process::Command;
use std::sync::Arc;

/// Set in the environment of a test that runs itself again in another environment.
const CHILD: &str = "ANTHILL_TEST_CHILD";

/// Runs the named test in a process of its own with other variables; whether this is that process.
fn is_child(test: &str, variables: &[(&str, &str)]) -> bool {
    if env::var_os(CHILD).is_some() {
        return true;
    }
    let mut command = Command::new(env::current_exe().expect("this test has a file"));
    command.args(["--exact", &format!("gpu::devices::{test}"), "--nocapture"]).env(CHILD, "1");
    let output = command.envs(variables.iter().copied()).output().expect("the test can be started");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}

/// What opening without validation says.
fn open_error(selection: &str) -> GpuError {
    let options = OpenOptions { validate: false, ..options() };
    open(selection, &options).err().expect("no device can be opened")
}

#[test]
fn the_list_of_devices_is_json_with_every_fact() {
    let listed = devices(false).expect("a loader and a driver are installed");
    assert!(listed.iter().any(|device| device.usable), "{listed:#?}");
    let json = serde_json::to_value(&listed).expect("a list of devices is JSON");
    for (index, device) in json.as_array().expect("a list").iter().enumerate() {
        assert_eq!(device["index"], index);
        assert!(device["name"].as_str().is_some_and(|name| !name.is_empty()));
        assert!(
            ["discrete", "integrated", "virtual", "cpu", "other"].contains(&device["kind"].as_str().expect("text"))
        );
        assert!(device["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 1 << 20));
        assert!(
            device["features"]["timelineSemaphore"].is_boolean() && device["features"]["subgroupVote"].is_boolean()
        );
        assert!(device["limits"]["maxStorageBufferRange"].as_u64().is_some_and(|bytes| bytes >= 1 << 27));
        assert_eq!(device["usable"].as_bool(), Some(device["lacking"].as_array().expect("a list").is_empty()));
    }
}

#[test]
fn an_unknown_device_is_an_error_that_lists_the_known() {
    let error = open_error("voodoo");
    assert!(error.is_no_usable_device());
    let known = &devices(false).expect("a driver is installed")[0].name;
    assert!(error.to_string().contains("\"voodoo\"") && error.to_string().contains(known.as_str()), "{error}");
    assert!(error.hint().contains("anthill devices"));
    assert!(matches!(open_error("999"), GpuError::UnknownDevice { .. }));
}

#[test]
fn without_drivers_it_says_what_to_install() {
    let nowhere = "/nonexistent.json";
    let variables = [("VK_DRIVER_FILES", nowhere), ("VK_ICD_FILENAMES", nowhere)];
    if is_child("without_drivers_it_says_what_to_install", &variables) {
        let error = open_error("all");
        assert!(matches!(error, GpuError::NoDevice | GpuError::NoInstance { .. }), "{error:?}");
        assert!(error.is_no_usable_device() && error.hint().contains("mesa-vulkan-drivers"));
    }
}

#[test]
fn without_a_loader_it_says_what_to_install() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("libvulkan.so.1"), "no library").expect("the folder can be written");
    let path = folder.path().to_string_lossy().into_owned();
    if is_child("without_a_loader_it_says_what_to_install", &[("LD_LIBRARY_PATH", path.as_str())]) {
        let error = open_error("all");
        assert!(matches!(error, GpuError::NoLoader { .. }), "{error:?}");
        assert!(error.is_no_usable_device() && error.hint().contains("libvulkan1"));
    }
}

#[test]
fn without_the_validation_layer_validation_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().to_string_lossy().into_owned();
    if is_child("without_the_validation_layer_validation_is_refused", &[("VK_LAYER_PATH", path.as_str())]) {
        assert_eq!(open("all", &options()).err(), Some(GpuError::NoValidationLayer));
    }
}

/// Threads of this process that compute for CPU devices of Mesa.
fn computing_threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with("llvmpipe-")).count()
}

#[test]
fn single_threaded_cpu_devices_have_no_threads_of_their_own() {
    if is_child("single_threaded_cpu_devices_have_no_threads_of_their_own", &[("LP_NUM_THREADS", "0")]) {
        let options = OpenOptions { single_threaded_cpu: true, ..options() };
        let opened = open_with("all", &options);
        assert!(!opened[0].is_cpu() || computing_threads() == 0);
    }
}

#[test]
fn single_threaded_cpu_devices_must_be_asked_for_early() {
    if env::var_os("LP_NUM_THREADS").is_none() {
        // The test harness runs threads already.
        let options = OpenOptions { single_threaded_cpu: true, ..options() };
        let error = open("all", &options).err();
        assert_eq!(error, Some(GpuError::ThreadsAlreadyRun));
        assert!(env::var_os("LP_NUM_THREADS").is_none(), "the environment is as it was");
    }
}

#[test]
fn memory_that_is_not_there_is_warned_of() {
    let reporter = Arc::new(Reporter::silent());
    let options = OpenOptions { memory_bytes: Some(u64::MAX), reporter: Arc::clone(&reporter), ..options() };
    let opened = open("0", &options).expect("the share is what the device has");
    assert_eq!(opened[0].memory().budget_bytes, opened[0].info().memory_bytes);
    drop(opened);
    let messages = reporter.all();
    assert!(messages.len() == 1 && messages[0].0.message.contains("bytes of memory were requested"), "{messages:?}");
}

/// Each on its own thread.
#[test]
fn devices_that_open_side_by_side_keep_their_order_and_their_messages() {
    let _alone = ALONE.lock();
    let reporter = Arc::new(Reporter::silent());
    let open_options =
        OpenOptions { validate: false, memory_bytes: Some(u64::MAX), reporter: Arc::clone(&reporter), ..options() };
    let share = devices(false).expect("a driver is installed")[0].memory_bytes / 5;
    let opened = open("0,0,0,0,0", &open_options).expect("they open");
    let numbers: Vec<u32> = opened.iter().map(|device| device.title().number).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    assert!(opened.iter().all(|device| device.memory().budget_bytes == share));
    let messages = reporter.all();
    let named =
        (0..).zip(&messages).all(|(number, (warning, _))| warning.message.starts_with(&format!("device {number} (")));
    assert!(messages.len() == 5 && named, "{messages:?}");
    drop(opened);
    // One that does not open keeps nobody from the others.
    let fault = Fault { kind: FaultKind::Unopened, device: 1, submission: 0 };
    let faults = Some(Arc::new(Faults::new([fault])));
    let each = open_each("0,0,0", &OpenOptions { validate: false, faults, ..options() }).expect("they are listed");
    let results: Vec<(u32, bool)> = each.iter().map(|opening| (opening.title.number, opening.device.is_ok())).collect();
    assert_eq!(results, [(0, true), (1, false), (2, true)]);
}

/// The list has become shorter, or another device stands in its place.
#[test]
fn a_device_that_vanished_is_lost() {
    let _alone = ALONE.lock();
    let listed = devices(false).expect("a driver is installed");
    let options = OpenOptions { validate: false, first_number: 3, ..options() };
    let other = DeviceInfo { name: "voodoo".to_string(), ..listed[0].clone() };
    let gone = DeviceInfo { index: listed.len(), ..listed[0].clone() };
    for info in [other, gone] {
        let error = reopen(&info, &options).err().expect("it is not there");
        assert_eq!(error.to_string(), format!("device 3 ({}) was lost while being opened", info.name));
        assert!(error.ends_device());
    }
}

/// Their messages go to the render that they serve.
#[test]
fn kept_devices_serve_equal_renders_unless_they_hold_memory() {
    let _alone = ALONE.lock();
    let kept = KeptDevices::default();
    let first = OpenOptions { validate: false, ..options() };
    let open = |options: &OpenOptions| {
        let mut openings = kept.open_each("0", options).expect("a driver is installed");
        openings.remove(0).device.expect("it opens")
    };
    let device = open(&first);
    let opened_at = device.opened_at();
    kept.keep("0", &first, vec![device]);
    let other = OpenOptions { memory_bytes: Some(65 << 20), ..first.clone() };
    assert_ne!(open(&other).opened_at(), opened_at);

    let reporter = Arc::new(Reporter::silent());
    let next = OpenOptions { reporter: Arc::clone(&reporter), ..first.clone() };
    let mut device = open(&next);
    assert_eq!(device.opened_at(), opened_at);
    device.allocate("left", 64, Usage::DeviceOnly).expect("memory");
    kept.keep("0", &next, vec![device]);
    let messages = reporter.all();
    assert!(messages.len() == 1 && messages[0].0.message.contains("buffer left was not freed"), "{messages:?}");
    assert_ne!(open(&next).opened_at(), opened_at);
}
