//! Real shaders, cut as the renderer would cut them.

use crate::programs::{SURFACES, program};
use crate::report::{Report, row};
use spirv_gen::partition::{Architecture, CostModel, Limits, ShaderDag, cut, mio};
use std::time::Instant;

/// Words that a pass saves at most: 100 bytes a vertex.
const SAVED_WORDS_MAX: u32 = 25;

/// Writes passes and costs of shaders whose programs are halved and quartered, with costs of llvmpipe and of an H200.
pub(crate) fn cuts(report: &Report) {
    let about = "Shaders of scenes/ under two lights. Cost is in steps a vertex, above that of one pass.";
    report.section("Real shaders", about);
    let mut rows = Vec::new();
    for (name, (device, costs)) in SURFACES
        .into_iter()
        .flat_map(|name| [(name, ("llvmpipe", CostModel::LLVMPIPE)), (name, ("H200", CostModel::H200))])
    {
        let shader = ShaderDag::of(&program(name), &costs);
        let on =
            |operations| Architecture::loading(Limits { operations, outputs: SAVED_WORDS_MAX, ..Limits::NONE }, costs);
        let whole = cut(&shader.dag, &on(u32::MAX));
        let (operations, cost) = (whole.passes[0].resources.operations, whole.cost(&on(0)));
        let mut cells = row(&[&name, &device, &shader.dag.len(), &operations, &cost]);
        for parts in [2, 4] {
            let architecture = on(operations.div_ceil(parts));
            let start = Instant::now();
            let found = cut(&shader.dag, &architecture);
            let milliseconds = 1e3 * start.elapsed().as_secs_f64();
            let scheduled = mio(&shader.dag, &architecture).partition;
            let more = |cost_cut: f64| format!("{:+.1}%", 100.0 * (cost_cut / cost - 1.0));
            let faults =
                found.faults(&shader.dag, &architecture).len() + scheduled.faults(&shader.dag, &architecture).len();
            assert_eq!(faults, 0, "{name}");
            cells.push(format!("{} {}", found.passes.len(), more(found.cost(&architecture))));
            cells.push(format!("{milliseconds:.0}"));
            cells.push(format!("{} {}", scheduled.passes.len(), more(scheduled.cost(&architecture))));
        }
        rows.push(cells);
    }
    let columns = [
        "shader",
        "device",
        "nodes",
        "operations",
        "steps",
        "half: passes, cost",
        "ms",
        "Mio",
        "quarter: passes, cost",
        "ms",
        "Mio",
    ];
    report.table("real_shaders", &columns, &rows);
}
