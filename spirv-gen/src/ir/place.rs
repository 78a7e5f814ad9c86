//! Places: where in the sources of shaders instructions come from. They are no part of what a program means.

use crate::span::{SourceMap, SourcePosition, Span};
use std::iter;
use std::sync::Arc;

/// A place in a [`PlaceTable`], or nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaceId(u32);

/// A function in a [`PlaceTable`]: one of a shader, or the shader itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(u32);

/// A variable in a [`PlaceTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(u32);

/// A shader's place in a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// The surface (or imager) shader.
    Surface,
    /// The displacement shader.
    Displacement,
    /// The atmosphere shader.
    Atmosphere,
    /// A kind of light: index in [`crate::Reflection::lights`].
    Light(u32),
}

/// A place: part of the text of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    /// The function that it is in.
    function: FunctionId,
    /// The part of the text.
    span: Span,
    /// Where the code is put in: the call of the function that it is in, or the loop over lights that runs the shader.
    inlined_at: PlaceId,
}

/// A shader whose code is in a program.
#[derive(Clone, Debug)]
pub struct PlacedShader {
    /// Its name.
    pub name: Arc<str>,
    /// What it is in the pipeline, once it is composed.
    pub role: Option<Role>,
    /// Its texts.
    pub texts: Arc<SourceMap>,
}

/// A place in a file as it was written, whatever `#line` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilePlace<'a> {
    /// The file's name.
    pub(crate) name: &'a str,
    /// Its text.
    pub(crate) text: &'a str,
    /// Line, counted from 1.
    pub(crate) line: u32,
    /// Column in bytes, counted from 1.
    pub(crate) column: u32,
}

/// A function of a shader, or the shader itself.
#[derive(Clone, Debug)]
pub struct PlacedFunction {
    /// Its name.
    pub name: Arc<str>,
    /// The shader, by number.
    shader: u32,
    /// Its name in the text.
    span: Span,
}

/// A variable of a shader.
#[derive(Clone, Debug)]
pub struct PlacedVariable {
    /// Its name.
    pub name: Arc<str>,
    /// The function that it belongs to.
    pub function: FunctionId,
    /// Its declaration; empty for predefined ones.
    span: Span,
}

/// The places of a program.
#[derive(Clone, Debug, Default)]
pub struct PlaceTable {
    shaders: Vec<PlacedShader>,
    functions: Vec<PlacedFunction>,
    variables: Vec<PlacedVariable>,
    places: Vec<Place>,
}

/// What the places of a program become in another, of which its code is a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaceShift {
    before: u32,
    variables_before: u32,
    outer: PlaceId,
}

impl PlaceId {
    /// The place of what is in no source.
    pub const NOWHERE: Self = Self(0);

    fn index(self) -> Option<usize> {
        self.0.checked_sub(1).map(|index| index as usize)
    }
}

impl PlaceShift {
    /// Places stay what they are.
    pub(crate) const NONE: Self = Self { before: 0, variables_before: 0, outer: PlaceId::NOWHERE };

    /// Returns what a place becomes.
    pub(crate) fn of(self, place: PlaceId) -> PlaceId {
        if place == PlaceId::NOWHERE { self.outer } else { PlaceId(place.0 + self.before) }
    }

    /// Returns what a variable becomes.
    pub(crate) fn of_variable(self, variable: VariableId) -> VariableId {
        VariableId(variable.0 + self.variables_before)
    }
}

impl PlaceTable {
    /// Returns a table for a shader of these texts, whose name is at `span`.
    pub(super) fn of_shader(name: Arc<str>, span: Span, texts: Arc<SourceMap>) -> Self {
        let function = PlacedFunction { name: name.clone(), shader: 0, span };
        let shaders = vec![PlacedShader { name, role: None, texts }];
        Self { shaders, functions: vec![function], ..Self::default() }
    }

    /// Adds a place in the text of a function of the only shader.
    pub(super) fn add(&mut self, function: FunctionId, span: Span, inlined_at: PlaceId) -> PlaceId {
        self.places.push(Place { function, span, inlined_at });
        PlaceId(self.places.len() as u32)
    }

    /// Adds a function of the only shader, whose name is at `span`.
    pub(super) fn add_function(&mut self, name: Arc<str>, span: Span) -> FunctionId {
        self.functions.push(PlacedFunction { name, shader: 0, span });
        FunctionId(self.functions.len() as u32 - 1)
    }

