//! Graphs of real shaders: what is a node, what is an output, and that all of it can be cut.

use super::programs::{SURFACES, program, program_of};
use spirv_gen::ir::{Body, Inst, Op};
use spirv_gen::partition::{
    Architecture, CostModel, Limits, NodeId, NodeKind, Partition, ShaderDag, cut, describe, mio, mrds,
};

fn limited(operations: u32, registers: u32) -> Architecture {
    let limits = Limits { operations, registers, outputs: 25, ..Limits::NONE };
    Architecture::loading(limits, CostModel::LLVMPIPE)
}

fn surface(code: &str) -> (Body, ShaderDag) {
    let body = program_of("a.sl", &format!("surface a(float k = 2; string map = \"\";) {{ {code} }}"));
    let shader = ShaderDag::of(&body, &CostModel::LLVMPIPE);
    (body, shader)
}

/// The node that holds the first instruction of some kind, at whatever depth.
fn node_of(body: &Body, shader: &ShaderDag, is_wanted: impl Fn(&Op) -> bool) -> NodeId {
    let holds = |inst: Inst| {
        let mut found = false;
        body.walk_inst(inst, &mut |inner| found |= is_wanted(&body.inst(inner).op));
        found
    };
    let mut nodes = shader.dag.ids();
    nodes.find(|&node| shader.insts(node).iter().any(|&inst| holds(inst))).expect("there is such an instruction")
}

#[test]
fn real_shaders_are_cut_into_valid_passes() {
    for name in SURFACES {
        let shader = ShaderDag::of(&program(name), &CostModel::LLVMPIPE);
        let whole = cut(&shader.dag, &limited(u32::MAX, u32::MAX));
        assert_eq!(
            (whole.passes.len(), whole.faults(&shader.dag, &limited(u32::MAX, u32::MAX))),
            (1, Vec::new()),
            "{name}"
        );
        let half = whole.passes[0].resources.operations / 2;
        let on_half = limited(half, u32::MAX);
        let partition = cut(&shader.dag, &on_half);
        assert!(partition.passes.len() > 1, "{name}");
        assert_eq!(partition.faults(&shader.dag, &on_half), [], "{name}");
        for architecture in [limited(u32::MAX, 12), limited(half / 2, 20)] {
            let partition = mio(&shader.dag, &architecture).partition;
            assert_eq!(partition.faults(&shader.dag, &architecture), [], "{name} on {architecture:?}");
        }
    }
}

#[test]
fn loops_branches_and_lookups_are_nodes() {
    let (body, shader) = surface(
        "float i, sum = 0; for (i = 0; i < 5; i += 1) sum += noise(P * i); if (sum > k) sum *= s; Ci = sum; \
         Ci *= texture(map); Oi = Os;",
    );
    let repeat = node_of(&body, &shader, |op| matches!(op, Op::Loop));
    assert_eq!(shader.insts(repeat).len(), 1);
    let node = shader.dag.node(repeat);
    assert!(node.work > 5 * 80 && node.size < 260 && node.words == 1, "{node:?}");
    let lookup = node_of(&body, &shader, |op| matches!(op, Op::Lookup(_)));
    assert!(matches!(shader.dag.node(lookup).kind, NodeKind::Fetch(_)));
    let given = node_of(&body, &shader, |op| matches!(op, Op::Channel { .. }));
    assert_eq!(shader.dag.node(given).kind, NodeKind::Interpolant);
    let uniform = node_of(&body, &shader, |op| matches!(op, Op::Load { .. }));
    assert_eq!(shader.dag.node(uniform).kind, NodeKind::Constant);
}

#[test]
fn accesses_of_an_array_are_one_node() {
    let (body, shader) =
        surface("float x[2]; x[s] = t; float y = x[t]; x[1] = noise(y); Ci = x[s] + noise(P); Oi = Os;");
    let node = node_of(&body, &shader, |op| matches!(op, Op::SlotStore(_)));
    let ops = |wanted: fn(&Op) -> bool| shader.insts(node).iter().filter(|&&inst| wanted(&body.inst(inst).op)).count();
    assert_eq!(ops(|op| matches!(op, Op::SlotStore(_) | Op::SlotLoad(_))), 4);
    // With what lies between them, and no more.
    assert_eq!(ops(|op| matches!(op, Op::Noise { .. })), 1);
}

/// For each pass the instructions with effects.
fn effects(body: &Body, shader: &ShaderDag, partition: &Partition) -> Vec<Vec<Inst>> {
    let is_effect = |inst: &Inst| {
        let mut found = false;
        body.walk_inst(*inst, &mut |inner| found |= body.inst(inner).op.record().is_some());
        found
    };
    let of_pass =
        |nodes: &[NodeId]| nodes.iter().flat_map(|&node| shader.insts(node)).copied().filter(is_effect).collect();
    partition.passes.iter().map(|pass| of_pass(&pass.operations)).collect()
}

#[test]
fn effects_happen_once_and_in_order() {
    let noise = "a += noise(P * a) * noise(N * a) + sin(a); ";
    let print = "printf(\"%f\\n\", a); ";
    let code = format!(
        "float a = s; {}{print}if (a > t) {{ {print} }} {}{print}Ci = a; Oi = Os;",
        noise.repeat(6),
        noise.repeat(6)
    );
    let (body, shader) = surface(&code);
    for architecture in [limited(u32::MAX, u32::MAX), limited(40, 20), limited(20, 12)] {
        for partition in [mrds(&shader.dag, &architecture), mio(&shader.dag, &architecture).partition] {
            assert_eq!(partition.faults(&shader.dag, &architecture), []);
            let mut seen = effects(&body, &shader, &partition);
            // Inside of a pass instructions keep their order.
            seen.iter_mut().for_each(|effects| effects.sort_unstable());
            let in_order = seen.concat();
            assert_eq!(in_order.len(), 3, "{in_order:?}");
            assert!(in_order.is_sorted(), "{in_order:?}");
        }
    }
    assert!(mrds(&shader.dag, &limited(20, 12)).passes.len() > 2);
    assert_eq!(mrds(&shader.dag, &limited(u32::MAX, u32::MAX)).passes.len(), 1);
}

#[test]
fn a_partition_is_described() {
    let (body, shader) = surface("float a = noise(P); float b = sin(a * t) + noise(a * s); Ci = b * b + a; Oi = Os;");
    let architecture = limited(584, u32::MAX);
    let partition = cut(&shader.dag, &architecture);
    let text = describe(&body, &shader, &partition, &architecture);
    let expected = [
        "2 passes, 4 bytes kept a vertex, 153 steps a vertex",
        "pass 1: 240 operations, 1 word alive, 0 lookups, 88 steps",
        "  saves 1 word: %3 = noise gradient 3 f32;",
        "pass 2: 347 operations, 3 words alive, 0 lookups, 64 steps",
        "  restores 1 word: %3 = noise gradient 3 f32;",
        "  saves 3 words: %13 = splat;",
        "",
    ];
    assert_eq!(text, expected.join("\n"));
    let (body, shader) = surface("Ci = Cs * k; Oi = Os;");
    assert!(
        describe(&body, &shader, &cut(&shader.dag, &architecture), &architecture).starts_with("1 pass, 0 bytes kept")
    );
    let (body, shader) = surface("Ci = k; Oi = Os;");
    let nothing = "0 passes: nothing varies from vertex to vertex\n";
    assert_eq!(describe(&body, &shader, &cut(&shader.dag, &architecture), &architecture), nothing);
}
