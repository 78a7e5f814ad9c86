//! The types that operations take and give: one place for the builder, the parser and the verifier.

use super::arithmetic::{Binary, Compare, Unary};
use super::body::{Body, Param};
use super::lookup::{Lookup, LookupKind};
use super::op::{MessageTarget, NoiseKind, Op, Shown, VOTES_MAX};
use super::types::MachineType;
use std::sync::Arc;

/// Returns the types of the results of an operation without regions whose arguments have the types `args`, or else what
/// is wrong.
///
/// # Errors
/// Fails when the operation does not take such arguments. Operations with regions are checked by [`super::verify`].
pub fn result_types(op: &Op, args: &[MachineType], params: &[Param], body: &Body) -> Result<Vec<MachineType>, String> {
    use MachineType::*;
    let one = |want: &[MachineType], result: MachineType| {
        if args == want { Ok(vec![result]) } else { Err(format!("takes {}", list(want))) }
    };
    match op {
        Op::Const(c) => one(&[], c.ty()),
        Op::Global(g) => one(&[], g.ty()),
        Op::Builtin(b) => one(&[], b.ty()),
        Op::Param(p) | Op::ParamElement(p) => {
            let param = params.get(p.0 as usize).ok_or("reads a parameter that does not exist")?;
            let element = matches!(op, Op::ParamElement(_));
            if element != param.array.is_some() {
                return Err("an array parameter is read by element, another as a whole".into());
            }
            one(if element { &[F32] } else { &[] }, param.ty.machine())
        }
        Op::Space(..) => one(&[], Mat4),
        Op::SpaceOf(_) => one(&[Str], Mat4),
        Op::Query { ty, count, .. } | Op::Message { ty, count, .. } => {
            one(&[], F32)?;
            Ok(std::iter::once(F32).chain((0..*count).map(|_| ty.machine())).collect())
        }
        Op::TextureInfo { ty, count, .. } | Op::QueryBy { ty, count, .. } => {
            one(&[Str], F32)?;
            Ok(std::iter::once(F32).chain((0..*count).map(|_| ty.machine())).collect())
        }
        Op::Format(_) => Ok(vec![Str]),
        Op::FormatBy if args.first() == Some(&Str) => Ok(vec![Str]),
        Op::FormatBy => Err("takes a format and values".into()),
        Op::Match => one(&[Str, Str], F32),
        Op::LookupFilter => one(&[Str], F32),
        Op::Unary(op) => unary(*op, args),
        Op::Binary(op) => binary(*op, args),
        Op::Compare(op) => compare(*op, args),
        Op::Select => match *args {
            [Bool, a, b] if a == b => Ok(vec![a]),
            _ => Err("takes bool and two values of one type".into()),
        },
        Op::Vec3 => one(&[F32; 3], Vec3),
        Op::Comp(i) | Op::SetComp(i) if *i > 2 => Err("has a component above 2".into()),
        Op::Comp(_) => one(&[Vec3], F32),
        Op::CompAt => one(&[Vec3, F32], F32),
        Op::SetComp(_) => one(&[Vec3, F32], Vec3),
        Op::SetCompAt => one(&[Vec3, F32, F32], Vec3),
        Op::Mat4 => one(&[F32; 16], Mat4),
        Op::MatComp => one(&[Mat4, F32, F32], F32),
        Op::SetMatComp => one(&[Mat4, F32, F32, F32], Mat4),
        Op::Any if args.len() <= VOTES_MAX && args.iter().all(|ty| *ty == Bool) => Ok(args.to_vec()),
        Op::Any => Err("takes as many bools as a word has bits, at most".into()),
        Op::CategoryMatches => one(&[Str, U32], Bool),
        Op::Ambient(shown) if args.len() == shown.len() => Ok(vec![Vec3]),
        Op::Ambient(_) => Err("takes a value for each of its names".into()),
        Op::Printf(_) => Ok(Vec::new()),
        // A finished program's has its number first, and tokens instead of texts.
        Op::Bake(_) => match args {
            [Str, Str, Vec3, Vec3, F32, ..] | [F32, Str | U32, Str | U32, Vec3, Vec3, F32, ..] => Ok(Vec::new()),
            _ => Err("takes a file, its channels, a position, a normal, a radius and values".into()),
        },
        Op::SlotLoad(slot) | Op::SlotStore(slot) => {
            let ty = body.slots().get(slot.0 as usize).ok_or("uses an array that does not exist")?.ty;
            if matches!(op, Op::SlotLoad(_)) {
                return one(&[F32], ty);
            }
            one(&[F32, ty], ty).map(|_| Vec::new())
        }
        op if op.has_regions() => Err("is an operation with regions".into()),
        op => long_result_types(op, args),
    }
}

