//! Meshes to patches of their limit surface: refined part by part, with all values.

use super::channels::FaceVaryingGroup;
use super::control_mesh::ControlMesh;
use super::seams::{Location, SharedPoints, corners_of, location, uv_range};
use crate::rib::geometry::column::{Column, PrimvarValues};
use crate::scene::{Class, LimitPatches};
use osd::{Cage, Channel, Place, RefineError, Refiner, Scheme, Values};
use rustc_hash::FxHashMap;

/// Levels to which extraordinary vertices are isolated, if there are not too many patches.
const SMOOTH_LEVEL: u32 = 3;

/// Levels to which everything is isolated where an infinitely sharp crease ends inside the mesh: the limit there is
/// known only as that of the levels.
const DART_LEVEL: u32 = 5;

/// Levels to which creases are isolated at most: a sharper one ends in a patch that is nearly infinitely sharp.
const CREASE_LEVEL_MAX: u32 = 6;

/// The patches of a mesh that are expected at most; beyond, it is refined less.
const PATCHES_EXPECTED_MAX: u64 = 3 << 20;

/// The patches of a mesh at most.
const PATCHES_MAX: usize = 8 << 20;

/// Faces that are refined at once: about what fits some hundred megabytes.
const PATCHES_AT_ONCE: u64 = 1 << 18;

/// The sharpness from which on an edge stays sharp in the limit.
const SHARPNESS_INFINITE: f32 = 10.0;

/// The levels to which a mesh is refined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Levels {
    crease: u32,
    smooth: u32,
}

/// Patches as they are collected.
#[derive(Default)]
struct Collected {
    places: Vec<Place>,
    /// Positions, [`Refiner::point_count`] a patch.
    control: Vec<[f32; 3]>,
    /// Other vertex values at those points.
    vertex: Vec<f32>,
    varying: Vec<f32>,
    channels: Vec<Vec<f32>>,
    shared: SharedPoints,
}

/// Where each column's values are among the interleaved ones.
struct ColumnLayout {
    /// Numbers of a vertex besides its position.
    vertex_width: usize,
    varying_width: usize,
    channels: Vec<FaceVaryingGroup>,
    /// For each column, where it is.
    places: Vec<ColumnPlace>,
}

/// Where the values of a column are.
#[derive(Clone, Copy)]
enum ColumnPlace {
    /// They stay as they are.
    Kept,
    Vertex(usize),
    Varying(usize),
    /// In a channel.
    Channel(usize, usize),
}

