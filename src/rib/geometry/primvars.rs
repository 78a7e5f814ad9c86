//! Primitive variables: values counted by class (RISpec 5, table 5.1), positions from P, Pw or Pz.

use super::column::{Column, PrimvarValues};
use super::standard::adopt_type;
use crate::diagnostic::SourceLocation;
use crate::rib::stream::declare::Declaration;
use crate::rib::stream::fault::RequestFault;
use crate::rib::stream::params::{Param, ParamList, ParamSlice, check_count};
use crate::scene::{Class, ValueType};
use std::borrow::Cow;
use std::sync::Arc;

/// The number of values of each class on a primitive; constant always has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClassCounts {
    /// One for each face, patch or curve.
    pub(crate) uniform: u64,
    /// One for each parametric corner.
    pub(crate) varying: u64,
    /// One for each control vertex.
    pub(crate) vertex: u64,
    /// One for each corner of each face.
    pub(crate) face_varying: u64,
}

impl ClassCounts {
    /// Returns the number of values of a class.
    pub(super) fn of(&self, class: Class) -> u64 {
        match class {
            Class::Constant => 1,
            Class::Uniform => self.uniform,
            Class::Varying => self.varying,
            Class::Vertex => self.vertex,
            Class::FaceVarying => self.face_varying,
        }
    }
}

/// A primitive request with its parameters and a function that reports its faults.
pub(crate) struct PrimitiveCall<'c> {
    /// The request's name.
    pub(crate) name: &'static str,
    /// Its offset in the source.
    pub(crate) offset: usize,
    /// Its location.
    pub(crate) location: SourceLocation,
    /// Its parameter list.
    pub(crate) params: &'c ParamList,
    /// Reports a fault.
    pub(crate) report: &'c dyn Fn(RequestFault),
}

/// The largest number of variables of a primitive.
const COLUMNS_MAX: usize = 1024;

/// Converts the values of a class, given with the number of floats in each, to those that the shape's primitives have:
/// vertex values become Bezier values.
pub(super) type Gather<'g> = &'g dyn Fn(Class, &[f32], usize) -> Vec<f32>;

/// The control points of patches or curves.
pub(super) struct ControlPoints {
    /// Their positions, multiplied by the weights if there are any.
    pub(super) positions: Vec<[f32; 3]>,
    /// Their weights, the largest from 1 to 2; empty if all are the same.
    pub(super) weights: Vec<f32>,
}

impl ControlPoints {
    /// Values of `width` floats at the points, times the points' weights.
    pub(super) fn weighted(&self, values: &[f32], width: usize) -> Vec<f32> {
        let weights = self.weights.iter().flat_map(|weight| std::iter::repeat_n(weight, width));
        values.iter().zip(weights).map(|(value, weight)| value * weight).collect()
    }
}

/// The least weight of a control point, as a part of the largest.
pub(super) const WEIGHT_MIN: f64 = 1e-30;

