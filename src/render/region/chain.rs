//! One region on its way through the pipeline: a chain of short submissions, each resumable; between two of them the host looks at
//! what the device found and decides what is next (ARCHITECTURE.md, 4). What takes longer than a submission should is cut into several,
//! between which other regions have their turn: loads by [`Loads::take`], all else by [`Parts`].
//!
//! ```text
//! select -> hide, load by load, nearest batch first -> [ slab: sample loads -> order entries -> shade -> composite ]* ->
//! mark what is seen -> [ shade loads -> composite ]* -> filter
//! ```

use crate::gpu::{Device, GpuError, Ticket};
use crate::pipeline::buffers::RegionCapacity;
use crate::pipeline::kernels::constants::{BATCHES, DEPTH_BUCKETS, SIZE_CLASSES};
use crate::pipeline::kernels::records::{Appended, Culled, Rest, Unfinished};
use crate::pipeline::look::HideBin;
use crate::pipeline::recording::Recording;
use crate::pipeline::sample::{CELL_ENTRIES_MAX, Slab};
use crate::pipeline::{hide, sample};
use crate::render::region::cell_lists::{Before, CellLists};
use crate::render::region::loads::{Loads, Room, plan};
use crate::render::region::pace::{Portion, Quota, Work};
use crate::render::region::parts::{GridPage, Part, Parts, slab_units};
use crate::render::region::record::{DeviceWorld, Fate, Place};
use crate::render::region::slabs::Slabs;
use std::ops::Range;
use std::sync::Arc;

/// A load, which runs in dispatches that cannot be cut any more, has at most so many times the vertices that a submission should have
/// when the load is planned: the next ones may be costlier.
const LOAD_PORTIONS: u64 = 4;

/// What a region came to.
#[derive(Debug)]
pub(crate) enum Step {
    /// More submissions are under way.
    Working,
    /// Its pixels are ready.
    Finished(Box<RegionResult>),
    /// It selects more grids than fit: to be cut.
    TooLarge,
}

/// A finished region.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegionResult {
    /// Colour and alpha, then each variable: four floats a pixel, group by group.
    pub pixels: Vec<[f32; 4]>,
    /// Depth of each pixel; empty when no display asks for it.
    pub depths: Vec<f32>,
    /// What it took.
    pub counts: RegionCounts,
    /// Seconds of its submissions by the device's clock.
    pub device_s: f64,
    /// Subpixels that it sampled.
    pub subpixels: u64,
    /// What it had room for.
    pub capacity: Option<RegionCapacity>,
}

/// What a region took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RegionCounts {
    pub selected: u64,
    pub culled_grids: u64,
    pub culled_micropolygons: u64,
    pub visible_micropolygons: u64,
    pub shaded_vertices: u64,
    pub entries: u64,
    pub slabs: u64,
    pub thick_slabs: u64,
    pub rounds: u64,
    pub lost_samples: u64,
    pub long_loops: u64,
    pub submissions: u64,
}

impl RegionCounts {
    /// Adds what another region took.
    pub(crate) fn add(&mut self, other: &Self) {
        self.selected += other.selected;
        self.culled_grids += other.culled_grids;
        self.culled_micropolygons += other.culled_micropolygons;
        self.visible_micropolygons += other.visible_micropolygons;
        self.shaded_vertices += other.shaded_vertices;
        self.entries += other.entries;
        self.slabs += other.slabs;
        self.thick_slabs += other.thick_slabs;
        self.rounds += other.rounds;
        self.lost_samples += other.lost_samples;
        self.long_loops += other.long_loops;
        self.submissions += other.submissions;
    }
}

/// What comes when the parts under way are done; what the last submission was for.
enum Phase {
    Select,
    Hide(Loads),
    Sample(Loads),
    SlabLists,
    SlabOrder,
    SlabShade(Loads, Range<u32>),
    /// Calls so far.
    SlabComposite(u32),
    Mark,
    Order(Range<u32>),
    Shade(Loads, Range<u32>),
    Filter,
}

/// From the first bin that is displaced to the last.
fn displaced_bins(world: &DeviceWorld) -> Range<usize> {
    let displaced = |bin: &HideBin| bin.displace.is_some();
    let bins = &world.world.hide_bins;
    let first = bins.iter().position(displaced).unwrap_or(0);
    first..bins.iter().rposition(displaced).map_or(first, |last| last + 1)
}

