//! Keys of shadow maps, by which a map that was drawn before is found again: hashes of all that its depths come from,
//! taken from the world itself, because building a picture takes longer.
//!
//! What an opaque object looks like does not matter to its depths. Where shaders do matter, as displacement and opacity
//! do, they are compiled: their kernels and parameters and the files that they read are part of the key.

use crate::diagnostic::Reporter;
use crate::render::checkpoint::add_programs;
use crate::render::resident::picture_textures::identities;
use crate::scene::{
    Attributes, ContentHasher, Drawable, Geometry, Motion, NamedSpace, Options, Primvar, PrimvarData, Solid, World,
};
use crate::shading::{DepthShading, ShaderLibrary};
use crate::texture::TextureStore;
use glam::DMat4;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Weak};

/// Geometry of fewer primitives is hashed again wherever it is used: to look its hash up would take as long.
const LOOKED_UP_PRIMITIVES: usize = 32;

/// Hashes of geometry that is still in use, by address: of its shape and of its primitive variables. A weak reference
/// keeps an address from being used again, and what it refers to from being changed in place.
#[derive(Default)]
pub(super) struct KnownGeometry {
    hashes: FxHashMap<usize, (Weak<Geometry>, [u128; 2])>,
}

impl KnownGeometry {
    /// Forgets what nothing uses any more.
    fn forget_unused(&mut self) {
        self.hashes.retain(|_, (geometry, _)| geometry.strong_count() > 0);
    }

    /// Adds a shape, and its primitive variables if they matter.
    fn add_to(&mut self, hasher: &mut ContentHasher, geometry: &Arc<Geometry>, with_primvars: bool) {
        let Geometry { shape, primvars, location: _ } = &**geometry;
        if shape.first().primitive_count() < LOOKED_UP_PRIMITIVES {
            hasher.shape(shape);
            if with_primvars {
                hasher.primvars(primvars);
            }
            return;
        }
        let new = || {
            let [mut of_shape, mut of_primvars] = [ContentHasher::default(), ContentHasher::default()];
            of_shape.shape(shape);
            of_primvars.primvars(primvars);
            (Arc::downgrade(geometry), [of_shape.finish(), of_primvars.finish()])
        };
        let (_, [shape, primvars]) = self.hashes.entry(Arc::as_ptr(geometry).addr()).or_insert_with(new);
        hasher.value(shape);
        if with_primvars {
            hasher.value(primvars);
        }
    }
}

/// What all maps of a world's lights come from.
pub(super) struct CasterInputs {
    /// A hash of all of it but shaders.
    hash: u128,
    /// The objects whose shaders matter, with no more of them than matters.
    shaded: World,
}

/// Drawables that are shaded alike.
struct CasterSort {
    shading: DepthShading,
    /// A hash of their attributes that matter.
    hash: u128,
    /// The attributes of those whose shaders matter.
    attributes: Arc<Attributes>,
}

impl CasterInputs {
    /// Returns what the maps of a world come from, of which `casters` has only what casts shadows.
    pub(super) fn new(
        casters: &World,
        shading: &mut ShaderLibrary,
        known: &mut KnownGeometry,
        reporter: &Reporter,
    ) -> Self {
        let (sort_of, examples) = sorts(&casters.drawables);
        let shadings = shading.depth_shading(casters, &examples, reporter);
        let sorts: Vec<CasterSort> =
            examples.into_iter().zip(shadings).map(|(one, shading)| sort(one, shading)).collect();
        let mut hasher = ContentHasher::default();
        known.forget_unused();
        let mut shaded = Vec::new();
        for (drawable, &sort) in casters.drawables.iter().zip(&sort_of) {
            let Drawable { geometry, world_from_object, attributes: _, detail, solid, seed } = drawable;
            let sort = &sorts[sort];
            hasher.value(&sort.hash);
            known.add_to(&mut hasher, geometry, sort.shading != DepthShading::None);
            add_matrix(&mut hasher, world_from_object);
            hasher.value(&[detail[0], detail[1], solid.map_or(u32::MAX, |solid| solid.0), *seed]);
            if sort.shading != DepthShading::None {
                shaded.push(Drawable { attributes: Arc::clone(&sort.attributes), ..drawable.clone() });
            }
        }
        hasher.value(&casters.solids.len());
        for Solid { operation, parent, location: _ } in &casters.solids {
            hasher.value(&[*operation as u32, parent.map_or(u32::MAX, |solid| solid.0)]);
        }
        if !shaded.is_empty() {
            add_spaces(&mut hasher, &casters.spaces);
        }
        let shaded = World {
            options: casters.options.clone(),
            camera: casters.camera.clone(),
            drawables: shaded,
            solids: casters.solids.clone(),
            lights: casters.lights.clone(),
            spaces: casters.spaces.clone(),
            location: casters.location.clone(),
            notes: Default::default(),
        };
        Self { hash: hasher.finish(), shaded }
    }

