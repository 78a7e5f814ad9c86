//! The noise family and hashing: the same lattice, gradients and interpolant as `glsl/lib/rsl/noise.glsl`, in any
//! dimension by loops.

use crate::ir::{Const, MachineType, NoiseKind};

/// Mixes the bits of an integer.
pub(super) fn scramble(x: u32) -> u32 {
    let h = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    let h = (h ^ (h >> 15)).wrapping_mul(0x846c_a68b);
    h ^ (h >> 16)
}

/// Returns a hash of two integers.
pub(crate) fn hash(a: u32, b: u32) -> u32 {
    scramble(a.wrapping_add(scramble(b.wrapping_add(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b)))
}

/// Returns the upper 24 bits as a float in [0, 1).
fn unit(h: u32) -> f32 {
    (h >> 8) as f32 / (1 << 24) as f32
}

fn unit_of(ty: MachineType, h: u32) -> Const {
    match ty {
        MachineType::Vec3 => {
            let further = |salt: u32| unit(scramble(h.wrapping_add(salt)));
            Const::Vec3([unit(h), further(0x68bc_21eb), further(0x02e5_be93)])
        }
        _ => Const::F32(unit(h)),
    }
}

/// `random()`: a hash of the grid's seed, the vertex, the call and its count.
pub(crate) fn random(ty: MachineType, seed: u32, vertex: u32, site: u32, count: u32) -> Const {
    unit_of(ty, hash(hash(seed, vertex), hash(site, count)))
}

/// Factors of the lattice coordinates in the hash.
const FACTORS: [u32; 4] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d, 0x27d4_eb2f];

/// What brings each dimension to the contrast of the third.
const SCALES: [f32; 4] = [0.93, 0.578, 0.5, 0.461];

/// Returns the dot product of an offset with the gradient that the upper bits of h pick.
fn gradient(h: u32, d: &[f32]) -> f32 {
    let flip = |x: f32, h: u32| if h & 0x8000_0000 != 0 { -x } else { x };
    match *d {
        [x] => ((h >> 8) as f32 / (1 << 23) as f32 - 1.0) * x,
        [x, y] => {
            let (a, b) = if h & 0x2000_0000 != 0 { (y, x) } else { (x, y) };
            flip(a, h) + 0.414_213_57 * flip(b, h << 1)
        }
        [x, y, z] => {
            let third = (h << 2) as i32;
            let (a, b) = match third {
                ..-715_827_883 => (x, y),
                -715_827_883..715_827_882 => (x, z),
                _ => (y, z),
            };
            flip(a, h) + flip(b, h << 1)
        }
        _ => {
            let dropped = (h >> 27 & 3) as usize;
            let kept: Vec<f32> = (0..4).filter(|&i| i != dropped).map(|i| d[i]).collect();
            flip(kept[0], h) + flip(kept[1], h << 1) + flip(kept[2], h << 2)
        }
    }
}

fn fade(t: f32) -> f32 {
    t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
}

/// Returns noise between corners whose hash terms are given for the lower and the upper bound of each axis; `bits` are
/// dropped from the hash.
fn in_cell(low: &[u32], high: &[u32], f: &[f32], bits: u32) -> f32 {
    let n = f.len();
    let corner = |c: usize| {
        let h = (0..n).fold(0u32, |h, k| h.wrapping_add(if c >> k & 1 == 1 { high[k] } else { low[k] }));
        let d: Vec<f32> = (0..n).map(|k| if c >> k & 1 == 1 { f[k] - 1.0 } else { f[k] }).collect();
        gradient(scramble(h) << bits, &d)
    };
    let mut corners: Vec<f32> = (0..1 << n).map(corner).collect();
    for &t in f {
        let t = fade(t);
        corners = corners.chunks(2).map(|pair| pair[0] + t * (pair[1] - pair[0])).collect();
    }
    corners[0]
}

/// Returns a lattice coordinate modulo a period, which is rounded, at least 1 and at most 2^24.
fn wrap(i: f32, period: f32) -> f32 {
    let p = (period + 0.5).floor();
    let p = if p > 1.0 { p.min(16_777_216.0) } else { 1.0 };
    let r = i - p * (i / p).floor();
    let r = if r < 0.0 { r + p } else { r };
    if r < p { r } else { r - p }
}

fn gradient_noise(ty: MachineType, x: &[f32], periods: Option<&[f32]>) -> Const {
    let place = |k: usize, i: f32| {
        let i = periods.map_or(i, |p| wrap(i, p[k]));
        (i as i32 as u32).wrapping_mul(FACTORS[k])
    };
    let n = x.len();
    let low: Vec<u32> = (0..n).map(|k| place(k, x[k].floor())).collect();
    let high: Vec<u32> = (0..n)
        .map(|k| if periods.is_some() { place(k, x[k].floor() + 1.0) } else { low[k].wrapping_add(FACTORS[k]) })
        .collect();
    let f: Vec<f32> = x.iter().map(|x| x - x.floor()).collect();
    // Where lattice coordinates are no integers of 32 bits, and at NaN, noise is 1/2.
    let has_cell = x.iter().fold(0.0, |extent, x| extent + x.abs()) < 2_147_483_648.0;
    let inside = |bits| (in_cell(&low, &high, &f, bits) * SCALES[n - 1] + 0.5).clamp(0.0, 1.0);
    let ranged = |bits| if has_cell { inside(bits) } else { 0.5 };
    match ty {
        MachineType::Vec3 => Const::Vec3([0, 11, 22].map(ranged)),
        _ => Const::F32(ranged(0)),
    }
}

/// Returns the number that belongs to the coordinates under their `keys`.
fn keyed(ty: MachineType, x: &[f32], start: u32, key: impl Fn(f32) -> u32) -> Const {
    let h = x.iter().zip(FACTORS).fold(start, |h, (&x, factor)| scramble(h.wrapping_add(key(x).wrapping_mul(factor))));
    unit_of(ty, h)
}

/// A coordinate is that of the nearest cell that there is; NaN is in cell 0.
fn cell_noise(ty: MachineType, x: &[f32]) -> Const {
    keyed(ty, x, x.len() as u32, |x| x.floor().clamp(-2_147_483_648.0, 2_147_483_520.0) as i32 as u32)
}

/// The two zeros are one, and so is what is too small for a normal float, as devices take that for 0, and what is no
/// number.
fn hash_noise(ty: MachineType, x: &[f32]) -> Const {
    keyed(ty, x, 4 + x.len() as u32, |x| if x.abs() >= f32::MIN_POSITIVE { x.to_bits() } else { 0 })
}

/// Returns noise of a kind; `args` are the coordinates, then the periods of periodic noise.
pub(crate) fn noise(kind: NoiseKind, dimension: usize, ty: MachineType, args: &[f32]) -> Const {
    let (coordinates, periods) = args.split_at(dimension);
    match kind {
        NoiseKind::Gradient => gradient_noise(ty, coordinates, None),
        NoiseKind::Periodic => gradient_noise(ty, coordinates, Some(periods)),
        NoiseKind::Cell => cell_noise(ty, coordinates),
        NoiseKind::Hash => hash_noise(ty, coordinates),
    }
}
