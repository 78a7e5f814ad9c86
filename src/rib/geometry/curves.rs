//! Curves (RISpec 5.5).

use super::batch::{Batch, BatchShape, CurveBatch};
use super::primvars::{ClassCounts, ControlPoints, PrimitiveCall, all, is_width, numbers, weight_fault};
use crate::rib::state::basis::ToBezier;
use crate::rib::stream::fault::RequestFault;
use crate::rib::stream::params::Param;
use crate::scene::{Basis, Class};

/// Values as groups of them, without a copy where the memory has no remainder. Their number is a multiple of a group.
fn grouped<T: bytemuck::Pod>(values: Vec<f32>) -> Vec<T> {
    bytemuck::try_cast_vec(values).unwrap_or_else(|(_, values)| bytemuck::cast_slice(&values).to_vec())
}

fn is_finite(values: &[f32]) -> bool {
    all(values, f32::is_finite)
}

/// Coordinates of points, and their weights.
type BezierPoints = (Vec<f32>, Vec<f32>);

/// How the curves of one request are divided into segments.
struct CurveLayout<'l> {
    /// Control vertices of each curve.
    vertices: &'l [i32],
    /// Segments of each curve; none of one that is left out.
    segments: Vec<u32>,
    /// Varying values of each curve.
    corners: Vec<u32>,
    cubic: bool,
    periodic: bool,
    step: usize,
    counts: ClassCounts,
}

/// The part of a request's values that belongs to one curve.
struct CurveSpan {
    /// Number of the curve.
    curve: usize,
    /// Its first control vertex.
    first_vertex: usize,
    /// The number of its control vertices.
    vertices: usize,
    /// Its first varying value.
    first_varying: usize,
    /// The number of its varying values.
    corners: usize,
    /// The number of its segments.
    segments: usize,
}

/// Curves that are left out for one reason.
#[derive(Default)]
struct LeftOut {
    count: usize,
    /// The number of the first, and what is wrong with it.
    first: Option<(usize, String)>,
}

impl LeftOut {
    fn add(&mut self, curve: usize, what: &str) {
        self.count += 1;
        if self.first.as_ref().is_none_or(|(first, _)| curve < *first) {
            self.first = Some((curve, what.to_owned()));
        }
    }

    /// Returns the message about them, of `all` curves.
    fn message(&self, all: usize) -> Option<String> {
        let (curve, what) = self.first.as_ref()?;
        Some(match self.count {
            1 => format!("curve {curve} of {all} is left out: it {what}"),
            count => format!("{count} of {all} curves are left out: the first of them, curve {curve}, {what}"),
        })
    }
}

/// The curves of a request that are left out.
#[derive(Default)]
struct LeftOutCurves {
    /// Those that break the rules, which is an error.
    wrong: LeftOut,
    /// Those with numbers that nothing can be drawn of.
    unsound: LeftOut,
}

/// The number of varying values of a curve.
struct CornerCount {
    count: u32,
    /// Whether it may be another one: what one that is too short has is not defined.
    is_guess: bool,
}

