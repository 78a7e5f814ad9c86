//! What a device must know to run a kernel: SPIR-V and interface.

use std::borrow::Cow;
use std::sync::Arc;

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

/// Parts of a kernel that the build wrote.
#[derive(Clone, Copy, Debug)]
pub struct KernelParts {
    /// Name.
    pub label: &'static str,
    /// SPIR-V.
    pub words: &'static [u32],
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

/// A kernel: one entry point `main`, its interface, and a key that is equal for equal kernels.
#[derive(Debug)]
pub struct Kernel {
    label: Cow<'static, str>,
    words: Cow<'static, [u32]>,
    bindings: Cow<'static, [Binding]>,
    push: &'static [PushMember],
    push_bytes: u32,
    local_size: [u32; 3],
    constants: &'static [&'static str],
    key: u128,
}

impl Kernel {
    /// A kernel of `glsl/`.
    pub fn built(parts: KernelParts) -> Arc<Self> {
        Arc::new(Self {
            label: Cow::Borrowed(parts.label),
            words: Cow::Borrowed(parts.words),
            bindings: Cow::Borrowed(parts.bindings),
            push: parts.push,
            push_bytes: parts.push_bytes,
            local_size: parts.local_size,
            constants: parts.constants,
            key: key(parts.words, parts.bindings.len(), parts.push_bytes),
        })
    }

    /// A kernel made at run time, such as a compiled shader: SPIR-V for Vulkan 1.2 with entry point `main` whose
    /// buffers are `bindings` of set 0 from 0 on.
    pub fn compiled(
        label: impl Into<String>,
        words: Vec<u32>,
        bindings: Vec<Binding>,
        push_bytes: u32,
        local_size: [u32; 3],
    ) -> Arc<Self> {
        let key = key(&words, bindings.len(), push_bytes);
        Arc::new(Self {
            label: Cow::Owned(label.into()),
            words: Cow::Owned(words),
            bindings: Cow::Owned(bindings),
            push: &[],
            push_bytes,
            local_size,
            constants: &[],
            key,
        })
    }

    /// The name, equal in file, recording, capture and statistics.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// SPIR-V.
    pub fn words(&self) -> &[u32] {
        &self.words
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
    pub fn key(&self) -> u128 {
        self.key
    }
}

fn key(words: &[u32], binding_count: usize, push_bytes: u32) -> u128 {
    let interface = [binding_count as u32, push_bytes];
    fnv_1a(words.iter().chain(&interface).flat_map(|word| word.to_le_bytes()))
}

/// FNV-1a of 128 bits: a hash that is the same on every machine and in every version, which `std`'s hashers do not
/// promise.
pub fn fnv_1a(bytes: impl Iterator<Item = u8>) -> u128 {
    const OFFSET_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.fold(OFFSET_BASIS, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::{fnv_1a, key};

    #[test]
    fn the_hash_is_fnv_1a() {
        // Published values for the empty input and for "a".
        assert_eq!(fnv_1a(std::iter::empty()), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(fnv_1a(b"a".iter().copied()), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }

    #[test]
    fn kernels_of_other_words_or_interfaces_have_other_keys() {
        let keys = [key(&[1, 2], 1, 4), key(&[2, 1], 1, 4), key(&[1, 2], 2, 4), key(&[1, 2], 1, 8)];
        for (index, one) in keys.iter().enumerate() {
            assert!(!keys[index + 1..].contains(one), "{keys:?}");
        }
    }
}
