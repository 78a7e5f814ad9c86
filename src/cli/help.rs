//! Help, version and usage errors, fitted to the terminal.

use crate::cli::console::Console;
use anthill::outcome::exit_code::WRONG_USAGE;

/// Prints help and version, which are results, to standard output, and usage errors, with a tip about them, to standard
/// error.
pub(crate) fn print_answer(answer: &clap::Error, tip: Option<&str>, console: &mut Console) -> u8 {
    let text = fitted(&answer.render().to_string(), terminal_width());
    if answer.use_stderr() {
        console.err.block(&format!("{}{}", text.trim_end(), tip.unwrap_or_default()));
    } else {
        console.print(&text);
    }
    u8::try_from(answer.exit_code()).unwrap_or(WRONG_USAGE)
}

/// Returns the number of columns of the terminal, as the parser of flags finds it, and `usize::MAX` without a terminal.
fn terminal_width() -> usize {
    let of_terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let of_variable = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    of_terminal.or_else(of_variable).unwrap_or(usize::MAX)
}

/// Breaks the lines that the parser of flags does not break itself, such as those of usage, at blanks.
pub(crate) fn fitted(text: &str, width: usize) -> String {
    let mut result = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let mut column = 0;
        for word in line.split_inclusive(' ') {
            let is_too_far = column > indent && column + word.trim_end().chars().count() > width;
            if is_too_far {
                let kept = result.trim_end_matches(' ').len();
                result.truncate(kept);
                column = (indent + 4).min(width / 4);
                result.push('\n');
                result.extend(std::iter::repeat_n(' ', column));
            }
            result.push_str(word);
            column += word.chars().count();
        }
    }
    result
}
