//! Area lights: where the lights are that they are made of.

use super::*;
use glam::{DVec3, dvec3};

/// The lights' places and normals in the world.
fn lights(shape: &str) -> Vec<(DVec3, DVec3)> {
    let text = format!(
        "WorldBegin\nAreaLightSource \"arealight\" 1\n{shape}\nAreaLightSource \"null\" 2\nSphere 1 -1 1 360\nWorldEnd"
    );
    let outcome = read_text(&text);
    assert!(outcome.messages.is_empty(), "{:?}", outcome.messages);
    let frames = outcome.world().lights.iter().map(|light| *light.shader.world_from_shader.first());
    frames.map(|frame| (frame.w_axis.truncate(), frame.z_axis.truncate())).collect()
}

fn assert_on(shape: &str, is_on: impl Fn(DVec3) -> f64, normal: impl Fn(DVec3) -> DVec3) {
    let lights = lights(shape);
    assert_eq!(lights.len(), 16, "{shape}");
    for (place, facing) in lights {
        assert!(is_on(place).abs() < 1e-5, "{shape}: {place}");
        // Tangents are differences over a part of the surface.
        assert!(facing.dot(normal(place).normalize()) > 0.99, "{shape}: {facing} at {place}");
    }
}

#[test]
fn lights_are_on_the_surfaces_and_face_as_they_do() {
    let flat = |p: DVec3| DVec3::new(p.x, p.y, 0.0);
    assert_on(
        "Translate 1 2 3\nSphere 2 -2 2 360",
        |p| p.distance(dvec3(1.0, 2.0, 3.0)) - 2.0,
        |p| p - dvec3(1.0, 2.0, 3.0),
    );
    assert_on("Cylinder 1 -1 1 360", |p| flat(p).length() - 1.0, flat);
    assert_on("ReverseOrientation\nCylinder 1 -1 1 360", |p| flat(p).length() - 1.0, |p| -flat(p));
    assert_on("Cone 1 1 360", |p| flat(p).length() + p.z - 1.0, |p| flat(p).normalize() + DVec3::Z);
    assert_on("Paraboloid 1 0 1 360", |p| flat(p).length_squared() - p.z, |p| 2.0 * flat(p) - DVec3::Z);
    assert_on("Hyperboloid 1 0 0 2 0 1 360", |p| flat(p).length() - p.z - 1.0, |p| flat(p).normalize() - DVec3::Z);
    let ring = |p: DVec3| p - 2.0 * flat(p).normalize();
    assert_on("Torus 2 0.5 0 360 360", |p| ring(p).length() - 0.5, ring);
    assert_on("Disk 1 1 360", |p| p.z - 1.0, |_| DVec3::Z);
    assert_on("Polygon \"P\" [0 0 1 1 0 1 0 1 1]", |p| p.z - 1.0, |_| DVec3::Z);
    assert_on("Patch \"bilinear\" \"P\" [0 0 1 1 0 1 0 1 1 1 1 1]", |p| p.z - 1.0, |_| DVec3::Z);
    // A quarter of a cylinder, exactly.
    let arc =
        "NuPatch 3 3 [0 0 0 1 1 1] 0 1 2 2 [0 0 1 1] 0 1 \"Pw\" [1 0 0 1 1 1 0 1 0 2 0 2 1 0 1 1 1 1 1 1 0 2 2 2]";
    assert_on(arc, |p| flat(p).length() - 1.0, flat);
}

/// Equal areas have equally many lights, however they are cut into primitives.
#[test]
fn lights_are_spread_evenly() {
    let square =
        |x: f64, size: f64| format!("Polygon \"P\" [{x} 0 0 {x} {size} 0 {} {size} 0 {} 0 0]\n", x + size, x + size);
    let near = |lights: &[(DVec3, DVec3)]| lights.iter().filter(|(place, _)| place.x < 5.0).count();
    assert_eq!(near(&lights(&(square(0.0, 1.0) + &square(9.0, 1.0)))), 8);
    let small: String = (0..64).map(|i| square(f64::from(i) / 64.0, 0.125)).collect();
    assert_eq!(near(&lights(&(small + &square(9.0, 1.0)))), 8);
    let lights = lights("Polygon \"P\" [0 0 0 4 0 0 4 4 0 0 4 0]");
    let mut places: Vec<_> =
        lights.iter().map(|(place, _)| [place.x, place.y].map(|x| (2.0 * x).round() as i32)).collect();
    places.sort_unstable();
    let grid: Vec<_> = (0..4).flat_map(|x| (0..4).map(move |y| [2 * x + 1, 2 * y + 1])).collect();
    assert_eq!(places, grid);
}

#[test]
fn numbers_of_lights_that_cannot_be_are_named() {
    let with = |count: i32| {
        let text = format!(
            "WorldBegin\nAttribute \"light\" \"nsamples\" [{count}]\nAreaLightSource \"arealight\" 1\nDisk 1 1 360\nWorldEnd"
        );
        let outcome = read_text(&text);
        (outcome.world().lights.len(), outcome.codes())
    };
    assert_eq!([with(1), with(256)], [(1, vec![]), (256, vec![])]);
    assert_eq!([with(0), with(1000)], [(1, vec![("range", 3)]), (256, vec![("range", 3)])]);
}
