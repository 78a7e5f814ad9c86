//! Edits (docs/edits.md): the picture of a scene with a fragment has the bits of the scene with the edits in it.

use super::{RenderedScene, draw, draw_as};
use std::fs;

const SCENE: &str = "Format 24 16 1\nPixelSamples 2 2\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nProjection \"perspective\" \"fov\" 50\n\
    Translate 0 0 5\nWorldBegin\nLightSource \"distantlight\" \"sun\" \"intensity\" 0.5\nLightSource \"ambientlight\" \"sky\" \"intensity\" 0.2\n\
    AttributeBegin\nAttribute \"identifier\" \"string name\" [\"/ball\"]\nColor [1 0.5 0]\nSurface \"plastic\" \"Kd\" 0.5\nTranslate 1 0 0\n\
    Sphere 1 -1 1 360\nAttributeEnd\nAttributeBegin\nAttribute \"identifier\" \"string name\" [\"/ring\"]\nSurface \"matte\"\n\
    Torus 1.5 0.5 0 360 360\nAttributeEnd\nWorldEnd\n";

/// Draws the scene with a fragment of edits.
fn edited(text: &str) -> RenderedScene {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("e.rib");
    fs::write(&path, text).expect("it is written");
    draw_as(&[], SCENE, &|options| options.edits = vec![path.clone()])
}

#[test]
fn a_picture_with_edits_is_that_of_the_scene_with_them_in_it() {
    let ball = "EditBegin \"attribute\" \"string scopename\" [\"^/ball$\"]";
    let ring = "EditBegin \"instance\" \"string scopename\" [\"^/ring$\"]";
    let sun = "EditBegin \"attribute\" \"string editlights\" [\"sun\"]";
    let torus = "Torus 1.5 0.5 0 360 360";
    let cases: &[(&str, &str, &str)] = &[
        (
            "EditBegin \"option\" Rotate 25 0 1 0 PixelSamples 3 1",
            "WorldBegin",
            "Rotate 25 0 1 0 PixelSamples 3 1 WorldBegin",
        ),
        ("EditBegin \"option\" Exposure 2 1 Format 20 20 1", "WorldBegin", "Exposure 2 1 Format 20 20 1 WorldBegin"),
        (ball, "Color [1 0.5 0]", "Color [0 0.5 1] Sides 1"),
        (ball, "Surface \"plastic\" \"Kd\" 0.5", "Surface \"plastic\" \"Kd\" 1"),
        (ball, "Sphere", "Illuminate \"sun\" 0 Opacity 0.5 0.5 0.5 ShadingRate 8 Sphere"),
        (ring, torus, "Rotate 60 1 0 0 Torus 1.5 0.5 0 360 360"),
        (ring, torus, "Cylinder 1.5 -0.5 0.5 360"),
        (ring, torus, ""),
        (sun, "\"intensity\" 0.5", "\"intensity\" 1.5"),
        (
            sun,
            "LightSource \"distantlight\" \"sun\" \"intensity\" 0.5",
            "LightSource \"pointlight\" \"sun\" \"from\" [-3 3 -3] \"intensity\" 20",
        ),
    ];
    let requests = [
        "",
        "",
        "Color [0 0.5 1] Sides 1",
        "Surface \"*\" \"Kd\" 1",
        "Illuminate \"sun\" 0 Opacity 0.5 0.5 0.5 ShadingRate 8",
        "Rotate 60 1 0 0",
        "Cylinder 1.5 -0.5 0.5 360",
        "Attribute \"visibility\" \"int camera\" [0]",
        "LightSource \"*\" \"sun\" \"intensity\" 1.5",
        "LightSource \"pointlight\" \"sun\" \"from\" [-3 3 -3] \"intensity\" 20",
    ];
    let plain = draw(SCENE).clean("a.exr");
    for ((begin, from, to), requests) in cases.iter().zip(requests) {
        let fragment = format!("{begin}\n{requests}\nEditEnd\n");
        let edited = edited(&fragment).clean("a.exr");
        assert!(SCENE.contains(from), "{from}");
        let written = draw(&SCENE.replacen(from, to, 1)).clean("a.exr");
        for channel in ["R", "G", "B", "A"] {
            assert_eq!(edited.channel(channel), written.channel(channel), "{fragment}{channel}");
        }
        let is_new = ["R", "G", "B", "A"].iter().any(|name| edited.channel(name) != plain.channel(name));
        assert!(is_new, "{fragment}");
    }
}

#[test]
fn a_wrong_edit_is_reported_and_the_rest_is_drawn() {
    let scene = edited(
        "EditBegin \"attribute\" \"string scopename\" [\"/bal$\"]\nColor 0 0 1\nEditEnd\nEditBegin \"option\"\nExposure 2 1\nEditEnd\n",
    );
    assert_eq!(scene.messages.len(), 1, "{:?}", scene.messages);
    assert!(
        scene.message_count("e.rib:1:1: error") == 1 && scene.message_count("\"/ball\"") == 1,
        "{:?}",
        scene.messages
    );
    let brighter = draw(&SCENE.replacen("WorldBegin", "Exposure 2 1 WorldBegin", 1)).clean("a.exr");
    assert_eq!(scene.picture("a.exr").channel("R"), brighter.channel("R"));
}
