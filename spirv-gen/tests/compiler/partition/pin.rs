//! The bowling pin: costs and passes of Chan et al. (2002), tables 3 to 5, and of what the paper does not print.

use super::configurations::{pc, with_outputs};
use super::shaders::{PinVariant, bowling_pin};
use spirv_gen::partition::{Architecture, Dag, Partition, exhaustive, mio, mrds, rds, rds_h};

/// Cost and passes of partitions by an algorithm on PC 1 to PC 8, all valid.
fn totals(dag: &Dag, outputs: u32, algorithm: impl Fn(&Dag, &Architecture) -> Partition) -> Vec<(f64, usize)> {
    let cut = |number| {
        let architecture = with_outputs(pc(number), outputs);
        let partition = algorithm(dag, &architecture);
        assert_eq!(partition.faults(dag, &architecture), [], "PC {number}");
        (partition.cost(&architecture), partition.passes.len())
    };
    (1..=8).map(cut).collect()
}

#[test]
fn the_pin_is_that_of_table_1() {
    let dag = bowling_pin(PinVariant::default());
    let whole = rds(&dag, &pc(8));
    let used = whole.passes[0].resources;
    assert_eq!((dag.len(), used.steps, used.fetches), (68, 27, 9));
    assert_eq!((used.operations, used.registers, used.textures), (36, 7, 9));
}

#[test]
fn rds_costs_what_the_paper_prints() {
    let dag = bowling_pin(PinVariant::default());
    let expected = [(308.0, 11), (131.0, 2), (171.0, 4), (268.0, 9), (327.0, 12), (179.0, 5), (145.0, 3), (87.0, 1)];
    assert_eq!(totals(&dag, 1, rds), expected);
}

#[test]
fn the_other_partitioners_cut_the_pin_as_measured() {
    let dag = bowling_pin(PinVariant::default());
    let costs = |totals: Vec<(f64, usize)>| totals.into_iter().map(|(cost, _)| cost).collect::<Vec<_>>();
    assert_eq!(costs(totals(&dag, 1, rds_h)), [331.0, 131.0, 171.0, 307.0, 367.0, 191.0, 145.0, 87.0]);
    assert_eq!(costs(totals(&dag, 4, mrds)), [278.0, 131.0, 132.0, 253.0, 297.0, 164.0, 145.0, 87.0]);
    let scheduled = |dag: &Dag, architecture: &Architecture| mio(dag, architecture).partition;
    assert_eq!(costs(totals(&dag, 4, scheduled)), [317.0, 157.0, 197.0, 252.0, 312.0, 182.0, 157.0, 87.0]);
    let best = exhaustive(&dag, &pc(2), 20_000);
    assert_eq!((best.is_optimal, best.partition.cost(&pc(2)), best.partition.passes.len()), (true, 125.0, 2));
}

/// With operands in the other order and 24 interpolants, PC 6 costs what the paper prints.
#[test]
fn the_order_of_operands_decides_on_pc_6() {
    let dag = bowling_pin(PinVariant { reversed: true, fewer_interpolants: true });
    let (found, quick) = (rds(&dag, &pc(6)), rds_h(&dag, &pc(6)));
    assert_eq!((found.cost(&pc(6)), quick.cost(&pc(6))), (184.0, 191.0));
}
