//! The built-in functions of the language ("shadeops"): one table says what each takes and gives, who may call it, and
//! what it is lowered to.

mod opcode;
mod table;

pub use opcode::{ArrayOp, DEGREES_PER_RADIAN, GeometryOp, KindSet, LightingOp, MathOp, Opcode, RADIANS_PER_DEGREE};
pub use table::SPLINE_BASES;

use crate::ir::Basis;
use crate::syntax::ast::Type;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// One value.
    Value(Type),
    /// An array.
    Array(Type),
    /// The name of a texture, which a channel in brackets may follow.
    Texture,
    /// A value of any type.
    Any,
    /// Whatever stands there, whole arrays too; it is not evaluated.
    Anything,
}

/// A parameter of a shadeop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureParameter {
    /// What it takes.
    pub kind: ParameterKind,
    /// It is written: the argument must be a variable.
    pub output: bool,
}

/// One way to call a shadeop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What it gives.
    pub result: Type,
    /// What it takes.
    pub parameters: Vec<SignatureParameter>,
    /// The kind of further arguments, any number of them.
    pub rest: Option<SignatureParameter>,
    /// Pairs of a name and a value may follow.
    pub named: bool,
}

/// A way to call a shadeop, and what it is then made of.
#[derive(Clone, Debug)]
pub struct Overload {
    /// The call's form.
    pub signature: Signature,
    /// What it is made of.
    pub opcode: Opcode,
    /// The kinds of shaders in which it is allowed.
    pub kinds: KindSet,
}

/// Returns the overloads of the shadeop `name`, in order of preference, or none if there is no such shadeop.
pub fn overloads(name: &str) -> &'static [Overload] {
    all().get(name).map_or(&[], Vec::as_slice)
}

/// Returns the names of all shadeops.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().keys().copied()
}

/// Returns whether other versions and renderers have a function of this name that RSL 3.2 has not.
pub fn is_later_function(name: &str) -> bool {
    table::LATER.contains(&name)
}

/// Returns whether the parameter lists of texture functions may hold this name.
pub fn is_lookup_parameter(name: &str) -> bool {
    table::LOOKUP_PARAMETERS.contains(&name)
}

/// Returns the type of a parameter of `texture3d`, or `None` for what is the name of a channel.
pub fn points_parameter(name: &str) -> Option<Type> {
    table::POINTS_PARAMETERS.iter().find(|(known, _)| *known == name).map(|(_, ty)| *ty)
}

/// Returns what the name of a spline's basis means: the basis, and whether the parameter for a value is wanted.
pub fn spline_basis(name: &str) -> Option<(Basis, bool)> {
    let (name, solve) = name.strip_prefix("solve").map_or((name, false), |rest| (rest, true));
    SPLINE_BASES.iter().find(|(known, _)| *known == name).map(|(_, basis)| (*basis, solve))
}

fn all() -> &'static FxHashMap<&'static str, Vec<Overload>> {
    static ALL: OnceLock<FxHashMap<&'static str, Vec<Overload>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut map: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for row in table::TABLE {
            let overload = |text: &&str| Overload {
                signature: Signature::parse(text).expect("the table's signatures are well formed"),
                opcode: row.opcode,
                kinds: row.kinds,
            };
            map.entry(row.name).or_default().extend(row.signatures.iter().map(overload));
        }
        map
    })
}

impl Signature {
    /// Reads a signature of the table, see [`table::TABLE`].
    fn parse(text: &str) -> Option<Self> {
        let (result, mut rest_text) = text.split_once('=')?;
        let result = match result {
            "0" => Type::Void,
            letter => value_type(letter.chars().next()?)?,
        };
        let mut signature = Self { result, parameters: Vec::new(), rest: None, named: false };
        while let Some(letter) = rest_text.chars().next() {
            rest_text = &rest_text[1..];
            let lower = letter.to_ascii_lowercase();
            let mut output = letter.is_ascii_uppercase() || letter == '!';
            let kind = match letter {
                '.' if rest_text == ".." => {
                    signature.named = true;
                    return Some(signature);
                }
                '*' => {
                    signature.rest = signature.parameters.pop();
                    return rest_text.is_empty().then_some(signature);
                }
                '[' => {
                    let element = rest_text.chars().next()?;
                    output = element.is_ascii_uppercase();
                    let element = value_type(element.to_ascii_lowercase())?;
                    rest_text = rest_text[1..].strip_prefix(']')?;
                    ParameterKind::Array(element)
                }
                't' => ParameterKind::Texture,
                '?' | '!' => ParameterKind::Any,
                '@' => ParameterKind::Anything,
                _ => ParameterKind::Value(value_type(lower)?),
            };
            signature.parameters.push(SignatureParameter { kind, output });
        }
        Some(signature)
    }
}

fn value_type(letter: char) -> Option<Type> {
    Some(match letter {
        'f' => Type::Float,
        'c' => Type::Color,
        'p' => Type::Point,
        'v' => Type::Vector,
        'n' => Type::Normal,
        'm' => Type::Matrix,
        's' => Type::String,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ast::DeclaredKind;

    #[test]
    fn signatures() {
        let value = |ty| SignatureParameter { kind: ParameterKind::Value(ty), output: false };
        let min = Signature::parse("f=fff*").expect("well formed");
        assert_eq!(min.parameters, [value(Type::Float), value(Type::Float)]);
        assert_eq!((min.rest, min.named), (Some(value(Type::Float)), false));
        let texture = Signature::parse("c=tff...").expect("well formed");
        assert_eq!((texture.result, texture.parameters.len(), texture.named), (Type::Color, 3, true));
        assert_eq!(texture.parameters[0].kind, ParameterKind::Texture);
        let spline = Signature::parse("v=sf[v]").expect("well formed");
        assert_eq!(spline.parameters[2].kind, ParameterKind::Array(Type::Vector));
        let set = Signature::parse("0=Mfff").expect("well formed");
        assert_eq!((set.result, set.parameters[0].output, set.parameters[1].output), (Type::Void, true, false));
        for bad in ["f", "x=f", "f=g", "f=f*f", "f=..", "f=[f"] {
            assert_eq!(Signature::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_function_of_the_standard_is_there() {
        let checklist = "radians degrees sin asin cos acos tan atan exp sqrt inversesqrt abs sign floor ceil round pow erf erfc mod step log \
             min max clamp mix smoothstep filterstep spline Du Dv Deriv random urandom noise pnoise cellnoise hashnoise xcomp ycomp zcomp \
             setxcomp setycomp setzcomp length distance ptlined normalize rotate area faceforward reflect refract fresnel \
             transform vtransform ntransform depth calculatenormal determinant translate scale mtransform comp setcomp \
             ctransform printf format concat match arraylength capacity push pop resize reserve ambient diffuse specular specularbrdf phong trace texture environment \
             shadow textureinfo texture3d bump surface displacement lightsource atmosphere incident opposite attribute option \
             rendererinfo shadername bake bake3d occlusion";
        let absent = "indirectdiffuse caustic photonmap transmission visibility raylevel raydepth rayinfo \
             isshadowray";
        for name in checklist.split_whitespace().chain(absent.split_whitespace()) {
            assert!(!overloads(name).is_empty(), "{name}");
            assert!(!is_later_function(name), "{name}");
        }
        assert_eq!(names().count(), checklist.split_whitespace().chain(absent.split_whitespace()).count());
    }

    #[test]
    fn kinds_have_words() {
        assert_eq!(KindSet::LIT.words(), "surface and volume");
        assert!(KindSet::ALL.contains(DeclaredKind::Imager));
    }
}