    /// Returns the key of a map: `of_light` makes what a light sees of a world.
    pub(super) fn map_key(
        &self,
        shading: &mut ShaderLibrary,
        textures: &TextureStore,
        of_light: impl Fn(&World) -> World,
    ) -> String {
        let mut hasher = ContentHasher::default();
        hasher.value(&self.hash);
        let seen = of_light(&self.shaded);
        hasher.debug(&seen.camera);
        add_options(&mut hasher, &seen.options);
        if !seen.drawables.is_empty() {
            let shaded = shading.shade(&seen, &[], &Reporter::silent());
            add_programs(&mut hasher, &shaded.kernels, &shaded.params);
            hasher.debug(&(shaded.space_table, &shaded.textures.texts));
            let mut numbers = FxHashMap::default();
            for look in &shaded.looks {
                let next = numbers.len();
                let number = *numbers.entry(Arc::as_ptr(look)).or_insert(next);
                hasher.value(&number);
                if number == next {
                    hasher.debug(look);
                }
            }
            hasher.debug(&identities(&shaded.textures, textures, &seen.options.search.texture));
        }
        format!("{:032x}", hasher.finish())
    }
}

/// Sorts drawables by their attributes and by the names and types of their primitive variables. Returns the sort of
/// each, and an example of each sort.
fn sorts<'w>(drawables: &'w [Drawable]) -> (Vec<usize>, Vec<&'w Drawable>) {
    let mut examples: Vec<&'w Drawable> = Vec::new();
    let mut by_attributes: FxHashMap<*const Attributes, Vec<usize>> = FxHashMap::default();
    let sort_of = |drawable: &'w Drawable| {
        let sorts = by_attributes.entry(Arc::as_ptr(&drawable.attributes)).or_default();
        let known = sorts.iter().rev().find(|&&sort| is_bound_alike(examples[sort], drawable));
        known.copied().unwrap_or_else(|| {
            examples.push(drawable);
            sorts.push(examples.len() - 1);
            examples.len() - 1
        })
    };
    let sort_of = drawables.iter().map(sort_of).collect();
    (sort_of, examples)
}

/// Whether the primitive variables of two drawables go to the same inputs and decide the same.
fn is_bound_alike(a: &Drawable, b: &Drawable) -> bool {
    let alike = |(a, b): (&Primvar, &Primvar)| {
        let texts = match (&a.data, &b.data) {
            (PrimvarData::Floats(_), PrimvarData::Floats(_)) => true,
            (a, b) => a == b,
        };
        (&a.name, a.class, a.ty, a.array_len) == (&b.name, b.class, b.ty, b.array_len) && texts
    };
    let [a, b] = [a, b].map(|drawable| &drawable.geometry.primvars);
    a.len() == b.len() && a.iter().zip(b).all(alike)
}

fn sort(example: &Drawable, shading: DepthShading) -> CasterSort {
    let attributes = &example.attributes;
    let mut hasher = ContentHasher::default();
    hasher.value(&(shading as u32));
    add_attributes(&mut hasher, attributes);
    let attributes = match shading {
        DepthShading::None | DepthShading::All => Arc::clone(attributes),
        DepthShading::Displacement => {
            hasher.value(&attributes.opacity);
            // Opaque and matte, it needs no colours.
            Arc::new(Attributes {
                opacity: [1.0; 3],
                surface: None,
                atmosphere: None,
                lights: Arc::default(),
                matte: true,
                ..(**attributes).clone()
            })
        }
    };
    CasterSort { shading, hash: hasher.finish(), attributes }
}

/// Adds what matters of attributes besides shaders and what these read.
fn add_attributes(hasher: &mut ContentHasher, attributes: &Attributes) {
    let Attributes {
        color: _,
        opacity: _,
        texture_coordinates,
        surface: _,
        displacement: _,
        atmosphere: _,
        lights: _,
        shading_rate,
        relative_shading_rate,
        shading_interpolation,
        matte,
        two_sided,
        flip_normal,
        displacement_bound,
        name: _,
        scoped_spaces,
        other,
    } = attributes;
    hasher.value(texture_coordinates);
    hasher.value(&[*shading_rate, *relative_shading_rate]);
    hasher.value(&[*shading_interpolation as u8, *matte as u8, *two_sided as u8, *flip_normal as u8]);
    hasher.debug(displacement_bound);
    add_spaces(hasher, scoped_spaces);
    hasher.debug(other);
}

