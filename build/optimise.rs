//! Makes kernels small before drivers see them: what drivers do first with every kernel, each time a program starts,
//! is done here once.
//!
//! A driver that finds a kernel in its cache still reads its SPIR-V, inlines functions and turns variables into
//! values. `spirv-opt` does this; of its passes those that fold or reorder arithmetic are left out, so that no float
//! operation changes, whatever a later version of the tool thinks of `NoContraction`.

use std::io::Write;
use std::process::{Command, Stdio};

/// Inlining, variables to values, what nobody needs, and what is computed twice.
const PASSES: [&str; 16] = [
    "--merge-return",
    "--inline-entry-points-exhaustive",
    "--eliminate-dead-functions",
    "--private-to-local",
    "--eliminate-local-single-block",
    "--eliminate-local-single-store",
    "--eliminate-dead-code-aggressive",
    "--scalar-replacement=32",
    "--ssa-rewrite",
    "--copy-propagate-arrays",
    "--eliminate-dead-code-aggressive",
    "--eliminate-dead-inserts",
    "--redundancy-elimination",
    "--merge-blocks",
    "--cfg-cleanup",
    "--eliminate-dead-code-aggressive",
];

/// The words of a kernel, smaller.
pub(crate) fn optimised(words: &[u32]) -> Result<Vec<u32>, String> {
    let mut command = Command::new("spirv-opt");
    command.args(PASSES).args(["--target-env=vulkan1.2", "-", "-o", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |e: std::io::Error| format!("spirv-opt cannot be run ({e}): install spirv-tools (`make setup` does)");
    let mut child = command.spawn().map_err(failed)?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut stdin = child.stdin.take().ok_or("spirv-opt takes no input")?;
    // It reads all of its input before it writes.
    let written = stdin.write_all(&bytes);
    drop(stdin);
    let output = child.wait_with_output().map_err(failed)?;
    if !output.status.success() || written.is_err() {
        return Err(format!("spirv-opt failed with {}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    Ok(output.stdout.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}
