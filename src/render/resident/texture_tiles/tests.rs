//! Slots of textures, on a device.

use super::*;
use crate::diagnostic::{Reporter, SourceLocation};
use crate::gpu::{AsGpu, OpenOptions, open};
use crate::options::HANG_TIMEOUT;
use crate::shading::NamedTextures;
use crate::texture::{MakeKind, MakeRequest, TextureStore, make};
use std::ops::ControlFlow;

#[test]
fn slots_are_what_is_asked_for_but_no_more_than_there_are_tiles() {
    let mib = |n: u64| n << 20;
    assert_eq!(slot_count(Some(mib(64)), u64::MAX, 0), 4096);
    assert_eq!(slot_count(Some(mib(64)), 700, 0), 700);
    assert_eq!(slot_count(Some(1), 3, 0), SLOTS_MIN);
    assert_eq!(slot_count(Some(mib(1 << 20)), u64::MAX, 0), 65_536);
    assert_eq!(slot_count(None, u64::MAX, mib(100)), 1600);
    assert_eq!(slot_count(None, u64::MAX, mib(1 << 20)), 16_384);
}

/// The tiles of the texture of `TilesFixture`: 256 of its first level, and 91 of the others.
const ALL: u64 = 256 + 64 + 16 + 4 + 7;

/// A device with the slots of one texture of 1024 x 1024 texels.
struct TilesFixture {
    device: Device,
    tiles: TextureTiles,
    _folder: tempfile::TempDir,
}

impl TilesFixture {
    fn new(memory_bytes: u64) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [picture, texture] = ["a.tga", "a.tex"].map(|name| folder.path().join(name));
        // The head of a grey picture of 1024 x 1024 texels, of which each has 8 bits.
        let head: [u8; 18] = [0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 4, 8, 0];
        std::fs::write(&picture, [&head[..], &vec![7; 1 << 20]].concat()).expect("writable");
        let request = MakeRequest::new(MakeKind::Plain, vec![picture], texture.clone());
        make(&request, &|_| ControlFlow::Continue(())).expect("it can be made");
        let reporter = Arc::new(Reporter::silent());
        let store = TextureStore::new(Arc::clone(&reporter), Arc::default(), folder.path().join("tiled"), HANG_TIMEOUT);
        let texts = vec!["".into(), texture.display().to_string().into()];
        let known = [(1, SourceLocation::default())].into();
        let textures = Arc::new(PictureTextures {
            store: Arc::new(store),
            names: NamedTextures { texts, known, ..NamedTextures::default() },
            folders: Arc::default(),
            location: SourceLocation::default(),
            memory_bytes: Some(memory_bytes),
            current_from_world: DMat4::IDENTITY,
        });
        let (memory_bytes, as_gpu) = (Some(64 << 20), AsGpu::from_environment().expect("known"));
        let options = OpenOptions { validate: true, memory_bytes, as_gpu, ..OpenOptions::new(reporter) };
        let mut device = open("0", &options).expect("a device").remove(0);
        let tiles = TextureTiles::new(&mut device, &textures, 64 << 20).expect("there is memory");
        Self { device, tiles, _folder: folder }
    }

    /// Loads what a submission of its own missed.
    fn load(&mut self, missed: &[MissedKey]) {
        let stamp = self.tiles.next_stamp();
        let needed = missed.iter().copied().collect();
        let loaded = self.tiles.load(&mut self.device, &needed, stamp).expect("no failure");
        assert_eq!(loaded, TilesLoaded::All);
        assert!(missed.iter().all(|&key| self.is_there(key)));
    }

    fn is_there(&self, key: MissedKey) -> bool {
        self.tiles.hash.slot_of(key).is_some()
    }

    /// Returns how many tiles were missed, loaded ahead, and read again.
    fn reads(&self) -> [u64; 3] {
        let reads = self.tiles.textures.store.statistics()[0].1;
        [reads.misses, reads.prefetched, reads.redundant_reads]
    }

    fn close(mut self) {
        self.tiles.free(&mut self.device);
    }
}

/// Returns a tile of the first level.
fn tile(number: u32) -> MissedKey {
    [0, (number % 16) | ((number / 16) << 16)]
}

/// One tile brings all others, and then nothing can be missed: no tiles are named, whatever was missed before.
#[test]
fn a_texture_that_fits_is_loaded_when_one_tile_is_missed() {
    let mut fixture = TilesFixture::new(64 << 20);
    assert!(fixture.tiles.should_be_named());
    fixture.load(&[tile(37)]);
    assert!((0..256).all(|number| fixture.is_there(tile(number))));
    assert_eq!((fixture.tiles.resident, fixture.reads()), (ALL, [1, ALL - 1, 0]));
    assert!(fixture.tiles.misses && !fixture.tiles.should_be_named());
    fixture.close();
}

/// Where 256 slots are too few for all 347 tiles, one of eight stays empty for tiles that are missed. These take the
/// place of tiles that nobody used before that of others, and no tile is evicted for one that is loaded ahead.
#[test]
fn tiles_that_nobody_missed_evict_none_and_are_evicted_first() {
    let mut fixture = TilesFixture::new(4 << 20);
    fixture.load(&[tile(0)]);
    assert_eq!((fixture.tiles.resident, fixture.reads()), (224, [1, 223, 0]));
    let lacking: Vec<MissedKey> = (0..256).map(tile).filter(|&key| !fixture.is_there(key)).collect();
    let (first, rest) = lacking.split_at(32);
    fixture.load(first);
    assert_eq!((fixture.tiles.resident, fixture.reads()), (256, [33, 223, 0]));
    fixture.load(rest);
    assert!(first.iter().chain(&[tile(0)]).all(|&key| fixture.is_there(key)));
    // Those that were evicted are missed again.
    let evicted: Vec<MissedKey> = (0..256).map(tile).filter(|&key| !fixture.is_there(key)).collect();
    fixture.load(&evicted);
    assert!(lacking.iter().chain(&[tile(0)]).all(|&key| fixture.is_there(key)), "they were used");
    assert_eq!(fixture.reads()[1..], [223, 0], "the host has what was evicted");
    fixture.close();
}

/// Naming ends when a run misses nothing, and begins again when one does, as long as not all tiles are there.
#[test]
fn tiles_are_named_again_after_a_miss() {
    let mut fixture = TilesFixture::new(4 << 20);
    fixture.load(&[tile(0)]);
    let named = [true, false, true].map(|missed| {
        fixture.tiles.note_first_run(missed);
        fixture.tiles.should_be_named()
    });
    assert_eq!(named, [true, false, true]);
    fixture.close();
}
