//! Declarations: the class and type of a parameter's token (RISpec 3.1, `Declare` and inline declarations).

use super::tokens::KnownToken;
use crate::files::to_text;
use crate::scene::{Class, ValueType};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A token's name with its class and type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declaration {
    /// The name without the declaration.
    pub(crate) name: Arc<str>,
    /// Storage class; uniform when none was written.
    pub(crate) class: Class,
    /// Type of one element.
    pub(crate) ty: ValueType,
    /// Number of elements; 1 for plain values, 0 where nothing was declared.
    pub(crate) array_len: u32,
}

impl Declaration {
    /// Returns the declaration of a shader's token that nothing declares: the parameter of that name has the type. The
    /// class and type here only say how the values are read.
    fn of_parameter(name: Arc<str>, strings: bool) -> Self {
        let ty = if strings { ValueType::String } else { ValueType::Float };
        Self { name, class: Class::Uniform, ty, array_len: 0 }
    }

    /// Whether class and type were declared.
    pub(crate) fn is_typed(&self) -> bool {
        self.array_len > 0
    }

    /// Numbers (or strings) in one value.
    pub(crate) fn width(&self) -> u64 {
        u64::from(self.array_len) * self.ty.floats() as u64
    }
}

/// A declaration without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClassAndType {
    class: Class,
    ty: ValueType,
    array_len: u32,
}

/// The tokens that every renderer knows (RISpec 3.2, table 3.1 and the standard shaders), as inline declarations.
const PREDEFINED: &[&str] = &[
    // Primitive variables.
    "vertex point P",
    "vertex float Pz",
    "vertex hpoint Pw",
    "varying normal N",
    "uniform normal Np",
    "varying color Cs",
    "varying color Os",
    "varying float s",
    "varying float t",
    "varying float[2] st",
    "varying float width",
    "constant float constantwidth",
    // Standard shaders.
    "float Ka",
    "float Kd",
    "float Ks",
    "float Kr",
    "float Km",
    "float roughness",
    "string texturename",
    "color specularcolor",
    "float intensity",
    "color lightcolor",
    "point from",
    "point to",
    "float coneangle",
    "float conedeltaangle",
    "float beamdistribution",
    "float mindistance",
    "float maxdistance",
    "color background",
    "color bgcolor",
    "float distance",
    "float amplitude",
];

/// The declared tokens. `Declare` is global, and a redeclaration replaces the earlier one.
pub(crate) struct Dictionary {
    declared: FxHashMap<Box<str>, ClassAndType>,
    /// Cached meanings of token texts, because tokens repeat by the million.
    met: FxHashMap<Box<[u8]>, Rc<Declaration>>,
}

/// The largest number of cached token texts; no person or exporter writes files with more distinct ones.
const MET_MAX: usize = 4096;
/// The longest token text that is cached.
const MET_BYTES_MAX: usize = 256;

/// The declarations of a dictionary.
#[derive(Clone, Debug)]
pub(crate) struct Declarations(FxHashMap<Box<str>, ClassAndType>);

impl Dictionary {
    /// Returns the declarations.
    pub(crate) fn declarations(&self) -> Declarations {
        Declarations(self.declared.clone())
    }

    /// Creates a dictionary of declarations.
    pub(crate) fn of(declarations: Declarations) -> Self {
        Self { declared: declarations.0, met: FxHashMap::default() }
    }

    /// Creates a dictionary of the predefined tokens.
    pub(crate) fn new() -> Self {
        let mut dictionary = Self { declared: FxHashMap::default(), met: FxHashMap::default() };
        for text in PREDEFINED {
            let declaration = parse_inline(text).expect("the predefined declarations are well formed");
            dictionary.declared.insert((*declaration.name).into(), spec_of(&declaration));
        }
        dictionary
    }

    /// Declares a name, as in `Declare "name" "class type"`. Returns whether it
    /// was declared differently before. The error says what is wrong with the declaration.
    pub(crate) fn declare(&mut self, name: &str, text: &str) -> Result<bool, String> {
        let spec = parse_spec(text)?;
        let is_new = self.declared.get(name) != Some(&spec);
        if is_new {
            self.declared.insert(name.into(), spec);
            self.met.clear();
        }
        Ok(is_new)
    }

