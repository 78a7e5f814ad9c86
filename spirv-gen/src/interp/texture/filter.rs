//! Probes along the major axis of a footprint.

use super::arithmetic::{bounded, reciprocal, root, wrap_place};
use super::cube;
use super::store::{TextureShape, TextureStore, WantedChannels};
use super::texels::{EXPONENT_OF_ONE, MANTISSA_BITS, channels_of_word, word_channels};
use crate::ir::LookupKind;

/// What a filter weighs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterForm {
    /// Of a standard deviation of 0.38 footprints along the major axis.
    Gaussian,
    /// The footprint itself.
    Box,
    /// A bell.
    RadialBspline,
    /// An ellipse.
    Disk,
    /// A windowed sinc along the major axis.
    Lanczos,
}

impl FilterForm {
    /// Returns the filter of a number of [`LookupKind::FILTERS`].
    pub(super) fn of_number(number: f32) -> Self {
        [Self::Gaussian, Self::Box, Self::RadialBspline, Self::Disk, Self::Lanczos]
            .into_iter()
            .nth((number as u8 % LookupKind::PLAIN).into())
            .unwrap_or(Self::Gaussian)
    }

    /// Returns the width of a probe and the reach of the line of probes, in footprints.
    fn extent(self) -> [f32; 2] {
        match self {
            Self::Gaussian => [0.96, 0.75],
            Self::Box => [0.85, 0.5],
            Self::RadialBspline => [0.7, 1.0],
            Self::Disk => [0.75, 0.564],
            Self::Lanczos => [0.75, 2.0],
        }
    }

    /// Returns the number of probes along a line that is as long as so many widths of a probe.
    fn probe_count(self, widths: f32) -> f32 {
        let count = (widths + 1.5).floor().min(32.0);
        if self == Self::Lanczos && count == 2.0 { 3.0 } else { count }
    }

    /// Returns the weight along the line by the square of the place on it.
    fn weight(self, q: f32) -> f32 {
        let r = 1.0 - q;
        match self {
            Self::Gaussian => {
                let g = 1.0 - 0.125 * q;
                (0..4).fold(g, |g, _| g * g)
            }
            Self::Box => 1.0,
            Self::RadialBspline => r * r * r,
            Self::Disk => 1.0 - 0.5 * (q + (q * q) * (q * q)),
            Self::Lanczos => (1.0 - 4.0 * q) * ((r * r) * r),
        }
    }
}

/// How a lookup filters.
#[derive(Clone, Copy, Debug)]
pub struct LookupFilter {
    /// Factors of the footprint along s and t; in an environment of dx and dy.
    pub width: [f32; 2],
    /// What is added to the footprint, in parts of the texture.
    pub blur: [f32; 2],
    /// The filter's form.
    pub form: FilterForm,
    /// Whether it is not made sharper ([`LookupKind::PLAIN`]).
    pub is_plain: bool,
    /// The value of channels that the texture lacks.
    pub fill: f32,
    /// 1 between two levels, 0 the nearest one.
    pub lerp: f32,
}

impl LookupFilter {
    /// Returns how much sharper lookups are of which micropolygons show means: the wider the scene makes the footprint,
    /// the less.
    fn sharpness(&self) -> f32 {
        if self.is_plain {
            return 0.0;
        }
        let [s, t] = self.width.map(|width| bounded(width, 1e9).abs().max(1.0));
        reciprocal(s * t)
    }
}

impl Default for LookupFilter {
    fn default() -> Self {
        Self { width: [1.0; 2], blur: [0.0; 2], form: FilterForm::Gaussian, is_plain: false, fill: 0.0, lerp: 1.0 }
    }
}

/// Where probes lie: `place + x * axis` for x in -1..1, in `level` and the two after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Footprint {
    place: [f32; 2],
    axis: [f32; 2],
    level: u32,
    /// How many probes there are in each level.
    counts: [f32; 3],
    /// The shares of the levels, which add up to 1. A level without a share has no probes.
    shares: [f32; 3],
}

