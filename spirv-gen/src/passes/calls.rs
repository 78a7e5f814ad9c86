//! Calls: operations that passes of their own answer, as lookups are. The pass before them leaves a *request*, the
//! arguments, in channels that follow each other; behind these comes the answer.
//!
//! Calls of one operation are alike but for where their channels begin, so one kernel answers them all. Arguments that
//! are the same constant in all of them are part of it.

use super::channels::Channels;
use crate::ir::{Body, Const, Inst, Op, Value};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// How the calls of an operation are answered.
pub(super) struct CallForm {
    op: Op,
    arguments: Vec<CallArgument>,
    /// Channels of a request.
    pub request_channels: u32,
}

enum CallArgument {
    /// It is this constant in all calls.
    Same(Const),
    /// It is in this channel of the request, from this lane on.
    Sent(u32, u8),
}

/// The forms of all calls of a program.
pub(super) struct CallForms {
    forms: Vec<CallForm>,
    /// The form of each call, by number.
    pub of: FxHashMap<Inst, usize>,
}

impl CallForms {
    /// Returns those of these calls, which have one result each.
    pub(super) fn new(body: &Body, calls: impl Iterator<Item = Inst>) -> Self {
        let mut groups: Vec<Vec<Inst>> = Vec::new();
        for call in calls {
            match groups.iter_mut().find(|group| body.inst(group[0]).op == body.inst(call).op) {
                Some(group) => group.push(call),
                None => groups.push(vec![call]),
            }
        }
        let of = groups.iter().zip(0..).flat_map(|(group, form)| group.iter().map(move |&call| (call, form)));
        Self { forms: groups.iter().map(|group| CallForm::new(body, group)).collect(), of: of.collect() }
    }

    /// Returns the form of a call.
    pub(super) fn form(&self, call: Inst) -> &CallForm {
        &self.forms[self.of[&call]]
    }
}

impl CallForm {
    fn new(body: &Body, calls: &[Inst]) -> Self {
        let first = body.inst(calls[0]);
        let same = |at: usize| {
            let constant = body.constant(first.args[at])?;
            calls
                .iter()
                .all(|&call| body.constant(body.inst(call).args[at]) == Some(constant))
                .then(|| constant.clone())
        };
        let mut arguments: Vec<Option<CallArgument>> =
            (0..first.args.len()).map(|at| same(at).map(CallArgument::Same)).collect();
        let mut sent: Vec<usize> = (0..arguments.len()).filter(|&at| arguments[at].is_none()).collect();
        // The largest first, so that the smaller ones fill what they leave.
        sent.sort_by_key(|&at| Reverse(body.ty(first.args[at]).words()));
        let mut request = Channels::default();
        for at in sent {
            let (channel, lane) = request.place(body.ty(first.args[at]), 0, 0);
            arguments[at] = Some(CallArgument::Sent(channel, lane));
        }
        let arguments = arguments.into_iter().flatten().collect();
        Self { op: first.op.clone(), arguments, request_channels: request.count() }
    }

    /// Returns the arguments of a call that its request has.
    pub(super) fn sent<'a>(&'a self, args: &'a [Value]) -> impl Iterator<Item = (Value, u32, u8)> + 'a {
        let pairs = args.iter().zip(&self.arguments);
        pairs.filter_map(|(&value, argument)| match argument {
            CallArgument::Same(_) => None,
            CallArgument::Sent(channel, lane) => Some((value, *channel, *lane)),
        })
    }

    /// Returns the program that answers `call`, with channels counted from its request on; it yields the answer.
    pub(super) fn program(&self, from: &Body, call: Inst) -> Body {
        let mut body = Body::default();
        let mut push = |op: Op, args: Vec<Value>, ty| {
            let inst = body.add_inst(op, args, Vec::new(), &[ty]);
            let root = body.root();
            body.region_mut(root).insts.push(inst);
            body.inst(inst).results[0]
        };
        let call = from.inst(call);
        let mut args = Vec::new();
        for (&given, argument) in call.args.iter().zip(&self.arguments) {
            let ty = from.ty(given);
            let op = match argument {
                CallArgument::Same(constant) => Op::Const(constant.clone()),
                &CallArgument::Sent(channel, lane) => Op::Restore { channel, lane, ty },
            };
            args.push(push(op, Vec::new(), ty));
        }
        let result = push(self.op.clone(), args, from.ty(call.results[0]));
        let root = body.root();
        body.region_mut(root).results = vec![result];
        body
    }
}
