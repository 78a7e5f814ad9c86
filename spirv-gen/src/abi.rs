//! The interface between a compiled shading kernel and the program that dispatches it: bindings, records, push
//! constants.
//!
//! A kernel shades *grid slots*. One invocation is one shading point (grid vertex). A dispatch covers slots of one
//! size, `1 << slot_log2` vertices each (4 to 256, so that a slot never crosses a workgroup of 256), and invocation
//! `g` belongs to slot `g >> slot_log2`; vertex `l = g & (slot - 1)` of the slot is the grid's vertex `(i, j)` with `i
//! = l % (nu + 1)`, `j = l / (nu + 1)`, where `nu` x `nv` is the grid's size in micropolygons (1 to 15 each).
//! Invocations with `j > nv` idle, and all of a slot with `nu = 0`, which is empty (they still reach every barrier).
//!
//! All buffers are in descriptor set 0 and are arrays of 16-byte records (`vec4` or `uvec4`), except those of words.
//! *Texels* are uniform texel buffers, the others storage buffers:
//!
//! | binding | name | records |
//! |---|---|---|
//! | 0 | `Work` | texels of `uvec4`, two a slot, see [`work`] |
//! | 1 | `Arena` | `vec4`: the channels of all vertices, written |
//! | 2 | `Params` | texels of `uvec4`: instance blocks, light lists and light blocks, the space table |
//! | 3 | `Status` | `uint`: word 0 counts invocations without loop trips left ([`Push::trips`]); also [`mod@print`] |
//! | 4 | `Inputs` | texels of `uvec4`: the arena again, read |
//! | 5 to 14 | [`textures`] | only kernels that look textures up ([`crate::Reflection::uses_textures`]) |
//!
//! *Channels.* Channel `c` of vertex `l` of slot `s` is the record `Arena[channel_base + c * channel_stride + (s <<
//! slot_log2) + l]`. Inputs and outputs have numbers of their own ([`crate::Reflection`] lists both in order); inputs
//! start at `input_base`, outputs at `output_base`. A matrix takes four channels. Input channels 0 to 3 are always (P,
//! u), (N, v), (dPdu, s), (dPdv, t), four floats each, in camera space, whether the program reads them or not (the host
//! fills those that the reflection says are read); primvars follow from 4 on. A position kernel writes output channels
//! 0 and 1, (P, u) and (N, v), with u and v as they came; `output_base` may equal `input_base`. Values of the
//! displacement shader for which other shaders ask are further outputs of a position kernel, from channel 4 on, and
//! inputs of the colour kernel at the same channels, before its primvars: the colour kernel's inputs are where the
//! position kernel's outputs are.
//!
//! *Instance blocks.* `Work` names the record of `Params` at which the instance's block begins. The layout of the block
//! is in [`crate::Reflection::block`]: parameters of the shaders, colour, opacity, matrices of the spaces the program
//! uses, light list, and what the block's own program computes of these ([`crate::interp::compute_block`]).
//!
//! *Light lists.* A light list is: one record for each kind of light `(first, end, 0, 0)` as uint bits: lights `first`
//! to `end - 1` are of that kind, then one record a light `(kind, block record, category number, 0)`, by kind, those of
//! a kind in the order in which they were made. A program loops over the lights of a kind, or of several kinds that
//! follow each other, whose lights it then tells apart by `kind`: the light's index in [`crate::Reflection::lights`];
//! the host numbers the different texts of categories ([`crate::compose::Content::LightsTaken`]).
//!
//! *Strings* are tokens: `u32` numbers from the host's string table ([`crate::Reflection::strings`] lists the literals
//! of the program with the tokens they were given), stored as uint bits.
//!
//! *Space table.* For `transform(name, ...)` with a name not known before: `Params[space_table + token]` is `(record of
//! camera_from_space's four columns, record of space_from_camera's, 0, 0)` as uint bits; record 0 stands for an unknown
//! space (identity). `"object"` and `"shader"` are in the instance block.
//!
//! *Long loops.* An invocation makes at most [`Push::trips`] loop trips in a dispatch; drivers end loops by themselves
//! after some number (65,535 in an invocation, measured on lavapipe of Mesa 22, nested loops included). A plain kernel
//! ends its loops there: its outputs are then wrong, and `Status` says so. The *resumable* kernel of the same program
//! ([`crate::Resumable`]) saves its loops instead, in the channels of `Arena` that begin at
//! [`Push::state_base`] (behind those of passes), and goes on with them in the next dispatch that has [`TRIPS_RESUME`]
//! set; inputs must still be there, so outputs must not overwrite them. It is dispatched until `Status` counts nothing.
//! The number of dispatches cannot be seen in the outputs.
//!
//! *Passes.* A program that is cut is several kernels, which are dispatched one after the other with the same push
//! constants (but for `state_base`, which is some channels further on for calls, see [`crate::emit::PassRun`]), each
//! after all that the one before it wrote. They save values for each other in the channels from
//! [`Push::state_base`] on. Where one of them counts trips, a channel says of each vertex whether it has stopped, so
//! that nothing is kept of what later passes make of it. Passes after one that missed tiles of textures store nothing;
//! what earlier ones saved is still there, so the program may go on from that pass.

