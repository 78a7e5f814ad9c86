//! Kernels with known results.

use super::{open_devices, open_with, options};
use anthill::gpu::{
    Breadcrumbs, CommandKind, CommandTimes, Device, Fault, FaultKind, Faults, GpuError, OpenOptions, SubmissionTimes,
    Usage,
};
use anthill::pipeline::kernels::records::Particle;
use anthill::pipeline::kernels::test::{copy, minimum, particles, scan};
use anthill::pipeline::recording::{Access, Dispatch, Groups, Kernel, Recording, Slice};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// A buffer with these words.
fn words(device: &mut Device, name: &'static str, data: &[u32]) -> Slice<u32> {
    let buffer = device.allocate(name, 4 * data.len() as u64, Usage::DeviceOnly).expect("memory");
    device.upload(buffer.slice(), data).expect("upload");
    buffer.slice()
}

/// Submits and waits.
fn run(device: &mut Device, recording: &Recording) {
    let ticket = device.submit(recording).expect("the recording is valid");
    device.wait(ticket, MINUTE).expect("the device finishes");
}

fn copy_dispatch(source: Slice<u32>, target: Slice<u32>, added: u32) -> Dispatch {
    let push = copy::Push { count: source.count() as u32, added };
    let groups = Groups::covering(source.count(), copy::LOCAL_SIZE);
    copy::dispatch(groups, &copy::Bindings { source, target }, &push)
}

/// Uploads, copies with a kernel and with commands, and reads back: what every other test relies on.
fn copies(device: &mut Device) {
    let data: Vec<u32> = (0..1000).map(|i| i * i).collect();
    let source = words(device, "source", &data);
    let target = words(device, "target", &vec![7; 1100]);
    let mut recording = Recording::new("copies");
    recording.dispatch(copy_dispatch(source, target.part(64..1064), 5));
    recording.copy(target.part(64..70), target.part(0..6));
    recording.fill(target.part(10..12), 0xabcd);
    recording.write(target.part(12..14), &[1, 2]);
    run(device, &recording);
    let mut expected = vec![7; 1100];
    expected[64..1064].iter_mut().zip(&data).for_each(|(e, d)| *e = d + 5);
    expected[..6].copy_from_slice(&[5, 6, 9, 14, 21, 30]);
    expected[10..14].copy_from_slice(&[0xabcd, 0xabcd, 1, 2]);
    assert_eq!(device.read(target).expect("read"), expected);
    device.free(source.range().buffer);
    device.free(target.range().buffer);
}

#[test]
fn data_goes_there_and_back() {
    copies(&mut open_devices("all")[0]);
}

#[test]
fn data_goes_through_staging_where_the_host_does_not_see_memory() {
    let mut devices =
        open_with("all", &OpenOptions { as_gpu: anthill::gpu::AsGpu { staged: true, ..super::as_gpu() }, ..options() });
    let device = &mut devices[0];
    copies(device);
    // More than the staging buffers hold, so that both are used again.
    let data: Vec<u32> = (0..7_000_000).collect();
    let large = words(device, "large", &data);
    assert!(device.mapped(large).is_err(), "the host does not see it");
    assert!(device.read(large).expect("read") == data);
    device.free(large.range().buffer);
}

#[test]
fn uploads_are_seen_by_later_recordings_only() {
    let mut devices = open_devices("all");
    let device = &mut devices[0];
    let source = words(device, "source", &[1; 1 << 20]);
    let first = words(device, "first", &[0; 1 << 20]);
    let second = words(device, "second", &[0; 1 << 20]);
    let mut recording = Recording::new("first");
    recording.dispatch(copy_dispatch(source, first, 0));
    device.submit(&recording).expect("valid");
    device.upload(source, &[2; 1 << 20]).expect("upload");
    let mut recording = Recording::new("second");
    recording.dispatch(copy_dispatch(source, second, 0));
    device.submit(&recording).expect("valid");
    assert!(device.read(first).expect("read").iter().all(|word| *word == 1));
    assert!(device.read(second).expect("read").iter().all(|word| *word == 2));
    [source, first, second].into_iter().for_each(|slice| device.free(slice.range().buffer));
}

