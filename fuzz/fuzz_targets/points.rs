//! Arbitrary bytes as a file of points: they are refused, or all numbers are finite and of one count.

#![no_main]

use anthill::points::decode;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(cloud) = decode(bytes, bytes.len() as u64) else { return };
    let count = cloud.positions.len();
    assert_eq!((cloud.normals.len(), cloud.radii.len()), (count, count));
    assert_eq!(cloud.values.len(), count * cloud.width());
    let floats = cloud.positions.as_flattened().iter().chain(cloud.normals.as_flattened()).chain(&cloud.radii);
    assert!(floats.chain(&cloud.values).all(|float| float.is_finite()));
});
