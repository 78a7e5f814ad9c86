//! Parts of a region's chain between its loads: each goes through items of one kind, as many at once as a submission should have.
//!
//! Whatever lies in parts is the same bits however it is cut: an item is gone through by one invocation, and none reads what another
//! of the same part writes, but for sums and minima that come out the same in any order.

use crate::gpu::{Device, GpuError};
use crate::pipeline::buffers::{GridPageSlices, clusters};
use crate::pipeline::kernels::constants::{CELL_SAMPLES, CLUSTER_GRIDS, VISIBLE_WORDS};
use crate::pipeline::recording::Recording;
use crate::pipeline::{composite, filter, hide, sample, select, shade};
use crate::render::region::cell_lists::Before;
use crate::render::region::pace::{Filling, Portion, Quota, Work};
use crate::render::region::record::{DeviceWorld, Place};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A page of the list of grids, by its place among those that a region goes through.
#[derive(Clone, Debug)]
pub(crate) struct GridPage {
    pub pages: Arc<[usize]>,
    pub at: usize,
}

/// What is done between loads.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Nothing is selected, nothing hidden.
    Start,
    /// Which grids of a page the region needs,
    Choose(GridPage),
    /// how many of all pages come before each,
    Rank,
    /// and those of a page go to their places in the region's list.
    Gather(GridPage),
    /// Depth batches, and the order of hiding of at most so many grids.
    Batches(u64),
    /// Nothing translucent is composited.
    Clear,
    /// A slab begins: no entries, nothing visible of so many grids.
    BeginSlab(u64),
    /// Where each cell's list of entries begins,
    Lists,
    /// so many entries in them,
    Scatter(u32),
    /// and those sorted by depth; how work spreads over cells, if it is known.
    SortCells(u32, Option<Before>),
    /// What is visible of so many grids is counted and numbered.
    Number(u64),
    /// Where the colours of so many entries are.
    PlaceEntries(u32),
    /// The order of shading of so many grids for the colours of a round.
    Order(u64, Range<u32>),
    /// So many entries are composited, or what is left of them.
    Slab {
        entries: u32,
        /// Whether they were before.
        again: bool,
        /// How work spreads over pixels, if it is known.
        before: Option<Before>,
    },
    /// What opaque samples see is marked.
    Mark,
    /// The colours of a round are composited.
    Composite(Range<u32>),
    /// Samples become pixels,
    Filter,
    /// and depths.
    Depth,
}

/// What there is to do in a part.
struct Extent {
    stage: &'static str,
    work: Work,
    /// What it can be cut into; 1 where it cannot be.
    items: u64,
    units: Units,
}

/// Units of work of items.
enum Units {
    /// So many of each.
    Even(f64),
    Uneven(Before),
}

impl Units {
    fn of(&self, items: Range<u64>) -> f64 {
        match self {
            Self::Even(each) => (items.end - items.start) as f64 * each,
            Self::Uneven(before) => (before[items.end as usize] - before[items.start as usize]) as f64,
        }
    }
}

/// Units that a subpixel and the entries that it looks at come to in the mean of all subpixels, with so many entries in all.
pub(crate) fn slab_units(place: &Place, entries: u32) -> f64 {
    let samples = u64::from(place.pixel_samples);
    let looks = u64::from(entries) * samples.min(CELL_SAMPLES.into());
    (place.pixels.count() * samples + looks) as f64
}

