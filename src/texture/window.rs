//! Where a picture's texels are in the whole picture, over which s and t go from 0 to 1: files of crops and of overscan
//! say so.

use super::error::TextureError;
use super::levels::{Texels, check_size};
use exr::meta::header::Header;
use std::io::{Read, Seek};
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
        let [mut whole, mut first] = [[0.0; 2]; 2];
        for axis in 0..2 {
            let (Some(side), Some(place)) = (number(FULL_SIZE[axis]), number(POSITION[axis])) else { return Ok(None) };
            whole[axis] = side;
            first[axis] = place * number(RESOLUTION[axis]).filter(|_| has_unit).unwrap_or(1.0);
        }
        let whole = whole.map(|side| side as u32);
        if whole == size {
            return Ok(None);
        }
        Self::checked(path, whole.map(u64::from), first.map(|place| place.round() as i64), channels.into())
    }

    /// Returns the width and height of the whole picture.
    pub(super) fn whole(self) -> [u32; 2] {
        self.whole
    }

    /// Returns the whole picture. What the file has outside of it is left out, and what the file lacks is black, or
    /// empty in depths.
    pub(super) fn placed(self, texels: &Texels, names: Option<&[String]>) -> Texels {
        let depth = names.and_then(|names| names.iter().position(|name| name == "Z"));
        let channels = texels.channels as usize;
        let mut whole = Texels::empty(self.whole, texels.channels);
        // The columns that both have, in the whole picture.
        let begin = self.first[0].clamp(0, self.whole[0].into()) as usize;
        let end = (self.first[0] + i64::from(texels.size[0])).clamp(begin as i64, self.whole[0].into()) as usize;
        whole.fill_rows(|y, row| {
            if let Some(depth) = depth {
                row.iter_mut().skip(depth).step_by(channels).for_each(|value| *value = NOTHING_SEEN);
            }
            let from = i64::from(y) - self.first[1];
            if begin < end && (0..i64::from(texels.size[1])).contains(&from) {
                let column = (begin as i64 - self.first[0]) as usize;
                let at = (from as usize * texels.size[0] as usize + column) * channels;
                let values = &texels.values[at..at + (end - begin) * channels];
                row[begin * channels..end * channels].copy_from_slice(values);
            }
        });
        whole
    }
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
        let place = |first, whole, names| PictureWindow { whole, first }.placed(&texels, names).values;
        assert_eq!(place([1, -1], [3, 1], None), [0.0, 0.0, 3.0, 7.0, 4.0, 8.0]);
        assert_eq!(place([-1, 0], [1, 1], None), [2.0, 6.0]);
        assert_eq!(place([1, 1], [2, 2], None), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 5.0]);
        for first in [[5, 0], [-5, 0], [0, 5], [0, -5], [-2, 0], [2, 0]] {
            assert_eq!(place(first, [2, 1], None), [0.0; 4], "{first:?}");
        }
        let names = ["a".to_owned(), "Z".to_owned()];
        assert_eq!(place([1, 0], [2, 1], Some(&names)), [0.0, NOTHING_SEEN, 1.0, 5.0]);
    }
}
