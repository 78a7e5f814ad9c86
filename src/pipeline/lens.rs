//! The lens: its unit square in as many cells as a pixel has samples, mapped to the aperture, which is cut into wedges
//! of equal area.

use super::kernels::records::LensCell;
use crate::scene::Aperture;
use std::f64::consts::TAU;

/// Points along a side of a cell that its rectangle is found from.
const SIDE_POINTS: u32 = 32;

/// Wedges that an aperture has about.
const WEDGES: u32 = 256;

/// Steps along a side of the aperture in which its area is summed up.
const AREA_STEPS: u32 = 4096;

/// Densities nearer to 0 than this are 0: nobody sees them, and little precision would be left.
const DENSITY_MIN: f32 = 1.0 / 256.0;

/// What maps the unit square to the aperture.
#[derive(Clone, Debug)]
pub struct Lens {
    /// Points of the rim, one after the other; between two of them and the middle is a wedge.
    rim: Vec<[f64; 2]>,
    density: f64,
}

impl Lens {
    /// The lens of an aperture.
    pub fn new(aperture: &Aperture) -> Self {
        let density = if aperture.density.abs() < DENSITY_MIN { 0.0 } else { f64::from(aperture.density) };
        Self { rim: rim(aperture), density }
    }

    /// Wedges.
    pub fn wedges(&self) -> u32 {
        self.rim.len() as u32
    }

    /// The density, and 1 / (2 density), 0 where all of the lens lets as much light in.
    pub fn density(&self) -> [f32; 2] {
        let twice = 2.0 * self.density;
        [self.density as f32, if twice == 0.0 { 0.0 } else { (1.0 / twice) as f32 }]
    }

    /// The records of the lens: the cells, row by row, each with the rectangle that holds its points
    /// (glsl/blur_samples.comp clamps them to it), then the wedges, each with its points of the rim.
    pub fn records(&self, [nx, ny]: [u32; 2]) -> Vec<LensCell> {
        let cells = (0..ny).flat_map(|y| (0..nx).map(move |x| [x, y])).map(|at| self.cell(at, [nx, ny]));
        let next = self.rim.iter().cycle().skip(1);
        let wedge = |(a, b): (&[f64; 2], &[f64; 2])| LensCell { low: a.map(|x| x as f32), high: b.map(|x| x as f32) };
        cells.chain(self.rim.iter().zip(next).map(wedge)).collect()
    }

    /// The mapping keeps a cell in one piece, so its rim tells how far it reaches, but for less than a step along it.
    fn cell(&self, at: [u32; 2], of: [u32; 2]) -> LensCell {
        let (mut low, mut high, mut slack) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2], 0.0_f64);
        for side in [[0.0, -1.0], [1.0, -1.0], [-1.0, 0.0], [-1.0, 1.0]] {
            let mut before: Option<[f64; 2]> = None;
            for i in 0..=SIDE_POINTS {
                let along = f64::from(i) / f64::from(SIDE_POINTS);
                let square = [0, 1].map(|axis| {
                    let part = if side[axis] < 0.0 { along } else { side[axis] };
                    (f64::from(at[axis]) + part) / f64::from(of[axis])
                });
                let point = self.point(square);
                let step = before.map_or(0.0, |before| (point[0] - before[0]).hypot(point[1] - before[1]));
                before = Some(point);
                slack = slack.max(step);
                low = [0, 1].map(|axis| low[axis].min(point[axis]));
                high = [0, 1].map(|axis| high[axis].max(point[axis]));
            }
        }
        LensCell { low: low.map(|x| (x - slack).max(-1.0) as f32), high: high.map(|x| (x + slack).min(1.0) as f32) }
    }

    /// The unit square mapped to the aperture: to the unit disk, so that equal areas stay equal (Shirley and Chiu
    /// 1997), whose sectors become the wedges.
    fn point(&self, square: [f64; 2]) -> [f64; 2] {
        let [a, b] = square.map(|x| 2.0 * x - 1.0);
        if a == 0.0 && b == 0.0 {
            return [0.0; 2];
        }
        let (r, turns) = if a.abs() > b.abs() { (a, 0.125 * b / a) } else { (b, 0.25 - 0.125 * a / b) };
        let turns = if r < 0.0 { turns + 0.5 } else { turns };
        let place = (turns - turns.floor()) * self.rim.len() as f64;
        let k = (place as usize).min(self.rim.len() - 1);
        let (from, to) = (self.rim[k], self.rim[(k + 1) % self.rim.len()]);
        let (t, r) = (place - k as f64, self.radius(r.abs()));
        [0, 1].map(|axis| r * ((1.0 - t) * from[axis] + t * to[axis]))
    }

    /// How far from the middle what is at a radius of an even lens is, if light grows evenly from 1 - density in the
    /// middle to 1 + density at the rim, over the area.
    fn radius(&self, even: f64) -> f64 {
        let (area, rest) = (even * even, 1.0 - self.density);
        if self.density == 0.0 {
            return even;
        }
        ((((rest * rest + 4.0 * self.density * area).sqrt() - rest) / (2.0 * self.density)).max(0.0)).sqrt()
    }
}

