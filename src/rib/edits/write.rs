//! Edits written as RIB, which reads back as the same edits.

mod options;
mod text;

use crate::scene::{
    Edit, FacingEdit, LightChange, MatrixStep, NamePattern, ObjectChange, ShaderEdit, ShaderPlace,
    ShadingInterpolation, ShadowRequest,
};
use text::{line, list, params, quoted, write_motion, write_named};

/// Writes edits as a fragment: a block for each, of options together.
///
/// # Errors
/// The first edit that no request says: geometry, and search paths.
pub fn write_edits(edits: &[Edit], out: &mut String) -> Result<(), String> {
    let mut rest = edits;
    while let Some(first) = rest.first() {
        let is_picture = |edit: &&Edit| matches!(edit, Edit::Picture(_));
        let count = rest.iter().take_while(is_picture).count();
        if count > 0 {
            options::write_options(&rest[..count], out)?;
            rest = &rest[count..];
        } else {
            write_edit(first, out)?;
            rest = &rest[1..];
        }
    }
    Ok(())
}

fn write_edit(edit: &Edit, out: &mut String) -> Result<(), String> {
    match edit {
        // Written together.
        Edit::Picture(_) => {}
        Edit::Objects { names, change } => write_objects(names, change, out)?,
        Edit::Lights { handles, change } => write_lights(handles, change, out)?,
        Edit::AddLight { light, names } => {
            if light.part.is_some() || !light.scoped_spaces.is_empty() {
                return Err("a light with an area or spaces of its own".to_owned());
            }
            begin("attribute", names, out);
            if let Some(casts) = &light.casts {
                write_casts(Some(casts), out);
            }
            write_motion("Transform", &light.shader.world_from_shader, out);
            line(
                out,
                format_args!("LightSource {} {}{}", quoted(&light.shader.name), quoted(&light.handle), {
                    params(&light.shader.params)
                }),
            );
            out.push_str("EditEnd\n");
        }
        Edit::RemoveLights { handles } => {
            let handle = one_handle(handles)?;
            line(out, format_args!("EditBegin \"attribute\" \"string editlights\" [{}]", quoted(&handle)));
            line(out, format_args!("LightSource \"null\" {}", quoted(&handle)));
            out.push_str("EditEnd\n");
        }
        Edit::Files(files) => {
            let names: Vec<String> = files.iter().map(|file| quoted(&file.display().to_string())).collect();
            line(out, format_args!("EditBegin \"file\" \"string[{}] name\" [{}]", names.len(), names.join(" ")));
            out.push_str("EditEnd\n");
        }
    }
    Ok(())
}

fn begin(kind: &str, names: &NamePattern, out: &mut String) {
    match (kind, names.text()) {
        ("attribute", "") => line(out, "EditBegin \"attribute\""),
        (_, text) => line(out, format_args!("EditBegin \"{kind}\" \"string scopename\" [{}]", quoted(text))),
    }
}

/// Returns the only handle that a pattern matches.
fn one_handle(handles: &NamePattern) -> Result<String, String> {
    let text = handles.text().trim_start_matches('^').trim_end_matches('$');
    let plain: String = text.chars().filter(|c| *c != '\\').collect();
    match NamePattern::exactly(&plain) == *handles {
        true => Ok(plain),
        false => Err(format!("lights named by the pattern \"{}\"", handles.text())),
    }
}

fn write_lights(handles: &NamePattern, change: &LightChange, out: &mut String) -> Result<(), String> {
    let list = match one_handle(handles) {
        Ok(handle) => handle,
        // A list of patterns as it was read.
        Err(_) => handles.text().trim_start_matches("^(?:").trim_end_matches(")$").replace('|', ","),
    };
    line(out, format_args!("EditBegin \"attribute\" \"string editlights\" [{}]", quoted(&list)));
    match change {
        LightChange::Shader(edit) => {
            let handle = one_handle(handles)?;
            write_steps(&edit.steps, out);
            let name = edit.name.as_deref().unwrap_or("*");
            line(out, format_args!("LightSource {} {}{}", quoted(name), quoted(&handle), params(&edit.params)));
        }
        LightChange::Place(steps) => write_steps(steps, out),
        LightChange::Casts(casts) => write_casts(casts.as_ref(), out),
    }
    out.push_str("EditEnd\n");
    Ok(())
}