    /// Looks up a token: an inline declaration or a declared name.
    pub(crate) fn look_up(&mut self, token: &[u8]) -> Result<Rc<Declaration>, String> {
        if let Some(declaration) = self.met.get(token) {
            return Ok(Rc::clone(declaration));
        }
        let text = to_text(token);
        let declaration = match self.declared.get(&*text) {
            Some(&ClassAndType { class, ty, array_len }) => {
                Declaration { name: Arc::clone(&text), class, ty, array_len }
            }
            None if text.trim().contains(|c: char| c.is_ascii_whitespace()) => parse_inline(&text)?,
            None => return Err(format!("the token \"{text}\" is not declared")),
        };
        let declaration = Rc::new(declaration);
        if self.met.len() >= MET_MAX {
            self.met.clear();
        }
        if token.len() <= MET_BYTES_MAX {
            self.met.insert(token.into(), Rc::clone(&declaration));
        }
        Ok(declaration)
    }

    /// Looks up a token of a shader, which needs no declaration; `strings` says whether its values are strings.
    pub(crate) fn look_up_parameter(&mut self, token: &[u8], strings: bool) -> Result<Rc<Declaration>, String> {
        let found = self.look_up(token);
        if found.is_ok() || token.iter().any(u8::is_ascii_whitespace) {
            return found;
        }
        Ok(Rc::new(Declaration::of_parameter(to_text(token), strings)))
    }

    /// Looks up a token of an `Option`, `Attribute` or another request with tokens of its own, which take precedence
    /// over declared names. Some tokens take integers or strings; `strings` says which the input has.
    pub(crate) fn look_up_in(
        &mut self,
        known: &[KnownToken],
        token: &[u8],
        strings: bool,
    ) -> Result<Rc<Declaration>, String> {
        let own = |known: &&KnownToken| known.name().as_bytes() == token;
        let fitting = known.iter().filter(own).find(|known| known.declaration.starts_with("string ") == strings);
        match fitting.or_else(|| known.iter().find(own)) {
            Some(known) => parse_inline(known.declaration).map(Rc::new),
            None => self.look_up(token),
        }
    }
}

fn spec_of(declaration: &Declaration) -> ClassAndType {
    ClassAndType { class: declaration.class, ty: declaration.ty, array_len: declaration.array_len }
}

/// Parses `[class] type[\[n\]] name`.
fn parse_inline(text: &str) -> Result<Declaration, String> {
    let mut words = DeclarationParser::new(text);
    let ClassAndType { class, ty, array_len } = words.spec()?;
    let name = words.word().ok_or_else(|| format!("the declaration \"{text}\" has no name"))?;
    // Some exporters write the length after the name.
    let array_len = words.array_len()?.unwrap_or(array_len);
    words.end()?;
    Ok(Declaration { name: name.into(), class, ty, array_len })
}

/// Parses `[class] type[\[n\]]`.
fn parse_spec(text: &str) -> Result<ClassAndType, String> {
    let mut words = DeclarationParser::new(text);
    let spec = words.spec()?;
    words.end()?;
    Ok(spec)
}

/// Parses the words of a declaration.
struct DeclarationParser<'t> {
    text: &'t str,
    rest: &'t str,
}

impl<'t> DeclarationParser<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, rest: text }
    }

    fn word(&mut self) -> Option<&'t str> {
        self.rest = self.rest.trim_ascii_start();
        let end = self.rest.find(|c: char| c.is_ascii_whitespace() || c == '[').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn spec(&mut self) -> Result<ClassAndType, String> {
        let text = self.text;
        let missing = || format!("the declaration \"{text}\" has no type");
        let first = self.word().ok_or_else(missing)?;
        let (class, ty) = match class_named(first) {
            Some(class) => (class, self.word().ok_or_else(missing)?),
            None => (Class::Uniform, first),
        };
        let ty =
            type_named(ty).ok_or_else(|| format!("\"{ty}\" in the declaration \"{text}\" is not a class or type"))?;
        Ok(ClassAndType { class, ty, array_len: self.array_len()?.unwrap_or(1) })
    }

    fn array_len(&mut self) -> Result<Option<u32>, String> {
        let Some(inside) = self.rest.trim_ascii_start().strip_prefix('[') else { return Ok(None) };
        let wrong = || format!("the array length in the declaration \"{}\" is not a positive integer", self.text);
        let (length, rest) = inside.split_once(']').ok_or_else(wrong)?;
        let length: u32 = length.trim_ascii().parse().map_err(|_| wrong())?;
        self.rest = rest;
        if length == 0 { Err(wrong()) } else { Ok(Some(length)) }
    }

    fn end(&self) -> Result<(), String> {
        let rest = self.rest.trim_ascii();
        if rest.is_empty() {
            Ok(())
        } else {
            Err(format!("unexpected \"{rest}\" in the declaration \"{}\"", self.text))
        }
    }
}

fn class_named(name: &str) -> Option<Class> {
    Some(match name {
        "constant" => Class::Constant,
        "uniform" => Class::Uniform,
        "varying" => Class::Varying,
        "vertex" => Class::Vertex,
        // "facevertex" differs from "facevarying" on subdivision meshes only.
        "facevarying" | "facevertex" => Class::FaceVarying,
        _ => return None,
    })
}