impl PrimitiveCall<'_> {
    /// Reports that the primitive is left out because it cannot be read.
    pub(super) fn error(&self, code: &'static str, what: &str) {
        (self.report)(RequestFault::error(code, self.offset, format!("{} is left out: {what}", self.name)));
    }

    /// Notes that the primitive is left out because there is nothing to draw.
    pub(super) fn note(&self, code: &'static str, what: &str) {
        (self.report)(RequestFault::note(code, self.offset, format!("{} is left out: {what}", self.name)));
    }

    /// Notes that a part of the primitive is left out.
    pub(super) fn note_partial(&self, code: &'static str, what: &str) {
        (self.report)(RequestFault::note(code, self.offset, format!("{}: {what}", self.name)));
    }

    /// Warns that the primitive is not drawn exactly as it was written.
    pub(super) fn warning(&self, code: &'static str, what: &str) {
        (self.report)(RequestFault::warning(code, self.offset, format!("{}: {what}", self.name)));
    }

    /// Returns the positions: P, or Pw divided by its weights, or Pz over a grid of `height_grid` vertices. `count` is
    /// the number that is needed; without it all are returned. Returns `None`, with a message, if there are none or one
    /// is not finite.
    pub(super) fn positions(&self, count: Option<u64>, height_grid: Option<[usize; 2]>) -> Option<Vec<[f32; 3]>> {
        self.any_positions(count, height_grid).filter(|positions| self.check_finite(positions.as_flattened()))
    }

    /// Whether positions are finite; if not, it is said.
    fn check_finite(&self, values: &[f32]) -> bool {
        let finite = all(values, f32::is_finite);
        if !finite {
            self.note("math", "a position is not a finite number");
        }
        finite
    }

    /// Returns the positions as [`Self::positions`], finite or not.
    pub(super) fn any_positions(&self, count: Option<u64>, height_grid: Option<[usize; 2]>) -> Option<Vec<[f32; 3]>> {
        let given = ["P", "Pw", "Pz"].iter().find_map(|name| self.params.find(name));
        let Some(param) = given else {
            self.error("missingdata", "it has no positions (\"P\")");
            return None;
        };
        let Some(values) = numbers(self.params.values(param)) else {
            self.error("badargument", "its positions are not numbers");
            return None;
        };
        let Declaration { name, ty, array_len, .. } = &*param.declaration;
        let width = param.declaration.width() as usize;
        let is_position = if &**name == "Pz" { width == 1 && height_grid.is_some() } else { matches!(width, 3 | 4) };
        if !is_position {
            let ty = ty.described(*array_len);
            self.error("badtoken", &format!("\"{name}\" of the type {ty} cannot be its positions"));
            return None;
        }
        let values = match count {
            Some(count) => &values[..self.counted(param, values.len(), count)?],
            None => &values[..values.len() / width * width],
        };
        Some(match width {
            1 => heights(values, height_grid.unwrap_or_default()),
            3 => bytemuck::cast_slice::<f32, [f32; 3]>(values).to_vec(),
            _ => self.divided(values),
        })
    }

    fn counted(&self, param: &Param, found: usize, count: u64) -> Option<usize> {
        let wanted = count.saturating_mul(param.declaration.width());
        if found as u64 >= wanted {
            return check_count(param, found, count, &mut |fault| (self.report)(fault));
        }
        let name = &param.declaration.name;
        self.error("badarray", &format!("\"{name}\" has {found} numbers and needs {wanted}"));
        None
    }

    /// Converts homogeneous points to points.
    fn divided(&self, values: &[f32]) -> Vec<[f32; 3]> {
        let points = bytemuck::cast_slice::<f32, [f32; 4]>(values);
        if points.windows(2).any(|pair| pair[0][3] != pair[1][3]) {
            self.warning(
                "unimplement",
                "only patches and curves can be rational; the points are those of \"Pw\", not the weights",
            );
        }
        points.iter().map(|[x, y, z, w]| [x / w, y / w, z / w]).collect()
    }

    /// Returns the control points of patches: P, Pz over a grid of `height_grid` vertices, or Pw with its weights.
    /// Returns `None`, with a message, if there are none, one is not finite, or a weight is not positive.
    pub(super) fn control_points(&self, count: u64, height_grid: Option<[usize; 2]>) -> Option<ControlPoints> {
        if let Some((_, points)) = self.rational(count)
            && let Some(wrong) = points.weights.iter().find_map(|weight| weight_fault(*weight))
        {
            self.error("range", &format!("a weight in \"Pw\" {wrong}"));
            return None;
        }
        let points = self.any_control_points(count, height_grid)?;
        self.check_finite(points.positions.as_flattened()).then_some(points)
    }

    /// Returns the control points as [`Self::control_points`], with finite positions and positive weights or not.
    pub(super) fn any_control_points(&self, count: u64, height_grid: Option<[usize; 2]>) -> Option<ControlPoints> {
        match self.rational(count) {
            Some((param, points)) => {
                self.counted(param, self.params.values(param).len(), count)?;
                Some(points)
            }
            None => {
                let positions = self.any_positions(Some(count), height_grid)?;
                Some(ControlPoints { positions, weights: Vec::new() })
            }
        }
    }

    /// Returns the control points of Pw, if it gives them and their weights differ or are none.
    fn rational(&self, count: u64) -> Option<(&Param, ControlPoints)> {
        let param = self.params.find("Pw").filter(|_| self.params.find("P").is_none())?;
        let values = numbers(self.params.values(param)).filter(|_| param.declaration.width() == 4)?;
        let wanted = usize::try_from(count.saturating_mul(4)).unwrap_or(usize::MAX);
        let values = values.get(..wanted)?;
        let weights = || values.iter().skip(3).step_by(4).copied();
        let is_weight = |weight: &f32| weight.is_finite() && *weight > 0.0;
        if weights().all(|weight| weight == values[3] && is_weight(&weight)) {
            return None;
        }
        let largest = weights().filter(is_weight).fold(0.0, f32::max);
        // A power of two leaves every digit as it is.
        let scale = if largest > 0.0 { f64::from(largest).log2().floor().exp2().recip() } else { 1.0 };
        let scaled: Vec<f32> = values.iter().map(|&value| (f64::from(value) * scale) as f32).collect();
        let points = bytemuck::cast_slice::<f32, [f32; 4]>(&scaled);
        let positions = points.iter().map(|[x, y, z, _]| [*x, *y, *z]).collect();
        Some((param, ControlPoints { positions, weights: points.iter().map(|point| point[3]).collect() }))
    }

    /// Whether weights are still positive in the Bezier basis; if not, it is said.
    pub(super) fn check_weights(&self, weights: &[f32]) -> bool {
        let good = weights.iter().all(|weight| f64::from(*weight) >= WEIGHT_MIN);
        if !good {
            self.error("range", "its basis makes a weight of 0 or less of those in \"Pw\"");
        }
        good
    }

    /// Returns all variables that are not in `consumed`. `gather` converts values to those of the shape's primitives.
    pub(super) fn columns(&self, counts: &ClassCounts, consumed: &[&str], gather: Option<Gather<'_>>) -> Vec<Column> {
        self.columns_by(consumed, &|param| self.column(param, counts, gather))
    }

    /// Returns all variables that are not in `consumed`, as `column` makes them. Of those of one name the last counts.
    pub(super) fn columns_by(&self, consumed: &[&str], column: &dyn Fn(&Param) -> Vec<Column>) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::new();
        for param in self.params.iter() {
            let name = &*param.declaration.name;
            if matches!(name, "P" | "Pw" | "Pz") || consumed.contains(&name) {
                continue;
            }
            if columns.len() >= COLUMNS_MAX {
                self.warning("limitcheck", &format!("it has more than {COLUMNS_MAX} variables; the rest are ignored"));
                break;
            }
            for column in column(param) {
                match columns.iter_mut().find(|c| c.declaration.name == column.declaration.name) {
                    Some(earlier) => *earlier = column,
                    None => columns.push(column),
                }
            }
        }
        columns
    }

    /// Returns what a variable gives; nothing, with a message, if it cannot be used.
    pub(super) fn column(&self, param: &Param, counts: &ClassCounts, gather: Option<Gather<'_>>) -> Vec<Column> {
        let Some((mut declaration, spreads)) = self.declared(param) else { return Vec::new() };
        let values = self.params.values(param);
        let count = counts.of(declaration.class);
        let Some(used) = check_count(param, values.len(), count, &mut |fault| (self.report)(fault)) else {
            return Vec::new();
        };
        let floats = floats_of(values, used)
            .map(|floats| if spreads { floats.iter().flat_map(|&value| [value; 3]).collect() } else { floats });
        let width = declaration.width() as usize;
        let values = match (floats, gather) {
            (Some(floats), Some(gather)) => PrimvarValues::Floats(gather(declaration.class, &floats, width)),
            (Some(floats), None) => PrimvarValues::Floats(floats.into_owned()),
            (None, Some(_)) if declaration.class == Class::Vertex => {
                let message = format!("the strings \"{}\" cannot be interpolated", declaration.name);
                (self.report)(
                    RequestFault::error("badtoken", param.offset, message).hint("make them uniform or constant"),
                );
                return Vec::new();
            }
            (None, _) => PrimvarValues::Strings(texts_of(values, used)),
        };
        if let PrimvarValues::Strings(texts) = &values {
            self.warn_of_texts(param, texts);
        }
        // The facet normal is the normal of its face, and shaders need only one name.
        if &*declaration.name == "Np" {
            declaration.name = "N".into();
        }
        match values {
            PrimvarValues::Floats(values) if &*declaration.name == "st" => split_st(&declaration, &values),
            values => vec![Column { declaration, values }],
        }
    }

    /// Returns what a variable means, and whether each of its numbers is to be repeated three times for that. `None`,
    /// with a message, if it is a standard variable of a type that cannot be used.
    pub(super) fn declared(&self, param: &Param) -> Option<(Declaration, bool)> {
        let mut declaration = Declaration::clone(&param.declaration);
        if declaration.ty == ValueType::MPoint && self.name != "Blobby" {
            let message = format!("{}: only Blobby has variables of the type mpoint", self.name);
            (self.report)(RequestFault::error("badtoken", param.offset, message).hint("it is left out"));
            return None;
        }
        match adopt_type(&mut declaration) {
            Ok(spreads) => Some((declaration, spreads)),
            Err(why) => {
                let message = format!("{}: {why}", self.name);
                (self.report)(RequestFault::error("badtoken", param.offset, message).hint("it is left out"));
                None
            }
        }
    }

    /// Warns of texts that differ from the first.
    fn warn_of_texts(&self, param: &Param, texts: &[Arc<str>]) {
        if texts.windows(2).any(|pair| pair[0] != pair[1]) {
            let (name, first) = (&param.declaration.name, &texts[0]);
            let message = format!("{}: of the texts of \"{name}\" only the first, \"{first}\", is used", self.name);
            let fault = RequestFault::warning("unimplement", param.offset, message);
            (self.report)(fault.hint("write one request for each text"));
        }
    }

    /// Returns the widths of points or curves: `width` of any class, or `constantwidth`, or 1. `spread` expands the
    /// values of a class to every width that the shape stores. Some may be negative or not finite.
    pub(super) fn widths(&self, counts: &ClassCounts, spread: &dyn Fn(Class, &[f32]) -> Vec<f32>) -> Vec<f32> {
        let named = ["width", "constantwidth"].iter().find_map(|name| self.params.find(name));
        let given = named.filter(|param| self.declared(param).is_some()).and_then(|param| {
            let (class, values) = (param.declaration.class, self.params.values(param));
            let used = check_count(param, values.len(), counts.of(class), &mut |fault| (self.report)(fault))?;
            Some(spread(class, &floats_of(values, used)?))
        });
        given.unwrap_or_else(|| spread(Class::Constant, &[1.0]))
    }
}