use crate::ir::MachineType;

/// Invocations of a workgroup.
pub const WORKGROUP_SIZE: u32 = 256;

/// Id of the specialisation constant that says among how many threads the driver divides the workgroups.
pub const DRIVER_THREADS_ID: u32 = 31;

/// Channels of the geometry: (P, u), (N, v), (dPdu, s), (dPdv, t).
pub const GEOMETRY_CHANNELS: u32 = 4;

/// Returns the number of channels that a value takes: a matrix has a record a row.
pub fn channels(ty: MachineType) -> u32 {
    if ty == MachineType::Mat4 { 4 } else { 1 }
}

/// Returns the channel of an output behind `before` channels of outputs, the first of which are `carried`: these stand
/// in for channels of the geometry, and the others follow all of its channels.
pub fn output_channel(before: u32, carried: u32) -> u32 {
    if carried > 0 && before == carried { GEOMETRY_CHANNELS } else { before }
}

/// The largest [`Push::trips`].
pub const LOOP_TRIPS_MAX: u32 = 32_768;

/// Bit of [`Push::trips`]: a resumable kernel goes on with the loops that it saved.
pub const TRIPS_RESUME: u32 = 1 << 31;

/// Word of `Status` that counts invocations which ran out of loop trips.
pub const STATUS_LOOP_TRIPS: u32 = 0;

/// Descriptor bindings in set 0.
pub mod binding {
    /// Two records a slot, see [`super::work`].
    pub const WORK: u32 = 0;
    /// Channels of all vertices.
    pub const ARENA: u32 = 1;
    /// Instance blocks, lights, matrices.
    pub const PARAMS: u32 = 2;
    /// Counters.
    pub const STATUS: u32 = 3;
    /// The arena, for reading: what the kernel itself writes there is not seen.
    pub const INPUTS: u32 = 4;
    /// Textures by name, their properties, and where their tiles are.
    pub const TEXTURES: u32 = 5;
    /// Tiles that were missed, and marks of those that were used.
    pub const MISSES: u32 = 6;
    /// The first of [`super::textures::TILE_BUFFERS`] buffers of tiles.
    pub const TILES: u32 = 7;
}

/// The word of the push constants with the number of a kernel's first counter, behind those of [`Push`].
///
/// Only kernels have it that count what their lines cost ([`crate::emit::LineCounters`]), in a storage buffer of words
/// behind the other bindings ([`counters_binding`]). A counter is two words, of which the lower comes first. A kernel
/// adds to counters that follow each other ([`counters`]). Costs are sums over all invocations of a workgroup, whether
/// they are points or not.
pub const COUNTERS_PUSH_WORD: u32 = (size_of::<Push>() / 4) as u32;

/// The word behind it, with the number of the first counter of lookups, which all kernels share: behind that there is
/// one for each token of a string, to which kernels add the lookups of the texture that it names.
pub const LOOKUPS_PUSH_WORD: u32 = COUNTERS_PUSH_WORD + 1;

