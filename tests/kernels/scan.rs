//! Prefix sums: both variants against the reference.

use super::lab::Lab;
use super::random::Random;
use crate::reference::scan::exclusive;
use anthill::pipeline::KernelVariants;
use anthill::pipeline::buffers::{ScanSlices, scan_blocks};
use anthill::pipeline::kernels::constants::SCAN_BLOCK;
use anthill::pipeline::scan::{self, PrefixSum, Summed};

/// Scans with one variant; the memory behind the values and offsets must stay as it is.
fn scanned(lab: &mut Lab, variants: KernelVariants, data: &[u32], summed: Summed) -> (Vec<u32>, u32) {
    const GUARD: u64 = 8;
    let count = data.len() as u64;
    let mut guarded = data.to_vec();
    guarded.extend([0x00ff_ffff; GUARD as usize]);
    let values = lab.upload("values", &guarded);
    let offsets = lab.upload("offsets", &vec![77; (count + GUARD) as usize]);
    let sums = lab.space("sums", scan_blocks(count));
    let total = lab.space("total", 1);
    lab.run(|recording| {
        let sum = PrefixSum { values, offsets, count: count as u32, summed, total };
        scan::record(recording, variants, ScanSlices { sums, total }, &sum);
    });
    let mut result = lab.read(offsets);
    assert_eq!(result.split_off(count as usize), [77; GUARD as usize], "written past the end");
    (result, lab.read(total)[0].total)
}

fn check(count: u32, summed: Summed) {
    let mut lab = Lab::new();
    let mut random = Random::new(u64::from(count));
    let data: Vec<u32> = (0..count).map(|_| random.bits() as u32 >> random.below(32)).collect();
    let bits = |word: &u32| word.count_ones();
    let expected = match summed {
        Summed::Masked(mask) => exclusive(&data, mask),
        Summed::Bits => exclusive(&data.iter().map(bits).collect::<Vec<_>>(), u32::MAX),
    };
    for serial in [true, false] {
        assert!(
            scanned(&mut lab, KernelVariants { serial }, &data, summed) == expected,
            "{count} values, serial: {serial}"
        );
    }
}

#[test]
fn sizes_around_a_block() {
    for count in [0, 1, 2, SCAN_BLOCK - 1, SCAN_BLOCK, SCAN_BLOCK + 1, 7 * SCAN_BLOCK, 7 * SCAN_BLOCK + 300] {
        check(count, Summed::WORD);
    }
}

#[test]
fn more_blocks_than_a_workgroup_has_invocations() {
    check(600 * SCAN_BLOCK + 5, Summed::WORD);
}

#[test]
fn only_masked_bits_count() {
    for mask in [0, 1, 3, 0x8000_0001] {
        check(3 * SCAN_BLOCK + 17, Summed::Masked(mask));
    }
}

#[test]
fn bits_are_counted() {
    for count in [0, 1, SCAN_BLOCK + 1, 3 * SCAN_BLOCK + 17] {
        check(count, Summed::Bits);
    }
}
