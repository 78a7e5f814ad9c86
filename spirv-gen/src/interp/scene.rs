//! The interpreter's host for a shader as the front end built it: everything is read by name.

use super::evaluate::index;
use super::exec::{Outcome, run};
use super::grid::Grid;
use super::host::{Column, InterpreterHost, LightRays, Ray};
use super::texture::{TextureStore, info};
use crate::ir::{
    Const, Direction, Global, MachineType, Op, ParamDefault, ParamId, QuerySource, Region, RslType, Shader, ShaderKind,
    element_name,
};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;

/// A light of a scene.
#[derive(Clone, Debug)]
pub struct LightInstance<'a> {
    /// Its shader.
    pub shader: &'a Shader,
    /// For each parameter, its elements; `None` for the default.
    pub params: Vec<Option<Vec<Column>>>,
    /// The matrices of `"shader"` (and of `"object"`, which is the same for a light).
    pub space: FxHashMap<Direction, [f32; 16]>,
    /// Its categories, comma separated.
    pub category: String,
}

impl LightInstance<'_> {
    /// Returns the light with these values instead of its parameters of the same names and types.
    fn given(&self, sent: &[(Arc<str>, Column)]) -> Self {
        let mut light = self.clone();
        light.params.resize(light.shader.params.len(), None);
        for (name, column) in sent {
            let found = light.shader.params.iter().position(|p| p.name == *name && p.array.is_none());
            // A text is its token by now.
            let ty = |ty: MachineType| if ty == MachineType::Str { MachineType::U32 } else { ty };
            if let Some(at) = found.filter(|&at| ty(light.shader.params[at].ty.machine()) == ty(column[0].ty())) {
                light.params[at] = Some(vec![column.clone()]);
            }
        }
        light
    }
}

/// What a shader finds around it.
#[derive(Clone, Debug, Default)]
pub struct Scene<'a> {
    /// Globals; those that are missing are derived from others, or 0.
    pub globals: FxHashMap<Global, Column>,
    /// For each parameter of the shader, its elements; `None` for the default.
    pub params: Vec<Option<Vec<Column>>>,
    /// Matrices of spaces.
    pub spaces: FxHashMap<(Arc<str>, Direction), [f32; 16]>,
    /// Lights in order.
    pub lights: Vec<LightInstance<'a>>,
    /// Answers to queries.
    pub queries: FxHashMap<(QuerySource, Arc<str>), Vec<Const>>,
    /// Textures by token.
    pub textures: Option<&'a dyn TextureStore>,
    /// In a light: its number.
    pub light_number: Option<u32>,
    /// Texts of tokens; token 0 is the empty string.
    pub strings: RefCell<Vec<String>>,
}

impl Scene<'_> {
    /// Returns the number of a text among the scene's strings.
    pub fn intern(&self, text: &str) -> u32 {
        let mut strings = self.strings.borrow_mut();
        if strings.is_empty() {
            strings.push(String::new());
        }
        let found = strings.iter().position(|s| s == text);
        found.unwrap_or_else(|| {
            strings.push(text.to_owned());
            strings.len() - 1
        }) as u32
    }
}

/// Values of a shader's outputs by name, each at every vertex.
pub type Outputs = Vec<(Arc<str>, Column)>;

/// Runs a shader in a scene over a grid.
pub fn shade(shader: &Shader, scene: &Scene<'_>, grid: &Grid) -> (Outputs, Outcome) {
    let inside = SceneHost { shader, scene, grid, defaults: RefCell::default() };
    let outcome = run(&shader.body, shader.body.root(), grid, &inside);
    let outputs = shader.outputs.iter().map(|o| o.name.clone()).zip(outcome.results.iter().cloned()).collect();
    (outputs, outcome)
}

/// A scene as seen from inside a shader.
struct SceneHost<'a> {
    shader: &'a Shader,
    scene: &'a Scene<'a>,
    grid: &'a Grid,
    /// Computed defaults of parameters.
    defaults: RefCell<FxHashMap<u32, Vec<Column>>>,
}

fn pick(column: &[Const], vertex: usize) -> Const {
    column[if column.len() == 1 { 0 } else { vertex }].clone()
}

