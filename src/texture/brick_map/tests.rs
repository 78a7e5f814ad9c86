//! Brick maps made, read and damaged.

use super::*;
use crate::points::ChannelKind;
use crate::texture::{MakeKind, TextureFile, go_on, make};
use std::fs;

fn channel(text: &str) -> PointChannel {
    PointChannel::of_text(text).expect("a type and a name")
}

/// Returns the points along a line from `first` on. Of each channel the values are the point's number and `at`, in its
/// first part.
fn cloud(channels: &[&str], first: usize, count: usize) -> PointCloud {
    let channels: Vec<PointChannel> = channels.iter().map(|text| channel(text)).collect();
    let value = |point: usize, channel: &PointChannel| {
        let hash = channel.name.bytes().map(f32::from).sum::<f32>();
        let parts = if channel.kind == ChannelKind::Float { 1 } else { 3 };
        (0..parts).map(move |part| point as f32 + hash / 7.0 + part as f32)
    };
    let points = first..first + count;
    PointCloud {
        values: points
            .clone()
            .flat_map(|point| channels.iter().flat_map(move |channel| value(point, channel)))
            .collect(),
        channels,
        positions: points.clone().map(|point| [point as f32, 0.5, 0.0]).collect(),
        normals: vec![[0.0, 0.0, 1.0]; count],
        radii: points.map(|point| 0.5 + (point % 3) as f32).collect(),
    }
}

fn tiles(file: &TextureFile) -> Vec<[u32; TILE_WORDS]> {
    let [across, down] = file.header().level_tiles(0);
    let places = (0..across).flat_map(|x| (0..down).map(move |y| (x, y)));
    let read = |(x, y)| {
        let mut tile = [1; TILE_WORDS];
        file.read_tile(0, 0, x, y, &mut tile).expect("a tile");
        tile
    };
    places.map(read).collect()
}

/// Whatever the words of nodes are as floats.
#[test]
fn words_keep_all_their_bits() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.bkm");
    let mut words = vec![0; 3 * TILE_WORDS];
    write_channels(&[channel("float a")], &mut words);
    words[0] = TILE_WORDS as u32;
    let odd = [0x7f80_0001, 0x7fc0_1234, 0xffff_ffff, 0xff80_0000, 1, 0x8000_0000, 0x807f_ffff, 0x7f80_0000];
    for (at, word) in words.iter_mut().enumerate().skip(TILE_WORDS).filter(|(at, _)| at % TILE_WORDS % 14 > 1) {
        *word = odd[at % odd.len()] ^ (at as u32 & 0xff00);
    }
    write_words(&path, &[channel("float a")], words.clone(), &OutputBudget::default(), &go_on).expect("writable");
    let file = TextureFile::open(&path).expect("a brick map");
    assert_eq!(file.point_channels(), Some(&[channel("float a")][..]));
    assert!(tiles(&file).as_flattened() == words);
}

#[test]
fn columns_of_tiles_stand_side_by_side() {
    let words: Vec<u32> = (0..3 * TILE_WORDS as u32).collect();
    let texels = picture([128, 128], words);
    for (place, word) in [([0, 0], 0), ([63, 127], 8191), ([64, 0], 8192), ([127, 63], 12287), ([127, 64], 0)] {
        assert_eq!(texels.row(place[1])[place[0] as usize].to_bits(), word, "{place:?}");
    }
}

