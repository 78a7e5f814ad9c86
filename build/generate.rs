//! Rust for a reflected kernel: record structs, `Push`, `Bindings`, `dispatch`.
//!
//! The text is the body of `anthill::pipeline::kernels`.

use crate::layout::{padded, push_size};
use crate::reflect::{Binding, BindingForm, Member, Reflection, Type};
use crate::variant_code;
use crate::variants::{Declaration, Variant};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Where the generated code finds record structs.
const RECORDS: &str = "crate::pipeline::kernels::records::";

/// Where the generated code finds words.
const WORDS: &str = "crate::pipeline::kernels::words::";

/// A compiled variant.
pub(crate) struct Built {
    /// Its label and values.
    pub variant: Variant,
    /// The static that holds its SPIR-V.
    pub words: String,
    /// Its interface.
    pub reflection: Reflection,
}

/// All variants of one source file.
pub(crate) struct Unit<'a> {
    /// The source file.
    pub file: &'a Path,
    /// Its name without folder and extension: the module's name.
    pub stem: &'a str,
    /// Its text.
    pub source: &'a str,
    /// What it declares about its variants.
    pub declaration: &'a Declaration,
    /// The declared variants, at least one.
    pub built: Vec<Built>,
}

/// The modules of kernels met so far.
#[derive(Default)]
pub(crate) struct Index {
    modules: Vec<String>,
}

impl Index {
    /// Writes `all`.
    pub(crate) fn generate(&self, code: &mut String) {
        code.push_str("/// Every kernel, every variant: in order of folders and names.\n");
        code.push_str("pub fn all() -> Vec<&'static std::sync::Arc<crate::pipeline::recording::Kernel>> {\n    [");
        for module in &self.modules {
            let _ = write!(code, "{module}::all(), ");
        }
        code.push_str("].concat()\n}\n");
        code.push_str("/// SPIR-V of every kernel and library with its name.\n");
        code.push_str("pub fn modules() -> Vec<(&'static str, &'static [u32])> {\n");
        code.push_str(
            "    let libraries = [(\"rsl library\", RSL_LIBRARY), (\"rsl library (names)\", RSL_NAMING_LIBRARY)];\n",
        );
        code.push_str(
            "    all().into_iter().map(|kernel| (kernel.label(), kernel.words())).chain(libraries).collect()\n}\n",
        );
    }
}

/// Record structs met so far, by name: equal names must mean equal layouts in all kernels.
#[derive(Default)]
pub(crate) struct Records {
    structs: BTreeMap<String, (Vec<Member>, String)>,
}

impl Records {
    /// Adds the structs of a type; one that differs from an earlier struct of its name is an error.
    fn add(&mut self, kind: &Type, file: &Path) -> Result<(), String> {
        for (name, members) in kind.structs() {
            let entry = (members.to_vec(), file.display().to_string());
            let (known, first) = self.structs.entry(name.to_string()).or_insert(entry);
            if known != members {
                return Err(format!("struct `{name}` differs from the one of the same name in {first}"));
            }
        }
        Ok(())
    }

    /// Writes the module `records`.
    pub(crate) fn generate(&self, code: &mut String) {
        code.push_str("/// Records of storage buffers, as the kernels declare them.\npub mod records {\n");
        for (name, (members, file)) in &self.structs {
            let kind = Type::Struct { name: name.clone(), members: members.clone() };
            let doc = format!("Record `{name}` of {file}");
            structure(name, &doc, members, kind.size(), "", code);
        }
        code.push_str("}\n");
    }
}

/// Wraps the modules of a folder's kernels.
pub(crate) fn folder(name: &str, inner: &str, code: &mut String) {
    let _ = write!(code, "/// Kernels of glsl/{name}/.\npub mod {name} {{\n{inner}}}\n");
}

