//! The operations on one and two values, and comparisons.

use super::named::named_enum;

named_enum! {
    /// Operations on one value. `T` is `f32` or `vec3` (componentwise).
    Unary {
        /// `T -> T`, also mat4: the sign bit is flipped.
        Neg = "neg",
        /// `T -> T`: the sign bit is cleared.
        Abs = "abs",
        /// `T -> T`: -1, 0 or 1.
        Sign = "sign",
        /// `T -> T`: the largest integer that is not larger.
        Floor = "floor",
        /// `T -> T`: the smallest integer that is not smaller.
        Ceil = "ceil",
        /// `T -> T`: the nearest integer, halves away from zero.
        Round = "round",
        /// `T -> T`: the integer part, towards zero.
        Trunc = "trunc",
        /// `T -> T`: the root; 0 for negative arguments.
        Sqrt = "sqrt",
        /// `vec3 -> vec3`: the vector times 1 over its length; the zero vector stays as it is. Vectors whose square is
        /// below 1e-24 or above 1e24 are first scaled by 2^80 or 2^-80, which keeps all bits.
        Normalize = "normalize",
        /// `f32 -> f32`, radians; within 2 ulp, like all library functions below.
        Sin = "sin",
        /// `f32 -> f32`, radians.
        Cos = "cos",
        /// `f32 -> f32`, radians; finite everywhere.
        Tan = "tan",
        /// `f32 -> f32`; the argument is clamped to -1..1.
        Asin = "asin",
        /// `f32 -> f32`; the argument is clamped to -1..1.
        Acos = "acos",
        /// `f32 -> f32`
        Atan = "atan",
        /// `f32 -> f32`; overflow gives the largest float.
        Exp = "exp",
        /// `f32 -> f32`, base e; arguments below the smallest normal float count as that.
        Log = "log",
        /// `bool -> bool`
        Not = "not",
        /// `f32 -> vec3`: three times the same.
        Splat = "splat",
        /// `bool -> f32`: 1 or 0.
        FloatFromBool = "float_from_bool",
        /// `u32 -> f32`
        FloatFromU32 = "float_from_u32",
        /// `f32 -> u32`: towards zero, clamped to 0..2^31.
        U32FromFloat = "u32_from_float",
        /// `f32 -> u32`: the bits.
        Bits = "bits",
        /// `str -> u32`: the token.
        Token = "token",
        /// `mat4 -> mat4`: the inverse; the identity for singular matrices.
        Inverse = "inverse",
        /// `mat4 -> mat4`
        Transpose = "transpose",
        /// `mat4 -> f32`
        Determinant = "determinant",
    }
}

named_enum! {
    /// Operations on two values. `T` is `f32` or `vec3` (componentwise); both arguments have one type unless said
    /// otherwise.
    Binary {
        /// `T, T -> T`, also u32 (wraps) and mat4.
        Add = "add",
        /// `T, T -> T`, also u32 (wraps) and mat4.
        Sub = "sub",
        /// `T, T -> T`, also u32 (wraps), and mat4: the transform that does the first, then the second (`p * A * B`).
        Mul = "mul",
        /// `T, T -> T`: 0 where the divisor is 0.
        Div = "div",
        /// `T, T -> T`: `b < a ? b : a`.
        Min = "min",
        /// `T, T -> T`: `a < b ? b : a`.
        Max = "max",
        /// `T, T -> T`: `a - b * floor(a / b)`, 0 where b is 0.
        Mod = "mod",
        /// `f32, f32 -> f32`: the angle of the vector (second, first), that is `atan(y, x)`; 0 for (0, 0).
        Atan2 = "atan2",
        /// `f32, f32 -> f32`: `x^0 = 1`, `0^y = 0`; 0 for a negative base and a fractional exponent; overflow gives the
        /// largest float. Known exponents such as 2, -1 or 1/2 are products, quotients and roots
        /// ([`super::power_by_products`]).
        Pow = "pow",
        /// `vec3, vec3 -> f32`: `(x x' + y y') + z z'`.
        Dot = "dot",
        /// `vec3, vec3 -> vec3`: `(y z' - z y', z x' - x z', x y' - y x')`.
        Cross = "cross",
        /// `bool, bool -> bool`
        And = "and",
        /// `bool, bool -> bool`
        Or = "or",
        /// `u32, u32 -> u32`: bitwise.
        BitAnd = "bit_and",
        /// `u32, u32 -> u32`: a mixed hash of both (`rsl_hash` in the helper library).
        Hash = "hash",
        /// `mat4, vec3 -> vec3`: `(p, 1) * M`, divided by its fourth component (not divided where that is 0).
        XformPoint = "xform_point",
        /// `mat4, vec3 -> vec3`: `(v, 0) * M`.
        XformVector = "xform_vector",
        /// `mat4, vec3 -> vec3`: a normal, given the matrix of the **inverse** transform: `n * transpose(M)`, upper 3x3
        /// of M only. To bring a normal from space A to B, pass the matrix that brings points from B to A.
        XformNormal = "xform_normal",
    }
}

named_enum! {
    /// Comparisons; the result is a bool. Greater is less with the arguments exchanged.
    Compare {
        /// Any type: all components equal.
        Eq = "eq",
        /// Any type: some component differs.
        Ne = "ne",
        /// `f32` or `u32`
        Lt = "lt",
        /// `f32` or `u32`
        Le = "le",
    }
}
