//! What bound/split must achieve, checked on its results: parts that make up the whole, in stable order; rates by their
//! definition.

use super::edge::{Edge, UNIT};
use glam::DVec2;

/// Whether rectangles (u0, v0, u1, v1 in 1 / [`UNIT`]) are the parts of `whole` in the order in which repeated halving
/// leaves them: children where their parent stood, the lower one first.
pub(crate) fn is_partition(parts: &[[u64; 4]], whole: [u64; 4]) -> bool {
    let [u0, v0, u1, v1] = whole;
    if parts.len() == 1 {
        return parts[0] == whole;
    }
    let (um, vm) = (u0.midpoint(u1), v0.midpoint(v1));
    let halves = [([u0, v0, um, v1], [um, v0, u1, v1]), ([u0, v0, u1, vm], [u0, vm, u1, v1])];
    halves.into_iter().any(|(lower, upper)| {
        let inside = |part: &[u64; 4]| part[2] <= lower[2] && part[3] <= lower[3];
        let count = parts.partition_point(inside);
        count > 0 && count < parts.len() && is_partition(&parts[..count], lower) && is_partition(&parts[count..], upper)
    })
}

/// Where the leaf edge of an edge begins and ends.
pub(crate) fn leaf(edge: &Edge) -> [f64; 2] {
    [edge.leaf_start, edge.leaf_start + (UNIT >> edge.leaf_level)].map(|at| at as f64 / UNIT as f64)
}

/// The micropolygons that a line asks for, before rounding: as many as the wanted length `px` goes into the chords
/// between its quarters; and so many that the chords of the line itself, whose bend is the largest second difference of
/// the quarter points, are no more than the part `flatness` of that length off it.
pub(crate) fn wanted(quarters: [DVec2; 5], px: f64, flatness: f32) -> f64 {
    let length: f64 = quarters.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
    let bend = quarters.windows(3).map(|p| (p[0] + p[2] - 2.0 * p[1]).length()).fold(0.0, f64::max);
    // n chords of a line with second differences d at a quarter of its length lie 2 d / n^2 off it.
    (length / px).max((2.0 * bend / (f64::from(flatness) * px)).sqrt())
}

/// Whether a line is so uneven that equal steps would make far too large micropolygons.
pub(crate) fn uneven(quarters: [DVec2; 5], px: f64) -> bool {
    let chords: Vec<f64> = quarters.windows(2).map(|pair| pair[0].distance(pair[1])).collect();
    let (total, longest) = (chords.iter().sum::<f64>(), chords.iter().copied().fold(0.0, f64::max));
    2.0 * longest > total && total > 4.0 * px
}

#[test]
fn halves_in_order_are_a_partition_and_nothing_else() {
    let h = UNIT / 2;
    let whole = [0, 0, UNIT, UNIT];
    let (left, low_right, high_right) = ([0, 0, h, UNIT], [h, 0, UNIT, h], [h, h, UNIT, UNIT]);
    assert!(is_partition(&[left, low_right, high_right], whole));
    assert!(!is_partition(&[left, high_right, low_right], whole), "order");
    assert!(!is_partition(&[left, low_right], whole), "a part is missing");
    assert!(!is_partition(&[left, low_right, high_right, high_right], whole), "a part is there twice");
}

#[test]
fn a_straight_line_asks_for_its_length_and_a_bent_one_for_more() {
    let line = |bend: f64| [0.0, 1.0, 2.0, 3.0, 4.0].map(|x| DVec2::new(x, bend * x * x));
    assert_eq!(wanted(line(0.0), 0.5, 0.125), 8.0);
    // Second differences of x^2 are 2: sqrt(16 * 2) chords of length 1.
    assert!(
        wanted(line(0.25), 1.0, 0.125) < 6.0
            && (wanted(line(1.0), 20.0, 0.125) - (16.0_f64 / 10.0).sqrt()).abs() < 1e-12
    );
    assert!(uneven([0.0, 1.0, 2.0, 3.0, 9.0].map(DVec2::splat), 1.0));
}
