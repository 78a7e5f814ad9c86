//! What is drawn: everything that the devices of a render share.

use crate::diagnostic::SourceLocation;
use crate::gpu::DeviceInfo;
use crate::line_profile::{Counter, LineProfile};
use crate::pipeline::look::{ImagerProgram, ShadingKernel};
use crate::pipeline::plan::Pipeline;
use crate::pipeline::stage::{Composition, DisplayDemands, FilteredRecord, PictureFeatures};
use crate::pipeline::world::DrawnWorld;
use crate::pipeline_choice::PipelineChoice;
use crate::progress::{Interrupt, ProgressTally};
use crate::render::device::memory::GridResidency;
use crate::render::region::bakes::BakeMemory;
use crate::render::region::layers::DeepSettings;
use crate::render::resident::picture_textures::PictureTextures;
use crate::render::resident::visibility_store::KeepVisibility;
use crate::scene::{DepthFilter, Filter};
use crate::shading::ShadingInputs;
use std::sync::Arc;

/// The pipeline of each device. Devices do not all draw a picture in the same way, but with the same bits.
#[derive(Clone, Debug)]
pub(crate) enum DevicePipelines {
    /// What was chosen for colours.
    Colours(PipelineChoice),
    /// The same where depths are all that is wanted.
    Depths(PipelineChoice),
    /// One without a name for all devices.
    #[cfg(test)]
    Fixed(Pipeline),
}

impl DevicePipelines {
    /// Returns the pipeline of a device for a picture whose shaders bake or do not.
    fn of(&self, device: &DeviceInfo, bakes: bool) -> Pipeline {
        match self {
            Self::Colours(choice) => choice.of(device, bakes).colours,
            Self::Depths(choice) => choice.of(device, bakes).depths(),
            #[cfg(test)]
            Self::Fixed(pipeline) => *pipeline,
        }
    }
}

/// A level of refinement of the pictures of a live session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum KeptLevel {
    /// Of a smaller format.
    Coarse,
    /// Of the format, with one sample a pixel.
    OneSample,
    /// As it is written.
    Final,
}

/// What devices keep of a picture when it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// All is freed: another world follows, or none.
    Nothing,
    /// Geometry and tiles: it belongs to a world that is edited, as maps of its lights do.
    Pages,
    /// All of it, until the same level is drawn again.
    Level(KeptLevel),
}

impl Keeps {
    /// The level of refinement, if it has one.
    pub(crate) fn level(self) -> Option<KeptLevel> {
        if let Self::Level(level) = self { Some(level) } else { None }
    }
}

/// One world as it is drawn; every device of a render shares it.
pub(crate) struct Picture {
    /// Where the world begins in the scene.
    pub location: SourceLocation,
    /// Geometry, instances and sublists.
    pub world: Arc<DrawnWorld>,
    /// Compiled shaders.
    pub kernels: Arc<[ShadingKernel]>,
    /// Parameter blocks of compiled kernels, lights, space table.
    pub params: Arc<[[f32; 4]]>,
    /// What its programs read, if it is edited.
    pub inputs: Option<ShadingInputs>,
    /// Record of the space table in the parameters.
    pub space_table: u32,
    /// What its programs count.
    pub counters: Arc<[Counter]>,
    /// The number of the first counter of lookups.
    pub lookup_counters: u32,
    /// Receives what they have counted.
    pub line_profile: Option<Arc<LineProfile>>,
    /// The pixel filter, as wide as the widest of all filters.
    pub widest_filter: Filter,
    /// The records of finished pixels.
    pub filtered: Arc<[FilteredRecord]>,
    /// The finished record of each channel of the film.
    pub film_records: Arc<[usize]>,
    /// Texts by token, for what is printed and for textures, and the textures.
    pub textures: Arc<PictureTextures>,
    /// The hider's depth filter, where a display asks for depth.
    pub depth_filter: Option<DepthFilter>,
    /// How the light at each depth is kept, where a display asks for it.
    pub deep: Option<DeepSettings>,
    /// The host's memory for what shaders bake.
    pub bake_memory: Arc<BakeMemory>,
    /// Outputs besides colour, alpha, depth.
    pub variables: u64,
    /// How they are composited.
    pub composition: Composition,
    /// The pipelines that regions go through.
    pub pipelines: DevicePipelines,
    /// Regions in flight on each device, at most; `None` for as many as suit its kind.
    pub in_flight: Option<usize>,
    /// Whether no other picture follows, as far as is known.
    pub is_last: bool,
    /// What devices keep of it.
    pub keeps: Keeps,
    /// Device memory that stays free (the constant C of RenderAnts, section 4).
    pub reserve_bytes: u64,
    /// Device memory for pages of geometry, at most; one page is resident in any case.
    pub pages_bytes_max: u64,
    /// How much of the list of grids is on a device, if not what its memory suggests (a test aid).
    pub grid_residency: Option<GridResidency>,
    /// How what samples see is kept for another drawing, if it is.
    pub visibility: Option<KeepVisibility>,
    /// Makes submissions as different as they can be, by this seed (a test aid).
    pub perturb: Option<u64>,
    /// Stops counting and drawing.
    pub interrupt: Interrupt,
    /// Where devices report how far they are.
    pub tally: Arc<ProgressTally>,
}

impl Picture {
    /// Whether shaders bake points.
    pub(crate) fn bakes(&self) -> bool {
        self.kernels.iter().any(|kernel| kernel.bakes)
    }

    /// Returns how what samples see is kept, if it is. What bakes or prints is to be drawn whole; what is kept of deep
    /// shadow maps would be no use.
    pub(crate) fn keeps_visibility(&self) -> Option<KeepVisibility> {
        let prints = self.kernels.iter().any(|kernel| kernel.print_words > 0);
        self.visibility.filter(|_| !prints && !self.bakes() && self.deep.is_none())
    }

    /// Returns what its displays want.
    pub(crate) fn displays(&self) -> DisplayDemands {
        DisplayDemands {
            filters: self.filtered.iter().map(|record| record.filter.kind).collect(),
            depth: self.depth_filter,
            deep: self.deep.is_some(),
            variables: self.variables > 0,
        }
    }

    /// Returns what it has that stages may have nothing to do without.
    pub(crate) fn features(&self) -> PictureFeatures {
        PictureFeatures::of(&self.world, &self.displays())
    }

    /// Returns the pipeline that regions go through on a device.
    pub(crate) fn pipeline_of(&self, device: &DeviceInfo) -> Pipeline {
        self.pipelines.of(device, self.bakes())
    }
}

/// A world's imager, and the textures that it looks up.
pub(crate) struct WorldImager {
    pub program: ImagerProgram,
    pub textures: Arc<PictureTextures>,
    /// What its program counts.
    pub counters: Arc<[Counter]>,
    /// Receives what it has counted.
    pub line_profile: Option<Arc<LineProfile>>,
}
