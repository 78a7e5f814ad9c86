//! What becomes of every known token of `Option`, `Attribute`, `Hider` and a few requests: it acts; or it is not
//! supported and something else is done, which is reported once; or no picture depends on it.

use Support::{Acts, FallsBack, Harmless};

/// What becomes of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    /// It does what it is for.
    Acts,
    /// It is not supported.
    FallsBack {
        /// Values that ask for what is done anyway, as [`text`] writes them; they are not reported.
        unless: &'static [&'static str],
        /// What is done instead, or where the effect is missing.
        instead: &'static str,
    },
    /// No picture of this renderer depends on it: it is about speed, memory, or rays that are not traced.
    Harmless,
}

/// A token with its declaration.
#[derive(Debug)]
pub(crate) struct KnownToken {
    /// Type and name.
    pub(crate) declaration: &'static str,
    /// What becomes of it.
    pub(crate) support: Support,
}

impl KnownToken {
    /// Returns the name without the type.
    pub(crate) fn name(&self) -> &'static str {
        self.declaration.rsplit(' ').next().unwrap_or(self.declaration)
    }
}

/// The tokens of one name, such as `Attribute "dice"`.
#[derive(Debug)]
pub(crate) struct TokenGroup {
    /// The request.
    pub(crate) request: &'static str,
    /// The name that follows it.
    pub(crate) name: &'static str,
    /// All known tokens.
    pub(crate) tokens: &'static [KnownToken],
}

/// Finds the tokens that may follow a request and a name.
pub(crate) fn group(request: &str, name: &str) -> Option<&'static TokenGroup> {
    GROUPS.iter().find(|group| group.request == request && group.name == name)
}

/// Attributes and options that other renderers and exporters write without their own name in them. One message covers
/// all of them but those that act.
pub(crate) const OTHER_RENDERERS: &[&str] =
    &["render", "renderman", "runtime", "divisions", "delayed", "procedural", "ri"];

/// Namespaces of other renderers and exporters, whose options and attributes are ignored.
pub(crate) const FOREIGN: &[&str] = &[
    "3delight",
    "air",
    "aqsis",
    "bmrt",
    "delight",
    "entropy",
    "gelato",
    "jupiter",
    "liquid",
    "maya",
    "mtor",
    "pixie",
    "prman",
    "rdc",
    "renderdotc",
    "rfm",
    "rib2",
    "rman",
    "siren",
    "vrscene",
];

macro_rules! groups {
    ($($request:literal $name:literal { $($declaration:literal $support:expr;)* })*) => {
        pub(crate) static GROUPS: &[TokenGroup] = &[$(TokenGroup {
            request: $request,
            name: $name,
            tokens: &[$(KnownToken { declaration: $declaration, support: $support },)*],
        },)*];
    };
}

/// Returns the support of a token whose effect is missing whatever its value.
const fn not_supported(instead: &'static str) -> Support {
    FallsBack { unless: &[], instead }
}

/// Returns the support of a token whose effect is missing, unless it has one of these values.
const fn only(unless: &'static [&'static str], instead: &'static str) -> Support {
    FallsBack { unless, instead }
}

const WITHOUT_STATS: Support = only(&["0", ""], "use the flag --stats");
const WITHOUT_CHECKPOINT: Support = only(&["0", ""], "use the flags --checkpoint, --checkpoint-interval and --resume");
const WITHOUT_ORDER: Support =
    not_supported("the devices share the picture in an order of their own, and pixels do not depend on it");
const WITHOUT_CAUSTICS: Support = only(&[""], "photon maps are neither made nor used");
const WITHOUT_IRRADIANCE: Support = only(&[""], "irradiance is neither stored nor read");

