//! Names, tiles, and files that go wrong, as devices ask for them.

use super::*;
use crate::deep::{DeepHeader, DeepWriter, KNOTS_MAX, Knot, Visibility};
use crate::host_memory::HostMemory;
use crate::points::{ChannelKind, PointChannel, PointCloud};
use crate::texture::file::PATIENCE;
use crate::texture::make::{MakeKind, MakeRequest, make};
use std::fs;
use std::ops::ControlFlow;

/// A folder with textures, and a store of them.
struct StoreFixture {
    folder: tempfile::TempDir,
    reporter: Arc<Reporter>,
    store: TextureStore,
    folders: Arc<[String]>,
}

impl StoreFixture {
    fn new(cached_tiles: usize) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let reporter = Arc::new(Reporter::silent());
        let bytes = cached_tiles * size_of::<TileTexels>();
        let tiled = folder.path().join("tiled");
        let store = TextureStore::with_cache(Arc::clone(&reporter), Arc::default(), tiled, PATIENCE, bytes);
        let folders =
            Arc::from([folder.path().join("none"), folder.path().to_owned()].map(|at| at.display().to_string()));
        Self { folder, reporter, store, folders }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a PNG whose 8 bits are the tile's number along x plus 16 times that along y, plus `first`.
    fn write_picture(&self, name: &str, tiles: [u32; 2], first: u8) -> PathBuf {
        let [width, height] = tiles.map(|count| count * 64);
        let value = |index: u32| first + (index % width / 64 + index / width / 64 * 16) as u8;
        let bytes: Vec<u8> = (0..width * height).map(value).collect();
        let path = self.at(name);
        image::save_buffer(&path, &bytes, width, height, image::ColorType::L8).expect("writable");
        path
    }

    /// Makes a texture of such a picture.
    fn make(&self, name: &str, tiles: [u32; 2], first: u8) {
        let picture = self.write_picture("picture.png", tiles, first);
        make(&MakeRequest::new(MakeKind::Plain, vec![picture], self.at(name)), &|_| ControlFlow::Continue(()))
            .expect("it can be made");
    }

    fn find(&self, name: &str) -> Option<u32> {
        self.store.find(SoughtFile::Texture, name, &self.folders, &SourceLocation::default())
    }

    fn messages(&self) -> Vec<String> {
        self.reporter.all().into_iter().map(|(diagnostic, count)| format!("{count}: {}", diagnostic.message)).collect()
    }
}

fn keys(texture: u32, tiles: [u32; 2]) -> Vec<TileKey> {
    let places = (0..tiles[1]).flat_map(|y| (0..tiles[0]).map(move |x| [x, y]));
    places.map(|at| TileKey { texture, level: 0, plane: 0, at }).collect()
}

/// Returns the first channel of the first texel.
fn first_texel(tile: &TileTexels) -> u32 {
    tile[0] & 0xff
}

#[test]
fn tiles_come_in_the_order_of_keys_and_are_read_once() {
    let fixture = StoreFixture::new(200);
    fixture.make("a.tex", [9, 7], 3);
    let number = fixture.find("a.tex").expect("it is there");
    assert_eq!(number, 0);
    let keys = keys(number, [9, 7]);
    // Two devices ask at the same time.
    let ask = || fixture.store.tiles(&keys, TileNeed::Missed).iter().map(|tile| first_texel(tile)).collect::<Vec<_>>();
    let expected: Vec<u32> = keys.iter().map(|key| 3 + key.at[0] + 16 * key.at[1]).collect();
    thread::scope(|scope| {
        let other = scope.spawn(ask);
        assert_eq!(ask(), expected);
        assert_eq!(other.join().expect("no panic"), expected);
    });
    let [(path, reads)] = &fixture.store.statistics()[..] else { panic!("one texture") };
    assert_eq!([reads.misses, reads.reruns, reads.tiles_read, reads.redundant_reads], [126, 2, 63, 0]);
    assert!(reads.bytes_read >= 63 * 4096 && *path == fixture.at("a.tex"), "{reads:?}");
}

#[test]
fn a_cache_smaller_than_what_is_asked_for_reads_again() {
    let fixture = StoreFixture::new(4);
    fixture.make("a.tex", [4, 4], 0);
    let number = fixture.find("a.tex").expect("it is there");
    let keys = keys(number, [4, 4]);
    for _ in 0..2 {
        let found: Vec<u32> =
            fixture.store.tiles(&keys, TileNeed::Missed).iter().map(|tile| first_texel(tile)).collect();
        assert_eq!(found, keys.iter().map(|key| key.at[0] + 16 * key.at[1]).collect::<Vec<_>>());
    }
    let (_, reads) = &fixture.store.statistics()[0];
    assert_eq!(reads.misses, 32);
    assert!(reads.redundant_reads > 8 && reads.tiles_read - reads.redundant_reads == 16, "{reads:?}");
}

