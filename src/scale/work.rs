//! What a study draws: scenes, at several sizes, and whether the picture grows with the number of devices.

use crate::scene::RESOLUTION_MAX;
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::{Path, PathBuf};

/// How the work depends on the number of devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// All draw the same picture: its time should be divided by the number of devices (Amdahl).
    #[default]
    Strong,
    /// N devices draw a picture of N times the pixels: its time should stay the same (Gustafson).
    Weak,
}

/// A scene at a size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StudyWork {
    /// The scene, as typed.
    #[serde(serialize_with = "as_shown")]
    pub scene: PathBuf,
    /// Width and height in pixels on one device; `None` for what the scene or other flags say.
    pub size_px: Option<[u32; 2]>,
    /// How the work depends on the number of devices.
    pub scaling: Scaling,
}

/// Writes a path as people see it: it may be no Unicode.
fn as_shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// Why a study has no list of works.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// A scene or a size is given twice.
    #[error("{0} is given twice: use --repeat to run each several times")]
    Twice(String),
    /// Weak scaling needs a size to begin with.
    #[error("--scaling {0} needs the size of the picture on one device: give it with --sizes, as in --sizes 640x480")]
    NoSize(&'static str),
    /// A picture for many devices would be too large.
    #[error(
        "{0}: {1} devices would draw {2} x {3} pixels, and no side may exceed {max}: begin with a smaller size", max = RESOLUTION_MAX)]
    TooLarge(String, usize, u32, u32),
}

impl StudyWork {
    /// Returns all scenes at all sizes, each with all kinds of scaling; the largest configuration has `devices_max`
    /// devices.
    ///
    /// # Errors
    /// See [`WorkError`].
    pub fn list(
        scenes: &[PathBuf],
        sizes: &[[u32; 2]],
        scalings: &[Scaling],
        devices_max: usize,
    ) -> Result<Vec<Self>, WorkError> {
        let twice = first_twice(scenes).map(|scene| scene.display().to_string());
        let twice = twice.or_else(|| first_twice(sizes).map(|[width, height]| format!("the size {width}x{height}")));
        if let Some(what) = twice {
            return Err(WorkError::Twice(what));
        }
        if sizes.is_empty() && scalings.contains(&Scaling::Weak) {
            return Err(WorkError::NoSize(if scalings.len() > 1 { "both" } else { "weak" }));
        }
        let sizes: Vec<Option<[u32; 2]>> =
            if sizes.is_empty() { vec![None] } else { sizes.iter().copied().map(Some).collect() };
        let mut works = Vec::new();
        for scene in scenes {
            for &size_px in &sizes {
                works.extend(scalings.iter().map(|&scaling| Self { scene: scene.clone(), size_px, scaling }));
            }
        }
        for work in &works {
            if let Some([width, height]) =
                work.size_for(devices_max).filter(|size| size.iter().max() > Some(&RESOLUTION_MAX))
            {
                return Err(WorkError::TooLarge(work.to_string(), devices_max, width, height));
            }
        }
        Ok(works)
    }

    /// Returns the width and height in pixels for a number of devices.
    pub fn size_for(&self, devices: usize) -> Option<[u32; 2]> {
        let [width, height] = self.size_px?;
        if self.scaling == Scaling::Strong || devices <= 1 {
            return Some([width, height]);
        }
        let pixels = f64::from(width) * f64::from(height) * devices as f64;
        let wide = (f64::from(width) * (devices as f64).sqrt()).round().max(1.0);
        Some([wide as u32, (pixels / wide).round().max(1.0) as u32])
    }

    /// Returns the pixels of a picture for a number of devices, in multiples of that for one.
    pub fn amount(&self, devices: usize) -> f64 {
        let pixels = |devices| self.size_for(devices).map_or(1.0, |[w, h]| f64::from(w) * f64::from(h));
        pixels(devices) / pixels(1)
    }

    /// Returns a short name of each work, for legends: the scene's name without folder and extension if that is enough.
    pub fn names(works: &[Self]) -> Vec<String> {
        let stem = |work: &Self| work.scene.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let with = |name: &dyn Fn(&Self) -> String| -> Vec<String> {
            works.iter().map(|work| name(work) + &work.suffix()).collect()
        };
        let short = with(&stem);
        match first_twice(&short) {
            None => short,
            Some(_) => with(&|work| work.scene.display().to_string()),
        }
    }

    fn suffix(&self) -> String {
        let size = self.size_px.map_or(String::new(), |[width, height]| format!(", {width}x{height}"));
        let weak = if self.scaling == Scaling::Weak { ", weak" } else { "" };
        size + weak
    }
}

impl fmt::Display for StudyWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.scene.display(), self.suffix())
    }
}

/// Returns the first value that equals one before it.
fn first_twice<T: PartialEq>(values: &[T]) -> Option<&T> {
    values.iter().enumerate().find(|(place, value)| values[..*place].contains(value)).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(scenes: &[&str], sizes: &[[u32; 2]], scalings: &[Scaling]) -> Result<Vec<StudyWork>, WorkError> {
        let scenes: Vec<PathBuf> = scenes.iter().map(PathBuf::from).collect();
        StudyWork::list(&scenes, sizes, scalings, 4)
    }

    #[test]
    fn scenes_sizes_and_scalings_are_combined() {
        use Scaling::{Strong, Weak};
        let works = list(&["x/a.rib", "b.rib"], &[[64, 48], [32, 24]], &[Strong, Weak]).expect("good");
        let names = StudyWork::names(&works);
        assert_eq!(names[..4], ["a, 64x48", "a, 64x48, weak", "a, 32x24", "a, 32x24, weak"]);
        assert_eq!((names.len(), names[7].as_str()), (8, "b, 32x24, weak"));
        let same = list(&["x/a.rib", "y/a.rib"], &[], &[Strong]).expect("good");
        assert_eq!(StudyWork::names(&same), ["x/a.rib", "y/a.rib"]);
    }

    #[test]
    fn pictures_grow_with_devices_in_weak_scaling_only() {
        let work = |scaling| StudyWork { scene: "a.rib".into(), size_px: Some([640, 480]), scaling };
        assert_eq!((work(Scaling::Strong).size_for(4), work(Scaling::Strong).amount(4)), (Some([640, 480]), 1.0));
        let weak = work(Scaling::Weak);
        assert_eq!([1, 4].map(|count| weak.size_for(count)), [Some([640, 480]), Some([1280, 960])]);
        for count in 1..=64 {
            let amount = weak.amount(count);
            assert!((amount / count as f64 - 1.0).abs() < 1e-3, "{count}: {amount}");
        }
        assert_eq!(StudyWork::default().amount(3), 1.0);
    }

    #[test]
    fn bad_lists_are_refused() {
        use Scaling::{Strong, Weak};
        let why = |result: Result<Vec<StudyWork>, WorkError>| result.expect_err("bad").to_string();
        assert!(why(list(&["a.rib", "a.rib"], &[], &[Strong])).starts_with("a.rib is given twice"));
        assert!(why(list(&["a.rib"], &[[1, 2], [1, 2]], &[Strong])).starts_with("the size 1x2 is given twice"));
        assert!(why(list(&["a.rib"], &[], &[Strong, Weak])).contains("--scaling both needs the size"));
        let large = why(list(&["a.rib"], &[[40_000, 100]], &[Weak]));
        assert!(large.contains("4 devices would draw 80000 x 200 pixels"), "{large}");
    }
}
