//! From the HIR to the IR.

/// `radians()` multiplies by this.
pub(crate) const RADIANS_PER_DEGREE: f32 = std::f32::consts::PI / 180.0;

/// `degrees()` multiplies by this.
pub(crate) const DEGREES_PER_RADIAN: f32 = 180.0 / std::f32::consts::PI;