/// The number of words that kernels which count have behind those of [`Push`].
pub const COUNTING_PUSH_WORDS: u32 = 2;

/// The counters of a kernel, by their distance from the first one.
pub mod counters {
    /// The points that it was run for.
    pub const POINTS: u32 = 0;
    /// What counting itself costs, which an ordinary kernel does without.
    pub const COUNTING: u32 = 1;
    /// What comes from no line. The lines follow.
    pub const LINES: u32 = 2;
}

/// Returns the binding of the counters in kernels that look textures up, or do not.
pub fn counters_binding(uses_textures: bool) -> u32 {
    if uses_textures { binding::TILES + textures::TILE_BUFFERS } else { binding::TEXTURES }
}

/// The two `uvec4` records of a slot in `Work`:
///
/// | record | x | y | z | w |
/// |---|---|---|---|---|
/// | 0 | `nu \| nv << 8 \| flags << 16` | instance block | seed of `random()` | uniform inputs |
/// | 1 | bits of du (float) | bits of dv (float) | rank of the grid, for `printf` | 0 |
///
/// The instance block is given by its first record in `Params`, the uniform inputs by their first record in `Arena`.
///
/// `du`, `dv` are the parametric distance between neighbouring regular vertices. Uniform inputs (primvars of class
/// uniform or constant bound to parameters that the shader declares uniform) take one record a value (a matrix: four)
/// from `w` on.
pub mod work {
    /// Bits of `nu` and of `nv` in the first word.
    pub const SIZE_BITS: u32 = 8;
    /// The place of the flags in the first word, behind `nu` and `nv`.
    pub const FLAGS_SHIFT: u32 = 2 * SIZE_BITS;
    /// What a number of [`SIZE_BITS`] is taken from a word with.
    pub const SIZE_MASK: u32 = (1 << SIZE_BITS) - 1;
    /// The vertices of row `j = 0` are snapped to a coarser edge: their u is not regular, take differences along u from
    /// row 1.
    pub const FLAG_SNAPPED_V0: u32 = 1;
    /// The same for the last row.
    pub const FLAG_SNAPPED_V1: u32 = 2;
    /// The vertices of column `i = 0` are snapped: take differences along v from column 1.
    pub const FLAG_SNAPPED_U0: u32 = 4;
    /// The same for the last column.
    pub const FLAG_SNAPPED_U1: u32 = 8;
    /// The surface normal is the opposite of dP/du x dP/dv.
    pub const FLAG_FLIP_NORMAL: u32 = 16;
}

/// Push constants of a compiled kernel, in this order, 32 bits each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Push {
    /// First slot of this dispatch: its records in `Work` are `2 * (work_base + s)`.
    pub work_base: u32,
    /// log2 of the vertices of a slot: 2 to 8.
    pub slot_log2: u32,
    /// Number of slots in this dispatch.
    pub slot_count: u32,
    /// Record of input channel 0 of vertex 0 of slot 0.
    pub input_base: u32,
    /// Record of output channel 0 of vertex 0 of slot 0.
    pub output_base: u32,
    /// Records from one channel to the next.
    pub channel_stride: u32,
    /// Record of the space table in `Params`.
    pub space_table: u32,
    /// Loop trips that an invocation makes at most, 1 to [`LOOP_TRIPS_MAX`], with [`TRIPS_RESUME`]: in a resumable
    /// kernel, from where a loop goes on. Loops of few trips, known when the program is compiled, are not counted.
    pub trips: u32,
    /// Record of the first channel of what passes save for each other, then of saved loops, of vertex 0 of slot 0.
    pub state_base: u32,
    /// The number of the pass, from 0 on.
    pub pass: u32,
    /// The word, from [`textures::PASSES`] on, of the first pass of these slots that missed tiles, less than
    /// [`textures::PASSES_MAX`]; 0 stands for none.
    pub pass_word: u32,
}