fn type_named(name: &str) -> Option<ValueType> {
    Some(match name {
        "float" => ValueType::Float,
        "int" | "integer" => ValueType::Int,
        "string" => ValueType::String,
        "color" => ValueType::Color,
        "point" => ValueType::Point,
        "vector" => ValueType::Vector,
        "normal" => ValueType::Normal,
        "hpoint" => ValueType::HPoint,
        "matrix" => ValueType::Matrix,
        "mpoint" => ValueType::MPoint,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rib::stream::tokens;

    #[test]
    fn inline_declarations() {
        type ExpectedDeclaration = Result<(&'static str, Class, ValueType, u32), &'static str>;
        let cases: &[(&str, ExpectedDeclaration)] = &[
            ("varying color Cs", Ok(("Cs", Class::Varying, ValueType::Color, 1))),
            ("uniform float[2] st2", Ok(("st2", Class::Uniform, ValueType::Float, 2))),
            ("float [ 4 ]  quantize", Ok(("quantize", Class::Uniform, ValueType::Float, 4))),
            ("vertex float weights[3]", Ok(("weights", Class::Vertex, ValueType::Float, 3))),
            ("constant string tex", Ok(("tex", Class::Constant, ValueType::String, 1))),
            ("facevarying integer id", Ok(("id", Class::FaceVarying, ValueType::Int, 1))),
            ("\tfacevertex hpoint\nQ ", Ok(("Q", Class::FaceVarying, ValueType::HPoint, 1))),
            ("uniform matrix m", Ok(("m", Class::Uniform, ValueType::Matrix, 1))),
            ("varying flot x", Err("\"flot\" in the declaration")),
            ("varying float", Err("has no name")),
            ("varying", Err("has no type")),
            ("float[0] x", Err("array length")),
            ("float[99999999999] x", Err("array length")),
            ("float[2 x", Err("array length")),
            ("float x y", Err("unexpected \"y\"")),
        ];
        for (text, wanted) in cases {
            match (parse_inline(text), wanted) {
                (Ok(found), Ok((name, class, ty, length))) => {
                    assert_eq!(
                        (&*found.name, found.class, found.ty, found.array_len),
                        (*name, *class, *ty, *length),
                        "{text}"
                    );
                }
                (Err(found), Err(wanted)) => assert!(found.contains(wanted), "{text}: {found}"),
                (found, wanted) => panic!("{text}: {found:?} instead of {wanted:?}"),
            }
        }
    }

    #[test]
    fn a_redeclaration_replaces() {
        let mut dictionary = Dictionary::new();
        assert!(dictionary.look_up(b"blur").is_err());
        dictionary.declare("blur", "uniform float").expect("well formed");
        assert_eq!(dictionary.look_up(b"blur").expect("declared").ty, ValueType::Float);
        dictionary.declare("blur", "color").expect("well formed");
        assert_eq!(dictionary.look_up(b"blur").expect("declared").ty, ValueType::Color);
        assert!(dictionary.declare("blur", "colour").is_err());
    }

    #[test]
    fn a_group_knows_its_tokens_whatever_was_declared() {
        let mut dictionary = Dictionary::new();
        dictionary.declare("name", "uniform float").expect("well formed");
        let tokens = |name: &str| tokens::group("Attribute", name).expect("a known attribute").tokens;
        let declaration = dictionary.look_up_in(tokens("identifier"), b"name", true).expect("known");
        assert_eq!(declaration.ty, ValueType::String);
        let either = tokens("visibility");
        assert_eq!(dictionary.look_up_in(either, b"transmission", true).expect("known").ty, ValueType::String);
        assert_eq!(dictionary.look_up_in(either, b"transmission", false).expect("known").ty, ValueType::Int);
    }

    #[test]
    fn the_declarations_of_known_tokens_are_well_formed() {
        for token in tokens::GROUPS.iter().flat_map(|group| group.tokens) {
            let declaration = parse_inline(token.declaration).expect(token.declaration);
            assert_eq!(&*declaration.name, token.name());
        }
    }

    #[test]
    fn a_shaders_token_needs_no_declaration() {
        let mut dictionary = Dictionary::new();
        let untyped = dictionary.look_up_parameter(b"tint", false).expect("any name");
        assert!(!untyped.is_typed() && &*untyped.name == "tint");
        assert!(dictionary.look_up_parameter(b"Kd", false).expect("predefined").is_typed());
        assert!(dictionary.look_up_parameter(b"varying flot x", false).is_err());
    }
}
