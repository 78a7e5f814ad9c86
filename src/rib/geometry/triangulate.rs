//! Converts polygons to facets: convex flat quadrilaterals stay whole, everything else becomes triangles.
//!
//! A triangulation may omit corners on a straight edge. A neighbouring polygon has them as corners, and a crack would
//! open there, so they are restored: no facet has a corner of the polygon inside one of its edges.

use earcut::Earcut;
use glam::DVec3;
use rustc_hash::FxHashMap;

/// The largest number of corners of a face; ear cutting takes quadratic time at worst.
const CORNERS_MAX: usize = 1 << 16;
/// The largest distance of a quadrilateral's corners from its plane, relative to its size, at which it stays whole.
const FLATNESS: f64 = 0.01;
/// The smallest sine-like measure of a corner, relative to the area, at which a quadrilateral counts as convex.
const CONVEXITY: f64 = 1e-5;
/// The area below which a face counts as empty, relative to its size squared.
const AREA_MIN: f64 = 1e-12;

/// Why a face has no facets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoFacets {
    /// Its corners are on a line or at a point, or there are fewer than three.
    NoArea,
    /// It has more than [`CORNERS_MAX`] corners.
    TooManyCorners,
}

/// Triangulates faces one after the other, reusing its memory.
#[derive(Default)]
pub(super) struct Triangulator {
    earcut: Earcut<f64>,
    points: Vec<DVec3>,
    flat: Vec<[f64; 2]>,
    loop_starts: Vec<u32>,
    indices: Vec<u32>,
    facets: Vec<[u32; 4]>,
}

impl Triangulator {
    /// Returns the facets of a face and its unit normal by Newell's sum over the outer loop. Facets are indices into
    /// `corners`, at (u,v) = (0,0) (1,0) (0,1) (1,1); dP/du x dP/dv of each has the direction of the normal. `corners`
    /// holds all loops, the outer one first, and `loops` the number of corners of each.
    pub(super) fn face(
        &mut self,
        corners: impl ExactSizeIterator<Item = [f32; 3]>,
        loops: &[usize],
    ) -> Result<(&[[u32; 4]], [f32; 3]), NoFacets> {
        if corners.len() > CORNERS_MAX {
            return Err(NoFacets::TooManyCorners);
        }
        let outer = loops.first().copied().unwrap_or(0);
        if outer < 3 || corners.len() < outer {
            return Err(NoFacets::NoArea);
        }
        self.points.clear();
        self.points.extend(corners.map(|corner| DVec3::from(corner.map(f64::from))));
        // With their number known, the sums over few corners need no loops.
        let (normal, size) = match &self.points[..outer] {
            &[a, b, c] => (newell(&[a, b, c]), extent(&[a, b, c])),
            &[a, b, c, d] => (newell(&[a, b, c, d]), extent(&[a, b, c, d])),
            corners => (newell(corners), extent(corners)),
        };
        let area = normal.length();
        if area <= AREA_MIN * size * size {
            return Err(NoFacets::NoArea);
        }
        self.facets.clear();
        match *self.points.as_slice() {
            [_, _, _] => self.facets.push([0, 1, 2, 2]),
            [a, b, c, d] if loops.len() == 1 && is_flat_and_convex([a, b, c, d], normal, size) => {
                self.facets.push([0, 1, 3, 2]);
            }
            _ => self.cut_ears(loops, normal),
        }
        let unit = (normal / area).as_vec3().to_array();
        if self.facets.is_empty() { Err(NoFacets::NoArea) } else { Ok((&self.facets, unit)) }
    }

    fn cut_ears(&mut self, loops: &[usize], normal: DVec3) {
        let project = projection(normal);
        self.flat.clear();
        self.flat.extend(self.points.iter().map(project));
        self.loop_starts.clear();
        let mut start = 0;
        for &length in loops {
            self.loop_starts.push(start as u32);
            start += length;
        }
        self.indices.clear();
        self.earcut.earcut(self.flat.iter().copied(), &self.loop_starts[1..], &mut self.indices);
        self.orient();
        let mut triangles: Vec<[u32; 3]> = self.indices.as_chunks().0.to_vec();
        self.restore_corners(loops, &mut triangles);
        let is_proper = |&[a, b, c]: &[u32; 3]| a != b && b != c && c != a;
        self.facets.extend(triangles.into_iter().filter(is_proper).map(|[a, b, c]| [a, b, c, c]));
    }

