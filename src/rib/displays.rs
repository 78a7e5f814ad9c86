//! Display, Quantize and Imager (RISpec 4.1.4).

use super::effect::RequestEffect;
use super::fault::{Parsed, RequestFault};
use super::lexer::Lexer;
use super::reader::Reader;
use super::state::{AttributeChange, ShaderSlot};
use super::tokens;
use crate::diagnostic::SourceLocation;
use crate::scene::{DisplayMode, ParamValue, Quantize, ValueType};
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
    pub(super) mode: DisplayMode,
    /// Its own quantization.
    pub(super) quantize: Option<Quantize>,
    /// Its own gain and gamma.
    pub(super) exposure: Option<[f32; 2]>,
    /// All other parameters.
    pub(super) params: BTreeMap<String, ParamValue>,
    /// Where it is in the input.
    pub(super) location: SourceLocation,
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
        let mode = match channels(&mode) {
            Some(mode) => mode,
            None => self.variable(&mode, mode_offset)?,
        };
        let added = name.starts_with('+');
        let request = DisplayRequest {
            name: name.strip_prefix('+').unwrap_or(&name).to_owned(),
            driver: driver.to_string(),
            mode,
            quantize: self.params.numbers("quantize", 4).map(|values| self.own_quantize(&values)),
            exposure: self
                .params
                .numbers("exposure", 2)
                .map(|values| [values[0], values[1]])
                .filter(|[_, gamma]| *gamma > 0.0),
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

    /// Returns the variable that a mode names: an inline declaration, a declared name or a variable of every shader.
    fn variable(&mut self, mode: &str, offset: usize) -> Parsed<DisplayMode> {
        if let Some((first, _)) = mode.split_once(',') {
            let message =
                format!("several channels in one display (\"{mode}\") are not supported yet; only the first is shown");
            self.messages
                .report_at(self.current.location.clone(), RequestFault::warning("unimplement", offset, message));
            return channels(first).map_or_else(|| self.variable(first, offset), Ok);
        }
        if let Some((name, ty)) = SHADER_VARIABLES.iter().find(|(name, _)| *name == mode) {
            return Ok(DisplayMode::Variable { name: (*name).into(), ty: *ty });
        }
        match self.dictionary.look_up(mode.as_bytes()) {
            Ok(declaration) if declaration.ty != ValueType::String && declaration.array_len == 1 => {
                Ok(DisplayMode::Variable { name: Arc::clone(&declaration.name), ty: declaration.ty })
            }
            Ok(declaration) => {
                let message = format!("\"{}\" cannot be shown: it is a string or an array", declaration.name);
                Err(RequestFault::error("badargument", offset, message))
            }
            Err(message) => Err(RequestFault::error("badtoken", offset, message)
                .hint("a mode is a combination of rgb, a, z, or a variable: \"varying color name\"")),
        }
    }

    /// Returns a display's own quantization, in either of the two orders in use: one min max dither, or zero one min
    /// max with the dither in a separate parameter. The last number distinguishes them: a dither is at most 1, a
    /// maximum is larger.
    fn own_quantize(&self, values: &[f32]) -> Quantize {
        let dither = self.params.numbers("dither", 1).map(|values| values[0]);
        match *values {
            [_, one, min, max] if max > 1.0 => Quantize { one, min, max, dither: dither.unwrap_or(0.5) },
            [one, min, max, amplitude, ..] => Quantize { one, min, max, dither: dither.unwrap_or(amplitude) },
            _ => self.options.quantize,
        }
    }

    fn driver_params(&self) -> BTreeMap<String, ParamValue> {
        let own = ["quantize", "exposure", "dither"];
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
