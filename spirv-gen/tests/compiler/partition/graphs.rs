//! Random graphs: partitions are valid, close to the optimum, and found quickly.

use super::configurations::{CONFIGURATIONS, COST_MODELS, with_outputs};
use super::random::{dag, tree};
use spirv_gen::partition::{Architecture, Dag, Limits, Partition, dpmpp, exhaustive, mio, mrds, rds, rds_h};

/// A configuration and a cost model by turns: all but the largest, so that most graphs need several passes.
fn architecture(seed: u64) -> Architecture {
    let (limits, costs) = (CONFIGURATIONS[seed as usize % 6], COST_MODELS[seed as usize / 6 % 5].1);
    // PC 6 is too large for most.
    let halved = |limits: Limits| Limits { operations: 12, registers: 4, textures: 4, interpolants: 5, ..limits };
    Architecture::fetching(if limits.operations == 24 { halved(limits) } else { limits }, costs)
}

fn check(seed: u64, dag: &Dag, architecture: &Architecture, partition: &Partition) {
    assert_eq!(partition.faults(dag, architecture), [], "seed {seed}: {dag:?} on {architecture:?}");
}

#[test]
fn every_partitioner_makes_valid_passes() {
    for seed in 0..42 {
        let dag = dag(seed, 5 + seed as usize % 40, 1 + seed as usize % 3);
        let single = architecture(seed);
        let several = with_outputs(single, 4);
        for partition in [rds_h(&dag, &single), rds(&dag, &single), dpmpp(&dag, &single), mio(&dag, &single).partition]
        {
            check(seed, &dag, &single, &partition);
        }
        for partition in [mrds(&dag, &several), mio(&dag, &several).partition] {
            check(seed, &dag, &several, &partition);
        }
    }
}

#[test]
fn rds_is_close_to_the_optimum() {
    let (mut ratios, mut same_passes, mut ended) = (0.0, 0, 0);
    for seed in 0..70 {
        let dag = dag(1000 + seed, 7 + seed as usize % 10, 1);
        let architecture = architecture(seed);
        let best = exhaustive(&dag, &architecture, 10_000);
        let found = rds(&dag, &architecture);
        if best.is_optimal {
            ended += 1;
            ratios += found.cost(&architecture) / best.partition.cost(&architecture);
            same_passes += u32::from(found.passes.len() == best.partition.passes.len());
        }
    }
    assert!(ended >= 60, "{ended} of 70 searches ended");
    assert!(ratios / f64::from(ended) <= 1.05, "{}", ratios / f64::from(ended));
    assert!(f64::from(same_passes) >= 0.85 * f64::from(ended), "{same_passes} of {ended}");
}

#[test]
fn dynamic_programming_is_optimal_on_trees() {
    for seed in 0..60 {
        let tree = tree(seed, 6 + seed as usize % 9);
        let architecture = architecture(seed);
        let best = exhaustive(&tree, &architecture, 200_000);
        assert!(best.is_optimal, "seed {seed}");
        let (found, best) = (dpmpp(&tree, &architecture), best.partition);
        check(seed, &tree, &architecture, &found);
        assert_eq!(found.cost(&architecture), best.cost(&architecture), "seed {seed}: {tree:?} on {architecture:?}");
    }
}

#[test]
fn dynamic_programming_forgets_states_of_large_trees() {
    let tree = tree(3, 400);
    let architecture = Architecture::fetching(CONFIGURATIONS[6], COST_MODELS[0].1);
    check(3, &tree, &architecture, &dpmpp(&tree, &architecture));
}

#[test]
fn merging_never_adds_passes() {
    let mut merged_passes = 0;
    for seed in 0..40 {
        let dag = dag(2000 + seed, 10 + seed as usize % 30, 2 + seed as usize % 3);
        let architecture = with_outputs(architecture(seed), 4);
        let (unmerged, merged) = (rds(&dag, &architecture), mrds(&dag, &architecture));
        assert!(merged.passes.len() <= unmerged.passes.len(), "seed {seed}");
        merged_passes += unmerged.passes.len() - merged.passes.len();
    }
    assert!(merged_passes > 40, "{merged_passes} passes were merged away");
}

#[test]
fn list_scheduling_takes_nearly_linear_time() {
    let architecture = with_outputs(Architecture::fetching(CONFIGURATIONS[5], COST_MODELS[0].1), 4);
    let mut each = Vec::new();
    for operations in [100, 1000, 10_000, 100_000] {
        let dag = dag(7, operations, 4);
        let schedule = mio(&dag, &architecture);
        check(7, &dag, &architecture, &schedule.partition);
        each.push(schedule.updates as f64 / operations as f64);
    }
    assert!(each.iter().all(|updates| *updates < 2.0 * each[0]), "updates an operation: {each:?}");
}
