//! A point cloud as the words that devices look it up in (spirv-gen's abi.rs, "points"): a binary tree, whose nodes are
//! in an order that only the cloud decides.
//!
//! A node stands for all points below it, so that a lookup which averages over much more than the node's size takes it
//! instead of them. Nodes of a tile are a subtree wherever possible: a lookup needs few tiles.

use super::TILE_WORDS;
use super::error::TextureError;
use crate::points::{PointChannel, PointCloud};
use std::collections::VecDeque;
use std::path::Path;

/// Words of a node before its values.
const NODE_WORDS: usize = 13;
/// Words before those of the channels, and of each channel.
const HEADER_WORDS: usize = 2;
const CHANNEL_WORDS: usize = 4;
/// The size under which points count as one where they may not.
const NEVER: f32 = 1e30;
/// The largest coordinate, radius and value.
const COORDINATE_MAX: f32 = 1e15;
const VALUE_MAX: f32 = 1e20;
/// How much farther than computed points may be from the middle of their node, which is rounded.
const ROUNDING: f64 = 1.0 + 1e-5;
/// Points count as one only if their radii differ by less than this factor, and the cosine between the mean normal and
/// each of theirs is larger than that.
const RADII_MAX: f32 = 2.0;
const COSINE_MIN: f64 = 0.9;

/// Points of a cloud, which all below a node are a range of, and where the nodes below it begin.
struct TreeNode {
    points: std::ops::Range<usize>,
    /// The first node below it; the second one follows the first one's own.
    below: Option<[usize; 2]>,
}

/// Asks whether to go on each time that some points were looked at.
struct StopWatch<'a> {
    goes_on: &'a dyn Fn() -> bool,
    points: usize,
}

impl StopWatch<'_> {
    const POINTS_MAX: usize = 1 << 20;

    fn check(&mut self, points: usize) -> Result<(), TextureError> {
        if self.points == 0 && !(self.goes_on)() {
            return Err(TextureError::Stopped);
        }
        self.points += points;
        if self.points >= Self::POINTS_MAX {
            self.points = 0;
        }
        Ok(())
    }
}

/// Returns the words of a cloud, whole tiles of them.
///
/// # Errors
/// If there are more points or channels than words can be counted for, and [`TextureError::Stopped`] once `goes_on`
/// says that it does not.
pub(super) fn words(path: &Path, cloud: &PointCloud, goes_on: &dyn Fn() -> bool) -> Result<Vec<u32>, TextureError> {
    let stride = node_words(path, &cloud.channels)?;
    let per_tile = TILE_WORDS / stride;
    check_count(cloud.positions.len() as u64, cloud.width() as u64)
        .map_err(|reason| TextureError::unsupported(path, reason))?;
    let mut points: Vec<u32> = (0..cloud.positions.len() as u32).filter(|&point| is_usable(cloud, point)).collect();
    let nodes = tree(cloud, &mut points, goes_on)?;
    let order = storage_order(&nodes, per_tile);
    let mut words = vec![0; (1 + nodes.len().div_ceil(per_tile)) * TILE_WORDS];
    write_channels(&cloud.channels, &mut words);
    let mut addresses = vec![0; nodes.len()];
    for (at, &node) in order.iter().enumerate() {
        addresses[node] = ((1 + at / per_tile) * TILE_WORDS + at % per_tile * stride) as u32;
    }
    words[0] = addresses.first().copied().unwrap_or(0);
    // What follows a node: the second node below the same one after the first, and after the second what follows that.
    let mut following = vec![0; nodes.len()];
    let mut watch = StopWatch { goes_on, points: 0 };
    for (number, node) in nodes.iter().enumerate() {
        if let Some([first, second]) = node.below {
            (following[first], following[second]) = (addresses[second], following[number]);
        }
        watch.check(node.points.len())?;
        let at = addresses[number] as usize;
        let below = node.below.map_or(0, |[first, _]| addresses[first]);
        let numbers = summary(cloud, &points[node.points.clone()]);
        words[at..at + 2].copy_from_slice(&[following[number], below]);
        words[at + 2..at + stride].iter_mut().zip(numbers).for_each(|(word, number)| *word = number.to_bits());
    }
    Ok(words)
}