/// Writes the library of helper functions, and its form whose lookups only name tiles, whose words are in these
/// statics.
pub(crate) fn library(words: &str, naming: &str, code: &mut String) {
    code.push_str("/// Helper functions for compiled shaders (glsl/lib/rsl/library.comp), SPIR-V 1.5.\n");
    let _ = writeln!(code, "pub static RSL_LIBRARY: &[u32] = &words::{words};");
    code.push_str("/// The same functions, whose lookups only name the tiles that they need.\n");
    let _ = writeln!(code, "pub static RSL_NAMING_LIBRARY: &[u32] = &words::{naming};");
}

/// Writes the module of one source file, which is in the module `folder` (`""` or `"test::"`).
pub(crate) fn kernel(
    unit: &Unit<'_>,
    folder: &str,
    index: &mut Index,
    records: &mut Records,
    code: &mut String,
) -> Result<(), String> {
    let reflection = &unit.built[0].reflection;
    for other in &unit.built[1..] {
        // The forms of bindings may differ, as what one variant only loads another may index otherwise.
        let same = |r: &Reflection| (bound(r), r.push.clone(), r.constants.clone());
        if same(&other.reflection) != same(reflection) {
            let (a, b) = (&unit.built[0].variant.label, &other.variant.label);
            return Err(format!("variants `{a}` and `{b}` declare different blocks, push constants or constants"));
        }
    }
    for binding in &reflection.bindings {
        records.add(&binding.record, unit.file)?;
    }
    for member in &reflection.push {
        records.add(&member.kind, unit.file)?;
    }
    let _ = writeln!(code, "/// {}", module_doc(unit));
    let _ = writeln!(code, "pub mod {} {{", unit.stem);
    code.push_str("use crate::pipeline::recording;\n");
    let push_bytes = push_size(reflection);
    if !reflection.push.is_empty() {
        structure("Push", "Push constants", &reflection.push, push_bytes, RECORDS, code);
    }
    index.modules.push(format!("{folder}{}", unit.stem));
    bindings(reflection, code);
    constants(reflection, code);
    kernels(unit, code);
    dispatch(unit, code);
    code.push_str("}\n");
    Ok(())
}

/// The first comment of the source that does not declare variants, as documentation.
fn module_doc(unit: &Unit<'_>) -> String {
    let comments = unit.source.lines().map_while(|line| line.trim().strip_prefix("//"));
    let text: Vec<&str> =
        comments.map(str::trim).filter(|line| !line.starts_with("axes:") && !line.starts_with("rules:")).collect();
    let text = text.split(|line| line.is_empty()).find(|p| !p.is_empty()).map_or(String::new(), |p| p.join("\n/// "));
    let text = text.replace('[', "\\[").replace('<', "\\<");
    format!("Kernel of {}.\n///\n/// {text}", unit.file.display())
}

/// A `#[repr(C)]` struct with asserted offsets.
fn structure(name: &str, doc: &str, members: &[Member], size: u32, scope: &str, code: &mut String) {
    let _ = writeln!(code, "/// {doc}: {size} bytes.");
    code.push_str("#[allow(non_snake_case, reason = \"names are those of the GLSL\")]\n");
    code.push_str("#[repr(C)]\n#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]\n");
    let _ = writeln!(code, "pub struct {name} {{");
    for (field, kind, offset) in padded(members, size, scope) {
        let _ = writeln!(code, "    /// Byte {offset}.\n    pub {field}: {kind},");
    }
    let _ = writeln!(code, "}}");
    let _ = writeln!(code, "impl Default for {name} {{ fn default() -> Self {{ bytemuck::Zeroable::zeroed() }} }}");
    let _ = writeln!(code, "const _: () = assert!(size_of::<{name}>() == {size});");
    for member in members {
        let _ = writeln!(
            code,
            "const _: () = assert!(std::mem::offset_of!({name}, {}) == {});",
            field_name(&member.name),
            member.offset
        );
    }
}

/// The bindings, whatever they are to the driver.
fn bound(reflection: &Reflection) -> Vec<Binding> {
    reflection.bindings.iter().map(|b| Binding { form: BindingForm::Storage, ..b.clone() }).collect()
}

