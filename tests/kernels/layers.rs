//! Translucent grids before opaque ones on their way through sample, layers and composite, slab by slab.

use super::random::Random;
use super::region::{Mesh, Region, candidates, in_halves, pattern};
use crate::reference::composite::{Look, Sample, composite as composite_sample};
use crate::reference::hide::{Candidate, hide};
use crate::reference::layers::{PixelLayers, layers as pixel_layers};
use crate::reference::sample::lists;
use crate::reference::shade::place;
use anthill::pipeline::buffers::Vec4;
use anthill::pipeline::hidden::KeyframedPositions;
use anthill::pipeline::kernels::constants::{CELL_SAMPLES, NUMBER_MP_BITS};
use anthill::pipeline::kernels::records::{Frame, Layer, Total};
use anthill::pipeline::pixels::RegionPixels;
use anthill::pipeline::slab::{CELL_ENTRIES_MAX, Slab};
use anthill::pipeline::stage::Composition;
use anthill::pipeline::{ALL, composite, layers, sample, shade};
use std::collections::BTreeSet;

/// Grids, numbered one after the other: opaque ones and translucent ones.
pub(crate) struct Layers {
    pub frame: Frame,
    pub pixels: RegionPixels,
    pub meshes: Vec<Mesh>,
    /// The first of them are opaque.
    pub opaque: usize,
    /// Further outputs.
    pub variables: usize,
    /// Opacity of everything that is translucent, if it is not random.
    pub opacity: Option<[f32; 3]>,
    /// Whether layers are listed and merged, as for a deep shadow map.
    pub deep: bool,
    /// Entries, and colours, that there is room for.
    pub room: u64,
}

/// What became of it.
pub(crate) struct Composited {
    pub keys: Vec<u64>,
    pub resolved: Vec<Vec4>,
    /// Calls of the slab kernel.
    pub calls: u32,
    /// Where layers are listed, those of each slab.
    pub slabs: Vec<Vec<PixelLayers>>,
}

impl Layers {
    pub(crate) fn new(frame: Frame, pixels: RegionPixels, opaque: Vec<Mesh>, translucent: Vec<Mesh>) -> Self {
        let count = opaque.len();
        let meshes: Vec<Mesh> = opaque.into_iter().chain(translucent).collect();
        Self { frame, pixels, meshes, opaque: count, variables: 0, opacity: None, deep: false, room: 1 << 16 }
    }

    /// What a micropolygon looks like: mostly anything, some of no and some of full opacity.
    pub(crate) fn look(&self, number: u32) -> Look {
        let random = &mut Random::new(u64::from(number) + 99);
        let opacity = match random.below(8) {
            _ if (number >> NUMBER_MP_BITS) < self.opaque as u32 => [1.0; 3],
            _ if self.opacity.is_some() => self.opacity.unwrap_or_default(),
            0 => [0.0; 3],
            1 => [random.unit(), 1.0, random.unit()],
            2 => [1.5; 3],
            3 => [0.3; 3],
            _ => random.triple(0.0, 0.6),
        };
        let [r, g, b] = random.triple(0.0, 2.0);
        let matte = random.one_in(9);
        let colour = [r * opacity[0], g * opacity[1], b * opacity[2], if matte { 0.0 } else { 1.0 }];
        let variables = (0..self.variables).map(|_| [0; 4].map(|_| random.float(-3.0, 3.0))).collect();
        Look { colour, opacity, variables }
    }

    fn candidates(&self, translucent: bool) -> Vec<Candidate> {
        let of = |c: &Candidate| ((c.number >> NUMBER_MP_BITS) as usize >= self.opaque) == translucent;
        candidates(&self.frame, &self.meshes).into_iter().filter(of).collect()
    }

    /// What each sample lists in a slab, by the reference, and the opaque keys behind.
    pub(crate) fn lists(&self, slab: Slab) -> (Vec<Vec<u64>>, Vec<u64>) {
        let keys = hide(&self.pixels, pattern(&self.frame), &self.candidates(false));
        let lists = lists(&self.pixels, pattern(&self.frame), &self.candidates(true), &keys, slab);
        (lists, keys)
    }

    /// Every sample, by the reference.
    pub(crate) fn reference(&self) -> Vec<Sample> {
        let (lists, keys) = self.lists(Slab::WHOLE);
        let threshold = f64::from(self.frame.opacity_threshold);
        let one = |(list, key): (&Vec<u64>, &u64)| {
            composite_sample(list, *key, |number| self.look(number), self.variables, threshold)
        };
        lists.iter().zip(&keys).map(one).collect()
    }

    /// What each pixel loses, by the reference.
    pub(crate) fn lost(&self) -> Vec<PixelLayers> {
        let (lists, keys) = self.lists(Slab::WHOLE);
        let of_pixel = (self.frame.samples[0] * self.frame.samples[1]) as usize;
        let samples: Vec<(Vec<u64>, u64)> = lists.into_iter().zip(keys).collect();
        let opacity = |number: u32| self.look(number).opacity;
        samples.chunks(of_pixel).map(|pixel| pixel_layers(pixel, opacity, self.frame.opacity_threshold)).collect()
    }

    /// A region with room, in which the opaque grids are hidden and nothing is composited yet.
    pub(crate) fn region(&self) -> Region {
        let mut region = Region::new(self.frame, self.pixels, |room| {
            (room.entries, room.colours, room.variables) = (self.room, self.room, self.variables as u64);
            room.deep = self.deep;
        });
        region.clear();
        region.hide(&self.meshes[..self.opaque]);
        let total = [Total { total: self.meshes.len() as u32 }];
        region.lab.write(region.slices.selected_count, &total);
        let context = region.context();
        region.lab.run(|recording| composite::record_clear(recording, &context, &ALL));
        region
    }

