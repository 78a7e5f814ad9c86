//! What a compiled kernel's interface is, read back from its SPIR-V.

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Decoration, Dim, ExecutionMode, Op, StorageClass};
use std::collections::HashMap;

/// The interface of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reflection {
    /// Storage blocks and texel buffers of descriptor set 0, in order of their bindings, which count from 0 without
    /// gaps.
    pub bindings: Vec<Binding>,
    /// Members of the push-constant block; empty without one.
    pub push: Vec<Member>,
    /// Specialisation constants in order of their ids, which count from 0 without gaps.
    pub constants: Vec<Constant>,
    /// Invocations of a workgroup.
    pub local_size: [u32; 3],
    /// Bytes that they share.
    pub shared_bytes: u64,
}

/// A storage block, or a texel buffer: `utextureBuffer` for records of four words, `itextureBuffer` for words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Binding {
    /// The instance's name, or the block's in snake case.
    pub name: String,
    /// What one record is: the element of the runtime array, or the block itself.
    pub record: Type,
    /// Bytes from record to record.
    pub stride: u32,
    /// Declared `writeonly`.
    pub no_read: bool,
    /// Declared `readonly`.
    pub no_write: bool,
    /// What it is to the driver.
    pub form: BindingForm,
}

/// What a binding is to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BindingForm {
    /// A storage buffer.
    Storage,
    /// A buffer of texels of four words.
    Records,
    /// A buffer of texels of one word.
    Words,
}

/// A specialisation constant of 32 bits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constant {
    /// Its name in the source.
    pub name: String,
    /// Its type: a scalar.
    pub kind: Scalar,
    /// Bits of the default value.
    pub default: u32,
}

/// Types that buffers and push constants may hold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// One number.
    Scalar(Scalar),
    /// 2 to 4 numbers.
    Vector(Scalar, u32),
    /// Columns of 4 floats, or of 2: those without padding between columns.
    Matrix { columns: u32, rows: u32 },
    /// A fixed array without padding between elements.
    Array { element: Box<Type>, count: u32, stride: u32 },
    /// A struct, by name.
    Struct { name: String, members: Vec<Member> },
}

/// A member of a struct or block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    /// Its name in the source.
    pub name: String,
    /// Bytes from the start of the struct.
    pub offset: u32,
    /// Its type.
    pub kind: Type,
}

/// Numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    /// `uint`
    U32,
    /// `int`
    I32,
    /// `float`
    F32,
    /// `uint64_t`
    U64,
    /// `int64_t`
    I64,
}

/// Reads the interface of a module; what the rules of interfaces forbid is an error.
pub(crate) fn reflect(words: &[u32]) -> Result<Reflection, String> {
    let module = rspirv::dr::load_words(words).map_err(|e| format!("the compiled kernel cannot be read: {e}"))?;
    let reader = Reader::new(&module);
    let mut bindings = Vec::new();
    let mut push = Vec::new();
    let mut shared_bytes = 0;
    for variable in module.types_global_values.iter().filter(|i| i.class.opcode == Op::Variable) {
        match variable.operands.first() {
            Some(Operand::StorageClass(StorageClass::StorageBuffer)) => bindings.push(reader.binding(variable)?),
            Some(Operand::StorageClass(StorageClass::PushConstant)) => push = reader.push_members(variable)?,
            Some(Operand::StorageClass(StorageClass::Workgroup)) => {
                shared_bytes +=
                    reader.shared_bytes(id_operand(reader.definition(variable.result_type.unwrap_or(0))?, 1)?)?;
            }
            Some(Operand::StorageClass(StorageClass::UniformConstant)) => bindings.push(reader.texels(variable)?),
            Some(Operand::StorageClass(StorageClass::Uniform)) => {
                return Err("only storage blocks, texel buffers and push constants can be bound".to_string());
            }
            _ => {}
        }
    }
    bindings.sort_by_key(|(number, _)| *number);
    for (expected, (number, binding)) in bindings.iter().enumerate() {
        if *number as usize != expected {
            return Err(format!(
                "`{}` has binding {number}, expected {expected}: count from 0 without gaps",
                binding.name
            ));
        }
    }
    let bindings = bindings.into_iter().map(|(_, binding)| binding).collect();
    let (constants, local_size) = (reader.constants()?, reader.local_size()?);
    Ok(Reflection { bindings, push, constants, local_size, shared_bytes })
}

