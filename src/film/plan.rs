//! Converts a display as authored to an [`OutputFile`]: which file, which channels, which numbers in it. All bad
//! parameters are found here, before anything is rendered.

use super::channels::{ChannelGroup, groups_of};
use super::driver::{self, DisplayDriver, DriverRemark};
use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::files::{FileClaims, FileRefused, FileRole};
use crate::scene::{Display, DisplayMode, ParamValue, Quantize, ValueType};
use std::path::PathBuf;

/// A file that will be written.
#[derive(Clone)]
pub(super) struct OutputFile {
    pub(super) path: PathBuf,
    pub(super) location: SourceLocation,
    /// The groups of a pixel of the file, in this order.
    pub(super) groups: Vec<ChannelGroup>,
    /// gain and gamma of the colours.
    pub(super) exposure: [f32; 2],
    /// Position of the picture's upper left pixel on the display, in pixels.
    pub(super) origin: [i32; 2],
    pub(super) format: FileFormat,
}

impl OutputFile {
    /// Returns the number of floats of a pixel.
    pub(super) fn floats(&self) -> usize {
        self.groups.iter().map(ChannelGroup::floats).sum()
    }
}

/// The format of a file.
#[derive(Clone)]
pub(super) enum FileFormat {
    Exr { compression: exr::compression::Compression, channels: Vec<ExrChannel> },
    Tiff { compression: tiff::encoder::Compression, samples: TiffSamples },
    Png { quantize: Quantize, bits: SampleBits },
}

/// One channel of an OpenEXR file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExrChannel {
    pub(super) name: String,
    /// 16 bits, else 32.
    pub(super) half: bool,
}

/// Sizes of integer samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampleBits {
    Eight,
    Sixteen,
}

impl SampleBits {
    /// Returns the largest integer.
    pub(super) fn limit(self) -> u16 {
        match self {
            Self::Eight => 0xff,
            Self::Sixteen => 0xffff,
        }
    }
}

/// The type of a TIFF file's samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TiffSamples {
    Float,
    Integer(Quantize, SampleBits),
}

/// The plan for one display.
#[derive(Clone)]
pub(super) enum PlannedDisplay {
    /// It is written.
    Write(OutputFile),
    /// It cannot be written; an error was reported.
    Never(PathBuf),
    /// It writes nothing, because it is `null` or because another display writes the same file.
    Nothing,
}

/// Claims the files of displays. One that has another role, in this world or elsewhere, is not written.
pub(super) fn claim(displays: &mut [PlannedDisplay], claims: &FileClaims, reporter: &Reporter) {
    for planned in displays {
        let PlannedDisplay::Write(output) = planned else { continue };
        let Err(refused) = claims.claim(&output.path, FileRole::Picture) else { continue };
        let hint = match refused {
            FileRefused::Clash { .. } => "it is not written; name another file, or give -o a name with # for the frame",
            FileRefused::Outside { .. } => "it is not written",
        };
        let severe = Diagnostic::new(Severity::Severe, "badfile", output.location.clone(), refused.to_string());
        reporter.report(severe.hint(hint));
        *planned = PlannedDisplay::Never(output.path.clone());
    }
}

/// Plans all displays of a world. Two displays cannot write the same file: of those with the same name the later one is
/// left out here if it is a window, for which nothing more needs to be written.
pub(super) fn plan(displays: &[Display], reporter: &Reporter) -> Vec<PlannedDisplay> {
    let mut planned: Vec<PlannedDisplay> = Vec::with_capacity(displays.len());
    for display in displays {
        let is_window = matches!(driver::choose(&display.driver, &display.name).remark, Some(DriverRemark::Window(_)));
        let mut next = plan_display(display, reporter);
        if let PlannedDisplay::Write(output) = &next {
            let taken =
                planned.iter().any(|other| matches!(other, PlannedDisplay::Write(other) if other.path == output.path));
            if taken && is_window {
                next = PlannedDisplay::Nothing;
            }
        }
        planned.push(next);
    }
    planned
}

