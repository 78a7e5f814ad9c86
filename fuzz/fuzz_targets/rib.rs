//! Arbitrary bytes as a RIB file, and behind a byte of zero as edits of it: reading them terminates, never panics, and
//! gives worlds with only valid indices.

#![no_main]

use anthill::diagnostic::Reporter;
use anthill::host_memory::HostMemory;
use anthill::rib::{Input, Limits, Settings, read};
use anthill::scene::{Class, Geometry, PrimvarData, Shape, World};
use libfuzzer_sys::fuzz_target;
use std::ops::ControlFlow;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { archive_reads: 64, blocks: 256 };
    let memory = |bytes: &[u8]| Input::Memory { name: "fuzz".into(), bytes: bytes.to_vec() };
    let mut parts = bytes.split(|byte| *byte == 0);
    let input = memory(parts.next().unwrap_or_default());
    let edits = parts.map(memory).collect();
    let settings = Settings { limits, memory: HostMemory::new(1 << 24), edits, ..Settings::default() };
    read(&input, &settings, &Reporter::silent(), &mut |world: World| {
        check(&world);
        ControlFlow::Continue(())
    });
});

fn check(world: &World) {
    for drawable in &world.drawables {
        for (_, matrix) in drawable.world_from_object.keyframes() {
            assert!(matrix.is_finite() && matrix.inverse().is_finite());
        }
        let attributes = &drawable.attributes;
        assert!(attributes.shading_rate > 0.0);
        assert!(attributes.lights.iter().all(|light| (light.0 as usize) < world.lights.len()));
        for (_, shape) in drawable.geometry.shape.keyframes() {
            assert!(shape.primitive_count() > 0);
            check_shape(shape, &drawable.geometry);
        }
    }
    let [x0, y0, x1, y1] = world.camera.crop_px();
    let [left, top, right, bottom] = world.camera.whole_px();
    assert!(x0 < x1 && y0 < y1 && left <= x0 && top <= y0 && x1 <= right && y1 <= bottom);
}

/// Checks that each class has enough values for the indices of the shape.
fn check_shape(shape: &Shape, geometry: &Geometry) {
    let most = |indices: &mut dyn Iterator<Item = u32>| indices.max().map_or(0, |most| most as usize + 1);
    let (uniform, varying, vertex, face_varying) = match shape {
        Shape::Quadric(_) => (1, 4, 4, 4),
        Shape::Facets(f) => {
            let corners = most(&mut f.corners.iter().flatten().copied());
            assert!(corners <= f.positions.len() && f.positions.as_flattened().iter().all(|value| value.is_finite()));
            let faces = most(&mut f.face.iter().copied());
            assert!(!f.polygon || f.face_normals.len() >= faces);
            assert!(f.face.len() == f.corners.len() && f.face_corners.len() == f.corners.len());
            (faces, corners, corners, most(&mut f.face_corners.iter().flatten().copied()))
        }
        Shape::Patches(p) => {
            assert_eq!(p.control.len(), p.control_count() * p.corners.len());
            assert!(p.weights.is_empty() || p.weights.len() == p.control.len());
            assert!(p.weights.iter().all(|weight| *weight > 0.0));
            let corners = most(&mut p.corners.iter().flatten().copied());
            (
                most(&mut p.face.iter().copied()),
                corners,
                p.control.len(),
                most(&mut p.face_corners.iter().flatten().copied()),
            )
        }
        Shape::Limit(p) => {
            assert_eq!(p.control.len(), p.first_point(p.face.len()));
            assert!(p.seams.len() + p.plain_count == p.face.len() && p.uv_range.len() == p.face.len());
            assert_eq!(
                p.seam_points.len(),
                p.seam_count()
                    * most(
                        &mut p.seams.iter().flatten().map(|seam| seam.wrapping_sub(1)).filter(|seam| *seam != u32::MAX)
                    )
            );
            let corners = p.corner_count() * p.face.len();
            (most(&mut p.face.iter().copied()), corners, p.control.len(), corners)
        }
        Shape::Curves(c) => {
            let each = if c.cubic { 4 } else { 2 };
            assert_eq!(
                (c.control.len(), c.widths.len(), c.v_range.len()),
                (each * c.ends.len(), c.ends.len(), c.ends.len())
            );
            let corners = most(&mut c.ends.iter().flatten().copied());
            (most(&mut c.face.iter().copied()), corners, if c.cubic { c.control.len() } else { 0 }, 0)
        }
        Shape::Points(p) => (1, p.positions.len(), p.positions.len(), p.positions.len()),
        Shape::Blobs(b) => {
            let corners = most(&mut b.corners.iter().flatten().copied());
            assert!(corners <= b.positions.len() && b.positions.as_flattened().iter().all(|value| value.is_finite()));
            assert!(b.program.len() == b.corners.len() && most(&mut b.program.iter().copied()) <= b.programs.len());
            (1, corners, corners, corners)
        }
    };
    for primvar in &geometry.primvars {
        let wanted = match primvar.class {
            Class::Constant => 1,
            Class::Uniform => uniform,
            Class::Varying => varying,
            Class::Vertex => vertex,
            Class::FaceVarying => face_varying,
        };
        let found = match &primvar.data {
            PrimvarData::Floats(values) => values.len() / (primvar.ty.floats() * primvar.array_len as usize),
            PrimvarData::Strings(values) => values.len() / primvar.array_len as usize,
        };
        assert!(found >= wanted, "{} has {found} values of {wanted}", primvar.name);
    }
}
