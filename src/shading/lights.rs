//! Lights of a drawable: the kinds that its pipeline supports, their blocks, and the list in which the kernel finds
//! them.

use super::ShadingBuilder;
use super::bind::bind_plain;
use super::block::{BlockSource, fill};
use super::cast::{asks_for_shadows, cast_of, with_maps, with_share};
use super::categories::LightCategories;
use super::params::ParamRecord;
use super::programs::BoundShader;
use super::shaders::ShaderPurpose;
use super::spaces::LocalSpaces;
use crate::diagnostic::Reporter;
use crate::scene::{Light, LightId, ParamValue, ShaderInstance};
use glam::DMat4;
use rustc_hash::FxHashMap;
use spirv_gen::LightScale;
use spirv_gen::compose::{Content, Pattern, Reflection, Role};
use spirv_gen::ir::{Const, ParamDefault};
use std::sync::Arc;

/// A light that shines on a drawable, or a kind of light of its pipeline.
#[derive(Clone, Debug)]
pub(super) struct LightUse {
    pub light: LightId,
    pub bound: BoundShader,
    /// Its shader as the scene gives it, with the shadow maps that it makes by itself.
    pub instance: Arc<ShaderInstance>,
    /// The handles of the lights, of all of a kind.
    pub handles: Vec<Arc<str>>,
}

/// The lights of a set: each with its shader, and the kinds in a canonical order.
pub(super) struct LightSet {
    /// One use for each kind.
    pub kinds: Vec<LightUse>,
    /// Each light with its kind, by kind.
    pub lights: Vec<ListedLight>,
    /// Their categories.
    pub categories: LightCategories,
}

/// A light of a set.
pub(super) struct ListedLight {
    light: LightId,
    kind: u32,
    instance: Arc<ShaderInstance>,
    /// The number of its categories.
    category: u32,
}