impl CurveLayout<'_> {
    /// Calls `each` for every curve, in order.
    fn for_each_curve(&self, mut each: impl FnMut(CurveSpan)) {
        let (mut first_vertex, mut first_varying) = (0, 0);
        for (curve, (&vertices, &segments)) in self.vertices.iter().zip(&self.segments).enumerate() {
            let (vertices, segments) = (usize::try_from(vertices).unwrap_or(0), segments as usize);
            let corners = self.corners[curve] as usize;
            each(CurveSpan { curve, first_vertex, vertices, first_varying, corners, segments });
            first_vertex += vertices;
            first_varying += corners;
        }
    }

    /// Leaves out the curves with control points that are not finite, or with weights that none can have.
    fn keep_sound(&mut self, points: &ControlPoints, left_out: &mut LeftOutCurves) {
        if points.weights.is_empty() && is_finite(points.positions.as_flattened()) {
            return;
        }
        let mut without = Vec::new();
        self.for_each_curve(|CurveSpan { curve, first_vertex, vertices, segments, .. }| {
            let own = first_vertex..first_vertex + vertices;
            let weights = points.weights.get(own.clone()).unwrap_or_default();
            let fault = weights.iter().find_map(|weight| weight_fault(*weight));
            if segments > 0 && (fault.is_some() || !is_finite(points.positions[own].as_flattened())) {
                without.push((curve, fault));
            }
        });
        for (curve, fault) in without {
            self.segments[curve] = 0;
            match fault {
                Some(fault) => left_out.wrong.add(curve, &format!("has a weight in \"Pw\" that {fault}")),
                None => left_out.unsound.add(curve, "has a position that is not a finite number"),
            }
        }
    }

    /// Returns what [`Self::bezier`] does, and leaves out the curves for which the basis makes what none can have.
    fn keep_bezier(&mut self, points: &ControlPoints, basis: &ToBezier, left_out: &mut LeftOutCurves) -> BezierPoints {
        let (control, weights) = self.bezier(points, basis);
        if weights.is_empty() && is_finite(&control) {
            return (control, weights);
        }
        let each = if self.cubic { 4 } else { 2 };
        let (mut first, mut is_whole) = (0, true);
        for (curve, segments) in self.segments.iter_mut().enumerate() {
            let own = first..first + each * *segments as usize;
            first = own.end;
            if weights.get(own.clone()).unwrap_or_default().iter().any(|weight| weight_fault(*weight).is_some()) {
                left_out.wrong.add(curve, "has a weight of 0 or less in its basis, of those in \"Pw\"");
            } else if !is_finite(&control[3 * own.start..3 * own.end]) {
                left_out.unsound.add(curve, "has a position that is not a finite number in its basis");
            } else {
                continue;
            }
            *segments = 0;
            is_whole = false;
        }
        if is_whole { (control, weights) } else { self.bezier(points, basis) }
    }

    /// Returns the control points of all segments, not multiplied by their weights, and the weights, unless all are
    /// equal.
    fn bezier(&self, points: &ControlPoints, basis: &ToBezier) -> BezierPoints {
        let mut control = self.to_segments(points.positions.as_flattened(), 3, basis);
        let weights = if points.weights.is_empty() { Vec::new() } else { self.to_segments(&points.weights, 1, basis) };
        for (value, weight) in control.iter_mut().zip(weights.iter().flat_map(|weight| [weight; 3])) {
            *value = (f64::from(*value) / f64::from(*weight)) as f32;
        }
        (control, weights)
    }

    /// Leaves out the curves with a width, of four in each segment, that none can have, and returns the other widths.
    fn keep_wide(&mut self, widths: Vec<f32>, left_out: &mut LeftOutCurves) -> Vec<f32> {
        if all(&widths, is_width) {
            return widths;
        }
        let mut kept = Vec::with_capacity(widths.len());
        let mut rest = widths.as_slice();
        for (curve, segments) in self.segments.iter_mut().enumerate() {
            let (own, later) = rest.split_at(4 * *segments as usize);
            rest = later;
            if own.iter().copied().all(is_width) {
                kept.extend_from_slice(own);
            } else {
                *segments = 0;
                left_out.unsound.add(curve, "has a width that is negative or not a finite number");
            }
        }
        kept
    }

    fn segment_count(&self) -> usize {
        self.segments.iter().map(|&count| count as usize).sum()
    }

    /// Returns the values of `width` floats at the control vertices of every segment: four Bezier values, or two.
    fn to_segments(&self, values: &[f32], width: usize, basis: &ToBezier) -> Vec<f32> {
        let points = if self.cubic { 4 } else { 2 };
        let mut result = Vec::with_capacity(self.segment_count() * points * width);
        let is_plain = !self.cubic || basis.is_identity();
        self.for_each_curve(|CurveSpan { first_vertex, vertices, segments, .. }| {
            for segment in 0..segments {
                let first = segment * self.step;
                if is_plain && !self.periodic {
                    // Those of a segment follow one another.
                    result.extend_from_slice(&values[(first_vertex + first) * width..][..points * width]);
                    continue;
                }
                let at = |k: usize| &values[(first_vertex + (first + k) % vertices) * width..][..width];
                if is_plain {
                    (0..points).for_each(|k| result.extend_from_slice(at(k)));
                } else {
                    basis.extend(&mut result, std::array::from_fn(at));
                }
            }
        });
        result
    }

    /// Returns the values at both ends of every segment, from values of any class.
    fn to_ends(&self, class: Class, values: &[f32], width: usize, basis: &ToBezier) -> Vec<f32> {
        if class == Class::Vertex {
            let points = if self.cubic { 4 } else { 2 };
            let segments = self.to_segments(values, width, basis);
            let ends = |segment: &[f32]| [&segment[..width], &segment[(points - 1) * width..]].concat();
            return segments.chunks_exact(points * width).flat_map(ends).collect();
        }
        let mut result = Vec::with_capacity(self.segment_count() * 2 * width);
        self.for_each_curve(|CurveSpan { curve, first_varying, corners, segments, .. }| {
            for end in (0..segments).flat_map(|segment| [segment, segment + 1]) {
                let index = match class {
                    Class::Constant => 0,
                    Class::Uniform => curve,
                    Class::Varying | Class::Vertex | Class::FaceVarying => first_varying + around(end, corners),
                };
                match width {
                    1 => result.push(values[index]),
                    _ => result.extend_from_slice(&values[index * width..][..width]),
                }
            }
        });
        result
    }
}

