//! Random inputs that are the same in every run.

/// A splitmix64 generator (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A whole number from 0 to below `end`.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u32
    }

    /// A whole number of a half-open range.
    pub(crate) fn int(&mut self, range: std::ops::Range<i32>) -> i32 {
        range.start + self.below(range.end.abs_diff(range.start)).cast_signed()
    }

    /// A number from 0 to below 1.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1_u32 << 24) as f32
    }

    /// A number of a range.
    pub(crate) fn float(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Three numbers of a range.
    pub(crate) fn triple(&mut self, low: f32, high: f32) -> [f32; 3] {
        [0; 3].map(|_| self.float(low, high))
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}