impl ShadingBuilder<'_> {
    /// Returns the lights of a drawable that could be read, by kind. Kinds are ordered by name, so that drawables with
    /// the same kinds of lights share pipelines.
    pub(super) fn light_set(&mut self, lights: &[LightId]) -> LightSet {
        let mut uses: Vec<LightUse> = Vec::new();
        // The parts of an area light lack the same shader, which one of them reports.
        let (silent, mut missing) = (Reporter::silent(), None);
        for &light in lights {
            let Light { shader: instance, maps, part, handle, .. } = &*self.world.lights[light.0 as usize];
            let path = &self.world.options.search.shader;
            let is_known = part.is_some() && missing == Some(&instance.location);
            let reporter = if is_known { &silent } else { self.reporter };
            let Some(fetched) = self.shaders.fetch(instance, ShaderPurpose::Light, path, reporter) else {
                missing = Some(&instance.location);
                continue;
            };
            let whole = fetched.shader();
            let cast = cast_of(maps).filter(|_| !asks_for_shadows(whole));
            // What a light executes of `illuminate` and `solar` adds up: each is a light of its own.
            for (number, light_part) in (0..).zip(self.shaders.light_parts(whole)) {
                let scale = LightScale { cast, is_share: part.is_some(), part: light_part };
                let shader = match scale == LightScale::default() {
                    true => Arc::clone(whole),
                    false => self.shaders.scaled(whole, scale),
                };
                let instance = Arc::new(with_share(with_maps(instance, maps, &shader), *part));
                let reporter = if number == 0 { self.reporter } else { &silent };
                let bound = bind_plain(&shader, &instance, reporter);
                uses.push(LightUse { light, bound, instance, handles: vec![Arc::clone(handle)] });
            }
        }
        let mut kinds: Vec<LightUse> = Vec::new();
        for used in &uses {
            match kinds.iter_mut().find(|kind| same_kind(kind, used)) {
                Some(kind) => kind.handles.extend(used.handles.iter().cloned()),
                None => kinds.push(used.clone()),
            }
        }
        kinds.sort_by_cached_key(kind_order);
        let kind_of = |used: &LightUse| kinds.iter().position(|kind| same_kind(kind, used)).unwrap_or(0) as u32;
        let mut categories = LightCategories::default();
        let listed = |used: &LightUse| ListedLight {
            light: used.light,
            kind: kind_of(used),
            instance: Arc::clone(&used.instance),
            category: categories.number(&own_categories(&used.instance, &used.bound)),
        };
        let mut lights: Vec<_> = uses.iter().map(listed).collect();
        lights.sort_by_key(|light| light.kind);
        LightSet { kinds, lights, categories }
    }

    /// Returns for each category pattern of a program the record of the table of the lights that it takes.
    pub(super) fn lights_taken(
        &mut self,
        set: &LightSet,
        reflection: &Reflection,
        source: &BlockSource<'_>,
    ) -> FxHashMap<Pattern, u32> {
        let patterns = reflection.block.slots.iter().filter_map(|slot| match &slot.content {
            Content::LightsTaken(pattern) => Some(pattern),
            _ => None,
        });
        let table = |pattern: &Pattern| {
            let text = pattern_text(pattern, source);
            let taken = set.categories.taken(&text).map(|taken| [u32::from(taken), 0, 0, 0]);
            (pattern.clone(), self.params.block(taken.collect()))
        };
        patterns.map(table).collect()
    }

    /// Returns the record of the light list for a set of lights in a pipeline.
    pub(super) fn light_list(&mut self, set: &LightSet, program: usize, reflection: &Reflection) -> u32 {
        let before = |kind: usize| set.lights.partition_point(|light| (light.kind as usize) < kind) as u32;
        let kinds = (0..set.kinds.len()).map(|kind| [before(kind), before(kind + 1), 0, 0]);
        let mut list: Vec<ParamRecord> = kinds.collect();
        for light in &set.lights {
            let block = self.light_block(light, set, (program, reflection));
            list.push([light.kind, block, light.category, 0]);
        }
        self.params.block(list)
    }

    fn light_block(
        &mut self,
        listed: &ListedLight,
        set: &LightSet,
        (program, reflection): (usize, &Reflection),
    ) -> u32 {
        let (world, kind, instance) = (self.world, listed.kind, &*listed.instance);
        let light = &world.lights[listed.light.0 as usize];
        let camera_from_shader = *world.camera.camera_from_world.first() * *instance.world_from_shader.first();
        let local =
            LocalSpaces { camera_from_shader, camera_from_object: camera_from_shader, scoped: &light.scoped_spaces };
        let source = BlockSource {
            world,
            attributes: None,
            shaders: vec![(Role::Light(kind), &set.kinds[kind as usize].bound, instance)],
            current_from_camera: DMat4::IDENTITY,
            given_in_current: false,
            local,
            light_list: 0,
            lights_taken: FxHashMap::default(),
            tables: 0,
            strings: FxHashMap::default(),
        };
        let layout = &reflection.lights[kind as usize];
        let block = fill(layout, &source, &self.programs.tokens, self.reporter);
        self.textures.note(reflection, &source, &block.computed, &self.programs.tokens, self.reporter);
        self.programs.note_once(program, block.took);
        self.params.block(block.records)
    }
}

fn same_kind(a: &LightUse, b: &LightUse) -> bool {
    Arc::ptr_eq(&a.bound.shader, &b.bound.shader) && a.bound.bindings == b.bound.bindings
}

fn kind_order(light: &LightUse) -> (Arc<str>, String) {
    (Arc::clone(&light.bound.shader.name), format!("{:?}", light.bound.bindings))
}

/// Returns the categories of a light, from its parameter `__category`.
fn own_categories(instance: &ShaderInstance, bound: &BoundShader) -> String {
    let given = instance.params.iter().rev().find(|param| &*param.name == "__category");
    if let Some(ParamValue::Strings(words)) = given.map(|param| &param.value) {
        return words.iter().map(|w| &**w).collect::<Vec<_>>().join(",");
    }
    let declared = bound.shader.params.iter().find(|param| &*param.name == "__category");
    match declared.map(|param| &param.default) {
        Some(ParamDefault::Values(values)) => match values.first() {
            Some(Const::Str(text)) => text.to_string(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// Returns the text of a category pattern for a drawable.
fn pattern_text(pattern: &Pattern, source: &BlockSource<'_>) -> String {
    match pattern {
        Pattern::Literal(text) => text.to_string(),
        Pattern::Param(role, name) => source.string_param(*role, name).unwrap_or_default(),
        // Categories are literals or parameters.
        Pattern::Query(..) | Pattern::Computed(..) => String::new(),
    }
}
