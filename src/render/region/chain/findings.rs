//! What the host reads between a region's submissions, and what it decides by that.

use super::load_steps::opaque_sublists;
use super::{Chain, NextStage};
use crate::gpu::{Device, GpuError};
use crate::pipeline::buffers::RegionCapacity;
use crate::pipeline::kernels::constants::{BATCHES, DEPTH_BUCKETS, SIZE_CLASSES};
use crate::pipeline::kernels::records::{Appended, Culled, Rest, Unfinished};
use crate::pipeline::piece::{micropolygons_expected, slot_log2};
use crate::pipeline::plan::{Process, Repeat};
use crate::pipeline::slab::list_entries_max;
use crate::pipeline::stage::Finding;
use crate::render::region::costs::RegionCosts;
use crate::render::region::device_world::DeviceWorld;
use crate::render::region::prints::TakenPrints;
use crate::render::region::region_result::{OpenSolids, RegionResult, ReplacedValues};
use crate::render::region::slabs::Slabs;

/// Where depths are not known, regions are halved if halves of their longer side have at least this many pixels; below,
/// borders cost more than is saved.
const BLIND_SIDE_MIN_PX: u32 = 64;

/// Entries that a micropolygon leaves, divided by the square root of the samples of a pixel: measured on hair.
const ENTRIES_EXPECTED: f64 = 0.5;
/// The part of the micropolygons, as they are expected, that is seen: measured on hair too.
const VISIBLE_EXPECTED: f64 = 0.6;

/// Returns how many times the room for entries and colours `micropolygons` are expected to need. Slabs become thicker
/// or thinner where that is wrong.
fn expected_load(capacity: &RegionCapacity, micropolygons: f64) -> f64 {
    let entries = ENTRIES_EXPECTED * (capacity.pixel_samples as f64).sqrt();
    let needs = (entries / capacity.entries.max(1) as f64).max(VISIBLE_EXPECTED / capacity.colours.max(1) as f64);
    micropolygons * needs
}

impl Chain {
    /// Reads what the stages under way found, which are done, and decides where the chain goes.
    pub(super) fn conclude(&mut self, device: &mut Device, world: &DeviceWorld) -> Result<NextStage, GpuError> {
        for at in self.current.at.clone() {
            let stage = self.pipeline.stages()[at];
            let Some(finding) = stage.process.descriptor().finding else { continue };
            let fits = match finding {
                Finding::Selection if self.selected(device, world)? => continue,
                Finding::Selection => return Ok(NextStage::TooLarge),
                Finding::Unfinished => return Ok(NextStage::At(self.slab_composited(device, world, at)?)),
                Finding::Culled => {
                    self.hidden(device)?;
                    continue;
                }
                Finding::Visible if stage.repeat != Repeat::Slabs => {
                    self.opaque_numbered(device)?;
                    continue;
                }
                Finding::Visible => self.slab_numbered(device)?,
                Finding::Entries => self.sampled(device)?,
            };
            if !fits && self.states_fill_slab() || self.is_better_halved() {
                return Ok(NextStage::TooLarge);
            }
            if !fits {
                return Ok(NextStage::At(self.first_of(Repeat::Slabs)));
            }
        }
        Ok(NextStage::At(self.current.following))
    }

    /// Grids are selected and sorted for hiding: whether they fit.
    fn selected(&mut self, device: &mut Device, world: &DeviceWorld) -> Result<bool, GpuError> {
        let slices = &self.region.slices;
        self.counts.selected = u64::from(device.read(slices.selected_count)?[0].total);
        if self.counts.selected > self.region.capacity.grids {
            return Ok(false);
        }
        self.selection.counts = device.read(slices.counts)?;
        self.costs = RegionCosts::new(&self.region, &self.selection.counts, opaque_sublists(world));
        if self.counts.recalled_regions > 0 {
            self.costs.hide = 0.0;
        }
        if self.region.capacity.translucent() {
            let batches = device.read(slices.batches)?;
            let (buckets, farthest) = batches.split_at(DEPTH_BUCKETS as usize);
            self.plan_slabs(world, buckets, farthest);
        }
        Ok(true)
    }

    /// How translucent work is spread over depth: the micropolygons of each depth batch, whose buckets give where it
    /// begins. `farthest` has the bits of each batch's farthest depth.
    fn plan_slabs(&mut self, world: &DeviceWorld, buckets: &[u32], farthest: &[u32]) {
        let classes = SIZE_CLASSES as usize;
        let per_batch = self.region.capacity.sublists as usize * classes;
        let opaque = opaque_sublists(world) * classes;
        let work = |batch: usize| -> u64 {
            let counts = &self.selection.counts[batch * per_batch..(batch + 1) * per_batch][opaque..];
            counts
                .iter()
                .zip((0..SIZE_CLASSES).cycle())
                .map(|(&count, class)| micropolygons_expected(count, slot_log2(class)))
                .sum()
        };
        let nearest = |batch| {
            let bucket = buckets.iter().position(|&b| b == batch)? as u32;
            Some(if bucket == 0 { 0 } else { world.settings.depth.base + (bucket << world.settings.depth.shift) })
        };
        let starts = (0..BATCHES).filter_map(|batch| {
            let near = nearest(batch)?;
            Some(((u64::from(near.max(world.settings.depth.base)) << 32).max(1), work(batch as usize)))
        });
        let starts: Vec<(u64, u64)> = starts.collect();
        let far = u64::from(world.settings.depth.base) + ((buckets.len() as u64) << world.settings.depth.shift);
        let micropolygons = starts.iter().map(|(_, work)| *work as f64).sum();
        self.slab.slabs = Slabs::new(&starts, far << 32, expected_load(&self.region.capacity, micropolygons));
        self.selection.batch_depths =
            (0..).zip(farthest).map(|(batch, &far)| [nearest(batch).unwrap_or(u32::MAX), far]).collect();
    }