/// What `printf` and `bake3d` leave in `Status`, if the program was compiled to print: records of words, one after the
/// other. Where they begin follows from an atomic counter, so their order means nothing.
pub mod print {
    use crate::ir::{Const, MachineType};

    /// Word of `Status` that counts the words appended, also those that did not fit. 0 at first.
    pub const USED: u32 = 4;
    /// Word of `Status` with the number of words that there is room for.
    pub const MOST: u32 = 5;
    /// The first word of the first record. Words where nothing was written are 0.
    pub const FIRST: u32 = 8;
    /// Values of one record; more are left out.
    pub const VALUES_MAX: usize = 20;
    /// Words of a record before its values: the number of all its words, the grid's rank, the vertex and its grid's
    /// columns ([`vertex_and_columns`]), the number of the record at that vertex, the token of its text (the format of
    /// `printf`, the names of what is baked), and two words with the types of the values, of which the second also says
    /// whether the values are baked.
    pub const HEAD_WORDS: usize = 7;
    /// Numbers of what a colour program prints begin here, behind those of the displacement program.
    pub const COLOUR_NUMBERS: u32 = 1 << 23;

    /// Bit of a record that is a point of a file.
    const BAKED: u32 = 1 << 31;
    const TYPE_BITS: usize = 3;
    const TYPES_OF_WORD: usize = VALUES_MAX / 2;

    /// The type of a value in a record.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum ValueType {
        Float = 1,
        Triple = 2,
        Matrix = 3,
        Text = 4,
    }

    impl ValueType {
        pub(crate) fn of(ty: MachineType) -> Option<Self> {
            match ty {
                MachineType::F32 => Some(Self::Float),
                MachineType::Vec3 => Some(Self::Triple),
                MachineType::Mat4 => Some(Self::Matrix),
                MachineType::Str | MachineType::U32 => Some(Self::Text),
                MachineType::Bool => None,
            }
        }
    }

    /// Returns the two words of types.
    pub(crate) fn pack_types(types: impl Iterator<Item = Option<ValueType>>, bakes: bool) -> [u32; 2] {
        let mut words = [0, if bakes { BAKED } else { 0 }];
        for (at, ty) in types.flatten().enumerate() {
            words[at / TYPES_OF_WORD] |= (ty as u32) << (TYPE_BITS * (at % TYPES_OF_WORD));
        }
        words
    }

    /// One `printf` or `bake3d` at one point.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Printed {
        /// The rank of the grid, the vertex with the grid's columns, and the number of the record there: what orders
        /// them.
        pub place: [u32; 3],
        /// The token of the format, or of the names of what is baked.
        pub text: u32,
        /// Whether it is a point of a file.
        pub is_baked: bool,
        /// The values; texts are tokens.
        pub values: Vec<Const>,
    }

    /// Bits of a vertex in a word with the columns of its grid.
    pub(crate) const VERTEX_BITS: u32 = 16;

    /// Returns a vertex, and the columns of micropolygons of its grid, which are 1 less than those of vertices.
    pub fn vertex_and_columns(word: u32) -> (u32, u32) {
        (word & ((1 << VERTEX_BITS) - 1), word >> VERTEX_BITS)
    }

    /// Returns the word of another vertex of the grid of `word`.
    pub fn with_vertex(word: u32, vertex: u32) -> u32 {
        word >> VERTEX_BITS << VERTEX_BITS | vertex
    }

    /// Returns the records in the words from [`FIRST`] on.
    pub fn records(words: &[u32]) -> Vec<Printed> {
        let (mut found, mut rest) = (Vec::new(), words);
        while let Some(&count) = rest.first().filter(|&&count| count as usize >= HEAD_WORDS)
            && let Some((record, more)) = rest.split_at_checked(count as usize)
        {
            let types = (0..VALUES_MAX).map(|at| {
                let word = record[HEAD_WORDS - 2 + at / TYPES_OF_WORD];
                word >> (TYPE_BITS * (at % TYPES_OF_WORD)) & ((1 << TYPE_BITS) - 1)
            });
            let mut words = record[HEAD_WORDS..].iter().copied();
            let mut float = || f32::from_bits(words.next().unwrap_or(0));
            let values = types.map_while(|ty| match ty {
                1 => Some(Const::F32(float())),
                2 => Some(Const::Vec3(std::array::from_fn(|_| float()))),
                3 => Some(Const::Mat4(Box::new(std::array::from_fn(|_| float())))),
                4 => Some(Const::U32(float().to_bits())),
                _ => None,
            });
            let values = values.collect();
            let is_baked = record[HEAD_WORDS - 1] & BAKED != 0;
            found.push(Printed { place: [record[1], record[2], record[3]], text: record[4], is_baked, values });
            rest = more;
        }
        found
    }
}

