//! The helper library and its import, function by function: what a program calls, and what that calls, with the types
//! and constants they need, is copied into the program's module under new ids.

use super::spirv::Spirv;
use rspirv::dr::{self, Instruction, Module, Operand};
use rspirv::spirv::{Op, StorageClass, Word};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// Why a library could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    /// The words are not SPIR-V that can be read (SPIR-V 1.6 compute modules cannot: compile for Vulkan 1.2).
    #[error("the helper library is not valid SPIR-V: {0}")]
    Unreadable(String),
    /// A function uses what only a whole module could bring along.
    #[error("function {function} of the helper library uses {what}, which cannot be imported")]
    NotImportable {
        /// Its name.
        function: String,
        /// The instruction.
        what: String,
    },
    /// A function is missing.
    #[error("the helper library has no function {0}")]
    Missing(String),
}

/// The helper library: functions in GLSL, compiled to SPIR-V, to be imported by name. They take their parameters by
/// value (`const in`), use no global variables but buffers, which the kernel then has too, and words of an
/// invocation, which begin with 0, and nothing beyond the capability Shader.
#[derive(Clone, Debug)]
pub struct Library {
    module: Module,
    functions: FxHashMap<String, usize>,
    by_id: FxHashMap<Word, usize>,
    globals: FxHashMap<Word, usize>,
    naming: Option<NamingForm>,
}

/// The words of the form whose lookups only name tiles, and what was read of them: nothing until a program needs it.
#[derive(Clone, Debug)]
struct NamingForm {
    words: &'static [u32],
    read: OnceLock<Result<Box<Library>, LibraryError>>,
}

impl Library {
    /// Returns the same library with a second form of it, whose lookups only name the tiles that they need. It is read
    /// when a program first needs it.
    #[must_use]
    pub fn with_naming(self, words: &'static [u32]) -> Library {
        Library { naming: Some(NamingForm { words, read: OnceLock::new() }), ..self }
    }

    /// Returns the form whose lookups only name the tiles that they need, if there is one.
    ///
    /// # Errors
    /// Fails when its words are not SPIR-V.
    pub(crate) fn naming(&self) -> Result<Option<&Library>, LibraryError> {
        let Some(NamingForm { words, read }) = &self.naming else { return Ok(None) };
        let library = read.get_or_init(|| Self::load(words).map(Box::new));
        library.as_ref().map(|library| Some(&**library)).map_err(Clone::clone)
    }

    /// Reads a module.
    ///
    /// # Errors
    /// Fails when the words are not SPIR-V.
    pub fn load(words: &[u32]) -> Result<Library, LibraryError> {
        let module = dr::load_words(words).map_err(|e| LibraryError::Unreadable(e.to_string()))?;
        let by_id: FxHashMap<Word, usize> =
            (module.functions.iter().enumerate()).filter_map(|(i, f)| Some((f.def.as_ref()?.result_id?, i))).collect();
        let mut functions = FxHashMap::default();
        for name in &module.debug_names {
            // glslang appends the parameter types: `rsl_noise3(vf3;`.
            if let [Operand::IdRef(id), Operand::LiteralString(text)] = &name.operands[..]
                && let (Some(&index), Some(plain)) = (by_id.get(id), text.split('(').next())
            {
                functions.insert(plain.to_owned(), index);
            }
        }
        let globals = (module.types_global_values.iter().enumerate())
            .filter_map(|(i, inst)| Some((inst.result_id?, i)))
            .collect();
        Ok(Library { module, functions, by_id, globals, naming: None })
    }

    /// Returns whether there is a function of this name.
    pub fn has(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }
}

/// What has been imported into one module.
pub(super) struct Imports<'a> {
    library: &'a Library,
    functions: FxHashMap<usize, Word>,
    globals: FxHashMap<Word, Word>,
    /// The buffers and words that came along.
    pub(super) variables: Vec<Word>,
}

impl<'a> Imports<'a> {
    pub(super) fn new(library: &'a Library) -> Self {
        Self { library, functions: FxHashMap::default(), globals: FxHashMap::default(), variables: Vec::new() }
    }

    /// Returns the id in the new module of a function of the library.
    pub(super) fn function(&mut self, spirv: &mut Spirv, name: &str) -> Result<Word, LibraryError> {
        let index = *self.library.functions.get(name).ok_or_else(|| LibraryError::Missing(name.to_owned()))?;
        self.import(spirv, index, name)
    }

    fn import(&mut self, spirv: &mut Spirv, index: usize, name: &str) -> Result<Word, LibraryError> {
        if let Some(&id) = self.functions.get(&index) {
            return Ok(id);
        }
        let id = spirv.id();
        self.functions.insert(index, id);
        spirv.name(id, name);
        let source = &self.library.module.functions[index];
        let mut copy = Copy { ids: FxHashMap::default(), name };
        let def = source.def.as_ref().ok_or_else(|| LibraryError::Missing(name.to_owned()))?;
        copy.ids.extend(def.result_id.map(|old| (old, id)));
        let mut function = source.clone();
        for inst in function.def.iter_mut().chain(&mut function.parameters) {
            self.copy(spirv, &mut copy, inst)?;
        }
        for inst in function.blocks.iter_mut().flat_map(|b| b.label.iter_mut().chain(&mut b.instructions)) {
            self.copy(spirv, &mut copy, inst)?;
            spirv.decorate_imported(inst);
        }
        spirv.push_function(function);
        Ok(id)
    }

