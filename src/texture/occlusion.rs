//! Occlusion maps: shadow maps seen from many sides, in one picture (spirv-gen's abi.rs, "occlusion").

use super::TILE_TEXELS;
use super::error::TextureError;
use super::levels::Texels;
use super::picture::SourcePicture;
use std::path::{Path, PathBuf};

/// The most maps.
pub(super) const VIEWS_MAX: usize = 1023;

/// The words before the matrices of the first map.
const HEAD_WORDS: usize = 32;

/// The picture of shadow maps, which have a camera and one channel each.
///
/// # Errors
/// If they differ in size.
pub(super) fn occlusion_map(paths: &[PathBuf], maps: &[SourcePicture]) -> Result<Texels, TextureError> {
    let size @ [width, height] = maps[0].texels.size;
    if let Some((path, map)) = paths.iter().zip(maps).find(|(_, map)| map.texels.size != size) {
        let [x, y] = map.texels.size;
        let reason = format!(
            "it has {x} x {y} depths, but \"{}\" has {width} x {height}: those of an occlusion map have one size",
            paths[0].display()
        );
        return Err(TextureError::unsupported(path, reason));
    }
    let (side, words) = (TILE_TEXELS as usize, words(size, maps));
    let (head, rows) = (side * words.len().div_ceil(side * side), side * (height as usize).div_ceil(side));
    let too_large = || TextureError::unsupported(Path::new(&paths[0]), "there are too many depths of its size");
    let rows_all = u32::try_from(head + maps.len() * rows).map_err(|_| too_large())?;
    let mut picture = Texels::empty([width.max(TILE_TEXELS), rows_all], 1);
    picture.fill_rows(|y, row| {
        let y = y as usize;
        if y < head {
            let line = words.iter().skip(y * side).take(side);
            return row.iter_mut().zip(line).for_each(|(texel, word)| *texel = *word);
        }
        let (map, y) = ((y - head) / rows, (y - head) % rows);
        if y < height as usize {
            let depths = &maps[map].texels.values[y * width as usize..][..width as usize];
            row[..width as usize].copy_from_slice(depths);
        }
    });
    Ok(picture)
}

/// The words before the maps.
fn words([width, height]: [u32; 2], maps: &[SourcePicture]) -> Vec<f32> {
    let mut words = vec![maps.len() as f32, width as f32, height as f32];
    words.resize(HEAD_WORDS, 0.0);
    for matrices in maps.iter().filter_map(|map| map.matrices) {
        words.extend(matrices.camera_from_world);
        words.extend(matrices.ndc_from_world);
    }
    words
}
