//! A profile as one self-contained page for light and dark screens.

use super::Profile;
use super::section::{Section, TableValue};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Returns the page.
pub fn page(profile: &Profile) -> String {
    let title = format!("Profile: {}", profile.scene);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body {
                main {
                    h1 { (title) }
                    p.finding { (profile.summary) }
                    @for advice in &profile.advice { p.advice { (advice) } }
                    nav { @for section in &profile.sections { a href=(format!("#{}", section.key)) { (section.title) } } }
                    @for section in &profile.sections { (table(section)) }
                    h2 { "How it was measured" }
                    @for remark in &profile.remarks { p.note { (remark) "." } }
                }
            }
        }
    };
    markup.into_string()
}

fn table(section: &Section) -> Markup {
    html! {
        h2 id=(section.key) { (section.title) }
        p.note { (section.note) }
        div.scroll {
            table {
                thead { tr { @for (at, column) in section.columns.iter().enumerate() {
                    th.text[is_text(section, at)] scope="col" { (column.title) }
                } } }
                tbody { @for row in &section.rows { tr { @for cell in row { (value(cell)) } } } }
            }
        }
    }
}

/// Whether a column has names, which are aligned at the left.
fn is_text(section: &Section, column: usize) -> bool {
    section.rows.iter().any(|row| row[column].is_text())
}

/// Returns a value. A share has a bar behind it.
fn value(cell: &TableValue) -> Markup {
    match cell {
        TableValue::Share(share) => {
            let percent = format!("--part: {:.2}%", share.clamp(0.0, 1.0) * 100.0);
            html! { td.share style=(percent) { (cell.text()) } }
        }
        TableValue::Text(text) => html! { td.text { (text) } },
        other => html! { td { (other.text()) } },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_stands_alone_and_shows_names_as_they_are() {
        let mut section =
            Section::new("pipelines", "Shading pipelines", "", &[("pipeline", "pipeline"), ("share", "part")]);
        section.rows = vec![vec![TableValue::Text("shade <b>&".into()), TableValue::Share(0.25)]];
        let profile = Profile {
            scene: "a.rib".into(),
            summary: String::new(),
            remarks: Vec::new(),
            advice: Vec::new(),
            sections: vec![section],
        };
        let page = page(&profile);
        assert!(page.contains("shade &lt;b&gt;&amp;") && page.contains("--part: 25.00%"), "{page}");
        assert!(!page.contains("http") && !page.contains("<script") && !page.contains("src="), "{page}");
        assert!(page.contains("prefers-color-scheme: dark"));
    }
}