/// Whether the words of this many points with this many floats of values can be counted.
///
/// # Errors
/// A clause that says how many can.
pub(super) fn check_count(count: u64, floats: u64) -> Result<(), String> {
    let per_tile = TILE_WORDS as u64 / (NODE_WORDS as u64 + floats).min(TILE_WORDS as u64);
    let points_max = (u64::from(u32::MAX) / TILE_WORDS as u64 - 1) * per_tile / 2;
    if count > points_max { Err(format!("it has {count} points; {points_max} are supported")) } else { Ok(()) }
}

/// Returns what [`bytes_at_work`] does, if words can be counted.
///
/// # Errors
/// As [`check_count`].
pub(super) fn needs(count: u64, floats: u64) -> Result<u64, String> {
    check_count(count, floats).map(|()| bytes_at_work(count, floats))
}

/// Returns the most bytes that reading points and making words of them takes: the cloud; for each point its number, and
/// two nodes with their order, addresses and words.
fn bytes_at_work(count: u64, floats: u64) -> u64 {
    let point = point_bytes(floats) + size_of::<u32>() as u64;
    let node = size_of::<TreeNode>() + size_of::<usize>() + 2 * size_of::<u32>();
    count.saturating_mul(point + 2 * node as u64).saturating_add(word_bytes(count, floats))
}

/// Returns the bytes of a point of a cloud.
pub(super) fn point_bytes(floats: u64) -> u64 {
    size_of::<f32>() as u64 * (7 + floats)
}

/// Returns the bytes of the words of all points: of two nodes each.
pub(super) fn word_bytes(count: u64, floats: u64) -> u64 {
    count.saturating_mul(2 * size_of::<u32>() as u64 * (NODE_WORDS as u64 + floats))
}

/// Words of a node.
///
/// # Errors
/// If there are more channels than a tile has room for.
pub(super) fn node_words(path: &Path, channels: &[PointChannel]) -> Result<usize, TextureError> {
    let stride = NODE_WORDS + channels.iter().map(|channel| channel.kind.floats()).sum::<usize>();
    if header_words(channels) > TILE_WORDS || stride > TILE_WORDS {
        return Err(TextureError::unsupported(path, format!("it has {} channels", channels.len())));
    }
    Ok(stride)
}

/// Words of the first tile that are not 0.
pub(super) fn header_words(channels: &[PointChannel]) -> usize {
    HEADER_WORDS + CHANNEL_WORDS * channels.len()
}

/// Writes the number of channels and what they are.
pub(super) fn write_channels(channels: &[PointChannel], words: &mut [u32]) {
    words[1] = channels.len() as u32;
    let mut place = NODE_WORDS as u32;
    for (channel, entry) in channels.iter().zip(words[HEADER_WORDS..].chunks_exact_mut(CHANNEL_WORDS)) {
        let floats = channel.kind.floats() as u32;
        let [first, second] = channel_hash(channel);
        entry.copy_from_slice(&[first, second, place, floats]);
        place += floats;
    }
}

/// Whether a point has a place.
fn is_usable(cloud: &PointCloud, point: u32) -> bool {
    cloud.positions[point as usize].iter().all(|x| x.abs() <= COORDINATE_MAX)
}