fn write_casts(casts: Option<&ShadowRequest>, out: &mut String) {
    let Some(casts) = casts else {
        line(out, "Attribute \"light\" \"string shadows\" [\"off\"]");
        return;
    };
    line(out, "Attribute \"light\" \"string shadows\" [\"on\"]");
    let [x, y] = casts.resolution;
    line(out, format_args!("Attribute \"autoshadows\" \"int[2] res\" [{x} {y}]"));
    if let Some(name) = &casts.map_name {
        line(out, format_args!("Attribute \"autoshadows\" \"string shadowmapname\" [{}]", quoted(name)));
    }
}

fn write_objects(names: &NamePattern, change: &ObjectChange, out: &mut String) -> Result<(), String> {
    let kind = if matches!(change, ObjectChange::Place(_)) { "instance" } else { "attribute" };
    if matches!(change, ObjectChange::Geometry(_)) {
        return Err("geometry".to_owned());
    }
    if kind == "instance" && names.text().is_empty() {
        begin(kind, &NamePattern::new(".*|")?, out);
    } else {
        begin(kind, names, out);
    }
    write_change(change, out);
    out.push_str("EditEnd\n");
    Ok(())
}

fn write_change(change: &ObjectChange, out: &mut String) {
    match change {
        ObjectChange::Color(color) => line(out, format_args!("Color {}", list(color))),
        ObjectChange::Opacity(opacity) => line(out, format_args!("Opacity {}", list(opacity))),
        ObjectChange::TextureCoordinates(corners) => {
            line(out, format_args!("TextureCoordinates {}", list(corners.as_flattened())));
        }
        ObjectChange::Shader(place, edit) => write_shader(*place, edit.as_ref(), out),
        ObjectChange::Illuminate(handle, on) => {
            line(out, format_args!("Illuminate {} {}", quoted(handle), u8::from(*on)));
        }
        ObjectChange::ShadingRate(rate) => line(out, format_args!("ShadingRate {rate}")),
        ObjectChange::RelativeShadingRate(rate) => {
            line(out, format_args!("Attribute \"shade\" \"float relativeshadingrate\" [{rate}]"));
        }
        ObjectChange::Interpolation(interpolation) => {
            let is_smooth = *interpolation == ShadingInterpolation::Smooth;
            line(out, format_args!("ShadingInterpolation \"{}\"", if is_smooth { "smooth" } else { "constant" }));
        }
        ObjectChange::Matte(matte) => line(out, format_args!("Matte {}", u8::from(*matte))),
        ObjectChange::TwoSided(two_sided) => line(out, format_args!("Sides {}", 1 + u8::from(*two_sided))),
        ObjectChange::Facing(FacingEdit::Reverse) => line(out, "ReverseOrientation"),
        ObjectChange::Facing(facing) => {
            let name = match facing {
                FacingEdit::Inside => "inside",
                FacingEdit::LeftHanded => "lh",
                FacingEdit::RightHanded => "rh",
                FacingEdit::Outside | FacingEdit::Reverse => "outside",
            };
            line(out, format_args!("Orientation \"{name}\""));
        }
        ObjectChange::DisplacementBound { radius, space } => {
            let radius = radius.map_or(String::new(), |radius| format!(" \"float sphere\" [{radius}]"));
            let space = space.as_ref();
            let space =
                space.map_or(String::new(), |space| format!(" \"string coordinatesystem\" [{}]", quoted(space)));
            line(out, format_args!("Attribute \"displacementbound\"{radius}{space}"));
        }
        ObjectChange::Other(key, value) => write_named("Attribute", key, value, out),
        ObjectChange::Visible(visible) => {
            line(out, format_args!("Attribute \"visibility\" \"int camera\" [{}]", u8::from(*visible)));
        }
        ObjectChange::Place(steps) => write_steps(steps, out),
        ObjectChange::Geometry(_) => {}
    }
}

fn write_shader(place: ShaderPlace, edit: Option<&ShaderEdit>, out: &mut String) {
    let request = match place {
        ShaderPlace::Surface => "Surface",
        ShaderPlace::Displacement => "Displacement",
        ShaderPlace::Atmosphere => "Atmosphere",
    };
    let Some(edit) = edit else { return line(out, format_args!("{request} \"null\"")) };
    write_steps(&edit.steps, out);
    let name = edit.name.as_deref().unwrap_or("*");
    line(out, format_args!("{request} {}{}", quoted(name), params(&edit.params)));
}

fn write_steps(steps: &[MatrixStep], out: &mut String) {
    for step in steps {
        match step {
            MatrixStep::Set(motion) => write_motion("Transform", motion, out),
            MatrixStep::Concat(motion) => write_motion("ConcatTransform", motion, out),
        }
    }
}
