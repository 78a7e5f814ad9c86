//! Arenas and handles: values, instructions, regions, local arrays, and the shader that owns them.

use super::op::{Op, ParamId, Slot};
use super::place::{PlaceId, PlaceTable, VariableId};
use super::types::{Const, MachineType, Rate, RslType};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A value: the result of an instruction or a parameter of a region. Assigned once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Inst(pub u32);

/// A region: a straight list of instructions that may own regions themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Region(pub u32);

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Def {
    /// Result number `.1` of an instruction.
    Inst(Inst, u32),
    /// Parameter number `.1` of a region.
    Param(Region, u32),
}

/// What is known of a value.
#[derive(Clone, Copy, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: MachineType,
    /// Where it comes from.
    pub def: Def,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// What it does it to.
    pub args: Vec<Value>,
    /// What it defines.
    pub results: Vec<Value>,
    /// Regions it owns.
    pub regions: Vec<Region>,
}

/// A region.
#[derive(Clone, Debug, Default)]
pub struct RegionData {
    /// Values that the owner defines on entry.
    pub params: Vec<Value>,
    /// Instructions in order.
    pub insts: Vec<Inst>,
    /// Values that it yields at its end.
    pub results: Vec<Value>,
}

/// A local array: zero at the start of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotData {
    /// Type of an element.
    pub ty: MachineType,
    /// Number of elements, at least 1.
    pub len: u32,
}

/// A variable is assigned a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The variable.
    pub variable: VariableId,
    /// Its value from here on.
    pub value: Value,
}

/// The notes of a program, each where it is made: after an instruction, or at the start of a region.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    pub(super) after: FxHashMap<Inst, Vec<Note>>,
    pub(super) first: FxHashMap<Region, Vec<Note>>,
}

/// Code: a root region without parameters, and everything below it.
#[derive(Clone, Debug)]
pub struct Body {
    values: Vec<ValueData>,
    insts: Vec<InstData>,
    regions: Vec<RegionData>,
    slots: Vec<SlotData>,
    root: Region,
    folds_exactly: bool,
    places: Arc<PlaceTable>,
    /// For each instruction, where it comes from.
    placed: Vec<PlaceId>,
    /// The place of instructions that are added.
    here: PlaceId,
    pub(super) notes: Notes,
}

impl Default for Body {
    fn default() -> Self {
        let regions = vec![RegionData::default()];
        Self {
            values: Vec::new(),
            insts: Vec::new(),
            regions,
            slots: Vec::new(),
            root: Region(0),
            folds_exactly: false,
            places: Arc::default(),
            placed: Vec::new(),
            here: PlaceId::NOWHERE,
            notes: Notes::default(),
        }
    }
}

impl Body {
    /// Returns the root region.
    pub fn root(&self) -> Region {
        self.root
    }

    /// Returns whether passes evaluate only those operations on constants that have the same bits on every device. Of a
    /// program that was made for some conditions, constants are known that another program of the same shaders computes
    /// with.
    pub fn folds_exactly(&self) -> bool {
        self.folds_exactly
    }

    /// Says whether it [folds exactly](Self::folds_exactly).
    pub fn set_folds_exactly(&mut self, exactly: bool) {
        self.folds_exactly = exactly;
    }

    /// Returns what is known of a value.
    pub fn value(&self, value: Value) -> &ValueData {
        &self.values[value.0 as usize]
    }

    /// Returns the type of a value.
    pub fn ty(&self, value: Value) -> MachineType {
        self.value(value).ty
    }

    /// Returns the number of values; their handles count from 0.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Returns an instruction.
    pub fn inst(&self, inst: Inst) -> &InstData {
        &self.insts[inst.0 as usize]
    }

    /// Returns an instruction, to be changed. Types and number of results must stay.
    pub fn inst_mut(&mut self, inst: Inst) -> &mut InstData {
        &mut self.insts[inst.0 as usize]
    }

    /// Returns the number of instructions; their handles count from 0.
    pub fn inst_count(&self) -> usize {
        self.insts.len()
    }

    /// Returns a region.
    pub fn region(&self, region: Region) -> &RegionData {
        &self.regions[region.0 as usize]
    }

    /// Returns a region, to be changed.
    pub fn region_mut(&mut self, region: Region) -> &mut RegionData {
        &mut self.regions[region.0 as usize]
    }

    /// Returns the number of regions.
    pub fn region_count(&self) -> usize {
        self.regions.len()
    }

    /// Returns a local array.
    pub fn slot(&self, slot: Slot) -> &SlotData {
        &self.slots[slot.0 as usize]
    }

    /// Returns all local arrays.
    pub fn slots(&self) -> &[SlotData] {
        &self.slots
    }

    /// Adds a local array.
    pub fn add_slot(&mut self, ty: MachineType, len: u32) -> Slot {
        self.slots.push(SlotData { ty, len: len.max(1) });
        Slot((self.slots.len() - 1) as u32)
    }