/// Points of the rim of an aperture, counterclockwise, with equal areas between them and the middle.
fn rim(aperture: &Aperture) -> Vec<[f64; 2]> {
    let sides = if aperture.sides < 3 { 1 } else { aperture.sides };
    let each = WEDGES.div_ceil(sides);
    let side = TAU / f64::from(sides);
    let middle = (0.5 * side).cos();
    let roundness = f64::from(aperture.roundness);
    let radius = |angle: f64| {
        let straight = if sides < 3 { 1.0 } else { middle / (angle - 0.5 * side).cos() };
        straight + roundness * (1.0 - straight)
    };
    let angles = angles_of_equal_area(radius, side, each);
    let corner = |k: u32| f64::from(k) * side + f64::from(aperture.angle_degrees).to_radians();
    let point = |(k, angle): (u32, &f64)| {
        let (sin, cos) = (corner(k) + angle).sin_cos();
        [radius(*angle) * cos, radius(*angle) * sin]
    };
    (0..sides).flat_map(|k| angles.iter().map(move |angle| (k, angle))).map(point).collect()
}

/// The angles from 0, which is one of them, to `end`, which is not, between which there are equal areas.
fn angles_of_equal_area(radius: impl Fn(f64) -> f64, end: f64, count: u32) -> Vec<f64> {
    let step = end / f64::from(AREA_STEPS);
    let area = |i: u32| radius((f64::from(i) + 0.5) * step).powi(2);
    let whole: f64 = (0..AREA_STEPS).map(area).sum();
    let (mut angles, mut sum) = (Vec::with_capacity(count as usize), 0.0);
    for i in 0..AREA_STEPS {
        let here = area(i);
        while angles.len() < count as usize && angles.len() as f64 * whole <= (sum + here) * f64::from(count) {
            let wanted = angles.len() as f64 * whole / f64::from(count);
            let part = if here > 0.0 { (wanted - sum) / here } else { 0.0 };
            angles.push((f64::from(i) + part.clamp(0.0, 1.0)) * step);
        }
        sum += here;
    }
    angles
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: Aperture = Aperture { sides: 0, angle_degrees: 0.0, roundness: 0.0, density: 0.0 };

    fn apertures() -> [Aperture; 6] {
        let hexagon = Aperture { sides: 6, angle_degrees: 10.0, ..ROUND };
        let star = Aperture { sides: 5, roundness: -1.0, ..ROUND };
        let [bright_rim, bright_middle] = [1.0, -1.0].map(|density| Aperture { sides: 5, density, ..ROUND });
        [ROUND, hexagon, star, bright_rim, bright_middle, Aperture { sides: 17, roundness: 0.5, ..ROUND }]
    }

    #[test]
    fn cells_hold_their_points_and_are_small() {
        for (samples, aperture) in
            [[1, 1], [2, 2], [4, 4], [3, 5], [13, 13]].iter().flat_map(|&s| apertures().map(|a| (s, a)))
        {
            let lens = Lens::new(&aperture);
            let records = lens.records(samples);
            let cells = &records[..(samples[0] * samples[1]) as usize];
            let mut area = 0.0;
            for (i, cell) in (0..).zip(cells) {
                let at = [i % samples[0], i / samples[0]];
                for k in 0..400 {
                    let part = [f64::from(k % 20) / 19.0, f64::from(k / 20) / 19.0];
                    let point =
                        lens.point([0, 1].map(|axis| (f64::from(at[axis]) + part[axis]) / f64::from(samples[axis])));
                    let inside = |axis: usize| {
                        (f64::from(cell.low[axis])..=f64::from(cell.high[axis]))
                            .contains(&(f64::from(point[axis] as f32)))
                    };
                    assert!(inside(0) && inside(1), "{point:?} of cell {at:?} of {samples:?}, {aperture:?}: {cell:?}");
                }
                area += (cell.high[0] - cell.low[0]) * (cell.high[1] - cell.low[1]);
            }
            assert!(area < 8.0, "{samples:?}, {aperture:?}: cells of {area} in all");
        }
    }

    #[test]
    fn wedges_have_equal_areas_and_end_at_the_corners() {
        for aperture in apertures() {
            let rim = rim(&aperture);
            let areas: Vec<f64> = (0..rim.len())
                .map(|k| (rim[k], rim[(k + 1) % rim.len()]))
                .map(|(a, b)| 0.5 * (a[0] * b[1] - a[1] * b[0]))
                .collect();
            let mean = areas.iter().sum::<f64>() / areas.len() as f64;
            assert!(areas.iter().all(|area| (area - mean).abs() < 0.03 * mean), "{aperture:?}: {areas:?}");
            let corner = f64::from(aperture.angle_degrees).to_radians();
            assert!((rim[0][0] - corner.cos()).abs() + (rim[0][1] - corner.sin()).abs() < 1e-12, "{:?}", rim[0]);
        }
        let hexagon: f64 = 1.5 * 3.0_f64.sqrt();
        let rim = rim(&apertures()[1]);
        let twice = |k: usize| rim[k][0] * rim[(k + 1) % rim.len()][1] - rim[k][1] * rim[(k + 1) % rim.len()][0];
        let area = (0..rim.len()).map(|k| 0.5 * twice(k)).sum::<f64>();
        assert!((area - hexagon).abs() < 1e-9, "{area} for {hexagon}");
    }

    #[test]
    fn light_is_as_dense_as_the_aperture_asks() {
        for density in [-1.0, -0.25, 0.5, 1.0] {
            let lens = Lens::new(&Aperture { density, ..ROUND });
            // The part of the light inside of half the area: 1/2 - density / 4.
            let inside = (0..10_000).filter(|i| lens.radius((f64::from(*i) / 10_000.0).sqrt()).powi(2) < 0.5).count();
            let expected = 0.5 - 0.25 * f64::from(density);
            assert!((inside as f64 / 10_000.0 - expected).abs() < 1e-3, "{density}: {inside}");
        }
    }
}
