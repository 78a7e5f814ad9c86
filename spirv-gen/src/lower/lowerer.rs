//! A shader that is being lowered: what is known of it, what it takes and gives, the variables of the language.

use super::cells::{Cell, Cells};
use super::effects::Effects;
use super::moving_part::MovingPart;
use super::named::Named;
use super::placed::placed_functions;
use crate::ir;
use crate::ir::{Builder, Const, Global, Op, ParamDefault, ParamId, Rate, RslType, Slot, Value};
use crate::sema::hir::{
    self, CheckedShader, Class, Constant, DeclaredKind, Default, FuncId, Predefined, Shape, Storage, Type, VarId,
};
use std::sync::Arc;

/// Where the elements of an array are.
#[derive(Clone, Copy)]
pub(super) enum ArrayPlace {
    Slot(Slot),
    Param(ParamId),
}

/// An array and its length.
#[derive(Clone, Copy)]
pub(super) struct Array {
    pub(super) place: ArrayPlace,
    /// Elements for which there is room.
    pub(super) length: u32,
    /// The number of elements, where it changes.
    pub(super) count: Option<Cell>,
}

/// The flags of a loop that is being lowered.
#[derive(Clone, Copy)]
pub(super) struct LoopFlags {
    /// A `break` has ended it.
    pub(super) broken: Cell,
    /// A `continue` has ended this trip.
    pub(super) continued: Cell,
}

/// The function, or the shader, whose code is being lowered.
#[derive(Default)]
pub(super) struct CallFrame {
    pub(super) loops: Vec<LoopFlags>,
    /// A `return` has been reached; there is one only where a `return` is not the last statement.
    pub(super) returned: Option<Cell>,
    /// The function's result.
    pub(super) result: Option<Cell>,
    /// A default that has a place is being computed ([`Lowerer::default_value`]).
    pub(super) in_placed_default: bool,
}

/// The variables that a light shader gives to those that it lights.
pub(super) struct LightCells {
    pub(super) l: Cell,
    pub(super) active: Cell,
}

/// A shader that is being lowered.
pub(super) struct Lowerer<'a> {
    pub(super) shader: &'a CheckedShader,
    pub(super) builder: Builder,
    pub(super) effects: Effects,
    pub(super) cells: Cells,
    pub(super) arrays: Vec<Option<Array>>,
    pub(super) params: Vec<Option<ParamId>>,
    pub(super) frame: CallFrame,
    pub(super) light: Option<LightCells>,
    /// Counts the calls of `random()`; there is none yet while defaults are computed.
    pub(super) random_count: Option<Cell>,
    /// Calls of `random()` for uniform variables.
    pub(super) uniform_random_calls: u32,
    /// What places and notes name.
    pub(super) named: Named,
    /// For each function, whether it has a place of its own ([`Lowerer::default_value`]).
    pub(super) placed_functions: Vec<bool>,
    /// Loops around, those of callers included.
    pub(super) loop_depth: usize,
    /// Which part of a surface that moves P is lowered.
    pub(super) part: Option<MovingPart>,
    /// The one `illuminate` or `solar` that shines, in the order of lowering; the last executed if there is none.
    pub(super) shining: Option<u32>,
    /// Those met so far.
    pub(super) light_statements: u32,
    /// Whether what is lowered is inside of one.
    pub(super) shines: bool,
}

/// Returns the type of a value in the machine.
pub(super) fn machine(ty: Type) -> ir::MachineType {
    rsl_type(ty).machine()
}

/// Returns the IR's name of a type that a value can have.
pub(super) fn rsl_type(ty: Type) -> RslType {
    match ty {
        Type::Float | Type::Void => RslType::Float,
        Type::Color => RslType::Color,
        Type::Point => RslType::Point,
        Type::Vector => RslType::Vector,
        Type::Normal => RslType::Normal,
        Type::Matrix => RslType::Matrix,
        Type::String => RslType::String,
    }
}

pub(super) fn constant(value: &Constant) -> Const {
    match value {
        Constant::Float(x) => Const::F32(*x),
        Constant::Triple(x) => Const::Vec3(*x),
        Constant::Matrix(x) => Const::Mat4(x.clone()),
        Constant::String(text) => Const::Str(text.clone()),
    }
}