/// Returns the words by which a channel's name is known (spirv-gen's abi.rs).
fn channel_hash(channel: &PointChannel) -> [u32; 2] {
    [0x811c_9dc5, 0x2545_f491].map(|first| {
        channel.name.bytes().fold(first, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    })
}

/// Returns the nodes of a tree down to single points, each before those below it. How points are cut in two, and so
/// their last order, follows from the cloud alone.
///
/// # Errors
/// [`TextureError::Stopped`] once `goes_on` says that it does not.
fn tree(cloud: &PointCloud, points: &mut [u32], goes_on: &dyn Fn() -> bool) -> Result<Vec<TreeNode>, TextureError> {
    let mut nodes = Vec::new();
    if !points.is_empty() {
        nodes.push(TreeNode { points: 0..points.len(), below: None });
    }
    let mut watch = StopWatch { goes_on, points: 0 };
    let mut next = 0;
    while next < nodes.len() {
        let range = nodes[next].points.clone();
        watch.check(range.len())?;
        if range.len() > 1 {
            let part = &mut points[range.clone()];
            let cut = range.start + cut_by_radius(cloud, part).unwrap_or_else(|| cut_by_place(cloud, part));
            nodes[next].below = Some([nodes.len(), nodes.len() + 1]);
            nodes.push(TreeNode { points: range.start..cut, below: None });
            nodes.push(TreeNode { points: cut..range.end, below: None });
        }
        next += 1;
    }
    Ok(nodes)
}

/// Sorts points by the octave of their radii, where these differ, and returns the bound of an octave near the middle:
/// large points among small ones would make lookups visit all of them.
fn cut_by_radius(cloud: &PointCloud, points: &mut [u32]) -> Option<usize> {
    let octave = |point: &u32| radius(cloud, *point).to_bits() >> 23;
    let first = octave(&points[0]);
    if points.iter().all(|point| octave(point) == first) {
        return None;
    }
    points.sort_unstable_by_key(|point| (octave(point), *point));
    let middle = points.len() / 2;
    let of_middle = octave(&points[middle]);
    let [low, high] = [of_middle, of_middle + 1].map(|end| points.partition_point(|point| octave(point) < end));
    let is_low = low > 0 && (high == points.len() || middle - low < high - middle);
    Some(if is_low { low } else { high })
}

/// Cuts points in halves along the longest side of their box; those of one coordinate by their numbers.
fn cut_by_place(cloud: &PointCloud, points: &mut [u32]) -> usize {
    let (axis, middle) = (longest_axis(cloud, points), points.len() / 2);
    let place = |point: &u32| cloud.positions[*point as usize][axis];
    points.select_nth_unstable_by(middle, |a, b| place(a).total_cmp(&place(b)).then_with(|| a.cmp(b)));
    middle
}

fn radius(cloud: &PointCloud, point: u32) -> f32 {
    bounded(cloud.radii[point as usize]).max(0.0)
}

fn longest_axis(cloud: &PointCloud, points: &[u32]) -> usize {
    let side = |axis: usize| {
        let places = points.iter().map(|&point| cloud.positions[point as usize][axis]);
        let [low, high] = places.fold([f32::MAX, f32::MIN], |[low, high], x| [low.min(x), high.max(x)]);
        high - low
    };
    let sides = [0, 1, 2].map(side);
    (0..3).fold(0, |longest, axis| if sides[axis] > sides[longest] { axis } else { longest })
}

/// Returns the order in which nodes are stored: as many of a subtree as a tile holds, level by level, then what is
/// below them.
fn storage_order(nodes: &[TreeNode], per_tile: usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(nodes.len());
    let mut roots: Vec<usize> = if nodes.is_empty() { Vec::new() } else { vec![0] };
    while let Some(root) = roots.pop() {
        let mut queue = VecDeque::from([root]);
        for _ in 0..per_tile {
            let Some(node) = queue.pop_front() else { break };
            order.push(node);
            queue.extend(nodes[node].below.into_iter().flatten());
        }
        roots.extend(queue.into_iter().rev());
    }
    order
}

/// Returns the floats of a node: what its points are together.
fn summary(cloud: &PointCloud, points: &[u32]) -> Vec<f32> {
    let count = points.len() as f64;
    let triple_mean = |list: &[[f32; 3]]| {
        [0, 1, 2].map(|axis| points.iter().map(|&p| f64::from(bounded(list[p as usize][axis]))).sum::<f64>() / count)
    };
    let middle = triple_mean(&cloud.positions).map(|x| x as f32);
    let distance = |&point: &u32| {
        let place = cloud.positions[point as usize];
        (0..3).map(|axis| (f64::from(place[axis]) - f64::from(middle[axis])).powi(2)).sum::<f64>().sqrt()
    };
    let size = if points.len() == 1 { 0.0 } else { points.iter().map(distance).fold(0.0, f64::max) * ROUNDING } as f32;
    let radii = || points.iter().map(|&point| radius(cloud, point));
    let (smallest, largest) = (radii().fold(f32::MAX, f32::min), radii().fold(0.0, f32::max));
    let mean_radius = (radii().map(f64::from).sum::<f64>() / count) as f32;
    let normal = triple_mean(&cloud.normals);
    let alike = points.len() == 1 || (largest <= RADII_MAX * smallest && are_alike(cloud, points, normal));
    let width = cloud.width();
    let values = (0..width).map(|i| {
        let value = |&point: &u32| f64::from(finite(cloud.values[point as usize * width + i], VALUE_MAX));
        (points.iter().map(value).sum::<f64>() / count) as f32
    });
    let merge = if alike { size } else { NEVER };
    let head = [count as f32, middle[0], middle[1], middle[2], size, largest, mean_radius, merge];
    head.into_iter().chain(normal.map(|x| x as f32)).chain(values).collect()
}

/// Whether the normals of points are all 0, or all near the mean one.
fn are_alike(cloud: &PointCloud, points: &[u32], mean: [f64; 3]) -> bool {
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let square = dot(mean, mean);
    points.iter().all(|&point| {
        let normal = cloud.normals[point as usize].map(|x| f64::from(bounded(x)));
        let own = dot(normal, normal);
        own == square && own == 0.0 || dot(normal, mean) > COSINE_MIN * (own * square).sqrt()
    })
}

fn bounded(x: f32) -> f32 {
    finite(x, COORDINATE_MAX)
}

/// Returns x within -limit..limit; 0 where it is not finite.
fn finite(x: f32, limit: f32) -> f32 {
    if x.is_finite() { x.clamp(-limit, limit) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::ChannelKind;

    fn row(count: usize) -> PointCloud {
        PointCloud {
            channels: vec![PointChannel { name: "_c".into(), kind: ChannelKind::Float }],
            positions: (0..count).map(|i| [i as f32, 0.0, 0.0]).collect(),
            normals: vec![[0.0, 0.0, 1.0]; count],
            radii: vec![0.5; count],
            values: (0..count).map(|i| i as f32).collect(),
        }
    }

    /// Returns the values of the points in the order in which lookups meet them, and the number of nodes.
    fn walk(words: &[u32]) -> (Vec<f32>, u32) {
        let (mut node, mut values, mut nodes) = (words[0] as usize, Vec::new(), 0);
        while node != 0 {
            nodes += 1;
            assert_eq!(node >> 12, (node + NODE_WORDS) >> 12, "a node is within a tile");
            let below = words[node + 1] as usize;
            if below == 0 {
                values.push(f32::from_bits(words[node + NODE_WORDS]));
            }
            node = if below == 0 { words[node] as usize } else { below };
        }
        (values, nodes)
    }

    #[test]
    fn all_points_are_met_once() {
        for count in [0, 1, 2, 3, 7, 300, 1000] {
            let words = words(Path::new("a.ply"), &row(count), &|| true).expect("few points");
            let (mut values, nodes) = walk(&words);
            assert_eq!(nodes, (2 * count).saturating_sub(1) as u32);
            values.sort_by(f32::total_cmp);
            assert_eq!(values, (0..count).map(|i| i as f32).collect::<Vec<_>>());
            assert_eq!(words.len() % TILE_WORDS, 0);
        }
    }

    #[test]
    fn a_node_is_the_mean_of_its_points() {
        let words = words(Path::new("a.ply"), &row(4), &|| true).expect("few points");
        let root = words[0] as usize;
        let numbers: Vec<f32> = words[root + 2..root + 14].iter().map(|&word| f32::from_bits(word)).collect();
        assert_eq!(numbers[..4], [4.0, 1.5, 0.0, 0.0]);
        assert!((1.5..1.51).contains(&numbers[4]) && numbers[7] == numbers[4], "{numbers:?}");
        assert_eq!(numbers[5..7], [0.5, 0.5]);
        assert_eq!(numbers[8..], [0.0, 0.0, 1.0, 1.5]);
    }

    #[test]
    fn points_that_face_each_other_or_differ_in_size_do_not_count_as_one() {
        let size = |cloud: &PointCloud| {
            let words = words(Path::new("a.ply"), cloud, &|| true).expect("few points");
            f32::from_bits(words[words[0] as usize + 9])
        };
        let (mut wall, mut sizes) = (row(2), row(2));
        wall.normals[1] = [0.0, 0.0, -1.0];
        sizes.radii[1] = 2.0;
        assert_eq!([size(&row(2)), size(&wall), size(&sizes)], [0.5 * ROUNDING as f32, NEVER, NEVER]);
    }

    #[test]
    fn making_words_is_stopped_and_too_many_are_refused() {
        let stopped = words(Path::new("a.ply"), &row(1000), &|| false);
        assert!(matches!(stopped, Err(TextureError::Stopped)));
        assert!(check_count(100_000_000, 1).is_ok());
        assert!(check_count(1 << 33, 1).is_err_and(|reason| reason.starts_with("it has 8589934592 points; ")));
        // A point takes about this much: its floats, and two nodes of 14 words.
        assert!((200..300).contains(&bytes_at_work(1, 1)));
        assert_eq!(bytes_at_work(u64::MAX, 1), u64::MAX);
    }
}
