//! Draws a region of a finished picture again, for a capture by RenderDoc (docs/captures.md).

use crate::diagnostic::{Diagnostic, Severity, SourceLocation};
use crate::files::write_whole;
use crate::gpu::{AsGpu, Capture, CaptureError, OpenOptions, capture_layer, reopen};
use crate::options::{CaptureOptions, CaptureRegion, HANG_TIMEOUT};
use crate::render::device::error::DeviceError;
use crate::render::device::picture::Picture;
use crate::render::device::regions_in_flight::RegionPoll;
use crate::render::device::renderer::DeviceRenderer;
use crate::render::device::tracks::DeviceTracks;
use crate::render::grids::picture_grids::PictureGrids;
use crate::render::session::devices::DeviceSlot;
use crate::render::session::draw::Session;
use crate::render::session::drawn_picture::{CaptureState, DrawnPicture};
use crate::render::session::worker::capacity_of;
use crate::schedule::Region;
use crate::stats::{RegionStats, human_bytes};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The limit of device memory unless the user gives one: a capture holds the contents of all of it.
const MEMORY_BYTES: u64 = 64 << 20;

/// The longest wait for a submission before the interrupt is looked at.
const POLL: Duration = Duration::from_millis(50);

/// How many times longer than a device's time-out a region may wait: kernels may be compiled for it.
const COMPILING: u32 = 10;

/// Why a region is not captured.
#[derive(Debug, thiserror::Error)]
enum NoCapture {
    #[error(transparent)]
    Tool(#[from] CaptureError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error("there is no region {asked}: the last is {last}")]
    NoSuchRegion { asked: usize, last: usize },
    #[error("no region was drawn")]
    NoRegion,
    #[error("pixel {}, {} was not drawn", .0[0], .0[1])]
    NotDrawn([i32; 2]),
    #[error("not even one pixel fits the device's memory")]
    TooSmall,
    #[error("the device makes no progress")]
    Hangs,
    #[error("the render was interrupted")]
    Interrupted,
}

impl NoCapture {
    fn hint(&self) -> &'static str {
        match self {
            Self::Tool(CaptureError::NoLayer | CaptureError::Unusable(_)) => {
                "install it, and look with `anthill devices` and vulkaninfo whether its layer is listed"
            }
            Self::Tool(CaptureError::NoFolder(_)) => "set TMPDIR to a folder in which files can be written",
            Self::Tool(_) => {
                "look for space where the capture is written, and in the temporary folder (TMPDIR), where RenderDoc writes it \
                 first; --memory 16M makes small captures"
            }
            Self::Device(error) => error.hint(),
            Self::NoRegion | Self::NoSuchRegion { .. } | Self::NotDrawn(_) => {
                "--capture-region slowest is there in every picture; --stats lists the regions and their pixels"
            }
            Self::TooSmall => "give it more with --memory",
            Self::Hangs => "a longer --timeout lets it go on",
            Self::Interrupted => "the picture is as any interrupted one",
        }
    }
}

