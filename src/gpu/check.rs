//! Checks a recording before it reaches a driver: CPU drivers enforce no limits, and others crash.

use crate::pipeline::recording::{
    BINDING_ALIGNMENT, BINDING_BYTES_MAX, Binding, BindingForm, Buffer, BufferRange, Command, Dispatch, Groups,
    Recording, WRITE_BYTES_MAX,
};
use ash::vk;

/// The limits and buffers that a recording is checked against.
pub(super) struct Rules<'a> {
    pub(super) limits: &'a vk::PhysicalDeviceLimits,
    /// Whether a buffer belongs to this device and was not freed.
    pub(super) is_alive: &'a dyn Fn(Buffer) -> bool,
}

/// Returns an error for the first command of a recording that the device does not permit.
pub(super) fn check(recording: &Recording, rules: &Rules<'_>) -> Result<(), String> {
    recording.commands().iter().try_for_each(|command| match command {
        Command::Dispatch(dispatch) => {
            check_dispatch(dispatch, rules).map_err(|e| format!("kernel {}: {e}", dispatch.kernel.label()))
        }
        Command::Copy { from, to } => check_copy(*from, *to, rules).map_err(|e| format!("copy: {e}")),
        Command::Fill { to, .. } => check_words(*to, u64::MAX, rules).map_err(|e| format!("fill: {e}")),
        Command::Write { to, .. } => check_words(*to, WRITE_BYTES_MAX, rules).map_err(|e| format!("write: {e}")),
        _ => Ok(()),
    })?;
    recording.conflict().map_or(Ok(()), Err)
}

fn check_dispatch(dispatch: &Dispatch, rules: &Rules<'_>) -> Result<(), String> {
    let kernel = &dispatch.kernel;
    if dispatch.bindings.len() != kernel.bindings().len() {
        return Err(format!("{} bindings instead of {}", dispatch.bindings.len(), kernel.bindings().len()));
    }
    if dispatch.push.len() as u64 != u64::from(kernel.push_bytes()) {
        return Err(format!("{} bytes of push constants instead of {}", dispatch.push.len(), kernel.push_bytes()));
    }
    if kernel.push_bytes() > rules.limits.max_push_constants_size || !kernel.push_bytes().is_multiple_of(4) {
        return Err(format!("{} bytes of push constants", kernel.push_bytes()));
    }
    for (binding, range) in kernel.bindings().iter().zip(&dispatch.bindings) {
        check_binding(binding, *range, rules).map_err(|e| format!("{} = {e}", binding.name))?;
    }
    match dispatch.groups {
        Groups::Direct(groups) => check_groups(groups, rules),
        Groups::Indirect(place) => check_indirect(place, rules),
    }
}

fn check_binding(binding: &Binding, range: BufferRange, rules: &Rules<'_>) -> Result<(), String> {
    if range.bytes == 0 {
        return Ok(());
    }
    check_range(range, rules)?;
    let most = u64::from(rules.limits.max_storage_buffer_range).min(BINDING_BYTES_MAX);
    if range.bytes > most {
        return Err(format!("{range}: {} bytes are bound, {most} can be", range.bytes));
    }
    // Not the device's own limit, which may be as low as 4: what runs on one device must run on all.
    if !range.offset.is_multiple_of(BINDING_ALIGNMENT) {
        return Err(format!("{range}: the offset is not a multiple of {BINDING_ALIGNMENT}"));
    }
    let texel = match binding.form {
        BindingForm::Storage => 1,
        BindingForm::Records => 16,
        BindingForm::Words => 4,
    };
    if !range.bytes.is_multiple_of(texel) {
        return Err(format!("{range}: {} bytes are not whole texels of {texel}", range.bytes));
    }
    Ok(())
}

fn check_groups(groups: [u32; 3], rules: &Rules<'_>) -> Result<(), String> {
    let most = rules.limits.max_compute_work_group_count;
    if groups.iter().zip(most).any(|(count, most)| *count > most) {
        return Err(format!("{groups:?} workgroups, the device permits {most:?}"));
    }
    Ok(())
}

fn check_indirect(place: BufferRange, rules: &Rules<'_>) -> Result<(), String> {
    check_range(place, rules)?;
    if place.bytes < 12 || !place.offset.is_multiple_of(4) {
        return Err(format!("workgroups as {place}: three aligned words are needed"));
    }
    Ok(())
}

fn check_copy(from: BufferRange, to: BufferRange, rules: &Rules<'_>) -> Result<(), String> {
    check_range(from, rules)?;
    check_range(to, rules)?;
    if from.bytes != to.bytes {
        return Err(format!("{from} and {to} differ in size"));
    }
    if from.overlaps(&to) {
        return Err(format!("{from} and {to} overlap"));
    }
    Ok(())
}

