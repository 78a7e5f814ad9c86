//! Fills the buffers of a dispatch from scenes, as a reflection asks for.

use spirv_gen::Reflection;
use spirv_gen::abi::{LOOP_TRIPS_MAX, Push};
use spirv_gen::compose::{BlockLayout, BlockSlot, Content, Decision, Input, OutputChannel, Pattern, Role};
use spirv_gen::interp::{BlockSurroundings, Column, Grid, LightInstance, Scene, compute_block, shade};
use spirv_gen::ir::{Const, Direction, Global, MachineType, ParamDefault, QuerySource, RslType, Shader};
use spirv_gen::text::category_matches;
use std::sync::Arc;

/// Buffers and push constants of a dispatch.
#[derive(Clone)]
pub(crate) struct DispatchBuffers {
    pub(crate) work: Vec<u32>,
    pub(crate) arena: Vec<u32>,
    pub(crate) params: Vec<u32>,
    pub(crate) push: Push,
    pub(crate) slots: u32,
}

/// For each parameter of a shader, its elements; `None` for the default.
pub(crate) type Params = Vec<Option<Vec<Column>>>;

/// One grid and what is around it. The scene's parameters are those of the surface.
pub(crate) struct ShadedGrid<'a> {
    pub(crate) grid: Grid,
    pub(crate) scene: Scene<'a>,
    /// Parameters of the displacement and the atmosphere.
    pub(crate) others: Vec<(Role, Params)>,
}

/// The shaders whose parameters are requested.
pub(crate) struct PipelineShaders<'a> {
    pub(crate) shaders: Vec<(Role, &'a Shader)>,
    pub(crate) lights: Vec<&'a Shader>,
}

impl<'a> PipelineShaders<'a> {
    /// The elements of a parameter.
    fn param(&self, role: Role, name: &str, shaded: &ShadedGrid<'_>) -> Vec<Column> {
        let shader = self.shaders.iter().find(|s| s.0 == role).expect("a shader of the pipeline").1;
        let other = shaded.others.iter().find(|o| o.0 == role).map(|o| &o.1);
        elements(shader, name, other.unwrap_or(&shaded.scene.params))
    }

    /// What the displacement shader puts out, by the interpreter.
    fn displacement_output(&self, name: &str, shaded: &ShadedGrid<'_>) -> Column {
        let shader = self.shaders.iter().find(|s| s.0 == Role::Displacement).expect("a displacement shader").1;
        let params = shaded.others.iter().find(|o| o.0 == Role::Displacement).map(|o| o.1.clone());
        let scene = Scene { params: params.unwrap_or_default(), ..shaded.scene.clone() };
        let output = shade(shader, &scene, &shaded.grid).0.into_iter().find(|o| &*o.0 == name);
        output.expect("an output of the displacement shader").1
    }
}

/// The elements of a parameter: given, or its default.
fn elements(shader: &Shader, name: &str, params: &Params) -> Vec<Column> {
    let number = shader.param(name).expect("a parameter of the shader").0 as usize;
    match (params.get(number).cloned().flatten(), &shader.params[number].default) {
        (Some(elements), _) => elements,
        (None, ParamDefault::Values(values)) => values.iter().map(|v| vec![v.clone()]).collect(),
        (None, ParamDefault::Computed(_)) => panic!("a computed default is not in a block"),
    }
}

fn words(c: &Const, scene: &Scene<'_>) -> Vec<u32> {
    words_of(c, &|text| scene.intern(text))
}

fn words_of(c: &Const, tokens: &dyn Fn(&str) -> u32) -> Vec<u32> {
    match c {
        Const::Bool(x) => vec![u32::from(*x)],
        Const::U32(x) => vec![*x],
        Const::F32(x) => vec![x.to_bits()],
        Const::Vec3(x) => x.iter().map(|x| x.to_bits()).collect(),
        Const::Mat4(x) => x.iter().map(|x| x.to_bits()).collect(),
        Const::Str(x) => vec![tokens(x)],
    }
}

fn pick(column: &Column, vertex: usize) -> &Const {
    &column[if column.len() == 1 { 0 } else { vertex }]
}

/// The texts of categories of all lights, in order of appearance; each has a number.
#[derive(Default)]
struct Categories(Vec<String>);

impl Categories {
    fn number(&mut self, text: &str) -> u32 {
        let at = self.0.iter().position(|known| known == text).unwrap_or_else(|| {
            self.0.push(text.to_owned());
            self.0.len() - 1
        });
        at as u32
    }

