//! Points with values: what `bake3d` writes and `texture3d` reads, as files in the format PLY (docs/points.md).

mod error;
mod ply;

pub use error::PointsError;
pub use ply::{PointsFault, decode, decode_within};

use crate::files::{OutputBudget, open_file, what_is_no_file};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

/// Points with values, as `bake3d` writes and `texture3d` reads them. All lists have one entry a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointCloud {
    /// What the values are.
    pub channels: Vec<PointChannel>,
    /// Where the points are, in world space if `bake3d` was not asked for another one.
    pub positions: Vec<[f32; 3]>,
    /// Normals of the surfaces that the points are on, in the space of the positions; 0 where none is known.
    pub normals: Vec<[f32; 3]>,
    /// Radii of disks that together cover the surfaces; 0 where none is known.
    pub radii: Vec<f32>,
    /// Values point by point, [`Self::width`] floats each.
    pub values: Vec<f32>,
}

/// Whether points may be read, or why not.
pub type PointsAdmitted = Result<(), String>;

/// How many points are read, and for how long.
pub trait PointLimits {
    /// Whether to read this many points with this many floats of values each, before memory is taken for them.
    ///
    /// # Errors
    /// Why not, as a clause about the file.
    fn admit(&self, count: u64, floats: u64) -> PointsAdmitted;

    /// Whether to go on.
    fn goes_on(&self) -> bool;
}

/// No limits.
impl PointLimits for () {
    fn admit(&self, _: u64, _: u64) -> PointsAdmitted {
        Ok(())
    }

    fn goes_on(&self) -> bool {
        true
    }
}

/// A value that each point has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointChannel {
    /// The name by which shaders ask for it.
    pub name: String,
    /// Its type.
    pub kind: ChannelKind,
}

impl PointChannel {
    /// Returns the channel of a text as [`fmt::Display`] writes it: `color Cs`.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let (word, name) = text.split_once(' ')?;
        let kind = ChannelKind::ALL.into_iter().find(|known| known.word() == word)?;
        is_channel_name(name).then(|| Self { name: name.into(), kind })
    }
}

impl fmt::Display for PointChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.word(), self.name)
    }
}

/// The type of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelKind {
    /// One number.
    Float,
    /// Red, green and blue.
    Color,
    /// A position.
    Point,
    /// A direction.
    Vector,
    /// A direction at a right angle to a surface.
    Normal,
}

impl ChannelKind {
    /// All types.
    pub const ALL: [Self; 5] = [Self::Float, Self::Color, Self::Point, Self::Vector, Self::Normal];

    /// Floats of a value.
    pub fn floats(self) -> usize {
        if self == Self::Float { 1 } else { 3 }
    }

    /// Returns the word of RSL.
    pub fn word(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Color => "color",
            Self::Point => "point",
            Self::Vector => "vector",
            Self::Normal => "normal",
        }
    }

    /// Returns what the names of the properties of a value end with.
    fn suffixes(self) -> &'static [&'static str] {
        match self {
            Self::Float => &[""],
            Self::Color => &[".r", ".g", ".b"],
            Self::Point | Self::Vector | Self::Normal => &[".x", ".y", ".z"],
        }
    }
}

/// Whether a channel may have this name: letters, digits and underscores, at most 255, the first no digit.
pub fn is_channel_name(name: &str) -> bool {
    let rest = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    rest && name.len() <= 255 && name.chars().next().is_some_and(|first| !first.is_ascii_digit())
}

impl PointCloud {
    /// Floats that each point has in [`Self::values`].
    pub fn width(&self) -> usize {
        self.channels.iter().map(|channel| channel.kind.floats()).sum()
    }

    /// Reads a file, however many points there are.
    ///
    /// # Errors
    /// If it is missing, damaged, or not a file of points.
    pub fn read(path: &Path) -> Result<Self, PointsError> {
        Self::read_within(path, &())
    }

