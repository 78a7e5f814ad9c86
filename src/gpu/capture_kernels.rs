//! Kernels as captures have them: with what debuggers are to know, and with storage buffers in place of texels.
//!
//! RenderDoc 1.24 simulates a kernel to step through it, and reads zeros from buffers of texels.

use super::glsl_lines::with_lines;
use super::storage_form::with_storage_buffers;
use crate::pipeline::recording::{Binding, BindingForm, Kernel, Recording};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The kernels of a device that is captured.
pub(super) struct CaptureKernels {
    /// Whether the device takes instructions for debuggers alone.
    takes_debug_info: bool,
    /// By the digests of the usual kernels, and their names, which captures show.
    known: Mutex<FxHashMap<(u128, String), Arc<Kernel>>>,
}

impl CaptureKernels {
    /// Begins without kernels.
    pub(super) fn new(takes_debug_info: bool) -> Self {
        Self { takes_debug_info, known: Mutex::default() }
    }

    /// Returns the form of a kernel that captures have.
    pub(super) fn of(&self, kernel: &Kernel) -> Arc<Kernel> {
        let key = (kernel.digest(), kernel.label().to_owned());
        Arc::clone(self.known.lock().entry(key).or_insert_with(|| self.form_of(kernel)))
    }

    /// Returns a recording of the kernels that captures have.
    pub(super) fn recording(&self, recording: &Recording) -> Recording {
        let mut captured = recording.clone();
        captured.replace_kernels(|kernel| self.of(kernel));
        captured
    }

    fn form_of(&self, kernel: &Kernel) -> Arc<Kernel> {
        let lines = kernel.lines().and_then(|lines| with_lines(kernel.words(), lines));
        let described = kernel.debug_words().filter(|_| self.takes_debug_info);
        let (words, replaced) = with_storage_buffers(lines.as_deref().or(described).unwrap_or(kernel.words()));
        let form = |(number, binding): (u32, &Binding)| match replaced.contains(&number) {
            true => Binding { form: BindingForm::Storage, ..*binding },
            false => *binding,
        };
        kernel.rewritten(words, (0..).zip(kernel.bindings()).map(form).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::spirv_words::{Op, insts, is};
    use crate::pipeline::kernels;
    use std::io::Write;
    use std::process::Command;

    #[test]
    fn captured_kernels_read_storage_buffers() {
        let captured = CaptureKernels::new(true);
        let mut texels = 0;
        for kernel in kernels::all() {
            let form = captured.of(kernel);
            texels += kernel.bindings().iter().filter(|binding| binding.form != BindingForm::Storage).count();
            let fetches = insts(form.words()).expect("SPIR-V").iter().filter(|inst| is(inst, Op::ImageFetch)).count();
            assert_eq!(fetches, 0, "{} fetches texels", kernel.label());
            assert_eq!(form.label(), kernel.label());
            assert_ne!(form.digest(), kernel.digest());
        }
        assert!(texels > 100, "{texels}");
    }

    /// All are made the same way, and to look at one takes a while.
    #[test]
    fn some_captured_kernels_are_valid() {
        let captured = CaptureKernels::new(true);
        for kernel in kernels::all().into_iter().step_by(20) {
            let bytes: Vec<u8> = captured.of(kernel).words().iter().flat_map(|word| word.to_le_bytes()).collect();
            let mut file = tempfile::NamedTempFile::new().expect("a file");
            file.write_all(&bytes).expect("room for it");
            let output = Command::new("spirv-val").args(["--target-env", "vulkan1.2"]).arg(file.path()).output();
            let output = output.expect("spirv-val (package spirv-tools)");
            let said = [output.stdout, output.stderr].concat();
            assert!(output.status.success(), "{}: {}", kernel.label(), String::from_utf8_lossy(&said));
        }
    }
}