/// Returns the same for operations whose arguments are not one fixed list.
fn long_result_types(op: &Op, args: &[MachineType]) -> Result<Vec<MachineType>, String> {
    use MachineType::*;
    let one = |want: &[MachineType], result: MachineType| {
        if args == want { Ok(vec![result]) } else { Err(format!("takes {}", list(want))) }
    };
    match op {
        Op::Noise { kind, dimension, ty } => {
            let shape = coordinates(*dimension)?;
            let twice = [shape, shape].concat();
            one(if *kind == NoiseKind::Periodic { &twice } else { shape }, scalar_or_triple(*ty)?)
        }
        Op::Random { ty, .. } => one(&[U32], scalar_or_triple(*ty)?),
        Op::Spline { solve, .. } => match args {
            [F32, first, rest @ ..] if rest.len() >= 3 && rest.iter().all(|t| t == first) => {
                let ok = *first == F32 || (*first == Vec3 && !solve);
                if ok { Ok(vec![*first]) } else { Err("takes values of f32 or vec3".into()) }
            }
            _ => Err("takes f32 and four or more values of one type".into()),
        },
        Op::ColorTransform(..) => one(&[Vec3], Vec3),
        Op::Derivative(_) => match *args {
            [t @ (F32 | Vec3)] => Ok(vec![t]),
            _ => Err("takes f32 or vec3".into()),
        },
        Op::Lookup(lookup) => one(lookup.kind.arguments(), scalar_or_triple(lookup.ty)?),
        Op::Points(ty) => {
            one(&[Str, Vec3, Vec3, F32, F32, Str], F32)?;
            Ok(vec![F32, scalar_or_triple(*ty)?])
        }
        Op::TextureFact(..) => one(&[Str], F32),
        Op::Table(constants) => match &**constants {
            [first, rest @ ..] if rest.iter().all(|c| c.ty() == first.ty()) => one(&[U32], first.ty()),
            _ => Err("has constants of one type".into()),
        },
        Op::Load { ty, lane, .. } => placed(*ty, *lane).and_then(|ty| one(&[U32], ty)),
        Op::Channel { ty, lane, .. } => {
            placed(*ty, *lane).and_then(|ty| one(if args.is_empty() { &[] } else { &[U32] }, ty))
        }
        Op::Restore { ty, .. } => one(&[], *ty),
        Op::Derivatives(items) => {
            let result = |&(arg, _): &(u32, _)| match args.get(arg as usize) {
                Some(&t @ (F32 | Vec3)) => Ok(t),
                _ => Err("takes f32 or vec3 for every item".to_owned()),
            };
            items.iter().map(result).collect()
        }
        _ => Err("has no types".into()),
    }
}

/// Returns the types of the parameters that the region of an operation has before the carried values.
pub(super) fn region_params(op: &Op) -> &'static [MachineType] {
    use MachineType::*;
    match op {
        Op::Illuminance { .. } => &[Vec3, Vec3, Vec3],
        Op::LightLoop { .. } => &[Vec3, Vec3, Vec3, Bool, Bool, U32, U32],
        _ => &[],
    }
}

