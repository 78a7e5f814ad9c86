//! Where a picture's texels are in the whole picture, over which s and t go from 0 to 1: files of crops and of overscan
//! say so.

use super::error::TextureError;
use super::levels::{Texels, check_size};
use exr::meta::header::Header;
use std::io::{Read, Seek};
use std::ops::Range;
use std::path::Path;
use tiff::decoder::Decoder;
use tiff::decoder::ifd::Value;
use tiff::tags::{ResolutionUnit, Tag};

/// Pixar's tags of the width and height of the whole picture that a crop was taken from.
const FULL_SIZE: [Tag; 2] = [Tag::Unknown(33300), Tag::Unknown(33301)];
/// The position of a crop.
const POSITION: [Tag; 2] = [Tag::Unknown(286), Tag::Unknown(287)];
/// Pixels for each unit of a position.
const RESOLUTION: [Tag; 2] = [Tag::XResolution, Tag::YResolution];

/// A program that writes positions as pixels, whatever the unit is.
const WRITER_OF_PIXELS: &str = "OpenImageIO";

/// The depth that a pixel without a surface has, as the film writes it.
const NOTHING_SEEN: f32 = 1e38;

/// The place of a file's texels in the whole picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PictureWindow {
    /// Width and height of the whole picture.
    whole: [u32; 2],
    /// The place of the first texel, in pixels from the whole picture's upper left one.
    first: [i64; 2],
}

impl PictureWindow {
    /// Returns the place of an OpenEXR file's data window in its display window, if they differ.
    pub(super) fn of_exr(path: &Path, header: &Header) -> Result<Option<Self>, TextureError> {
        let (data, display) = (header.own_attributes.layer_position, header.shared_attributes.display_window);
        let first = [
            i64::from(data.x()) - i64::from(display.position.x()),
            i64::from(data.y()) - i64::from(display.position.y()),
        ];
        if first == [0, 0] && header.layer_size == display.size {
            return Ok(None);
        }
        let whole = [display.size.x(), display.size.y()].map(|side| side as u64);
        Self::checked(path, whole, first, header.channels.list.len() as u64)
    }

    /// Returns the window, if the whole picture may be made.
    fn checked(path: &Path, whole: [u64; 2], first: [i64; 2], channels: u64) -> Result<Option<Self>, TextureError> {
        check_size(path, whole[0], whole[1], channels)?;
        if whole.contains(&0) {
            return Err(TextureError::unsupported(path, "it has no texels"));
        }
        Ok(Some(Self { whole: whole.map(|side| side as u32), first }))
    }

    /// Returns the place of a TIFF file of this size in the whole picture, if it is a part of one.
    pub(super) fn of_tiff<R: Read + Seek>(
        path: &Path,
        decoder: &mut Decoder<R>,
        size: [u32; 2],
        channels: u32,
    ) -> Result<Option<Self>, TextureError> {
        let mut number = |tag| decoder.find_tag(tag).ok().flatten().as_ref().and_then(number_of);
        let has_unit = number(Tag::ResolutionUnit).is_some_and(|unit| unit != f64::from(ResolutionUnit::None.to_u16()));
        let ([mut position, mut scale], mut whole) = ([[0.0; 2]; 2], [0; 2]);
        for axis in 0..2 {
            let (Some(side), Some(place)) = (number(FULL_SIZE[axis]), number(POSITION[axis])) else { return Ok(None) };
            whole[axis] = side as u32;
            position[axis] = place;
            scale[axis] = number(RESOLUTION[axis]).filter(|_| has_unit).unwrap_or(1.0);
        }
        if whole == size {
            return Ok(None);
        }
        if decoder.get_tag_ascii_string(Tag::Software).is_ok_and(|name| name.starts_with(WRITER_OF_PIXELS)) {
            scale = [1.0; 2];
        }
        let first = first_texel(position, scale, size, whole).ok_or_else(|| {
            TextureError::unsupported(path, "its place is too far from the whole picture that it says it is a part of")
        })?;
        Self::checked(path, whole.map(u64::from), first, channels.into())
    }

    /// Returns the width and height of the whole picture.
    pub(super) fn whole(self) -> [u32; 2] {
        self.whole
    }

    /// Returns which of a file's rows some rows of the whole picture show; the file has `height`.
    pub(super) fn stored_rows(self, rows: &Range<u32>, height: u32) -> Range<u32> {
        let place = |y: u32| (i64::from(y) - self.first[1]).clamp(0, height.into()) as u32;
        place(rows.start)..place(rows.end)
    }

