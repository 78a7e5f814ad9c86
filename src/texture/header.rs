//! What a texture file says of itself.

/// What a channel of a texel is stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum TexelFormat {
    /// 8 bits from 0 to 1; four channels are one word.
    U8 = 0,
    /// 16 bits from 0 to 1; two channels are one word.
    U16 = 1,
    /// A half; two channels are one word.
    F16 = 2,
    /// A float; one channel is one word.
    F32 = 3,
}

impl TexelFormat {
    /// Returns the channels that one word of a tile holds, the first in its lowest bits.
    pub fn channels_per_word(self) -> u32 {
        4 / self.bytes() as u32
    }

    /// Returns the bytes of a channel.
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 => 2,
            Self::F32 => 4,
        }
    }

    /// Returns the name by which users choose and see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "8-bit",
            Self::U16 => "16-bit",
            Self::F16 => "half",
            Self::F32 => "float",
        }
    }
}

/// What a texture is a picture of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum TextureKind {
    /// A surface, looked up by s and t.
    #[default]
    Plain = 0,
    /// The surroundings by longitude (s) and latitude (t).
    LatLong = 1,
    /// The surroundings as six square faces, packed three wide and two high: px, nx, py above ny, pz, nz.
    Cube = 2,
    /// Depths as seen from a light.
    Shadow = 3,
    /// The light that reaches each depth, as seen from a light.
    DeepShadow = 4,
    /// A point cloud: its texels are the words of a tree of points.
    Points = 5,
    /// Depths as seen from many sides: the words of spirv-gen's abi.rs, "occlusion".
    Occlusion = 6,
}

impl TextureKind {
    /// Returns how texture files name it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain => "Plain Texture",
            Self::LatLong => "LatLong Environment",
            Self::Cube => "CubeFace Environment",
            Self::Shadow | Self::DeepShadow => "Shadow",
            Self::Points => "Points",
            Self::Occlusion => "Occlusion",
        }
    }

    /// Returns the kind of a name; whatever is unknown is a plain texture.
    pub(super) fn named(name: &str) -> Self {
        let all = [Self::LatLong, Self::Cube, Self::Shadow, Self::Occlusion];
        all.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name.trim())).unwrap_or(Self::Plain)
    }
}

/// What is seen outside of a texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum WrapMode {
    /// Black.
    #[default]
    Black = 0,
    /// The texel at the edge.
    Clamp = 1,
    /// The texture again.
    Periodic = 2,
    /// The texture again, every second time mirrored.
    Mirror = 3,
}

impl WrapMode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Black, Self::Clamp, Self::Periodic, Self::Mirror];

    /// Returns the name in requests and texture files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Black => "black",
            Self::Clamp => "clamp",
            Self::Periodic => "periodic",
            Self::Mirror => "mirror",
        }
    }

    /// Returns the mode of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name.trim())
    }

    /// Returns the modes along s and t of a texture file's attribute: `periodic,clamp`, or one name for both.
    pub(super) fn pair(names: &str) -> [Self; 2] {
        let (s, t) = names.split_once(',').unwrap_or((names, names));
        [s, t].map(|name| Self::named(name).unwrap_or_default())
    }
}

/// Where the camera of a shadow map stood. Matrices are row-major for row vectors, as RIB's are (and so column-major
/// for column vectors).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShadowMatrices {
    /// The map's camera space (left-handed, z forward) from world space: RenderMan's `Nl`.
    pub camera_from_world: [f32; 16],
    /// Places in the map from world space, to be divided by w: (0, 0) is the upper left corner of the map and (1, 1)
    /// the lower right one.
    pub ndc_from_world: [f32; 16],
}

impl ShadowMatrices {
    /// RenderMan's `NP`: as `ndc_from_world`, but from (-1, -1) at the lower left corner to (1, 1).
    pub fn screen_from_world(&self) -> [f32; 16] {
        map_columns(&self.ndc_from_world, |x, y, w| [2.0 * x - w, w - 2.0 * y])
    }

    /// Converts matrices as shadow maps in TIFF have them.
    pub(super) fn of_screen(camera_from_world: [f32; 16], screen_from_world: &[f32; 16]) -> Self {
        let ndc_from_world = map_columns(screen_from_world, |x, y, w| [0.5 * (x + w), 0.5 * (w - y)]);
        Self { camera_from_world, ndc_from_world }
    }
}

