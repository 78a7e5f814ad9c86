//! Every operation of bound programs on the device, against its meaning on the host: to the bit where it is arithmetic,
//! closely where it is a function of the helper library.

use crate::generate::Random;
use crate::run::run_body;
use spirv_gen::interp::evaluate;
use spirv_gen::ir::{
    Binary, Builder, ColorSpace, Compare, Const, MachineType, NoiseKind, Op, ShaderKind, Unary, Value,
};

const POINTS: usize = 2048;

/// Input channels being filled, and the values that they hold.
struct Inputs<'r> {
    b: Builder,
    random: &'r mut Random,
    channels: Vec<Vec<[u32; 4]>>,
    columns: Vec<Vec<Const>>,
    /// Triples are colours.
    colours: bool,
}

impl Inputs<'_> {
    fn number(&mut self) -> f32 {
        let x = self.random.float(-4.0, 4.0);
        // Integers, equal values and zeros of both signs must occur.
        match self.random.below(8) {
            0 => x.round(),
            1 => 0.0,
            2 => -0.0,
            3 => x * 1000.0,
            _ => x,
        }
    }

    /// A number, or what no integer of 32 bits holds, or what is no number.
    fn float(&mut self) -> f32 {
        match self.random.below(10) {
            0 => self.random.float(-4e10, 4e10),
            1 => self.random.pick(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e38]),
            _ => self.number(),
        }
    }

    fn value(&mut self, ty: MachineType) -> Value {
        let constant = |this: &mut Self| match ty {
            MachineType::F32 => Const::F32(this.float()),
            MachineType::Vec3 if this.colours => Const::Vec3([0; 3].map(|_| this.random.float(0.01, 1.0))),
            MachineType::Vec3 => Const::Vec3([0; 3].map(|_| this.float())),
            MachineType::Mat4 => Const::Mat4(Box::new([0; 16].map(|_| this.number()))),
            MachineType::Bool => Const::Bool(this.random.chance(50)),
            MachineType::U32 | MachineType::Str => {
                Const::U32(if this.random.chance(30) { 5 } else { this.random.bits() })
            }
        };
        let column: Vec<Const> = (0..POINTS).map(|_| constant(self)).collect();
        let words = |c: &Const| match c {
            Const::F32(x) => vec![x.to_bits()],
            Const::Vec3(x) => x.map(f32::to_bits).to_vec(),
            Const::Mat4(x) => x.map(f32::to_bits).to_vec(),
            Const::Bool(x) => vec![u32::from(*x)],
            Const::U32(x) => vec![*x],
            Const::Str(_) => Vec::new(),
        };
        let channel = self.channels.len() as u32;
        for record in 0..if ty == MachineType::Mat4 { 4 } else { 1 } {
            let lanes = |c: &Const| {
                let words = words(c);
                std::array::from_fn(|lane| words.get(4 * record + lane).copied().unwrap_or(0))
            };
            self.channels.push(column.iter().map(lanes).collect());
        }
        self.columns.push(column);
        if ty == MachineType::Bool {
            let word = self.b.op(Op::Channel { channel, lane: 0, ty: MachineType::U32 }, &[]);
            let zero = self.b.u32(0);
            return self.b.compare(Compare::Ne, word, zero);
        }
        self.b.op(Op::Channel { channel, lane: 0, ty }, &[])
    }
}

fn result(words: [u32; 4], rest: &[[u32; 4]], ty: MachineType) -> Const {
    let float = |i: usize| f32::from_bits(words[i]);
    match ty {
        MachineType::F32 => Const::F32(float(0)),
        MachineType::Vec3 => Const::Vec3([float(0), float(1), float(2)]),
        MachineType::Bool => Const::Bool(words[0] != 0),
        MachineType::U32 | MachineType::Str => Const::U32(words[0]),
        MachineType::Mat4 => {
            let all: Vec<f32> = std::iter::once(&words).chain(rest).flatten().map(|w| f32::from_bits(*w)).collect();
            Const::Mat4(Box::new(std::array::from_fn(|i| all[i])))
        }
    }
}

