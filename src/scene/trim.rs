//! Trim loops: the closed curves in a surface's (u,v) that say which part of it is drawn (RISpec 5.2, `TrimCurve`).

use std::sync::Arc;

/// A part of a trim loop along which v only rises or only falls, and so does u.
#[derive(Clone, Debug, PartialEq)]
pub struct TrimPiece {
    /// Its first and last point; the next piece of the loop begins with the bits of the last.
    pub ends: [[f32; 2]; 2],
    /// Control points (w u, w v, w) of a rational Bezier curve; empty where the piece is straight.
    pub control: Vec<[f32; 3]>,
}

/// Closed loops over the unit square. A point is inside them if a line from it to where u is large crosses them an odd
/// number of times.
#[derive(Clone, Debug, PartialEq)]
pub struct TrimLoops {
    /// All pieces of all loops.
    pub pieces: Arc<[TrimPiece]>,
    /// The numbers of the pieces that cross each of a power of two of equal strips of v, from 0 to 1.
    pub strips: Arc<[Vec<u32>]>,
    /// Whether what is outside of the loops is drawn, instead of what is inside.
    pub draws_outside: bool,
}

/// The most pieces that may cross a strip: more would take a sample too many steps.
const STRIP_PIECES_MAX: usize = 600;
/// The most strips.
const STRIPS_MAX: usize = 4096;

impl TrimLoops {
    /// Sorts pieces into strips; returns how many cross one strip if they are too many.
    ///
    /// # Errors
    /// The number of pieces that cross one line of constant v.
    pub fn new(pieces: Vec<TrimPiece>, draws_outside: bool) -> Result<Self, usize> {
        let mut count = (pieces.len() / 2).next_power_of_two().clamp(1, STRIPS_MAX);
        let crossings = |count: usize| pieces.iter().map(|piece| strip_range(piece, count).len()).sum::<usize>();
        while count > 1 && crossings(count) > 8 * pieces.len() {
            count /= 2;
        }
        let mut strips = vec![Vec::new(); count];
        for (number, piece) in (0..).zip(&pieces) {
            strips[strip_range(piece, count)].iter_mut().for_each(|strip| strip.push(number));
        }
        let most = strips.iter().map(Vec::len).max().unwrap_or(0);
        if most > STRIP_PIECES_MAX {
            return Err(most);
        }
        Ok(Self { pieces: pieces.into(), strips: strips.into(), draws_outside })
    }

    /// Returns roughly how many bytes they need.
    pub fn bytes(&self) -> usize {
        let pieces = self.pieces.iter().map(|piece| 64 + 2 * 16 * piece.control.len()).sum::<usize>();
        pieces + self.strips.iter().map(|strip| 64 + 8 * strip.len()).sum::<usize>()
    }

    /// Returns the most pieces that cross a strip, and the highest degree of a piece.
    pub fn most(&self) -> (usize, usize) {
        let degree = self.pieces.iter().map(|piece| piece.control.len().saturating_sub(1)).max().unwrap_or(0);
        (self.strips.iter().map(Vec::len).max().unwrap_or(0), degree.max(1))
    }
}

/// Returns the strips that a piece crosses. A piece of constant v crosses none; the strip of a v is found as kernels
/// find it.
fn strip_range(piece: &TrimPiece, count: usize) -> std::ops::Range<usize> {
    let [[_, v0], [_, v1]] = piece.ends;
    let (low, high) = (v0.min(v1), v0.max(v1));
    if low >= high || high <= 0.0 || low > 1.0 {
        return 0..0;
    }
    let strip = |v: f32| ((v.clamp(0.0, 1.0) * count as f32) as usize).min(count - 1);
    strip(low)..strip(high) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(a: [f32; 2], b: [f32; 2]) -> TrimPiece {
        TrimPiece { ends: [a, b], control: Vec::new() }
    }

    #[test]
    fn a_strip_has_the_pieces_that_cross_it() {
        let corners = [[0.25, 0.25], [0.75, 0.25], [0.75, 0.5], [0.25, 0.5]];
        let pieces = (0..4).map(|i| line(corners[i], corners[(i + 1) % 4])).collect();
        let loops = TrimLoops::new(pieces, false).expect("few");
        assert_eq!(loops.strips.to_vec(), [vec![1, 3], vec![1, 3]]);
        assert_eq!(loops.most(), (2, 1));
    }

    #[test]
    fn too_many_pieces_on_a_line_are_refused() {
        let comb = |i: i32| line([i as f32 * 1e-4, 0.0], [i as f32 * 1e-4, 1.0]);
        assert_eq!(TrimLoops::new((0..3000).map(comb).collect(), false).expect_err("dense"), 3000);
    }
}