impl Footprint {
    /// Returns the footprint of the derivatives and blur in parts of a window of `size` texels.
    pub(super) fn new(
        size: [f32; 2],
        levels: u32,
        place: [f32; 2],
        area: [[f32; 2]; 3],
        filter: &LookupFilter,
    ) -> Self {
        let [x, y, b] = area.map(|v| [v[0] * size[0], v[1] * size[1]]);
        let a = (x[0] * x[0] + y[0] * y[0]) + b[0] * b[0];
        let c = (x[1] * x[1] + y[1] * y[1]) + b[1] * b[1];
        let h = x[0] * x[1] + y[0] * y[1];
        let spread = root((a - c) * (a - c) + 4.0 * (h * h));
        let major = 0.5 * ((a + c) + spread);
        let area = x[0] * y[1] - x[1] * y[0];
        let stretched = b[0] * b[0] * (x[1] * x[1] + y[1] * y[1]) + b[1] * b[1] * a;
        let square = area * area + stretched;
        let minor = square * reciprocal(major.max(1e-12));
        let [probe, reach] = filter.form.extent();
        let across = probe * root(minor.max(major * 0.003_906_25));
        let width = across.max(1.0);
        let covered = width * reciprocal(probe);
        let rest = root((major - covered * covered).max(0.0));
        let scale = reach * rest * reciprocal(root(spread).max(1e-6));
        let along = [root((a - minor).max(0.0)), root((c - minor).max(0.0))];
        let along = [along[0] * scale, (if h < 0.0 { -along[1] } else { along[1] }) * scale];
        let (level, coarser) = level_of(width, filter.lerp);
        // What is blurred stays so, and where texels are as wide as two probes, there is nothing finer to see.
        let sharp = (2.0 * across - 1.0).clamp(0.0, 1.0) * filter.sharpness();
        let sharp = sharp * (1.0 - stretched * reciprocal(square.max(1e-12))).max(0.0);
        let shares = if filter.lerp < 0.5 { [1.0, 0.0, 0.0] } else { level_shares(level, levels, coarser, sharp) };
        let line = 2.2 * reach * rest;
        let texels = line * f32::from_bits((2 * EXPONENT_OF_ONE - (width.to_bits() >> MANTISSA_BITS)) << MANTISSA_BITS);
        let widths = [line * reciprocal(width), texels * 0.5, texels * 0.25];
        let count = |i: usize| if shares[i] == 0.0 { 0.0 } else { filter.form.probe_count(widths[i]) };
        Self {
            place,
            axis: [along[0] * reciprocal(size[0]), along[1] * reciprocal(size[1])],
            level: level.min(levels - 1),
            counts: [0, 1, 2].map(count),
            shares,
        }
    }
}

/// Returns the level whose texels are just smaller than a probe, and how far it is to the next; without `lerp` the
/// nearest level.
fn level_of(width: f32, lerp: f32) -> (u32, f32) {
    let (exponent, mantissa) = (width.to_bits() >> MANTISSA_BITS, width.to_bits() & ((1 << MANTISSA_BITS) - 1));
    let coarser = mantissa as f32 * (1.0 / (1 << MANTISSA_BITS) as f32);
    let up = u32::from(lerp < 0.5 && coarser >= 0.5);
    (exponent - EXPONENT_OF_ONE + up, coarser)
}

/// Returns the shares of a level and of the two after it, if it has these. Beyond the last level the last one counts.
fn level_shares(level: u32, levels: u32, coarser: f32, sharp: f32) -> [f32; 3] {
    let is_last = level + 1 >= levels;
    let finest = if is_last { 1.0 } else { (1.0 + sharp) * (1.0 - coarser) };
    let coarsest = if level + 2 >= levels { 0.0 } else { -(sharp * coarser) };
    [finest, if is_last { 0.0 } else { (1.0 - finest) - coarsest }, coarsest]
}

/// Returns a texel's coordinate after wrap; `at` is beside a place that [`wrap_place`] gave.
fn wrap_texel(at: i32, extent: u32, wrap: u32) -> Option<u32> {
    let n = extent as i32;
    match wrap {
        2 => Some(at.rem_euclid(n) as u32),
        3 => {
            let twice = at.rem_euclid(2 * n);
            Some(if twice < n { twice } else { 2 * n - 1 - twice } as u32)
        }
        _ => {
            let inside = at.clamp(0, n - 1);
            (wrap == 1 || at == inside).then_some(inside as u32)
        }
    }
}

impl TextureShape {
    /// Returns how it is wrapped along both axes.
    fn wraps(&self) -> [u32; 2] {
        if self.kind == 1 { [2, 3] } else { self.wrap }
    }

