//! Measures the Vulkan layer: a submission, a dispatch, transfers in both directions, kernels from the cache.
//!
//! `cargo bench --bench gpu` uses the device that `ANTHILL_DEVICE` names (default: the first of `all`). Absolute times
//! depend on the machine; compare runs on one machine.

use anthill::diagnostic::Reporter;
use anthill::gpu::{Device, OpenOptions, Usage, open};
use anthill::pipeline::kernels::test::copy;
use anthill::pipeline::recording::{Recording, Slice};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::env;
use std::sync::Arc;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

fn device() -> Device {
    let selection = env::var("ANTHILL_DEVICE").unwrap_or_else(|_| "all".to_string());
    let mut options = OpenOptions::new(Arc::new(Reporter::silent()));
    options.memory_bytes = Some(256 << 20);
    let opened = open(&selection, &options).expect("a device can be opened");
    opened.into_iter().next().expect("a selection names at least one")
}

/// A recording of `count` passes of one workgroup, each over different words.
fn passes(data: Slice<u32>, count: u64) -> Recording {
    let mut recording = Recording::new("passes");
    for pass in 0..count {
        let bindings = copy::Bindings { source: data.part(0..64), target: data.part(64 * (pass + 1)..64 * (pass + 2)) };
        recording.dispatch(copy::dispatch(1, &bindings, &copy::Push { count: 64, added: 1 }));
    }
    recording
}

fn run(device: &mut Device, recording: &Recording) {
    let ticket = device.submit(recording).expect("valid");
    device.wait(ticket, MINUTE).expect("done");
}

fn submissions(c: &mut Criterion) {
    let mut device = device();
    let buffer = device.allocate("data", 1 << 20, Usage::DeviceOnly).expect("memory");
    let mut group = c.benchmark_group("submit");
    for count in [1, 1000] {
        let recording = passes(buffer.slice(), count);
        group.throughput(Throughput::Elements(count));
        group.bench_function(format!("{count} passes"), |b| b.iter(|| run(&mut device, &recording)));
    }
    group.finish();
    device.free(buffer);
}

fn transfers(c: &mut Criterion) {
    let mut device = device();
    let data = vec![7_u32; 4 << 20];
    let buffer = device.allocate("data", 4 * data.len() as u64, Usage::DeviceOnly).expect("memory");
    let mut group = c.benchmark_group("transfer");
    group.throughput(Throughput::Bytes(buffer.bytes()));
    group.bench_function("upload", |b| b.iter(|| device.upload(buffer.slice(), &data).expect("upload")));
    group.bench_function("read", |b| b.iter(|| device.read(buffer.slice::<u32>()).expect("read")));
    group.finish();
    device.free(buffer);
}

fn opening(c: &mut Criterion) {
    c.bench_function("open", |b| b.iter(device));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(2));
    targets = submissions, transfers, opening
}
criterion_main!(benches);
