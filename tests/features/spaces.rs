//! Coordinate systems by name, as shaders see them.

use super::{assert_near, draw_with};

#[test]
fn surfaces_know_raster_and_ndc_space_in_perspective() {
    let place = "surface place() { point n = transform(\"NDC\", P), r = transform(\"raster\", P);
        Ci = color(xcomp(n), ycomp(n), distance(transform(\"raster\", \"current\", r), P)); Oi = 1; }";
    let scene = draw_with(
        &[("place.sl", place)],
        "Format 50 50 1\nPixelSamples 4 4\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
         Projection \"perspective\" \"fov\" 50\nWorldBegin\nSurface \"place\"\nTranslate 0 0 3\n\
         Polygon \"P\" [-9 -9 0 -9 9 0 9 9 0 9 -9 0]\nWorldEnd\n",
    );
    let picture = scene.clean("a.exr");
    for [x, y] in [[5, 5], [25, 10], [40, 45]] {
        let wanted = [x, y].map(|at| (at as f32 + 0.5) / 50.0);
        let [u, v, error] = picture.rgb(x, y);
        // A pixel's micropolygons spread by less than one pixel.
        assert!((u - wanted[0]).abs() < 0.01 && (v - wanted[1]).abs() < 0.01, "{u} {v} at {x} {y}");
        assert_near([error, 0.0, 0.0], [0.0; 3]);
    }
}
