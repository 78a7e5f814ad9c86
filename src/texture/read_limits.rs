//! What reading whole files for devices may take: memory of the host, and time until the user stops it.

use super::error::TextureError;
use super::point_tree;
use crate::host_memory::{Charge, ChargeKind, HostMemory};
use crate::points::{PointLimits, PointsAdmitted};
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
            false => Err(TextureError::unsupported(path, self.too_large(bytes))),
        }
    }

    fn too_large(&self, bytes: u64) -> String {
        let [bytes, limit] = [bytes, self.memory.limit_bytes()].map(human_bytes);
        format!("it takes {bytes} of the {limit} that --host-memory allows, of which {} in use", self.in_use())
    }

    fn in_use(&self) -> String {
        match self.memory.usage().as_str() {
            "nothing" => "none is".into(),
            usage => format!("{usage} are"),
        }
    }
}

/// Memory for points while they are read and sorted into a tree.
pub(super) struct PointCharge<'a> {
    limits: &'a ReadLimits,
    charge: Charge,
}

impl<'a> PointCharge<'a> {
    pub(super) fn new(limits: &'a ReadLimits) -> Self {
        Self { limits, charge: Charge::new(&limits.memory) }
    }
}

impl PointLimits for PointCharge<'_> {
    fn admit(&self, count: u64, floats: u64) -> PointsAdmitted {
        point_tree::check_count(count, floats)?;
        let bytes = point_tree::bytes_at_work(count, floats);
        let fits = self.charge.try_take(ChargeKind::Points, bytes);
        if fits { Ok(()) } else { Err(format!("its {count} points are too many: {}", self.limits.too_large(bytes))) }
    }

    fn goes_on(&self) -> bool {
        self.limits.goes_on()
    }
}