impl ControlMesh<'_> {
    /// Returns the limit patches with the columns' values for them. The error says why there are none.
    pub(super) fn limit(
        &self,
        scheme: Scheme,
        positions: &[[f32; 3]],
        columns: &mut [Column],
    ) -> Result<LimitPatches, String> {
        let layout = self.layout(columns);
        let channels: Vec<Channel<'_>> = layout
            .channels
            .iter()
            .map(|group| Channel { value_count: group.value_count, values: &group.values })
            .collect();
        let cage = Cage {
            scheme,
            boundary: self.rules.boundary,
            face_varying: self.rules.face_varying,
            chaikin: self.rules.chaikin,
            smooth_triangles: self.rules.smooth_triangles,
            vertex_count: positions.len() as u32,
            face_sizes: &self.sizes,
            face_vertices: &self.vertices,
            crease_edges: &self.rules.crease_edges,
            crease_sharpness: &self.rules.crease_sharpness,
            corner_vertices: &self.rules.corner_vertices,
            corner_sharpness: &self.rules.corner_sharpness,
            holes: &self.rules.holes,
            channels: &channels,
        };
        let mut refiner = Refiner::new(&cage).map_err(|error| error.to_string())?;
        let collected = self.refine(&mut refiner, positions, columns, &layout)?;
        if collected.places.is_empty() {
            return Err("it has no face to draw: those at its boundary need the tag \"interpolateboundary\"".to_owned());
        }
        Ok(self.assemble(&refiner, &collected, columns, &layout))
    }

    fn layout(&self, columns: &[Column]) -> ColumnLayout {
        let mut layout = ColumnLayout { vertex_width: 0, varying_width: 0, channels: Vec::new(), places: Vec::new() };
        let texture = |column: &Column| matches!(&*column.declaration.name, "s" | "t");
        for column in columns {
            let width = column.declaration.width() as usize;
            let PrimvarValues::Floats(values) = &column.values else {
                layout.places.push(ColumnPlace::Kept);
                continue;
            };
            let place = |total: &mut usize| {
                *total += width;
                *total - width
            };
            layout.places.push(match column.declaration.class {
                Class::Constant | Class::Uniform => ColumnPlace::Kept,
                Class::Vertex => ColumnPlace::Vertex(place(&mut layout.vertex_width)),
                Class::Varying => ColumnPlace::Varying(place(&mut layout.varying_width)),
                Class::FaceVarying => {
                    // The texture coordinates have one topology: a seam of s is one of t.
                    let known = layout.channels.iter().position(|group| texture(column) && group.texture);
                    let number = known.unwrap_or(layout.channels.len());
                    if known.is_none() {
                        layout.channels.push(FaceVaryingGroup::new(texture(column)));
                    }
                    ColumnPlace::Channel(number, layout.channels[number].add(width, values, &self.corner_origins))
                }
            });
        }
        for group in &mut layout.channels {
            group.weld(&self.vertices);
        }
        layout
    }

    /// Returns the numbers of each vertex, interleaved: those of the columns at their places.
    fn interleaved(
        columns: &[Column],
        layout: &ColumnLayout,
        count: usize,
        width: usize,
        start: &dyn Fn(ColumnPlace) -> Option<usize>,
    ) -> Vec<f32> {
        let mut all = vec![0.0; count * width];
        for (column, place) in columns.iter().zip(&layout.places) {
            let (Some(start), PrimvarValues::Floats(values)) = (start(*place), &column.values) else { continue };
            let own = column.declaration.width() as usize;
            for (row, value) in all.chunks_exact_mut(width).zip(values.chunks_exact(own)) {
                row[start..start + own].copy_from_slice(value);
            }
        }
        all
    }

    fn refine(
        &self,
        refiner: &mut Refiner,
        positions: &[[f32; 3]],
        columns: &[Column],
        layout: &ColumnLayout,
    ) -> Result<Collected, String> {
        let width = 3 + layout.vertex_width;
        let mut vertex = Self::interleaved(columns, layout, positions.len(), width, &|place| match place {
            ColumnPlace::Vertex(start) => Some(3 + start),
            _ => None,
        });
        for (row, position) in vertex.chunks_exact_mut(width).zip(positions) {
            row[..3].copy_from_slice(position);
        }
        let varying_width = layout.varying_width;
        let varying = match varying_width {
            0 => Vec::new(),
            width => Self::interleaved(columns, layout, positions.len(), width, &|place| match place {
                ColumnPlace::Varying(start) => Some(start),
                _ => None,
            }),
        };
        let channels: Vec<(usize, &[f32])> =
            layout.channels.iter().map(|group| (group.width, &group.welded[..])).collect();
        let values =
            Values { vertex_width: width, vertex: &vertex, varying_width, varying: &varying, channels: &channels };
        let (levels, expected) = self.levels(refiner.corner_count() == 3, positions.len());
        let at_once = (PATCHES_AT_ONCE * self.sizes.len() as u64 / expected.max(1)).clamp(64, 1 << 20) as usize;
        let mut collected = Collected { channels: vec![Vec::new(); channels.len()], ..Collected::default() };
        let faces: Vec<i32> = (0..self.sizes.len() as i32).collect();
        for part in faces.chunks(at_once) {
            let left = PATCHES_MAX - collected.places.len();
            let patches =
                refiner.refine(part, levels.crease, levels.smooth, left, &values).map_err(|error| match error {
                    RefineError::TooMany => format!("it would have more than {PATCHES_MAX} patches"),
                    RefineError::Failed(what) => what,
                })?;
            self.collect(refiner, &patches, width, &mut collected);
        }
        Ok(collected)
    }

    /// Returns how far to refine, and about how many patches there will be.
    fn levels(&self, triangles: bool, vertex_count: usize) -> (Levels, u64) {
        let mut valences = vec![0_u32; vertex_count];
        self.vertices.iter().for_each(|&vertex| valences[vertex as usize] += 1);
        let regular = if triangles { (3, 6) } else { (4, 4) };
        let mut irregular = 0_u64;
        for face in self.faces() {
            let features = face.iter().filter(|&&vertex| valences[vertex as usize] != regular.1).count();
            irregular += if face.len() == regular.0 { features as u64 } else { face.len() as u64 };
        }
        let finite = |sharpness: &&f32| **sharpness > 0.0 && **sharpness < SHARPNESS_INFINITE;
        let sharp = || self.rules.crease_sharpness.iter().chain(&self.rules.corner_sharpness).filter(finite);
        let sharpest = sharp().fold(0.0_f32, |most, sharpness| most.max(*sharpness)).ceil() as u32;
        let creases = sharp().count() as u64;
        let expected = |levels: Levels| {
            self.sizes.len() as u64 + irregular * 3 * u64::from(levels.smooth) + creases * 8 * (1 << levels.crease)
        };
        let smooth = if self.has_dart() { DART_LEVEL } else { SMOOTH_LEVEL };
        let mut levels = Levels { crease: sharpest.clamp(smooth, CREASE_LEVEL_MAX), smooth };
        while expected(levels) > PATCHES_EXPECTED_MAX && levels.crease > 1 {
            levels.crease -= 1;
            levels.smooth = levels.smooth.min(levels.crease);
        }
        (levels, expected(levels))
    }

    /// Whether some vertex has one infinitely sharp edge.
    fn has_dart(&self) -> bool {
        let mut ends: FxHashMap<i32, u32> = FxHashMap::default();
        let sharp = self.rules.crease_edges.iter().zip(&self.rules.crease_sharpness);
        for (edge, _) in sharp.filter(|(_, sharpness)| **sharpness >= SHARPNESS_INFINITE) {
            edge.iter().for_each(|vertex| *ends.entry(*vertex).or_insert(0) += 1);
        }
        ends.values().any(|count| *count == 1)
    }

    fn collect(&self, refiner: &Refiner, patches: &osd::Patches, width: usize, collected: &mut Collected) {
        let triangles = refiner.corner_count() == 3;
        for (place, points) in
            patches.places().into_iter().zip(patches.vertex_values().chunks_exact(refiner.point_count() * width))
        {
            let face = self.face(place.face as usize);
            let corners: [Location; 4] =
                corners_of(&place, triangles).map(|corner| location(face, &place, corner, triangles));
            let first = collected.control.len();
            for point in points.chunks_exact(width) {
                collected.control.push([point[0], point[1], point[2]]);
                collected.vertex.extend_from_slice(&point[3..]);
            }
            collected.shared.share(&corners, &mut collected.control[first..], triangles);
            collected.places.push(place);
        }
        collected.varying.extend_from_slice(patches.varying_values());
        for (channel, values) in collected.channels.iter_mut().enumerate() {
            values.extend_from_slice(patches.channel_values(channel));
        }
    }

    /// Puts plain patches first, finds seams, and gives the columns their values.
    fn assemble(
        &self,
        refiner: &Refiner,
        collected: &Collected,
        columns: &mut [Column],
        layout: &ColumnLayout,
    ) -> LimitPatches {
        let triangles = refiner.corner_count() == 3;
        let mut seams = Vec::new();
        let mut seam_points = Vec::new();
        let (mut plain, mut others) = (Vec::new(), Vec::new());
        let seam_count = if triangles { 9 } else { 7 };
        for (i, place) in collected.places.iter().enumerate() {
            let found = collected.shared.seams(self.face(place.face as usize), place, triangles);
            if !triangles && place.regular && found.iter().all(Option::is_none) {
                plain.push(i);
                continue;
            }
            others.push(i);
            seams.push(found.map(|points| {
                points.map_or(0, |points| {
                    seam_points.extend(points);
                    (seam_points.len() / seam_count) as u32
                })
            }));
        }
        let plain_count = plain.len();
        let order = PatchOrder {
            patches: plain.into_iter().chain(others).collect(),
            plain_count,
            point_count: refiner.point_count(),
            triangles,
        };
        for (column, place) in columns.iter_mut().zip(&layout.places) {
            order.arrange(column, *place, collected, layout, refiner.has_linear_channels());
        }
        let place = |i: &usize| &collected.places[*i];
        LimitPatches {
            triangles,
            plain_count,
            control: order.points().map(|point| collected.control[point]).collect(),
            seams: seams.into(),
            seam_points: seam_points.into(),
            face: order.patches.iter().map(|i| self.face_origins[place(i).face as usize]).collect(),
            uv_range: order.patches.iter().map(|i| uv_range(place(i), triangles)).collect(),
        }
    }
}