/// Returns the corner at an end of a segment: the last end of a closed curve is its first corner.
fn around(end: usize, corners: usize) -> usize {
    if end < corners { end } else { end % corners }
}

impl CurveLayout<'_> {
    /// Returns the Bezier values of the width of every segment, from values of any class.
    fn to_widths(&self, class: Class, values: &[f32], basis: &ToBezier) -> Vec<f32> {
        if class == Class::Vertex && self.cubic && values.iter().all(|width| *width >= 0.0) {
            // A basis that overshoots may make a width negative between two that are not.
            return self.to_segments(values, 1, basis).iter().map(|width| width.max(0.0)).collect();
        }
        let ends = self.to_ends(class, values, 1, basis);
        let third = |near: f32, far: f32| if near == far { near } else { (2.0 * near + far) / 3.0 };
        let (ends, _) = ends.as_chunks();
        ends.iter()
            .map(|&[near, far]| [near, third(near, far), third(far, near), far])
            .collect::<Vec<_>>()
            .into_flattened()
    }
}

impl PrimitiveCall<'_> {
    /// Reads `Curves`; `basis` is that of v.
    pub(crate) fn curves(&self, cubic: bool, vertices: &[i32], periodic: bool, basis: &Basis) -> Option<Batch> {
        let (mut layout, mut left_out) = self.layout(cubic, vertices, periodic, basis);
        let counts = layout.counts;
        if counts.uniform == 0 {
            self.note("range", "it has no curves");
            return None;
        }
        let conversion = ToBezier::new(basis);
        let points = self.any_control_points(counts.vertex, None)?;
        layout.keep_sound(&points, &mut left_out);
        let (mut control, mut weights) = layout.keep_bezier(&points, &conversion, &mut left_out);
        let segments = layout.segment_count();
        let widths = self.widths(&counts, &|class, values| layout.to_widths(class, values, &conversion));
        let widths = layout.keep_wide(widths, &mut left_out);
        if layout.segment_count() < segments {
            (control, weights) = layout.bezier(&points, &conversion);
        }
        self.report_left_out(&layout, &left_out)?;
        // Points of a straight line need none.
        let weights = if cubic { weights } else { Vec::new() };
        let normals = self.ribbon_normals(&layout, &conversion);
        let gather = |class: Class, values: &[f32], width: usize| match class {
            Class::Vertex if !weights.is_empty() => {
                layout.to_segments(&points.weighted(values, width), width, &conversion)
            }
            Class::Vertex => layout.to_segments(values, width, &conversion),
            _ => values.to_vec(),
        };
        let columns = self.columns(&counts, &["width", "constantwidth"], cubic.then_some(&gather));
        let segments = layout.segment_count();
        let mut curves = CurveBatch {
            ends: Vec::with_capacity(segments),
            face: Vec::with_capacity(segments),
            v_range: Vec::with_capacity(segments),
            control: grouped(control),
            weights: grouped(weights),
            cubic,
            widths: grouped(widths),
            normals: grouped(normals),
            varying_count: counts.varying as u32,
            curve_count: counts.uniform as u32,
        };
        layout.for_each_curve(|CurveSpan { curve, first_varying, corners, segments, .. }| {
            for segment in 0..segments {
                let at = |end: usize| (end as f64 / segments as f64) as f32;
                curves.ends.push([segment, segment + 1].map(|end| (first_varying + around(end, corners)) as u32));
                curves.face.push(curve as u32);
                curves.v_range.push([at(segment), at(segment + 1)]);
            }
        });
        let mut batch = Batch { form: BatchShape::Curves(curves), columns, location: self.location.clone() };
        for column in &mut batch.columns {
            // The corners of a curve are the ends of its segments, and so are the vertices of a polyline, so that one
            // class suffices.
            let class = column.declaration.class;
            if class == Class::FaceVarying || (class == Class::Vertex && !cubic) {
                column.declaration.class = Class::Varying;
            }
        }
        Some(batch)
    }

    /// Reports the curves that are left out. Returns `None` if no others are left.
    fn report_left_out(&self, layout: &CurveLayout<'_>, left_out: &LeftOutCurves) -> Option<()> {
        let all = layout.vertices.len();
        if let Some(message) = left_out.wrong.message(all) {
            (self.report)(RequestFault::error("range", self.offset, format!("{}: {message}", self.name)));
        }
        if let Some(message) = left_out.unsound.message(all) {
            self.note_partial("math", &message);
        }
        (layout.segment_count() > 0).then_some(())
    }

    /// Divides the curves into segments, except those that have too few vertices or surplus ones.
    fn layout<'l>(
        &self,
        cubic: bool,
        vertices: &'l [i32],
        periodic: bool,
        basis: &Basis,
    ) -> (CurveLayout<'l>, LeftOutCurves) {
        let step = if cubic { basis.step } else { 1 };
        let fewest = match (cubic, periodic) {
            (true, false) => 4,
            (true, true) => step.max(2),
            (false, _) => 2,
        };
        let (mut segments, mut corners) = (Vec::with_capacity(vertices.len()), Vec::with_capacity(vertices.len()));
        let (mut left_out, mut surplus) = (LeftOutCurves::default(), false);
        for (curve, &given) in vertices.iter().enumerate() {
            let count = u32::try_from(given).unwrap_or(0);
            // Of one that is too short, by the same rule as far as that goes.
            let own = match (cubic, periodic) {
                (true, false) => {
                    (count.saturating_sub(4) + 2 * step).saturating_sub(4_u32.saturating_sub(count)) / step
                }
                (true, true) => count / step,
                (false, _) => count,
            };
            let is_short = count < fewest;
            corners.push(CornerCount { count: own, is_guess: is_short });
            if is_short {
                left_out.wrong.add(curve, &format!("has {given} vertices and needs {fewest}"));
                segments.push(0);
            } else if periodic && count % step != 0 {
                let what = format!("has {given} vertices, not a multiple of the step of the basis, {step}");
                left_out.wrong.add(curve, &what);
                segments.push(0);
            } else {
                surplus |= cubic && !periodic && (count - 4) % step != 0;
                segments.push(own - u32::from(!periodic));
            }
        }
        if surplus {
            self.warning("consistency", "the last vertices of a curve do not make a whole segment and are ignored");
        }
        let corners = self.varying_counts(&corners);
        let varying = corners.iter().map(|&count| u64::from(count)).sum();
        let vertex = vertices.iter().map(|&count| u64::try_from(count).unwrap_or(0)).sum();
        let counts = ClassCounts { uniform: vertices.len() as u64, varying, vertex, face_varying: varying };
        let step = step as usize;
        (CurveLayout { vertices, segments, corners, cubic, periodic, step, counts }, left_out)
    }

    /// Returns the number of varying values of each curve. Those that are too short share what the variables have more
    /// than the others need, where that is not as many as was guessed.
    fn varying_counts(&self, corners: &[CornerCount]) -> Vec<u32> {
        let sum = |is_guess: bool| -> usize {
            corners.iter().filter(|corner| corner.is_guess == is_guess).map(|corner| corner.count as usize).sum()
        };
        let varying = |param: &&Param| matches!(param.declaration.class, Class::Varying | Class::FaceVarying);
        let found = self.params.iter().find(varying);
        let found = found.map(|param| self.params.values(param).len() / param.declaration.width().max(1) as usize);
        let rest = found.map_or(0, |found| found.saturating_sub(sum(false)));
        let is_guessed = rest == sum(true);
        let short = corners.iter().filter(|corner| corner.is_guess).count();
        let each = rest.checked_div(short).unwrap_or(0).min(2) as u32;
        corners.iter().map(|corner| if corner.is_guess && !is_guessed { each } else { corner.count }).collect()
    }

    /// Returns the normals at both ends of every segment, if the curves have any, which makes them ribbons.
    fn ribbon_normals(&self, layout: &CurveLayout<'_>, basis: &ToBezier) -> Vec<f32> {
        let Some(param) = self.params.find("N") else { return Vec::new() };
        let Some(values) = numbers(self.params.values(param)) else { return Vec::new() };
        let class = param.declaration.class;
        let enough = values.len() as u64 >= layout.counts.of(class).saturating_mul(3);
        if param.declaration.width() == 3 && enough { layout.to_ends(class, &values, 3, basis) } else { Vec::new() }
    }
}
