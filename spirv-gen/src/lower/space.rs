//! Coordinate systems and colour spaces.

use super::lowerer::Lowerer;
use crate::ir::{ColorSpace, Direction, Op, TransformKind, Value};
use crate::sema::hir::{Expr, ShadeopCall, Type};

/// Colour spaces by name. `CIE` is what early versions of the interface called XYZ.
const COLOR_SPACES: [(&str, ColorSpace); 7] = [
    ("rgb", ColorSpace::Rgb),
    ("hsv", ColorSpace::Hsv),
    ("hsl", ColorSpace::Hsl),
    ("YIQ", ColorSpace::Yiq),
    ("XYZ", ColorSpace::Xyz),
    ("CIE", ColorSpace::Xyz),
    ("xyY", ColorSpace::XyY),
];

impl Lowerer<'_> {
    /// `x`, whose components are in `space`, in the space in which shaders compute.
    pub(super) fn spaced(&mut self, space: &Expr, x: Value, ty: Type) -> Value {
        match transform_kind(ty) {
            Some(moved) => self.moved_between(moved, space, false, x),
            None if ty == Type::Color => self.color_from(space, x),
            None => match self.space_matrix(space, Direction::CameraFromSpace) {
                Some(matrix) => self.builder.mul(x, matrix),
                None => x,
            },
        }
    }

    /// Moves `x` from camera space into `space`, or the other way.
    pub(super) fn moved_between(&mut self, moved: TransformKind, space: &Expr, into: bool, x: Value) -> Value {
        match self.literal(space) {
            Some(name) if into => self.builder.transform(moved, "current", &name, x),
            Some(name) => self.builder.transform(moved, &name, "current", x),
            None => {
                let name = self.value(space);
                self.builder.transform_dynamic(moved, name, into, x)
            }
        }
    }

    /// `transform` and its variants: `(to, x)`, `(from, to, x)`, `(matrix, x)`, `(from, matrix, x)`.
    pub(super) fn transform(&mut self, moved: TransformKind, call: &ShadeopCall) -> Value {
        let (spaces, x) = spaces_and_value(call);
        let mut x = self.value(x);
        if let [from, _] = spaces {
            x = self.moved_between(moved, from, false, x);
        }
        match spaces.last() {
            Some(matrix) if matrix.ty == Type::Matrix => {
                let matrix = self.value(matrix);
                self.builder.transform_by(moved, matrix, x)
            }
            Some(to) => self.moved_between(moved, to, true, x),
            None => x,
        }
    }

    /// `mtransform([from,] to, m)`: the transform `m` from or to another space.
    pub(super) fn transform_matrix(&mut self, call: &ShadeopCall) -> Value {
        let (spaces, m) = spaces_and_value(call);
        let mut m = self.value(m);
        if let [from, _] = spaces
            && let Some(matrix) = self.space_matrix(from, Direction::CameraFromSpace)
        {
            m = self.builder.mul(m, matrix);
        }
        if let Some(to) = spaces.last()
            && let Some(matrix) = self.space_matrix(to, Direction::SpaceFromCamera)
        {
            m = self.builder.mul(m, matrix);
        }
        m
    }

    /// `ctransform([from,] to, c)`
    pub(super) fn transform_color(&mut self, call: &ShadeopCall) -> Value {
        let (spaces, color) = spaces_and_value(call);
        let mut color = self.value(color);
        if let [from, _] = spaces {
            color = self.color_from(from, color);
        }
        match spaces.last() {
            Some(to) => self.color_between(to, color, |to| (ColorSpace::Rgb, to)),
            None => color,
        }
    }

    fn color_from(&mut self, space: &Expr, color: Value) -> Value {
        self.color_between(space, color, |from| (from, ColorSpace::Rgb))
    }

    fn color_between(
        &mut self,
        space: &Expr,
        color: Value,
        way: impl Fn(ColorSpace) -> (ColorSpace, ColorSpace),
    ) -> Value {
        let convert = |this: &mut Self, space: ColorSpace| {
            let (from, to) = way(space);
            if from == to { color } else { this.builder.op(Op::ColorTransform(from, to), &[color]) }
        };
        match self.literal(space) {
            Some(name) => {
                let space = COLOR_SPACES.iter().find(|(n, _)| *n == name).map_or(ColorSpace::Rgb, |(_, s)| *s);
                convert(self, space)
            }
            None => {
                let name = self.value(space);
                self.by_name(name, &COLOR_SPACES, ColorSpace::Rgb, convert)
            }
        }
    }

    /// `translate(m, t)`: the translation, then `m`, as `RiTranslate` changes a transformation.
    pub(super) fn translate(&mut self, m: Value, t: Value) -> Value {
        let (zero, one) = (self.builder.f32(0.0), self.builder.f32(1.0));
        let [x, y, z] = self.components(t);
        let rows = [one, zero, zero, zero, zero, one, zero, zero, zero, zero, one, zero, x, y, z, one];
        let first = self.builder.op(Op::Mat4, &rows);
        self.builder.mul(first, m)
    }

    /// `scale(m, s)`: the scaling, then `m`.
    pub(super) fn scale_matrix(&mut self, m: Value, s: Value) -> Value {
        let (zero, one) = (self.builder.f32(0.0), self.builder.f32(1.0));
        let [x, y, z] = self.components(s);
        let rows = [x, zero, zero, zero, zero, y, zero, zero, zero, zero, z, zero, zero, zero, zero, one];
        let first = self.builder.op(Op::Mat4, &rows);
        self.builder.mul(first, m)
    }

    /// `rotate(m, angle, axis)`: the rotation by radians about an axis through the origin, then `m`. The rows of a
    /// rotation are what it makes of the axes.
    pub(super) fn rotate_matrix(&mut self, m: Value, angle: Value, axis: Value) -> Value {
        let (zero, one) = (self.builder.f32(0.0), self.builder.f32(1.0));
        let origin = self.builder.constant([0.0; 3]);
        let mut rows = Vec::with_capacity(16);
        for i in 0..3 {
            let mut unit = [0.0; 3];
            unit[i] = 1.0;
            let unit = self.builder.constant(unit);
            let turned = self.builder.rotate(unit, angle, origin, axis);
            rows.extend(self.components(turned));
            rows.push(zero);
        }
        rows.extend([zero, zero, zero, one]);
        let first = self.builder.op(Op::Mat4, &rows);
        self.builder.mul(first, m)
    }

    fn components(&mut self, v: Value) -> [Value; 3] {
        [0, 1, 2].map(|i| self.builder.comp(v, i))
    }
}

/// Returns the arguments of a transform: one or two spaces, and the value that is transformed.
fn spaces_and_value(call: &ShadeopCall) -> (&[Expr], &Expr) {
    let last = call.arguments.len() - 1;
    (&call.arguments[..last], &call.arguments[last])
}

pub(super) fn transform_kind(ty: Type) -> Option<TransformKind> {
    match ty {
        Type::Point => Some(TransformKind::Point),
        Type::Vector => Some(TransformKind::Vector),
        Type::Normal => Some(TransformKind::Normal),
        _ => None,
    }
}
