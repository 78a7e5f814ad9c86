//! How far displacement has moved vertices, against the plain maximum.

use super::random::Random;
use super::region::{Mesh, Region, flat_frame, region};
use anthill::pipeline::buffers::Vec4;
use anthill::pipeline::displace::{self, DisplacedPositions};

/// Vertices before (channel 0) and after (channel 1): moved by up to the number of their grid; some to nowhere.
fn vertex(mesh: usize, vertex: usize, channel: u32) -> Vec4 {
    let mut random = Random::new((mesh as u64) << 16 | vertex as u64);
    let [x, y, z] = random.triple(-5.0, 5.0);
    if channel == 0 {
        return [x, y, z, 0.0];
    }
    let [dx, dy, dz] = random.triple(-1.0, 1.0).map(|d| d * mesh as f32);
    match random.below(40) {
        0 => [f32::NAN, y, z, 0.0],
        1 => [x, f32::INFINITY, z, 0.0],
        _ => [x + dx, y + dy, z + dz, 0.0],
    }
}

#[test]
fn the_farthest_move_of_an_instance_is_measured() {
    let mut random = Random::new(3);
    let mesh = |_| {
        let [nu, nv] = [0; 2].map(|_| 1 + random.below(15));
        Mesh::new(nu, nv, vec![[0.0; 3]; ((nu + 1) * (nv + 1)) as usize])
    };
    let meshes: Vec<Mesh> = (0..60).map(mesh).collect();
    let mut device = Region::new(flat_frame([1, 1], true), region(0, 0, 1, 1), |_| ());
    // Slots name instance 0; what was measured before stays when it is more.
    let before = 1.25_f32;
    let displaced_by = device.lab.upload("displaced_by", &[before.to_bits(), 77]);
    device.frame.displaced_by = displaced_by;
    let given = device.given();
    let mut farthest = f64::from(before);
    for chunk in [0..2, 2..30, 30..60] {
        let part: Vec<Mesh> = meshes[chunk.clone()].to_vec();
        let of = |mesh, v, channel| vertex(chunk.start + mesh, v, channel);
        let pieces = device.lay(&part, 0, 2, of);
        device.lab.run(|recording| {
            for piece in &pieces {
                let displaced = DisplacedPositions { from_base: piece.base, to_base: piece.base + piece.vertices() };
                displace::record_measure(recording, &given.piece(piece), displaced);
            }
        });
        for (mesh, v) in part.iter().enumerate().flat_map(|(i, mesh)| (0..mesh.p.len()).map(move |v| (i, v))) {
            let [from, to] = [0, 1].map(|channel| of(mesh, v, channel));
            let distance = (0..3).map(|i| (f64::from(to[i]) - f64::from(from[i])).powi(2)).sum::<f64>().sqrt();
            farthest = if distance.is_finite() { farthest.max(distance) } else { farthest };
        }
        let found = device.lab.read(displaced_by);
        let measured = f64::from(f32::from_bits(found[0]));
        assert!((measured / farthest - 1.0).abs() < 1e-6 && found[1] == 77, "{measured} for {farthest}");
    }
}
