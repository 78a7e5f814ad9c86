//! Limit patches of subdivision meshes, through Pixar's OpenSubdiv (its library Far), which Debian packages as
//! `libosd-dev`.
//!
//! A [`Cage`] is a control mesh; a [`Refiner`] holds its topology and makes [`Patches`] of some of its faces at a time:
//! patches of the limit surface in Bezier form. Away from irregular features they are exact. At extraordinary vertices
//! they are Gregory patches: Bezier patches each of whose interior points is a pair, blended rationally; their corners
//! and the tangents there are those of the limit. Quadrilaterals have 16 points, u fastest, then the second points of
//! the interior pairs of corners (0,0), (1,0), (1,1), (0,1). Triangles have the 15 points of a quartic, rows of falling
//! length along u, then the second points of the pairs of corners (0,0), (1,0), (0,1). The first point of a pair
//! belongs to the edge that leaves its corner, in the order of the corners.
//!
//! This crate may use `unsafe`: everything that OpenSubdiv trusts is checked here first.

mod cage;
mod ffi;

pub use cage::{Boundary, Cage, CageError, Channel, FaceVarying, Scheme, VALENCE_MAX};

use std::ffi::{CStr, c_char};
use std::ptr::NonNull;

/// Levels of refinement at most.
pub const ISOLATION_MAX: u32 = 10;

/// The topology of a mesh.
#[derive(Debug)]
pub struct Refiner {
    raw: NonNull<ffi::OsdRefiner>,
    vertex_count: usize,
    face_count: usize,
    triangles: bool,
    linear_channels: bool,
    channel_value_counts: Vec<usize>,
}

/// Values to interpolate over a mesh, interleaved.
#[derive(Clone, Copy, Debug)]
pub struct Values<'v> {
    /// Numbers of each vertex, at least one.
    pub vertex_width: usize,
    /// The values of vertices, smooth like positions.
    pub vertex: &'v [f32],
    /// Numbers of each vertex that are linear over faces.
    pub varying_width: usize,
    /// Those.
    pub varying: &'v [f32],
    /// Numbers of each value of each channel, and the values.
    pub channels: &'v [(usize, &'v [f32])],
}

/// Where a patch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The face of the cage.
    pub face: u32,
    /// Which of the quadrilaterals of a face that is not one, by its corner; else 0.
    pub quadrant: u32,
    /// The corner (0,0) of the patch in that quadrilateral or triangle, in parts of 2^-depth.
    pub corner: [u16; 2],
    /// How often that was halved.
    pub depth: u32,
    /// Whether a triangle runs from its corner towards (0,0) instead of away from it.
    pub rotated: bool,
    /// Whether both points of each interior pair are the same in all values.
    pub regular: bool,
}

/// Patches of some faces, with values for each.
#[derive(Debug)]
pub struct Patches {
    raw: NonNull<ffi::OsdPatches>,
    channels: usize,
}

/// Why there are no patches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefineError {
    /// There would be more than the caller wants.
    TooMany,
    /// What the library reports.
    Failed(String),
}

fn message(error: &[c_char; ffi::ERROR_BYTES]) -> String {
    // SAFETY: the shim wrote a string that ends inside the buffer, or left the zeros with which it began.
    unsafe { CStr::from_ptr(error.as_ptr()) }.to_string_lossy().into_owned()
}

impl Refiner {
    /// Checks a cage and reads its topology.
    pub fn new(cage: &Cage<'_>) -> Result<Self, CageError> {
        cage.check()?;
        let counts: Vec<i32> = cage.channels.iter().map(|channel| channel.value_count as i32).collect();
        let values: Vec<*const i32> = cage.channels.iter().map(|channel| channel.values.as_ptr()).collect();
        let raw = ffi::OsdCage {
            scheme: if cage.scheme == Scheme::Loop { 2 } else { 1 },
            boundary: cage.boundary as i32,
            face_varying: cage.face_varying as i32,
            chaikin: i32::from(cage.chaikin),
            smooth_triangles: i32::from(cage.smooth_triangles),
            vertex_count: cage.vertex_count as i32,
            face_count: cage.face_sizes.len() as i32,
            face_sizes: cage.face_sizes.as_ptr(),
            face_vertices: cage.face_vertices.as_ptr(),
            crease_count: cage.crease_edges.len() as i32,
            crease_edges: cage.crease_edges.as_flattened().as_ptr(),
            crease_sharpness: cage.crease_sharpness.as_ptr(),
            corner_count: cage.corner_vertices.len() as i32,
            corner_vertices: cage.corner_vertices.as_ptr(),
            corner_sharpness: cage.corner_sharpness.as_ptr(),
            hole_count: cage.holes.len() as i32,
            hole_faces: cage.holes.as_ptr(),
            channel_count: cage.channels.len() as i32,
            channel_value_counts: counts.as_ptr(),
            channel_values: values.as_ptr(),
        };
        let mut error = [0; ffi::ERROR_BYTES];
        // SAFETY: all pointers are to slices of the lengths given beside them, which outlive the call; `check` has
        // compared every index with its count.
        let refiner = unsafe { ffi::osd_refiner_new(&raw, error.as_mut_ptr()) };
        Ok(Self {
            raw: NonNull::new(refiner).ok_or_else(|| CageError::Refused(message(&error)))?,
            vertex_count: cage.vertex_count as usize,
            face_count: cage.face_sizes.len(),
            triangles: cage.scheme == Scheme::Loop,
            linear_channels: cage.face_varying == FaceVarying::Linear,
            channel_value_counts: cage.channels.iter().map(|channel| channel.value_count as usize).collect(),
        })
    }

