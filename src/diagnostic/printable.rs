//! Text from files made fit for a terminal: the one place where names are escaped and shortened.
//!
//! A name in a scene or shader may hold anything: escape sequences that change the terminal, line ends that forge a
//! line of progress, a hundred megabytes. Whatever is printed passes through here.

use std::borrow::Cow;

/// The longest quoted name, in bytes; of a longer one its beginning and its end remain.
const NAME_BYTES_MAX: usize = 200;

/// What stands for the part that is left out.
const LEFT_OUT: &str = "...";

/// Returns `text` as one printable line of at most `bytes_max` bytes (at least 16): control characters are escaped,
/// quoted names are shortened, and then the whole.
pub fn line(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= NAME_BYTES_MAX.min(bytes_max) && !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    // Shortened first, so that little is escaped, and again, because escapes are longer than what they stand for.
    let quoted: Vec<Cow<'_, str>> = text
        .split('"')
        .enumerate()
        .map(|(part, text)| if part % 2 == 1 { shortened(text, NAME_BYTES_MAX) } else { text.into() })
        .collect();
    let joined = quoted.join("\"");
    let short = shortened(&joined, bytes_max);
    let escaped = escaped(&short, &[]);
    Cow::Owned(shortened(&escaped, bytes_max).into_owned())
}

/// Returns `text`, which may have several lines, without control characters other than line ends and tabs, and without
/// the lines (or the part of the first one) beyond `bytes_max` bytes.
pub fn block(text: &str, bytes_max: usize) -> Cow<'_, str> {
    let kept = match text.get(..bytes_max) {
        _ if text.len() <= bytes_max => text,
        _ => {
            let kept = &text[..text.floor_char_boundary(bytes_max)];
            &kept[..kept.rfind('\n').unwrap_or(kept.len())]
        }
    };
    let escaped = escaped(kept, &['\n', '\t']);
    if escaped.len() > bytes_max {
        return Cow::Owned(shortened(&escaped, bytes_max).into_owned());
    }
    escaped
}

/// Escapes control characters, except those in `kept`, as in RSL and Rust: `\n`, `\u{1b}`.
fn escaped<'t>(text: &'t str, kept: &[char]) -> Cow<'t, str> {
    let is_bad = |c: char| is_control(c) && !kept.contains(&c);
    if !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_bad(c) {
            result.extend(c.escape_default());
        } else {
            result.push(c);
        }
    }
    Cow::Owned(result)
}

/// Whether a character is a control character of a terminal, or one that is invisible or reverses text around it.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns the first two thirds and the end of a text that is longer than `bytes_max`.
fn shortened(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let kept = bytes_max - LEFT_OUT.len();
    let head = text.floor_char_boundary(kept * 2 / 3);
    let tail = text.ceil_char_boundary(text.len() - (kept - kept * 2 / 3));
    Cow::Owned([&text[..head], LEFT_OUT, &text[tail..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(line("a \"b\" é\u{301}", 900), "a \"b\" é\u{301}");
        assert_eq!(line("a\nR90000 100%\r\x1b[2J\x7f\u{9b}", 900), "a\\nR90000 100%\\r\\u{1b}[2J\\u{7f}\\u{9b}");
        assert_eq!(line("\u{202e}gpj.exe\u{2028}", 900), "\\u{202e}gpj.exe\\u{2028}");
        assert_eq!(block("a\n\tb\x1b[31m\r\n", 900), "a\n\tb\\u{1b}[31m\\r\n");
    }

    #[test]
    fn names_are_shortened_and_the_sentence_around_them_remains() {
        let text = format!("cannot write \"{}z.exr\": there is no such directory", "a/".repeat(1 << 20));
        let short = line(&text, 900);
        assert!(short.starts_with("cannot write \"a/a/") && short.len() < 300, "{short}");
        assert!(short.ends_with("a/z.exr\": there is no such directory"), "{short}");
        // Quotes inside of names.
        let short = line(&"\"x".repeat(1 << 20), 900).into_owned();
        assert!(short.len() <= 900 && short.contains("..."), "{short}");
    }

    #[test]
    fn no_text_is_longer_than_asked() {
        for unit in ["a", "é", "\u{1f41c}", "\n", "\"\x1b", "\u{e0001}"] {
            for bytes_max in [16, 17, 18, 19, 100, 901] {
                let text = unit.repeat(3000);
                assert!(line(&text, bytes_max).len() <= bytes_max, "{unit:?}");
                assert!(block(&text, bytes_max).len() <= bytes_max, "{unit:?}");
            }
        }
        assert_eq!(block("one\ntwo\nthree", 10), "one\ntwo");
    }
}
