//! Lookups whose tiles are loaded as they are missed, into fewer slots than there are tiles, against the interpreter's.

use super::lab::Lab;
use super::random::Random;
use anthill::diagnostic::{Reporter, SourceLocation};
use anthill::options::HANG_TIMEOUT;
use anthill::pipeline::kernels::test::tiles;
use anthill::pipeline::recording::{Groups, Slice};
use anthill::pipeline::textures::forms;
use anthill::texture::{
    MakeKind, MakeRequest, SoughtFile, TILE_WORDS, TexelFormat, TextureHeader, TextureStore, TileKey, WrapMode, make,
};
use spirv_gen::interp::texture::{
    FoundTexture, LookupFilter, TextureShape, TextureStore as Oracle, WantedChannels, texture,
};
use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// What a token stands for; token 0 for none, and `gone` for a file that does not exist.
const NAMES: [&str; 4] = ["", "bytes.tex", "halves.tex", "gone.tex"];
/// Slots of each of two buffers: together fewer than the 312 tiles of both textures.
const SLOTS: usize = 48;
/// Invocations of a dispatch: what they need at once fits.
const BATCH: u32 = 4;
/// Keys that the list of what was missed has room for.
const ROOM: u64 = 6;
const HASH_BITS: u32 = 9;
const CLAIMS: usize = 72;
const ENTRIES: u64 = 16_456;
const MARKS: u64 = 32_840;
const NAME_KEY: u32 = u32::MAX;
const DIRECTORY: usize = 2;
const TABLE: usize = 3;
const HASH: usize = 16;

type MissedKey = [u32; 2];

/// The textures' tiles on the device, as spirv-gen's abi.rs describes them.
struct TilesOnDevice<'a> {
    store: &'a TextureStore,
    folders: Arc<[String]>,
    records: Vec<[u32; 4]>,
    /// Buffers 0 and `last`.
    slots: Vec<Option<MissedKey>>,
    last: usize,
    next: usize,
    loaded: usize,
}

fn hash([a, b]: MissedKey) -> usize {
    let h = a.wrapping_mul(0x9e37_79b1) ^ b.wrapping_mul(0x85eb_ca6b);
    let h = (h ^ h >> 15).wrapping_mul(0xc2b2_ae35);
    (h ^ h >> 13) as usize
}

fn table_record(header: &TextureHeader) -> [u32; 4] {
    let what = header.levels | header.channels << 8 | (header.format as u32) << 16 | (header.kind as u32) << 20;
    [header.width, header.height, what, header.wrap[0] as u32 | (header.wrap[1] as u32) << 4]
}

impl<'a> TilesOnDevice<'a> {
    fn new(store: &'a TextureStore, folders: Arc<[String]>, last: usize) -> Self {
        let mut records = vec![[0; 4]; HASH + (1 << HASH_BITS)];
        records[0] = [DIRECTORY as u32, TABLE as u32, HASH as u32, HASH_BITS];
        records[1] = [NAMES.len() as u32, 0, 0, 0];
        Self { store, folders, records, slots: vec![None; 2 * SLOTS], last, next: 0, loaded: 0 }
    }

    /// Loads what is not there yet; nothing that is needed is replaced.
    fn load(&mut self, lab: &mut Lab, needed: &BTreeSet<MissedKey>, buffers: [Slice<u32>; 2]) {
        assert!(needed.len() <= self.slots.len(), "{} tiles for four lookups", needed.len());
        for &key in needed {
            match key {
                [NAME_KEY, token] => self.open(token as usize),
                key if self.slots.contains(&Some(key)) => {}
                key => {
                    while self.slots[self.next].is_some_and(|there| needed.contains(&there)) {
                        self.next = (self.next + 1) % self.slots.len();
                    }
                    self.slots[self.next] = Some(key);
                    let first = (self.next % SLOTS * TILE_WORDS) as u64;
                    let to = buffers[self.next / SLOTS].part(first..first + TILE_WORDS as u64);
                    lab.write(to, &self.store.tile(tile_key(key))[..]);
                    self.loaded += 1;
                }
            }
        }
        let entries = &mut self.records[HASH..];
        entries.fill([0; 4]);
        for (slot, key) in self.slots.iter().enumerate().filter_map(|(slot, key)| Some((slot, (*key)?))) {
            let place = (hash(key)..).map(|place| place % entries.len()).find(|&place| entries[place][2] == 0);
            let number = slot / SLOTS * self.last * 8192 + slot % SLOTS;
            entries[place.expect("an empty place")] = [key[0], key[1], number as u32 + 1, 0];
        }
    }

