//! What of a picture decides which stages have anything to do, and which variants of kernels they run.

use super::super::bound_split::KindMotion;
use super::super::geometry::PrimitiveKind;
use super::super::hidden::{DicedKind, HidingForm, SampleTests};
use super::super::look::{HideSublist, Interpolation};
use super::super::world::DrawnWorld;
use crate::scene::{DepthFilter, FilterKind};
use std::collections::BTreeSet;

/// What a picture may have, without which some stages have nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Surfaces that leave entries, or a display that wants the light at each depth.
    Translucency,
    /// Primitive solids.
    Solids,
    /// Anything that moves or is out of focus.
    Blur,
    /// A display that wants the light at each depth.
    DeepShadows,
    /// A display that wants depths.
    Depths,
    /// Shaders that bake what is not seen.
    UnseenBakes,
    /// Memory in which what samples see is kept. Regions have it, or not; a picture has none.
    KeptVisibility,
}

/// Which of them a picture has. This is the one place that decides it: what is prepared, recorded and given memory all
/// follow from here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PictureFeatures {
    /// See [`Feature::Translucency`].
    pub translucency: bool,
    /// See [`Feature::Solids`].
    pub solids: bool,
    /// See [`Feature::Blur`].
    pub blur: bool,
    /// See [`Feature::DeepShadows`].
    pub deep_shadows: bool,
    /// See [`Feature::Depths`].
    pub depths: bool,
    /// See [`Feature::UnseenBakes`].
    pub unseen_bakes: bool,
    /// See [`Feature::KeptVisibility`].
    pub kept_visibility: bool,
}

impl PictureFeatures {
    /// Those of a world that is drawn for displays.
    pub fn of(world: &DrawnWorld, displays: &DisplayDemands) -> Self {
        Self {
            translucency: displays.deep || world.hide_sublists.iter().any(|sublist| sublist.translucent),
            solids: !world.solids.is_empty(),
            blur: world.is_blurred(),
            deep_shadows: displays.deep,
            depths: displays.depth.is_some(),
            unseen_bakes: world.bakes_unseen,
            kept_visibility: false,
        }
    }

    /// Whether the picture has one.
    pub fn has(&self, feature: Feature) -> bool {
        match feature {
            Feature::Translucency => self.translucency,
            Feature::Solids => self.solids,
            Feature::Blur => self.blur,
            Feature::DeepShadows => self.deep_shadows,
            Feature::Depths => self.depths,
            Feature::UnseenBakes => self.unseen_bakes,
            Feature::KeptVisibility => self.kept_visibility,
        }
    }
}

/// What a picture's displays want.
#[derive(Clone, Debug, PartialEq)]
pub struct DisplayDemands {
    /// The filters that channels go through.
    pub filters: Vec<FilterKind>,
    /// How depths are filtered, if one wants them.
    pub depth: Option<DepthFilter>,
    /// Whether one wants the light at each depth.
    pub deep: bool,
    /// Whether any wants values of variables.
    pub variables: bool,
}

impl DisplayDemands {
    /// Whether depths are midpoints.
    pub fn midpoints(&self) -> bool {
        self.depth == Some(DepthFilter::Midpoint)
    }
}

/// What of a world decides which variants of kernels run.
#[derive(Clone, Debug)]
pub struct WorldTraits {
    /// The kinds of primitives.
    pub kinds: BTreeSet<KindMotion>,
    /// What samples are tested for.
    pub tests: Vec<SampleTests>,
    /// What opaque surfaces that are not displaced are, and what their samples are tested for.
    pub diced: Vec<(DicedKind, SampleTests)>,
    /// How pieces are hidden.
    pub form: HidingForm,
    /// What the colour store holds of a micropolygon.
    pub interpolation: Interpolation,
    /// Whether anything leaves entries.
    pub translucent: bool,
    /// Whether pixels have one sample.
    pub single: bool,
    /// Whether there are clipping planes.
    pub clipped: bool,
    /// Whether anything is displaced.
    pub displaced: bool,
    /// The kinds of primitives with primvars that displacement programs read.
    pub displacement_primvars: BTreeSet<PrimitiveKind>,
    /// Whether anything has a colour program.
    pub coloured: bool,
    /// The kinds of primitives with primvars that colour programs read.
    pub colour_primvars: BTreeSet<PrimitiveKind>,
}

impl WorldTraits {
    /// Those of a world with these features.
    pub fn of(world: &DrawnWorld, form: HidingForm, features: &PictureFeatures) -> Self {
        Self {
            kinds: world.kinds(),
            tests: sample_tests(world),
            diced: diced_kinds(world),
            form,
            interpolation: world.interpolation,
            translucent: features.translucency,
            single: world.frame.samples == [1, 1],
            clipped: !world.clip_planes.is_empty(),
            displaced: world.hide_sublists.iter().any(|sublist| sublist.displace.is_some()),
            displacement_primvars: world
                .hide_sublists
                .iter()
                .filter(|sublist| sublist.displace_primvars)
                .map(|sublist| sublist.kind)
                .collect(),
            coloured: world.shade_sublists.iter().any(|sublist| sublist.shade.is_some()),
            colour_primvars: world
                .shade_sublists
                .iter()
                .filter(|sublist| sublist.shade_primvars)
                .map(|sublist| sublist.kind)
                .collect(),
        }
    }
}

/// The variants of hiding and sampling that a world's sublists call for.
fn sample_tests(world: &DrawnWorld) -> Vec<SampleTests> {
    let sublists: BTreeSet<SampleTests> = world.hide_sublists.iter().map(|sublist| tests_of(world, sublist)).collect();
    sublists.into_iter().collect()
}

fn tests_of(world: &DrawnWorld, sublist: &HideSublist) -> SampleTests {
    SampleTests::new(!world.clip_planes.is_empty(), sublist.trimmed, !world.lens.is_empty(), sublist.keyframes)
}

/// The opaque sublists of a world that are not displaced.
fn diced_kinds(world: &DrawnWorld) -> Vec<(DicedKind, SampleTests)> {
    let plain = world.hide_sublists.iter().filter(|sublist| !sublist.translucent && sublist.displace.is_none());
    let of_sublist = |sublist: &HideSublist| (DicedKind::of(sublist.kind, world.full), tests_of(world, sublist));
    plain.map(of_sublist).collect()
}
