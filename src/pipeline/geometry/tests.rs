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
            uv_range: Arc::new([]),
        })),
        primvars: vec![primvar("heat", Class::Varying, heat), primvar("tint", Class::Uniform, tint)],
        location: SourceLocation::default(),
    })
}

/// What each facet of the runs says of itself: position of its corners, heat at them, tint: the same however it was
/// cut.
fn facts(pages: &[Page], runs: &[PrimitiveRun]) -> Vec<String> {
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
    let expected = facts(&whole.finish(), &runs);
    let mut small = Pages::new(4096);
    let runs = small.runs(&mesh);
    let pages = small.finish();
    assert!(runs.len() > 3, "{} runs", runs.len());
    assert!(pages.iter().all(|page| page.bytes() <= 4096), "{:?}", pages.iter().map(Page::bytes).collect::<Vec<_>>());
    assert_eq!(facts(&pages, &runs), expected);
}

#[test]
fn geometry_is_lowered_once() {
    let mesh = strip(3);
    let mut pages = Pages::new(1 << 20);
    let first = pages.runs(&mesh);
    assert!(Arc::ptr_eq(&first, &pages.runs(&mesh)));
    assert_eq!(pages.finish()[0].primitives.len(), 3);
}

#[test]
fn a_primitive_larger_than_a_page_still_gets_one() {
    let mesh = strip(2);
    let mut pages = Pages::new(16);
    assert_eq!(pages.runs(&mesh).len(), 2);
    assert_eq!(pages.finish().len(), 2);
}
