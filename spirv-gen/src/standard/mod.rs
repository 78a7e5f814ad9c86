//! The standard shaders (RISpec 3.2, appendix A) and lights with shadow maps as other renderers have them, which exist
//! without any file.

/// Names and sources.
const SHADERS: [(&str, &str); 21] = [
    ("ambientlight", include_str!("ambientlight.sl")),
    ("arealight", include_str!("arealight.sl")),
    ("background", include_str!("background.sl")),
    ("bumpy", include_str!("bumpy.sl")),
    ("constant", include_str!("constant.sl")),
    ("defaultsurface", include_str!("defaultsurface.sl")),
    ("depthcue", include_str!("depthcue.sl")),
    ("distantlight", include_str!("distantlight.sl")),
    ("fog", include_str!("fog.sl")),
    ("glass", include_str!("glass.sl")),
    ("matte", include_str!("matte.sl")),
    ("metal", include_str!("metal.sl")),
    ("null", include_str!("null.sl")),
    ("paintedplastic", include_str!("paintedplastic.sl")),
    ("plastic", include_str!("plastic.sl")),
    ("pointlight", include_str!("pointlight.sl")),
    ("shadowdistant", include_str!("shadowdistant.sl")),
    ("shadowpoint", include_str!("shadowpoint.sl")),
    ("shadowspot", include_str!("shadowspot.sl")),
    ("shinymetal", include_str!("shinymetal.sl")),
    ("spotlight", include_str!("spotlight.sl")),
];

/// Returns the source of the standard shader of this name.
pub fn source(name: &str) -> Option<&'static str> {
    SHADERS.iter().find(|(n, _)| *n == name).map(|(_, source)| *source)
}

/// Returns the names of the standard shaders, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHADERS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sema::hir::{Constant, DeclaredKind, Default};
    use crate::syntax::loader::NoIncludes;
    use crate::syntax::preprocess::Source;
    use crate::{CheckedShader, parse_shader};

    fn parse(name: &str) -> CheckedShader {
        let text = source(name).expect("a standard shader");
        let (shader, diagnostics) = parse_shader(&Source { name, text, loader: &NoIncludes, defines: &[] });
        assert!(diagnostics.is_empty(), "{name}: {diagnostics:?}");
        shader.expect("no diagnostics")
    }

    /// Parameters as `name value`, spaces for what is computed when the shader runs.
    fn parameters(shader: &CheckedShader) -> String {
        let describe = |p: &crate::sema::hir::Parameter| {
            let value = match &p.default {
                Default::Constant(values) => match values.as_slice() {
                    [Constant::Float(x)] => x.to_string(),
                    [Constant::Triple([x, y, z])] if x == y && y == z => x.to_string(),
                    [Constant::String(text)] => format!("{text:?}"),
                    other => format!("{other:?}"),
                },
                Default::Computed(_) => "?".to_owned(),
            };
            format!("{} {value}", shader.variable(p.variable).name)
        };
        shader.parameters.iter().map(describe).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn names_kinds_and_parameters_are_those_of_the_standard() {
        use DeclaredKind::{Displacement, Imager, Light, Surface, Volume};
        let angles = "coneangle 0.5235988, conedeltaangle 0.08726646, beamdistribution 2";
        let spot = format!("intensity 1, lightcolor 1, from ?, to ?, {angles}");
        let maps = ["px", "nx", "py", "ny", "pz", "nz"].map(|side| format!("sf{side} \"\"")).join(", ");
        let lookup = "samples 16, width 1, blur 0, bias 0.01";
        let table = [
            ("constant", Surface, ""),
            ("matte", Surface, "Ka 1, Kd 1"),
            ("metal", Surface, "Ka 1, Ks 1, roughness 0.1"),
            ("shinymetal", Surface, "Ka 1, Ks 1, Kr 1, roughness 0.1, texturename \"\""),
            ("plastic", Surface, "Ka 1, Kd 0.5, Ks 0.5, roughness 0.1, specularcolor 1"),
            ("paintedplastic", Surface, "Ka 1, Kd 0.5, Ks 0.5, roughness 0.1, specularcolor 1, texturename \"\""),
            (
                "glass",
                Surface,
                "Ka 0.2, Kd 0, Ks 0.5, Kr 1, Kt 1, roughness 0.05, eta 1.5, specularcolor 1, transmitcolor 1, texturename \"\"",
            ),
            ("defaultsurface", Surface, "Ka 0.2, Kd 0.8"),
            ("null", Surface, ""),
            ("bumpy", Displacement, "Km 1, amplitude 1, texturename \"\""),
            ("ambientlight", Light, "intensity 1, lightcolor 1"),
            ("arealight", Light, "intensity 1, lightcolor 1"),
            ("distantlight", Light, "intensity 1, lightcolor 1, from ?, to ?"),
            ("pointlight", Light, "intensity 1, lightcolor 1, from ?"),
            ("spotlight", Light, &spot),
            ("shadowspot", Light, &format!("{spot}, shadowname \"\", {lookup}")),
            ("shadowdistant", Light, &format!("intensity 1, lightcolor 1, from ?, to ?, shadowname \"\", {lookup}")),
            ("shadowpoint", Light, &format!("intensity 1, lightcolor 1, from ?, {maps}, {lookup}")),
            ("depthcue", Volume, "mindistance 0, maxdistance 1, background 0"),
            ("fog", Volume, "distance 1, background 0"),
            ("background", Imager, "background 1, bgcolor 1"),
        ];
        for (name, kind, expected) in table {
            let shader = parse(name);
            assert_eq!((&*shader.name, shader.kind), (name, kind));
            assert_eq!(parameters(&shader), expected, "{name}");
        }
        assert_eq!(names().count(), table.len());
    }
}
