//! Where a drawable is while the shutter is open: as many keyframes as its transformation, the camera's and its shape
//! have together. Between two keyframes every point moves on a straight line in camera space.

use super::geometry::Pages;
use super::kernels::constants::TRIPS_MAX;
use super::kernels::records::Keyframe;
use crate::scene::{BlobStep, Drawable, Geometry, Motion, Shape, World};
use glam::{DMat3, DMat4, DVec3};
use std::sync::Arc;

/// Where both the camera and the object move, keyframes are added until what they make together is off the straight
/// lines by less than this fraction of the way.
const BEND: f64 = 0.02;
/// How often an interval is halved for that.
const HALVINGS_MAX: u32 = 3;

/// Most keyframes of a path: one invocation looks at a subpatch at each of them, in 310 loop trips at most, and loops
/// of too many trips are ended by drivers (docs/pipeline/loops.md).
const KEYFRAMES_MAX: usize = 100;
/// Most loop trips of an invocation at all keyframes of a shape that deforms.
const INVOCATION_TRIPS: usize = TRIPS_MAX as usize;

/// The path of a drawable: times, and camera space from object space at each.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    /// At least one keyframe, the first at shutter open.
    pub keyframes: Vec<(f32, DMat4)>,
    /// How many times were asked for, which may be more.
    pub asked: usize,
}

impl Path {
    /// The path of a drawable of a world whose motions are cut to the time when the shutter is open.
    pub(super) fn of(world: &World, drawable: &Drawable) -> Self {
        let (camera, object) = (&world.camera.camera_from_world, &*drawable.world_from_object);
        let at = |time: f32| camera.at(time) * object.at(time);
        let shape = drawable.geometry.shape.keyframes().iter().map(|keyframe| keyframe.0);
        let moving = [times(camera), times(object), shape.collect()].into_iter().filter(|times| times.len() > 1);
        let mut all: Vec<f32> = moving.flatten().collect();
        all.sort_by(f32::total_cmp);
        all.dedup();
        if all.is_empty() {
            return Self { keyframes: vec![(world.camera.shutter[0], at(0.0))], asked: 1 };
        }
        let (asked, most) = (all.len(), keyframes_max(&drawable.geometry.shape));
        let times = spread(all, most);
        let most_halvings = if camera.moves() && object.moves() { HALVINGS_MAX } else { 0 };
        let mut tries = (0..=most_halvings).rev().map(|halvings| keyframes_at(&times, &at, halvings));
        let keyframes = tries
            .find(|keyframes| keyframes.len() <= most)
            .expect("without halvings there are no more keyframes than times");
        Self { keyframes, asked }
    }

    /// Whether there is more than one keyframe.
    pub(super) fn moves(&self) -> bool {
        self.keyframes.len() > 1
    }

    /// The drawable's geometry with a shape for each keyframe, if its shape moves; `pages` remembers it.
    pub(super) fn geometry(&self, geometry: &Arc<Geometry>, pages: &mut Pages) -> Arc<Geometry> {
        let shape = &geometry.shape;
        let same =
            shape.keyframes().iter().map(|keyframe| keyframe.0).eq(self.keyframes.iter().map(|keyframe| keyframe.0));
        if !shape.moves() || same {
            return Arc::clone(geometry);
        }
        let times = self.keyframes.iter().map(|keyframe| keyframe.0.to_bits()).collect();
        pages.keyframed(geometry, times, || {
            let keyframes = self.keyframes.iter().map(|&(time, _)| (time, shape.at(time))).collect();
            let shape = Motion::new(keyframes).unwrap_or_else(|| shape.clone());
            Arc::new(Geometry { shape, ..(**geometry).clone() })
        })
    }

