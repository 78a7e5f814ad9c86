//! The pipelines that were measured to be the fastest and are kept for later renders.

use crate::cli::console::Console;
use anthill::gpu::DeviceInfo;
use anthill::pipeline::plan::NamedPipeline;
use anthill::pipeline_choice::KeptPipelines;
use std::io;
use std::path::Path;

/// Reads the pipelines that `anthill explore` kept. If they cannot be read, prints a warning and returns none.
pub(crate) fn kept_pipelines(console: &Console) -> KeptPipelines {
    let Some(path) = KeptPipelines::default_file() else { return KeptPipelines::default() };
    KeptPipelines::read(&path).unwrap_or_else(|error| {
        let path = path.display();
        console.err.block(&format!(
            "anthill: warning: \"{path}\" cannot be read, so every device draws with its usual pipeline: {error}\n  \
             help: remove it, or write it again with `anthill explore --keep`"
        ));
        KeptPipelines::default()
    })
}

/// Returns the message that a pipeline was kept for a device.
pub(crate) fn kept_message(device: &DeviceInfo, pipeline: &NamedPipeline) -> String {
    format!("{} draws with pipeline {} from now on", device.name, pipeline.name)
}

/// Adds the fastest pipelines of devices to those kept; a file that cannot be read is replaced.
pub(crate) fn keep_pipelines(fastest: &[(&DeviceInfo, &'static NamedPipeline)], path: &Path) -> io::Result<()> {
    let mut kept = KeptPipelines::read(path).unwrap_or_default();
    fastest.iter().for_each(|(device, pipeline)| kept.keep(device, pipeline));
    kept.write(path)
}
