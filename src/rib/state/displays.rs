//! Displays as requests ask for them (RISpec 4.1.4).

use crate::diagnostic::SourceLocation;
use crate::scene::{DisplayMode, FilterKind, ParamValue, Quantize};
use std::collections::BTreeMap;

/// A display as its request names it.
#[derive(Clone, Debug)]
pub(crate) struct DisplayRequest {
    /// Its name, without `+`.
    pub(crate) name: String,
    /// Its driver.
    pub(crate) driver: String,
    /// What it shows.
    pub(crate) parts: Vec<PartRequest>,
    /// What it asks for all its parts.
    pub(crate) imaging: ImagingRequest,
    /// All other parameters.
    pub(crate) params: BTreeMap<String, ParamValue>,
    /// Where it is in the input.
    pub(crate) location: SourceLocation,
}

/// A part of what a display shows: a variable or channels, or what DisplayChannel describes.
#[derive(Clone, Debug)]
pub(crate) struct PartRequest {
    /// What it shows.
    pub(crate) mode: DisplayMode,
    /// What the channel asks for itself.
    pub(crate) imaging: ImagingRequest,
}

/// How a display or a channel wants its values: what is not given is that of the display, then that of the options.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImagingRequest {
    pub(crate) quantize: Option<Quantize>,
    pub(crate) dither: Option<f32>,
    pub(crate) exposure: Option<[f32; 2]>,
    pub(crate) filter: Option<FilterKind>,
    pub(crate) filter_width: Option<[f32; 2]>,
}

impl ImagingRequest {
    /// Returns the requests of a part, with those of its display where it has none.
    pub(crate) fn or(&self, display: &Self) -> Self {
        Self {
            quantize: self.quantize.or(display.quantize),
            dither: self.dither.or(display.dither),
            exposure: self.exposure.or(display.exposure),
            filter: self.filter.or(display.filter),
            filter_width: self.filter_width.or(display.filter_width),
        }
    }
}