    /// The records of the path, for primitives whose control data at one keyframe come `keyframe_records` records after
    /// those at the keyframe before it.
    pub(super) fn records(&self, [open, close]: [f32; 2], keyframe_records: u32) -> Vec<Keyframe> {
        let whole = f64::from(close) - f64::from(open);
        let fraction = |time: f32| ((f64::from(time) - f64::from(open)) / whole) as f32;
        let linear = |matrix: &DMat4| DMat3::from_mat4(*matrix);
        let first = linear(&self.keyframes[0].1);
        let record = |(k, (time, matrix)): (usize, &(f32, DMat4))| {
            let rows = matrix.transpose();
            let carry = if first.determinant() == 0.0 { DMat3::ZERO } else { linear(matrix) * first.inverse() };
            let carry_rows = carry.transpose();
            let next = self.keyframes.get(k + 1).map(|keyframe| fraction(keyframe.0) - fraction(*time));
            Keyframe {
                row0: rows.x_axis.as_vec4().to_array(),
                row1: rows.y_axis.as_vec4().to_array(),
                row2: rows.z_axis.as_vec4().to_array(),
                carry0: carry_rows.x_axis.extend(0.0).as_vec4().to_array(),
                carry1: carry_rows.y_axis.extend(0.0).as_vec4().to_array(),
                carry2: carry_rows.z_axis.extend(0.0).as_vec4().to_array(),
                time: fraction(*time),
                inverse_span: next.filter(|next| *next > 0.0).map_or(0.0, |next| 1.0 / next),
                scale: largest_scale(linear(matrix)) as f32,
                carry_scale: largest_scale(carry) as f32,
                data: k as u32 * keyframe_records,
                per_time: next.filter(|next| *next > 0.0).map_or(0.0, |next| (1.0 / (f64::from(next) * whole)) as f32),
                spare1: 0,
                spare2: 0,
            }
        };
        self.keyframes.iter().enumerate().map(record).collect()
    }
}

fn times(motion: &Motion<DMat4>) -> Vec<f32> {
    motion.keyframes().iter().map(|keyframe| keyframe.0).collect()
}

/// How many keyframes a path may have that this shape takes.
fn keyframes_max(shape: &Motion<Shape>) -> usize {
    let first = shape.first();
    let by_shape = match first {
        _ if !shape.moves() => KEYFRAMES_MAX,
        Shape::Patches(patches) if !patches.is_plain_bicubic() => INVOCATION_TRIPS / patch_trips(patches.degrees),
        Shape::Blobs(_) => {
            let programs = shape.keyframes().iter().filter_map(|keyframe| match &keyframe.1 {
                Shape::Blobs(blobs) => Some(&blobs.programs),
                _ => None,
            });
            let steps = programs.flat_map(|programs| programs.iter().map(|program| BlobStep::count(program)));
            BlobStep::MOVING_MAX / steps.max().unwrap_or(1).max(1)
        }
        _ => KEYFRAMES_MAX,
    };
    by_shape.clamp(2, KEYFRAMES_MAX)
}

/// The loop trips that bound/split makes for a patch of these degrees at each keyframe where its points are others
/// (glsl/lib/surface/rational.glsl): it fixes rows and finds points on them, for bounds and for looseness.
fn patch_trips([u, v]: [u32; 2]) -> usize {
    let weighing = |degree: u32| 2 * degree as usize + 1;
    let point = weighing(u) + u as usize / 2 + 1;
    let row = weighing(v) + (u as usize + 1) * (v as usize / 2 + 2);
    let (lines, ends, others) = (6 * 5, 8, 310);
    2 * lines * point + lines * row + ends * (row + point) + others
}

/// Returns at most `most` of some times, evenly chosen; the first and the last stay.
fn spread(times: Vec<f32>, most: usize) -> Vec<f32> {
    if times.len() <= most {
        return times;
    }
    (0..most).map(|i| times[i * (times.len() - 1) / (most - 1)]).collect()
}

/// Keyframes at these times, and between them where the path is not straight.
fn keyframes_at(times: &[f32], at: &dyn Fn(f32) -> DMat4, halvings: u32) -> Vec<(f32, DMat4)> {
    let mut keyframes = Vec::with_capacity(times.len());
    for &time in times {
        bend(&mut keyframes, time, at, halvings);
        keyframes.push((time, at(time)));
    }
    keyframes
}

