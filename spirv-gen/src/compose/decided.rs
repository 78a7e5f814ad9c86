//! Programs of a pipeline for some of its instances: what is uniform is known before a kernel is made, and with it the
//! sides of branches that these instances take.

use super::reflection::{BlockLayout, BlockSlot, Content, Decision, Reflection};
use super::table::BindingTable;
use crate::ir::{Body, Op};
use crate::passes::{
    Decided, checked, decide, decided_cost, print_words, relocate_derivatives, remove_dead, uncounted_loops,
};

/// A pipeline as one bound program, before it becomes SPIR-V.
#[derive(Clone, Debug)]
pub struct Composed {
    /// The program; its root yields the outputs in order.
    pub body: Body,
    /// What it reads and writes.
    pub reflection: Reflection,
}

/// A pipeline that was composed and bound, of which programs can be made.
#[derive(Clone, Debug)]
pub struct BoundPipeline {
    /// Derivatives are where the shaders have them.
    pub(super) body: Body,
    pub(super) reflection: Reflection,
}

impl BoundPipeline {
    /// Returns what its programs read and write.
    pub fn reflection(&self) -> &Reflection {
        &self.reflection
    }

    /// Returns the program for instances of which some [decisions](Reflection::decisions) are known, by their number;
    /// no others may run it. It computes the same bits as the one for all, and finds everything in the same places.
    pub fn program(&self, decided: &[Option<bool>]) -> Composed {
        let decided = self.decided(decided);
        let whole = (!decided.is_empty()).then(|| checked(decide(&self.body, &decided)));
        let mut body = relocate_derivatives(whole.as_ref().unwrap_or(&self.body));
        remove_dead(&mut body);
        let body = checked(body);
        let reflection = self.reflection.clone().of_program(&body);
        Composed { body, reflection }
    }

    /// Returns about how many operations that program has.
    pub fn cost(&self, decided: &[Option<bool>]) -> usize {
        decided_cost(&self.body, self.body.root(), &self.decided(decided))
    }

    fn decided(&self, decided: &[Option<bool>]) -> Vec<Decided> {
        let decisions = self.reflection.decisions.iter().zip(decided);
        decisions.filter_map(|(place, holds)| Some((place.record, place.lane, (*holds)?))).collect()
    }
}

impl Reflection {
    /// Returns it with what a program does.
    pub(super) fn of_program(mut self, body: &Body) -> Self {
        let uncounted = uncounted_loops(body);
        let (mut takes_derivatives, mut counts_trips, mut uses_textures) = (false, false, false);
        let mut bakes = false;
        body.walk(body.root(), &mut |i| {
            let op = &body.inst(i).op;
            takes_derivatives |= matches!(op, Op::Derivative(_) | Op::Derivatives(_));
            uses_textures |= op.looks_up();
            counts_trips |= *op == Op::Loop && !uncounted.contains(&i);
            bakes |= matches!(op, Op::Bake(_));
        });
        (self.takes_derivatives, self.counts_trips) = (takes_derivatives, counts_trips);
        (self.uses_textures, self.bakes, self.print_words) = (uses_textures, bakes, print_words(body));
        self
    }
}

/// Returns the conditions that are kept in the block of an instance.
pub(super) fn decisions(block: &BlockLayout, table: &BindingTable) -> Vec<Decision> {
    let decision = |slot: &BlockSlot| match slot.content {
        Content::Computed(result) if table.decisions.contains(&result) => {
            Some(Decision { result, record: slot.record, lane: slot.lane })
        }
        _ => None,
    };
    block.slots.iter().filter_map(decision).collect()
}
