//! Categories of lights: a kernel sees them as numbers, one for each different text among an object's lights.

use spirv_gen::text::category_matches;

/// The different categories of the lights of a set, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct LightCategories(Vec<String>);

impl LightCategories {
    /// Returns the number of a light of these categories.
    pub(super) fn number(&mut self, categories: &str) -> u32 {
        let known = self.0.iter().position(|known| known == categories);
        known.unwrap_or_else(|| {
            self.0.push(categories.to_owned());
            self.0.len() - 1
        }) as u32
    }

    /// Returns for each number whether a pattern takes those lights.
    pub(super) fn taken(&self, pattern: &str) -> impl Iterator<Item = bool> {
        self.0.iter().map(move |categories| category_matches(pattern, categories))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_the_numbers_of_their_lights() {
        let mut categories = LightCategories::default();
        let numbers = ["", "key", "key, fill", "key"].map(|text| categories.number(text));
        assert_eq!(numbers, [0, 1, 2, 1]);
        let taken = ["", "key", "fill,-key", "key&-fill"].map(|text| categories.taken(text).collect::<Vec<_>>());
        let [no, yes] = [false, true];
        assert_eq!(taken, [[yes; 3], [no, yes, yes], [no; 3], [no, yes, no]]);
        let last = (0..40).map(|i| categories.number(&format!("light{i}"))).last();
        assert_eq!((last, categories.taken("light39").position(|taken| taken)), (Some(42), Some(42)));
    }
}
