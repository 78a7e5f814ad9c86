//! The *demand slice* of a program: what it takes to name the tiles of its textures, so that they are loaded before it
//! runs.
//!
//! A lookup is *independent* if its arguments, and the conditions and loops that lead to it, depend on no texture. The
//! slice has the independent lookups, and only what they need. It names all tiles that these lookups of the program
//! read. Where one derivative is taken together with another, it may keep a lookup that is not independent, which then
//! names tiles that nobody needs.

use super::dead::remove_dead_but;
use crate::ir::{Body, Inst, Op, Region, Value};
use rustc_hash::FxHashSet;

/// The demand slice of a bound program; `None` where no lookup is independent. Its root yields nothing.
pub fn demand_slice(body: &Body) -> Option<Body> {
    let named = independent_lookups(body);
    if named.is_empty() {
        return None;
    }
    let mut slice = body.clone();
    let root = slice.root();
    slice.region_mut(root).results.clear();
    remove_dead_but(&mut slice, &|_, inst| named.contains(&inst));
    Some(slice)
}

/// The lookups that depend on no texture.
fn independent_lookups(body: &Body) -> FxHashSet<Inst> {
    let mut found = Dependence {
        body,
        values: vec![false; body.value_count()],
        arrays: vec![false; body.slots().len()],
        independent: FxHashSet::default(),
        changed: true,
    };
    while std::mem::take(&mut found.changed) {
        found.independent.clear();
        found.region(body.root(), false);
    }
    found.independent
}

/// What depends on textures.
struct Dependence<'a> {
    body: &'a Body,
    values: Vec<bool>,
    arrays: Vec<bool>,
    /// Lookups that do not, as far as is known.
    independent: FxHashSet<Inst>,
    changed: bool,
}

impl Dependence<'_> {
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

    /// `inside` says whether a condition around the region depends on a texture.
    fn region(&mut self, region: Region, inside: bool) {
        let body = self.body;
        for &inst in &body.region(region).insts {
            self.inst(inst, inside);
        }
    }

    fn inst(&mut self, inst: Inst, inside: bool) {
        let body = self.body;
        let data = body.inst(inst);
        let own = inside || self.any(&data.args);
        match &data.op {
            Op::Lookup(_) | Op::Points(_) if !own => _ = self.independent.insert(inst),
            Op::SlotStore(slot) => {
                let array = &mut self.arrays[slot.0 as usize];
                self.changed |= own && !*array;
                *array |= own;
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
        data.regions.iter().for_each(|&region| self.region(region, true));
    }

    fn branch(&mut self, inst: Inst, inside: bool) {
        let body = self.body;
        let data = body.inst(inst);
        let condition = self.is(data.args[0]);
        data.regions.iter().for_each(|&region| self.region(region, inside || condition));
        for (i, &result) in data.results.iter().enumerate() {
            let yields = data.regions.iter().any(|&region| self.is(body.region(region).results[i]));
            self.mark(result, condition || yields);
        }
    }

    fn repeat(&mut self, inst: Inst, inside: bool) {
        let body = self.body;
        let data = body.inst(inst);
        let (test, trip) = (body.region(data.regions[0]), body.region(data.regions[1]));
        let ends = self.is(test.results[0]);
        for (i, &param) in test.params.iter().enumerate() {
            self.mark(param, ends || self.is(data.args[i]) || self.is(trip.results[i]));
            self.mark(data.results[i], self.is(param));
        }
        data.regions.iter().for_each(|&region| self.region(region, inside || ends));
    }
}

#[cfg(test)]
mod tests {
    use super::demand_slice;
    use crate::ir::Op;
    use crate::syntax::loader::NoIncludes;
    use crate::syntax::preprocess::Source;

    /// The names of the lookups in the slice of a surface with this code.
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
            ("if (texture(\"a\") > 0.5) sum = texture(\"b\", s, 2 * t);", &["\"a\""]),
            ("if (s > 0.5) sum = texture(\"a\"); else sum = texture(\"b\");", &["\"a\"", "\"b\""]),
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