    /// Returns the number of control points of a patch: 20, or 18 of a triangle.
    pub fn point_count(&self) -> usize {
        if self.triangles { 18 } else { 20 }
    }

    /// Returns the number of corners of a patch.
    pub fn corner_count(&self) -> usize {
        if self.triangles { 3 } else { 4 }
    }

    /// Whether face-varying values are given at corners instead of control points.
    pub fn has_linear_channels(&self) -> bool {
        self.linear_channels
    }

    /// Makes the patches of some faces. Creases are isolated to `isolation` levels, extraordinary vertices to
    /// `smooth_isolation`.
    ///
    /// # Panics
    ///
    /// If values are missing or a face does not exist.
    pub fn refine(
        &mut self,
        faces: &[i32],
        isolation: u32,
        smooth_isolation: u32,
        patches_max: usize,
        values: &Values<'_>,
    ) -> Result<Patches, RefineError> {
        assert!(!faces.is_empty(), "an empty list means all faces to the library");
        let in_cage = |face: &i32| usize::try_from(*face).is_ok_and(|face| face < self.face_count);
        assert!(faces.iter().all(in_cage), "faces of the cage");
        assert!(
            values.vertex_width > 0 && values.vertex.len() == self.vertex_count * values.vertex_width,
            "vertex values"
        );
        assert!(values.varying.len() == self.vertex_count * values.varying_width, "varying values");
        assert!(values.channels.len() == self.channel_value_counts.len(), "channels");
        for ((width, channel), count) in values.channels.iter().zip(&self.channel_value_counts) {
            assert!(channel.len() == width * count, "face-varying values");
        }
        let widths: Vec<i32> = values.channels.iter().map(|(width, _)| *width as i32).collect();
        let channels: Vec<*const f32> = values.channels.iter().map(|(_, values)| values.as_ptr()).collect();
        let raw = ffi::OsdValues {
            vertex_width: values.vertex_width as i32,
            vertex: values.vertex.as_ptr(),
            varying_width: values.varying_width as i32,
            varying: values.varying.as_ptr(),
            channel_widths: widths.as_ptr(),
            channels: channels.as_ptr(),
        };
        let [isolation, smooth_isolation] =
            [isolation, smooth_isolation].map(|level| level.clamp(1, ISOLATION_MAX) as i32);
        let patches_max = i32::try_from(patches_max).unwrap_or(i32::MAX);
        let mut error = [0; ffi::ERROR_BYTES];
        // SAFETY: the refiner is alive and not shared; the faces exist; all values have the lengths that the cage asks
        // for and outlive the call.
        let patches = unsafe {
            ffi::osd_refine(
                self.raw.as_ptr(),
                faces.as_ptr(),
                faces.len() as i32,
                isolation,
                smooth_isolation,
                patches_max,
                &raw,
                error.as_mut_ptr(),
            )
        };
        match (NonNull::new(patches), error[0]) {
            (Some(raw), _) => Ok(Patches { raw, channels: channels.len() }),
            (None, 0) => Err(RefineError::TooMany),
            (None, _) => Err(RefineError::Failed(message(&error))),
        }
    }
}

impl Drop for Refiner {
    fn drop(&mut self) {
        // SAFETY: it was made by `osd_refiner_new` and is freed once.
        unsafe { ffi::osd_refiner_free(self.raw.as_ptr()) }
    }
}

impl Patches {
    /// Returns the place of each patch.
    pub fn places(&self) -> Vec<Place> {
        // SAFETY: the records live as long as the patches, and there are as many as the count says.
        let records =
            unsafe { slice(ffi::osd_patch_records(self.raw.as_ptr()), ffi::osd_patch_count(self.raw.as_ptr())) };
        let place = |patch: &ffi::OsdPatch| Place {
            face: patch.face as u32,
            quadrant: patch.quadrant as u32,
            corner: [patch.u, patch.v],
            depth: u32::from(patch.depth),
            rotated: patch.rotated != 0,
            regular: patch.regular != 0,
        };
        records.iter().map(place).collect()
    }

    /// Returns the vertex values at the control points of each patch.
    pub fn vertex_values(&self) -> &[f32] {
        let mut count = 0;
        // SAFETY: the values live as long as the patches, and the call sets their count.
        unsafe {
            let values = ffi::osd_vertex_values(self.raw.as_ptr(), &mut count);
            slice(values, count)
        }
    }

    /// Returns the varying values at the corners of each patch: (0,0), (1,0), (1,1), (0,1), or the three of a triangle.
    pub fn varying_values(&self) -> &[f32] {
        let mut count = 0;
        // SAFETY: as above.
        unsafe {
            let values = ffi::osd_varying_values(self.raw.as_ptr(), &mut count);
            slice(values, count)
        }
    }

    /// Returns the values of a channel: at the corners of each patch if channels are linear, else at its control
    /// points.
    ///
    /// # Panics
    ///
    /// If there is no such channel.
    pub fn channel_values(&self, channel: usize) -> &[f32] {
        assert!(channel < self.channels, "channel {channel} of {}", self.channels);
        let mut count = 0;
        // SAFETY: as above, and the channel exists.
        unsafe {
            let values = ffi::osd_channel_values(self.raw.as_ptr(), channel as i32, &mut count);
            slice(values, count)
        }
    }
}

impl Drop for Patches {
    fn drop(&mut self) {
        // SAFETY: they were made by `osd_refine` and are freed once.
        unsafe { ffi::osd_patches_free(self.raw.as_ptr()) }
    }
}

/// A slice from a pointer that may be null if there is nothing.
///
/// # Safety
///
/// Unless `count` is 0, `first` points to `count` values that live for `'a`.
unsafe fn slice<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(first, count) }
}

#[cfg(test)]
mod tests;