fn written_in_many_places(device: &mut Device) {
    // Every second part of a buffer, more than a staging buffer holds, and one part that does not fit one.
    const PART: u64 = 10_000;
    let all = words(device, "all", &vec![0; 900 * PART as usize]);
    let copy = words(device, "copy", &[1; 4]);
    let mut recording = Recording::new("under way");
    recording.copy(all.part(0..4), copy);
    device.submit(&recording).expect("valid");
    let data: Vec<Vec<u32>> =
        (1..301).map(|i: u32| vec![i; if i == 300 { 300 * PART } else { PART } as usize]).collect();
    let place = |(i, data): (u64, &Vec<u32>)| all.part(2 * i * PART..2 * i * PART + data.len() as u64);
    let parts: Vec<_> = (0..).zip(&data).map(|part| (place(part), &part.1[..])).collect();
    device.upload_all(&parts).expect("upload");
    let read = device.read(all).expect("read");
    for (i, part) in (0_u32..898).zip(read.chunks_exact(PART as usize)) {
        let expected = match i {
            598.. => 300,
            i if i % 2 == 0 => i / 2 + 1,
            _ => 0,
        };
        assert!(part.iter().all(|&word| word == expected), "part {i}");
    }
    assert_eq!(device.read(copy).expect("read"), [0; 4], "what was submitted before does not see it");
    [all, copy].into_iter().for_each(|slice| device.free(slice.range().buffer));
}

#[test]
fn many_places_are_written_at_once() {
    open_devices("all").iter_mut().for_each(written_in_many_places);
    let as_gpu = anthill::gpu::AsGpu { staged: true, ..super::as_gpu() };
    let mut staged = open_with("all", &OpenOptions { as_gpu, ..options() });
    staged.iter_mut().for_each(written_in_many_places);
}

