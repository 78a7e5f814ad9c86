//! Messages to the user about a picture: about the devices, displacement bounds, and what is missing.

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::gpu::{DeviceInfo, DeviceKind};
use crate::pipeline::frame::DICE_RATE_MIN;
use crate::pipeline::world::{DrawnWorld, FewKeyframes};
use crate::render::device::picture::Picture;
use crate::render::grids::list::ListError;
use crate::render::region::prints::PrintedCalls;
use crate::render::region::region_result::{OpenSolids, RegionCounts, ReplacedValues};
use crate::scene::{EYE_SPLITS_MAX, World};
use crate::schedule::Incomplete;
use crate::shading::prints::lines;
use std::collections::{BTreeMap, HashSet};

/// What to do when devices fail.
const NO_DEVICE_HINT: &str = "give devices more memory with --memory, or name other or fewer devices with --devices (`anthill devices` lists them)";

/// A displacement may exceed its bound by this factor, because of rounding.
const BOUND_SLACK: f32 = 1.0001;

/// Reports the devices, and that there is no GPU, as details; and to everybody where the devices are not all of one
/// model and driver.
pub(crate) fn on_devices(reporter: &Reporter, devices: &[&DeviceInfo], wanted: &str) {
    let Some(first) = devices.first() else { return };
    let chosen = ["all", "alike"].contains(&wanted.trim());
    if chosen && devices.iter().all(|device| device.kind == DeviceKind::Cpu) {
        let message = format!("no GPU that can render was found: rendering on the processor with {}", first.name);
        let note = Diagnostic::new(Severity::Detail, "devices", SourceLocation::default(), message);
        reporter.report(note.hint("`anthill devices` lists every device and what it lacks"));
    }
    for info in devices {
        let DeviceInfo { index, name, kind, driver, driver_info, .. } = info;
        let message = format!("rendering on device {index}: {name} ({kind}, {driver} {driver_info})");
        reporter.report(Diagnostic::new(Severity::Detail, "devices", SourceLocation::default(), message));
    }
    let Some(other) = devices.iter().find(|device| !device.is_like(first)) else { return };
    // Two drivers may give their devices one name.
    let title = |info: &DeviceInfo| format!("{} ({}, {} {})", info.index, info.name, info.driver, info.driver_info);
    let (first, other) = (title(first), title(other));
    let message =
        format!("devices {first} and {other} differ: the last bits of a pixel depend on which of them draws it");
    let hint = "use --devices alike to render on identical devices only";
    reporter.report(Diagnostic::new(Severity::Warning, "devices", SourceLocation::default(), message).hint(hint));
}

/// Warns about objects with a shading rate that is below what they are diced at: each once.
pub(crate) fn on_shading_rates(reporter: &Reporter, world: &World) {
    let mut warned = HashSet::new();
    for drawable in &world.drawables {
        let (attributes, geometry) = (&drawable.attributes, &drawable.geometry);
        let rate = attributes.shading_rate * attributes.relative_shading_rate;
        if rate >= DICE_RATE_MIN || !warned.insert(&attributes.name) {
            continue;
        }
        let message = format!(
            "{} has the shading rate {:e}, which would take {:.0e} micropolygons a pixel: {DICE_RATE_MIN} is used",
            object_title(&attributes.name),
            rate,
            1.0 / rate
        );
        let warning = Diagnostic::new(Severity::Warning, "range", geometry.location.clone(), message);
        reporter.report(warning.hint("ShadingRate is the area of a micropolygon in pixels; 1 is usual, 0.25 is fine"));
    }
}

/// Reports that no device could begin.
pub(crate) fn on_no_device(reporter: &Reporter) {
    let severe = Diagnostic::new(Severity::Severe, "system", SourceLocation::default(), "no device is left to draw on");
    reporter.report(severe.hint(NO_DEVICE_HINT));
}

