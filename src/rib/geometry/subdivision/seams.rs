//! Points that patches share, and borders beyond which the mesh was refined once more.
//!
//! Neighbours compute the points of a common border from different numbers, so their last bits differ. Each border is
//! identified by the places of its ends, and all patches take the points of the first one that had it.

use osd::Place;
use rustc_hash::FxHashMap;

/// Units of a face's (u,v) square along each side.
const SIDE: u32 = 1 << osd::ISOLATION_MAX;

/// A point of a mesh where patches may meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Location {
    /// A vertex of the cage.
    Vertex(u32),
    /// On the edge of two vertices, the lower one first; in units of half a [`SIDE`].
    Edge(u32, u32, u16),
    /// On the line from the middle of a face's edge to its centre.
    Spoke(u32, u32, u16),
    /// The centre of a face that is not a quadrilateral.
    Centre(u32),
    /// Inside a quadrilateral, or a triangle, of a face.
    Inside(u32, u32, u16, u16),
}

/// The inner points of a border from its lower end to its higher one: 2, or 3 of triangles.
type Border = [[f32; 3]; 3];

/// Points of borders by their ends.
#[derive(Debug, Default)]
pub(super) struct SharedPoints {
    ends: FxHashMap<Location, [f32; 3]>,
    borders: FxHashMap<[Location; 2], Border>,
}

/// The points of each border of a patch, and the corners where it begins and ends.
struct BorderPoints {
    points: &'static [usize],
    ends: [usize; 2],
}

/// In the order of [`crate::scene::Borders`]; corners in the order of a face.
const QUAD_BORDERS: [BorderPoints; 4] = [
    BorderPoints { points: &[0, 1, 2, 3], ends: [0, 1] },
    BorderPoints { points: &[12, 13, 14, 15], ends: [3, 2] },
    BorderPoints { points: &[0, 4, 8, 12], ends: [0, 3] },
    BorderPoints { points: &[3, 7, 11, 15], ends: [1, 2] },
];
const TRIANGLE_BORDERS: [BorderPoints; 4] = [
    BorderPoints { points: &[0, 1, 2, 3, 4], ends: [0, 1] },
    BorderPoints { points: &[14], ends: [2, 2] },
    BorderPoints { points: &[0, 5, 9, 12, 14], ends: [0, 2] },
    BorderPoints { points: &[4, 8, 11, 13, 14], ends: [1, 2] },
];

/// Returns a patch's corners in its face, in units of 1 / [`SIDE`].
pub(super) fn corners_of(place: &Place, triangles: bool) -> [[u32; 2]; 4] {
    let step = SIDE >> place.depth;
    let [u, v] = place.corner.map(|at| u32::from(at) * step);
    if !triangles {
        return [[u, v], [u + step, v], [u + step, v + step], [u, v + step]];
    }
    if place.rotated {
        let [u, v] = [SIDE - u, SIDE - v];
        return [[u, v], [u - step, v], [u, v - step], [u, v - step]];
    }
    [[u, v], [u + step, v], [u, v + step], [u, v + step]]
}

/// Returns the part of a face's (u,v) square that a patch covers.
pub(super) fn uv_range(place: &Place, triangles: bool) -> [f32; 4] {
    let corners = corners_of(place, triangles);
    let far = [corners[1][0], corners[3][1]];
    [corners[0][0], corners[0][1], far[0], far[1]].map(|at| at as f32 / SIDE as f32)
}

/// Returns the location on an edge, counted from `a`, in half units.
fn on_edge(a: i32, b: i32, at: u32) -> Location {
    let [a, b] = [a as u32, b as u32];
    match at {
        0 => Location::Vertex(a),
        at if at == 2 * SIDE => Location::Vertex(b),
        at if a < b => Location::Edge(a, b, at as u16),
        at => Location::Edge(b, a, (2 * SIDE - at) as u16),
    }
}

