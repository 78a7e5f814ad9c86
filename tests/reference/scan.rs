//! Exclusive prefix sums, one value after the other.

/// The sum of all values before each, every value taken `& mask`; and the sum of all.
pub(crate) fn exclusive(values: &[u32], mask: u32) -> (Vec<u32>, u32) {
    let mut sum = 0_u32;
    let mut before = Vec::new();
    for value in values {
        before.push(sum);
        sum = sum.wrapping_add(value & mask);
    }
    (before, sum)
}

#[test]
fn a_prefix_sum_is_what_stands_before() {
    assert_eq!(exclusive(&[3, 0, 5, 1], u32::MAX), (vec![0, 3, 3, 8], 9));
    assert_eq!(exclusive(&[7, 6, 5], 3), (vec![0, 3, 5], 6));
}
