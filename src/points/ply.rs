//! Points as PLY (Turk 1994). Written with little-endian floats; of others' files, texts and both orders of bytes are
//! read. The element `vertex` comes first and has the properties x, y and z; what follows it is not looked at.

use super::{ChannelKind, PointChannel, PointCloud, PointLimits, is_channel_name};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_ply::{DeserializeError, PlyFormat, PlyHeader, PlyProperty, PlyReader, PropertyType, ScalarType};
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

/// Where a property of a point belongs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PointPart {
    Position(usize),
    Normal(usize),
    Radius,
    /// A float of the point's values.
    Value(usize),
}

/// The properties that are no channels.
const PLACES: [(&str, PointPart); 7] = [
    ("x", PointPart::Position(0)),
    ("y", PointPart::Position(1)),
    ("z", PointPart::Position(2)),
    ("nx", PointPart::Normal(0)),
    ("ny", PointPart::Normal(1)),
    ("nz", PointPart::Normal(2)),
    ("radius", PointPart::Radius),
];

/// How the comment begins that says the type and the name of a channel.
const CHANNEL: &str = "channel";
/// The longest header that is read.
const HEADER_BYTES_MAX: u64 = 1 << 18;

/// Why bytes are no points.
#[derive(Debug, thiserror::Error)]
pub enum PointsFault {
    /// They cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// They are not what was expected.
    #[error("{0}")]
    Bad(&'static str),
    /// There are more than may be read.
    #[error("{0}")]
    TooMany(String),
    /// Reading was stopped.
    #[error("{STOPPED}")]
    Stopped,
}

const DAMAGED_NUMBER: &str = "a number in it is damaged";
const NOT_FINITE: &str = "a number in it is not finite";
const STOPPED: &str = "it was interrupted";

/// How many points are read before it is asked whether to go on.
const POINTS_AT_ONCE: usize = 4096;

impl PointsFault {
    /// Returns what the reader of PLY says of what follows the header.
    fn of_body(DeserializeError(error): DeserializeError) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Bad("it ends too early"),
            io::ErrorKind::InvalidData if error.to_string() == NOT_FINITE => Self::Bad(NOT_FINITE),
            io::ErrorKind::InvalidData if error.to_string() == STOPPED => Self::Stopped,
            io::ErrorKind::InvalidData => Self::Bad(DAMAGED_NUMBER),
            _ => Self::Io(error),
        }
    }
}

/// Writes points.
pub(super) fn encode(cloud: &PointCloud, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let count = cloud.positions.len();
    writeln!(out, "ply\nformat binary_little_endian 1.0\ncomment points of anthill")?;
    for channel in &cloud.channels {
        writeln!(out, "comment {CHANNEL} {channel}")?;
    }
    writeln!(out, "element vertex {count}")?;
    for (name, _) in PLACES {
        writeln!(out, "property float {name}")?;
    }
    for PointChannel { name, kind } in &cloud.channels {
        for suffix in kind.suffixes() {
            writeln!(out, "property float {name}{suffix}")?;
        }
    }
    writeln!(out, "end_header")?;
    let width = cloud.width();
    for point in 0..count {
        let values = &cloud.values[width * point..width * (point + 1)];
        let place = cloud.positions[point].iter().chain(&cloud.normals[point]).chain([&cloud.radii[point]]);
        for float in place.chain(values) {
            out.write_all(&float.to_le_bytes())?;
        }
    }
    Ok(())
}

/// Reads points from a file of `bytes` bytes. Takes memory for what the bytes hold, whatever they claim to hold.
///
/// # Errors
/// If they are no points, or not whole.
pub fn decode(file: impl Read, bytes: u64) -> Result<PointCloud, PointsFault> {
    decode_within(file, bytes, &())
}