/// Textures: the tiles that a device holds, read and asked for by `glsl/lib/rsl/tiles.glsl`.
///
/// *Tiles.* A tile is [`TILE_SIZE`](textures::TILE_SIZE) squared texels of one level of one *plane*, a word a texel, in
/// a slot: slot `s` is in buffer `Tiles[s / SLOTS_PER_BUFFER]` from word `(s % SLOTS_PER_BUFFER) * SLOT_WORDS` on, row
/// by row. A word holds as many channels of a texture as its format lets fit, lowest bits first: four of 8 bits, two of
/// 16 bits (integer or half), one float; plane `p` begins at channel `p` times that number. Level 0 is the whole
/// picture, each next one half, rounded down, at least 1. The upper row is 0. Texels outside of the picture in the last
/// tiles are 0.
///
/// *Buffers that are not needed.* Specialisation constant 0 is the number of the last buffer of tiles: 0, 1, or 7 where
/// there are more (its default). Buffers behind it are not read. Constant 1 is 0 where no texture is a deep shadow map.
///
/// *`Textures`*, texels of `uvec4`; tiles are texels of one word. Record 0 is (first record of the
/// directory, of the table, of the hash table, log2 of the entries of the hash table), record 1 (tokens in the
/// directory, textures, 0, 0).
/// - The directory is a word a string token: 0 not asked for yet, 1 missing or unreadable, `n + 2` texture `n`. Later
///   tokens count as 0.
/// - The table has [`TABLE_RECORDS`](textures::TABLE_RECORDS) records a texture: (width, height, levels | channels << 8
///   | format << 16 | kind << 20, wrap along s | wrap along t << 4), then (record of its matrices or 0, bits of the
///   field of view of a cube's faces in degrees, 0, 0), and two of 0. Formats: 0 8 bits, 1 16 bits, 2 half, 3 float.
///   Kinds: 0 plain, 1 latitude and longitude, 2 cube (faces px nx py above ny pz nz in one picture), 3 shadow map, 4 a
///   deep one, 5 [`points`], 6 [`occlusion`].
///   Wraps: 0 black, 1 clamp, 2 periodic, 3 mirror.
/// - Matrices of a shadow map take eight records: its camera's space, then its picture's unit square (y down), from the
///   camera's space of the picture that is drawn, as four columns each. Of kind 6 the first four are world space.
/// - The hash table is open, with linear probing from [`hash`](textures::hash): entries (key, key, slot + 1, 0), the
///   first with slot + 1 = 0 ends a search, as does the 32nd.
///
/// *Keys* are two words: texture | level << 20 | plane << 25, then tile along x | along y << 16. A texture that is not
/// in the directory is asked for by [`NAME_KEY`](textures::NAME_KEY) and its token.
///
/// *`Misses`*, words, read and written: 0 the entries appended, also those without room, 1 the entries that there is
/// room for; from [`MARKS`](textures::MARKS) on a mark for each slot, which becomes 1 when slot `s` is read; from
/// [`PASSES`](textures::PASSES) on the numbers of the first passes that missed any
/// ([`Push::pass_word`](super::Push::pass_word)); from [`CLAIMS`](textures::CLAIMS) on the hashes of the keys that were
/// appended, so that each is appended once; from [`ENTRIES`](textures::ENTRIES) on the keys. Word 0, hashes and marks
/// must be 0 before a dispatch, and numbers of passes [`NO_PASS`](textures::NO_PASS). **When word 0 is not 0 after it,
/// what the pass and later ones wrote is worthless: load the tiles and run them again.**
pub mod textures {
    /// Texels of a tile along each side.
    pub const TILE_SIZE: u32 = 64;
    /// Words of a slot.
    pub const SLOT_WORDS: u32 = TILE_SIZE * TILE_SIZE;
    /// Slots of a buffer of tiles: 128 MiB.
    pub const SLOTS_PER_BUFFER: u32 = 8192;
    /// Buffers of tiles. Those that are not needed are bound to the first.
    pub const TILE_BUFFERS: u32 = 8;
    /// Records of a texture in the table.
    pub const TABLE_RECORDS: u32 = 4;
    /// The first word of a key that asks for a name.
    pub const NAME_KEY: u32 = u32::MAX;
    /// The first word of the numbers of passes in `Misses`.
    pub const PASSES: u32 = 8;
    /// How many there are; the first is not used.
    pub const PASSES_MAX: u32 = 64;
    /// The number where no pass missed tiles.
    pub const NO_PASS: u32 = u32::MAX;
    /// Places that a search of the hash table looks at.
    pub const PROBES_MAX: u32 = 32;
    /// The first word of the hashes in `Misses`.
    pub const CLAIMS: u32 = PASSES + PASSES_MAX;
    /// The first word of the keys in `Misses`.
    pub const ENTRIES: u32 = CLAIMS + (1 << 14);
    /// The first word of the marks in `Misses`, behind room for 8,192 keys.
    pub const MARKS: u32 = ENTRIES + 2 * (1 << 13);

