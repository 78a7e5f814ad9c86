//! The table of all requests.

mod archives;
mod attributes;
mod blocks;
mod branches;
mod displays;
mod edits;
mod objects;
mod options;
mod parameters;
mod primitives;
mod procedural;
mod resource;
mod run_program;
mod shaders;
mod teapot;
mod textures;
mod transforms;
mod unsupported;

use super::reader::Reader;
use super::stream::fault::{Parsed, RequestFault};
use super::stream::lexer::Lexer;
use super::world::scene::SceneBuilder;
use edits::RequestGroup;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Where a request is allowed (RISpec 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Anywhere.
    Anywhere,
    /// Outside the world, because options freeze at WorldBegin.
    Option,
    /// Outside of worlds and objects, as frames and worlds are.
    Outside,
    /// Inside the world or an object.
    Primitive,
}

/// What a request does in a motion block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InMotion {
    /// The request is given once for each time.
    Moves,
    /// The request works as it does outside.
    Passes,
    /// The request is not allowed and ends the block.
    Ends,
}

/// One request.
#[derive(Debug)]
pub(crate) struct Request {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where it is allowed.
    pub(crate) scope: Scope,
    /// What it does in a motion block.
    pub(crate) in_motion: InMotion,
    /// Reads its arguments and carries it out.
    pub(crate) read: for<'r, 'l> fn(&mut Reader<'r>, &mut Lexer<'l>) -> Parsed<()>,
}

use InMotion::{Ends, Moves, Passes};
use Scope::{Anywhere, Option, Outside, Primitive};

/// What a request works on: the scene, or all of the reader, where it has something else read.
macro_rules! part {
    (scene $reader:ident) => {
        &mut $reader.scene
    };
    (reader $reader:ident) => {
        $reader
    };
}

macro_rules! requests {
    ($($name:literal $scope:ident $motion:ident $part:ident $read:expr;)*) => {
        static REQUESTS: &[Request] = &[$(Request {
            name: $name,
            scope: $scope,
            in_motion: $motion,
            read: |reader, lexer| $read(part!($part reader), lexer),
        },)*];
    };
}