groups! {
    // Options (RISpec table 4.5 and extensions).
    "Option" "searchpath" {
        "string archive" Acts;
        "string shader" Acts;
        "string texture" Harmless; // each missing texture is reported
        "string procedural" Harmless; // each procedural is reported
        "string display" Harmless;
        "string resource" Harmless;
        "string dirmap" only(&[""], "paths are used as they are written");
    }
    "Option" "limits" {
        "int[2] bucketsize" Harmless;
        "int gridsize" only(&["256"], "grids have at most 16 by 16 vertices");
        "int eyesplits" Acts;
        "int texturememory" Harmless;
        "int texturesample" Harmless;
        "color othreshold" Acts;
        "color zthreshold" Acts;
        "float deepshadowerror" Acts;
        "int reserve" Acts;
        "int brickmemory" Harmless;
        "int geocachememory" Harmless;
        "int deepshadowmemory" Harmless;
        "int ptexturememory" Harmless;
        "int rendermemory" Harmless;
        "int octreememory" Harmless;
        "int hemispherememory" Harmless;
        "int numthreads" Harmless;
        "int threads" Harmless;
        "int threadstride" Harmless;
        "int metabuckets" Harmless;
        "int[2] bucketmodulo" Harmless;
        "float vprelativeshadingrate" Harmless;
    }
    "Option" "shutter" {
        "float offset" Acts;
        "float[2] shutteropening" Acts;
        "int clampmotion" Harmless; // only what moves while the shutter is open is drawn
    }
    "Option" "statistics" {
        "int endofframe" WITHOUT_STATS;
        "string filename" WITHOUT_STATS;
        "string xmlfilename" WITHOUT_STATS;
        "int shaderprofile" only(&["0"], "use the command anthill profile");
        "string filelog" WITHOUT_STATS;
        "int progress" only(&["0", "1"], "use the flag --progress");
        "int renderinfo" WITHOUT_STATS;
        "int echoapi" only(&["0"], "requests are not printed");
    }
    "Option" "bucket" {
        "string order" WITHOUT_ORDER;
        "int[2] orderorigin" WITHOUT_ORDER;
    }
    "Option" "render" {
        "string bucketorder" WITHOUT_ORDER;
        "int multipass" Harmless;
    }
    "Option" "shadow" {
        "float bias" Acts;
        "float bias0" Acts;
        "float bias1" Acts;
        "int sample" Acts;
        "int samples" Acts;
    }
    // Rays: shaders that trace are reported.
    "Option" "trace" {
        "int maxdepth" Harmless;
        "float specularthreshold" Harmless;
        "float decimationrate" Harmless;
        "string continuationby" Harmless;
    }
    "Option" "photon" {
        "string lifetime" Harmless;
        "int emit" only(&["0"], "photon maps are neither made nor used");
        "int maxdiffusedepth" Harmless;
        "int maxspeculardepth" Harmless;
    }
    "Option" "texture" {
        "int enable" Harmless;
        "float gaussian" Harmless;
        "float lerp" Harmless;
    }
    // For programs that write RIB.
    "Option" "rib" {
        "string format" Harmless;
        "string compression" Harmless;
        "int precision" Harmless;
        "string asciistyle" Harmless;
    }
    "Option" "image" { "int overscan" Acts; }
    "Option" "hair" { "float minwidth" Acts; }
    "Option" "curve" { "float minwidth" Acts; }
    "Option" "opacitycull" {
        "int primary" Harmless;
        "int shadow" Harmless;
    }
    "Option" "extremedisplacement" {
        "int enable" Harmless;
        "float ray" Harmless;
    }
    "Option" "checkpoint" {
        "string interval" WITHOUT_CHECKPOINT;
        "string exitat" WITHOUT_CHECKPOINT;
        "int keepfiles" WITHOUT_CHECKPOINT;
        "string command" WITHOUT_CHECKPOINT;
        "int asfinal" WITHOUT_CHECKPOINT;
    }
    "Option" "user" {}
    // The hider (RISpec 4.1.7 and extensions).
    "Hider" "hidden" {
        "float jitter" Acts;
        "string depthfilter" Acts;
        "float[4] aperture" Acts;
        "float sigma" only(&["0"], "all samples count fully");
        "float sigmablur" Harmless; // only with sigma
        "int samplemotion" Acts;
        "int extrememotiondof" Harmless;
        "int mattehidden" only(&["0"], "matte objects hide, and leave holes in the picture");
        "int maxvpdepth" only(&["-1"], "all translucent surfaces are composited");
        "int emit" only(&["0"], "photon maps are neither made nor used");
        "int subpixel" Harmless;
        "int mpcache" Harmless; // micropolygons are not cached
        "int mpmemory" Harmless;
    }
    // Attributes (PRMan's and those of other renderers).
    "Attribute" "displacementbound" {
        "float sphere" Acts;
        "string coordinatesystem" Acts;
    }
    "Attribute" "dice" {
        "int binary" Harmless; // grids do not crack
        "int rasterorient" only(&["1"], "micropolygons are sized by what they cover in the picture");
        "int hair" only(&["0"], "curves are diced as all other surfaces");
        "float minlength" only(&["0"], "micropolygons have the size that ShadingRate sets");
        "string minlengthspace" Harmless; // only with minlength
        "string strategy" only(&["planarprojection"], "surfaces are diced by their projection");
        "string referencecamera" only(&["worldcamera", "frame"], "surfaces are diced for the camera of the picture");
        "string offset" Harmless;
        "string instancestrategy" only(&["worlddistance"], "each instance is diced for itself");
        "int numprobes" Harmless;
        "int minsplits" Harmless;
        "float boundexpand" Harmless;
    }
    "Attribute" "cull" {
        // They decide what is baked, not what is seen.
        "int backfacing" Acts;
        "int hidden" Acts;
    }
    "Attribute" "identifier" {
        "string name" Acts;
        "string shadinggroup" Harmless;
        "string object" Harmless;
    }
    "Attribute" "visibility" {
        "int camera" Acts;
        "int diffuse" Harmless;
        "int specular" Harmless;
        // They take objects out of the shadow maps that lights make by themselves.
        "int transmission" Acts;
        "string transmission" Acts;
        "int shadow" Acts;
        "int reflection" Harmless;
        "int photon" Harmless;
        "int midpoint" Harmless;
        "int trace" Harmless;
    }
    // Of other renderers; see `OTHER_RENDERERS`.
    "Attribute" "render" {
        "string casts_shadows" Acts;
        "int visibility" Acts;
    }
    "Attribute" "shade" {
        "string strategy" only(&["grids", "default"], "surfaces are shaded in grids");
        "string diffusehitmode" Harmless;
        "string specularhitmode" Harmless;
        "string transmissionhitmode" Harmless;
        "string camerahitmode" Harmless;
        "float relativeshadingrate" Acts;
        "string volumeintersectionstrategy" Harmless;
        "float volumeintersectionpriority" Harmless;
        "string frequency" only(&["motion", "frame"], "surfaces are shaded once a frame");
    }
    "Attribute" "sides" {
        "float backfacetolerance" only(&["0"], "back faces of objects with Sides 1 are not drawn");
        "int doubleshaded" only(&["0"], "both sides have one colour");
    }
    "Attribute" "stitch" {
        "int enable" Harmless; // grids do not crack
        "int traceenable" Harmless;
        "int newgroup" Harmless;
    }
    "Attribute" "trimcurve" { "string sense" Acts; }
    "Attribute" "autoshadows" {
        "int[2] res" Acts;
        "string shadowmapname" Acts;
        "int samples" Harmless;
        "string type" only(&["shadow", ""], "the map is a depth map");
    }
    "Attribute" "light" {
        "string shadows" Acts;
        "int samples" Harmless;
        "int nsamples" Acts;
    }
    "Attribute" "irradiance" {
        "float maxerror" Harmless;
        "float maxpixeldist" Harmless;
        "string handle" WITHOUT_IRRADIANCE;
        "string filemode" WITHOUT_IRRADIANCE;
        "int nsamples" Harmless;
        "float shadingrate" Harmless;
    }
    "Attribute" "photon" {
        "string globalmap" WITHOUT_CAUSTICS;
        "string causticmap" WITHOUT_CAUSTICS;
        "string shadingmodel" Harmless;
        "int estimator" Harmless;
    }
    "Attribute" "trace" {
        "float bias" Harmless;
        "int maxdiffusedepth" Harmless;
        "int maxspeculardepth" Harmless;
        "int displacements" Harmless;
        "int samplemotion" Harmless;
        "string samplingstrategy" Harmless;
    }
    "Attribute" "derivatives" {
        "int centered" only(&["1"], "derivatives are centred");
        "int extrapolate" only(&["1"], "derivatives are the same everywhere in a grid");
    }
    "Attribute" "grouping" {
        "string membership" Harmless;
        "string tracesubset" Harmless;
    }
    "Attribute" "stochastic" {
        "int sigma" only(&["0"], "all samples count fully");
        "float pointfalloff" only(&["0"], "points have hard edges");
    }
    "Attribute" "user" {}
    // Other requests with parameter lists.
    "Projection" "" { "float fov" Acts; }
    "Display" "" {
        "float[4] quantize" Acts;
        "float[2] exposure" Acts;
        "float dither" Acts;
        "int[2] origin" Acts;
        "string compression" Acts;
        "string exrcompression" Acts;
        "string exrpixeltype" Acts;
        "string filter" Acts;
        "float[2] filterwidth" Acts;
        "int composite" Acts;
    }
    "DisplayChannel" "" {
        "float[4] quantize" Acts;
        "float[2] exposure" Acts;
        "float dither" Acts;
        "string filter" Acts;
        "float[2] filterwidth" Acts;
        "int composite" Acts;
    }
    // Requests with one number.
    "GeometricApproximation" "" {
        "float flatness" not_supported("ShadingRate sets the size of micropolygons");
        "float deviation" not_supported("ShadingRate sets the size of micropolygons");
        "float pointdeviation" not_supported("ShadingRate sets the size of micropolygons");
        "float normaldeviation" not_supported("ShadingRate sets the size of micropolygons");
        "float motionfactor" Acts;
        "float focusfactor" Acts;
    }
    "PixelVariance" "" {
        "float variance" only(&["0"], "all pixels get the samples of PixelSamples");
    }
    "MakeBrickMap" "" {
        "float radiusscale" Acts;
        "int ignorenormals" Acts;
        // Every point is kept.
        "float maxerror" Harmless;
        "int maxdepth" Harmless;
    }
}
