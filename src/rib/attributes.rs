//! Requests that set attributes (RISpec 4.2), except shaders.

use super::basis;
use super::effect::RequestEffect;
use super::fault::{Parsed, RequestFault};
use super::lexer::{Lexer, TokenKind};
use super::params::{ParamSlice, check_count, rgb_of};
use super::reader::Reader;
use super::state::{AttributeChange, Orientation};
use crate::scene::{Basis, ParamValue, Projection, ShadingInterpolation};
use glam::{DMat4, DVec3};
use std::sync::Arc;

impl Reader<'_> {
    fn change(&mut self, change: AttributeChange) -> Parsed<()> {
        self.apply(RequestEffect::Change(change));
        Ok(())
    }

    fn bad_argument(&self, what: &str) -> RequestFault {
        RequestFault::error("badargument", self.current.offset, format!("{}: {what}; it is ignored", self.current.name))
    }

    pub(super) fn color(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let color = self.color_value(lexer)?;
        self.change(AttributeChange::Color(color))
    }

    pub(super) fn opacity(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let opacity = self.color_value(lexer)?;
        self.change(AttributeChange::Opacity(opacity))
    }

    fn color_value(&mut self, lexer: &mut Lexer<'_>) -> Parsed<[f32; 3]> {
        let rgb = Arc::clone(&self.options.rgb_from_samples);
        if !rgb.is_empty() {
            lexer.peek();
            let start = lexer.position();
            let samples = lexer.float_list()?;
            if samples.len() != rgb.len() || samples.iter().any(|sample| !sample.is_finite()) {
                let message = format!("expected {} finite samples, as ColorSamples says", rgb.len());
                return Err(RequestFault::error("badcolor", start, message));
            }
            return Ok(rgb_of(&samples, &rgb));
        }
        let values = lexer.finite::<3>().map_err(|mut fault| {
            if fault.code == "badarray" {
                fault.code = "badcolor";
            }
            fault
        })?;
        Ok(values.map(|value| value as f32))
    }

    pub(super) fn texture_coordinates(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let values = lexer.finite::<8>()?.map(|value| value as f32);
        self.change(AttributeChange::TextureCoordinates(std::array::from_fn(|i| [values[2 * i], values[2 * i + 1]])))
    }

    pub(super) fn shading_rate(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let [rate] = lexer.floats::<1>()?.map(|value| value as f32);
        if rate.is_nan() || rate < f32::MIN_POSITIVE {
            let message = format!("ShadingRate {rate} is not positive; the current rate is kept");
            // The request was read, so that in a motion block it is one of the keys.
            self.report_here(RequestFault::error("range", self.current.offset, message));
            let rate = self.state.attributes.shading_rate;
            return self.change(AttributeChange::ShadingRate(rate));
        }
        let rate = self.settings.overrides.shading_rate.unwrap_or(rate.min(1e30));
        self.change(AttributeChange::ShadingRate(rate))
    }

    pub(super) fn shading_interpolation(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let interpolation = match &*lexer.text()? {
            "constant" => ShadingInterpolation::Constant,
            "smooth" => ShadingInterpolation::Smooth,
            _ => return Err(self.bad_argument("expected \"constant\" or \"smooth\"")),
        };
        self.change(AttributeChange::Interpolation(interpolation))
    }

    pub(super) fn matte(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let matte = lexer.one_int()? != 0;
        self.change(AttributeChange::Matte(matte))
    }

    pub(super) fn sides(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        match lexer.one_int()? {
            sides @ (1 | 2) => self.change(AttributeChange::TwoSided(sides == 2)),
            _ => Err(RequestFault::error("range", self.current.offset, "Sides: expected 1 or 2; it is ignored")),
        }
    }

    pub(super) fn orientation(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let name = lexer.text()?;
        let orientation = Orientation::named(&name);
        let orientation =
            orientation.ok_or_else(|| self.bad_argument("expected \"outside\", \"inside\", \"lh\" or \"rh\""))?;
        self.change(AttributeChange::Orientation(orientation))
    }

    pub(super) fn reverse_orientation(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        self.change(AttributeChange::ReverseOrientation)
    }

    pub(super) fn basis(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let u = self.one_basis(lexer)?;
        let v = self.one_basis(lexer)?;
        self.change(AttributeChange::Basis([u, v]))
    }

    /// Reads a basis, by name or as a matrix, and its step.
    fn one_basis(&mut self, lexer: &mut Lexer<'_>) -> Parsed<Basis> {
        let basis = if lexer.peek() == TokenKind::String {
            let start = lexer.position();
            let name = lexer.text()?;
            basis::named(&name)
                .ok_or_else(|| RequestFault::error("badbasis", start, format!("there is no basis \"{name}\"")))?
        } else {
            let values = lexer.finite::<16>()?;
            let matrix = std::array::from_fn(|row| std::array::from_fn(|column| values[4 * row + column] as f32));
            Basis { matrix, step: 0 }
        };
        lexer.peek();
        let start = lexer.position();
        let step = lexer.one_int()?;
        match u32::try_from(step) {
            Ok(step) if step > 0 => Ok(Basis { step, ..basis }),
            _ => Err(RequestFault::error("badbasis", start, "the step of a basis must be positive")),
        }
    }

    /// Bounds are computed from the primitives themselves; the request is only checked.
    pub(super) fn bound(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        self.mark_inert();
        lexer.floats::<6>().map(drop)
    }

    pub(super) fn detail(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let bounds = lexer.finite::<6>()?;
        self.change(AttributeChange::DetailBox(bounds))
    }

    pub(super) fn detail_range(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let range @ [min, low, up, max] = lexer.floats::<4>()?;
        if !(min <= low && low <= up && up <= max) {
            return Err(RequestFault::error(
                "range",
                self.current.offset,
                "DetailRange: its values must not decrease; it is ignored",
            ));
        }
        self.change(AttributeChange::DetailRange(range))
    }

    /// Returns the size of a detail box as the area in pixels of its projection's bounding rectangle; infinite if the
    /// box crosses the eye plane.
    pub(super) fn detail_size(&self, bounds: &[f64; 6]) -> f64 {
        let Some(world) = &self.world else { return f64::INFINITY };
        let camera = &world.camera;
        let camera_from_object: DMat4 = *camera.camera_from_world.first() * *self.state.transform.first();
        let scale = match camera.projection {
            Projection::Orthographic => None,
            Projection::Perspective { fov_degrees } => Some((fov_degrees.to_radians() / 2.0).tan()),
        };
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for corner in 0..8 {
            let side = |axis: usize| bounds[2 * axis + (corner >> axis & 1)];
            let point = camera_from_object.project_point3(DVec3::new(side(0), side(1), side(2)));
            let depth = scale.map_or(1.0, |scale| point.z * scale);
            if depth <= 0.0 {
                return f64::INFINITY;
            }
            for (axis, value) in [point.x / depth, point.y / depth].into_iter().enumerate() {
                low[axis] = low[axis].min(value);
                high[axis] = high[axis].max(value);
            }
        }
        let [left, right, bottom, top] = camera.screen_window;
        let x_px = (high[0] - low[0]) / (right - left).abs() * f64::from(camera.resolution[0]);
        let y_px = (high[1] - low[1]) / (top - bottom).abs() * f64::from(camera.resolution[1]);
        x_px * y_px * f64::from(self.options.options.relative_detail)
    }

    pub(super) fn geometric_approximation(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let kind = lexer.text()?;
        let [value] = lexer.floats::<1>()?;
        if !matches!(
            &*kind,
            "flatness" | "motionfactor" | "focusfactor" | "deviation" | "normaldeviation" | "pointdeviation"
        ) {
            return Err(self.bad_argument(&format!("there is no approximation \"{kind}\"")));
        }
        self.warn_of_number(&kind, value);
        self.change(AttributeChange::Other(
            format!("GeometricApproximation:{kind}"),
            ParamValue::Floats(vec![value as f32]),
        ))
    }

    /// Requests of earlier versions that renderers ignore.
    pub(super) fn ignored(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        self.mark_inert();
        lexer.skip_to_request();
        Ok(())
    }

    /// Marks the open motion block's request as having no effect.
    pub(super) fn mark_inert(&mut self) {
        if let Some(block) = &mut self.moving {
            block.mark_inert();
        }
    }

    pub(super) fn attribute(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let category = lexer.text()?;
        if !self.read_category(lexer, "attribute", &category)? {
            return Ok(());
        }
        for change in self.attribute_changes(&category) {
            self.perform(RequestEffect::Change(change));
        }
        Ok(())
    }

    /// Returns the changes that the current parameters request.
    fn attribute_changes(&self, category: &str) -> Vec<AttributeChange> {
        let mut changes = Vec::new();
        for param in self.params.iter() {
            let values = self.params.values(param);
            let report = &mut |fault| self.report_here(fault);
            let Some(count) = check_count(param, values.len(), 1, report) else { continue };
            let name = &*param.declaration.name;
            match (category, name, values) {
                ("displacementbound", "sphere", ParamSlice::Floats(&[radius, ..])) => {
                    if radius.is_finite() && radius >= 0.0 {
                        changes.push(AttributeChange::DisplacementBound { radius: Some(radius), space: None });
                    } else {
                        let message =
                            format!("the displacement bound {radius} is negative or not finite; it is ignored");
                        self.report_here(RequestFault::error("range", param.offset, message));
                    }
                }
                ("displacementbound", "coordinatesystem", ParamSlice::Strings([space, ..])) => {
                    changes.push(AttributeChange::DisplacementBound { radius: None, space: Some(Arc::clone(space)) });
                }
                ("identifier", "name", ParamSlice::Strings([name, ..])) => {
                    changes.push(AttributeChange::Name(Arc::clone(name)));
                }
                ("shade", "relativeshadingrate", ParamSlice::Floats(&[rate, ..])) => {
                    if rate.is_finite() && rate > 0.0 {
                        changes.push(AttributeChange::RelativeShadingRate(rate));
                        changes
                            .push(AttributeChange::Other("shade:relativeshadingrate".into(), values.to_param(count)));
                    } else {
                        let message = format!("the relative shading rate {rate} is not positive; it is ignored");
                        self.report_here(RequestFault::error("range", param.offset, message));
                    }
                }
                ("visibility", "camera", ParamSlice::Ints(&[visible, ..])) => {
                    changes.push(AttributeChange::CameraVisibility(visible != 0));
                    changes.push(AttributeChange::Other("visibility:camera".into(), values.to_param(count)));
                }
                ("trimcurve", "sense", ParamSlice::Strings([sense, ..])) => {
                    if matches!(&**sense, "inside" | "outside") {
                        changes.push(AttributeChange::TrimSense(**sense == *"outside"));
                        changes.push(AttributeChange::Other("trimcurve:sense".into(), values.to_param(count)));
                    } else {
                        let message =
                            format!("\"sense\" must be \"inside\" or \"outside\", not \"{sense}\"; it is ignored");
                        self.report_here(RequestFault::error("badargument", param.offset, message));
                    }
                }
                _ => changes.push(AttributeChange::Other(format!("{category}:{name}"), values.to_param(count))),
            }
        }
        changes
    }
}
