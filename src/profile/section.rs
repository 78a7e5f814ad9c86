//! The parts of a profile as tables of values, of which text, JSON and page are made.

use crate::pipeline::recording::with_commas;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableValue {
    /// A name.
    Text(String),
    /// A number of things.
    Count(u64),
    /// Seconds, which people see in milliseconds.
    Seconds(f64),
    /// Seconds for each of many things, which people see in nanoseconds or microseconds.
    SecondsEach(f64),
    /// A part of a whole, from 0 to 1.
    Share(f64),
    /// A number of bytes.
    Bytes(u64),
    /// No value.
    Nothing,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Its key in the JSON.
    pub key: &'static str,
    /// Its title for people.
    pub title: &'static str,
}

/// A part of a profile: a table, the most important rows first.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its key in the JSON.
    pub key: &'static str,
    /// Its title for people.
    pub title: String,
    /// What the rows mean.
    pub note: String,
    /// The columns.
    pub columns: Vec<TableColumn>,
    /// The rows.
    pub rows: Vec<Vec<TableValue>>,
    /// Rows that text shows; JSON and page have all.
    pub shown: usize,
}

impl Section {
    /// Returns a section without rows.
    pub fn new(key: &'static str, title: &str, note: &str, columns: &[(&'static str, &'static str)]) -> Self {
        let columns = columns.iter().map(|&(key, title)| TableColumn { key, title }).collect();
        Self { key, title: title.into(), note: note.into(), columns, rows: Vec::new(), shown: usize::MAX }
    }

    /// Removes a column whose value is the same in all rows, so that it says nothing.
    pub fn without_constant(self, key: &str) -> Self {
        self.without_if(key, |values| values.windows(2).all(|pair| pair[0] == pair[1]))
    }

    /// Removes a column that has no value in any row.
    pub fn without_empty(self, key: &str) -> Self {
        self.without_if(key, |values| values.iter().all(|value| **value == TableValue::Nothing))
    }

    fn without_if(mut self, key: &str, is_idle: impl FnOnce(&[&TableValue]) -> bool) -> Self {
        let Some(at) = self.columns.iter().position(|column| column.key == key) else { return self };
        if is_idle(&self.rows.iter().map(|row| &row[at]).collect::<Vec<_>>()) {
            self.columns.remove(at);
            self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
        self
    }
}

impl TableValue {
    /// Returns the value for people.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => with_commas(*count),
            Self::Seconds(seconds) => format!("{} ms", three_digits(seconds * 1e3)),
            Self::SecondsEach(seconds) if *seconds >= 1e-5 => format!("{} us", three_digits(seconds * 1e6)),
            Self::SecondsEach(seconds) => format!("{} ns", three_digits(seconds * 1e9)),
            Self::Share(share) => format!("{:.1}%", share * 100.0),
            Self::Bytes(bytes) => crate::stats::human_bytes(*bytes),
            Self::Nothing => String::new(),
        }
    }

    /// Whether it is a name, which is aligned at the left.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

impl Serialize for TableValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Count(count) | Self::Bytes(count) => serializer.serialize_u64(*count),
            Self::Seconds(value) | Self::SecondsEach(value) | Self::Share(value) => serializer.serialize_f64(*value),
            Self::Nothing => serializer.serialize_none(),
        }
    }
}

/// A row as an object.
struct RowObject<'a>(&'a [TableColumn], &'a [TableValue]);

impl Serialize for RowObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().zip(self.1).try_for_each(|(column, cell)| map.serialize_entry(column.key, cell))?;
        map.end()
    }
}

impl Serialize for Section {
    /// A list of rows, each an object with the keys of the columns.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows.iter().map(|row| RowObject(&self.columns, row)))
    }
}

/// Returns a value with at least three digits: 0.123, 4.56, 78.9, 1234.
fn three_digits(value: f64) -> String {
    match value.abs() {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_short_for_people_and_exact_in_json() {
        let cells = [
            (TableValue::Text("shade glaze".into()), "shade glaze", "\"shade glaze\""),
            (TableValue::Count(1_234_567), "1,234,567", "1234567"),
            (TableValue::Seconds(0.012_345), "12.3 ms", "0.012345"),
            (TableValue::Seconds(2.5), "2500 ms", "2.5"),
            (TableValue::SecondsEach(1.5e-9), "1.50 ns", "1.5e-9"),
            (TableValue::SecondsEach(4.5e-5), "45.0 us", "0.000045"),
            (TableValue::Share(0.1234), "12.3%", "0.1234"),
            (TableValue::Bytes(3 << 20), "3.0 MiB", "3145728"),
            (TableValue::Nothing, "", "null"),
        ];
        for (cell, text, json) in cells {
            assert_eq!((cell.text().as_str(), serde_json::to_string(&cell).expect("a value").as_str()), (text, json));
        }
    }

    #[test]
    fn a_column_that_says_nothing_is_left_out() {
        let mut section = Section::new("kernels", "Kernels", "", &[("device", "device"), ("calls", "calls")]);
        section.rows =
            vec![vec![TableValue::Count(0), TableValue::Count(1)], vec![TableValue::Count(0), TableValue::Count(2)]];
        let one = section.clone().without_constant("device");
        assert_eq!(serde_json::to_string(&one).expect("JSON"), r#"[{"calls":1},{"calls":2}]"#);
        section.rows[1][0] = TableValue::Count(1);
        assert_eq!(section.clone().without_constant("device"), section);
    }
}
