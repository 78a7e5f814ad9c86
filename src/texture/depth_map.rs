//! Depths that geometry is made from: read whole, while a scene is read.

use super::error::TextureError;
use super::header::ShadowMatrices;
use super::make::go_on;
use super::picture::SourcePicture;
use std::path::Path;
use std::sync::Arc;

/// The most texels of a depth map that geometry is made from.
const TEXELS_MAX: usize = 1 << 20;

/// A picture of depths, and where it was seen from.
#[derive(Clone, Debug, PartialEq)]
pub struct DepthPicture {
    /// Width and height.
    pub size: [u32; 2],
    /// Camera z of each texel, rows from the top; very large where nothing was seen.
    pub depths: Arc<[f32]>,
    /// The camera.
    pub matrices: ShadowMatrices,
}

impl DepthPicture {
    /// Reads a z file or a shadow map: the channel Z, or the first.
    ///
    /// # Errors
    /// If it cannot be read, has no camera, or has more than a million texels.
    pub fn read(path: &Path) -> Result<Self, TextureError> {
        let SourcePicture { texels, names, matrices, .. } = SourcePicture::read(path, &go_on)?;
        let matrices = matrices.ok_or_else(|| {
            TextureError::unsupported(path, "it does not say which camera saw it: it must be a z file or a shadow map")
        })?;
        let [width, height] = texels.size;
        if width as usize * height as usize > TEXELS_MAX {
            let reason = format!("{width} x {height} depths are too many; {TEXELS_MAX} fit");
            return Err(TextureError::unsupported(path, reason));
        }
        let channel = names.iter().flatten().position(|name| name == "Z").unwrap_or(0);
        let depths = texels.values.iter().skip(channel).step_by(texels.channels as usize).copied().collect();
        Ok(Self { size: texels.size, depths, matrices })
    }
}
