//! Paths of Windows whose back slashes are escapes in RIB.

/// The letters of an extension, at least and at most.
const EXTENSION_BYTES: std::ops::RangeInclusive<usize> = 2..=5;

/// Returns the letter behind the first single back slash of a string, as it is written, that is probably a path: it
/// begins with a drive or ends in an extension.
pub(crate) fn letter_behind_slash(written: &[u8]) -> Option<u8> {
    let has_drive = matches!(written, [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic());
    letter_behind_single_slash(written).filter(|_| has_drive || has_extension(written))
}

/// Returns the letter behind the first back slash that is not doubled, of those before letters.
fn letter_behind_single_slash(written: &[u8]) -> Option<u8> {
    let mut rest = written;
    while let Some(slash) = memchr::memchr(b'\\', rest) {
        if let Some(letter) = rest.get(slash + 1).copied().filter(u8::is_ascii_alphabetic) {
            return Some(letter);
        }
        rest = rest.get(slash + 2..).unwrap_or_default();
    }
    None
}

fn has_extension(written: &[u8]) -> bool {
    let Some(dot) = memchr::memrchr(b'.', written) else { return false };
    let extension = &written[dot + 1..];
    EXTENSION_BYTES.contains(&extension.len()) && extension.iter().all(u8::is_ascii_alphanumeric)
}

/// Returns what a back slash and a letter stand for (RISpec C.2).
pub(crate) fn meaning(letter: u8) -> String {
    match letter {
        b'n' => "a new line".to_owned(),
        b'r' => "a carriage return".to_owned(),
        b't' => "a tab".to_owned(),
        b'b' => "a backspace".to_owned(),
        b'f' => "a form feed".to_owned(),
        other => format!("\"{}\" alone", char::from(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_other_texts() {
        for (written, letter) in [
            (&br"C:\textures\new.tif"[..], Some(b't')),
            (br"textures\new.tif", Some(b'n')),
            (br"c:\\maps\temp", Some(b't')),
            (br"..\maps\a.tx", Some(b'm')),
            (br"C:\\textures\\new.tif", None),
            (br"C:/textures/new.tif", None),
            (br"value is %f\n", None),
            (br"a\tb", None),
            (br"\101\164x", None),
            (br"end of line.\n", None),
            (br"\", None),
        ] {
            assert_eq!(letter_behind_slash(written), letter, "{}", String::from_utf8_lossy(written));
        }
    }
}