/// `struct Bindings` and its ranges in binding order.
fn bindings(reflection: &Reflection, code: &mut String) {
    code.push_str("/// What the kernel reads and writes.\n#[derive(Clone, Copy, Debug)]\npub struct Bindings {\n");
    for (index, binding) in reflection.bindings.iter().enumerate() {
        let access = match (binding.no_write, binding.no_read) {
            (true, _) => "read",
            (false, true) => "written",
            (false, false) => "read and written",
        };
        let record = binding.record.rust(RECORDS);
        let name = field_name(&binding.name);
        let _ = writeln!(code, "    /// Binding {index}, {access}.\n    pub {name}: recording::Slice<{record}>,");
    }
    code.push_str("}\nimpl Bindings {\n    fn ranges(&self) -> Vec<recording::BufferRange> {\n        vec![");
    for binding in &reflection.bindings {
        let _ = write!(code, "self.{}.range(), ", field_name(&binding.name));
    }
    code.push_str("]\n    }\n}\n");
}

/// `struct Constants`: values of the specialisation constants.
fn constants(reflection: &Reflection, code: &mut String) {
    if reflection.constants.is_empty() {
        return;
    }
    code.push_str("/// Specialisation constants.\n#[derive(Clone, Copy, Debug, PartialEq)]\npub struct Constants {\n");
    for constant in &reflection.constants {
        let (name, kind) = (field_name(&constant.name.to_lowercase()), constant.kind.rust());
        let _ = writeln!(code, "    /// `{}`.\n    pub {name}: {kind},", constant.name);
    }
    code.push_str("}\nimpl Default for Constants {\n    fn default() -> Self {\n        Self { ");
    for constant in &reflection.constants {
        let bits = constant.default.to_le_bytes();
        let _ = write!(
            code,
            "{}: {}::from_le_bytes({bits:?}), ",
            field_name(&constant.name.to_lowercase()),
            constant.kind.rust()
        );
    }
    code.push_str("}\n    }\n}\nimpl Constants {\n    fn words(&self) -> Vec<u32> {\n        vec![");
    for constant in &reflection.constants {
        let _ = write!(code, "u32::from_le_bytes(self.{}.to_le_bytes()), ", field_name(&constant.name.to_lowercase()));
    }
    code.push_str("]\n    }\n}\n");
}

/// `LOCAL_SIZE` unless variants differ in it, `Variant` when there are several, `kernel` and `all`.
fn kernels(unit: &Unit<'_>, code: &mut String) {
    let several = !unit.declaration.axes.is_empty();
    if several {
        variant_code::variant_struct(unit.declaration, code);
    } else {
        let _ = writeln!(code, "/// The kernel's name.\npub const LABEL: &str = {:?};", unit.built[0].variant.label);
    }
    let size = unit.built[0].reflection.local_size;
    if unit.built.iter().all(|built| built.reflection.local_size == size) {
        let _ = writeln!(code, "/// Invocations of a workgroup.\npub const LOCAL_SIZE: [u32; 3] = {size:?};");
    }
    for built in &unit.built {
        static_kernel(built, code);
    }
    let parameter = if several { "variant: Variant" } else { "" };
    let name = |variant: &Variant| format!("&{}", variant.label.to_uppercase());
    let _ = writeln!(code, "/// The kernel, for compiling it ahead of its first use.");
    let _ = writeln!(code, "pub fn kernel({parameter}) -> &'static std::sync::Arc<recording::Kernel> {{");
    if several {
        variant_code::choice(unit.stem, unit.declaration, name, code);
    } else {
        let _ = writeln!(code, "    {}", name(&unit.built[0].variant));
    }
    code.push_str("}\n/// The kernel in every form.\n");
    code.push_str("pub fn all() -> Vec<&'static std::sync::Arc<recording::Kernel>> {\n    vec![");
    for built in &unit.built {
        let _ = write!(code, "{}, ", name(&built.variant));
    }
    code.push_str("]\n}\n");
}

