//! Texts in the encodings of the programs that write scenes and shaders.

use super::utf16::{read_utf_16, utf_16_of};
use std::io::{self, Read};
use std::sync::Arc;

/// Converts a text. What is not UTF-8 is Latin-1, in which programs of the time wrote names.
pub(crate) fn to_text(bytes: &[u8]) -> Arc<str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => bytes.iter().copied().map(char::from).collect::<String>().into(),
    }
}

/// Reads the text of a file to its end. UTF-16 is known by its first bytes; of other texts each line is what
/// [`to_text`] makes of it.
///
/// # Errors
/// Those of reading.
pub(crate) fn read_text(mut file: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let Some(encoding) = utf_16_of(&bytes) else {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(to_text);
        return Ok(lines.fold(String::with_capacity(bytes.len()), |text, line| text + &line));
    };
    let mut text = String::new();
    read_utf_16(&bytes[..], encoding).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_utf_8_or_latin_1_and_files_utf_16() {
        let both = "a é \u{1f600}\n";
        let little = both.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big = format!("\u{feff}{both}").encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (bytes, wanted) in [
            ([both.as_bytes(), b"\xe9.tx\n", both.as_bytes()].concat(), format!("{both}é.tx\n{both}")),
            (little, both.to_owned()),
            (big, both.to_owned()),
            (Vec::new(), String::new()),
        ] {
            assert_eq!(read_text(&bytes[..]).expect("memory can be read"), wanted);
        }
    }
}