/// Returns the types of the first arguments of an operation with regions: those before what is shown to lights, and the
/// carried values.
pub(super) fn region_args(op: &Op) -> &'static [MachineType] {
    use MachineType::*;
    match op {
        Op::If => &[Bool],
        Op::Switch => &[U32],
        Op::Illuminance { cone: true, .. } => &[Vec3, Vec3, F32, Str],
        Op::Illuminance { cone: false, .. } => &[Vec3, Str],
        Op::LightLoop { .. } => &[Vec3],
        _ => &[],
    }
}

impl Op {
    /// Returns the number of arguments before the first carried value of operations that carry values ([`Op::Loop`],
    /// [`Op::Illuminance`], [`Op::LightLoop`]), and of all arguments for others with regions.
    pub fn fixed_args(&self) -> usize {
        region_args(self).len() + self.shown().len()
    }

    /// Returns the names of the values that it shows to lights, which are the last of its fixed arguments.
    pub fn shown(&self) -> &[Arc<str>] {
        match self {
            Op::Illuminance { shown, .. } | Op::Ambient(shown) | Op::LightLoop { shown, .. } => shown,
            _ => &[],
        }
    }

    /// Returns the same operation showing values of other names.
    #[must_use]
    pub fn showing(mut self, names: Shown) -> Self {
        if let Op::Illuminance { shown, .. } | Op::Ambient(shown) | Op::LightLoop { shown, .. } = &mut self {
            *shown = names;
        }
        self
    }

    /// Returns the number of parameters of its regions before the first carried value.
    pub fn fixed_params(&self) -> usize {
        region_params(self).len()
    }

