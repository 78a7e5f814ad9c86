//! The filters of `filterstep`: how much of a filter lies beyond an edge.

use super::arithmetic::Unary;
use super::body::Value;
use super::build::Builder;

/// A filter under which an edge is smoothed, of the width that it has as a pixel filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepFilter {
    /// 1 over one width.
    Box,
    /// A tent over two widths.
    Triangle,
    /// `exp(-2 x^2)` over two widths.
    Gaussian,
    /// The Catmull-Rom spline over four widths.
    CatmullRom,
}

/// Terms of the series of the Gaussian's integral; the next one is less than 2^-24.
const GAUSSIAN_TERMS: usize = 13;

impl StepFilter {
    /// All filters.
    pub const ALL: [Self; 4] = [Self::Box, Self::Triangle, Self::Gaussian, Self::CatmullRom];

    /// Returns its name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Triangle => "triangle",
            Self::Gaussian => "gaussian",
            Self::CatmullRom => "catmull-rom",
        }
    }

    /// Returns half the range in which the filter is not 0, in widths.
    fn reach(self) -> f32 {
        match self {
            Self::Box => 0.5,
            Self::Triangle | Self::Gaussian => 1.0,
            Self::CatmullRom => 2.0,
        }
    }

    /// Returns the filter's integral from 0 to `x`, as polynomials of `x`: up to each bound, the coefficients of `x`,
    /// `x^2`, and so on after a constant.
    fn integral(self) -> Vec<(f32, Vec<f64>)> {
        match self {
            Self::Box => vec![(0.5, vec![0.0, 1.0])],
            Self::Triangle => vec![(1.0, vec![0.0, 1.0, -0.5])],
            Self::Gaussian => {
                let mut coefficients = vec![0.0; 2 * GAUSSIAN_TERMS];
                let mut factor = 1.0;
                for n in 0..GAUSSIAN_TERMS {
                    coefficients[2 * n + 1] = factor / (2 * n + 1) as f64;
                    factor *= -2.0 / (n + 1) as f64;
                }
                let whole: f64 = 2.0 * coefficients.iter().sum::<f64>();
                vec![(1.0, coefficients.into_iter().map(|c| c / whole).collect())]
            }
            Self::CatmullRom => vec![
                (1.0, vec![0.0, 1.0, 0.0, -5.0 / 6.0, 0.375]),
                (2.0, vec![-1.0 / 6.0, 2.0, -2.0, 5.0 / 6.0, -0.125]),
            ],
        }
    }
}

impl Builder {
    /// Returns the part of a filter about `x` that lies beyond `edge`; `half` is half its width. Without a filter a
    /// smoothstep over the width.
    pub fn filtered_step(&mut self, filter: Option<StepFilter>, edge: Value, x: Value, half: Value) -> Value {
        let Some(filter) = filter else {
            let (low, high) = (self.sub(edge, half), self.add(edge, half));
            return self.smoothstep(low, high, x);
        };
        let (two, middle) = (self.f32(2.0), self.f32(0.5));
        let width = self.mul(half, two);
        let beyond = self.sub(x, edge);
        let distance = self.div(beyond, width);
        let reach = filter.reach();
        let (low, high) = (self.f32(-reach), self.f32(reach));
        let distance = self.clamp(distance, low, high);
        let away = self.unary(Unary::Abs, distance);
        let mut pieces = filter.integral().into_iter().rev();
        let (_, last) = pieces.next().expect("every filter has a piece");
        let mut part = self.polynomial(&last, away);
        for (bound, piece) in pieces {
            let (value, bound) = (self.polynomial(&piece, away), self.f32(bound));
            let inside = self.lt(away, bound);
            part = self.select(inside, value, part);
        }
        let zero = self.f32(0.0);
        let (before, after) = (self.sub(middle, part), self.add(middle, part));
        let is_before = self.lt(distance, zero);
        let share = self.select(is_before, before, after);
        // Outside the filter all of it is on one side, whatever the polynomials round to.
        let (one, is_below, is_above) = (self.f32(1.0), self.le(distance, low), self.le(high, distance));
        let share = self.select(is_below, zero, share);
        let share = self.select(is_above, one, share);
        // Where nothing changes the step is sharp.
        let (sharp, is_sharp) = (self.step(edge, x), self.le(width, zero));
        self.select(is_sharp, sharp, share)
    }

    fn polynomial(&mut self, coefficients: &[f64], x: Value) -> Value {
        let mut sum = self.f32(0.0);
        for &coefficient in coefficients.iter().rev() {
            let (product, constant) = (self.mul(sum, x), self.f32(coefficient as f32));
            sum = self.add(product, constant);
        }
        sum
    }
}
