//! Resolves the user's device selection.

use super::error::GpuError;
use super::physical::{DeviceInfo, MissingRequirement};

/// Returns the indices of the devices that a selection names, in its order and as often as it names them.
///
/// * `all`: every GPU that can render, once even if two drivers offer it; without a GPU, the first CPU device that can
///   render.
/// * `alike`: the largest group of those with one model and driver; the first of equally large groups.
/// * otherwise a list, separated by commas, of indices and parts of device or driver names (in any case), each of which
///   stands for every device that it matches. A device that is named several times is opened as often.
///
/// # Errors
/// [`GpuError::NoDevice`] and [`GpuError::NoUsableDevice`] if there is nothing to choose from,
/// [`GpuError::UnknownDevice`] for a part that matches nothing, [`GpuError::Lacking`] for a named device that cannot
/// render.
pub fn select(devices: &[DeviceInfo], selection: &str) -> Result<Vec<usize>, GpuError> {
    if devices.is_empty() {
        return Err(GpuError::NoDevice);
    }
    match selection.trim() {
        "all" => everything(devices),
        "alike" => everything(devices).map(|all| largest_group(devices, &all)),
        list => {
            let parts: Vec<Vec<usize>> =
                list.split(',').map(|part| named(devices, part.trim())).collect::<Result<_, _>>()?;
            Ok(parts.concat())
        }
    }
}

/// Returns one message for each GPU that cannot render where only CPU devices were chosen, which may be news to the
/// user.
pub(super) fn unused_gpus(devices: &[DeviceInfo], chosen: &[usize]) -> Vec<String> {
    if chosen.iter().any(|&index| devices[index].is_gpu()) {
        return Vec::new();
    }
    let useless = devices.iter().filter(|device| device.is_gpu() && !device.usable);
    let message = |device: &DeviceInfo| {
        let lacks: Vec<String> = device.lacking.iter().map(MissingRequirement::what).collect();
        format!("{} cannot render, so the processor does: it lacks {}", device.name, lacks.join(", "))
    };
    useless.map(message).collect()
}

fn everything(devices: &[DeviceInfo]) -> Result<Vec<usize>, GpuError> {
    let mut chosen: Vec<usize> = Vec::new();
    for device in devices.iter().filter(|device| device.usable && device.is_gpu()) {
        let seen = |index: &usize| {
            let other = &devices[*index];
            if device.pci.is_some() && other.pci.is_some() {
                device.pci == other.pci
            } else {
                device.uuid == other.uuid
            }
        };
        if !chosen.iter().any(seen) {
            chosen.push(device.index);
        }
    }
    if chosen.is_empty() {
        chosen.extend(devices.iter().find(|device| device.usable).map(|device| device.index));
    }
    if chosen.is_empty() {
        return Err(GpuError::NoUsableDevice { lacks: devices.iter().map(lacks_line).collect() });
    }
    Ok(chosen)
}

fn largest_group(devices: &[DeviceInfo], chosen: &[usize]) -> Vec<usize> {
    let group = |of: usize| -> Vec<usize> {
        chosen.iter().copied().filter(|index| devices[*index].is_like(&devices[of])).collect()
    };
    // `max_by_key` takes the last of equals: go backwards to get the first.
    chosen.iter().rev().map(|index| group(*index)).max_by_key(Vec::len).unwrap_or_default()
}

fn named(devices: &[DeviceInfo], part: &str) -> Result<Vec<usize>, GpuError> {
    if let Ok(index) = part.parse::<usize>() {
        let device = devices.get(index).ok_or_else(|| unknown(devices, part))?;
        return if device.usable { Ok(vec![index]) } else { Err(lacking(device)) };
    }
    let fits = |device: &&DeviceInfo| {
        let has = |text: &str| text.to_lowercase().contains(&part.to_lowercase());
        !part.is_empty() && (has(&device.name) || has(&device.driver))
    };
    let fitting: Vec<&DeviceInfo> = devices.iter().filter(fits).collect();
    let usable: Vec<usize> = fitting.iter().filter(|device| device.usable).map(|device| device.index).collect();
    match (usable.is_empty(), fitting.first()) {
        (false, _) => Ok(usable),
        (true, Some(device)) => Err(lacking(device)),
        (true, None) => Err(unknown(devices, part)),
    }
}

fn unknown(devices: &[DeviceInfo], asked: &str) -> GpuError {
    let known = devices.iter().map(|device| format!("{} {}", device.index, device.name)).collect();
    GpuError::UnknownDevice { asked: asked.to_string(), known }
}

/// Returns the error for a device that cannot render.
pub(super) fn lacking(device: &DeviceInfo) -> GpuError {
    let lacking = device.lacking.iter().map(MissingRequirement::what).collect();
    GpuError::Lacking { index: device.index, name: device.name.clone(), lacking }
}

