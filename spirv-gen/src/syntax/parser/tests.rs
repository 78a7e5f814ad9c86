use super::*;
use crate::span::SourceMap;
use crate::syntax::ast::{
    ArrayLength, AstExpr, AstExprKind, AstLink, AstStmt, AstStmtKind, Declaration, Init, UnaryOp,
};
use crate::syntax::loader::NoIncludes;
use crate::syntax::preprocess::{Source, preprocess};

/// Returns the tree of a text and its messages as `line:column message`.
fn parse_text(text: &str) -> (Unit, Vec<String>) {
    let (mut map, mut reports) = (SourceMap::default(), Reports::default());
    let source = Source { name: "a.sl", text, loader: &NoIncludes, defines: &[] };
    let tokens = preprocess(&source, &mut map, &mut reports).tokens;
    let unit = parse(&tokens, &mut reports);
    let describe = |d: crate::diagnostic::Diagnostic| format!("{}:{} {}", d.place.line, d.place.column, d.message);
    (unit, reports.finish(&map).into_iter().map(describe).collect())
}

/// Returns the body of a shader around `text` in the manner of Lisp.
fn body(text: &str) -> String {
    let (unit, messages) = parse_text(&format!("surface s() {{ {text} }}"));
    assert!(messages.is_empty(), "{text}: {messages:?}");
    let [Item::Shader(shader)] = unit.items.as_slice() else { panic!("one shader") };
    shader.body.iter().map(statement).collect::<Vec<_>>().join(" ")
}

fn list(values: &[AstExpr]) -> String {
    values.iter().map(expr).collect::<Vec<_>>().join(" ")
}

fn expr(e: &AstExpr) -> String {
    match &e.kind {
        AstExprKind::Error => "error".to_owned(),
        AstExprKind::Number(value) => value.to_string(),
        AstExprKind::String(text) => format!("{text:?}"),
        AstExprKind::Name(name) => name.to_string(),
        AstExprKind::Index { base, index } => format!("{}[{}]", expr(base), expr(index)),
        AstExprKind::Call { name, arguments } => format!("{}({})", name.name, list(arguments)),
        AstExprKind::Tuple(values) => format!("<{}>", list(values)),
        AstExprKind::Cast { ty, space: Some(space), value } => format!("({ty} {} {})", expr(space), expr(value)),
        AstExprKind::Cast { ty, space: None, value } => format!("({ty} {})", expr(value)),
        AstExprKind::Unary { operator: UnaryOp::Negate, value } => format!("(- {})", expr(value)),
        AstExprKind::Unary { operator: UnaryOp::Not, value } => format!("(! {})", expr(value)),
        AstExprKind::Chain { first, links } => links.iter().fold(expr(first), |left, AstLink { operator, value }| {
            format!("({} {left} {})", operator.text(), expr(value))
        }),
        AstExprKind::Conditional { condition, yes, no } => {
            format!("(? {} {} {})", expr(condition), expr(yes), expr(no))
        }
        AstExprKind::Assign { operator, target, value } => {
            format!("({}= {} {})", operator.map_or("", |o| o.text()), expr(target), expr(value))
        }
    }
}

fn declaration(d: &Declaration) -> String {
    let mut words = Vec::new();
    words.extend(d.is_extern.then(|| "extern".to_owned()));
    words.extend(d.output.then(|| "output".to_owned()));
    words.extend(d.class.map(|c| c.to_string()));
    let array = match &d.array {
        None => String::new(),
        Some(ArrayLength::Open(_)) => "[]".to_owned(),
        Some(ArrayLength::Fixed(length)) => format!("[{}]", expr(length)),
    };
    words.push(format!("{} {}{array}", d.ty, d.name.name));
    words.extend(d.init.as_ref().map(|init| match init {
        Init::Value(value) => format!("= {}", expr(value)),
        Init::List(values, _) => format!("= {{{}}}", list(values)),
    }));
    words.join(" ")
}

