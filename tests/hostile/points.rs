//! Damaged files of points.

use super::mutate::{Random, mutated};
use super::mutation_count;
use anthill::points::{ChannelKind, PointChannel, PointCloud, decode};

const TEXT: &[u8] = b"ply\nformat ascii 1.0\ncomment channel normal n\nelement vertex 3\nproperty double x\nproperty uchar y\nproperty \
    int32 z\nproperty float n.x\nproperty float n.y\nproperty float n.z\nproperty float \"q\"\nend_header\n1 2 3 4 5 6 7\n-1.5 0 0 0 0 0 1\n\
    1e3 9 -9 0.5 0.25 -0 8\n";

fn binary() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ply");
    let channel = |name: &str, kind| PointChannel { name: name.into(), kind };
    let cloud = PointCloud {
        channels: vec![channel("a", ChannelKind::Float), channel("c", ChannelKind::Color)],
        positions: vec![[0.5; 3]; 20],
        normals: vec![[0.0, 1.0, 0.0]; 20],
        radii: vec![2.0; 20],
        values: vec![0.25; 80],
    };
    cloud.write(&path).expect("writable");
    std::fs::read(&path).expect("written")
}

#[test]
fn mutated_points_are_refused_or_whole() {
    let text = String::from_utf8_lossy(TEXT).replace('"', "");
    let (corpus, mut random) = (vec![binary(), text.into_bytes()], Random(2));
    let mut read = 0;
    for _ in 0..mutation_count() {
        let bytes = mutated(&corpus, &mut random);
        let Ok(cloud) = decode(&bytes[..], bytes.len() as u64) else { continue };
        read += 1;
        let count = cloud.positions.len();
        assert!(count <= bytes.len() && cloud.normals.len() == count && cloud.radii.len() == count);
        assert_eq!(cloud.values.len(), count * cloud.width());
        assert!(cloud.values.iter().chain(cloud.positions.as_flattened()).all(|float| float.is_finite()));
    }
    assert!(read > 10, "some mutations leave points, {read}");
}
