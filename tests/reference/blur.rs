//! When a sample is taken, and through which point of the lens (the rules at the top of `glsl/lib/sampling/blur.glsl`);
//! what a moving micropolygon is then.

use super::micropolygon::Micropolygon;
use super::sampling::{Pattern, halves, hash};
use anthill::pipeline::frame::{ShutterRamps, shutter_ramps};
use anthill::pipeline::kernels::constants::{
    BLUR_TIME_LAST, BLUR_TIME_UNITS, FRAME_LENS, FRAME_RAMPS, LENS_BITS, LENS_CLASS_PX, LENS_SALT, LENS_TURNS,
    PERIOD_LOG2, PERIOD_SALT, PIXEL_SALT, SQUARE_SALT, TIME_BITS, TURN_ROWS,
};
use anthill::pipeline::kernels::records::{Frame, LensCell};
use anthill::pipeline::lens::Lens;
use anthill::scene::Aperture;

/// What gives samples their times and points of the lens.
#[derive(Clone, Debug)]
pub(crate) struct Blurring {
    pub frame: Frame,
    pub pattern: Pattern,
    pub cells: Vec<LensCell>,
}

fn mixed(h: u32) -> u32 {
    let h = (h ^ (h >> 16)).wrapping_mul(0x7feb_352d);
    let h = (h ^ (h >> 15)).wrapping_mul(0x846c_a68b);
    h ^ (h >> 16)
}

/// A number below n.
fn below(salt: u32, number: u32, n: u32) -> u32 {
    let h = salt.wrapping_add(number.wrapping_mul(0x9e37_79b1)).wrapping_mul(0x2c1b_3c6d);
    let h = (h ^ (h >> 15)).wrapping_mul(0x297a_2d39);
    ((h >> 16) * n) >> 16
}

/// The place of a number below n in an order that puts those that follow each other far apart.
fn apart(x: u32, n: u32) -> u32 {
    let [step, _] = anthill::pipeline::frame::spread(n);
    if step > 0 { x * step % n } else { halves(x, n) }
}

/// Puts the columns of each row in another order and turns them, then turns the rows of each column.
fn shuffled([x, y]: [u32; 2], salt: u32, [nx, ny]: [u32; 2]) -> [u32; 2] {
    let x = (apart(x, nx) + below(salt, y, nx)) % nx;
    [x, (y + below(salt ^ TURN_ROWS, x, ny)) % ny]
}

/// By how many of `n` parts the order of a period is turned.
fn period_turn(pixel: [i32; 2], n: u32) -> u32 {
    below(hash(pixel.map(|x| (x >> PERIOD_LOG2).cast_unsigned())) ^ PERIOD_SALT, 0, n)
}

/// The quarter of each part in which a pixel's samples are.
fn quarter(pixel: [i32; 2]) -> u32 {
    let [x, y] = pixel.map(i32::cast_unsigned);
    let hash = mixed(hash([x >> 1, y >> 1]) ^ SQUARE_SALT);
    let orders = [[0, 2, 3, 1], [0, 3, 2, 1]];
    orders[(hash >> 2 & 1) as usize][(y % 2 * 2 + x % 2) as usize] ^ (hash & 3)
}

/// The square root, by Newton's method as in the kernels.
fn root(x: f32) -> f32 {
    let mut y = f32::from_bits(0x5f37_59df - (x.to_bits() >> 1));
    for _ in 0..3 {
        y *= 1.5 - (0.5 * x * y) * y;
    }
    x * y
}

fn pixel_salt(pixel: [i32; 2]) -> u32 {
    mixed(hash(pixel.map(i32::cast_unsigned)) ^ PIXEL_SALT)
}

impl Blurring {
    /// The number of the part of the shutter that each sample of a pixel has.
    fn parts(&self, pixel: [i32; 2]) -> Vec<u32> {
        let n = self.pattern.samples;
        let salt = pixel_salt(pixel);
        let mut parts = vec![u32::MAX; (n[0] * n[1]) as usize];
        for part in 0..n[0] * n[1] {
            let [x, y] = if self.frame.flags & FRAME_LENS != 0 {
                shuffled([part % n[0], part / n[0]], salt, n)
            } else {
                let mut subpixels = (0..n[0] * n[1]).map(|s| [s % n[0], s / n[0]]);
                subpixels.find(|&k| self.lattice_part(pixel, k) == part).expect("each part is in the pixel")
            };
            let of_sample = &mut parts[(y * n[0] + x) as usize];
            assert_eq!(*of_sample, u32::MAX, "no sample has two parts");
            *of_sample = part;
        }
        parts
    }

