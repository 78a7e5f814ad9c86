//! The imager shader of a world. Its current space is raster space: `P` is the raster position of a pixel, and
//! `transform("NDC", P)` means what it says (RISpec table 12.5). Points and vectors among its parameters are in raster
//! space too: they arrive as they are written.

use super::ShaderLibrary;
use super::bind::bind_plain;
use super::block::{BlockSource, fill};
use super::params::ParamBuffer;
use super::programs::{ProgramTools, Programs, Signature};
use super::shaders::ShaderPurpose;
use super::spaces::LocalSpaces;
use super::tokens::Tokens;
use super::{NamedTextures, report_shortfall};
use crate::diagnostic::Reporter;
use crate::line_profile::Counter;
use crate::pipeline::frame;
use crate::pipeline::look::ImagerProgram;
use crate::scene::World;
use glam::DMat4;
use rustc_hash::FxHashMap;
use spirv_gen::compose::{Binding, Input, Role, Slice};
use std::sync::Arc;

/// The imager of a world.
#[derive(Clone, Debug)]
pub struct CompiledImager {
    /// Its program.
    pub program: ImagerProgram,
    /// Its texts, and those that are names of textures.
    pub textures: NamedTextures,
    /// What its program counts.
    pub counters: Arc<[Counter]>,
}

impl ShaderLibrary {
    /// Compiles the world's imager. Returns `None` if it has none, or if it is unavailable, which is reported; pixels
    /// are then not changed.
    pub fn imager(&mut self, world: &World, reporter: &Reporter) -> Option<CompiledImager> {
        let instance = world.options.imager.as_ref()?;
        let fetched = self.shaders.fetch(instance, ShaderPurpose::Imager, &world.options.search.shader, reporter)?;
        let bound = bind_plain(fetched.shader(), instance, reporter);
        let tools = ProgramTools { helpers: &self.helpers, form: self.form, store: &self.programs };
        let mut programs = Programs::new(tools, &[], Tokens::default());
        let signature = Signature {
            slice: Slice::Imager,
            surface: Some(bound.clone()),
            displacement: None,
            atmosphere: None,
            lights: Vec::new(),
            colour: Binding::Block,
            opacity: Binding::Block,
            stores_opacity: true,
            variables: Vec::new(),
        };
        let composition = programs.get(&signature, &instance.location);
        programs.shortfalls().for_each(|(shortfall, location)| report_shortfall(reporter, shortfall, location));
        let camera_from_world = *world.camera.camera_from_world.first();
        let (mut params, reflection) = (ParamBuffer::new(), &composition.reflection);
        let source = BlockSource {
            world,
            attributes: None,
            shaders: vec![(Role::Surface, &bound, instance)],
            current_from_camera: frame::raster_from_camera(&world.camera),
            given_in_current: true,
            local: LocalSpaces {
                camera_from_shader: DMat4::IDENTITY,
                camera_from_object: camera_from_world,
                scoped: &[],
            },
            light_list: 0,
            lights_taken: FxHashMap::default(),
            tables: params.block(reflection.tables.clone()),
            strings: FxHashMap::default(),
        };
        let mut textures = NamedTextures::default();
        let block = fill(&reflection.block, &source, &programs.tokens, reporter);
        textures.note(reflection, &source, &block.computed, &programs.tokens, reporter);
        let variant = programs.variant(&composition, &block.computed);
        let block = params.block(block.records);
        let channel = |input| reflection.inputs.iter().find(|i| i.input == input).map(|i| i.channel);
        let programs = programs.finish();
        params.fill_space_table(world, &source.current_from_camera, &programs.tokens);
        let (params, space_table) = params.finish(0);
        let (counters, lookup_counters) = (programs.counters, programs.lookup_counters);
        textures.texts = programs.tokens.texts();
        let compiled = &programs.kernels[programs.kernel_of[variant]];
        let uses_textures = compiled.uses_textures;
        let resumable = compiled.resumable.as_ref();
        // Imagers are not cut.
        let pass = &resumable.map_or(&compiled.passes, |resumable| &resumable.passes)[0];
        let state_channels = resumable.map_or(0, |resumable| resumable.state_channels);
        let program = ImagerProgram {
            reads_position: channel(Input::PositionU).is_some(),
            colour_channel: channel(Input::CiAlpha),
            opacity_channel: channel(Input::Oi),
            input_channels: reflection.input_channels,
            kernel: Arc::clone(&pass.kernel),
            first_counters: pass.counters.map(|first| [first, lookup_counters]),
            counters: counters.len() as u64,
            state_channels,
            params,
            block,
            space_table,
            uses_textures,
        };
        Some(CompiledImager { program, textures, counters })
    }
}
