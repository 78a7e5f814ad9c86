//! What of a picture still holds for another one of an edited world. What is compared is what devices are given, so
//! that it does not matter which edit it came from.

use crate::pipeline::look::ShadingKernel;
use crate::render::device::picture::Picture;
use bytemuck::cast_slice;

/// A picture, and the textures that its programs were given: files may change behind their names.
pub(super) struct DrawnFrom<'a> {
    pub picture: &'a Picture,
    pub textures: &'a TextureNumbers,
}

/// The numbers in the store of the textures that a picture's programs name, where all names are known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TextureNumbers(Option<Vec<Option<u32>>>);

impl TextureNumbers {
    /// Those of a picture.
    pub(super) fn of(picture: &Picture) -> Self {
        let names = &picture.textures.names;
        Self((!names.computed).then(|| names.known.keys().map(|&token| picture.textures.find(token)).collect()))
    }

    fn are_known(&self) -> bool {
        self.0.is_some()
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
    let kernel = |picture: &Picture, number: usize| digests(&picture.kernels[number]);
    let same = |number, other_number| kernel(one.picture, number) == kernel(other.picture, other_number);
    world.has_same_visibility(another, same) && (!another.is_displaced() || same_displacement(one, other))
}

/// Whether displacement programs compute the same, as far as that is known without running them: those of both
/// have the same parameters and textures.
fn same_displacement(one: &DrawnFrom<'_>, other: &DrawnFrom<'_>) -> bool {
    same_parameters(one, other)
}

fn same_parameters(one: &DrawnFrom<'_>, other: &DrawnFrom<'_>) -> bool {
    let (picture, another) = (one.picture, other.picture);
    let all = |picture: &Picture| picture.kernels.iter().map(digests).collect::<Vec<_>>();
    picture.params == another.params
        && picture.space_table == another.space_table
        && picture.textures.is_like(&another.textures)
        && one.textures.are_known()
        && one.textures == other.textures
        && all(picture) == all(another)
}

/// Whether all pixels of the film have the same values.
pub(super) fn same_pixels(one: &DrawnFrom<'_>, other: &DrawnFrom<'_>) -> bool {
    let (picture, another) = (one.picture, other.picture);
    let (world, other_world) = (&picture.world, &another.world);
    let writes = |picture: &Picture| picture.kernels.iter().any(|kernel| kernel.bakes || kernel.print_words > 0);
    same_visibility(one, other)
        && same_parameters(one, other)
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

/// What a program is recognised by.
fn digests(kernel: &ShadingKernel) -> Vec<u128> {
    kernel.passes.iter().map(|pass| pass.kernel.digest()).collect()
}
