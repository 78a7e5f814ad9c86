//! Refuses kernels that need more than every device offers.

use crate::layout::push_size;
use crate::limits::{BINDINGS_MAX, PUSH_BYTES_MAX, SHARED_BYTES_MAX, WORKGROUP_INVOCATIONS_MAX};
use crate::reflect::Reflection;

/// Holds a kernel's interface against the limits.
pub(crate) fn check(reflection: &Reflection) -> Result<(), String> {
    let [x, y, z] = reflection.local_size.map(u64::from);
    let needs = [
        (reflection.bindings.len() as u64, BINDINGS_MAX, "bindings"),
        (push_size(reflection).into(), PUSH_BYTES_MAX, "bytes of push constants"),
        (x * y * z, WORKGROUP_INVOCATIONS_MAX, "invocations of a workgroup"),
        (reflection.shared_bytes, SHARED_BYTES_MAX, "bytes shared in a workgroup"),
    ];
    match needs.into_iter().find(|(needed, most, _)| needed > most) {
        Some((needed, most, what)) => {
            Err(format!("needs {needed} {what}, but only {most} are available on every device"))
        }
        None => Ok(()),
    }
}
