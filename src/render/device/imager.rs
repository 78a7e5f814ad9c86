//! The imager at work: bands of the film's pixels go to a device in tiles and come back. Where a device fails, the next
//! one takes over.

use crate::film::{Imager, ImagerPixels};
use crate::gpu::{Device, GpuError, Ticket, Usage};
use crate::pipeline::imager::{self, ImagerRun, ImagerSlices, TILE_PIXELS, TILE_PX};
use crate::pipeline::look::ImagerProgram;
use crate::pipeline::recording::{Buffer, Recording};
use crate::pipeline::stage::{StagePart, Work};
use crate::pipeline::textures::record_misses_begin;
use crate::render::device::counters;
use crate::render::device::memory::{free_bytes, imager_tiles};
use crate::render::device::picture::WorldImager;
use crate::render::region::loop_watch::trips_for;
use crate::render::region::pace::{Pace, Portion};
use crate::render::resident::texture_tiles::{TextureTiles, TilesLoaded};
use crate::stats::MemoryCategory;
use parking_lot::Mutex;
use rustc_hash::FxHashSet;

/// Where devices come from.
pub(crate) trait DeviceSource: Send {
    /// Takes a device to work on; `None` when there are no more.
    fn take(&mut self) -> Option<Device>;
    /// Gives back the device that was last taken, which has worked to the end.
    fn give_back(&mut self, device: Device);
    /// Frees what the device that was last taken keeps of pictures; returns whether that was anything.
    fn make_room(&mut self, device: &mut Device) -> bool;
    /// Closes the device that was last taken, and reports that it has failed.
    fn failed(&mut self, device: Device, error: GpuError);
}

/// An imager and the devices it may run on.
pub(crate) struct DeviceImager<'a> {
    imager: WorldImager,
    state: Mutex<ImagerState<'a>>,
}

/// What is left of the devices, and what became of the pixels so far.
struct ImagerState<'a> {
    devices: &'a mut dyn DeviceSource,
    /// The device at work.
    imager: Option<ImagerDevice>,
    /// Why no device could go on.
    failure: Option<String>,
    /// Pixels whose values were not finite, display by display.
    replaced: u64,
}

/// A device with memory for some tiles.
struct ImagerDevice {
    device: Device,
    memory: ImagerMemory,
    pace: Pace,
}

/// What an imager takes of a device.
struct ImagerMemory {
    buffer: Buffer,
    slices: ImagerSlices,
    /// Tiles that there is memory for.
    tiles: u64,
    textures: Option<TextureTiles>,
}

impl<'a> DeviceImager<'a> {
    pub(crate) fn new(imager: WorldImager, devices: &'a mut dyn DeviceSource) -> Self {
        let state = ImagerState { devices, imager: None, failure: None, replaced: 0 };
        Self { imager, state: Mutex::new(state) }
    }

    /// Gives the device back. Returns the number of pixels with values that were not finite and were replaced, display
    /// by display.
    pub(crate) fn finish(self) -> u64 {
        let mut state = self.state.into_inner();
        if let Some(mut imager) = state.imager.take() {
            let WorldImager { program, textures, counters, line_profile } = &self.imager;
            if let (Some(_), Some(profile)) = (program.first_counters, line_profile) {
                counters::read(&mut imager.device, imager.memory.slices.counters, counters, profile, textures);
            }
            state.devices.give_back(imager.close());
        }
        state.replaced
    }

    /// Runs the imager on the devices that are left, one after the other until one does it.
    fn run(&self, state: &mut ImagerState<'_>, pixels: &mut ImagerPixels<'_>) -> Result<(), String> {
        loop {
            let mut imager = match state.imager.take() {
                Some(imager) => imager,
                None => {
                    let mut device = state.devices.take().ok_or("no device is left")?;
                    match take_memory(&mut device, &self.imager, state.devices) {
                        Ok(memory) => ImagerDevice { device, memory, pace: Pace::new(None) },
                        Err(error) => {
                            state.devices.failed(device, error);
                            continue;
                        }
                    }
                }
            };
            match imager.run(&self.imager.program, pixels) {
                Ok(replaced) => {
                    state.replaced += replaced;
                    state.imager = Some(imager);
                    return Ok(());
                }
                Err(error) => {
                    state.devices.failed(imager.close(), error);
                }
            }
        }
    }
}