impl Session<'_> {
    /// Keeps what a capture of a picture that was just drawn needs, if one was asked for. It is that of the first
    /// picture; maps of lights that cast shadows by themselves are none.
    pub(super) fn keep_for_capture(&mut self, picture: &Arc<Picture>, grids: &Arc<PictureGrids>) {
        if self.options.capture.is_some() && !self.shadows.drawing && matches!(self.capture, CaptureState::Waiting) {
            let regions = self.world_stats().regions.clone();
            let drawn = DrawnPicture { picture: Arc::clone(picture), grids: Arc::clone(grids), regions };
            self.capture = CaptureState::Drawn(Box::new(drawn));
        }
    }

    /// Captures a region of the picture that was written last, if this is the one.
    pub(super) fn capture_region(&mut self) {
        let (Some(asked), CaptureState::Drawn(_)) = (&self.options.capture, &self.capture) else { return };
        let CaptureState::Drawn(drawn) = std::mem::replace(&mut self.capture, CaptureState::Over) else { return };
        let file = asked.path.display();
        match self.captured(asked, &drawn) {
            Ok((region, bytes)) => {
                let message =
                    format!("captured region {region} in \"{file}\" ({}): open it with qrenderdoc", human_bytes(bytes));
                self.reporter.report(Diagnostic::new(
                    Severity::Info,
                    "capture",
                    drawn.picture.location.clone(),
                    message,
                ));
            }
            Err(error) => self.refuse_capture(&format!("\"{file}\" is not written: {error}"), error.hint()),
        }
    }

    /// Reports that no picture was drawn of which a region could be captured.
    pub(super) fn end_capture(&mut self) {
        if let (Some(asked), CaptureState::Waiting) = (&self.options.capture, &self.capture) {
            let message = format!("\"{}\" is not written: no region of a picture was drawn", asked.path.display());
            let resumes = self.options.checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.resume);
            let hint = if resumes { "a checkpoint's pixels are not drawn again; render without --resume" } else { "" };
            self.refuse_capture(&message, hint);
        }
    }

    fn refuse_capture(&mut self, message: &str, hint: &str) {
        self.capture = CaptureState::Over;
        self.stats.lost_files += 1;
        let error = Diagnostic::new(Severity::Error, "capture", SourceLocation::default(), message);
        self.reporter.report(error.hint(hint));
    }

    /// Captures a region; the region, and the bytes of the file.
    fn captured(&self, asked: &CaptureOptions, drawn: &DrawnPicture) -> Result<(Region, u64), NoCapture> {
        let row = asked_region(&drawn.regions, asked.region)?;
        if capture_layer().is_none() {
            return Err(CaptureError::NoLayer.into());
        }
        let region = Region::new(row.px).expect("a region that was drawn has pixels");
        let slot = self.slots.get(row.device).unwrap_or(&self.slots[0]);
        let mut renderer = self.renderer_for_capture(slot, drawn)?;
        // In the first go the kernels are compiled and tiles of textures loaded.
        let region = self.rehearsed(&mut renderer, &drawn.picture, region, asked.region);
        let recorded = region.and_then(|region| Ok((region, self.recorded(&mut renderer, region, &asked.path)?)));
        let hangs = !renderer.is_idle();
        let device = renderer.finish_uncounted();
        if hangs {
            device.abandon();
        }
        recorded
    }

    /// Opens the device again, under RenderDoc's layer, with as little memory as the picture needs.
    fn renderer_for_capture(&self, slot: &DeviceSlot, drawn: &DrawnPicture) -> Result<DeviceRenderer, NoCapture> {
        let most = slot.open_options.memory_bytes.unwrap_or(u64::MAX);
        let mut bytes = self.options.memory_bytes.unwrap_or(MEMORY_BYTES).min(most);
        loop {
            let options = OpenOptions {
                capture: true,
                memory_bytes: Some(bytes),
                // What is drawn here is neither timed nor among the kernels of the render.
                time_commands: false,
                compile_log: Arc::default(),
                faults: None,
                as_gpu: AsGpu { staged: true, ..slot.open_options.as_gpu.clone() },
                ..slot.open_options.clone()
            };
            let device = reopen(&slot.info, &options).map_err(DeviceError::from)?;
            let mut renderer = DeviceRenderer::new(device, Arc::clone(&drawn.picture), DeviceTracks::off())?;
            match renderer.begin_picture(&drawn.grids) {
                Ok(()) => return Ok(renderer),
                Err(error) => {
                    drop(renderer.finish_uncounted());
                    if !matches!(error, DeviceError::TooLittleMemory { .. }) || bytes >= most {
                        return Err(error.into());
                    }
                }
            }
            bytes = bytes.saturating_mul(2).min(most);
        }
    }

    /// Draws a region, or the part of it that fits; which it was.
    fn rehearsed(
        &self,
        renderer: &mut DeviceRenderer,
        picture: &Picture,
        whole: Region,
        asked: CaptureRegion,
    ) -> Result<Region, NoCapture> {
        let capacity = capacity_of(renderer, picture);
        let mut region = whole;
        while capacity.subpixel_count(region) > capacity.subpixel_count_max || !self.drawn(renderer, region)? {
            let halves = region.halves().ok_or(NoCapture::TooSmall)?;
            region = match asked {
                CaptureRegion::At(pixel) if !holds(halves[0], pixel) => halves[1],
                _ => halves[0],
            };
        }
        Ok(region)
    }

    /// Draws a region while RenderDoc records; the bytes of the capture.
    fn recorded(&self, renderer: &mut DeviceRenderer, region: Region, path: &Path) -> Result<u64, NoCapture> {
        let folder = tempfile::tempdir().map_err(CaptureError::NoFolder)?;
        let capture = Capture::begin(folder.path())?;
        if !self.drawn(renderer, region)? {
            return Err(NoCapture::TooSmall);
        }
        let written = capture.end()?;
        let put = || -> io::Result<u64> {
            let bytes = fs::metadata(&written)?.len();
            write_whole(path, |sink| io::copy(&mut File::open(&written)?, sink).map(drop))?;
            Ok(bytes)
        };
        Ok(put().map_err(CaptureError::from)?)
    }

    /// Draws a region, whose pixels nobody needs; `false` if it does not fit the device's memory.
    fn drawn(&self, renderer: &mut DeviceRenderer, region: Region) -> Result<bool, NoCapture> {
        let patience = self.options.timeout.unwrap_or(HANG_TIMEOUT) * COMPILING;
        renderer.begin(region).map_err(DeviceError::from)?;
        let mut advanced = Instant::now();
        loop {
            match renderer.poll(POLL).map_err(DeviceError::from)? {
                RegionPoll::Finished(..) => return Ok(true),
                RegionPoll::TooLarge(_) => return Ok(false),
                RegionPoll::Advanced => advanced = Instant::now(),
                RegionPoll::Waiting if advanced.elapsed() > patience => return Err(NoCapture::Hangs),
                RegionPoll::Waiting => {}
            }
            if self.ticker.interrupt.is_raised() {
                renderer.abandon_regions(patience).map_err(DeviceError::from)?;
                return Err(NoCapture::Interrupted);
            }
        }
    }
}