fn floats(c: &Const) -> Vec<f32> {
    match c {
        Const::F32(x) => vec![*x],
        Const::Vec3(x) => x.to_vec(),
        Const::Mat4(x) => x.to_vec(),
        Const::Bool(x) => vec![f32::from(*x)],
        Const::U32(x) => vec![f32::from_bits(*x)],
        Const::Str(_) => Vec::new(),
    }
}

fn agrees(a: &Const, b: &Const, tolerance: f32) -> bool {
    let scale = floats(a).iter().fold(1e-3f32, |m, x| m.max(x.abs()));
    floats(a).iter().zip(floats(b)).all(|(x, y)| {
        let same = x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
        same || (tolerance > 0.0 && (x - y).abs() <= tolerance * scale)
    })
}

/// Compares one operation at random arguments.
fn check(op: &Op, types: &[MachineType], tolerance: f32) {
    let mut random = Random::new(11);
    let b = Builder::new(ShaderKind::Imager, "operation");
    let colours = matches!(op, Op::ColorTransform(..));
    let mut inputs = Inputs { b, random: &mut random, channels: Vec::new(), columns: Vec::new(), colours };
    let args: Vec<Value> = types.iter().map(|&ty| inputs.value(ty)).collect();
    let value = inputs.b.op(op.clone(), &args);
    let ty = inputs.b.ty(value);
    let ran = run_body(&inputs.b.finish_body(&[value]), &inputs.channels);
    for point in 0..POINTS {
        let args: Vec<Const> = inputs.columns.iter().map(|c| c[point].clone()).collect();
        let expected = evaluate(op, &args).unwrap_or_else(|| panic!("{op} has no meaning for {args:?}"));
        let rest: Vec<[u32; 4]> = ran[1..].iter().map(|c| c[point]).collect();
        let got = result(ran[0][point], &rest, ty);
        assert!(agrees(&expected, &got, tolerance), "{op}{args:?} is {expected}, the device says {got}");
    }
}

#[test]
fn arithmetic_is_exact() {
    use MachineType::{F32, Mat4, U32, Vec3};
    for op in [Unary::Neg, Unary::Abs, Unary::Sign, Unary::Floor, Unary::Ceil, Unary::Round, Unary::Trunc, Unary::Sqrt]
    {
        check(&Op::Unary(op), &[F32], 0.0);
        check(&Op::Unary(op), &[Vec3], 0.0);
    }
    for op in [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Min, Binary::Max, Binary::Mod] {
        check(&Op::Binary(op), &[F32, F32], 0.0);
        check(&Op::Binary(op), &[Vec3, Vec3], 0.0);
    }
    for op in [Binary::Add, Binary::Sub, Binary::Mul] {
        check(&Op::Binary(op), &[U32, U32], 0.0);
        check(&Op::Binary(op), &[Mat4, Mat4], 0.0);
    }
    check(&Op::Binary(Binary::Dot), &[Vec3, Vec3], 0.0);
    check(&Op::Binary(Binary::Cross), &[Vec3, Vec3], 0.0);
    for op in [Binary::XformPoint, Binary::XformVector, Binary::XformNormal] {
        check(&Op::Binary(op), &[Mat4, Vec3], 0.0);
    }
    check(&Op::Unary(Unary::Normalize), &[Vec3], 0.0);
    check(&Op::Unary(Unary::Neg), &[Mat4], 0.0);
    check(&Op::Unary(Unary::Transpose), &[Mat4], 0.0);
}

#[test]
fn comparisons_selections_and_conversions_are_exact() {
    use MachineType::{Bool, F32, Mat4, U32, Vec3};
    for op in [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le] {
        check(&Op::Compare(op), &[F32, F32], 0.0);
        check(&Op::Compare(op), &[U32, U32], 0.0);
    }
    for op in [Compare::Eq, Compare::Ne] {
        for ty in [Vec3, Mat4, Bool] {
            check(&Op::Compare(op), &[ty, ty], 0.0);
        }
    }
    for ty in [F32, Vec3, Mat4, U32] {
        check(&Op::Select, &[Bool, ty, ty], 0.0);
    }
    for (op, ty) in [
        (Unary::Not, Bool),
        (Unary::Splat, F32),
        (Unary::FloatFromBool, Bool),
        (Unary::FloatFromU32, U32),
        (Unary::U32FromFloat, F32),
        (Unary::Bits, F32),
    ] {
        check(&Op::Unary(op), &[ty], 0.0);
    }
    check(&Op::Binary(Binary::And), &[Bool, Bool], 0.0);
    check(&Op::Binary(Binary::Or), &[Bool, Bool], 0.0);
    check(&Op::Binary(Binary::BitAnd), &[U32, U32], 0.0);
}