    /// Adds an empty region.
    pub fn add_region(&mut self) -> Region {
        self.regions.push(RegionData::default());
        Region((self.regions.len() - 1) as u32)
    }

    /// Adds a parameter to a region.
    pub fn add_region_param(&mut self, region: Region, ty: MachineType) -> Value {
        let index = self.region(region).params.len() as u32;
        let value = self.add_value(ty, Def::Param(region, index));
        self.region_mut(region).params.push(value);
        value
    }

    /// Returns the table of places.
    pub fn places(&self) -> &Arc<PlaceTable> {
        &self.places
    }

    /// Replaces the table of places.
    pub(crate) fn set_places(&mut self, places: Arc<PlaceTable>) {
        self.places = places;
    }

    /// Returns the table of places, to be added to.
    pub(crate) fn places_mut(&mut self) -> &mut PlaceTable {
        Arc::make_mut(&mut self.places)
    }

    /// Returns where an instruction comes from.
    pub fn place(&self, inst: Inst) -> PlaceId {
        self.placed[inst.0 as usize]
    }

    /// Returns the place of instructions that are added.
    pub(crate) fn here(&self) -> PlaceId {
        self.here
    }

    /// Sets the place of instructions that are added from now on, and returns what it was.
    pub(crate) fn go_to(&mut self, place: PlaceId) -> PlaceId {
        std::mem::replace(&mut self.here, place)
    }

    /// Does the same with the place of an instruction.
    pub(crate) fn go_to_inst(&mut self, inst: Inst) -> PlaceId {
        self.go_to(self.place(inst))
    }

    /// Adds an instruction that is in no region yet.
    pub fn add_inst(&mut self, op: Op, args: Vec<Value>, regions: Vec<Region>, results: &[MachineType]) -> Inst {
        let inst = Inst(self.insts.len() as u32);
        let results = results.iter().zip(0..).map(|(&ty, i)| self.add_value(ty, Def::Inst(inst, i))).collect();
        self.insts.push(InstData { op, args, results, regions });
        self.placed.push(self.here);
        inst
    }

    /// Gives an instruction one more result.
    pub fn add_result(&mut self, inst: Inst, ty: MachineType) -> Value {
        let index = self.inst(inst).results.len() as u32;
        let value = self.add_value(ty, Def::Inst(inst, index));
        self.inst_mut(inst).results.push(value);
        value
    }

    /// Replaces the results of an instruction by some of them.
    pub fn set_results(&mut self, inst: Inst, results: Vec<Value>) {
        for (&v, i) in results.iter().zip(0..) {
            self.values[v.0 as usize].def = Def::Inst(inst, i);
        }
        self.inst_mut(inst).results = results;
    }

    /// Replaces the parameters of a region by some of them.
    pub fn set_region_params(&mut self, region: Region, params: Vec<Value>) {
        for (&v, i) in params.iter().zip(0..) {
            self.values[v.0 as usize].def = Def::Param(region, i);
        }
        self.region_mut(region).params = params;
    }

    fn add_value(&mut self, ty: MachineType, def: Def) -> Value {
        self.values.push(ValueData { ty, def });
        Value((self.values.len() - 1) as u32)
    }

    /// Returns the instruction that defines a value, if it is not a region's parameter.
    pub fn def_inst(&self, value: Value) -> Option<&InstData> {
        match self.value(value).def {
            Def::Inst(inst, _) => Some(self.inst(inst)),
            Def::Param(..) => None,
        }
    }

    /// Returns the constant that a value is, if it is defined as one.
    pub fn constant(&self, value: Value) -> Option<&Const> {
        match self.def_inst(value)?.op {
            Op::Const(ref c) => Some(c),
            _ => None,
        }
    }

    /// Replaces values wherever they are used below `region`.
    pub fn substitute(&mut self, region: Region, new: &FxHashMap<Value, Value>) {
        self.substitute_below(region, new);
        self.substitute_in_notes(new);
    }

    fn substitute_below(&mut self, region: Region, new: &FxHashMap<Value, Value>) {
        let replace = |v: &mut Value| {
            if let Some(&to) = new.get(v) {
                *v = to;
            }
        };
        self.region_mut(region).results.iter_mut().for_each(replace);
        for inst in self.region(region).insts.clone() {
            self.inst_mut(inst).args.iter_mut().for_each(replace);
            for inner in self.inst(inst).regions.clone() {
                self.substitute_below(inner, new);
            }
        }
    }

    /// Calls `visit` for every instruction below `region`, owners before what they own.
    pub fn walk(&self, region: Region, visit: &mut impl FnMut(Inst)) {
        for &inst in &self.region(region).insts {
            self.walk_inst(inst, visit);
        }
    }

    /// Calls `visit` for an instruction and every one below it, owners before what they own.
    pub fn walk_inst(&self, inst: Inst, visit: &mut impl FnMut(Inst)) {
        visit(inst);
        for &inner in &self.inst(inst).regions {
            self.walk(inner, visit);
        }
    }
}

