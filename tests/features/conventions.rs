//! What scenes and shaders of other renderers rely on where the standard leaves it open, or says it in passing.

use super::{ExrChannels, RenderedScene, assert_near, draw, draw_with};

/// What is seen under a parallel camera of 4 by 4 units, 32 by 32 pixels, from 5 units away.
fn parallel(shaders: &[(&str, &str)], options: &str, world: &str) -> RenderedScene {
    draw_with(
        shaders,
        &format!(
            "Format 32 32 1\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
             {options}\nProjection \"orthographic\"\nScreenWindow -2 2 -2 2\nTranslate 0 0 5\nWorldBegin\n{world}\nWorldEnd\n"
        ),
    )
}

const SQUARE: &str = "Patch \"bilinear\" \"P\" [-2 -2 0 2 -2 0 -2 2 0 2 2 0]";

fn reds(picture: &ExrChannels, places: [(usize, usize); 2]) -> [f32; 2] {
    places.map(|(x, y)| picture.at("R", x, y))
}

#[test]
fn the_line_of_sight_of_a_parallel_camera_is_as_long_as_the_depth() {
    let bands: String = [1.0, 5.0, 20.0, 45.0]
        .into_iter()
        .zip([-4, -2, 0, 2])
        .map(|(z, x)| format!("Polygon \"P\" [{x} -1 {z} {0} -1 {z} {0} 1 {z} {x} 1 {z}]\n", x + 2))
        .collect();
    let picture = draw(&format!(
        "Display \"$DIR/fog.exr\" \"exr\" \"rgba\"\nFormat 80 20 1\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\n\
         Projection \"orthographic\"\nScreenWindow -4 4 -1 1\nWorldBegin\n\
         Atmosphere \"fog\" \"distance\" 10 \"background\" [0 0 0]\nSurface \"constant\"\n{bands}WorldEnd\n"
    ))
    .clean("fog.exr");
    for (x, depth) in [(10, 1.0_f32), (30, 5.0), (50, 20.0), (70, 45.0)] {
        assert_near(picture.rgb(x, 10), [(-depth / 10.0).exp(); 3]);
    }
}