fn plan_display(display: &Display, reporter: &Reporter) -> PlannedDisplay {
    if display.name.is_empty() {
        reporter.error("badargument", &display.location, "a display has no name, so its picture cannot be written");
        return PlannedDisplay::Never(PathBuf::new());
    }
    if let DisplayMode::Variable { name, ty: ValueType::String } = &display.mode {
        reporter.error("incapable", &display.location, format!("\"{name}\" is a string and cannot be displayed"));
        return PlannedDisplay::Never(display.name.clone().into());
    }
    let choice = driver::choose(&display.driver, &display.name);
    match choice.remark {
        Some(DriverRemark::Unknown { message, hint }) => {
            reporter.report(Diagnostic::new(Severity::Error, "badtoken", display.location.clone(), message).hint(hint));
        }
        Some(DriverRemark::Window(message)) => {
            reporter.report(Diagnostic::new(Severity::Info, "incapable", display.location.clone(), message));
        }
        None => {}
    }
    let params = DisplayParams { display, reporter };
    let (groups, format) = match choice.driver {
        DisplayDriver::Null => return PlannedDisplay::Nothing,
        DisplayDriver::Exr => plan_exr(&params),
        DisplayDriver::Depth => plan_depth(&params),
        DisplayDriver::Tiff => plan_tiff(&params),
        DisplayDriver::Png => match plan_png(&params) {
            Some(planned) => planned,
            None => return PlannedDisplay::Never(choice.path),
        },
    };
    if groups.is_empty() {
        reporter.error(
            "badargument",
            &display.location,
            format!("\"{}\" would have no channels and is not written", display.name),
        );
        return PlannedDisplay::Never(choice.path);
    }
    PlannedDisplay::Write(OutputFile {
        path: choice.path,
        location: display.location.clone(),
        groups,
        exposure: params.exposure(),
        origin: params.origin(),
        format,
    })
}

/// OpenEXR files contain floats whatever Quantize says, as with the drivers of PRMan and 3Delight: half for colour and
/// alpha, float for depth and variables, unless `exrpixeltype` selects a type; depth is always float (PRMan).
fn plan_exr(params: &DisplayParams<'_>) -> (Vec<ChannelGroup>, FileFormat) {
    use exr::compression::Compression;
    params.check_known(&["exrcompression", "exrpixeltype", "asrgba"]);
    let table = [
        ("zip", Compression::ZIP16),
        ("zips", Compression::ZIP1),
        ("none", Compression::Uncompressed),
        ("rle", Compression::RLE),
        ("piz", Compression::PIZ),
        ("pxr24", Compression::PXR24),
        ("b44", Compression::B44),
        ("b44a", Compression::B44A),
    ];
    let compression = params.word("exrcompression", &table).or_else(|| params.word("compression", &table));
    let half_asked = params.word("exrpixeltype", &[("half", true), ("float", false)]);
    let as_rgba = params.number("asrgba").is_some_and(|value| value != 0.0);
    let groups = groups_of(&params.display.mode);
    let channels = groups
        .iter()
        .flat_map(|group| {
            let half = match group {
                ChannelGroup::Colour | ChannelGroup::Alpha => half_asked.unwrap_or(true),
                ChannelGroup::Depth => false,
                ChannelGroup::Variable { .. } => half_asked.unwrap_or(false),
            };
            exr_names(group, as_rgba).into_iter().map(move |name| ExrChannel { name, half })
        })
        .collect();
    (groups, FileFormat::Exr { compression: compression.unwrap_or(Compression::ZIP16), channels })
}

