//! Blocks: the values of a drawable or a light that a program reads, at the positions that the compiler assigned.

use super::bind::param_fits;
use super::params::ParamRecord;
use super::programs::BoundShader;
use super::query::answer;
use super::spaces::{self, LocalSpaces};
use super::tokens::Tokens;
use super::values::{self, ValueWords};
use crate::diagnostic::{Reporter, SourceLocation};
use crate::scene::{Attributes, ParamValue, Projection, ShaderInstance, World};
use glam::DMat4;
use rustc_hash::FxHashMap;
use spirv_gen::compose::{BlockLayout, BlockSlot, Content, Pattern, Role};
use spirv_gen::interp::{BlockSurroundings, compute_block};
use spirv_gen::ir::{Direction, MachineType, ParamDefault, QuerySource, RslType};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The sources of a block's values.
pub(super) struct BlockSource<'a> {
    pub world: &'a World,
    /// The attributes of the drawable; none for lights.
    pub attributes: Option<&'a Attributes>,
    /// Shaders by role.
    pub shaders: Vec<(Role, &'a BoundShader, &'a ShaderInstance)>,
    /// The space in which the program computes, from camera space: the same, except for imagers, which use raster
    /// space.
    pub current_from_camera: DMat4,
    /// Points, vectors, normals and matrices given to a shader are in the space in which it computes, as imagers have
    /// them, not in shader space.
    pub given_in_current: bool,
    /// Object space, and the shader space to use where no shader is named.
    pub local: LocalSpaces<'a>,
    /// Record of the light list.
    pub light_list: u32,
    /// Records of the tables of the lights that category patterns take.
    pub lights_taken: FxHashMap<Pattern, u32>,
    /// Record of the program's tables of constants.
    pub tables: u32,
    /// String primvars.
    pub strings: FxHashMap<Arc<str>, Arc<str>>,
}

impl<'a> BlockSource<'a> {
    fn shader(&self, role: Role) -> Option<(&BoundShader, &ShaderInstance)> {
        self.shaders.iter().find(|(r, ..)| *r == role).map(|(_, bound, instance)| (*bound, *instance))
    }

    /// Returns object and shader space as a shader sees them.
    fn local(&self, role: Role) -> LocalSpaces<'a> {
        let camera_from_world = *self.world.camera.camera_from_world.first();
        let own = self.shader(role).map(|(_, instance)| camera_from_world * *instance.world_from_shader.first());
        LocalSpaces { camera_from_shader: own.unwrap_or(self.local.camera_from_shader), ..self.local }
    }

    /// Returns the value of a string parameter.
    pub(super) fn string_param(&self, role: Role, name: &str) -> Option<String> {
        if let Some(text) = self.strings.get(name) {
            return Some(text.to_string());
        }
        let (bound, instance) = self.shader(role)?;
        let given = instance.params.iter().rev().find(|param| &*param.name == name);
        if let Some(ParamValue::Strings(texts)) = given.map(|param| &param.value) {
            return texts.first().map(ToString::to_string);
        }
        let param = bound.shader.params.iter().find(|param| &*param.name == name)?;
        match &param.default {
            ParamDefault::Values(values) => match values.first() {
                Some(spirv_gen::ir::Const::Str(text)) => Some(text.to_string()),
                _ => None,
            },
            ParamDefault::Computed(_) => None,
        }
    }

    /// Returns a text that a program names, and the location of its shader. `computed` is what the block's program
    /// gives.
    pub(super) fn named(
        &self,
        pattern: &Pattern,
        computed: &[ValueWords],
        tokens: &Tokens,
    ) -> Option<(String, SourceLocation)> {
        let location = |instance: &ShaderInstance| instance.location.clone();
        let first = || self.shaders.first().map(|(_, _, instance)| *instance);
        match pattern {
            Pattern::Literal(text) => Some((text.to_string(), location(first()?))),
            Pattern::Param(role, name) => {
                let (_, instance) = self.shader(*role)?;
                Some((self.string_param(*role, name)?, location(instance)))
            }
            Pattern::Query(from, name) => {
                let answer = answer(*from, name, RslType::String, 1, self, tokens)?;
                Some((tokens.text(*answer.first()?), location(first()?)))
            }
            Pattern::Computed(kind, number) => {
                let own = self.shaders.iter().find_map(|(role, ..)| match role {
                    Role::Light(kind) => Some(*kind),
                    _ => None,
                });
                let words = computed.get(*number as usize).filter(|_| own == *kind)?;
                Some((tokens.text(*words.first()?), location(first()?)))
            }
        }
    }

    /// Returns the words of a parameter: a string primvar, the value given in RIB, or the default.
    fn param(&self, role: Role, name: &str, ty: RslType, tokens: &Tokens) -> ValueWords {
        let Some((bound, instance)) = self.shader(role) else { return ValueWords::new() };
        let Some(param) = bound.shader.params.iter().find(|param| &*param.name == name) else {
            return ValueWords::new();
        };
        if let (RslType::String, Some(text)) = (ty, self.strings.get(name)) {
            return vec![tokens.token(text)];
        }
        let current_from_given = if self.given_in_current {
            DMat4::IDENTITY
        } else {
            self.current_from_camera * self.local(role).camera_from_shader
        };
        let given = instance.params.iter().rev().find(|given| &*given.name == name && param_fits(given, param));
        match (given, &param.default) {
            (Some(given), _) => values::given(&given.value, ty, &current_from_given, tokens),
            (None, ParamDefault::Values(values)) => values::default(values, ty, &current_from_given, tokens),
            (None, ParamDefault::Computed(_)) => ValueWords::new(),
        }
    }

    fn space(&self, name: &str, direction: Direction, role: Role, reporter: &Reporter) -> DMat4 {
        let location = self.shader(role).map(|(_, instance)| instance.location.clone()).unwrap_or_default();
        let camera_from_space = spaces::camera_from_or_report(self.world, &self.local(role), name, &location, reporter);
        let matrix = self.current_from_camera * camera_from_space;
        match direction {
            Direction::CameraFromSpace => matrix,
            Direction::SpaceFromCamera => matrix.inverse(),
        }
    }
}