impl Imager for DeviceImager<'_> {
    fn shade(&self, pixels: &mut ImagerPixels<'_>) {
        let mut state = self.state.lock();
        if state.failure.is_none()
            && let Err(failure) = self.run(&mut state, pixels)
        {
            state.failure = Some(failure);
        }
    }

    fn failure(&self) -> Option<String> {
        self.state.lock().failure.clone()
    }
}

/// Takes memory for an imager; what the device keeps of pictures goes if that is short.
fn take_memory(
    device: &mut Device,
    imager: &WorldImager,
    devices: &mut dyn DeviceSource,
) -> Result<ImagerMemory, GpuError> {
    let taken = ImagerMemory::take(device, imager);
    if matches!(taken, Err(GpuError::OutOfMemory { .. })) && devices.make_room(device) {
        return ImagerMemory::take(device, imager);
    }
    taken
}

impl ImagerMemory {
    /// Takes memory for an imager, or none.
    fn take(device: &mut Device, WorldImager { program, textures, .. }: &WorldImager) -> Result<Self, GpuError> {
        let free = free_bytes(device.memory(), 0);
        let used = program.uses_textures.then_some(textures);
        let textures = used.map(|textures| TextureTiles::new(device, textures, free)).transpose()?;
        let slots = textures.as_ref().map_or(0, TextureTiles::slots_end);
        match take_buffer(device, program, slots) {
            Ok((buffer, slices, tiles)) => Ok(Self { buffer, slices, tiles, textures }),
            Err(error) => {
                textures.into_iter().for_each(|textures| textures.free(device));
                Err(error)
            }
        }
    }
}

/// Takes a buffer for as many tiles as there is memory for.
fn take_buffer(
    device: &mut Device,
    program: &ImagerProgram,
    slots: u64,
) -> Result<(Buffer, ImagerSlices, u64), GpuError> {
    let tiles = imager_tiles(program, slots, free_bytes(device.memory(), 0));
    let bytes = ImagerSlices::bytes(program, tiles, slots);
    let buffer = device.allocate(MemoryCategory::Imager.name(), bytes, Usage::DeviceOnly)?;
    let slices = ImagerSlices::cut(buffer, program, tiles, slots).expect("the buffer was made for it");
    let zeros = vec![0; slices.counters.count() as usize];
    let uploaded = device.upload(slices.params, &program.params);
    uploaded.and_then(|()| device.upload(slices.counters, &zeros)).inspect_err(|_| device.free(buffer))?;
    Ok((buffer, slices, tiles))
}

impl ImagerDevice {
    /// Frees what the imager took.
    fn close(mut self) -> Device {
        self.device.free(self.memory.buffer);
        if let Some(textures) = self.memory.textures {
            textures.free(&mut self.device);
        }
        self.device
    }

    /// Runs over all tiles that the pixels meet. Results are stored when all tiles are done, so that after an error
    /// pixels are as they were, and another device can begin with them. Returns how many pixels had values that are not
    /// finite.
    fn run(&mut self, program: &ImagerProgram, pixels: &mut ImagerPixels<'_>) -> Result<u64, GpuError> {
        let tiles = tiles_of(pixels);
        let mut outputs = Vec::new();
        let mut left = tiles.as_slice();
        while !left.is_empty() {
            let most = (self.pace.quota().of(Work::Imager) / u64::from(TILE_PIXELS)).clamp(1, self.memory.tiles);
            let (tiles, rest) = left.split_at(left.len().min(most as usize));
            let count = tiles.len() as u32;
            let inputs = inputs(program, tiles, pixels);
            self.device.upload(self.memory.slices.arena.part(0..inputs.len() as u64), &inputs)?;
            self.device
                .upload(self.memory.slices.work.part(0..2 * tiles.len() as u64), &imager::work(program, tiles))?;
            if !self.shade(program, count)? {
                if count > 1 {
                    self.memory.tiles = u64::from(count / 2);
                    continue;
                }
                self.memory.textures.iter().for_each(TextureTiles::report_too_few_slots);
            }
            left = rest;
            let shaded = self.device.read(self.memory.slices.arena.part(imager::output_records(program, count)))?;
            outputs.push((tiles, shaded));
        }
        Ok(outputs.iter().map(|(tiles, shaded)| store_outputs(tiles, shaded, pixels)).sum())
    }

