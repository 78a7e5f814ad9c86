//! docs/ri-support.md is true: every row of the RI is drawn, and what works there works.

mod rows;
mod run;

use rows::Row;
use run::Outcome;
use std::fmt::Write as _;
use std::path::Path;

const SECTIONS: [(&str, &str); 9] = [
    ("The stream", include_str!("rows/1_stream.txt")),
    ("State", include_str!("rows/2_state.txt")),
    ("Options", include_str!("rows/3_options.txt")),
    ("Attributes", include_str!("rows/4_attributes.txt")),
    ("Spaces and transformations", include_str!("rows/5_spaces.txt")),
    ("Primitives", include_str!("rows/6_primitives.txt")),
    ("External resources", include_str!("rows/7_resources.txt")),
    ("Errors", include_str!("rows/8_errors.txt")),
    ("Ill-formed input", include_str!("rows/11_ill_formed.txt")),
];

/// How many rows work at least.
const WORKING_MIN: usize = 206;

/// The document.
const PATH: &str = "docs/ri-support.md";

fn document(sections: &[Vec<Row>], outcomes: &[Outcome]) -> String {
    let works = outcomes.iter().filter(|outcome| **outcome == Outcome::Works).count();
    let mut text = format!(
        "# What works of the RenderMan Interface\n\nThe test `support::` writes this page. It draws a scene for each row; a row \
         works if its pictures have the values, or\nequal the equivalent scene, that `tests/support/rows` gives.\n\
         `ANTHILL_RENEW_SUPPORT=1 cargo test support::` writes it again.\n\n{works} of {} rows work.\n",
        outcomes.len()
    );
    let mut outcomes = outcomes.iter();
    for ((title, _), rows) in SECTIONS.iter().zip(sections) {
        let _ = write!(text, "\n## {title}\n\n| row | what | |\n|---|---|---|\n");
        for (row, outcome) in rows.iter().zip(&mut outcomes) {
            let outcome = match outcome {
                Outcome::Works => "works".to_owned(),
                Outcome::FallsBack(message) => format!("falls back: {}", message.replace('|', "\\|")),
                Outcome::Api => "in C only".to_owned(),
            };
            let _ = writeln!(text, "| {} | {} | {outcome} |", row.id, row.name.replace('|', "\\|"));
        }
    }
    text
}

/// What a document says of a row.
fn claimed<'d>(document: &'d str, row: &Row) -> Option<&'d str> {
    let begin = format!("| {} | {} | ", row.id, row.name);
    document.lines().find_map(|line| line.strip_prefix(&begin)?.strip_suffix(" |"))
}

#[test]
fn rows_work_as_the_document_says() {
    let sections: Vec<Vec<Row>> = SECTIONS.iter().map(|(_, text)| rows::parse(text)).collect();
    let rows: Vec<Row> = sections.iter().flatten().cloned().collect();
    let outcomes = run::run(&rows);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PATH);
    if std::env::var_os("ANTHILL_RENEW_SUPPORT").is_some() {
        std::fs::write(&path, document(&sections, &outcomes)).expect("the document is written");
    }
    let document = std::fs::read_to_string(&path).expect("the document");
    let mut wrong = Vec::new();
    for (row, outcome) in rows.iter().zip(&outcomes) {
        match (claimed(&document, row), outcome) {
            (None, _) => wrong.push(format!("{} is not in {PATH}", row.id)),
            (Some("works"), Outcome::FallsBack(why)) => wrong.push(format!("{} does not work: {why}", row.id)),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let works = outcomes.iter().filter(|outcome| **outcome == Outcome::Works).count();
    assert!(works >= WORKING_MIN, "only {works} of {} rows work", outcomes.len());
}
