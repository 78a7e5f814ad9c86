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
