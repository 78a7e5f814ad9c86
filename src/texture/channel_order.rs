//! The order in which a texture has the channels of an OpenEXR file, which lists them by name.

use exr::meta::attribute::ChannelDescription;
use rustc_hash::FxHashMap;

/// Channels of a colour, grey beside red.
const COLOURS: [&str; 5] = ["R", "Y", "G", "B", "A"];
/// Channels of a point or a vector.
const AXES: [&str; 4] = ["X", "Y", "Z", "W"];

/// Channels whose names begin alike, up to the last dot.
#[derive(Default)]
struct Layer {
    /// The place of the first one in the file, from 1.
    begin: usize,
    /// Whether one has exactly the name of a colour: then lower case means something else.
    is_upper: bool,
    /// Whether there are red, green and blue.
    has: [bool; 3],
    has_grey: bool,
    has_x: bool,
    /// The place of the first axis in the file, from 1.
    axes_begin: Option<usize>,
}

impl Layer {
    fn add(&mut self, place: usize, part: &str) {
        self.is_upper |= COLOURS.contains(&part);
        let is = |name: &str| part.eq_ignore_ascii_case(name);
        self.has.iter_mut().zip(["R", "G", "B"]).for_each(|(has, name)| *has |= is(name));
        self.has_grey |= is("Y");
        self.has_x |= is("X");
        if AXES.into_iter().any(is) {
            self.axes_begin.get_or_insert(place);
        }
    }

    /// Whether it is a colour or grey. Y is grey, but not beside X, and r, g or b alone is any variable.
    fn is_coloured(&self) -> bool {
        let some = if self.is_upper { self.has.contains(&true) } else { self.has == [true; 3] };
        some || self.has_grey && !self.has_x
    }

    fn is_named(&self, part: &str, name: &str) -> bool {
        if self.is_upper { part == name } else { part.eq_ignore_ascii_case(name) }
    }

    /// Returns the place of a channel in the layer; those without a known name come last.
    fn rank(&self, part: &str) -> usize {
        // Y is an axis beside X.
        let is_known = |name: &str| self.is_named(part, name) && !(self.is_coloured() && self.has_x && name == "Y");
        let order = if self.is_coloured() { &COLOURS[..] } else { &AXES[..] };
        order.iter().position(|name| is_known(name)).unwrap_or(COLOURS.len())
    }

    /// Returns where an axis of it is in a file, if it is no colour: at the place of the first one.
    fn place_of_axis(&self, rank: usize) -> Option<usize> {
        self.axes_begin.filter(|_| self.has_x && !self.is_coloured() && rank < AXES.len())
    }
}

/// Returns the file's channel of each channel of the texture. Red (or grey), green, blue and alpha without a layer come
/// first, then layer by layer as the file has them, each in the order of colours or of axes. An alpha without a layer
/// and without colours beside it belongs to the first layer of colours.
pub(super) fn channel_order(list: &[ChannelDescription]) -> Vec<usize> {
    let names: Vec<String> = list.iter().map(|channel| channel.name.to_string()).collect();
    let parts: Vec<(&str, &str)> = names.iter().map(|name| name.rsplit_once('.').unwrap_or(("", name))).collect();
    let mut layers: FxHashMap<&str, Layer> = FxHashMap::default();
    for (place, (layer, part)) in (1..).zip(&parts) {
        layers.entry(layer).or_insert_with(|| Layer { begin: place, ..Layer::default() }).add(place, part);
    }
    let coloured = layers.iter().filter(|(name, layer)| !name.is_empty() && layer.is_coloured());
    let first_coloured = coloured.map(|(_, layer)| layer.begin).min();
    let key = |&index: &usize| {
        let (name, part) = parts[index];
        let layer = &layers[name];
        let rank = layer.rank(part);
        match first_coloured {
            _ if !name.is_empty() => (layer.begin, rank),
            _ if layer.is_coloured() && rank < COLOURS.len() => (0, rank),
            Some(begin) if layer.is_named(part, "A") => (begin, rank),
            _ => (layer.place_of_axis(rank).unwrap_or(index + 1), rank),
        }
    };
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by_key(key);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use exr::meta::attribute::{SampleType, Text};

    /// Returns the names in the order of the texture.
    fn ordered(names: &str) -> String {
        let text = |name| Text::new_or_none(name).expect("it is ASCII");
        let mut names: Vec<&str> = names.split(' ').collect();
        names.sort_unstable();
        let list: Vec<_> =
            names.iter().map(|name| ChannelDescription::new(text(name), SampleType::F16, true)).collect();
        channel_order(&list).into_iter().map(|index| names[index]).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn colours_and_points_come_in_their_order_layer_by_layer() {
        for names in [
            "R G B A Z",
            "Y A",
            "Cs.R Cs.G Cs.B",
            "Ci.R Ci.G Ci.B A mycol.R mycol.G mycol.B",
            "R G B A N.x N.y N.z Oi.R Oi.G Oi.B",
            "mycol.R mycol.G mycol.B myf myv.x myv.y myv.z",
            "Pw.x Pw.y Pw.z Pw.w",
            "Layer.Combined.R Layer.Combined.G Layer.Combined.B Layer.Combined.A Layer.Normal.X Layer.Normal.Y Layer.Normal.Z",
            "Ci.r Ci.g Ci.b a",
            "R G B a r x",
            "UV.A UV.U UV.V",
            "A Z",
            "a s t",
            "Ci.R Ci.G Ci.B r",
            "m.00 m.01 m.10",
            "X Y Z W",
            "x y z w",
            "U V X W",
            "Cs.R Cs.G Cs.B a x y z w",
            "R G B A X Y Z",
        ] {
            assert_eq!(ordered(names), names);
        }
    }
}
