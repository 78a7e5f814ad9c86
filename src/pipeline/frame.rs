//! The record that every stage reads: camera, sampling pattern and limits of one picture.

use super::kernels::constants::{
    DEPTH_MAX, FIXED, FRAME_JITTER, FRAME_LENS, FRAME_PAINT, FRAME_PERSPECTIVE, FRAME_RAMPS,
};
use super::kernels::records::Frame;
use super::lens::Lens;
use crate::scene::{Camera, Filter, Options, Projection};
use glam::DMat4;

/// Parts of a pixel in which raster coordinates are integers.
pub const PIXEL_PARTS: f64 = FIXED as f64;

/// Micropolygons are never diced to more than this many samples: one invocation visits them all, and none may make more
/// than 32,768 loop trips (docs/pipeline/loops.md).
const SAMPLES_OF_A_MICROPOLYGON_MAX: f32 = 8192.0;

/// How far beyond a pixel's own rectangle its filter reaches, in whole pixels: ceil(width / 2 - 1 / 2).
pub fn filter_apron(filter: &Filter) -> [u32; 2] {
    filter.width.map(|width| (width / 2.0 - 0.5).ceil().max(0.0) as u32)
}

/// The pixels that are sampled for a half-open rectangle of pixels, which may be empty: the rectangle and the filter's
/// apron, as signed coordinates.
pub(super) fn sampled_px([x0, y0, x1, y1]: [i32; 4], filter: &Filter) -> [i32; 4] {
    let [ax, ay] = filter_apron(filter).map(u32::cast_signed);
    [x0 - ax, y0 - ay, x1 + ax, y1 + ay]
}

/// Samples of all pixels that a picture samples, its filters' aprons included.
pub fn sample_count(frame: &Frame) -> u64 {
    let [x0, y0, x1, y1] = frame.sampled_px.map(i64::from);
    ((x1 - x0) * (y1 - y0)).cast_unsigned() * u64::from(frame.samples[0] * frame.samples[1])
}

/// The least shading rate that primitives are diced at: a thousand micropolygons in each pixel, more than samples can
/// show.
pub const DICE_RATE_MIN: f32 = 0.001;

/// The shading rate that primitives are diced at: the wanted one, unless micropolygons would be too small to matter, or
/// hold more samples than an invocation may visit.
pub fn dice_rate(shading_rate: f32, pixel_samples: [u32; 2]) -> f32 {
    let samples = (pixel_samples[0] * pixel_samples[1]) as f32;
    shading_rate.max(DICE_RATE_MIN).min(SAMPLES_OF_A_MICROPOLYGON_MAX / samples)
}

/// Pixels per unit of x/z (perspective) or x (orthographic), and the raster position of the optical axis, in pixels.
fn raster_map(camera: &Camera) -> ([f64; 2], [f64; 2]) {
    let [left, right, bottom, top] = camera.screen_window;
    let [width, height] = camera.resolution.map(f64::from);
    let per_screen = [width / (right - left), height / (top - bottom)];
    let zoom = match camera.projection {
        Projection::Perspective { fov_degrees } => 1.0 / (fov_degrees.to_radians() * 0.5).tan(),
        Projection::Orthographic => 1.0,
    };
    ([zoom * per_screen[0], -zoom * per_screen[1]], [-left * per_screen[0], top * per_screen[1]])
}

/// The nearest plane that raster depth is measured from; nearer ones would leave farther points without precision.
const RASTER_NEAR_MIN: f64 = 1e-4;
/// Yon planes beyond this are at infinity.
const RASTER_FAR_MAX: f64 = 1e30;

/// Raster space (pixels, y down) from camera space, as a matrix for shaders: perspective divides by its w. z is 0 at
/// the hither plane (at z = 1 where that plane is too near) and 1 at yon in perspective; otherwise it is the camera's
/// z. So the matrix has an inverse.
pub fn raster_from_camera(camera: &Camera) -> DMat4 {
    let (scale, offset) = raster_map(camera);
    let perspective = matches!(camera.projection, Projection::Perspective { .. });
    let mut matrix = DMat4::from_cols_array(&[0.0; 16]);
    matrix.x_axis.x = scale[0];
    matrix.y_axis.y = scale[1];
    if perspective {
        let [near, far] = camera.clip.map(f64::from);
        let near = if near < RASTER_NEAR_MIN { 1.0 } else { near };
        let slope = if far > RASTER_FAR_MAX || far <= near { 1.0 } else { far / (far - near) };
        matrix.z_axis.z = slope;
        matrix.w_axis.z = -near * slope;
        matrix.z_axis.x = offset[0];
        matrix.z_axis.y = offset[1];
        matrix.z_axis.w = 1.0;
    } else {
        matrix.z_axis.z = 1.0;
        matrix.w_axis.x = offset[0];
        matrix.w_axis.y = offset[1];
        matrix.w_axis.w = 1.0;
    }
    matrix
}

