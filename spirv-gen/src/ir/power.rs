//! Powers of small whole and half exponents as products, quotients and roots.

use super::arithmetic::{Binary, Unary};
use super::op::Op;
use super::types::Const;

/// Returns `x^y` by arithmetic that `apply` does, for exponents for which that is within 2 ulp, like the function of
/// the helper library: 0, 1, 2, 3, 4, 1/2, 3/2, 5/2, -1, -2 and -1/2. (x^5 by products is off by up to 2.9 ulp, x^-3 by
/// 2.4.)
pub fn power_by_products<V: Clone>(x: &V, y: f32, apply: &mut dyn FnMut(Op, &[V]) -> V) -> Option<V> {
    let mut a = PowerSteps { apply };
    let (power, may_be_negative) = match 2.0 * y {
        -4.0 => {
            let inverse = a.inverse(x);
            (a.product(&inverse, &inverse), false)
        }
        -2.0 => (a.inverse(x), true),
        -1.0 => {
            let root = a.root(x);
            (a.inverse(&root), false)
        }
        0.0 => return Some(a.number(1.0)),
        1.0 => (a.root(x), false),
        2.0 => (x.clone(), true),
        3.0 => {
            let x = a.positive(x);
            let root = a.root(&x);
            (a.product(&x, &root), false)
        }
        4.0 => (a.product(x, x), false),
        5.0 => {
            let x = a.positive(x);
            let (square, root) = (a.product(&x, &x), a.root(&x));
            (a.product(&square, &root), false)
        }
        6.0 => {
            let square = a.product(x, x);
            (a.product(&square, x), true)
        }
        8.0 => {
            let square = a.product(x, x);
            (a.product(&square, &square), false)
        }
        _ => return None,
    };
    let (lowest, largest) = (a.number(f32::MIN), a.number(f32::MAX));
    let power = a.binary(Binary::Min, &power, &largest);
    Some(if may_be_negative { a.binary(Binary::Max, &power, &lowest) } else { power })
}

/// The steps of a power, on what stands for numbers.
struct PowerSteps<'a, V> {
    apply: &'a mut dyn FnMut(Op, &[V]) -> V,
}

impl<V: Clone> PowerSteps<'_, V> {
    fn number(&mut self, x: f32) -> V {
        (self.apply)(Op::Const(Const::F32(x)), &[])
    }

    fn binary(&mut self, op: Binary, a: &V, b: &V) -> V {
        (self.apply)(Op::Binary(op), &[a.clone(), b.clone()])
    }

    fn product(&mut self, a: &V, b: &V) -> V {
        self.binary(Binary::Mul, a, b)
    }

    /// 1 over a number, or 0 over 0.
    fn inverse(&mut self, x: &V) -> V {
        let one = self.number(1.0);
        self.binary(Binary::Div, &one, x)
    }

    /// The root; 0 of negative numbers.
    fn root(&mut self, x: &V) -> V {
        (self.apply)(Op::Unary(Unary::Sqrt), std::slice::from_ref(x))
    }

    /// A number, or 0 instead of a negative one.
    fn positive(&mut self, x: &V) -> V {
        let zero = self.number(0.0);
        self.binary(Binary::Max, x, &zero)
    }
}