    fn copy(&mut self, spirv: &mut Spirv, copy: &mut Copy<'_>, inst: &mut Instruction) -> Result<(), LibraryError> {
        if let Some(ty) = &mut inst.result_type {
            *ty = self.global(spirv, *ty, copy.name)?;
        }
        if let Some(id) = &mut inst.result_id {
            *id = copy.local(spirv, *id);
        }
        for operand in &mut inst.operands {
            let Some(id) = operand.id_ref_any_mut() else { continue };
            *id = if let Some(&function) = self.library.by_id.get(id) {
                self.import(spirv, function, &self.library.name(function))?
            } else if self.library.globals.contains_key(id) {
                self.global(spirv, *id, copy.name)?
            } else if inst.class.opcode == Op::ExtInst && self.library.is_glsl(*id) {
                spirv.glsl()
            } else {
                copy.local(spirv, *id)
            };
        }
        Ok(())
    }

    /// Returns the id in the new module of a type or constant of the library.
    fn global(&mut self, spirv: &mut Spirv, old: Word, name: &str) -> Result<Word, LibraryError> {
        if let Some(&id) = self.globals.get(&old) {
            return Ok(id);
        }
        let index = self.library.globals.get(&old).copied();
        let inst = index.map(|i| &self.library.module.types_global_values[i]);
        let Some(inst) = inst.filter(|i| is_importable(i)) else {
            let what = inst.map_or("an unknown id", |i| i.class.opname).to_owned();
            return Err(LibraryError::NotImportable { function: name.to_owned(), what });
        };
        let ty = inst.result_type.map(|ty| self.global(spirv, ty, name)).transpose()?;
        let mut operands = inst.operands.clone();
        for operand in &mut operands {
            if let Operand::IdRef(id) = operand {
                *id = self.global(spirv, *id, name)?;
            }
        }
        let opcode = inst.class.opcode;
        if opcode == Op::Variable && is_in(inst, StorageClass::Private) {
            operands.truncate(1);
            operands.push(Operand::IdRef(spirv.u32(0)));
        }
        // Structures, their members and specialisation constants may be equal but for their decorations.
        let id = match opcode {
            Op::Variable | Op::TypeStruct | Op::TypeRuntimeArray | Op::SpecConstant => {
                let id = spirv.fresh_global(opcode, ty, operands);
                self.library.decorations(old).for_each(|operands| spirv.decorate_as(id, operands));
                id
            }
            _ => spirv.global(opcode, ty, operands),
        };
        if opcode == Op::Variable {
            self.variables.push(id);
        }
        self.globals.insert(old, id);
        Ok(id)
    }
}

impl Library {
    fn name(&self, index: usize) -> String {
        let found = self.functions.iter().find(|(_, i)| **i == index);
        found.map_or_else(String::new, |(name, _)| name.clone())
    }

    /// Returns the operands of the decorations of a type or variable, and of its members.
    fn decorations(&self, id: Word) -> impl Iterator<Item = &[Operand]> {
        let all = self.module.annotations.iter().map(|inst| &inst.operands[..]);
        all.filter(move |operands| operands.first() == Some(&Operand::IdRef(id)))
    }

    fn is_glsl(&self, id: Word) -> bool {
        self.module.ext_inst_imports.iter().any(|i| i.result_id == Some(id))
    }
}

/// One function being copied: the new ids of what is local to it.
struct Copy<'a> {
    ids: FxHashMap<Word, Word>,
    name: &'a str,
}

impl Copy<'_> {
    fn local(&mut self, spirv: &mut Spirv, old: Word) -> Word {
        *self.ids.entry(old).or_insert_with(|| spirv.id())
    }
}

fn is_in(inst: &Instruction, class: StorageClass) -> bool {
    inst.operands.first() == Some(&Operand::StorageClass(class))
}

fn is_importable(inst: &Instruction) -> bool {
    use Op::*;
    matches!(
        inst.class.opcode,
        TypeVoid
            | TypeBool
            | TypeInt
            | TypeFloat
            | TypeVector
            | TypeMatrix
            | TypeArray
            | TypeRuntimeArray
            | TypeStruct
            | TypeImage
            | TypePointer
            | TypeFunction
            | ConstantTrue
            | ConstantFalse
            | Constant
            | ConstantComposite
            | ConstantNull
            | SpecConstant
            | SpecConstantOp
            | Undef
    ) || (inst.class.opcode == Variable
        && [StorageClass::StorageBuffer, StorageClass::UniformConstant, StorageClass::Private]
            .into_iter()
            .any(|class| is_in(inst, class)))
}
