//! The one device that all kernel tests share, so that each kernel is compiled once, and what a test does with it.

use crate::gpu::{ALONE, as_gpu};
use anthill::diagnostic::{Reporter, Severity};
use anthill::gpu::{Device, OpenOptions, Usage, open};
use anthill::pipeline::KernelVariants;
use anthill::pipeline::recording::{Buffer, Recording, Slice};
use bytemuck::Pod;
use parking_lot::{Mutex, MutexGuard, ReentrantMutexGuard};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(120);

/// Device memory of all tests: each frees what it took.
const MEMORY_BYTES: u64 = 512 << 20;

/// What fresh memory is filled with: nothing may rely on zeros.
const RUBBISH: u32 = 0xcdcd_cdcd;

struct Shared {
    device: Device,
    reporter: Arc<Reporter>,
}

static SHARED: LazyLock<Mutex<Shared>> = LazyLock::new(|| {
    let reporter = Arc::new(Reporter::silent());
    let options = OpenOptions {
        validate: true,
        cache_folder: None,
        memory_bytes: Some(MEMORY_BYTES),
        as_gpu: as_gpu(),
        // Kernels without 64-bit integers are tested on devices without them too.
        partial: true,
        ..OpenOptions::new(Arc::clone(&reporter))
    };
    let mut devices = open("0", &options).unwrap_or_else(|e| panic!("{e}\n  help: {}", e.hint()));
    Mutex::new(Shared { device: devices.remove(0), reporter })
});

/// The device in the hands of one test. Dropping it frees the test's buffers; messages of validation fail the test.
pub(crate) struct Lab {
    _alone: ReentrantMutexGuard<'static, ()>,
    shared: MutexGuard<'static, Shared>,
    buffers: Vec<Buffer>,
}

impl Lab {
    /// Waits for the device.
    pub(crate) fn new() -> Self {
        Self { _alone: ALONE.lock(), shared: SHARED.lock(), buffers: Vec::new() }
    }

    /// The variants of kernels that suit the device.
    pub(crate) fn variants(&self) -> KernelVariants {
        KernelVariants { serial: self.shared.device.prefers_serial_kernels() }
    }

    /// Whether the device divides exactly, as processors do. GPUs may be off by 2.5 ulp.
    pub(crate) fn divides_exactly(&self) -> bool {
        self.shared.device.is_cpu()
    }

    /// A buffer full of rubbish.
    pub(crate) fn buffer(&mut self, name: &'static str, bytes: u64) -> Buffer {
        let buffer = self.shared.device.allocate(name, bytes.next_multiple_of(4), Usage::DeviceOnly).expect("memory");
        self.buffers.push(buffer);
        if buffer.bytes() > 0 {
            self.run(|recording| recording.fill(buffer.slice::<u32>(), RUBBISH));
        }
        buffer
    }

    /// A buffer with `count` records of rubbish.
    pub(crate) fn space<T>(&mut self, name: &'static str, count: u64) -> Slice<T> {
        self.buffer(name, count * size_of::<T>() as u64).slice_at(0, count)
    }

    /// A buffer with these records.
    pub(crate) fn upload<T: Pod>(&mut self, name: &'static str, data: &[T]) -> Slice<T> {
        let slice = self.space(name, data.len() as u64);
        self.write(slice, data);
        slice
    }

    /// Writes records.
    pub(crate) fn write<T: Pod>(&mut self, to: Slice<T>, data: &[T]) {
        if !data.is_empty() {
            self.shared.device.upload(to, data).expect("uploaded");
        }
    }

    /// Runs what `body` records and waits for it.
    pub(crate) fn run(&mut self, body: impl FnOnce(&mut Recording)) {
        let mut recording = Recording::new("kernel test");
        body(&mut recording);
        let ticket = self.shared.device.submit(&recording).expect("the recording is valid");
        self.shared.device.wait(ticket, TIMEOUT).expect("the device finishes");
    }

    /// Reads records.
    pub(crate) fn read<T: Pod>(&mut self, from: Slice<T>) -> Vec<T> {
        if from.is_empty() { Vec::new() } else { self.shared.device.read(from).expect("read") }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for buffer in std::mem::take(&mut self.buffers) {
            self.shared.device.free(buffer);
        }
        if !std::thread::panicking() && self.shared.reporter.count_at_least(Severity::Warning) > 0 {
            let messages: Vec<String> = self.shared.reporter.all().into_iter().map(|(d, _)| d.to_string()).collect();
            panic!("{}", messages.join("\n"));
        }
    }
}
