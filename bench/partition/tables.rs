//! Tables 3 to 5 and figure 6 of Chan et al. (2002) again, beside what they print.

use crate::configurations::{CONFIGURATIONS, COST_MODELS, pc};
use crate::paper::{PASSES_PC_5, PASSES_PC_7, Printed};
use crate::report::{Report, row};
use spirv_gen::partition::{Architecture, CostModel, Dag, Limits, Partition, exhaustive, rds, rds_h};

/// Nodes that an exhaustive search may look at, each once a decision, before it gives up.
const VISITS_MAX: u64 = 70_000_000;

/// Cost and passes as in the paper's tables; faults are shown.
fn total(dag: &Dag, architecture: &Architecture, partition: &Partition) -> String {
    let faults = partition.faults(dag, architecture);
    let invalid = if faults.is_empty() { String::new() } else { format!(" INVALID: {}", faults[0]) };
    format!("{}/{}{invalid}", partition.cost(architecture), partition.passes.len())
}

/// Writes the counts of table 1.
pub(crate) fn counts(report: &Report, shaders: &[(&str, &Dag, &Printed)]) {
    report.section("Table 1", "Each cell: ours, then what the paper prints.");
    let rows: Vec<_> = shaders
        .iter()
        .map(|(name, dag, printed)| {
            let whole = &rds(dag, &pc(8)).passes[0].resources;
            let ours = [
                dag.len() as u32,
                whole.steps as u32,
                whole.fetches,
                whole.operations,
                whole.registers,
                whole.textures,
                whole.interpolants,
            ];
            let cells = ours.iter().zip(&printed.counts).map(|(ours, printed)| format!("{ours} ({printed})"));
            [(*name).to_string()].into_iter().chain(cells).collect()
        })
        .collect();
    let columns = ["shader", "nodes", "non-texture", "fetches", "operations", "registers", "textures", "interpolants"];
    report.table("table1", &columns, &rows);
}

/// Writes tables 3 and 4 for a shader.
pub(crate) fn costs(report: &Report, name: &str, dag: &Dag, printed: &Printed) {
    let about = "Cost/passes with 15/5/1, and what RDS_h costs more than RDS; (printed). *: the search did not end.";
    report.section(&format!("Tables 3 and 4: {name}"), about);
    let rows: Vec<_> = (0..8)
        .map(|at| {
            let architecture = pc(at + 1);
            let best = exhaustive(dag, &architecture, VISITS_MAX / dag.len() as u64);
            let (found, quick) = (rds(dag, &architecture), rds_h(dag, &architecture));
            let star = if best.is_optimal { "" } else { "*" };
            let optimal = total(dag, &architecture, &best.partition) + star;
            let (cost, quick_cost) = (found.cost(&architecture), quick.cost(&architecture));
            let printed_optimal =
                printed.optimal[at].map_or("–".to_string(), |(cost, passes)| format!("{cost}/{passes}"));
            let (printed_cost, printed_passes) = printed.rds[at];
            row(&[
                &format!("PC {}", at + 1),
                &format!("{optimal} ({printed_optimal})"),
                &format!("{} ({printed_cost}/{printed_passes})", total(dag, &architecture, &found)),
                &format!("{:+.1}% ({:+.1}%)", 100.0 * (quick_cost / cost - 1.0), printed.rds_h_more[at]),
            ])
        })
        .collect();
    report.table(&format!("table3_{name}"), &["PC", "optimum", "RDS", "RDS_h"], &rows);
}

/// Writes table 5 for a shader: the passes that RDS makes on PC 5 and PC 7.
pub(crate) fn passes(report: &Report, name: &str, dag: &Dag) {
    report
        .section(&format!("Table 5: {name}"), "Operations, registers, textures, interpolants, restores of each pass.");
    for (number, printed) in [(5, &PASSES_PC_5[..]), (7, &PASSES_PC_7[..])] {
        let cell = |numbers: &[u32; 5]| numbers.map(|number| number.to_string()).join(" ");
        let ours = rds(dag, &pc(number)).passes;
        let ours: Vec<_> = ours
            .iter()
            .map(|pass| {
                let used = &pass.resources;
                cell(&[used.operations, used.registers, used.textures, used.interpolants, used.restored])
            })
            .collect();
        let printed: Vec<_> = printed.iter().map(cell).collect();
        let rows: Vec<_> = (0..ours.len().max(printed.len()))
            .map(|at| {
                let find = |cells: &[String]| cells.get(at).cloned().unwrap_or_default();
                row(&[&(at + 1), &find(&ours), &find(&printed)])
            })
            .collect();
        report.table(&format!("table5_pc{number}_{name}"), &["pass", "ours", "printed"], &rows);
    }
}

