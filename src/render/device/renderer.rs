//! One device at work on one world: what it keeps in memory, and the regions it has in flight.

use crate::gpu::{Device, DeviceInfo, GpuError, Usage};
use crate::pipeline::buffers::{CountSlices, FrameSlices, RegionCapacity, RegionSlices};
use crate::pipeline::kernels::records::{FrameBuffer, Instance};
use crate::pipeline::look::ShadingKernel;
use crate::pipeline::plan::Pipeline;
use crate::pipeline::recording::{Arena, Buffer};
use crate::pipeline::select::{DepthBuckets, RegionPixels};
use crate::pipeline::world::DrawnWorld;
use crate::pipeline::{self, frame};
use crate::render::device::bound_split::{Counter, CountingShare, drawables};
use crate::render::device::memory::GridResidency;
use crate::render::device::memory::needs::Needs;
use crate::render::grids::list::ListError;
use crate::render::grids::order::ShareGrids;
use crate::render::grids::picture_grids::PictureGrids;
use crate::render::region::chain::{RegionResult, RegionRun, Step};
use crate::render::region::pace::Pace;
use crate::render::region::record::{DeviceWorld, Place};
use crate::render::resident::geometry_pages::GeometryPages;
use crate::render::resident::grid_pages::GridPages;
use crate::scene::Filter;
use crate::trace::Track;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Subpatches that a chunk of the counting pass has room for, at most.
const COUNT_CAPACITY: u64 = 1 << 17;
/// And at least.
pub(crate) const COUNT_CAPACITY_MIN: u64 = 256;

/// What is drawn, as every device of a render shares it.
pub(crate) struct Picture {
    pub world: Arc<DrawnWorld>,
    pub kernels: Arc<[ShadingKernel]>,
    /// Parameter blocks of compiled kernels, lights, space table.
    pub params: Arc<[[f32; 4]]>,
    /// Record of the space table in the parameters.
    pub space_table: u32,
    pub filter: Filter,
    pub depth_filter: Option<String>,
    /// Outputs besides colour, alpha, depth.
    pub variables: u64,
    /// Those of them that hold their opacity already (Ci, Oi), by number.
    pub weighted: [u32; 2],
    pub pipeline: Pipeline,
    /// Regions in flight on each device.
    pub in_flight: usize,
    /// Device memory to leave alone (the constant C of RenderAnts, section 4).
    pub reserve_bytes: u64,
    /// Device memory for pages, at most; one page in any case.
    pub pages_bytes_max: u64,
    /// How much of the list of grids is on a device, if not what its memory suggests (a test aid).
    pub grid_residency: Option<GridResidency>,
    /// Makes submissions as different as they can be, by this seed (a test aid).
    pub perturb: Option<u64>,
    /// The region of each device, counted from 0, that RenderDoc is told to capture; there is one region in flight then.
    pub captured_region: Option<u64>,
}

/// What a device could not do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeviceError {
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error(transparent)]
    List(#[from] ListError),
    #[error("{device} may use {limit} of memory and needs {}{} MiB for this picture: {needs}", if *.counted { "" } else { "more than " }, needs.mib())]
    TooLittleMemory {
        device: String,
        limit: String,
        needs: Needs,
        /// Whether the list of grids is among them: before, it is not known how long it will be.
        counted: bool,
    },
}

impl DeviceError {
    /// Whether the device should be opened anew.
    pub(crate) fn ends_device(&self) -> bool {
        matches!(self, Self::Gpu(error) if error.ends_device())
    }

    /// What the user can do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Gpu(error) => error.hint(),
            Self::List(error) => error.hint(),
            Self::TooLittleMemory { .. } => "give it that much with --memory, or open fewer devices on the same memory",
        }
    }
}

struct Flight {
    rect: [u32; 4],
    seat: usize,
    run: RegionRun,
    begun: Instant,
    /// Seconds of its submissions so far, by the device's clock.
    device_s: f64,
}