    /// Runs over some tiles until all loops have ended, in submissions of a limited number of trips; `false` where they
    /// look more tiles of textures up than there are slots.
    fn shade(&mut self, program: &ImagerProgram, count: u32) -> Result<bool, GpuError> {
        let pixels = u64::from(count * TILE_PIXELS);
        let (mut trips, mut resume) = (StagePart::FIRST_TRIPS, false);
        loop {
            let Some(ticket) = self.shade_once(program, count, trips, resume)? else { return Ok(false) };
            let going = u64::from(self.device.read(self.memory.slices.status)?[0]);
            let stages_s: Vec<f64> = self.device.stage_times(ticket).iter().map(|time| time.seconds).collect();
            match (resume, going) {
                (false, _) => self.pace.took(&Portion::of(Work::Imager, pixels), &stages_s),
                (true, 0) => {}
                (true, going) => self.pace.took(&Portion::of(Work::Trips, going * u64::from(trips)), &stages_s),
            }
            if going == 0 || program.state_channels == 0 {
                return Ok(true);
            }
            (trips, resume) = (trips_for(self.pace.quota().of(Work::Trips), going), true);
        }
    }

    /// Makes a submission again and again until it misses no tile of a texture. Returns `None` if there are too few
    /// slots.
    fn shade_once(
        &mut self,
        program: &ImagerProgram,
        count: u32,
        trips: u32,
        resume: bool,
    ) -> Result<Option<Ticket>, GpuError> {
        let (mut needed, mut since, mut restore) = (FxHashSet::default(), None, false);
        loop {
            let loops = imager::loops(program, count, trips, [resume, restore]);
            let mut recording = Recording::new("imager");
            let stamp = self.memory.textures.as_mut().map(TextureTiles::next_stamp);
            let slices = self.memory.textures.as_ref().map(TextureTiles::slices);
            recording.stage("imager", |recording| {
                if stamp.is_some() {
                    record_misses_begin(recording, self.memory.slices.misses);
                }
                let run = ImagerRun { program, tiles: count, loops };
                imager::record(recording, &self.memory.slices, slices.as_ref(), run);
            });
            let ticket = self.device.submit(&recording)?;
            let (Some(textures), Some(stamp)) = (&mut self.memory.textures, stamp) else { return Ok(Some(ticket)) };
            let missed = textures.read_misses(&mut self.device, self.memory.slices.misses, stamp)?;
            if missed.is_empty() {
                return Ok(Some(ticket));
            }
            needed.extend(missed);
            let since = *since.get_or_insert(stamp);
            while let TilesLoaded::TooMany(lacking) = textures.load(&mut self.device, &needed, since)? {
                if count > 1 || !textures.grow(&mut self.device, lacking)? {
                    return Ok(None);
                }
            }
            restore = true;
        }
    }
}

/// Columns and rows of the tiles that the pixels meet.
fn tiles_of(pixels: &ImagerPixels<'_>) -> Vec<[i32; 2]> {
    let [x, y] = pixels.corner;
    let [width, height] = pixels.size;
    let tile = |px: i32| px.div_euclid(TILE_PX.cast_signed());
    let along = |first: i32, count: u32| tile(first)..tile(first.saturating_add_unsigned(count) - 1) + 1;
    along(y, height).flat_map(|row| along(x, width).map(move |column| [column, row])).collect()
}

