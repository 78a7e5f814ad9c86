//! Texts that shaders make: the formats of `printf` and `format`, `match`, and categories of lights. Strings exist on
//! the host alone; a device sees tokens.

use crate::ir::Const;
use std::fmt::Write;

/// Columns that a number may be padded to; a shader's format may ask for any number.
const WIDTH_MAX: usize = 400;

/// A pattern's size as a program, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 18;

/// How one `%` of a format wants its value.
#[derive(Default)]
struct FormatSpec {
    left: bool,
    plus: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
}

/// Returns the text that a format makes of values: `%f %g %e %d` as in C, `%p %c %m` for triples and matrices (their
/// components as by `%f`, with blanks between), `%s`, `%%`. Values that are missing are left out.
pub fn format(format: &str, values: &[Const]) -> String {
    let mut values = values.iter();
    let (mut text, mut rest) = (String::with_capacity(format.len()), format);
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('%') {
            text.push('%');
            rest = behind;
            continue;
        }
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let spec = FormatSpec::parse(&rest[..end]);
        let letter = rest[end..].chars().next().unwrap_or('f');
        rest = rest.get(end + 1..).unwrap_or("");
        if let Some(value) = values.next() {
            text.push_str(&spec.value(letter, value));
        }
    }
    text + rest
}

impl FormatSpec {
    /// Returns the flags, width and precision between `%` and the letter.
    fn parse(text: &str) -> Self {
        let mut spec = Self::default();
        let digits = text.trim_start_matches(['-', '+', '0', ' ', '#']);
        let flags = &text[..text.len() - digits.len()];
        spec.left = flags.contains('-');
        spec.plus = flags.contains('+');
        spec.zeros = flags.contains('0');
        let (width, precision) = match digits.split_once('.') {
            Some((width, precision)) => (width, Some(precision.parse().unwrap_or(0))),
            None => (digits, None),
        };
        spec.width = width.parse::<usize>().unwrap_or(0).min(WIDTH_MAX);
        spec.precision = precision.map(|p: usize| p.min(WIDTH_MAX));
        spec
    }

    fn value(&self, letter: char, value: &Const) -> String {
        let parts = |all: &[f32]| all.iter().map(|x| self.number('f', *x)).collect::<Vec<_>>().join(" ");
        match value {
            Const::F32(x) => self.number(letter, *x),
            Const::Vec3(x) => parts(x),
            Const::Mat4(x) => parts(&x[..]),
            Const::Str(text) => self.pad(text, false),
            Const::Bool(x) => self.number(letter, f32::from(u8::from(*x))),
            Const::U32(x) => self.pad(&x.to_string(), true),
        }
    }

    fn number(&self, letter: char, x: f32) -> String {
        let x = f64::from(x);
        let precision = self.precision.unwrap_or(6);
        let mut text = match letter {
            'd' | 'i' => format!("{}", x as i64),
            'e' => exponential(x, precision),
            'g' => general(x, precision),
            _ => format!("{x:.precision$}"),
        };
        if self.plus && !text.starts_with('-') {
            text.insert(0, '+');
        }
        self.pad(&text, true)
    }

    fn pad(&self, text: &str, is_number: bool) -> String {
        let missing = self.width.saturating_sub(text.chars().count());
        match (self.left, self.zeros && is_number) {
            (true, _) => text.to_owned() + &" ".repeat(missing),
            (false, false) => " ".repeat(missing) + text,
            (false, true) => {
                let digits = text.trim_start_matches(['-', '+']);
                let sign = &text[..text.len() - digits.len()];
                format!("{sign}{}{digits}", "0".repeat(missing))
            }
        }
    }
}