impl Part {
    fn extent(&self, world: &DeviceWorld, place: &Place) -> Extent {
        let (pixels, samples) = (place.pixels.count(), f64::from(place.pixel_samples));
        let subpixels = pixels * u64::from(place.pixel_samples);
        let cells = sample::cells(&place.capacity, &place.pixels);
        let inside: u64 = place.pixels.inside_size().map(u64::from).iter().product();
        let sorted = |grids: u64| grids + place.capacity.sort_keys();
        let even =
            |stage, work, items: u64, each| Extent { stage, work, items: items.max(1), units: Units::Even(each) };
        let uneven = |extent: Extent, before: &Option<Before>| match before {
            Some(before) => Extent { units: Units::Uneven(Arc::clone(before)), ..extent },
            None => extent,
        };
        let whole = |stage, work, units: u64| even(stage, work, 1, units.max(1) as f64);
        match self {
            Self::Start => whole("select", Work::Fill, 2 * subpixels + place.capacity.choice_words()),
            Self::Choose(page) => even("select", Work::Choose, page.clusters(world), CLUSTER_GRIDS.into()),
            Self::Rank => whole("select", Work::Scan, place.capacity.choice_words()),
            Self::Gather(page) => even("select", Work::Gather, page.clusters(world), CLUSTER_GRIDS.into()),
            Self::Batches(grids) => whole("select", Work::Sort, sorted(*grids)),
            Self::Clear => even("composite", Work::Clear, subpixels, 1.0),
            Self::BeginSlab(grids) => whole("sample", Work::Fill, 2 * cells + u64::from(VISIBLE_WORDS) * grids),
            Self::Lists => whole("sample", Work::Scan, cells),
            Self::Scatter(entries) => even("sample", Work::Scatter, (*entries).into(), 1.0),
            Self::SortCells(entries, before) => {
                let each = 1.0 + f64::from(*entries) / cells.max(1) as f64;
                uneven(even("sample", Work::SortCells, cells, each), before)
            }
            Self::Number(grids) => whole("shade", Work::Number, *grids),
            Self::PlaceEntries(entries) => even("sample", Work::PlaceEntries, (*entries).into(), 1.0),
            Self::Order(grids, _) => whole("shade", Work::Sort, sorted(*grids)),
            Self::Slab { entries, again, before } => {
                let work = if *again { Work::SlabRest } else { Work::Slab };
                let each = slab_units(place, *entries) / pixels.max(1) as f64;
                uneven(even("composite", work, pixels, each), before)
            }
            Self::Mark if !world.pipeline.shade_visible_only => whole("shade", Work::Fill, VISIBLE_WORDS.into()),
            Self::Mark => even("shade", Work::Mark, pixels, samples),
            Self::Composite(_) => even("composite", Work::Composite, pixels, samples),
            Self::Filter => {
                let visits = filter::window_samples(place.pixel_samples.into(), &world.filter);
                even("filter", Work::Filter, inside, (visits * (1 + place.capacity.variables)) as f64)
            }
            Self::Depth => even("filter", Work::Depth, inside, samples),
        }
    }

    /// The page of the list of grids that it goes through.
    fn page(&self) -> Option<&GridPage> {
        match self {
            Self::Choose(page) | Self::Gather(page) => Some(page),
            _ => None,
        }
    }
}

impl GridPage {
    fn clusters(&self, world: &DeviceWorld) -> u64 {
        clusters(world.grids.grid_count(self.pages[self.at]))
    }

    fn is_there(&self, world: &DeviceWorld) -> bool {
        world.grids.is_resident(self.pages[self.at])
    }

    fn bring(&self, device: &mut Device, world: &mut DeviceWorld) -> Result<GridPageSlices, GpuError> {
        world.grids.make_resident(device, self.pages[self.at], &self.pages)
    }
}

/// Parts on their way: which are left.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    label: &'static str,
    left: VecDeque<Part>,
    /// Items of the first that are done.
    done: u64,
}

impl Parts {
    /// All of them; the label names their submissions.
    pub(crate) fn new(label: &'static str, parts: impl IntoIterator<Item = Part>) -> Self {
        Self { label, left: parts.into_iter().collect(), done: 0 }
    }

    pub(crate) fn done(&self) -> bool {
        self.left.is_empty()
    }

