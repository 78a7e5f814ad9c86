//! `anthill devices`: lists the Vulkan devices, and what each draws with.

use crate::cli::console::Console;
use crate::cli::device_errors::report_error;
use crate::cli::flags::devices::DevicesFlags;
use crate::cli::kept_pipelines::kept_pipelines;
use anthill::gpu::{DeviceInfo, DeviceKind, devices, select};
use anthill::outcome::exit_code::{DONE, NO_USABLE_DEVICE};
use anthill::pipeline_choice::PipelineChoice;
use anthill::stats::human_bytes;
use serde::Serialize;

/// Runs the command and returns the exit code.
pub(crate) fn run(flags: &DevicesFlags, console: &mut Console) -> u8 {
    let devices = match devices(false) {
        Ok(devices) => devices,
        Err(error) => {
            report_error(&error, console);
            return NO_USABLE_DEVICE;
        }
    };
    let chosen = select(&devices, "all");
    let default = chosen.as_deref().unwrap_or(&[]);
    let choice = PipelineChoice { named: None, kept: kept_pipelines(console) };
    let listed = devices.iter().map(|device| ListedDevice::new(device, &choice));
    let describe = |listed: ListedDevice<'_>| describe(&listed, default.contains(&listed.device.index));
    console.print(&if flags.json { json(&listed.collect::<Vec<_>>()) } else { listed.map(describe).collect() });
    let Err(error) = &chosen else {
        if default.iter().all(|&index| devices[index].kind == DeviceKind::Cpu) {
            console.err.line("anthill: no usable GPU was found; renders use the CPU");
        }
        return DONE;
    };
    report_error(error, console);
    NO_USABLE_DEVICE
}

/// A device, and the pipeline that it draws with.
#[derive(Serialize)]
struct ListedDevice<'a> {
    #[serde(flatten)]
    device: &'a DeviceInfo,
    /// `None` for one that cannot render.
    pipeline: Option<&'static str>,
    /// Whether `anthill explore` measured and kept it.
    pipeline_kept: bool,
}

impl<'a> ListedDevice<'a> {
    fn new(device: &'a DeviceInfo, choice: &PipelineChoice) -> Self {
        let pipeline = device.usable.then(|| choice.of(device, false).name);
        Self { device, pipeline, pipeline_kept: device.usable && choice.kept.of(device).is_some() }
    }
}

fn json(devices: &[ListedDevice<'_>]) -> String {
    let text = serde_json::to_string_pretty(devices).expect("device descriptions have string keys");
    text + "\n"
}

/// Returns a device in a few lines: what it is, which of the features that are checked it offers, what it lacks, and
/// what it draws with.
fn describe(listed: &ListedDevice<'_>, default: bool) -> String {
    let device = listed.device;
    let verdict = match (device.usable, default) {
        (true, true) => "can render, and is used by default",
        (true, false) => "can render",
        (false, _) => "cannot render",
    };
    let mut text = format!(
        "{}  {}\n   {}, {} {}, Vulkan {}, {}: {verdict}\n",
        device.index,
        device.name,
        device.kind,
        device.driver,
        device.driver_info,
        device.api_version,
        human_bytes(device.memory_bytes)
    );
    let offered: Vec<&str> = device.features.iter().filter(|(_, offered)| **offered).map(|(name, _)| *name).collect();
    if !offered.is_empty() {
        text += &format!("   offers {}\n", offered.join(", "));
    }
    for lack in &device.lacking {
        text += &format!("   lacks {}: {}\n", lack.what(), lack.reason);
    }
    let (there, missing) = device.tools.words();
    let there = if there.is_empty() { "nothing".to_owned() } else { there.join(", ") };
    let missing = if missing.is_empty() { String::new() } else { format!("; lacks {}", missing.join(", ")) };
    text += &format!("   for tools: {there}{missing}\n");
    if let Some(pipeline) = listed.pipeline {
        let reason = if listed.pipeline_kept { "measured to be the fastest" } else { "the usual one" };
        text += &format!("   draws with pipeline {pipeline} ({reason})\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anthill::gpu::{DeviceTools, MissingRequirement};
    use anthill::pipeline::plan::CATALOGUE;
    use std::collections::BTreeMap;

    #[test]
    fn a_device_is_described_with_what_it_lacks() {
        let mut device = DeviceInfo {
            index: 1,
            name: "SwiftShader".into(),
            kind: DeviceKind::Cpu,
            driver: "SwiftShader driver".into(),
            driver_info: "5.0".into(),
            driver_version: 1,
            api_version: "1.3.0".into(),
            vendor_id: 0,
            device_id: 0,
            pci: None,
            uuid: String::new(),
            cache_uuid: String::new(),
            memory_bytes: 2 << 30,
            host_visible: true,
            subgroup_size: 4,
            timestamp_ns: 1.0,
            tools: DeviceTools::default(),
            features: BTreeMap::from([("shaderInt64", true), ("subgroupVote", false), ("timelineSemaphore", true)]),
            limits: BTreeMap::new(),
            allocation_bytes_max: 1 << 30,
            lacking: vec![],
            usable: true,
        };
        let head = "1  SwiftShader\n   CPU, SwiftShader driver 5.0, Vulkan 1.3.0, 2.0 GiB: ";
        let offers = "   offers shaderInt64, timelineSemaphore\n";
        device.tools = DeviceTools { timestamp_bits: 64, ..DeviceTools::default() };
        let tools = "   for tools: timestamps of 64 bits; lacks a clock in kernels, names for captures, checkpoints of lost \
                     devices, reasons of lost devices, ends of frames, RenderDoc's layer\n";
        let mut choice = PipelineChoice::default();
        let described = |device: &DeviceInfo, choice: &PipelineChoice, default| {
            describe(&ListedDevice::new(device, choice), default)
        };
        let usual = "   draws with pipeline batches (the usual one)\n";
        assert_eq!(described(&device, &choice, false), format!("{head}can render\n{offers}{tools}{usual}"));
        choice.kept.keep(&device, &CATALOGUE[1]);
        let kept = "   draws with pipeline batches-expanded (measured to be the fastest)\n";
        let expected = format!("{head}can render, and is used by default\n{offers}{tools}{kept}");
        assert_eq!(described(&device, &choice, true), expected);
        device.usable = false;
        let lack = |name, needed: &str, has: &str, reason| {
            let (needed, has) = (needed.to_string(), has.to_string());
            MissingRequirement { name, needed, has, reason, fatal: false }
        };
        device.lacking.push(lack("shaderInt64", "offered", "not offered", "depth keys"));
        device.lacking.push(lack("maxPushConstantsSize", "at least 128", "64", "parameters"));
        let lacks = "   lacks shaderInt64: depth keys\n   lacks maxPushConstantsSize (needs at least 128, has 64): parameters\n";
        let expected = format!("{head}cannot render\n{offers}{lacks}{tools}");
        assert_eq!(described(&device, &choice, false), expected);
        let usable = DeviceInfo { usable: true, ..device.clone() };
        let listed = json(&[ListedDevice::new(&device, &choice), ListedDevice::new(&usable, &choice)]);
        let value: serde_json::Value = serde_json::from_str(&listed).expect("valid JSON");
        let pipeline = |at: usize| (value[at]["pipeline"].as_str(), value[at]["pipeline_kept"].as_bool());
        assert_eq!([pipeline(0), pipeline(1)], [(None, Some(false)), (Some("batches-expanded"), Some(true))]);
        assert_eq!((&value[0]["kind"], &value[0]["lacking"][0]["name"]), (&"cpu".into(), &"shaderInt64".into()));
    }
}
