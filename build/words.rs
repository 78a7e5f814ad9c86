//! The words of kernels as files, which the generated code includes: as text they would be tens of megabytes of Rust.

use crate::lines::{Files, LineBytes};
use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The words written so far. Equal ones are kept once.
pub(crate) struct Words {
    folder: PathBuf,
    statics: HashMap<Vec<u32>, String>,
    code: String,
}

impl Words {
    /// Files go to a folder of their own in `out`; those of an earlier build are removed.
    pub(crate) fn new(out: &Path) -> Result<Self, String> {
        let folder = out.join("words");
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(Self { folder, statics: HashMap::new(), code: String::new() })
    }

    /// Keeps words under a name. Returns the name of the static that holds them, in the module `words`.
    pub(crate) fn add(&mut self, name: &str, words: &[u32]) -> Result<String, String> {
        if let Some(known) = self.statics.get(words) {
            return Ok(known.clone());
        }
        let path = self.folder.join(format!("{name}.spv"));
        if path.exists() {
            return Err(format!("two kernels are called `{name}`"));
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        fs::write(&path, bytes).map_err(|e| format!("{}: {e}", path.display()))?;
        let upper = name.to_uppercase();
        let _ = writeln!(self.code, "pub(super) static {upper}: [u32; {}] =", words.len());
        let file = format!("concat!(env!(\"OUT_DIR\"), \"/\", \"words/{name}.spv\")");
        let _ = writeln!(self.code, "    bytemuck::must_cast(*include_bytes!({file}));");
        self.statics.insert(words.to_vec(), upper.clone());
        Ok(upper)
    }

    /// Keeps the lines of a kernel under its name.
    pub(crate) fn add_lines(&self, name: &str, lines: &LineBytes) -> Result<(), String> {
        let path = self.folder.join(format!("{name}.lines"));
        fs::write(&path, lines).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Writes the module `words`, which is the kernels' own, with the files that their lines are of.
    pub(crate) fn generate(&self, files: &Files, code: &mut String) {
        let _ = writeln!(code, "mod words {{\n{}", self.code);
        code.push_str("pub(super) static SOURCES: &[crate::pipeline::recording::SourceText] = &[\n");
        for name in files.names() {
            let file = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/\", {name:?})");
            let _ = writeln!(
                code,
                "    crate::pipeline::recording::SourceText {{ name: {name:?}, text: include_str!({file}) }},"
            );
        }
        code.push_str("];\n}\n");
    }
}
