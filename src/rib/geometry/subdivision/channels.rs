//! Facevarying values as OpenSubdiv takes them: equal values at a vertex are one value.

use rustc_hash::FxHashMap;

/// Facevarying variables with a common topology.
pub(super) struct FaceVaryingGroup {
    /// Whether these are texture coordinates.
    pub(super) texture: bool,
    /// Numbers of one value.
    pub(super) width: usize,
    /// The values at each corner.
    corners: Vec<f32>,
    /// The value of each corner.
    pub(super) values: Vec<i32>,
    /// The number of values.
    pub(super) value_count: u32,
    /// The values.
    pub(super) welded: Vec<f32>,
}

impl FaceVaryingGroup {
    pub(super) fn new(texture: bool) -> Self {
        Self { texture, width: 0, corners: Vec::new(), values: Vec::new(), value_count: 0, welded: Vec::new() }
    }

    /// Adds a variable of `width` numbers, with values for the corners that `origins` names; returns its first number
    /// in each value.
    pub(super) fn add(&mut self, width: usize, values: &[f32], origins: &[u32]) -> usize {
        let (start, wider) = (self.width, self.width + width);
        let mut corners = Vec::with_capacity(origins.len() * wider);
        for (corner, &origin) in origins.iter().enumerate() {
            corners.extend_from_slice(&self.corners[corner * start..][..start]);
            corners.extend_from_slice(&values[origin as usize * width..][..width]);
        }
        (self.corners, self.width) = (corners, wider);
        start
    }

    /// Finds the corners of each vertex that have equal values.
    pub(super) fn weld(&mut self, vertices: &[i32]) {
        let mut known: FxHashMap<(i32, Vec<u32>), i32> = FxHashMap::default();
        for (vertex, value) in vertices.iter().zip(self.corners.chunks_exact(self.width)) {
            // 0 and -0 are equal.
            let bits = value.iter().map(|x| (x + 0.0).to_bits()).collect();
            let next = known.len() as i32;
            let number = *known.entry((*vertex, bits)).or_insert(next);
            if number == next {
                self.welded.extend_from_slice(value);
            }
            self.values.push(number);
        }
        self.value_count = known.len() as u32;
        self.corners = Vec::new();
    }
}