    /// All opaque grids are hidden, now or when what samples see was kept.
    fn hidden(&mut self, device: &mut Device) -> Result<(), GpuError> {
        let culled: Culled = device.read(self.region.slices.culled)?[0];
        let rest: Rest = device.read(self.region.slices.rest)?[0];
        self.counts.culled_grids += u64::from(culled.culled_grids);
        self.counts.culled_micropolygons += u64::from(culled.culled_micropolygons);
        self.counts.lost_samples += u64::from(rest.rest_lost);
        Ok(())
    }

    /// A slab is sampled: whether its entries fit. Else it is thinner now and must be sampled again.
    fn sampled(&mut self, device: &mut Device) -> Result<bool, GpuError> {
        let appended: Appended = device.read(self.region.slices.appended)?[0];
        if u64::from(appended.appended) > self.region.capacity.entries {
            self.slab_fits(&appended, 0);
            self.counts.thick_slabs += 1;
            return Ok(false);
        }
        self.counts.lost_samples += u64::from(device.read(self.region.slices.rest)?[0].rest_lost);
        (self.slab.entries, self.slab.lists) = (appended.appended, None);
        Ok(true)
    }

    /// Whether the states of solids in which a slab begins leave too little room for the thinnest of slabs: halves of
    /// the region have fewer.
    fn states_fill_slab(&self) -> bool {
        let fills = self.slab.slabs.is_thinnest();
        assert!(!fills || self.slab.carried.count > 0, "one key is at most one entry a sample");
        fills
    }

    /// Whether halves of the region take less time than its slabs: each slab samples all grids whose bounds reach into
    /// it, and where bounds say little, those are all grids for every slab.
    fn is_better_halved(&self) -> bool {
        let inside = self.region.pixels.inside;
        self.slab.slabs.are_blind() && inside.length(inside.longer_axis()) >= 2 * BLIND_SIDE_MIN_PX
    }

    /// What is visible in a slab is numbered: whether its lists are short enough and its colours fit. Else it is
    /// thinner now and must be sampled again.
    fn slab_numbered(&mut self, device: &mut Device) -> Result<bool, GpuError> {
        let appended: Appended = device.read(self.region.slices.appended)?[0];
        let visible = device.read(self.region.slices.visible_count)?[0].total;
        if !self.slab_fits(&appended, visible) {
            self.counts.thick_slabs += 1;
            return Ok(false);
        }
        self.counts.visible_micropolygons += u64::from(visible);
        self.counts.entries += u64::from(appended.appended);
        self.counts.slabs += 1;
        self.slab.composite_calls = 0;
        if self.region.capacity.solids {
            let counts = device.read(self.region.slices.carried_counts)?;
            self.slab.carried = self.slab.carried.next(counts[1 - self.slab.carried.list as usize]);
        }
        Ok(true)
    }

    /// Whether what a slab came to fits everywhere; else the slab is thinner now.
    fn slab_fits(&mut self, appended: &Appended, visible: u32) -> bool {
        let room = |there: u64, needed: u32| there as f64 / f64::from(needed.max(1));
        let RegionCapacity { entries, colours, pixel_samples, deep, .. } = self.region.capacity;
        let lists = room(list_entries_max(pixel_samples, deep).into(), appended.longest_cell);
        let stores = room(entries, appended.appended).min(room(colours, visible));
        let cut = (lists < stores).then_some(u64::from(appended.list_cut) << 32);
        self.slab.slabs.fits(stores.min(lists), cut)
    }

    /// A slab is composited, or as much of it as one call takes: the stage at `at` again, or what follows.
    fn slab_composited(&mut self, device: &mut Device, world: &DeviceWorld, at: usize) -> Result<usize, GpuError> {
        let left: Unfinished = device.read(self.region.slices.unfinished)?[0];
        if left.unfinished > 0 {
            return Ok(at);
        }
        Ok(self.after(world, at))
    }

    /// What opaque samples see is numbered.
    fn opaque_numbered(&mut self, device: &mut Device) -> Result<(), GpuError> {
        self.rounds.visible = device.read(self.region.slices.visible_count)?[0].total;
        self.counts.visible_micropolygons += u64::from(self.rounds.visible);
        Ok(())
    }

    /// What the region came to, when all stages are done.
    pub(super) fn result(&mut self, device: &mut Device, world: &DeviceWorld) -> Result<RegionResult, GpuError> {
        if !self.pipeline.finishes() {
            return Ok(RegionResult::default());
        }
        let has_colours = self.pipeline.has(Process::Filter);
        let region = self.region;
        let first = if has_colours { 0 } else { region.replaced_record() };
        let mut pixels = device.read(region.slices.pixels.part(first..region.replaced_record() + 1))?;
        let [replaced, instance, open, primitive] = pixels.pop().unwrap_or_default().map(f32::to_bits);
        self.counts.replaced_values = ReplacedValues::new(replaced, instance);
        self.counts.open_solids = OpenSolids::new(open, primitive);
        let depths = match world.settings.features.depths {
            true => device.read(region.slices.depths.part(0..region.pixels.inside.pixel_count()))?,
            false => Vec::new(),
        };
        let (subpixels, capacity) = (region.subpixels(), Some(region.capacity));
        let light = std::mem::take(&mut self.light).finish();
        let (TakenPrints { printed, baked, charge: bake_charge }, counts) =
            (self.prints.take(device, &region)?, self.counts);
        Ok(RegionResult {
            pixels,
            depths,
            light,
            counts,
            printed,
            baked,
            bake_charge,
            device_s: 0.0,
            subpixels,
            capacity,
            memory_bytes: device.memory().used_bytes,
        })
    }
}
