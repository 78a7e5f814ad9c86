//! `anthill devices`: what there is to draw on.

use super::console::Console;
use super::flags::DevicesFlags;
use anthill::gpu::{DeviceInfo, devices};
use anthill::stats::human_bytes;

/// The exit code when nothing can render.
const NO_USABLE_DEVICE: u8 = 3;

/// Runs the command and returns the exit code.
pub(super) fn run(flags: &DevicesFlags, console: &mut Console) -> u8 {
    let devices = match devices(false) {
        Ok(devices) => devices,
        Err(error) => {
            console.err.error(&error.to_string());
            if !error.hint().is_empty() {
                console.err.line(&format!("  help: {}", error.hint()));
            }
            return NO_USABLE_DEVICE;
        }
    };
    let text = if flags.json { json(&devices) } else { devices.iter().map(describe).collect() };
    console.print(&text);
    if devices.iter().any(|device| device.usable) {
        return 0;
    }
    console.err.error(if devices.is_empty() { "there is no Vulkan device" } else { "no device can render" });
    NO_USABLE_DEVICE
}

fn json(devices: &[DeviceInfo]) -> String {
    let text = serde_json::to_string_pretty(devices).expect("device descriptions have string keys");
    text + "\n"
}

/// A device in a few lines: what it is, then what it lacks.
fn describe(device: &DeviceInfo) -> String {
    let verdict = if device.usable { "can render" } else { "cannot render" };
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
    for lack in &device.lacking {
        text += &format!("   lacks {}: {} needed, has {} ({})\n", lack.name, lack.needed, lack.has, lack.reason);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anthill::gpu::{DeviceKind, Lack};
    use std::collections::BTreeMap;

    #[test]
    fn a_device_says_what_it_is_and_what_it_lacks() {
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
            cache_uuid: String::new(),
            memory_bytes: 2 << 30,
            host_visible: true,
            subgroup_size: 4,
            timestamp_ns: 1.0,
            features: BTreeMap::new(),
            limits: BTreeMap::new(),
            allocation_bytes_max: 1 << 30,
            lacking: vec![],
            usable: true,
        };
        let head = "1  SwiftShader\n   CPU, SwiftShader driver 5.0, Vulkan 1.3.0, 2.0 GiB: ";
        assert_eq!(describe(&device), format!("{head}can render\n"));
        device.usable = false;
        let lack =
            Lack { name: "shaderInt64", needed: "yes".into(), has: "no".into(), reason: "depth keys", fatal: true };
        device.lacking.push(lack);
        let expected = format!("{head}cannot render\n   lacks shaderInt64: yes needed, has no (depth keys)\n");
        assert_eq!(describe(&device), expected);
        let value: serde_json::Value = serde_json::from_str(&json(&[device])).expect("valid JSON");
        assert_eq!((&value[0]["kind"], &value[0]["lacking"][0]["name"]), (&"cpu".into(), &"shaderInt64".into()));
    }
}
