//! What reading whole files for devices may take: memory of the host, and time until the user stops it.

use super::error::TextureError;
use crate::host_memory::{Charge, ChargeKind, HostMemory};
use crate::points::{PointLimits, PointsAdmitted, PointsError};
use crate::progress::Interrupt;
use crate::stats::human_bytes;
use std::path::Path;
use std::sync::Arc;

/// What reading whole files may take.
#[derive(Clone, Debug)]
pub struct ReadLimits {
    /// The memory that is charged.
    pub memory: Arc<HostMemory>,
    /// What stops it.
    pub interrupt: Interrupt,
}

impl Default for ReadLimits {
    /// Half of the machine's memory, and nothing stops it.
    fn default() -> Self {
        Self { memory: HostMemory::of_machine(), interrupt: Interrupt::default() }
    }
}

impl ReadLimits {
    /// As much memory as there is, and nothing stops it.
    pub(super) fn none() -> Self {
        Self { memory: HostMemory::new(u64::MAX / 2), interrupt: Interrupt::default() }
    }

    /// Whether to go on.
    pub(super) fn goes_on(&self) -> bool {
        !self.interrupt.is_raised()
    }

    /// Charges memory that stays in use for a file.
    ///
    /// # Errors
    /// If there is not as much.
    pub(super) fn charged(&self, path: &Path, bytes: u64) -> Result<Charge, TextureError> {
        let charge = Charge::new(&self.memory);
        match charge.try_take(ChargeKind::Points, bytes) {
            true => Ok(charge),
            false => {
                let reason = self.too_large(bytes);
                Err(PointsError::TooMany { path: path.to_owned(), reason }.into())
            }
        }
    }

    fn too_large(&self, bytes: u64) -> String {
        let memory = &self.memory;
        let [bytes, limit, ahead] = [bytes, memory.limit_bytes(), memory.ahead_bytes_max()].map(human_bytes);
        let in_use = self.in_use();
        format!(
            "it takes {bytes} of the {limit} that --host-memory allows, of which {in_use} in use and {ahead} are kept for \
             reading ahead"
        )
    }

    fn in_use(&self) -> String {
        match self.memory.usage().as_str() {
            "nothing" => "none is".into(),
            usage => format!("{usage} are"),
        }
    }
}

/// The bytes that this many points with this many floats of values each take at work.
///
/// # Errors
/// A clause that says why there cannot be as many.
pub(super) type PointNeeds = fn(u64, u64) -> Result<u64, String>;

/// Memory for points while they are read and something is made of them, until this is dropped.
pub(super) struct PointCharge<'a> {
    limits: &'a ReadLimits,
    charge: Charge,
    needs: PointNeeds,
}

impl<'a> PointCharge<'a> {
    pub(super) fn new(limits: &'a ReadLimits, needs: PointNeeds) -> Self {
        Self { limits, charge: Charge::new(&limits.memory), needs }
    }

    /// Returns the limits of reading a file, as long as `goes_on` says so.
    pub(super) fn reading<'b>(&'b self, goes_on: &'b dyn Fn() -> bool) -> ChargedReading<'b> {
        ChargedReading { charge: self, goes_on }
    }
}

/// The limits of reading a file of points.
pub(super) struct ChargedReading<'a> {
    charge: &'a PointCharge<'a>,
    goes_on: &'a dyn Fn() -> bool,
}

impl PointLimits for ChargedReading<'_> {
    fn admit(&self, count: u64, floats: u64) -> PointsAdmitted {
        let PointCharge { limits, charge, needs } = self.charge;
        let bytes = needs(count, floats)?;
        let fits = charge.try_take(ChargeKind::Points, bytes);
        if fits { Ok(()) } else { Err(format!("its {count} points are too many: {}", limits.too_large(bytes))) }
    }

    fn goes_on(&self) -> bool {
        (self.goes_on)() && self.charge.limits.goes_on()
    }
}