/// Reports that the host has no memory for the list of grids, or could not read it back.
pub(crate) fn on_no_list(reporter: &Reporter, error: &ListError) {
    if matches!(error, ListError::Interrupted) {
        return;
    }
    let code = if matches!(error, ListError::NoRoom { .. }) { "limitcheck" } else { "system" };
    let severe = Diagnostic::new(Severity::Severe, code, SourceLocation::default(), error.to_string());
    reporter.report(severe.hint(error.hint()));
}

/// Warns about parts of instances that were lost at the eye plane; an instance may be named several times.
pub(crate) fn on_eye_splits(reporter: &Reporter, picture: &Picture, lost: &[(u32, u32)]) {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for &(instance, count) in lost {
        *counts.entry(instance).or_default() += u64::from(count);
    }
    for (instance, count) in counts {
        let (name, place) = &picture.world.origins[instance as usize];
        let title = object_title(name);
        let message = match count {
            1 => format!("1 part of {title} extends behind the eye and is left out"),
            _ => format!("{count} parts of {title} extend behind the eye and are left out"),
        };
        let allowed = picture.world.frame.eye_splits;
        let hint = if allowed < EYE_SPLITS_MAX {
            format!(
                "only {allowed} eye splits are allowed: set Option \"limits\" \"eyesplits\" [{EYE_SPLITS_MAX}], or leave it out"
            )
        } else {
            "Option \"limits\" \"eyesplits\" is at its maximum: make its primitives or its displacement bound smaller"
                .to_owned()
        };
        let warning = Diagnostic::new(Severity::Warning, "eyesplits", place.clone(), message);
        reporter.report(warning.hint(hint));
    }
}

/// Warns that nothing is seen in a picture.
pub(crate) fn on_nothing_in_view(reporter: &Reporter, picture: &Picture, micropolygons: u64) {
    if micropolygons == 0 {
        let message = "nothing is in view: this picture has no micropolygon";
        let warning = Diagnostic::new(Severity::Warning, "nothing", picture.location.clone(), message);
        reporter.report(warning.hint("check the transformations of camera and objects, Clipping and the crop window"));
    }
}

/// Warns about motion that has more times than are followed.
pub(crate) fn on_few_keyframes(reporter: &Reporter, drawn: &DrawnWorld) {
    for FewKeyframes { instance, asked, followed } in &drawn.few_keyframes {
        let (name, place) = &drawn.origins[*instance as usize];
        let message = format!(
            "the motion of {} has {asked} times while the shutter is open (its own, its transformation's and the \
             camera's); it is followed at {followed} of them",
            object_title(name)
        );
        let warning = Diagnostic::new(Severity::Warning, "limitcheck", place.clone(), message);
        reporter.report(warning.hint(
            "between times everything moves on straight lines; turns of many degrees and angles of quadrics add times",
        ));
    }
}

/// Warns about displacement bounds that were not declared, and were measured instead.
pub(crate) fn on_measured_bounds(reporter: &Reporter, picture: &Picture, bounds: &[(u32, f32)]) {
    for (instance, bound) in bounds {
        let (name, place) = &picture.world.origins[*instance as usize];
        let message =
            format!("{} is displaced without a declared bound, so the bound was measured", object_title(name));
        let hint =
            format!("declare Attribute \"displacementbound\" \"sphere\" [{bound}] \"coordinatesystem\" [\"camera\"]");
        let warning = Diagnostic::new(Severity::Warning, "displacementbound", place.clone(), message);
        reporter.report(warning.hint(hint));
    }
}

/// Warns about displacements that exceeded their declared bounds, from how far each instance was moved.
pub(crate) fn on_exceeded_bounds(reporter: &Reporter, picture: &Picture, displaced_by: &[f32]) {
    for (index, (instance, &displaced_by)) in picture.world.instances.iter().zip(displaced_by).enumerate() {
        let undeclared = picture.world.unbounded.binary_search(&(index as u32)).is_ok();
        if displaced_by <= instance.displacement_bound * BOUND_SLACK || undeclared {
            continue;
        }
        let (name, place) = &picture.world.origins[index];
        let factor = displaced_by / instance.displacement_bound;
        let message =
            format!("{} is displaced {factor:.2} times as far as its displacementbound allows", object_title(name));
        let warning = Diagnostic::new(Severity::Warning, "displacementbound", place.clone(), message);
        reporter.report(warning.hint("parts outside the bound may be missing: enlarge the bound by that factor"));
    }
}

