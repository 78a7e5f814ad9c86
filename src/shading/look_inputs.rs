//! What the programs of a picture read, by content: whether the visibility and the colours of an earlier picture still
//! hold as far as shading goes.
//!
//! Numbers that differ from picture to picture do not count: where a block is in the parameter buffer, and which number
//! a kernel has. Numbers of strings count, because kernels have them as constants.

use super::Shading;
use super::tokens::AskedText;
use crate::pipeline::look::{Look, Program, ShadingKernel, ShadingPass};
use crate::pipeline::recording::Kernel;
use crate::scene::World;
use glam::DMat4;
use rustc_hash::FxHashSet;
use spirv_gen::compose::{BlockLayout, Content, Reflection};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a drawable's program reads besides what its [`Program`] says.
#[derive(Debug)]
pub(super) struct ProgramInputs {
    pub reflection: Arc<Reflection>,
    /// The strings that it asked for when it was composed.
    pub composed_of: Arc<[AskedText]>,
    /// The strings in its block and in those of its lights.
    pub texts: Arc<[AskedText]>,
}

/// What the programs of a drawable read.
#[derive(Debug, Default)]
pub(super) struct LookInputs {
    pub displace: Option<ProgramInputs>,
    pub shade: Option<ProgramInputs>,
}

/// What all programs of a picture may read.
#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    /// The strings that each kernel asked for when it was compiled.
    kernel_texts: Arc<[Arc<[AskedText]>]>,
    /// Where textures are looked for.
    texture_folders: Arc<[String]>,
    /// From which the matrices of textures are made.
    camera_from_world: DMat4,
}

impl Surroundings {
    pub(super) fn new(world: &World, kernel_texts: Vec<Arc<[AskedText]>>) -> Self {
        let texture_folders = world.options.search.texture.clone().into();
        let camera_from_world = *world.camera.camera_from_world.first();
        Self { kernel_texts: kernel_texts.into(), texture_folders, camera_from_world }
    }
}

/// What the programs of a picture read, to be compared with that of another picture. It shares its parts with the
/// [`Shading`], and has nothing of what is in files.
#[derive(Clone, Debug)]
pub struct ShadingInputs {
    looks: Vec<Arc<Look>>,
    inputs: Vec<Arc<LookInputs>>,
    kernels: Arc<[ShadingKernel]>,
    params: Arc<[[f32; 4]]>,
    space_table: u32,
    /// Whether any program looks environments up, which all others are then told.
    environments: bool,
    surroundings: Surroundings,
}

/// Which programs of drawables are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compared {
    Displacements,
    All,
}

impl Shading {
    /// Returns what its programs read.
    pub fn inputs(&self) -> ShadingInputs {
        ShadingInputs {
            looks: self.looks.clone(),
            inputs: self.inputs.clone(),
            kernels: Arc::clone(&self.kernels),
            params: Arc::clone(&self.params),
            space_table: self.space_table,
            environments: self.textures.environments,
            surroundings: self.surroundings.clone(),
        }
    }
}

impl ShadingInputs {
    /// Whether the drawables are as many, displaced alike, and opaque, translucent, dropped and thin alike: what is
    /// visible is then the same, unless their geometry, the camera, or the files of
    /// [`Self::displacement_textures`] differ.
    pub fn displaces_like(&self, other: &Self) -> bool {
        self.is_like(other, Compared::Displacements)
    }

    /// Whether [`Self::displaces_like`] holds and the drawables are also shaded alike.
    pub fn shades_like(&self, other: &Self) -> bool {
        self.is_like(other, Compared::All)
    }

    /// Returns the strings that displacement programs may look up as names of textures.
    pub fn displacement_textures(&self) -> BTreeSet<Arc<str>> {
        let mut names = BTreeSet::new();
        let mut seen = FxHashSet::default();
        for (look, inputs) in self.looks.iter().zip(&self.inputs).filter(|(look, _)| seen.insert(Arc::as_ptr(look))) {
            let (Some(program), Some(read)) = (&look.displace, &inputs.displace) else { continue };
            if self.kernels[program.kernel].uses_textures {
                let texts = self.texts(program, read).flat_map(|texts| texts.iter());
                names.extend(texts.map(|(text, _)| Arc::clone(text)).filter(|text| !text.is_empty()));
            }
        }
        names
    }

