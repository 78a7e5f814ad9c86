//! Textures made of pictures.

use super::TextureFile;
use super::baked_picture;
use super::brick_map;
use super::error::TextureError;
use super::header::{ShadowMatrices, TexelFormat, TextureHeader, TextureKind, WrapMode, whole_levels};
use super::levels::{LevelFilter, MakeFilter, Texels};
use super::make_stream;
use super::occlusion::{self, OCCLUSION_VIEWS_MAX};
use super::packed_tiles::{LevelTiles, TextureTags};
use super::picture::SourcePicture;
use super::preparation::Preparation;
use super::read_limits::{PointCharge, ReadLimits};
use super::source_tags::SourceTags;
use super::write::{is_of_this_maker, write};
use crate::files::OutputBudget;
use std::borrow::Cow;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MakeKind {
    /// A texture of one picture.
    Plain,
    /// An environment of one picture by longitude and latitude.
    LatLong,
    /// An environment of six square pictures: px, nx, py, ny, pz, nz.
    Cube,
    /// A shadow map of one picture of depths, or of all maps in a depth file that others were appended to.
    Shadow,
    /// An occlusion map of pictures of depths from many sides, all of one size.
    Occlusion,
    /// A brick map of one file of points or more.
    BrickMap,
}

/// Whether a picture's size is changed to powers of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ResizeMode {
    /// It keeps its size.
    #[default]
    None,
    /// To the next larger ones.
    Up,
    /// To the next smaller ones.
    Down,
}

/// What becomes of a picture's alpha that its colours are not multiplied with, as in PNG.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AlphaMode {
    /// Colours are multiplied with it, as RenderMan's are.
    #[default]
    Multiply,
    /// All channels stay as they are.
    Keep,
}

/// A texture to make.
#[derive(Clone, Debug, PartialEq)]
pub struct MakeRequest {
    /// What is made.
    pub kind: MakeKind,
    /// One picture, six of a cube, or at least one of an occlusion map; of a brick map, files of points.
    pub inputs: Vec<PathBuf>,
    /// The texture: OpenEXR if it holds halves or floats, or else TIFF, whatever its name.
    pub output: PathBuf,
    /// What is seen outside, along s and t.
    pub wrap: [WrapMode; 2],
    /// How smaller levels are made. If it is `None`, then as suits the pictures: with Lanczos' filter where all of
    /// their values are from 0 to 1, or else with the box, which leaves no rings around lights and depths.
    pub filter: Option<MakeFilter>,
    /// Widths of the filter in texels of the smaller level, if not its own.
    pub filter_width: Option<[f32; 2]>,
    /// The full angle of view in degrees of each face of a cube.
    pub fov: Option<f32>,
    /// What channels are stored as, if not as in the picture.
    pub format: Option<TexelFormat>,
    /// Whether the size becomes powers of two. Faces of cubes always do.
    pub resize: ResizeMode,
    /// Whether colours of 8 bits are made linear, as they are sRGB. They are stored with 16 bits then.
    pub from_srgb: bool,
    /// What becomes of alpha.
    pub alpha: AlphaMode,
    /// What the radii of a brick map's points are multiplied with.
    pub radius_scale: f32,
    /// Whether normals of a brick map's points become 0, so that they face everywhere.
    pub ignore_normals: bool,
    /// Keeps a texture that is newer than its pictures, of the same kind, wrap and format, and made as today.
    pub only_if_newer: bool,
}

impl MakeRequest {
    /// Creates a request with everything else as usual.
    pub fn new(kind: MakeKind, inputs: Vec<PathBuf>, output: PathBuf) -> Self {
        Self {
            kind,
            inputs,
            output,
            wrap: [WrapMode::Black; 2],
            filter: None,
            filter_width: None,
            fov: None,
            format: None,
            resize: ResizeMode::None,
            from_srgb: false,
            alpha: AlphaMode::Multiply,
            radius_scale: 1.0,
            ignore_normals: false,
            only_if_newer: false,
        }
    }

    fn texture_kind(&self) -> TextureKind {
        match self.kind {
            MakeKind::Plain => TextureKind::Plain,
            MakeKind::LatLong => TextureKind::LatLong,
            MakeKind::Cube => TextureKind::Cube,
            MakeKind::Shadow => TextureKind::Shadow,
            MakeKind::Occlusion => TextureKind::Occlusion,
            MakeKind::BrickMap => TextureKind::Points,
        }
    }

    /// Returns the wraps that the kind asks for, whatever is wished.
    fn wraps(&self) -> [WrapMode; 2] {
        match self.kind {
            MakeKind::Plain => self.wrap,
            MakeKind::LatLong => [WrapMode::Periodic, WrapMode::Clamp],
            MakeKind::Cube | MakeKind::Shadow | MakeKind::Occlusion => [WrapMode::Clamp; 2],
            MakeKind::BrickMap => [WrapMode::Black; 2],
        }
    }

