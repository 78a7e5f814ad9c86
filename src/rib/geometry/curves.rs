//! Curves (RISpec 5.5).

use super::batch::{Batch, BatchShape, CurveBatch};
use super::primvars::{ClassCounts, ControlPoints, PrimitiveCall};
use crate::rib::state::basis::ToBezier;
use crate::rib::stream::params::ParamSlice;
use crate::scene::{Basis, Class};

/// Values as groups of them, without a copy where the memory has no remainder. Their number is a multiple of a group.
fn grouped<T: bytemuck::Pod>(values: Vec<f32>) -> Vec<T> {
    bytemuck::try_cast_vec(values).unwrap_or_else(|(_, values)| bytemuck::cast_slice(&values).to_vec())
}

/// How the curves of one request are divided into segments.
struct CurveLayout<'l> {
    /// Control vertices of each curve.
    vertices: &'l [i32],
    /// Segments of each curve.
    segments: Vec<u32>,
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
    /// The number of its segments.
    segments: usize,
}

impl CurveLayout<'_> {
    /// Calls `each` for every curve, in order.
    fn for_each_curve(&self, mut each: impl FnMut(CurveSpan)) {
        let (mut first_vertex, mut first_varying) = (0, 0);
        for (curve, (&vertices, &segments)) in self.vertices.iter().zip(&self.segments).enumerate() {
            let (vertices, segments) = (vertices as usize, segments as usize);
            each(CurveSpan { curve, first_vertex, vertices, first_varying, segments });
            first_vertex += vertices;
            first_varying += self.corners(segments);
        }
    }

    /// Returns the number of varying values of a curve.
    fn corners(&self, segments: usize) -> usize {
        segments + usize::from(!self.periodic)
    }

    fn segment_count(&self) -> usize {
        self.segments.iter().map(|&count| count as usize).sum()
    }

    /// Returns the values of `width` floats at the control vertices of every segment: four Bezier values, or two.
    fn to_segments(&self, values: &[f32], width: usize, basis: &ToBezier) -> Vec<f32> {
        let points = if self.cubic { 4 } else { 2 };
        let mut result = Vec::with_capacity(self.segment_count() * points * width);
        self.for_each_curve(|CurveSpan { first_vertex, vertices, segments, .. }| {
            if !self.periodic && (!self.cubic || basis.is_identity()) {
                // Those of a segment follow one another.
                let first = |segment: usize| (first_vertex + segment * self.step) * width;
                let each = |segment: usize| &values[first(segment)..][..points * width];
                (0..segments).for_each(|segment| result.extend_from_slice(each(segment)));
                return;
            }
            for segment in 0..segments {
                let vertex = |k: usize| (first_vertex + (segment * self.step + k) % vertices) * width;
                if !self.cubic || basis.is_identity() {
                    for k in 0..points {
                        result.extend_from_slice(&values[vertex(k)..][..width]);
                    }
                    continue;
                }
                let start = result.len();
                result.resize(start + 4 * width, 0.0);
                for component in 0..width {
                    let inputs = std::array::from_fn(|k| f64::from(values[vertex(k) + component]));
                    for row in 0..4 {
                        result[start + row * width + component] = basis.apply(row, &inputs) as f32;
                    }
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
        self.for_each_curve(|CurveSpan { curve, first_varying, segments, .. }| {
            let corners = self.corners(segments);
            for segment in 0..segments {
                for end in [segment, segment + 1] {
                    let index = match class {
                        Class::Constant => 0,
                        Class::Uniform => curve,
                        Class::Varying | Class::Vertex | Class::FaceVarying => first_varying + end % corners,
                    };
                    result.extend_from_slice(&values[index * width..][..width]);
                }
            }
        });
        result
    }
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
        ends.chunks_exact(2).flat_map(|w| [w[0], third(w[0], w[1]), third(w[1], w[0]), w[1]]).collect()
    }
}

impl PrimitiveCall<'_> {
    /// Reads `Curves`; `basis` is that of v.
    pub(crate) fn curves(&self, cubic: bool, vertices: &[i32], periodic: bool, basis: &Basis) -> Option<Batch> {
        let layout = self.layout(cubic, vertices, periodic, basis)?;
        let counts = layout.counts;
        if counts.uniform == 0 {
            self.note("range", "it has no curves");
            return None;
        }
        let conversion = ToBezier::new(basis);
        let points = self.control_points(counts.vertex, None)?;
        let mut control = layout.to_segments(points.positions.as_flattened(), 3, &conversion);
        let weights = self.bezier_weights(&layout, &points, &conversion)?;
        for (value, weight) in control.iter_mut().zip(weights.iter().flat_map(|weight| [weight; 3])) {
            *value = (f64::from(*value) / f64::from(*weight)) as f32;
        }
        if !control.iter().all(|value| value.is_finite()) {
            self.note("math", "its basis gives a position that is not a finite number");
            return None;
        }
        // Points of a straight line need none.
        let weights = if cubic { weights } else { Vec::new() };
        let widths = self.widths(&counts, &|class, values| layout.to_widths(class, values, &conversion))?;
        let normals = self.ribbon_normals(&layout, &conversion);
        let gather = |class: Class, values: &[f32], width: usize| match class {
            Class::Vertex if !weights.is_empty() => {
                layout.to_segments(&points.weighted(values, width), width, &conversion)
            }
            Class::Vertex => layout.to_segments(values, width, &conversion),
            _ => values.to_vec(),
        };
        let columns = self.columns(&counts, &["width", "constantwidth"], cubic.then_some(&gather));
        let mut curves = CurveBatch {
            control: grouped(control),
            weights: grouped(weights),
            cubic,
            widths: grouped(widths),
            normals: grouped(normals),
            varying_count: counts.varying as u32,
            curve_count: counts.uniform as u32,
            ..CurveBatch::default()
        };
        layout.for_each_curve(|CurveSpan { curve, first_varying, segments, .. }| {
            let corners = layout.corners(segments);
            for segment in 0..segments {
                let at = |end: usize| (end as f64 / segments as f64) as f32;
                curves.ends.push([segment, segment + 1].map(|end| (first_varying + end % corners) as u32));
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

    /// Returns the weights of the control points of all segments, or none where they are equal. Returns `None`, with a
    /// message, if one is not positive.
    fn bezier_weights(&self, layout: &CurveLayout<'_>, points: &ControlPoints, basis: &ToBezier) -> Option<Vec<f32>> {
        let weights =
            if points.weights.is_empty() { Vec::new() } else { layout.to_segments(&points.weights, 1, basis) };
        self.check_weights(&weights).then_some(weights)
    }

    /// Divides the curves into segments. Returns `None`, with a message, if one has too few vertices.
    fn layout<'l>(&self, cubic: bool, vertices: &'l [i32], periodic: bool, basis: &Basis) -> Option<CurveLayout<'l>> {
        let step = if cubic { basis.step } else { 1 };
        let mut segments = Vec::with_capacity(vertices.len());
        let (mut vertex_count, mut surplus) = (0u64, false);
        for &count in vertices {
            let fewest = match (cubic, periodic) {
                (true, false) => 4,
                (true, true) => step.max(2),
                (false, _) => 2,
            };
            let count = u32::try_from(count).unwrap_or(0);
            if count < fewest {
                self.error("range", &format!("a curve with {count} vertices has too few; it needs {fewest}"));
                return None;
            }
            vertex_count += u64::from(count);
            surplus |= if periodic { count % step != 0 } else { cubic && (count - 4) % step != 0 };
            segments.push(match (cubic, periodic) {
                (true, false) => (count - 4) / step + 1,
                (true, true) => count / step,
                (false, false) => count - 1,
                (false, true) => count,
            });
        }
        if surplus && periodic {
            self.error(
                "consistency",
                &format!("the vertices of a curve are not a multiple of the step of the basis ({step})"),
            );
            return None;
        }
        if surplus {
            self.warning("consistency", "the last vertices of a curve do not make a whole segment and are ignored");
        }
        let varying = segments.iter().map(|&count| u64::from(count) + u64::from(!periodic)).sum();
        let counts =
            ClassCounts { uniform: vertices.len() as u64, varying, vertex: vertex_count, face_varying: varying };
        Some(CurveLayout { vertices, segments, cubic, periodic, step: step as usize, counts })
    }

    /// Returns the normals at both ends of every segment, if the curves have any, which makes them ribbons.
    fn ribbon_normals(&self, layout: &CurveLayout<'_>, basis: &ToBezier) -> Vec<f32> {
        let Some(param) = self.params.find("N") else { return Vec::new() };
        let ParamSlice::Floats(values) = self.params.values(param) else { return Vec::new() };
        let class = param.declaration.class;
        let enough = values.len() as u64 >= layout.counts.of(class).saturating_mul(3);
        if param.declaration.width() == 3 && enough { layout.to_ends(class, values, 3, basis) } else { Vec::new() }
    }
}
