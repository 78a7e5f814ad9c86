//! Fills the buffers of a dispatch from scenes, as a reflection asks for.

use rustc_hash::FxHashMap;
use spirv_gen::Reflection;
use spirv_gen::abi::Push;
use spirv_gen::compose::{BlockSlot, Content, Input, Pattern, Role};
use spirv_gen::interp::{Column, Grid, LightInstance, Scene};
use spirv_gen::ir::{Const, Direction, Global, ParamDefault, Shader, Type};
use std::sync::Arc;

/// Buffers and push constants of a dispatch.
pub(crate) struct Dispatch {
    pub(crate) work: Vec<u32>,
    pub(crate) arena: Vec<u32>,
    pub(crate) params: Vec<u32>,
    pub(crate) push: Push,
    pub(crate) slots: u32,
}

/// One grid and what is around it.
pub(crate) struct Shaded<'a> {
    pub(crate) grid: Grid,
    pub(crate) scene: Scene<'a>,
}

/// The shaders whose parameters are asked for.
pub(crate) struct Pipeline<'a> {
    pub(crate) surface: &'a Shader,
    pub(crate) lights: Vec<&'a Shader>,
}

fn words(c: &Const, scene: &Scene<'_>) -> Vec<u32> {
    match c {
        Const::Bool(x) => vec![u32::from(*x)],
        Const::U32(x) => vec![*x],
        Const::F32(x) => vec![x.to_bits()],
        Const::Vec3(x) => x.iter().map(|x| x.to_bits()).collect(),
        Const::Mat4(x) => x.iter().map(|x| x.to_bits()).collect(),
        Const::Str(x) => vec![scene.intern(x)],
    }
}

fn pick(column: &Column, vertex: usize) -> &Const {
    &column[if column.len() == 1 { 0 } else { vertex }]
}

/// Bits for the category words that occur anywhere, in order of appearance.
#[derive(Default)]
struct Categories(Vec<String>);

impl Categories {
    fn bits<'s>(&mut self, words: impl Iterator<Item = &'s str>) -> u32 {
        let mut bits = 0;
        for word in words.map(str::trim).filter(|w| !w.is_empty()) {
            let at = self.0.iter().position(|w| w == word).unwrap_or_else(|| {
                self.0.push(word.to_owned());
                self.0.len() - 1
            });
            bits |= 1 << at;
        }
        bits
    }
}