/// Replaces what becomes x and y of a point.
fn map_columns(matrix: &[f32; 16], xy: impl Fn(f32, f32, f32) -> [f32; 2]) -> [f32; 16] {
    let mut mapped = *matrix;
    for row in mapped.chunks_exact_mut(4) {
        let [x, y] = xy(row[0], row[1], row[3]);
        (row[0], row[1]) = (x, y);
    }
    mapped
}

/// What a texture file says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureHeader {
    /// Width of the whole picture in texels.
    pub width: u32,
    /// Height of the whole picture in texels.
    pub height: u32,
    /// How many levels there are: each is half as wide and high as the one before, rounded down, at least 1.
    pub levels: u32,
    /// Channels of a texel: red, green, blue and alpha first, if they have these names.
    pub channels: u32,
    /// What a channel is stored as.
    pub format: TexelFormat,
    /// What it is a picture of.
    pub kind: TextureKind,
    /// What is seen outside, along s and t.
    pub wrap: [WrapMode; 2],
    /// The camera of a shadow map.
    pub matrices: Option<ShadowMatrices>,
    /// The full angle of view in degrees of each face of a cube.
    pub fov: Option<f32>,
}

impl TextureHeader {
    /// Returns the width and height of a level in texels.
    pub fn level_size(&self, level: u32) -> [u32; 2] {
        [self.width, self.height].map(|side| side.checked_shr(level).unwrap_or(0).max(1))
    }

    /// Returns the number of tiles of a level along s and t.
    pub fn level_tiles(&self, level: u32) -> [u32; 2] {
        self.level_size(level).map(|side| side.div_ceil(super::TILE_TEXELS))
    }

    /// Returns how many words a texel has: each plane is in tiles of its own.
    pub fn planes(&self) -> u32 {
        self.channels.div_ceil(self.format.channels_per_word())
    }

    /// Returns the number of tiles of all planes of all levels.
    pub fn tile_count(&self) -> u64 {
        let tiles = |level| self.level_tiles(level).map(u64::from).iter().product::<u64>();
        (0..self.levels).map(tiles).sum::<u64>() * u64::from(self.planes())
    }
}

/// Returns how many levels a picture has down to a single texel.
pub(super) fn whole_levels(width: u32, height: u32) -> u32 {
    width.max(height).max(1).ilog2() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_rounded_down_to_one_texel() {
        let header = TextureHeader {
            width: 150,
            height: 3,
            levels: whole_levels(150, 3),
            channels: 5,
            format: TexelFormat::F16,
            kind: TextureKind::Plain,
            wrap: [WrapMode::Black; 2],
            matrices: None,
            fov: None,
        };
        let sizes: Vec<_> = (0..header.levels).map(|level| header.level_size(level)).collect();
        assert_eq!(sizes, [[150, 3], [75, 1], [37, 1], [18, 1], [9, 1], [4, 1], [2, 1], [1, 1]]);
        assert_eq!((header.planes(), header.level_tiles(0), header.tile_count()), (3, [3, 1], 3 * 11));
    }

    #[test]
    fn screen_space_and_places_in_a_map_say_the_same() {
        let ndc_from_world = std::array::from_fn(|index| index as f32);
        let matrices = ShadowMatrices { camera_from_world: [0.5; 16], ndc_from_world };
        let screen = matrices.screen_from_world();
        // The origin is at (12, 13) / 15 of the map.
        assert_eq!([screen[12] / screen[15], screen[13] / screen[15]], [9.0 / 15.0, -11.0 / 15.0]);
        assert_eq!(ShadowMatrices::of_screen([0.5; 16], &screen), matrices);
    }

    #[test]
    fn wrap_modes_have_names() {
        assert_eq!(WrapMode::pair("periodic,clamp"), [WrapMode::Periodic, WrapMode::Clamp]);
        assert_eq!(WrapMode::pair("mirror"), [WrapMode::Mirror; 2]);
        assert_eq!(WrapMode::pair("bogus, black"), [WrapMode::Black; 2]);
    }
}
