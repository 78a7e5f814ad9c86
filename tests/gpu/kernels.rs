//! The kernels of the build, and how devices compile and keep them.

use super::{open_devices, open_with, options};
use anthill::gpu::{GpuError, Mutant, OpenOptions, Usage, specialised};
use anthill::pipeline::kernels::{modules, test};
use anthill::pipeline::recording::{Dispatch, Groups, Kernel, Recording};
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Decoration, GlslStd450Op, Op};
use std::collections::HashSet;
use std::io::Write;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// What spirv-val has against a kernel.
fn fault(words: &[u32]) -> Option<String> {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytemuck::cast_slice(words)).expect("the file can be written");
    let output = Command::new("spirv-val").args(["--target-env", "vulkan1.2"]).arg(file.path()).output();
    let output = output.expect("spirv-val runs: `make setup` installs it (package spirv-tools)");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_kernel_is_valid_spirv() {
    for (name, words) in modules() {
        assert_eq!(fault(words), None, "{name}");
    }
}

/// The names in a module.
fn names(words: &[u32]) -> impl Iterator<Item = String> {
    let module = rspirv::dr::load_words(words).expect("rspirv reads it");
    let text = |name: Instruction| Some(name.operands.last()?.unwrap_literal_string().to_owned());
    module.debug_names.into_iter().filter_map(text)
}

/// Kernels as devices get them: textures' are cut down to the forms of texture that there are (constants 0 and 1), all
/// to the number of the driver's threads (31).
#[test]
fn kernels_cut_down_by_their_constants_are_valid() {
    for values in [[(0, 0), (1, 0), (31, 1)], [(0, 1), (1, 2 | 64), (31, 2)], [(0, 7), (1, 127), (31, 8)]] {
        for (name, words) in modules() {
            let cut = specialised(words, values);
            let is_library = name.starts_with("rsl library");
            if is_library || (cut.len() < words.len() && values[0].1 == 0) {
                assert_eq!(fault(&cut), None, "{name}, {values:?}");
            }
            if is_library {
                let has_views = names(&cut).any(|name| name.starts_with("rsl_shadow_of_views"));
                assert_eq!(has_views, values[1].1 & 64 != 0, "{name}, {values:?}");
            }
        }
    }
}

/// Nothing is left to be inlined each time that a program starts (build/optimise.rs); the library is imported function
/// by function.
#[test]
fn every_kernel_is_one_function() {
    for (name, words) in modules().into_iter().filter(|(name, _)| !name.starts_with("rsl library")) {
        let module = rspirv::dr::load_words(words).expect("rspirv reads it");
        assert_eq!(module.functions.len(), 1, "{name}");
    }
}

#[test]
fn mutants_of_kernels_are_valid_and_have_nothing_left_to_rewrite() {
    for mutant in Mutant::ALL {
        let mut changed = 0;
        for (name, words) in modules() {
            let rewritten = mutant.rewrite(words);
            if rewritten[5..] != words[5..] {
                assert_eq!(fault(&rewritten), None, "{name}, {mutant}");
                changed += 1;
            }
            let module = rspirv::dr::load_words(&rewritten).expect("rspirv reads it");
            let constants: HashSet<u32> =
                module.types_global_values.iter().filter_map(|value| value.result_id).collect();
            let left = module.all_inst_iter().filter(|instruction| is_left(mutant, instruction, &constants)).count();
            assert_eq!(left, 0, "{name}, {mutant}");
        }
        assert!(changed > 5, "{mutant} changed {changed} kernels");
    }
}

/// Whether a mutant should have rewritten an instruction.
fn is_left(mutant: Mutant, instruction: &Instruction, constants: &HashSet<u32>) -> bool {
    let function = match instruction.operands.get(1) {
        Some(Operand::LiteralExtInstInteger(number)) => *number,
        _ => 0,
    };
    let expanded = [GlslStd450Op::FMix, GlslStd450Op::Cross, GlslStd450Op::Normalize].map(|function| function as u32);
    let dividend = || instruction.operands[0].id_ref_any().is_some_and(|id| constants.contains(&id));
    match mutant {
        Mutant::Reciprocal | Mutant::ReciprocalUlp => instruction.class.opcode == Op::FDiv && !dividend(),
        Mutant::SqrtUlp => false,
        Mutant::Fused => instruction.class.opcode == Op::Dot || expanded.contains(&function),
    }
}