    fn open(&mut self, token: usize) {
        let found = self.store.find(SoughtFile::Texture, NAMES[token], &self.folders, &SourceLocation::default());
        self.records[DIRECTORY][token] = found.map_or(1, |number| number + 2);
        if let Some(texture) = found.and_then(|number| self.store.texture(number)) {
            self.records[TABLE + 4 * found.unwrap_or(0) as usize] = table_record(texture.header());
        }
    }
}

fn tile_key([what, at]: MissedKey) -> TileKey {
    TileKey { texture: what & 0xf_ffff, level: what >> 20 & 31, plane: what >> 25, at: [at & 0xffff, at >> 16] }
}

/// The same textures with all their tiles at hand.
#[derive(Debug)]
struct WholeTextures<'a>(&'a TextureStore, [FoundTexture; 4]);

impl Oracle for WholeTextures<'_> {
    fn texture(&self, token: u32) -> FoundTexture {
        self.1[token as usize]
    }

    fn shape(&self, number: u32) -> TextureShape {
        let texture = self.0.texture(number).expect("it is open");
        let header = texture.header();
        TextureShape {
            size: [header.width, header.height],
            levels: header.levels,
            channels: header.channels,
            format: header.format as u32,
            kind: header.kind as u32,
            wrap: header.wrap.map(|wrap| wrap as u32),
            matrices: None,
            fov: 90.0,
        }
    }

    fn word(&self, texture: u32, level: u32, plane: u32, [x, y]: [u32; 2]) -> u32 {
        let tile = self.0.tile(TileKey { texture, level, plane, at: [x / 64, y / 64] });
        tile[(y % 64 * 64 + x % 64) as usize]
    }
}

/// Makes textures of a random picture of 640 x 448 texels.
fn make_textures(folder: &Path, random: &mut Random) {
    let picture = folder.join("picture.png");
    let mut encoder = png::Encoder::new(fs::File::create(&picture).expect("writable"), 640, 448);
    encoder.set_color(png::ColorType::Rgb);
    let bytes: Vec<u8> = (0..640 * 448 * 3).map(|_| random.bits() as u8).collect();
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&bytes)).expect("writable");
    for (name, format, wrap) in
        [("bytes.tex", TexelFormat::U8, WrapMode::Periodic), ("halves.tex", TexelFormat::F16, WrapMode::Mirror)]
    {
        let mut request = MakeRequest::new(MakeKind::Plain, vec![picture.clone()], folder.join(name));
        (request.format, request.wrap) = (Some(format), [wrap; 2]);
        make(&request, &|_| ControlFlow::Continue(())).expect("it can be made");
    }
}

/// Looks everything up, each batch again until it misses nothing. Returns the runs, and those that missed more than
/// there is room for.
fn run_until_nothing_is_missed(
    lab: &mut Lab,
    on_device: &mut TilesOnDevice<'_>,
    bindings: &tiles::Bindings,
    count: u32,
) -> [u32; 2] {
    let (mut runs, mut overflows) = (0, 0);
    let constants = tiles::Constants {
        tiles_last: on_device.last as u32,
        texture_forms: forms::HALF | forms::MIRRORED | forms::FLOAT,
    };
    let tiles = if on_device.last == 1 { bindings.tiles1 } else { bindings.tiles7 };
    for first in (0..count).step_by(BATCH as usize) {
        let mut needed = BTreeSet::new();
        loop {
            runs += 1;
            lab.run(|recording| {
                recording.fill(bindings.misses, 0);
                recording.write(bindings.misses.part(0..2), &[0, ROOM as u32]);
                let groups = Groups::covering(u64::from(BATCH), tiles::LOCAL_SIZE);
                let push = tiles::Push { first, count: BATCH };
                recording.dispatch(tiles::dispatch(&constants, groups, bindings, &push));
            });
            let misses = lab.read(bindings.misses.part(0..ENTRIES + 2 * ROOM));
            let claimed: u32 = misses[CLAIMS..ENTRIES as usize].iter().map(|&hash| u32::from(hash != 0)).sum();
            assert_eq!(claimed, misses[0], "each claim is a key");
            if misses[0] == 0 {
                break;
            }
            overflows += u32::from(u64::from(misses[0]) > ROOM);
            let keys = misses[ENTRIES as usize..].chunks_exact(2).take(misses[0] as usize);
            for key in keys {
                assert!(needed.insert([key[0], key[1]]), "{key:x?} was loaded, and is asked for again");
            }
            on_device.load(lab, &needed, [bindings.tiles0, tiles]);
            lab.write(bindings.textures, &on_device.records);
        }
    }
    [runs, overflows]
}

