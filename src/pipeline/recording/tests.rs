use super::*;

fn buffer(name: &'static str, bytes: u64) -> Buffer {
    Buffer::new(name, 0, 0, 0, bytes)
}

fn kernel() -> Arc<Kernel> {
    Kernel::built(KernelParts {
        label: "hide",
        words: &[],
        lines: &[],
        sources: &[],
        bindings: &[
            Binding { name: "vertices", stride: 16, access: Access::Read, form: BindingForm::Storage },
            Binding { name: "keys", stride: 8, access: Access::ReadWrite, form: BindingForm::Storage },
        ],
        push: &[
            PushMember { name: "count", offset: 0, kind: PushKind::U32 },
            PushMember { name: "bias", offset: 4, kind: PushKind::F32 },
            PushMember { name: "offset", offset: 8, kind: PushKind::Other },
        ],
        push_bytes: 16,
        local_size: [64, 1, 1],
        constants: &["tile"],
    })
}

fn dispatch(extent: impl Into<DispatchExtent>, bindings: Vec<BufferRange>) -> Dispatch {
    let push: Vec<u8> = [12_u32, 0.5_f32.to_bits(), 7, 8].iter().flat_map(|w| w.to_le_bytes()).collect();
    let DispatchExtent { groups, items } = extent.into();
    Dispatch { kernel: kernel(), constants: vec![4], groups, items, bindings, push }
}

#[test]
fn a_dispatch_is_titled_by_its_kernel_and_what_it_goes_through() {
    let title = |extent: DispatchExtent| dispatch(extent, Vec::new()).title();
    let groups = Groups::Direct([2, 3, 1]);
    assert_eq!(title(DispatchExtent::of(groups, 37, "grids")), "hide: 37 grids");
    assert_eq!(title(DispatchExtent::of(groups, 12_000, "vertices")), "hide: 12,000 vertices");
    assert_eq!(title(DispatchExtent::of(groups, 123_456_789, "invocations")), "hide: 123,456,789 invocations");
    assert_eq!(title(groups.into()), "hide: 6 workgroups");
    let counts = buffer("counts", 64).slice::<[u32; 3]>().part(0..1);
    assert_eq!(title(counts.into()), "hide", "only the device knows how many");
}

#[test]
fn a_recording_prints_order_labels_groups_and_bindings() {
    let vertices = buffer("vertices", 4096).slice::<[f32; 4]>();
    let keys = buffer("keys", 1 << 20).slice::<u64>();
    let counts = buffer("counts", 64).slice::<u32>();
    let mut recording = Recording::new("region 7");
    recording.stage("hide", |r| {
        r.fill(keys, 0xffff_ffff);
        r.write(counts.part(0..3), &[1, 1, 1]);
        r.concurrent(|r| {
            r.dispatch(dispatch(12, vec![vertices.range(), keys.range()]));
            r.dispatch(dispatch(counts.part(0..3).cast::<[u32; 3]>(), vec![vertices.range(), keys.range()]));
        });
    });
    recording.labelled("read back", |r| r.copy(keys.part(0..2), keys.part(4..6)));
    let expected = "\
region 7
  stage hide
    fill keys = 0xffffffff
    write counts[0..12] (12 bytes)
    concurrent
      dispatch hide 12 tile:0x4 vertices=vertices keys=keys count:12 bias:0.5 offset:00000007,00000008
      dispatch hide as counts[0..12] tile:0x4 vertices=vertices keys=keys count:12 bias:0.5 offset:00000007,00000008
  label read back
    copy keys[0..16] -> keys[32..48]
";
    assert_eq!(recording.to_string(), expected);
    assert_eq!(recording.dispatches().count(), 2);
}

#[test]
fn groups_cover_every_invocation() {
    let cases = [(0, 0), (1, 1), (64, 1), (65, 2), (640, 10)];
    for (count, groups) in cases {
        assert_eq!(Groups::covering(count, [64, 1, 1]), Groups::Direct([groups, 1, 1]), "{count} invocations");
    }
}

#[test]
fn slices_are_parts_of_buffers() {
    let whole = buffer("b", 100).slice::<[u32; 4]>();
    assert_eq!(whole.count(), 6, "4 bytes are left over");
    let part = whole.part(2..5);
    assert_eq!((part.range().offset, part.range().bytes), (32, 48));
    assert_eq!(part.cast::<u64>().count(), 6);
    assert!(part.range().overlaps(&whole.part(4..6).range()));
    assert!(!part.range().overlaps(&whole.part(5..6).range()));
    assert!(whole.part(3..3).is_empty());
}

