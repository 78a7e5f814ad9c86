//! How much light reaches each depth of a pixel: a function that falls from 1, linear between few knots.

/// The most knots of a pixel: what tiles of textures have planes for.
pub const KNOTS_MAX: usize = 32;

/// The first tolerance for a function of too many knots, as a part of the one that it is within, and how much the next
/// is larger each time.
const TIGHTEST: f64 = 0.25;
const LOOSER: f64 = 1.25;

/// A sample's light as a whole number, so that sums do not depend on the order of layers: 2^40 in each of three
/// channels (glsl/lib/composite/layers.glsl).
pub const WHOLE_LIGHT: u64 = 3 << 40;

/// A point of the function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knot {
    /// A depth, not less than that of the knot before.
    pub z: f32,
    /// The light that reaches it.
    pub light: f32,
}

/// How much light reaches each depth: all before the first knot, linear between two, and as much as at the last one
/// behind it. Where two knots have one depth, it is a step, and the depth itself still has the light before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visibility(Vec<Knot>);

impl Visibility {
    /// Creates a function of knots, unless depths go back or light comes back.
    pub fn of_knots(knots: Vec<Knot>) -> Option<Self> {
        let goes_on = |pair: &[Knot]| pair[0].z <= pair[1].z && pair[0].light >= pair[1].light;
        knots.windows(2).all(goes_on).then_some(Self(knots))
    }

    /// Returns the knots.
    pub fn knots(&self) -> &[Knot] {
        &self.0
    }

    /// Returns the light that reaches a depth.
    pub fn at(&self, z: f32) -> f32 {
        let behind = self.0.partition_point(|knot| knot.z < z);
        match (behind.checked_sub(1).map(|before| self.0[before]), self.0.get(behind)) {
            (None, _) => 1.0,
            (Some(last), None) => last.light,
            (Some(before), Some(next)) => {
                before.light + (next.light - before.light) * ((z - before.z) / (next.z - before.z))
            }
        }
    }

    /// Returns the function with at most [`KNOTS_MAX`] knots, within a tolerance that grows in steps, from a part of
    /// `tolerance` on, until that is so.
    #[must_use]
    pub fn bounded(self, tolerance: f32) -> Self {
        let mut tolerance = f64::from(tolerance).max(1e-4) * TIGHTEST;
        let mut knots = self.0.clone();
        while knots.len() > KNOTS_MAX {
            let mut line = Lines::new(tolerance);
            for step in self.0.chunk_by(|a, b| a.z == b.z) {
                let [before, after] =
                    [step.first(), step.last()].map(|knot| knot.map_or(0.0, |knot| f64::from(knot.light)));
                line.step(f64::from(step[0].z), before, after);
            }
            knots = line.finish();
            tolerance *= LOOSER;
        }
        Self(knots)
    }
}

/// The function of layers that come in the order of their depths, within a tolerance everywhere.
#[derive(Clone, Debug)]
pub struct VisibilityBuilder {
    lines: Lines,
    tolerance: f32,
    /// The light of all samples, and what is left of it so far.
    all: u64,
    left: u64,
    /// The last depth, where more may be lost, and what is left behind it.
    pending: Option<(f32, u64)>,
}

impl VisibilityBuilder {
    /// Begins with all the light of `samples` samples: nothing of it is lost yet.
    pub fn new(samples: u64, tolerance: f32) -> Self {
        let tolerance = tolerance.clamp(0.0, 1.0);
        let lines = Lines::new(tolerance.into());
        let all = samples.max(1) * WHOLE_LIGHT;
        Self { lines, tolerance, all, left: all, pending: None }
    }

    /// Adds the depths of the next slab, none less than the one before, and what is lost up to behind each of the light
    /// that is left in front of the slab.
    pub fn lose(&mut self, layers: impl Iterator<Item = (f32, u64)>) {
        let before = self.pending.map_or(self.left, |(_, left)| left);
        layers.for_each(|(z, lost)| self.leave(z, before.saturating_sub(lost)));
    }

    /// Behind a depth this much of the samples' light is left.
    fn leave(&mut self, z: f32, light: u64) {
        match &mut self.pending {
            Some((depth, left)) if *depth == z => *left = light.min(*left),
            pending => {
                if let Some(before) = pending.replace((z, light)) {
                    self.step(before);
                }
            }
        }
    }

    fn light(&self) -> f64 {
        self.left as f64 / self.all as f64
    }

    fn step(&mut self, (z, light): (f32, u64)) {
        if light < self.left {
            let before = self.light();
            self.left = light;
            self.lines.step(z.into(), before, self.light());
        }
    }

    /// Returns the function, of at most [`KNOTS_MAX`] knots.
    pub fn finish(mut self) -> Visibility {
        if let Some(last) = self.pending.take() {
            self.step(last);
        }
        Visibility(self.lines.finish()).bounded(self.tolerance)
    }
}

/// Slopes from the last knot that stay within the tolerance.
#[derive(Clone, Copy, Debug)]
struct Slopes {
    least: f64,
    most: f64,
}

impl Slopes {
    const ANY: Self = Self { least: f64::NEG_INFINITY, most: 0.0 };

    fn is_empty(self) -> bool {
        self.least > self.most
    }
}

/// Goes through the steps of a function, and lays each line from the last knot as far as it fits (Lokovic and Veach,
/// section 4.2). Between steps the function is linear.
#[derive(Clone, Debug)]
struct Lines {
    tolerance: f64,
    knots: Vec<Knot>,
    /// Where the line begins.
    begin: [f64; 2],
    slopes: Slopes,
    /// The last step: its depth, and the light on both sides of it.
    last: Option<[f64; 3]>,
}

impl Lines {
    fn new(tolerance: f64) -> Self {
        Self { tolerance, knots: Vec::new(), begin: [0.0, 1.0], slopes: Slopes::ANY, last: None }
    }

