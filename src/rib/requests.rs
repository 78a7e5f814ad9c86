//! The table of all requests.

use super::fault::{Parsed, RequestFault};
use super::lexer::Lexer;
use super::reader::Reader;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Where a request is allowed (RISpec 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
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
pub(super) enum InMotion {
    /// The request is given once for each time.
    Moves,
    /// The request works as it does outside.
    Passes,
    /// The request is not allowed and ends the block.
    Ends,
}

/// One request.
#[derive(Debug)]
pub(super) struct Request {
    /// Its name.
    pub(super) name: &'static str,
    /// Where it is allowed.
    pub(super) scope: Scope,
    /// What it does in a motion block.
    pub(super) in_motion: InMotion,
    /// Reads its arguments and carries it out.
    pub(super) read: for<'r, 'l> fn(&mut Reader<'r>, &mut Lexer<'l>) -> Parsed<()>,
}

use InMotion::{Ends, Moves, Passes};
use Scope::{Anywhere, Option, Outside, Primitive};

macro_rules! requests {
    ($($name:literal $scope:ident $motion:ident $read:expr;)*) => {
        static REQUESTS: &[Request] = &[$(Request {
            name: $name,
            scope: $scope,
            in_motion: $motion,
            read: |reader, lexer| $read(reader, lexer),
        },)*];
    };
}

requests! {
    // The stream.
    "version" Anywhere Passes Reader::version;
    "Declare" Anywhere Passes Reader::declare;
    "ErrorHandler" Anywhere Passes Reader::error_handler;
    "ReadArchive" Anywhere Passes Reader::read_archive;
    "ArchiveBegin" Anywhere Passes Reader::archive_begin;
    "ArchiveEnd" Anywhere Passes Reader::archive_end;
    "IfBegin" Anywhere Passes Reader::if_begin;
    "ElseIf" Anywhere Passes Reader::leave_branch;
    "Else" Anywhere Passes Reader::leave_branch;
    "IfEnd" Anywhere Passes Reader::if_end;
    // Blocks.
    "FrameBegin" Outside Ends Reader::frame_begin;
    "FrameEnd" Anywhere Ends Reader::frame_end;
    "WorldBegin" Outside Ends Reader::world_begin;
    "WorldEnd" Anywhere Ends Reader::world_end;
    "AttributeBegin" Anywhere Ends Reader::attribute_begin;
    "AttributeEnd" Anywhere Ends Reader::attribute_end;
    "TransformBegin" Anywhere Ends Reader::transform_begin;
    "TransformEnd" Anywhere Ends Reader::transform_end;
    "SolidBegin" Primitive Ends Reader::solid_begin;
    "SolidEnd" Anywhere Ends Reader::solid_end;
    "ObjectBegin" Anywhere Ends Reader::object_begin;
    "ObjectEnd" Anywhere Ends Reader::object_end;
    "ObjectInstance" Primitive Moves Reader::object_instance;
    "MotionBegin" Anywhere Ends Reader::motion_begin;
    "MotionEnd" Anywhere Passes Reader::motion_end;
    "ResourceBegin" Anywhere Ends Reader::resource_begin;
    "ResourceEnd" Anywhere Ends Reader::resource_end;
    "Resource" Anywhere Ends Reader::resource;
    // Options: the camera.
    "Format" Option Ends Reader::format;
    "FrameAspectRatio" Option Ends Reader::frame_aspect_ratio;
    "ScreenWindow" Option Ends Reader::screen_window;
    "CropWindow" Option Ends Reader::crop_window;
    "Projection" Option Moves Reader::projection;
    "Clipping" Option Ends Reader::clipping;
    "ClippingPlane" Option Ends Reader::clipping_plane;
    "DepthOfField" Option Ends Reader::depth_of_field;
    "Shutter" Option Ends Reader::shutter;
    // Options: the image.
    "PixelVariance" Option Ends Reader::pixel_variance;
    "PixelSamples" Option Ends Reader::pixel_samples;
    "PixelFilter" Option Ends Reader::pixel_filter;
    "Exposure" Option Ends Reader::exposure;
    "Imager" Anywhere Ends Reader::imager;
    "Quantize" Option Ends Reader::quantize;
    "Display" Option Ends Reader::display;
    "DisplayChannel" Option Ends Reader::display_channel;
    "Hider" Option Ends Reader::hider;
    "ColorSamples" Option Ends Reader::color_samples;
    "RelativeDetail" Option Ends Reader::relative_detail;
    "Option" Option Ends Reader::option;
    // Attributes: shading.
    "Color" Anywhere Moves Reader::color;
    "Opacity" Anywhere Moves Reader::opacity;
    "TextureCoordinates" Anywhere Moves Reader::texture_coordinates;
    "LightSource" Anywhere Moves Reader::light_source;
    "AreaLightSource" Anywhere Moves Reader::area_light_source;
    "Illuminate" Anywhere Moves Reader::illuminate;
    "Surface" Anywhere Moves Reader::surface;
    "Displacement" Anywhere Moves Reader::displacement;
    "Atmosphere" Anywhere Moves Reader::atmosphere;
    "ShadingRate" Anywhere Moves Reader::shading_rate;
    "ShadingInterpolation" Anywhere Moves Reader::shading_interpolation;
    "Matte" Anywhere Moves Reader::matte;
    // Attributes: geometry.
    "Bound" Anywhere Moves Reader::bound;
    "Detail" Anywhere Moves Reader::detail;
    "DetailRange" Anywhere Moves Reader::detail_range;
    "GeometricApproximation" Anywhere Moves Reader::geometric_approximation;
    "GeometricRepresentation" Anywhere Moves Reader::ignored;
    "Basis" Anywhere Moves Reader::basis;
    "TrimCurve" Anywhere Moves Reader::trim_curve;
    "Orientation" Anywhere Moves Reader::orientation;
    "ReverseOrientation" Anywhere Moves Reader::reverse_orientation;
    "Sides" Anywhere Moves Reader::sides;
    "Attribute" Anywhere Moves Reader::attribute;
    // Transformations.
    "Identity" Anywhere Moves Reader::identity;
    "Transform" Anywhere Moves Reader::transform;
    "ConcatTransform" Anywhere Moves Reader::concat_transform;
    "Perspective" Anywhere Moves Reader::perspective;
    "Translate" Anywhere Moves Reader::translate;
    "Rotate" Anywhere Moves Reader::rotate;
    "Scale" Anywhere Moves Reader::scale;
    "Skew" Anywhere Moves Reader::skew;
    "CoordinateSystem" Anywhere Passes Reader::coordinate_system;
    "ScopedCoordinateSystem" Anywhere Passes Reader::scoped_coordinate_system;
    "CoordSysTransform" Anywhere Ends Reader::coord_sys_transform;
    // Primitives.
    "Sphere" Primitive Moves Reader::sphere;
    "Cone" Primitive Moves Reader::cone;
    "Cylinder" Primitive Moves Reader::cylinder;
    "Hyperboloid" Primitive Moves Reader::hyperboloid;
    "Paraboloid" Primitive Moves Reader::paraboloid;
    "Disk" Primitive Moves Reader::disk;
    "Torus" Primitive Moves Reader::torus;
    "Patch" Primitive Moves Reader::patch;
    "PatchMesh" Primitive Moves Reader::patch_mesh;
    "NuPatch" Primitive Moves Reader::nu_patch;
    "Polygon" Primitive Moves Reader::polygon;
    "GeneralPolygon" Primitive Moves Reader::general_polygon;
    "PointsPolygons" Primitive Moves Reader::points_polygons;
    "PointsGeneralPolygons" Primitive Moves Reader::points_general_polygons;
    "Curves" Primitive Moves Reader::curves;
    "Points" Primitive Moves Reader::points;
    "Blobby" Primitive Moves Reader::blobby;
    "Procedural" Primitive Ends Reader::procedural;
    // Textures.
    "MakeTexture" Anywhere Ends Reader::make_texture;
    "MakeBump" Anywhere Ends Reader::make_texture;
    "MakeLatLongEnvironment" Anywhere Ends Reader::make_lat_long_environment;
    "MakeCubeFaceEnvironment" Anywhere Ends Reader::make_cube_face_environment;
    "MakeShadow" Anywhere Ends Reader::make_shadow;
    "MakeOcclusion" Anywhere Ends Reader::make_occlusion;
    "MakeBrickMap" Anywhere Ends Reader::make_brick_map;
    // Known but not supported yet: see the table in `unsupported`.
    "SubdivisionMesh" Primitive Moves Reader::subdivision_mesh;
    "HierarchicalSubdivisionMesh" Primitive Moves Reader::subdivision_mesh;
    "Geometry" Primitive Moves Reader::geometry;
    "Volume" Primitive Moves Reader::unsupported;
    "Procedural2" Primitive Moves Reader::unsupported;
    "Interior" Anywhere Moves Reader::unsupported;
    "Exterior" Anywhere Moves Reader::unsupported;
    "Deformation" Anywhere Moves Reader::unsupported;
    "ShaderLayer" Anywhere Moves Reader::unsupported;
    "ConnectShaderLayers" Anywhere Moves Reader::unsupported;
    "Shader" Anywhere Moves Reader::unsupported;
    "Camera" Option Ends Reader::unsupported;
}

/// Finds the request with this name.
pub(super) fn find(name: &[u8]) -> std::option::Option<&'static Request> {
    static BY_NAME: LazyLock<FxHashMap<&'static [u8], &'static Request>> =
        LazyLock::new(|| REQUESTS.iter().map(|request| (request.name.as_bytes(), request)).collect());
    BY_NAME.get(name).copied()
}

/// How similar two names must be for one to be suggested: at most one letter in five is wrong.
const ALIKE: f64 = 0.8;
/// The longest name for which a suggestion is searched.
const SUGGESTED_BYTES_MAX: usize = 64;

/// Creates the fault for a name that is not a request; with `suggest`, it names the request that was probably meant.
pub(super) fn unknown(name: &[u8], offset: usize, suggest: bool) -> RequestFault {
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