fn lacks_line(device: &DeviceInfo) -> String {
    let names: Vec<&str> = device.lacking.iter().map(|lack| lack.name).collect();
    format!("{} lacks {}", device.name, names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::physical::DeviceKind;
    use crate::gpu::tools::DeviceTools;
    use std::collections::BTreeMap;

    fn device(index: usize, name: &str, kind: DeviceKind, pci: Option<&str>) -> DeviceInfo {
        DeviceInfo {
            index,
            name: name.to_string(),
            kind,
            driver: format!("{name} driver"),
            driver_info: String::new(),
            driver_version: 1,
            api_version: "1.3.0".to_string(),
            vendor_id: 1,
            device_id: 2,
            pci: pci.map(str::to_string),
            uuid: pci.unwrap_or_default().to_string(),
            cache_uuid: String::new(),
            memory_bytes: 1 << 30,
            host_visible: false,
            subgroup_size: 32,
            timestamp_ns: 1.0,
            tools: DeviceTools::default(),
            features: BTreeMap::new(),
            limits: BTreeMap::new(),
            allocation_bytes_max: 1 << 30,
            lacking: Vec::new(),
            usable: true,
        }
    }

    fn unusable(mut device: DeviceInfo) -> DeviceInfo {
        device.usable = false;
        device.lacking.push(MissingRequirement {
            name: "shaderInt64",
            needed: "offered".to_string(),
            has: "not offered".to_string(),
            reason: "",
            fatal: false,
        });
        device
    }

    /// Returns a CPU device, three GPUs of two models, one of them through two drivers, and one that cannot render.
    fn machine() -> Vec<DeviceInfo> {
        vec![
            device(0, "llvmpipe", DeviceKind::Cpu, None),
            device(1, "Radeon", DeviceKind::Discrete, Some("0:1")),
            device(2, "GeForce", DeviceKind::Discrete, Some("0:2")),
            device(3, "GeForce", DeviceKind::Discrete, Some("0:3")),
            device(4, "Radeon", DeviceKind::Discrete, Some("0:1")),
            unusable(device(5, "Old", DeviceKind::Integrated, Some("0:5"))),
        ]
    }

    #[test]
    fn gpus_that_cannot_render_are_news_where_the_processor_does() {
        let mut devices = [device(0, "old", DeviceKind::Discrete, None), device(1, "cpu", DeviceKind::Cpu, None)];
        assert!(unused_gpus(&devices, &[0]).is_empty() && unused_gpus(&devices, &[1]).is_empty());
        devices[0].usable = false;
        let (needed, has) = ("offered".to_string(), "not offered".to_string());
        devices[0].lacking.push(MissingRequirement { name: "shaderInt64", needed, has, reason: "keys", fatal: true });
        assert_eq!(unused_gpus(&devices, &[1]), ["old cannot render, so the processor does: it lacks shaderInt64"]);
    }

    #[test]
    fn selections_name_devices() {
        let cases: &[(&str, &[usize])] = &[
            ("all", &[1, 2, 3]),
            ("alike", &[2, 3]),
            ("0", &[0]),
            ("0,0, 2", &[0, 0, 2]),
            ("geforce", &[2, 3]),
            ("llvm,3,llvm", &[0, 3, 0]),
            ("radeon DRIVER", &[1, 4]),
        ];
        for (selection, expected) in cases {
            assert_eq!(select(&machine(), selection).as_deref(), Ok(*expected), "{selection}");
        }
    }

    #[test]
    fn a_gpu_is_known_by_its_uuid_when_another_is_gone() {
        let listed = machine();
        let mut left: Vec<DeviceInfo> = listed.iter().filter(|device| device.index != 2).cloned().collect();
        left.iter_mut().enumerate().for_each(|(index, device)| device.index = index);
        let found = |wanted: &DeviceInfo| left.iter().position(|device| device.is_same(wanted));
        assert_eq!(found(&listed[3]), Some(2), "the second GeForce has the first one's index now");
        assert_eq!(found(&listed[2]), None, "the other GeForce does not take its place");
        let cpus = [0, 1].map(|index| device(index, "llvmpipe", DeviceKind::Cpu, None));
        assert_eq!([0, 1].map(|k| cpus.iter().position(|cpu| cpu.is_same(&cpus[k]))), [Some(0), Some(1)]);
    }

    #[test]
    fn without_a_gpu_one_cpu_device_draws() {
        let cpus = [device(0, "a", DeviceKind::Cpu, None), device(1, "b", DeviceKind::Cpu, None)];
        assert_eq!(select(&cpus, "all"), Ok(vec![0]));
    }

    #[test]
    fn selections_that_fit_nothing_say_what_there_is() {
        let cases = [
            ("6", "there is no device \"6\" (known: 0 llvmpipe, 1 Radeon"),
            ("arc", "there is no device \"arc\""),
            ("", "there is no device \"\""),
            ("0,,1", "there is no device \"\""),
            ("5", "device 5 (Old) cannot be used: it lacks shaderInt64"),
            ("old", "device 5 (Old) cannot be used"),
        ];
        for (selection, expected) in cases {
            let error = select(&machine(), selection).expect_err(selection).to_string();
            assert!(error.starts_with(expected), "{selection}: {error}");
        }
        assert_eq!(select(&[], "all"), Err(GpuError::NoDevice));
        let none = select(&machine()[5..], "all").expect_err("nothing usable").to_string();
        assert_eq!(none, "no Vulkan device has what anthill needs: Old lacks shaderInt64");
    }
}