#[test]
fn a_brick_map_is_what_devices_have_of_all_the_points() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let channels = ["color Cs", "float a", "normal n"];
    cloud(&channels, 0, 400).write(&at("a.ply")).expect("writable");
    cloud(&["float a", "normal n", "color Cs"], 400, 301).write(&at("b.ply")).expect("writable");
    let mut whole = cloud(&channels, 0, 701);
    let mut request = MakeRequest::new(MakeKind::BrickMap, vec![at("a.ply"), at("b.ply")], at("c.bkm"));
    for changed in [false, true] {
        if changed {
            (request.radius_scale, request.ignore_normals) = (2.5, true);
            whole.radii.iter_mut().for_each(|radius| *radius *= 2.5);
            whole.normals.fill([0.0; 3]);
        }
        whole.write(&at("whole.ply")).expect("writable");
        let points = TextureFile::open_points(&at("whole.ply")).expect("points");
        assert!(make(&request, &go_on).expect("it can be made").is_new);
        let bricks = TextureFile::open(&at("c.bkm")).expect("a brick map");
        assert_eq!((bricks.header(), bricks.point_channels()), (points.header(), points.point_channels()));
        assert!(tiles(&bricks) == tiles(&points) && bricks.header().tile_count() > 5, "{changed}");
    }
    let once = fs::read(at("c.bkm")).expect("it was made");
    make(&request, &go_on).expect("it can be made");
    assert!(fs::read(at("c.bkm")).expect("it was made") == once, "equal requests write equal bytes");
    request.only_if_newer = true;
    assert!(!make(&request, &go_on).expect("it is there").is_new);
    // Of none it has a tile, of points without values as well.
    for channels in [&channels[..], &[]] {
        cloud(channels, 0, 0).write(&at("a.ply")).expect("writable");
        make(&MakeRequest::new(MakeKind::BrickMap, vec![at("a.ply")], at("c.bkm")), &go_on).expect("it can be made");
        let none = TextureFile::open(&at("c.bkm")).expect("a brick map");
        assert_eq!((none.point_channels().map(<[_]>::len), tiles(&none).len()), (Some(channels.len()), 1));
    }
}

#[test]
fn points_with_other_channels_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    cloud(&["color Cs", "float a"], 0, 3).write(&at("a.ply")).expect("writable");
    let table: [(&[&str], &str); 3] = [
        (&["float a"], "it lacks \"color Cs\""),
        (&["float a", "color Cs", "float b"], "it also has \"float b\""),
        (&["vector Cs", "float a"], "it has \"vector Cs\" instead of \"color Cs\""),
    ];
    for (channels, reason) in table {
        cloud(channels, 0, 3).write(&at("b.ply")).expect("writable");
        let request = MakeRequest::new(MakeKind::BrickMap, vec![at("a.ply"), at("b.ply")], at("c.bkm"));
        let message = make(&request, &go_on).expect_err("they differ").to_string();
        let [a, b] = ["a.ply", "b.ply"].map(|name| at(name).display().to_string());
        let expected = format!("\"{b}\" cannot be used as a texture: its channels are not those of \"{a}\": {reason}");
        assert_eq!(message, expected);
        assert!(!at("c.bkm").exists());
    }
    for (inputs, reason) in [(vec![], "of one file of points or more"), (vec![at("none.ply")], "there is no file")] {
        let request = MakeRequest::new(MakeKind::BrickMap, inputs, at("c.bkm"));
        assert!(make(&request, &go_on).expect_err(reason).to_string().contains(reason));
    }
}

/// Returns a brick map without nodes, written otherwise than one should be.
fn odd_map(path: &Path, change: impl Fn(&mut TextureHeader, &mut Vec<Texels>, &mut Option<&[PointChannel]>)) -> String {
    let channels = [channel("float a")];
    let mut header = header_of(2);
    let mut levels = vec![Texels::empty([64, 128], 1)];
    let mut points = Some(&channels[..]);
    change(&mut header, &mut levels, &mut points);
    let tags = TextureTags { header: &header, names: None, points };
    write(path, &tags, &mut LevelTiles::new(&tags, &levels), &OutputBudget::default(), &go_on).expect("writable");
    TextureFile::open(path).expect_err("it is no brick map").to_string()
}