    /// Returns the width and height of a texture of a picture of this size, of a cube's face, or of a part of an
    /// occlusion map.
    pub(super) fn texture_size(&self, size: [u32; 2]) -> [u32; 2] {
        let resize = match (self.kind, self.resize) {
            (MakeKind::Plain | MakeKind::LatLong, resize) => resize,
            (MakeKind::Cube, ResizeMode::None) => ResizeMode::Up,
            (MakeKind::Cube, resize) => resize,
            (MakeKind::Occlusion, _) => return occlusion::part_size(size),
            (MakeKind::Shadow | MakeKind::BrickMap, _) => ResizeMode::None,
        };
        match resize {
            ResizeMode::None => size,
            ResizeMode::Up => size.map(|side| side.checked_next_power_of_two().unwrap_or(u32::MAX)),
            ResizeMode::Down => size.map(|side| 1 << side.max(1).ilog2()),
        }
    }

    /// Returns how smaller levels are made of pictures, if all of their values are from 0 to 1, or not.
    pub(super) fn level_filter(&self, are_from_0_to_1: bool) -> LevelFilter {
        let default = if are_from_0_to_1 { MakeFilter::Lanczos } else { MakeFilter::Box };
        LevelFilter {
            filter: self.filter.unwrap_or(default),
            widths: self.filter_width,
            wrap: self.wraps(),
            is_clamped: are_from_0_to_1 && self.filter.is_none(),
        }
    }

    /// Returns what channels of a picture of this format are stored as.
    pub(super) fn stored_format(&self, source: TexelFormat) -> TexelFormat {
        match self.format {
            _ if self.kind == MakeKind::Shadow => TexelFormat::F32,
            Some(format) => format,
            None if self.from_srgb && source == TexelFormat::U8 => TexelFormat::U16,
            None => source,
        }
    }

    /// Returns the request that is carried out: depth files with several maps become one picture of all of them.
    ///
    /// # Errors
    /// If the header of the picture cannot be read.
    pub(super) fn with_all_maps(&self) -> Result<Cow<'_, Self>, TextureError> {
        match &self.inputs[..] {
            [input] if self.kind == MakeKind::Shadow && SourceTags::read(input)?.maps() > 1 => {
                Ok(Cow::Owned(Self { kind: MakeKind::Occlusion, ..self.clone() }))
            }
            _ => Ok(Cow::Borrowed(self)),
        }
    }

    fn check(&self) -> Result<(), TextureError> {
        let (wanted, of) = match self.kind {
            MakeKind::Cube => (6..=6, "A cube is made of six pictures".to_string()),
            MakeKind::Occlusion => (
                1..=OCCLUSION_VIEWS_MAX,
                format!("An occlusion map is made of 1 to {OCCLUSION_VIEWS_MAX} pictures of depths"),
            ),
            MakeKind::BrickMap => (1..=usize::MAX, "A brick map is made of one file of points or more".to_string()),
            _ => (1..=1, "A texture is made of one picture".to_string()),
        };
        if !wanted.contains(&self.inputs.len()) {
            return Err(TextureError::Request(format!("{of}, but there are {}", self.inputs.len())));
        }
        let real = |path: &Path| fs::canonicalize(path).ok();
        let output = real(&self.output);
        match self.inputs.iter().find(|input| output.is_some() && real(input) == output) {
            Some(input) => Err(TextureError::Request(format!(
                "\"{}\" would be overwritten by the texture that is made of it",
                input.display()
            ))),
            None => Ok(()),
        }
    }

    /// Whether the texture exists already, newer than its pictures, and made as it would be now.
    fn is_up_to_date(&self) -> Option<TextureHeader> {
        let modified = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
        let made = modified(&self.output)?;
        let is_newer = |input: &PathBuf| modified(input).is_some_and(|input| input < made);
        let header = TextureFile::open(&self.output).ok()?.header().clone();
        let is_same = header.kind == self.texture_kind()
            && header.wrap == self.wraps()
            && self.format.is_none_or(|format| format == header.format);
        let is_as_now = SourceTags::read(&self.output).is_ok_and(|tags| is_of_this_maker(&tags.software));
        (is_same && is_as_now && self.inputs.iter().all(is_newer)).then_some(header)
    }
}

/// A texture that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct MadeTexture {
    /// What it says of itself.
    pub header: TextureHeader,
    /// Whether it was written now. It is false if it was up to date.
    pub is_new: bool,
}