#[test]
fn lookups_in_few_slots_give_what_whole_textures_give() {
    check_lookups(7);
}

#[test]
fn lookups_in_two_buffers_of_tiles_give_what_whole_textures_give() {
    check_lookups(1);
}

/// Looks textures up whose tiles are in the first buffer and in buffer `last`.
fn check_lookups(last: usize) {
    let mut random = Random::new(11);
    let folder = tempfile::tempdir().expect("a temporary folder");
    make_textures(folder.path(), &mut random);
    let store =
        TextureStore::new(Arc::new(Reporter::silent()), Arc::default(), folder.path().join("tiled"), HANG_TIMEOUT);
    let mut on_device = TilesOnDevice::new(&store, Arc::from([folder.path().display().to_string()]), last);
    let sides = [0.0, 0.001, 0.004, 0.03];
    let places: Vec<[f32; 4]> = (0..400)
        .map(|_| {
            let side = sides[random.below(4) as usize];
            [random.float(-1.0, 2.0), random.float(-1.0, 2.0), side, side * random.float(0.3, 1.0)]
        })
        .collect();
    let tokens: Vec<u32> = places.iter().map(|_| [0, 1, 1, 1, 2, 2, 2, 3][random.below(8) as usize]).collect();
    let mut lab = Lab::new();
    let [tiles0, tiles_last] = ["tiles0", "tiles last"].map(|name| lab.space::<u32>(name, (SLOTS * TILE_WORDS) as u64));
    let bindings = tiles::Bindings {
        places: lab.upload("places", &places.iter().map(|place| [place[0], place[1]]).collect::<Vec<_>>()),
        sides: lab.upload("sides", &places.iter().map(|place| [place[2], place[3]]).collect::<Vec<_>>()),
        tokens: lab.upload("tokens", &tokens),
        colours: lab.space("colours", places.len() as u64),
        shapes: lab.space("shapes", places.len() as u64),
        textures: lab.upload("textures", &on_device.records),
        misses: lab.space("misses", MARKS + 8 * 8192),
        tiles0,
        tiles1: if last == 1 { tiles_last } else { tiles0 },
        tiles2: tiles0,
        tiles3: tiles0,
        tiles4: tiles0,
        tiles5: tiles0,
        tiles6: tiles0,
        tiles7: tiles_last,
    };
    let [runs, overflows] = run_until_nothing_is_missed(&mut lab, &mut on_device, &bindings, places.len() as u32);
    let found = [1, 2].map(|token| {
        FoundTexture::Number(
            store
                .find(SoughtFile::Texture, NAMES[token], &on_device.folders, &SourceLocation::default())
                .expect("it is open"),
        )
    });
    let whole = WholeTextures(&store, [FoundTexture::Missing, found[0], found[1], FoundTexture::Missing]);
    let filter = LookupFilter::default();
    let (colours, shapes) = (lab.read(bindings.colours), lab.read(bindings.shapes));
    for (i, place) in places.iter().enumerate() {
        let coordinates = [[place[0], place[1]], [place[2], 0.0], [0.0, place[3]]];
        let expected = texture(&whole, tokens[i], WantedChannels { first: 0.0, count: 3 }, coordinates, &filter);
        assert_eq!(colours[i][..3], expected, "lookup {i} of {:?} at {place:?}", NAMES[tokens[i] as usize]);
        let like = match whole.texture(tokens[i]) {
            FoundTexture::Number(number) => table_record(store.texture(number).expect("it is open").header()),
            _ => [0; 4],
        };
        assert_eq!(shapes[i], like);
    }
    let reads = store.statistics();
    let distinct: u64 = reads.iter().map(|(_, texture)| texture.tiles_read - texture.redundant_reads).sum();
    assert!(
        on_device.loaded as u64 > 2 * SLOTS as u64 + distinct / 2,
        "{} loads of {distinct} tiles",
        on_device.loaded
    );
    assert!(reads.iter().all(|(_, texture)| texture.redundant_reads == 0), "{reads:?}");
    assert!(overflows > 5, "the list of what was missed overflows {overflows} times in {runs} runs");
}
