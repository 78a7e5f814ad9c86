//! Converts a display as authored to an [`OutputFile`]: which file, which channels, which numbers in it. All bad
//! parameters are found here, before anything is rendered.

use super::channels::{ChannelGroup, FilmChannel, groups_of};
use super::driver::{self, DisplayDriver, DriverRemark};
use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::files::{FileClaims, FileRefused, FileRole};
use crate::scene::{Display, DisplayMode, DisplayPart, ParamValue, Quantize, ValueType};
use std::path::PathBuf;

/// A file that will be written.
#[derive(Clone)]
pub(super) struct OutputFile {
    pub(super) path: PathBuf,
    pub(super) location: SourceLocation,
    /// The groups of a pixel of the file, in this order.
    pub(super) groups: Vec<OutputGroup>,
    /// Position of the picture's upper left pixel on the display, in pixels.
    pub(super) origin: [i32; 2],
    pub(super) format: FileFormat,
    /// Whether it is appended to the pictures that are in the file.
    pub(super) appends: bool,
}

/// A group of a file's pixels.
#[derive(Clone)]
pub(super) struct OutputGroup {
    pub(super) channel: FilmChannel,
    /// gain and gamma, if it is a colour.
    pub(super) exposure: [f32; 2],
    /// How it becomes integers, if it does.
    pub(super) quantize: Quantize,
}

impl OutputFile {
    /// Returns the number of floats of a pixel.
    pub(super) fn floats(&self) -> usize {
        self.groups.iter().map(|group| group.channel.group.floats()).sum()
    }

    /// Returns how each float of a pixel becomes an integer.
    pub(super) fn quantize_by_float(&self) -> Vec<Quantize> {
        let each = |group: &OutputGroup| std::iter::repeat_n(group.quantize, group.channel.group.floats());
        self.groups.iter().flat_map(each).collect()
    }
}

/// The format of a file.
#[derive(Clone, PartialEq)]
pub(super) enum FileFormat {
    Exr { compression: exr::compression::Compression, channels: Vec<ExrChannel> },
    Tiff { compression: tiff::encoder::Compression, samples: TiffSamples },
    Png { bits: SampleBits },
    DeepShadow,
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
    Integer(SampleBits),
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
        let role = if output.appends { FileRole::Appended } else { FileRole::Picture };
        let Err(refused) = claims.claim(&output.path, role) else { continue };
        let hint = match refused {
            FileRefused::Clash { .. } => "it is not written; name another file, or give -o a name with # for the frame",
            FileRefused::Outside { .. } => "it is not written",
        };
        let severe = Diagnostic::new(Severity::Severe, "badfile", output.location.clone(), refused.to_string());
        reporter.report(severe.hint(hint));
        *planned = PlannedDisplay::Never(output.path.clone());
    }
}

/// Plans all displays of a world. Two displays cannot write the same file: a window is left out here if another display
/// writes the file of its name, whichever comes first, because nothing more needs to be written for it.
pub(super) fn plan(displays: &[Display], reporter: &Reporter) -> Vec<PlannedDisplay> {
    let mut planned: Vec<_> = displays.iter().map(|display| plan_display(display, reporter)).collect();
    let is_window = |display: &Display| {
        matches!(driver::choose(&display.driver, &display.name).remark, Some(DriverRemark::Window(_)))
    };
    // Windows after other displays, and each kind in its order.
    let (windows, mut order): (Vec<_>, Vec<_>) = (0..displays.len()).partition(|&i| is_window(&displays[i]));
    let file_count = order.len();
    order.extend(windows);
    let mut taken: Vec<PathBuf> = Vec::new();
    for (place, i) in order.into_iter().enumerate() {
        let PlannedDisplay::Write(output) = &planned[i] else { continue };
        if place >= file_count && taken.contains(&output.path) {
            planned[i] = PlannedDisplay::Nothing;
        } else {
            taken.push(output.path.clone());
        }
    }
    planned
}