/// The id of a float result that a driver may compute in several ways.
fn rounded_result(instruction: &Instruction, floats: &HashSet<u32>) -> Option<u32> {
    let name = format!("{:?}", instruction.class.opcode);
    let of_numbers = name.starts_with('F') && !name.starts_with("Function") && !name.starts_with("FOrd");
    let of_vectors =
        ["Dot", "VectorTimes", "MatrixTimes", "OuterProduct", "ExtInst"].iter().any(|s| name.starts_with(s));
    let rounds = (of_numbers || of_vectors) && name != "ExtInstImport";
    instruction.result_id.filter(|_| rounds && instruction.result_type.is_some_and(|kind| floats.contains(&kind)))
}

#[test]
fn no_float_operation_of_a_kernel_may_be_contracted() {
    let mut seen = 0;
    for (name, words) in modules() {
        let module = rspirv::dr::load_words(words).expect("the build wrote it");
        let decorated: HashSet<u32> = module
            .annotations
            .iter()
            .filter(|i| matches!(i.operands.get(1), Some(Operand::Decoration(Decoration::NoContraction))))
            .filter_map(|i| i.operands[0].id_ref_any())
            .collect();
        let mut floats = HashSet::new();
        for kind in &module.types_global_values {
            let part = kind.operands.first().and_then(Operand::id_ref_any);
            let composed = matches!(kind.class.opcode, Op::TypeVector | Op::TypeMatrix);
            if kind.class.opcode == Op::TypeFloat || composed && part.is_some_and(|part| floats.contains(&part)) {
                floats.extend(kind.result_id);
            }
        }
        for instruction in module.all_inst_iter() {
            if let Some(id) = rounded_result(instruction, &floats) {
                assert!(decorated.contains(&id), "{name}: {instruction:?}");
                seen += 1;
            }
        }
    }
    assert!(seen > 10, "the test kernels alone have more float operations than {seen}");
}

