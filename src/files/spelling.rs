//! Names of files whose characters are written in Latin-1.

use std::path::{Path, PathBuf};

/// Returns where a file may be that a text names: there, or where the characters of its last part, or of all parts, are
/// written in Latin-1, as they were by the programs that wrote the text in it.
pub(crate) fn spellings(path: PathBuf) -> impl Iterator<Item = PathBuf> {
    let name = path.file_name().and_then(|name| in_latin_1(Path::new(name)));
    let last = name.map(|name| path.with_file_name(name));
    let whole = in_latin_1(&path).filter(|whole| last.as_ref() != Some(whole));
    [Some(path), last, whole].into_iter().flatten()
}

/// Returns a path in Latin-1, if that differs and there is one.
#[cfg(unix)]
fn in_latin_1(path: &Path) -> Option<PathBuf> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let text = path.to_str().filter(|text| !text.is_ascii())?;
    let bytes: Option<Vec<u8>> = text.chars().map(|character| u8::try_from(character).ok()).collect();
    bytes.map(|bytes| OsString::from_vec(bytes).into())
}

/// Returns nothing: names of files are not bytes here.
#[cfg(not(unix))]
fn in_latin_1(_: &Path) -> Option<PathBuf> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn names_are_also_looked_for_in_latin_1() {
        let bytes = |text: &str| -> Vec<Vec<u8>> {
            spellings(text.into()).map(|path| path.as_os_str().as_bytes().to_vec()).collect()
        };
        assert_eq!(bytes("a/b.tx"), [b"a/b.tx".to_vec()]);
        assert_eq!(bytes("a/\u{e9}.tx"), ["a/\u{e9}.tx".as_bytes().to_vec(), b"a/\xe9.tx".to_vec()]);
        let both = ["\u{e9}/\u{e9}".as_bytes(), "\u{e9}/".as_bytes(), b"\xe9/\xe9"];
        assert_eq!(bytes("\u{e9}/\u{e9}"), [both[0].to_vec(), [both[1], b"\xe9"].concat(), both[2].to_vec()]);
        assert_eq!(bytes("\u{4e2d}.tx").len(), 1);
    }
}
