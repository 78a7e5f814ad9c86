//! The layout of a film's pixels: groups of floats and the position of each group.

use crate::scene::{DisplayMode, Filter, ValueType};
use std::sync::Arc;

/// Floats of a pixel that belong and are produced together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChannelGroup {
    /// Red, green, blue: premultiplied, linear, filtered; before exposure.
    Colour,
    /// Coverage times opacity, filtered.
    Alpha,
    /// Camera-space z by the hider's depth filter, not filtered otherwise; 1e38 (RI_INFINITY) where there is nothing.
    Depth,
    /// The light that reaches each depth, which is kept beside the floats.
    Light,
    /// An arbitrary output variable, filtered.
    Variable {
        /// The variable's name.
        name: Arc<str>,
        /// Its RSL type; never a string.
        ty: ValueType,
        /// Whether translucent surfaces are composited; else the value is that of the nearest one.
        composited: bool,
    },
}

/// A group as a pixel holds it: filtered by the pixel filter or by one of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct FilmChannel {
    /// What it is.
    pub group: ChannelGroup,
    /// Its own filter; depths have none.
    pub filter: Option<Filter>,
}

impl ChannelGroup {
    /// Returns the number of floats.
    pub fn floats(&self) -> usize {
        match self {
            Self::Colour => 3,
            Self::Alpha | Self::Depth => 1,
            Self::Light => 0,
            Self::Variable { ty, .. } => ty.floats(),
        }
    }

    /// Whether the values are colours, to which exposure applies; opacities are not.
    pub(super) fn is_colour(&self) -> bool {
        match self {
            Self::Colour => true,
            Self::Alpha | Self::Depth | Self::Light => false,
            Self::Variable { name, ty, .. } => *ty == ValueType::Color && !matches!(&**name, "Oi" | "Os"),
        }
    }

    /// Returns the name of each float as an OpenEXR channel: R, G, B, A, Z; a variable's name with the layer suffixes
    /// that compositing programs know: `.R .G .B` for colours, `.x .y .z .w` for geometry, `.00` to `.33` (row, column)
    /// for matrices.
    pub(super) fn exr_names(&self) -> Vec<String> {
        let (name, ty) = match self {
            Self::Colour => return ["R", "G", "B"].map(String::from).into(),
            Self::Alpha => return vec!["A".into()],
            Self::Depth => return vec!["Z".into()],
            Self::Light => return Vec::new(),
            Self::Variable { name, ty, .. } => (name, ty),
        };
        let suffixes: &[&str] = match ty {
            ValueType::Float | ValueType::Int | ValueType::String => return vec![name.to_string()],
            ValueType::Color => &["R", "G", "B"],
            ValueType::Point | ValueType::Vector | ValueType::Normal => &["x", "y", "z"],
            ValueType::HPoint => &["x", "y", "z", "w"],
            ValueType::Matrix | ValueType::MPoint => {
                return (0..16).map(|index| format!("{name}.{}{}", index / 4, index % 4)).collect();
            }
        };
        suffixes.iter().map(|suffix| format!("{name}.{suffix}")).collect()
    }
}

/// Returns the groups of a display mode, in the order in which files store them.
pub(super) fn groups_of(mode: &DisplayMode) -> Vec<ChannelGroup> {
    match mode {
        DisplayMode::Image { rgb, a, z } => {
            let wanted = [(*rgb, ChannelGroup::Colour), (*a, ChannelGroup::Alpha), (*z, ChannelGroup::Depth)];
            wanted.into_iter().filter(|(wanted, _)| *wanted).map(|(_, group)| group).collect()
        }
        DisplayMode::Variable { name, ty, composited } => {
            vec![ChannelGroup::Variable { name: name.clone(), ty: *ty, composited: *composited }]
        }
    }
}

/// The position of each group in a pixel: interleaved floats, every group once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PixelLayout {
    channels: Vec<FilmChannel>,
}

