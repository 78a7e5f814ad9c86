//! Trim curves as the graphics state holds them (RISpec 5.2, `TrimCurve`).

use std::sync::Arc;

/// The control points (w u, w v, w) of a rational Bezier curve.
pub(crate) type BezierCurve = Vec<[f64; 3]>;

/// Loops of curves in the parameters of whatever surface they will trim.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TrimCurves {
    /// The Bezier curves of each loop, in order.
    pub(crate) loops: Vec<Vec<BezierCurve>>,
}

/// The trim curves of the graphics state.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TrimState {
    /// The loops; `None` trims nothing.
    pub(crate) curves: Option<Arc<TrimCurves>>,
    /// Attribute "trimcurve" "sense": whether what is outside of the loops is drawn.
    pub(crate) draws_outside: bool,
}