    /// Reads a file within limits.
    ///
    /// # Errors
    /// As for [`Self::read`], and if there are too many points, which is known before any is read, or it was stopped.
    pub fn read_within(path: &Path, limits: &dyn PointLimits) -> Result<Self, PointsError> {
        let of_io = |error| PointsError::of_io(path, error);
        let found = fs::metadata(path).map_err(of_io)?;
        if let Some(what) = what_is_no_file(&found) {
            return Err(PointsError::NotAFile { path: path.to_owned(), what });
        }
        let file = open_file(path).map_err(of_io)?;
        let bytes = file.metadata().map_err(of_io)?.len();
        decode_within(file, bytes, limits).map_err(|fault| PointsError::of_fault(path, fault))
    }

    /// Writes a file, completely or not at all. Equal points give equal bytes.
    ///
    /// # Errors
    /// If that fails.
    pub fn write(&self, path: &Path) -> Result<(), PointsError> {
        self.write_within(path, &OutputBudget::default())
    }

    /// Writes a file as [`Self::write`] does, if `budget` has room for it.
    ///
    /// # Errors
    /// If that fails, or it would take more bytes than there are left.
    pub fn write_within(&self, path: &Path, budget: &OutputBudget) -> Result<(), PointsError> {
        budget
            .write_whole::<io::Error>(path, |sink| ply::encode(self, sink))
            .map_err(|reason| PointsError::Write { path: path.to_owned(), reason: reason.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud() -> PointCloud {
        let channel = |name: &str, kind| PointChannel { name: name.into(), kind };
        PointCloud {
            channels: vec![
                channel("area", ChannelKind::Float),
                channel("Cs", ChannelKind::Color),
                channel("at", ChannelKind::Point),
                channel("to", ChannelKind::Vector),
                channel("up", ChannelKind::Normal),
            ],
            positions: vec![[1.0, 2.0, 3.0], [-1.5, 1e30, -0.0]],
            normals: vec![[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
            radii: vec![0.25, 0.5],
            values: (0..26).map(|value| value as f32 / 7.0).collect(),
        }
    }

    fn bytes_of(cloud: &PointCloud) -> Vec<u8> {
        let mut bytes = Vec::new();
        ply::encode(cloud, &mut bytes).expect("a list takes all");
        bytes
    }

    fn reason(bytes: &[u8]) -> String {
        decode(bytes, bytes.len() as u64).expect_err("it is bad").to_string()
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.ply");
        for cloud in [cloud(), PointCloud::default(), PointCloud { channels: cloud().channels, ..Default::default() }] {
            cloud.write(&path).expect("writable");
            assert_eq!(PointCloud::read(&path).expect("readable"), cloud);
        }
    }

    #[test]
    fn text_and_big_endian_files_of_others_are_read() {
        let header = "ply\r\nformat ascii 1.0\r\ncomment made by hand\r\nelement vertex 2\r\nproperty double z\r\nproperty uchar \
                      red\r\nproperty float x\r\nproperty int32 y\r\nproperty float d.x\r\nproperty float d.y\r\nproperty \
                      float d.z\r\nelement face 1\r\nproperty list uchar int vertex_indices\r\nend_header\r\n";
        let text = format!("{header}3 255 1 2 4 5 6\n-3.5 0 1e1 -2 7 8 9");
        let read = decode(text.as_bytes(), text.len() as u64).expect("points");
        assert_eq!(read.positions, [[1.0, 2.0, 3.0], [10.0, -2.0, -3.5]]);
        let names: Vec<_> = read.channels.iter().map(|channel| (channel.name.as_str(), channel.kind)).collect();
        assert_eq!(names, [("red", ChannelKind::Float), ("d", ChannelKind::Vector)]);
        assert_eq!(read.values, [255.0, 4.0, 5.0, 6.0, 0.0, 7.0, 8.0, 9.0]);
        assert_eq!((read.normals, read.radii), (vec![[0.0; 3]; 2], vec![0.0; 2]));

        let header = "ply\nformat binary_big_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty short \
                      z\nend_header\n";
        let big = [header.as_bytes(), &1.5_f32.to_be_bytes(), &2.5_f32.to_be_bytes(), &7_i16.to_be_bytes()].concat();
        assert_eq!(decode(&big[..], big.len() as u64).expect("points").positions, [[1.5, 2.5, 7.0]]);
    }

    #[test]
    fn bad_files_are_refused_with_a_reason() {
        let good = bytes_of(&cloud());
        assert_eq!(reason(&good[..good.len() - 1]), "it ends too early");
        assert_eq!(reason(&good[..40]), "its header has no end");
        assert_eq!(reason(b"ply\nformat ascii 1.0\n"), "its header has no end");
        assert_eq!(reason(b""), "it does not begin with \"ply\"");
        assert_eq!(reason(b"#?RADIANCE\n"), "it does not begin with \"ply\"");
        let changed = |from: &str, to: &str| {
            let at = good.windows(from.len()).position(|part| part == from.as_bytes()).expect("it has this");
            reason(&[&good[..at], to.as_bytes(), &good[at + from.len()..]].concat())
        };
        assert_eq!(changed("vertex 2", "vertex 18446744073709551615"), "it ends too early");
        assert_eq!(changed("vertex 2", "vertex 3"), "it ends too early");
        assert_eq!(changed("vertex 2", "vertex -2"), "its header is damaged");
        assert_eq!(changed("element vertex", "element face"), "its first element is not \"vertex\"");
        assert_eq!(changed("property float x\n", ""), "its points lack x, y or z");
        assert_eq!(changed("float nx", "list uchar float nx"), "its points have lists");
        assert_eq!(changed("float Cs.r", "float Cs.q"), "a property has a name that no channel may have");
        assert_eq!(changed("float Cs.b", "float b"), "a channel lacks a property");
        assert_eq!(changed("float nx", "float ny"), "two properties of its points have one name");
        assert_eq!(changed("channel normal up", "channel color up"), "a property has a name that no channel may have");
        assert_eq!(changed("binary_little_endian", "binary_middle_endian"), "its header is damaged");
        let mut nan = good.clone();
        let at = nan.len() - 4;
        nan[at..].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(reason(&nan), "a number in it is not finite");
        let text = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n";
        assert_eq!(reason(format!("{text}1 2 inf").as_bytes()), "a number in it is not finite");
        assert_eq!(reason(format!("{text}1 2 two").as_bytes()), "a number in it is damaged");
        let twice = text.replace(
            "float z",
            "float z\nproperty float d\nproperty float d.r\nproperty float d.g\nproperty float d.b",
        );
        assert_eq!(reason(format!("{twice}1 2 3 4 5 6 7").as_bytes()), "two channels of its points have one name");
        let double = text.replace("float z", "double z");
        assert_eq!(reason(format!("{double}1 2 1e300").as_bytes()), "a number in it is not finite");
    }

    #[test]
    fn points_are_counted_before_they_are_read_and_reading_is_stopped() {
        struct Few(bool);
        impl PointLimits for Few {
            fn admit(&self, count: u64, floats: u64) -> PointsAdmitted {
                if count * floats <= 26 { Ok(()) } else { Err(format!("it has {count} points of {floats} floats")) }
            }

            fn goes_on(&self) -> bool {
                self.0
            }
        }
        let good = bytes_of(&cloud());
        let read =
            |bytes: &[u8], goes_on| decode_within(bytes, 1 << 40, &Few(goes_on)).map_err(|fault| fault.to_string());
        assert_eq!(read(&good, true).as_ref(), Ok(&cloud()));
        assert_eq!(read(&good, false), Err("it was interrupted".into()));
        let at = good.windows(8).position(|part| part == b"vertex 2").expect("it has this") + 7;
        let many = [&good[..at], b"3000000000", &good[at + 1..]].concat();
        assert_eq!(read(&many, true), Err("it has 3000000000 points of 13 floats".into()));
    }

    #[test]
    fn what_is_no_file_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let said = |path: &Path| PointCloud::read(path).expect_err("no points").to_string();
        assert!(said(folder.path()).ends_with("is a folder, not a file"));
        assert!(said(&folder.path().join("none")).starts_with("there is no file"));
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, FileType, Mode, mknodat};
            let pipe = folder.path().join("pipe");
            mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
            assert!(said(&pipe).ends_with("is a pipe or a device, not a file"));
        }
        let error = cloud().write(folder.path()).expect_err("a folder");
        assert!(error.to_string().ends_with(": is a directory"), "{error}");
    }
}