/// The order of the patches of a shape.
struct PatchOrder {
    /// The number of each as it was collected.
    patches: Vec<usize>,
    plain_count: usize,
    /// The points of a patch as it was collected.
    point_count: usize,
    triangles: bool,
}

impl PatchOrder {
    /// Iterates over the numbers of all control points as they were collected.
    fn points(&self) -> impl Iterator<Item = usize> {
        self.patches.iter().enumerate().flat_map(move |(rank, patch)| {
            let count = if rank < self.plain_count { 16 } else { self.point_count };
            (0..count).map(move |point| self.point_count * patch + point)
        })
    }

    /// Iterates over the numbers of all corners as they were collected, in the order of a shape.
    fn corners(&self) -> impl Iterator<Item = usize> {
        let corners: &[usize] = if self.triangles { &[0, 1, 2] } else { &[0, 1, 3, 2] };
        self.patches.iter().flat_map(move |patch| corners.iter().map(move |corner| corners.len() * patch + corner))
    }

    /// Gives a column its values for the patches.
    fn arrange(
        &self,
        column: &mut Column,
        place: ColumnPlace,
        collected: &Collected,
        layout: &ColumnLayout,
        linear_channels: bool,
    ) {
        let own = column.declaration.width() as usize;
        let take = |from: &[f32], width: usize, start: usize, rows: &mut dyn Iterator<Item = usize>| -> Vec<f32> {
            let mut values = Vec::new();
            for row in rows {
                values.extend_from_slice(&from[row * width + start..][..own]);
            }
            values
        };
        let values = match place {
            ColumnPlace::Kept => return,
            ColumnPlace::Vertex(start) => take(&collected.vertex, layout.vertex_width, start, &mut self.points()),
            ColumnPlace::Varying(start) => take(&collected.varying, layout.varying_width, start, &mut self.corners()),
            ColumnPlace::Channel(channel, start) => {
                let (from, width) = (&collected.channels[channel], layout.channels[channel].width);
                if linear_channels {
                    take(from, width, start, &mut self.corners())
                } else {
                    column.declaration.class = Class::Vertex;
                    take(from, width, start, &mut self.points())
                }
            }
        };
        column.values = PrimvarValues::Floats(values);
    }
}