    /// Orients all triangles like the outer loop, which is counterclockwise in the plane.
    fn orient(&mut self) {
        let twice_area = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|index| self.flat[index as usize]);
            (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        };
        let (triangles, _) = self.indices.as_chunks();
        if triangles.iter().map(twice_area).sum::<f64>() < 0.0 {
            for triangle in self.indices.as_chunks_mut::<3>().0 {
                triangle.swap(1, 2);
            }
        }
    }

    /// Restores corners that the triangulation omitted.
    fn restore_corners(&self, loops: &[usize], triangles: &mut Vec<[u32; 3]>) {
        let mut used = vec![false; self.points.len()];
        for index in triangles.iter().flatten() {
            used[*index as usize] = true;
        }
        if used.iter().all(|used| *used) {
            return;
        }
        let mut edges = Edges::default();
        for (triangle, corners) in triangles.iter().enumerate() {
            edges.add(triangle, corners);
        }
        for (start, &length) in self.loop_starts.iter().map(|start| *start as usize).zip(loops) {
            let Some(first) = (start..start + length).find(|index| used[*index]) else { continue };
            // Goes around the loop from one used corner to the next and collects those in between.
            let mut from = first;
            let mut missing = Vec::new();
            for step in 1..=length {
                let index = start + (first - start + step) % length;
                if !used[index] {
                    missing.push(index as u32);
                    continue;
                }
                self.keep_distinct(from, index, &mut missing);
                if !missing.is_empty() {
                    edges.split(triangles, [from as u32, index as u32], &missing);
                }
                missing.clear();
                from = index;
            }
        }
    }

    /// Removes corners that coincide with the previous one or with the end.
    fn keep_distinct(&self, from: usize, to: usize, missing: &mut Vec<u32>) {
        let mut last = self.points[from];
        missing.retain(|&index| {
            let point = self.points[index as usize];
            let distinct = point != last && point != self.points[to];
            if distinct {
                last = point;
            }
            distinct
        });
    }
}

/// Maps each edge to its triangle.
#[derive(Default)]
struct Edges(FxHashMap<[u32; 2], usize>);

impl Edges {
    fn key([a, b]: [u32; 2]) -> [u32; 2] {
        [a.min(b), a.max(b)]
    }

    fn add(&mut self, triangle: usize, &[a, b, c]: &[u32; 3]) {
        for edge in [[a, b], [b, c], [c, a]] {
            self.0.insert(Self::key(edge), triangle);
        }
    }

    /// Splits the triangle at `edge` into a fan that has `points`, ordered along the edge, as corners. An edge without
    /// a triangle belongs to a polygon that intersects itself and is left as it is.
    fn split(&mut self, triangles: &mut Vec<[u32; 3]>, edge: [u32; 2], points: &[u32]) {
        let Some(&index) = self.0.get(&Self::key(edge)) else { return };
        let [a, b, c] = triangles[index];
        let has = |x, y| Self::key([x, y]) == Self::key(edge);
        let [from, to, apex] = if has(a, b) {
            [a, b, c]
        } else if has(b, c) {
            [b, c, a]
        } else {
            [c, a, b]
        };
        let mut row: Vec<u32> = points.to_vec();
        if from != edge[0] {
            row.reverse();
        }
        let ends = row.iter().copied().chain([to]);
        let begins = [from].into_iter().chain(row.iter().copied());
        for (piece, (begin, end)) in begins.zip(ends).enumerate() {
            let triangle = [begin, end, apex];
            let at = if piece == 0 { index } else { triangles.len() };
            if piece == 0 {
                triangles[index] = triangle;
            } else {
                triangles.push(triangle);
            }
            self.add(at, &triangle);
        }
    }
}

