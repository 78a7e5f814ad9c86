//! Measures how fast RIB is read, from generated text of film-sized scenes to worlds. Throughput is in bytes of text.

use anthill::diagnostic::Reporter;
use anthill::rib::{Input, Settings, read};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::fmt::Write;
use std::hint::black_box;
use std::ops::ControlFlow;

/// Random numbers like those of a scene, with a sign, up to two digits and four decimals.
struct Numbers(u32);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / (1 << 24) as f32 * 40.0 - 20.0
    }

    fn write(&mut self, text: &mut String, count: usize) {
        for _ in 0..count {
            write!(text, "{:.4} ", self.next()).expect("writing to memory");
        }
    }
}

/// A quarter of a million cubic curves, 200 a request: 27 MB.
fn curves() -> String {
    let (mut text, mut numbers) = ("WorldBegin\n".to_owned(), Numbers(1));
    for _ in 0..1250 {
        write!(text, "Curves \"cubic\" [{}] \"nonperiodic\" \"P\" [", "4 ".repeat(200)).expect("writing to memory");
        numbers.write(&mut text, 200 * 12);
        text += "] \"varying float width\" [";
        text += &"0.0312 0.002 ".repeat(200);
        text += "]\n";
    }
    text + "WorldEnd\n"
}

/// A mesh of 40,000 quadrilaterals with normals and texture coordinates.
fn mesh() -> String {
    let side = 200usize;
    let mut text = format!("WorldBegin\nPointsPolygons [{}] [", "4 ".repeat(side * side));
    for i in 0..side * side {
        let corner = i / side * (side + 1) + i % side;
        write!(text, "{} {} {} {} ", corner, corner + 1, corner + side + 2, corner + side + 1)
            .expect("writing to memory");
    }
    text += "] \"P\" [";
    for i in 0..(side + 1) * (side + 1) {
        let (x, y) = (i % (side + 1), i / (side + 1));
        write!(text, "{x} {y} {:.4} ", (x as f32 * 0.1).sin() * (y as f32 * 0.1).cos()).expect("writing to memory");
    }
    text += "] \"vertex normal N\" [";
    Numbers(3).write(&mut text, (side + 1) * (side + 1) * 3);
    text += "] \"vertex float[2] st\" [";
    Numbers(4).write(&mut text, (side + 1) * (side + 1) * 2);
    text + "]\nWorldEnd\n"
}

/// 20,000 small objects, each with its own attributes and transformation.
fn objects() -> String {
    let (mut text, mut numbers) = ("WorldBegin\n".to_owned(), Numbers(5));
    for _ in 0..20_000 {
        text += "AttributeBegin\nColor [0.2 0.4 0.6]\nSurface \"plastic\" \"Kd\" [0.7] \"uniform float freq\" [3]\nTranslate ";
        numbers.write(&mut text, 3);
        text += "\nSphere 0.5 -0.5 0.5 360\nAttributeEnd\n";
    }
    text + "WorldEnd\n"
}

fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rib");
    group.sample_size(10);
    for (name, text) in [("curves", curves()), ("mesh", mesh()), ("objects", objects())] {
        let input = Input::Memory { name: name.to_owned(), bytes: text.into_bytes() };
        let Input::Memory { bytes, .. } = &input else { return };
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_with_input(BenchmarkId::from_parameter(name), &input, |bencher, input| {
            let reporter = Reporter::silent();
            bencher.iter(|| {
                read(input, &Settings::default(), &reporter, &mut |world: anthill::scene::World| {
                    black_box(world.drawables.len());
                    ControlFlow::Continue(())
                })
            });
            assert!(reporter.all().is_empty(), "{name}: {:?}", reporter.all());
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