/// Tables over a module.
struct Reader<'a> {
    module: &'a Module,
    definitions: HashMap<u32, &'a Instruction>,
    names: HashMap<u32, &'a str>,
    member_names: HashMap<(u32, u32), &'a str>,
    decorations: HashMap<(u32, Decoration), u32>,
    member_decorations: HashMap<(u32, u32, Decoration), u32>,
}

impl<'a> Reader<'a> {
    fn new(module: &'a Module) -> Self {
        let mut reader = Reader {
            module,
            definitions: module.types_global_values.iter().filter_map(|i| Some((i.result_id?, i))).collect(),
            names: HashMap::new(),
            member_names: HashMap::new(),
            decorations: HashMap::new(),
            member_decorations: HashMap::new(),
        };
        for instruction in &module.debug_names {
            match instruction.operands.as_slice() {
                [Operand::IdRef(id), Operand::LiteralString(name)] => drop(reader.names.insert(*id, name)),
                [Operand::IdRef(id), Operand::LiteralBit32(member), Operand::LiteralString(name)] => {
                    reader.member_names.insert((*id, *member), name);
                }
                _ => {}
            }
        }
        for instruction in &module.annotations {
            let value = |operand: Option<&Operand>| match operand {
                Some(Operand::LiteralBit32(value)) => *value,
                _ => 0,
            };
            match instruction.operands.as_slice() {
                [Operand::IdRef(id), Operand::Decoration(decoration), rest @ ..] => {
                    reader.decorations.insert((*id, *decoration), value(rest.first()));
                }
                [Operand::IdRef(id), Operand::LiteralBit32(member), Operand::Decoration(decoration), rest @ ..] => {
                    reader.member_decorations.insert((*id, *member, *decoration), value(rest.first()));
                }
                _ => {}
            }
        }
        reader
    }