    /// Whether the faces of a cube overlap.
    fn overlaps(&self) -> bool {
        self.fov > 90.5 && self.fov < 179.0
    }

    /// Returns both coordinates; beyond the poles of a lat-long map lies the other side.
    fn wrapped(&self, at: [i32; 2], extent: [u32; 2]) -> Option<[u32; 2]> {
        let wraps = self.wraps();
        let [x, y] = [wrap_texel(at[0], extent[0], wraps[0])?, wrap_texel(at[1], extent[1], wraps[1])?];
        let beyond = self.kind == 1 && at[1].div_euclid(extent[1] as i32) & 1 != 0;
        Some([if beyond { (x + extent[0] / 2) % extent[0] } else { x }, y])
    }
}

/// The least and the largest of texels, by channel.
struct TexelRange {
    low: [f32; 4],
    high: [f32; 4],
}

impl Default for TexelRange {
    fn default() -> Self {
        Self { low: [3.4e38; 4], high: [-3.4e38; 4] }
    }
}

impl TexelRange {
    fn add(&mut self, texel: [f32; 4]) {
        self.low = std::array::from_fn(|i| self.low[i].min(texel[i]));
        self.high = std::array::from_fn(|i| self.high[i].max(texel[i]));
    }

    /// Returns values within 0..1 if the texels are, and within their range the closer, the further that is beyond it.
    fn within(&self, values: [f32; 4]) -> [f32; 4] {
        std::array::from_fn(|i| {
            let (low, high) = (self.low[i], self.high[i]);
            let (above, below) = ((high - 1.0).clamp(0.0, 1.0), (-low).clamp(0.0, 1.0));
            values[i].max(low.min(low * above)).min(high.max((high - 1.0) * below + 1.0))
        })
    }
}

/// What is looked up: channels of a cell of a grid of equal parts of a texture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) texture: u32,
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) cell: [u32; 2],
    pub(super) parts: [u32; 2],
}

impl Window {
    /// Returns the whole texture.
    pub(super) fn whole(shape: &TextureShape, texture: u32, wanted: WantedChannels) -> Self {
        let first = if wanted.first >= 0.0 && wanted.first < 1024.0 { wanted.first as u32 } else { 1024 };
        let end = (first + wanted.count).min(shape.channels);
        Self { texture, first, end, cell: [0; 2], parts: [1; 2] }
    }

    /// Returns the wanted channels.
    pub(super) fn filtered(
        &self,
        store: &dyn TextureStore,
        shape: &TextureShape,
        footprint: &Footprint,
        filter: &LookupFilter,
    ) -> [f32; 3] {
        let each = channels_of_word(shape.format);
        let mut result = [filter.fill; 3];
        for plane in self.first / each..self.end.div_ceil(each) {
            let mean = self.plane(store, shape, footprint, plane, filter.form);
            for channel in self.first.max(plane * each)..self.end.min((plane + 1) * each) {
                result[(channel - self.first) as usize] = mean[(channel - plane * each) as usize];
            }
        }
        result
    }

    /// Returns the weighted mean of all probes in one plane.
    fn plane(
        &self,
        store: &dyn TextureStore,
        shape: &TextureShape,
        f: &Footprint,
        plane: u32,
        form: FilterForm,
    ) -> [f32; 4] {
        let (mut mean, mut range) = ([0.0; 4], TexelRange::default());
        for (coarser, (count, share)) in (0..).zip(f.counts.into_iter().zip(f.shares)) {
            let (mut sum, mut total) = ([0.0; 4], 0.0);
            let step = reciprocal(count.max(1.0));
            for i in 0..count as u32 {
                let x = (2 * i + 1) as f32 * step - 1.0;
                let weight = form.weight(x * x);
                total += weight;
                let place = [f.place[0] + f.axis[0] * x, f.place[1] + f.axis[1] * x];
                self.probe(store, shape, [f.level + coarser, plane], place, |w, word| {
                    let channels = word_channels(word, shape.format);
                    sum.iter_mut().zip(channels).for_each(|(sum, c)| *sum += (weight * w) * c);
                    range.add(channels);
                });
            }
            if count > 0.0 {
                let share = share * reciprocal(total);
                mean.iter_mut().zip(sum).for_each(|(mean, sum)| *mean += sum * share);
            }
        }
        range.within(mean)
    }