fn opaque_bins(world: &DeviceWorld) -> usize {
    world.world.hide_bins.iter().filter(|bin| !bin.translucent).count()
}

/// Selection: all pages that may have grids for the region are chosen from, and, when all is ranked, gathered from in reverse, because those
/// that were used last are most likely still there; at last comes the order of hiding.
fn select_parts(world: &DeviceWorld, place: &Place) -> Parts {
    let pages: Arc<[usize]> = world.grids.pages_meeting(&place.pixels).into();
    let page = |at| GridPage { pages: Arc::clone(&pages), at };
    let mut parts = vec![Part::Start];
    parts.extend((0..pages.len()).map(|at| Part::Choose(page(at))));
    parts.push(Part::Rank);
    parts.extend((0..pages.len()).rev().map(|at| Part::Gather(page(at))));
    parts.push(Part::Batches(world.grids.selected_max(&place.pixels)));
    Parts::new("select", parts)
}

/// A region in flight.
pub(crate) struct RegionRun {
    place: Place,
    /// What is left to do before the phase goes on.
    parts: Parts,
    phase: Phase,
    ticket: Ticket,
    /// Grids of each key after selection: (batch, bin, size class).
    hide_counts: Vec<u32>,
    /// Bits of the nearest and the farthest depth of each depth batch.
    batch_depths: Vec<[u32; 2]>,
    slabs: Slabs,
    /// Entries of the slab at work, and how they are spread, if that was asked.
    entries: u32,
    lists: Option<CellLists>,
    /// Micropolygons that opaque samples see.
    opaque_visible: u32,
    counts: RegionCounts,
    /// What the next submission should be made of,
    quota: Quota,
    /// and what the last one was.
    portion: Portion,
}

impl RegionRun {
    /// Begins a region: submits its selection.
    pub(crate) fn begin(
        device: &mut Device,
        world: &mut DeviceWorld,
        place: Place,
        quota: Quota,
    ) -> Result<Self, GpuError> {
        let mut parts = select_parts(world, &place);
        let (recording, portion) = parts.record(device, world, &place, quota)?;
        let ticket = device.submit(&recording)?;
        Ok(Self {
            place,
            parts,
            phase: Phase::Select,
            ticket,
            hide_counts: Vec::new(),
            batch_depths: Vec::new(),
            slabs: Slabs::new(place.capacity.entries, &[], 1),
            entries: 0,
            lists: None,
            opaque_visible: 0,
            counts: RegionCounts { submissions: 1, ..RegionCounts::default() },
            quota,
            portion,
        })
    }