    /// Returns the hash of a key.
    pub fn hash([a, b]: [u32; 2]) -> u32 {
        let h = a.wrapping_mul(0x9e37_79b1) ^ b.wrapping_mul(0x85eb_ca6b);
        let h = (h ^ h >> 15).wrapping_mul(0xc2b2_ae35);
        h ^ h >> 13
    }
}

/// Occlusion maps, and several shadow maps in one: textures of kind 6, floats of one channel and level, tiles below
/// each other (glsl/lib/rsl/views.glsl).
///
/// The first tiles, left in each row, are words one after the other, row by row: the number of maps, the width and the
/// height of each, zeros up to word 32; then 32 words for each map: its camera's space, then its picture's unit square
/// (y down), from world space, as four columns each. In the rows of tiles behind them are the maps, each from a row of
/// tiles of its own on: z of its camera, as in shadow maps.
pub mod occlusion {
    /// The words of the matrices of a map, and those before the first.
    pub const VIEW_WORDS: u32 = 32;
    /// The most maps: a lookup steps through all of them, and CPU drivers end long loops.
    pub const VIEWS_MAX: u32 = 1023;
    /// The most samples of `shadow()` in all maps together, for the same reason.
    pub const VIEW_SAMPLES_MAX: u32 = 16384;
}

/// Point clouds: textures of kind 5, whose words are a tree of points (glsl/lib/rsl/points.glsl).
///
/// Word `w` is in tile `(t >> 16, t & 0xffff)`, `t = w >> 12`, of the only level and plane, at texel
/// `(w & 63, (w >> 6) & 63)`. Words 0 and 1 are the first node (0 if there is none) and the number of channels; then
/// each channel has four: the two of [`channel_hash`](points::channel_hash), its place in a node, and how many floats
/// it has. Nodes begin in tile 1, and each is within a tile: (next node behind what is below, 0 at the end; first node
/// below, 0 of a point; number of points), then floats: middle (3), the farthest point from it, the largest and the
/// mean radius, the size under which the points may count as one, the mean normal (3), and the mean values.
pub mod points {
    /// Returns the words by which a channel's name is known: FNV-1a from two beginnings.
    pub fn channel_hash(name: &str) -> [u32; 2] {
        [0x811c_9dc5, 0x2545_f491]
            .map(|first| name.bytes().fold(first, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)))
    }
}