    fn definition(&self, id: u32) -> Result<&'a Instruction, String> {
        self.definitions.get(&id).copied().ok_or_else(|| format!("id {id} is not defined"))
    }

    /// The struct that a block variable points to: its id and instruction.
    fn block(&self, variable: &Instruction) -> Result<(u32, &'a Instruction), String> {
        let pointer = self.definition(variable.result_type.unwrap_or(0))?;
        let id = id_operand(pointer, 1)?;
        let block = self.definition(id)?;
        match block.class.opcode {
            Op::TypeStruct => Ok((id, block)),
            _ => {
                Err(format!("`{}` is an array of blocks: give each block a binding", self.variable_name(variable, id)))
            }
        }
    }

    fn variable_name(&self, variable: &Instruction, block: u32) -> String {
        let named = |id| self.names.get(&id).copied().unwrap_or("");
        match named(variable.result_id.unwrap_or(0)) {
            "" => snake_case(named(block)),
            instance => instance.to_string(),
        }
    }

    /// A storage block: its binding number and what it is.
    fn binding(&self, variable: &Instruction) -> Result<(u32, Binding), String> {
        let id = variable.result_id.unwrap_or(0);
        let (block_id, block) = self.block(variable)?;
        let name = self.variable_name(variable, block_id);
        let number = self.number(id, &name)?;
        let (record, stride) = self.record(block_id, block).map_err(|e| format!("`{name}`: {e}"))?;
        let flagged = |decoration| {
            self.decorations.contains_key(&(id, decoration))
                || (0..block.operands.len() as u32)
                    .all(|member| self.member_decorations.contains_key(&(block_id, member, decoration)))
        };
        let (no_read, no_write) = (flagged(Decoration::NonReadable), flagged(Decoration::NonWritable));
        Ok((number, Binding { name, record, stride, no_read, no_write, form: BindingForm::Storage }))
    }

    /// The binding number of a variable in descriptor set 0.
    fn number(&self, id: u32, name: &str) -> Result<u32, String> {
        let number = *self.decorations.get(&(id, Decoration::Binding)).ok_or(format!("`{name}` has no binding"))?;
        match self.decorations.get(&(id, Decoration::DescriptorSet)) {
            Some(&0) => Ok(number),
            _ => Err(format!("`{name}` is not in descriptor set 0")),
        }
    }

    /// A texel buffer: its binding number and what it is.
    fn texels(&self, variable: &Instruction) -> Result<(u32, Binding), String> {
        let id = variable.result_id.unwrap_or(0);
        let name = self.variable_name(variable, id);
        let image = self.definition(id_operand(self.definition(variable.result_type.unwrap_or(0))?, 1)?)?;
        let is_buffer = image.operands.get(1) == Some(&Operand::Dim(Dim::DimBuffer));
        if image.class.opcode != Op::TypeImage || !is_buffer {
            return Err(format!("`{name}` is no buffer: only utextureBuffer and itextureBuffer can be bound"));
        }
        let (record, form) = match self.kind(id_operand(image, 0)?)? {
            Type::Scalar(Scalar::U32) => (Type::Vector(Scalar::U32, 4), BindingForm::Records),
            Type::Scalar(Scalar::I32) => (Type::Scalar(Scalar::U32), BindingForm::Words),
            _ => return Err(format!("`{name}` has other texels than words")),
        };
        let stride = record.size();
        Ok((self.number(id, &name)?, Binding { name, record, stride, no_read: false, no_write: true, form }))
    }

    /// The record type of a storage block and its stride.
    fn record(&self, block_id: u32, block: &Instruction) -> Result<(Type, u32), String> {
        let members: Vec<u32> = (0..block.operands.len()).map(|i| id_operand(block, i)).collect::<Result<_, _>>()?;
        let runtime_array = |id: u32| self.definition(id).is_ok_and(|d| d.class.opcode == Op::TypeRuntimeArray);
        if let [only] = members.as_slice()
            && runtime_array(*only)
        {
            let element = self.kind(id_operand(self.definition(*only)?, 0)?)?;
            let stride = self.decorations.get(&(*only, Decoration::ArrayStride)).copied().unwrap_or(0);
            if element.size() != stride {
                return Err(format!(
                    "elements of {} bytes are padded to {stride}: use vec4 or scalars",
                    element.size()
                ));
            }
            return Ok((element, stride));
        }
        if members.into_iter().any(runtime_array) {
            return Err(
                "a block is either one runtime array or fixed members: give the array a block of its own".into()
            );
        }
        let record = self.structure(block_id, block)?;
        let stride = record.size();
        Ok((record, stride))
    }

    fn push_members(&self, variable: &Instruction) -> Result<Vec<Member>, String> {
        let (id, block) = self.block(variable)?;
        match self.structure(id, block)? {
            Type::Struct { members, .. } => Ok(members),
            _ => Ok(Vec::new()),
        }
    }

    fn structure(&self, id: u32, instruction: &Instruction) -> Result<Type, String> {
        let mut members = Vec::new();
        for index in 0..instruction.operands.len() as u32 {
            let name = self.member_names.get(&(id, index)).copied().unwrap_or("").to_string();
            let offset = *self
                .member_decorations
                .get(&(id, index, Decoration::Offset))
                .ok_or_else(|| format!("member `{name}` has no offset"))?;
            let kind =
                self.kind(id_operand(instruction, index as usize)?).map_err(|e| format!("member `{name}`: {e}"))?;
            members.push(Member { name, offset, kind });
        }
        Ok(Type::Struct { name: self.names.get(&id).copied().unwrap_or("").to_string(), members })
    }

    fn kind(&self, id: u32) -> Result<Type, String> {
        let instruction = self.definition(id)?;
        let literal = |index: usize| match instruction.operands.get(index) {
            Some(Operand::LiteralBit32(value)) => *value,
            _ => 0,
        };
        match instruction.class.opcode {
            Op::TypeFloat if literal(0) == 32 => Ok(Type::Scalar(Scalar::F32)),
            Op::TypeInt => match (literal(0), literal(1)) {
                (32, 0) => Ok(Type::Scalar(Scalar::U32)),
                (32, _) => Ok(Type::Scalar(Scalar::I32)),
                (64, 0) => Ok(Type::Scalar(Scalar::U64)),
                (64, _) => Ok(Type::Scalar(Scalar::I64)),
                (bits, _) => Err(format!("integers of {bits} bits are not supported in buffers")),
            },
            Op::TypeVector => match self.kind(id_operand(instruction, 0)?)? {
                Type::Scalar(scalar) => Ok(Type::Vector(scalar, literal(1))),
                _ => Err("a vector of something other than scalars".to_string()),
            },
            Op::TypeMatrix => match self.kind(id_operand(instruction, 0)?)? {
                Type::Vector(Scalar::F32, 3) => Err("columns of 3 floats are padded: use mat4 or vec4".to_string()),
                Type::Vector(Scalar::F32, rows) => Ok(Type::Matrix { columns: literal(1), rows }),
                _ => Err("only matrices of float are supported".to_string()),
            },
            Op::TypeArray => self.array(id, instruction),
            Op::TypeStruct => self.structure(id, instruction),
            other => Err(format!("{other:?} is not supported in buffers")),
        }
    }

    fn array(&self, id: u32, instruction: &Instruction) -> Result<Type, String> {
        let element = self.kind(id_operand(instruction, 0)?)?;
        let length = self.definition(id_operand(instruction, 1)?)?;
        let count = match (length.class.opcode, length.operands.first()) {
            (Op::Constant, Some(Operand::LiteralBit32(count))) => *count,
            _ => return Err("the length of an array must be a literal".to_string()),
        };
        let stride = self.decorations.get(&(id, Decoration::ArrayStride)).copied().unwrap_or(0);
        if element.size() != stride {
            return Err(format!("elements of {} bytes are padded to {stride}: use vec4 or scalars", element.size()));
        }
        Ok(Type::Array { element: Box::new(element), count, stride })
    }

    /// Bytes of a type in shared memory, where nothing is laid out explicitly: at most as in std430.
    fn shared_bytes(&self, id: u32) -> Result<u64, String> {
        let instruction = self.definition(id)?;
        match instruction.class.opcode {
            Op::TypeBool => Ok(4),
            Op::TypeArray => {
                let length = self.definition(id_operand(instruction, 1)?)?;
                let count = length.operands.first().and_then(literal_value).ok_or("a shared array has no length")?;
                Ok(u64::from(count) * self.shared_bytes(id_operand(instruction, 0)?)?)
            }
            Op::TypeStruct => {
                (0..instruction.operands.len()).map(|index| self.shared_bytes(id_operand(instruction, index)?)).sum()
            }
            _ => Ok(self.kind(id)?.size().next_multiple_of(4).into()),
        }
    }

    fn constants(&self) -> Result<Vec<Constant>, String> {
        let mut found = Vec::new();
        for instruction in &self.module.types_global_values {
            let id = instruction.result_id.unwrap_or(0);
            let Some(number) = self.decorations.get(&(id, Decoration::SpecId)) else { continue };
            let name = self.names.get(&id).copied().unwrap_or("").to_string();
            if name == "DRIVER_THREADS" {
                continue; // the device gives it (glsl/lib/invocation.glsl)
            }
            let default = match (instruction.class.opcode, instruction.operands.first()) {
                (Op::SpecConstant, Some(Operand::LiteralBit32(bits))) => *bits,
                _ => return Err(format!("specialisation constant `{name}` is not a 32-bit number")),
            };
            let Type::Scalar(kind) = self.kind(instruction.result_type.unwrap_or(0))? else {
                return Err(format!("specialisation constant `{name}` is not a scalar"));
            };
            found.push((*number, Constant { name, kind, default }));
        }
        found.sort_by_key(|(number, _)| *number);
        for (expected, (number, constant)) in found.iter().enumerate() {
            if *number as usize != expected {
                return Err(format!("`{}` has constant_id {number}, expected {expected}", constant.name));
            }
        }
        Ok(found.into_iter().map(|(_, constant)| constant).collect())
    }

    fn local_size(&self) -> Result<[u32; 3], String> {
        let sized =
            |i: &&Instruction| i.operands.iter().any(|o| matches!(o, Operand::ExecutionMode(ExecutionMode::LocalSize)));
        let mode = self.module.execution_modes.iter().find(sized).ok_or("the kernel has no local size")?;
        let sizes: Vec<u32> = mode.operands.iter().filter_map(literal_value).collect();
        // A workgroup size made of specialisation constants is a decorated composite beside the execution mode.
        let specialised = |i: &Instruction| {
            i.class.opcode == Op::SpecConstantComposite
                && self.decorations.contains_key(&(i.result_id.unwrap_or(0), Decoration::BuiltIn))
        };
        if self.module.types_global_values.iter().any(specialised) {
            return Err("the local size must be literal: use variants with a macro, not local_size_x_id".to_string());
        }
        sizes.try_into().map_err(|_| "the local size is not three numbers".to_string())
    }
}

fn literal_value(operand: &Operand) -> Option<u32> {
    match operand {
        Operand::LiteralBit32(value) => Some(*value),
        _ => None,
    }
}

fn id_operand(instruction: &Instruction, index: usize) -> Result<u32, String> {
    match instruction.operands.get(index) {
        Some(Operand::IdRef(id)) => Ok(*id),
        _ => Err(format!("{:?} has no operand {index}", instruction.class.opcode)),
    }
}

fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