    fn taken(&self, pattern: &str) -> impl Iterator<Item = [u32; 4]> {
        self.0.iter().map(move |text| [u32::from(category_matches(pattern, text)), 0, 0, 0])
    }
}

impl DispatchBuffers {
    /// Packs grids into the slots of one dispatch.
    pub(crate) fn new(
        reflection: &Reflection,
        state_channels: u32,
        pipeline: &PipelineShaders<'_>,
        shaded: &[ShadedGrid<'_>],
    ) -> Self {
        let largest = shaded.iter().map(|s| s.grid.vertices()).max().unwrap_or(16);
        let slot_log2 = (largest.next_power_of_two().trailing_zeros()).max(4);
        let slots = shaded.len() as u32;
        let stride = (slots << slot_log2).next_multiple_of(256);
        // Something is before each base, so that a forgotten offset is found.
        let (input_base, uniform_base) = (7, 7 + reflection.input_channels * stride);
        let output_base = uniform_base + slots * reflection.uniform_records + 3;
        let state_base = output_base + reflection.output_channels * stride;
        let records = state_base + state_channels * stride;
        let push = Push {
            work_base: 2,
            slot_log2,
            slot_count: slots,
            input_base,
            output_base,
            channel_stride: stride,
            space_table: 0,
            trips: LOOP_TRIPS_MAX,
            state_base,
            pass: 0,
            pass_word: 1,
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
                let (elements, _) = Self::columns(&input.input, pipeline, shaded);
                let records = input.count / elements.len() as u32;
                for (i, column) in (0..).zip(elements) {
                    this.put(uniforms + input.record + i * records, 0, &words(&column[0], &shaded.scene));
                }
            }
        }
        if reflection.reads_space_table {
            this.space_table(&shaded[0].scene);
        }
        let longest = reflection.lights.iter().map(|l| l.records).max().unwrap_or(0);
        this.params.resize(this.params.len() + longest as usize * 4, 0);
        this
    }

    /// Returns whether a decision holds for a slot.
    pub(crate) fn decision(&self, slot: u32, decision: &Decision) -> bool {
        let block = self.work[((self.push.work_base + slot) * 8 + 1) as usize];
        self.params[((block + decision.record) * 4 + decision.lane) as usize] != 0
    }

    /// Appends the matrices of the spaces that have a name among the strings, and the table.
    fn space_table(&mut self, scene: &Scene<'_>) {
        let names = scene.strings.borrow().clone();
        let mut table = Vec::new();
        for name in names {
            let record = |this: &mut Self, direction| {
                let matrix = scene.spaces.get(&(name.as_str().into(), direction))?;
                this.params.extend(matrix.map(f32::to_bits));
                Some((this.params.len() / 4 - 4) as u32)
            };
            let there = record(self, Direction::CameraFromSpace).unwrap_or(0);
            let back = record(self, Direction::SpaceFromCamera).unwrap_or(0);
            table.extend([there, back, 0, 0]);
        }
        self.push.space_table = (self.params.len() / 4) as u32;
        self.params.extend(table);
    }

    fn put(&mut self, record: u32, lane: u32, words: &[u32]) {
        self.arena[(record * 4 + lane) as usize..][..words.len()].copy_from_slice(words);
    }

    /// Saves the values of a slot's vertices for later passes.
    pub(crate) fn save(
        &mut self,
        slot: u32,
        grid: &Grid,
        (channel, lane): (u32, u8),
        column: &Column,
        tokens: &dyn Fn(&str) -> u32,
    ) {
        for vertex in 0..grid.vertices() {
            let place = self.push.state_base + (slot << self.push.slot_log2) + vertex as u32;
            for (words, further) in words_of(pick(column, vertex), tokens).chunks(4).zip(channel..) {
                self.put(place + further * self.push.channel_stride, lane.into(), words);
            }
        }
    }

    /// The elements of an input, and what is in the fourth lane.
    fn columns(
        input: &Input,
        pipeline: &PipelineShaders<'_>,
        shaded: &ShadedGrid<'_>,
    ) -> (Vec<Column>, Option<Column>) {
        let global = |g: Global| shaded.scene.globals.get(&g).cloned().unwrap_or_else(|| vec![g.ty().zero()]);
        let with = |g, fourth| (vec![global(g)], Some(global(fourth)));
        match input {
            Input::PositionU => with(Global::P, Global::U),
            Input::NormalV => with(Global::N, Global::V),
            Input::DpduS => with(Global::DPdu, Global::S),
            Input::DpdvT => with(Global::DPdv, Global::T),
            Input::Velocity => (vec![global(Global::DPdtime)], None),
            Input::CiAlpha => with(Global::Ci, Global::Alpha),
            Input::Color => (vec![global(Global::Cs)], None),
            Input::Opacity => (vec![global(Global::Os)], None),
            Input::Oi => (vec![global(Global::Oi)], None),
            Input::Displacement(value) => (vec![pipeline.displacement_output(&value.name, shaded)], None),
            Input::Primvar { shader, name, .. } => (pipeline.param(*shader, name, shaded), None),
        }
    }