    /// Adds a variable of the only shader, which is declared at `span`.
    pub(super) fn add_variable(&mut self, name: Arc<str>, function: FunctionId, span: Span) -> VariableId {
        self.variables.push(PlacedVariable { name, function, span });
        VariableId(self.variables.len() as u32 - 1)
    }

    /// Adds all places of another table, as those of a shader of this role whose code is put in at `outer`.
    pub(crate) fn append(&mut self, other: &Self, role: Role, outer: PlaceId) -> PlaceShift {
        let [shaders, functions, variables, places] =
            [self.shaders.len(), self.functions.len(), self.variables.len(), self.places.len()].map(|len| len as u32);
        let shift = PlaceShift { before: places, variables_before: variables, outer };
        let function_of = |function: FunctionId| FunctionId(functions + function.0);
        self.shaders.extend(other.shaders.iter().map(|shader| PlacedShader { role: Some(role), ..shader.clone() }));
        self.functions.extend(
            other
                .functions
                .iter()
                .map(|function| PlacedFunction { shader: shaders + function.shader, ..function.clone() }),
        );
        self.variables.extend(
            other.variables.iter().map(|it| PlacedVariable { function: function_of(it.function), ..it.clone() }),
        );
        self.places.extend(other.places.iter().map(|place| Place {
            function: function_of(place.function),
            span: place.span,
            inlined_at: shift.of(place.inlined_at),
        }));
        shift
    }

    fn get(&self, place: PlaceId) -> Option<&Place> {
        self.places.get(place.index()?)
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.shaders.is_empty() && self.places.is_empty()
    }

    /// Returns the shader in whose text a place is.
    pub fn shader(&self, place: PlaceId) -> Option<&PlacedShader> {
        Some(self.shader_of(self.get(place)?.function))
    }

    /// Returns the function in which a place is.
    pub fn function(&self, place: PlaceId) -> Option<FunctionId> {
        Some(self.get(place)?.function)
    }

    /// Returns a function.
    pub fn function_data(&self, function: FunctionId) -> &PlacedFunction {
        &self.functions[function.0 as usize]
    }

    /// Returns the shader of a function.
    pub fn shader_of(&self, function: FunctionId) -> &PlacedShader {
        &self.shaders[self.function_data(function).shader as usize]
    }

    /// Returns a variable.
    pub fn variable(&self, variable: VariableId) -> &PlacedVariable {
        &self.variables[variable.0 as usize]
    }

    fn located(&self, function: FunctionId, span: Span) -> Option<FilePlace<'_>> {
        let texts = &self.shader_of(function).texts;
        let (file, line, column) = texts.in_file(span)?;
        let (name, text) = texts.file(file);
        Some(FilePlace { name, text, line, column })
    }

    /// Returns where a place is in its file.
    pub(crate) fn in_file(&self, place: PlaceId) -> Option<FilePlace<'_>> {
        let place = self.get(place)?;
        self.located(place.function, place.span)
    }

    /// Returns where the name of a function is.
    pub(crate) fn function_in_file(&self, function: FunctionId) -> Option<FilePlace<'_>> {
        self.located(function, self.function_data(function).span)
    }

    /// Returns where a variable is declared: a predefined one at the shader's name.
    pub(crate) fn variable_in_file(&self, variable: VariableId) -> Option<FilePlace<'_>> {
        let PlacedVariable { function, span, .. } = *self.variable(variable);
        if span == Span::default() { self.function_in_file(function) } else { self.located(function, span) }
    }

    /// Returns where the code of a place is put in.
    pub fn inlined_at(&self, place: PlaceId) -> PlaceId {
        self.get(place).map_or(PlaceId::NOWHERE, |place| place.inlined_at)
    }

    /// Returns file, line and column of a place.
    pub fn position(&self, place: PlaceId) -> Option<SourcePosition> {
        Some(self.shader(place)?.texts.place(self.get(place)?.span))
    }

    /// Returns a place, then the one where its code is put in, and so on.
    pub fn stack(&self, place: PlaceId) -> impl Iterator<Item = PlaceId> {
        let outer = |place: &PlaceId| Some(self.inlined_at(*place));
        iter::successors(Some(place), outer).take_while(|place| *place != PlaceId::NOWHERE)
    }
}
