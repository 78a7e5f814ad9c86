use super::*;

/// Returns every construct of the front end's level in one program.
fn sampler() -> Shader {
    let mut b = Builder::new(ShaderKind::Surface, "sampler");
    let kd = b.param(Param {
        name: "Kd".into(),
        ty: RslType::Float,
        array: None,
        rate: Rate::Uniform,
        output: false,
        default: ParamDefault::Values(vec![Const::F32(0.5)]),
    });
    b.begin_default();
    let origin = b.constant([0.0, 0.0, 1.0]);
    let origin = b.transform(TransformKind::Point, "shader", "current", origin);
    let default = b.end_default(&[origin]);
    let from = b.param(Param {
        name: "from".into(),
        ty: RslType::Point,
        array: None,
        rate: Rate::Uniform,
        output: true,
        default,
    });
    let table = b.array(MachineType::F32, 4);
    let (p, n) = (b.global(Global::P), b.global(Global::N));
    let n = b.normalize(n);
    let kd = b.op(Op::Param(kd), &[]);
    let from = b.op(Op::Param(from), &[]);
    let black = b.constant([0.0; 3]);

    let category = b.str("-specular");
    let angle = b.f32(1.5);
    let receiver = Receiver { position: p, cone: Some((n, angle)), category };
    let light = b.begin_illuminance(receiver, &[black]);
    let power = Op::Message { target: MessageTarget::Light, name: "power".into(), ty: RslType::Float, count: 1 };
    let message = b.emit(power, &[]);
    let lit = b.scale(light.cl, message[1]);
    let sum = b.add(light.carried[0], lit);
    let sum = b.end_illuminance(&[sum])[0];

    let (zero, one, four) = (b.f32(0.0), b.f32(1.0), b.f32(4.0));
    let c = b.begin_loop(&[zero, black]);
    let more = b.lt(c[0], four);
    b.begin_loop_body(more);
    let even = b.compare(Compare::Eq, c[0], zero);
    b.begin_if(even);
    let a = b.add(c[1], sum);
    b.begin_else();
    let noisy = b.op(Op::Noise { kind: NoiseKind::Gradient, dimension: 3, ty: MachineType::Vec3 }, &[p]);
    let z = b.add(c[1], noisy);
    let acc = b.end_if(&[a], &[z])[0];
    b.emit(Op::SlotStore(table), &[c[0], kd]);
    let next = b.add(c[0], one);
    let sum = b.end_loop(&[next, acc])[1];

    let x = b.op(Op::SlotLoad(table), &[one]);
    let ambient = b.op(Op::Ambient(Shown::default()), &[]);
    let sum = b.scale(sum, x);
    let sum = b.add(sum, ambient);
    let os = b.global(Global::Os);
    let words = b.op(Op::Const(Const::Str("%s|".into())), &[]);
    let text = b.op(Op::FormatBy, &[words, words]);
    let answer = b.emit(Op::QueryBy { source: QuerySource::Option, ty: RslType::Float, count: 1 }, &[text]);
    b.emit(Op::Printf("done %f\n".into()), &[answer[1]]);
    b.emit(Op::Printf("done %f\n".into()), &[x]);
    b.finish(&[("Ci", sum), ("Oi", os), ("from", from)])
}

#[test]
fn what_the_builder_makes_is_valid_and_survives_its_text() {
    let shader = sampler();
    verify(&shader).expect("valid");
    let text = print(&shader);
    let again = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&again).expect("valid");
    let twice = print(&parse(&print(&again)).expect("reads"));
    assert_eq!(print(&again), twice);
    assert_eq!(again.params.len(), shader.params.len());
    assert_eq!(text.lines().count(), twice.lines().count());
}

#[test]
fn every_name_of_the_text_form_reads_back() {
    assert!(Unary::ALL.iter().all(|o| Unary::from_name(o.name()) == Some(*o)));
    assert!(Binary::ALL.iter().all(|o| Binary::from_name(o.name()) == Some(*o)));
    assert!(Global::ALL.iter().all(|o| Global::from_name(o.name()) == Some(*o)));
    // Unary, binary and comparison names must not collide: the reader tries them in turn.
    for o in Binary::ALL {
        assert!(Unary::from_name(o.name()).is_none() && Compare::from_name(o.name()).is_none(), "{o:?}");
    }
}

