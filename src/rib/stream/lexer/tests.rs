//! Tokens of text.

use super::*;

fn source(text: impl AsRef<[u8]>) -> Arc<Source> {
    Arc::new(Source::of_test(text.as_ref()))
}

/// Returns what `read` gives for the text, and the kind of the next token.
fn lexed<T>(text: impl AsRef<[u8]>, read: impl FnOnce(&mut Lexer<'_>) -> T) -> (T, TokenKind) {
    let source = source(text);
    let mut lexer = Lexer::new(&source, 0..source.bytes.len(), LineMark::START);
    lexer.peek();
    let value = read(&mut lexer);
    (value, lexer.peek())
}

#[test]
fn malformed_numbers_are_faults_and_are_skipped() {
    for text in ["1abc", "1.2.3", "1e", ".", "-.", "0x10", "1..2"] {
        let source = source(text);
        let mut lexer = Lexer::new(&source, 0..text.len(), LineMark::START);
        let fault = lexer.float32().expect_err(text);
        assert_eq!((fault.code, fault.offset), ("syntaxerror", 0), "{text}");
        assert!(lexer.position() > 0, "{text}");
    }
}

#[test]
fn integers_and_floats_are_distinguished() {
    assert_eq!(lexed("42", |lexer| lexer.int().ok()).0, Some(42));
    assert_eq!(lexed("-2147483648", |lexer| lexer.int().ok()).0, Some(i32::MIN));
    assert_eq!(lexed("1.0", |lexer| lexer.int().map_err(|fault| fault.code)).0, Ok(1));
    assert_eq!(lexed("1.5", |lexer| lexer.int().map_err(|fault| fault.code)).0, Err("badargument"));
    assert_eq!(lexed("4000000000", |lexer| lexer.int().map_err(|fault| fault.code)).0, Err("range"));
    assert_eq!(lexed("99999999999999999999", |lexer| lexer.int().map_err(|fault| fault.code)).0, Err("range"));
}

#[test]
fn strings_and_their_escapes() {
    for (text, wanted) in [
        (&br#""""#[..], &b""[..]),
        (br#""plain # [text]""#, b"plain # [text]"),
        (br#""a\nb\tc\rd\be\ff""#, b"a\nb\tc\rd\x08e\x0cf"),
        (br#""\\ \" \q""#, b"\\ \" q"),
        (br#""\101\60\0601""#, b"A001"),
        (b"\"one\\\ntwo\\\r\nthree\"", b"onetwothree"),
        (b"\"line\nline\"", b"line\nline"),
        (b"\"\xff\"", b"\xff"),
    ] {
        let (value, next) = lexed(text, |lexer| lexer.string().expect("a string").into_owned());
        assert_eq!((value.as_slice(), next), (wanted, TokenKind::End), "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn an_unterminated_string_ends_with_its_line() {
    let (fault, next) = lexed("\"lost\nSphere", |lexer| lexer.string().expect_err("no end"));
    assert_eq!((fault.code, fault.offset, next), ("syntaxerror", 0, TokenKind::Word));
}

#[test]
fn comments_and_white_space() {
    let text = "# a \" comment [\r## hint\r\n \t\x0c \n WorldBegin#x";
    assert_eq!(lexed(text, |lexer| lexer.word().map(<[u8]>::to_vec)), (Some(b"WorldBegin".to_vec()), TokenKind::End));
}

#[test]
fn lines_end_with_lf_crlf_or_cr() {
    for text in ["a\nb\n  c", "a\r\nb\r\n  c", "a\rb\r  c"] {
        let source = source(text);
        let mut lexer = Lexer::new(&source, 0..text.len(), LineMark::START);
        let mut locations = Vec::new();
        while lexer.peek() == TokenKind::Word {
            let location = lexer.request_location(lexer.position());
            locations.push((location.line, location.column));
            lexer.word();
        }
        assert_eq!(locations, [(1, 1), (2, 1), (3, 3)], "{text:?}");
        // A location after the mark and one before it.
        assert_eq!((lexer.location(0).line, lexer.location(text.len()).line), (1, 3));
    }
}

#[test]
fn arrays() {
    let mut floats = Vec::new();
    assert_eq!(lexed("[1 2.5-3 # c\n 4e0]", |lexer| lexer.float_array(&mut floats)), (Ok(()), TokenKind::End));
    assert_eq!(floats, [1.0, 2.5, -3.0, 4.0]);
    let mut ints = Vec::new();
    assert_eq!(lexed("[]", |lexer| lexer.int_array(&mut ints)), (Ok(()), TokenKind::End));
    for text in ["[1 2 Sphere", "[1 \"a\"]", "[1 [2]]", "[1 2", "[1 @]"] {
        let (fault, _) = lexed(text, |lexer| lexer.float_array(&mut floats).expect_err("not closed"));
        assert_eq!(fault.code, "syntaxerror", "{text}");
    }
}

#[test]
fn skipping_always_ends_at_a_request() {
    let text = "1 [2 3] \"s WorldEnd\" ] @ 1..2 \"open\n - + TransformEnd";
    let (word, _) = lexed(text, |lexer| {
        lexer.skip_to_request();
        lexer.word().map(<[u8]>::to_vec)
    });
    assert_eq!(word, Some(b"TransformEnd".to_vec()));
    assert_eq!(lexed(b"WorldEnd\xff Sphere", |lexer| lexer.word().map(<[u8]>::len)), (Some(8), TokenKind::End));
    assert_eq!(lexed("WorldEnd\r\n\x1a", |lexer| lexer.word().map(<[u8]>::len)), (Some(8), TokenKind::End));
    assert_eq!(lexed(b"\x80", |_| ()).1, TokenKind::Binary);
}

/// Numbers of all kinds, `count` times, each followed by white space; a comment stands after every 20,000 of them.
fn numbers_of_all_kinds(count: usize) -> (String, Vec<f32>) {
    const TEXTS: [&str; 16] = [
        "0",
        "-0",
        "1",
        "-1.5",
        "0.1234567",
        "123456.789012",
        "3.14159265358979323846",
        "1e-3",
        "-4E5",
        "1e-45",
        "1.17549435e-38",
        "7e-46",
        "1e39",
        "16777217",
        "0.50000002980232238769531251",
        "99999999999999999999",
    ];
    let (mut text, mut values) = (String::new(), Vec::new());
    for i in 0..count {
        let number = TEXTS[i * 7 % 16];
        values.push(number.parse().expect("a float"));
        text += number;
        text += [" ", "\n", "\r\n", "\t "][i % 4];
        if i % 20_000 == 19_999 {
            text += "# 1 2 ] \"\n";
        }
    }
    (text, values)
}

#[test]
fn long_arrays_hold_what_the_standard_library_parses() {
    let (text, wanted) = numbers_of_all_kinds(190_001);
    for text in [format!("[{text}]"), format!("[{}]", text.trim_end())] {
        let mut floats = Vec::new();
        assert_eq!(lexed(text, |lexer| lexer.float_array(&mut floats)), (Ok(()), TokenKind::End));
        let is_same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits();
        assert_eq!((floats.len(), floats.iter().zip(&wanted).position(|pair| !is_same(pair))), (wanted.len(), None));
    }
    let wanted: Vec<i32> = (0..150_000).map(|i: i32| i.wrapping_mul(50_021)).collect();
    let text = wanted.iter().map(i32::to_string).collect::<Vec<_>>().join(" ");
    let mut ints = Vec::new();
    assert_eq!(lexed(format!("[ {text}]"), |lexer| lexer.int_array(&mut ints)), (Ok(()), TokenKind::End));
    assert!(ints == wanted);
}

#[test]
fn faults_in_long_arrays_are_where_they_are() {
    let numbers = "1 22 -3.25\n".repeat(60_000);
    for at in [11, 11 * 20_000, 11 * 30_000, 11 * 45_000, numbers.len()] {
        for (wrong, is_at_end) in [("1..2", false), ("\"a\"", false), ("Sphere", false), ("[", false), ("", true)] {
            let rest = if is_at_end { "" } else { &numbers[at..] };
            let text = format!("[{}{wrong} {rest}", &numbers[..at]);
            let source = source(&text);
            let mut lexer = Lexer::new(&source, 0..text.len(), LineMark::START);
            let mut floats = Vec::new();
            let fault = lexer.float_array(&mut floats).expect_err(wrong);
            assert_eq!(fault.offset, if is_at_end { text.len() } else { 1 + at }, "{wrong:?} after {at}");
            assert_eq!(lexer.location(fault.offset).line as usize, at / 11 + 1, "{wrong:?} after {at}");
            assert_eq!(floats.len(), at / 11 * 3, "{wrong:?} after {at}");
        }
    }
}