/// Is called with the fraction of a texture that is made, from 0 to 1, and says whether to go on.
pub type MakeProgress<'a> = dyn Fn(f32) -> ControlFlow<()> + Sync + 'a;

/// Goes on, and shows nothing.
pub fn go_on(_: f32) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The parts of the work after which pictures are read, and levels are made.
pub(super) const READ: f32 = 0.3;
pub(super) const LEVELS_MADE: f32 = 0.6;

/// Calls `progress`.
pub(super) fn report(progress: &MakeProgress<'_>, fraction: f32) -> Result<(), TextureError> {
    if progress(fraction).is_break() { Err(TextureError::Stopped) } else { Ok(()) }
}

/// Makes a texture, as long as `progress` says so. After an error nothing has changed.
///
/// # Errors
/// If a picture cannot be read, the request makes no sense, the texture cannot be written, or `progress` stopped it.
pub fn make(request: &MakeRequest, progress: &MakeProgress<'_>) -> Result<MadeTexture, TextureError> {
    let limits = MakeLimits { read: &ReadLimits::none(), output: &OutputBudget::default() };
    make_within(request, limits, progress)
}

/// What making a texture may take.
#[derive(Clone, Copy, Debug)]
pub struct MakeLimits<'a> {
    /// Memory for what is read.
    pub read: &'a ReadLimits,
    /// Bytes that may be written.
    pub output: &'a OutputBudget,
}

/// Makes a texture as [`make`] does, within limits.
///
/// # Errors
/// As for [`make`], if there is not enough memory for points, and if the texture would take more bytes than there are
/// left.
pub fn make_within(
    request: &MakeRequest,
    limits: MakeLimits<'_>,
    progress: &MakeProgress<'_>,
) -> Result<MadeTexture, TextureError> {
    request.check()?;
    let request = &*request.with_all_maps()?;
    if let Some(header) = request.is_up_to_date().filter(|_| request.only_if_newer) {
        return Ok(MadeTexture { header, is_new: false });
    }
    match request.kind {
        MakeKind::BrickMap => brick_map::make(request, limits, progress),
        MakeKind::Occlusion => occlusion::make(request, limits, progress),
        MakeKind::Plain | MakeKind::LatLong | MakeKind::Cube | MakeKind::Shadow => {
            match make_stream::make(request, limits, progress)? {
                Some(made) => Ok(made),
                None => of_pictures(request, limits, progress),
            }
        }
    }
}

/// Makes a texture of a picture, or of six, in memory.
pub(super) fn of_pictures(
    request: &MakeRequest,
    limits: MakeLimits<'_>,
    progress: &MakeProgress<'_>,
) -> Result<MadeTexture, TextureError> {
    let (mut pictures, at_work) = (Vec::new(), PointCharge::new(limits.read, baked_picture::needs));
    for input in &request.inputs {
        let (before, all) = (pictures.len() as f32, request.inputs.len() as f32);
        pictures.push(SourcePicture::read(input, &at_work, &|part| progress(READ * (before + part) / all))?);
    }
    report(progress, READ)?;
    let first = &pictures[0];
    let format = request.stored_format(first.format);
    let (names, matrices) = (first.names.clone(), first.matrices);
    if request.kind == MakeKind::Shadow {
        check_depths(&request.inputs[0], first.texels.channels, matrices, "a shadow map")?;
    }
    for SourcePicture { texels, format, straight_alpha, .. } in &mut pictures {
        if let Some(preparation) = Preparation::of(request, *format, texels.channels, *straight_alpha) {
            texels.fill_rows(|_, row| preparation.apply(row));
        }
    }
    let are_from_0_to_1 = request.filter.is_none() && pictures.iter().all(SourcePicture::is_from_0_to_1);
    let filter = request.level_filter(are_from_0_to_1);
    let levels = match request.kind {
        MakeKind::Cube => cube_levels(&request.inputs, pictures, (request, filter), progress)?,
        MakeKind::Shadow => pictures.into_iter().map(|picture| picture.texels).collect(),
        _ => {
            let texels = pictures.swap_remove(0).texels;
            let size = request.texture_size(texels.size);
            levels_of(sized(texels, size, filter, &|| progress(READ))?, filter, progress)?
        }
    };
    let header = TextureHeader {
        levels: levels.len() as u32,
        matrices: matrices.filter(|_| request.kind == MakeKind::Shadow),
        fov: request.fov.filter(|_| request.kind == MakeKind::Cube),
        ..header_of(levels[0].size, levels[0].channels, format, request)
    };
    super::file::check(&request.output, &header)?;
    let tags = TextureTags { header: &header, names: names.as_deref(), points: None };
    let show = |fraction| progress(LEVELS_MADE + (1.0 - LEVELS_MADE) * fraction);
    write(&request.output, &tags, &mut LevelTiles::new(&tags, &levels), limits.output, &show)?;
    Ok(MadeTexture { header, is_new: true })
}

