//! Primitive variables over primitives, by their storage class (RISpec 5, table 5.1), in double precision.

use super::limit;
use anthill::scene::{Class, Patches, Primvar, PrimvarData, Shape, ValueType};
use glam::{DMat3, DMat4, DVec3};

/// Weights of values by their number: which take part at (u, v) of a primitive.
fn weights(shape: &Shape, class: Class, primitive: usize, u: f64, v: f64) -> Vec<(usize, f64)> {
    let bilinear = |corners: [u32; 4]| {
        let weights = [(1.0 - u) * (1.0 - v), u * (1.0 - v), (1.0 - u) * v, u * v];
        corners.map(|corner| corner as usize).into_iter().zip(weights).collect()
    };
    match (class, shape) {
        (Class::Constant, _) => vec![(0, 1.0)],
        (Class::Uniform, Shape::Quadric(_) | Shape::Points(_) | Shape::Blobs(_)) => vec![(0, 1.0)],
        (Class::Uniform, Shape::Facets(facets)) => vec![(facets.face[primitive] as usize, 1.0)],
        (Class::Uniform, Shape::Patches(patches)) => vec![(patches.face[primitive] as usize, 1.0)],
        (Class::Uniform, Shape::Curves(curves)) => vec![(curves.face[primitive] as usize, 1.0)],
        (Class::Uniform, Shape::Limit(patches)) => vec![(patches.face[primitive] as usize, 1.0)],
        (Class::Vertex, Shape::Limit(patches)) => limit::weights(patches, primitive, [u, v]),
        (_, Shape::Limit(patches)) => bilinear(patches.corners(primitive)),
        (_, Shape::Points(_)) => vec![(primitive, 1.0)],
        (_, Shape::Quadric(_)) => bilinear([0, 1, 2, 3]),
        (_, Shape::Blobs(blobs)) => bilinear(blobs.corners[primitive]),
        (Class::FaceVarying, Shape::Facets(facets)) => bilinear(facets.face_corners[primitive]),
        (_, Shape::Facets(facets)) => bilinear(facets.corners[primitive]),
        (Class::Vertex, Shape::Patches(patches)) => rational(patches, primitive, u, v),
        (Class::FaceVarying, Shape::Patches(patches)) => bilinear(patches.face_corners[primitive]),
        (_, Shape::Patches(patches)) => bilinear(patches.corners[primitive]),
        (Class::Vertex, Shape::Curves(curves)) if curves.cubic => {
            bernstein(3, v).into_iter().enumerate().map(|(k, weight)| (4 * primitive + k, weight)).collect()
        }
        (_, Shape::Curves(curves)) => {
            let [start, end] = curves.ends[primitive].map(|end| end as usize);
            vec![(start, 1.0 - v), (end, v)]
        }
    }
}

/// Bernstein polynomials of degree n at t.
pub(crate) fn bernstein(n: usize, t: f64) -> Vec<f64> {
    let mut weights = vec![1.0];
    for _ in 0..n {
        weights = (0..=weights.len())
            .map(|i| {
                let low = if i > 0 { t * weights[i - 1] } else { 0.0 };
                low + weights.get(i).map_or(0.0, |weight| (1.0 - t) * weight)
            })
            .collect();
    }
    weights
}

/// Weights of the vertex values of a patch, which are multiplied by its own weights.
fn rational(patches: &Patches, primitive: usize, u: f64, v: f64) -> Vec<(usize, f64)> {
    let [nu, nv] = patches.degrees.map(|degree| degree as usize);
    let (along_u, along_v) = (bernstein(nu, u), bernstein(nv, v));
    let each = patches.control_count();
    let own = |k: usize| patches.weights.get(each * primitive + k).map_or(1.0, |&weight| f64::from(weight));
    let weights: Vec<f64> = (0..each).map(|k| along_u[k % (nu + 1)] * along_v[k / (nu + 1)]).collect();
    let sum: f64 = weights.iter().enumerate().map(|(k, weight)| weight * own(k)).sum();
    weights.into_iter().enumerate().map(|(k, weight)| (each * primitive + k, weight / sum)).collect()
}

/// The value of a primvar at (u, v), in camera space.
pub(crate) fn value(
    shape: &Shape,
    primvar: &Primvar,
    camera_from_object: DMat4,
    primitive: usize,
    [u, v]: [f64; 2],
) -> Vec<f64> {
    let PrimvarData::Floats(values) = &primvar.data else { panic!("strings do not vary") };
    let floats = primvar.ty.floats() * primvar.array_len as usize;
    let mut sum = vec![0.0; floats];
    for (index, weight) in weights(shape, primvar.class, primitive, u, v) {
        let value = &values[index * floats..(index + 1) * floats];
        sum.iter_mut().zip(value).for_each(|(sum, x)| *sum += weight * f64::from(*x));
    }
    let linear = DMat3::from_mat4(camera_from_object);
    for x in sum.chunks_exact_mut(3) {
        let p = DVec3::from_slice(x);
        let p = match primvar.ty {
            ValueType::Point => camera_from_object.transform_point3(p),
            ValueType::Vector => linear * p,
            ValueType::Normal => linear.inverse().transpose() * p,
            _ => break,
        };
        p.write_to_slice(x);
    }
    sum
}

#[test]
fn values_at_corners_are_those_of_the_corners() {
    let shape = crate::kernels::scene::facets(vec![[0.0; 3]; 6], vec![[2, 5, 1, 0], [3, 4, 5, 5]]);
    let primvar = |class| Primvar {
        name: "x".into(),
        class,
        ty: ValueType::Float,
        array_len: 1,
        data: PrimvarData::Floats((0..6).map(|i| i as f32 * 10.0).collect()),
    };
    let at = |class, uv| value(&shape, &primvar(class), DMat4::IDENTITY, 0, uv)[0];
    assert_eq!(
        [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]].map(|uv| at(Class::Varying, uv)),
        [20.0, 50.0, 10.0, 0.0]
    );
    assert_eq!((at(Class::Constant, [0.3, 0.3]), at(Class::Vertex, [0.5, 0.5])), (0.0, 20.0));
}