fn statement(s: &AstStmt) -> String {
    let optional = |s: Option<&AstStmt>| s.map_or_else(String::new, statement);
    match &s.kind {
        AstStmtKind::Empty => ";".to_owned(),
        AstStmtKind::Declare(all) => all.iter().map(|d| declaration(d) + ";").collect::<Vec<_>>().join(" "),
        AstStmtKind::Function(f) => {
            let parameters: Vec<_> = f.parameters.iter().map(declaration).collect();
            let body: Vec<_> = f.body.iter().map(statement).collect();
            format!("{} {}({}) {{{}}}", f.result, f.name.name, parameters.join("; "), body.join(" "))
        }
        AstStmtKind::Expr(e) => expr(e) + ";",
        AstStmtKind::Block(all) => format!("{{{}}}", all.iter().map(statement).collect::<Vec<_>>().join(" ")),
        AstStmtKind::If { condition, yes, no: None } => format!("if {} {}", expr(condition), statement(yes)),
        AstStmtKind::If { condition, yes, no: Some(no) } => {
            format!("if {} {} else {}", expr(condition), statement(yes), statement(no))
        }
        AstStmtKind::While { condition, body } => format!("while {} {}", expr(condition), statement(body)),
        AstStmtKind::For { init, condition, step, body } => {
            let part = |e: &Option<AstExpr>| e.as_ref().map_or_else(String::new, expr);
            format!("for {} {}; {} {}", optional(init.as_deref()), part(condition), part(step), statement(body))
        }
        AstStmtKind::Break(levels) => format!("break {levels};"),
        AstStmtKind::Continue(levels) => format!("continue {levels};"),
        AstStmtKind::Return(value) => format!("return {};", value.as_ref().map_or_else(String::new, expr)),
        AstStmtKind::Lights { kind, arguments, body, otherwise } => {
            format!("{kind:?}({}) {} {}", list(arguments), statement(body), optional(otherwise.as_deref()))
        }
    }
}

#[test]
fn expressions_group_as_the_language_says() {
    for (text, expected) in [
        ("a + b * c", "(+ a (* b c))"),
        ("a - b - c", "(- (- a b) c)"),
        ("a / b * c", "(* (/ a b) c)"),
        ("a * b . c", "(* a (. b c))"),
        ("a ^ b * c", "(^ a (* b c))"),
        ("a + b ^ c", "(+ a (^ b c))"),
        ("a . b ^ c", "(^ (. a b) c)"),
        ("-a . b", "(. (- a) b)"),
        ("- -a", "(- (- a))"),
        ("a - -b", "(- a (- b))"),
        ("a--b", "(- a (- b))"),
        ("!a && b || c", "(|| (&& (! a) b) c)"),
        ("a == b && c != d", "(&& (== a b) (!= c d))"),
        ("a < b == c", "(== (< a b) c)"),
        ("a ? b : c ? d : e", "(? a b (? c d e))"),
        ("a = b = c", "(= a (= b c))"),
        ("a += b * c", "(+= a (* b c))"),
        ("(a + b) * c", "(* (+ a b) c)"),
        ("a[i + 1] * 2", "(* a[(+ i 1)] 2)"),
        ("\"map\"[1]", "\"map\"[1]"),
        ("f(a, g(), (1, 2, 3))", "f(a g() <1 2 3>)"),
        ("color (1, 2, 3) * 2", "(* (color <1 2 3>) 2)"),
        ("color noise(P) + c", "(+ (color noise(P)) c)"),
        ("float noise(P) . c", "(. (float noise(P)) c)"),
        ("(color) texture(\"a\")", "(color texture(\"a\"))"),
        ("color \"hsv\" (h, s, v)", "(color \"hsv\" <h s v>)"),
        ("point \"world\" 0", "(point \"world\" 0)"),
        ("point space P", "(point space P)"),
        ("point space(0, 0, 1)", "(point space(0 0 1))"),
        ("vector -x", "(vector (- x))"),
        ("(matrix) 1", "(matrix 1)"),
        ("surface(\"Kd\", Kd)", "surface(\"Kd\" Kd)"),
    ] {
        let expected = format!("(= x {expected});");
        let text = format!("x = {text};");
        assert_eq!(body(&text), expected, "{text}");
    }
}