/// Returns what is said of a texture of this size with all its levels.
pub(super) fn header_of(
    [width, height]: [u32; 2],
    channels: u32,
    format: TexelFormat,
    request: &MakeRequest,
) -> TextureHeader {
    TextureHeader {
        width,
        height,
        levels: whole_levels(width, height),
        channels,
        format,
        kind: request.texture_kind(),
        wrap: request.wraps(),
        matrices: None,
        fov: None,
    }
}

/// Returns the camera of a picture of depths, of which `what` is made.
pub(super) fn check_depths(
    path: &Path,
    channels: u32,
    matrices: Option<ShadowMatrices>,
    what: &str,
) -> Result<ShadowMatrices, TextureError> {
    if channels != 1 {
        let reason = format!("{what} is made of one channel of depths, but it has {channels}");
        return Err(TextureError::unsupported(path, reason));
    }
    matrices.ok_or_else(|| {
        let reason = "it does not say where its camera was: render it with Display \"z\" \"zfile\" \"z\"";
        TextureError::unsupported(path, reason)
    })
}

/// Says whether to go on.
type ShowProgress<'a> = dyn Fn() -> ControlFlow<()> + Sync + 'a;

/// Returns the picture in this size.
fn sized(texels: Texels, size: [u32; 2], filter: LevelFilter, show: &ShowProgress<'_>) -> Result<Texels, TextureError> {
    if size == texels.size { Ok(texels) } else { resized(&texels, size, filter, show) }
}

/// Returns a picture in another size, as long as `show` says so.
fn resized(
    texels: &Texels,
    size: [u32; 2],
    filter: LevelFilter,
    show: &ShowProgress<'_>,
) -> Result<Texels, TextureError> {
    texels.resized(size, filter, show).ok_or(TextureError::Stopped)
}

/// Returns the picture and all its levels, each made of the one before.
fn levels_of(texels: Texels, filter: LevelFilter, progress: &MakeProgress<'_>) -> Result<Vec<Texels>, TextureError> {
    let [width, height] = texels.size;
    let mut levels = vec![texels];
    for level in 1..whole_levels(width, height) as usize {
        // A quarter of the work is left after each.
        let begun = LEVELS_MADE - (LEVELS_MADE - READ) * 0.25_f32.powi(level as i32 - 1);
        report(progress, begun)?;
        let size = levels[level - 1].size.map(|side| (side / 2).max(1));
        levels.push(resized(&levels[level - 1], size, filter, &|| progress(begun))?);
    }
    Ok(levels)
}

/// Returns the levels of six faces, packed three wide and two high, and one texel of their mean at the end.
fn cube_levels(
    inputs: &[PathBuf],
    pictures: Vec<SourcePicture>,
    (request, filter): (&MakeRequest, LevelFilter),
    progress: &MakeProgress<'_>,
) -> Result<Vec<Texels>, TextureError> {
    let (size, channels) = (pictures[0].texels.size, pictures[0].texels.channels);
    for (path, picture) in inputs.iter().zip(&pictures) {
        let other = picture.texels.size;
        if other[0] != other[1] || other != size || picture.texels.channels != channels {
            let reason = "the six faces of a cube must be square, of one size, with the same channels";
            return Err(TextureError::unsupported(path, reason));
        }
    }
    let [face, _] = request.texture_size(size);
    let mut faces: Vec<Vec<Texels>> = Vec::new();
    for SourcePicture { texels, .. } in pictures {
        let begun = READ + (LEVELS_MADE - READ) * faces.len() as f32 / 6.0;
        let show = |_| progress(begun);
        let sized = sized(texels, [face; 2], filter, &|| show(begun))?;
        faces.push(levels_of(sized, filter, &show)?);
    }
    // px nx py above ny pz nz.
    let pack = |level: usize| {
        let side = face >> level;
        let mut packed = Texels::empty([3 * side, 2 * side], channels);
        packed.fill_rows(|y, row| {
            for (place, part) in row.chunks_exact_mut((side * channels) as usize).enumerate() {
                let source = &faces[(y / side) as usize * 3 + place][level];
                let begin = (y % side * side * channels) as usize;
                part.copy_from_slice(&source.values[begin..begin + part.len()]);
            }
        });
        packed
    };
    let mut levels: Vec<Texels> = (0..=face.ilog2() as usize).map(pack).collect();
    let smallest = levels.last().map(|level| resized(level, [1, 1], filter, &|| progress(LEVELS_MADE)));
    levels.extend(smallest.transpose()?);
    Ok(levels)
}
