//! Deep files: written, read, damaged, and read by the rules of other readers.

use super::*;
use std::io::Cursor;

fn light(x: u32, y: u32) -> Visibility {
    let steps = (x + 3 * y) % 5;
    let mut knots = Vec::new();
    for step in 0..steps {
        let (z, light) = (2.0 + (x + step) as f32, 0.5_f32.powi(step as i32));
        knots.extend([Knot { z, light }, Knot { z: z + (y % 2) as f32, light: 0.5 * light }]);
    }
    Visibility::of_knots(knots).expect("it falls")
}

fn written() -> Vec<u8> {
    file_of([100, 70], |[x, y]| light(x, y))
}

fn file_of(size: [u32; 2], pixel: impl Fn([u32; 2]) -> Visibility) -> Vec<u8> {
    let header = DeepHeader {
        size,
        corner: [5, 0],
        whole: [128, 128],
        camera_from_world: std::array::from_fn(|i| i as f32),
        ndc_from_world: [0.5; 16],
        software: "test".into(),
        samples_max: 4,
    };
    let mut file = Cursor::new(Vec::new());
    let tiles = header.tiles().iter().product::<u32>();
    let mut writer = DeepWriter::new(&mut file, header).expect("memory");
    (0..tiles).for_each(|_| writer.write_tile(&pixel).expect("memory"));
    writer.finish().expect("memory");
    file.into_inner()
}

#[test]
fn what_is_written_is_read() {
    let bytes = written();
    assert!(DeepReader::is_deep(&bytes) && bytes.len() < 100 * 70 * 12);
    let mut file = Cursor::new(&bytes);
    let reader = DeepReader::open(&mut file).expect("it is whole");
    assert_eq!((reader.header().size, reader.header().corner, reader.header().whole), ([100, 70], [5, 0], [128; 2]));
    assert_eq!(reader.header().camera_from_world[9], 9.0);
    for at in [[0, 0], [1, 0], [0, 1], [1, 1]] {
        let (tile, _) = reader.read_tile(&mut file, at).expect("it is whole");
        let [width, height] = reader.header().tile_size(at);
        assert_eq!(tile.len(), (width * height) as usize);
        for (i, found) in (0..).zip(&tile) {
            let [x, y] = [at[0] * TILE_SIDE + i % width, at[1] * TILE_SIDE + i / width];
            for z in [0.0, 2.5, 3.0, 3.25, 9.0, 103.5] {
                let (found, expected) = (found.at(z), light(x, y).at(z));
                assert!((found - expected).abs() < 1e-6, "{found} for {expected} at {x} {y} {z}");
            }
        }
    }
}

#[test]
fn damaged_files_are_refused_or_read_without_harm() {
    let bytes = written();
    let mut seed = 1_u32;
    for round in 0..400 {
        let mut damaged = bytes.clone();
        for _ in 0..3 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = (seed >> 7) as usize % if round % 2 == 0 { 900 } else { damaged.len() };
            damaged[at] ^= (seed >> 24) as u8;
        }
        damaged.truncate(bytes.len() - (seed >> 16) as usize % 900);
        let mut file = Cursor::new(&damaged);
        let Ok(reader) = DeepReader::open(&mut file) else { continue };
        let [across, down] = reader.header().tiles();
        for at in [[0, 0], [across - 1, down - 1]] {
            let _ = reader.read_tile(&mut file, at);
        }
    }
    assert!(matches!(
        DeepReader::open(&mut Cursor::new(b"nothing")),
        Err(DeepError::Io(_) | DeepError::Unsupported(_))
    ));
}

/// Reads a file as OpenEXR's library does, by its own rules for what is packed: the sums of samples of each row, and
/// the samples, tile by tile.
fn tiles_by_hand(bytes: &[u8], [width, height]: [usize; 2]) -> Vec<(Vec<u32>, Vec<f32>)> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let text_end = |at: usize| at + bytes[at..].iter().position(|&byte| byte == 0).expect("texts end") + 1;
    let mut at = 8;
    while bytes[at] != 0 {
        let size_at = text_end(text_end(at));
        at = size_at + 4 + word(size_at) as usize;
    }
    let table = at + 1;
    let unpacked = |from: usize, packed: u32, size: usize, is_packed: bool| {
        let found = &bytes[from..from + packed as usize];
        let plain = if is_packed { unpack(found, size).expect("it is zlib") } else { found.to_vec() };
        assert_eq!(plain.len(), size);
        plain
    };
    let tiles = (0..height.div_ceil(64)).flat_map(|y| (0..width.div_ceil(64)).map(move |x| [x, y]));
    let read = |(number, [x, y]): (usize, [usize; 2])| {
        let chunk = word(table + 8 * number) as usize;
        assert_eq!([0, 4, 8, 12].map(|i| word(chunk + i)), [x as u32, y as u32, 0, 0]);
        let size = 4 * (width - 64 * x).min(64) * (height - 64 * y).min(64);
        let [packed_counts, packed, samples] = [16, 24, 32].map(|i| word(chunk + i));
        // The C++ library compares with a whole tile, the C library with this one.
        assert_eq!(packed_counts < 64 * 64 * 4, packed_counts as usize != size, "{size}");
        let counts = unpacked(chunk + 40, packed_counts, size, packed_counts < 64 * 64 * 4);
        let from = chunk + 40 + packed_counts as usize;
        let samples = unpacked(from, packed, samples as usize, packed < samples);
        let words = |bytes: &[u8]| bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect::<Vec<_>>();
        (words(&counts), words(&samples).into_iter().map(f32::from_bits).collect())
    };
    tiles.enumerate().map(read).collect()
}

#[test]
fn files_of_few_pixels_are_packed_as_other_readers_expect() {
    for size in [[1, 1], [2, 1], [1, 2], [2, 2], [3, 3], [1, 64], [64, 64], [65, 65], [64, 1]] {
        for is_empty in [false, true] {
            let seen = |[x, y]: [u32; 2]| if is_empty { Visibility::default() } else { light(1 + x, y) };
            let tiles = tiles_by_hand(&file_of(size, seen), size.map(|side| side as usize));
            let pixels = (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| [x, y]));
            let expected: usize = pixels.map(|at| samples_of(&seen(at)).count()).sum();
            assert_eq!(tiles.iter().map(|(_, samples)| samples.len() / 3).sum::<usize>(), expected, "{size:?}");
            assert!(tiles.iter().all(|(counts, _)| is_empty == counts.iter().all(|&count| count == 0)));
        }
    }
}

#[test]
fn packing_is_undone_by_unpacking() {
    for size in [0, 1, 2, 7, 4096, 4097] {
        let bytes: Vec<u8> = (0..size).map(|i| (i / 3) as u8).collect();
        let packed = packed(bytes.clone(), ZIP_LEVEL);
        assert!(packed == bytes || unpack(&packed, bytes.len()) == Some(bytes), "{size}");
    }
}