/// Reads points as [`decode`] does, within limits.
///
/// # Errors
/// As [`decode`]; if there are too many points, and if it was stopped.
pub fn decode_within(file: impl Read, bytes: u64, limits: &dyn PointLimits) -> Result<PointCloud, PointsFault> {
    let mut file = BufReader::with_capacity(1 << 16, file);
    let head = read_head(&mut file)?;
    let body_bytes = bytes.saturating_sub(head.len() as u64);
    // The last number of a text may end with the file.
    let input = BufReader::new(io::Cursor::new(head).chain(file).chain(&b"\n"[..]));
    let mut reader = PlyReader::from_reader(input).map_err(|_| PointsFault::Bad("its header is damaged"))?;
    let layout = Layout::of(reader.header())?;
    let count = reader.header().elem_defs[0].count;
    let needed = (count as u64).checked_mul(layout.row_bytes_min);
    if needed.is_none_or(|needed| needed > body_bytes) {
        return Err(PointsFault::Bad("it ends too early"));
    }
    let width: usize = layout.channels.iter().map(|channel| channel.kind.floats()).sum();
    limits.admit(count as u64, width as u64).map_err(PointsFault::TooMany)?;
    let mut cloud = PointCloud {
        channels: layout.channels,
        positions: vec![[0.0; 3]; count],
        normals: vec![[0.0; 3]; count],
        radii: vec![0.0; count],
        values: vec![0.0; count * width],
    };
    let body = Body { places: &layout.places, width, cloud: &mut cloud, limits };
    reader.deserialize_map(body).map_err(PointsFault::of_body)?;
    Ok(cloud)
}

/// Reads up to the end of the header, which the reader of PLY would look for in all of a file.
fn read_head(file: &mut impl BufRead) -> Result<Vec<u8>, PointsFault> {
    let mut head = Vec::new();
    loop {
        let begin = head.len();
        let room = HEADER_BYTES_MAX - begin as u64;
        file.by_ref().take(room).read_until(b'\n', &mut head)?;
        let line = head[begin..].trim_ascii();
        if begin == 0 && line != b"ply" {
            return Err(PointsFault::Bad("it does not begin with \"ply\""));
        }
        if head.len() == begin || head.last() != Some(&b'\n') {
            return Err(PointsFault::Bad("its header has no end"));
        }
        if line == b"end_header" {
            return Ok(head);
        }
    }
}

/// What the properties of points are.
struct Layout {
    channels: Vec<PointChannel>,
    /// For each property of a point, in the order of the file.
    places: Vec<PointPart>,
    /// The fewest bytes of a point.
    row_bytes_min: u64,
}

impl Layout {
    fn of(header: &PlyHeader) -> Result<Self, PointsFault> {
        let vertex = header.elem_defs.first().filter(|element| element.name == "vertex");
        let vertex = vertex.ok_or(PointsFault::Bad("its first element is not \"vertex\""))?;
        let names: Vec<&str> = vertex.properties.iter().map(|property| property.name.as_str()).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(PointsFault::Bad("two properties of its points have one name"));
        }
        if ["x", "y", "z"].iter().any(|name| !names.contains(name)) {
            return Err(PointsFault::Bad("its points lack x, y or z"));
        }
        let is_text = header.format == PlyFormat::Ascii;
        let row_bytes_min = vertex.properties.iter().map(|property| bytes_min(property, is_text)).sum::<Option<u64>>();
        let row_bytes_min = row_bytes_min.ok_or(PointsFault::Bad("its points have lists"))?;
        let said: Vec<PointChannel> = header.comments.iter().filter_map(|comment| said_channel(comment)).collect();
        let (mut channels, mut places) = (Vec::new(), vec![None; names.len()]);
        let mut width = 0;
        for (at, name) in names.iter().enumerate() {
            if let Some((_, place)) = PLACES.iter().find(|(known, _)| known == name) {
                places[at] = Some(*place);
            } else if places[at].is_none() {
                let channel = channel_of(name, &said).ok_or(PointsFault::Bad(BAD_NAME))?;
                for (suffix, float) in channel.kind.suffixes().iter().zip(width..) {
                    let property = format!("{}{suffix}", channel.name);
                    let property = names.iter().position(|name| *name == property);
                    places[property.ok_or(PointsFault::Bad("a channel lacks a property"))?] =
                        Some(PointPart::Value(float));
                }
                width += channel.kind.floats();
                if channels.iter().any(|known: &PointChannel| known.name == channel.name) {
                    return Err(PointsFault::Bad("two channels of its points have one name"));
                }
                channels.push(channel);
            }
        }
        Ok(Self { channels, places: places.into_iter().flatten().collect(), row_bytes_min })
    }
}

