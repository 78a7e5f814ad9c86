//! Measures what a device can do at most, for floors of stages: arithmetic, loop trips, reads, writes and minima, each
//! by a kernel that does nothing else (glsl/test/rates.comp).
//!
//! `cargo bench --bench rates` uses the device that `ANTHILL_DEVICE` names (default: the first of `all`). Absolute
//! times depend on the machine; compare with stages of the same machine.

use anthill::diagnostic::Reporter;
use anthill::gpu::{Device, OpenOptions, Usage, open};
use anthill::pipeline::kernels::axes::Rate;
use anthill::pipeline::kernels::constants::{SUMS_OF_ONE, TIMES_OF_ONE};
use anthill::pipeline::kernels::test::rates::{self, Variant};
use anthill::pipeline::recording::Recording;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::env;
use std::sync::Arc;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// Invocations of a dispatch: enough that what they read and write does not fit into caches.
const COUNT: u32 = 1 << 20;

fn device() -> Device {
    let selection = env::var("ANTHILL_DEVICE").unwrap_or_else(|_| "all".to_string());
    let mut options = OpenOptions::new(Arc::new(Reporter::silent()));
    options.memory_bytes = Some(512 << 20);
    let opened = open(&selection, &options).expect("a device can be opened");
    opened.into_iter().next().expect("a selection names at least one")
}

fn rates(c: &mut Criterion) {
    let mut device = device();
    let bytes = 4 * u64::from(COUNT * TIMES_OF_ONE);
    let read = device.allocate("read", bytes, Usage::DeviceOnly).expect("memory");
    let written = device.allocate("written", bytes, Usage::DeviceOnly).expect("memory");
    let bindings = rates::Bindings {
        words: read.slice(),
        vectors: read.slice(),
        written_words: written.slice(),
        written_vectors: written.slice(),
        keys: written.slice(),
    };
    let whole = Throughput::Bytes(bytes);
    // 15.5 on the average.
    let trips = u64::from(COUNT) * u64::from(2 * TIMES_OF_ONE - 1) / 2;
    let kernels = [
        ("products and sums", Rate::Arithmetic, Throughput::Elements(u64::from(COUNT) * u64::from(SUMS_OF_ONE))),
        ("uneven loop trips", Rate::Trips, Throughput::Elements(trips)),
        ("words read", Rate::ReadNarrow, whole.clone()),
        ("vectors read", Rate::ReadWide, whole.clone()),
        ("words gathered", Rate::GatherNarrow, whole.clone()),
        ("vectors gathered", Rate::GatherWide, whole.clone()),
        ("words written", Rate::WriteNarrow, whole.clone()),
        ("vectors written", Rate::WriteWide, whole.clone()),
        ("minima of 64 bits", Rate::Minima, whole),
    ];
    let mut group = c.benchmark_group("rates");
    for (name, rate, throughput) in kernels {
        let mut recording = Recording::new(name);
        let push = rates::Push { count: COUNT, factor: 0.5 };
        recording.dispatch(rates::dispatch(Variant { rate }, COUNT / rates::LOCAL_SIZE[0], &bindings, &push));
        group.throughput(throughput);
        group.bench_function(name, |b| {
            b.iter(|| {
                let ticket = device.submit(&recording).expect("valid");
                device.wait(ticket, MINUTE).expect("done");
            });
        });
    }
    group.finish();
    device.free(read);
    device.free(written);
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(2));
    targets = rates
}
criterion_main!(benches);
