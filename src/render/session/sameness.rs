//! What of a picture still holds for another one of an edited world. What is compared is what devices are given, so
//! that it does not matter which edit it came from.

use crate::render::device::picture::Picture;
use bytemuck::cast_slice;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A picture, and the textures that its programs were given: files may change behind their names.
pub(super) struct DrawnFrom<'a> {
    pub picture: &'a Picture,
    pub textures: &'a TextureNumbers,
}

/// The numbers in the store of the textures that a picture's programs name, by token; `None` where programs compute
/// names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TextureNumbers(Option<BTreeMap<u32, Option<u32>>>);

impl TextureNumbers {
    /// Those of a picture.
    pub(super) fn of(picture: &Picture) -> Self {
        let names = &picture.textures.names;
        let known = names.known.keys().map(|&token| (token, picture.textures.find(token)));
        Self((!names.computed).then(|| known.collect()))
    }
}

impl DrawnFrom<'_> {
    /// The numbers of those textures that have these names; `None` where programs compute names.
    fn numbers_of<'n>(&self, names: &'n BTreeSet<Arc<str>>) -> Option<BTreeMap<&'n str, Option<u32>>> {
        let texts = &self.picture.textures.names.texts;
        let named = |(token, number): (&u32, &Option<u32>)| Some((&**names.get(&texts[*token as usize])?, *number));
        self.textures.0.as_ref().map(|numbers| numbers.iter().filter_map(named).collect())
    }
}

/// Whether the counting pass finds the same grids of both.
pub(super) fn same_grids(one: &DrawnFrom<'_>, other: &DrawnFrom<'_>) -> bool {
    let (world, another) = (&one.picture.world, &other.picture.world);
    world.has_same_grids(another) && (another.unbounded.is_empty() || same_displacement(one, other))
}

/// Whether samples see the same surfaces in both.
pub(super) fn same_visibility(one: &DrawnFrom<'_>, other: &DrawnFrom<'_>) -> bool {
    let (world, another) = (&one.picture.world, &other.picture.world);
    world.has_same_visibility(another) && (!another.is_displaced() || same_displacement(one, other))
}

/// Whether displacement programs of both compute the same: they are the same, and read the same.
fn same_displacement(one: &DrawnFrom<'_>, other: &DrawnFrom<'_>) -> bool {
    let (Some(inputs), Some(others)) = (&one.picture.inputs, &other.picture.inputs) else { return false };
    let same_textures = |names: &BTreeSet<Arc<str>>| {
        names.is_empty() || one.numbers_of(names).is_some_and(|numbers| Some(numbers) == other.numbers_of(names))
    };
    inputs.displaces_like(others) && same_textures(&inputs.displacement_textures())
}

/// Whether all programs of both compute the same: they are the same, and read the same.
fn same_shading(one: &DrawnFrom<'_>, other: &DrawnFrom<'_>) -> bool {
    let (Some(inputs), Some(others)) = (&one.picture.inputs, &other.picture.inputs) else { return false };
    let same_textures = || one.textures.0.is_some() && one.textures == other.textures;
    inputs.shades_like(others) && (!one.picture.textures.names.used || same_textures())
}

/// Whether all pixels of the film have the same values.
pub(super) fn same_pixels(one: &DrawnFrom<'_>, other: &DrawnFrom<'_>) -> bool {
    let (picture, another) = (one.picture, other.picture);
    let (world, other_world) = (&picture.world, &another.world);
    let writes = |picture: &Picture| picture.kernels.iter().any(|kernel| kernel.bakes || kernel.print_words > 0);
    same_visibility(one, other)
        && same_shading(one, other)
        && !writes(picture)
        && cast_slice::<_, u8>(&world.instances) == cast_slice::<_, u8>(&other_world.instances)
        && cast_slice::<_, u8>(&world.primvar_bindings) == cast_slice::<_, u8>(&other_world.primvar_bindings)
        && world.shade_sublists == other_world.shade_sublists
        && world.hide_sublists == other_world.hide_sublists
        && world.interpolation == other_world.interpolation
        && picture.filtered == another.filtered
        && picture.film_records == another.film_records
        && picture.depth_filter == another.depth_filter
        && picture.widest_filter == another.widest_filter
        && picture.variables == another.variables
        && picture.composition == another.composition
        && picture.deep.is_none()
        && another.deep.is_none()
}
