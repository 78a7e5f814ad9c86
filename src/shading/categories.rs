//! Categories of lights: a kernel sees them as bits, one for each different text among an object's lights.

use spirv_gen::text::category_matches;

/// The different categories of the lights of a set, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct LightCategories(Vec<String>);

impl LightCategories {
    /// Returns the bit of a light of these categories.
    pub(super) fn bit(&mut self, categories: &str) -> u32 {
        let known = self.0.iter().position(|known| known == categories);
        bit_of(known.unwrap_or_else(|| {
            self.0.push(categories.to_owned());
            self.0.len() - 1
        }))
    }

    /// Returns the bits of the lights that a pattern takes.
    pub(super) fn taken(&self, pattern: &str) -> u32 {
        let taken = self.0.iter().enumerate().filter(|(_, categories)| category_matches(pattern, categories));
        taken.fold(0, |bits, (number, _)| bits | bit_of(number))
    }
}

/// Returns a bit of a word; categories beyond them share the last.
fn bit_of(number: usize) -> u32 {
    1 << number.min(u32::BITS as usize - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_the_bits_of_their_lights() {
        let mut categories = LightCategories::default();
        let bits = ["", "key", "key, fill", "key"].map(|text| categories.bit(text));
        assert_eq!(bits, [1, 2, 4, 2]);
        assert_eq!(["", "key", "fill,-key", "key&-fill"].map(|text| categories.taken(text)), [7, 6, 0, 2]);
        let last = (0..40).map(|i| categories.bit(&format!("light{i}"))).last();
        assert_eq!((last, categories.taken("light39")), (Some(1 << 31), 1 << 31));
    }
}
