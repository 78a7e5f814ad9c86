//! Solids: SolidBegin, SolidEnd (RISpec 5.5).
//!
//! The current solid is part of the state, which the block saves. A solid that is begun while an object is recorded is
//! made at each instance, as a part of the solid that the instance is in.

use crate::diagnostic::SourceLocation;
use crate::scene::{Solid, SolidId, SolidOperation, TREE_PRIMITIVES_MAX};
use rustc_hash::FxHashMap;

/// The solids of a world that is being read.
#[derive(Default)]
pub(crate) struct Solids {
    list: Vec<Solid>,
    /// The outermost solid that each is in.
    outermost: Vec<SolidId>,
    /// The primitive that the surfaces directly in a solid of another kind make, where there are any.
    implied: FxHashMap<SolidId, SolidId>,
    /// How many primitives the tree of each outermost solid has.
    primitives: FxHashMap<SolidId, u32>,
}

impl Solids {
    pub(super) fn begin(
        &mut self,
        operation: SolidOperation,
        parent: Option<SolidId>,
        location: SourceLocation,
    ) -> SolidId {
        let id = SolidId(self.list.len() as u32);
        let outermost = parent.map_or(id, |parent| self.outermost(parent));
        if operation == SolidOperation::Primitive {
            *self.primitives.entry(outermost).or_default() += 1;
        }
        self.outermost.push(outermost);
        self.list.push(Solid { operation, parent, location });
        id
    }

    fn outermost(&self, id: SolidId) -> SolidId {
        self.outermost[id.0 as usize]
    }

    /// Whether the tree of a solid can have one more primitive.
    pub(super) fn has_room(&self, id: SolidId) -> bool {
        self.primitives.get(&self.outermost(id)).is_none_or(|count| *count < TREE_PRIMITIVES_MAX)
    }

    pub(super) fn get(&self, id: SolidId) -> &Solid {
        &self.list[id.0 as usize]
    }

    /// Returns the primitive that a surface made in this solid bounds a part of: surfaces that are in no primitive make
    /// one together.
    pub(crate) fn primitive(&mut self, id: SolidId) -> SolidId {
        let Solid { operation, location, .. } = self.get(id);
        if *operation == SolidOperation::Primitive {
            return id;
        }
        if let Some(&primitive) = self.implied.get(&id) {
            return primitive;
        }
        let location = location.clone();
        let primitive = self.begin(SolidOperation::Primitive, Some(id), location);
        self.implied.insert(id, primitive);
        primitive
    }

    /// Returns all solids.
    pub(crate) fn finish(self) -> Vec<Solid> {
        self.list
    }
}
