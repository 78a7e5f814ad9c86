//! Operations to instructions.

use super::emitter::{Emitter, RecordKey};
use super::error::EmitError;
use super::kernel::{unpack, unpack_row};
use crate::ir::{Binary, ColorSpace, Compare, Const, Inst, InstData, MachineType, NoiseKind, Op as IrOp, Unary, Value};
use rspirv::spirv::{GlslStd450Op, Op, Word};

/// Returns the function of the helper library that computes an operation.
fn library_function(op: &IrOp) -> Option<String> {
    let vector = |ty: &MachineType| if *ty == MachineType::Vec3 { "v" } else { "" };
    Some(match op {
        IrOp::Unary(
            op @ (Unary::Sin
            | Unary::Cos
            | Unary::Tan
            | Unary::Asin
            | Unary::Acos
            | Unary::Atan
            | Unary::Exp
            | Unary::Log
            | Unary::Inverse
            | Unary::Determinant),
        ) => format!("rsl_{}", op.name()),
        IrOp::Binary(op @ (Binary::Atan2 | Binary::Pow | Binary::Hash)) => format!("rsl_{}", op.name()),
        IrOp::Noise { kind, dimension, ty } => {
            let family = match kind {
                NoiseKind::Gradient => "noise",
                NoiseKind::Periodic => "pnoise",
                NoiseKind::Cell => "cellnoise",
                NoiseKind::Hash => "hashnoise",
            };
            format!("rsl_{family}{dimension}{}", vector(ty))
        }
        IrOp::Random { ty: MachineType::Vec3, .. } => "rsl_random3".into(),
        IrOp::Random { .. } => "rsl_random".into(),
        _ => return None,
    })
}

/// Returns whether an operation is a call into the library: too long to be written twice or unrolled.
pub(super) fn is_library_call(op: &IrOp) -> bool {
    library_function(op).is_some()
        || matches!(op, IrOp::ColorTransform(..) | IrOp::Lookup(_) | IrOp::Points(_) | IrOp::TextureFact(..))
}

/// Returns the components of a type that arithmetic works on.
fn lanes(ty: MachineType) -> usize {
    if ty == MachineType::Vec3 { 3 } else { 1 }
}

