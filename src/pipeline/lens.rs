//! The cells of the lens: its unit square in as many parts as a pixel has samples, mapped to a disk.

use super::kernels::records::LensCell;

/// Points along a side of a cell that its rectangle is found from.
const SIDE_POINTS: u32 = 32;

/// How far the disk moves at most for a step in the unit square (2 for the square's size, and less than pi / 2).
const STRETCH: f64 = 3.2;

/// The cells, row by row, each with the rectangle that holds its points (glsl/lib/blur_sample.glsl clamps them to it).
pub fn cells([nx, ny]: [u32; 2]) -> Vec<LensCell> {
    (0..ny).flat_map(|y| (0..nx).map(move |x| cell([x, y], [nx, ny]))).collect()
}

/// The mapping keeps a cell in one piece, so its rim tells how far it reaches.
fn cell(at: [u32; 2], of: [u32; 2]) -> LensCell {
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    let sides = [[0.0, -1.0], [1.0, -1.0], [-1.0, 0.0], [-1.0, 1.0]];
    for (i, side) in (0..=SIDE_POINTS).flat_map(|i| sides.map(|side| (i, side))) {
        let along = f64::from(i) / f64::from(SIDE_POINTS);
        let square = [0, 1].map(|axis| {
            let part = if side[axis] < 0.0 { along } else { side[axis] };
            (f64::from(at[axis]) + part) / f64::from(of[axis])
        });
        let point = disk(square);
        low = [0, 1].map(|axis| low[axis].min(point[axis]));
        high = [0, 1].map(|axis| high[axis].max(point[axis]));
    }
    let slack = STRETCH * 0.5 / f64::from(SIDE_POINTS) / f64::from(of[0].min(of[1]));
    LensCell { low: low.map(|x| (x - slack).max(-1.0) as f32), high: high.map(|x| (x + slack).min(1.0) as f32) }
}

/// The unit square mapped to the unit disk so that equal areas stay equal (Shirley and Chiu 1997).
fn disk(square: [f64; 2]) -> [f64; 2] {
    let [a, b] = square.map(|x| 2.0 * x - 1.0);
    if a == 0.0 && b == 0.0 {
        return [0.0; 2];
    }
    let quarter = std::f64::consts::FRAC_PI_4;
    if a.abs() > b.abs() {
        let (sin, cos) = (quarter * b / a).sin_cos();
        [a * cos, a * sin]
    } else {
        let (sin, cos) = (quarter * a / b).sin_cos();
        [b * sin, b * cos]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_hold_their_points_and_are_small() {
        for samples in [[1, 1], [2, 2], [4, 4], [3, 5], [13, 13]] {
            let cells = cells(samples);
            let mut area = 0.0;
            for (i, cell) in (0..).zip(&cells) {
                let at = [i % samples[0], i / samples[0]];
                for k in 0..400 {
                    let part = [f64::from(k % 20) / 19.0, f64::from(k / 20) / 19.0];
                    let point = disk([0, 1].map(|axis| (f64::from(at[axis]) + part[axis]) / f64::from(samples[axis])));
                    let inside =
                        |axis: usize| (f64::from(cell.low[axis])..=f64::from(cell.high[axis])).contains(&point[axis]);
                    assert!(inside(0) && inside(1), "{point:?} of cell {at:?} of {samples:?}: {cell:?}");
                }
                area += (cell.high[0] - cell.low[0]) * (cell.high[1] - cell.low[1]);
            }
            assert!(area < 7.0, "{samples:?}: cells of {area} in all, for a disk of {}", std::f64::consts::PI);
        }
    }
}