/// What a partition's cost is made of, as in figure 6: overhead of passes, restores, fetches, other operations.
pub(crate) fn parts(partition: &Partition, costs: &CostModel) -> [f64; 4] {
    let sum = |count: fn(&spirv_gen::partition::Resources) -> u64| {
        partition.passes.iter().map(|pass| count(&pass.resources)).sum::<u64>() as f64
    };
    [
        costs.pass * partition.passes.len() as f64,
        costs.restore * sum(|used| used.restored.into()),
        costs.fetch * sum(|used| used.fetches.into()),
        costs.step * sum(|used| used.steps),
    ]
}

/// Writes figure 6 for a shader as a table.
pub(crate) fn figure_6(report: &Report, name: &str, dag: &Dag) {
    report.section(&format!("Figure 6: {name}"), "What the cost of RDS' partitions is made of, by number of passes.");
    let mut partitions: Vec<_> = (1..=8).map(|number| (rds(dag, &pc(number)), number)).collect();
    partitions.sort_by_key(|(partition, number)| (partition.passes.len(), *number));
    let rows: Vec<_> = partitions
        .iter()
        .map(|(partition, number)| {
            let [overhead, restores, fetches, others] = parts(partition, &COST_MODELS[0].1);
            row(&[&partition.passes.len(), &format!("PC {number}"), &overhead, &restores, &fetches, &others])
        })
        .collect();
    let columns = ["passes", "configuration", "overhead", "restores", "fetches", "others"];
    report.table(&format!("figure6_{name}"), &columns, &rows);
}

/// Writes how close RDS comes with each cost model.
pub(crate) fn cost_models(report: &Report, shaders: &[&Dag]) {
    let about = "RDS against the optimum on PC 1 to PC 7, where the search ended: both pins and BMBP.";
    report.section("Section 5.3: five cost models", about);
    let mut rows = Vec::new();
    for (model, costs) in COST_MODELS {
        let (mut cases, mut optimal, mut same_passes, mut gaps) = (0, 0, 0, Vec::new());
        for (dag, limits) in shaders.iter().flat_map(|dag| CONFIGURATIONS[..7].iter().map(move |limits| (dag, limits)))
        {
            let architecture = Architecture::fetching(*limits, costs);
            let best = exhaustive(dag, &architecture, VISITS_MAX / 4 / dag.len() as u64);
            if !best.is_optimal {
                continue;
            }
            let found = rds(dag, &architecture);
            let gap = found.cost(&architecture) / best.partition.cost(&architecture) - 1.0;
            cases += 1;
            optimal += u32::from(gap == 0.0);
            same_passes += u32::from(found.passes.len() == best.partition.passes.len());
            gaps.push(100.0 * gap);
        }
        let worst = gaps.iter().copied().fold(0.0, f64::max);
        let rest = gaps.iter().filter(|gap| **gap > 0.0).sum::<f64>() / f64::from((cases - optimal).max(1));
        rows.push(row(&[&model, &cases, &optimal, &same_passes, &format!("{rest:.1}%"), &format!("{worst:.1}%")]));
    }
    let columns = ["p/t/i", "cases", "optimal", "as many passes", "the others on average", "worst"];
    report.table("cost_models", &columns, &rows);
}

/// Writes what RDS makes of the pin on the Radeon 8500, whose limits and costs section 5 gives.
pub(crate) fn radeon(report: &Report, shaders: &[(&str, &Dag)]) {
    let about = "16 operations, 6 registers, 6 textures, 6 interpolants; 15.7p + 1.36t + i. Printed: 7 passes, 12 \
         fetches, 30 others.";
    report.section("Radeon 8500", about);
    let limits = Limits { operations: 16, registers: 6, textures: 6, interpolants: 6, outputs: 1 };
    let architecture = Architecture::fetching(limits, CostModel::linear(15.7, 1.36, 1.0));
    let rows: Vec<_> = shaders
        .iter()
        .map(|(name, dag)| {
            let found = rds(dag, &architecture);
            let [_, restores, fetches, others] = parts(&found, &CostModel::linear(1.0, 1.0, 1.0));
            row(&[
                name,
                &found.passes.len(),
                &restores,
                &fetches,
                &others,
                &format!("{:.1}", found.cost(&architecture)),
            ])
        })
        .collect();
    report.table("radeon8500", &["shader", "passes", "restores", "fetches", "others", "cost"], &rows);
}