/// Returns the location of a point (u,v) of a face with these vertices.
pub(super) fn location(face: &[i32], place: &Place, [u, v]: [u32; 2], triangles: bool) -> Location {
    let inside = Location::Inside(place.face, place.quadrant, u as u16, v as u16);
    if triangles {
        return match [u, v] {
            [u, 0] => on_edge(face[0], face[1], 2 * u),
            [0, v] => on_edge(face[0], face[2], 2 * v),
            [u, v] if u + v == SIDE => on_edge(face[1], face[2], 2 * v),
            _ => inside,
        };
    }
    if face.len() == 4 {
        return match [u, v] {
            [u, 0] => on_edge(face[0], face[1], 2 * u),
            [0, v] => on_edge(face[0], face[3], 2 * v),
            [SIDE, v] => on_edge(face[1], face[2], 2 * v),
            [u, SIDE] => on_edge(face[3], face[2], 2 * u),
            _ => inside,
        };
    }
    // A quadrilateral from its corner to the middles of the edges beside it and the centre.
    let (at, count) = (place.quadrant as usize, face.len());
    let (next, previous) = ((at + 1) % count, (at + count - 1) % count);
    match [u, v] {
        [u, 0] => on_edge(face[at], face[next], u),
        [0, v] => on_edge(face[at], face[previous], v),
        [SIDE, SIDE] => Location::Centre(place.face),
        [SIDE, v] => Location::Spoke(place.face, at as u32, v as u16),
        [u, SIDE] => Location::Spoke(place.face, previous as u32, u as u16),
        _ => inside,
    }
}

fn borders_of(triangles: bool) -> &'static [BorderPoints; 4] {
    if triangles { &TRIANGLE_BORDERS } else { &QUAD_BORDERS }
}

impl SharedPoints {
    /// Gives a patch the points that its neighbours have, or notes its own. `corners` are in the order of the face.
    pub(super) fn share(&mut self, corners: &[Location; 4], control: &mut [[f32; 3]], triangles: bool) {
        for border in borders_of(triangles) {
            for (end, point) in border.ends.into_iter().zip([border.points[0], border.points[border.points.len() - 1]])
            {
                control[point] = *self.ends.entry(corners[end]).or_insert(control[point]);
            }
            let inner = &border.points[1.min(border.points.len() - 1)..border.points.len() - 1];
            if inner.is_empty() {
                continue;
            }
            let [first, last] = border.ends.map(|end| corners[end]);
            let count = inner.len();
            let along = |k: usize| if first < last { inner[k] } else { inner[count - 1 - k] };
            let own: Border = std::array::from_fn(|k| if k < count { control[along(k)] } else { [0.0; 3] });
            let known = *self.borders.entry([first.min(last), first.max(last)]).or_insert(own);
            for (k, point) in known.into_iter().enumerate().take(count) {
                control[along(k)] = point;
            }
        }
    }

    /// Returns the points of the two curves of a border, if its neighbours are half as long: 7, or 9 of triangles.
    /// `middle` is the location of the middle of the border.
    fn seam(&self, ends: [Location; 2], middle: Location, inner: usize) -> Option<Vec<[f32; 3]>> {
        let half = |first: Location, last: Location| {
            let border = self.borders.get(&[first.min(last), first.max(last)])?;
            let mut points = border[..inner].to_vec();
            if first > last {
                points.reverse();
            }
            Some(points)
        };
        let (low, high) = (half(ends[0], middle)?, half(middle, ends[1])?);
        let end = |location: Location| self.ends.get(&location).copied();
        let mut points = vec![end(ends[0])?];
        points.extend(low);
        points.push(end(middle)?);
        points.extend(high);
        points.push(end(ends[1])?);
        Some(points)
    }

    /// Returns the seams of a patch of a face.
    pub(super) fn seams(&self, face: &[i32], place: &Place, triangles: bool) -> [Option<Vec<[f32; 3]>>; 4] {
        let corners = corners_of(place, triangles);
        let at = |point: [u32; 2]| location(face, place, point, triangles);
        borders_of(triangles).each_ref().map(|border| {
            let [first, last] = border.ends.map(|end| corners[end]);
            let middle = [(first[0] + last[0]) / 2, (first[1] + last[1]) / 2];
            if border.points.len() == 1 || place.depth == osd::ISOLATION_MAX {
                return None;
            }
            self.seam([at(first), at(last)], at(middle), border.points.len() - 2)
        })
    }
}