/// Asks for every test kernel and waits.
fn compile_all(device: &anthill::gpu::Device) {
    let kernels =
        [test::copy::kernel(), test::particles::kernel(), test::scan::kernel(test::scan::Variant { group: true })];
    kernels.iter().for_each(|kernel| device.prepare(kernel, &[]));
    let deadline = Instant::now() + Duration::from_secs(60);
    for kernel in kernels {
        while !device.is_ready(kernel, &[]).expect("it compiles") {
            assert!(Instant::now() < deadline, "{} is not compiled", kernel.label());
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn the_second_run_finds_kernels_in_the_cache() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = OpenOptions { cache_folder: Some(folder.path().join("kernels")), ..options() };
    for found in [0, 3] {
        let devices = open_with("0", &options);
        compile_all(&devices[0]);
        let counts = devices[0].kernel_counts();
        assert_eq!((counts.ready, counts.from_cache, counts.failed), (3, found, 0));
    }
}

#[test]
fn kernels_that_no_picture_uses_are_dropped() {
    let mut devices = open_devices("0");
    let device = &mut devices[0];
    compile_all(device);
    for picture in 0..1000 {
        device.prepare(test::copy::kernel(), &[]);
        device.end_picture();
        let kept = device.kept_kernel_count();
        assert!(kept == if picture < 64 { 3 } else { 1 }, "{kept} after picture {picture}");
    }
    compile_all(device);
    assert_eq!(device.kept_kernel_count(), 3);
}

#[test]
fn equal_devices_compile_once() {
    let devices = open_devices("0,0");
    thread::scope(|scope| devices.iter().for_each(|device| drop(scope.spawn(|| compile_all(device)))));
    let from_cache: u32 = devices.iter().map(|device| device.kernel_counts().from_cache).sum();
    assert_eq!(from_cache, 3, "each kernel is compiled by one and found by the other");
}

#[test]
fn a_kernel_made_at_run_time_runs() {
    let mut devices = open_devices("all");
    let device = &mut devices[0];
    let built = test::copy::kernel();
    let bindings = built.bindings().to_vec();
    let kernel = Kernel::compiled("made", built.words().to_vec(), bindings, 8, built.local_size());
    assert!(!device.is_ready(&kernel, &[]).expect("nobody asked for it"));
    let buffer = device.allocate("data", 512, Usage::DeviceOnly).expect("memory").slice::<u32>();
    let mut recording = Recording::new("made");
    recording.fill(buffer, 20);
    let bindings = vec![buffer.part(0..64).range(), buffer.part(64..128).range()];
    let push = bytemuck::bytes_of(&test::copy::Push { count: 64, added: 3 }).to_vec();
    recording.dispatch(Dispatch {
        kernel,
        constants: Vec::new(),
        groups: Groups::from(1),
        items: None,
        bindings,
        push,
    });
    device.submit(&recording).expect("valid");
    let read = device.read(buffer).expect("read");
    assert!(read[..64].iter().all(|word| *word == 20) && read[64..].iter().all(|word| *word == 23));
    device.free(buffer.range().buffer);
}

#[test]
fn a_kernel_that_needs_what_is_not_enabled_is_refused() {
    let mut devices = open_devices("all");
    let device = &mut devices[0];
    // The copy kernel with a capability that anthill never enables: Float64.
    let built = test::copy::kernel();
    let mut words = built.words().to_vec();
    words.splice(5..5, [2 << 16 | 17, 10]);
    let kernel = Kernel::compiled("double", words, built.bindings().to_vec(), 8, built.local_size());
    let buffer = device.allocate("data", 512, Usage::DeviceOnly).expect("memory").slice::<u32>();
    let mut recording = Recording::new("refused");
    let bindings = vec![buffer.part(0..64).range(), buffer.part(64..128).range()];
    recording.dispatch(Dispatch {
        kernel: Arc::clone(&kernel),
        constants: Vec::new(),
        groups: Groups::from(1),
        items: None,
        bindings,
        push: vec![0; 8],
    });
    let error = device.submit(&recording).expect_err("the device lacks it");
    assert!(matches!(error, GpuError::Kernel { .. }) && error.to_string().contains("kernel double"), "{error}");
    assert_eq!(device.is_ready(&kernel, &[]), Err(error));
    device.free(buffer.range().buffer);
}

#[test]
fn what_a_kernel_only_reads_is_texels() {
    use anthill::pipeline::recording::BindingForm;
    use test::texels::{self, Bindings, Push};
    const COUNT: u32 = 50;
    let forms: Vec<BindingForm> = texels::kernel().bindings().iter().map(|binding| binding.form).collect();
    let (records, words, storage) = (BindingForm::Records, BindingForm::Words, BindingForm::Storage);
    assert_eq!(forms, [records, words, records, words, storage]);
    // A record has 36 words, an odd one 5; each word is a number of its own, as a float or an integer.
    let float = |i: u32, word: u32| (100 * i + word) as f32;
    let is_integer = |word: u32| (20..24).contains(&word) || word >= 32;
    let word = |i, word| if is_integer(word) { 100 * i + word } else { float(i, word).to_bits() };
    let whole: Vec<u32> = (0..COUNT).flat_map(|i| (0..36).map(move |w| word(i, w))).collect();
    let odd: Vec<u32> = (0..COUNT).flat_map(|i| [i, float(i, 1).to_bits(), i + 2, i + 3, i + 4]).collect();
    let vectors: Vec<[f32; 4]> = (0..COUNT).map(|i| [0, 1, 2, 3].map(|w| float(i, w))).collect();
    let keys: Vec<u64> = (0..COUNT).map(|i| u64::from(i) << 32).collect();
    for device in open_devices("all").iter_mut() {
        let mut space = |bytes: usize| device.allocate("data", bytes as u64, Usage::DeviceOnly).expect("memory");
        let [a, b] = [whole.len(), odd.len()].map(|count| space(4 * count));
        let [c, d, e] = [16, 8, 64].map(|bytes| space(bytes * COUNT as usize));
        let bindings =
            Bindings { records: a.slice(), odds: b.slice(), vectors: c.slice(), keys: d.slice(), results: e.slice() };
        device.upload(bindings.records.cast(), &whole).expect("uploaded");
        device.upload(bindings.odds.cast(), &odd).expect("uploaded");
        device.upload(bindings.vectors.cast(), &vectors).expect("uploaded");
        device.upload(bindings.keys, &keys).expect("uploaded");
        let mut recording = Recording::new("texels");
        recording.dispatch(texels::dispatch(1, &bindings, &Push { count: COUNT }));
        device.submit(&recording).expect("valid");
        let results: Vec<[f32; 4]> = device.read(bindings.results.cast()).expect("read");
        for i in 0..COUNT {
            let (j, k) = (i * 7 % COUNT, i % 4);
            let expected = [
                [float(j, 1) + float(j, 3), float(j, 14), float(j, 20 + k), float(j, 28)],
                [float(j, 4 + 4 * k + 1), float(j, 24 + 4 * (i % 2) + 3), float(j, 33), float(j, 34 + i % 2)],
                [j as f32, float(j, 1), (j + 2 + k % 3) as f32, float(j, k)],
                [float(j, 2), float(j, 3), float(j, 20 + k), j as f32],
            ];
            assert_eq!(results[4 * i as usize..][..4], expected, "invocation {i}");
        }
        [a, b, c, d, e].into_iter().for_each(|buffer| device.free(buffer));
    }
}