requests! {
    // The stream.
    "version" Anywhere Passes reader archives::version;
    "Declare" Anywhere Passes scene archives::declare;
    "ErrorHandler" Anywhere Passes scene archives::error_handler;
    "ReadArchive" Anywhere Passes reader archives::read_archive;
    "ArchiveBegin" Anywhere Passes reader archives::archive_begin;
    "ArchiveEnd" Anywhere Passes scene archives::archive_end;
    "IfBegin" Anywhere Passes reader branches::if_begin;
    "ElseIf" Anywhere Passes reader branches::leave_branch;
    "Else" Anywhere Passes reader branches::leave_branch;
    "IfEnd" Anywhere Passes reader branches::if_end;
    // Blocks.
    "FrameBegin" Outside Ends scene blocks::frame_begin;
    "FrameEnd" Anywhere Ends scene blocks::frame_end;
    "WorldBegin" Outside Ends reader blocks::world_begin;
    "WorldEnd" Anywhere Ends scene blocks::world_end;
    "AttributeBegin" Anywhere Ends scene blocks::attribute_begin;
    "AttributeEnd" Anywhere Ends scene blocks::attribute_end;
    "TransformBegin" Anywhere Ends scene blocks::transform_begin;
    "TransformEnd" Anywhere Ends scene blocks::transform_end;
    "SolidBegin" Primitive Ends scene blocks::solid_begin;
    "SolidEnd" Anywhere Ends scene blocks::solid_end;
    "ObjectBegin" Anywhere Ends scene objects::object_begin;
    "ObjectEnd" Anywhere Ends scene objects::object_end;
    "ObjectInstance" Primitive Moves scene objects::object_instance;
    "MotionBegin" Anywhere Ends scene blocks::motion_begin;
    "MotionEnd" Anywhere Passes scene blocks::motion_end;
    "ResourceBegin" Anywhere Ends scene blocks::resource_begin;
    "ResourceEnd" Anywhere Ends scene blocks::resource_end;
    "Resource" Anywhere Ends scene resource::resource;
    // Edits.
    "EditWorldBegin" Anywhere Ends scene edits::edit_world;
    "EditWorldEnd" Anywhere Ends scene edits::edit_world;
    "EditBegin" Anywhere Ends scene edits::edit_begin;
    "EditEnd" Anywhere Ends scene edits::edit_end;
    // Options: the camera.
    "Format" Option Ends scene options::format;
    "FrameAspectRatio" Option Ends scene options::frame_aspect_ratio;
    "ScreenWindow" Option Ends scene options::screen_window;
    "CropWindow" Option Ends scene options::crop_window;
    "Projection" Option Moves scene options::projection;
    "Clipping" Option Ends scene options::clipping;
    "ClippingPlane" Option Ends scene options::clipping_plane;
    "DepthOfField" Option Ends scene options::depth_of_field;
    "Shutter" Option Ends scene options::shutter;
    // Options: the image.
    "PixelVariance" Option Ends scene options::pixel_variance;
    "PixelSamples" Option Ends scene options::pixel_samples;
    "PixelFilter" Option Ends scene options::pixel_filter;
    "Exposure" Option Ends scene options::exposure;
    "Imager" Anywhere Ends scene displays::imager;
    "Quantize" Option Ends scene displays::quantize;
    "Display" Option Ends scene displays::display;
    "DisplayChannel" Option Ends scene displays::display_channel;
    "Hider" Option Ends scene options::hider;
    "ColorSamples" Option Ends scene options::color_samples;
    "RelativeDetail" Option Ends scene options::relative_detail;
    "Option" Option Ends scene options::option;
    // Attributes: shading.
    "Color" Anywhere Moves scene attributes::color;
    "Opacity" Anywhere Moves scene attributes::opacity;
    "TextureCoordinates" Anywhere Moves scene attributes::texture_coordinates;
    "LightSource" Anywhere Moves scene shaders::light_source;
    "AreaLightSource" Anywhere Moves scene shaders::area_light_source;
    "Illuminate" Anywhere Moves scene shaders::illuminate;
    "Surface" Anywhere Moves scene shaders::surface;
    "Displacement" Anywhere Moves scene shaders::displacement;
    "Atmosphere" Anywhere Moves scene shaders::atmosphere;
    "ShadingRate" Anywhere Moves scene attributes::shading_rate;
    "ShadingInterpolation" Anywhere Moves scene attributes::shading_interpolation;
    "Matte" Anywhere Moves scene attributes::matte;
    // Attributes: geometry.
    "Bound" Anywhere Moves scene attributes::bound;
    "Detail" Anywhere Moves scene attributes::detail;
    "DetailRange" Anywhere Moves scene attributes::detail_range;
    "GeometricApproximation" Anywhere Moves scene attributes::geometric_approximation;
    "GeometricRepresentation" Anywhere Moves scene attributes::ignored;
    "Basis" Anywhere Moves scene attributes::basis;
    "TrimCurve" Anywhere Moves scene primitives::trim_curve;
    "Orientation" Anywhere Moves scene attributes::orientation;
    "ReverseOrientation" Anywhere Moves scene attributes::reverse_orientation;
    "Sides" Anywhere Moves scene attributes::sides;
    "Attribute" Anywhere Moves scene attributes::attribute;
    // Transformations.
    "Identity" Anywhere Moves scene transforms::identity;
    "Transform" Anywhere Moves scene transforms::transform;
    "ConcatTransform" Anywhere Moves scene transforms::concat_transform;
    "Perspective" Anywhere Moves scene transforms::perspective;
    "Translate" Anywhere Moves scene transforms::translate;
    "Rotate" Anywhere Moves scene transforms::rotate;
    "Scale" Anywhere Moves scene transforms::scale;
    "Skew" Anywhere Moves scene transforms::skew;
    "CoordinateSystem" Anywhere Passes scene transforms::coordinate_system;
    "ScopedCoordinateSystem" Anywhere Passes scene transforms::scoped_coordinate_system;
    "CoordSysTransform" Anywhere Ends scene transforms::coord_sys_transform;
    // Primitives.
    "Sphere" Primitive Moves scene primitives::sphere;
    "Cone" Primitive Moves scene primitives::cone;
    "Cylinder" Primitive Moves scene primitives::cylinder;
    "Hyperboloid" Primitive Moves scene primitives::hyperboloid;
    "Paraboloid" Primitive Moves scene primitives::paraboloid;
    "Disk" Primitive Moves scene primitives::disk;
    "Torus" Primitive Moves scene primitives::torus;
    "Patch" Primitive Moves scene primitives::patch;
    "PatchMesh" Primitive Moves scene primitives::patch_mesh;
    "NuPatch" Primitive Moves scene primitives::nu_patch;
    "Polygon" Primitive Moves scene primitives::polygon;
    "GeneralPolygon" Primitive Moves scene primitives::general_polygon;
    "PointsPolygons" Primitive Moves scene primitives::points_polygons;
    "PointsGeneralPolygons" Primitive Moves scene primitives::points_general_polygons;
    "Curves" Primitive Moves scene primitives::curves;
    "Points" Primitive Moves scene primitives::points;
    "Blobby" Primitive Moves scene primitives::blobby;
    "SubdivisionMesh" Primitive Moves scene primitives::subdivision_mesh;
    "HierarchicalSubdivisionMesh" Primitive Moves scene primitives::subdivision_mesh;
    "Geometry" Primitive Moves reader teapot::geometry;
    "Procedural" Primitive Ends reader procedural::procedural;
    // Textures.
    "MakeTexture" Anywhere Ends scene textures::make_texture;
    "MakeBump" Anywhere Ends scene textures::make_texture;
    "MakeLatLongEnvironment" Anywhere Ends scene textures::make_lat_long_environment;
    "MakeCubeFaceEnvironment" Anywhere Ends scene textures::make_cube_face_environment;
    "MakeShadow" Anywhere Ends scene textures::make_shadow;
    "MakeOcclusion" Anywhere Ends scene textures::make_occlusion;
    "MakeBrickMap" Anywhere Ends scene textures::make_brick_map;
    // Known but not supported yet: see the table in `unsupported`.
    "Volume" Primitive Moves scene unsupported::unsupported;
    "Procedural2" Primitive Moves scene unsupported::unsupported;
    "Interior" Anywhere Moves scene unsupported::unsupported;
    "Exterior" Anywhere Moves scene unsupported::unsupported;
    "Deformation" Anywhere Moves scene unsupported::unsupported;
    "ShaderLayer" Anywhere Moves scene unsupported::unsupported;
    "ConnectShaderLayers" Anywhere Moves scene unsupported::unsupported;
    "Shader" Anywhere Moves scene unsupported::unsupported;
    "Camera" Option Ends scene unsupported::unsupported;
}