/// The camera's clipping planes as samples are compared with them (glsl/lib/sampling/clip.glsl).
pub fn clip_planes(camera: &Camera) -> Vec<[f32; 4]> {
    let (scale, offset) = raster_map(camera);
    let perspective = matches!(camera.projection, Projection::Perspective { .. });
    let plane = |(point, normal): &([f32; 3], [f32; 3])| {
        let [x, y, z] = normal.map(f64::from);
        let distance = x * f64::from(point[0]) + y * f64::from(point[1]) + z * f64::from(point[2]);
        let (a, b) = (x / scale[0], y / scale[1]);
        let axis = a * offset[0] + b * offset[1];
        let [c, d] = if perspective { [z - axis, -distance] } else { [z, -axis - distance] };
        [a / PIXEL_PARTS, b / PIXEL_PARTS, c, d].map(|value| value as f32)
    };
    camera.clip_planes.iter().map(plane).collect()
}

/// How far in pixels a point at infinity is displaced, seen from the rim of the lens, and by how much less one at
/// depth 1 (RISpec 4.1.1 DepthOfField): the lens has the radius R = length / (2 stop), and seen from the point l R of
/// it, what is at depth z is displaced by l R (1 / distance - 1 / z) of x / z. `None` where there is no lens.
fn lens_shift(camera: &Camera) -> Option<[[f64; 2]; 2]> {
    let [stop, length, distance] = camera.depth_of_field.map(|values| values.map(f64::from))?;
    let (scale, _) = raster_map(camera);
    let radius = 0.5 * length / stop;
    has_lens(camera).then(|| [scale.map(|s| s * radius / distance), scale.map(|s| s * radius)])
}

/// Whether anything may be out of focus: parallel projections have no lens.
pub fn has_lens(camera: &Camera) -> bool {
    camera.depth_of_field.is_some() && matches!(camera.projection, Projection::Perspective { .. })
}

/// How the parts of the shutter go through a row of `n` subpixels where there is a lens, so that those that follow each
/// other are far apart (glsl/lib/sampling/blur.glsl): the step that is nearest to a golden section, prime to n, and its
/// inverse modulo n; 0 where there is none.
pub fn spread(n: u32) -> [u32; 2] {
    let golden = f64::from(n) * 0.381_966;
    let inverse = |step: u32| (1..n).find(|other| step * other % n == 1);
    let good = (2..n / 2 + 1).filter_map(|step| Some([step, inverse(step)?]));
    let off = |step: u32| (f64::from(step) - golden).abs();
    good.min_by(|a, b| off(a[0]).total_cmp(&off(b[0]))).unwrap_or_default()
}

/// What a column of subpixels adds to the part of the shutter of its samples (glsl/lib/sampling/blur.glsl), and its
/// inverse modulo the columns of a pixel: the lattice of samples in the picture and in time whose nearest neighbours
/// are farthest from each other, for motion by half a pixel to 8 pixels.
pub fn time_lattice(samples: [u32; 2]) -> [u32; 2] {
    let [nx, ny] = samples.map(i64::from);
    let count = nx * ny;
    let merit = |a: i64| nearest(a, [nx, ny]).iter().map(|&square| square as f64).product::<f64>();
    let prime = |a: &i64| (0..nx).find(|inverse| a * inverse % nx == 1 % nx).map(|inverse| [*a, inverse]);
    // Of very many, these are as good.
    let some = (1..=count / 2).step_by((count / 2048).max(1) as usize);
    let good = some.filter_map(|a| prime(&a)).map(|both| (merit(both[0]), both));
    let best = good.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, both)| both);
    best.unwrap_or([1, 0]).map(|value| value as u32)
}

/// The squares of the least distances of two samples of a lattice, in 1/2N pixel, where all of the time is as far as
/// 1/2, 1, 2, 4 or 8 pixels. A lattice has a neighbour within the distance that is searched (Minkowski).
fn nearest(a: i64, [nx, ny]: [i64; 2]) -> [i64; 5] {
    let count = nx * ny;
    let reach = [nx, ny].map(|n| (1..).find(|r| r * r * r * count >= 16 * n * n * n).unwrap_or(n));
    let mut nearest = [i64::MAX; 5];
    let rows = |x: i64| (-reach[1]..=reach[1]).map(move |y| (x, y));
    for (x, y) in (0..=reach[0]).flat_map(rows).filter(|place| *place != (0, 0)) {
        let part = (a * x + nx * y).rem_euclid(count);
        let (time, apart) = (part.min(count - part), 4 * ((x * ny) * (x * ny) + (y * nx) * (y * nx)));
        for (speed, nearest) in nearest.iter_mut().enumerate() {
            *nearest = (*nearest).min(apart + (time << speed) * (time << speed));
        }
    }
    nearest
}