impl SceneHost<'_> {
    fn as_token(&self, c: Const) -> Const {
        if let Const::Str(text) = &c { Const::U32(self.scene.intern(text)) } else { c }
    }

    fn param(&self, id: ParamId, element: usize, vertex: usize) -> Const {
        let number = id.0 as usize;
        if let Some(Some(elements)) = self.scene.params.get(number) {
            return self.as_token(pick(&elements[element], vertex));
        }
        match &self.shader.params[number].default {
            ParamDefault::Values(values) => self.as_token(values[element].clone()),
            ParamDefault::Computed(region) => pick(&self.default(id.0, *region)[element], vertex),
        }
    }

    fn default(&self, number: u32, region: Region) -> Vec<Column> {
        if let Some(columns) = self.defaults.borrow().get(&number) {
            return columns.clone();
        }
        let columns = run(&self.shader.body, region, self.grid, self).results;
        self.defaults.borrow_mut().insert(number, columns.clone());
        columns
    }

    fn space(&self, name: &str, direction: Direction) -> Const {
        let found = self.scene.spaces.get(&(name.into(), direction));
        found.map_or_else(|| Const::diagonal(1.0), |m| Const::Mat4(Box::new(*m)))
    }

    fn global(&self, global: Global, vertex: usize) -> Const {
        if let Some(column) = self.scene.globals.get(&global) {
            return pick(column, vertex);
        }
        let vec3 = |g| self.global(g, vertex).as_vec3().expect("a triple");
        match global {
            Global::Du => Const::F32(self.grid.du),
            Global::Dv => Const::F32(self.grid.dv),
            Global::NComps => Const::F32(3.0),
            Global::Orientation => Const::F32(self.grid.orientation()),
            Global::I | Global::Ps => Const::Vec3(vec3(Global::P)),
            Global::Ns => Const::Vec3(vec3(Global::N)),
            Global::Ng => {
                let (u, v) = (vec3(Global::DPdu), vec3(Global::DPdv));
                let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
                let n = n.map(|x| x * self.grid.orientation());
                let degenerate = n[0] * n[0] + n[1] * n[1] + n[2] * n[2] == 0.0;
                Const::Vec3(if degenerate { vec3(Global::N) } else { n })
            }
            _ => global.ty().zero(),
        }
    }

    fn query(&self, source: QuerySource, name: Arc<str>, ty: RslType, count: u32) -> Vec<Const> {
        let zero = self.as_token(ty.machine().zero());
        let answer = self.scene.queries.get(&(source, name));
        let fits = |a: &&Vec<Const>| a.len() == count as usize && a.iter().all(|c| c.ty() == ty.machine());
        match answer.filter(fits) {
            Some(answer) => {
                let values = answer.iter().map(|c| self.as_token(c.clone()));
                std::iter::once(Const::F32(1.0)).chain(values).collect()
            }
            None => std::iter::once(Const::F32(0.0)).chain(vec![zero; count as usize]).collect(),
        }
    }
}

impl InterpreterHost for SceneHost<'_> {
    fn read(&self, op: &Op, args: &[Const], vertex: usize) -> Vec<Const> {
        match op {
            Op::Global(g) => vec![self.global(*g, vertex)],
            Op::Param(p) => vec![self.param(*p, 0, vertex)],
            Op::ParamElement(p) => {
                let len = self.shader.params[p.0 as usize].len() as usize;
                let at = args[0].as_f32().map_or(0, |i| index(i, len));
                vec![self.param(*p, at, vertex)]
            }
            Op::Space(name, direction) => vec![self.space(name, *direction)],
            Op::SpaceOf(direction) => {
                let name = self.text(args[0].as_u32().expect("a token"));
                vec![self.space(&name, *direction)]
            }
            Op::Query { source, name, ty, count } => self.query(*source, name.clone(), *ty, *count),
            Op::QueryBy { source, ty, count } => {
                let name = self.text(args[0].as_u32().expect("a token"));
                self.query(*source, name.into(), *ty, *count)
            }
            Op::TextureInfo { name, ty, count } => {
                let texture = args[0].as_u32().unwrap_or(0);
                let shape = (ty.machine(), *count);
                if let Some(values) = self.scene.textures.and_then(|store| info(store, name, shape, texture)) {
                    let values = values.into_iter().map(|c| self.as_token(c));
                    return std::iter::once(Const::F32(1.0)).chain(values).collect();
                }
                let zero = self.as_token(ty.machine().zero());
                std::iter::once(Const::F32(0.0)).chain(vec![zero; *count as usize]).collect()
            }
            Op::Message { ty, count, .. } => {
                let zero = self.as_token(ty.machine().zero());
                std::iter::once(Const::F32(0.0)).chain(vec![zero; *count as usize]).collect()
            }
            op => panic!("{op} is not an operation of an unbound shader"),
        }
    }

    fn token(&self, text: &str) -> u32 {
        self.scene.intern(text)
    }

    fn text(&self, token: u32) -> String {
        self.scene.strings.borrow().get(token as usize).cloned().unwrap_or_default()
    }

    fn textures(&self) -> Option<&dyn TextureStore> {
        self.scene.textures
    }

    fn light_number(&self) -> Option<u32> {
        self.scene.light_number
    }

    fn lights(&self, grid: &Grid, positions: &[Const], sent: &[(Arc<str>, Column)]) -> Vec<LightRays> {
        let lights = self.scene.lights.iter().map(|light| light.given(sent));
        (0..).zip(lights).map(|(number, light)| self.light(number, &light, grid, positions)).collect()
    }
}

