//! What a driver says of why a device was lost (VK_EXT_device_fault).

use ash::{ext, vk};
use std::ffi::CStr;

/// Addresses, and findings of the driver, that are given at most.
const SHOWN_MAX: usize = 3;

/// Asks the driver why a device was lost; `None` if it does not know. The device must be lost.
pub(super) fn ask(extension: &ext::device_fault::Device) -> Option<String> {
    let ask = extension.fp().get_device_fault_info_ext;
    let mut counts = vk::DeviceFaultCountsEXT::default();
    // SAFETY: the device has the extension with its feature, callers ask only once it is lost, and `counts` outlives
    // the call.
    let counted = unsafe { ask(extension.device(), &raw mut counts, std::ptr::null_mut()) };
    counted.result().ok()?;
    let mut addresses = vec![vk::DeviceFaultAddressInfoEXT::default(); counts.address_info_count as usize];
    let mut findings = vec![vk::DeviceFaultVendorInfoEXT::default(); counts.vendor_info_count as usize];
    // The vendor's binary is for the vendor, and the feature that offers it is off.
    counts.vendor_binary_size = 0;
    let mut info = vk::DeviceFaultInfoEXT {
        p_address_infos: addresses.as_mut_ptr(),
        p_vendor_infos: findings.as_mut_ptr(),
        ..vk::DeviceFaultInfoEXT::default()
    };
    // SAFETY: as above; both lists have as many elements as `counts` says.
    let told = unsafe { ask(extension.device(), &raw mut counts, &raw mut info) };
    if !matches!(told, vk::Result::SUCCESS | vk::Result::INCOMPLETE) {
        return None;
    }
    addresses.truncate(counts.address_info_count as usize);
    findings.truncate(counts.vendor_info_count as usize);
    text(info.description_as_c_str().ok(), &addresses, &findings)
}

/// Returns what was found in words; `None` if it was nothing.
fn text(
    description: Option<&CStr>,
    addresses: &[vk::DeviceFaultAddressInfoEXT],
    findings: &[vk::DeviceFaultVendorInfoEXT],
) -> Option<String> {
    let words = |text: Option<&CStr>| text.map(|text| text.to_string_lossy().trim().to_owned()).unwrap_or_default();
    let address = |info: &vk::DeviceFaultAddressInfoEXT| {
        let what = match info.address_type {
            vk::DeviceFaultAddressTypeEXT::READ_INVALID => "invalid read at",
            vk::DeviceFaultAddressTypeEXT::WRITE_INVALID => "invalid write at",
            vk::DeviceFaultAddressTypeEXT::EXECUTE_INVALID => "invalid instruction at",
            vk::DeviceFaultAddressTypeEXT::NONE => return None,
            _ => "fault in the instruction at",
        };
        Some(format!("{what} {:#x}, known to {} bytes", info.reported_address, info.address_precision.max(1)))
    };
    let finding = |info: &vk::DeviceFaultVendorInfoEXT| {
        let what = words(info.description_as_c_str().ok());
        format!("{what} (code {:#x}, data {:#x})", info.vendor_fault_code, info.vendor_fault_data).trim().to_owned()
    };
    let description = Some(words(description)).filter(|text| !text.is_empty());
    let addresses = addresses.iter().filter_map(address).take(SHOWN_MAX);
    let all: Vec<_> =
        description.into_iter().chain(addresses).chain(findings.iter().take(SHOWN_MAX).map(finding)).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_found_is_said_in_words() {
        assert_eq!(text(None, &[], &[]), None);
        assert_eq!(text(Some(c" \n"), &[vk::DeviceFaultAddressInfoEXT::default()], &[]), None);
        let address = vk::DeviceFaultAddressInfoEXT::default()
            .address_type(vk::DeviceFaultAddressTypeEXT::WRITE_INVALID)
            .reported_address(0x7f00)
            .address_precision(4096);
        let finding = vk::DeviceFaultVendorInfoEXT::default()
            .description(c"MMU fault")
            .expect("it is short")
            .vendor_fault_code(0x1f)
            .vendor_fault_data(2);
        let said = text(Some(c"GPU hang"), &[address; 5], &[finding]).expect("something");
        let [description, first, .., last] = &said.split(", ").collect::<Vec<_>>()[..] else { panic!("{said}") };
        assert_eq!((*description, *first), ("GPU hang", "invalid write at 0x7f00"));
        assert_eq!(said.matches("known to 4096 bytes").count(), SHOWN_MAX, "{said}");
        assert!(said.ends_with("MMU fault (code 0x1f, data 0x2)") && *last == "data 0x2)", "{said}");
    }
}
