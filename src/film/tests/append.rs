//! `append` of depth files.

use super::*;
use ::exr::prelude::{ReadChannels, ReadLayers, read};

/// A world of depths that are appended, seen by a camera at x.
fn appended(path: &str, size: [u32; 2], x: f64) -> World {
    let mut shown = display(path, "shadow", Z);
    shown.params.insert("append".into(), ParamValue::Floats(vec![1.0]));
    let mut world = world(size, vec![shown]);
    world.camera.camera_from_world = Motion::still(DMat4::from_translation(glam::DVec3::new(x, 0.0, 0.0)));
    world
}

/// Draws a world whose pixels are all `depth` deep, and returns what became of it with what was said.
fn draw(world: &World, depth: f32, claims: &Arc<FileClaims>) -> (DisplayState, Vec<String>) {
    let reporter = Reporter::silent();
    let film = Film::new(world, u64::MAX, claims, &reporter).expect("a small film fits");
    film.deposit(film.crop(), &vec![depth; film.crop().pixel_count() as usize]);
    let outcomes = film.finish(None, &reporter);
    (outcomes[0].state, reporter.all().iter().map(|(diagnostic, _)| diagnostic.message.clone()).collect())
}

/// Returns the depth of each map of a file, and where its camera was.
fn maps(path: &str) -> Vec<(f32, f32)> {
    let image = read().no_deep_data().largest_resolution_level().all_channels().all_layers().all_attributes();
    let layers = image.from_file(path).expect("a valid OpenEXR file").layer_data;
    let map = |layer: &Layer| {
        let FlatSamples::F32(depths) = &layer.channel_data.list[0].sample_data else { panic!("not float") };
        assert!(depths.iter().all(|depth| *depth == depths[0]));
        (depths[0], layer.attributes.world_to_camera.expect("there is a camera")[12])
    };
    layers.iter().map(map).collect()
}

#[test]
fn depths_are_appended_and_drawn_again_in_their_places() {
    let directory = directory();
    let path = path_in(&directory, "s.z");
    let run = |depth: f32| {
        let claims = Arc::default();
        // The last two cameras are one: other objects may be in the second map.
        for (x, more) in [(0.0, 0.0), (1.0, 0.1), (2.0, 0.2), (2.0, 0.3)] {
            let (state, said) = draw(&appended(&path, [5, 40], x), depth + more, &claims);
            assert_eq!((state, said), (DisplayState::Whole, vec![]));
        }
        fs::read(&path).expect("it was written")
    };
    let first = run(1.0);
    assert_eq!(maps(&path), [(1.0, 0.0), (1.1, 1.0), (1.2, 2.0), (1.3, 2.0)]);
    assert!(run(1.0) == first, "the same scene leaves the same file");
    run(2.0);
    assert_eq!(maps(&path), [(2.0, 0.0), (2.1, 1.0), (2.2, 2.0), (2.3, 2.0)]);
    // A run of its own adds a map of its own.
    draw(&appended(&path, [5, 40], 9.0), 3.0, &Arc::default());
    assert_eq!(maps(&path).last(), Some(&(3.0, 9.0)));
    assert_eq!(maps(&path).len(), 5);
    // Without `append` the file begins again.
    let claims = Arc::default();
    let mut alone = appended(&path, [5, 40], 0.0);
    alone.options.displays[0].params.insert("append".into(), ParamValue::Ints(vec![0]));
    draw(&alone, 4.0, &claims);
    assert_eq!(maps(&path), [(4.0, 0.0)]);
    draw(&appended(&path, [5, 40], 0.0), 5.0, &claims);
    assert_eq!(maps(&path), [(4.0, 0.0), (5.0, 0.0)]);
    assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1, "nothing is left behind");
}

#[test]
fn what_cannot_be_appended_to_stays_as_it_is() {
    let directory = directory();
    let path = path_in(&directory, "s.z");
    let refused = |world: &World, reason: &str| {
        let before = fs::read(&path).expect("it is there");
        let (state, said) = draw(world, 1.0, &Arc::default());
        assert_eq!(state, DisplayState::Missing);
        assert!(said.iter().any(|message| message.contains(reason)), "{said:?}");
        assert!(fs::read(&path).expect("it is there") == before, "{reason}");
    };
    draw(&appended(&path, [5, 40], 0.0), 1.0, &Arc::default());
    refused(&appended(&path, [6, 40], 1.0), "its maps are 5 x 40 pixels large, and this one is 6 x 40");
    let mut whole = fs::read(&path).expect("it was written");
    whole.truncate(whole.len() - 9);
    fs::write(&path, &whole).expect("writable");
    refused(&appended(&path, [5, 40], 1.0), "the maps in it cannot be read");
    // The only map in it is drawn again.
    draw(&appended(&path, [5, 40], 0.0), 2.0, &Arc::default());
    assert_eq!(maps(&path), [(2.0, 0.0)]);
    fs::write(&path, "no picture").expect("writable");
    refused(&appended(&path, [5, 40], 0.0), "is no depth file to append to");
    make(&world([5, 40], vec![display(&path, "exr", RGBA)]));
    refused(&appended(&path, [5, 40], 1.0), "is no depth file to append to (it is another picture)");
    fs::write(&path, "").expect("writable");
    draw(&appended(&path, [5, 40], 0.0), 2.0, &Arc::default());
    assert_eq!(maps(&path), [(2.0, 0.0)]);
}

#[test]
fn an_unfinished_map_is_written_beside_the_others() {
    let directory = directory();
    let path = path_in(&directory, "s.z");
    draw(&appended(&path, [4, 2], 0.0), 1.0, &Arc::default());
    let reporter = Reporter::silent();
    let film = film(&appended(&path, [4, 2], 1.0), &reporter);
    film.deposit(region([0, 0, 2, 2]), &[7.0; 4]);
    assert_eq!(states(&film.finish(None, &reporter)), [DisplayState::Partial { missing: 4 }]);
    assert_eq!(maps(&path), [(1.0, 0.0)]);
    assert!(Path::new(&format!("{path}.partial")).exists());
    draw(&appended(&path, [4, 2], 1.0), 2.0, &Arc::default());
    assert_eq!(maps(&path), [(1.0, 0.0), (2.0, 1.0)]);
    assert!(!Path::new(&format!("{path}.partial")).exists(), "it is whole now");
}