/// Returns channel names that are safe for the file format; `asrgba` names a variable Y, RGB or RGBA, for programs that
/// know no other names.
fn exr_names(group: &ChannelGroup, as_rgba: bool) -> Vec<String> {
    let plain: &[&str] = match (as_rgba, group.floats()) {
        (true, 1) => &["Y"],
        (true, 3) => &["R", "G", "B"],
        (true, 4) => &["R", "G", "B", "A"],
        _ => &[],
    };
    if matches!(group, ChannelGroup::Variable { .. }) && !plain.is_empty() {
        return plain.iter().map(ToString::to_string).collect();
    }
    let safe = |name: String| -> String {
        name.chars().map(|c| if c.is_ascii_graphic() { c } else { '_' }).take(EXR_NAME_BYTES_MAX).collect()
    };
    group.exr_names().into_iter().map(safe).collect()
}

/// The longest name of a channel in an OpenEXR file.
const EXR_NAME_BYTES_MAX: usize = 255;

fn plan_depth(params: &DisplayParams<'_>) -> (Vec<ChannelGroup>, FileFormat) {
    params.check_known(&["zcompression"]);
    if !matches!(params.display.mode, DisplayMode::Image { z: true, .. }) {
        let message = format!("the \"{}\" driver writes depth, whatever the display's mode", params.display.driver);
        params.reporter.warn("consistency", &params.display.location, message);
    }
    let channels = vec![ExrChannel { name: "Z".into(), half: false }];
    (vec![ChannelGroup::Depth], FileFormat::Exr { compression: exr::compression::Compression::ZIP16, channels })
}

fn plan_tiff(params: &DisplayParams<'_>) -> (Vec<ChannelGroup>, FileFormat) {
    use tiff::encoder::{Compression, DeflateLevel};
    params.check_known(&[]);
    let deflate = Compression::Deflate(DeflateLevel::Balanced);
    let table = [
        ("lzw", Compression::Lzw),
        ("none", Compression::Uncompressed),
        ("packbits", Compression::Packbits),
        ("deflate", deflate),
        ("zip", deflate),
    ];
    let compression = params.word("compression", &table).unwrap_or(Compression::Lzw);
    let quantize = params.display.quantize;
    let samples = if quantize.one == 0.0 {
        TiffSamples::Float
    } else if let Some(bits) = bits_for(&quantize) {
        TiffSamples::Integer(quantize, bits)
    } else {
        let message = format!(
            "quantization to {} does not fit in 16 bits; \"{}\" is written as floats",
            quantize.max, params.display.name
        );
        params.reporter.warn("limitcheck", &params.display.location, message);
        TiffSamples::Float
    };
    let groups = groups_of(&params.display.mode);
    let groups = if samples == TiffSamples::Float { groups } else { params.without_depth(groups) };
    (groups, FileFormat::Tiff { compression, samples })
}

/// PNG files contain only integers: an unquantized display is quantized to 8 bits, without a gamma that was not
/// requested.
fn plan_png(params: &DisplayParams<'_>) -> Option<(Vec<ChannelGroup>, FileFormat)> {
    params.check_known(&[]);
    let display = params.display;
    let groups = params.without_depth(groups_of(&display.mode));
    if let [ChannelGroup::Variable { name, ty: ty @ (ValueType::HPoint | ValueType::Matrix) }] = &groups[..] {
        let message =
            format!("PNG cannot hold the {} floats of \"{name}\"; \"{}\" is not written", ty.floats(), display.name);
        let error = Diagnostic::new(Severity::Error, "incapable", display.location.clone(), message);
        params.reporter.report(error.hint("use the exr driver"));
        return None;
    }
    let quantize = match display.quantize {
        Quantize { one: 0.0, .. } => Quantize { one: 255.0, min: 0.0, max: 255.0, dither: 0.5 },
        quantize => quantize,
    };
    let bits = bits_for(&quantize).unwrap_or(SampleBits::Sixteen);
    Some((groups, FileFormat::Png { quantize, bits }))
}

/// Returns the smallest integer size for the values that Quantize writes.
fn bits_for(quantize: &Quantize) -> Option<SampleBits> {
    match quantize.max {
        max if max <= 255.0 => Some(SampleBits::Eight),
        max if max <= 65535.0 => Some(SampleBits::Sixteen),
        _ => None,
    }
}