/// A device with a world on it.
pub(crate) struct DeviceRenderer {
    pub(crate) device: Device,
    pub(crate) picture: Arc<Picture>,
    pub(crate) world: DeviceWorld,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) capacity: Option<RegionCapacity>,
    pub(crate) seats: Vec<RegionSlices>,
    pub(crate) free: Vec<usize>,
    flights: Vec<Flight>,
    pace: Pace,
    begun_regions: u64,
    tracks: DeviceTracks,
}

/// Where a device's times go: its stages, and its regions.
pub(crate) struct DeviceTracks {
    pub stages: Track,
    pub regions: Track,
}

/// What came of a poll.
#[derive(Debug)]
pub(crate) enum RegionPoll {
    Finished([u32; 4], Box<RegionResult>),
    TooLarge([u32; 4]),
    Advanced,
    Waiting,
}

impl DeviceRenderer {
    /// Brings what a picture needs for every region to a device, pages and grids apart.
    pub(crate) fn new(mut device: Device, picture: Arc<Picture>, tracks: DeviceTracks) -> Result<Self, DeviceError> {
        let world = &picture.world;
        let parts = [
            (1, size_of::<FrameBuffer>() as u64),
            (world.instances.len().max(1) as u64, 144),
            (picture.params.len().max(1) as u64, 16),
            (world.primvar_bindings.len().max(1) as u64, 16),
            (world.instances.len().max(1) as u64, 4),
            (world.clip_planes.len() as u64, 16),
        ];
        for kernel in pipeline::kernels_of(world, device.is_cpu()) {
            device.prepare(&kernel, &[]);
        }
        for kernel in picture.kernels.iter() {
            device.prepare(&kernel.kernel, &[]);
        }
        let buffer = device.allocate("frame", Arena::bytes_for(&parts), Usage::DeviceOnly)?;
        let frame = cut_frame(buffer, &picture);
        upload_frame(&mut device, &frame, &picture).inspect_err(|_| device.free(buffer))?;
        let (all, largest) = GeometryPages::bytes(&world.pages);
        let left = device.memory().budget_bytes.saturating_sub(device.memory().used_bytes + picture.reserve_bytes);
        let pages_bytes = (left / 3).min(picture.pages_bytes_max).max(largest);
        let pages = GeometryPages::new(Arc::clone(&world.pages), all.min(pages_bytes));
        let pace = Pace::new(picture.perturb);
        let world = DeviceWorld {
            world: Arc::clone(&picture.world),
            kernels: Arc::clone(&picture.kernels),
            frame,
            grids: GridPages::default(),
            depth: DepthBuckets::new(1.0, 1.0),
            pipeline: picture.pipeline,
            stage: pipeline::Device { serial: device.is_cpu() },
            pages,
            filter: picture.filter,
            depth_filter: picture.depth_filter.clone(),
            weighted: picture.weighted,
            measuring: false,
        };
        Ok(Self {
            device,
            picture,
            world,
            buffers: vec![buffer],
            capacity: None,
            seats: Vec::new(),
            free: Vec::new(),
            flights: Vec::new(),
            pace,
            begun_regions: 0,
            tracks,
        })
    }

    /// Counts jobs, one after the other, as long as `take` has any, and gives each's grids, in parts, the last of which is marked.
    pub(crate) fn count<'a>(
        &mut self,
        take: &mut dyn FnMut() -> Option<(usize, &'a CountingShare)>,
        give: &mut dyn FnMut(usize, ShareGrids, bool),
    ) -> Result<(), DeviceError> {
        let count = self.picture.world.runs.len().max(1) as u64;
        let taken = self.world.pages.take_memory(&mut self.device);
        taken.map_err(|error| self.explained(error.into(), None))?;
        let left = self.free_bytes() / 2;
        let mut capacity = COUNT_CAPACITY;
        while capacity > COUNT_CAPACITY_MIN && CountSlices::bytes(count, capacity) > left {
            capacity /= 2;
        }
        let bytes = CountSlices::bytes(count, capacity);
        let mut buffer = self.device.allocate("count", bytes, Usage::DeviceOnly);
        if matches!(buffer, Err(GpuError::OutOfMemory { .. })) {
            self.world.pages.keep_one(&mut self.device)?;
            buffer = self.device.allocate("count", bytes, Usage::DeviceOnly);
        }
        let buffer = buffer.map_err(|error| self.explained(error.into(), None))?;
        let slices = CountSlices::cut(buffer, count, capacity).expect("the buffer was made for it");
        let counted = self.count_in(&slices, take, give);
        self.device.free(buffer);
        counted.map_err(|error| self.explained(error, None))
    }