/// Returns twice the vector area of a loop (Newell's sum), relative to its first corner for accuracy.
#[inline(always)]
fn newell(corners: &[DVec3]) -> DVec3 {
    let origin = corners[0];
    corners.windows(2).map(|pair| (pair[0] - origin).cross(pair[1] - origin)).sum()
}

/// Returns the largest side of the bounding box.
#[inline(always)]
fn extent(corners: &[DVec3]) -> f64 {
    let (low, high) =
        corners.iter().fold((corners[0], corners[0]), |(low, high), point| (low.min(*point), high.max(*point)));
    (high - low).max_element()
}

#[inline(always)]
fn is_flat_and_convex(corners: [DVec3; 4], normal: DVec3, size: f64) -> bool {
    let area = normal.length();
    let centre = corners.iter().sum::<DVec3>() / 4.0;
    let edges: [DVec3; 4] = std::array::from_fn(|i| corners[(i + 1) % 4] - corners[i]);
    (0..4).all(|i| {
        let height = (corners[i] - centre).dot(normal);
        let turn = edges[(i + 3) % 4].cross(edges[i]).dot(normal);
        height.abs() <= FLATNESS * size * area && turn > CONVEXITY * area * area
    })
}

/// Drops the coordinate along which the polygon is flattest and keeps the others as they are, so that corners on a
/// straight edge stay exactly on it. A loop with that normal runs counterclockwise.
fn projection(normal: DVec3) -> impl Fn(&DVec3) -> [f64; 2] {
    let dropped = normal.abs().max_position();
    let (mut x, mut y) = ((dropped + 1) % 3, (dropped + 2) % 3);
    if normal[dropped] < 0.0 {
        std::mem::swap(&mut x, &mut y);
    }
    move |point| [point[x], point[y]]
}

#[cfg(test)]
mod tests {
    use super::*;

    type FacetsAndNormal = (Vec<[u32; 4]>, [f32; 3]);

    fn face(corners: &[[f32; 3]], loops: &[usize]) -> Result<FacetsAndNormal, NoFacets> {
        let mut triangulator = Triangulator::default();
        triangulator.face(corners.iter().copied(), loops).map(|(facets, normal)| (facets.to_vec(), normal))
    }

    fn flat(corners: &[[f32; 2]]) -> Vec<[f32; 3]> {
        corners.iter().map(|[x, y]| [*x, *y, 0.0]).collect()
    }

    fn triangle_area(corners: &[[f32; 3]], facet: &[u32; 4]) -> f64 {
        let [a, b, c] = [0, 1, 2].map(|i| DVec3::from(corners[facet[i] as usize].map(f64::from)));
        (b - a).cross(c - a).z / 2.0
    }

    /// Every edge of the polygon is the edge of exactly one triangle, and the areas add up.
    fn check_triangles(corners: &[[f32; 3]], loops: &[usize], area: f64) {
        let (facets, normal) = face(corners, loops).expect("it has area");
        assert!(facets.iter().all(|f| f[2] == f[3]), "all are triangles: {facets:?}");
        let sum: f64 = facets.iter().map(|facet| triangle_area(corners, facet)).sum();
        assert!((sum * f64::from(normal[2]) - area).abs() < 1e-6, "area {sum} instead of {area}");
        let mut edges: FxHashMap<[u32; 2], u32> = FxHashMap::default();
        for [a, b, c, _] in &facets {
            for edge in [[*a, *b], [*b, *c], [*c, *a]] {
                *edges.entry(Edges::key(edge)).or_default() += 1;
            }
        }
        let mut start = 0;
        for length in loops {
            for i in 0..*length {
                let edge = [start + i, start + (i + 1) % length].map(|index| index as u32);
                assert_eq!(edges.get(&Edges::key(edge)), Some(&1), "the edge {edge:?} of {facets:?}");
            }
            start += length;
        }
    }

    const SQUARE: [[f32; 2]; 4] = [[0., 0.], [1., 0.], [1., 1.], [0., 1.]];

