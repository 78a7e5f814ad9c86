use super::*;
use crate::diagnostic::Severity;
use crate::syntax::loader::{LoadedSource, NoIncludes};

/// A loader for files that the tests name.
struct Files<'a>(&'a [(&'a str, &'a str)]);

impl SourceLoader for Files<'_> {
    fn load(&self, path: &str, angled: bool, _from: &str) -> Result<LoadedSource, String> {
        let name = if angled { format!("<{path}>") } else { path.to_owned() };
        let found = self.0.iter().find(|(file, _)| *file == name);
        found
            .map(|(file, text)| LoadedSource { name: (*file).to_owned(), text: (*text).to_owned() })
            .ok_or_else(String::new)
    }
}

/// Returns the tokens of a text as words, then its messages as `line:column message`.
fn run(text: &str, files: &[(&str, &str)], defines: &[&str]) -> (String, Vec<String>) {
    let (mut map, mut reports) = (SourceMap::default(), Reports::default());
    let defines: Vec<_> = defines.iter().map(|&d| d.to_owned()).collect();
    let source = Source { name: "main.sl", text, loader: &Files(files), defines: &defines };
    let tokens = preprocess(&source, &mut map, &mut reports).tokens;
    let words: Vec<_> = tokens
        .iter()
        .map(|token| match &token.kind {
            TokenKind::Ident(name) => name.to_string(),
            TokenKind::Number(value) => value.to_string(),
            TokenKind::String(text) => format!("{text:?}"),
            TokenKind::Punct(punct) => punct.text().to_owned(),
            TokenKind::End => String::new(),
        })
        .collect();
    let messages = reports
        .finish(&map)
        .iter()
        .map(|d| {
            let word = if d.severity == Severity::Warning { "warning: " } else { "" };
            format!("{}:{}:{} {word}{}", d.place.file, d.place.line, d.place.column, d.message)
        })
        .collect();
    (words.join(" ").trim_end().to_owned(), messages)
}

/// Returns the tokens of a text that must be free of faults.
fn clean(text: &str) -> String {
    let (words, messages) = run(text, &[], &[]);
    assert!(messages.is_empty(), "{text:?}: {messages:?}");
    words
}

/// Returns the first message for a text.
fn fault(text: &str) -> String {
    let (_, messages) = run(text, &[], &[]);
    messages.first().cloned().unwrap_or_else(|| panic!("no message for {text:?}")).replace("main.sl:", "")
}