impl<'a> Lowerer<'a> {
    pub(super) fn new(shader: &'a CheckedShader, effects: Effects, mut builder: Builder) -> Self {
        builder.set_texts(&shader.texts, shader.span);
        builder.go_to(shader.span);
        let count = shader.variables.len();
        let cells = Cells::new(count);
        Self {
            shader,
            builder,
            effects,
            cells: if shader.notes_assignments { cells.noting() } else { cells },
            arrays: vec![None; count],
            params: vec![None; count],
            frame: CallFrame::default(),
            light: None,
            random_count: None,
            uniform_random_calls: 0,
            named: Named::new(shader),
            placed_functions: placed_functions(shader),
            loop_depth: 0,
            part: None,
            shining: None,
            light_statements: 0,
            shines: false,
        }
    }

    /// Declares the shader's parameters. Code of defaults sees the parameters before.
    pub(super) fn parameters(&mut self) {
        for parameter in &self.shader.parameters {
            let variable = self.shader.variable(parameter.variable);
            let outer = self.builder.go_to(variable.span);
            let default = match &parameter.default {
                Default::Constant(values) => ParamDefault::Values(values.iter().map(constant).collect()),
                Default::Computed(values) => {
                    self.builder.begin_default();
                    let values: Vec<_> = values.iter().map(|v| self.default_value(v)).collect();
                    self.builder.end_default(&values)
                }
            };
            let array = if let Shape::Array(length) = variable.shape { Some(length) } else { None };
            let rate = if variable.class == Some(Class::Varying) { Rate::Varying } else { Rate::Uniform };
            let id = self.builder.param(ir::Param {
                name: variable.name.clone(),
                ty: rsl_type(variable.ty),
                array,
                rate,
                output: variable.storage == Storage::Parameter { output: true },
                default,
            });
            self.builder.return_to(outer);
            self.params[parameter.variable.0 as usize] = Some(id);
            if let Some(length) = array {
                let place = ArrayPlace::Param(id);
                self.arrays[parameter.variable.0 as usize] = Some(Array { place, length, count: None });
            }
        }
    }

    /// Gives the variables that the shader may assign their first values.
    pub(super) fn start(&mut self) {
        if self.effects.uses_random {
            let zero = self.builder.u32(0);
            self.random_count = Some(self.cells.add(zero));
        }
        for (index, variable) in self.shader.variables.iter().enumerate() {
            let id = VarId(index as u32);
            if !self.effects.assigned.contains(&id) {
                continue;
            }
            match variable.storage {
                Storage::Predefined(predefined) => {
                    let value = self.first_value(predefined);
                    self.cells.set(id.into(), value);
                }
                Storage::Parameter { .. } => self.copy_parameter(id),
                Storage::Local | Storage::Argument { .. } => {}
            }
        }
        if self.shader.kind == DeclaredKind::Light {
            let l = self.predefined_cell(Predefined::L);
            let outside = self.builder.bool(false);
            self.light = Some(LightCells { l, active: self.cells.add(outside) });
        }
    }

    /// A parameter that the shader may assign, as a variable.
    fn copy_parameter(&mut self, id: VarId) {
        let Some(param) = self.params[id.0 as usize] else { return };
        let Some(array) = self.arrays[id.0 as usize] else {
            let value = self.builder.op(Op::Param(param), &[]);
            return self.cells.set(id.into(), value);
        };
        let slot = self.builder.array(machine(self.shader.variable(id).ty), array.length);
        let copy = Array { place: ArrayPlace::Slot(slot), ..array };
        self.copy_array(copy, array);
        self.arrays[id.0 as usize] = Some(copy);
    }