/// The hash of `glsl/test/minimum.comp`.
fn hash(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    let x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

fn minimum_is_right(device: &mut Device) {
    const KEYS: u32 = 1000;
    const COUNT: u32 = 100_000;
    let keys = device.allocate("keys", 8 * u64::from(KEYS), Usage::DeviceOnly).expect("memory").slice::<u64>();
    let mut recording = Recording::new("minimum");
    recording.fill(keys, u32::MAX);
    let push = minimum::Push { count: COUNT, key_count: KEYS };
    let groups = Groups::covering(COUNT.into(), minimum::LOCAL_SIZE);
    recording.dispatch(minimum::dispatch(groups, &minimum::Bindings { keys }, &push));
    run(device, &recording);
    let mut expected = vec![u64::MAX; KEYS as usize];
    for i in 0..COUNT {
        let key = u64::from(hash(i)) << 32 | u64::from(i);
        let place = &mut expected[(hash(i ^ 0x9e37_79b9) % KEYS) as usize];
        *place = key.min(*place);
    }
    assert!(device.read(keys).expect("read") == expected, "{}", device.title());
    device.free(keys.range().buffer);
}

#[test]
fn the_least_of_64_bit_keys_is_kept() {
    minimum_is_right(&mut open_devices("all")[0]);
}

#[test]
fn both_variants_of_a_scan_agree_and_passes_see_each_other() {
    let mut devices = open_devices("all");
    let device = &mut devices[0];
    let count = 256 * 256;
    let data: Vec<u32> = (0..count).map(|i| hash(i) % 10).collect();
    let mut expected: Vec<u32> = data.iter().scan(0, |sum, value| Some(std::mem::replace(sum, *sum + value))).collect();
    for variant in scan::Variant::ALL {
        let values = words(device, "values", &data);
        let sums = words(device, "sums", &[0; 256]);
        let total = words(device, "total", &[0; 1]);
        let mut recording = Recording::new("scan");
        // Blocks, then the blocks' sums: the second pass reads what the first wrote.
        let blocks = scan::Bindings { values, sums };
        let top = scan::Bindings { values: sums, sums: total };
        recording.dispatch(scan::dispatch(*variant, 256, &blocks, &scan::Push { count }));
        recording.dispatch(scan::dispatch(*variant, 1, &top, &scan::Push { count: 256 }));
        run(device, &recording);
        let (values_read, sums_read) = (device.read(values).expect("read"), device.read(sums).expect("read"));
        let scanned: Vec<u32> = values_read.iter().enumerate().map(|(i, value)| value + sums_read[i / 256]).collect();
        assert!(scanned == expected, "{variant:?}");
        expected = scanned;
        assert_eq!(device.read(total).expect("read"), [data.iter().sum::<u32>()]);
        [values, sums, total].into_iter().for_each(|slice| device.free(slice.range().buffer));
    }
}

#[test]
fn the_device_says_how_many_groups_run() {
    let mut devices = open_devices("all");
    let device = &mut devices[0];
    let source = words(device, "source", &[3; 640]);
    let target = words(device, "target", &[0; 640]);
    let groups = words(device, "groups", &[0; 67]);
    let mut recording = Recording::new("indirect");
    // The numbers of groups are the result of a kernel: 2, 1, 1; then none.
    recording.write(groups.part(64..67), &[1, 0, 0]);
    recording.dispatch(copy_dispatch(groups.part(64..67), groups.part(0..3), 1));
    let mut dispatch = copy_dispatch(source, target, 0);
    dispatch.groups = Groups::Indirect(groups.part(0..3).range());
    recording.dispatch(dispatch.clone());
    dispatch.groups = Groups::Indirect(groups.part(8..11).range());
    dispatch.push = bytemuck::bytes_of(&copy::Push { count: 640, added: 1 }).to_vec();
    recording.dispatch(dispatch);
    run(device, &recording);
    let read = device.read(target).expect("read");
    assert!(read[..128].iter().all(|word| *word == 3) && read[128..].iter().all(|word| *word == 0));
    [source, target, groups].into_iter().for_each(|slice| device.free(slice.range().buffer));
}

#[test]
fn records_constants_and_matrices_mean_the_same_on_both_sides() {
    let mut devices = open_devices("all");
    let device = &mut devices[0];
    let start: Vec<Particle> = (0..50)
        .map(|i| Particle {
            position: [i as f32, 0.1, -1.0],
            mass: i as f32 / 10.0,
            id: i,
            speed: [0.3, i as f32],
            ..Particle::default()
        })
        .collect();
    let buffer = device.allocate("particles", size_of_val(start.as_slice()) as u64, Usage::DeviceOnly);
    let all = buffer.expect("memory").slice::<Particle>();
    device.upload(all, &start).expect("upload");
    let totals = device.allocate("totals", 8, Usage::DeviceOnly).expect("memory").slice();
    let push = particles::Push {
        count: 50,
        dt: 0.7,
        // Columns: turns x to y, moves by 10 along z.
        world_from_object: [[0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 10.0, 1.0]],
        ..particles::Push::default()
    };
    let mut recording = Recording::new("particles");
    recording.fill(totals, 0);
    let bindings = particles::Bindings { particles: all, totals_block: totals };
    let constants = particles::Constants { steps: 2, heavy: 3.95 };
    recording.dispatch(particles::dispatch(&constants, 2, &bindings, &push));
    run(device, &recording);
    for (before, after) in start.iter().zip(device.read(all).expect("read")) {
        // Two roundings a step: exactly what the device may do when nothing is contracted.
        let step = |v: f32, p: f32| v * 0.7 + p;
        let moved = |a: usize| step(before.speed[a], step(before.speed[a], before.position[a]));
        assert_eq!(after.position, [-moved(1), moved(0), 9.0]);
        assert_eq!((after.mass, after.id, after.speed), (before.mass, before.id, before.speed));
    }
    let read = device.read(totals).expect("read")[0].totals;
    assert_eq!((read.moved, read.heavy), (50, 10));
    device.free(all.range().buffer);
    device.free(totals.range().buffer);
}

#[test]
fn one_device_opened_three_times_is_three_devices_at_work_at_once() {
    let mut devices = open_devices("0,0,0");
    assert_eq!(devices.iter().map(|d| d.title().number).collect::<Vec<_>>(), [0, 1, 2]);
    thread::scope(|scope| {
        for device in devices.iter_mut() {
            scope.spawn(|| (0..3).for_each(|_| minimum_is_right(device)));
        }
    });
}

#[test]
fn a_buffer_of_another_device_is_refused() {
    let mut devices = open_devices("0,0");
    let foreign = words(&mut devices[1], "foreign", &[0; 64]);
    let mut recording = Recording::new("mixed up");
    recording.fill(foreign, 1);
    let error = devices[0].submit(&recording).expect_err("the buffer is device 1's").to_string();
    assert!(error.contains("device 0") && error.contains("foreign") && error.contains("mixed up"), "{error}");
    assert!(matches!(devices[0].read(foreign), Err(GpuError::NotReachable { .. })));
    devices[1].free(foreign.range().buffer);
}

#[test]
fn a_conflict_inside_a_concurrent_group_is_refused() {
    let mut devices = open_devices("all");
    let device = &mut devices[0];
    let a = words(device, "a", &[1; 64]);
    let b = words(device, "b", &[0; 64]);
    let mut recording = Recording::new("two ways");
    recording.concurrent(|r| {
        r.dispatch(copy_dispatch(a, b, 0));
        r.dispatch(copy_dispatch(b, a, 0));
    });
    let error = device.submit(&recording).expect_err("one writes what the other reads").to_string();
    assert!(error.contains("copy writes b and copy reads b"), "{error}");
    // As a claim it is let through; validation, which cannot know, is kept silent by order.
    let mut recording = Recording::new("two ways");
    recording.unordered(|r| {
        r.dispatch(copy_dispatch(a, b, 0));
        r.dispatch(copy_dispatch(b, a, 0));
    });
    run(device, &recording);
    device.free(a.range().buffer);
    device.free(b.range().buffer);
}

/// A copy that says it only reads: the one way past the checks of recordings to a hazard that the layer must find.
fn lying_copy(source: Slice<u32>, target: Slice<u32>) -> Dispatch {
    let mut dispatch = copy_dispatch(source, target, 0);
    let built = copy::kernel();
    let mut bindings = built.bindings().to_vec();
    bindings.iter_mut().for_each(|binding| binding.access = Access::Read);
    dispatch.kernel = Kernel::compiled("lying copy", built.words().to_vec(), bindings, 8, built.local_size());
    dispatch
}

#[test]
fn a_hazard_is_found_by_validation_and_reported() {
    let mut devices = open_devices("all");
    let device = &mut devices[0];
    let a = words(device, "a", &[1; 64]);
    let b = words(device, "b", &[0; 64]);
    let mut recording = Recording::new("deliberate");
    recording.concurrent(|r| {
        r.dispatch(lying_copy(a, b));
        r.dispatch(lying_copy(b, a));
    });
    run(device, &recording);
    device.free(a.range().buffer);
    device.free(b.range().buffer);
    let messages = devices.into_messages();
    assert!(messages.iter().any(|m| m.contains("SYNC-HAZARD") && m.contains("[validation]")), "{messages:#?}");
}

#[test]
fn each_command_of_a_stage_is_timed_where_that_is_asked_for() {
    let mut devices = open_with("all", &OpenOptions { time_commands: true, ..options() });
    let device = &mut devices[0];
    let [a, b] = ["a", "b"].map(|name| words(device, name, &[1; 1 << 16]));
    device.take_submissions();
    let mut recording = Recording::new("timed");
    recording.fill(b, 9);
    for stage in ["dice", "hide", "dice"] {
        recording.stage(stage, |r| {
            r.concurrent(|r| {
                r.dispatch(copy_dispatch(a, b, 1));
                r.fill(b.part(0..0), 1);
            });
            r.copy(b, a);
        });
    }
    run(device, &recording);
    let (submissions, times) = (device.take_submissions(), device.take_times());
    if device.times_commands() {
        let [SubmissionTimes { stages, commands }] = &Vec::from(submissions)[..] else { panic!("one submission") };
        let names: Vec<&str> = commands.iter().map(|command| command.kind.name()).collect();
        assert_eq!(names, ["copy", "copy", "copy", "copy", "copy", "copy"], "a kernel of that name, and a command");
        for (stage, commands) in stages.iter().zip(commands.chunks(2)) {
            let inside = commands.iter().all(|command| {
                let end_s = command.start_s + command.seconds;
                stage.start_s <= command.start_s && end_s <= stage.start_s + stage.seconds + 1e-9
            });
            assert!(inside, "{stage:?} {commands:?}");
        }
        let CommandTimes { totals, untimed, pair_s, gap_s } = times.commands.expect("timed");
        let calls =
            |stage: &str| totals.iter().filter(|total| total.stage == stage).map(|total| total.calls).sum::<u64>();
        assert_eq!((calls("dice"), calls("hide"), totals.len(), untimed), (4, 2, 4, 0), "{totals:?}");
        assert!([pair_s, gap_s].iter().all(|seconds| (0.0..0.1).contains(seconds)), "{pair_s} {gap_s}");
        let bytes = totals.iter().find(|total| total.stage == "dice" && matches!(total.kind, CommandKind::Copy));
        assert_eq!(bytes.map(|total| (total.items, total.unit)), Some((2 * (4 << 16), "bytes")));
        let of_commands: f64 = totals.iter().map(|total| total.seconds).sum();
        assert!(of_commands > 0.0 && of_commands <= times.stages_s.values().sum::<f64>() + 1e-9);
    }
    assert!(device.take_submissions().is_empty() && device.take_times().stages_s.is_empty(), "they were taken");
    [a, b].into_iter().for_each(|words| device.free(words.range().buffer));
}

#[test]
fn queries_of_very_long_submissions_are_bounded() {
    let mut devices = open_with("all", &OpenOptions { time_commands: true, validate: false, ..options() });
    let device = &mut devices[0];
    let data = words(device, "data", &[1; 64]);
    let mut recording = Recording::new("long");
    recording.stage("dice", |r| (0..17_000).for_each(|_| r.fill(data, 3)));
    run(device, &recording);
    if device.times_commands() {
        let times = device.take_times().commands.expect("timed");
        assert_eq!((times.totals[0].calls, times.untimed), ((1 << 14) - 1, 17_000 - (1 << 14) + 1));
    }
    device.free(data.range().buffer);
}

#[test]
fn stages_are_timed_on_the_device() {
    let mut devices = open_devices("all");
    let device = &mut devices[0];
    let data = words(device, "data", &[1; 1 << 20]);
    let mut recording = Recording::new("stages");
    for name in ["dice", "hide", "dice"] {
        recording.stage(name, |r| r.fill(data, 3));
    }
    let ticket = device.submit(&recording).expect("valid");
    device.wait(ticket, MINUTE).expect("done");
    if device.info().timestamp_ns > 0.0 {
        let times = device.stage_times(ticket);
        assert_eq!(times.iter().map(|t| t.stage).collect::<Vec<_>>(), ["dice", "hide", "dice"]);
        let now = device.opened_at().elapsed().as_secs_f64();
        for pair in times.windows(2) {
            assert!(pair[0].start_s + pair[0].seconds <= pair[1].start_s + 1e-9, "{times:?}");
        }
        assert!(times[0].start_s > 0.0 && times[2].start_s + times[2].seconds < now + 1.0, "{times:?}, now {now}");
        let dice = times[0].seconds + times[2].seconds;
        assert!(dice > 0.0 && (device.stage_seconds()["dice"] - dice).abs() < 1e-9);
        assert!(!device.stage_seconds().contains_key("open"));
    }
    device.free(data.range().buffer);
}

#[test]
fn what_does_not_finish_in_time_is_named() {
    let mut devices = open_devices("all");
    let device = &mut devices[0];
    let data = words(device, "data", &[1; 4 << 20]);
    let mut recording = Recording::new("region 12");
    // Enough that this thread may be kept waiting for a while before it asks.
    (0..400).for_each(|value| recording.fill(data, value));
    let ticket = device.submit(&recording).expect("valid");
    let error = device.wait(ticket, Duration::ZERO).expect_err("6 GiB take longer").to_string();
    assert!(error.contains("device 0") && error.contains("did not finish region 12 within 0 s"), "{error}");
    assert!(matches!(device.mapped(data), Err(GpuError::NotReachable { .. })), "it is in use");
    device.wait(ticket, MINUTE).expect("done");
    assert!(device.is_done(ticket).expect("alive"));
    device.free(data.range().buffer);
}

/// A device stops after half of the commands of a submission, with breadcrumbs and without.
#[test]
fn breadcrumbs_say_which_command_a_device_was_in() {
    for (kind, breadcrumbs) in [
        (FaultKind::Lost, Breadcrumbs::Always),
        (FaultKind::Hang, Breadcrumbs::Always),
        (FaultKind::Lost, Breadcrumbs::Never),
    ] {
        let faults = Some(Arc::new(Faults::new([Fault { kind, device: 0, submission: 1 }])));
        let timeout = Duration::from_millis(300);
        let validate = kind == FaultKind::Lost;
        let options = OpenOptions { faults, breadcrumbs, timeout, validate, ..options() };
        let mut devices = open_with("all", &options);
        let device = &mut devices[0];
        let [data, other] = ["data", "other"].map(|name| words(device, name, &[1; 64]));
        let mut recording = Recording::new("region 3");
        recording.stage("first", |recording| {
            recording.fill(data, 2);
            recording.dispatch(copy_dispatch(data, other, 5));
            recording.concurrent(|recording| {
                recording.fill(data.part(0..32), 7);
                recording.copy(other.part(0..16), data.part(48..64));
            });
        });
        device.submit(&recording).expect("not the one that fails");
        let outcome = device.submit(&recording).and_then(|ticket| device.wait(ticket, timeout));
        let text = outcome.expect_err("it fails").to_string();
        let place = "fill: 128 bytes";
        let expected = match (kind, breadcrumbs) {
            (FaultKind::Hang, _) => format!("did not finish region 3, which is in {place} within 0.3 s"),
            (_, Breadcrumbs::Never) => "was lost while running region 3".to_owned(),
            _ => format!("was lost while running region 3; it was in {place}"),
        };
        assert!(text.ends_with(&expected), "{text}");
        if kind == FaultKind::Lost {
            // Another message names the submission as well.
            let again = device.read(data).expect_err("it is lost").to_string();
            assert_eq!(again.contains("fill: 128 bytes of region 3"), breadcrumbs == Breadcrumbs::Always, "{again}");
            [data, other].iter().for_each(|slice| device.free(slice.range().buffer));
        }
    }
}

#[test]
fn a_lost_device_says_so_from_then_on() {
    let fault = Fault { kind: FaultKind::Lost, device: 0, submission: 2 };
    let faults = Some(Arc::new(Faults::new([fault])));
    let mut devices = open_with("all", &OpenOptions { faults, ..options() });
    let device = &mut devices[0];
    let data = words(device, "data", &[1; 64]);
    let mut recording = Recording::new("region 3");
    recording.fill(data, 1);
    for _ in 0..2 {
        device.submit(&recording).expect("not lost yet");
    }
    let error = device.submit(&recording).expect_err("lost now");
    assert!(matches!(error, GpuError::Lost { .. }));
    let text = error.to_string();
    assert!(text.starts_with("device 0 (") && text.ends_with("was lost while running region 3"), "{text}");
    assert!(matches!(device.read(data), Err(GpuError::Lost { .. })));
    assert!(matches!(device.allocate("more", 64, Usage::DeviceOnly), Err(GpuError::Lost { .. })));
    device.free(data.range().buffer);
}