#[test]
fn what_is_no_brick_map_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.bkm");
    let sized = |width, height| {
        odd_map(&path, |header, levels, _| {
            (header.width, header.height) = (width, height);
            levels[0] = Texels::empty([width, height], 1);
        })
    };
    for [width, height] in [[64, 100], [40, 64], [128, 128]] {
        assert!(sized(width, height).ends_with("its size is not that of tiles of points"), "{width} {height}");
    }
    let two = odd_map(&path, |header, levels, _| {
        (header.channels, levels[0]) = (2, Texels::empty([64, 128], 2));
    });
    assert!(two.ends_with("it has not one channel of whole numbers"), "{two}");
    let floats = odd_map(&path, |_, _, points| *points = None);
    assert!(floats.ends_with("it has not one channel of whole numbers"), "{floats}");
    let several = odd_map(&path, |header, levels, _| {
        header.levels = 8;
        let sizes = [[32, 64], [16, 32], [8, 16], [4, 8], [2, 4], [1, 2], [1, 1]];
        levels.extend(sizes.map(|size| Texels::empty(size, 1)));
    });
    assert!(several.ends_with("it has several levels"), "{several}");
}

/// Changes bytes of a file that stand there once.
fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).expect("it has this");
    [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()
}

#[test]
fn damaged_brick_maps_are_refused_or_their_tiles_are() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    cloud(&["float a"], 0, 300).write(&at("a.ply")).expect("writable");
    make(&MakeRequest::new(MakeKind::BrickMap, vec![at("a.ply")], at("a.bkm")), &go_on).expect("it can be made");
    let good = fs::read(at("a.bkm")).expect("it was made");
    let said = |bytes: &[u8]| {
        fs::write(at("b.bkm"), bytes).expect("writable");
        let mut tile = [0; TILE_WORDS];
        let read = TextureFile::open(&at("b.bkm")).and_then(|file| {
            (0..file.header().level_tiles(0)[1]).try_for_each(|y| file.read_tile(0, 0, 0, y, &mut tile).map(|_| ()))
        });
        read.map_or_else(|error| error.to_string(), |()| "whole".into())
    };
    assert_eq!(said(&good), "whole");
    assert!(said(&good[..good.len() - 9]).ends_with("it ends too early"));
    let listed = |to: &str| said(&replaced(&good, "float a", to));
    assert!(said(&replaced(&good, CHANNELS, "pointschannel")).ends_with("it has no attribute \"pointchannels\""));
    for list in ["float  ", "floot a", "float 7", "float,a"] {
        assert!(listed(list).ends_with("its attribute \"pointchannels\" is damaged"), "{list}");
    }
    // The tiles say something else.
    for list in ["float b", "color a"] {
        assert!(listed(list).ends_with("a tile of the brick map is no part of a tree"), "{list}");
    }
    // Nodes that are nowhere, or not within a tile.
    for (place, address) in [(0, 1), (0, 2 * TILE_WORDS + 15), (TILE_WORDS, 9 * TILE_WORDS), (TILE_WORDS + 1, 15)] {
        let mut words = vec![0; 3 * TILE_WORDS];
        write_channels(&[channel("float a")], &mut words);
        words[place] = address as u32;
        write_words(&at("c.bkm"), &[channel("float a")], words, &OutputBudget::default(), &go_on).expect("writable");
        let message = said(&fs::read(at("c.bkm")).expect("it was made"));
        assert!(message.ends_with("a tile of the brick map is no part of a tree"), "{place} {address}: {message}");
    }
    // It is no picture.
    let request = MakeRequest::new(MakeKind::Plain, vec![at("a.bkm")], at("a.tex"));
    assert!(make(&request, &go_on).expect_err("no picture").to_string().contains("is a point cloud"));
    let file = TextureFile::open(&at("a.bkm")).expect("a brick map");
    let message = crate::texture::convert(&file, 0, &at("a.exr")).expect_err("no picture").to_string();
    assert!(message.contains("is a point cloud"));
}

#[test]
fn lists_of_channels_are_read_as_they_are_written() {
    for list in ["", "float a", "color Cs, float a, normal _n2"] {
        let channels = parse_channels(list).expect("a list");
        assert_eq!(listed(&channels), list);
    }
    for list in ["float a, color a", "float a,", "float a,float b", "a"] {
        assert_eq!(parse_channels(list), None, "{list}");
    }
}