fn plan_display(display: &Display, reporter: &Reporter) -> PlannedDisplay {
    if display.name.is_empty() {
        reporter.error("badargument", &display.location, "a display has no name, so its picture cannot be written");
        return PlannedDisplay::Never(PathBuf::new());
    }
    for part in &display.parts {
        if let DisplayMode::Variable { name, ty: ValueType::String, .. } = &part.mode {
            reporter.error("incapable", &display.location, format!("\"{name}\" is a string and cannot be displayed"));
            return PlannedDisplay::Never(display.name.clone().into());
        }
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
        DisplayDriver::DeepShadow => {
            params.check_known(&[]);
            let channel = FilmChannel { group: ChannelGroup::Light, filter: None };
            (vec![OutputGroup { channel, exposure: [1.0, 1.0], quantize: FLOATS }], FileFormat::DeepShadow)
        }
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
        origin: params.origin(),
        format,
        appends: choice.driver == DisplayDriver::Depth && params.number("append").is_some_and(|value| value != 0.0),
    })
}

/// OpenEXR files contain floats whatever Quantize says, as with the drivers of PRMan and 3Delight: half for colour and
/// alpha, float for depth and variables, unless `exrpixeltype` selects a type; depth is always float (PRMan).
fn plan_exr(params: &DisplayParams<'_>) -> (Vec<OutputGroup>, FileFormat) {
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
    let mut channels: Vec<ExrChannel> = Vec::new();
    let mut groups = params.groups();
    groups.retain(|OutputGroup { channel: FilmChannel { group, .. }, .. }| {
        let half = match group {
            ChannelGroup::Colour | ChannelGroup::Alpha => half_asked.unwrap_or(true),
            ChannelGroup::Depth | ChannelGroup::Light => false,
            ChannelGroup::Variable { .. } => half_asked.unwrap_or(false),
        };
        let names = exr_names(group, as_rgba);
        let taken = names.iter().find(|name| channels.iter().any(|channel| channel.name == **name));
        if let Some(name) = taken {
            params.warn(format!(
                "\"{}\" would have two channels \"{name}\"; the later one is left out",
                params.display.name
            ));
            return false;
        }
        channels.extend(names.into_iter().map(|name| ExrChannel { name, half }));
        true
    });
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

/// No quantization.
const FLOATS: Quantize = Quantize { one: 0.0, min: 0.0, max: 0.0, dither: 0.0 };

/// The longest name of a channel in an OpenEXR file.
const EXR_NAME_BYTES_MAX: usize = 255;

fn plan_depth(params: &DisplayParams<'_>) -> (Vec<OutputGroup>, FileFormat) {
    params.check_known(&["zcompression", "append"]);
    let mut groups = params.groups();
    groups.retain(|group| group.channel.group == ChannelGroup::Depth);
    if groups.is_empty() {
        let channel = FilmChannel { group: ChannelGroup::Depth, filter: None };
        groups.push(OutputGroup { channel, exposure: [1.0, 1.0], quantize: FLOATS });
        let message = format!("the \"{}\" driver writes depth, whatever the display's mode", params.display.driver);
        params.reporter.warn("consistency", &params.display.location, message);
    }
    let channels = vec![ExrChannel { name: "Z".into(), half: false }];
    groups.truncate(1);
    (groups, FileFormat::Exr { compression: exr::compression::Compression::ZIP16, channels })
}

fn plan_tiff(params: &DisplayParams<'_>) -> (Vec<OutputGroup>, FileFormat) {
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
    let groups = params.groups();
    // All samples of a file have one type: integers only where every channel is quantized.
    let samples = if groups.iter().any(|group| group.quantize.one == 0.0) {
        TiffSamples::Float
    } else if let Some(bits) = bits_for(&groups) {
        TiffSamples::Integer(bits)
    } else {
        let message = format!(
            "quantization to {} does not fit in 16 bits; \"{}\" is written as floats",
            greatest(&groups),
            params.display.name
        );
        params.reporter.warn("limitcheck", &params.display.location, message);
        TiffSamples::Float
    };
    let groups = if samples == TiffSamples::Float { groups } else { params.without_depth(groups) };
    (groups, FileFormat::Tiff { compression, samples })
}

/// PNG files contain only integers: an unquantized display is quantized to 8 bits, without a gamma that was not
/// requested.
fn plan_png(params: &DisplayParams<'_>) -> Option<(Vec<OutputGroup>, FileFormat)> {
    params.check_known(&[]);
    let display = params.display;
    let mut groups = params.without_depth(params.groups());
    let kinds: Vec<&ChannelGroup> = groups.iter().map(|group| &group.channel.group).collect();
    let cannot = match kinds[..] {
        [ChannelGroup::Variable { name, ty: ty @ (ValueType::HPoint | ValueType::Matrix), .. }] => {
            Some(format!("the {} floats of \"{name}\"", ty.floats()))
        }
        [] | [_] | [ChannelGroup::Colour, ChannelGroup::Alpha] => None,
        _ => Some("several channels other than rgb and a".to_owned()),
    };
    if let Some(what) = cannot {
        let message = format!("PNG cannot hold {what}; \"{}\" is not written", display.name);
        let error = Diagnostic::new(Severity::Error, "incapable", display.location.clone(), message);
        params.reporter.report(error.hint("use the exr driver"));
        return None;
    }
    for group in groups.iter_mut().filter(|group| group.quantize.one == 0.0) {
        group.quantize = Quantize { one: 255.0, min: 0.0, max: 255.0, dither: 0.5 };
    }
    let bits = bits_for(&groups).unwrap_or(SampleBits::Sixteen);
    Some((groups, FileFormat::Png { bits }))
}

/// Returns the largest integer that Quantize writes in any of these.
fn greatest(groups: &[OutputGroup]) -> f32 {
    groups.iter().map(|group| group.quantize.max).fold(0.0, f32::max)
}

/// Returns the smallest integer size for the values that Quantize writes.
fn bits_for(groups: &[OutputGroup]) -> Option<SampleBits> {
    match greatest(groups) {
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

    /// Returns what a pixel of the file holds, if its format can.
    fn groups(&self) -> Vec<OutputGroup> {
        let each = |part: &DisplayPart| {
            let (exposure, quantize) = (self.exposure(part.exposure), part.quantize);
            let filter = |group: &ChannelGroup| part.filter.filter(|_| *group != ChannelGroup::Depth);
            let group =
                |group| OutputGroup { channel: FilmChannel { filter: filter(&group), group }, exposure, quantize };
            groups_of(&part.mode).into_iter().map(group).collect::<Vec<_>>()
        };
        self.display.parts.iter().flat_map(each).collect()
    }

    /// Warns about each parameter that neither the driver nor every display has.
    fn check_known(&self, own: &[&str]) {
        const COMMON: [&str; 2] = ["origin", "compression"];
        for name in self.display.params.keys() {
            let name = name.as_str();
            if !own.contains(&name) && !COMMON.contains(&name) {
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

    fn exposure(&self, [gain, gamma]: [f32; 2]) -> [f32; 2] {
        if gain.is_finite() && gamma.is_finite() && gamma > 0.0 {
            return [gain, gamma];
        }
        let message = format!("exposure {gain} {gamma} is invalid; 1 1 is used");
        self.reporter.warn("range", &self.display.location, message);
        [1.0, 1.0]
    }

    /// Removes depth from quantized colour: one scale cannot serve both (PRMan writes depth to another file).
    fn without_depth(&self, mut groups: Vec<OutputGroup>) -> Vec<OutputGroup> {
        let is_depth = |group: &OutputGroup| group.channel.group == ChannelGroup::Depth;
        if groups.len() > 1 && groups.iter().any(is_depth) {
            groups.retain(|group| !is_depth(group));
            let message = format!("\"{}\" holds quantized colour and no depth", self.display.name);
            let warning = Diagnostic::new(Severity::Warning, "incapable", self.display.location.clone(), message);
            self.reporter.report(warning.hint("write depth to a display of its own, or use the exr driver"));
        }
        groups
    }
}
