//! Tables for people and for programs.

use std::fmt::Display;
use std::path::PathBuf;

/// Prints tables as Markdown, and stores each as a file of comma-separated values.
pub(crate) struct Report {
    /// Where files go, if they are wanted.
    pub(crate) folder: Option<PathBuf>,
}

impl Report {
    /// Begins a section.
    pub(crate) fn section(&self, title: &str, text: &str) {
        println!("\n## {title}\n\n{text}\n");
    }

    /// Writes a table; `name` is that of its file.
    pub(crate) fn table(&self, name: &str, columns: &[&str], rows: &[Vec<String>]) {
        println!("| {} |", columns.join(" | "));
        println!("|{}", "---|".repeat(columns.len()));
        rows.iter().for_each(|row| println!("| {} |", row.join(" | ")));
        println!();
        let quoted = |cell: &String| format!("\"{cell}\"");
        let lines = [columns.iter().map(ToString::to_string).collect()].into_iter().chain(rows.iter().cloned());
        let text: String =
            lines.map(|row: Vec<String>| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n").collect();
        self.file(&format!("{}.csv", name.to_lowercase().replace(' ', "_")), &text);
    }

    /// Stores a file.
    pub(crate) fn file(&self, name: &str, text: &str) {
        let Some(folder) = &self.folder else { return };
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(folder.join(name), text));
        if let Err(error) = written {
            eprintln!("cannot write {} in {}: {error}", name, folder.display());
        }
    }
}

/// Returns a row of a table.
pub(crate) fn row(cells: &[&dyn Display]) -> Vec<String> {
    cells.iter().map(ToString::to_string).collect()
}
