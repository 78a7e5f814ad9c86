//! Edits of the camera and the options, written as requests.

use super::text::{declared, line, list, quoted, type_name, values, write_instance, write_motion, write_named};
use crate::scene::{
    DepthFilter, Display, DisplayMode, DisplayPart, Edit, FilterKind, Hider, PictureEdit, PictureLimits, Projection,
};

/// Writes a block of options.
pub(super) fn write_options(edits: &[Edit], out: &mut String) -> Result<(), String> {
    line(out, "EditBegin \"option\"");
    // Other options say what these say too, as requests set both.
    let has_others = edits.iter().any(|edit| matches!(edit, Edit::Picture(PictureEdit::Others(_))));
    for edit in edits {
        match edit {
            Edit::Picture(PictureEdit::Limits(_) | PictureEdit::CurveWidth(_) | PictureEdit::ShutterOpening(..))
                if has_others => {}
            Edit::Picture(edit) => write_option(edit, out)?,
            _ => {}
        }
    }
    out.push_str("EditEnd\n");
    Ok(())
}

fn write_option(edit: &PictureEdit, out: &mut String) -> Result<(), String> {
    match edit {
        PictureEdit::View { camera_from_world, projection, screen_window } => {
            // A new projection forgets the camera, and what moves the screen.
            line(out, "Identity");
            match projection {
                Projection::Orthographic => line(out, "Projection \"orthographic\""),
                Projection::Perspective { fov_degrees } => {
                    line(out, format_args!("Projection \"perspective\" \"float fov\" [{fov_degrees}]"));
                }
            }
            line(out, format_args!("ScreenWindow {}", list(screen_window)));
            write_motion("Transform", camera_from_world, out);
        }
        PictureEdit::Clipping([near, far], planes) => {
            if !planes.is_empty() {
                return Err("clipping planes".to_owned());
            }
            line(out, format_args!("Clipping {near} {far}"));
        }
        PictureEdit::Lens(None) => line(out, "DepthOfField -"),
        PictureEdit::Lens(Some([stop, length, distance])) => {
            line(out, format_args!("DepthOfField {stop} {length} {distance}"));
        }
        PictureEdit::Shutter([open, close]) => line(out, format_args!("Shutter {open} {close}")),
        PictureEdit::ShutterOpening(offset, opening) => {
            line(out, format_args!("Option \"shutter\" \"float offset\" [{offset}]"));
            line(out, format_args!("Option \"shutter\" \"float[2] shutteropening\" {}", list(opening)));
        }
        PictureEdit::Format([width, height], aspect) => line(out, format_args!("Format {width} {height} {aspect}")),
        PictureEdit::Crop { scene_crop, overscan, .. } => {
            if *overscan {
                line(out, "Option \"image\" \"int overscan\" [1]");
            }
            line(out, format_args!("CropWindow {}", list(scene_crop)));
        }
        PictureEdit::Samples([x, y]) => line(out, format_args!("PixelSamples {x} {y}")),
        PictureEdit::Filter(filter) => {
            let [x, y] = filter.width;
            line(out, format_args!("PixelFilter \"{}\" {x} {y}", filter_name(filter.kind)));
        }
        PictureEdit::Exposure([gain, gamma]) => line(out, format_args!("Exposure {gain} {gamma}")),
        PictureEdit::Imager(None) => line(out, "Imager \"null\""),
        PictureEdit::Imager(Some(shader)) => write_instance("Imager", shader, out),
        PictureEdit::Displays(displays) => {
            for (index, display) in displays.iter().enumerate() {
                write_display(index, display, out);
            }
        }
        PictureEdit::Hider(hider) => write_hider(hider, out),
        PictureEdit::Limits(limits) => write_limits(limits, out),
        PictureEdit::CurveWidth(width) => line(out, format_args!("Option \"hair\" \"float minwidth\" [{width}]")),
        PictureEdit::RelativeDetail(detail) => line(out, format_args!("RelativeDetail {detail}")),
        PictureEdit::Search(_) => return Err("search paths".to_owned()),
        PictureEdit::Others(options) => {
            for (key, value) in options.iter().filter(|(key, _)| !is_own(key)) {
                write_named("Option", key, value, out);
            }
        }
    }
    Ok(())
}

/// Whether an option is written with an edit of its own.
fn is_own(key: &str) -> bool {
    key.starts_with("searchpath:") || key.starts_with("hider:")
}

