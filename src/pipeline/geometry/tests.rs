use super::*;
use crate::diagnostic::SourceLocation;
use crate::scene::{Class, Facets, Motion, Primvar, PrimvarData, ValueType};

fn strip(faces: usize) -> Arc<Geometry> {
    let positions: Vec<[f32; 3]> = (0..=faces).flat_map(|i| [[i as f32, 0.0, 0.0], [i as f32, 1.0, 0.0]]).collect();
    let corners: Vec<[u32; 4]> = (0..faces as u32).map(|i| [2 * i, 2 * i + 2, 2 * i + 1, 2 * i + 3]).collect();
    let heat: Vec<f32> = (0..positions.len()).map(|i| i as f32 * 10.0).collect();
    let tint: Vec<f32> = (0..faces).map(|i| i as f32 + 0.5).collect();
    let primvar = |name: &str, class, values: Vec<f32>| Primvar {
        name: name.into(),
        class,
        ty: ValueType::Float,
        array_len: 1,
        data: PrimvarData::Floats(values.into()),
    };
    Arc::new(Geometry {
        shape: Motion::still(Shape::Facets(Facets {
            positions: positions.into(),
            face_corners: corners.clone().into(),
            corners: corners.into(),
            face: (0..faces as u32).collect(),
            polygon: true,
            face_normals: vec![[0.0, 0.0, 1.0]; faces].into(),
            uv_range: [].into(),
        })),
        primvars: vec![primvar("heat", Class::Varying, heat), primvar("tint", Class::Uniform, tint)],
        location: SourceLocation::default(),
    })
}

/// What each facet of the runs says of itself: position of its corners, heat at them, tint: the same however it was
/// cut.
fn facts(pages: &[Arc<Page>], runs: &[PrimitiveRun]) -> Vec<String> {
    let mut facts = Vec::new();
    for run in runs {
        let page = &pages[run.page];
        let float = |at: u32| page.data[at as usize / 4][at as usize % 4];
        for primitive in &page.primitives[run.first as usize..(run.first + run.count) as usize] {
            let at = primitive.corners.map(|c| page.data[(primitive.data + c) as usize][0]);
            let heat = primitive.corners.map(|c| float(run.primvars[0].first_value + c));
            let tint = float(run.primvars[1].first_value + primitive.face);
            let normal = page.data[(primitive.extra + primitive.face) as usize][2];
            facts.push(format!("{at:?} {heat:?} {tint} {normal}"));
        }
    }
    facts
}

#[test]
fn a_mesh_cut_into_pages_says_the_same_as_a_whole_one() {
    let mesh = strip(100);
    let mut whole = Pages::new(64 << 20);
    let runs = whole.runs(&mesh);
    assert_eq!(runs.len(), 1);
    let expected = facts(&whole.pages(), &runs);
    let mut small = Pages::new(4096);
    let runs = small.runs(&mesh);
    let pages = small.pages();
    assert!(runs.len() > 3, "{} runs", runs.len());
    assert!(
        pages.iter().all(|page| page.bytes() <= 4096),
        "{:?}",
        pages.iter().map(|page| page.bytes()).collect::<Vec<_>>()
    );
    assert_eq!(facts(&pages, &runs), expected);
}

#[test]
fn geometry_is_lowered_once() {
    let mesh = strip(3);
    let mut pages = Pages::new(1 << 20);
    let first = pages.runs(&mesh);
    assert!(Arc::ptr_eq(&first, &pages.runs(&mesh)));
    assert_eq!(pages.pages()[0].primitives.len(), 3);
}

#[test]
fn a_primitive_larger_than_a_page_still_gets_one() {
    let mesh = strip(2);
    let mut pages = Pages::new(16);
    assert_eq!(pages.runs(&mesh).len(), 2);
    assert_eq!(pages.pages().len(), 2);
}

#[test]
fn pages_of_a_picture_stay_as_they_are_when_another_adds_to_them() {
    let (mesh, other) = (strip(3), strip(5));
    let mut pages = Pages::new(64 << 20);
    let runs = pages.runs(&mesh);
    let first = pages.pages();
    let expected = facts(&first, &runs);
    pages.begin_picture();
    let added = pages.runs(&other);
    let second = pages.pages();
    assert_eq!((first[0].primitives.len(), second[0].primitives.len()), (3, 8), "a small page is copied");
    assert_eq!((facts(&first, &runs), facts(&second, &pages.runs(&mesh))), (expected.clone(), expected));
    let mut alone = Pages::new(64 << 20);
    let runs_alone = alone.runs(&other);
    assert_eq!(facts(&second, &added), facts(&alone.pages(), &runs_alone));

    let large = strip(20_000);
    let _ = pages.runs(&large);
    let third = pages.pages();
    pages.begin_picture();
    let runs = pages.runs(&strip(4));
    let fourth = pages.pages();
    assert!(Arc::ptr_eq(&third[0], &fourth[0]) && fourth.len() == 2 && runs[0].page == 1, "a large one is full");
    assert!(Arc::ptr_eq(&third[0], &pages.pages()[0]));
}

#[test]
fn pages_begin_again_when_most_of_what_is_in_them_is_no_longer_shown() {
    let mut pages = Pages::new(64 << 20);
    let shown = strip(3);
    let mut most = 0;
    for _ in 0..4 * USED_PICTURES {
        pages.begin_picture();
        let _ = (pages.runs(&shown), pages.runs(&strip(20_000)));
        let held: u64 = pages.pages().iter().map(|page| page.bytes()).sum();
        most = most.max(held);
        assert!(pages.known.len() < 3 * USED_PICTURES as usize, "geometry that is gone is forgotten");
    }
    let one = bytes_of(20_000);
    assert!(most < UNUSED_BYTES_MAX + 2 * USED_PICTURES * one, "{most} bytes, {one} a mesh");
}

/// The bytes of a strip in pages.
fn bytes_of(faces: usize) -> u64 {
    let mut pages = Pages::new(64 << 20);
    let _ = pages.runs(&strip(faces));
    pages.bytes()
}