#[test]
fn a_name_without_a_texture_is_reported_once() {
    let fixture = StoreFixture::new(4);
    fs::create_dir(fixture.at("folder")).expect("writable");
    fs::write(fixture.at("text"), "Sphere 1 -1 1 360").expect("writable");
    for name in ["missing.tex", "folder", "text"] {
        assert_eq!((fixture.find(name), fixture.find(name)), (None, None), "{name}");
    }
    let messages = fixture.messages();
    let expected = [
        "1: there is no texture \"missing.tex\": its colours are white",
        "1: the texture \"folder\" cannot be used: ",
        "1: the texture \"text\" cannot be used: ",
    ];
    assert_eq!(messages.len(), expected.len(), "{messages:?}");
    for (message, begin) in messages.iter().zip(expected) {
        assert!(message.starts_with(begin), "{message}");
    }
    assert!(messages[1].contains("is a folder, not a file") && messages[2].contains("not a picture"), "{messages:?}");
    let hint = fixture.reporter.all()[0].0.hint.clone();
    assert!(hint.contains("none/missing.tex") && hint.contains("searchpath"), "{hint}");
}

#[test]
fn two_names_of_one_file_are_one_texture_and_pictures_are_tiled_once() {
    let fixture = StoreFixture::new(4);
    fixture.make("a.tex", [1, 1], 9);
    let absolute = fixture.at("a.tex").display().to_string();
    assert_eq!([fixture.find("a.tex"), fixture.find(&absolute)], [Some(0), Some(0)]);
    fixture.write_picture("b.png", [1, 1], 5);
    let found: Vec<_> = thread::scope(|scope| {
        let finders: Vec<_> = (0..3).map(|_| scope.spawn(|| fixture.find("b.png"))).collect();
        finders.into_iter().map(|finder| finder.join().expect("no panic")).collect()
    });
    assert_eq!(found, [Some(1); 3]);
    assert_eq!(first_texel(&fixture.store.tile(keys(1, [1, 1])[0])), 5);
    fixture.store.report_tiled();
    assert_eq!(fixture.messages().len(), 1, "{:?}", fixture.messages());
    assert!(fixture.messages()[0].contains("b.png\" is a picture without tiles"), "{:?}", fixture.messages());
    // Many have one message.
    for name in ["c.png", "d.png", "e.png"] {
        fixture.write_picture(name, [1, 1], 5);
        fixture.find(name);
    }
    fixture.store.report_tiled();
    fixture.store.report_tiled();
    assert_eq!(fixture.messages().len(), 2, "{:?}", fixture.messages());
    assert!(fixture.messages()[1].contains("3 pictures without tiles were made"), "{:?}", fixture.messages());
}

#[test]
fn who_watches_the_making_of_textures_stops_and_refuses_it() {
    let fixture = StoreFixture::new(4);
    fixture.write_picture("a.png", [3, 1], 5);
    let watch = TilingWatch {
        progress: Box::new(|picture, part| {
            assert!(picture.ends_with("a.png") && (0.0..=1.0).contains(&part), "{picture:?} {part}");
            ControlFlow::Break(())
        }),
        ..TilingWatch::none()
    };
    let stopped = StoreFixture { store: fixture.store.watched(watch), ..fixture };
    assert_eq!((stopped.find("a.png"), stopped.messages()), (None, vec![]), "who stops it knows");
    let watch = TilingWatch {
        take_memory: Box::new(|bytes| Err(format!("{bytes} bytes are too many"))),
        progress: Box::new(|_, _| unreachable!("its header says how large it is")),
    };
    let refused = StoreFixture { store: stopped.store.watched(watch), ..stopped };
    refused.store.begin_picture();
    assert_eq!((refused.find("a.png"), refused.store.lost_count()), (None, 2));
    let messages = refused.messages();
    assert!(messages[0].contains("a.png\" is too large a picture") && messages[0].contains(" bytes are too many"));
}

#[test]
fn a_texture_made_again_is_opened_by_the_next_picture() {
    let fixture = StoreFixture::new(64);
    fixture.make("map.tex", [1, 1], 1);
    fixture.make("same.tex", [1, 1], 7);
    let [first, same] = ["map.tex", "same.tex"].map(|name| fixture.find(name).expect("it is there"));
    assert_eq!(first_texel(&fixture.store.tile(keys(first, [1, 1])[0])), 1);
    fixture.make("map.tex", [2, 1], 2);
    // Within a picture, the answer stays.
    assert_eq!(fixture.find("map.tex"), Some(first));
    fixture.store.begin_picture();
    let next = fixture.find("map.tex").expect("it is there");
    assert_ne!(next, first);
    assert_eq!(first_texel(&fixture.store.tile(keys(next, [1, 1])[0])), 2);
    assert_eq!(fixture.find("same.tex"), Some(same));
    assert_eq!(fixture.messages(), [""; 0]);
}