/// Reports regions that no device could draw.
pub(crate) fn on_missing_regions(reporter: &Reporter, incomplete: &Incomplete) {
    let severe = Diagnostic::new(Severity::Severe, "system", SourceLocation::default(), incomplete.to_string());
    reporter.report(severe.hint(NO_DEVICE_HINT));
}

/// Reports what shaders printed, in the order of objects, primitives and points.
pub(crate) fn on_prints(reporter: &Reporter, picture: &Picture, printed: &PrintedCalls) {
    let place = &picture.location;
    for line in lines(&printed.first, &picture.textures.names.texts) {
        reporter.report(Diagnostic::new(Severity::Info, "printf", place.clone(), line));
    }
    if printed.more {
        let message = format!("shaders printed more: the first {} calls of printf are shown", printed.first.len());
        let note = Diagnostic::new(Severity::Warning, "printf", place.clone(), message);
        reporter.report(note.hint("print at few points, as in `if (u == 0 && v == 0) printf(...)`"));
    }
    if printed.lost_words > 0 {
        let message = "loops printed more than there is room for: some lines of printf are missing";
        let note = Diagnostic::new(Severity::Warning, "printf", place.clone(), message);
        reporter.report(note.hint("print in fewer trips of loops, or at fewer points"));
    }
}

/// Warns about shaders whose results are not finite.
pub(crate) fn on_replaced_values(reporter: &Reporter, picture: &Picture, replaced: ReplacedValues) {
    let Some((name, place)) = replaced.instance.and_then(|first| picture.world.origins.get(first as usize)) else {
        return;
    };
    let count = replaced.micropolygons;
    let message = format!(
        "shaders computed values that are not finite (NaN or infinity) for about {count} micropolygons, some of them of {}: \
         they are drawn with colour 0 and opacity 1",
        object_title(name)
    );
    let warning = Diagnostic::new(Severity::Warning, "math", place.clone(), message);
    reporter.report(warning.hint("values overflow beyond 3.4e38: look for divisions by very small numbers, and for large arguments of pow and exp"));
}

/// Samples inside of an open solid, at least, for it to be worth a warning.
const OPEN_SAMPLES_MIN: u64 = 64;

/// Warns about primitive solids whose surfaces leave openings.
pub(crate) fn on_open_solids(reporter: &Reporter, picture: &Picture, open: OpenSolids) {
    let origins = &picture.world.solids.origins;
    let Some(place) = open.primitive.and_then(|first| origins.get(first as usize)) else { return };
    if open.samples < OPEN_SAMPLES_MIN {
        return;
    }
    let message = "SolidBegin \"primitive\" is open: along some lines of sight an odd number of its surfaces was found";
    let warning = Diagnostic::new(Severity::Warning, "badsolid", place.clone(), message);
    reporter.report(warning.hint("close it with more surfaces, and keep the eye outside of it"));
}

/// Warns about pixels for which an imager computed values that are not finite, counted display by display.
pub(crate) fn on_imager(reporter: &Reporter, replaced: u64) {
    if replaced > 0 {
        let message = format!(
            "the imager computed values that are not finite (NaN or infinity) for {replaced} pixels: they are written with \
             colour 0 and opacity 1"
        );
        reporter.warn("math", &SourceLocation::default(), message);
    }
}

/// Warns about what regions met that is beyond a limit.
pub(crate) fn on_limits(reporter: &Reporter, totals: &RegionCounts) {
    let place = SourceLocation::default();
    if totals.lost_samples > 0 {
        let message = format!("{} micropolygons are too large to be sampled completely", totals.lost_samples);
        reporter.warn("limitcheck", &place, message);
    }
}

/// Returns the name of an object in messages.
fn object_title(name: &str) -> String {
    if name.is_empty() { "this object".to_string() } else { format!("object {name:?}") }
}
