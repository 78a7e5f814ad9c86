//! Device memory by what it is for.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// What device memory is for: the rows of docs/memory.md. Buffers are named after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryCategory {
    /// Staging buffers, through which the host writes and reads device memory.
    Staging,
    /// What all regions of a picture share: instances, shader parameters, primvar bindings, clipping planes, motion.
    Frame,
    /// Tiles of textures, and where they are.
    Textures,
    /// Pages of geometry.
    Geometry,
    /// The lists of the counting pass.
    Counting,
    /// Pages of the list of grids.
    Grids,
    /// Regions in flight.
    Regions,
    /// What the samples of regions see, kept for another drawing.
    Visibility,
    /// The imager.
    Imager,
    /// What is left of the blocks that small buffers share, and buffers for anything else.
    Other,
}

impl MemoryCategory {
    /// All of them, in the order of docs/memory.md.
    pub const ALL: [Self; 10] = [
        Self::Staging,
        Self::Frame,
        Self::Textures,
        Self::Geometry,
        Self::Counting,
        Self::Grids,
        Self::Regions,
        Self::Visibility,
        Self::Imager,
        Self::Other,
    ];

    /// Returns its name, which is that of its buffers too.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Staging => "staging",
            Self::Frame => "frame",
            Self::Textures => "textures",
            Self::Geometry => "geometry",
            Self::Counting => "counting",
            Self::Grids => "grids",
            Self::Regions => "regions",
            Self::Visibility => "visibility",
            Self::Imager => "imager",
            Self::Other => "other",
        }
    }

    /// Returns the category of buffers of this name.
    pub fn of(name: &str) -> Self {
        Self::ALL.into_iter().find(|category| category.name() == name).unwrap_or(Self::Other)
    }
}

/// Bytes of device memory by category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CategoryBytes([u64; MemoryCategory::ALL.len()]);

impl CategoryBytes {
    /// Returns the bytes of a category.
    pub fn get(&self, category: MemoryCategory) -> u64 {
        self.0[category as usize]
    }

    /// Adds bytes to a category.
    pub fn add(&mut self, category: MemoryCategory, bytes: u64) {
        self.0[category as usize] += bytes;
    }

    /// Takes bytes from a category.
    pub fn remove(&mut self, category: MemoryCategory, bytes: u64) {
        self.0[category as usize] -= bytes;
    }

    /// Returns all bytes.
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Raises each category to what another has of it.
    pub fn raise(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(most, bytes)| *most = (*most).max(bytes));
    }

    /// Returns the categories with their bytes, in the order of docs/memory.md.
    pub fn iter(&self) -> impl Iterator<Item = (MemoryCategory, u64)> + '_ {
        MemoryCategory::ALL.into_iter().map(|category| (category, self.get(category)))
    }
}

impl Serialize for CategoryBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(MemoryCategory::ALL.len()))?;
        for (category, bytes) in self.iter() {
            map.serialize_entry(category.name(), &bytes)?;
        }
        map.end()
    }
}