    /// Bytes that are left of the device's share.
    pub(crate) fn free_bytes(&self) -> u64 {
        let memory = self.device.memory();
        memory.budget_bytes.saturating_sub(memory.used_bytes + self.picture.reserve_bytes)
    }

    fn count_in<'a>(
        &mut self,
        slices: &CountSlices,
        take: &mut dyn FnMut() -> Option<(usize, &'a CountingShare)>,
        give: &mut dyn FnMut(usize, ShareGrids, bool),
    ) -> Result<(), DeviceError> {
        let drawables = drawables(&self.picture.world.runs);
        self.device.upload(slices.drawables.part(0..drawables.len() as u64), &drawables)?;
        while let Some((number, job)) = take() {
            Counter {
                device: &mut self.device,
                world: &self.picture.world,
                frame: &self.world.frame,
                pages: &mut self.world.pages,
                slices,
                pace: &mut self.pace,
            }
            .count(job, &mut |part, last| give(number, part, last))?;
        }
        Ok(())
    }

    /// Regions that can be in flight.
    pub(crate) fn in_flight_max(&self) -> usize {
        self.seats.len()
    }

    /// What a region in flight has room for.
    pub(crate) fn capacity(&self) -> &RegionCapacity {
        self.capacity.as_ref().expect("the picture has begun")
    }

    /// Samples of a pixel in x and y.
    pub(crate) fn samples(&self) -> [u32; 2] {
        self.picture.world.frame.samples
    }

    /// Seconds that the device has worked since it was opened, by its own clock.
    pub(crate) fn worked_s(&self) -> f64 {
        self.device.stage_seconds().values().sum()
    }

    /// What the oldest region in flight waits for.
    pub(crate) fn waiting_for(&self) -> String {
        self.flights.first().map_or_else(String::new, |flight| flight.run.doing().to_string())
    }

    /// The pixels of a region with the filter's apron.
    pub(crate) fn region_pixels(&self, rect: [u32; 4]) -> RegionPixels {
        RegionPixels { sampled: frame::sampled_px(rect, &self.picture.filter), inside: rect }
    }

    /// Begins a region.
    pub(crate) fn begin(&mut self, rect: [u32; 4]) -> Result<(), GpuError> {
        let seat = self.free.pop().expect("no more regions are begun than there are seats");
        let samples = self.picture.world.frame.samples;
        let place = Place {
            pixels: self.region_pixels(rect),
            slices: self.seats[seat],
            capacity: *self.capacity(),
            pixel_samples: samples[0] * samples[1],
        };
        if self.captures(self.begun_regions) {
            self.device.mark_capture(true);
        }
        let run = RegionRun::begin(&mut self.device, &mut self.world, place, self.pace.quota())?;
        self.begun_regions += 1;
        self.flights.push(Flight { rect, seat, run, begun: Instant::now(), device_s: 0.0 });
        Ok(())
    }

    /// Lets one region in flight go on, waiting at most `timeout` for one that can.
    pub(crate) fn poll(&mut self, timeout: Duration) -> Result<RegionPoll, GpuError> {
        let mut ready = None;
        for index in 0..self.flights.len() {
            if self.device.is_done(self.flights[index].run.ticket())? {
                ready = Some(index);
                break;
            }
        }
        let index = match (ready, self.flights.first()) {
            (Some(index), _) => index,
            (None, None) => return Ok(RegionPoll::Waiting),
            (None, Some(first)) => match self.device.wait(first.run.ticket(), timeout) {
                Ok(()) => 0,
                Err(GpuError::Timeout { .. }) => return Ok(RegionPoll::Waiting),
                Err(error) => return Err(error),
            },
        };
        self.advance(index)
    }