#[test]
fn a_file_that_changes_or_ends_early_is_zero_with_one_message() {
    let fixture = StoreFixture::new(1);
    fixture.make("a.tex", [4, 4], 1);
    let number = fixture.find("a.tex").expect("it is there");
    fs::write(fixture.at("a.tex"), "something else").expect("writable");
    let keys = keys(number, [4, 4]);
    for _ in 0..2 {
        assert!(fixture.store.tiles(&keys, TileNeed::Missed).iter().all(|tile| **tile == [0; TILE_WORDS]));
    }
    let messages = fixture.messages();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].starts_with("1: ") && messages[0].contains("has changed"), "{messages:?}");
}

#[test]
fn a_file_is_known_before_it_is_opened() {
    let fixture = StoreFixture::new(1);
    fs::write(fixture.at("a.tex"), "no texture, but a file").expect("writable");
    let identity = |name| fixture.store.identity(name, &fixture.folders);
    let first = identity("a.tex").expect("it is there");
    fs::write(fixture.at("a.tex"), "another one").expect("writable");
    assert!(identity("a.tex").is_some_and(|second| second != first));
    assert_eq!(identity("b.tex"), None);
}

/// Lookups in a deep map go from plane to plane: the file's tiles are decoded once, in whatever order that is.
#[test]
fn a_tile_of_a_deep_map_is_decoded_once_for_all_its_planes() {
    let fixture = StoreFixture::new(2 * 2 * KNOTS_MAX);
    let header = DeepHeader {
        size: [128, 64],
        corner: [0, 0],
        whole: [128, 64],
        camera_from_world: [0.0; 16],
        ndc_from_world: [0.0; 16],
        software: String::new(),
        samples_max: 1,
    };
    let file = fs::File::create(fixture.at("a.dshad")).expect("writable");
    let mut writer = DeepWriter::new(file, header).expect("writable");
    let step = |z: f32| Visibility::of_knots(vec![Knot { z, light: 1.0 }, Knot { z, light: 0.5 }]).expect("it falls");
    (0..2).for_each(|_| writer.write_tile(|[x, _]| step(1.0 + (x / 64) as f32)).expect("writable"));
    writer.finish().expect("writable");
    let texture = fixture.find("a.dshad").expect("a texture");
    let first = |plane, x| {
        let key = TileKey { texture, level: 0, plane, at: [x, 0] };
        f32::from_bits(fixture.store.tile(key)[0])
    };
    assert_eq!([first(0, 0), first(0, 1)], [1.0, 2.0]);
    let bytes_read = || fixture.store.statistics()[0].1.bytes_read;
    let once = bytes_read();
    assert_eq!([first(1, 0), first(1, 1), first(3, 0), first(3, 1), first(2, 1)], [1.0, 1.0, 0.5, 0.5, 2.0]);
    assert_eq!((bytes_read(), fixture.messages()), (once, vec![]));
}

/// Writes so many points.
fn write_points(path: &Path, count: usize) {
    let cloud = PointCloud {
        channels: vec![PointChannel { name: "a".into(), kind: ChannelKind::Float }],
        positions: (0..count).map(|point| [point as f32, 0.0, 0.0]).collect(),
        normals: vec![[0.0; 3]; count],
        radii: vec![0.5; count],
        values: vec![1.0; count],
    };
    cloud.write(path).expect("writable");
}

#[test]
fn points_are_freed_once_they_are_replaced_or_no_longer_named() {
    let fixture = StoreFixture::new(4);
    let memory = HostMemory::new(400 * 1000);
    let limits = ReadLimits { memory: Arc::clone(&memory), ..ReadLimits::default() };
    let fixture = StoreFixture { store: fixture.store.within(limits), ..fixture };
    let find = |name: &str| fixture.store.find(SoughtFile::Points, name, &fixture.folders, &SourceLocation::default());
    let holds = |number: u32| fixture.store.texture(number).is_some_and(|texture| texture.file().holds_points());
    // Each frame bakes the file again, of another size. One fits.
    let mut numbers = Vec::new();
    for frame in 0..6 {
        write_points(&fixture.at("f.ply"), 1000 + frame);
        fixture.store.begin_picture();
        numbers.push(find("f.ply").unwrap_or_else(|| panic!("{frame}: {:?}", fixture.messages())));
    }
    let last = numbers[5];
    assert_eq!(numbers.iter().filter(|number| holds(**number)).count(), 1);
    // What fits only without what is not named any more.
    write_points(&fixture.at("g.ply"), 1200);
    fixture.store.begin_picture();
    let other = find("g.ply").expect("it fits alone");
    assert_eq!([holds(last), holds(other)], [false, true]);
    // It comes back with its number, and the words that it had.
    fixture.store.begin_picture();
    assert_eq!(find("f.ply"), Some(last));
    assert_eq!([holds(last), holds(other)], [true, false]);
    assert_ne!(fixture.store.tile(keys(last, [1, 1])[0])[0], 0);
    // Within a picture both are named, and do not fit.
    assert_eq!(find("g.ply"), None);
    assert!(fixture.messages()[0].contains("its 1200 points are too many"), "{:?}", fixture.messages());
    fixture.store.begin_picture();
    fixture.store.begin_picture();
    assert_eq!(memory.usage(), "nothing");
}
