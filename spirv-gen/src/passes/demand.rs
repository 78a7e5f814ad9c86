//! The *demand slice* of a program: what it takes to name the tiles of its textures, so that they are loaded before it
//! runs.
//!
//! A lookup is *independent* if its arguments, and the loops that lead to it, depend on no texture. The slice has the
//! independent lookups, and only what they need. It names all tiles that these lookups of the program read, and some
//! that are not needed: a branch that a texture chooses is taken whatever it chose, if there is no loop in it (a loop
//! may never end where its branch is not taken). Where one derivative is taken together with another, the slice may
//! keep a lookup that is not independent.

use super::dead::remove_dead_but;
use crate::ir::{Body, Inst, Op, Region, Value};
use rustc_hash::FxHashSet;

/// Returns the demand slice of a bound program, or `None` where no lookup is independent. Its root yields nothing.
pub fn demand_slice(body: &Body) -> Option<Body> {
    let found = Dependence::of(body);
    if found.independent.is_empty() {
        return None;
    }
    let mut slice = body.clone();
    let root = slice.root();
    slice.region_mut(root).results.clear();
    open(&mut slice, &found.opened, root);
    remove_dead_but(&mut slice, &|_, inst| found.independent.contains(&inst));
    Some(slice)
}

/// Moves what is in the branches of `opened` before them. What they result in stays as it is.
fn open(slice: &mut Body, opened: &FxHashSet<Inst>, region: Region) {
    let mut insts = Vec::new();
    for inst in std::mem::take(&mut slice.region_mut(region).insts) {
        for inner in slice.inst(inst).regions.clone() {
            open(slice, opened, inner);
            if opened.contains(&inst) {
                insts.append(&mut slice.region_mut(inner).insts);
            }
        }
        insts.push(inst);
    }
    slice.region_mut(region).insts = insts;
}

/// What depends on textures.
struct Dependence<'a> {
    body: &'a Body,
    values: Vec<bool>,
    arrays: Vec<bool>,
    /// Lookups that do not, as far as is known.
    independent: FxHashSet<Inst>,
    /// Branches without loops that are chosen by textures.
    opened: FxHashSet<Inst>,
    changed: bool,
}

/// What is around a region.
#[derive(Clone, Copy)]
enum Inside {
    /// Nothing that depends on textures.
    Known,
    /// A branch that is opened.
    Opened,
    /// A loop that a texture ends, or a branch with a loop that a texture chooses.
    Unknown,
}

impl<'a> Dependence<'a> {
    fn of(body: &'a Body) -> Self {
        let mut found = Self {
            body,
            values: vec![false; body.value_count()],
            arrays: vec![false; body.slots().len()],
            independent: FxHashSet::default(),
            opened: FxHashSet::default(),
            changed: true,
        };
        while std::mem::take(&mut found.changed) {
            found.independent.clear();
            found.opened.clear();
            found.region(body.root(), Inside::Known);
        }
        found
    }

    fn is(&self, value: Value) -> bool {
        self.values[value.0 as usize]
    }

    fn any(&self, values: &[Value]) -> bool {
        values.iter().any(|&value| self.is(value))
    }

    fn mark(&mut self, value: Value, depends: bool) {
        let known = &mut self.values[value.0 as usize];
        self.changed |= depends && !*known;
        *known |= depends;
    }

    fn region(&mut self, region: Region, inside: Inside) {
        let body = self.body;
        for &inst in &body.region(region).insts {
            self.inst(inst, inside);
        }
    }

    fn inst(&mut self, inst: Inst, inside: Inside) {
        let body = self.body;
        let data = body.inst(inst);
        let own = matches!(inside, Inside::Unknown) || self.any(&data.args);
        match &data.op {
            Op::Lookup(_) | Op::Points(_) if !own => _ = self.independent.insert(inst),
            Op::SlotStore(slot) => {
                let stored = own || matches!(inside, Inside::Opened);
                let array = &mut self.arrays[slot.0 as usize];
                self.changed |= stored && !*array;
                *array |= stored;
            }
            Op::If | Op::Switch => return self.branch(inst, inside),
            Op::Loop => return self.repeat(inst, inside),
            Op::Derivatives(items) => {
                for (&result, &(arg, _)) in data.results.iter().zip(items) {
                    self.mark(result, self.is(data.args[arg as usize]));
                }
                return;
            }
            _ => {}
        }
        let depends = match &data.op {
            Op::Lookup(_) | Op::Points(_) | Op::TextureFact(..) | Op::TextureInfo { .. } => true,
            Op::SlotLoad(slot) => own || self.arrays[slot.0 as usize],
            _ => own,
        };
        data.results.iter().for_each(|&result| self.mark(result, depends));
        // Bound programs have no other operations with regions.
        data.regions.iter().for_each(|&region| self.region(region, Inside::Unknown));
    }

    fn branch(&mut self, inst: Inst, inside: Inside) {
        let body = self.body;
        let data = body.inst(inst);
        let condition = self.is(data.args[0]);
        let within = match inside {
            Inside::Known | Inside::Opened if condition && self.repeats(inst) => Inside::Unknown,
            Inside::Known if condition => Inside::Opened,
            around => around,
        };
        if condition && matches!(within, Inside::Opened) {
            self.opened.insert(inst);
        }
        data.regions.iter().for_each(|&region| self.region(region, within));
        for (i, &result) in data.results.iter().enumerate() {
            let yields = data.regions.iter().any(|&region| self.is(body.region(region).results[i]));
            self.mark(result, condition || yields);
        }
    }

