//! `anthill devices`: lists the Vulkan devices.

use super::console::Console;
use super::flags::DevicesFlags;
use anthill::gpu::{DeviceInfo, DeviceKind, GpuError, devices, select};
use anthill::stats::human_bytes;

/// The exit code if no device can render.
pub(super) const NO_USABLE_DEVICE: u8 = 3;

/// The exit code of a wrong command line.
pub(super) const WRONG_USAGE: u8 = 2;

/// Runs the command and returns the exit code.
pub(super) fn run(flags: &DevicesFlags, console: &mut Console) -> u8 {
    let devices = match devices(false) {
        Ok(devices) => devices,
        Err(error) => {
            report_error(&error, console);
            return NO_USABLE_DEVICE;
        }
    };
    let chosen = select(&devices, "all");
    let default = chosen.as_deref().unwrap_or(&[]);
    let describe = |device: &DeviceInfo| describe(device, default.contains(&device.index));
    console.print(&if flags.json { json(&devices) } else { devices.iter().map(describe).collect() });
    let Err(error) = &chosen else {
        if default.iter().all(|&index| devices[index].kind == DeviceKind::Cpu) {
            console.err.line("anthill: no usable GPU was found; renders use the CPU");
        }
        return 0;
    };
    report_error(error, console);
    NO_USABLE_DEVICE
}

/// Prints an error and what to do about it.
pub(super) fn report_error(error: &GpuError, console: &Console) {
    console.err.error(&error.to_string());
    if !error.hint().is_empty() {
        console.err.line(&format!("  help: {}", error.hint()));
    }
}

/// Prints why devices cannot be used, and returns the exit code.
pub(super) fn refuse(error: &GpuError, console: &Console) -> u8 {
    report_error(error, console);
    if matches!(error, GpuError::UnknownDevice { .. }) { WRONG_USAGE } else { NO_USABLE_DEVICE }
}

fn json(devices: &[DeviceInfo]) -> String {
    let text = serde_json::to_string_pretty(devices).expect("device descriptions have string keys");
    text + "\n"
}

/// A device in a few lines: what it is, which of the features that are checked it offers, and what it lacks.
fn describe(device: &DeviceInfo, default: bool) -> String {
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
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anthill::gpu::MissingRequirement;
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
            features: BTreeMap::from([("shaderInt64", true), ("subgroupVote", false), ("timelineSemaphore", true)]),
            limits: BTreeMap::new(),
            allocation_bytes_max: 1 << 30,
            lacking: vec![],
            usable: true,
        };
        let head = "1  SwiftShader\n   CPU, SwiftShader driver 5.0, Vulkan 1.3.0, 2.0 GiB: ";
        let offers = "   offers shaderInt64, timelineSemaphore\n";
        assert_eq!(describe(&device, false), format!("{head}can render\n{offers}"));
        assert_eq!(describe(&device, true), format!("{head}can render, and is used by default\n{offers}"));
        device.usable = false;
        let lack = |name, needed: &str, has: &str, reason| {
            let (needed, has) = (needed.to_string(), has.to_string());
            MissingRequirement { name, needed, has, reason, fatal: false }
        };
        device.lacking.push(lack("shaderInt64", "offered", "not offered", "depth keys"));
        device.lacking.push(lack("maxPushConstantsSize", "at least 128", "64", "parameters"));
        let lacks = "   lacks shaderInt64: depth keys\n   lacks maxPushConstantsSize (needs at least 128, has 64): parameters\n";
        let expected = format!("{head}cannot render\n{offers}{lacks}");
        assert_eq!(describe(&device, false), expected);
        let value: serde_json::Value = serde_json::from_str(&json(&[device])).expect("valid JSON");
        assert_eq!((&value[0]["kind"], &value[0]["lacking"][0]["name"]), (&"cpu".into(), &"shaderInt64".into()));
    }
}