/// Rejects a request that has no meaning in edits, where it is in them.
pub(crate) fn check_in_edits(scene: &SceneBuilder<'_>, request: &Request) -> Parsed<()> {
    let group = match request.scope {
        Option => RequestGroup::Option,
        Primitive => RequestGroup::Primitive,
        Anywhere | Outside => RequestGroup::Other,
    };
    edits::check_edit_scope(scene, request.name, group)
}

/// Finds the request with this name.
pub(crate) fn find(name: &[u8]) -> std::option::Option<&'static Request> {
    static BY_NAME: LazyLock<FxHashMap<&'static [u8], &'static Request>> =
        LazyLock::new(|| REQUESTS.iter().map(|request| (request.name.as_bytes(), request)).collect());
    BY_NAME.get(name).copied()
}

/// How similar two names must be for one to be suggested: at most one letter in five is wrong.
const ALIKE: f64 = 0.8;
/// The longest name for which a suggestion is searched.
const SUGGESTED_BYTES_MAX: usize = 64;

/// Creates the fault for a name that is not a request; with `suggest`, it names the request that was probably meant.
pub(crate) fn unknown(name: &[u8], offset: usize, suggest: bool) -> RequestFault {
    let name = String::from_utf8_lossy(&name[..name.len().min(SUGGESTED_BYTES_MAX)]);
    let alike = |request: &&Request| strsim::normalized_damerau_levenshtein(request.name, &name);
    // This rules out most names cheaply: names whose lengths differ by more cannot be similar enough.
    let near = |request: &&Request| request.name.len().abs_diff(name.len()) * 5 <= request.name.len().max(name.len());
    let requests = if suggest { REQUESTS } else { &[] };
    let nearest = requests.iter().filter(near).max_by(|a, b| alike(a).total_cmp(&alike(b)));
    let nearest = nearest.filter(|request| alike(request) >= ALIKE);
    let fault = RequestFault::error("unregistered", offset, format!("unknown request {name}"));
    match nearest {
        Some(request) => fault.hint(format!("did you mean {}?", request.name)),
        None => fault.hint("everything up to the next request is skipped"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::SourceLocation;

    #[test]
    fn names_are_unique_and_found() {
        for request in REQUESTS {
            let found = find(request.name.as_bytes()).expect("it is in the table");
            assert!(std::ptr::eq(found, request), "{} is there twice", request.name);
        }
    }

    #[test]
    fn a_misspelt_request_gets_a_suggestion() {
        let hint = |name: &[u8]| unknown(name, 0, true).diagnostic(SourceLocation::default()).hint;
        assert_eq!(hint(b"TransforBegin"), "did you mean TransformBegin?");
        assert_eq!(hint(b"WolrdBegin"), "did you mean WorldBegin?");
        assert_eq!(hint(b"Frobnicate"), "everything up to the next request is skipped");
    }
}
