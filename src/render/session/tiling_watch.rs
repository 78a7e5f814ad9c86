//! How the making of textures is shown, stopped, and kept within the host's memory.

use crate::host_memory::{Charge, ChargeKind, HostMemory};
use crate::progress::{Activity, Interrupt, ProgressTally};
use crate::render::session::progress_ticker::ProgressTicker;
use crate::stats::human_bytes;
use crate::texture::{HostMemoryTaken, TilingWatch};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Shows how far the making of a texture is; dropped, what was shown before.
struct ShownMaking {
    tally: Arc<ProgressTally>,
    before: Activity,
    _charge: Charge,
}

impl Drop for ShownMaking {
    fn drop(&mut self) {
        self.tally.begin(std::mem::take(&mut self.before));
    }
}

/// Returns what watches textures that are made of pictures without tiles.
pub(super) fn tiling_watch(ticker: &ProgressTicker<'_>, memory: &Arc<HostMemory>) -> TilingWatch {
    let (tally, interrupt, memory) = (Arc::clone(&ticker.tally), ticker.interrupt.clone(), Arc::clone(memory));
    let shown = Arc::clone(&tally);
    TilingWatch {
        progress: Box::new(move |picture, fraction| show(&shown, &interrupt, picture, fraction)),
        take_memory: Box::new(move |bytes| {
            let (tally, before) = (Arc::clone(&tally), tally.now().activity);
            let shown: HostMemoryTaken = Box::new(ShownMaking { tally, before, _charge: take_memory(&memory, bytes)? });
            Ok(shown)
        }),
    }
}

/// Shows how far a texture is made, and says whether to go on.
pub(super) fn show(tally: &ProgressTally, interrupt: &Interrupt, name: &Path, fraction: f32) -> ControlFlow<()> {
    tally.begin(Activity::MakingTexture { name: name.display().to_string(), fraction: f64::from(fraction) });
    if interrupt.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Takes the memory for making a texture, or says why there is too little.
pub(super) fn take_memory(memory: &Arc<HostMemory>, bytes: u64) -> Result<Charge, String> {
    let charge = Charge::new(memory);
    if charge.take(ChargeKind::Textures, bytes) {
        return Ok(charge);
    }
    let [needed, limit, ahead] = [bytes, memory.limit_bytes(), memory.ahead_bytes_max()].map(human_bytes);
    let usage = memory.usage();
    Err(format!(
        "it takes about {needed} of host memory; the limit is {limit}, with {usage} in use and {ahead} kept for reading \
         ahead: raise --host-memory, or make a texture of it with `anthill texture make` before"
    ))
}