#[test]
fn macros_expand_as_in_c() {
    for (text, expected) in [
        ("#define A 1\nA B", "1 B"),
        ("#define A B\n#define B A\nA B", "A B"),
        ("#define F(x) x + x\nF(1) F F (2)", "1 + 1 F 2 + 2"),
        ("#define F(x, y) y x\nF((a, b), f(c, d))", "f ( c , d ) ( a , b )"),
        ("#define F() z\nF() F(\n)", "z z"),
        ("#define F(x) <x>\nF()", "< >"),
        ("#define F (x)\nF", "( x )"),
        ("#define S(x) #x\nS( a  +\"b\\n\" )", r#""a +\"b\\n\"""#),
        ("#define X 3\n#define S(x) #x\n#define T(x) S(x)\nS(X) T(X)", r#""X" "3""#.replace("\" \"", "").as_str()),
        ("#define J(a, b) a##b\nJ(x, 1) J(, y) J(+, =) J(1, 2)", "x1 y += 12"),
        ("#define J(a, b) v_ ## a ## _ ## b\nJ(s, t)", "v_s_t"),
        ("#define V(f, ...) f(__VA_ARGS__)\nV(g) V(g, 1) V(g, 1, 2)", "g ( ) g ( 1 ) g ( 1 , 2 )"),
        ("#define f(x) g(x)\n#define g(x) f(x) + 1\nf(2)", "f ( 2 ) + 1"),
        // The examples of the C standard, 6.10.3.5.
        (
            "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n#define h g(~\n\
             #define m(a) a(w)\n#define w 0,1\n#define t(a) a\nf(y+1) + f(f(z)) - t(t(g)(0) + t)(1);",
            "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) - f ( 2 * ( 0 ) ) + t ( 1 ) ;",
        ),
        (
            "#define hash_hash # ## #\n#define mk(a) # a\n#define in(a) mk(a)\n#define join(c, d) in(c hash_hash d)\njoin(x, y)",
            "\"x ## y\"",
        ),
        ("#define A 1 \\\n + 2\nA", "1 + 2"),
        ("#define LONG(a) a /* over\nlines */ + 1 // end\nLONG(2)", "2 + 1"),
        ("__LINE__\n__LINE__ __FILE__", "1 2 \"main.sl\""),
        ("ANTHILL", "100"),
        ("\"a\" \"b\"\n\"c\"", "\"abc\""),
        ("\"\\ttab \\\"q\\\" \\101\\\\ \\x\"", r#""\ttab \"q\" A\\ x""#),
        ("1 1.5f 1e2 .25 7.", "1 1.5 100 0.25 7"),
        ("#\n# pragma annotation \"x\"\n#pragma once\na", "a"),
        ("a # b", "a # b"),
    ] {
        assert_eq!(clean(text), expected, "{text:?}");
    }
}

#[test]
fn conditions() {
    for (text, expected) in [
        ("#if 1\na\n#else\nb\n#endif\nc", "a c"),
        ("#if 0\na\n#elif 1\nb\n#elif 1\nd\n#else\ne\n#endif", "b"),
        ("#ifdef X\na\n#else\nb\n#endif", "b"),
        ("#define X\n#ifdef X\na\n#endif\n#ifndef X\nb\n#endif", "a"),
        ("#if 0\n#if 1\na\n#else\nb\n#endif\n#else\nc\n#endif", "c"),
        ("#if 0\n don't \"open\n#error no\n#unknown\n#endif\nx", "x"),
        ("#if 0 // else\n#else // if\ny\n#endif // all", "y"),
        ("#if defined(ANTHILL) && ANTHILL >= 100 && !defined X\na\n#endif", "a"),
        ("#define T(x) (x * 2)\n#if T(3) == 6\na\n#endif", "a"),
        ("#if UNKNOWN\na\n#else\nb\n#endif", "b"),
    ] {
        assert_eq!(clean(text), expected, "{text:?}");
    }
}

#[test]
fn condition_arithmetic() {
    for (expression, expected) in [
        ("1 + 2 * 3 == 7", true),
        ("(1 + 2) * 3 == 9", true),
        ("10 - 4 - 3 == 3", true),
        ("7 / 2 == 3 && 7 % 2 == 1", true),
        ("-1 < 0 && !0 && ~0 == -1", true),
        ("1 << 4 == 16 && 0x10 >> 2 == 4 && 010 == 8", true),
        ("(6 & 3) == 2 && (6 | 3) == 7 && (6 ^ 3) == 5", true),
        ("0 ? 1 / 0 : 2", true),
        ("0 && 1 / 0", false),
        ("1 || 1 / 0", true),
        ("1 ? 0 : 1 ? 1 : 1", false),
        ("9223372036854775807 + 1 < 0", true),
        ("1 << 70 == 64", true),
        ("100L == 100ul", true),
        ("2 > 1 != 0", true),
    ] {
        let text = format!("#if {expression}\nyes\n#endif");
        assert_eq!(clean(&text) == "yes", expected, "{expression}");
    }
}

#[test]
fn faults_have_places() {
    for (text, expected) in [
        ("\n#endif", "2:1 `#endif` without `#if`"),
        ("#if 1\na", "1:1 this condition has no `#endif`"),
        ("#if 0\na", "1:1 this condition has no `#endif`"),
        ("#if 1\n#else\n#else\n#endif", "3:1 `#else` after `#else`"),
        ("#if 0\n#else\n#elif 1\n#endif", "3:1 `#elif` after `#else`"),
        ("#if 1 +\n#endif", "1:8 the condition is incomplete"),
        ("#if\n#endif", "1:4 the condition is incomplete"),
        ("#if 1 1\n#endif", "1:7 expected the end of the condition"),
        ("#if 1.5\n#endif", "1:5 `1.5` is not an integer; `#if` conditions take integers only"),
        ("#if 1 / 0\n#endif", "1:7 division by 0 in a condition"),
        ("#if (1\n#endif", "1:7 expected `)`"),
        ("#if 1 ? 2\n#endif", "1:10 expected `:` of `? :`"),
        ("#if defined\n#endif", "1:5 `defined` needs the name of a macro"),
        ("#if = 2\n#endif", "1:5 `=` is not allowed in a condition"),
        ("  # error stop  here ", "1:3 #error: stop  here"),
        ("#warning old", "1:1 warning: #warning: old"),
        ("#foo bar", "1:1 unknown directive `#foo`"),
        ("#define 1 2", "1:9 `#define` needs the name of a macro"),
        ("#define F(x", "1:10 the parameters of a macro are names separated by commas, in parentheses"),
        ("#define F(x, x) x", "1:14 the parameter `x` is declared twice"),
        ("#define F(x) #y", "1:14 `#` must be followed by a parameter"),
        ("#define F ## y", "1:11 `##` must be between two tokens"),
        ("#define A 1\n#define A 2", "2:9 warning: the macro `A` is redefined differently"),
        ("#define F(x) x\nF(1, 2)", "2:1 the macro `F` takes 1 argument, not 2"),
        ("#define F(x, y) x\nF(1)", "2:1 the macro `F` takes 2 arguments, not 1"),
        ("#define F(x) x\nF(1", "2:1 the arguments of the macro `F` are not closed"),
        ("#define J(a, b) a##b\n x J(+, y)", "2:4 `##` cannot join `+` and `y` into one token"),
        ("#include", "1:1 `#include` needs a file: `\"name\"` or `<name>`"),
        ("#include \"no.h\"", "1:10 cannot include `no.h`"),
        ("#undef 3", "1:8 `#undef` needs the name of a macro"),
        ("#endif x", "1:1 `#endif` without `#if`"),
        ("#if 1\n#endif x", "2:8 warning: tokens after `#endif` are ignored"),
        ("#line x", "1:1 expected `#line number` or `#line number \"file\"`"),
        ("1x", "1:1 `1x` is not a number"),
        ("1e", "1:1 `1e` is not a number"),
        ("0x10", "1:1 `0x10` is not a number"),
        ("1e99", "1:1 warning: the number `1e99` is out of range for a float"),
        ("a @", "1:3 unexpected character `@`"),
        ("\"a\\0b\"", "1:1 a string cannot contain the character `\\0`"),
        ("x \"open", "1:3 this string is not closed on its line"),
        ("x /* open", "1:3 this comment is not closed"),
    ] {
        assert_eq!(fault(text), expected, "{text:?}");
    }
}

#[test]
fn includes_and_their_places() {
    let files = [
        ("a.h", "#ifndef A\n#define A\nint_a\n#endif\n"),
        ("<lib/b.h>", "b #include \"x\"\n"),
        ("c.h", "\n\n  @ c"),
        ("d.h", "#include \"c.h\"\n"),
        ("once.h", "#pragma once\nonce\n"),
        ("self.h", "#include \"self.h\"\n"),
        ("open.h", "#if 1\n"),
        ("call.h", "F(1"),
    ];
    let check = |text: &str| run(text, &files, &["F(x)=x"]);
    assert_eq!(check("#include \"a.h\"\n#include \"a.h\"\nx"), ("int_a x".to_owned(), vec![]));
    assert_eq!(check("#define H <lib/b.h>\n#include H\n"), ("b # include \"x\"".to_owned(), vec![]));
    assert_eq!(check("#include \"once.h\"\n#include \"once.h\"").0, "once");
    let (words, messages) = check("#include \"d.h\"\ny");
    assert_eq!((words.as_str(), messages), ("c y", vec!["c.h:3:3 unexpected character `@`".to_owned()]));
    assert_eq!(check("#include \"open.h\"\ny").1, ["open.h:1:1 this condition has no `#endif`"]);
    assert_eq!(check("#include \"call.h\"\n)").1, ["call.h:1:1 the arguments of the macro `F` are not closed"]);
    assert!(check("#include \"self.h\"").1[0].ends_with("too many included files: 64 levels deep"));
}

#[test]
fn an_error_in_a_macro_names_both_places() {
    let (mut map, mut reports) = (SourceMap::default(), Reports::default());
    let text = "#define HALF (1x / 2)\n#define TWICE HALF HALF\n\nfloat a = TWICE;\n";
    let source = Source { name: "m.sl", text, loader: &NoIncludes, defines: &[] };
    preprocess(&source, &mut map, &mut reports);
    let expected = "\
error: `1x` is not a number
 --> m.sl:4:11
  |
1 | #define HALF (1x / 2)
  |               -- in the expansion of the macro `TWICE`
...
4 | float a = TWICE;
  |           ^^^^^
  |
  = help: numbers look like 1, 0.5, .5 or 1e-3";
    assert_eq!(reports.finish(&map)[0].to_string(), expected);
}

#[test]
fn line_directives_and_markers() {
    assert_eq!(run("#line 10 \"x.sl\"\n\n@", &[], &[]).1, ["x.sl:11:1 unexpected character `@`"]);
    assert_eq!(run("# 7 \"y.sl\" 1 3\n@", &[], &[]).1, ["y.sl:7:1 unexpected character `@`"]);
    assert_eq!(clean("#line 30\n__LINE__ __FILE__"), "30 \"main.sl\"");
}

#[test]
fn macros_of_the_command_line() {
    let defines = ["A", "B=2 + 3", "C(x)=x x"];
    assert_eq!(run("A B C(y)", &[], &defines).0, "1 2 + 3 y y");
    assert_eq!(run("", &[], &["1=2"]).1, ["<command line>:4:9 `#define` needs the name of a macro"]);
}

#[test]
fn neighbouring_strings_are_joined_in_linear_time() {
    let (words, messages) = run(&"\"ab\" ".repeat(200_000), &[], &[]);
    assert_eq!((words.len(), messages), (2 + 400_000, Vec::new()));
}

#[test]
fn bombs_end_with_an_error() {
    let doubling: String = (0..40).map(|i| format!("#define A{} A{i} A{i}\n", i + 1)).collect();
    let nested: String = (0..300).map(|i| format!("#define A{} A{i}\n", i + 1)).collect();
    let growing: String = (0..40).map(|i| format!("#define G{}(x) G{i}(x##x)\n", i + 1)).collect();
    let twice = [("t.h", "#include \"t.h\"\n#include \"t.h\"\n")];
    for (name, text, expected) in [
        ("doubling", format!("{doubling}A40"), "tokens after macro expansion"),
        ("nested", format!("{nested}A300"), "deep"),
        ("growing", format!("#define G0(x) x\n{growing}G40(a)"), "makes a token of more than"),
        ("calls", format!("#define F(x) x\n{}1{}", "F(".repeat(500), ")".repeat(500)), "deep"),
        ("doubled calls", format!("#define F(x) x x\n{}1{}", "F(".repeat(100), ")".repeat(100)), "tokens after"),
        ("parentheses", format!("#if {}1{}\n#endif", "(".repeat(9000), ")".repeat(9000)), "nested more than"),
        ("minus signs", format!("#if {}1\na\n#endif\n@", "- ".repeat(90000)), "unexpected character `@`"),
        (
            "strings",
            format!("#define S \"{}\"\n#define T S S S S S S S S\n{}", "x".repeat(60_000), "T ".repeat(100)),
            "neighbouring strings are one, and this has more than 1048576 bytes",
        ),
        ("includes", "#include \"t.h\"".to_owned(), "too many included files"),
    ] {
        let (_, messages) = run(&text, &twice, &[]);
        assert!(messages.iter().any(|m| m.contains(expected)), "{name}: {messages:.200?}");
    }
}
