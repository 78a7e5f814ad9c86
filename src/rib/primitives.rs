//! Primitive requests: their positional arguments; `geometry` does the rest.

use super::effect::RequestEffect;
use super::fault::{Parsed, RequestFault};
use super::geometry::{self, Batch, BlobArrays, Faces, MeshDirection, NurbsDirection, PrimitiveCall, QuadricSizes};
use super::geometry::{SubdivisionArgs, TagLists, TrimArrays};
use super::lexer::{Lexer, TokenKind};
use super::reader::Reader;
use super::state::AttributeChange;
use crate::texture::{self, DepthPicture};
use std::sync::Arc;

impl Reader<'_> {
    /// Reads the parameter list and makes primitives with `make`.
    fn primitive(
        &mut self,
        lexer: &mut Lexer<'_>,
        make: impl FnOnce(&PrimitiveCall<'_>) -> Option<Batch>,
    ) -> Parsed<()> {
        match self.made(lexer, make)? {
            Some(batch) => self.apply(RequestEffect::Primitive(Box::new(batch))),
            None => self.note_left_out(true),
        }
        Ok(())
    }

    /// Reads the parameter list and makes something of the request with `make`.
    fn made<T>(
        &mut self,
        lexer: &mut Lexer<'_>,
        make: impl FnOnce(&PrimitiveCall<'_>) -> Option<T>,
    ) -> Parsed<Option<T>> {
        self.read_params(lexer)?;
        let call = PrimitiveCall {
            name: self.current.name,
            offset: self.current.offset,
            location: self.current.location.clone(),
            params: &self.params,
            report: &|fault| self.messages.report(lexer, fault),
        };
        Ok(make(&call))
    }

    pub(super) fn sphere(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let sizes = QuadricSizes::Sphere(lexer.finite()?);
        self.primitive(lexer, |call| call.quadric(sizes))
    }

    pub(super) fn cone(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let sizes = QuadricSizes::Cone(lexer.finite()?);
        self.primitive(lexer, |call| call.quadric(sizes))
    }

    pub(super) fn cylinder(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let sizes = QuadricSizes::Cylinder(lexer.finite()?);
        self.primitive(lexer, |call| call.quadric(sizes))
    }

    pub(super) fn hyperboloid(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let sizes = QuadricSizes::Hyperboloid(lexer.finite()?);
        self.primitive(lexer, |call| call.quadric(sizes))
    }

    pub(super) fn paraboloid(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let sizes = QuadricSizes::Paraboloid(lexer.finite()?);
        self.primitive(lexer, |call| call.quadric(sizes))
    }

    pub(super) fn disk(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let sizes = QuadricSizes::Disk(lexer.finite()?);
        self.primitive(lexer, |call| call.quadric(sizes))
    }

    pub(super) fn torus(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let sizes = QuadricSizes::Torus(lexer.finite()?);
        self.primitive(lexer, |call| call.quadric(sizes))
    }

    /// Reads one of two words; returns whether it is `yes`.
    fn either(&mut self, lexer: &mut Lexer<'_>, yes: &str, no: &str) -> Parsed<bool> {
        lexer.peek();
        let start = lexer.position();
        let word = lexer.text()?;
        if *word == *yes || *word == *no {
            return Ok(*word == *yes);
        }
        let message = format!("{}: expected \"{yes}\" or \"{no}\", found \"{word}\"", self.current.name);
        Err(RequestFault::error("badargument", start, message))
    }

    pub(super) fn patch(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let cubic = self.either(lexer, "bicubic", "bilinear")?;
        let basis = self.state.basis;
        self.primitive(lexer, |call| call.patch(cubic, &basis))
    }

    pub(super) fn patch_mesh(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let cubic = self.either(lexer, "bicubic", "bilinear")?;
        let u = self.direction(lexer)?;
        let v = self.direction(lexer)?;
        let basis = self.state.basis;
        self.primitive(lexer, |call| call.patch_mesh(cubic, [u, v], &basis))
    }

    fn direction(&mut self, lexer: &mut Lexer<'_>) -> Parsed<MeshDirection> {
        let count = lexer.one_int()?;
        let periodic = self.either(lexer, "periodic", "nonperiodic")?;
        Ok(MeshDirection { count, periodic })
    }

    pub(super) fn nu_patch(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let u = nurbs_direction(lexer)?;
        let v = nurbs_direction(lexer)?;
        let trim = self.state.trim.clone();
        self.primitive(lexer, |call| call.nurbs([&u, &v], &trim))
    }

    pub(super) fn trim_curve(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let (curves, orders, knots) = (lexer.ints()?, lexer.ints()?, lexer.float_list()?);
        let [min, max] = [one_or_more(lexer)?, one_or_more(lexer)?];
        let counts = lexer.ints()?;
        let points = [lexer.float_list()?, lexer.float_list()?, lexer.float_list()?];
        let arrays = TrimArrays { curves, orders, knots, min, max, counts, points };
        match self.made(lexer, |call| call.trim_curves(&arrays))? {
            Some(curves) => {
                let curves = (!arrays.curves.is_empty()).then(|| Arc::new(curves));
                self.apply(RequestEffect::Change(AttributeChange::TrimCurves(curves)));
            }
            None => self.mark_inert(),
        }
        Ok(())
    }

    /// Reads the depths of a ground.
    fn ground(&self, name: &str) -> Result<DepthPicture, String> {
        let folders = &self.options.options.search.texture;
        let files = &self.settings.files;
        let path = texture::candidates(name, folders).find(|path| path.is_file());
        let path = path.ok_or_else(|| format!("there is no picture of depths \"{name}\""))?;
        files.check_inside(&path).map_err(|refused| refused.to_string())?;
        DepthPicture::read(&path).map_err(|error| error.to_string())
    }

    pub(super) fn blobby(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let (leaves, code, floats) = (lexer.one_int()?, lexer.ints()?, lexer.float_list()?);
        // Names of depth files and plug-ins; some files leave them out.
        let names = if lexer.peek() == TokenKind::Open { lexer.texts()? } else { Vec::new() };
        let needed = |i: usize| code.windows(2).any(|words| words[0] == 1003 && words[1] == i as i32);
        if (0..names.len()).any(needed) {
            // The world before may be the one that draws it.
            self.worlds.settle();
        }
        let grounds = names.iter().enumerate().map(|(i, name)| needed(i).then(|| self.ground(name))).collect();
        let world_from_object = *self.state.transform.first();
        let arrays = BlobArrays { leaves, code, floats, grounds, world_from_object };
        self.primitive(lexer, |call| call.blobby(&arrays))
    }

    pub(super) fn polygon(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        self.primitive(lexer, geometry::polygon)
    }

    pub(super) fn general_polygon(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let vertices = lexer.ints()?;
        let loops = i32::try_from(vertices.len()).unwrap_or(i32::MAX);
        self.primitive(lexer, |call| call.mesh(Faces { loops: Some(&[loops]), vertices: &vertices, indices: None }))
    }

    pub(super) fn points_polygons(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let (vertices, indices) = (lexer.ints()?, lexer.ints()?);
        self.primitive(lexer, |call| call.mesh(Faces { loops: None, vertices: &vertices, indices: Some(&indices) }))
    }

    pub(super) fn points_general_polygons(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let (loops, vertices, indices) = (lexer.ints()?, lexer.ints()?, lexer.ints()?);
        let faces = Faces { loops: Some(&loops), vertices: &vertices, indices: Some(&indices) };
        self.primitive(lexer, |call| call.mesh(faces))
    }

    pub(super) fn subdivision_mesh(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let scheme = lexer.text()?;
        let (sizes, vertices) = (lexer.ints()?, lexer.ints()?);
        let mut tags = TagLists::default();
        // Meshes without tags may leave out their lists; newer files have a fourth one, of strings.
        if lexer.peek() == TokenKind::Open {
            tags.names = lexer.texts()?;
            (tags.counts, tags.ints, tags.floats) = (lexer.ints()?, lexer.ints()?, lexer.float_list()?);
            if lexer.peek() == TokenKind::Open {
                lexer.texts()?;
            }
        }
        let args = SubdivisionArgs { scheme: &scheme, sizes: &sizes, vertices: &vertices, tags: &tags };
        self.primitive(lexer, |call| call.subdivision(args))
    }

    pub(super) fn curves(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let cubic = self.either(lexer, "cubic", "linear")?;
        let vertices = lexer.ints()?;
        let periodic = self.either(lexer, "periodic", "nonperiodic")?;
        let basis = self.state.basis[1];
        self.primitive(lexer, |call| call.curves(cubic, &vertices, periodic, &basis))
    }

    pub(super) fn points(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        self.primitive(lexer, geometry::points)
    }
}

/// Reads an array of numbers, or a single one.
fn one_or_more(lexer: &mut Lexer<'_>) -> Parsed<Vec<f32>> {
    match lexer.peek() {
        TokenKind::Number => Ok(vec![lexer.float32()?]),
        _ => lexer.float_list(),
    }
}

fn nurbs_direction(lexer: &mut Lexer<'_>) -> Parsed<NurbsDirection> {
    let (count, order, knots) = (lexer.one_int()?, lexer.one_int()?, lexer.float_list()?);
    let [[low], [high]] = [lexer.finite()?, lexer.finite()?];
    // Limits are floats of the interface, as knots are: what is written alike must be equal.
    let range = [low, high].map(|limit| f64::from(limit as f32));
    Ok(NurbsDirection { count, order, knots, range })
}