impl Dispatch {
    /// Packs grids into the slots of one dispatch.
    pub(crate) fn new(reflection: &Reflection, pipeline: &Pipeline<'_>, shaded: &[Shaded<'_>]) -> Self {
        let largest = shaded.iter().map(|s| s.grid.vertices()).max().unwrap_or(16);
        let slot_log2 = (largest.next_power_of_two().trailing_zeros()).max(4);
        let slots = shaded.len() as u32;
        let stride = (slots << slot_log2).next_multiple_of(256);
        // Something stands before each base, so that a forgotten offset is found.
        let (input_base, uniform_base) = (7, 7 + reflection.input_channels * stride);
        let output_base = uniform_base + slots * reflection.uniform_records + 3;
        let records = output_base + reflection.output_channels * stride;
        let push = Push {
            work_base: 2,
            slot_log2,
            slot_count: slots,
            input_base,
            output_base,
            channel_stride: stride,
            space_table: 0,
            reserved: 0,
        };
        let nan = f32::NAN.to_bits();
        let mut this =
            Self { work: vec![0; 16], arena: vec![nan; records as usize * 4], params: vec![0; 4], push, slots };
        let mut categories = Categories::default();
        for (slot, shaded) in (0..).zip(shaded) {
            let block = this.block(reflection, pipeline, shaded, &mut categories);
            let uniforms = uniform_base + slot * reflection.uniform_records;
            let Grid { nu, nv, du, dv, flags, seed } = shaded.grid;
            this.work.extend([nu | nv << 8 | flags << 16, block, seed, uniforms, du.to_bits(), dv.to_bits(), 0, 0]);
            this.inputs(reflection, pipeline, shaded, slot);
            for input in &reflection.uniform_inputs {
                let column = Self::column(&input.input, pipeline, &shaded.scene).0;
                this.put(uniforms + input.record, 0, &words(&column[0], &shaded.scene));
            }
        }
        let longest = reflection.lights.iter().map(|l| l.records).max().unwrap_or(0);
        this.params.resize(this.params.len() + longest as usize * 4, 0);
        this
    }

    fn put(&mut self, record: u32, lane: u32, words: &[u32]) {
        self.arena[(record * 4 + lane) as usize..][..words.len()].copy_from_slice(words);
    }

    fn column(input: &Input, pipeline: &Pipeline<'_>, scene: &Scene<'_>) -> (Column, Option<Column>) {
        let global = |g: Global| scene.globals.get(&g).cloned().unwrap_or_else(|| vec![g.ty().zero()]);
        match input {
            Input::PositionU => (global(Global::P), Some(global(Global::U))),
            Input::NormalV => (global(Global::N), Some(global(Global::V))),
            Input::DpduS => (global(Global::DPdu), Some(global(Global::S))),
            Input::DpdvT => (global(Global::DPdv), Some(global(Global::T))),
            Input::Color => (global(Global::Cs), None),
            Input::Opacity => (global(Global::Os), None),
            Input::Primvar { name, .. } => {
                let number = pipeline.surface.param(name).expect("a parameter of the shader").0;
                (scene.params[number as usize].as_ref().expect("a value for every parameter")[0].clone(), None)
            }
            Input::CiAlpha => (global(Global::Ci), Some(global(Global::Alpha))),
            Input::Oi => (global(Global::Oi), None),
        }
    }

    fn inputs(&mut self, reflection: &Reflection, pipeline: &Pipeline<'_>, shaded: &Shaded<'_>, slot: u32) {
        for input in &reflection.inputs {
            let (column, fourth) = Self::column(&input.input, pipeline, &shaded.scene);
            for vertex in 0..shaded.grid.vertices() {
                let place = (slot << self.push.slot_log2) + vertex as u32;
                let record = self.push.input_base + input.channel * self.push.channel_stride + place;
                let value = words(pick(&column, vertex), &shaded.scene);
                self.put(record, 0, &value);
                if let Some(fourth) = &fourth {
                    self.put(record, 3, &words(pick(fourth, vertex), &shaded.scene));
                }
            }
        }
    }

    /// Appends the instance block, its light list and the light blocks; the block's record.
    fn block(
        &mut self,
        reflection: &Reflection,
        pipeline: &Pipeline<'_>,
        shaded: &Shaded<'_>,
        categories: &mut Categories,
    ) -> u32 {
        let scene = &shaded.scene;
        let list = self.light_list(reflection, pipeline, scene, categories);
        let block = (self.params.len() / 4) as u32;
        self.params.resize(self.params.len() + reflection.records as usize * 4, 0);
        for slot in &reflection.slots {
            let words = match &slot.content {
                Content::LightList => vec![list],
                Content::CategoryInclude(Pattern::Literal(p)) => {
                    vec![categories.bits(p.split(',').filter(|w| !w.trim().starts_with('-')))]
                }
                Content::CategoryExclude(Pattern::Literal(p)) => {
                    vec![categories.bits(p.split(',').filter_map(|w| w.trim().strip_prefix('-')))]
                }
                content => words(&named(content, scene, pipeline.surface, None), scene),
            };
            self.put_param(block, slot, &words);
        }
        block
    }

    fn put_param(&mut self, block: u32, slot: &BlockSlot, words: &[u32]) {
        let at = ((block + slot.record) * 4 + slot.lane) as usize;
        self.params[at..][..words.len()].copy_from_slice(words);
    }

    fn light_list(
        &mut self,
        reflection: &Reflection,
        pipeline: &Pipeline<'_>,
        scene: &Scene<'_>,
        categories: &mut Categories,
    ) -> u32 {
        let mut entries = Vec::new();
        for light in &scene.lights {
            let kind = pipeline.lights.iter().position(|l| std::ptr::eq(*l, light.shader)).expect("a kind");
            let layout = &reflection.lights[kind];
            let block = (self.params.len() / 4) as u32;
            self.params.resize(self.params.len() + layout.records as usize * 4, 0);
            for slot in &layout.slots {
                let value = named(&slot.content, scene, light.shader, Some(light));
                let words = words(&value, scene);
                self.put_param(block, slot, &words);
            }
            entries.push([kind as u32, block, categories.bits(light.category.split(',')), 0]);
        }
        let list = (self.params.len() / 4) as u32;
        self.params.extend([scene.lights.len() as u32, 0, 0, 0]);
        self.params.extend(entries.into_iter().flatten());
        list
    }
}

