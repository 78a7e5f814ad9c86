//! Derivative relocation (seeds/000, Appendix A).

/// Floats that one exchange may hold: two halves of 256 lanes are 16 KiB, the least that Vulkan promises.
pub const EXCHANGE_FLOATS_MAX: u32 = 8;