    #[test]
    fn a_convex_flat_quadrilateral_stays_whole_and_keeps_its_normal() {
        let corners = flat(&SQUARE);
        assert_eq!(face(&corners, &[4]), Ok((vec![[0, 1, 3, 2]], [0.0, 0.0, 1.0])));
        let reversed: Vec<_> = corners.iter().rev().copied().collect();
        assert_eq!(face(&reversed, &[4]), Ok((vec![[0, 1, 3, 2]], [0.0, 0.0, -1.0])));
        assert_eq!(face(&corners[..3], &[3]), Ok((vec![[0, 1, 2, 2]], [0.0, 0.0, 1.0])));
    }

    #[test]
    fn bent_and_concave_quadrilaterals_become_triangles() {
        let mut bent = flat(&SQUARE);
        bent[2][2] = 0.5;
        assert_eq!(face(&bent, &[4]).expect("it has area").0.len(), 2);
        let arrow = flat(&[[0., 0.], [1., 1.], [0., 0.25], [-1., 1.]]);
        check_triangles(&arrow, &[4], 0.25);
    }

    #[test]
    fn corners_on_straight_edges_are_kept() {
        // A square with corners in the middle of every side, one of them doubled in number.
        let ring = flat(&[[0., 0.], [1., 0.], [2., 0.], [2., 1.], [2., 2.], [1.5, 2.], [0.5, 2.], [0., 2.], [0., 0.5]]);
        check_triangles(&ring, &[9], 4.0);
        let triangle = flat(&[[0., 0.], [2., 0.], [1., 1.], [0., 2.]]);
        check_triangles(&triangle, &[4], 2.0);
    }

    #[test]
    fn holes_of_either_orientation() {
        let mut corners = flat(&[[0., 0.], [4., 0.], [4., 4.], [0., 4.]]);
        corners.extend(flat(&[[1., 1.], [2., 1.], [3., 1.], [3., 3.], [1., 3.]]));
        check_triangles(&corners, &[4, 5], 12.0);
        corners[4..].reverse();
        check_triangles(&corners, &[4, 5], 12.0);
        corners[..4].reverse();
        check_triangles(&corners, &[4, 5], 12.0);
    }

    #[test]
    fn a_star_of_many_corners_on_any_plane() {
        let ring = |i: usize| {
            let angle = i as f32 / 200.0 * std::f32::consts::TAU;
            let radius = if i.is_multiple_of(2) { 1.0 } else { 0.4 };
            [radius * angle.cos(), radius * angle.sin()]
        };
        let star: Vec<[f32; 2]> = (0..200).map(ring).collect();
        let area = (0..200)
            .map(|i| (ring(i), ring((i + 1) % 200)))
            .map(|(a, b)| f64::from(a[0] * b[1] - a[1] * b[0]))
            .sum::<f64>()
            / 2.0;
        check_triangles(&flat(&star), &[200], area);
        // The same on x = y, seen from both sides.
        for turned in [star.clone(), star.into_iter().rev().collect()] {
            let corners: Vec<_> = turned.iter().map(|[a, b]| [*a, *a, *b]).collect();
            assert_eq!(face(&corners, &[200]).expect("it has area").0.len(), 198);
        }
    }

    #[test]
    fn lines_points_and_too_few_corners_have_no_facets() {
        for corners in [&[][..], &[[0.; 3]], &[[0.; 3], [1.; 3]], &[[0.; 3], [1.; 3], [2.; 3]], &[[5.; 3]; 6]] {
            assert_eq!(face(corners, &[corners.len()]), Err(NoFacets::NoArea), "{corners:?}");
        }
        let long = vec![[0.0; 3]; CORNERS_MAX + 1];
        assert_eq!(face(&long, &[long.len()]), Err(NoFacets::TooManyCorners));
    }

    #[test]
    fn self_intersecting_polygons_and_holes_outside_terminate() {
        let mut seed = 1u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from((seed >> 28) as u8)
        };
        for round in 0..2000 {
            let corners: Vec<[f32; 3]> = (0..6 + round % 9).map(|_| [random(), random(), 0.0]).collect();
            let outer = 3 + round % 3;
            if let Ok((facets, _)) = face(&corners, &[outer, corners.len() - outer]) {
                assert!(facets.iter().flatten().all(|index| (*index as usize) < corners.len()));
            }
        }
    }
}
