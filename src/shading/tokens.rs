//! Tokens: the numbers by which programs know strings. Kernels and blocks have them as constants.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A string that something asked for, and the number that it got.
pub(super) type AskedText = (Arc<str>, u32);

/// Numbers of strings, in the order in which they are first asked for; the empty string is 0.
#[derive(Debug)]
pub(super) struct Tokens {
    known: Mutex<KnownTexts>,
}

#[derive(Clone, Debug)]
struct KnownTexts {
    numbers: FxHashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
    /// What was asked for since [`Tokens::listen`], if anybody listens.
    asked: Option<Vec<AskedText>>,
}

impl Default for Tokens {
    fn default() -> Self {
        let empty: Arc<str> = "".into();
        let numbers = std::iter::once((Arc::clone(&empty), 0)).collect();
        Self { known: Mutex::new(KnownTexts { numbers, texts: vec![empty], asked: None }) }
    }
}

impl Tokens {
    /// Begins with these strings, by number.
    pub(super) fn continuing(texts: &[Arc<str>]) -> Self {
        let tokens = Self::default();
        for text in texts {
            tokens.token(text);
        }
        tokens
    }

    /// Returns the number of a string.
    pub(super) fn token(&self, text: &str) -> u32 {
        let mut known = self.known.lock();
        let number = known.numbers.get(text).copied();
        let number = number.unwrap_or_else(|| {
            let token = known.texts.len() as u32;
            let text: Arc<str> = text.into();
            known.numbers.insert(Arc::clone(&text), token);
            known.texts.push(text);
            token
        });
        let text = Arc::clone(&known.texts[number as usize]);
        if let Some(asked) = known.asked.as_mut().filter(|asked| asked.iter().all(|(_, other)| *other != number)) {
            asked.push((text, number));
        }
        number
    }

    /// Notes from now on what is asked for.
    pub(super) fn listen(&self) {
        self.known.lock().asked = Some(Vec::new());
    }

    /// Returns what was asked for since [`Self::listen`], each string once.
    pub(super) fn heard(&self) -> Vec<AskedText> {
        self.known.lock().asked.take().unwrap_or_default()
    }

    /// Whether asking for these strings in their order would give the same numbers. If so they are asked for: what was
    /// made with them may be used as if it had just been made.
    pub(super) fn ask_again(&self, asked: &[AskedText]) -> bool {
        let gives = {
            let known = self.known.lock();
            let mut next = known.texts.len() as u32;
            // Each string is there once, so one that is new to the table gets the next number.
            asked.iter().all(|(text, number)| match known.numbers.get(text) {
                Some(known) => known == number,
                None => {
                    next += 1;
                    *number == next - 1
                }
            })
        };
        if gives {
            for (text, _) in asked {
                self.token(text);
            }
        }
        gives
    }

    /// Returns the string of a number.
    pub(super) fn text(&self, token: u32) -> String {
        self.known.lock().texts.get(token as usize).map(ToString::to_string).unwrap_or_default()
    }

    /// Returns all strings, by number.
    pub(super) fn texts(&self) -> Vec<Arc<str>> {
        self.known.lock().texts.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_is_asked_again_only_for_the_same_numbers() {
        let first = Tokens::default();
        first.token("a");
        first.listen();
        for text in ["b", "a", "b", ""] {
            first.token(text);
        }
        let heard = first.heard();
        assert_eq!(heard, [("b".into(), 2), ("a".into(), 1), ("".into(), 0)]);
        let same = Tokens::default();
        same.token("a");
        assert!(same.ask_again(&heard));
        assert_eq!(same.texts(), first.texts());
        let others = Tokens::default();
        assert!(!others.ask_again(&heard), "b would be 1");
        assert_eq!(others.texts().len(), 1, "nothing was asked for");
        let more = Tokens::continuing(&["".into(), "a".into(), "b".into(), "c".into()]);
        assert!(more.ask_again(&heard) && more.texts().len() == 4);
    }
}