/// The description of one variant, made on first use.
fn static_kernel(built: &Built, code: &mut String) {
    let (name, reflection) = (&built.variant.label, &built.reflection);
    let upper = name.to_uppercase();
    let _ = writeln!(
        code,
        "static {upper}: std::sync::LazyLock<std::sync::Arc<recording::Kernel>> = std::sync::LazyLock::new(|| {{"
    );
    let _ = writeln!(code, "    recording::Kernel::built(recording::KernelParts {{");
    let _ = writeln!(code, "        label: {name:?},\n        words: &{WORDS}{},", built.words);
    let file = format!("concat!(env!(\"OUT_DIR\"), \"/\", \"words/{name}.lines\")");
    let _ = writeln!(code, "        lines: include_bytes!({file}),\n        sources: {WORDS}SOURCES,");
    code.push_str("        bindings: &[\n");
    for binding in &reflection.bindings {
        let access = match (binding.no_write, binding.no_read) {
            (true, _) => "Read",
            (false, true) => "Write",
            (false, false) => "ReadWrite",
        };
        let _ = writeln!(
            code,
            "            recording::Binding {{ name: {:?}, stride: {}, access: recording::Access::{access}, \
             form: recording::BindingForm::{:?} }},",
            binding.name, binding.stride, binding.form
        );
    }
    code.push_str("        ],\n        push: &[\n");
    for member in &reflection.push {
        let kind = match &member.kind {
            Type::Scalar(scalar) => format!("{scalar:?}"),
            _ => "Other".to_string(),
        };
        let _ = writeln!(
            code,
            "            recording::PushMember {{ name: {:?}, offset: {}, kind: recording::PushKind::{kind} }},",
            member.name, member.offset
        );
    }
    let _ = writeln!(code, "        ],\n        push_bytes: {},", push_size(reflection));
    let _ = writeln!(code, "        local_size: {:?},", reflection.local_size);
    let names: Vec<&str> = reflection.constants.iter().map(|c| c.name.as_str()).collect();
    let _ = writeln!(code, "        constants: &{names:?},\n    }})\n}});");
}

/// `dispatch`: the only way to a dispatch of this kernel.
fn dispatch(unit: &Unit<'_>, code: &mut String) {
    let reflection = &unit.built[0].reflection;
    let several = !unit.declaration.axes.is_empty();
    code.push_str("/// A dispatch of the kernel.\npub fn dispatch(");
    if several {
        code.push_str("variant: Variant, ");
    }
    if !reflection.constants.is_empty() {
        code.push_str("constants: &Constants, ");
    }
    code.push_str("extent: impl Into<recording::DispatchExtent>, bindings: &Bindings");
    if !reflection.push.is_empty() {
        code.push_str(", push: &Push");
    }
    code.push_str(") -> recording::Dispatch {\n    let recording::DispatchExtent { groups, items } = extent.into();\n");
    code.push_str("    recording::Dispatch {\n");
    let variant = if several { "variant" } else { "" };
    let _ = writeln!(code, "        kernel: std::sync::Arc::clone(kernel({variant})),");
    let words = if reflection.constants.is_empty() { "Vec::new()" } else { "constants.words()" };
    let _ = writeln!(code, "        constants: {words},");
    code.push_str("        groups,\n        items,\n        bindings: bindings.ranges(),\n");
    let push = if reflection.push.is_empty() { "Vec::new()" } else { "bytemuck::bytes_of(push).to_vec()" };
    let _ = writeln!(code, "        push: {push},\n    }}\n}}");
}

/// A member's name as a Rust field.
pub(crate) fn field_name(name: &str) -> String {
    const KEYWORDS: &[&str] = &[
        "as", "box", "dyn", "fn", "gen", "impl", "let", "loop", "match", "mod", "move", "mut", "priv", "pub", "ref",
        "trait", "try", "type", "unsafe", "use", "where", "yield",
    ];
    if KEYWORDS.contains(&name) { format!("r#{name}") } else { name.to_string() }
}
