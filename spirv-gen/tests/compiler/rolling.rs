//! Call sites that differ in constants alone, in RSL: how many are left when they are rolled into loops.

use spirv_gen::ir::{Body, LookupKind, Op};
use spirv_gen::passes::{SavedLoops, demand_slice, relocate_derivatives, roll, simplify, uncounted_loops};
use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{lower, parse_shader};

/// Returns the program of a surface with this code, rolled.
fn rolled(code: &str) -> Body {
    let text = format!("surface a(float k = 1;) {{ float sum = 0, x = 0, y = 0; color c = 0; {code} Ci = c + sum; }}");
    let source = Source { name: "a.sl", text: &text, loader: &NoIncludes, defines: &[] };
    let (shader, diagnostics) = parse_shader(&source);
    let shader = lower(&shader.unwrap_or_else(|| panic!("{code}: {diagnostics:?}")));
    let body = relocate_derivatives(&roll(simplify(&shader.body)));
    spirv_gen::ir::verify_body(&body, &shader.params).unwrap_or_else(|error| panic!("{code}: {error}"));
    body
}

fn count(body: &Body, is_wanted: impl Fn(&Op) -> bool) -> usize {
    let mut count = 0;
    body.walk(body.root(), &mut |i| count += usize::from(is_wanted(&body.inst(i).op)));
    count
}

/// Returns the calls of noise and lookups that are left, and the loops.
fn calls_and_loops(code: &str) -> (usize, usize) {
    let body = rolled(code);
    let calls = count(&body, |op| matches!(op, Op::Noise { .. } | Op::Lookup(_)));
    (calls, count(&body, |op| *op == Op::Loop))
}

/// Writes a line for each of some numbers, in the place of every `#`.
fn lines(line: &str, numbers: std::ops::Range<u32>) -> String {
    numbers.map(|number| line.replace('#', &number.to_string())).collect()
}

#[test]
fn repeated_calls_become_a_loop() {
    let dependent = lines("c = texture(\"m#.tx\", s + comp(c, 0) * 0.0#, t);", 0..16);
    let cases = [
        // A sum of octaves, with and without a first one that has no factors.
        lines("sum += 0.# * noise(P * #.5);", 0..9),
        format!("sum = noise(P); {}", lines("sum += noise(P * #) / #;", 2..9)),
        lines("sum += abs(2 * noise(P * #) - 1) / (# + 1);", 1..9),
        // Operands in either order.
        format!("{}{}", lines("sum += 0.# * noise(P * #.5);", 1..5), lines("sum = noise(#.5 * P) * 0.# + sum;", 5..9)),
        // Names of textures are constants like others; lookups that need others, through their derivatives too.
        lines("c += color texture(\"m#.tx\", s * #.5, t * #.25) / #;", 1..9),
        dependent.clone(),
        lines("x = noise(x + #.5 * s, t); sum += x * k;", 1..9),
        // Several calls a group.
        lines("sum += noise(P * #.5) * float texture(\"m#.tx\", s + noise(s * #.5), t);", 1..9).replace("sum", "x"),
        // In a branch, with a derivative.
        format!("if (s > 0.5) {{ {dependent} }}"),
    ];
    for (code, calls) in cases.iter().zip([1, 1, 1, 1, 1, 1, 1, 3, 1]) {
        let found = calls_and_loops(&format!("{code} sum += x;"));
        assert_eq!(found, (calls, 1), "{code}");
    }
}

#[test]
fn results_of_all_groups_are_kept() {
    let body = rolled(&format!(
        "{} sum = max(x1, x2) * min(x3, x4) + pow(x5, x6) * mod(x7, x8);",
        lines("float x# = noise(P * #.5);", 1..9)
    ));
    assert_eq!(count(&body, |op| matches!(op, Op::Noise { .. })), 1);
    assert_eq!(count(&body, |op| matches!(op, Op::SlotLoad(_))), 8);
}

#[test]
fn what_differs_in_more_than_constants_stays() {
    let different =
        "sum += noise(P); sum += noise(2 * N); sum += noise(xcomp(P)); sum += noise(s, t); sum *= noise(t, s);";
    assert_eq!(calls_and_loops(different), (5, 0));
    assert_eq!(calls_and_loops(&lines("sum += noise(P * #.5);", 1..8)), (7, 0));
    assert_eq!(calls_and_loops(&lines("sum += texture(\"m#.tx\", s, t);", 1..4)), (3, 0));
    // Other code between the groups needs what they have made, and they need what it makes.
    let through_array = "a[0] = noise(P * #.5 + a[1]); a[1] = a[s] + 1;";
    assert_eq!(calls_and_loops(&format!("float a[2]; {} sum = a[1];", lines(through_array, 1..9))), (8, 0));
}

#[test]
fn the_demand_slice_names_what_rolled_lookups_find() {
    let lookups = |code: &str| {
        let slice = demand_slice(&rolled(code))?;
        Some((count(&slice, |op| matches!(op, Op::Lookup(_))), count(&slice, |op| *op == Op::Loop)))
    };
    assert_eq!(lookups(&lines("c += color texture(\"m#.tx\", s * #.5, t);", 1..9)), Some((1, 1)));
    assert_eq!(lookups(&lines("c = texture(\"m#.tx\", s + comp(c, 0), t);", 1..9)), None);
}

/// Their trips are known, so they neither count them nor stop, however long their lookups may take.
#[test]
fn rolled_loops_are_never_suspended() {
    let code = lines("c = texture(\"m#.tx\", s + comp(c, 0) * 0.0#, t);", 0..64);
    for code in [code.clone(), format!("if (s > 0.5) {{ {code} }}")] {
        let body = rolled(&code);
        assert_eq!(count(&body, |op| matches!(op, Op::Lookup(l) if l.kind == LookupKind::Texture)), 1, "{code}");
        assert_eq!(uncounted_loops(&body).len(), 1, "{code}");
        assert!(SavedLoops::of(&body).is_empty(), "{code}");
    }
    // A loop of the shader around it stops between its own trips.
    let body = rolled(&format!("while (sum < k) {{ {} }}", lines("sum += noise(P * #.5 + sum);", 1..9)));
    let saved = SavedLoops::of(&body);
    body.walk(body.root(), &mut |i| {
        let is_outer = body.inst(i).op == Op::Loop && body.region(body.root()).insts.contains(&i);
        assert_eq!(saved.get(i).is_some(), is_outer);
    });
}
