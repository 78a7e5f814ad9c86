//! Rust source without what is not code.

/// The source with every comment and the inside of every string and character literal blanked out. Lines and bytes keep
/// their places.
pub(super) fn code(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut at = 0;
    while at < out.len() {
        let (begin, end) = match text.as_bytes()[at..] {
            [b'/', b'/', ..] => (at, at + text[at..].find('\n').unwrap_or(text.len() - at)),
            [b'/', b'*', ..] => (at, at + comment(&text[at..])),
            [b'"', ..] => (at + 1, at + quoted(&text.as_bytes()[at + 1..], b'"')),
            [b'r', b'"' | b'#', ..] if !is_word(text, at) => raw(text, at).unwrap_or((at, at + 1)),
            [b'\'', ..] => character(text, at).unwrap_or((at, at)),
            _ => (at, at),
        };
        blank(&mut out, begin, end.min(text.len()));
        // The closing quote of a literal, or a byte of code.
        at = end.max(begin) + usize::from(begin > at || end == at);
    }
    String::from_utf8(out).expect("only whole characters are blanked out")
}

/// Code without the modules that are compiled for tests.
pub(super) fn without_tests(code: &str) -> String {
    let mut out = code.as_bytes().to_vec();
    let attributes = ["#[cfg(test)]", "#[cfg(all(test, "].map(|attribute| code.match_indices(attribute));
    for (begin, _) in attributes.into_iter().flatten() {
        let rest = &code[begin..];
        let body = rest.find('{').filter(|open| rest.find(';').is_none_or(|end| end > *open));
        let end = body.map_or(rest.find(';').map_or(rest.len(), |end| end + 1), |open| open + closing(&rest[open..]));
        blank(&mut out, begin, begin + end);
    }
    String::from_utf8(out).expect("only whole characters are blanked out")
}

/// Whether a word stands somewhere, not as a part of another.
pub(super) fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_end = |at: usize| code.as_bytes().get(at).is_none_or(|byte| !is_name(*byte));
    code.match_indices(word).map(|(at, _)| at).filter(move |at| !is_word(code, *at) && is_end(at + word.len()))
}

/// The length of the block that begins with `{`.
pub(super) fn closing(code: &str) -> usize {
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// Whether the byte may stand in a name.
pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether the byte at `at` goes on with a word that began before.
fn is_word(code: &str, at: usize) -> bool {
    at > 0 && is_name(code.as_bytes()[at - 1])
}

fn blank(out: &mut [u8], begin: usize, end: usize) {
    out[begin.min(end)..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// The length of a block comment; they nest.
fn comment(text: &str) -> usize {
    let (mut depth, mut at, bytes) = (0, 0, text.as_bytes());
    while at < bytes.len() {
        match bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return at + 2,
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    at
}

/// One more than the place of the quote that ends a literal.
fn quoted(bytes: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// The inside of a raw string.
fn raw(text: &str, at: usize) -> Option<(usize, usize)> {
    let hashes = text[at + 1..].bytes().take_while(|byte| *byte == b'#').count();
    let begin = at + 1 + hashes;
    let inside = text[begin..].strip_prefix('"')?;
    let end = inside.find(&format!("\"{}", "#".repeat(hashes)))?;
    Some((begin + 1, begin + 1 + end))
}

/// The inside of a character literal; a lifetime has none.
fn character(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = &text[at + 1..];
    let mut characters = rest.char_indices();
    let end = match characters.next()? {
        // What is escaped is no end.
        (_, '\\') => characters.nth(1)?.0 + rest[2..].find('\'')?,
        _ => characters.next()?.0,
    };
    rest[end..].starts_with('\'').then_some((at + 1, at + 1 + end))
}

#[test]
fn comments_and_literals_are_blanked_out() {
    let table = [
        ("a // b\nc", "a     \nc"),
        ("a /* b /* c */ d */ e", "a                   e"),
        (r#"f("unsafe \" {", x)"#, r#"f("           ", x)"#),
        (r##"r#"a"b"# c"##, r##"r#"   "# c"##),
        ("'{' 'a '\\'' x", "' ' 'a '  ' x"),
        ("'\\u{41}' '\"' y", "'      ' ' ' y"),
        ("for'a", "for'a"),
    ];
    for (text, expected) in table {
        assert_eq!(code(text), expected, "{text}");
    }
    assert_eq!(without_tests("a\n#[cfg(test)]\nmod t { { } }\nb").split_whitespace().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(without_tests("#[cfg(test)]\nmod t;\nb {}").trim(), "b {}");
    assert_eq!(without_tests("#[cfg(all(test, unix))]\nmod t {}\nb {}").trim(), "b {}");
    assert_eq!(words("safe unsafe unsafe_x unsafe", "unsafe").collect::<Vec<_>>(), [5, 21]);
}
