//! Translucent layers.

use super::*;

#[test]
fn two_half_opaque_cards_give_three_quarters() {
    let large = DMat4::from_scale(DVec3::new(9.0, 9.0, 0.0));
    let card = |z: f64| thing(facets(1), placed(0.0, 0.0, z, 0.0) * large, [1.0; 3], 0.5);
    let drawn = draw(vec![card(5.0), card(4.0)], SIZE, &Setup::default());
    let wrong = drawn.pixels.iter().find(|p| (p[3] - 0.75).abs() > 1e-6);
    assert!(wrong.is_none(), "{wrong:?}");
}
