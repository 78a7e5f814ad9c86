//! The encoder of deep shadow maps.

use super::metadata::SOFTWARE;
use super::{FilmWriteError, PictureInfo};
use crate::deep::{DeepHeader, DeepWriter, Visibility};
use crate::files::FileSink;

/// Writes the light of the crop's pixels, row by row.
pub(super) fn write(
    mut sink: &mut dyn FileSink,
    picture: &PictureInfo<'_>,
    light: &[Visibility],
) -> Result<(), FilmWriteError> {
    let (size, camera) = (picture.crop.size(), picture.header);
    let samples = light.iter().map(|light| light.knots().len().saturating_sub(1)).max();
    let header = DeepHeader {
        size,
        corner: picture.corner(),
        whole: camera.resolution,
        camera_from_world: camera.world_to_camera,
        ndc_from_world: camera.world_to_ndc,
        software: SOFTWARE.into(),
        samples_max: samples.unwrap_or(0) as u32,
    };
    let tiles = header.tiles().iter().product();
    let mut writer = DeepWriter::new(&mut sink, header)?;
    for _ in 0..tiles {
        writer.write_tile(|[x, y]| light[(y * size[0] + x) as usize].clone())?;
    }
    Ok(writer.finish()?)
}
