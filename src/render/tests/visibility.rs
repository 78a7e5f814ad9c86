//! What samples see is kept: a picture that is drawn again, without hiding, has the same bits.

use super::*;
use crate::pipeline::plan::Process;
use crate::render::resident::visibility_store::VisibilityKey;

const SMALL: [u32; 2] = [64, 48];

fn keep(bytes_max: u64) -> Option<KeepVisibility> {
    Some(KeepVisibility { key: VisibilityKey(1), bytes_max, again: false })
}

/// Returns what is drawn, and what is drawn after `between`, with `meanwhile` before each step of the second.
fn draw_twice(
    things: Vec<Thing>,
    setup: &Setup,
    between: impl FnOnce(&mut DeviceRenderer),
    meanwhile: impl FnMut(&mut DeviceRenderer),
) -> [DrawnPixels; 2] {
    let _alone = ALONE.lock();
    let mut begun = begin(things, SMALL, setup);
    let first = draw_regions(&mut begun, setup, |_| {});
    between(&mut begun.renderer);
    let second = draw_regions(&mut begun, setup, meanwhile);
    end(begun, setup);
    [first, second]
}

/// Whether any kernel runs whose name begins so.
fn runs(drawn: &DrawnPixels, name: &str) -> bool {
    let mut dispatches = drawn.recordings.iter().flat_map(Recording::dispatches);
    dispatches.any(|dispatch| dispatch.kernel.label().starts_with(name))
}

/// Whether any kernel hides opaque surfaces.
fn hides(drawn: &DrawnPixels) -> bool {
    runs(drawn, "hide") || runs(drawn, "dice_hide")
}

/// Returns a setup of each pipeline, and of each of the others' features in some of them.
fn setups() -> Vec<(String, Setup)> {
    let of_pipeline = |(i, one): (u64, &NamedPipeline)| {
        let setup = Setup {
            pipeline: one.colours,
            visibility: keep(u64::MAX),
            cuts: 1 + i as u32 % 3,
            clipped: i % 2 == 0,
            smooth: i % 3 == 0,
            moving: i % 4 == 1,
            displaced: i % 5 == 2,
            depth_filter: if i % 3 == 1 { DepthFilter::Midpoint } else { DepthFilter::Min },
            perturb: (i % 4 == 2).then_some(i),
            parallel: i % 6 == 5,
            memory_bytes: if i % 6 == 4 { 24 << 20 } else { 512 << 20 },
            ..Setup::default()
        };
        (one.name.to_owned(), setup)
    };
    (0..).zip(&CATALOGUE).map(of_pipeline).collect()
}

#[test]
fn what_is_drawn_again_has_the_same_bits_and_hides_nothing() {
    for (name, setup) in setups() {
        let translucent = menagerie();
        let opaque = menagerie().into_iter().filter(|thing| thing.opacity == 1.0).collect();
        for (kind, things) in [("opaque", opaque), ("translucent", translucent)] {
            let name = format!("{name}, {kind}");
            let [first, second] = draw_twice(things, &setup, |_| {}, |_| {});
            same(&second, &first, &name);
            let is_kept = setup.pipeline.has(Process::KeepVisible);
            let regions = first.log.lines().count() as u64;
            assert_eq!(
                (first.recalled_regions, second.recalled_regions),
                (0, if is_kept { regions } else { 0 }),
                "{name}"
            );
            // Blocks are for culling what is translucent.
            assert!(!is_kept || runs(&second, "block") == (kind == "translucent"), "{name}");
            assert_eq!((hides(&first), hides(&second)), (true, !is_kept), "{name}");
        }
    }
}

#[test]
fn keeping_changes_nothing_of_what_is_drawn_first() {
    let keeping = Setup { visibility: keep(u64::MAX), cuts: 2, ..Setup::default() };
    let [first, _] = draw_twice(menagerie(), &keeping, |_| {}, |_| {});
    same(&first, &draw(menagerie(), SMALL, &Setup::default()), "kept");
}

#[test]
fn what_does_not_fit_is_hidden_again() {
    for (kib, some) in [(0, false), (150, true)] {
        let setup = Setup { visibility: keep(kib << 10), cuts: 3, ..Setup::default() };
        let [first, second] = draw_twice(menagerie(), &setup, |_| {}, |_| {});
        same(&second, &first, &format!("{kib} KiB"));
        let recalled = second.recalled_regions;
        assert!(recalled < 9 && (recalled > 0) == some && hides(&second), "{kib} KiB: {recalled} regions");
    }
}

#[test]
fn what_is_kept_can_be_given_up_at_any_time() {
    for (step, perturb) in [0, 3, 17, 60].into_iter().flat_map(|step| [(step, None), (step, Some(step))]) {
        let setup = Setup { visibility: keep(u64::MAX), cuts: 2, perturb, ..Setup::default() };
        let give_up = |renderer: &mut DeviceRenderer| {
            let (store, device) = renderer.visibility();
            store.give_up(device).expect("the device is there");
        };
        let mut steps = 0;
        let [first, second] = draw_twice(
            menagerie(),
            &setup,
            |_| {},
            |renderer| {
                steps += 1;
                if steps == step + 1 {
                    give_up(renderer);
                }
            },
        );
        same(&second, &first, &format!("given up at step {step}, {perturb:?}"));
    }
}

#[test]
fn a_region_that_is_given_up_keeps_nothing() {
    let setup = Setup { visibility: keep(u64::MAX), ..Setup::default() };
    let _alone = ALONE.lock();
    let mut begun = begin(menagerie(), SMALL, &setup);
    let whole = Region::new([0, 0, SMALL[0].cast_signed(), SMALL[1].cast_signed()]).expect("not empty");
    begun.renderer.begin(whole).expect("begun");
    for _ in 0..4 {
        begun.renderer.poll(Duration::from_secs(60)).expect("polled");
    }
    begun.renderer.abandon_regions(Duration::from_secs(60)).expect("given up");
    let [second, third] = [(); 2].map(|()| draw_regions(&mut begun, &setup, |_| {}));
    end(begun, &setup);
    assert_eq!((second.recalled_regions, third.recalled_regions), (0, 1));
    same(&third, &second, "drawn again");
}

/// What is recalled is what is drawn: what another region sees gives other pixels.
#[test]
fn what_another_region_sees_is_not_the_same() {
    let setup = Setup { visibility: keep(u64::MAX), cuts: 2, ..Setup::default() };
    let [first, second] = draw_twice(menagerie(), &setup, |renderer| renderer.visibility().0.mix_up(), |_| {});
    assert_eq!(second.recalled_regions, 4);
    assert!(second.pixels != first.pixels && second.depths != first.depths);
}