    /// Samples the translucent grids of a slab; the entries that there were, written or not.
    pub(crate) fn sample(&self, region: &mut Region, slab: Slab) -> u32 {
        let pieces = region.lay_from(&self.meshes, self.opaque);
        let (given, context, division) = (region.given(), region.context(), region.division);
        region.lab.run(|recording| {
            sample::record_clear(recording, &context, self.meshes.len() as u64);
            for piece in &pieces {
                let positions = KeyframedPositions { base: piece.base, keyframes: 1, trimmed: false };
                sample::record_piece(recording, &given.piece(piece), positions, slab, division);
            }
        });
        region.lab.read(context.slices.appended)[0].appended
    }

    /// Puts the entries of a slab in order and finds the places of their colours.
    pub(crate) fn order(&self, region: &mut Region, entries: u32) {
        let (context, variants) = (region.context(), region.lab.variants());
        region.lab.run(|recording| {
            sample::record_lists(recording, variants, &context);
            in_halves(entries.into(), |some| sample::record_scatter(recording, &context.slices, entries, some));
            in_halves(context.cells(), |some| sample::record_sort(recording, &context, some));
            shade::record_places(recording, variants, &context, self.meshes.len() as u64);
            in_halves(entries.into(), |some| composite::record_places(recording, &context.slices, entries, some));
        });
    }

    /// Colours of visible micropolygons at their places, as a shader would leave them.
    pub(crate) fn colours(&self, visible: &BTreeSet<u32>) -> Vec<Vec4> {
        let mut colours = Vec::new();
        for &number in visible {
            let Look { colour, opacity: [r, g, b], variables } = self.look(number);
            assert_eq!(colours.len(), place(visible, number) * (2 + self.variables));
            colours.extend([colour, [r, g, b, 0.0]]);
            colours.extend(variables);
        }
        colours
    }

    fn write_colours(&self, region: &mut Region) {
        let words = region.lab.read(region.slices.visible.part(0..8 * self.meshes.len() as u64));
        let seen = (0..).zip(words).flat_map(|(word, bits): (u32, u32)| {
            (0..32).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 32 + bit)
        });
        let colours = self.colours(&seen.collect());
        region.lab.write(region.slices.colours.part(0..colours.len() as u64), &colours);
    }

    /// Goes through the slabs between `cuts` and then composites what is opaque.
    pub(crate) fn composited(&self, cuts: &[u64]) -> Composited {
        let mut region = self.region();
        let ends: Vec<u64> = [0].into_iter().chain(cuts.iter().copied()).chain([Slab::WHOLE.high]).collect();
        let (mut calls, mut slabs) = (0, Vec::new());
        for ends in ends.windows(2) {
            let slab = Slab { low: ends[0], high: ends[1] };
            let entries = self.sample(&mut region, slab);
            assert!(u64::from(entries) <= self.room, "{entries} entries");
            self.order(&mut region, entries);
            assert!(region.lab.read(region.slices.appended)[0].longest_cell <= CELL_ENTRIES_MAX);
            self.write_colours(&mut region);
            if self.deep {
                slabs.push(self.list_layers(&mut region, slab));
            }
            calls += self.composite_slab(&mut region);
        }
        let (given, context, variants) = (region.given(), region.context(), region.lab.variants());
        region.lab.run(|recording| {
            shade::record_mark(recording, &context, &ALL);
            shade::record_places(recording, variants, &context, self.meshes.len() as u64);
        });
        self.write_colours(&mut region);
        region.lab.run(|recording| {
            composite::record(recording, given.memory(), &Composition::BY_OPACITY, 0..u32::MAX, &ALL);
        });
        let records = context.subpixels() * context.capacity.resolved_records();
        let resolved = region.lab.read(context.slices.resolved.part(0..records));
        Composited { keys: region.keys(), resolved, calls, slabs }
    }

    /// What the pixels lose in a slab, a few pixels at once.
    fn list_layers(&self, region: &mut Region, slab: Slab) -> Vec<PixelLayers> {
        let (given, context) = (region.given(), region.context());
        let (cells, count) = (context.capacity.cells(), context.pixels.count());
        let offsets = region.lab.read(context.slices.cell_offsets.part(0..count * cells));
        let cell_samples = context.capacity.pixel_samples.min(CELL_SAMPLES.into());
        let first_room = |pixel: u64| {
            let cell = pixel * cells;
            (u64::from(offsets[cell as usize]) + cell) * cell_samples
        };
        let mut pixels = Vec::new();
        for first in (0..count).step_by(3) {
            let some = first..(first + 3).min(count);
            region.lab.run(|recording| layers::record(recording, given.memory(), slab, &some));
            let counts = region.lab.read(context.slices.pixel_layers.part(some.clone()));
            for (pixel, layers) in some.zip(counts) {
                let begin = first_room(pixel) - first_room(first);
                let layers = region.lab.read(layers::merged(&context).part(begin..begin + u64::from(layers)));
                let lost = |layer: &Layer| u64::from(layer.lost_high) << 32 | u64::from(layer.lost_low);
                pixels.push(layers.iter().map(|layer| (layer.depth, lost(layer))).collect());
            }
        }
        pixels
    }

    fn composite_slab(&self, region: &mut Region) -> u32 {
        let (given, context) = (region.given(), region.context());
        for call in 1..1000 {
            // In parts, as submissions of a limited length do.
            for first in (0..context.subpixels()).step_by(100) {
                region.lab.run(|recording| {
                    let (again, some) = (call > 1, first..first + 100);
                    composite::record_slab(recording, given.memory(), &Composition::BY_OPACITY, again, &some);
                });
            }
            if region.lab.read(context.slices.unfinished)[0].unfinished == 0 {
                return call;
            }
        }
        panic!("a slab does not end");
    }
}
