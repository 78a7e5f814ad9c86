//! The host memory that a scene may use.

use super::scene::SceneBuilder;
use crate::diagnostic::Severity;
use crate::host_memory::ChargeKind;
use crate::stats::human_bytes;

impl SceneBuilder<'_> {
    /// Charges host memory for an addition to the scene. The first failure is reported; from then to the end of the
    /// world nothing more is added, so that everything after the first failure is left out.
    pub(crate) fn take_memory(&mut self, bytes: u64) -> bool {
        let known = self.charge.refused().is_some();
        let fits = self.charge.take(ChargeKind::Geometry, bytes);
        if !fits && !known {
            self.refuse(&format!("{} of geometry", human_bytes(bytes)), "what follows is left out");
        }
        fits
    }

    /// Reports that host memory is used up, by what, and the `consequence`.
    pub(crate) fn refuse(&mut self, asked: &str, consequence: &str) {
        self.summary.incomplete = true;
        let memory = self.charge.memory();
        let (limit, usage) = (human_bytes(memory.limit_bytes()), memory.usage());
        let message = format!(
            "host memory is used up: {usage} are in use out of {limit}, and another {asked} is needed here; {consequence}"
        );
        let hint = "raise --host-memory, split the scene, or render a smaller Format or a crop";
        let mut fault = self.messages.error("limitcheck", message).hint(hint);
        fault.severity = Severity::Severe;
        self.messages.report_here(fault);
    }
}
