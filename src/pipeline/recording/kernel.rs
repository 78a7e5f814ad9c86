//! What a device must know to run a kernel: SPIR-V and interface.

use std::borrow::Cow;
use std::sync::Arc;
use twox_hash::xxhash3_128;

/// How a kernel uses a binding, as its source declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only.
    Read,
    /// Written only.
    Write,
    /// Both.
    ReadWrite,
}

/// What a binding is to the driver. What a kernel only reads is bound as texels (build/texels.rs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingForm {
    /// A storage buffer.
    Storage,
    /// A uniform texel buffer of `uvec4`: `utextureBuffer` in GLSL.
    Records,
    /// A uniform texel buffer of words: `itextureBuffer` in GLSL.
    Words,
}

/// A binding of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Its name in the source.
    pub name: &'static str,
    /// Bytes of a record.
    pub stride: u32,
    /// How it is used.
    pub access: Access,
    /// What it is to the driver.
    pub form: BindingForm,
}

/// Id of the specialisation constant that devices give every kernel: among how many threads the driver divides the
/// workgroups of a dispatch (glsl/lib/invocation.glsl).
pub const DRIVER_THREADS_ID: u32 = 31;

/// A member of the push constants, for dumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PushMember {
    /// Its name in the source.
    pub name: &'static str,
    /// First byte.
    pub offset: u32,
    /// Its type.
    pub kind: PushKind,
}

/// Types of push constants that dumps can print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushKind {
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
    /// Vectors, matrices, arrays, structs: printed as bytes.
    Other,
}

/// A source file of kernels.
#[derive(Clone, Copy, Debug)]
pub struct SourceText {
    /// Its path from the project's folder.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// Where the instructions of a kernel come from.
#[derive(Clone, Copy, Debug)]
pub struct KernelLines {
    /// Lines by instruction (build/lines.rs).
    pub lines: &'static [u8],
    /// The files, by the numbers that the lines say.
    pub sources: &'static [SourceText],
}

/// Parts of a kernel that the build wrote.
#[derive(Clone, Copy, Debug)]
pub struct KernelParts {
    /// Name.
    pub label: &'static str,
    /// SPIR-V.
    pub words: &'static [u32],
    /// See [`KernelLines`].
    pub lines: &'static [u8],
    /// See [`KernelLines`].
    pub sources: &'static [SourceText],
    /// Bindings 0, 1, 2, ... of descriptor set 0.
    pub bindings: &'static [Binding],
    /// Members of the push constants.
    pub push: &'static [PushMember],
    /// Bytes of the push constants.
    pub push_bytes: u32,
    /// Invocations of a workgroup.
    pub local_size: [u32; 3],
    /// Names of the specialisation constants, whose ids are 0, 1, 2, ...
    pub constants: &'static [&'static str],
}

/// The name of a kernel that is made at run time.
#[derive(Clone, Debug)]
pub struct KernelName {
    label: String,
    program: Option<Arc<str>>,
}

impl KernelName {
    /// The name of one of the kernels that a shading program is compiled to.
    pub fn of_program(program: &Arc<str>, label: String) -> Self {
        Self { label, program: Some(Arc::clone(program)) }
    }
}

/// The SPIR-V of a kernel that is made at run time.
#[derive(Clone, Debug)]
pub struct KernelWords {
    /// What devices run.
    pub words: Vec<u32>,
    /// The same for captures, with what debuggers are to know, if there is such a form.
    pub debug: Option<Vec<u32>>,
}

impl From<Vec<u32>> for KernelWords {
    fn from(words: Vec<u32>) -> Self {
        Self { words, debug: None }
    }
}

impl From<&str> for KernelName {
    fn from(label: &str) -> Self {
        Self { label: label.to_string(), program: None }
    }
}

/// A kernel: one entry point `main`, its interface, and a digest that is equal for equal kernels.
#[derive(Debug)]
pub struct Kernel {
    label: Cow<'static, str>,
    program: Option<Arc<str>>,
    words: Cow<'static, [u32]>,
    debug: Option<Vec<u32>>,
    lines: Option<KernelLines>,
    bindings: Cow<'static, [Binding]>,
    push: &'static [PushMember],
    push_bytes: u32,
    local_size: [u32; 3],
    constants: &'static [&'static str],
    digest: u128,
}

impl Kernel {
    /// A kernel of `glsl/`.
    pub fn built(parts: KernelParts) -> Arc<Self> {
        Arc::new(Self {
            label: Cow::Borrowed(parts.label),
            program: None,
            words: Cow::Borrowed(parts.words),
            debug: None,
            lines: Some(KernelLines { lines: parts.lines, sources: parts.sources }),
            bindings: Cow::Borrowed(parts.bindings),
            push: parts.push,
            push_bytes: parts.push_bytes,
            local_size: parts.local_size,
            constants: parts.constants,
            digest: digest(parts.words, parts.bindings.len(), parts.push_bytes),
        })
    }

