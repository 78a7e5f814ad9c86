//! Pictures of what `bake()` left: points at (s, t, 0), which are in a square.

use super::error::TextureError;
use super::levels::{Texels, check_size};
use super::make::MakeProgress;
use super::point_tree::point_bytes;
use super::read_limits::PointCharge;
use crate::points::PointCloud;
use std::path::Path;

/// The largest side of such a picture.
const SIDE_MAX: u32 = 8192;

/// Means of the points in each texel, and how many there are.
struct PointMeans {
    side: u32,
    /// Sums of the values, texel by texel.
    sums: Vec<f64>,
    counts: Vec<u32>,
}

impl PointMeans {
    fn of_cloud(cloud: &PointCloud, side: u32) -> Self {
        let (width, texels) = (cloud.width(), side as usize * side as usize);
        let (mut sums, mut counts) = (vec![0.0_f64; texels * width], vec![0_u32; texels]);
        for (point, [s, t, _]) in cloud.positions.iter().enumerate().filter(|(_, place)| is_inside(place)) {
            let [x, y] = [s, t].map(|place| ((place * side as f32) as usize).min(side as usize - 1));
            let texel = y * side as usize + x;
            counts[texel] += 1;
            let values = &cloud.values[point * width..(point + 1) * width];
            sums[texel * width..].iter_mut().zip(values).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        Self { side, sums, counts }
    }

    /// Returns the same in a square of half the side.
    fn halved(&self) -> Self {
        let (side, width) = (self.side as usize / 2, self.sums.len() / self.counts.len());
        let (mut sums, mut counts) = (vec![0.0_f64; side * side * width], vec![0_u32; side * side]);
        for (fine, &count) in self.counts.iter().enumerate() {
            let coarse = fine / self.side as usize / 2 * side + fine % self.side as usize / 2;
            counts[coarse] += count;
            let values = &self.sums[fine * width..(fine + 1) * width];
            sums[coarse * width..].iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        Self { side: side as u32, sums, counts }
    }

    /// Returns the means; where there is no point, those of the square of half the side.
    fn filled(&self) -> Vec<f32> {
        let width = self.sums.len() / self.counts.len();
        let coarse = if self.counts.contains(&0) { self.halved().filled() } else { Vec::new() };
        let mut means = Vec::with_capacity(self.sums.len());
        for (texel, &count) in self.counts.iter().enumerate() {
            if count == 0 {
                let from = texel / self.side as usize / 2 * (self.side as usize / 2) + texel % self.side as usize / 2;
                means.extend(&coarse[from * width..(from + 1) * width]);
            } else {
                let sums = &self.sums[texel * width..(texel + 1) * width];
                means.extend(sums.iter().map(|sum| (sum / f64::from(count)) as f32));
            }
        }
        means
    }
}

fn is_inside([s, t, _]: &[f32; 3]) -> bool {
    (0.0..=1.0).contains(s) && (0.0..=1.0).contains(t)
}

/// Returns the most bytes that points take until a texture is made of them: the cloud; in each texel, of which there
/// are at most as many, sums and their count; and the means, with which smaller levels are made. The smaller squares
/// take a third more of all.
///
/// # Errors
/// None: as many as there are.
pub(super) fn needs(count: u64, floats: u64) -> Result<u64, String> {
    let texel = size_of::<f64>() as u64 * floats + size_of::<u32>() as u64 + size_of::<f32>() as u64 * floats;
    Ok(count.saturating_mul(point_bytes(floats) + texel + texel.div_ceil(3)))
}

/// Returns a square picture of points, of the largest power of two with a point a texel in the mean. They are read as
/// long as `progress` says so.
pub(super) fn baked_picture(
    path: &Path,
    at_work: &PointCharge<'_>,
    progress: &MakeProgress<'_>,
) -> Result<Texels, TextureError> {
    let cloud = PointCloud::read_within(path, &at_work.reading(&|| progress(0.0).is_continue()))?;
    if cloud.positions.iter().any(|place| place[2] != 0.0) {
        return Err(TextureError::PointCloud(path.to_owned()));
    }
    let inside = cloud.positions.iter().filter(|place| is_inside(place)).count();
    if inside == 0 || cloud.width() == 0 {
        return Err(TextureError::unsupported(path, "no point of it has values and s and t from 0 to 1"));
    }
    let side = (1_u32 << (inside.ilog2() / 2)).min(SIDE_MAX);
    check_size(path, side.into(), side.into(), cloud.width() as u64)?;
    let values = PointMeans::of_cloud(&cloud, side).filled();
    Ok(Texels { size: [side; 2], channels: cloud.width() as u32, values })
}
