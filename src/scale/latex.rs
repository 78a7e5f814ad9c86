//! A study for a paper written in LaTeX: a table (booktabs) and a plot of speed-up (PGFPlots), both to be included.

use super::study::{MeasuredSpan, Series, Study, coverage_of};
use super::study_set::StudySet;
use super::tables::seconds;

/// Returns the first line of all files, by which they are recognised.
fn begin(packages: &str) -> String {
    format!("% anthill scale: needs {packages}\n")
}

/// Returns a comment for each doubt, so that none is lost on the way to a paper.
fn doubts(set: &StudySet) -> String {
    set.doubts().iter().map(|doubt| format!("% In doubt: {}\n", doubt.text.replace('\n', " "))).collect()
}

/// Returns the table of all works and devices.
pub(super) fn table(set: &StudySet) -> String {
    let coverage = set.studies.first().map(|study| coverage_of(&study.one().render())).unwrap_or_default();
    let mut text = begin("\\usepackage{booktabs}") + &doubts(set);
    text += &format!(
        "% Medians, with {coverage} intervals by order statistics in brackets.\n\\begin{{tabular}}{{lrrrr}}\n\\toprule\nscene & devices & \
         render, s & speed-up & efficiency \\\\\n\\midrule\n"
    );
    for study in &set.studies {
        for series in &study.series {
            let (time, speed_up) = (series.render(), study.speed_up(series, MeasuredSpan::Render));
            let efficiency = study.efficiency(series, MeasuredSpan::Render).median * 100.0;
            text += &format!(
                "{} & {} & {} [{}, {}] & {:.2} [{:.2}, {:.2}] & {efficiency:.0}\\% \\\\\n",
                escaped(&study.name),
                series.device_count(),
                seconds(time.median),
                seconds(time.low),
                seconds(time.high),
                speed_up.median,
                speed_up.low,
                speed_up.high
            );
        }
    }
    text + "\\bottomrule\n\\end{tabular}\n"
}

/// Returns the plot of speed-up by the number of devices.
pub(super) fn speed_up(set: &StudySet) -> String {
    let mut text = begin("\\usepackage{pgfplots}") + &doubts(set);
    text += "\\begin{tikzpicture}\n\\begin{axis}[xlabel={devices}, ylabel={speed-up}, xmin=0.5, ymin=0, xtick distance=1, legend \
             pos=north west, error bars/y dir=both, error bars/y explicit]\n";
    for study in &set.studies {
        text += "\\addplot+ table [x=devices, y=speedup, y error plus=plus, y error minus=minus] {\ndevices speedup plus minus\n";
        let mut order: Vec<&Series> = study.series.iter().collect();
        order.sort_by_key(|series| series.device_count());
        text.extend(order.into_iter().map(|series| point(study, series)));
        text += &format!("}};\n\\addlegendentry{{{}}}\n", escaped(&study.name));
    }
    let counts = set.studies.iter().flat_map(|study| study.series.iter().map(Series::device_count));
    let most = counts.max().unwrap_or(1);
    text + &format!(
        "\\addplot [dashed, black!50, mark=none] coordinates {{(1,1) ({most},{most})}};\n\\addlegendentry{{ideal}}\n\\end{{axis}}\n\\end{{tikzpicture}}\n"
    )
}

fn point(study: &Study, series: &Series) -> String {
    let spread = study.speed_up(series, MeasuredSpan::Render);
    let [plus, minus] = [spread.high - spread.median, spread.median - spread.low];
    format!("{} {:.5} {plus:.5} {minus:.5}\n", series.device_count(), spread.median)
}

/// Returns a text that LaTeX prints as it is.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out += "\\textbackslash{}",
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn names_are_printed_as_they_are() {
        assert_eq!(escaped("a_b, 50%"), "a\\_b, 50\\%");
        assert_eq!(escaped("\\{x}^~"), "\\textbackslash{}\\{x\\}\\textasciicircum{}\\textasciitilde{}");
    }
}
