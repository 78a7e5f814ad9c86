//! MakeTexture and its like.

use super::*;
use crate::host_memory::Charge;
use crate::rib::{RequestedTexture, WorldConsumer};
use crate::texture::{MakeFilter, MakeKind, MakeRequest, WrapMode};
use std::path::PathBuf;

/// What comes of a text: worlds by their frames, and textures.
#[derive(Default)]
struct InOrder {
    items: Vec<String>,
    textures: Vec<RequestedTexture>,
    stops: bool,
}

impl WorldConsumer for InOrder {
    fn take(&mut self, world: World, _: Arc<Charge>) -> ControlFlow<()> {
        self.items.push(format!("world {:?}", world.options.frame));
        ControlFlow::Continue(())
    }

    fn make(&mut self, texture: RequestedTexture) -> ControlFlow<()> {
        self.items.push(format!("{} {:?}", texture.make.output.display(), texture.frame));
        self.textures.push(texture);
        if self.stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Reads a text, and returns the codes of its messages too.
fn read_items(bytes: &[u8], stops: bool) -> (InOrder, Vec<(&'static str, u32)>, Summary) {
    let reporter = Reporter::silent();
    let mut items = InOrder { stops, ..InOrder::default() };
    let input = Input::Memory { name: "t.rib".into(), bytes: bytes.to_vec() };
    let summary = read(&input, &Settings::default(), &reporter, &mut items);
    let codes = reporter.all().iter().map(|(message, _)| (message.code, message.location.line)).collect();
    (items, codes, summary)
}

fn made(text: &str) -> MakeRequest {
    let (mut items, codes, _) = read_items(text.as_bytes(), false);
    assert_eq!((items.textures.len(), codes), (1, vec![]), "{text}");
    items.textures.remove(0).make
}

fn of(kind: MakeKind, pictures: &[&str], texture: &str) -> MakeRequest {
    MakeRequest::new(kind, pictures.iter().map(PathBuf::from).collect(), texture.into())
}

#[test]
fn requests_say_what_is_made() {
    for name in ["MakeTexture", "MakeBump"] {
        let expected = MakeRequest {
            wrap: [WrapMode::Periodic, WrapMode::Mirror],
            filter: Some(MakeFilter::CatmullRom),
            filter_width: Some([3.0, 2.5]),
            ..of(MakeKind::Plain, &["a.tif"], "a.tex")
        };
        assert_eq!(
            made(&format!("{name} \"a.tif\" \"a.tex\" \"periodic\" \"mirror\" \"catmull-rom\" 3 2.5")),
            expected
        );
    }
    let boxed = |make| MakeRequest { filter: Some(MakeFilter::Box), filter_width: Some([1.0, 1.0]), ..make };
    assert_eq!(
        made("MakeLatLongEnvironment \"a.hdr\" \"a.env\" \"box\" 1 1"),
        boxed(of(MakeKind::LatLong, &["a.hdr"], "a.env"))
    );
    let cube = boxed(of(MakeKind::Cube, &["px", "nx", "py", "ny", "pz", "nz"], "c.env"));
    assert_eq!(
        made("MakeCubeFaceEnvironment \"px\" \"nx\" \"py\" \"ny\" \"pz\" \"nz\" \"c.env\" 95 \"box\" 1 1"),
        MakeRequest { fov: Some(95.0), ..cube }
    );
    assert_eq!(made("MakeShadow \"a.z\" \"a.shad\""), of(MakeKind::Shadow, &["a.z"], "a.shad"));
    let views = of(MakeKind::Occlusion, &["a.z", "b.z"], "a.occ");
    assert_eq!(made("MakeOcclusion [\"a.z\" \"b.z\"] \"a.occ\""), views);
    assert_eq!(made("MakeOcclusion \"a.z\" \"a.occ\""), of(MakeKind::Occlusion, &["a.z"], "a.occ"));
    assert_eq!(
        made("MakeBrickMap [\"a.ptc\" \"b.ptc\"] \"c.bkm\""),
        of(MakeKind::BrickMap, &["a.ptc", "b.ptc"], "c.bkm")
    );
    for parameters in [
        "\"radiusscale\" 0.5 \"ignorenormals\" 1 \"maxerror\" 0.1 \"maxdepth\" 8",
        "\"float radiusscale\" [0.5] \"int ignorenormals\" [1] \"float maxerror\" [0.1] \"int maxdepth\" [8]",
    ] {
        let bricks =
            MakeRequest { radius_scale: 0.5, ignore_normals: true, ..of(MakeKind::BrickMap, &["a.ptc"], "c.bkm") };
        assert_eq!(made(&format!("MakeBrickMap \"a.ptc\" \"c.bkm\" {parameters}")), bricks, "{parameters}");
    }
    // In the binary encoding, as everything else.
    let text = "MakeTexture \"a.tif\" \"a.tex\" \"clamp\" \"black\" \"sinc\" 4 .5";
    let (items, codes, _) = read_items(&stream::packed(text), false);
    assert_eq!((items.textures[0].make.clone(), codes), (made(text), vec![]));
}

#[test]
fn textures_come_in_the_order_of_requests() {
    let text = "MakeShadow \"a\" \"1\"\nFrameBegin 7 WorldBegin WorldEnd MakeShadow \"a\" \"2\" FrameEnd\n\
                MakeShadow \"a\" \"3\"\nArchiveBegin \"m\" MakeShadow \"a\" \"4\" ArchiveEnd\n\
                WorldBegin ReadArchive \"m\" WorldEnd";
    let (items, codes, summary) = read_items(text.as_bytes(), false);
    assert_eq!(items.items, ["1 None", "world Some(7)", "2 Some(7)", "3 None", "4 None", "world None"]);
    assert_eq!((codes, summary.worlds, summary.textures), (vec![], 2, 4));
    let (items, _, summary) = read_items(text.as_bytes(), true);
    assert_eq!((items.items.len(), summary.stopped), (1, Some(crate::rib::Stopped::Consumer)));
}

#[test]
fn pictures_are_looked_for_in_the_texture_path() {
    let text = "Option \"searchpath\" \"texture\" [\"/maps:/more\"]\nMakeShadow \"a.z\" \"a.shad\"";
    let (items, ..) = read_items(text.as_bytes(), false);
    assert_eq!(items.textures[0].folders, ["/maps", "/more"]);
    assert_eq!((&*items.textures[0].location.file, items.textures[0].location.line), ("t.rib", 2));
}

#[test]
fn mistakes_in_texture_requests_are_reported() {
    let cases = [
        ("MakeTexture \"a\" \"b\" \"round\" \"black\" \"box\" 1 1", "badtoken", 1),
        ("MakeTexture \"a\" \"b\" \"black\" \"black\" \"fuzzy\" 1 1", "badtoken", 1),
        ("MakeTexture \"a\" \"b\" \"black\" \"black\" \"box\" 0 1", "range", 1),
        ("MakeTexture \"a\" \"b\" \"black\" \"black\" \"box\"", "syntaxerror", 0),
        ("MakeCubeFaceEnvironment \"1\" \"2\" \"3\" \"4\" \"5\" \"6\" \"c\" 180 \"box\" 1 1", "range", 1),
        ("MakeCubeFaceEnvironment \"1\" \"2\" \"3\" \"c\" 90 \"box\" 1 1", "syntaxerror", 0),
        ("MakeShadow \"a\"", "syntaxerror", 0),
        ("MakeShadow \"a\" \"b\" \"float gloss\" 3", "badtoken", 1),
        ("MakeShadow 3 \"b\"", "syntaxerror", 0),
        ("MakeBrickMap [\"a\"]", "syntaxerror", 0),
        ("MakeBrickMap [1] \"b\"", "syntaxerror", 0),
        ("MakeBrickMap \"a\" \"b\" \"float radiusscale\" -1", "range", 1),
        ("MakeBrickMap \"a\" \"b\" \"float radiusscale\" \"one\"", "badargument", 1),
        ("MakeBrickMap \"a\" \"b\" \"string indexspace\" \"x\"", "badtoken", 1),
    ];
    for (text, code, textures) in cases {
        let (items, codes, _) = read_items(text.as_bytes(), false);
        assert_eq!((codes, items.textures.len()), (vec![(code, 1)], textures), "{text}");
    }
}