    /// The weights and words of a bilinear probe; words outside of a black wrap are 0.
    fn probe(
        &self,
        store: &dyn TextureStore,
        shape: &TextureShape,
        [level, plane]: [u32; 2],
        place: [f32; 2],
        mut take: impl FnMut(f32, u32),
    ) {
        let extent: [u32; 2] = std::array::from_fn(|i| ((shape.size[i] >> level).max(1) / self.parts[i]).max(1));
        let wraps = shape.wraps();
        let at: [f32; 2] = std::array::from_fn(|i| wrap_place(place[i], wraps[i]) * extent[i] as f32 - 0.5);
        if self.parts[0] == 3 && !shape.overlaps() {
            let face = self.cell[0] + 3 * self.cell[1];
            let texels = cube::texels(face, at, extent[0] as i32).into_iter().filter(|&(w, _)| w != 0.0);
            return texels.for_each(|(w, texel)| take(w, store.word(self.texture, level, plane, texel)));
        }
        let share = at.map(|x| x - x.floor());
        for corner in [[0, 0], [1, 0], [0, 1], [1, 1]] {
            let side = |i: usize| if corner[i] == 1 { share[i] } else { 1.0 - share[i] };
            let w = side(0) * side(1);
            let texel = shape.wrapped(std::array::from_fn(|i| at[i].floor() as i32 + corner[i]), extent);
            if w != 0.0 {
                let inside = texel.map(|texel| std::array::from_fn(|i| texel[i] + self.cell[i] * extent[i]));
                take(w, inside.map_or(0, |inside| store.word(self.texture, level, plane, inside)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the shares by level.
    fn by_level(level: u32, levels: u32, coarser: f32, sharp: f32) -> [f32; 8] {
        let shares = level_shares(level, levels, coarser, sharp);
        let mut found = [0.0; 8];
        for (i, share) in shares.into_iter().enumerate().filter(|(_, share)| *share != 0.0) {
            let level = level.min(levels - 1) as usize + i;
            assert!(level < levels as usize, "level {level} of {levels} has the share {share}");
            found[level] = share;
        }
        found
    }

    #[test]
    fn shares_of_levels_add_up_to_one_and_do_not_jump() {
        for (levels, level, sharp) in
            (1..5).flat_map(|n| (0..5).flat_map(move |i| [0.0, 0.3, 1.0].map(|sharp| (n, i, sharp))))
        {
            for coarser in [0.0, 0.1, 1.0 / 3.0, 0.5, 0.75, 0.999] {
                let sum: f32 = by_level(level, levels, coarser, sharp).into_iter().sum();
                assert!((sum - 1.0).abs() < 1e-6, "level {level} of {levels}, {coarser}, {sharp}: {sum}");
            }
            let (end, next) = (by_level(level, levels, 1.0, sharp), by_level(level + 1, levels, 0.0, sharp));
            // A sharper level fades away before the last one, which is alone.
            let is_same = end.iter().zip(next).all(|(a, b)| (a - b).abs() < 1e-6);
            assert!(is_same, "level {level} of {levels}, {sharp}: {end:?} and {next:?}");
        }
        assert_eq!(level_shares(3, 9, 0.25, 0.0), [0.75, 0.25, 0.0], "without it they are those of two levels");
    }

    #[test]
    fn values_stay_where_texels_are() {
        let within =
            |low: f32, high: f32, value: f32| TexelRange { low: [low; 4], high: [high; 4] }.within([value; 4])[0];
        assert_eq!([-0.1, 0.1, 0.9, 1.1].map(|value| within(0.2, 0.7, value)), [0.0, 0.1, 0.9, 1.0]);
        assert_eq!([0.1, 40.0, 90.0].map(|value| within(0.5, 80.0, value)), [0.5, 40.0, 80.0], "a light");
        assert_eq!([-2.0, 0.9].map(|value| within(-1.0, 0.5, value)), [-1.0, 0.5], "a direction");
        // Beyond 0 to 1 by a little, it is a little less free.
        assert!((within(0.5, 1.25, 0.0) - 0.125).abs() < 1e-6 && (within(-0.25, 0.5, 2.0) - 0.875).abs() < 1e-6);
    }
}