    /// A kernel made at run time, such as a compiled shader: SPIR-V for Vulkan 1.2 with entry point `main` whose
    /// buffers are `bindings` of set 0 from 0 on.
    pub fn compiled(
        name: impl Into<KernelName>,
        words: impl Into<KernelWords>,
        bindings: Vec<Binding>,
        push_bytes: u32,
        local_size: [u32; 3],
    ) -> Arc<Self> {
        let KernelWords { words, debug } = words.into();
        let digest = digest(&words, bindings.len(), push_bytes);
        let KernelName { label, program } = name.into();
        Arc::new(Self {
            label: Cow::Owned(label),
            program,
            words: Cow::Owned(words),
            debug,
            lines: None,
            bindings: Cow::Owned(bindings),
            push: &[],
            push_bytes,
            local_size,
            constants: &[],
            digest,
        })
    }

    /// The same kernel by other words, which bind the same otherwise.
    pub fn rewritten(&self, words: Vec<u32>, bindings: Vec<Binding>) -> Arc<Self> {
        let digest = digest(&words, bindings.len(), self.push_bytes);
        Arc::new(Self {
            label: self.label.clone(),
            program: self.program.clone(),
            words: Cow::Owned(words),
            debug: None,
            lines: None,
            bindings: Cow::Owned(bindings),
            digest,
            ..*self
        })
    }

    /// The same kernel by another name.
    pub fn renamed(&self, name: KernelName) -> Arc<Self> {
        let KernelName { label, program } = name;
        Arc::new(Self {
            label: Cow::Owned(label),
            program,
            words: self.words.clone(),
            debug: self.debug.clone(),
            bindings: self.bindings.clone(),
            ..*self
        })
    }

    /// The name, equal in file, recording, capture and statistics.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The name of the shading program that it was compiled from, which several kernels may share: `shade glaze`.
    pub fn program(&self) -> Option<&Arc<str>> {
        self.program.as_ref()
    }

    /// SPIR-V.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// SPIR-V with what debuggers are to know, if there is such a form.
    pub fn debug_words(&self) -> Option<&[u32]> {
        self.debug.as_deref()
    }

    /// Where the instructions of a kernel of `glsl/` come from.
    pub fn lines(&self) -> Option<KernelLines> {
        self.lines
    }

    /// Bindings 0, 1, 2, ... of descriptor set 0.
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// Members of the push constants; empty for kernels made at run time.
    pub fn push(&self) -> &[PushMember] {
        self.push
    }

    /// Bytes of the push constants.
    pub fn push_bytes(&self) -> u32 {
        self.push_bytes
    }

    /// Invocations of a workgroup along x, y, z.
    pub fn local_size(&self) -> [u32; 3] {
        self.local_size
    }

    /// Names of the specialisation constants, whose ids are 0, 1, 2, ...
    pub fn constants(&self) -> &[&'static str] {
        self.constants
    }

    /// A hash of SPIR-V and interface, by which caches find the kernel.
    pub fn digest(&self) -> u128 {
        self.digest
    }
}

fn digest(words: &[u32], binding_count: usize, push_bytes: u32) -> u128 {
    let interface = [binding_count as u32, push_bytes];
    hash([words, &interface].map(bytemuck::cast_slice))
}

/// XXH3 of 128 bits of parts that follow each other: a hash that is the same in every version, which `std`'s hashers do
/// not promise.
pub fn hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u128 {
    let mut hasher = xxhash3_128::Hasher::new();
    parts.into_iter().for_each(|part| hasher.write(part));
    hasher.finish_128()
}

#[cfg(test)]
mod tests {
    use super::{digest, hash};

    #[test]
    fn the_hash_is_xxh3() {
        // What the C library gives for nothing, and for the bytes 0 to 255 four times.
        assert_eq!(hash([]), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(hash([bytes.as_slice(); 4]), 0x8388_5e85_3bb6_640c_a870_f929_8439_8d22);
        // Where parts are cut does not matter.
        assert_eq!(hash([b"ab".as_slice(), b"c"]), hash([b"abc".as_slice()]));
    }

    #[test]
    fn kernels_of_other_words_or_interfaces_have_other_digests() {
        let digests = [digest(&[1, 2], 1, 4), digest(&[2, 1], 1, 4), digest(&[1, 2], 2, 4), digest(&[1, 2], 1, 8)];
        for (index, one) in digests.iter().enumerate() {
            assert!(!digests[index + 1..].contains(one), "{digests:?}");
        }
    }
}