/// A block, and the results of its program.
pub(super) struct FilledBlock {
    pub records: Vec<ParamRecord>,
    pub computed: Vec<ValueWords>,
    /// How long that took to compute.
    pub took: Duration,
}

/// Creates a block with the values of all slots, and what its program computes of them.
pub(super) fn fill(
    layout: &BlockLayout,
    source: &BlockSource<'_>,
    tokens: &Tokens,
    reporter: &Reporter,
) -> FilledBlock {
    let mut records = vec![[0; 4]; layout.records as usize];
    for slot in &layout.slots {
        let words = words(slot, source, tokens, reporter);
        place(&mut records, slot, &words);
    }
    let mut took = Duration::ZERO;
    let computed = match &layout.program {
        Some(program) => {
            let begin = Instant::now();
            let computed = compute_block(program, records.as_flattened(), &ProgramHost { source, tokens });
            took = begin.elapsed();
            computed
        }
        None => Vec::new(),
    };
    for slot in &layout.slots {
        if let Content::Computed(number) = slot.content {
            place(&mut records, slot, &computed[number as usize]);
        }
    }
    FilledBlock { records, computed, took }
}

/// What the program of a block asks.
struct ProgramHost<'a> {
    source: &'a BlockSource<'a>,
    tokens: &'a Tokens,
}

impl BlockSurroundings for ProgramHost<'_> {
    fn token(&self, text: &str) -> u32 {
        self.tokens.token(text)
    }

    fn text(&self, token: u32) -> String {
        self.tokens.text(token)
    }

    fn query(&self, from: QuerySource, name: &str, ty: RslType, count: u32) -> Option<ValueWords> {
        answer(from, name, ty, count, self.source, self.tokens)
    }
}

/// Writes the words of a value to its slot: one record for each element, the first from the slot's lane on, and four
/// records for a matrix.
fn place(block: &mut [ParamRecord], slot: &BlockSlot, words: &[u32]) {
    let (each, records) = match slot.ty {
        MachineType::Vec3 => (3, 1),
        MachineType::Mat4 => (16, 4),
        MachineType::F32 | MachineType::Bool | MachineType::U32 | MachineType::Str => (1, 1),
    };
    for (element, words) in words.chunks(each).take(slot.len as usize).enumerate() {
        let first = slot.record as usize + element * records;
        let lane = if element == 0 { slot.lane as usize } else { 0 };
        for (i, word) in words.iter().enumerate() {
            block[first + i / 4][lane + i % 4] = *word;
        }
    }
}

fn floats(values: &[f32]) -> ValueWords {
    values.iter().map(|x| x.to_bits()).collect()
}

fn words(slot: &BlockSlot, source: &BlockSource<'_>, tokens: &Tokens, reporter: &Reporter) -> ValueWords {
    let camera = &source.world.camera;
    match &slot.content {
        Content::Param { shader, name, ty } => source.param(*shader, name, *ty, tokens),
        Content::Color => floats(&source.attributes.map_or([1.0; 3], |a| a.color)),
        Content::Opacity => floats(&source.attributes.map_or([1.0; 3], |a| a.opacity)),
        Content::Space { space, direction, shader } => {
            let matrix = source.space(space, *direction, *shader, reporter);
            spaces::records(&matrix).iter().flatten().map(|x| x.to_bits()).collect()
        }
        Content::LightList => vec![source.light_list],
        Content::Tables => vec![source.tables],
        Content::Orthographic => floats(&[f32::from(u8::from(camera.projection == Projection::Orthographic))]),
        Content::Time => floats(&[camera.shutter[0]]),
        Content::DTime => floats(&[camera.shutter[1] - camera.shutter[0]]),
        Content::Hither => floats(&[camera.clip[0]]),
        Content::Yon => floats(&[camera.clip[1]]),
        Content::LightsTaken(pattern) => source.lights_taken.get(pattern).copied().into_iter().collect(),
        Content::QueryFound(from, name, ty, count) => {
            let found = answer(*from, name, *ty, *count, source, tokens).is_some();
            floats(&[f32::from(u8::from(found))])
        }
        Content::QueryValue(from, name, ty, count) => {
            answer(*from, name, *ty, *count, source, tokens).unwrap_or_default()
        }
        // Its program computes it of the others.
        Content::Computed(_) => ValueWords::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_to_their_slots() {
        let slot = |record, lane, ty, len| BlockSlot { content: Content::Color, record, lane, ty, len };
        let mut block = vec![[0; 4]; 6];
        place(&mut block, &slot(0, 3, MachineType::F32, 1), &[7]);
        place(&mut block, &slot(0, 0, MachineType::Vec3, 1), &[1, 2, 3]);
        place(&mut block, &slot(1, 2, MachineType::F32, 2), &[8, 9]);
        place(&mut block, &slot(3, 0, MachineType::Vec3, 2), &[1, 2, 3, 4, 5, 6]);
        assert_eq!(block[..3], [[1, 2, 3, 7], [0, 0, 8, 0], [9, 0, 0, 0]]);
        assert_eq!(block[3..5], [[1, 2, 3, 0], [4, 5, 6, 0]]);
    }
}
