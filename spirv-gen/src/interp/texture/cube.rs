//! Texels of a cube beyond the edges of its faces, which are folded there.

/// Returns the four texels beside a place in a face of n x n texels, with their shares.
pub(super) fn texels(face: u32, at: [f32; 2], n: i32) -> Vec<(f32, [u32; 2])> {
    let at = beside_face(at, n);
    let share = at.map(|x| x - x.floor());
    let found = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|corner: [i32; 2]| {
        let side = |i: usize| if corner[i] == 1 { share[i] } else { 1.0 - share[i] };
        (side(0) * side(1), texel(face, std::array::from_fn(|i| at[i].floor() as i32 + corner[i]), n))
    });
    // Three faces meet at a corner: the texel that there is not is the mean of the others.
    let lost = found.iter().find(|(_, texel)| texel.is_none()).map_or(0.0, |(share, _)| *share);
    let third = 0.333_333_34 * lost;
    found.into_iter().filter_map(|(share, texel)| Some((share + third, texel?))).collect()
}

/// Returns a place without places that are beyond a face in both directions: there is no face.
fn beside_face(at: [f32; 2], n: i32) -> [f32; 2] {
    let last = n as f32 - 1.0;
    let over = at.map(|x| (-0.5 - x).max(x - (last + 0.5)));
    let beyond_x = over[0] > 0.0 && over[0] >= over[1];
    let beyond_y = over[1] > 0.0 && !beyond_x;
    let clamped = at.map(|x| x.max(0.0).min(last));
    [if beyond_y { clamped[0] } else { at[0] }, if beyond_x { clamped[1] } else { at[1] }]
}

/// Returns the column and row of a texel among those of all faces; none beyond a corner. Places on the cube are counted
/// in half texels from its middle.
fn texel(face: u32, at: [i32; 2], n: i32) -> Option<[u32; 2]> {
    let beyond = at.map(|x| x < 0 || x >= n);
    let along = [0, 1].map(|i| match at[i] {
        x if x < 0 => -n,
        x if x >= n => n,
        x => 2 * x + 1 - n,
    });
    let depth = |x: i32| (if x < 0 { -1 - x } else { x - n }).min(n - 1);
    let out = match beyond {
        [true, true] => return None,
        [true, false] => n - 1 - 2 * depth(at[0]),
        [false, true] => n - 1 - 2 * depth(at[1]),
        [false, false] => n,
    };
    let [right, down] = along;
    let [x, y, z] = match face {
        0 => [out, -down, -right],
        1 => [-out, -down, right],
        2 => [right, out, down],
        3 => [right, -out, -down],
        4 => [right, -down, out],
        _ => [-right, -down, -out],
    };
    let (found, [right, down]) = match [x, y, z] {
        _ if x == n => (0, [-z, -y]),
        _ if x == -n => (1, [z, -y]),
        _ if y == n => (2, [x, z]),
        _ if y == -n => (3, [x, -z]),
        _ if z == n => (4, [x, -y]),
        _ => (5, [-x, -y]),
    };
    let inside = [right, down].map(|x| (x + n - 1) as u32 / 2);
    Some([inside[0] + (found % 3) * n as u32, inside[1] + (found / 3) * n as u32])
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns the middle of a texel on the cube, by the face's own axes (`glsl/lib/rsl/environment.glsl`).
    pub(in crate::interp::texture) fn direction([column, row]: [u32; 2], n: u32) -> [f32; 3] {
        let [u, v] = [column, row].map(|x| (2 * (x % n) + 1) as f32 / n as f32 - 1.0);
        match column / n + 3 * (row / n) {
            0 => [1.0, -v, -u],
            1 => [-1.0, -v, u],
            2 => [u, 1.0, v],
            3 => [u, -1.0, -v],
            4 => [u, -v, 1.0],
            _ => [-u, -v, -1.0],
        }
    }

    #[test]
    fn texels_beyond_an_edge_are_those_that_touch_it() {
        for (face, n) in (0..6).flat_map(|face| [1, 2, 8].map(|n| (face, n))) {
            let size = n as u32;
            for along in 0..n {
                for (inside, beyond) in [
                    ([0, along], [-1, along]),
                    ([n - 1, along], [n, along]),
                    ([along, 0], [along, -1]),
                    ([along, n - 1], [along, n]),
                ] {
                    let [a, b] = [inside, beyond].map(|at| direction(texel(face, at, n).expect("a texel"), size));
                    let distance = (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f32>().sqrt();
                    // Both are half a texel from the edge.
                    let expected = std::f32::consts::SQRT_2 / n as f32;
                    assert!((distance - expected).abs() < 1e-5, "{face} {inside:?} {beyond:?}: {a:?} {b:?}");
                }
            }
            assert_eq!([texel(face, [-1, -1], n), texel(face, [n, -1], n)], [None; 2]);
        }
    }

    #[test]
    fn shares_add_up_to_one() {
        for at in [[0.0, 0.0], [-0.5, -0.5], [-0.25, 3.25], [7.5, 7.5], [-3.0, 2.5], [-3.0, -2.0], [1.0, 90.0]] {
            let sum: f32 = texels(4, at, 8).into_iter().map(|(share, _)| share).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{at:?}: {sum}");
        }
    }
}
