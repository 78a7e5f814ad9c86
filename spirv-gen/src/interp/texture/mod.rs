//! Texture lookups: the same probes and weights, in the same order, as `glsl/lib/rsl/texture.glsl`, `environment.glsl`,
//! `shadow.glsl`, `occlusion.glsl` and `points.glsl`. Where those take an angle's sine or arc tangent, the results
//! agree to their 2 ulp.

mod environment;
mod filter;
mod look;
mod occlusion;
mod points;
mod shadow;
#[cfg(test)]
mod tests;

pub use environment::environment;
pub use filter::FilterForm;
pub(crate) use look::{fact, info, look, look_for_points};
pub use occlusion::occlusion;
pub use points::points;
pub use shadow::{ShadowSampling, shadow};

use filter::{Footprint, Window};

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
    /// The texture of a string token.
    fn texture(&self, token: u32) -> FoundTexture;

    /// Its properties.
    fn shape(&self, texture: u32) -> TextureShape;

    /// A word of a plane of a level.
    fn word(&self, texture: u32, level: u32, plane: u32, at: [u32; 2]) -> u32;
}

/// How a lookup filters.
#[derive(Clone, Copy, Debug)]
pub struct LookupFilter {
    /// Factors of the footprint along s and t; in an environment of dx and dy.
    pub width: [f32; 2],
    /// What is added to the footprint, in parts of the texture.
    pub blur: [f32; 2],
    /// The filter's form.
    pub form: FilterForm,
    /// The value of channels that the texture lacks.
    pub fill: f32,
    /// 1 between two levels, 0 the nearest one.
    pub lerp: f32,
}

impl Default for LookupFilter {
    fn default() -> Self {
        Self { width: [1.0; 2], blur: [0.0; 2], form: FilterForm::Gaussian, fill: 0.0, lerp: 1.0 }
    }
}

/// The channels that a lookup wants: how many (1 or 3) from which on.
#[derive(Clone, Copy, Debug)]
pub struct WantedChannels {
    /// The first.
    pub first: f32,
    /// 1 or 3.
    pub count: u32,
}

/// What is smaller counts as 0, because some devices have no numbers below 1e-38.
const SMALLEST: f32 = 1e-30;

/// x within -limit..limit; 0 where it is not finite.
fn bounded(x: f32, limit: f32) -> f32 {
    if x.is_finite() && x.abs() > SMALLEST { x.clamp(-limit, limit) } else { 0.0 }
}

fn bounded_all<const N: usize>(v: [f32; N], limit: f32) -> [f32; N] {
    v.map(|x| bounded(x, limit))
}

/// A derivative times a filter's width.
fn widened<const N: usize>(v: [f32; N], width: [f32; N], limit: f32) -> [f32; N] {
    std::array::from_fn(|i| bounded(bounded(v[i], 1e9) * bounded(width[i], 1e9), limit))
}

/// 1 / x by the operations that all devices share.
fn reciprocal(x: f32) -> f32 {
    let start = f32::from_bits(0x7ef3_11c7_u32.wrapping_sub(x.to_bits()));
    (0..4).fold(start, |y, _| y + y * (1.0 - x * y))
}

/// The root of x likewise; 0 below 1e-36.
fn root(x: f32) -> f32 {
    let start = f32::from_bits(0x5f37_59df - (x.to_bits() >> 1));
    let h = 0.5 * x;
    let y = (0..4).fold(start, |y, _| y * (1.5 - (h * y) * y));
    if x > 1e-36 { x * y } else { 0.0 }
}

/// The coordinate before the wrap of texels, where it may be large.
fn wrap_place(x: f32, wrap: u32) -> f32 {
    match wrap {
        2 => x - x.floor(),
        3 => x - 2.0 * (0.5 * x).floor(),
        _ => x.clamp(-300.0, 300.0),
    }
}

/// `texture()` at `st`, over the footprint (dx, dy).
pub fn texture(
    store: &dyn TextureStore,
    token: u32,
    wanted: WantedChannels,
    [st, dx, dy]: [[f32; 2]; 3],
    filter: &LookupFilter,
) -> [f32; 3] {
    let FoundTexture::Number(number) = store.texture(token) else {
        return [if wanted.count == 3 { 1.0 } else { 0.0 }; 3];
    };
    if !st.iter().all(|x| x.is_finite()) {
        return [0.0; 3];
    }
    let shape = store.shape(number);
    let place = [wrap_place(st[0], shape.wrap[0]), wrap_place(st[1], shape.wrap[1])];
    let [dx, dy] = [dx, dy].map(|d| widened(d, filter.width, 64.0));
    let blur = bounded_all(filter.blur, 64.0);
    let size = shape.size.map(|n| n as f32);
    let footprint = Footprint::new(size, shape.levels, place, [dx, dy, blur], filter);
    Window::whole(&shape, number, wanted).filtered(store, &shape, &footprint, filter)
}

/// `textureinfo()`: 0 exists, 1 resolution, 2 channels, 3 type, 4 and 5 matrices, 6 bits of a channel.
pub fn textureinfo(store: &dyn TextureStore, token: u32, what: u32, index: usize) -> f32 {
    let FoundTexture::Number(number) = store.texture(token) else { return 0.0 };
    let shape = store.shape(number);
    match what {
        0 => 1.0,
        _ if matches!(shape.kind, points::KIND | occlusion::KIND) => 0.0,
        1 => shape.size[index.min(1)] as f32,
        // Each knot of a deep shadow map is two channels of ours.
        2 => {
            if shape.kind == 4 {
                1.0
            } else {
                shape.channels as f32
            }
        }
        3 => [0.0, 1.0, 1.0, 2.0, 2.0].get(shape.kind as usize).copied().unwrap_or(0.0),
        6 => [8.0, 16.0, 16.0, 32.0].get(shape.format as usize).copied().unwrap_or(0.0),
        4 | 5 if index < 16 => shape.matrices.map_or(0.0, |m| m[what as usize - 4][index / 4][index % 4]),
        _ => 0.0,
    }
}