/// Returns the region that was asked for.
fn asked_region(regions: &[RegionStats], asked: CaptureRegion) -> Result<&RegionStats, NoCapture> {
    let last = regions.len().checked_sub(1).ok_or(NoCapture::NoRegion)?;
    match asked {
        CaptureRegion::Number(number) => regions.get(number).ok_or(NoCapture::NoSuchRegion { asked: number, last }),
        CaptureRegion::Slowest => {
            let slowest = regions.iter().max_by(|a, b| a.device_s.total_cmp(&b.device_s));
            slowest.ok_or(NoCapture::NoRegion)
        }
        CaptureRegion::At(pixel) => {
            let there = |row: &&RegionStats| Region::new(row.px).is_some_and(|region| holds(region, pixel));
            regions.iter().find(there).ok_or(NoCapture::NotDrawn(pixel))
        }
    }
}

fn holds(region: Region, [x, y]: [i32; 2]) -> bool {
    region.columns().contains(&x) && region.rows().contains(&y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_found_by_number_time_and_pixel() {
        let row = |px, device_s| RegionStats { px, device_s, ..RegionStats::default() };
        let rows = [row([0, 0, 8, 4], 0.5), row([0, 4, 8, 8], 2.0), row([8, 0, 16, 8], 1.0)];
        let at = |asked| asked_region(&rows, asked).map(|row| row.px).map_err(|error| error.to_string());
        assert_eq!(at(CaptureRegion::Slowest), Ok([0, 4, 8, 8]));
        assert_eq!(at(CaptureRegion::Number(2)), Ok([8, 0, 16, 8]));
        assert_eq!(at(CaptureRegion::At([7, 3])), Ok([0, 0, 8, 4]));
        assert_eq!(at(CaptureRegion::At([16, 3])), Err("pixel 16, 3 was not drawn".to_owned()));
        let message = "there is no region 3: the last is 2";
        assert_eq!(at(CaptureRegion::Number(3)), Err(message.to_owned()));
    }
}