/// A value of a block that is known by name.
fn named(content: &Content, scene: &Scene<'_>, shader: &Shader, light: Option<&LightInstance<'_>>) -> Const {
    let global = |g: Global| scene.globals.get(&g).map_or_else(|| g.ty().zero(), |c| c[0].clone());
    match content {
        Content::Param { shader: role, name, .. } => {
            assert_eq!(light.is_some(), matches!(role, Role::Light(_)), "parameters stand in their own block");
            let number = shader.param(name).expect("a parameter of the shader").0 as usize;
            let given = light.map_or(&scene.params, |l| &l.params).get(number).cloned().flatten();
            match (given, &shader.params[number].default) {
                (Some(elements), _) => elements[0][0].clone(),
                (None, ParamDefault::Values(values)) => values[0].clone(),
                (None, ParamDefault::Computed(_)) => panic!("a computed default is not in the block"),
            }
        }
        Content::Space { space, direction, .. } => {
            let own = light.and_then(|l| l.space.get(direction).copied());
            let matrix = own.or_else(|| scene.spaces.get(&(space.clone(), *direction)).copied());
            matrix.map_or_else(|| Const::diagonal(1.0), |m| Const::Mat4(Box::new(m)))
        }
        Content::Color => global(Global::Cs),
        Content::Opacity => global(Global::Os),
        Content::Time => global(Global::Time),
        Content::DTime => global(Global::DTime),
        Content::Hither => global(Global::Hither),
        Content::Yon => global(Global::Yon),
        Content::Orthographic => Const::F32(0.0),
        Content::QueryFound(..) => Const::F32(0.0),
        content => panic!("{content:?} does not occur in these tests"),
    }
}

/// Reads output channels of a slot: for each of `types`, its value at each vertex.
pub(crate) fn outputs(dispatch: &Dispatch, arena: &[u32], slot: u32, grid: &Grid, types: &[Type]) -> Vec<Column> {
    let mut channel = 0;
    let mut columns = Vec::new();
    for ty in types {
        let value = |vertex: usize| {
            let place = (slot << dispatch.push.slot_log2) + vertex as u32;
            let record = dispatch.push.output_base + channel * dispatch.push.channel_stride + place;
            let float = |lane: u32| f32::from_bits(arena[(record * 4 + lane) as usize]);
            if *ty == Type::Vec3 { Const::Vec3([float(0), float(1), float(2)]) } else { Const::F32(float(0)) }
        };
        columns.push((0..grid.vertices()).map(value).collect());
        channel += 1;
    }
    columns
}

/// Spaces of a light, for convenience.
pub(crate) fn light_space(forward: [f32; 16], inverse: [f32; 16]) -> FxHashMap<Direction, [f32; 16]> {
    [(Direction::CameraFromSpace, forward), (Direction::SpaceFromCamera, inverse)].into_iter().collect()
}

/// A name as reflections hold it.
pub(crate) fn name(text: &str) -> Arc<str> {
    text.into()
}
