//! Writes the files of points that a picture's shaders baked, once it is whole.

use crate::diagnostic::{Diagnostic, Severity};
use crate::files::FileRole;
use crate::host_memory::Charge;
use crate::points::{PointChannel, PointCloud};
use crate::render::device::picture::Picture;
use crate::render::region::bakes::{BakePlace, BakedCalls, BakedPoints};
use crate::render::session::draw::Session;
use crate::shading::bakes::{BakedChannel, POINT_FLOATS};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The points of the regions of a picture that are drawn, and the memory that they take.
#[derive(Default)]
pub(super) struct BakedPicture {
    points: BakedPoints,
    charges: Vec<Arc<Charge>>,
}

/// Why a file is not written, and what to do about it.
type BakeRefusal = (String, &'static str);

impl BakedPicture {
    /// Adds the points of a region.
    pub(super) fn add(&mut self, points: BakedPoints, charge: Option<Arc<Charge>>) {
        self.points.add(points);
        self.charges.extend(charge);
    }
}

/// Calls that have a file in common.
#[derive(Default)]
struct BakedFile<'a> {
    parts: Vec<(Vec<BakedChannel>, Cow<'a, BakedCalls>)>,
}

impl BakedFile<'_> {
    /// Returns the points of all calls, in the order of objects, primitives and points.
    fn cloud(&self) -> Result<PointCloud, BakeRefusal> {
        let channels_of = |channels: &[BakedChannel]| -> Vec<PointChannel> {
            channels.iter().map(|channel| channel.channel.clone()).collect()
        };
        let channels = self.parts.first().map(|(channels, _)| channels_of(channels)).unwrap_or_default();
        if self.parts.iter().any(|(others, _)| channels_of(others) != channels) {
            let hint = "bake each set of channels to a file of its own";
            return Err(("shaders bake different channels to it".into(), hint));
        }
        let mut order: Vec<(BakePlace, usize, usize)> = Vec::new();
        for (part, (_, calls)) in self.parts.iter().enumerate() {
            order.extend(calls.places.iter().zip(0..).map(|(place, at)| (*place, part, at)));
        }
        order.sort_unstable();
        let mut cloud = PointCloud { channels, ..PointCloud::default() };
        for (_, part, at) in order {
            let (channels, calls) = &self.parts[part];
            let floats = &calls.floats[at * calls.width()..(at + 1) * calls.width()];
            let (place, values) = floats.split_at(POINT_FLOATS);
            if place[..3].iter().any(|float| !float.is_finite()) {
                continue;
            }
            let finite = |float: f32| if float.is_finite() { float } else { 0.0 };
            cloud.positions.push([place[0], place[1], place[2]]);
            cloud.normals.push([place[3], place[4], place[5]].map(finite));
            cloud.radii.push(finite(place[6]));
            for BakedChannel { channel, first } in channels {
                cloud.values.extend(values[*first..first + channel.kind.floats()].iter().map(|&float| finite(float)));
            }
        }
        Ok(cloud)
    }
}

impl Session<'_> {
    /// Writes what a whole picture's shaders baked, file by file.
    pub(super) fn write_baked(&mut self, picture: &Picture, baked: &BakedPicture) {
        let texts = &picture.textures.names.texts;
        if picture.bake_memory.is_short() {
            let message = "there is no host memory for the points that shaders bake: no file of them is written";
            return self.report_bake(picture, message.into(), "raise --host-memory, or bake fewer points");
        }
        if baked.points.lost_words > 0 {
            let message = "loops bake more points than there is room for: no file of points is written";
            return self.report_bake(picture, message.into(), "bake in fewer trips of loops");
        }
        let points = baked.points.sorted(|place| place);
        let mut files: BTreeMap<Arc<str>, Result<BakedFile<'_>, String>> = BTreeMap::new();
        for (call, calls) in &points.calls {
            let file = files.entry(call.file(texts)).or_insert_with(|| Ok(BakedFile::default()));
            match (call.channels(texts), &mut *file) {
                (Ok(channels), Ok(file)) => {
                    let flag = call.interpolate(texts);
                    let calls = flag.map_or(Cow::Borrowed(calls), |flag| Cow::Owned(calls.centred(flag)));
                    file.parts.push((channels, calls));
                }
                (Err(channel), _) => *file = Err(channel),
                _ => {}
            }
        }
        for (name, file) in files {
            let written = match file {
                Ok(file) => self.write_points(&name, &file),
                Err(channel) => Err((
                    format!("the channel \"{channel}\" has no value, or is not in the list of channels"),
                    "list the channels that the call has values for",
                )),
            };
            if let Err((reason, hint)) = written {
                self.report_bake(picture, format!("\"{name}\" is not baked: {reason}"), hint);
            }
        }
    }

    fn write_points(&self, name: &str, file: &BakedFile<'_>) -> Result<(), BakeRefusal> {
        const OTHER_NAME: &str = "bake to a file of its own, in a folder that exists";
        if name.is_empty() {
            return Err(("it has no name".into(), OTHER_NAME));
        }
        let path = Path::new(name);
        let cloud = file.cloud()?;
        self.options.files.claim(path, FileRole::Baked).map_err(|refused| (refused.to_string(), OTHER_NAME))?;
        let budget = self.options.files.budget();
        cloud.write_within(path, budget).map_err(|error| (error.to_string(), OTHER_NAME))
    }

    fn report_bake(&mut self, picture: &Picture, message: String, hint: &'static str) {
        self.stats.lost_files += 1;
        let error = Diagnostic::new(Severity::Error, "bake", picture.location.clone(), message);
        self.reporter.report(error.hint(hint));
    }
}