    /// Returns rows of the whole picture, of rows of the file from `begin` on. What the file has outside of the picture
    /// is left out, and what it lacks is black, or empty in depths.
    pub(super) fn placed(self, rows: Range<u32>, stored: &Texels, begin: u32, names: Option<&[String]>) -> Texels {
        let depth = names.and_then(|names| names.iter().position(|name| name == "Z"));
        let channels = stored.channels as usize;
        let mut whole = Texels::empty([self.whole[0], rows.len() as u32], stored.channels);
        // The columns that both have, in the whole picture.
        let left = self.first[0].clamp(0, self.whole[0].into()) as usize;
        let right = (self.first[0] + i64::from(stored.size[0])).clamp(left as i64, self.whole[0].into()) as usize;
        whole.fill_rows(|y, row| {
            if let Some(depth) = depth {
                row.iter_mut().skip(depth).step_by(channels).for_each(|value| *value = NOTHING_SEEN);
            }
            let from = i64::from(rows.start + y) - self.first[1] - i64::from(begin);
            if left < right && (0..i64::from(stored.size[1])).contains(&from) {
                let column = (left as i64 - self.first[0]) as usize;
                let at = (from as usize * stored.size[0] as usize + column) * channels;
                let values = &stored.values[at..at + (right - left) * channels];
                row[left * channels..right * channels].copy_from_slice(values);
            }
        });
        whole
    }
}

/// Returns the place of a crop's first texel in a whole picture: its position, in units of `scale` pixels. Some
/// programs write pixels whatever the unit: if the crop would be outside of the whole picture, and is inside of it in
/// pixels, these are meant. Returns nothing if it is too far away to count.
fn first_texel(position: [f64; 2], scale: [f64; 2], size: [u32; 2], whole: [u32; 2]) -> Option<[i64; 2]> {
    let ends = |first: [f64; 2]| [0, 1].map(|axis| (first[axis], first[axis] + f64::from(size[axis])));
    let bounds = whole.map(f64::from);
    let is_outside = |first| ends(first).iter().zip(bounds).any(|((begin, end), bound)| *begin >= bound || *end <= 0.0);
    let is_inside = |first| ends(first).iter().zip(bounds).all(|((begin, end), bound)| *begin >= 0.0 && *end <= bound);
    let scaled = [position[0] * scale[0], position[1] * scale[1]];
    let first = if is_outside(scaled) && is_inside(position) { position } else { scaled };
    first.iter().all(|place| place.abs() <= f64::from(i32::MAX)).then(|| first.map(|place| place.round() as i64))
}

/// Returns a number of a tag, which may be a fraction.
fn number_of(value: &Value) -> Option<f64> {
    match *value {
        Value::Rational(above, below) => Some(f64::from(above) / f64::from(below)).filter(|number| number.is_finite()),
        Value::SRational(above, below) => Some(f64::from(above) / f64::from(below)).filter(|number| number.is_finite()),
        Value::Float(number) => Some(number.into()),
        _ => value.clone().into_u64().ok().map(|number| number as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_are_placed_by_their_window() {
        let texels = Texels { size: [2, 2], channels: 2, values: vec![1.0, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 8.0] };
        let place = |first, whole: [u32; 2], names| {
            let window = PictureWindow { whole, first };
            let all = window.placed(0..whole[1], &texels, 0, names).values;
            // Row by row, of the rows of the file that are needed.
            let row = |y: u32| {
                let needed = window.stored_rows(&(y..y + 1), 2);
                let values = texels.values[4 * needed.start as usize..4 * needed.end as usize].to_vec();
                let stored = Texels { size: [2, needed.len() as u32], channels: 2, values };
                window.placed(y..y + 1, &stored, needed.start, names).values
            };
            assert_eq!((0..whole[1]).flat_map(row).collect::<Vec<f32>>(), all);
            all
        };
        assert_eq!(place([1, -1], [3, 1], None), [0.0, 0.0, 3.0, 7.0, 4.0, 8.0]);
        assert_eq!(place([-1, 0], [1, 1], None), [2.0, 6.0]);
        assert_eq!(place([1, 1], [2, 2], None), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 5.0]);
        for first in [[5, 0], [-5, 0], [0, 5], [0, -5], [-2, 0], [2, 0]] {
            assert_eq!(place(first, [2, 1], None), [0.0; 4], "{first:?}");
        }
        let names = ["a".to_owned(), "Z".to_owned()];
        assert_eq!(place([1, 0], [2, 1], Some(&names)), [0.0, NOTHING_SEEN, 1.0, 5.0]);
    }

    #[test]
    fn positions_are_in_units_or_in_pixels() {
        let first = |position, scale| first_texel(position, [scale; 2], [50, 20], [100, 100]);
        assert_eq!(first([0.5, 0.25], 72.0), Some([36, 18]));
        assert_eq!(first([50.0, 40.0], 1.0), Some([50, 40]));
        // Outside of the picture in inches, and inside of it in pixels.
        assert_eq!(first([50.0, 40.0], 72.0), Some([50, 40]));
        assert_eq!(first([0.0, 80.0], 72.0), Some([0, 80]));
        // Outside in both.
        assert_eq!(first([60.0, 40.0], 72.0), Some([4320, 2880]));
        assert_eq!(first([-2.0, 0.0], 72.0), Some([-144, 0]));
        for far in [4.0e9, -4.0e9, f64::MAX, f64::INFINITY, f64::NAN] {
            assert_eq!(first([far, 0.0], 1.0), None, "{far}");
            assert_eq!(first([0.0, far], f64::MAX), None, "{far}");
        }
    }
}