    /// The next submission: as many parts, and as many items of the last of them, as it should have. A page of grids that is to be brought
    /// may take the place of one that has been recorded: it begins a submission.
    pub(crate) fn record(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        place: &Place,
        quota: Quota,
    ) -> Result<(Recording, Portion), GpuError> {
        let mut filling = Filling::new(quota);
        let mut recording = place.recording(self.label);
        let mut reads_pages = false;
        while let Some(part) = self.left.front() {
            if reads_pages && part.page().is_some_and(|page| !page.is_there(world)) {
                break;
            }
            let Extent { stage, work, items, units } = part.extent(world, place);
            let some = filling.take(work, items - self.done, |some| units.of(self.done..self.done + some));
            if some == 0 {
                break;
            }
            world.record_part(device, (&mut recording, stage), place, (part, self.done..self.done + some))?;
            reads_pages |= part.page().is_some();
            self.done += some;
            if self.done < items {
                break;
            }
            self.left.pop_front();
            self.done = 0;
        }
        Ok((recording, filling.portion()))
    }
}

impl DeviceWorld {
    /// Appends `some` items of a part.
    fn record_part(
        &mut self,
        device: &mut Device,
        (recording, stage): (&mut Recording, &'static str),
        place: &Place,
        (part, some): (&Part, Range<u64>),
    ) -> Result<(), GpuError> {
        let page = part.page().map(|page| page.bring(device, self)).transpose()?;
        recording.stage(stage, |recording| match (part, page) {
            (Part::Choose(_), Some(page)) => {
                select::record_choice(recording, self.stage, &page, &place.slices, &place.pixels, &some);
            }
            (Part::Gather(_), Some(page)) => {
                let (memory, by) = ((&place.slices, &place.capacity), (&place.pixels, self.depth));
                select::record_gather(recording, self.stage, &page, memory, by, &some);
            }
            _ => self.record_in_region(recording, place, part, &some),
        });
        Ok(())
    }

    /// Appends `some` items of a part that needs nothing but what the region has.
    fn record_in_region(&self, recording: &mut Recording, place: &Place, part: &Part, some: &Range<u64>) {
        let (slices, pixels, frame) = (&place.slices, &place.pixels, &self.frame);
        let (memory, region) = ((slices, &place.capacity), (pixels, place.pixel_samples));
        match part {
            Part::Start => {
                hide::record_clear(recording, slices, region);
                select::record_clear(recording, slices);
            }
            Part::Choose(_) | Part::Gather(_) => unreachable!("these need a page"),
            Part::Rank => select::record_ranks(recording, self.stage, slices),
            Part::Batches(grids) => {
                let order = (self.depth, *grids);
                select::record_batches(recording, self.stage, self.pipeline, frame, memory, order);
            }
            Part::Clear => composite::record_clear(recording, memory, region, some),
            Part::BeginSlab(grids) => sample::record_clear(recording, memory, pixels, *grids),
            Part::Lists => sample::record_lists(recording, self.stage, memory, pixels),
            Part::Scatter(entries) => sample::record_scatter(recording, slices, *entries, some),
            Part::SortCells(..) => sample::record_sort(recording, memory, pixels, some),
            Part::Number(grids) => shade::record_places(recording, self.stage, memory, *grids),
            Part::PlaceEntries(entries) => composite::record_places(recording, slices, *entries, some),
            Part::Order(grids, places) => {
                shade::record_order(recording, self.stage, frame, memory, (*grids, places.clone()));
            }
            Part::Slab { again, .. } => {
                let samples = u64::from(place.pixel_samples);
                let subpixels = some.start * samples..some.end * samples;
                composite::record_slab(recording, frame, memory, region, (self.weighted, *again, &subpixels));
            }
            Part::Mark if !self.pipeline.shade_visible_only => recording.fill(slices.visible, u32::MAX),
            Part::Mark => shade::record_mark(recording, slices, region, some),
            Part::Composite(places) => {
                composite::record(recording, frame, memory, region, (places.clone(), some));
            }
            Part::Filter => filter::record(recording, frame, memory, (pixels, &self.filter), some),
            Part::Depth => {
                let by = self.depth_filter.as_deref().unwrap_or_default();
                filter::record_depth(recording, memory, region, (by, some));
            }
        }
    }
}