#[test]
fn statements() {
    for (text, expected) in [
        (";", ";"),
        ("float a, b = 1, c[2] = {1, 2};", "float a; float b = 1; float c[2] = {1 2};"),
        ("uniform string s = \"x\";", "uniform string s = \"x\";"),
        ("extern varying point P;", "extern varying point P;"),
        ("color noise(P);", "(color noise(P));"),
        ("float f(float a, b; output color c) { return a; }", "float f(float a; float b; output color c) {return a;}"),
        ("f(float a, color b) { }", "void f(float a; color b) {}"),
        ("void f() { }", "void f() {}"),
        ("uniform float f() { }", "float f() {}"),
        ("float f(float(P));", "(float f((float P)));"),
        ("if (a) b = 1; else if (c) { } else ;", "if a (= b 1); else if c {} else ;"),
        ("while (a < 1) a += 1;", "while (< a 1) (+= a 1);"),
        ("for (i = 0; i < 3; i += 1) { }", "for (= i 0); (< i 3); (+= i 1) {}"),
        ("for (;;) break;", "for  ;  break 1;"),
        ("for (float i = 0; ; ) continue 2;", "for float i = 0; ;  continue 2;"),
        ("return;", "return ;"),
        ("illuminance (P) { }", "Illuminance(P) {} "),
        ("illuminance (\"a\", P, N, PI / 2) Ci += Cl;", "Illuminance(\"a\" P N (/ PI 2)) (+= Ci Cl); "),
        ("solar() { }", "Solar() {} "),
        ("gather (\"x\", P, N, 1, 4) a = 1; else b = 1;", "Gather(\"x\" P N 1 4) (= a 1); (= b 1);"),
        ("surface(\"Kd\", x);", "surface(\"Kd\" x);"),
        ("float light = 1;", "float light = 1;"),
    ] {
        assert_eq!(body(text), expected, "{text}");
    }
}

#[test]
fn shaders_and_their_parameters() {
    let text =
        "light l(float a = 1, b; uniform color c = color (1, 0, 0); output varying point d[2]; string e = \"\",) { }";
    let (unit, messages) = parse_text(text);
    assert_eq!(messages, ["1:101 expected a name, found `)`"], "a comma promises another name");
    assert!(unit.items.is_empty());
    let (unit, messages) = parse_text(&text.replace(",)", ";)"));
    assert_eq!(messages, [""; 0]);
    let [Item::Shader(shader)] = unit.items.as_slice() else { panic!("one shader") };
    let parameters: Vec<_> = shader.parameters.iter().map(declaration).collect();
    assert_eq!(
        parameters.join("; "),
        "float a = 1; float b; uniform color c = (color <1 0 0>); output varying point d[2]; string e = \"\""
    );
    assert_eq!((shader.kind, &*shader.name.name), (DeclaredKind::Light, "l"));
}

#[test]
fn faults_are_told_once_and_reading_goes_on() {
    for (text, expected) in [
        ("x = ;", "1:17 expected a value, found `;`"),
        ("x = 1", "1:18 expected `;` here"),
        ("x = (1, 2);", "1:17 a triple needs 3 components and a matrix 16, got 2"),
        ("x = (1 2);", "1:20 expected `)`, found a number"),
        ("f(1 2);", "1:17 expected `,` or `)`, found a number"),
        ("x++;", "1:14 there is no operator `++`"),
        ("x--;", "1:14 there is no operator `--`"),
        ("x = y->f(1);", "1:18 method calls are not RSL 3.2"),
        ("x = void 3;", "1:17 a value cannot be void"),
        ("void x;", "1:13 a variable cannot be void"),
        ("float if = 1;", "1:19 expected a name, but `if` is a reserved word"),
        ("float x[2][2];", "1:23 arrays of arrays are not RSL 3.2"),
        ("float[] x;", "1:18 the brackets of an array follow its name"),
        ("struct S s;", "1:13 structures are not RSL 3.2"),
        ("shader s = 1;", "1:13 shaders as values are not RSL 3.2"),
        ("point \"world\" p = 0;", "1:19 a space belongs to a value, not to a type"),
        ("else x = 1;", "1:13 `else` without `if`"),
        ("break 1.5;", "1:19 the number of loops must be 1, 2, 3, ..."),
        ("float f(float x);", "1:19 `f` has no body"),
        ("if x = 1;", "1:16 expected `(`, found `x`"),
        ("x = uniform;", "1:17 expected a value, found `uniform`"),
        ("x = 3 % 2;", "1:19 expected `;`, found `%`"),
    ] {
        let (unit, messages) = parse_text(&format!("surface s(){{{text} y = 2; }} surface t() {{ }}"));
        assert_eq!(messages, [expected], "{text}");
        assert_eq!(unit.items.len(), 2, "{text}");
    }
}

