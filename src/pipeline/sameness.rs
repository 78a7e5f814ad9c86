//! What of one world still holds for another: its grids, and what samples see. A live session keeps what holds.
//!
//! Every field of what devices are given is either compared here or named as one that does not matter, so that a new
//! field has to be thought about.

use super::kernels::constants::{CLASS_END, INSTANCE_BAKES_UNSEEN, INSTANCE_SOLID, PRIMVARS_NONE};
use super::kernels::records::{Instance, PrimvarBinding};
use super::look::HideSublist;
use super::world::DrawnWorld;
use bytemuck::{bytes_of, cast_slice};
use std::sync::Arc;

/// Two worlds whose parts are compared one by one.
#[derive(Clone, Copy)]
struct Both<'a> {
    one: &'a DrawnWorld,
    other: &'a DrawnWorld,
}

impl DrawnWorld {
    /// Whether bound/split makes the same grids of both worlds, in the same order, where displacements that declare no
    /// bound move equally far.
    pub fn has_same_grids(&self, other: &Self) -> bool {
        Both { one: self, other }.have_same_grids()
    }

    /// Whether samples see the same of both worlds, where the displacement programs of both compute the same.
    pub fn has_same_visibility(&self, other: &Self) -> bool {
        let both = Both { one: self, other };
        both.have_same_grids() && both.have_same_hiding()
    }

    /// Whether anything of it is displaced.
    pub fn is_displaced(&self) -> bool {
        self.hide_sublists.iter().any(|sublist| sublist.displace.is_some())
    }

    fn hide_sublist(&self, instance: &Instance) -> &HideSublist {
        &self.hide_sublists[instance.hide_sublist as usize]
    }

    /// The primvars of a program, which begin at `first`.
    fn primvars_of(&self, first: u32) -> impl Iterator<Item = &PrimvarBinding> {
        let all = if first == PRIMVARS_NONE { &[][..] } else { &self.primvar_bindings[first as usize..] };
        all.iter().take_while(|binding| binding.class_type != CLASS_END)
    }
}

impl Both<'_> {
    fn have_same_grids(self) -> bool {
        // Shading alone reads what is not named here.
        let DrawnWorld { frame, clip_planes, motion, lens, runs, full, solids, unbounded, instances, .. } = self.one;
        let other = self.other;
        let same_page = |page: usize| Arc::ptr_eq(&self.one.pages[page], &other.pages[page]);
        bytes_of(frame) == bytes_of(&other.frame)
            && cast_slice::<_, u8>(clip_planes) == cast_slice::<_, u8>(&other.clip_planes)
            && cast_slice::<_, u8>(motion) == cast_slice::<_, u8>(&other.motion)
            && cast_slice::<_, u8>(lens) == cast_slice::<_, u8>(&other.lens)
            && *runs == other.runs
            && runs.iter().all(|run| same_page(run.page))
            && *full == other.full
            && solids.primitives == other.solids.primitives
            && solids.steps == other.solids.steps
            && *unbounded == other.unbounded
            && instances.len() == other.instances.len()
            && instances.iter().zip(&other.instances).all(|(one, another)| self.is_counted_alike(one, another))
    }

    fn is_counted_alike(self, one: &Instance, another: &Instance) -> bool {
        let in_list = |sublist: &HideSublist| (sublist.page, sublist.kind, sublist.trimmed, sublist.keyframes);
        bytes_of(&counted(one)) == bytes_of(&counted(another))
            && in_list(self.one.hide_sublist(one)) == in_list(self.other.hide_sublist(another))
    }

    fn have_same_hiding(self) -> bool {
        let mut pairs = self.one.instances.iter().zip(&self.other.instances);
        pairs.all(|(one, another)| self.is_hidden_alike(one, another))
    }

    fn is_hidden_alike(self, one: &Instance, another: &Instance) -> bool {
        let sublists = [self.one.hide_sublist(one), self.other.hide_sublist(another)];
        // Programs are numbered in each world.
        let is_displaced = sublists.map(|sublist| sublist.displace.is_some());
        let [sublist, others_sublist] = sublists.map(|sublist| HideSublist { displace: None, ..*sublist });
        let primvars = || self.one.primvars_of(one.displace_primvars).map(bytes_of);
        let others_primvars = || self.other.primvars_of(another.displace_primvars).map(bytes_of);
        sublist == others_sublist
            && match is_displaced {
                [false, false] => bytes_of(&hidden(one)) == bytes_of(&hidden(another)),
                [true, true] => {
                    bytes_of(&displaced(one)) == bytes_of(&displaced(another)) && primvars().eq(others_primvars())
                }
                _ => false,
            }
    }
}

/// The instance as displacement and hiding see it. Blocks of parameters and lists of primvars are numbered in each
/// world, and compared by what is in them.
fn displaced(instance: &Instance) -> Instance {
    Instance {
        flags: instance.flags & !INSTANCE_BAKES_UNSEEN,
        displace_block: 0,
        shade_block: 0,
        displace_primvars: 0,
        shade_primvars: 0,
        hide_sublist: 0,
        shade_sublist: 0,
        ..*instance
    }
}

/// The instance as hiding sees it where nothing is displaced.
fn hidden(instance: &Instance) -> Instance {
    Instance { texture_st0: [0.0; 4], texture_st1: [0.0; 4], seed: 0, first_primitive: 0, ..displaced(instance) }
}

/// The instance as bound/split sees it.
fn counted(instance: &Instance) -> Instance {
    Instance { flags: instance.flags & INSTANCE_SOLID, ..hidden(instance) }
}
