//! The two shaders that a surface becomes which moves P.

/// Which of the two is being lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MovingPart {
    /// All that P and N depend on.
    Displacement,
    /// The surface, of geometry that the displacement has moved.
    Surface,
}