/// Whether all values are good. Those of a chunk are looked at together, without a branch for each.
pub(super) fn all(values: &[f32], is_good: impl Fn(f32) -> bool) -> bool {
    values.chunks(256).all(|chunk| chunk.iter().fold(true, |good, &value| good & is_good(value)))
}

/// Whether something may be as wide as this.
pub(super) fn is_width(width: f32) -> bool {
    width.is_finite() & (width >= 0.0)
}

/// Returns what is wrong with a weight of [`ControlPoints`], if anything is.
pub(super) fn weight_fault(weight: f32) -> Option<&'static str> {
    if !weight.is_finite() {
        Some("is not a finite number")
    } else if weight <= 0.0 {
        Some("is not more than 0")
    } else {
        (f64::from(weight) < WEIGHT_MIN).then_some("is too small beside the others")
    }
}

/// Returns numbers, integers included; `None` for strings.
pub(super) fn numbers(values: ParamSlice<'_>) -> Option<Cow<'_, [f32]>> {
    match values {
        ParamSlice::Floats(values) => Some(values.into()),
        ParamSlice::Ints(values) => Some(values.iter().map(|&value| value as f32).collect()),
        ParamSlice::Strings(_) => None,
    }
}

/// Returns the first `used` numbers, integers included; `None` for strings.
fn floats_of(values: ParamSlice<'_>, used: usize) -> Option<Cow<'_, [f32]>> {
    Some(match numbers(values)? {
        Cow::Borrowed(values) => values[..used].into(),
        Cow::Owned(mut values) => {
            values.truncate(used);
            values.into()
        }
    })
}

/// Returns the first `used` strings; none of numbers.
fn texts_of(values: ParamSlice<'_>, used: usize) -> Vec<Arc<str>> {
    match values {
        ParamSlice::Strings(texts) => texts[..used].to_vec(),
        ParamSlice::Floats(_) | ParamSlice::Ints(_) => Vec::new(),
    }
}

/// Places heights over the unit square; u and v of the vertices are evenly spaced.
fn heights(values: &[f32], [nu, nv]: [usize; 2]) -> Vec<[f32; 3]> {
    let at = |index: usize, count: usize| index as f32 / (count.max(2) - 1) as f32;
    values.iter().enumerate().map(|(i, z)| [at(i % nu.max(1), nu), at(i / nu.max(1), nv), *z]).collect()
}

/// Splits `st` into s and t, which are interleaved.
fn split_st(declaration: &Declaration, values: &[f32]) -> Vec<Column> {
    let part = |name: &str, first: usize| Column {
        declaration: Declaration { name: name.into(), array_len: 1, ..declaration.clone() },
        values: PrimvarValues::Floats(values.iter().skip(first).step_by(2).copied().collect()),
    };
    vec![part("s", 0), part("t", 1)]
}