#[test]
fn components_are_exact() {
    use MachineType::{F32, Mat4, Vec3};
    check(&Op::Vec3, &[F32; 3], 0.0);
    check(&Op::Mat4, &[F32; 16], 0.0);
    for i in 0..3 {
        check(&Op::Comp(i), &[Vec3], 0.0);
        check(&Op::SetComp(i), &[Vec3, F32], 0.0);
    }
    check(&Op::CompAt, &[Vec3, F32], 0.0);
    check(&Op::SetCompAt, &[Vec3, F32, F32], 0.0);
    check(&Op::MatComp, &[Mat4, F32, F32], 0.0);
    check(&Op::SetMatComp, &[Mat4, F32, F32, F32], 0.0);
}

#[test]
fn noise_and_hashes_are_exact() {
    use MachineType::{F32, U32, Vec3};
    check(&Op::Binary(Binary::Hash), &[U32, U32], 0.0);
    for kind in [NoiseKind::Gradient, NoiseKind::Periodic, NoiseKind::Cell, NoiseKind::Hash] {
        for (dimension, shape) in [(1, &[F32][..]), (2, &[F32, F32]), (3, &[Vec3]), (4, &[Vec3, F32])] {
            for ty in [F32, Vec3] {
                let types = if kind == NoiseKind::Periodic { [shape, shape].concat() } else { shape.to_vec() };
                check(&Op::Noise { kind, dimension, ty }, &types, 0.0);
            }
        }
    }
}

#[test]
fn colours_and_matrices_are_close() {
    for &from in ColorSpace::ALL {
        for &to in ColorSpace::ALL {
            // From a triple that is no colour a hue may come out a turn away.
            let hue = matches!(to, ColorSpace::Hsv | ColorSpace::Hsl);
            if !hue || from == ColorSpace::Rgb {
                check(&Op::ColorTransform(from, to), &[MachineType::Vec3], 1e-4);
            }
        }
    }
    check(&Op::Unary(Unary::Determinant), &[MachineType::Mat4], 1e-4);
    // A hue of one colour and back.
    for space in [ColorSpace::Hsv, ColorSpace::Hsl, ColorSpace::XyY, ColorSpace::Yiq, ColorSpace::Xyz] {
        for c in [[0.2, 0.5, 0.9], [0.9, 0.1, 0.1], [0.3, 0.3, 0.3], [0.5, 0.9, 0.5]] {
            let there = evaluate(&Op::ColorTransform(ColorSpace::Rgb, space), &[Const::Vec3(c)]).expect("a colour");
            let back = evaluate(&Op::ColorTransform(space, ColorSpace::Rgb), &[there]).expect("a colour");
            assert!(agrees(&Const::Vec3(c), &back, 1e-5), "{c:?} through {space:?} is {back}");
        }
    }
}

#[test]
fn inverses_undo_what_they_invert() {
    let mut random = Random::new(3);
    let matrix: [f32; 16] = std::array::from_fn(|i| random.float(-1.0, 1.0) + if i % 5 == 0 { 2.0 } else { 0.0 });
    let mut b = Builder::new(ShaderKind::Imager, "inverse");
    let m = b.constant(Const::Mat4(Box::new(matrix)));
    let inverse = b.unary(Unary::Inverse, m);
    let product = b.binary(Binary::Mul, m, inverse);
    let none = b.constant(Const::diagonal(0.0));
    let singular = b.unary(Unary::Inverse, none);
    let ran = run_body(&b.finish_body(&[product, singular]), &[]);
    for row in 0..4 {
        for (column, word) in ran[row][0].into_iter().enumerate() {
            let expected = if row == column { 1.0 } else { 0.0 };
            let got = f32::from_bits(word);
            assert!((got - expected).abs() < 1e-5, "row {row}, column {column} of M times its inverse: {got}");
            let got = f32::from_bits(ran[4 + row][0][column]);
            assert_eq!(got, expected, "a singular matrix has the identity for its inverse");
        }
    }
}