    fn is_like(&self, other: &Self, compared: Compared) -> bool {
        if self.looks.len() != other.looks.len() {
            return false;
        }
        // Drawables share looks.
        let mut alike = FxHashSet::default();
        let drawables = self.looks.iter().zip(&self.inputs).zip(other.looks.iter().zip(&other.inputs));
        drawables.into_iter().all(|(own, others)| {
            !alike.insert((Arc::as_ptr(own.0), Arc::as_ptr(others.0)))
                || self.is_look_like(own, other, others, compared)
        })
    }

    fn is_look_like(
        &self,
        (look, inputs): (&Arc<Look>, &Arc<LookInputs>),
        other: &Self,
        (others_look, others_inputs): (&Arc<Look>, &Arc<LookInputs>),
        compared: Compared,
    ) -> bool {
        let is_like = |own: (&Option<Program>, &Option<ProgramInputs>),
                       others: (&Option<Program>, &Option<ProgramInputs>)| {
            match (own, others) {
                ((None, _), (None, _)) => true,
                ((Some(own), Some(read)), (Some(others), Some(others_read))) => {
                    self.is_program_like(own, read, other, others, others_read)
                }
                _ => false,
            }
        };
        look.verdict == others_look.verdict
            && look.thin == others_look.thin
            && is_like((&look.displace, &inputs.displace), (&others_look.displace, &others_inputs.displace))
            && (compared == Compared::Displacements
                || look.bakes == others_look.bakes
                    && is_like((&look.shade, &inputs.shade), (&others_look.shade, &others_inputs.shade)))
    }

    fn is_program_like(
        &self,
        program: &Program,
        read: &ProgramInputs,
        other: &Self,
        others: &Program,
        others_read: &ProgramInputs,
    ) -> bool {
        let (kernel, others_kernel) = (&self.kernels[program.kernel], &other.kernels[others.kernel]);
        let (reflection, others_reflection) = (&read.reflection, &others_read.reflection);
        is_kernel_like(kernel, others_kernel)
            && program.inputs == others.inputs
            && self.texts(program, read).eq(other.texts(others, others_read))
            && is_layout_like(reflection, others_reflection)
            && self.is_block_like(program.block, &reflection.block, other, others.block, reflection)
            && (!reflection.reads_space_table || self.has_spaces_of(other, program, read))
            && (!kernel.uses_textures || self.looks_up_like(other))
    }

    /// Returns all strings that a program has.
    fn texts<'a>(&'a self, program: &Program, read: &'a ProgramInputs) -> impl Iterator<Item = &'a Arc<[AskedText]>> {
        [&read.composed_of, &read.texts, &self.surroundings.kernel_texts[program.kernel]].into_iter()
    }

    /// Whether textures are looked up in the same way.
    fn looks_up_like(&self, other: &Self) -> bool {
        let (own, others) = (&self.surroundings, &other.surroundings);
        self.environments == other.environments
            && own.texture_folders == others.texture_folders
            && bits(&own.camera_from_world) == bits(&others.camera_from_world)
    }

    /// Whether the spaces that a program may look up by its strings are the same.
    fn has_spaces_of(&self, other: &Self, program: &Program, read: &ProgramInputs) -> bool {
        let spaces = |inputs: &Self, token: u32| {
            let [to, from, ..] = inputs.record(inputs.space_table + token);
            [to, from].map(|first| (first > 0).then(|| [0, 1, 2, 3].map(|row| inputs.record(first + row))))
        };
        let mut tokens = self.texts(program, read).flat_map(|texts| texts.iter()).map(|(_, token)| *token);
        tokens.all(|token| spaces(self, token) == spaces(other, token))
    }

    /// Returns a record of the parameter buffer, which padding follows.
    fn record(&self, number: u32) -> [u32; 4] {
        self.params.get(number as usize).map_or([0; 4], |record| record.map(f32::to_bits))
    }