    /// Returns what goes with the values of an operation that leaves a record of them: the format of what is printed,
    /// or the names of what is baked.
    pub fn record(&self) -> Option<&Arc<str>> {
        match self {
            Op::Printf(text) | Op::Bake(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether it owns regions.
    pub fn has_regions(&self) -> bool {
        matches!(self, Op::If | Op::Loop | Op::Illuminance { .. } | Op::Switch | Op::LightLoop { .. })
    }

    /// Returns whether it asks something of a texture, so that it may miss tiles.
    pub fn looks_up(&self) -> bool {
        matches!(self, Op::Lookup(_) | Op::Points(_) | Op::TextureFact(..))
    }

    /// Returns the loop trips that it makes by itself, more than nearly all do (glsl/lib/rsl/trips.glsl), or 0 where it
    /// looks nothing up.
    pub fn lookup_trips(&self) -> u32 {
        match self {
            Op::Lookup(Lookup { kind: LookupKind::Occlusion, .. }) => 12_288,
            Op::Points(_) => 8192,
            Op::Lookup(_) => 1024,
            _ => 0,
        }
    }

    /// Returns the loops that it begins also where no invocation runs it, as CPU drivers run both sides of a branch:
    /// each counts as a trip.
    pub fn idle_trips(&self) -> u32 {
        match self {
            Op::Lookup(lookup) if lookup.kind.is_sampled() => 16,
            Op::Lookup(_) | Op::Points(_) => 8,
            _ => 0,
        }
    }

    /// Returns whether it may be removed when unused, evaluated elsewhere, and shared with an equal one: it depends on
    /// its arguments only. Operations with regions are not judged here.
    pub fn is_pure(&self) -> bool {
        let message = matches!(self, Op::Message { target: MessageTarget::Light, .. });
        let memory = matches!(self, Op::SlotLoad(_) | Op::SlotStore(_)) || self.record().is_some();
        let together = matches!(self, Op::Derivatives(_) | Op::Any);
        !(message || memory || together || self.has_regions())
    }
}

fn list(types: &[MachineType]) -> String {
    let names: Vec<_> = types.iter().map(|t| t.name()).collect();
    format!("({})", names.join(", "))
}

fn scalar_or_triple(ty: MachineType) -> Result<MachineType, String> {
    if matches!(ty, MachineType::F32 | MachineType::Vec3) { Ok(ty) } else { Err("gives f32 or vec3".into()) }
}

fn placed(ty: MachineType, lane: u8) -> Result<MachineType, String> {
    let fits = match ty {
        MachineType::Bool => false,
        MachineType::Mat4 => lane == 0,
        _ => u32::from(lane) + ty.words() <= 4,
    };
    if fits { Ok(ty) } else { Err("reads across the end of a record".into()) }
}

fn coordinates(dimension: u8) -> Result<&'static [MachineType], String> {
    use MachineType::*;
    match dimension {
        1 => Ok(&[F32]),
        2 => Ok(&[F32, F32]),
        3 => Ok(&[Vec3]),
        4 => Ok(&[Vec3, F32]),
        _ => Err("has a dimension outside 1 to 4".into()),
    }
}

fn unary(op: Unary, args: &[MachineType]) -> Result<Vec<MachineType>, String> {
    use MachineType::*;
    let (ok, result) = match (op, args) {
        (Unary::Neg, [t @ (F32 | Vec3 | Mat4)]) => (true, *t),
        (
            Unary::Abs | Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Round | Unary::Trunc | Unary::Sqrt,
            [t @ (F32 | Vec3)],
        ) => (true, *t),
        (Unary::Normalize, [Vec3]) => (true, Vec3),
        (Unary::Sin | Unary::Cos | Unary::Tan | Unary::Asin | Unary::Acos | Unary::Atan, [F32]) => (true, F32),
        (Unary::Exp | Unary::Log, [F32]) => (true, F32),
        (Unary::Not, [Bool]) => (true, Bool),
        (Unary::Splat, [F32]) => (true, Vec3),
        (Unary::FloatFromBool, [Bool]) | (Unary::FloatFromU32, [U32]) => (true, F32),
        (Unary::U32FromFloat | Unary::Bits, [F32]) => (true, U32),
        (Unary::Token, [Str]) => (true, U32),
        (Unary::Inverse | Unary::Transpose, [Mat4]) => (true, Mat4),
        (Unary::Determinant, [Mat4]) => (true, F32),
        _ => (false, F32),
    };
    if ok { Ok(vec![result]) } else { Err(format!("does not take {}", list(args))) }
}

fn binary(op: Binary, args: &[MachineType]) -> Result<Vec<MachineType>, String> {
    use MachineType::*;
    let result = match (op, args) {
        (Binary::Add | Binary::Sub | Binary::Mul, [a, b]) if a == b && matches!(a, F32 | Vec3 | U32 | Mat4) => Some(*a),
        (Binary::Div | Binary::Min | Binary::Max | Binary::Mod, [a, b]) if a == b && matches!(a, F32 | Vec3) => {
            Some(*a)
        }
        (Binary::Atan2 | Binary::Pow, [F32, F32]) | (Binary::Dot, [Vec3, Vec3]) => Some(F32),
        (Binary::Cross, [Vec3, Vec3]) => Some(Vec3),
        (Binary::And | Binary::Or, [Bool, Bool]) => Some(Bool),
        (Binary::BitAnd | Binary::Hash, [U32, U32]) => Some(U32),
        (Binary::XformPoint | Binary::XformVector | Binary::XformNormal, [Mat4, Vec3]) => Some(Vec3),
        _ => None,
    };
    result.map(|t| vec![t]).ok_or_else(|| format!("does not take {}", list(args)))
}

fn compare(op: Compare, args: &[MachineType]) -> Result<Vec<MachineType>, String> {
    let ok = match args {
        [a, b] if a == b => matches!(op, Compare::Eq | Compare::Ne) || matches!(a, MachineType::F32 | MachineType::U32),
        _ => false,
    };
    if ok { Ok(vec![MachineType::Bool]) } else { Err(format!("does not take {}", list(args))) }
}