impl Emitter<'_> {
    /// Writes an operation without regions.
    pub(super) fn operation(&mut self, inst: Inst) -> Result<Vec<Word>, EmitError> {
        let data = self.body.inst(inst);
        let args: Vec<_> = data.args.iter().map(|&a| self.value(a)).collect();
        let one = |word| Ok(vec![word]);
        if let IrOp::SlotStore(slot) = data.op {
            let index = self.index(args[0], self.body.slot(slot).len);
            let pointer = self.slot_element(slot.0 as usize, index);
            self.s.effect(Op::Store, &[pointer, args[1]]);
            return Ok(Vec::new());
        }
        if let Some(text) = data.op.record() {
            self.leave_record(text, data)?;
            return Ok(Vec::new());
        }
        let result = *data.results.first().ok_or_else(|| EmitError::NotBound(data.op.to_string()))?;
        let ir_type = self.body.ty(result);
        let ty = self.ty(ir_type);
        if let Some(name) = library_function(&data.op) {
            let args = if let IrOp::Random { site, .. } = data.op {
                vec![self.frame.seed, self.frame.vertex, self.s.u32(site), args[0]]
            } else {
                args
            };
            return one(self.call(&name, ty, &args)?);
        }
        match &data.op {
            IrOp::Const(c) => one(self.constant(c)),
            IrOp::Builtin(b) => one(self.frame.builtin(*b)),
            IrOp::Unary(op) => one(self.unary(*op, ir_type, args[0])),
            IrOp::Binary(op) => one(self.binary(*op, data, ir_type, [args[0], args[1]])),
            IrOp::Compare(op) => one(self.compare(*op, self.body.ty(data.args[0]), [args[0], args[1]])),
            IrOp::Select => one(self.s.inst(Op::Select, ty, &args)),
            IrOp::Vec3 => one(self.s.inst(Op::CompositeConstruct, ty, &args)),
            IrOp::Comp(i) => one(self.s.extract(ty, args[0], (*i).into())),
            IrOp::SetComp(i) => one(self.s.insert(ty, args[1], args[0], (*i).into())),
            IrOp::CompAt => {
                let index = self.index(args[1], 3);
                one(self.s.inst(Op::VectorExtractDynamic, ty, &[args[0], index]))
            }
            IrOp::SetCompAt => {
                let index = self.index(args[1], 3);
                one(self.s.inst(Op::VectorInsertDynamic, ty, &[args[0], args[2], index]))
            }
            IrOp::Mat4 => {
                let rows: Vec<_> = args.chunks(4).map(|row| self.vec4(row)).collect();
                one(self.s.inst(Op::CompositeConstruct, ty, &rows))
            }
            IrOp::MatComp => one(self.matrix_component(&args)),
            IrOp::SetMatComp => one(self.set_matrix_component(&args)),
            IrOp::Lookup(lookup) => one(self.lookup(*lookup, &args)?),
            IrOp::Points(ty) => self.points(*ty, data.args[5], &args),
            IrOp::TextureFact(fact, number) => one(self.texture_fact(*fact, *number, args[0])?),
            IrOp::ColorTransform(from, to) => one(self.color_transform(*from, *to, ty, args[0])?),
            IrOp::SlotLoad(slot) => {
                let index = self.index(args[0], self.body.slot(*slot).len);
                let pointer = self.slot_element(slot.0 as usize, index);
                one(self.s.load(ty, pointer))
            }
            IrOp::Load { buffer, record, lane, ty } => {
                one(self.unpacked(*ty, *lane, |i| RecordKey::Record(*buffer, args[0], record + i)))
            }
            IrOp::Channel { channel, lane, ty } => {
                one(self.unpacked(*ty, *lane, |i| RecordKey::Channel(channel + i, args.first().copied())))
            }
            IrOp::Restore { channel, lane, ty: saved } => {
                let word = self.unpacked(*saved, *lane, |i| RecordKey::Saved(channel + i));
                let zero = self.s.u32(0);
                one(if *saved == MachineType::Bool { self.s.inst(Op::INotEqual, ty, &[word, zero]) } else { word })
            }
            op => Err(EmitError::NotBound(op.to_string())),
        }
    }

    pub(super) fn call(&mut self, name: &str, ty: Word, args: &[Word]) -> Result<Word, EmitError> {
        let function = self.imports.function(&mut self.s, name)?;
        let all: Vec<_> = std::iter::once(function).chain(args.iter().copied()).collect();
        Ok(self.s.inst(Op::FunctionCall, ty, &all))
    }

    /// Returns a value that is stored in records: one, or four for a matrix.
    fn unpacked(&mut self, ty: MachineType, lane: u8, place: impl Fn(u32) -> RecordKey) -> Word {
        if ty == MachineType::Mat4 {
            let rows: Vec<_> = (0..4)
                .map(|i| {
                    let words = self.record(place(i));
                    unpack_row(&mut self.s, words)
                })
                .collect();
            let ty = self.ty(ty);
            return self.s.inst(Op::CompositeConstruct, ty, &rows);
        }
        let words = self.record(place(0));
        unpack(&mut self.s, words, lane, ty)
    }

    /// Returns the records that a value is stored as.
    pub(super) fn pack(&mut self, ty: MachineType, word: Word) -> Vec<Word> {
        let (u32, f32) = (self.s.type_u32(), self.s.type_f32());
        let (uvec4, zero) = (self.s.type_vector(u32, 4), self.s.u32(0));
        let parts: Vec<_> = match ty {
            MachineType::Mat4 => {
                let rows: Vec<_> = (0..4).map(|i| self.row(word, i)).collect();
                return rows.into_iter().map(|row| self.s.inst(Op::Bitcast, uvec4, &[row])).collect();
            }
            MachineType::Vec3 => (0..3).map(|i| self.s.extract(f32, word, i)).collect(),
            MachineType::Bool => {
                let one = self.s.u32(1);
                vec![self.s.inst(Op::Select, u32, &[word, one, zero])]
            }
            MachineType::F32 | MachineType::U32 | MachineType::Str => vec![word],
        };
        let is_float = matches!(ty, MachineType::F32 | MachineType::Vec3);
        let mut words: Vec<_> = (parts.into_iter())
            .map(|part| if is_float { self.s.inst(Op::Bitcast, u32, &[part]) } else { part })
            .collect();
        words.resize(4, zero);
        vec![self.s.inst(Op::CompositeConstruct, uvec4, &words)]
    }

    pub(super) fn zero(&mut self, ty: MachineType) -> Word {
        self.constant(&ty.zero())
    }

    fn constant(&mut self, c: &Const) -> Word {
        let s = &mut self.s;
        match c {
            Const::Bool(x) => s.bool(*x),
            Const::U32(x) => s.u32(*x),
            Const::F32(x) => s.f32(*x),
            Const::Vec3(x) => {
                let parts = x.map(|x| s.f32(x));
                let ty = self.ty(MachineType::Vec3);
                self.s.composite(ty, &parts)
            }
            Const::Mat4(x) => {
                let f32 = s.type_f32();
                let vec4 = s.type_vector(f32, 4);
                let rows: Vec<_> = (x.chunks(4))
                    .map(|row| {
                        let parts: Vec<_> = row.iter().map(|&x| s.f32(x)).collect();
                        s.composite(vec4, &parts)
                    })
                    .collect();
                let ty = self.ty(MachineType::Mat4);
                self.s.composite(ty, &rows)
            }
            Const::Str(x) => {
                let token = (self.tokens)(x);
                self.s.u32(token)
            }
        }
    }

    /// Returns a constant float in every component.
    fn all(&mut self, ty: MachineType, x: f32) -> Word {
        if ty == MachineType::Vec3 { self.constant(&Const::Vec3([x; 3])) } else { self.s.f32(x) }
    }

    /// Returns the type of a comparison's result, componentwise.
    fn bools(&mut self, ty: MachineType) -> Word {
        let bool = self.s.type_bool();
        if lanes(ty) == 3 { self.s.type_vector(bool, 3) } else { bool }
    }

    pub(super) fn vec4(&mut self, parts: &[Word]) -> Word {
        let f32 = self.s.type_f32();
        let ty = self.s.type_vector(f32, 4);
        self.s.inst(Op::CompositeConstruct, ty, parts)
    }

    /// Returns an index from a float: its integer part, at least 0 and below `len`.
    pub(super) fn index(&mut self, x: Word, len: u32) -> Word {
        let (u32, f32, bool) = (self.s.type_u32(), self.s.type_f32(), self.s.type_bool());
        let (zero, last) = (self.s.f32(0.0), self.s.f32((len - 1) as f32));
        let above = self.s.inst(Op::FOrdGreaterThan, bool, &[x, zero]);
        let x = self.s.inst(Op::Select, f32, &[above, x, zero]);
        let below = self.s.inst(Op::FOrdLessThan, bool, &[x, last]);
        let x = self.s.inst(Op::Select, f32, &[below, x, last]);
        self.s.inst(Op::ConvertFToU, u32, &[x])
    }

    fn unary(&mut self, op: Unary, ir_type: MachineType, x: Word) -> Word {
        let ty = self.ty(ir_type);
        match op {
            Unary::Neg if ir_type == MachineType::Mat4 => self.by_rows(|e, vec4, i| {
                let row = e.row(x, i);
                e.s.inst(Op::FNegate, vec4, &[row])
            }),
            Unary::Neg => self.s.inst(Op::FNegate, ty, &[x]),
            Unary::Abs => self.s.ext(GlslStd450Op::FAbs, ty, &[x]),
            Unary::Floor => self.s.ext(GlslStd450Op::Floor, ty, &[x]),
            Unary::Ceil => self.s.ext(GlslStd450Op::Ceil, ty, &[x]),
            Unary::Trunc => self.s.ext(GlslStd450Op::Trunc, ty, &[x]),
            Unary::Sign | Unary::Round | Unary::Sqrt => self.composed(op, ir_type, x),
            Unary::Normalize => self.normalized(ty, x),
            Unary::Not => self.s.inst(Op::LogicalNot, ty, &[x]),
            Unary::Splat => self.s.inst(Op::CompositeConstruct, ty, &[x, x, x]),
            Unary::FloatFromBool => {
                let (one, zero) = (self.s.f32(1.0), self.s.f32(0.0));
                self.s.inst(Op::Select, ty, &[x, one, zero])
            }
            Unary::FloatFromU32 => self.s.inst(Op::ConvertUToF, ty, &[x]),
            Unary::U32FromFloat => self.index(x, 1 << 31),
            Unary::Bits => self.s.inst(Op::Bitcast, ty, &[x]),
            Unary::Token => x,
            Unary::Transpose => self.s.inst(Op::Transpose, ty, &[x]),
            Unary::Sin
            | Unary::Cos
            | Unary::Tan
            | Unary::Asin
            | Unary::Acos
            | Unary::Atan
            | Unary::Exp
            | Unary::Log
            | Unary::Inverse
            | Unary::Determinant => unreachable!("a library function"),
        }
    }

    /// Writes a unary operation of several instructions.
    fn composed(&mut self, op: Unary, ir_type: MachineType, x: Word) -> Word {
        let (ty, bools) = (self.ty(ir_type), self.bools(ir_type));
        match op {
            Unary::Sign => {
                // A difference of truths: nested selects are recognised as a sign, which some drivers give wrong for 0.
                let [zero, one] = [0.0, 1.0].map(|c| self.all(ir_type, c));
                let [above, below] = [Op::FOrdGreaterThan, Op::FOrdLessThan].map(|compare| {
                    let holds = self.s.inst(compare, bools, &[x, zero]);
                    self.s.inst(Op::Select, ty, &[holds, one, zero])
                });
                self.s.inst(Op::FSub, ty, &[above, below])
            }
            Unary::Round => {
                let [zero, half, one, minus] = [0.0, 0.5, 1.0, -1.0].map(|c| self.all(ir_type, c));
                let whole = self.s.ext(GlslStd450Op::Trunc, ty, &[x]);
                let rest = self.s.inst(Op::FSub, ty, &[x, whole]);
                let rest = self.s.ext(GlslStd450Op::FAbs, ty, &[rest]);
                let negative = self.s.inst(Op::FOrdLessThan, bools, &[x, zero]);
                let away = self.s.inst(Op::Select, ty, &[negative, minus, one]);
                let away = self.s.inst(Op::FAdd, ty, &[whole, away]);
                let rounds = self.s.inst(Op::FOrdGreaterThanEqual, bools, &[rest, half]);
                self.s.inst(Op::Select, ty, &[rounds, away, whole])
            }
            _ => {
                let zero = self.all(ir_type, 0.0);
                let above = self.s.inst(Op::FOrdGreaterThan, bools, &[x, zero]);
                let x = self.s.inst(Op::Select, ty, &[above, x, zero]);
                self.s.ext(GlslStd450Op::Sqrt, ty, &[x])
            }
        }
    }

    fn binary(&mut self, op: Binary, data: &InstData, ir_type: MachineType, [a, b]: [Word; 2]) -> Word {
        let ty = self.ty(ir_type);
        let bools = self.bools(ir_type);
        let arithmetic = |float, integer| if ir_type == MachineType::U32 { integer } else { float };
        match op {
            Binary::Mul if ir_type == MachineType::Mat4 => self.matrix_product(a, b),
            Binary::Add | Binary::Sub if ir_type == MachineType::Mat4 => self.by_rows(|e, vec4, i| {
                let (a, b) = (e.row(a, i), e.row(b, i));
                e.s.inst(if op == Binary::Add { Op::FAdd } else { Op::FSub }, vec4, &[a, b])
            }),
            Binary::Add => self.s.inst(arithmetic(Op::FAdd, Op::IAdd), ty, &[a, b]),
            Binary::Sub => self.s.inst(arithmetic(Op::FSub, Op::ISub), ty, &[a, b]),
            Binary::Mul => self.multiply(data, ir_type, [a, b]),
            Binary::Div => self.divide(data.args[1], ir_type, [a, b]),
            Binary::Min => {
                let less = self.s.inst(Op::FOrdLessThan, bools, &[b, a]);
                self.s.inst(Op::Select, ty, &[less, b, a])
            }
            Binary::Max => {
                let less = self.s.inst(Op::FOrdLessThan, bools, &[a, b]);
                self.s.inst(Op::Select, ty, &[less, b, a])
            }
            Binary::Mod => {
                let quotient = self.s.inst(Op::FDiv, ty, &[a, b]);
                let whole = self.s.ext(GlslStd450Op::Floor, ty, &[quotient]);
                let product = self.s.inst(Op::FMul, ty, &[b, whole]);
                let rest = self.s.inst(Op::FSub, ty, &[a, product]);
                self.unless_zero(data.args[1], ir_type, b, rest)
            }
            Binary::Dot => self.dot(a, b),
            Binary::Cross => {
                let [a1, b1] = [a, b].map(|v| self.s.shuffle(ty, v, &[1, 2, 0]));
                let [a2, b2] = [a, b].map(|v| self.s.shuffle(ty, v, &[2, 0, 1]));
                let (left, right) = (self.s.inst(Op::FMul, ty, &[a1, b2]), self.s.inst(Op::FMul, ty, &[a2, b1]));
                self.s.inst(Op::FSub, ty, &[left, right])
            }
            Binary::And => self.s.inst(Op::LogicalAnd, ty, &[a, b]),
            Binary::Or => self.s.inst(Op::LogicalOr, ty, &[a, b]),
            Binary::BitAnd => self.s.inst(Op::BitwiseAnd, ty, &[a, b]),
            Binary::XformPoint | Binary::XformVector | Binary::XformNormal => self.transform(op, a, b),
            Binary::Atan2 | Binary::Pow | Binary::Hash => unreachable!("a library function"),
        }
    }

    /// `(x x' + y y') + z z'`
    fn dot(&mut self, a: Word, b: Word) -> Word {
        let (f32, vec3) = (self.s.type_f32(), self.ty(MachineType::Vec3));
        let products = self.s.inst(Op::FMul, vec3, &[a, b]);
        let [x, y, z] = [0, 1, 2].map(|i| self.s.extract(f32, products, i));
        let xy = self.s.inst(Op::FAdd, f32, &[x, y]);
        self.s.inst(Op::FAdd, f32, &[xy, z])
    }

    /// A vector by 1 over its length, as [`Unary::Normalize`] says.
    fn normalized(&mut self, vec3: Word, v: Word) -> Word {
        let (f32, bool) = (self.s.type_f32(), self.s.type_bool());
        let [zero, one, tiny, huge] = [0.0, 1.0, 1e-24, 1e24].map(|c| self.s.f32(c));
        let [up, down] = [80, -80].map(|exponent| self.s.f32(f32::powi(2.0, exponent)));
        let square = self.dot(v, v);
        let is_tiny = self.s.inst(Op::FOrdLessThan, bool, &[square, tiny]);
        let is_huge = self.s.inst(Op::FOrdLessThan, bool, &[huge, square]);
        let factor = self.s.inst(Op::Select, f32, &[is_huge, down, one]);
        let factor = self.s.inst(Op::Select, f32, &[is_tiny, up, factor]);
        let v = self.s.inst(Op::VectorTimesScalar, vec3, &[v, factor]);
        let square = self.dot(v, v);
        // A sum of squares is no negative number.
        let length = self.s.ext(GlslStd450Op::Sqrt, f32, &[square]);
        let inverse = self.s.inst(Op::FDiv, f32, &[one, length]);
        let is_zero = self.s.inst(Op::FOrdEqual, bool, &[length, zero]);
        let inverse = self.s.inst(Op::Select, f32, &[is_zero, zero, inverse]);
        self.s.inst(Op::VectorTimesScalar, vec3, &[v, inverse])
    }

    /// Returns a product, which for a vector and a spread float is one instruction.
    fn multiply(&mut self, data: &InstData, ir_type: MachineType, [a, b]: [Word; 2]) -> Word {
        let ty = self.ty(ir_type);
        let splat = |v: Value| match self.body.def_inst(v) {
            Some(InstData { op: IrOp::Unary(Unary::Splat), args, .. }) => Some(self.value(args[0])),
            _ => None,
        };
        match (ir_type, splat(data.args[0]), splat(data.args[1])) {
            (MachineType::U32, ..) => self.s.inst(Op::IMul, ty, &[a, b]),
            (MachineType::Vec3, _, Some(scalar)) => self.s.inst(Op::VectorTimesScalar, ty, &[a, scalar]),
            (MachineType::Vec3, Some(scalar), _) => self.s.inst(Op::VectorTimesScalar, ty, &[b, scalar]),
            _ => self.s.inst(Op::FMul, ty, &[a, b]),
        }
    }

    fn divide(&mut self, divisor: Value, ir_type: MachineType, [a, b]: [Word; 2]) -> Word {
        let ty = self.ty(ir_type);
        let quotient = self.s.inst(Op::FDiv, ty, &[a, b]);
        self.unless_zero(divisor, ir_type, b, quotient)
    }

    /// `x`, or 0 where the divisor is 0.
    fn unless_zero(&mut self, divisor: Value, ir_type: MachineType, b: Word, x: Word) -> Word {
        let never = match self.body.constant(divisor) {
            Some(Const::F32(c)) => *c != 0.0,
            Some(Const::Vec3(c)) => c.iter().all(|&c| c != 0.0),
            _ => false,
        };
        if never {
            return x;
        }
        let (ty, bools, zero) = (self.ty(ir_type), self.bools(ir_type), self.all(ir_type, 0.0));
        let by_zero = self.s.inst(Op::FOrdEqual, bools, &[b, zero]);
        self.s.inst(Op::Select, ty, &[by_zero, zero, x])
    }

    fn compare(&mut self, op: Compare, ir_type: MachineType, [a, b]: [Word; 2]) -> Word {
        let bool = self.s.type_bool();
        let plain = |float, integer| if ir_type == MachineType::F32 { float } else { integer };
        match (op, ir_type) {
            (Compare::Lt, _) => self.s.inst(plain(Op::FOrdLessThan, Op::ULessThan), bool, &[a, b]),
            (Compare::Le, _) => self.s.inst(plain(Op::FOrdLessThanEqual, Op::ULessThanEqual), bool, &[a, b]),
            (Compare::Eq, MachineType::Bool) => self.s.inst(Op::LogicalEqual, bool, &[a, b]),
            (Compare::Ne, MachineType::Bool) => self.s.inst(Op::LogicalNotEqual, bool, &[a, b]),
            (Compare::Eq, MachineType::Vec3) => {
                let bools = self.bools(ir_type);
                let equal = self.s.inst(Op::FOrdEqual, bools, &[a, b]);
                self.s.inst(Op::All, bool, &[equal])
            }
            (Compare::Eq, MachineType::Mat4) => {
                let bvec4 = self.s.type_vector(bool, 4);
                let rows = [0, 1, 2, 3].map(|i| {
                    let (a, b) = (self.row(a, i), self.row(b, i));
                    let equal = self.s.inst(Op::FOrdEqual, bvec4, &[a, b]);
                    self.s.inst(Op::All, bool, &[equal])
                });
                rows.into_iter().reduce(|x, y| self.s.inst(Op::LogicalAnd, bool, &[x, y])).expect("four rows")
            }
            (Compare::Eq, _) => self.s.inst(plain(Op::FOrdEqual, Op::IEqual), bool, &[a, b]),
            (Compare::Ne, _) => {
                let equal = self.compare(Compare::Eq, ir_type, [a, b]);
                self.s.inst(Op::LogicalNot, bool, &[equal])
            }
        }
    }

    fn color_transform(&mut self, from: ColorSpace, to: ColorSpace, ty: Word, c: Word) -> Result<Word, EmitError> {
        let mut c = c;
        if from == to {
            return Ok(c);
        }
        if from != ColorSpace::Rgb {
            c = self.call(&format!("rsl_rgb_from_{}", from.name().to_lowercase()), ty, &[c])?;
        }
        if to != ColorSpace::Rgb {
            c = self.call(&format!("rsl_{}_from_rgb", to.name().to_lowercase()), ty, &[c])?;
        }
        Ok(c)
    }

    // -- matrices: a column of SPIR-V is a row of RI

    fn row(&mut self, m: Word, i: u32) -> Word {
        let f32 = self.s.type_f32();
        let vec4 = self.s.type_vector(f32, 4);
        self.s.extract(vec4, m, i)
    }

    fn by_rows(&mut self, make: impl Fn(&mut Self, Word, u32) -> Word) -> Word {
        let f32 = self.s.type_f32();
        let vec4 = self.s.type_vector(f32, 4);
        let rows: Vec<_> = (0..4).map(|i| make(self, vec4, i)).collect();
        let ty = self.ty(MachineType::Mat4);
        self.s.inst(Op::CompositeConstruct, ty, &rows)
    }

    /// `((f0 r0 + f1 r1) + f2 r2) + ...` over the first rows of a matrix.
    fn combination(&mut self, factors: &[Word], m: Word) -> Word {
        let f32 = self.s.type_f32();
        let vec4 = self.s.type_vector(f32, 4);
        let mut sum = None;
        for (&factor, i) in factors.iter().zip(0..) {
            let row = self.row(m, i);
            let term = self.s.inst(Op::VectorTimesScalar, vec4, &[row, factor]);
            sum = Some(sum.map_or(term, |sum| self.s.inst(Op::FAdd, vec4, &[sum, term])));
        }
        sum.expect("a combination of at least one row")
    }

    fn matrix_product(&mut self, a: Word, b: Word) -> Word {
        self.by_rows(|e, _, i| {
            let (f32, row) = (e.s.type_f32(), e.row(a, i));
            let factors = [0, 1, 2, 3].map(|k| e.s.extract(f32, row, k));
            e.combination(&factors, b)
        })
    }

    fn transform(&mut self, op: Binary, m: Word, v: Word) -> Word {
        let (f32, bool, vec3) = (self.s.type_f32(), self.s.type_bool(), self.ty(MachineType::Vec3));
        let factors = [0, 1, 2].map(|i| self.s.extract(f32, v, i));
        if op == Binary::XformNormal {
            let parts = [0, 1, 2].map(|i| {
                let row = self.row(m, i);
                let row = self.s.shuffle(vec3, row, &[0, 1, 2]);
                self.dot(row, v)
            });
            return self.s.inst(Op::CompositeConstruct, vec3, &parts);
        }
        let sum = self.combination(&factors, m);
        if op == Binary::XformVector {
            return self.s.shuffle(vec3, sum, &[0, 1, 2]);
        }
        let vec4 = self.s.type_vector(f32, 4);
        let shift = self.row(m, 3);
        let sum = self.s.inst(Op::FAdd, vec4, &[sum, shift]);
        let (point, w) = (self.s.shuffle(vec3, sum, &[0, 1, 2]), self.s.extract(f32, sum, 3));
        let (zero, one) = (self.s.f32(0.0), self.s.f32(1.0));
        let none = self.s.inst(Op::FOrdEqual, bool, &[w, zero]);
        let w = self.s.inst(Op::Select, f32, &[none, one, w]);
        let w = self.s.inst(Op::CompositeConstruct, vec3, &[w, w, w]);
        self.s.inst(Op::FDiv, vec3, &[point, w])
    }

    fn matrix_component(&mut self, args: &[Word]) -> Word {
        let f32 = self.s.type_f32();
        let (row, column) = (self.index(args[1], 4), self.index(args[2], 4));
        let row = self.row_at(args[0], row);
        self.s.inst(Op::VectorExtractDynamic, f32, &[row, column])
    }

    /// Returns the row of a matrix whose number is not known before.
    fn row_at(&mut self, m: Word, index: Word) -> Word {
        let (f32, bool) = (self.s.type_f32(), self.s.type_bool());
        let vec4 = self.s.type_vector(f32, 4);
        let mut found = self.row(m, 3);
        for i in 0..3 {
            let (row, number) = (self.row(m, i), self.s.u32(i));
            let here = self.s.inst(Op::IEqual, bool, &[index, number]);
            found = self.s.inst(Op::Select, vec4, &[here, row, found]);
        }
        found
    }

    fn set_matrix_component(&mut self, args: &[Word]) -> Word {
        let (bool, index) = (self.s.type_bool(), self.index(args[1], 4));
        let column = self.index(args[2], 4);
        self.by_rows(|e, vec4, i| {
            let (row, number) = (e.row(args[0], i), e.s.u32(i));
            let changed = e.s.inst(Op::VectorInsertDynamic, vec4, &[row, args[3], column]);
            let here = e.s.inst(Op::IEqual, bool, &[index, number]);
            e.s.inst(Op::Select, vec4, &[here, changed, row])
        })
    }
}
