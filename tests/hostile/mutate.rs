//! Damaged scenes: those of `scenes/tests` with bytes, tokens, numbers and strings exchanged, in a reproducible order.

use std::path::Path;

/// Strings that want to change the terminal, forge a line, or be too long.
pub(super) const NAMES: [&[u8]; 12] = [
    b"\x1b[31mred\x1b[2J",
    b"\x1b]0;title\x07",
    b"a\nR90000 100%",
    b"a\rb",
    b"\x9b2J",
    b"\xc2\x9b2J",
    "\u{202e}gnp.\u{2066}exe".as_bytes(),
    b"\x08\x08\x7f",
    b"\x00",
    b"%s%n\\u{1b}",
    b"\xff\xfe\xc3",
    b"",
];

/// What is inserted at random.
const TOKENS: [&[u8]; 35] = [
    b"WorldBegin ",
    b"WorldEnd ",
    b"AttributeBegin ",
    b"AttributeEnd ",
    b"MotionBegin [0 1] ",
    b"MotionEnd ",
    b"ObjectBegin 1 ",
    b"ObjectEnd ",
    b"ObjectInstance 1 ",
    b"Sphere 1 -1 1 360 ",
    b"Polygon \"P\" [0 0 0 1 0 0 1 1 0] ",
    b"Surface \"plastic\" ",
    b"Option \"limits\" \"eyesplits\" 3 ",
    b"Attribute \"identifier\" \"name\" ",
    b"ReadArchive \"a\" ",
    b"ArchiveBegin \"a\" ",
    b"ArchiveEnd ",
    b"EditBegin \"option\" ",
    b"EditBegin \"attribute\" ",
    b"EditEnd ",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b"#",
    b"\"uniform float[3] x\" ",
    b"\"P\" ",
    b"SubdivisionMesh \"loop\" [3 3] [0 1 2 2 1 3] [] [] [] [] \"P\" [0 0 0 1 0 0 0 1 0 1 1 1] ",
    b"\"crease\" ",
    b"\"hole\" ",
    b"\"interpolateboundary\" ",
    b"TrimCurve [1] [2] [0 0 1 2 2] [0] [2] [3] [0 1 0] [0 1 1] [1 1 1] ",
    b"NuPatch 2 2 [0 0 1 1] 0 1 2 2 [0 0 1 1] 0 1 \"P\" [0 0 0 1 0 0 0 1 0 1 1 0] ",
    b"SolidBegin \"difference\" ",
    b"SolidEnd ",
];

/// Numbers that are hard to bear.
const NUMBERS: [&[u8]; 12] =
    [b"nan", b"-inf", b"1e39", b"-1e-45", b"0", b"-1", b"2147483648", b"4294967295", b"1e308", b"0.5", b"-0", b"65536"];

/// Random numbers: splitmix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `bound`; 0 if that is 0.
    fn below(&mut self, bound: usize) -> usize {
        self.next() as usize % bound.max(1)
    }

    fn pick<'a>(&mut self, list: &[&'a [u8]]) -> &'a [u8] {
        list[self.below(list.len())]
    }

    /// A short range in `bytes`.
    fn range(&mut self, bytes: &[u8]) -> std::ops::Range<usize> {
        let start = self.below(bytes.len() + 1);
        let longest = [1, 4, 16, 200][self.below(4)];
        start..(start + self.below(longest) + 1).min(bytes.len())
    }
}

/// The texts of the test scenes that are not long.
pub(super) fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/tests");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("scenes").map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rib"));
    files.sort();
    let texts = files.iter().map(|file| std::fs::read(file).expect("readable"));
    texts.filter(|text| text.len() < 4000).collect()
}

/// The parts of `text` between quotes.
fn strings(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let quotes: Vec<usize> = text.iter().enumerate().filter(|(_, byte)| **byte == b'"').map(|(at, _)| at).collect();
    quotes.as_chunks::<2>().0.iter().map(|[open, close]| open + 1..*close).collect()
}

/// The runs of characters of numbers in `text`.
fn numbers(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let is_digit = |at: usize| text.get(at).is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
    let begins = (0..text.len()).filter(|&at| is_digit(at) && (at == 0 || !is_digit(at - 1)));
    begins.map(|at| at..(at..).find(|&end| !is_digit(end)).unwrap_or(at)).collect()
}

/// A text of the corpus with one to four mutations.
pub(super) fn mutated(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut text = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(4) {
        mutate(&mut text, corpus, random);
    }
    text
}

fn mutate(text: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Random) {
    let range = random.range(text);
    let (range, new) = match random.below(8) {
        0 => (range.start..range.start, vec![random.next() as u8]),
        1 => (range.start..(range.start + 1).min(text.len()), vec![random.next() as u8]),
        2 => (range, Vec::new()),
        3 => (range.clone(), text[range].repeat(2)),
        4 => (range.start..range.start, random.pick(&TOKENS).to_vec()),
        5 => {
            let other = &corpus[random.below(corpus.len())];
            (range, other[random.range(other)].to_vec())
        }
        6 => {
            let all = numbers(text);
            (all.get(random.below(all.len())).cloned().unwrap_or(range), random.pick(&NUMBERS).to_vec())
        }
        _ => {
            let all = strings(text);
            let times = if random.below(50) == 0 { 3000 } else { 1 };
            (all.get(random.below(all.len())).cloned().unwrap_or(range), random.pick(&NAMES).repeat(times))
        }
    };
    text.splice(range, new);
}