#[test]
fn faults_outside_shaders() {
    for (text, expected) in [
        ("transformation t() { }", "1:1 transformation shaders are not supported"),
        ("float x = 1;", "1:9 expected `(`, found `=`"),
        ("surfac s() { Ci = 1; }", "1:1 expected a shader or a function, found `surfac`"),
        ("surface s { }", "1:11 expected `(`, found `{`"),
        ("surface s() { if (x) { }", "1:13 this `{` is not closed"),
        ("}", "1:1 expected a shader or a function, found `}`"),
        ("surface s(flot x) { }", "1:11 expected a type, found `flot`"),
        ("surface s(float x float y) { }", "1:19 expected `;` or `)`, found `float`"),
        ("surface s(shader x) { }", "1:11 shaders as values are not RSL 3.2"),
    ] {
        let (unit, messages) = parse_text(&format!("{text}\nsurface t() {{ }}"));
        assert_eq!(messages, [expected], "{text}");
        assert_eq!(unit.items.len(), 1, "{text}");
    }
}

#[test]
fn of_a_class_shader_nothing_else_is_said() {
    let class = "class plastic(uniform float list[] = {}; string name = \"\";) {
        constant float x = 1;
        public void surface(output color Ci, Oi) { shader lights[] = getlights(); Ci = this->glow(lights, x); }
    }";
    for (text, place) in [
        (class.to_owned(), "1:1"),
        (format!("struct ray {{ float x; }}\nfloat f(ray r) {{ return r->x; }}\n{class}"), "3:1"),
        (format!("{class}\nsurface s() {{ Ci = ; }}"), "1:1"),
        ("class c { public void surface(output color Ci, Oi) { Ci = 1 } }".to_owned(), "1:1"),
    ] {
        let (unit, messages) = parse_text(&text);
        assert_eq!(messages, [format!("{place} class shaders are not RSL 3.2")], "{text}");
        assert!(unit.items.is_empty(), "{text}");
    }
}

#[test]
fn of_structures_nothing_else_is_said() {
    let (unit, messages) = parse_text(
        "float f(float x) { return x; }\nstruct ray { float x; vector d = 0; }\nstruct other { ray r; }
        surface s() { ray r; r->x = 1; Ci = r->d; ray q = ray(1, N); }",
    );
    assert_eq!(messages, ["2:1 structures are not RSL 3.2"]);
    assert!(unit.items.is_empty());
}

#[test]
fn nothing_is_too_deep_for_the_stack() {
    for (open, close) in
        [("(", ")"), ("-", ""), ("f(", ")"), ("color ", ""), ("a[", "]"), ("1 ? ", ": 1"), ("x = ", "")]
    {
        let (_, messages) =
            parse_text(&format!("surface s() {{ x = {}1{}; }}", open.repeat(20_000), close.repeat(20_000)));
        assert_eq!(messages.len(), 1, "{open}: {messages:?}");
        assert!(messages[0].ends_with("nested more than 200 levels deep"), "{open}: {messages:?}");
    }
    for operator in ["+", "-", "*", "/", ".", "^", "&&", "||", "==", "!=", "<", "<=", ">", ">="] {
        let (unit, messages) =
            parse_text(&format!("surface s() {{ x = y{}; }}", format!(" {operator} y").repeat(20_000)));
        assert_eq!((unit.items.len(), messages), (1, Vec::new()), "{operator}: a chain is no nesting");
    }
    for open in ["{", "if (1) ", "while (1) {", "if (1) ; else ", "void f() {"] {
        let (_, messages) = parse_text(&format!("surface s() {{ {}", open.repeat(20_000)));
        assert!(!messages.is_empty(), "{open}");
    }
}
