//! The channels in which passes save values.

use crate::abi::channels;
use crate::ir::MachineType;

/// Words of a channel.
const CHANNEL_WORDS: u32 = 4;

/// The channels that are in use. They are asked for in the order of passes.
#[derive(Default)]
pub(super) struct Channels {
    /// For each the first pass that may store there again.
    free_from: Vec<usize>,
    /// Those that the pass at work stores single values to, each with the words that are taken.
    open: Vec<(u32, u32)>,
    pass: usize,
}

impl Channels {
    /// Returns how many there are.
    pub(super) fn count(&self) -> u32 {
        self.free_from.len() as u32
    }

    /// Returns the channel and the lane of a value that `pass` saves and no pass after `until` reads.
    pub(super) fn place(&mut self, ty: MachineType, pass: usize, until: usize) -> (u32, u8) {
        if std::mem::replace(&mut self.pass, pass) != pass {
            self.open.clear();
        }
        let words = ty.words();
        if let Some((channel, taken)) = self.open.iter_mut().find(|(_, taken)| *taken + words <= CHANNEL_WORDS) {
            let lane = std::mem::replace(taken, *taken + words);
            let free_from = &mut self.free_from[*channel as usize];
            *free_from = (*free_from).max(until + 1);
            return (*channel, lane as u8);
        }
        let count = channels(ty);
        let first = self.block(count, pass, until);
        if count == 1 {
            self.open.push((first, words));
        }
        (first, 0)
    }

    /// Returns the first of so many channels that follow each other, which `pass` stores to and no pass after `until`
    /// reads.
    pub(super) fn block(&mut self, count: u32, pass: usize, until: usize) -> u32 {
        let count = count as usize;
        let is_free = |first: &usize| self.free_from.iter().skip(*first).take(count).all(|&from| from <= pass);
        let first = (0..=self.free_from.len()).find(is_free).unwrap_or(self.free_from.len());
        self.free_from.resize(self.free_from.len().max(first + count), 0);
        self.free_from[first..first + count].fill(until + 1);
        first as u32
    }
}
