//! Calls: operations that passes of their own answer, as lookups are. The pass before them leaves a *request*, the
//! arguments, in channels that follow each other; behind these comes the answer.
//!
//! Calls of one operation are alike but for where their channels begin, so one kernel answers them all. Arguments that
//! are the same constant in all of them are part of it. A call may be *active* at some points alone: the request says
//! so, and at the others the answer is a constant.

use super::channels::Channels;
use super::guards::{added, choose};
use crate::ir::{Body, Const, Inst, Op, Value};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::sync::Arc;

/// An instruction that may be called.
pub(crate) struct Call {
    /// The operation: the instruction itself, or the only one of the branch that it is.
    pub asked: Inst,
    /// Whether it is wanted at a point, if that differs.
    pub active: Option<Value>,
    /// The answer where it is not active.
    pub other: Option<Const>,
}

impl Call {
    /// Returns an instruction as a call, if it is a lookup, or a branch that has nothing but a lookup.
    pub(crate) fn of(body: &Body, inst: Inst) -> Option<Self> {
        let data = body.inst(inst);
        if is_callable(&data.op) {
            return Some(Self { asked: inst, active: None, other: None });
        }
        let [then, otherwise] = data.regions[..] else { return None };
        let ([asked], [answer]) = (&body.region(then).insts[..], &body.region(then).results[..]) else { return None };
        let (others, [other]) = (&body.region(otherwise).insts, &body.region(otherwise).results[..]) else {
            return None;
        };
        let is_call = data.op == Op::If && is_callable(&body.inst(*asked).op) && body.inst(*asked).results == [*answer];
        let other = body.constant(*other).filter(|_| is_call && others.len() <= 1)?;
        Some(Self { asked: *asked, active: Some(data.args[0]), other: Some(other.clone()) })
    }

    /// Returns its arguments: first whether it is active, if that differs.
    fn args(&self, body: &Body) -> Vec<Value> {
        self.active.into_iter().chain(body.inst(self.asked).args.iter().copied()).collect()
    }
}

/// Returns whether an operation, which has one result and no regions, may be called.
fn is_callable(op: &Op) -> bool {
    matches!(op, Op::Lookup(_))
}

/// How the calls of an operation are answered.
pub(super) struct CallForm {
    op: Op,
    /// The answer where a call is not active, if the first argument says whether it is.
    other: Option<Const>,
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
    /// Returns those of these calls.
    pub(super) fn new(body: &Body, calls: impl Iterator<Item = Inst>) -> Self {
        let mut groups: Vec<Vec<(Inst, Call)>> = Vec::new();
        for (inst, call) in calls.filter_map(|inst| Some((inst, Call::of(body, inst)?))) {
            let is_alike = |group: &&mut Vec<(Inst, Call)>| {
                let first = &group[0].1;
                body.inst(first.asked).op == body.inst(call.asked).op && first.other == call.other
            };
            match groups.iter_mut().find(is_alike) {
                Some(group) => group.push((inst, call)),
                None => groups.push(vec![(inst, call)]),
            }
        }
        let of = groups.iter().zip(0..).flat_map(|(group, form)| group.iter().map(move |&(inst, _)| (inst, form)));
        Self { forms: groups.iter().map(|group| CallForm::new(body, group)).collect(), of: of.collect() }
    }

    /// Returns the form of a call.
    pub(super) fn form(&self, call: Inst) -> &CallForm {
        &self.forms[self.of[&call]]
    }
}

impl CallForm {
    fn new(body: &Body, calls: &[(Inst, Call)]) -> Self {
        let all: Vec<Vec<Value>> = calls.iter().map(|(_, call)| call.args(body)).collect();
        let first = &all[0];
        let same = |at: usize| {
            let constant = body.constant(first[at])?;
            all.iter().all(|args| body.constant(args[at]) == Some(constant)).then(|| constant.clone())
        };
        let mut arguments: Vec<Option<CallArgument>> =
            (0..first.len()).map(|at| same(at).map(CallArgument::Same)).collect();
        let mut sent: Vec<usize> = (0..arguments.len()).filter(|&at| arguments[at].is_none()).collect();
        // The largest first, so that the smaller ones fill what they leave.
        sent.sort_by_key(|&at| Reverse(body.ty(first[at]).words()));
        let mut request = Channels::default();
        for at in sent {
            let (channel, lane) = request.place(body.ty(first[at]), 0, 0);
            arguments[at] = Some(CallArgument::Sent(channel, lane));
        }
        let arguments = arguments.into_iter().flatten().collect();
        let call = &calls[0].1;
        let (op, other) = (body.inst(call.asked).op.clone(), call.other.clone());
        Self { op, other, arguments, request_channels: request.count() }
    }

    /// Returns the arguments of a call that its request has, each with its place.
    pub(super) fn sent(&self, body: &Body, call: Inst) -> Vec<(Value, u32, u8)> {
        let args = Call::of(body, call).map(|call| call.args(body)).unwrap_or_default();
        let pairs = args.into_iter().zip(&self.arguments);
        let sent = pairs.filter_map(|(value, argument)| match argument {
            CallArgument::Same(_) => None,
            CallArgument::Sent(channel, lane) => Some((value, *channel, *lane)),
        });
        sent.collect()
    }

    /// Returns the program that answers `call`, with channels counted from its request on; it yields the answer.
    pub(super) fn program(&self, from: &Body, call: Inst) -> Body {
        let (mut body, mut insts) = (Body::default(), Vec::new());
        body.set_places(Arc::clone(from.places()));
        body.go_to(from.place(call));
        let given = Call::of(from, call).map(|call| call.args(from)).unwrap_or_default();
        let mut args = Vec::new();
        for (given, argument) in given.into_iter().zip(&self.arguments) {
            let ty = from.ty(given);
            let op = match argument {
                CallArgument::Same(constant) => Op::Const(constant.clone()),
                &CallArgument::Sent(channel, lane) => Op::Restore { channel, lane, ty },
            };
            insts.push(body.add_inst(op, Vec::new(), Vec::new(), &[ty]));
            args.extend(&body.inst(insts[insts.len() - 1]).results);
        }
        let ty = from.ty(from.inst(call).results[0]);
        let answer = match &self.other {
            None => body.add_inst(self.op.clone(), args, Vec::new(), &[ty]),
            Some(other) => {
                let asked = body.add_inst(self.op.clone(), args.split_off(1), Vec::new(), &[ty]);
                let (answer, mut others) = (body.inst(asked).results.clone(), Vec::new());
                let other = added(&mut body, &mut others, Op::Const(other.clone()), &[]);
                choose(&mut body, args[0], (vec![asked], answer), (others, vec![other]))
            }
        };
        insts.push(answer);
        let root = body.root();
        body.region_mut(root).results = body.inst(answer).results.clone();
        body.region_mut(root).insts = insts;
        body
    }
}