    /// Whether a block of this layout has the same values, and refers to the same.
    fn is_block_like(
        &self,
        block: u32,
        layout: &BlockLayout,
        other: &Self,
        others_block: u32,
        reflection: &Reflection,
    ) -> bool {
        let refers =
            |content: &Content| matches!(content, Content::LightList | Content::Tables | Content::LightsTaken(_));
        let references: Vec<_> = layout.slots.iter().filter(|slot| refers(&slot.content)).collect();
        let is_value =
            |record: u32, lane: u32| !references.iter().any(|slot| (slot.record, slot.lane) == (record, lane));
        let is_record_like = |number: u32| {
            let (own, others) = (self.record(block + number), other.record(others_block + number));
            (0..4).all(|lane| own[lane as usize] == others[lane as usize] || !is_value(number, lane))
        };
        let list_of = |inputs: &Self, block: u32| {
            let slot = references.iter().find(|slot| slot.content == Content::LightList);
            slot.map(|slot| inputs.record(block + slot.record)[slot.lane as usize])
        };
        let lights = match (list_of(self, block), list_of(other, others_block)) {
            (Some(own), Some(others)) => self.lights_like(own, other, others, reflection),
            _ => Some(0),
        };
        let taken = references.iter().filter(|slot| matches!(slot.content, Content::LightsTaken(_)));
        (0..layout.records).all(is_record_like)
            && lights.is_some_and(|categories| {
                taken.into_iter().all(|slot| {
                    let table = |inputs: &Self, block: u32| inputs.record(block + slot.record)[slot.lane as usize];
                    let (own, others) = (table(self, block), table(other, others_block));
                    (0..categories).all(|category| self.record(own + category) == other.record(others + category))
                })
            })
    }

    /// Returns how many categories the lights of a list have if these are the same as those of another's list.
    fn lights_like(&self, list: u32, other: &Self, others_list: u32, reflection: &Reflection) -> Option<u32> {
        let kinds = reflection.lights.len() as u32;
        let count = if kinds > 0 { self.record(list + kinds - 1)[1] } else { 0 };
        let are_kinds_like = (0..kinds).all(|kind| self.record(list + kind) == other.record(others_list + kind));
        let mut categories = 0;
        let is_light_like = |number: u32| {
            let [kind, block, category, _] = self.record(list + kinds + number);
            let [others_kind, others_block, others_category, _] = other.record(others_list + kinds + number);
            categories = categories.max(category + 1);
            let layout = &reflection.lights[kind as usize];
            (kind, category) == (others_kind, others_category)
                && self.is_block_like(block, layout, other, others_block, reflection)
        };
        (are_kinds_like && (0..count).all(is_light_like)).then_some(categories)
    }
}

fn bits(matrix: &DMat4) -> [u64; 16] {
    matrix.to_cols_array().map(f64::to_bits)
}

fn is_kernel_like(a: &ShadingKernel, b: &ShadingKernel) -> bool {
    let is_same = |a: &Arc<Kernel>, b: &Arc<Kernel>| {
        Arc::ptr_eq(a, b) || (a.words(), a.bindings(), a.push_bytes()) == (b.words(), b.bindings(), b.push_bytes())
    };
    let passes = |kernel: &ShadingKernel| {
        let channels = |passes: &[ShadingPass]| passes.iter().map(|pass| pass.first_channel).collect::<Vec<_>>();
        let resumable = kernel.resumable.as_ref();
        (channels(&kernel.passes), resumable.map(|resumable| (channels(&resumable.passes), resumable.state_channels)))
    };
    let inputs = |kernel: &ShadingKernel| {
        (kernel.geometry_channels, kernel.velocity_channel, kernel.input_channels, kernel.uniform_records)
    };
    let outputs = |kernel: &ShadingKernel| {
        (kernel.output_channels, kernel.opacity_channel, kernel.variable_channels.clone(), kernel.pass_channels)
    };
    let records = |kernel: &ShadingKernel| (kernel.print_words, kernel.bakes, kernel.uses_textures);
    let counts = |kernel: &ShadingKernel| (kernel.kernels().count(), kernel.demand.is_some());
    (passes(a), inputs(a), outputs(a)) == (passes(b), inputs(b), outputs(b))
        && (records(a), counts(a)) == (records(b), counts(b))
        && a.kernels().zip(b.kernels()).all(|(a, b)| is_same(a, b))
}

/// Whether two programs find the same in the same places of their blocks.
fn is_layout_like(a: &Arc<Reflection>, b: &Arc<Reflection>) -> bool {
    let is_same = |a: &BlockLayout, b: &BlockLayout| a.records == b.records && a.slots == b.slots;
    Arc::ptr_eq(a, b)
        || is_same(&a.block, &b.block)
            && a.lights.len() == b.lights.len()
            && a.lights.iter().zip(&b.lights).all(|(a, b)| is_same(a, b))
            && (&a.tables, a.reads_space_table) == (&b.tables, b.reads_space_table)
}
