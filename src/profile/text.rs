//! A profile as text.

use super::Profile;
use super::section::{Section, TableValue};
use std::fmt::Write as _;

/// Returns the profile as text of aligned columns.
pub fn text(profile: &Profile) -> String {
    let mut text = format!("{}\n", profile.summary);
    for section in &profile.sections {
        let _ = write!(text, "\n{}\n", section.title);
        push_table(&mut text, section);
    }
    if !profile.remarks.is_empty() {
        text.push('\n');
    }
    let advice = profile.advice.iter().map(|advice| format!("advice: {advice}"));
    for line in profile.remarks.iter().cloned().chain(advice) {
        let _ = writeln!(text, "{line}");
    }
    text
}

fn push_table(text: &mut String, section: &Section) {
    let shown = &section.rows[..section.shown.min(section.rows.len())];
    let titles: Vec<String> = section.columns.iter().map(|column| column.title.to_owned()).collect();
    let rows: Vec<Vec<String>> = shown.iter().map(|row| row.iter().map(TableValue::text).collect()).collect();
    let lines = || std::iter::once(&titles).chain(&rows);
    let width = |column: usize| lines().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..titles.len()).map(width).collect();
    let is_left = |column: usize| shown.iter().any(|row| row[column].is_text());
    for row in lines() {
        let mut line = String::new();
        for (column, (value, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match is_left(column) {
                true => write!(line, "  {value:<width$}"),
                false => write!(line, "  {value:>width$}"),
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if let more @ 1.. = section.rows.len() - shown.len() {
        let _ = writeln!(text, "  and {more} more (--json and --page have all)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_long_tables_cut() {
        let mut section = Section::new("kernels", "Kernels", "", &[("kernel", "kernel"), ("seconds", "time")]);
        let row = |name: &str, seconds: f64| vec![TableValue::Text(name.into()), TableValue::Seconds(seconds)];
        section.rows = vec![row("shade glaze", 0.1234), row("dice", 0.001), row("hide", 0.0001)];
        section.shown = 2;
        let profile = Profile {
            scene: "a.rib".into(),
            summary: "a.exr: 1.50 s".into(),
            remarks: vec!["device 0: timed".into()],
            advice: vec!["draw less".into()],
            sections: vec![section],
        };
        let expected = "a.exr: 1.50 s\n\nKernels\n  kernel          time\n  shade glaze   123 ms\n  dice         1.00 ms\n  \
                        and 1 more (--json and --page have all)\n\ndevice 0: timed\nadvice: draw less\n";
        assert_eq!(text(&profile), expected);
    }
}