/// A display's parameters, with a reporter for mistakes in them.
struct DisplayParams<'a> {
    display: &'a Display,
    reporter: &'a Reporter,
}

impl DisplayParams<'_> {
    fn warn(&self, message: String) {
        self.reporter.warn("badtoken", &self.display.location, message);
    }

    /// Warns about each parameter that neither the driver nor every display has.
    fn check_known(&self, own: &[&str]) {
        const COMMON: [&str; 5] = ["quantize", "exposure", "dither", "origin", "compression"];
        for name in self.display.params.keys() {
            let name = name.as_str();
            if matches!(name, "filter" | "filterwidth") {
                self.warn(format!("a display has no filter of its own: \"{name}\" is ignored and PixelFilter is used"));
            } else if !own.contains(&name) && !COMMON.contains(&name) {
                self.warn(format!("the \"{}\" driver has no parameter \"{name}\"", self.display.driver));
            }
        }
    }

    /// Returns the value of a string parameter that must be one of the words of a table.
    fn word<T: Copy>(&self, name: &str, table: &[(&str, T)]) -> Option<T> {
        let value = self.display.params.get(name)?;
        let word = match value {
            ParamValue::Strings(strings) => strings.first().map(ToString::to_string).unwrap_or_default(),
            _ => "(a number)".into(),
        };
        let found = table.iter().find(|(known, _)| known.eq_ignore_ascii_case(&word));
        if found.is_none() {
            let known: Vec<&str> = table.iter().map(|(known, _)| *known).collect();
            let message = format!("\"{name}\" cannot be \"{word}\"");
            let warning = Diagnostic::new(Severity::Warning, "badtoken", self.display.location.clone(), message);
            self.reporter.report(warning.hint(format!("it can be {}", known.join(", "))));
        }
        found.map(|(_, value)| *value)
    }

    fn number(&self, name: &str) -> Option<f32> {
        self.numbers(name)?.first().copied()
    }

    fn numbers(&self, name: &str) -> Option<Vec<f32>> {
        match self.display.params.get(name)? {
            ParamValue::Floats(floats) => Some(floats.clone()),
            ParamValue::Ints(ints) => Some(ints.iter().map(|int| *int as f32).collect()),
            ParamValue::Strings(_) => {
                self.warn(format!("\"{name}\" must be a number"));
                None
            }
        }
    }

    fn origin(&self) -> [i32; 2] {
        // OpenEXR windows must stay far from the limits of 32-bit integers.
        let pixel = |value: f32| value.clamp(-1e6, 1e6) as i32;
        match self.numbers("origin").as_deref() {
            Some([x, y]) => [pixel(*x), pixel(*y)],
            Some(_) => {
                self.warn("\"origin\" must be two numbers".into());
                [0, 0]
            }
            None => [0, 0],
        }
    }

    fn exposure(&self) -> [f32; 2] {
        let [gain, gamma] = self.display.exposure;
        if gain.is_finite() && gamma.is_finite() && gamma > 0.0 {
            return [gain, gamma];
        }
        let message = format!("exposure {gain} {gamma} is invalid; 1 1 is used");
        self.reporter.warn("range", &self.display.location, message);
        [1.0, 1.0]
    }

    /// Removes depth from quantized colour: one scale cannot serve both (PRMan writes depth to another file).
    fn without_depth(&self, mut groups: Vec<ChannelGroup>) -> Vec<ChannelGroup> {
        if groups.len() > 1 && groups.contains(&ChannelGroup::Depth) {
            groups.retain(|group| *group != ChannelGroup::Depth);
            let message = format!("\"{}\" holds quantized colour and no depth", self.display.name);
            let warning = Diagnostic::new(Severity::Warning, "incapable", self.display.location.clone(), message);
            self.reporter.report(warning.hint("write depth to a display of its own, or use the exr driver"));
        }
        groups
    }
}
