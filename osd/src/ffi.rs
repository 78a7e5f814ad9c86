//! Declarations of `shim.h`.

use std::ffi::c_char;

/// Opaque: a refiner of the C++ side.
#[repr(C)]
pub(crate) struct OsdRefiner {
    private: [u8; 0],
}

/// Opaque: patches of the C++ side.
#[repr(C)]
pub(crate) struct OsdPatches {
    private: [u8; 0],
}

#[repr(C)]
pub(crate) struct OsdCage {
    pub(crate) scheme: i32,
    pub(crate) boundary: i32,
    pub(crate) face_varying: i32,
    pub(crate) chaikin: i32,
    pub(crate) smooth_triangles: i32,
    pub(crate) vertex_count: i32,
    pub(crate) face_count: i32,
    pub(crate) face_sizes: *const i32,
    pub(crate) face_vertices: *const i32,
    pub(crate) crease_count: i32,
    pub(crate) crease_edges: *const i32,
    pub(crate) crease_sharpness: *const f32,
    pub(crate) corner_count: i32,
    pub(crate) corner_vertices: *const i32,
    pub(crate) corner_sharpness: *const f32,
    pub(crate) hole_count: i32,
    pub(crate) hole_faces: *const i32,
    pub(crate) channel_count: i32,
    pub(crate) channel_value_counts: *const i32,
    pub(crate) channel_values: *const *const i32,
}

#[repr(C)]
pub(crate) struct OsdValues {
    pub(crate) vertex_width: i32,
    pub(crate) vertex: *const f32,
    pub(crate) varying_width: i32,
    pub(crate) varying: *const f32,
    pub(crate) channel_widths: *const i32,
    pub(crate) channels: *const *const f32,
}

#[repr(C)]
pub(crate) struct OsdPatch {
    pub(crate) face: i32,
    pub(crate) quadrant: i32,
    pub(crate) u: u16,
    pub(crate) v: u16,
    pub(crate) depth: u8,
    pub(crate) regular: u8,
    pub(crate) rotated: u8,
    pub(crate) spare: u8,
}

/// Bytes of an error message, with its final zero.
pub(crate) const ERROR_BYTES: usize = 256;

unsafe extern "C" {
    pub(crate) fn osd_refiner_new(cage: *const OsdCage, error: *mut c_char) -> *mut OsdRefiner;
    #[cfg(test)]
    pub(crate) fn osd_even_limit(
        refiner: *mut OsdRefiner,
        level: i32,
        positions: *const f32,
        limits: *mut f32,
        room: usize,
    ) -> usize;
    pub(crate) fn osd_refiner_free(refiner: *mut OsdRefiner);
    pub(crate) fn osd_refine(
        refiner: *mut OsdRefiner,
        faces: *const i32,
        count: i32,
        isolation: i32,
        smooth_isolation: i32,
        patches_max: i32,
        values: *const OsdValues,
        error: *mut c_char,
    ) -> *mut OsdPatches;
    pub(crate) fn osd_patches_free(patches: *mut OsdPatches);
    pub(crate) fn osd_patch_count(patches: *const OsdPatches) -> usize;
    pub(crate) fn osd_patch_records(patches: *const OsdPatches) -> *const OsdPatch;
    pub(crate) fn osd_vertex_values(patches: *const OsdPatches, count: *mut usize) -> *const f32;
    pub(crate) fn osd_varying_values(patches: *const OsdPatches, count: *mut usize) -> *const f32;
    pub(crate) fn osd_channel_values(patches: *const OsdPatches, channel: i32, count: *mut usize) -> *const f32;
}