/// Adds the keyframes between the last one and `end` that the path needs.
fn bend(keyframes: &mut Vec<(f32, DMat4)>, end: f32, at: &dyn Fn(f32) -> DMat4, halvings: u32) {
    let Some(&(start, first)) = keyframes.last() else { return };
    let (middle, last) = (start.midpoint(end), at(end));
    let off = at(middle) - (first + last) * 0.5;
    let way = last - first;
    let size = |m: DMat4| m.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt();
    if halvings == 0 || middle <= start || middle >= end || size(off) <= BEND * size(way) {
        return;
    }
    bend(keyframes, middle, at, halvings - 1);
    keyframes.push((middle, at(middle)));
    bend(keyframes, end, at, halvings - 1);
}

/// The largest factor by which a matrix stretches a vector: its greatest singular value, by power iteration on M^T M,
/// rounded up.
pub(super) fn largest_scale(matrix: DMat3) -> f64 {
    let gram = matrix.transpose() * matrix;
    let mut v = DVec3::new(0.6, 0.64, 0.48);
    for _ in 0..64 {
        let next = gram * v;
        let length = next.length();
        if length == 0.0 {
            return 0.0;
        }
        v = next / length;
    }
    // Never less than the longest column, never more than the Frobenius norm.
    let columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(DVec3::length);
    let longest = columns.into_iter().fold(0.0, f64::max);
    let frobenius = columns.iter().map(|c| c * c).sum::<f64>().sqrt();
    ((matrix * v).length() * 1.0001).clamp(longest, frobenius.max(longest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn a_bent_path_has_keyframes_until_it_is_nearly_straight() {
        let turn = |time: f32| {
            DMat4::from_rotation_y(f64::from(time) * 0.5) * DMat4::from_translation(DVec3::X * f64::from(time))
        };
        let mut keyframes = vec![(0.0, turn(0.0))];
        bend(&mut keyframes, 1.0, &turn, HALVINGS_MAX);
        keyframes.push((1.0, turn(1.0)));
        assert!(keyframes.len() > 2 && keyframes.is_sorted_by(|a, b| a.0 < b.0), "{keyframes:?}");
        let straight = |time: f32| DMat4::from_translation(DVec3::X * f64::from(time));
        let mut keyframes = vec![(0.0, straight(0.0))];
        bend(&mut keyframes, 1.0, &straight, HALVINGS_MAX);
        assert_eq!(keyframes.len(), 1);
    }

    #[test]
    fn of_too_many_times_some_are_followed_from_the_first_to_the_last() {
        let times: Vec<f32> = (0..100).map(|time| time as f32).collect();
        assert_eq!(spread(times.clone(), 100), times);
        assert_eq!(spread(times, 5), [0.0, 24.0, 49.0, 74.0, 99.0]);
    }

    #[test]
    fn a_patch_of_high_degree_takes_fewer_keyframes() {
        assert!(patch_trips([3, 3]) < patch_trips([7, 3]) && patch_trips([7, 3]) < patch_trips([7, 7]));
        assert!(INVOCATION_TRIPS / patch_trips([3, 3]) >= 16, "{}", patch_trips([3, 3]));
        assert!(2 * patch_trips([23, 23]) < 2 * INVOCATION_TRIPS);
    }

    #[test]
    fn largest_scale_of_a_rotated_stretch_is_the_stretch() {
        let rotation = DMat3::from_rotation_y(0.7) * DMat3::from_rotation_x(0.3);
        let stretch = DMat3::from_diagonal(DVec3::new(0.5, 3.0, 1.0));
        let scale = largest_scale(rotation * stretch * rotation.transpose());
        assert!((3.0..3.001).contains(&scale), "{scale}");
        assert_eq!(largest_scale(DMat3::ZERO), 0.0);
    }
}