    /// Whether RenderDoc is to capture a region, counted from 0.
    fn captures(&self, region: u64) -> bool {
        self.picture.captured_region == Some(region) && !self.world.measuring
    }

    fn advance(&mut self, index: usize) -> Result<RegionPoll, GpuError> {
        let flight = &mut self.flights[index];
        let stages_s = trace_stages(&mut self.tracks.stages, &self.device, flight.run.ticket());
        flight.device_s += stages_s.iter().sum::<f64>();
        self.pace.took(flight.run.portion(), &stages_s);
        let step = flight.run.advance(&mut self.device, &mut self.world, self.pace.quota())?;
        if matches!(step, Step::Working) {
            // The oldest flight first, next time.
            self.flights.rotate_left(1);
            return Ok(RegionPoll::Advanced);
        }
        let flight = self.flights.remove(index);
        if self.captures(self.begun_regions - 1) {
            self.device.mark_capture(false);
        }
        self.free.push(flight.seat);
        trace_region(&mut self.tracks.regions, &flight, &step);
        Ok(match step {
            Step::Finished(result) => {
                RegionPoll::Finished(flight.rect, Box::new(RegionResult { device_s: flight.device_s, ..*result }))
            }
            _ => RegionPoll::TooLarge(flight.rect),
        })
    }

    /// Displaces everything once and returns, for each instance, how far its vertices moved in camera space.
    pub(crate) fn measure(&mut self, counted: &Arc<PictureGrids>, crop: [u32; 4]) -> Result<Vec<f32>, DeviceError> {
        self.begin_picture(counted)?;
        self.world.measuring = true;
        let result = self.measure_regions(crop);
        self.world.measuring = false;
        self.begun_regions = 0;
        self.end_picture();
        result?;
        Ok(self.moved()?)
    }

    fn measure_regions(&mut self, crop: [u32; 4]) -> Result<(), DeviceError> {
        let mut regions = vec![crop];
        while let Some(rect) = regions.pop() {
            let large = self.region_pixels(rect).count() * self.capacity().pixel_samples > self.capacity().subpixels;
            let mut too_large = large;
            if !large {
                self.begin(rect)?;
                too_large = loop {
                    match self.poll(self.device.timeout())? {
                        RegionPoll::Finished(..) => break false,
                        RegionPoll::TooLarge(_) => break true,
                        RegionPoll::Advanced => {}
                        RegionPoll::Waiting => return Err(self.timed_out()),
                    }
                };
            }
            if too_large {
                regions.extend(halves(rect));
            }
        }
        Ok(())
    }

    fn timed_out(&self) -> DeviceError {
        let device = self.device.title().clone();
        GpuError::Timeout { device, waited_for: self.waiting_for(), timeout: self.device.timeout() }.into()
    }

    /// How far the vertices of each instance were moved by displacement so far.
    pub(crate) fn moved(&mut self) -> Result<Vec<f32>, GpuError> {
        let moved = self.device.read(self.world.frame.moved)?;
        Ok(moved.into_iter().map(f32::from_bits).collect())
    }

    /// Declares displacement bounds, in camera space, of some instances.
    pub(crate) fn bound(&mut self, bounds: &[(u32, f32)]) -> Result<(), GpuError> {
        for &(instance, displacement_bound) in bounds {
            let record = Instance { displacement_bound, ..self.picture.world.instances[instance as usize] };
            let at = u64::from(instance);
            self.device.upload(self.world.frame.instances.part(at..at + 1), &[record])?;
        }
        Ok(())
    }

    /// Frees what [`Self::begin_picture`] made.
    pub(crate) fn end_picture(&mut self) {
        self.world.grids = GridPages::default();
        for buffer in self.buffers.drain(1..) {
            self.device.free(buffer);
        }
        self.seats.clear();
        self.free.clear();
        self.capacity = None;
    }