/// Returns the raster position of vertex `vertex` of a tile.
fn raster_of(tile: [i32; 2], vertex: u32) -> [i32; 2] {
    let within = [vertex % TILE_PX, vertex / TILE_PX].map(u32::cast_signed);
    [0, 1].map(|axis| tile[axis] * TILE_PX.cast_signed() + within[axis])
}

/// Returns the input channels of some tiles. Outside of the pixels the nearest one is repeated.
fn inputs(program: &ImagerProgram, tiles: &[[i32; 2]], pixels: &ImagerPixels<'_>) -> Vec<[f32; 4]> {
    let count = tiles.len() as u32;
    let [width, height] = pixels.size;
    let mut records = vec![[0.0; 4]; imager::input_record(program.input_channels, count)];
    let mut channel = |number: Option<u32>, value: &dyn Fn([i32; 2], usize) -> [f32; 4]| {
        let Some(number) = number else { return };
        let first = imager::input_record(number, count);
        let records = &mut records[first..first + tiles.len() * TILE_PIXELS as usize];
        let places = tiles.iter().flat_map(|&tile| (0..TILE_PIXELS).map(move |vertex| raster_of(tile, vertex)));
        for (record, raster) in records.iter_mut().zip(places) {
            let at = |axis: usize, size: u32| {
                let from_corner = (raster[axis] - pixels.corner[axis]).max(0).cast_unsigned();
                from_corner.min(size - 1) as usize
            };
            *record = value(raster, at(1, height) * width as usize + at(0, width));
        }
    };
    channel(program.reads_position.then_some(0), &|[x, y], _| [x as f32 + 0.5, y as f32 + 0.5, 0.0, 0.0]);
    channel(program.colour_channel, &|_, pixel| {
        let [r, g, b] = pixels.ci[pixel];
        [r, g, b, pixels.alpha[pixel]]
    });
    channel(program.opacity_channel, &|_, pixel| {
        let [r, g, b] = pixels.oi[pixel];
        [r, g, b, 0.0]
    });
    records
}

