//! Arithmetic by the operations that all devices share.

/// What is smaller counts as 0, because some devices have no numbers below 1e-38.
pub(super) const SMALLEST: f32 = 1e-30;

/// Returns x within -limit..limit, or 0 where it is not finite.
pub(super) fn bounded(x: f32, limit: f32) -> f32 {
    if x.is_finite() && x.abs() > SMALLEST { x.clamp(-limit, limit) } else { 0.0 }
}

pub(super) fn bounded_all<const N: usize>(v: [f32; N], limit: f32) -> [f32; N] {
    v.map(|x| bounded(x, limit))
}

/// Returns a derivative times a filter's width.
pub(super) fn widened<const N: usize>(v: [f32; N], width: [f32; N], limit: f32) -> [f32; N] {
    std::array::from_fn(|i| bounded(bounded(v[i], 1e9) * bounded(width[i], 1e9), limit))
}

/// Returns 1 / x by the operations that all devices share.
pub(super) fn reciprocal(x: f32) -> f32 {
    let start = f32::from_bits(0x7ef3_11c7_u32.wrapping_sub(x.to_bits()));
    (0..4).fold(start, |y, _| y + y * (1.0 - x * y))
}

/// Returns the root of x likewise, or 0 below 1e-36.
pub(super) fn root(x: f32) -> f32 {
    let start = f32::from_bits(0x5f37_59df - (x.to_bits() >> 1));
    let h = 0.5 * x;
    let y = (0..4).fold(start, |y, _| y * (1.5 - (h * y) * y));
    if x > 1e-36 { x * y } else { 0.0 }
}

/// Returns the coordinate before the wrap of texels, where it may be large.
pub(super) fn wrap_place(x: f32, wrap: u32) -> f32 {
    match wrap {
        2 => x - x.floor(),
        3 => x - 2.0 * (0.5 * x).floor(),
        _ => x.clamp(-300.0, 300.0),
    }
}