impl PixelLayout {
    /// Adds a channel unless it is already there.
    pub(super) fn add(&mut self, channel: &FilmChannel) {
        if !self.channels.contains(channel) {
            self.channels.push(channel.clone());
        }
    }

    /// Returns the channels in their order in a pixel.
    pub fn channels(&self) -> &[FilmChannel] {
        &self.channels
    }

    /// Returns the number of floats of a pixel.
    pub fn floats(&self) -> usize {
        self.channels.iter().map(|channel| channel.group.floats()).sum()
    }

    /// Returns the name of each float of a pixel, as OpenEXR channels have them.
    pub fn names(&self) -> Vec<String> {
        self.channels.iter().flat_map(|channel| channel.group.exr_names()).collect()
    }

    /// Returns the index of a channel's first float in a pixel.
    pub fn offset(&self, channel: &FilmChannel) -> Option<usize> {
        let index = self.channels.iter().position(|other| other == channel)?;
        Some(self.channels[..index].iter().map(|channel| channel.group.floats()).sum())
    }

    /// Whether a pixel has a depth.
    pub fn has_depth(&self) -> bool {
        self.channels.iter().any(|channel| channel.group == ChannelGroup::Depth)
    }

    /// Whether a pixel has nothing but a depth.
    pub fn is_depth(&self) -> bool {
        self.has_depth() && self.channels.len() == 1
    }

    /// Whether the light at each depth is kept beside the floats.
    pub fn has_light(&self) -> bool {
        self.channels.iter().any(|channel| channel.group == ChannelGroup::Light)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::FilterKind;

    #[test]
    fn channels_are_named_as_compositors_expect() {
        let variable =
            |name: &str, ty| ChannelGroup::Variable { name: name.into(), ty, composited: true }.exr_names().join(" ");
        assert_eq!(variable("N", ValueType::Normal), "N.x N.y N.z");
        assert_eq!(variable("Cs", ValueType::Color), "Cs.R Cs.G Cs.B");
        assert_eq!(variable("s", ValueType::Float), "s");
        assert_eq!(variable("Pw", ValueType::HPoint), "Pw.x Pw.y Pw.z Pw.w");
        let matrix = variable("m", ValueType::Matrix);
        assert!(matrix.starts_with("m.00 m.01 m.02 m.03 m.10 ") && matrix.ends_with(" m.33"), "{matrix}");
    }

    #[test]
    fn exposure_is_for_colours() {
        let variable = |name: &str, ty| ChannelGroup::Variable { name: name.into(), ty, composited: true }.is_colour();
        assert!(
            variable("Ci", ValueType::Color) && variable("glow", ValueType::Color) && ChannelGroup::Colour.is_colour()
        );
        assert!(
            !variable("Oi", ValueType::Color) && !variable("N", ValueType::Normal) && !ChannelGroup::Alpha.is_colour()
        );
    }

    #[test]
    fn a_group_is_held_once() {
        let mut layout = PixelLayout::default();
        let normal = ChannelGroup::Variable { name: "N".into(), ty: ValueType::Normal, composited: true };
        let box_filter = Filter { kind: FilterKind::Box, width: [1.0, 1.0] };
        let channel = |group: &ChannelGroup, filter| FilmChannel { group: group.clone(), filter };
        for group in [&ChannelGroup::Colour, &ChannelGroup::Alpha, &ChannelGroup::Colour, &normal] {
            layout.add(&channel(group, None));
        }
        assert_eq!((layout.channels().len(), layout.floats()), (3, 7));
        assert_eq!(layout.offset(&channel(&normal, None)), Some(4));
        assert!(layout.offset(&channel(&normal, Some(box_filter))).is_none() && !layout.has_depth());
        layout.add(&channel(&normal, Some(box_filter)));
        assert_eq!(layout.offset(&channel(&normal, Some(box_filter))), Some(7));
    }
}
