//! Implicit surfaces that move: the mesh of the first time is carried along by the leaves, and laid on the surface
//! again at every other time.

use super::batch::{Batch, BatchShape, BlobBatch};
use super::blob_mesh::{BlobMesh, Field, FieldLeaf, THRESHOLD, leaf_value, value};
use crate::scene::{BlobStep, Blobs};
use glam::DVec3;

/// Newton steps to the surface, and how far from the threshold, as a part of it, a field may be afterwards.
const MOVES: u32 = 12;
const OFF_MAX: f64 = 1e-3;
/// How far from its facets, in lattice cells, a program must hold: their points move by one, and theirs by another.
const MARGIN: f64 = 2.5;

/// Gives the surfaces of a motion the mesh of the first. Fails with the reason if that does not do for all of them.
pub(crate) fn carry_blobs(keyframes: &mut [(f32, Batch)]) -> Result<(), String> {
    let mut batches: Vec<&mut BlobBatch> = Vec::new();
    for (_, batch) in keyframes {
        let BatchShape::Blobs(blob) = &mut batch.form else { return Ok(()) };
        batches.push(blob);
    }
    let Some((first, later)) = batches.split_first_mut() else { return Ok(()) };
    let mut positions = vec![first.mesh.positions.clone()];
    positions.extend(later.iter().map(|keyframe| carried(&first.mesh, &first.field, &keyframe.field)));
    let fields: Vec<&Field> = [&first.field].into_iter().chain(later.iter().map(|keyframe| &keyframe.field)).collect();
    let programs = programs(&first.mesh, &fields, &positions)?;
    let steps = programs.iter().flatten().map(|program| BlobStep::count(program)).max().unwrap_or(0);
    if steps * fields.len() > BlobStep::MOVING_MAX {
        let times = fields.len();
        let most = BlobStep::MOVING_MAX / times;
        return Err(format!(
            "with {times} times, no more than {most} of its leaves and operations other than sums may meet in one place"
        ));
    }
    for (k, field) in fields.iter().enumerate().skip(1) {
        let reach = first.mesh.cell * stretch(fields[0], field);
        if !project(&first.mesh, &programs[k], &mut positions[k], reach) {
            return Err("its surface is not made of the same parts at all times".into());
        }
    }
    let shape = |k: usize, field: &Field| Blobs {
        positions: positions[k].iter().map(|p| p.as_vec3().to_array()).collect(),
        programs: programs[k].clone().into(),
        reach: (first.mesh.cell * stretch(fields[0], field)) as f32,
        ..first.blobs.clone()
    };
    let shapes: Vec<Blobs> = fields.iter().enumerate().map(|(k, field)| shape(k, field)).collect();
    for (keyframe, blobs) in batches.into_iter().zip(shapes) {
        keyframe.blobs = blobs;
    }
    Ok(())
}

/// Returns how many times larger a leaf is than at the first time, at most.
fn stretch(first: &Field, other: &Field) -> f64 {
    let pairs = first.leaves.iter().zip(&other.leaves).filter(|(leaf, _)| leaf.bound.is_some());
    pairs.map(|(leaf, now)| now.size / leaf.size).fold(1.0, f64::max)
}

/// Returns where a leaf takes a point.
fn follow(leaf: &FieldLeaf, now: &FieldLeaf, p: DVec3) -> DVec3 {
    let q = leaf.object_from_unit.inverse().transform_point3(p);
    let [start, end] = leaf.ends;
    let along = (end - start).length_squared();
    let part = if along > 0.0 { ((q - start).dot(end - start) / along).clamp(0.0, 1.0) } else { 0.0 };
    let moved = (now.ends[0] - start).lerp(now.ends[1] - end, part);
    now.object_from_unit.transform_point3(q + moved)
}

/// Returns where the leaves around the vertices take them: the mean by their fields.
fn carried(mesh: &BlobMesh, first: &Field, now: &Field) -> Vec<DVec3> {
    let carry = |(p, near): (&DVec3, &[u32])| {
        let (mut sum, mut total) = (DVec3::ZERO, 0.0);
        for &leaf in near {
            let (leaf, now) = (&first.leaves[leaf as usize], &now.leaves[leaf as usize]);
            let weight = leaf_value(&leaf.step, *p).max(1e-12);
            sum += weight * follow(leaf, now, *p);
            total += weight;
        }
        sum / total
    };
    mesh.vertices().map(carry).collect()
}

/// Returns the programs of all times: for the facets that have one at the first, of the leaves that come near them at
/// any.
fn programs(mesh: &BlobMesh, fields: &[&Field], positions: &[Vec<DVec3>]) -> Result<Vec<Vec<Vec<BlobStep>>>, String> {
    let margins: Vec<f64> = fields.iter().map(|field| MARGIN * mesh.cell * stretch(fields[0], field)).collect();
    let boxes: Vec<Vec<[DVec3; 2]>> = positions.iter().map(|positions| mesh.boxes(positions)).collect();
    let mut result = vec![Vec::new(); fields.len()];
    let near = (0..mesh.programs.len()).map(|group| {
        let boxes: Vec<[DVec3; 2]> = boxes.iter().map(|boxes| boxes[group]).collect();
        (0..fields[0].leaves.len())
            .filter(|&leaf| comes_near(leaf, fields, &boxes, &margins))
            .map(|leaf| leaf as u32)
            .collect()
    });
    for near in near.collect::<Vec<Vec<u32>>>() {
        for (programs, field) in result.iter_mut().zip(fields) {
            programs.push(field.program(&near)?);
        }
    }
    Ok(result)
}

/// Whether a leaf may come near what is in a box at each time. It does not if they are apart in one direction at all
/// times: what is linear in between is so, too.
fn comes_near(leaf: usize, fields: &[&Field], boxes: &[[DVec3; 2]], margins: &[f64]) -> bool {
    let (mut below, mut above) = (DVec3::INFINITY, DVec3::INFINITY);
    for ((field, [low, high]), margin) in fields.iter().zip(boxes).zip(margins) {
        let Some([middle, reach]) = field.leaves[leaf].bound else { return false };
        below = below.min(middle - reach - *high - *margin);
        above = above.min(*low - middle - reach - *margin);
    }
    below.max_element() <= 0.0 && above.max_element() <= 0.0
}

/// Lays vertices on the surface. Returns whether all of them got there without going far.
fn project(mesh: &BlobMesh, programs: &[Vec<BlobStep>], positions: &mut [DVec3], reach: f64) -> bool {
    let step = 1e-4 * mesh.cell;
    positions.iter_mut().zip(mesh.vertex_programs()).all(|(p, &program)| {
        let (steps, start) = (&programs[program as usize], *p);
        let along =
            |p: DVec3, axis: DVec3| (value(steps, p + step * axis) - value(steps, p - step * axis)) / (2.0 * step);
        for _ in 0..MOVES {
            let gradient = DVec3::new(along(*p, DVec3::X), along(*p, DVec3::Y), along(*p, DVec3::Z));
            let slope = gradient.length_squared();
            if slope > 0.0 {
                *p += gradient * ((THRESHOLD - value(steps, *p)) / slope);
            }
        }
        (value(steps, *p) - THRESHOLD).abs() <= OFF_MAX * THRESHOLD && p.distance(start) <= reach
    })
}