#[test]
#[should_panic(expected = "records 2..7")]
fn a_part_beyond_the_slice_is_a_broken_invariant() {
    buffer("b", 96).slice::<[u32; 4]>().part(2..7);
}

#[test]
fn an_arena_cuts_aligned_slices_until_it_is_full() {
    let needs = Arena::measure(|arena| {
        arena.cut::<u64>(3)?;
        arena.cut::<u32>(1)?;
        arena.cut::<[f32; 4]>(100)
    });
    assert_eq!(needs.largest_bytes, 1600);
    let bytes = needs.bytes;
    let mut arena = Arena::new(buffer("arena", bytes));
    let a = arena.cut::<u64>(3).expect("fits");
    let b = arena.cut::<u32>(1).expect("fits");
    assert_eq!((a.range().offset, b.range().offset), (0, 512));
    let full = arena.cut::<u32>(1000).expect_err("too few bytes are left");
    assert_eq!(full, ArenaFull { name: "arena", asked_bytes: 4000, left_bytes: bytes - 1024 });
    assert_eq!(arena.cut::<[f32; 4]>(100).expect("fits").range().offset, 1024);
    assert!(arena.cut::<u8>(1).is_err(), "the rest was alignment");
    let too_much = Arena::measure(|arena| arena.cut::<u64>(u64::MAX));
    assert_eq!(too_much, ArenaNeeds { bytes: u64::MAX, largest_bytes: u64::MAX });
}

#[test]
fn views_never_change_what_lavapipe_compiles_and_do_not_reach_into_other_slices() {
    for bytes in (0..20).flat_map(|shift| [-257, -256, -16, 0, 16, 256].map(|more| (65_536_i64 << shift) + more)) {
        let bytes = bytes as u64;
        let viewed = viewed_bytes(bytes);
        assert!((viewed >> 8) & 0xff != 0 && (bytes..=bytes + VIEW_SLACK).contains(&viewed), "{bytes}");
        assert_eq!((viewed - bytes) % 16, 0, "whole texels: {bytes}");
        let both = |arena: &mut Arena| Ok([arena.cut::<u8>(bytes)?.range(), arena.cut::<u8>(1)?.range()]);
        let [slice, next] = both(&mut Arena::new(buffer("arena", Arena::measure(both).bytes))).expect("fits");
        assert!(slice.offset + viewed <= next.offset, "{bytes}");
    }
}

#[test]
#[should_panic(expected = "inside a stage")]
fn stages_do_not_nest() {
    Recording::new("r").stage("dice", |r| r.stage("hide", |_| {}));
}

#[test]
fn conflicts_inside_concurrent_groups_are_found() {
    let vertices = buffer("vertices", 4096).slice::<[f32; 4]>();
    let keys = Buffer::new("keys", 0, 1, 0, 4096).slice::<u64>();
    let run = |keys: Slice<u64>| dispatch(1, vec![vertices.range(), keys.range()]);
    type Body<'a> = Box<dyn Fn(&mut Recording) + 'a>;
    let cases: Vec<(&str, Body<'_>)> = vec![
        ("", Box::new(|r| (0..2).for_each(|i| r.dispatch(run(keys.part(i * 64..i * 64 + 64)))))),
        (
            "hide writes keys[0..512] and hide writes keys",
            Box::new(|r| {
                r.dispatch(run(keys.part(0..64)));
                r.dispatch(run(keys));
            }),
        ),
        (
            "hide reads vertices and fill writes vertices[16..32]",
            Box::new(|r| {
                r.dispatch(run(keys));
                r.fill(vertices.part(1..2), 0);
            }),
        ),
        (
            "copy writes keys[0..8] and hide reads keys[0..12]",
            Box::new(|r| {
                r.copy(keys.part(9..10), keys.part(0..1));
                let counts = keys.part(0..2).cast::<[u32; 3]>();
                r.dispatch(dispatch(counts, vec![vertices.range(), keys.part(64..65).range()]));
            }),
        ),
    ];
    for (expected, body) in cases {
        let mut recording = Recording::new("r");
        recording.concurrent(|r| body(r));
        let found = recording.conflict().unwrap_or_default();
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{expected:?}: {found:?}");
        let mut ordered = Recording::new("r");
        body(&mut ordered);
        ordered.unordered(|r| body(r));
        assert_eq!(ordered.conflict(), None, "{expected}");
    }
}