    fn inputs(&mut self, reflection: &Reflection, pipeline: &PipelineShaders<'_>, shaded: &ShadedGrid<'_>, slot: u32) {
        for input in &reflection.inputs {
            let (elements, fourth) = Self::columns(&input.input, pipeline, shaded);
            let channels = input.count / elements.len() as u32;
            for vertex in 0..shaded.grid.vertices() {
                let place = (slot << self.push.slot_log2) + vertex as u32;
                let record = |channel: u32| self.push.input_base + channel * self.push.channel_stride + place;
                let records: Vec<u32> = (0..input.count).map(|c| record(input.channel + c)).collect();
                for (column, records) in elements.iter().zip(records.chunks(channels as usize)) {
                    let value = words(pick(column, vertex), &shaded.scene);
                    for (words, &record) in value.chunks(4).zip(records) {
                        self.put(record, 0, words);
                    }
                }
                if let Some(fourth) = &fourth {
                    self.put(records[0], 3, &words(pick(fourth, vertex), &shaded.scene));
                }
            }
        }
    }

    /// Appends the instance block, its light list and the light blocks; the block's record.
    fn block(
        &mut self,
        reflection: &Reflection,
        pipeline: &PipelineShaders<'_>,
        shaded: &ShadedGrid<'_>,
        categories: &mut Categories,
    ) -> u32 {
        let scene = &shaded.scene;
        let list = self.light_list(reflection, pipeline, shaded, categories);
        let block = (self.params.len() / 4) as u32;
        self.params.resize(self.params.len() + reflection.block.records as usize * 4, 0);
        for slot in &reflection.block.slots {
            let pattern = |p: &Pattern| match p {
                Pattern::Literal(text) => text.to_string(),
                Pattern::Param(role, name) => match &pipeline.param(*role, name, shaded)[0][0] {
                    Const::Str(text) => text.to_string(),
                    other => panic!("{other} is not a pattern"),
                },
                Pattern::Query(..) | Pattern::Computed(..) => panic!("categories are literals or parameters"),
            };
            let values = match &slot.content {
                Content::Computed(_) => continue,
                Content::LightList => vec![Const::U32(list)],
                Content::Tables => {
                    let tables = (self.params.len() / 4) as u32;
                    self.params.extend(reflection.tables.iter().flatten());
                    vec![Const::U32(tables)]
                }
                Content::LightsTaken(p) => {
                    let table = (self.params.len() / 4) as u32;
                    self.params.extend(categories.taken(&pattern(p)).flatten());
                    vec![Const::U32(table)]
                }
                Content::Param { shader, name, .. } => {
                    pipeline.param(*shader, name, shaded).into_iter().map(|c| c[0].clone()).collect()
                }
                Content::QueryFound(source, name, ty, count) => {
                    vec![Const::F32(f32::from(answer(scene, (*source, name), *ty, *count).is_some()))]
                }
                Content::QueryValue(source, name, ty, count) => {
                    let zeros = vec![ty.machine().zero(); *count as usize];
                    answer(scene, (*source, name), *ty, *count).unwrap_or(zeros)
                }
                content => vec![named(content, scene, None)],
            };
            self.put_values(block, slot, &values, scene);
        }
        self.compute(block, &reflection.block, scene);
        block
    }

    /// Puts what a block's program computes into the block.
    fn compute(&mut self, block: u32, layout: &BlockLayout, scene: &Scene<'_>) {
        let Some(program) = &layout.program else { return };
        let words = &self.params[block as usize * 4..][..layout.records as usize * 4];
        let results = compute_block(program, words, &SceneAnswers(scene));
        for slot in &layout.slots {
            if let Content::Computed(number) = slot.content {
                let at = ((block + slot.record) * 4 + slot.lane) as usize;
                let words = &results[number as usize];
                self.params[at..][..words.len()].copy_from_slice(words);
            }
        }
    }

