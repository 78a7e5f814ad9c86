//! Tests of the compiler on a device.

mod device;

#[test]
fn exp_noise() {
    let c = shaderc::Compiler::new().unwrap();
    let lib = std::fs::read_to_string("../glsl/lib/rsl/hash.glsl").unwrap()
        + &std::fs::read_to_string("../glsl/lib/rsl/noise.glsl").unwrap();
    let mk = |body: &str| {
        format!(
            "#version 450\n{lib}\nlayout(local_size_x=256) in;\nlayout(std430,set=0,binding=0) buffer A{{vec4 a[];}};layout(std430,set=0,binding=1) buffer B{{vec4 b[];}};\nlayout(push_constant) uniform P{{uint p0;uint p1;}};\nvoid main(){{ uint g=gl_GlobalInvocationID.x; vec4 v=a[g]; {body} b[g]=v; }}"
        )
    };
    let d = device::device();
    for (name, body) in [
        ("none", ""),
        ("one", "v.x=rsl_noise3(v.xyz);"),
        (
            "six while",
            "float s=0.0,a=1.0; vec3 q=v.xyz; for(int i=0;i<6;i++){s+=a*rsl_noise3(q);q=q*2.1;a*=0.5;} v.x=s;",
        ),
        (
            "six do",
            "float s=0.0,a=1.0; vec3 q=v.xyz; int i=0; do{s+=a*rsl_noise3(q);q=q*2.1;a*=0.5;i++;} while(i<6); v.x=s;",
        ),
        (
            "six do f",
            "float s=0.0,a=1.0; vec3 q=v.xyz; float i=0; do{s+=a*rsl_noise3(q);q=q*2.1;a*=0.5;i+=1.0;} while(i<6.0); v.x=s;",
        ),
    ] {
        let s = c.compile_into_spirv(&mk(body), shaderc::ShaderKind::Compute, "x", "main", None).unwrap();
        let k = d.kernel(s.as_binary());
        let n = 1 << 17;
        let mut bufs = [
            (0..n * 4).map(|i| ((i as f32) * 0.37).sin().to_bits()).collect(),
            vec![0u32; n * 4],
            vec![0; 4],
            vec![0; 4],
        ];
        let t = d.run(&k, &mut bufs, device::Dispatch { push: &[0; 8], groups: (n / 256) as u32, repeat: 100 });
        println!("{name}: {:.2} ns", t / n as f64);
        d.free(&k);
    }
}