    /// Gives the device back, with the picture's memory freed.
    pub(crate) fn finish(mut self) -> Device {
        self.world.pages.free(&mut self.device);
        self.end_picture();
        self.device.free(self.buffers[0]);
        self.device
    }

    /// Whether no region is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.flights.is_empty()
    }

    /// What the device is.
    pub(crate) fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// The device.
    #[cfg(test)]
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }
}

/// Writes the stages of a submission down; the seconds that each took.
fn trace_stages(track: &mut Track, device: &Device, ticket: crate::gpu::Ticket) -> Vec<f64> {
    for time in device.stage_times(ticket) {
        let start = device.opened_at() + Duration::from_secs_f64(time.start_s.max(0.0));
        track.slice(time.stage, start, start + Duration::from_secs_f64(time.seconds), &[]);
    }
    device.stage_times(ticket).iter().map(|time| time.seconds).collect()
}

fn trace_region(track: &mut Track, flight: &Flight, step: &Step) {
    let [x0, y0, x1, y1] = flight.rect;
    let name = format!("[{x0}, {x1}) x [{y0}, {y1})");
    let Step::Finished(result) = step else {
        track.mark(&format!("{name} is too large"), Instant::now(), &[]);
        return;
    };
    let counts = &result.counts;
    let numbers = [
        ("grids", counts.selected as f64),
        ("culled micropolygons", counts.culled_micropolygons as f64),
        ("visible micropolygons", counts.visible_micropolygons as f64),
        ("shaded vertices", counts.shaded_vertices as f64),
        ("entries", counts.entries as f64),
        ("slabs", counts.slabs as f64),
        ("slabs too thick", counts.thick_slabs as f64),
        ("rounds", counts.rounds as f64),
        ("submissions", counts.submissions as f64),
    ];
    track.slice(&name, flight.begun, Instant::now(), &numbers);
}

/// A rectangle cut across its longer side; a single pixel is cut no more.
fn halves([x0, y0, x1, y1]: [u32; 4]) -> Vec<[u32; 4]> {
    if x1 - x0 > 1 && x1 - x0 >= y1 - y0 {
        let middle = x0.midpoint(x1);
        return vec![[x0, y0, middle, y1], [middle, y0, x1, y1]];
    }
    if y1 - y0 > 1 {
        let middle = y0.midpoint(y1);
        return vec![[x0, y0, x1, middle], [x0, middle, x1, y1]];
    }
    Vec::new()
}

/// What holds for the whole picture.
fn upload_frame(device: &mut Device, frame: &FrameSlices, picture: &Picture) -> Result<(), GpuError> {
    let world = &picture.world;
    device.upload(frame.frame, &[FrameBuffer { frame_record: world.frame }])?;
    device.upload(frame.instances.part(0..world.instances.len() as u64), &world.instances)?;
    device.upload(frame.params.part(0..picture.params.len() as u64), &picture.params)?;
    device.upload(frame.moved, &vec![0; frame.moved.count() as usize])?;
    device.upload(frame.clip_planes, &world.clip_planes)?;
    let bindings = frame.primvar_bindings.part(0..world.primvar_bindings.len() as u64);
    device.upload(bindings, &world.primvar_bindings)
}

fn cut_frame(buffer: Buffer, picture: &Picture) -> FrameSlices {
    let fits = "the buffer was made for it";
    let mut arena = Arena::new(buffer);
    FrameSlices {
        frame: arena.cut(1).expect(fits),
        instances: arena.cut(picture.world.instances.len().max(1) as u64).expect(fits),
        params: arena.cut(picture.params.len().max(1) as u64).expect(fits),
        primvar_bindings: arena.cut(picture.world.primvar_bindings.len().max(1) as u64).expect(fits),
        moved: arena.cut(picture.world.instances.len().max(1) as u64).expect(fits),
        clip_planes: arena.cut(picture.world.clip_planes.len() as u64).expect(fits),
        space_table: picture.space_table,
    }
}