fn filter_name(kind: FilterKind) -> &'static str {
    match kind {
        FilterKind::Box => "box",
        FilterKind::Triangle => "triangle",
        FilterKind::CatmullRom => "catmull-rom",
        FilterKind::Sinc => "sinc",
        FilterKind::Gaussian => "gaussian",
        FilterKind::Mitchell => "mitchell",
        FilterKind::Lanczos => "lanczos",
        FilterKind::BlackmanHarris => "blackman-harris",
        FilterKind::Disk => "disk",
        FilterKind::SeparableCatmullRom => "separable-catmull-rom",
    }
}

fn write_hider(hider: &Hider, out: &mut String) {
    let filter = match hider.depth_filter {
        DepthFilter::Min => "min",
        DepthFilter::Max => "max",
        DepthFilter::Average => "average",
        DepthFilter::Midpoint => "midpoint",
    };
    let flags = [hider.jitter, hider.sample_motion].map(u8::from);
    let text = format!(
        "Hider {} \"int jitter\" [{}] \"int samplemotion\" [{}] \"string depthfilter\" [\"{filter}\"]",
        quoted(&hider.name),
        flags[0],
        flags[1]
    );
    let lens = &hider.aperture;
    let numbers = [lens.sides as f32, lens.angle_degrees, lens.roundness, lens.density];
    let aperture =
        if numbers == [0.0; 4] { String::new() } else { format!(" \"float[4] aperture\" {}", list(&numbers)) };
    line(out, text + &aperture);
}

fn write_limits(limits: &PictureLimits, out: &mut String) {
    let PictureLimits { eye_splits, opacity_threshold, z_threshold, grid_size, reserve_kib, texture_memory_kib } =
        limits;
    line(out, format_args!("Option \"limits\" \"int eyesplits\" [{eye_splits}] \"int gridsize\" [{grid_size}]"));
    line(out, format_args!("Option \"limits\" \"color othreshold\" {}", list(opacity_threshold)));
    line(out, format_args!("Option \"limits\" \"color zthreshold\" {}", list(z_threshold)));
    line(out, format_args!("Option \"limits\" \"int reserve\" [{reserve_kib}]"));
    line(out, format_args!("Option \"limits\" \"int texturememory\" [{texture_memory_kib}]"));
}

/// Writes a display; parts that are imaged in different ways as channels of their own.
fn write_display(index: usize, display: &Display, out: &mut String) {
    let modes: Vec<String> = display.parts.iter().map(|part| mode_text(&part.mode)).collect();
    let imaging: Vec<String> = display.parts.iter().map(imaging_text).collect();
    let is_alike = imaging.windows(2).all(|pair| pair[0] == pair[1]);
    if !is_alike {
        for (mode, imaging) in modes.iter().zip(&imaging) {
            line(out, format_args!("DisplayChannel {}{imaging}", quoted(mode)));
        }
    }
    let name = |mode: &String| mode.rsplit(' ').next().unwrap_or_default().to_owned();
    let modes: Vec<String> = if is_alike { modes } else { modes.iter().map(name).collect() };
    let mut params = imaging.first().filter(|_| is_alike).cloned().unwrap_or_default();
    for (name, value) in &display.params {
        params += &format!(" {} {}", quoted(&format!("{} {name}", declared(None, value))), values(value));
    }
    let file = if index == 0 { display.name.clone() } else { format!("+{}", display.name) };
    line(
        out,
        format_args!("Display {} {} {}{params}", quoted(&file), quoted(&display.driver), quoted(&modes.join(","))),
    );
}

fn mode_text(mode: &DisplayMode) -> String {
    match mode {
        DisplayMode::Image { rgb, a, z } => {
            [(*rgb, "rgb"), (*a, "a"), (*z, "z")].into_iter().filter(|(has, _)| *has).map(|(_, name)| name).collect()
        }
        DisplayMode::Variable { name, ty, .. } => format!("varying {} {name}", type_name(*ty)),
    }
}

fn imaging_text(part: &DisplayPart) -> String {
    let quantize = part.quantize;
    // A maximum above 1 as the last of four numbers says which order they are in.
    let numbers = match quantize.max > 1.0 {
        true => [0.0, quantize.one, quantize.min, quantize.max],
        false => [quantize.one, quantize.min, quantize.max, 0.0],
    };
    let mut text = format!(
        " \"float[4] quantize\" {} \"float dither\" [{}] \"float[2] exposure\" {}",
        list(&numbers),
        quantize.dither,
        list(&part.exposure)
    );
    if let Some(filter) = part.filter {
        let (kind, width) = (filter_name(filter.kind), list(&filter.width));
        text += &format!(" \"string filter\" [\"{kind}\"] \"float[2] filterwidth\" {width}");
    }
    if let DisplayMode::Variable { composited: false, .. } = part.mode {
        text += " \"int composite\" [0]";
    }
    text
}
