//! Texture lookups: the same probes and weights, in the same order, as `glsl/lib/rsl/texture.glsl`, `environment.glsl`,
//! `shadow.glsl`, `views.glsl`, `occlusion.glsl` and `points.glsl`. Where those take an angle's sine or arc tangent,
//! the results agree to their 2 ulp.

mod arithmetic;
mod cube;
mod environment;
mod filter;
mod info;
mod look;
mod occlusion;
mod plain;
mod points;
mod shadow;
mod shadow_area;
mod store;
#[cfg(test)]
mod tests;
mod texels;
mod views;

pub use environment::environment;
pub use filter::{FilterForm, LookupFilter};
pub use info::textureinfo;
pub(crate) use look::{fact, info, look, look_for_points};
pub use occlusion::occlusion;
pub use plain::texture;
pub use points::points;
pub use shadow::shadow;
pub use shadow_area::ShadowSampling;
pub use store::{FoundTexture, TextureShape, TextureStore, WantedChannels};