    /// Returns whether there is a loop in a branch.
    fn repeats(&self, branch: Inst) -> bool {
        let mut found = false;
        self.body.walk_inst(branch, &mut |inst| found |= matches!(self.body.inst(inst).op, Op::Loop));
        found
    }

    fn repeat(&mut self, inst: Inst, inside: Inside) {
        let body = self.body;
        let data = body.inst(inst);
        let (test, trip) = (body.region(data.regions[0]), body.region(data.regions[1]));
        let ends = self.is(test.results[0]);
        for (i, &param) in test.params.iter().enumerate() {
            self.mark(param, ends || self.is(data.args[i]) || self.is(trip.results[i]));
            self.mark(data.results[i], self.is(param));
        }
        let within = if ends { Inside::Unknown } else { inside };
        data.regions.iter().for_each(|&region| self.region(region, within));
    }
}

#[cfg(test)]
mod tests {
    use super::demand_slice;
    use crate::ir::Op;
    use crate::syntax::loader::NoIncludes;
    use crate::syntax::preprocess::Source;

    /// Returns the names of the lookups in the slice of a surface with this code.
    fn named(code: &str) -> Vec<String> {
        let text = format!("surface a(string map = \"\";) {{ float i, sum = 0, x[2]; {code} Ci = sum; }}");
        let source = Source { name: "a.sl", text: &text, loader: &NoIncludes, defines: &[] };
        let (shader, diagnostics) = crate::parse_shader(&source);
        let shader = crate::lower(&shader.unwrap_or_else(|| panic!("{code}: {diagnostics:?}")));
        let body = crate::passes::relocate_derivatives(&crate::passes::simplify(&shader.body));
        let Some(slice) = demand_slice(&body) else { return Vec::new() };
        crate::ir::verify_body(&slice, &shader.params).unwrap_or_else(|error| panic!("{code}: {error}"));
        assert!(slice.region(slice.root()).results.is_empty());
        let mut names = Vec::new();
        slice.walk(slice.root(), &mut |inst| {
            let data = slice.inst(inst);
            assert!(!matches!(data.op, Op::Noise { .. }), "{code}: noise names nothing");
            if let Op::Lookup(_) | Op::Points(_) = data.op {
                names.push(slice.constant(data.args[0]).map_or("computed".into(), ToString::to_string));
            }
        });
        names.sort();
        names
    }

    #[test]
    fn lookups_are_named_that_depend_on_no_texture() {
        let cases: &[(&str, &[&str])] = &[
            ("sum = noise(P);", &[]),
            ("sum = texture(\"a\", s, t) + noise(P);", &["\"a\""]),
            ("sum = texture(\"a\"); sum += texture(\"b\", sum, t);", &["\"a\""]),
            ("sum = texture(\"a\", s, t, \"blur\", texture(\"b\"));", &["\"b\""]),
            ("if (s > 0.5) sum = texture(\"a\"); else sum = texture(\"b\");", &["\"a\"", "\"b\""]),
            // Branches that textures choose: both sides, unless the place depends on the choice or there is a loop.
            ("if (texture(\"a\") > 0.5) sum = texture(\"b\", s, 2 * t);", &["\"a\"", "\"b\""]),
            (
                "if (texture(\"a\") > 0.5) { if (s > 0.5) sum = texture(\"b\", s * t, t); } else sum = texture(\"c\");",
                &["\"a\"", "\"b\"", "\"c\""],
            ),
            (
                "if (texture(\"a\") > 0.5) { if (texture(\"b\", s, 0) > 0.5) sum = texture(\"c\"); }",
                &["\"a\"", "\"b\"", "\"c\""],
            ),
            ("x[0] = s; if (texture(\"a\") > 0.5) x[0] = t; sum = texture(\"b\", x[0], t);", &["\"a\""]),
            ("sum = s; if (texture(\"a\") > 0.5) sum = t; sum = texture(\"b\", sum, t);", &["\"a\""]),
            ("if (texture(\"a\") > 0.5) for (i = 0; i < 1; i += s) sum += texture(\"b\", s, i);", &["\"a\""]),
            // Loops: of known length, and one that a texture ends.
            ("for (i = 0; i < 40; i += 1) sum += noise(P) * texture(\"a\", s * i, t);", &["\"a\""]),
            ("while (sum < 9) sum += 1 + texture(\"a\", s + sum, t);", &[]),
            ("while (sum < 9) { sum += 1 + noise(P); texture(\"a\", sum, t); }", &[]),
            // Through an array, and through one that only results are put in.
            ("x[0] = texture(\"a\"); sum = texture(\"b\", x[0], t);", &["\"a\""]),
            ("x[i] = texture(\"a\") + noise(P); x[1] += x[s]; sum = x[t] + texture(\"b\");", &["\"a\"", "\"b\""]),
            // A derivative of a texture, and names that are computed.
            ("sum = texture(\"a\"); sum += texture(\"b\", Du(sum), t);", &["\"a\""]),
            ("sum = texture(map) + shadow(\"z\", P) + environment(\"e\", N);", &["\"e\"", "\"z\"", "computed"]),
            ("textureinfo(\"a\", \"resolution\", x); sum = texture(\"b\", s * x[0], t);", &[]),
            ("texture3d(\"a\", P, N, \"_c\", sum); texture3d(\"b\", P * sum, N, \"_c\", sum);", &["\"a\""]),
        ];
        for (code, expected) in cases {
            assert_eq!(named(code), *expected, "{code}");
        }
    }
}
