//! The rows of docs/ri-support.md: a scene each, with what its pictures and messages must be.
//!
//! `== ID name` begins a row. RIB follows, the inside of a world whose surface is `constant`; lines after `:` come
//! before WorldBegin. `$OUT` is the row's file name without an ending, `$CARD` a square that fills the picture at z
//! = 5, `$HALF` its left half. `~~` begins a second scene that must give the same picture (`near 0.05`: up to so
//! much; `crop 4`: the first picture is the second one without 4 columns on each side).
//!
//! - `= 8,8 0 1 0`: the colour (and alpha) at a pixel; `= -z:Z 8,8 5`: a channel of another file; `~0.1`: with this
//!   tolerance.
//! - `! words`: a message has them. `!1 words`: one message has them. `!! words`: none has. Any other message is a
//!   fall-back.
//! - `tiff -q.tif 8,8 1 2 3`: samples of a TIFF file. `missing .exr`: there is no such file.
//! - `@bytes .rib`, `@gzip .rib`, `@copy .rib`: a file with this text, as it is (`\xff` is a byte), compressed, or
//!   as `anthill rib cat --binary` writes it. `@file a.sl` up to `@end`: a shader. `@repeat 9 0.1`: the line 9
//!   times, `{x}` is 0, 0.1, ... `@raw`: the text is the whole stream. `@alone`, `@exit`, `@capabilities`, `@api`:
//!   see `Kind`.

use std::collections::BTreeMap;

/// How a row is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// As the inside of a world in a frame of its own.
    World,
    /// As it is, in the stream of all rows.
    Raw,
    /// As it is, by itself: the text breaks off.
    Alone,
    /// By the program, whose exit code counts.
    Exit,
    /// By the program, which lists its capabilities.
    Capabilities,
    /// The interface has it in C only.
    Api,
}

/// A value of a pixel.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// Ending of the file's name.
    pub(super) file: String,
    /// The channel; none for colour and alpha.
    pub(super) channel: Option<String>,
    pub(super) pixel: [usize; 2],
    pub(super) values: Vec<f32>,
    pub(super) tolerance: f32,
}

/// What a message must be.
#[derive(Clone, Debug)]
pub(super) struct MessageRule {
    pub(super) words: String,
    /// How many messages have these words; none: at least one.
    pub(super) count: Option<usize>,
}

/// A row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The scene, and the one that must look the same.
    pub(super) scenes: Vec<Vec<String>>,
    /// Files by the endings of their names, or by their whole names for shaders.
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) wanted: Vec<Wanted>,
    pub(super) tiffs: Vec<Wanted>,
    pub(super) missing: Vec<String>,
    pub(super) messages: Vec<MessageRule>,
    pub(super) near: f32,
    pub(super) crop: usize,
}

const CARD: &str = "Polygon \"P\" [-1 -1 5 1 -1 5 1 1 5 -1 1 5]";
const HALF: &str = "Polygon \"P\" [-1 -1 5 0 -1 5 0 1 5 -1 1 5]";

/// Reads the rows of a section.
pub(super) fn parse(text: &str) -> Vec<Row> {
    let rows = text.strip_prefix("== ").expect("a row").split("\n== ");
    rows.map(|text| {
        let (title, lines) = text.split_once('\n').expect("a row has lines");
        let (id, name) = title.split_once(' ').expect("a row has an ID and a name");
        let mut row = Row {
            id: id.to_owned(),
            name: name.trim().to_owned(),
            kind: Kind::World,
            scenes: vec![Vec::new()],
            files: BTreeMap::new(),
            wanted: Vec::new(),
            tiffs: Vec::new(),
            missing: Vec::new(),
            messages: Vec::new(),
            near: 1e-3,
            crop: 0,
        };
        let mut lines = lines.lines();
        while let Some(line) = lines.next() {
            row.take(line, &mut lines);
        }
        row
    })
    .collect()
}

impl Row {
    fn take(&mut self, line: &str, lines: &mut std::str::Lines<'_>) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "=" => self.wanted.push(wanted(rest)),
            "tiff" => self.tiffs.push(wanted(rest)),
            "missing" => self.missing.push(rest.to_owned()),
            "near" => self.near = rest.parse().expect("a number"),
            "crop" => self.crop = rest.parse().expect("a number"),
            "~~" => self.scenes.push(Vec::new()),
            "!" => self.messages.push(MessageRule { words: rest.to_owned(), count: None }),
            "!1" => self.messages.push(MessageRule { words: rest.to_owned(), count: Some(1) }),
            "!!" => self.messages.push(MessageRule { words: rest.to_owned(), count: Some(0) }),
            "@raw" => self.kind = Kind::Raw,
            "@alone" => self.kind = Kind::Alone,
            "@exit" => self.kind = Kind::Exit,
            "@capabilities" => self.kind = Kind::Capabilities,
            "@api" => self.kind = Kind::Api,
            "@bytes" | "@gzip" | "@copy" => self.file(word, rest),
            "@file" => {
                let text: Vec<&str> = lines.take_while(|line| *line != "@end").collect();
                self.files.insert(rest.to_owned(), text.join("\n").into_bytes());
            }
            "@repeat" => {
                let [count, step, text] = rest.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
                let step: f64 = step.parse().expect("a number");
                let line = |i: u32| text.replace("{x}", &format!("{:.6}", f64::from(i) * step));
                self.scene().extend((0..count.parse().expect("a count")).map(line));
            }
            _ => self.scene().push(line.replace("$CARD", CARD).replace("$HALF", HALF)),
        }
    }

    fn scene(&mut self) -> &mut Vec<String> {
        self.scenes.last_mut().expect("there is one")
    }

    fn file(&mut self, how: &str, rest: &str) {
        let (name, text) = rest.split_once(' ').expect("a file's name and text");
        let bytes = unescaped(text);
        let bytes = match how {
            "@gzip" => super::run::compressed(&bytes),
            "@copy" => super::run::compressed(&super::run::in_binary(bytes)),
            _ => bytes,
        };
        self.files.insert(name.to_owned(), bytes);
    }
}

/// Replaces `\xff` by bytes.
fn unescaped(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).expect("two digits"));
        bytes.extend(rest.as_bytes());
    }
    bytes
}

/// Reads `[file:channel] x,y values [~tolerance]`.
fn wanted(text: &str) -> Wanted {
    let mut wanted = Wanted { file: ".exr".into(), channel: None, pixel: [0, 0], values: Vec::new(), tolerance: 1e-3 };
    for word in text.split_whitespace() {
        if let Some((file, channel)) = word.split_once(':') {
            wanted.file = format!("{file}.exr");
            wanted.channel = (!channel.is_empty()).then(|| channel.to_owned());
        } else if word.ends_with(".tif") {
            word.clone_into(&mut wanted.file);
        } else if let Some((x, y)) = word.split_once(',') {
            wanted.pixel = [x, y].map(|side| side.parse().expect("a pixel"));
        } else if let Some(tolerance) = word.strip_prefix('~') {
            wanted.tolerance = tolerance.parse().expect("a tolerance");
        } else {
            wanted.values.push(word.parse().expect("a value"));
        }
    }
    wanted
}
