//! What tells the random numbers of drawables apart. It follows from the places of requests in the scene, not from what
//! the picture shows: a procedural that is not read because it is outside of the picture counts like one that is.

/// Numbers for drawables, one after the other. Those of a procedural are apart from those around it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seeds {
    first: u32,
    taken: u32,
}

impl Seeds {
    /// Returns the next number.
    pub(super) fn next(&mut self) -> u32 {
        self.taken = self.taken.wrapping_add(1);
        self.first.wrapping_add(self.taken - 1)
    }

    /// Returns the number of a hidden drawable, of which there are `count` before it. It takes none of those that are
    /// drawn.
    pub(super) fn aside(self, count: usize) -> u32 {
        scattered(self.first.wrapping_add(self.taken)) ^ scattered(count as u32)
    }

    /// Begins the numbers of a procedural, which takes one of these, and returns those around it.
    pub(crate) fn enter(&mut self) -> Self {
        let number = self.next();
        let around = *self;
        *self = Self { first: scattered(number), taken: 0 };
        around
    }
}

/// Maps numbers that follow each other to numbers that are far apart (the finalizer of MurmurHash3, which never returns
/// the same twice).
fn scattered(number: u32) -> u32 {
    let mut bits = number ^ 0x9e37_79b9;
    bits = (bits ^ bits >> 16).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ bits >> 13).wrapping_mul(0xc2b2_ae35);
    bits ^ bits >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_procedural_draws_does_not_count_for_what_comes_after_it() {
        let after = |drawn: u32| {
            let mut seeds = Seeds::default();
            let first = seeds.next();
            let around = seeds.enter();
            let inside: Vec<u32> = (0..drawn).map(|_| seeds.next()).collect();
            seeds = around;
            let next = seeds.next();
            assert!(!inside.contains(&first) && !inside.contains(&next));
            [first, next]
        };
        assert_eq!([after(0), after(9)], [[0, 2]; 2]);
    }
}
