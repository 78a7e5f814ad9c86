//! The picture of which device rendered what: the picture in grey, each region tinted in its device's colour and
//! outlined.

use super::colours;
use crate::film::{PreviewImage, encode_png};
use crate::stats::{MeasuredRegion, MeasuredWorld};
use plotters::style::RGBColor;

/// Maps are about this wide: larger pictures are shrunk and very small ones enlarged, by a whole factor.
const WIDTH: u32 = 960;

/// How the pixels of a picture become pixels of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zoom {
    /// A square with this many pixels along each side becomes one pixel.
    Out(u32),
    /// One pixel becomes a square with this many pixels along each side.
    In(u32),
}

impl Zoom {
    pub(super) fn of(width: u32) -> Self {
        if width > WIDTH { Self::Out(width.div_ceil(WIDTH)) } else { Self::In((WIDTH / width.max(1)).clamp(1, 16)) }
    }

    pub(super) fn size(self, pixels: u32) -> u32 {
        match self {
            Self::Out(by) => pixels.div_ceil(by),
            Self::In(by) => pixels * by,
        }
    }

    /// Returns the first pixel of the map that shows `pixel` or one after it.
    fn first(self, pixel: u32) -> u32 {
        match self {
            Self::Out(by) => (pixel + by - 1 - by / 2) / by,
            Self::In(by) => pixel * by,
        }
    }

    /// Returns the first pixel of the map that shows the raster coordinate `at` or one after it, of a picture that
    /// begins at `start`.
    pub(super) fn place(self, at: i32, start: i32) -> u32 {
        self.first(at.saturating_sub(start).max(0).cast_unsigned())
    }

    /// Returns the pixels of the picture that a pixel of the map shows, along one axis.
    fn covered(self, shown: u32) -> std::ops::Range<u32> {
        match self {
            Self::Out(by) => shown * by..(shown + 1) * by,
            Self::In(by) => shown / by..shown / by + 1,
        }
    }
}

/// Returns the map of a world as a PNG. `picture` is the rendered picture, if it can be shown.
pub fn draw(picture: Option<&PreviewImage>, world: &MeasuredWorld) -> Vec<u8> {
    let size = world.size_px();
    let zoom = Zoom::of(size[0]);
    let [width, height] = size.map(|pixels| zoom.size(pixels));
    let owners = owners(world, zoom, [width, height]);
    let owner = |x: u32, y: u32| owners[y as usize * width as usize + x as usize];
    let mut colours = Vec::with_capacity(owners.len());
    for y in 0..height {
        for x in 0..width {
            let own = owner(x, y);
            let is_edge = x > 0 && owner(x - 1, y) != own || y > 0 && owner(x, y - 1) != own;
            let grey = picture.map_or(128, |picture| grey(picture, zoom, [x, y]));
            colours.push(colour(own.and_then(|index| world.regions.get(index)), grey, is_edge));
        }
    }
    encode_png([width, height], &colours)
}

/// For each pixel of the map, the index of its region among the world's.
fn owners(world: &MeasuredWorld, zoom: Zoom, [width, height]: [u32; 2]) -> Vec<Option<usize>> {
    let mut owners = vec![None; width as usize * height as usize];
    let [left, top, ..] = world.crop_px;
    for (index, region) in world.regions.iter().enumerate() {
        let [x0, y0, x1, y1] = region.px;
        let [x0, x1] = [x0, x1].map(|x| zoom.place(x, left).min(width) as usize);
        let [y0, y1] = [y0, y1].map(|y| zoom.place(y, top).min(height) as usize);
        for row in y0..y1 {
            let start = row * width as usize;
            owners[start + x0..start + x1].fill(Some(index));
        }
    }
    owners
}

/// Returns a picture as a PNG of the size of its maps.
pub(super) fn picture_png(picture: &PreviewImage) -> Vec<u8> {
    let zoom = Zoom::of(picture.size[0]);
    let [width, height] = picture.size.map(|pixels| zoom.size(pixels));
    let places = (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
    let colours: Vec<[u8; 3]> =
        places.map(|place| mean_colour(picture, zoom, place).map(|value| value as u8)).collect();
    encode_png([width, height], &colours)
}

fn grey(picture: &PreviewImage, zoom: Zoom, place: [u32; 2]) -> u32 {
    mean_colour(picture, zoom, place).iter().sum::<u32>() / 3
}

/// Returns the mean colour of the pixels that a pixel of the map shows.
fn mean_colour(picture: &PreviewImage, zoom: Zoom, [x, y]: [u32; 2]) -> [u32; 3] {
    let inside = |x: &u32, y: &u32| *x < picture.size[0] && *y < picture.size[1];
    let (mut sum, mut count) = ([0; 3], 0);
    for row in zoom.covered(y) {
        for column in zoom.covered(x).filter(|column| inside(column, &row)) {
            let colour = picture.colour([column, row]);
            sum.iter_mut().zip(colour).for_each(|(sum, value)| *sum += u32::from(value));
            count += 1;
        }
    }
    sum.map(|sum| sum / count.max(1))
}

/// Returns the tint of a pixel: grey where no device rendered. Stolen regions look like others, so that a device has
/// one colour.
fn colour(region: Option<&MeasuredRegion>, grey: u32, is_edge: bool) -> [u8; 3] {
    let Some(region) = region else { return [grey as u8; 3] };
    let RGBColor(r, g, b) = colours::device(region.device);
    [r, g, b]
        .map(|own| {
            // Half the device's colour, half the picture, and a little brighter, so that both show in dark scenes.
            let mixed = (u32::from(own) + grey * 3 / 4 + 48) / 2;
            if is_edge { 255 - (255 - mixed.min(255)) / 4 } else { mixed.min(255) }
        })
        .map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_covers_the_pixels_whose_centres_it_contains() {
        assert_eq!(Zoom::of(1920), Zoom::Out(2));
        assert_eq!(Zoom::of(961), Zoom::Out(2));
        assert_eq!(Zoom::of(960), Zoom::In(1));
        assert_eq!(Zoom::of(64), Zoom::In(15));
        assert_eq!(Zoom::of(1), Zoom::In(16));
        let out = Zoom::Out(4);
        // Pixel 0 of the map shows pixels 0 to 3, and belongs to the device that rendered pixel 2.
        assert_eq!([0, 2, 3, 6, 7].map(|pixel| out.first(pixel)), [0, 0, 1, 1, 2]);
        assert_eq!((out.size(9), out.covered(1)), (3, 4..8));
        assert_eq!((Zoom::In(3).first(2), Zoom::In(3).covered(7)), (6, 2..3));
    }

    #[test]
    fn each_pixel_belongs_to_its_device() {
        let region = |device, px| MeasuredRegion { device, px, ..MeasuredRegion::default() };
        let regions = vec![region(0, [-1, 2, 1, 4]), region(1, [1, 2, 3, 4])];
        let world = MeasuredWorld { crop_px: [-1, 2, 3, 5], regions, ..MeasuredWorld::default() };
        let owners = owners(&world, Zoom::In(1), [4, 3]);
        let (a, b) = (Some(0), Some(1));
        assert_eq!(owners, [a, a, b, b, a, a, b, b, None, None, None, None]);
        assert!(draw(None, &world).starts_with(b"\x89PNG"));
        assert_ne!(colour(Some(&world.regions[0]), 9, false), colour(Some(&world.regions[1]), 9, false));
        assert_eq!(colour(None, 9, true), [9; 3]);
    }
}
