//! What kernels may rely on: devices with less are refused, and the build, which includes this file, refuses kernels
//! that need more.

/// The most buffers that a kernel binds.
pub const BINDINGS_MAX: u64 = 16;

/// The most bytes of push constants: the least that every device offers.
pub const PUSH_BYTES_MAX: u64 = 128;

/// The most invocations of a workgroup: a grid of 16x16 vertices.
pub const WORKGROUP_INVOCATIONS_MAX: u64 = 256;

/// The most bytes that the invocations of a workgroup share: the least that every device offers.
pub const SHARED_BYTES_MAX: u64 = 16_384;