#[test]
fn constants_read_back_bit_for_bit() {
    for bits in [0, 0x8000_0000, 1, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0001, 0xff80_0000, 0x3dcc_cccd] {
        let mut b = Builder::new(ShaderKind::AmbientLight, "c");
        let x = b.f32(f32::from_bits(bits));
        let cl = b.unary(Unary::Splat, x);
        let text = print(&b.finish(&[("Cl", cl), ("Ol", cl)]));
        let shader = parse(&text).expect("reads");
        let mut found = None;
        shader.body.walk(shader.body.root(), &mut |i| {
            if let Op::Const(Const::F32(x)) = shader.body.inst(i).op {
                found = Some(x.to_bits());
            }
        });
        assert_eq!(found, Some(bits));
    }
}

fn surface(code: &str) -> String {
    format!(
        "shader surface \"t\"\ncode {{\n%0: vec3 = const 1 2 3\n%1: f32 = const 1.0\n{code}\nyield %0 %0\n}}\noutput \"Ci\" \"Oi\"\n"
    )
}

#[test]
fn the_reader_names_what_it_does_not_take() {
    let check = |code: &str, message: &str| {
        let error = parse(&surface(code)).err().unwrap_or_else(|| panic!("{code} was taken"));
        assert!(error.message.contains(message), "{code}: {error}");
    };
    check("%2: f32 = add(%0, %1)", "does not take (vec3, f32)");
    check("%2: vec3 = add(%1, %1)", "gives [F32]");
    check("%2: f32 = frobnicate(%1)", "frobnicate is not an operation");
    check("%2: f32 = neg(%7)", "%7 is not defined");
    check("%2: vec3 = global Q", "Q is not a global");
    check("%2: f32 = comp 3(%0)", "component above 2");
    check("%2: f32 = noise cell 5 f32(%1)", "dimension");
    check("%2: f32 = param 0", "parameter that does not exist");
    check("%2: f32 = const 1.0.0", "not a float");
    check("%2: str = const \"abc", "unfinished string");
}

#[test]
fn the_verifier_finds_broken_rules() {
    let check = |code: &str, message: &str| {
        let shader = parse(&surface(code)).unwrap_or_else(|e| panic!("{code}: {e}"));
        let error = verify(&shader).err().unwrap_or_else(|| panic!("{code} was taken"));
        assert!(error.message.contains(message), "{code}: {error}");
    };
    check("%2: bool = const true\n%3: f32 = if(%2) {\n%4: f32 = neg(%1)\nyield %4\n} {\nyield %4\n}", "not visible");
    check("%2: bool = const true\n%3: f32 = if(%2) {\nyield %1\n} {\nyield %0\n}", "wrong parameters or results");
    check("%2: bool = const true\n%3: f32 = if(%2) {\nyield %1\n}", "owns 1 regions");
    check("%2: f32 = loop(%1) |%3: f32| {\nyield %3\n} {\nyield %3\n}", "wrong parameters or results");
    check("%2: vec3 = loop(%1) |%3: f32| {\n%4: bool = const true\nyield %4\n} {\nyield %3\n}", "carries values");
    check("%2: f32, %3: f32 = message lightsource \"x\" float", "outside an illuminance");
    let nested = "%2: str = const \"\"\nilluminance(%0, %2) |%3: vec3, %4: vec3, %5: vec3| {\n\
                  illuminance(%0, %2) |%6: vec3, %7: vec3, %8: vec3| {\nyield\n}\nyield\n}";
    check(nested, "nested in another");
}

#[test]
#[should_panic(expected = "does not take")]
fn the_builder_asserts_types() {
    let mut b = Builder::new(ShaderKind::Surface, "bad");
    let (p, u) = (b.global(Global::P), b.global(Global::U));
    b.add(p, u);
}

#[test]
fn a_loop_body_sees_what_its_condition_defined() {
    let text = surface(
        "%2: f32 = loop(%1) |%3: f32| {\n%4: f32 = add(%3, %3)\n%5: bool = lt(%4, %1)\nyield %5\n} {\nyield %4\n}",
    );
    verify(&parse(&text).expect("reads")).expect("valid");
}