const BAD_NAME: &str = "a property has a name that no channel may have";

/// Returns the fewest bytes of a scalar property; a text has at least a digit and a space.
fn bytes_min(property: &PlyProperty, is_text: bool) -> Option<u64> {
    let PropertyType::Scalar(scalar) = property.property_type else { return None };
    Some(match scalar {
        _ if is_text => 2,
        ScalarType::I8 | ScalarType::U8 => 1,
        ScalarType::I16 | ScalarType::U16 => 2,
        ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => 4,
        ScalarType::F64 => 8,
    })
}

/// Returns the channel of a comment that says a type.
fn said_channel(comment: &str) -> Option<PointChannel> {
    PointChannel::of_text(comment.strip_prefix(CHANNEL)?.strip_prefix(' ')?)
}

/// Returns the channel that a property is a part of, by what comments say of its name, or by how that ends.
fn channel_of(property: &str, said: &[PointChannel]) -> Option<PointChannel> {
    let (name, end) = property.split_at(property.find('.').unwrap_or(property.len()));
    if !is_channel_name(name) || PLACES.iter().any(|(known, _)| *known == name) {
        return None;
    }
    let said: Vec<ChannelKind> = said.iter().filter(|said| said.name == name).map(|said| said.kind).collect();
    let usual = [ChannelKind::Float, ChannelKind::Color, ChannelKind::Vector];
    let kinds = if said.is_empty() { &usual[..] } else { &said };
    let kind = *kinds.iter().find(|kind| kind.suffixes().contains(&end))?;
    Some(PointChannel { name: name.into(), kind })
}

/// Reads the first element's rows into the points. The reader gives rows as maps from names to numbers; the names are
/// known, so that only the order counts.
struct Body<'a> {
    places: &'a [PointPart],
    width: usize,
    cloud: &'a mut PointCloud,
    limits: &'a dyn PointLimits,
}

impl<'de> Visitor<'de> for Body<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("points")
    }

    /// Returns the elements of the file.
    fn visit_map<A: MapAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        elements.next_key::<IgnoredAny>()?;
        elements.next_value_seed(self)
    }

    /// Returns the rows of the first one.
    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        for point in 0..self.cloud.positions.len() {
            if point % POINTS_AT_ONCE == 0 && !self.limits.goes_on() {
                return Err(A::Error::custom(STOPPED));
            }
            let row = PointRow { point, places: self.places, width: self.width, cloud: self.cloud };
            rows.next_element_seed(row)?;
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Body<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, rows: D) -> Result<(), D::Error> {
        rows.deserialize_seq(self)
    }
}

struct PointRow<'a> {
    point: usize,
    places: &'a [PointPart],
    width: usize,
    cloud: &'a mut PointCloud,
}

impl<'de> DeserializeSeed<'de> for PointRow<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, row: D) -> Result<(), D::Error> {
        row.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PointRow<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a point")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut row: A) -> Result<(), A::Error> {
        let (point, cloud) = (self.point, self.cloud);
        for place in self.places {
            row.next_key::<IgnoredAny>()?;
            let number = row.next_value_seed(PointNumber)?;
            if !number.is_finite() {
                return Err(A::Error::custom(NOT_FINITE));
            }
            match *place {
                PointPart::Position(axis) => cloud.positions[point][axis] = number,
                PointPart::Normal(axis) => cloud.normals[point][axis] = number,
                PointPart::Radius => cloud.radii[point] = number,
                PointPart::Value(float) => cloud.values[self.width * point + float] = number,
            }
        }
        Ok(())
    }
}

/// A number of any type, as a float.
struct PointNumber;

impl<'de> DeserializeSeed<'de> for PointNumber {
    type Value = f32;

    fn deserialize<D: Deserializer<'de>>(self, number: D) -> Result<f32, D::Error> {
        number.deserialize_any(self)
    }
}

impl Visitor<'_> for PointNumber {
    type Value = f32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f32<E: Error>(self, number: f32) -> Result<f32, E> {
        Ok(number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<f32, E> {
        Ok(number as f32)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<f32, E> {
        Ok(number as f32)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<f32, E> {
        Ok(number as f32)
    }
}
