//! Solids: SolidBegin, SolidEnd (RISpec 5.5).
//!
//! The current solid is part of the state, which the block saves. A solid that is begun while an object is recorded is
//! made at each instance, as a part of the solid that the instance is in.

use super::blocks::BlockKind;
use super::effect::RequestEffect;
use super::fault::{Parsed, RequestFault};
use super::lexer::Lexer;
use super::reader::Reader;
use crate::diagnostic::SourceLocation;
use crate::host_memory::ChargeKind;
use crate::scene::{Solid, SolidId, SolidOperation, TREE_PRIMITIVES_MAX};
use rustc_hash::FxHashMap;

/// The solids of a world that is being read.
#[derive(Default)]
pub(super) struct Solids {
    list: Vec<Solid>,
    /// The primitive that the surfaces directly in a solid of another kind make, where there are any.
    implied: FxHashMap<SolidId, SolidId>,
    /// How many primitives the tree of each outermost solid has.
    primitives: FxHashMap<SolidId, u32>,
}

impl Solids {
    fn begin(&mut self, operation: SolidOperation, parent: Option<SolidId>, location: SourceLocation) -> SolidId {
        let id = SolidId(self.list.len() as u32);
        if operation == SolidOperation::Primitive {
            *self.primitives.entry(parent.map_or(id, |parent| self.outermost(parent))).or_default() += 1;
        }
        self.list.push(Solid { operation, parent, location });
        id
    }

    fn outermost(&self, mut id: SolidId) -> SolidId {
        while let Some(parent) = self.get(id).parent {
            id = parent;
        }
        id
    }

    /// Whether the tree of a solid can have one more primitive.
    fn has_room(&self, id: SolidId) -> bool {
        self.primitives.get(&self.outermost(id)).is_none_or(|count| *count < TREE_PRIMITIVES_MAX)
    }

    fn get(&self, id: SolidId) -> &Solid {
        &self.list[id.0 as usize]
    }

    /// The primitive that a surface made in this solid bounds a part of: surfaces that are in no primitive make one
    /// together.
    pub(super) fn primitive(&mut self, id: SolidId) -> SolidId {
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

    /// All of them.
    pub(super) fn finish(self) -> Vec<Solid> {
        self.list
    }
}

impl Reader<'_> {
    pub(super) fn solid_begin(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let name = lexer.text()?;
        let operation = match &*name {
            "primitive" => SolidOperation::Primitive,
            "union" => SolidOperation::Union,
            "intersection" => SolidOperation::Intersection,
            "difference" => SolidOperation::Difference,
            _ => {
                let message = format!("\"{name}\" is not a solid operation; the parts are united");
                let fault = RequestFault::error("badsolid", self.current.offset, message);
                self.report_here(fault.hint("there are \"primitive\", \"union\", \"intersection\" and \"difference\""));
                SolidOperation::Union
            }
        };
        self.open(BlockKind::Solid)?;
        self.perform(RequestEffect::Solid(operation, self.current.location.clone()));
        Ok(())
    }

    pub(super) fn solid_end(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        self.close(BlockKind::Solid)
    }

    /// Makes a part of the current solid, or a solid, the current one. What is begun inside of a primitive belongs to
    /// it.
    pub(super) fn enter_solid(&mut self, operation: SolidOperation, location: &SourceLocation) {
        if !self.charge.try_take(ChargeKind::Geometry, size_of::<Solid>() as u64) {
            return;
        }
        let Some(world) = &mut self.world else { return };
        let around = self.state.solid.map(|solid| world.solids.get(solid));
        if let Some(Solid { location: outer, .. }) = around.filter(|solid| solid.operation == SolidOperation::Primitive)
        {
            let message = format!("SolidBegin inside of SolidBegin \"primitive\" at {outer} has no effect");
            let fault = RequestFault::error("badsolid", self.current.offset, message);
            self.report_here(fault.hint("only surfaces make a \"primitive\"; combine solids in another kind of solid"));
            return;
        }
        let is_full = self.state.solid.is_some_and(|solid| !world.solids.has_room(solid));
        if is_full && operation == SolidOperation::Primitive {
            self.state.camera_visible = false;
            let message = format!("a solid has at most {TREE_PRIMITIVES_MAX} primitives: this one is left out");
            self.report_here(RequestFault::error("limitcheck", self.current.offset, message));
            return;
        }
        self.state.solid = Some(world.solids.begin(operation, self.state.solid, location.clone()));
    }
}
