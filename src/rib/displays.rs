//! Display, Quantize and Imager (RISpec 4.1.4).

use super::effect::RequestEffect;
use super::fault::{Parsed, RequestFault};
use super::lexer::Lexer;
use super::options::{FILTER_WIDTH_MAX, OptionState, filter_kind};
use super::reader::Reader;
use super::state::{AttributeChange, ShaderSlot};
use super::tokens;
use crate::diagnostic::SourceLocation;
use crate::scene::{DisplayMode, DisplayPart, Filter, FilterKind, ParamValue, Quantize, ValueType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The largest number of displays of a world.
const DISPLAYS_MAX: usize = 1024;

/// A display as its request names it.
#[derive(Clone, Debug)]
pub(super) struct DisplayRequest {
    /// Its name, without `+`.
    pub(super) name: String,
    /// Its driver.
    pub(super) driver: String,
    /// What it shows.
    pub(super) parts: Vec<PartRequest>,
    /// What it asks for all its parts.
    pub(super) imaging: ImagingRequest,
    /// All other parameters.
    pub(super) params: BTreeMap<String, ParamValue>,
    /// Where it is in the input.
    pub(super) location: SourceLocation,
}

/// A part of what a display shows: a variable or channels, or what DisplayChannel describes.
#[derive(Clone, Debug)]
pub(super) struct PartRequest {
    /// What it shows.
    pub(super) mode: DisplayMode,
    /// What the channel asks for itself.
    pub(super) imaging: ImagingRequest,
}

/// How a display or a channel wants its values: what is not given is that of the display, then that of the options.
#[derive(Clone, Debug, Default)]
pub(super) struct ImagingRequest {
    quantize: Option<Quantize>,
    dither: Option<f32>,
    exposure: Option<[f32; 2]>,
    filter: Option<FilterKind>,
    filter_width: Option<[f32; 2]>,
}

impl ImagingRequest {
    /// Returns the requests of a part, with those of its display where it has none.
    fn or(&self, display: &Self) -> Self {
        Self {
            quantize: self.quantize.or(display.quantize),
            dither: self.dither.or(display.dither),
            exposure: self.exposure.or(display.exposure),
            filter: self.filter.or(display.filter),
            filter_width: self.filter_width.or(display.filter_width),
        }
    }
}

impl DisplayRequest {
    /// Returns what the display shows, with what the options say where it says nothing.
    pub(super) fn parts(&self, options: &OptionState) -> Vec<DisplayPart> {
        let part = |part: &PartRequest| {
            let imaging = part.imaging.or(&self.imaging);
            let depth = part.mode == (DisplayMode::Image { rgb: false, a: false, z: true });
            let mut quantize = imaging.quantize.unwrap_or(if depth { options.quantize_z } else { options.quantize });
            quantize.dither = imaging.dither.unwrap_or(quantize.dither);
            let pixel_filter = options.options.filter;
            let filter = Filter {
                kind: imaging.filter.unwrap_or(pixel_filter.kind),
                width: imaging.filter_width.unwrap_or(pixel_filter.width),
            };
            DisplayPart {
                mode: part.mode.clone(),
                quantize,
                exposure: imaging.exposure.unwrap_or(options.options.exposure),
                filter: (filter != pixel_filter).then_some(filter),
            }
        };
        self.parts.iter().map(part).collect()
    }
}

/// Variables that every shader has (RISpec tables 12.1 to 12.5), which a display may show without a declaration.
const SHADER_VARIABLES: &[(&str, ValueType)] = &[
    ("P", ValueType::Point),
    ("N", ValueType::Normal),
    ("Ng", ValueType::Normal),
    ("I", ValueType::Vector),
    ("E", ValueType::Point),
    ("dPdu", ValueType::Vector),
    ("dPdv", ValueType::Vector),
    ("Cs", ValueType::Color),
    ("Os", ValueType::Color),
    ("Ci", ValueType::Color),
    ("Oi", ValueType::Color),
    ("s", ValueType::Float),
    ("t", ValueType::Float),
    ("u", ValueType::Float),
    ("v", ValueType::Float),
    ("du", ValueType::Float),
    ("dv", ValueType::Float),
    ("time", ValueType::Float),
    ("dtime", ValueType::Float),
    ("dPdtime", ValueType::Vector),
    ("ncomps", ValueType::Float),
];

/// Returns the mode if it is a combination of channels.
fn channels(mode: &str) -> Option<DisplayMode> {
    let (rgb, rest) = mode.strip_prefix("rgb").map_or((false, mode), |rest| (true, rest));
    let (a, rest) = rest.strip_prefix('a').map_or((false, rest), |rest| (true, rest));
    let (z, rest) = rest.strip_prefix('z').map_or((false, rest), |rest| (true, rest));
    (rest.is_empty() && (rgb || a || z)).then_some(DisplayMode::Image { rgb, a, z })
}

impl Reader<'_> {
    pub(super) fn display(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let (name, driver) = (lexer.text()?, lexer.text()?);
        lexer.peek();
        let mode_offset = lexer.position();
        let mode = lexer.text()?;
        self.read_params_in(lexer, tokens::group("Display", ""))?;
        let parts = self.parts(&mode, mode_offset)?;
        let added = name.starts_with('+');
        let request = DisplayRequest {
            name: name.strip_prefix('+').unwrap_or(&name).to_owned(),
            driver: driver.to_string(),
            parts,
            imaging: self.imaging(),
            params: self.driver_params(),
            location: self.current.location.clone(),
        };
        if !added {
            self.options.displays.clear();
        }
        if self.options.displays.len() >= DISPLAYS_MAX {
            return Err(RequestFault::error(
                "limitcheck",
                self.current.offset,
                format!("more than {DISPLAYS_MAX} displays"),
            ));
        }
        self.options.displays.push(request);
        Ok(())
    }

    /// Describes a channel, which displays may name in their modes.
    pub(super) fn display_channel(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        lexer.peek();
        let offset = lexer.position();
        let declared = lexer.text()?;
        let group = tokens::group("DisplayChannel", "");
        self.read_params_in(lexer, group)?;
        let composited = self.params.numbers("composite", 1).is_none_or(|values| values[0] != 0.0);
        let mode = self.mode(&declared, offset, composited)?;
        // Channels are known by their names, without their types.
        let name: Arc<str> = match &mode {
            DisplayMode::Variable { name, .. } => Arc::clone(name),
            DisplayMode::Image { .. } => declared.as_ref().into(),
        };
        let part = PartRequest { mode, imaging: self.imaging() };
        group.into_iter().for_each(|group| self.warn_of_tokens(group));
        if self.options.channels.len() < DISPLAYS_MAX || self.options.channels.contains_key(&name) {
            self.options.channels.insert(name, part);
            return Ok(());
        }
        let message = format!("more than {DISPLAYS_MAX} display channels");
        Err(RequestFault::error("limitcheck", self.current.offset, message))
    }

    /// Returns what a mode shows: channels, variables and what DisplayChannel describes, separated by commas. What is
    /// not known is reported and left out.
    fn parts(&mut self, mode: &str, offset: usize) -> Parsed<Vec<PartRequest>> {
        let mut parts = Vec::new();
        for name in mode.split(',').map(str::trim).filter(|name| !name.is_empty()).take(DISPLAYS_MAX) {
            let composited = self.params.numbers("composite", 1).is_none_or(|values| values[0] != 0.0);
            let part = match self.options.channels.get(name) {
                Some(part) => Ok(part.clone()),
                None => {
                    let imaging = ImagingRequest::default();
                    self.mode(name, offset, composited).map(|mode| PartRequest { mode, imaging })
                }
            };
            match part {
                Ok(part) => parts.push(part),
                Err(fault) if name.len() == mode.len() => return Err(fault),
                Err(fault) => self.report_here(fault),
            }
        }
        if parts.is_empty() {
            return Err(RequestFault::error("badargument", offset, "the mode names nothing to show"));
        }
        Ok(parts)
    }

    /// Returns what one name of a mode shows: a combination of channels, an inline declaration, a declared name or a
    /// variable of every shader.
    fn mode(&mut self, mode: &str, offset: usize, composited: bool) -> Parsed<DisplayMode> {
        if let Some(mode) = channels(mode) {
            return Ok(mode);
        }
        // What deep shadow maps show, whatever their mode.
        if mode == "deepopacity" {
            return Ok(DisplayMode::Variable { name: mode.into(), ty: ValueType::Float, composited: true });
        }
        if let Some((name, ty)) = SHADER_VARIABLES.iter().find(|(name, _)| *name == mode) {
            return Ok(DisplayMode::Variable { name: (*name).into(), ty: *ty, composited });
        }
        match self.dictionary.look_up(mode.as_bytes()) {
            // A declaration of a channel that every picture has.
            Ok(declaration) if channels(&declaration.name).is_some() => {
                Ok(channels(&declaration.name).expect("it is one"))
            }
            Ok(declaration) if declaration.ty != ValueType::String && declaration.array_len == 1 => {
                Ok(DisplayMode::Variable { name: Arc::clone(&declaration.name), ty: declaration.ty, composited })
            }
            Ok(declaration) => {
                let message = format!("\"{}\" cannot be shown: it is a string or an array", declaration.name);
                Err(RequestFault::error("badargument", offset, message))
            }
            Err(message) => Err(RequestFault::error("badtoken", offset, message)
                .hint("a mode is a combination of rgb, a, z, or a variable: \"varying color name\"")),
        }
    }

    /// Returns what the current parameters say about quantization, exposure and filter.
    fn imaging(&mut self) -> ImagingRequest {
        let pair = |name: &str| self.params.numbers(name, 2).map(|values| [values[0], values[1]]);
        let width = pair("filterwidth");
        let valid = |width: &[f32; 2]| width.iter().all(|side| *side > 0.0 && f64::from(*side) <= FILTER_WIDTH_MAX);
        let request = ImagingRequest {
            quantize: self.params.numbers("quantize", 4).map(|values| self.own_quantize(&values)),
            dither: self.params.numbers("dither", 1).map(|values| values[0]),
            exposure: pair("exposure").filter(|[_, gamma]| *gamma > 0.0),
            filter: self.params.string("filter").and_then(|name| filter_kind(&name)),
            filter_width: width.filter(valid),
        };
        if width.is_some_and(|width| !valid(&width)) {
            let message =
                format!("a \"filterwidth\" must be more than 0 and at most {FILTER_WIDTH_MAX} pixels; it is ignored");
            self.report_here(RequestFault::error("range", self.current.offset, message));
        }
        if let Some(name) = self.params.string("filter").filter(|name| filter_kind(name).is_none()) {
            let message = format!("the filter \"{name}\" is not supported for displays; PixelFilter's is used");
            self.report_here(RequestFault::warning("incapable", self.current.offset, message));
        }
        request
    }

    /// Returns a display's own quantization, in either of the two orders in use: one min max dither, or zero one min
    /// max with the dither in a separate parameter. The last number distinguishes them: a dither is at most 1, a
    /// maximum is larger.
    fn own_quantize(&self, values: &[f32]) -> Quantize {
        match *values {
            [_, one, min, max] if max > 1.0 => Quantize { one, min, max, dither: 0.5 },
            [one, min, max, dither, ..] => Quantize { one, min, max, dither },
            _ => self.options.quantize,
        }
    }

    fn driver_params(&self) -> BTreeMap<String, ParamValue> {
        let own = ["quantize", "exposure", "dither", "filter", "filterwidth", "composite"];
        let others = self.params.iter().filter(|param| !own.contains(&&*param.declaration.name));
        others
            .map(|param| {
                let values = self.params.values(param);
                (param.declaration.name.to_string(), values.to_param(values.len()))
            })
            .collect()
    }

    pub(super) fn quantize(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let kind = lexer.text()?;
        let [one, min, max, dither] = lexer.finite::<4>()?.map(|value| value as f32);
        let quantize = Quantize { one, min, max, dither };
        match &*kind {
            "rgba" | "rgb" | "a" => self.options.quantize = quantize,
            "z" => self.options.quantize_z = quantize,
            "rgbaz" | "rgbz" | "az" => {
                self.options.quantize = quantize;
                self.options.quantize_z = quantize;
            }
            other => {
                let message = format!("\"{other}\" cannot be quantized: expected \"rgba\" or \"z\"");
                return Err(RequestFault::error("badargument", self.current.offset, message));
            }
        }
        Ok(())
    }

    /// An option, which freezes at WorldBegin; renderers accept it inside the world too, where scenes have it.
    pub(super) fn imager(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let call = self.shader_call(lexer)?;
        if self.recording.is_some() {
            let message = "Imager is not allowed between ObjectBegin and ObjectEnd";
            return Err(RequestFault::error("illstate", self.current.offset, message));
        }
        let instance = call.map(|call| Arc::new(call.instance(&self.state.transform)));
        let Some(world) = &mut self.world else {
            self.options.options.imager = instance;
            return Ok(());
        };
        world.options.imager = instance;
        let message = "Imager is an option and belongs before WorldBegin; it is used for this world";
        self.report_here(RequestFault::warning("illstate", self.current.offset, message));
        Ok(())
    }

    /// Reads a shader request for a slot of the attributes.
    pub(super) fn shader_request(&mut self, lexer: &mut Lexer<'_>, slot: ShaderSlot) -> Parsed<()> {
        let call = self.shader_call(lexer)?;
        self.apply(RequestEffect::Change(AttributeChange::Shader(slot, call)));
        Ok(())
    }
}
