//! MakeTexture and its like (RISpec 7.1).

use super::fault::{Parsed, RequestFault};
use super::lexer::Lexer;
use super::reader::Reader;
use super::search;
use super::tokens;
use crate::diagnostic::SourceLocation;
use crate::texture::{MakeFilter, MakeKind, MakeRequest, WrapMode};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// A texture that is made where it is requested: after the worlds before it, and before those after it.
#[derive(Clone, Debug)]
pub struct RequestedTexture {
    /// What is made, with the names of files as the request has them.
    pub make: MakeRequest,
    /// The name of the request.
    pub request: &'static str,
    /// The frame that it is requested in.
    pub frame: Option<i32>,
    /// The folders in which pictures are looked for that do not exist as they are named.
    pub folders: Vec<String>,
    /// Where it is requested.
    pub location: SourceLocation,
}

impl Reader<'_> {
    /// MakeTexture and MakeBump.
    pub(super) fn make_texture(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let (picture, texture) = (lexer.text()?, lexer.text()?);
        let wraps = [lexer.text()?, lexer.text()?];
        let mut make = request(MakeKind::Plain, &[&picture], &texture);
        make.wrap = wraps.map(|name| self.wrap_mode(&name));
        self.make_filtered(lexer, make)
    }

    pub(super) fn make_lat_long_environment(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let (picture, texture) = (lexer.text()?, lexer.text()?);
        self.make_filtered(lexer, request(MakeKind::LatLong, &[&picture], &texture))
    }

    pub(super) fn make_cube_face_environment(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let mut faces = Vec::new();
        while faces.len() < 6 {
            faces.push(lexer.text()?);
        }
        let texture = lexer.text()?;
        let fov = lexer.one_float()? as f32;
        let faces: Vec<&str> = faces.iter().map(|face| &**face).collect();
        let mut make = request(MakeKind::Cube, &faces, &texture);
        make.fov = Some(fov);
        if !(fov > 0.0 && fov < 180.0) {
            let message = format!("{fov} degrees is not between 0 and 180; 90 is used");
            self.report_here(RequestFault::error("range", self.current.offset, message));
            make.fov = Some(90.0);
        }
        self.make_filtered(lexer, make)
    }

    pub(super) fn make_shadow(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let (picture, texture) = (lexer.text()?, lexer.text()?);
        self.make(lexer, request(MakeKind::Shadow, &[&picture], &texture))
    }

    /// MakeOcclusion, as Aqsis has it.
    pub(super) fn make_occlusion(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let pictures = lexer.texts()?;
        let texture = lexer.text()?;
        let pictures: Vec<&str> = pictures.iter().map(|picture| &**picture).collect();
        self.make(lexer, request(MakeKind::Occlusion, &pictures, &texture))
    }

    pub(super) fn make_brick_map(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let (clouds, map) = (lexer.texts()?, lexer.text()?);
        let clouds: Vec<&str> = clouds.iter().map(|cloud| &**cloud).collect();
        self.make(lexer, request(MakeKind::BrickMap, &clouds, &map))
    }

    /// Takes what the parameters say of the points of a brick map.
    fn change_points(&self, make: &mut MakeRequest) {
        let number = |name| self.params.numbers(name, 1).map(|values| values[0]);
        make.ignore_normals = number("ignorenormals").is_some_and(|flag| flag != 0.0);
        match number("radiusscale") {
            Some(scale) if scale.is_finite() && scale >= 0.0 => make.radius_scale = scale,
            Some(scale) => {
                let message = format!("\"radiusscale\" is {scale}, which no radius is multiplied with; 1 is used");
                self.report_here(RequestFault::error("range", self.current.offset, message));
            }
            None => {}
        }
    }

    fn wrap_mode(&self, name: &str) -> WrapMode {
        WrapMode::named(name).unwrap_or_else(|| {
            let message = format!("unknown wrap mode \"{name}\"; \"black\" is used");
            let fault = RequestFault::error("badtoken", self.current.offset, message);
            self.report_here(fault.hint("known wrap modes are black, clamp, periodic and mirror"));
            WrapMode::Black
        })
    }

    /// Reads the filter with its widths, which are the last arguments, and the parameters.
    fn make_filtered(&mut self, lexer: &mut Lexer<'_>, mut make: MakeRequest) -> Parsed<()> {
        let name = lexer.text()?;
        let widths = lexer.finite::<2>()?.map(|width| width as f32);
        // PixelFilter's names stand for the nearest filter.
        let known = match &*name {
            "bessel" | "blackman-harris" => Some(MakeFilter::Sinc),
            "disk" => Some(MakeFilter::Box),
            "separable-catmull-rom" => Some(MakeFilter::CatmullRom),
            name => MakeFilter::named(name),
        };
        make.filter = known.unwrap_or_else(|| {
            let message = format!("unknown filter \"{name}\"; \"box\" is used");
            let known: Vec<_> = MakeFilter::names().collect();
            let fault = RequestFault::error("badtoken", self.current.offset, message);
            self.report_here(fault.hint(format!("known filters are {}", known.join(", "))));
            MakeFilter::Box
        });
        if widths.iter().all(|width| *width > 0.0) {
            make.filter_width = Some(widths);
        } else {
            let message = "the widths of the filter must be above 0; its usual widths are used";
            self.report_here(RequestFault::error("range", self.current.offset, message));
        }
        self.make(lexer, make)
    }

    /// Reads the parameters, and passes the request to the consumer.
    fn make(&mut self, lexer: &mut Lexer<'_>, mut make: MakeRequest) -> Parsed<()> {
        let known = tokens::group(self.current.name, "");
        self.read_params_in(lexer, known)?;
        let is_known = |name: &String| known.is_some_and(|group| group.tokens.iter().any(|token| token.name() == name));
        let names = self.params.iter().map(|param| param.declaration.name.to_string());
        for name in names.filter(|name| !is_known(name)).collect::<Vec<_>>() {
            let message = format!("unknown parameter \"{name}\"; it has no effect");
            self.warn_once(&format!("{} {name}", self.current.name), "badtoken", &message);
        }
        if make.kind == MakeKind::BrickMap {
            self.change_points(&mut make);
        }
        let (first, last) = (&self.settings.search_first, &self.settings.search_last);
        let texture = RequestedTexture {
            make,
            request: self.current.name,
            frame: self.options.frame,
            folders: search::with_others(&self.options.options.search, first, last).texture,
            location: self.current.location.clone(),
        };
        self.summary.textures += 1;
        if let ControlFlow::Break(()) = self.worlds.make(texture) {
            self.refused = true;
        }
        Ok(())
    }
}

fn request(kind: MakeKind, pictures: &[&str], texture: &str) -> MakeRequest {
    MakeRequest::new(kind, pictures.iter().map(PathBuf::from).collect(), texture.into())
}