/// What a shader is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ShaderKind {
    /// Outputs `Ci`, `Oi`.
    Surface,
    /// Outputs `P`, `N`.
    Displacement,
    /// A light with an illuminate or solar statement. Outputs `L` (from the light to the surface, as in the light
    /// shader), `Cl`, `Ol`, and `active` (bool): whether the point is inside the cone of the statement that was
    /// executed.
    Light,
    /// A light with neither: only `ambient()` sees it. Outputs `Cl`, `Ol`.
    AmbientLight,
    /// Reads the globals `Ci`, `Oi` that the surface left; outputs `Ci`, `Oi`.
    Volume,
    /// Reads the globals `Ci`, `Oi`, `alpha` of a pixel; `P` is its raster position. Outputs `Ci`, `Oi`, `alpha`.
    Imager,
}

impl ShaderKind {
    /// All kinds.
    pub const ALL: [ShaderKind; 6] = {
        use ShaderKind::*;
        [Surface, Displacement, Light, AmbientLight, Volume, Imager]
    };

    /// Returns the name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            ShaderKind::Surface => "surface",
            ShaderKind::Displacement => "displacement",
            ShaderKind::Light => "light",
            ShaderKind::AmbientLight => "ambient_light",
            ShaderKind::Volume => "volume",
            ShaderKind::Imager => "imager",
        }
    }

    /// Returns the predefined outputs, which come first in [`Shader::outputs`] and in this order.
    pub fn outputs(self) -> &'static [(&'static str, MachineType)] {
        match self {
            ShaderKind::Surface | ShaderKind::Volume => &[("Ci", MachineType::Vec3), ("Oi", MachineType::Vec3)],
            ShaderKind::Displacement => &[("P", MachineType::Vec3), ("N", MachineType::Vec3)],
            ShaderKind::Light => &[
                ("L", MachineType::Vec3),
                ("Cl", MachineType::Vec3),
                ("Ol", MachineType::Vec3),
                ("active", MachineType::Bool),
            ],
            ShaderKind::AmbientLight => &[("Cl", MachineType::Vec3), ("Ol", MachineType::Vec3)],
            ShaderKind::Imager => &[("Ci", MachineType::Vec3), ("Oi", MachineType::Vec3), ("alpha", MachineType::F32)],
        }
    }
}

/// What a parameter is when the scene does not give it.
#[derive(Clone, Debug)]
pub enum ParamDefault {
    /// These values: one, or one for each element. The host writes them into the instance block, or the compiler folds
    /// them.
    Values(Vec<Const>),
    /// What this region yields: one value, or one for each element. It has no parameters, and no effects, and reads
    /// only what any code at the start of the shader could read (globals, spaces, parameters declared before).
    Computed(Region),
}

/// A parameter of a shader.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: Arc<str>,
    /// Its type in the language.
    pub ty: RslType,
    /// Number of elements of an array.
    pub array: Option<u32>,
    /// Uniform or varying, as declared.
    pub rate: Rate,
    /// Declared `output`.
    pub output: bool,
    /// What it is when not given.
    pub default: ParamDefault,
}

impl Param {
    /// Returns the number of elements, 1 for what is not an array.
    pub fn len(&self) -> u32 {
        self.array.unwrap_or(1)
    }

    /// Never true: a parameter has at least one element.
    pub fn is_empty(&self) -> bool {
        false
    }
}

/// Returns the name of an element of an array of `len` elements, or of what is not an array.
pub fn element_name(name: &Arc<str>, len: u32, element: u32) -> Arc<str> {
    if len == 1 { name.clone() } else { format!("{name}[{element}]").into() }
}

/// What the name of a light's parameter has in front where a surface shows lights what it is instead of their own.
pub const SENT_TO_LIGHT: &str = "send:light:";

/// Returns the name under which a value for a light's parameter is shown to lights.
pub fn sent_name(param: &str) -> Arc<str> {
    format!("{SENT_TO_LIGHT}{param}").into()
}

/// Something that a shader hands out: a predefined variable, an output parameter or an element of one
/// ([`element_name`]), with its value at the end of the shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub name: Arc<str>,
    /// Its machine type.
    pub ty: MachineType,
}

/// A shader: code whose root region yields the values of its outputs.
#[derive(Clone, Debug)]
pub struct Shader {
    /// Its name.
    pub name: Arc<str>,
    /// What it is for.
    pub kind: ShaderKind,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its outputs, parallel to the results of the root region: [`ShaderKind::outputs`], then output parameters (arrays
    /// have none).
    pub outputs: Vec<Output>,
    /// Its code.
    pub body: Body,
}

impl Shader {
    /// Returns the value of an output at the end of the shader.
    pub fn output(&self, name: &str) -> Option<Value> {
        let index = self.outputs.iter().position(|o| &*o.name == name)?;
        self.body.region(self.body.root()).results.get(index).copied()
    }

    /// Returns the number of a parameter.
    pub fn param(&self, name: &str) -> Option<ParamId> {
        self.params.iter().position(|p| &*p.name == name).map(|i| ParamId(i as u32))
    }
}
