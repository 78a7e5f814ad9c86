//! Budgets, frees and leaks.

use super::{open_devices, open_with, options};
use anthill::gpu::{AsGpu, GpuError, OpenOptions, Usage};
use anthill::pipeline::recording::Recording;
use anthill::stats::MemoryCategory;
use std::time::Duration;

const MIB: u64 = 1 << 20;

#[test]
fn the_budget_is_kept_and_who_exceeds_it_is_named() {
    let mut devices = open_with("all", &OpenOptions { memory_bytes: Some(48 * MIB), ..options() });
    let device = &mut devices[0];
    let a = device.allocate("grids", 16 * MIB, Usage::DeviceOnly).expect("fits");
    let b = device.allocate("samples", 16 * MIB, Usage::DeviceOnly).expect("fits");
    let error = device.allocate("lists", 16 * MIB, Usage::DeviceOnly).expect_err("4 MiB are taken for small buffers");
    let text = error.to_string();
    assert!(text.contains("16.0 MiB of lists") && text.contains("of 48.0 MiB are in use"), "{text}");
    assert!(error.hint().contains("--memory"));
    let full = device.memory();
    assert!(full.used_bytes >= 32 * MIB && full.used_bytes <= full.budget_bytes, "{full:?}");
    let (grids, all) = (full.categories.get(MemoryCategory::Grids), full.categories.sum());
    assert!((16 * MIB..17 * MIB).contains(&grids) && all == full.used_bytes, "{full:?}");
    device.free(a);
    let c = device.allocate("lists", 16 * MIB, Usage::DeviceOnly).expect("fits in what was freed");
    device.free(b);
    device.free(c);
    assert_eq!(device.memory().peak_bytes, full.peak_bytes);
    assert_eq!(device.memory().categories.get(MemoryCategory::Grids), 0);
    assert_eq!(device.memory().peak_categories.get(MemoryCategory::Grids), grids);
    assert!(device.memory().used_bytes < 16 * MIB, "{:?}", device.memory());
}

#[test]
fn more_than_the_budget_is_refused_before_the_driver_is_asked() {
    let mut devices = open_devices("all");
    let error = devices[0].allocate("giant", 65 * MIB, Usage::DeviceOnly).expect_err("64 MiB are granted");
    assert!(matches!(error, GpuError::OutOfMemory { name: "giant", asked_bytes: 68_157_440, .. }), "{error:?}");
    let error = devices[0].allocate("absurd", u64::MAX / 2, Usage::Upload).expect_err("no device permits it");
    assert!(matches!(error, GpuError::TooLarge { name: "absurd", .. }), "{error:?}");
}

#[test]
fn a_freed_block_serves_the_next_buffer_and_makes_room_for_a_larger_one() {
    let mut devices = open_with("0", &OpenOptions { memory_bytes: Some(256 * MIB), ..options() });
    let device = &mut devices[0];
    let first = device.allocate("first", 40 * MIB, Usage::DeviceOnly).expect("fits");
    device.upload(first.slice::<u32>().part(0..4), &[7, 8, 9, 10]).expect("there is room");
    assert_eq!(device.read(first.slice::<u32>().part(0..4)).expect("read"), [7, 8, 9, 10]);
    device.free(first);
    assert!(device.memory().used_bytes < 40 * MIB, "a spare block is not in use: {:?}", device.memory());
    let smaller = device.allocate("smaller", 36 * MIB, Usage::DeviceOnly).expect("fits");
    // Undefined, but on a CPU the block still has what was in it.
    let same_block = device.read(smaller.slice::<u32>().part(0..4)).expect("read") == [7, 8, 9, 10];
    assert!(same_block || !device.is_cpu());
    let last = 9 * MIB - 1;
    device.upload(smaller.slice::<u32>().part(last..last + 1), &[1]).expect("all of it is there");
    device.free(smaller);
    let large = [0, 1].map(|_| device.allocate("large", 116 * MIB, Usage::DeviceOnly).expect("no spare is in its way"));
    assert!(device.memory().used_bytes <= 256 * MIB);
    large.into_iter().for_each(|buffer| device.free(buffer));
    assert!(device.memory().used_bytes < 116 * MIB);
}

#[test]
fn a_buffer_is_freed_when_its_last_submission_is_done() {
    let mut devices = open_devices("all");
    let device = &mut devices[0];
    let buffer = device.allocate("busy", 16 * MIB, Usage::DeviceOnly).expect("fits");
    let mut recording = Recording::new("long");
    (0..100).for_each(|value| recording.fill(buffer.slice::<u32>(), value));
    let ticket = device.submit(&recording).expect("valid");
    device.free(buffer);
    // Not even while the device still works on it may the handle be used.
    assert!(matches!(device.submit(&recording), Err(GpuError::Recording { .. })));
    assert!(matches!(device.read(buffer.slice::<u32>()), Err(GpuError::NotReachable { .. })));
    device.wait(ticket, Duration::from_secs(60)).expect("done");
    let next = device.allocate("next", 64, Usage::DeviceOnly).expect("fits");
    assert!(device.is_done(ticket).expect("alive"));
    assert!(device.memory().used_bytes < 16 * MIB, "{:?}", device.memory());
    device.free(buffer);
    device.upload(next.slice::<u32>(), &[1; 16]).expect("freeing a dead handle freed nothing else");
    device.free(next);
}

#[test]
fn a_buffer_that_is_not_freed_is_named() {
    let mut devices = open_devices("all");
    let freed = devices[0].allocate("freed", 64, Usage::Upload).expect("fits");
    devices[0].allocate("forgotten", 64, Usage::Readback).expect("fits");
    devices[0].free(freed);
    let messages = devices.into_messages();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].contains("buffer forgotten was not freed"), "{messages:?}");
}

#[test]
fn upload_and_readback_memory_is_seen_by_the_host() {
    let mut devices = open_with("all", &OpenOptions { as_gpu: AsGpu { staged: true, ..super::as_gpu() }, ..options() });
    let device = &mut devices[0];
    let upload = device.allocate("upload", 4096, Usage::Upload).expect("fits").slice::<u32>();
    let readback = device.allocate("readback", 4096, Usage::Readback).expect("fits").slice::<u32>();
    device.mapped_mut(upload).expect("idle and visible").fill(77);
    let mut recording = Recording::new("through");
    recording.copy(upload, readback);
    let ticket = device.submit(&recording).expect("valid");
    device.wait(ticket, Duration::from_secs(60)).expect("done");
    assert_eq!(device.mapped(readback).expect("idle and visible"), [77; 1024]);
    device.free(upload.range().buffer);
    device.free(readback.range().buffer);
}
