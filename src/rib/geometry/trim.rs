//! Trim curves (RISpec 5.2, `TrimCurve`): rational B-splines in a surface's (u,v), cut into Bezier curves, and for each
//! surface into pieces along which u and v only rise or only fall.

use super::primvars::PrimitiveCall;
use super::spline::{NurbsDirection, SplinePiece};
use crate::rib::state::trim::{BezierCurve, TrimCurves, TrimState};
use crate::scene::{TrimLoops, TrimPiece};
use std::sync::Arc;

/// The arrays of a request, as it gives them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TrimArrays {
    /// The number of curves of each loop.
    pub(crate) curves: Vec<i32>,
    /// The order of each curve.
    pub(crate) orders: Vec<i32>,
    /// The knots of all curves.
    pub(crate) knots: Vec<f32>,
    /// The least parameter of each curve.
    pub(crate) min: Vec<f32>,
    /// The largest parameter of each curve.
    pub(crate) max: Vec<f32>,
    /// The number of control points of each curve.
    pub(crate) counts: Vec<i32>,
    /// The control points of all curves: u, v and w, homogeneous.
    pub(crate) points: [Vec<f32>; 3],
}

/// The most control points of the curves of a request.
const POINTS_MAX: usize = 1 << 20;
/// The most pieces of the loops of a surface: some 32 MB.
const PIECES_MAX: usize = 1 << 18;
/// How often a curve is halved: beyond this a piece is too small to matter.
const HALVINGS_MAX: u32 = 24;
/// How far a piece may be from its chord, as a part of its loop's size, so that few samples are near enough to it to
/// need its curve.
const FLATNESS: f64 = 1.0 / 128.0;
/// How far apart two curves of a loop may end, as a part of its size.
const GAP_MAX: f64 = 1e-3;
/// Distances in the unit square that single precision cannot show.
const UNSEEN: f64 = 3e-8;

fn point(control: &[f64; 3]) -> [f64; 2] {
    [control[0] / control[2], control[1] / control[2]]
}

fn single(p: [f64; 2]) -> [f32; 2] {
    p.map(|x| x as f32)
}

/// Returns both halves of a curve.
fn halves(curve: &[[f64; 3]]) -> [BezierCurve; 2] {
    let mut row = curve.to_vec();
    let (mut first, mut second) = (vec![row[0]], vec![row[row.len() - 1]]);
    while row.len() > 1 {
        row = row.windows(2).map(|pair| [0, 1, 2].map(|i| 0.5 * (pair[0][i] + pair[1][i]))).collect();
        first.push(row[0]);
        second.push(row[row.len() - 1]);
    }
    second.reverse();
    [first, second]
}

/// Appends the pieces of a curve. It is halved until u and v of its control points only rise or only fall: then so do
/// those of the curve (variation diminishing).
fn append_pieces(curve: &[[f64; 3]], tolerance: f64, halvings: u32, pieces: &mut Vec<TrimPiece>) {
    let points: Vec<[f64; 2]> = curve.iter().map(point).collect();
    let (a, b) = (points[0], points[points.len() - 1]);
    let is_monotone = |axis: usize| {
        let mut steps = points.windows(2).map(|pair| pair[1][axis] - pair[0][axis]);
        steps.clone().all(|step| step >= 0.0) || steps.all(|step| step <= 0.0)
    };
    let chord = [b[0] - a[0], b[1] - a[1]];
    let length = chord[0].hypot(chord[1]);
    let off =
        |p: &[f64; 2]| ((p[0] - a[0]) * chord[1] - (p[1] - a[1]) * chord[0]).abs() / length.max(f64::MIN_POSITIVE);
    let monotone = is_monotone(0) && is_monotone(1);
    let bend = points.iter().map(off).fold(0.0, f64::max);
    if halvings > 0 && !(monotone && bend <= tolerance) && pieces.len() <= PIECES_MAX {
        for half in halves(curve) {
            append_pieces(&half, tolerance, halvings - 1, pieces);
        }
        return;
    }
    let straight = bend <= UNSEEN || !monotone;
    let control = if straight { Vec::new() } else { curve.iter().map(|p| p.map(|x| x as f32)).collect() };
    pieces.push(TrimPiece { ends: [single(a), single(b)], control });
}

/// Returns the largest side of the box of a loop's control points.
fn extent(curves: &[BezierCurve]) -> f64 {
    let side = |axis: usize| {
        let values = || curves.iter().flatten().map(|control| point(control)[axis]);
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
    };
    side(0).max(side(1))
}