    /// Returns what a predefined variable is when the shader starts.
    ///
    /// RISpec 3.2 does not say what `Ci` and `Oi` of a surface are before they are set. Glowing surfaces (the
    /// Companion's among them) set `Ci` where they glow and only `Oi` elsewhere, and sums begin with `Ci +=`: so a `Ci`
    /// that the shader assigns anywhere begins as black. One that it never assigns is `Cs`. `Oi` begins as `Os`.
    pub(super) fn first_value(&mut self, predefined: Predefined) -> Value {
        let is_assigned = self.effects.assigns(predefined);
        // An N that the shader leaves alone is not moved.
        if let (Predefined::Global(global), Some(MovingPart::Surface)) = (predefined, self.part)
            && (is_assigned || global != Global::N)
            && let Some(found) = self.found_by_displacement(global)
        {
            return found;
        }
        let global = match (predefined, self.shader.kind) {
            (Predefined::L | Predefined::Cl, _) => return self.builder.constant([0.0; 3]),
            (Predefined::Ol, _) => return self.builder.constant([1.0; 3]),
            (Predefined::Global(Global::Ci), DeclaredKind::Surface) if is_assigned => {
                return self.builder.constant([0.0; 3]);
            }
            (Predefined::Global(Global::Ci), DeclaredKind::Surface) => Global::Cs,
            (Predefined::Global(Global::Oi), DeclaredKind::Surface) => Global::Os,
            (Predefined::Global(global), _) => global,
        };
        self.builder.global(global)
    }

    /// Returns the cell of a predefined variable that the shader hands out.
    pub(super) fn predefined_cell(&mut self, predefined: Predefined) -> Cell {
        let value = self.first_value(predefined);
        match self.effects.variable(predefined) {
            Some(id) => {
                let cell = Cell::from(id);
                if self.cells.get(cell).is_none() {
                    self.cells.set(cell, value);
                }
                cell
            }
            None => self.cells.add(value),
        }
    }

    /// Returns the value of a predefined variable here.
    pub(super) fn predefined(&mut self, predefined: Predefined) -> Value {
        match self.effects.variable(predefined).and_then(|id| self.cells.get(id.into())) {
            Some(value) => value,
            None => self.first_value(predefined),
        }
    }

    /// Returns a global as the shader sees it here: it may have been assigned.
    pub(super) fn global(&mut self, global: Global) -> Value {
        self.predefined(Predefined::Global(global))
    }

    /// Ends the shader: the values of its outputs.
    pub(super) fn finish(mut self, kind: ir::ShaderKind) -> ir::Shader {
        let mut outputs: Vec<(&str, Value)> = Vec::new();
        for &(name, _) in kind.outputs() {
            let value = match (name, &self.light) {
                ("active", Some(light)) => self.cells.get(light.active).expect("set when the shader starts"),
                ("L", Some(light)) => self.cells.get(light.l).expect("set when the shader starts"),
                ("Cl", _) => self.predefined(Predefined::Cl),
                ("Ol", _) => self.predefined(Predefined::Ol),
                _ => {
                    let global = Global::from_name(name).expect("outputs are named like globals");
                    self.global(global)
                }
            };
            outputs.push((name, value));
        }
        let parameters = self.output_parameters();
        outputs.extend(parameters.iter().map(|(name, value)| (&**name, *value)));
        if self.part == Some(MovingPart::Displacement) {
            outputs.extend(self.found());
        }
        self.builder.finish(&outputs)
    }

    /// Returns the output parameters, elements of arrays one by one, with their values here.
    fn output_parameters(&mut self) -> Vec<(Arc<str>, Value)> {
        let (shader, mut outputs) = (self.shader, Vec::new());
        for &hir::Parameter { variable: id, .. } in &shader.parameters {
            let variable = shader.variable(id);
            if variable.storage != (Storage::Parameter { output: true }) {
                continue;
            }
            if variable.shape == Shape::Single {
                outputs.push((variable.name.clone(), self.read(id)));
                continue;
            }
            let array = self.array(id);
            for i in 0..array.length {
                let index = self.builder.f32(i as f32);
                outputs.push((ir::element_name(&variable.name, array.length, i), self.load(array, index)));
            }
        }
        outputs
    }

    /// Returns what lights may see of the surface here: its outputs.
    pub(super) fn shown(&mut self) -> Vec<(Arc<str>, Value)> {
        if self.shader.kind == DeclaredKind::Surface { self.output_parameters() } else { Vec::new() }
    }

    /// Returns whether what the shader prints and bakes counts: that of a surface that moves P counts once, and so does
    /// that of a light of several parts outside of their bodies.
    pub(super) fn has_effects(&self) -> bool {
        self.part != Some(MovingPart::Displacement) && (self.shines || self.shining.is_none_or(|part| part == 0))
    }

    pub(super) fn function(&self, id: FuncId) -> &'a hir::Function {
        self.shader.function(id)
    }
}
