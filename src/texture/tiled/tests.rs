//! Pictures of a part of a whole, and what they say of themselves, made into textures.

use super::*;
use crate::texture::file::PATIENCE;
use crate::texture::{TILE_WORDS, TextureKind, WrapMode};
use exr::prelude::{
    AttributeValue, Blocks, Compression, Encoding, Image, ImageAttributes, IntegerBounds, Layer, LayerAttributes,
    LineOrder, SpecificChannels, Text, Vec2, WritableImage,
};
use tiff::encoder::TiffEncoder;
use tiff::tags::Tag;

/// Opens a picture of the folder, which is made into a texture.
fn opened(path: &Path) -> Result<(TextureFile, TiledPicture), TextureError> {
    let cache = path.with_file_name("cache");
    let opened = open_or_tile(&Patience::new(PATIENCE), &ReadLimits::default(), path, &cache, &TilingWatch::none());
    opened.map(|(file, made)| (file, made.expect("it was made now")))
}

/// Returns a row of the first tile.
fn row(file: &TextureFile, y: usize) -> Vec<u32> {
    let mut tile = [0; TILE_WORDS];
    file.read_tile(0, 0, 0, 0, &mut tile).expect("it is readable");
    tile[64 * y..64 * y + file.header().width as usize].to_vec()
}

/// Writes all levels of 16 x 16 grey texels, which are the right half of a picture.
fn write_right_half(path: &Path) -> tiff::TiffResult<()> {
    let mut encoder = TiffEncoder::new(fs::File::create(path)?)?;
    for level in 0..5 {
        let mut directory = encoder.image_directory()?;
        let offset = directory.write_data(&[200_u8; 256][..])? as u32;
        directory.write_tag(Tag::ImageWidth, 16_u32 >> level)?;
        directory.write_tag(Tag::ImageLength, 16_u32 >> level)?;
        directory.write_tag(Tag::BitsPerSample, 8_u16)?;
        directory.write_tag(Tag::Compression, 1_u16)?;
        directory.write_tag(Tag::PhotometricInterpretation, 1_u16)?;
        directory.write_tag(Tag::SamplesPerPixel, 1_u16)?;
        for (tag, pixels) in [(286, 16_u32), (287, 0), (33300, 32), (33301, 16)] {
            directory.write_tag(Tag::from_u16_exhaustive(tag), pixels)?;
        }
        directory.write_tag(Tag::TileWidth, 16_u32)?;
        directory.write_tag(Tag::TileLength, 16_u32)?;
        directory.write_tag(Tag::TileOffsets, offset)?;
        directory.write_tag(Tag::TileByteCounts, 256_u32)?;
        directory.write_tag(Tag::Unknown(33303), "periodic,mirror")?;
        directory.finish()?;
    }
    Ok(())
}

#[test]
fn a_tiled_tiff_of_a_part_of_a_picture_becomes_the_whole_with_its_wraps() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("half.tif");
    write_right_half(&path).expect("writable");
    assert!(matches!(TextureFile::open(&path), Err(TextureError::PartOfPicture(_))));
    let (file, made) = opened(&path).expect("it can be made");
    let header = file.header();
    assert_eq!(([header.width, header.height], header.wrap), ([32, 16], [WrapMode::Periodic, WrapMode::Mirror]));
    assert_eq!(row(&file, 3), [[0; 16], [200; 16]].concat());
    let message = TiledPicture::message(&[&made]);
    assert!(message.contains("half.tif\" is a texture of a part of a picture: it was made into"), "{message}");
}

/// Writes the left half of a picture of 16 x 8 texels.
fn write_left_half(path: &Path, blocks: Blocks, format: &str) {
    let text = |text| Text::new_or_none(text).expect("it is ASCII");
    let attributes = LayerAttributes {
        wrap_mode_name: Some(text("periodic,mirror")),
        other: std::iter::once((text("textureformat"), AttributeValue::Text(text(format)))).collect(),
        ..LayerAttributes::default()
    };
    let encoding = Encoding { compression: Compression::Uncompressed, blocks, line_order: LineOrder::Increasing };
    let channels = SpecificChannels::build().with_channel("Y").with_pixel_fn(|_| (0.5_f32,));
    let layer = Layer::new((8, 8), attributes, encoding, channels);
    let whole = ImageAttributes::new(IntegerBounds::from_dimensions((16, 8)));
    Image::new(whole, layer).write().to_file(path).expect("writable");
}

#[test]
fn pictures_keep_the_kind_and_the_wraps_that_they_say() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, blocks) in [("tiled.exr", Blocks::Tiles(Vec2(8, 8))), ("lines.exr", Blocks::ScanLines)] {
        let path = folder.path().join(name);
        let wished = [WrapMode::Periodic, WrapMode::Mirror];
        let around = [WrapMode::Periodic, WrapMode::Clamp];
        for (format, kind, wrap) in
            [("Plain Texture", TextureKind::Plain, wished), ("LatLong Environment", TextureKind::LatLong, around)]
        {
            write_left_half(&path, blocks, format);
            let (file, made) = opened(&path).expect("it can be made");
            assert_eq!((file.header().kind, file.header().wrap), (kind, wrap), "{name}");
            assert_eq!(row(&file, 7), [[0.5_f32.to_bits(); 8], [0; 8]].concat(), "{name}");
            assert_eq!(made.is_part, name == "tiled.exr");
        }
        write_left_half(&path, blocks, "CubeFace Environment");
        let message = opened(&path).expect_err("six faces").to_string();
        assert!(
            message.contains("it is a cube that is not stored as a texture: make one of its six faces"),
            "{message}"
        );
    }
    assert!(matches!(is_depth(folder.path()), Err(TextureError::NotAFile { .. })), "it is no error that hides");
}

fn is_depth(path: &Path) -> Result<bool, TextureError> {
    crate::texture::is_depth_file(path)
}
