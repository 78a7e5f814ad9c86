//! The parameter buffer: blocks of drawables and lights, light lists, matrices and the space table. Equal blocks are
//! stored only once.

use super::spaces::{self, LocalSpaces};
use super::tokens::Tokens;
use crate::scene::World;
use glam::DMat4;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// One record as bits.
pub(super) type ParamRecord = [u32; 4];

/// A parameter buffer that is being filled.
pub(super) struct ParamBuffer {
    records: Vec<ParamRecord>,
    known: FxHashMap<Vec<ParamRecord>, u32>,
    space_table: u32,
}

fn bits(matrix: &DMat4) -> Vec<ParamRecord> {
    spaces::records(matrix).iter().map(|column| column.map(f32::to_bits)).collect()
}

impl ParamBuffer {
    /// Creates a buffer that begins with the identity, because record 0 represents an unknown space.
    pub(super) fn new() -> Self {
        Self { records: bits(&DMat4::IDENTITY), known: FxHashMap::default(), space_table: 0 }
    }

    /// Returns the record where this block begins; appends it if it is new.
    pub(super) fn block(&mut self, block: Vec<ParamRecord>) -> u32 {
        if let Some(&at) = self.known.get(&block) {
            return at;
        }
        let at = self.records.len() as u32;
        self.records.extend_from_slice(&block);
        self.known.insert(block, at);
        at
    }

    /// Appends the table in which programs with the current space `current_from_camera` look up spaces whose names they
    /// compute.
    pub(super) fn fill_space_table(&mut self, world: &World, current_from_camera: &DMat4, tokens: &Tokens) {
        let none =
            LocalSpaces { camera_from_shader: DMat4::IDENTITY, camera_from_object: DMat4::IDENTITY, scoped: &[] };
        let entries: Vec<ParamRecord> = tokens
            .texts()
            .iter()
            .map(|name| match spaces::camera_from(world, &none, name) {
                Some(camera_from_space) => {
                    let current_from_space = *current_from_camera * camera_from_space;
                    let to = self.block(bits(&current_from_space));
                    [to, self.block(bits(&current_from_space.inverse())), 0, 0]
                }
                None => [0; 4],
            })
            .collect();
        self.space_table = self.records.len() as u32;
        self.records.extend(entries);
    }

    /// Returns the buffer, with `padding` records after the last block, and the record of its space table.
    pub(super) fn finish(mut self, padding: u32) -> (Arc<[[f32; 4]]>, u32) {
        self.records.extend(std::iter::repeat_n([0; 4], padding as usize));
        (self.records.iter().map(|record| record.map(f32::from_bits)).collect(), self.space_table)
    }
}