/// How the shutter opens and closes, as the frame record has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShutterRamps {
    /// The parts of its time in which it opens and closes.
    pub times: [f32; 2],
    /// The parts of the light that comes in meanwhile.
    pub parts: [f32; 2],
    /// Their inverses, 0 for parts that are 0.
    pub inverse: [f32; 2],
    /// The time in which all of the light would come in through the open shutter.
    pub open_time: f32,
}

/// Returns the ramps of a shutter that opens from 0 to `a`, is fully open to `b` and closes by 1.
pub fn shutter_ramps([a, b]: [f32; 2]) -> ShutterRamps {
    let times = [f64::from(a), 1.0 - f64::from(b)];
    // The area below the trapezoid.
    let open_time = 1.0 - 0.5 * (times[0] + times[1]);
    let parts = times.map(|time| 0.5 * time / open_time);
    ShutterRamps {
        times: times.map(|time| time as f32),
        parts: parts.map(|part| part as f32),
        inverse: parts.map(|part| if part > 0.0 { (1.0 / part) as f32 } else { 0.0 }),
        open_time: open_time as f32,
    }
}

/// The frame record.
pub fn frame_record(camera: &Camera, options: &Options) -> Frame {
    let (scale, offset) = raster_map(camera);
    let perspective = matches!(camera.projection, Projection::Perspective { .. });
    let fixed = |v: f64| (v * PIXEL_PARTS) as f32;
    let near = camera.clip[0].max(0.0);
    let [lens_far, lens_near] = lens_shift(camera).unwrap_or_default();
    let ramps = shutter_ramps(options.shutter_opening);
    let lens = Lens::new(&options.hider.aperture);
    let [lens_density, lens_density_scale] = lens.density();
    let flags = [
        (perspective, FRAME_PERSPECTIVE),
        (options.hider.jitter, FRAME_JITTER),
        (has_lens(camera), FRAME_LENS),
        (ramps.times != [0.0; 2], FRAME_RAMPS),
        (options.hider.paints(), FRAME_PAINT),
    ];
    let sample_step = options.pixel_samples.map(|n| (FIXED.cast_unsigned() << 16) / n);
    Frame {
        raster_scale: scale.map(fixed),
        raster_offset: offset.map(fixed),
        near,
        far: camera.clip[1],
        // Anything in front of the eye may be projected, however near, as long as the quotient stays finite.
        eye_z: if perspective { (near * 0.25).max(1e-6) } else { -DEPTH_MAX },
        flags: flags.into_iter().filter(|(on, _)| *on).map(|(_, flag)| flag).sum(),
        sampled_px: sampled_px(camera.crop_px(), &options.widest_filter()),
        picture_px: sampled_px(camera.whole_px(), &options.widest_filter()),
        samples: options.pixel_samples,
        sample_step,
        time_lattice: time_lattice(options.pixel_samples),
        nth_step: (1 << 22) / (options.pixel_samples[0] * options.pixel_samples[1]),
        eye_splits: options.eye_splits,
        stratum: 1.0 / (options.pixel_samples[0] * options.pixel_samples[1]) as f32,
        opacity_threshold: options.opacity_threshold.into_iter().fold(f32::INFINITY, f32::min),
        z_threshold: options.z_threshold.into_iter().fold(f32::INFINITY, f32::min),
        lens_far: lens_far.map(fixed),
        lens_near: lens_near.map(fixed),
        spread: spread(options.pixel_samples[0]),
        ramps: ramps.times,
        ramp_parts: ramps.parts,
        ramp_inverse: ramps.inverse,
        open_time: ramps.open_time,
        lens_wedges: lens.wedges(),
        lens_density,
        lens_density_scale,
        least_width: (f64::from(options.least_width_px()) / scale[0].abs().max(scale[1].abs())) as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{FORMAT_WINDOW, FilterKind, Motion};
    use glam::DVec4;

    fn camera(projection: Projection) -> Camera {
        Camera {
            camera_from_world: Motion::still(DMat4::IDENTITY),
            projection,
            resolution: [400, 200],
            pixel_aspect: 1.0,
            screen_window: [-2.0, 2.0, -1.0, 1.0],
            crop_window: FORMAT_WINDOW,
            whole_window: FORMAT_WINDOW,
            clip: [0.1, 1000.0],
            clip_planes: Vec::new(),
            depth_of_field: None,
            shutter: [0.0, 0.0],
        }
    }

    #[test]
    fn a_point_at_half_the_field_of_view_lies_on_the_border() {
        // 90 degrees over the smaller side: y/z = 1 is the top row's upper edge; x/z = 2 the right edge.
        let matrix = raster_from_camera(&camera(Projection::Perspective { fov_degrees: 90.0 }));
        let p = matrix * DVec4::new(6.0, 3.0, 3.0, 1.0);
        assert!((p.x / p.w - 400.0).abs() < 1e-9 && (p.y / p.w).abs() < 1e-9, "{p}");
        let back = matrix.inverse() * p;
        assert!((back.x / back.w - 6.0).abs() < 1e-9 && (back.z / back.w - 3.0).abs() < 1e-9, "{back}");
        let depth = |z: f64| {
            let p = matrix * DVec4::new(0.0, 0.0, z, 1.0);
            p.z / p.w
        };
        assert!(depth(0.1_f32.into()).abs() < 1e-9 && (depth(1000.0) - 1.0).abs() < 1e-9);
        let q = raster_from_camera(&camera(Projection::Orthographic)) * DVec4::new(0.0, -1.0, 3.0, 1.0);
        assert_eq!((q.x, q.y, q.w), (200.0, 200.0, 1.0));
    }

    #[test]
    fn clip_planes_are_negative_on_the_side_that_stays() {
        for projection in [Projection::Perspective { fov_degrees: 50.0 }, Projection::Orthographic] {
            let mut camera = camera(projection);
            let (point, normal) = (DVec4::new(0.5, -0.25, 3.0, 1.0), DVec4::new(0.25, 1.0, -0.5, 0.0));
            let [x, y, z, _] = point.as_vec4().to_array();
            let [nx, ny, nz, _] = normal.as_vec4().to_array();
            camera.clip_planes = vec![([x, y, z], [nx, ny, nz])];
            let [a, b, c, d] = clip_planes(&camera)[0].map(f64::from);
            for p in [DVec4::new(1.0, 1.0, 2.0, 1.0), DVec4::new(0.0, -2.0, 4.0, 1.0), point] {
                let raster = raster_from_camera(&camera) * p;
                let across = (a * raster.x + b * raster.y) / raster.w * PIXEL_PARTS;
                let perspective = matches!(projection, Projection::Perspective { .. });
                let f = if perspective { p.z * (across + c) + d } else { across + c * p.z + d };
                assert!((f - normal.dot(p - point)).abs() < 1e-4, "{f} at {p}");
            }
        }
    }

    #[test]
    fn samples_are_far_apart_in_the_picture_and_in_time() {
        for samples in [[1, 1], [2, 2], [3, 3], [4, 4], [3, 5], [6, 6], [1, 7], [16, 16], [256, 256]] {
            let [a, inverse] = time_lattice(samples);
            assert_eq!(a * inverse % samples[0], 1 % samples[0], "{samples:?}");
        }
        // For motion by 2 pixels, in squares of 1/32 pixel: no two are nearer than half a pixel.
        assert_eq!(time_lattice([4, 4])[0], 7);
        assert_eq!([1, 3, 5, 7].map(|a| nearest(a, [4, 4])[2]), [80, 144, 144, 272]);
    }

    #[test]
    fn steps_and_their_inverses_lead_there_and_back() {
        for n in 1..=256 {
            let [step, inverse] = spread(n);
            assert!(step == 0 || (0..n).all(|i| i * step % n * inverse % n == i), "{n}: {step} {inverse}");
        }
        assert_eq!([1, 2, 4, 6, 16].map(|n| spread(n)[0]), [0, 0, 0, 0, 7]);
    }

    #[test]
    fn aprons_are_what_a_filter_reaches_from_any_sample_of_a_pixel() {
        let filter = |w: f32| Filter { kind: FilterKind::Box, width: [w, w] };
        let aprons: Vec<u32> = [0.5, 1.0, 2.0, 3.0, 3.5, 4.0].map(|w| filter_apron(&filter(w))[0]).to_vec();
        assert_eq!(aprons, [0, 0, 1, 1, 2, 2]);
        assert_eq!(sampled_px([0, 0, 4, 4], &filter(2.0)), [-1, -1, 5, 5]);
    }
}