impl PrimitiveCall<'_> {
    /// Reads the curves of `TrimCurve`.
    pub(crate) fn trim_curves(&self, arrays: &TrimArrays) -> Option<TrimCurves> {
        let total: i64 = arrays.curves.iter().map(|&count| i64::from(count)).sum();
        if let Some(wrong) = arrays.curves.iter().find(|count| **count < 1) {
            self.error("range", &format!("a loop has {wrong} curves"));
            return None;
        }
        let lists = [
            ("orders", arrays.orders.len()),
            ("least parameters", arrays.min.len()),
            ("largest parameters", arrays.max.len()),
            ("numbers of points", arrays.counts.len()),
        ];
        for (what, found) in lists {
            if found as i64 != total {
                self.error("badarray", &format!("it has {found} {what} for {total} curves"));
                return None;
            }
        }
        let (mut loops, mut next) = (Vec::new(), Next::default());
        for (number, &count) in (1..).zip(&arrays.curves) {
            let mut curves = Vec::new();
            for _ in 0..count {
                curves.extend(self.trim_curve(arrays, &mut next)?);
            }
            self.warn_of_gap(number, &curves);
            loops.push(curves);
        }
        for (axis, points) in ["u", "v", "w"].iter().zip(&arrays.points) {
            if points.len() > next.point {
                let surplus = points.len() - next.point;
                self.warning("badarray", &format!("the last {surplus} numbers of {axis} are too many and are ignored"));
            }
        }
        Some(TrimCurves { loops })
    }

    /// Reads the curve after those that were read, as Bezier curves.
    fn trim_curve(&self, arrays: &TrimArrays, next: &mut Next) -> Option<Vec<BezierCurve>> {
        let (order, count) = (arrays.orders[next.curve], arrays.counts[next.curve]);
        let range = [arrays.min[next.curve], arrays.max[next.curve]].map(f64::from);
        next.curve += 1;
        let name = format!("curve {}", next.curve);
        if order < 2 || count < order {
            let what =
                format!("{name} has order {order} and {count} points; it needs order 2 or more and as many points");
            self.error("range", &what);
            return None;
        }
        let (first, end) = (next.point, next.point + count as usize);
        let knots = arrays.knots.get(next.knot..next.knot + count as usize + order as usize);
        let knots = knots.map_or_else(|| arrays.knots[next.knot.min(arrays.knots.len())..].to_vec(), <[f32]>::to_vec);
        next.knot += knots.len();
        next.point = end;
        if end > POINTS_MAX {
            self.error("limitcheck", &format!("its curves have more than {POINTS_MAX} points"));
            return None;
        }
        let short = ["u", "v", "w"].iter().zip(&arrays.points).find(|(_, points)| points.len() < end);
        if let Some((axis, points)) = short {
            self.error("badarray", &format!("{name} needs {end} numbers of {axis}, and there are {}", points.len()));
            return None;
        }
        let coordinate = |axis: usize, i: usize| f64::from(arrays.points[axis][first + i]);
        for i in 0..count as usize {
            let [u, v, w] = [0, 1, 2].map(|axis| coordinate(axis, i));
            if !(u.is_finite() && v.is_finite() && w.is_finite() && w >= f64::from(f32::MIN_POSITIVE)) {
                self.error("range", &format!("point {} of {name} is ({u}, {v}, {w}): w must be more than 0", i + 1));
                return None;
            }
        }
        let spline = self.spline(&name, &NurbsDirection { count, order, knots, range })?;
        let bezier = |piece: &SplinePiece| -> BezierCurve {
            piece.points.iter().map(|sum| [0, 1, 2].map(|axis| sum.of(|i| coordinate(axis, i)))).collect()
        };
        Some(spline.pieces.iter().map(bezier).collect())
    }

    fn warn_of_gap(&self, number: usize, curves: &[BezierCurve]) {
        let size = extent(curves);
        for (i, curve) in curves.iter().enumerate() {
            let (a, b) = (point(&curve[curve.len() - 1]), point(&curves[(i + 1) % curves.len()][0]));
            if (a[0] - b[0]).hypot(a[1] - b[1]) > GAP_MAX * size {
                let ([u0, v0], [u1, v1]) = (a, b);
                let what = format!("loop {number} is not closed: a curve ends at ({u0}, {v0}) and the next begins");
                self.warning("consistency", &format!("{what} at ({u1}, {v1}); a straight line closes it"));
                return;
            }
        }
    }

    /// Returns the loops for a surface with these ranges of u and v, or none, with a message, if they are too dense.
    pub(super) fn trim_loops(&self, trim: &TrimState, ranges: [[f64; 2]; 2]) -> Option<Arc<TrimLoops>> {
        let curves = trim.curves.as_ref()?;
        let to_unit = |control: &[f64; 3]| {
            let [u, v] = [0, 1].map(|axis| {
                let [low, high] = ranges[axis];
                (control[axis] - low * control[2]) / (high - low)
            });
            [u, v, control[2]]
        };
        let mut pieces = Vec::new();
        for curves in &curves.loops {
            let curves: Vec<BezierCurve> = curves.iter().map(|curve| curve.iter().map(to_unit).collect()).collect();
            let (tolerance, first) = (FLATNESS * extent(&curves), pieces.len());
            for curve in &curves {
                let (begin, start) = (single(point(&curve[0])), pieces.len());
                append_pieces(curve, tolerance, HALVINGS_MAX, &mut pieces);
                close(&mut pieces, start, start > first, begin);
            }
            if let Some(begin) = pieces.get(first).map(|piece| piece.ends[0]) {
                let end = pieces.len();
                close(&mut pieces, end, end > first, begin);
            }
        }
        let count = pieces.len();
        if count > PIECES_MAX {
            let what = format!("its trim curves have more than {PIECES_MAX} pieces; it is drawn untrimmed");
            self.warning("limitcheck", &what);
            return None;
        }
        TrimLoops::new(pieces, trim.draws_outside)
            .map(Arc::new)
            .map_err(|most| {
                let what = format!("{most} pieces of its trim curves cross one line of v; it is drawn untrimmed");
                self.warning("limitcheck", &what);
            })
            .ok()
    }
}

/// Inserts a straight piece before the one at `at`, from the end of the piece before it to `begin`, if there is a gap.
fn close(pieces: &mut Vec<TrimPiece>, at: usize, follows: bool, begin: [f32; 2]) {
    if follows && pieces[at - 1].ends[1] != begin {
        let ends = [pieces[at - 1].ends[1], begin];
        pieces.insert(at, TrimPiece { ends, control: Vec::new() });
    }
}

/// What of a request's arrays comes next.
#[derive(Default)]
struct Next {
    curve: usize,
    knot: usize,
    point: usize,
}