    fn put_values(&mut self, block: u32, slot: &BlockSlot, values: &[Const], scene: &Scene<'_>) {
        assert_eq!(values.len(), slot.len as usize, "elements of {:?}", slot.content);
        let records = if slot.ty == MachineType::Mat4 { 4 } else { 1 };
        for (i, value) in (0..).zip(values) {
            let words = words(value, scene);
            let at = ((block + slot.record + i * records) * 4 + slot.lane) as usize;
            self.params[at..][..words.len()].copy_from_slice(&words);
        }
    }

    fn light_list(
        &mut self,
        reflection: &Reflection,
        pipeline: &PipelineShaders<'_>,
        shaded: &ShadedGrid<'_>,
        categories: &mut Categories,
    ) -> u32 {
        let scene = &shaded.scene;
        let kind_of = |light: &LightInstance<'_>| {
            pipeline.lights.iter().position(|l| std::ptr::eq(*l, light.shader)).expect("a kind")
        };
        let mut lights: Vec<_> = scene.lights.iter().collect();
        lights.sort_by_key(|light| kind_of(light));
        let mut entries = Vec::new();
        for light in &lights {
            let kind = kind_of(light);
            let layout = &reflection.lights[kind];
            let block = (self.params.len() / 4) as u32;
            self.params.resize(self.params.len() + layout.records as usize * 4, 0);
            for slot in &layout.slots {
                let values = match &slot.content {
                    Content::Computed(_) => continue,
                    Content::Param { name, .. } => {
                        elements(light.shader, name, &light.params).into_iter().map(|c| c[0].clone()).collect()
                    }
                    content => vec![named(content, scene, Some(light))],
                };
                self.put_values(block, slot, &values, scene);
            }
            self.compute(block, layout, scene);
            entries.push([kind as u32, block, categories.number(&light.category), 0]);
        }
        let list = (self.params.len() / 4) as u32;
        for kind in 0..pipeline.lights.len() {
            let before = |kind| lights.partition_point(|light| kind_of(light) < kind) as u32;
            self.params.extend([before(kind), before(kind + 1), 0, 0]);
        }
        self.params.extend(entries.into_iter().flatten());
        list
    }
}

/// A scene that the programs of blocks ask.
struct SceneAnswers<'a>(&'a Scene<'a>);

impl BlockSurroundings for SceneAnswers<'_> {
    fn token(&self, text: &str) -> u32 {
        self.0.intern(text)
    }

    fn text(&self, token: u32) -> String {
        self.0.strings.borrow().get(token as usize).cloned().unwrap_or_default()
    }

    fn query(&self, source: QuerySource, name: &str, ty: RslType, count: u32) -> Option<Vec<u32>> {
        let values = answer(self.0, (source, &name.into()), ty, count)?;
        Some(values.iter().flat_map(|value| words(value, self.0)).collect())
    }
}

/// The answer to a query, if there is one of this type and length.
fn answer(scene: &Scene<'_>, what: (QuerySource, &Arc<str>), ty: RslType, count: u32) -> Option<Vec<Const>> {
    let answer = scene.queries.get(&(what.0, what.1.clone()))?;
    let fits = answer.len() == count as usize && answer.iter().all(|c| c.ty() == ty.machine());
    fits.then(|| answer.clone())
}

/// A value of a block that is no parameter.
fn named(content: &Content, scene: &Scene<'_>, light: Option<&LightInstance<'_>>) -> Const {
    let global = |g: Global| scene.globals.get(&g).map_or_else(|| g.ty().zero(), |c| c[0].clone());
    match content {
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
        content => panic!("{content:?} does not occur in these tests"),
    }
}

/// Reads output channels of a slot: for each, its value at each vertex.
pub(crate) fn outputs(
    dispatch: &DispatchBuffers,
    arena: &[u32],
    slot: u32,
    grid: &Grid,
    outputs: &[OutputChannel],
) -> Vec<Column> {
    let mut columns = Vec::new();
    for output in outputs {
        let value = |vertex: usize| {
            let place = (slot << dispatch.push.slot_log2) + vertex as u32;
            let float = |word: usize| {
                let channel = output.channel + word as u32 / 4;
                let record = dispatch.push.output_base + channel * dispatch.push.channel_stride + place;
                f32::from_bits(arena[record as usize * 4 + word % 4])
            };
            match output.ty.machine() {
                MachineType::Vec3 => Const::Vec3(std::array::from_fn(float)),
                MachineType::Mat4 => Const::Mat4(Box::new(std::array::from_fn(float))),
                _ => Const::F32(float(0)),
            }
        };
        columns.push((0..grid.vertices()).map(value).collect());
    }
    columns
}