impl SceneHost<'_> {
    fn light(&self, number: u32, light: &LightInstance<'_>, grid: &Grid, positions: &[Const]) -> LightRays {
        let mut scene = self.scene.clone();
        scene.light_number = Some(number);
        scene.params = light.params.clone();
        for (&direction, &matrix) in &light.space {
            scene.spaces.insert(("shader".into(), direction), matrix);
            scene.spaces.insert(("object".into(), direction), matrix);
        }
        let normals = scene.globals.get(&Global::N).cloned();
        // A light has no surface: P is the origin of its space, N its z axis.
        let camera_from_shader = light.space.get(&Direction::CameraFromSpace);
        let row = |i: usize| camera_from_shader.map_or([0.0; 3], |m| [m[4 * i], m[4 * i + 1], m[4 * i + 2]]);
        scene.globals.retain(|g, _| matches!(g, Global::Time | Global::DTime | Global::Hither | Global::Yon));
        scene.globals.insert(Global::Ps, positions.to_vec());
        scene.globals.insert(Global::P, vec![Const::Vec3(row(3))]);
        scene.globals.extend(normals.map(|normals| (Global::Ns, normals)));
        for global in [Global::N, Global::Ng] {
            scene.globals.insert(global, vec![Const::Vec3(row(2))]);
        }
        let (outputs, _) = shade(light.shader, &scene, grid);
        // Tokens made while the light ran must be known here too.
        self.scene.strings.swap(&scene.strings);
        let ambient = light.shader.kind == ShaderKind::AmbientLight;
        let column = |name: &str| outputs.iter().find(|o| &*o.0 == name).map(|o| &o.1);
        let triple = |name: &str, v: usize| column(name).map_or([0.0; 3], |c| pick(c, v).as_vec3().unwrap_or_default());
        let rays = (0..grid.vertices())
            .map(|v| {
                let active = column("active").and_then(|c| pick(c, v).as_bool()).unwrap_or(false);
                Ray { l: triple("L", v).map(|x| -x), cl: triple("Cl", v), ol: triple("Ol", v), active }
            })
            .collect();
        let variables = self.light_variables(light, &outputs, grid);
        LightRays { ambient, category: light.category.clone(), rays, variables }
    }

    /// Returns outputs and parameters, by element.
    fn light_variables(
        &self,
        light: &LightInstance<'_>,
        outputs: &Outputs,
        grid: &Grid,
    ) -> Vec<(Arc<str>, Vec<Column>)> {
        let scene = Scene { params: light.params.clone(), ..self.scene.clone() };
        let inside = SceneHost { shader: light.shader, scene: &scene, grid, defaults: RefCell::default() };
        let predefined = light.shader.kind.outputs().iter().filter(|(_, ty)| *ty != MachineType::Bool);
        let output = |name: &str| outputs.iter().find(|o| *o.0 == *name).map(|o| o.1.clone()).unwrap_or_default();
        let mut variables: Vec<_> = predefined.map(|(name, _)| ((*name).into(), vec![output(name)])).collect();
        for (param, number) in light.shader.params.iter().zip(0..) {
            let element = |i: u32| {
                if param.output {
                    return output(&element_name(&param.name, param.len(), i));
                }
                (0..grid.vertices()).map(|vertex| inside.param(ParamId(number), i as usize, vertex)).collect()
            };
            variables.push((param.name.clone(), (0..param.len()).map(element).collect()));
        }
        self.scene.strings.swap(&scene.strings);
        variables
    }
}
