//! Devices that are used as GPUs are (docs/test-aids.md): tests of this binary, run again in a process that has the
//! aid.

use anthill::gpu::Mutant;
use std::process::Command;

/// What neighbours must agree on, lest there be cracks.
const CRACKS: &[&str] = &[
    "kernels::bound_split::both_sides_of_a_line_have_the_same_points",
    "kernels::dice::a_closed_surface_has_no_open_border",
    "kernels::dice::a_large_point_is_one_disk",
    "kernels::dice::a_lid_closes_at_its_point",
    "kernels::dice::crumpled_facets_have_no_open_border",
    "kernels::dice::crumpled_patches_have_no_open_border",
    "kernels::dice::crumpled_rational_patches_have_no_open_border",
    "kernels::dice::facets_that_share_vertices_share_border_vertices_whatever_their_orientation",
    "kernels::dice::no_border_inside_a_primitive_is_open",
    "kernels::dice::patches_that_share_control_points_share_border_vertices_whatever_their_orientation",
    "kernels::dice::vertices_at_one_place_have_the_same_parameters_whatever_the_rates_of_their_grids",
    "kernels::hide::a_fan_covers_every_sample_once",
];

/// What is the same however a picture is cut.
const SAMENESS: &[&str] = &[
    "kernels::composite::slabs_do_not_show_in_the_picture",
    "kernels::composite::slabs_do_not_show_where_depths_differ_by_roundings",
    "kernels::filter::regions_filter_to_the_same_bits_as_the_whole",
    "kernels::merge_layers::slabs_do_not_show_in_what_is_lost",
    "kernels::merge_layers::slabs_do_not_show_in_what_is_lost_on_one_plane",
    "kernels::micropolygon_size::grids_do_not_depend_on_the_crop_window",
    "kernels::micropolygon_size::grids_do_not_depend_on_the_variant_of_the_scan",
    "kernels::select::pages_make_no_difference_to_what_is_selected",
];

/// Pictures of compiled shaders too, by every way of drawing, for the mutants that are off the farthest: it takes long.
const DETERMINISM: &[&str] = &[
    "determinism::an_opaque_scene_is_the_same_bytes_every_way",
    "determinism::a_translucent_scene_is_the_same_bytes_every_way",
];

/// What divisions that are not exact must not change: depths, and the alpha of what is covered.
const QUOTIENTS: &[&str] = &[
    "frames::colour::sides_1_leaves_out_what_faces_away",
    "kernels::hide::random_micropolygons",
    "kernels::hide::random_micropolygons_in_perspective",
];

/// Lookups of compiled shaders, whose bits the interpreter says.
const LOOKUPS: &[&str] = &[
    "kernels::lookup::lookups_give_what_the_interpreter_gives",
    "kernels::points::a_device_finds_what_the_interpreter_finds",
];

/// Pictures of every stage, with known values.
const PICTURES: &[&str] = &[
    "frames::camera::clipping_planes_cut_within_a_primitive",
    "frames::colour::more_layers_over_a_pixel_than_fit_a_list_are_composited_in_depth_intervals",
    "frames::coverage::a_crop_window_shows_the_same_pixels",
    "frames::depth::displacement_moves_a_plane",
    "features::imager::an_imager_sees_the_same_in_a_crop",
];

/// What depends on how much memory staging takes, and on which submissions are counted.
const LITTLE_MEMORY: &[&str] = &[
    "cli::devices::frames_after_one_that_does_not_fit_are_rendered",
    "cli::devices::too_little_memory_is_reported_with_what_is_needed",
    "failure::a_device_that_is_lost_in_any_phase_is_opened_again",
    "gpu::run::a_lost_device_says_so_from_then_on",
];

/// Mesa's driver for CPUs then compiles kernels without optimising them, which saves more time than drawing these small
/// pictures loses. `make test` sets it too.
const COMPILES_QUICKLY: (&str, &str) = ("GALLIVM_PERF", "nopt");

/// Lets a program run kernels that the driver has optimised, as users' programs do: some tests must. Those that run
/// again with kernels of their own need not.
pub(crate) fn optimise_kernels(command: &mut Command) -> &mut Command {
    if std::env::var_os("ANTHILL_AS_GPU").is_none() {
        command.env_remove(COMPILES_QUICKLY.0);
    }
    command
}

/// Runs tests again; all of them must exist and pass.
fn again(as_gpu: &str, tests: &[&[&str]]) {
    let tests = tests.concat();
    let this = std::env::current_exe().expect("it runs");
    let mut command = Command::new(this);
    command.args(&tests).args(["--exact", "--test-threads=1"]).envs([("ANTHILL_AS_GPU", as_gpu), COMPILES_QUICKLY]);
    let output = command.output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let all = format!("test result: ok. {} passed", tests.len());
    assert!(
        output.status.success() && text.contains(&all),
        "{as_gpu}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn divisions_by_reciprocals_open_no_crack_and_change_no_picture() {
    again(Mutant::Reciprocal.name(), &[CRACKS, SAMENESS, LOOKUPS, QUOTIENTS]);
}

/// All that a GPU may do at once: what each mutant alone would break, and in a third of the time.
#[test]
fn inexact_arithmetic_opens_no_crack_and_changes_no_picture() {
    let all = [Mutant::Fused, Mutant::SqrtUlp, Mutant::ReciprocalUlp].map(Mutant::name).join(",");
    again(&all, &[CRACKS, SAMENESS, LOOKUPS, DETERMINISM, QUOTIENTS]);
}

#[test]
fn kernels_for_gpus_draw_pictures() {
    again("parallel", &[SAMENESS, PICTURES]);
}

#[test]
fn pictures_are_drawn_in_memory_that_the_host_cannot_access() {
    again("staged", &[SAMENESS, PICTURES, LITTLE_MEMORY]);
}