    /// The submission that [`Self::advance`] waits for.
    pub(crate) fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// What the last submission was for.
    pub(crate) fn doing(&self) -> &'static str {
        match &self.phase {
            Phase::Select => "select",
            Phase::Hide(_) => "hide",
            Phase::Sample(_) | Phase::SlabLists | Phase::SlabOrder => "sample",
            Phase::SlabShade(..) | Phase::Mark | Phase::Order(_) | Phase::Shade(..) => "shade",
            Phase::SlabComposite(_) => "composite",
            Phase::Filter => "filter",
        }
    }

    /// Goes on, when the last submission is done: reads what it found and submits what is next, of at most about
    /// `quota`.
    pub(crate) fn advance(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        quota: Quota,
    ) -> Result<Step, GpuError> {
        (self.quota, self.portion) = (quota, Portion::default());
        if !self.parts.done() {
            self.submit_parts(device, world)?;
            return Ok(Step::Working);
        }
        let phase = std::mem::replace(&mut self.phase, Phase::Select);
        match phase {
            Phase::Select => return self.selected(device, world),
            Phase::Hide(loads) if loads.done() && world.measuring => return Ok(Step::Finished(Box::default())),
            Phase::Hide(loads) if loads.done() => self.hidden(device, world)?,
            Phase::Hide(loads) => self.submit_hide(device, world, loads)?,
            Phase::Sample(loads) if loads.done() => self.sampled(device, world)?,
            Phase::Sample(loads) => self.submit_sample(device, world, loads)?,
            Phase::SlabLists => self.slab_listed(device, world)?,
            Phase::SlabOrder => self.slab_ordered(device, world)?,
            Phase::SlabShade(loads, _) if loads.done() => self.submit_slab_composite(device, world, 0)?,
            Phase::SlabShade(loads, places) => self.submit_shade(device, world, (loads, places, true))?,
            Phase::SlabComposite(calls) => self.slab_composited(device, world, calls)?,
            Phase::Mark => self.marked(device, world)?,
            Phase::Order(places) => self.ordered(device, world, places)?,
            Phase::Shade(loads, places) if loads.done() => self.round_done(device, world, places)?,
            Phase::Shade(loads, places) => self.submit_shade(device, world, (loads, places, false))?,
            Phase::Filter => return self.finish(device, world),
        }
        Ok(Step::Working)
    }

    /// What the last submission was made of.
    pub(crate) fn portion(&self) -> &Portion {
        &self.portion
    }

    fn submit(&mut self, device: &mut Device, recording: &Recording, phase: Phase) -> Result<(), GpuError> {
        self.ticket = device.submit(recording)?;
        self.counts.submissions += 1;
        self.phase = phase;
        Ok(())
    }

    /// Begins parts, after which `phase` goes on.
    fn begin_parts(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        parts: Parts,
        phase: Phase,
    ) -> Result<(), GpuError> {
        (self.parts, self.phase) = (parts, phase);
        self.submit_parts(device, world)
    }

    fn submit_parts(&mut self, device: &mut Device, world: &mut DeviceWorld) -> Result<(), GpuError> {
        let (recording, portion) = self.parts.record(device, world, &self.place, self.quota)?;
        self.portion = portion;
        let phase = std::mem::replace(&mut self.phase, Phase::Select);
        self.submit(device, &recording, phase)
    }

    fn selected(&mut self, device: &mut Device, world: &mut DeviceWorld) -> Result<Step, GpuError> {
        self.counts.selected = u64::from(device.read(self.place.slices.selected_count)?[0].total);
        if self.counts.selected > self.place.capacity.grids {
            return Ok(Step::TooLarge);
        }
        self.hide_counts = device.read(self.place.slices.counts)?;
        let opaque = opaque_bins(world);
        if self.place.capacity.translucent() {
            let batches = device.read(self.place.slices.batches)?;
            self.plan_slabs(world, batches.split_at(DEPTH_BUCKETS as usize));
        }
        let bins = if world.measuring { displaced_bins(world) } else { 0..opaque };
        let loads = self.hide_loads(world, bins, Slab::WHOLE);
        self.submit_hide(device, world, loads)?;
        Ok(Step::Working)
    }

    /// How translucent work spreads over depth: the vertices of each depth batch, whose buckets say where it begins.
    /// `farthest` has the bits of each batch's farthest depth.
    fn plan_slabs(&mut self, world: &DeviceWorld, (buckets, farthest): (&[u32], &[u32])) {
        let classes = SIZE_CLASSES as usize;
        let per_batch = self.place.capacity.bins as usize * classes;
        let opaque = opaque_bins(world) * classes;
        let work = |batch: usize| -> u64 {
            let counts = &self.hide_counts[batch * per_batch..(batch + 1) * per_batch][opaque..];
            counts.iter().enumerate().map(|(i, &count)| u64::from(count) << (4 + i % classes)).sum()
        };
        let nearest = |batch| {
            let bucket = buckets.iter().position(|&b| b == batch)? as u32;
            Some(if bucket == 0 { 0 } else { world.depth.base + (bucket << world.depth.shift) })
        };
        let starts = (0..BATCHES).filter_map(|batch| {
            let near = nearest(batch)?;
            Some(((u64::from(near) << 32).max(1), work(batch as usize)))
        });
        let starts: Vec<(u64, u64)> = starts.collect();
        let far = u64::from(world.depth.base) + ((buckets.len() as u64) << world.depth.shift);
        self.slabs = Slabs::new(self.place.capacity.entries, &starts, far << 32);
        self.batch_depths =
            (0..).zip(farthest).map(|(batch, &far)| [nearest(batch).unwrap_or(u32::MAX), far]).collect();
    }

    /// Whether nothing of a depth batch lies in a slab.
    fn outside(&self, batch: usize, slab: Slab) -> bool {
        let [near, far] = self.batch_depths.get(batch).copied().unwrap_or([0, u32::MAX]);
        u64::from(near) > slab.high >> 32 || u64::from(far) < slab.low >> 32
    }

    fn room(&self, world: &DeviceWorld) -> Room {
        let RegionCapacity { arena, slots, .. } = self.place.capacity;
        let vertices = self.quota.of(Work::Load).saturating_mul(LOAD_PORTIONS);
        Room { records: arena as u32, slots: slots as u32, vertices, pages: world.pages.resident_max() }
    }

    /// The loads of some bins, batch by batch, of those that have something in a slab.
    fn hide_loads(&self, world: &DeviceWorld, bins: Range<usize>, slab: Slab) -> Loads {
        let classes = SIZE_CLASSES as usize;
        let per_batch = self.place.capacity.bins as usize * classes;
        let room = self.room(world);
        let mut loads = Loads::new(Vec::new(), room.pages);
        let mut first = 0;
        for batch in 0..BATCHES as usize {
            let start = first;
            let counts = &self.hide_counts[batch * per_batch..(batch + 1) * per_batch];
            let before: u32 = counts[..bins.start * classes].iter().sum();
            let wanted = &counts[bins.start * classes..bins.end * classes];
            first += counts.iter().sum::<u32>();
            if self.outside(batch, slab) {
                continue;
            }
            loads.loads.extend(plan(wanted, bins.clone(), start + before, |bin| world.hide_cost(bin), room));
            if wanted.iter().any(|&count| count > 0) {
                loads.batch_ends.push(loads.loads.len() - 1);
            }
        }
        loads
    }

    /// The loads of the next submission.
    fn take_loads(&mut self, loads: &mut Loads) -> Range<usize> {
        let some = loads.take(self.quota.of(Work::Load));
        let vertices = loads.loads[some.clone()].iter().map(|load| load.vertices).sum();
        self.portion = Portion::of(Work::Load, vertices);
        some
    }

    fn submit_hide(&mut self, device: &mut Device, world: &mut DeviceWorld, mut loads: Loads) -> Result<(), GpuError> {
        let mut recording = self.place.recording("hide");
        for index in self.take_loads(&mut loads) {
            world.record_hide(device, &mut recording, &self.place, (&loads.loads[index], Fate::Hide))?;
            if world.pipeline.cull && !world.measuring && loads.batch_ends.contains(&index) {
                recording.stage("hide", |recording| {
                    let region = &self.place.pixels;
                    hide::record_blocks(recording, &self.place.slices, region, self.place.pixel_samples);
                });
            }
        }
        self.submit(device, &recording, Phase::Hide(loads))
    }

    /// All opaque grids are hidden: translucent ones are next, if there are any.
    fn hidden(&mut self, device: &mut Device, world: &mut DeviceWorld) -> Result<(), GpuError> {
        let culled: Culled = device.read(self.place.slices.culled)?[0];
        let rest: Rest = device.read(self.place.slices.rest)?[0];
        self.counts.culled_grids += u64::from(culled.culled_grids);
        self.counts.culled_micropolygons += u64::from(culled.culled_micropolygons);
        self.counts.lost_samples += u64::from(rest.rest_lost);
        if self.place.capacity.translucent() {
            return self.begin_slab(device, world, Some(Part::Clear));
        }
        self.submit_mark(device, world)
    }

    /// Begins a slab, after `first` if there is something to do before.
    fn begin_slab(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        first: Option<Part>,
    ) -> Result<(), GpuError> {
        let opaque = opaque_bins(world);
        let loads = self.hide_loads(world, opaque..world.world.hide_bins.len(), self.slabs.current());
        let parts = first.into_iter().chain([Part::BeginSlab(self.counts.selected)]);
        self.begin_parts(device, world, Parts::new("sample", parts), Phase::Sample(loads))
    }

    fn submit_sample(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        mut loads: Loads,
    ) -> Result<(), GpuError> {
        let mut recording = self.place.recording("sample");
        for index in self.take_loads(&mut loads) {
            let fate = Fate::Sample(self.slabs.current());
            world.record_hide(device, &mut recording, &self.place, (&loads.loads[index], fate))?;
        }
        self.submit(device, &recording, Phase::Sample(loads))
    }

    /// A slab is sampled: if its entries fit they are put in order, else the slab is made thinner and sampled again.
    fn sampled(&mut self, device: &mut Device, world: &mut DeviceWorld) -> Result<(), GpuError> {
        let appended: Appended = device.read(self.place.slices.appended)?[0];
        if u64::from(appended.appended) > self.place.capacity.entries {
            self.slab_fits(&appended, 0);
            self.counts.thick_slabs += 1;
            return self.begin_slab(device, world, None);
        }
        self.counts.lost_samples += u64::from(device.read(self.place.slices.rest)?[0].rest_lost);
        (self.entries, self.lists) = (appended.appended, None);
        let lists = [Part::Lists, Part::Scatter(self.entries)];
        let cells = sample::cells(&self.place.capacity, &self.place.pixels);
        if cells + u64::from(self.entries) > self.quota.of(Work::SortCells) {
            return self.begin_parts(device, world, Parts::new("sample", lists), Phase::SlabLists);
        }
        let parts = lists.into_iter().chain(self.order_parts(None));
        self.begin_parts(device, world, Parts::new("sample", parts), Phase::SlabOrder)
    }

    /// A slab's entries in order, those of them and of the grids that are visible numbered.
    fn order_parts(&self, before: Option<Before>) -> [Part; 4] {
        let (entries, grids) = (self.entries, self.counts.selected);
        [
            Part::SortCells(entries, before),
            Part::Number(grids),
            Part::PlaceEntries(entries),
            Part::Order(grids, self.round(0)),
        ]
    }

    /// The lists of a slab with more entries than are sorted in one submission.
    fn slab_listed(&mut self, device: &mut Device, world: &mut DeviceWorld) -> Result<(), GpuError> {
        let sorting = self.cell_lists(device)?.sorting();
        let parts = self.order_parts(Some(sorting));
        self.begin_parts(device, world, Parts::new("sample", parts), Phase::SlabOrder)
    }

    /// How the slab's entries are spread over cells.
    fn cell_lists(&mut self, device: &mut Device) -> Result<&CellLists, GpuError> {
        if self.lists.is_none() {
            let cells = sample::cells(&self.place.capacity, &self.place.pixels);
            let offsets = device.read(self.place.slices.cell_offsets.part(0..cells))?;
            self.lists = Some(CellLists::new(offsets, self.entries));
        }
        Ok(self.lists.as_ref().expect("it was just read"))
    }

    /// Whether what a slab came to fits everywhere; else the slab is thinner now.
    fn slab_fits(&mut self, appended: &Appended, visible: u32) -> bool {
        let room = |there: u64, needed: u32| there as f64 / f64::from(needed.max(1));
        let RegionCapacity { entries, colours, .. } = self.place.capacity;
        let lists = room(u64::from(CELL_ENTRIES_MAX), appended.longest_cell);
        let room = room(entries, appended.appended).min(room(colours, visible)).min(lists);
        self.slabs.fits(u64::from(appended.appended), room)
    }

    /// Colours of one round: places from `first` on, as many as the store has.
    fn round(&self, first: u32) -> Range<u32> {
        first..first.saturating_add(self.place.capacity.colours as u32)
    }

    fn shade_loads(&self, device: &mut Device, world: &DeviceWorld) -> Result<Loads, GpuError> {
        let bins = world.world.shade_bins.len();
        let counts = device.read(self.place.slices.counts.part(0..bins as u64 * u64::from(SIZE_CLASSES)))?;
        let room = self.room(world);
        Ok(Loads::new(plan(&counts, 0..bins, 0, |bin| world.shade_cost(bin), room), room.pages))
    }

    fn slab_ordered(&mut self, device: &mut Device, world: &mut DeviceWorld) -> Result<(), GpuError> {
        let appended: Appended = device.read(self.place.slices.appended)?[0];
        let visible = device.read(self.place.slices.visible_count)?[0].total;
        // A cell with too long a list, or more colours than the store has: the slab is too thick as well.
        if !self.slab_fits(&appended, visible) {
            self.counts.thick_slabs += 1;
            return self.begin_slab(device, world, None);
        }
        self.counts.visible_micropolygons += u64::from(visible);
        self.counts.entries += u64::from(appended.appended);
        self.counts.slabs += 1;
        let loads = self.shade_loads(device, world)?;
        self.submit_shade(device, world, (loads, self.round(0), true))
    }

    fn submit_shade(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        (mut loads, places, slab): (Loads, Range<u32>, bool),
    ) -> Result<(), GpuError> {
        let mut recording = self.place.recording("shade");
        for index in self.take_loads(&mut loads) {
            self.counts.shaded_vertices += loads.loads[index].vertices;
            world.record_shade(device, &mut recording, &self.place, (&loads.loads[index], places.clone()))?;
        }
        let phase = if slab { Phase::SlabShade(loads, places) } else { Phase::Shade(loads, places) };
        self.submit(device, &recording, phase)
    }

    fn submit_slab_composite(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        calls: u32,
    ) -> Result<(), GpuError> {
        let before = if slab_units(&self.place, self.entries) > self.quota.of(Work::Slab) as f64 {
            let (cells, samples) = (self.place.capacity.cells(), u64::from(self.place.pixel_samples));
            Some(self.cell_lists(device)?.compositing(cells, samples, calls))
        } else {
            None
        };
        let slab = Part::Slab { entries: self.entries, again: calls > 0, before };
        self.begin_parts(device, world, Parts::new("composite", [slab]), Phase::SlabComposite(calls + 1))
    }

    fn slab_composited(&mut self, device: &mut Device, world: &mut DeviceWorld, calls: u32) -> Result<(), GpuError> {
        let left: Unfinished = device.read(self.place.slices.unfinished)?[0];
        if left.unfinished > 0 {
            return self.submit_slab_composite(device, world, calls);
        }
        if self.slabs.next() { self.begin_slab(device, world, None) } else { self.submit_mark(device, world) }
    }

    fn submit_mark(&mut self, device: &mut Device, world: &mut DeviceWorld) -> Result<(), GpuError> {
        let grids = self.counts.selected;
        let parts = [Part::Mark, Part::Number(grids), Part::Order(grids, self.round(0))];
        self.begin_parts(device, world, Parts::new("mark", parts), Phase::Mark)
    }

    fn marked(&mut self, device: &mut Device, world: &mut DeviceWorld) -> Result<(), GpuError> {
        let visible = device.read(self.place.slices.visible_count)?[0].total;
        self.opaque_visible = visible;
        self.counts.visible_micropolygons += u64::from(visible);
        self.ordered(device, world, self.round(0))
    }

    fn ordered(&mut self, device: &mut Device, world: &mut DeviceWorld, places: Range<u32>) -> Result<(), GpuError> {
        self.counts.rounds += 1;
        let loads = self.shade_loads(device, world)?;
        self.submit_shade(device, world, (loads, places, false))
    }

    /// The colours of a round are there: composite them, then the next round, or filter.
    fn round_done(&mut self, device: &mut Device, world: &mut DeviceWorld, places: Range<u32>) -> Result<(), GpuError> {
        let composite = Part::Composite(places.clone());
        if places.end < self.opaque_visible {
            let next = self.round(places.end);
            let parts = [composite, Part::Order(self.counts.selected, next.clone())];
            return self.begin_parts(device, world, Parts::new("composite", parts), Phase::Order(next));
        }
        let depth = world.depth_filter.is_some().then_some(Part::Depth);
        let parts = [composite, Part::Filter].into_iter().chain(depth);
        self.begin_parts(device, world, Parts::new("composite", parts), Phase::Filter)
    }

    fn finish(&mut self, device: &mut Device, world: &DeviceWorld) -> Result<Step, GpuError> {
        let [width, height] = self.place.pixels.inside_size().map(u64::from);
        let groups = 1 + self.place.capacity.variables;
        let pixels = device.read(self.place.slices.pixels.part(0..width * height * groups))?;
        let depths = match world.depth_filter {
            Some(_) => device.read(self.place.slices.depths.part(0..width * height))?,
            None => Vec::new(),
        };
        self.counts.long_loops = u64::from(device.read(self.place.slices.status)?[0][0]);
        let subpixels = self.place.pixels.count() * u64::from(self.place.pixel_samples);
        let capacity = Some(self.place.capacity);
        let result = RegionResult { pixels, depths, counts: self.counts, device_s: 0.0, subpixels, capacity };
        Ok(Step::Finished(Box::new(result)))
    }
}
