//! The pipelines that a user can name and measure against each other. They differ in the order of stages, in how work
//! is cut, or in kernels; none of them changes a pixel.

use super::Pipeline;
use crate::pipeline::hidden::Division;

/// A pipeline that can be asked for by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedPipeline {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What sets it apart, in a few words.
    pub about: &'static str,
    /// The pipeline of colours.
    pub colours: Pipeline,
}

/// Pixels along x and y of the buckets of [`CATALOGUE`].
const BUCKET_PX: u32 = 64;

/// All pipelines that have names; the first one is for CPU drivers where nothing else was asked for, the second one for
/// GPUs.
pub const CATALOGUE: [NamedPipeline; 12] = {
    const fn named(name: &'static str, about: &'static str, colours: Pipeline) -> NamedPipeline {
        NamedPipeline { name, about, colours }
    }
    let (batches, one) = (Pipeline::ANTHILL, Pipeline::UNBINNED);
    [
        named("batches", "hides in depth batches, nearest first, and shades what is seen", batches),
        named("batches-expanded", "as batches, samples shared out evenly", batches.with_division(Division::Expanded)),
        named("batches-binned", "as batches, hidden bin by bin", batches.with_division(Division::Binned)),
        named(
            "batches-binned-fused",
            "as batches-binned, and the kernel that hides finds what hides what comes later",
            batches.with_division(Division::BinnedFused),
        ),
        named("batches-fused", "as batches, diced and hidden at once", batches.with_division(Division::Fused)),
        named("one-batch", "hides everything at once, hidden or not, and shades what is seen", one),
        named("one-batch-expanded", "as one-batch, samples shared out evenly", one.with_division(Division::Expanded)),
        named("one-batch-binned", "as one-batch, hidden bin by bin", one.with_division(Division::Binned)),
        named("one-batch-fused", "as one-batch, diced and hidden at once", one.with_division(Division::Fused)),
        named("shade-first", "hides everything at once and shades everything, seen or not", Pipeline::SHADE_FIRST),
        named("buckets", "as batches, in buckets of 64 x 64 pixels", batches.in_buckets(BUCKET_PX)),
        named(
            "buckets-expanded",
            "as buckets, samples shared out evenly",
            batches.in_buckets(BUCKET_PX).with_division(Division::Expanded),
        ),
    ]
};

impl NamedPipeline {
    /// The one of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        CATALOGUE.iter().find(|pipeline| pipeline.name == name)
    }

    /// The one for pictures whose shaders bake. What is baked is what is shaded, and must not depend on how a device
    /// draws: so only what is seen is shaded.
    pub fn for_baking(&'static self) -> &'static Self {
        let seen_only = |other: &&Self| self.colours == Pipeline::SHADE_FIRST && other.colours == Pipeline::UNBINNED;
        CATALOGUE.iter().find(seen_only).unwrap_or(self)
    }

    /// What a device draws with where nothing else was asked for or measured.
    pub const fn usual(is_cpu: bool) -> &'static Self {
        if is_cpu { &CATALOGUE[0] } else { &CATALOGUE[1] }
    }

    /// The pipeline of what needs no colours, [`Pipeline::DEPTHS`], with this one's division of samples.
    pub const fn depths(&self) -> Pipeline {
        Pipeline::DEPTHS.with_division(self.colours.division())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_pipelines_are_all_different() {
        for (at, one) in CATALOGUE.iter().enumerate() {
            assert_eq!(NamedPipeline::find(one.name), Some(one));
            assert!(CATALOGUE[..at].iter().all(|other| other.colours != one.colours), "{}", one.name);
        }
        assert_eq!(NamedPipeline::usual(true).colours, Pipeline::ANTHILL);
        assert_eq!(NamedPipeline::usual(false).colours.division(), Division::Expanded);
    }
}
