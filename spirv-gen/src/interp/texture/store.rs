//! Textures as lookups find them.

/// What a texture is like.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureShape {
    /// Texels of level 0.
    pub size: [u32; 2],
    /// Levels, each half of the one before, rounded down.
    pub levels: u32,
    /// Channels.
    pub channels: u32,
    /// 0 U8, 1 U16, 2 F16, 3 F32.
    pub format: u32,
    /// 0 plain, 1 lat-long, 2 cube, 3 shadow, 4 deep shadow, 5 points, 6 occlusion.
    pub kind: u32,
    /// Wrap along s and t: 0 black, 1 clamp, 2 periodic, 3 mirror.
    pub wrap: [u32; 2],
    /// Of a shadow map: its camera's space and its picture's unit square from the current space, four columns each.
    pub matrices: Option<[[[f32; 4]; 4]; 2]>,
    /// Field of view of a cube's faces in degrees.
    pub fov: f32,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundTexture {
    /// There is none, or it cannot be read.
    Missing,
    /// The texture of this number.
    Number(u32),
}

/// Where texels come from.
pub trait TextureStore: std::fmt::Debug {
    /// Returns the texture of a string token.
    fn texture(&self, token: u32) -> FoundTexture;

    /// Returns its properties.
    fn shape(&self, texture: u32) -> TextureShape;

    /// Returns a word of a plane of a level.
    fn word(&self, texture: u32, level: u32, plane: u32, at: [u32; 2]) -> u32;
}

/// The channels that a lookup wants: how many (1 or 3) from which on.
#[derive(Clone, Copy, Debug)]
pub struct WantedChannels {
    /// The first.
    pub first: f32,
    /// 1 or 3.
    pub count: u32,
}
