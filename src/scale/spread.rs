//! The median of measured values, with an interval by order statistics, which assumes nothing about how they spread.

use serde::Serialize;

/// The probability that an interval should have of containing the true median.
pub const COVERAGE: f64 = 0.95;

/// The fewest values whose interval reaches [`COVERAGE`].
pub const RUNS_MIN: u32 = 6;

/// The median of some values, an interval for it, and their range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The middle value, or the mean of the two in the middle.
    pub median: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The probability that the interval contains the true median, if values are independent.
    pub coverage: f64,
}

impl Spread {
    /// Returns the spread of some values; all zeros if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let [Some(&min), Some(&max)] = [values.first(), values.last()] else { return Self::default() };
        let middle = values.len() / 2;
        let median =
            if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) };
        let (left_out, coverage) = interval(values.len());
        let [low, high] = [values[left_out], values[values.len() - 1 - left_out]];
        Self { median, min, max, low, high, coverage }
    }

    /// Returns the spread of a single value that is known exactly.
    pub fn exact(value: f64) -> Self {
        Self { coverage: 1.0, ..Self::of([value]) }
    }

    /// Returns the distance from the smallest to the largest value, as a fraction of the median.
    pub fn relative(&self) -> f64 {
        if self.median > 0.0 { (self.max - self.min) / self.median } else { 0.0 }
    }

    /// Returns all of it with each value passed through a function that keeps order.
    pub fn map(&self, of: impl Fn(f64) -> f64) -> Self {
        let Self { median, min, max, low, high, coverage } = *self;
        Self { median: of(median), min: of(min), max: of(max), low: of(low), high: of(high), coverage }
    }
}

/// Returns how many of `count` sorted values to leave out at each end so that the rest still reaches [`COVERAGE`], and
/// the probability that the rest contains the true median. Few values do not reach it with none left out.
///
/// The number of values below the true median has a binomial distribution: the interval misses the median if it is at
/// most the number that is left out, or as many above.
fn interval(count: usize) -> (usize, f64) {
    let all = count as f64;
    let mut term = 0.5_f64.powi(count as i32);
    let mut missed = term;
    let mut best = (0, 1.0 - 2.0 * missed);
    for left_out in 1..count.div_ceil(2) {
        term *= (all - left_out as f64 + 1.0) / left_out as f64;
        missed += term;
        if 1.0 - 2.0 * missed < COVERAGE {
            break;
        }
        best = (left_out, 1.0 - 2.0 * missed);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_have_the_median_and_the_range() {
        let range = |values: &[f64]| {
            let Spread { median, min, max, .. } = Spread::of(values.iter().copied());
            [median, min, max]
        };
        assert_eq!(range(&[3.0, 1.0, 2.0]), [2.0, 1.0, 3.0]);
        assert_eq!(range(&[4.0, 1.0]), [2.5, 1.0, 4.0]);
        assert_eq!(Spread::of([]), Spread::default());
        assert_eq!(Spread::of([4.0, 5.0, 6.0]).relative(), 0.4);
    }

    /// Tables of order statistics: 5 values cover 93.75%, 6 cover 96.88%; of 9 the second to the eighth cover 96.09%,
    /// of 20 the sixth to the fifteenth 95.86%, of 100 the 40th to the 61st 96.48%.
    #[test]
    fn intervals_cover_what_tables_say() {
        let rounded = |count| {
            let (left_out, coverage) = interval(count);
            (left_out + 1, (coverage * 1e4).round() / 1e4)
        };
        let table = [(1, 1, 0.0), (2, 1, 0.5), (5, 1, 0.9375), (6, 1, 0.9688), (8, 1, 0.9922), (9, 2, 0.9609)];
        for (count, first, coverage) in table.into_iter().chain([(20, 6, 0.9586), (100, 40, 0.9648)]) {
            assert_eq!(rounded(count), (first, coverage), "{count} values");
        }
        assert!((COVERAGE..0.96).contains(&interval(1000).1), "{:?}", interval(1000));
        let nine = Spread::of((1..=9).map(f64::from));
        assert_eq!((nine.low, nine.median, nine.high), (2.0, 5.0, 8.0));
        assert!(interval(RUNS_MIN as usize).1 >= COVERAGE && interval(RUNS_MIN as usize - 1).1 < COVERAGE);
    }
}
