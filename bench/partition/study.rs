//! All partitioners on random graphs.

use crate::configurations::{CONFIGURATIONS, COST_MODELS, with_outputs};
use crate::random::{dag, tree};
use crate::report::{Report, row};
use spirv_gen::partition::{Architecture, Dag, Limits, Partition, dpmpp, exhaustive, mio, mrds, rds, rds_h};
use std::time::Instant;

/// Decisions after which exhaustive search gives up.
const DECISIONS_MAX: u64 = 1_000_000;

/// A partitioner and its name.
type Algorithm = (&'static str, fn(&Dag, &Architecture) -> Partition);

/// A configuration for small graphs and a cost model, by turns.
fn architecture(seed: u64) -> Architecture {
    let between = Limits { operations: 12, registers: 4, textures: 5, interpolants: 5, outputs: 1 };
    let limits = [&CONFIGURATIONS[..6], &[between]].concat()[seed as usize % 7];
    Architecture::fetching(limits, COST_MODELS[seed as usize / 7 % 5].1)
}

/// What is counted of an algorithm.
#[derive(Default)]
struct Tally {
    gaps: Vec<f64>,
    same_passes: u32,
    fewer_passes: u32,
    invalid: usize,
}

impl Tally {
    fn add(&mut self, dag: &Dag, architecture: &Architecture, found: &Partition, best: &Partition) {
        self.gaps.push(found.cost(architecture) / best.cost(architecture).max(1.0) - 1.0);
        self.same_passes += u32::from(found.passes.len() == best.passes.len());
        self.fewer_passes += u32::from(found.passes.len() < best.passes.len());
        self.invalid += found.faults(dag, architecture).len();
    }

    fn row(&self, name: &str) -> Vec<String> {
        let count = self.gaps.len();
        let mean = 100.0 * self.gaps.iter().sum::<f64>() / count as f64;
        let above: Vec<f64> = self.gaps.iter().copied().filter(|gap| *gap > 1e-9).collect();
        // An empty sum of floats is -0.
        let rest = 0.0 + 100.0 * above.iter().sum::<f64>() / above.len().max(1) as f64;
        let worst = 100.0 * above.iter().copied().fold(0.0, f64::max);
        let share = |part: usize| format!("{:.0}%", 100.0 * part as f64 / count as f64);
        let optimal = share(count - above.len());
        row(&[
            &name,
            &format!("{mean:+.1}%"),
            &optimal,
            &format!("{rest:+.1}%"),
            &format!("{worst:+.1}%"),
            &share(self.same_passes as usize),
            &self.fewer_passes,
            &self.invalid,
        ])
    }
}

/// Writes how far single-output algorithms are from the optimum.
pub(crate) fn gaps(report: &Report, cases: u64) {
    let algorithms: [Algorithm; 4] =
        [("RDS", rds), ("RDS_h", rds_h), ("DPMPP", dpmpp), ("Mio", |dag, on| mio(dag, on).partition)];
    let mut tallies = algorithms.map(|_| Tally::default());
    let mut ended = 0;
    for seed in 0..cases {
        let (dag, architecture) = (dag(seed, 10 + seed as usize % 20, 1), architecture(seed));
        let best = exhaustive(&dag, &architecture, DECISIONS_MAX);
        if !best.is_optimal {
            continue;
        }
        ended += 1;
        for ((_, algorithm), tally) in algorithms.iter().zip(&mut tallies) {
            tally.add(&dag, &architecture, &algorithm(&dag, &architecture), &best.partition);
        }
    }
    let about = format!("{cases} graphs of 10 to 29 operations; exhaustive search ended for {ended}.");
    report.section("Random graphs, one output", &about);
    let columns =
        ["algorithm", "cost above the optimum", "optimal", "the others", "worst", "as many passes", "fewer", "faults"];
    let rows: Vec<_> = algorithms.iter().zip(&tallies).map(|((name, _), tally)| tally.row(name)).collect();
    report.table("random_graphs", &columns, &rows);
}

/// Writes how DPMPP and RDS do on trees.
pub(crate) fn trees(report: &Report, cases: u64) {
    let algorithms: [Algorithm; 2] = [("DPMPP", dpmpp), ("RDS", rds)];
    let mut tallies = algorithms.map(|_| Tally::default());
    let mut ended = 0;
    for seed in 0..cases {
        let (tree, architecture) = (tree(seed, 8 + seed as usize % 13), architecture(seed));
        let best = exhaustive(&tree, &architecture, 4 * DECISIONS_MAX);
        if best.is_optimal {
            ended += 1;
            for ((_, algorithm), tally) in algorithms.iter().zip(&mut tallies) {
                tally.add(&tree, &architecture, &algorithm(&tree, &architecture), &best.partition);
            }
        }
    }
    report.section("Random trees", &format!("{cases} of 8 to 20 operations; exhaustive search ended for {ended}."));
    let columns =
        ["algorithm", "cost above the optimum", "optimal", "the others", "worst", "as many passes", "fewer", "faults"];
    let rows: Vec<_> = algorithms.iter().zip(&tallies).map(|((name, _), tally)| tally.row(name)).collect();
    report.table("random_trees", &columns, &rows);
}

/// Writes what merging gains where passes have four outputs.
pub(crate) fn outputs(report: &Report, cases: u64) {
    let (mut passes, mut costs, mut more) = ([0, 0, 0, 0], [0.0, 0.0, 0.0, 0.0], [0, 0]);
    for seed in 0..cases {
        let dag = dag(5000 + seed, 10 + seed as usize % 30, 2 + seed as usize % 3);
        let architecture = with_outputs(architecture(seed), 4);
        let alone: Vec<Partition> =
            dag.outputs().iter().map(|&output| rds(&dag.with_outputs(&[output]), &architecture)).collect();
        let found = [mrds(&dag, &architecture), rds(&dag, &architecture), mio(&dag, &architecture).partition];
        let counts = [
            found[0].passes.len(),
            alone.iter().map(|partition| partition.passes.len()).sum(),
            found[1].passes.len(),
            found[2].passes.len(),
        ];
        let sums = [
            found[0].cost(&architecture),
            alone.iter().map(|partition| partition.cost(&architecture)).sum(),
            found[1].cost(&architecture),
            found[2].cost(&architecture),
        ];
        (0..4).for_each(|at| passes[at] += counts[at]);
        (0..4).for_each(|at| costs[at] += sums[at]);
        more[0] += u32::from(counts[0] > counts[1]);
        more[1] += u32::from(counts[0] > counts[2]);
    }
    let about = format!(
        "{cases} graphs of 2 to 4 outputs, four words saved a pass. MRDS has more passes than RDS for each output in \
         {} cases, more than RDS with the imaginary root in {}.",
        more[0], more[1]
    );
    report.section("Several outputs", &about);
    let names = ["MRDS", "RDS for each output", "RDS with the imaginary root, unmerged", "Mio"];
    let mean = |sum: f64| format!("{:.1}", sum / cases as f64);
    let rows: Vec<_> = (0..4).map(|at| row(&[&names[at], &mean(passes[at] as f64), &mean(costs[at])])).collect();
    report.table("several_outputs", &["algorithm", "passes", "cost"], &rows);
}

/// Writes how the time of Mio and RDS_h grows.
pub(crate) fn growth(report: &Report) {
    let about = "PC 6 with four outputs. Seconds are of this machine, and say how they grow.";
    report.section("Growth", about);
    let architecture = with_outputs(Architecture::fetching(CONFIGURATIONS[5], COST_MODELS[0].1), 4);
    let mut rows = Vec::new();
    for operations in [100, 1000, 10_000, 100_000] {
        let dag = dag(7, operations, 4);
        let start = Instant::now();
        let schedule = mio(&dag, &architecture);
        let seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let quick = (operations <= 10_000).then(|| rds_h(&dag, &architecture).passes.len());
        let quick_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let search = (operations <= 1000).then(|| rds(&dag, &architecture).passes.len());
        let search_seconds = start.elapsed().as_secs_f64();
        let timed = |passes: Option<usize>, seconds: f64| {
            passes.map_or("–".to_string(), |passes| format!("{passes} in {seconds:.3} s"))
        };
        rows.push(row(&[
            &dag.len(),
            &schedule.updates,
            &format!("{:.2}", schedule.updates as f64 / operations as f64),
            &timed(Some(schedule.partition.passes.len()), seconds),
            &timed(quick, quick_seconds),
            &timed(search, search_seconds),
        ]));
    }
    let columns = ["nodes", "updates of Mio", "an operation", "passes of Mio", "of RDS_h", "of RDS"];
    report.table("growth", &columns, &rows);
}
