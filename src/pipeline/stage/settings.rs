//! What the stages of all regions of a picture are given.

use super::super::kernels::constants::DEPTH_BUCKETS;
use super::super::variants::KernelVariants;
use super::traits::PictureFeatures;
use crate::scene::{DepthFilter, Filter};
use std::sync::Arc;

/// What the stages of all regions of a picture are given on one device.
#[derive(Clone, Debug)]
pub struct StageSettings {
    /// Which variants of kernels suit the device.
    pub variants: KernelVariants,
    /// What of the picture decides which stages have anything to do.
    pub features: PictureFeatures,
    /// How depth falls into buckets.
    pub depth: DepthBuckets,
    /// How variables are composited.
    pub composition: Composition,
    /// The records of finished pixels.
    pub filtered: Arc<[FilteredRecord]>,
    /// The pixel filter, as wide as the widest of all filters.
    pub widest_filter: Filter,
    /// How depths are filtered, where a display asks for them.
    pub depth_filter: Option<DepthFilter>,
}

/// How the values of variables are composited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Composition {
    /// Variables that hold their opacity already (Ci, Oi), by number.
    pub weighted: [u32; 2],
    /// Variables from this one on show the nearest surface, however opaque.
    pub nearest_from: u32,
}

impl Composition {
    /// All variables are weighted by opacity.
    pub const BY_OPACITY: Self = Self { weighted: [u32::MAX; 2], nearest_from: u32::MAX };
}

/// A record of finished pixels: a record of the samples and the filter that it goes through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilteredRecord {
    /// 0 is colour and alpha; 1 is the first variable.
    pub output: u64,
    /// The filter.
    pub filter: Filter,
}

impl FilteredRecord {
    /// Colour and all variables through one filter.
    pub fn all(variables: u64, filter: Filter) -> Vec<Self> {
        (0..=variables).map(|output| Self { output, filter }).collect()
    }
}

/// How depth falls into buckets: float bits, less `base`, shifted right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthBuckets {
    /// Bits of the nearest depth.
    pub base: u32,
    /// Bits to drop.
    pub shift: u32,
}

impl DepthBuckets {
    /// Buckets for depths between `nearest` and `farthest`, equal steps of the logarithm (nearly).
    pub fn new(nearest: f32, farthest: f32) -> Self {
        let base = nearest.max(f32::MIN_POSITIVE).to_bits();
        let span = farthest.max(nearest).max(f32::MIN_POSITIVE).to_bits().saturating_sub(base);
        let mut shift = 0;
        while span >> shift >= DEPTH_BUCKETS {
            shift += 1;
        }
        Self { base, shift }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_buckets_span_the_scene() {
        let bucket = |d: DepthBuckets, z: f32| (z.to_bits() - d.base) >> d.shift;
        let depth = DepthBuckets::new(0.1, 1000.0);
        assert_eq!(bucket(depth, 0.1), 0);
        assert!((DEPTH_BUCKETS / 2..DEPTH_BUCKETS).contains(&bucket(depth, 1000.0)));
        let flat = DepthBuckets::new(5.0, 5.0);
        assert_eq!(bucket(flat, 5.0), 0);
    }
}