/// Adds what matters of options besides what shaders read.
fn add_options(hasher: &mut ContentHasher, options: &Options) {
    let Options {
        frame: _,
        scene_crop: _,
        pixel_samples,
        filter,
        exposure: _,
        imager: _,
        displays: _,
        hider,
        eye_splits,
        opacity_threshold,
        z_threshold,
        grid_size,
        reserve_kib: _,
        texture_memory_kib: _,
        shutter_offset,
        shutter_opening,
        overscan,
        curve_min_width_px,
        relative_detail,
        search: _,
        other,
    } = options;
    hasher.debug(&(pixel_samples, filter, hider, eye_splits, opacity_threshold, z_threshold, grid_size));
    hasher.debug(&(shutter_offset, shutter_opening, overscan, curve_min_width_px, relative_detail, other));
}

fn add_spaces(hasher: &mut ContentHasher, spaces: &[NamedSpace]) {
    hasher.value(&spaces.len());
    for NamedSpace { name, world_from_space } in spaces {
        hasher.text(name);
        add_matrix(hasher, world_from_space);
    }
}

fn add_matrix(hasher: &mut ContentHasher, matrix: &Motion<DMat4>) {
    hasher.value(&matrix.keyframes().len());
    for (time, matrix) in matrix.keyframes() {
        hasher.value(time);
        hasher.value(&matrix.to_cols_array());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::session::auto_shadows::keys_of;
    use crate::render::session::test_sessions::{read, with_session};
    use std::fs;
    use std::path::Path;

    const SCENE: &str = r#"Display "t" "exr" "rgba" Format 64 64 1
        Option "searchpath" "shader" ["$DIR"] "texture" ["$DIR"] PixelSamples 2 2 Exposure 1 1 Translate 0 0 9 WorldBegin
        Attribute "light" "string shadows" "on"
        LightSource "spotlight" 1 "from" [0 0 -9] "to" [0 0 0] "intensity" [3]
        AttributeBegin
          Attribute "identifier" "name" "ball" Color [1 0 0] Surface "matte" "Kd" [0.5] ShadingRate 1 Matte 0 Sides 2
          Orientation "outside" GeometricApproximation "motionfactor" 1 Translate 0 0 1 Sphere 1 -1 1 360
          Points "P" [$POINTS] "constantwidth" [0.1] "constant color Cs" [1 0 0]
          MotionBegin [0 1] Translate 0 0 0 Translate 0 1 0 MotionEnd
          NuPatch 2 2 [0 0 1 1] 0 1 2 2 [0 0 1 1] 0 1 "Pw" [0 0 0 1 1 0 0 1 0 1 0 1 1 1 0 1]
        AttributeEnd
        AttributeBegin
          Displacement "moved" "k" [0.25] Attribute "displacementbound" "sphere" [0.5] Surface "plastic" "Ks" [0.5]
          Color [0 0 1] Sphere 2 -2 2 360 Curves "linear" [2] "nonperiodic" "P" [0 0 0 1 1 1] "constantwidth" [0.2]
          "constant float q" [1]
        AttributeEnd
        AttributeBegin
          Opacity [0.5 0.5 0.5] Surface "constant" Disk 0 1 360
        AttributeEnd
        SolidBegin "difference" SolidBegin "primitive" Sphere 1 -1 1 360 SolidEnd
        SolidBegin "primitive" Sphere 0.5 -0.5 0.5 360 SolidEnd SolidEnd
        WorldEnd"#;

    const MOVED: &str = "displacement moved(float k = 0, q = 0; string map = \"m.tex\") \
        { P += N * (k + q + float texture(map)) / 9; }";

    /// What can be seen of a map.
    const MATTERS: [(&str, &str); 27] = [
        ("Sphere 1 -1", "Sphere 1 -0.5"),
        ("Points \"P\" [0", "Points \"P\" [1"),
        ("\"constantwidth\" [0.1]", "\"constantwidth\" [0.2]"),
        ("Translate 0 0 1 ", "Translate 0 0 2 "),
        ("Translate 0 1 0 MotionEnd", "Translate 0 2 0 MotionEnd"),
        ("WorldBegin", "Shutter 0 1 WorldBegin"),
        ("ShadingRate 1", "ShadingRate 4"),
        ("Sides 2", "Sides 1"),
        ("\"outside\"", "\"inside\""),
        ("Matte 0", "Matte 1"),
        ("\"motionfactor\" 1", "\"motionfactor\" 2"),
        ("Color [1 0 0]", "Opacity [0.5 1 1]"),
        ("Surface \"constant\"", ""),
        ("Opacity [0.5 0.5 0.5]", "Opacity [0.2 0.2 0.2]"),
        ("\"k\" [0.25]", "\"k\" [0.5]"),
        ("\"sphere\" [0.5]", "\"sphere\" [0.75]"),
        ("\"constant float q\" [1]", "\"constant float q\" [2]"),
        ("Displacement \"moved\" \"k\" [0.25]", ""),
        ("Surface \"matte\"", "Surface \"moving\""),
        ("Surface \"matte\"", "Surface \"printing\""),
        ("SolidBegin \"difference\"", "SolidBegin \"union\""),
        ("0 1 2 2 [0 0 1 1]", "0 1 2 2 [0 0 2 2]"),
        ("0.5 360 SolidEnd SolidEnd", "0.5 360 SolidEnd SolidEnd Disk 0 1 360"),
        ("Disk 0 1 360", "Attribute \"visibility\" \"int transmission\" [0] Disk 0 1 360"),
        ("\"from\" [0 0 -9]", "\"from\" [0 1 -9]"),
        ("Exposure 1 1", "Attribute \"autoshadows\" \"int[2] res\" [16 16]"),
        ("Exposure 1 1", "Option \"limits\" \"zthreshold\" [0.1 0.1 0.1]"),
    ];

    /// What only the picture shows.
    const DOES_NOT_MATTER: [(&str, &str); 12] = [
        ("Color [1 0 0]", "Color [0 1 0]"),
        ("Cs\" [1 0 0]", "Cs\" [0 1 0]"),
        ("\"Kd\" [0.5]", "\"Kd\" [0.7]"),
        ("Surface \"matte\"", "Surface \"plastic\""),
        ("Surface \"plastic\" \"Ks\" [0.5]", "Surface \"matte\""),
        ("Color [0 0 1]", "Color [1 1 1]"),
        ("\"intensity\" [3]", "\"intensity\" [4]"),
        ("\"name\" \"ball\"", "\"name\" \"apple\""),
        ("Exposure 1 1", "Exposure 2 2"),
        ("PixelSamples 2 2", "PixelSamples 4 4"),
        ("Translate 0 0 9", "Translate 0 0 7"),
        ("WorldBegin\n", "FrameBegin 7 WorldBegin\n"),
    ];

    fn scene_in(folder: &Path) -> String {
        let points: Vec<String> = (0..3 * LOOKED_UP_PRIMITIVES).map(|number| number.to_string()).collect();
        SCENE.replace("$DIR", &folder.display().to_string()).replace("$POINTS", &points.join(" "))
    }

    fn write(folder: &Path, moved: &str) {
        let surfaces = [("moving", "P += N"), ("printing", "printf(\"a\")")];
        for (name, body) in surfaces {
            let text = format!("surface {name}(float Kd = 1) {{ {body}; Oi = 1; Ci = Oi; }}");
            fs::write(folder.join(format!("{name}.sl")), text).expect("a file");
        }
        fs::write(folder.join("moved.sl"), moved).expect("a file");
        fs::write(folder.join("m.tex"), "a").expect("a file");
    }

    #[test]
    fn keys_change_with_all_that_maps_show_and_with_nothing_else() {
        let [folder, other] = [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder"));
        let [folder, other] = [folder.path(), other.path()];
        write(folder, MOVED);
        write(other, &MOVED.replace("/ 9", "/ 7"));
        let scene = scene_in(folder);
        with_session(None, |session| {
            let mut keys = |text: &str| keys_of(session, read(text.to_owned()).worlds.remove(0));
            let before = keys(&scene);
            assert_eq!(before.len(), 1);
            assert_eq!(keys(&scene), before, "geometry at other addresses");
            let mut changed = |from: &str, to: &str| {
                assert!(scene.contains(from), "{from}");
                keys(&scene.replacen(from, to, 1)) != before
            };
            for (from, to) in MATTERS {
                assert!(changed(from, to), "{from} -> {to}");
            }
            for (from, to) in DOES_NOT_MATTER {
                assert!(!changed(from, to), "{from} -> {to}");
            }
            assert_ne!(keys(&scene_in(other)), before, "the shader does something else");
            fs::write(folder.join("m.tex"), "ab").expect("a file");
            assert_ne!(keys(&scene), before, "the displacement reads another texture");
        });
    }

    #[test]
    fn hashes_of_geometry_last_as_long_as_it_is_in_use() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write(folder.path(), MOVED);
        let mut world = read(scene_in(folder.path())).worlds.remove(0);
        let known = |known: &KnownGeometry| known.hashes.values().map(|(_, hashes)| *hashes).collect::<Vec<_>>();
        with_session(None, |session| {
            keys_of(session, world.clone());
            let before = known(&session.shadows.geometry);
            assert_eq!(before.len(), 1, "that of the points");
            let points =
                world.drawables.iter_mut().find(|drawable| drawable.geometry.shape.first().primitive_count() > 1);
            Arc::make_mut(&mut points.expect("they are there").geometry).primvars.clear();
            keys_of(session, world);
            let after = known(&session.shadows.geometry);
            assert!(after.len() == 1 && after != before, "it was changed where it was");
            keys_of(session, read("WorldBegin Sphere 1 -1 1 360 WorldEnd".into()).worlds.remove(0));
            assert!(session.shadows.geometry.hashes.is_empty());
        });
    }
}