/// Formats a number as C's `%e`, with an exponent of two digits or more.
fn exponential(x: f64, precision: usize) -> String {
    let text = format!("{x:.precision$e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |d| ('-', d));
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// Formats a number as C's `%g`: `precision` digits, with an exponent where that is shorter, without zeros at the end.
fn general(x: f64, precision: usize) -> String {
    let digits = precision.max(1);
    let rounded = exponential(x, digits - 1);
    let exponent: i32 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let shorten = |text: &str| {
        let cut = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
        cut.to_owned()
    };
    if exponent < -4 || exponent >= digits as i32 {
        let mut text = String::new();
        if let Some((mantissa, exponent)) = rounded.split_once('e') {
            // Writing to a string cannot fail.
            let _ = write!(text, "{}e{exponent}", shorten(mantissa));
        }
        return text;
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    shorten(&format!("{x:.decimals$}"))
}

/// Returns whether the regular expression `pattern` matches a part of `text`, or false for what is no regular
/// expression.
pub fn matches(pattern: &str, text: &str) -> bool {
    let expression = regex_lite::RegexBuilder::new(pattern).size_limit(PATTERN_BYTES_MAX).build();
    expression.is_ok_and(|e| e.is_match(text))
}

/// Returns whether the category pattern of an `illuminance` takes a light of these categories, which are words between
/// commas. A pattern is a list of choices between commas: a light is taken that has all words of one (`"key&rim"`), and
/// none of its words after a minus (`"key&-rim"`). Choices of such words alone take lights away from all others
/// (`"-rim"`, `"key,-rim"`), and from all lights where there is no other choice.
pub fn category_matches(pattern: &str, categories: &str) -> bool {
    let has = |word: &str| categories.split(',').any(|own| own.trim() == word);
    let (mut any_choice, mut taken) = (false, false);
    for choice in pattern.split(',').filter(|choice| !choice.trim().is_empty()) {
        let words = || choice.split('&').map(str::trim).filter(|word| !word.is_empty());
        let refused = words().filter_map(|word| word.strip_prefix('-')).any(|word| has(word.trim()));
        let mut wanted = words().filter(|word| !word.starts_with('-')).peekable();
        if wanted.peek().is_some() {
            any_choice = true;
            taken |= !refused && wanted.all(has);
        } else if refused {
            return false;
        }
    }
    taken || !any_choice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        let f = |x: f32| Const::F32(x);
        for (text, values, expected) in [
            ("%f", vec![f(1.5)], "1.500000"),
            ("%5.2f|%-8.1f|%08.3f|%+d", vec![f(1.239), f(2.0), f(-3.5), f(7.9)], " 1.24|2.0     |-003.500|+7"),
            ("%d%%", vec![f(42.0)], "42%"),
            ("%e %.2e", vec![f(12345.678), f(0.0)], "1.234568e+04 0.00e+00"),
            ("%g %g %g %g", vec![f(0.5), f(100_000.0), f(1e10), f(1e-7)], "0.5 100000 1e+10 1e-07"),
            (
                "%p|%.1c",
                vec![Const::Vec3([1.0, 2.0, 3.0]), Const::Vec3([0.5; 3])],
                "1.000000 2.000000 3.000000|0.5 0.5 0.5",
            ),
            ("[%6s|%-6s]", vec!["ab".into(), "cd".into()], "[    ab|cd    ]"),
            ("%f %f", vec![f(1.0)], "1.000000 "),
            ("%99999999999999999999f", vec![f(1.0)], "1.000000"),
            ("%", vec![f(1.0)], "1.000000"),
            ("no", vec![], "no"),
        ] {
            assert_eq!(format(text, &values), expected, "{text}");
        }
    }

    #[test]
    fn patterns() {
        assert!(matches("a.c", "xxabcxx"));
        assert!(matches("^wood[0-9]+$", "wood12"));
        assert!(!matches("^wood$", "wood12"));
        assert!(!matches("(", "("), "what is no regular expression matches nothing");
        assert!(!matches(&"(a{1,999}){1,999}".repeat(9), "a"), "nor does what is too large");
    }
    #[test]
    fn categories() {
        let lights = ["", "key", "rim", "key, rim", "fill"];
        for (pattern, taken) in [
            ("", [true; 5]),
            ("key", [false, true, false, true, false]),
            ("key,fill", [false, true, false, true, true]),
            ("-key", [true, false, true, false, true]),
            ("-key,-fill", [true, false, true, false, false]),
            ("key,-rim", [false, true, false, false, false]),
            ("key&-rim", [false, true, false, false, false]),
            ("key & rim", [false, false, false, true, false]),
            ("key&-rim, fill", [false, true, false, false, true]),
            ("-key&-rim", [true, false, false, false, true]),
            ("nobody", [false; 5]),
            (" , ", [true; 5]),
        ] {
            assert_eq!(lights.map(|own| category_matches(pattern, own)), taken, "{pattern:?}");
        }
    }
}
