//! `bake3d` and `bake`: records that kernels left become points of files.

use crate::points::{ChannelKind, PointChannel};
use spirv_gen::abi::print::Printed;
pub use spirv_gen::abi::print::{vertex_and_columns, with_vertex};
use spirv_gen::bake::{FIXED_VALUES, described, listed, may_interpolate};
use spirv_gen::ir::Const;
use std::sync::Arc;

/// What calls have in common whose points belong together, as tokens of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BakeCall {
    file: u32,
    /// The list of channels that the shader gives.
    channels: u32,
    /// The types and names of the values.
    values: u32,
}

/// Floats of a point before its values: position, normal, radius.
pub const POINT_FLOATS: usize = 7;

/// Returns what a record of a point says: the call, and the floats of the point.
pub(super) fn baked(record: &Printed) -> Option<(BakeCall, Vec<f32>)> {
    let (Some(Const::U32(file)), Some(Const::U32(channels))) = (record.values.first(), record.values.get(1)) else {
        return None;
    };
    let mut floats = Vec::new();
    for value in &record.values[2..] {
        match value {
            Const::F32(float) => floats.push(*float),
            Const::Vec3(floats3) => floats.extend(floats3),
            _ => return None,
        }
    }
    let is_whole = record.values.len() >= FIXED_VALUES;
    is_whole.then_some((BakeCall { file: *file, channels: *channels, values: record.text }, floats))
}

/// Where a channel's value is among the values of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BakedChannel {
    /// The channel.
    pub channel: PointChannel,
    /// Its first float.
    pub first: usize,
}

impl BakeCall {
    /// Returns the file, as the shader names it.
    pub fn file(&self, texts: &[Arc<str>]) -> Arc<str> {
        text(self.file, texts)
    }

    /// Returns the float of a point, behind all channels, which is not 0 where points between vertices are baked
    /// instead of it.
    pub fn interpolate(&self, texts: &[Arc<str>]) -> Option<usize> {
        let values = text(self.values, texts);
        let floats =
            |(word, _): (&str, &str)| Some(ChannelKind::ALL.into_iter().find(|kind| kind.word() == word)?.floats());
        may_interpolate(&values).then(|| POINT_FLOATS + described(&values).filter_map(floats).sum::<usize>())
    }

    /// Returns the channels that the file gets, in the order of the shader's list, or of the values if that is empty.
    ///
    /// # Errors
    /// The name of a channel that is listed without a value, or has one without being listed.
    pub fn channels(&self, texts: &[Arc<str>]) -> Result<Vec<BakedChannel>, String> {
        let (list, values) = (text(self.channels, texts), text(self.values, texts));
        let mut first = 0;
        let given: Vec<BakedChannel> = described(&values)
            .filter_map(|(word, name)| {
                let kind = ChannelKind::ALL.into_iter().find(|kind| kind.word() == word)?;
                let channel = BakedChannel { channel: PointChannel { name: name.to_owned(), kind }, first };
                first += kind.floats();
                Some(channel)
            })
            .collect();
        let names: Vec<&str> = listed(&list).collect();
        if names.is_empty() {
            return Ok(given);
        }
        if let Some(unlisted) = given.iter().find(|given| !names.contains(&given.channel.name.as_str())) {
            return Err(unlisted.channel.name.clone());
        }
        let find = |name: &str| given.iter().find(|given| given.channel.name == name).cloned();
        names.iter().map(|name| find(name).ok_or_else(|| (*name).to_owned())).collect()
    }
}

fn text(token: u32, texts: &[Arc<str>]) -> Arc<str> {
    texts.get(token as usize).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_come_in_the_order_of_the_list() {
        let texts: Vec<Arc<str>> = ["a.ply", "", "b, a", "a,c", "color a,float b"].map(Arc::from).to_vec();
        let call = |channels| BakeCall { file: 0, channels, values: 4 };
        let names = |call: BakeCall| {
            let channels = call.channels(&texts)?;
            Ok::<_, String>(channels.iter().map(|c| (c.channel.name.clone(), c.first)).collect::<Vec<_>>())
        };
        assert_eq!(names(call(1)), Ok(vec![("a".to_owned(), 0), ("b".to_owned(), 3)]));
        assert_eq!(names(call(2)), Ok(vec![("b".to_owned(), 3), ("a".to_owned(), 0)]));
        assert_eq!(names(call(3)), Err("b".to_owned()));
        assert_eq!(&*call(1).file(&texts), "a.ply");
        assert_eq!(call(1).interpolate(&texts), None);
    }
}