/// Stores what the kernel returned in the pixels: black and opaque where it is not finite. Returns where that was.
fn store_outputs(tiles: &[[i32; 2]], outputs: &[[f32; 4]], pixels: &mut ImagerPixels<'_>) -> u64 {
    let mut replaced = 0;
    let stride = tiles.len() * TILE_PIXELS as usize;
    let places = tiles.iter().flat_map(|&tile| (0..TILE_PIXELS).map(move |vertex| raster_of(tile, vertex)));
    for (record, [x, y]) in places.enumerate() {
        let inside =
            |at: i32, axis: usize| u32::try_from(at - pixels.corner[axis]).ok().filter(|&at| at < pixels.size[axis]);
        let (Some(column), Some(row)) = (inside(x, 0), inside(y, 1)) else { continue };
        let pixel = (row * pixels.size[0] + column) as usize;
        let [mut ci, mut oi, mut alpha] = [0, 1, 2].map(|channel| outputs[channel * stride + record]);
        if ![ci, oi, alpha].as_flattened().iter().all(|value| value.is_finite()) {
            replaced += 1;
            for (value, instead) in [(&mut ci, 0.0), (&mut oi, 1.0), (&mut alpha, 1.0)] {
                if !value.iter().all(|component| component.is_finite()) {
                    *value = [instead; 4];
                }
            }
        }
        pixels.ci[pixel] = [ci[0], ci[1], ci[2]];
        pixels.oi[pixel] = [oi[0], oi[1], oi[2]];
        pixels.alpha[pixel] = alpha[0];
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Reporter, SourceLocation};
    use crate::gpu::{Fault, FaultKind, Faults, OpenOptions, open};
    use crate::render::resident::picture_textures::PictureTextures;
    use crate::render::tests::{camera, options};
    use crate::scene::{Motion, ShaderInstance, World};
    use crate::shading::{CompiledImager, ShaderLibrary};
    use glam::DMat4;
    use std::sync::Arc;

    /// Opens devices that are lost at some submission, one after another.
    struct Losing {
        lose_at: Vec<Option<u64>>,
        reporter: Arc<Reporter>,
        given_back: usize,
    }

    impl DeviceSource for Losing {
        fn take(&mut self) -> Option<Device> {
            let lose_at = if self.lose_at.is_empty() { return None } else { self.lose_at.remove(0) };
            let memory_bytes = Some(64 << 20);
            let fault = |submission| Fault { kind: FaultKind::Lost, device: 0, submission };
            let faults = lose_at.map(|submission| Arc::new(Faults::new([fault(submission)])));
            let options = OpenOptions { faults, memory_bytes, ..OpenOptions::new(Arc::clone(&self.reporter)) };
            open("0", &options).expect("a device").pop()
        }

        fn give_back(&mut self, _: Device) {
            self.given_back += 1;
        }

        fn make_room(&mut self, _: &mut Device) -> bool {
            false
        }

        fn failed(&mut self, _: Device, error: GpuError) {
            self.reporter.warn("system", &SourceLocation::default(), error.to_string());
        }
    }

    /// Runs the standard imager `background` over pixels that begin at an odd place; returns the pixels, how many
    /// devices were given back, and messages.
    fn background(lose_at: &[Option<u64>]) -> (Result<Vec<[f32; 3]>, String>, usize, Vec<String>) {
        let world_from_shader = Arc::new(Motion::still(DMat4::IDENTITY));
        let imager = ShaderInstance {
            name: "background".into(),
            params: Vec::new(),
            world_from_shader,
            location: SourceLocation::default(),
        };
        let world = World {
            options: crate::scene::Options { imager: Some(Arc::new(imager)), ..options() },
            camera: camera([5000, 100]),
            drawables: Vec::new(),
            solids: Vec::new(),
            lights: Vec::new(),
            spaces: Vec::new(),
            location: SourceLocation::default(),
            notes: Default::default(),
        };
        let reporter = Arc::new(Reporter::silent());
        let mut library = ShaderLibrary::new(Arc::default(), &[]).expect("built with the compiler");
        let CompiledImager { program, textures, .. } = library.imager(&world, &reporter).expect("it is built in");
        let mut devices = Losing { lose_at: lose_at.to_vec(), reporter: Arc::clone(&reporter), given_back: 0 };
        // More tiles than run at once.
        let count = 5000 * 70;
        let (mut ci, mut oi) = (vec![[0.0; 3]; count], vec![[0.0; 3]; count]);
        let mut alpha: Vec<f32> = (0..count).map(|i| (i % 5) as f32 * 0.25).collect();
        let (textures, counters) = (PictureTextures::of(textures), Arc::default());
        let world_imager = WorldImager { program, textures, counters, line_profile: None };
        let imager = DeviceImager::new(world_imager, &mut devices);
        imager.shade(&mut ImagerPixels {
            corner: [0, 13],
            size: [5000, 70],
            ci: &mut ci,
            oi: &mut oi,
            alpha: &mut alpha,
        });
        let failure = imager.failure();
        imager.finish();
        let messages = reporter.all().iter().map(|(diagnostic, _)| diagnostic.to_string()).collect();
        (failure.map_or(Ok(ci), Err), devices.given_back, messages)
    }

    #[test]
    fn another_device_takes_over_and_begins_with_the_pixels_as_they_were() {
        for (lose_at, given_back, reported) in [(&[None][..], 1, 0), (&[Some(1), None][..], 1, 1)] {
            let (ci, back, messages) = background(lose_at);
            let ci = ci.expect("a device is left");
            let right = |(i, ci): (usize, &[f32; 3])| *ci == [1.0 - (i % 5) as f32 * 0.25; 3];
            assert!(ci.iter().enumerate().all(right), "{lose_at:?}");
            assert_eq!((back, messages.len()), (given_back, reported), "{lose_at:?}: {messages:?}");
        }
    }

    #[test]
    fn without_a_device_the_imager_fails() {
        let (ci, back, messages) = background(&[Some(0)]);
        assert_eq!((ci.expect_err("no device"), back), ("no device is left".to_string(), 0));
        assert!(messages.iter().all(|message| message.contains("was lost while running imager")), "{messages:?}");
    }
}
