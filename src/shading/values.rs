//! Values of parameters: converting values given in RIB and defaults of shaders to floats and tokens in camera space.

use super::tokens::Tokens;
use crate::scene::ParamValue;
use glam::{DMat4, DVec3};
use spirv_gen::ir::{Const, RslType};

/// The words of a value in a block: the bits of floats, or tokens.
pub(super) type ValueWords = Vec<u32>;

/// Returns the number of words of one element of a type.
pub(super) fn words_of(ty: RslType) -> usize {
    match ty {
        RslType::Float | RslType::String => 1,
        RslType::Color | RslType::Point | RslType::Vector | RslType::Normal => 3,
        RslType::Matrix => 16,
    }
}

/// Returns the words of a value given in RIB; points, vectors, normals and matrices are transformed by
/// `camera_from_space`. One number is each component of a colour.
pub(super) fn given(value: &ParamValue, ty: RslType, camera_from_space: &DMat4, tokens: &Tokens) -> ValueWords {
    match value {
        ParamValue::Strings(strings) => strings.iter().map(|text| tokens.token(text)).collect(),
        ParamValue::Floats(floats) => moved(floats, ty, camera_from_space),
        ParamValue::Ints(ints) => moved(&ints.iter().map(|&i| i as f32).collect::<Vec<_>>(), ty, camera_from_space),
    }
}

/// Returns the words of a default.
pub(super) fn default(values: &[Const], ty: RslType, camera_from_space: &DMat4, tokens: &Tokens) -> ValueWords {
    let floats = |value: &Const| -> Vec<f32> {
        match value {
            Const::F32(x) => vec![*x],
            Const::Vec3(x) => x.to_vec(),
            Const::Mat4(x) => x.to_vec(),
            Const::Bool(_) | Const::U32(_) | Const::Str(_) => Vec::new(),
        }
    };
    let words = values.iter().flat_map(|value| match value {
        Const::Str(text) => vec![tokens.token(text)],
        other => moved(&floats(other), ty, camera_from_space),
    });
    words.collect()
}

fn moved(floats: &[f32], ty: RslType, camera_from_space: &DMat4) -> ValueWords {
    let words = words_of(ty);
    if let (RslType::Color, [number]) = (ty, floats) {
        return vec![number.to_bits(); words];
    }
    let each = |value: &[f32]| -> Vec<f32> {
        let triple = || DVec3::new(f64::from(value[0]), f64::from(value[1]), f64::from(value[2]));
        match ty {
            RslType::Point => camera_from_space.project_point3(triple()).as_vec3().to_array().to_vec(),
            RslType::Vector => camera_from_space.transform_vector3(triple()).as_vec3().to_array().to_vec(),
            RslType::Normal => {
                let moved = camera_from_space.inverse().transpose() * triple().extend(0.0);
                moved.truncate().as_vec3().to_array().to_vec()
            }
            RslType::Matrix => {
                let given: [f64; 16] = std::array::from_fn(|i| f64::from(value[i]));
                let moved = *camera_from_space * DMat4::from_cols_array(&given);
                moved.to_cols_array().iter().map(|&x| x as f32).collect()
            }
            _ => value.to_vec(),
        }
    };
    floats.chunks_exact(words).flat_map(each).map(f32::to_bits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_transformed_by_type() {
        let tokens = Tokens::default();
        let m = DMat4::from_translation(DVec3::new(1.0, 2.0, 3.0)) * DMat4::from_scale(DVec3::splat(2.0));
        let words = |ty| {
            let value = ParamValue::Floats(vec![1.0, 0.0, 0.5]);
            given(&value, ty, &m, &tokens).into_iter().map(f32::from_bits).collect::<Vec<_>>()
        };
        assert_eq!(words(RslType::Point), [3.0, 2.0, 4.0]);
        assert_eq!(words(RslType::Vector), [2.0, 0.0, 1.0]);
        assert_eq!(words(RslType::Normal), [0.5, 0.0, 0.25]);
        assert_eq!(words(RslType::Color), [1.0, 0.0, 0.5]);
        assert_eq!(words(RslType::Float), [1.0, 0.0, 0.5]);
    }

    #[test]
    fn one_number_is_each_component_of_a_colour() {
        let words = given(&ParamValue::Ints(vec![2]), RslType::Color, &DMat4::IDENTITY, &Tokens::default());
        assert_eq!(words, [2.0_f32.to_bits(); 3]);
    }
}
