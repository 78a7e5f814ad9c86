//! Depths that geometry is made from: read whole, while a scene is read.

use super::error::TextureError;
use super::header::ShadowMatrices;
use super::make::go_on;
use super::make_memory::PictureSize;
use super::picture::SourcePicture;
use super::read_limits::{PointCharge, PointNeeds, ReadLimits};
use std::path::Path;
use std::sync::Arc;

/// The most texels of a depth map that geometry is made from.
const TEXELS_MAX: u64 = 1 << 20;

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
    /// Reads a z file or a shadow map: the channel Z, or the first. Too large ones are refused by their headers.
    ///
    /// # Errors
    /// If it cannot be read, has no camera, or has more than a million texels.
    pub fn read(path: &Path) -> Result<Self, TextureError> {
        let no_camera = || {
            TextureError::unsupported(path, "it does not say which camera saw it: it must be a z file or a shadow map")
        };
        let depths = PictureSize::read(path)?.ok_or_else(no_camera)?.texels_max();
        if depths > TEXELS_MAX {
            let reason = format!("{depths} depths are too many; {TEXELS_MAX} fit");
            return Err(TextureError::unsupported(path, reason));
        }
        let (limits, refused): (_, PointNeeds) = (ReadLimits::none(), |_, _| Err("they are no depths".into()));
        let points = PointCharge::new(&limits, refused);
        let SourcePicture { texels, names, matrices, .. } = SourcePicture::read(path, &points, &go_on)?;
        let matrices = matrices.ok_or_else(no_camera)?;
        let channel = names.iter().flatten().position(|name| name == "Z").unwrap_or(0);
        let depths = texels.values.iter().skip(channel).step_by(texels.channels as usize).copied().collect();
        Ok(Self { size: texels.size, depths, matrices })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_depths_are_refused_by_their_header() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let reason = |name: &str, width: u32, depths: u32| {
            let path = folder.path().join(name);
            image::save_buffer(&path, &vec![0; (width * depths) as usize], width, depths, image::ColorType::L8)
                .expect("writable");
            DepthPicture::read(&path).expect_err("it has no camera").to_string()
        };
        assert!(reason("large.png", 1025, 1024).ends_with(": 1049600 depths are too many; 1048576 fit"));
        assert!(reason("small.png", 2, 2).contains("it does not say which camera saw it"));
        let points = folder.path().join("a.ply");
        crate::points::PointCloud::default().write(&points).expect("writable");
        assert!(DepthPicture::read(&points).expect_err("points").to_string().contains("which camera saw it"));
    }
}
