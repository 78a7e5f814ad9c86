//! When the renderer cuts programs, and into what.

use super::programs::{SURFACES, program, program_of};
use spirv_gen::ir::{Body, Op};
use spirv_gen::partition::{CutPlan, CutRule, ForcedCut};
use spirv_gen::passes::{CutProgram, PassPlan, PassProgram, cut_passes};

fn surface(lines: impl Iterator<Item = String>) -> Body {
    let code: String = lines.collect();
    program_of("a.sl", &format!("surface a() {{ float x = s; {code} Ci = x; Oi = Os; }}"))
}

/// Calls of noise, each with what the one before it gave.
fn noises(count: usize) -> Body {
    surface((0..count).map(|i| format!("x = noise(P * {}.5 + x) + {i};", i + 1)))
}

/// Lookups, each with what the one before it found.
fn textures(count: usize) -> Body {
    surface((0..count).map(|i| format!("x += texture(\"a.tx\", s * {}.5 + x, t);", i + 1)))
}

fn programs(body: &Body, plan: &CutPlan) -> CutProgram {
    cut_passes(body, &plan.passes, &[0, 1]).expect("the passes can run")
}

#[test]
fn usual_shaders_stay_whole() {
    for name in SURFACES {
        assert!(CutRule::CPU.cut(&program(name)).is_none() && CutRule::GPU.cut(&program(name)).is_none(), "{name}");
    }
    for body in [noises(60), textures(6)] {
        assert!(CutRule::CPU.cut(&body).is_none() && CutRule::NEVER.cut(&body).is_none());
    }
    assert!(CutRule::GPU.cut(&noises(400)).is_none(), "few values are alive at once");
}

#[test]
fn long_shaders_are_cut_for_cpus_and_save_little() {
    let body = noises(400);
    let plan = CutRule::CPU.cut(&body).expect("it is cut");
    let (shader, partition) = plan.partition.as_ref().expect("by a partitioner");
    assert_eq!(partition.faults(&shader.dag, &CutRule::CPU.passes), []);
    assert!((16..24).contains(&plan.passes.len()), "{} passes", plan.passes.len());
    let cut = programs(&body, &plan);
    // One value is handed on from pass to pass, in two channels that are used in turn.
    assert_eq!(cut.channels, 2);
    let whole = CutRule::CPU.forced(Some(ForcedCut::Passes(1))).cut(&body);
    assert!(whole.is_none(), "one pass is the whole program");
}

#[test]
fn many_lookups_are_calls_of_one_kernel() {
    let body = textures(64);
    assert!(CutRule::GPU.cut(&body).is_none());
    let plan = CutRule::CPU.cut(&body).expect("it is cut");
    let calls = plan.passes.iter().filter(|pass| matches!(pass, PassPlan::Call(_))).count();
    assert_eq!((calls, plan.passes.len(), plan.partition.is_none()), (64, 129, true));
    let cut = programs(&body, &plan);
    let forms = cut.passes.iter().filter_map(|pass| pass.form).max();
    assert_eq!(forms, Some(0), "all calls are alike");
    // Two requests of two channels, each with its answer, and at most 100 bytes beside them.
    assert!(cut.channels <= 12, "{} channels", cut.channels);
    assert!(CutRule::CPU.describe(&body).starts_with("129 passes, of which 64 answer lookups, in 64 levels"));
}

/// What is computed between two levels of calls may be more than one kernel should have.
#[test]
fn programs_of_calls_are_cut_where_they_are_long() {
    let lines = |i: usize| {
        let noises = (0..if i == 9 { 120 } else { 1 }).map(move |n| format!("x = noise(P * {n}.5 + x) + {i};"));
        std::iter::once(format!("x += texture(\"a.tx\", s * {i}.5 + x, t);")).chain(noises)
    };
    let body = surface((0..12).flat_map(lines));
    let plan = CutRule::CPU.cut(&body).expect("it is cut");
    let calls = plan.passes.iter().filter(|pass| matches!(pass, PassPlan::Call(_))).count();
    assert_eq!(calls, 12);
    // 120 calls of noise of 240 operations in passes of at most 6,000.
    assert!((13 + 4..13 + 7).contains(&(plan.passes.len() - calls)), "{} passes", plan.passes.len());
    let cut = programs(&plan.body, &plan);
    for PassProgram { body, .. } in &cut.passes {
        let noises = body.region(body.root()).insts.iter().filter(|&&i| matches!(body.inst(i).op, Op::Noise { .. }));
        assert!(noises.count() <= 25);
    }
}

/// Those of a branch are called where it is taken; what they need of it is not computed elsewhere.
#[test]
fn lookups_in_branches_are_calls_too() {
    let text = "surface branched() {
        float sum = s; uniform float i;
        if (s > 0.5) {
            sum = 2 * float texture(\"a.tx\", s, t, s, t, s, t, s, t, \"blur\", noise(P));
            if (t > sum) sum += texture(\"a.tx\", sum, t, s, t, s, t, s, t);
        } else sum = 1 + float texture(\"b.tx\", t, s, t, s, t, s, t, s);
        for (i = 0; i < 3; i += 1) sum += float texture(\"a.tx\", sum, t);
        Ci = sum;
    }";
    let body = program_of("branched.sl", text);
    let plan = CutRule::CPU.forced(Some(ForcedCut::Calls)).cut(&body).expect("it is cut");
    let calls = plan.passes.iter().filter(|pass| matches!(pass, PassPlan::Call(_))).count();
    assert_eq!(calls, 3, "all but the one in the loop");
    let cut = programs(&plan.body, &plan);
    assert_eq!(cut.passes.iter().filter_map(|pass| pass.form).max(), Some(0), "they are alike");
    for pass in &cut.passes {
        for &inst in &pass.body.region(pass.body.root()).insts {
            let op = &pass.body.inst(inst).op;
            assert!(!matches!(op, Op::Noise { .. } | Op::Lookup(_)), "{op} is run at all points");
        }
    }
}