    /// Returns the slopes that also pass a depth within the tolerance of its light.
    fn through(&self, slopes: Slopes, z: f64, light: f64) -> Slopes {
        let [z0, light0] = self.begin;
        let slope = |light: f64| (light - light0) / (z - z0);
        Slopes {
            least: slopes.least.max(slope(light - self.tolerance)),
            most: slopes.most.min(slope(light + self.tolerance)),
        }
    }

    fn add(&mut self, z: f64, light: f64) {
        // Rounding must not let light come back.
        let light = (light as f32).min(self.knots.last().map_or(1.0, |knot| knot.light)).max(0.0);
        self.knots.push(Knot { z: z as f32, light });
        (self.begin, self.slopes) = ([z, f64::from(light)], Slopes::ANY);
    }

    /// Ends the line at a depth, as near to its light as it may.
    fn end_line(&mut self, z: f64, light: f64, slopes: Slopes) {
        let [z0, light0] = self.begin;
        let exact = (light - light0) / (z - z0);
        self.add(z, light0 + exact.max(slopes.least).min(slopes.most) * (z - z0));
    }

    /// Adds that the light falls from `before` to `after` at a depth behind the last one.
    fn step(&mut self, z: f64, before: f64, after: f64) {
        let Some([last, _, left]) = self.last.replace([z, before, after]) else {
            self.add(z, before);
            return self.add(z, after);
        };
        let mut reached = self.through(self.slopes, z, before);
        if reached.is_empty() && last > self.begin[0] {
            self.end_line(last, left, self.slopes);
            reached = self.through(self.slopes, z, before);
        }
        if reached.is_empty() {
            // Only where roundings are larger than the tolerance: the line begins where the light is.
            self.add(last, left);
            reached = self.through(self.slopes, z, before);
        }
        let passed = self.through(reached, z, after);
        if passed.is_empty() {
            self.end_line(z, before, reached);
            self.add(z, after);
        } else {
            self.slopes = passed;
        }
    }

    fn finish(mut self) -> Vec<Knot> {
        if let Some([z, _, after]) = self.last {
            if z > self.begin[0] {
                self.end_line(z, after, self.slopes);
            }
            // The light behind all layers is exact.
            if self.begin[1] > after {
                self.add(z, after);
            }
        }
        self.knots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knots(pairs: &[[f32; 2]]) -> Vec<Knot> {
        pairs.iter().map(|&[z, light]| Knot { z, light }).collect()
    }

    /// Returns the function of depths with the light that is lost there.
    fn of_layers(layers: &[(f32, f32)], tolerance: f32) -> Visibility {
        let mut builder = VisibilityBuilder::new(1, tolerance);
        let mut left = WHOLE_LIGHT;
        for &(z, lost) in layers {
            left = left.saturating_sub((f64::from(lost) * WHOLE_LIGHT as f64) as u64);
            builder.leave(z, left);
        }
        builder.finish()
    }

    #[test]
    fn half_opaque_cards_halve_the_light() {
        let light = of_layers(&[(2.0, 0.5), (3.0, 0.25)], 0.01);
        assert_eq!(light.knots(), knots(&[[2.0, 1.0], [2.0, 0.5], [3.0, 0.5], [3.0, 0.25]]));
        assert_eq!([1.0, 2.0, 2.5, 3.0, 4.0].map(|z| light.at(z)), [1.0, 1.0, 0.5, 0.5, 0.25]);
        assert_eq!(of_layers(&[], 0.01).at(5.0), 1.0);
        assert_eq!(of_layers(&[(2.0, 0.25), (3.0, 0.75)], 0.01).at(4.0), 0.0);
    }

    /// Returns a deterministic stream of numbers from 0 to 1.
    fn numbers(mut seed: u32) -> impl FnMut() -> f32 {
        move || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / 16_777_216.0
        }
    }

    #[test]
    fn smoke_takes_few_knots_and_stays_within_the_tolerance() {
        let mut random = numbers(7);
        for tolerance in [0.01, 0.02, 0.1] {
            let mut depths: Vec<f32> = (0..300).map(|_| 1.0 + 9.0 * random()).collect();
            depths.extend([4.0; 3]);
            depths.sort_by(f32::total_cmp);
            let layers: Vec<(f32, f32)> = depths.iter().map(|&z| (z, random() / 200.0)).collect();
            let light = of_layers(&layers, tolerance);
            assert!(light.knots().len() < 32, "{} knots", light.knots().len());
            let mut truth = 1.0_f64;
            for step in layers.chunk_by(|a, b| a.0 == b.0) {
                let error = f64::from(light.at(step[0].0)) - truth;
                assert!(error.abs() <= f64::from(tolerance) + 1e-5, "{error} at {}", step[0].0);
                truth -= step.iter().map(|layer| f64::from(layer.1)).sum::<f64>();
            }
            assert!((f64::from(light.at(20.0)) - truth).abs() < 1e-5);
        }
    }

    #[test]
    fn light_never_comes_back_and_knots_are_few() {
        let mut random = numbers(3);
        for round in 0..500 {
            let count = 1 + (random() * 100.0) as usize;
            let places = if round % 2 == 0 { 20.0 } else { 1e6 };
            let mut layers: Vec<(f32, f32)> =
                (0..count).map(|_| ((random() * places).floor() + 1.0, random() / count as f32)).collect();
            layers.sort_by(|a, b| a.0.total_cmp(&b.0));
            let light = of_layers(&layers, 0.02 * random());
            assert_eq!(Visibility::of_knots(light.knots().to_vec()), Some(light.clone()));
            assert!(light.knots().len() <= KNOTS_MAX && light.at(0.5) == 1.0);
        }
    }
}