fn check_words(to: BufferRange, most: u64, rules: &Rules<'_>) -> Result<(), String> {
    check_range(to, rules)?;
    if !to.offset.is_multiple_of(4) || !to.bytes.is_multiple_of(4) {
        return Err(format!("{to}: offset and size must be multiples of 4"));
    }
    if to.bytes > most {
        return Err(format!("{to}: {} bytes, at most {most} fit in a recording: upload them", to.bytes));
    }
    Ok(())
}

fn check_range(range: BufferRange, rules: &Rules<'_>) -> Result<(), String> {
    if !(rules.is_alive)(range.buffer) {
        return Err(format!("{range}: the buffer was freed or belongs to another device"));
    }
    if range.offset.checked_add(range.bytes).is_none_or(|end| end > range.buffer.bytes()) {
        return Err(format!("{range}: the buffer has {} bytes", range.buffer.bytes()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::kernels::test::copy;
    use crate::pipeline::recording::{DispatchExtent, Slice};

    fn buffer(bytes: u64) -> Buffer {
        Buffer::new("b", 0, 0, 0, bytes)
    }

    fn dispatch(extent: impl Into<DispatchExtent>, source: Slice<u32>, target: Slice<u32>) -> Dispatch {
        copy::dispatch(extent, &copy::Bindings { source, target }, &copy::Push::default())
    }

    /// Returns what the check says about a recording, with the limits that Vulkan guarantees.
    fn checked(record: impl FnOnce(&mut Recording)) -> String {
        let mut recording = Recording::new("test");
        record(&mut recording);
        let limits = vk::PhysicalDeviceLimits {
            max_storage_buffer_range: 1 << 30,
            max_compute_work_group_count: [65_535; 3],
            max_push_constants_size: 128,
            ..Default::default()
        };
        let rules = Rules { limits: &limits, is_alive: &|buffer| buffer.generation() == 0 };
        check(&recording, &rules).err().unwrap_or_default()
    }

    #[test]
    fn what_devices_do_not_permit_is_found() {
        let small = buffer(4096).slice::<u32>();
        let large = buffer(1 << 28).slice::<u32>();
        let dead = Buffer::new("dead", 0, 0, 1, 4096).slice::<u32>();
        type RecordCommands = Box<dyn FnOnce(&mut Recording)>;
        let cases: Vec<(&str, RecordCommands)> = vec![
            ("", Box::new(move |r| r.dispatch(dispatch(1, small, small.part(64..128))))),
            ("", Box::new(move |r| r.dispatch(dispatch(1, small.part(3..3), small)))),
            ("source = b: 268435456 bytes are bound", Box::new(move |r| r.dispatch(dispatch(1, large, small)))),
            ("target = b[4..4096]: the offset", Box::new(move |r| r.dispatch(dispatch(1, small, small.part(1..1024))))),
            ("source = dead: the buffer was freed", Box::new(move |r| r.dispatch(dispatch(1, dead, small)))),
            ("[1, 65536, 1] workgroups", Box::new(move |r| r.dispatch(dispatch([1, 65_536, 1], small, small)))),
            ("copy: b[0..8] and b[4..12] overlap", Box::new(move |r| r.copy(small.part(0..2), small.part(1..3)))),
            ("write: b[0..65540]: 65540 bytes", Box::new(move |r| r.write(large.part(0..16_385), &[0; 16_385]))),
            ("fill: b[1..3]", Box::new(move |r| r.fill(small.cast::<u8>().part(1..3), 0))),
        ];
        for (expected, record) in cases {
            let found = checked(record);
            assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{expected:?}: {found:?}");
        }
    }

    #[test]
    fn a_dispatch_made_by_hand_is_checked() {
        let small = buffer(4096).slice::<u32>();
        let mut wrong = dispatch(1, small, small);
        wrong.bindings.pop();
        assert_eq!(checked(|r| r.dispatch(wrong)), "kernel copy: 1 bindings instead of 2");
        let mut wrong = dispatch(1, small, small);
        wrong.bindings[0].bytes = 6;
        assert!(checked(|r| r.dispatch(wrong)).contains("source = b[0..6]: 6 bytes are not whole texels of 4"));
        let mut wrong = dispatch(1, small, small);
        wrong.push.clear();
        assert_eq!(checked(|r| r.dispatch(wrong)), "kernel copy: 0 bytes of push constants instead of 8");
        let mut wrong = dispatch(1, small, small);
        wrong.groups = Groups::Indirect(small.part(0..2).range());
        assert!(checked(|r| r.dispatch(wrong)).contains("three aligned words"));
    }
}
