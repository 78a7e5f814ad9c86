//! The encoder of deep shadow maps.

use super::metadata::SOFTWARE;
use super::{FilmWriteError, PictureInfo, Pixels};
use crate::deep::{DeepHeader, DeepWriter};
use crate::files::FileSink;

/// Writes the light of the picture's pixels, row by row.
pub(super) fn write(
    mut sink: &mut dyn FileSink,
    picture: &PictureInfo<'_>,
    pixels: &Pixels,
) -> Result<(), FilmWriteError> {
    let (size, camera) = (picture.crop.size(), picture.header);
    let [left, top] = picture.crop.corner();
    let light = |x: i32, y: i32| &pixels.light[pixels.index(x, y)];
    let knots = picture.crop.rows().flat_map(|y| picture.crop.columns().map(move |x| light(x, y).knots().len()));
    let samples = knots.max().map(|most| most.saturating_sub(1));
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
        writer.write_tile(|[x, y]| light(left.saturating_add_unsigned(x), top.saturating_add_unsigned(y)).clone())?;
    }
    Ok(writer.finish()?)
}