    /// The part of the shutter of a subpixel where there is no lens: those of a period are a lattice.
    fn lattice_part(&self, pixel: [i32; 2], [x, y]: [u32; 2]) -> u32 {
        let [nx, ny] = self.pattern.samples;
        let column = pixel[0].rem_euclid(1 << PERIOD_LOG2).cast_unsigned() * nx + x;
        (self.frame.time_lattice[0] * column + nx * y + period_turn(pixel, nx * ny)) % (nx * ny)
    }

    /// The cell of the lens that goes with a part: the pixels of a square of 4 x 4 begin at different cells, in the
    /// order of Bayer's matrix.
    fn cell(&self, pixel: [i32; 2], part: u32) -> [u32; 2] {
        const BAYER: [[u32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
        let [x, y] = pixel.map(|x| x.rem_euclid(LENS_CLASS_PX.cast_signed()) as usize);
        let n = self.pattern.samples;
        let place = (part + BAYER[y][x] * n[0] * n[1] / 16) % (n[0] * n[1]);
        shuffled([place % n[0], place / n[0]], LENS_SALT, n)
    }

    /// The times and points of the lens of a pixel's samples.
    pub(crate) fn pixel(&self, pixel: [i32; 2]) -> Vec<(f32, [f32; 2])> {
        (0..).zip(self.parts(pixel)).map(|(s, part)| self.blur(pixel, s, part)).collect()
    }

    /// The unit square, mapped to the aperture.
    fn aperture(&self, square: [f32; 2]) -> [f32; 2] {
        let Frame { lens_wedges, lens_density, lens_density_scale, samples: [nx, ny], .. } = self.frame;
        let [a, b] = square.map(|x| 2.0 * x - 1.0);
        let by_x = a.abs() > b.abs();
        let (r, other) = if by_x { (a, b) } else { (b, a) };
        if r == 0.0 {
            return [0.0; 2];
        }
        let eighth = 0.125 * (other / r);
        let turns = (if by_x { eighth } else { 0.25 - eighth }) + if r < 0.0 { 0.5 } else { 0.0 };
        let place = (if turns < 0.0 { turns + 1.0 } else { turns }) * lens_wedges as f32;
        let wedge = (place as u32).min(lens_wedges - 1);
        let rim = &self.cells[(nx * ny + wedge) as usize];
        let t = place - wedge as f32;
        let rest = 1.0 - lens_density;
        let area = (root(rest * rest + 4.0 * lens_density * (r * r)) - rest) * lens_density_scale;
        let radius = if lens_density_scale == 0.0 { r.abs() } else { root(area.max(0.0)) };
        [0, 1].map(|axis| radius * ((1.0 - t) * rim.low[axis] + t * rim.high[axis]))
    }

    /// The time by which a part of the light has come in.
    fn shutter_time(&self, light: f32) -> f32 {
        let Frame { flags, ramps, ramp_parts, ramp_inverse, open_time, .. } = self.frame;
        match 1.0 - light {
            _ if flags & FRAME_RAMPS == 0 => light,
            _ if light < ramp_parts[0] => ramps[0] * root(light * ramp_inverse[0]),
            left if left < ramp_parts[1] => 1.0 - ramps[1] * root(left * ramp_inverse[1]),
            _ => ramps[0] + (light - ramp_parts[0]) * open_time,
        }
    }

    /// The time of a sample, 0 to 1, and the point of the lens, in the unit disk.
    fn blur(&self, pixel: [i32; 2], s: u32, part: u32) -> (f32, [f32; 2]) {
        let n = self.pattern.samples;
        let k = [s % n[0], s / n[0]];
        let absolute = [0, 1].map(|axis| pixel[axis].cast_unsigned().wrapping_mul(n[axis]).wrapping_add(k[axis]));
        let hash = mixed(hash(absolute));
        let bits = |shift: i32, count: i32| {
            let value = if self.pattern.jitter { (hash >> shift) & ((1 << count) - 1) } else { 1 << (count - 1) };
            (value as f32 + 0.5) * (1.0 / (1_u32 << count) as f32)
        };
        let mut in_part = bits(0, TIME_BITS);
        if self.frame.flags & FRAME_LENS == 0 && self.pattern.jitter && n != [1, 1] {
            let (all, quarters) = (1 << TIME_BITS, 1 << (TIME_BITS - 2));
            in_part = ((quarter(pixel) * quarters + hash % all / 4) as f32 + 0.5) / all as f32;
        }
        let exact = self.shutter_time((part as f32 + in_part) * self.frame.stratum);
        let time = (exact * BLUR_TIME_UNITS).min(BLUR_TIME_LAST).floor() * (1.0 / BLUR_TIME_UNITS);
        if self.frame.flags & FRAME_LENS == 0 {
            return (time, [0.0; 2]);
        }
        let cell = self.cell(pixel, part);
        let salt = pixel_salt(pixel) ^ LENS_TURNS;
        let [right, down] = [below(salt, 0, n[1]), below(salt, 1, n[0])];
        let nth = [(halves(cell[1], n[1]) + right) % n[1], (halves(cell[0], n[0]) + down) % n[0]].map(|nth| nth as f32);
        let jitter = [bits(TIME_BITS, LENS_BITS), bits(TIME_BITS + LENS_BITS, LENS_BITS)];
        let within = [0, 1].map(|axis| (nth[axis] + jitter[axis]) * (n[axis] as f32 * self.frame.stratum));
        let jitter = if self.pattern.jitter { within } else { [0.5; 2] };
        let size = [n[1], n[0]].map(|n| n as f32 * self.frame.stratum);
        let point = self.aperture([0, 1].map(|axis| (cell[axis] as f32 + jitter[axis]) * size[axis]));
        let rim = &self.cells[(cell[1] * n[0] + cell[0]) as usize];
        (time, [0, 1].map(|axis| point[axis].clamp(rim.low[axis], rim.high[axis])))
    }
}

/// The corners of a micropolygon at the times when they are known.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub keyframes: Vec<(f32, [[f32; 3]; 4])>,
}

impl Path {
    /// The micropolygon at a time, seen through a point of the lens; none when none of it can be seen.
    pub(crate) fn at(&self, frame: &Frame, (time, lens): (f32, [f32; 2])) -> Option<Micropolygon> {
        let after =
            self.keyframes[1..].iter().position(|(at, _)| time < *at).map_or(self.keyframes.len() - 1, |i| i + 1);
        let before = after.saturating_sub(1);
        let ((from, a), (to, b)) = (self.keyframes[before], self.keyframes[after]);
        let part = if after == before { 0.0 } else { ((time - from) * (1.0 / (to - from))).clamp(0.0, 1.0) };
        let mixed = |corner: usize| [0, 1, 2].map(|i| (1.0 - part) * a[corner][i] + part * b[corner][i]);
        Micropolygon::through_lens(frame, [0, 1, 2, 3].map(mixed), lens)
    }
}

/// A frame whose shutter takes time to open and to close.
pub(crate) fn with_ramps(frame: Frame, opening: [f32; 2]) -> Frame {
    let ShutterRamps { times, parts, inverse, open_time } = shutter_ramps(opening);
    let flags = frame.flags | FRAME_RAMPS;
    Frame { flags, ramps: times, ramp_parts: parts, ramp_inverse: inverse, open_time, ..frame }
}

/// A frame with a lens of this aperture, and the records of that lens.
pub(crate) fn with_aperture(frame: Frame, aperture: &Aperture) -> (Frame, Vec<LensCell>) {
    let lens = Lens::new(aperture);
    let [lens_density, lens_density_scale] = lens.density();
    let cells = lens.records(frame.samples);
    (Frame { lens_wedges: lens.wedges(), lens_density, lens_density_scale, ..frame }, cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blurring(samples: [u32; 2]) -> Blurring {
        with_flags(samples, FRAME_LENS)
    }

    fn with_flags(samples: [u32; 2], flags: u32) -> Blurring {
        let frame = Frame { flags, ..crate::kernels::region::flat_frame(samples, true) };
        let (frame, cells) = with_aperture(frame, &Aperture::default());
        Blurring { frame, pattern: Pattern { samples, jitter: true }, cells }
    }

    #[test]
    fn every_pixel_has_each_part_of_the_shutter_and_each_cell_of_the_lens_once() {
        for samples in [[1, 1], [2, 2], [4, 4], [3, 5], [6, 6]] {
            let blurring = blurring(samples);
            let n = samples[0] * samples[1];
            for pixel in [[0, 0], [5, -3], [-1000, 77], [123, 456]] {
                let mut times: Vec<u32> =
                    blurring.pixel(pixel).iter().map(|(time, _)| (time * n as f32) as u32).collect();
                times.sort_unstable();
                assert_eq!(times, (0..n).collect::<Vec<_>>(), "{samples:?} at {pixel:?}");
                let mut cells: Vec<[u32; 2]> = (0..n).map(|part| blurring.cell(pixel, part)).collect();
                cells.sort_unstable();
                cells.dedup();
                assert_eq!(cells.len(), n as usize);
            }
        }
    }

    #[test]
    fn subpixels_as_many_as_a_pixel_has_see_all_of_the_shutter_wherever_they_begin() {
        for samples in [[1, 1], [2, 2], [3, 3], [4, 4], [3, 5], [6, 6], [8, 8]] {
            let blurring = with_flags(samples, 0);
            let [nx, ny] = samples;
            for [left, top] in [[0, 0], [1, 2], [30, 7], [9, 5]] {
                let part = |[x, y]: [u32; 2]| {
                    blurring.lattice_part([(x / nx).cast_signed(), (y / ny).cast_signed()], [x % nx, y % ny])
                };
                let of = |s: u32| [left + s % nx, top + s / nx];
                let mut seen: Vec<u32> = (0..nx * ny).map(|s| part(of(s))).collect();
                seen.sort_unstable();
                assert_eq!(seen, (0..nx * ny).collect::<Vec<_>>(), "{samples:?} from {left} {top}");
            }
        }
    }

    #[test]
    fn without_jitter_samples_see_through_the_middles_of_cells() {
        let mut blurring = blurring([4, 4]);
        blurring.pattern.jitter = false;
        for pixel in [[0, 0], [5, -3], [31, 32]] {
            let mut found: Vec<[f32; 2]> = blurring.pixel(pixel).into_iter().map(|(_, lens)| lens).collect();
            let cells = (0..16).map(|i| [i % 4, i / 4].map(|cell| (cell as f32 + 0.5) / 4.0));
            let mut middles: Vec<[f32; 2]> = cells.map(|middle| blurring.aperture(middle)).collect();
            for points in [&mut found, &mut middles] {
                points.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
            }
            assert_eq!(found, middles);
        }
    }

    #[test]
    fn the_pixels_of_a_square_are_in_different_quarters_of_a_part() {
        for [x, y] in [[0, 0], [4, -6], [-1000, 78], [122, 456]] {
            let mut quarters = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[dx, dy]| quarter([x + dx, y + dy]));
            quarters.sort_unstable();
            assert_eq!(quarters, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn times_are_as_dense_as_the_shutter_is_open() {
        for opening in [[0.0, 1.0], [0.5, 0.5], [0.25, 1.0], [0.125, 0.5], [1.0, 1.0], [0.0, 0.0]] {
            let mut blurring = blurring([4, 4]);
            blurring.frame = with_ramps(blurring.frame, opening);
            let mut counts = [0.0; 16];
            for (time, _) in (0..2500).flat_map(|i| blurring.pixel([i % 50, i / 50])) {
                counts[(time * 16.0) as usize] += 1.0 / 40_000.0;
            }
            let [a, b] = opening.map(f64::from);
            let open = |t: f64| {
                if t < a {
                    t / a
                } else if t > b {
                    (1.0 - t) / (1.0 - b)
                } else {
                    1.0
                }
            };
            let area = 0.5 * (1.0 + b - a);
            for (i, found) in counts.into_iter().enumerate() {
                let expected = open((i as f64 + 0.5) / 16.0) / (16.0 * area);
                assert!((found - expected).abs() < 0.004, "{opening:?}, part {i}: {found} for {expected}");
            }
        }
    }

    /// Chi-square of counts that should be equal, in standard deviations from its mean.
    fn chi_square(counts: &[u32]) -> f64 {
        let mean = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - mean).powi(2) / mean).sum();
        let freedom = (counts.len() - 1) as f64;
        (chi - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn times_lens_and_place_are_not_correlated() {
        for flags in [0, FRAME_LENS] {
            let correlation = correlations(&with_flags([4, 4], flags));
            // Strata make counts more even than chance would.
            for (k, found) in correlation.into_iter().enumerate().take(if flags == 0 { 2 } else { 4 }) {
                assert!(found < 4.5, "{k}: {found}");
            }
        }
    }

    /// How uneven times are together with places along x and y, angles and radii of the lens.
    fn correlations(blurring: &Blurring) -> [f64; 4] {
        let mut joint = [vec![0; 64], vec![0; 64], vec![0; 64], vec![0; 64]];
        let mut centre = [0.0; 2];
        // Of a period, within which times and places along x are a lattice, it takes one pixel or two.
        let blurs = (0..1600).map(|i| [i % 40 * 37, i / 40 * 41]).flat_map(|pixel| {
            (0..).zip(blurring.pixel(pixel)).map(move |(s, blur)| (pixel, s, blur)).collect::<Vec<_>>()
        });
        for (pixel, s, (time, lens)) in blurs {
            let at = blurring.pattern.sample(pixel, s);
            let place = [0, 1].map(|axis| (at[axis].rem_euclid(1024) as f64 / 1024.0 * 8.0) as usize);
            let angle =
                ((f64::from(lens[1]).atan2(f64::from(lens[0])) / std::f64::consts::TAU + 0.5) * 8.0).min(7.9) as usize;
            let radius = (f64::from(lens[0]).powi(2) + f64::from(lens[1]).powi(2)).min(0.999);
            let time = (time * 8.0) as usize;
            for (k, other) in [place[0], place[1], angle, (radius * 8.0) as usize].into_iter().enumerate() {
                joint[k][time * 8 + other] += 1;
            }
            (0..2).for_each(|axis| centre[axis] += f64::from(lens[axis]) / 25_600.0);
        }
        assert!(centre.iter().all(|x| x.abs() < 0.01), "{centre:?}");
        joint.map(|counts| chi_square(&counts))
    }
}
