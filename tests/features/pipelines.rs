//! Pipelines whose kernels are fused, micropolygons that are too large for them, and the scene that pipelines are
//! measured with.

use super::{RenderedScene, draw_as};
use anthill::pipeline::plan::{CATALOGUE, Division, NamedPipeline};
use std::collections::BTreeSet;

/// Micropolygons of 10 pixels and 16 samples each, of more than 16 tiles of samples, before one that is wider than 16
/// pixels.
const LARGE: &str = "Format 48 40 1\nPixelSamples 4 4\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
     Projection \"perspective\" \"fov\" [50]\nWorldBegin\nLightSource \"distantlight\" 1\nSurface \"matte\"\n\
     ShadingRate 100\nColor [1 0.5 0.2]\nTranslate 0 0 4\nSphere 1 -1 1 360\nShadingRate 10000\nColor [0.2 0.5 1]\n\
     Polygon \"P\" [-2 -2 1 2 -2 1.2 2 2 1 -2 2 0.5]\nWorldEnd\n";

fn drawn_by(pipeline: &'static NamedPipeline) -> RenderedScene {
    draw_as(&[], LARGE, &|options| options.pipelines.named = Some(pipeline))
}

/// The scene that `anthill explore` draws if it is given none covers its picture, and says nothing. Most of it is
/// hidden, and it has room for differences between pipelines.
#[test]
fn the_scene_for_calibration_fills_its_picture_with_many_micropolygons() {
    let text = include_str!("../../src/cli/calibration.rib").replace("calibration.exr", "$DIR/a.exr");
    let drawn = draw_as(&[], &text, &|options| options.overrides.format = Some([64, 64]));
    let picture = drawn.clean("a.exr");
    assert!(picture.channel("A").iter().all(|&alpha| alpha > 0.99));
    let colours: BTreeSet<u32> = picture.channel("G").iter().map(|green| (green * 256.0) as u32).collect();
    assert!(colours.len() > 50, "{colours:?}");
    assert!(drawn.micropolygons > 3 * 64 * 64, "{}", drawn.micropolygons);
}

#[test]
fn large_micropolygons_are_hidden_by_fused_kernels() {
    let pixels = |pipeline| ["R", "G", "B", "A"].map(|name| drawn_by(pipeline).clean("a.exr").channel(name).to_vec());
    let usual = pixels(&CATALOGUE[0]);
    assert!(usual[3].iter().filter(|alpha| **alpha == 1.0).count() > 1000, "the polygon fills half of the picture");
    let is_fused = |one: &&NamedPipeline| [Division::Fused, Division::BinnedFused].contains(&one.colours.division());
    for pipeline in CATALOGUE.iter().filter(is_fused) {
        assert!(pixels(pipeline) == usual, "{}", pipeline.name);
    }
}
