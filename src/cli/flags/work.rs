//! The flags about what is rendered of a scene, which several commands have.

use super::values::{parse_bytes, parse_frames, parse_number};
use anthill::options::{Frames, Overrides};
use anthill::scene::RESOLUTION_MAX;
use clap::Args;

/// The largest number of pixels on a side of a picture.
const SIDE_MAX: i64 = RESOLUTION_MAX as i64;

/// What is rendered of a scene, and how much memory it may take.
#[derive(Debug, Args)]
pub(crate) struct WorkFlags {
    /// Device memory that each opened device may take: 512M, 2G, 1.5GiB. [default: three quarters of what it has]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,

    /// Device memory for tiles of textures of each opened device, from 4M to 1G, instead of the scene's Option "limits"
    /// "texturememory". [default: a quarter of its memory, at most 256M]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) texture_memory: Option<u64>,

    /// Host memory that scenes may take: their text (at most half of it), their geometry (as read and as devices need
    /// it) and films. What does not fit is left out with an error, and what came before it is rendered. [default: half
    /// of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) host_memory: Option<u64>,

    /// Render only these frames: 1-10,12
    #[arg(long, value_name = "LIST", value_parser = parse_frames, allow_hyphen_values = true)]
    pub(crate) frames: Option<Frames>,

    /// Picture size in pixels, up to 65,000 each
    #[arg(long, num_args = 2, value_names = ["W", "H"], value_parser = clap::value_parser!(u32).range(1..=SIDE_MAX))]
    pub(crate) format: Option<Vec<u32>>,

    /// Part of the picture to render, from 0 to 1, or beyond with --overscan: left and right, top and bottom
    #[arg(long, num_args = 4, value_names = ["X0", "X1", "Y0", "Y1"], value_parser = parse_number, allow_negative_numbers = true)]
    pub(crate) crop: Option<Vec<f64>>,

    /// Draw what crop windows, that of the scene too, select outside of the picture. OpenEXR files hold it: their data
    /// window is larger than their display window then
    #[arg(long)]
    pub(crate) overscan: bool,

    /// Samples per pixel in x and y
    #[arg(long, num_args = 2, value_names = ["X", "Y"], value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) samples: Option<Vec<u32>>,

    /// Area of a micropolygon in pixels, for every primitive
    #[arg(long, value_name = "R", value_parser = parse_number, allow_negative_numbers = true)]
    pub(crate) shading_rate: Option<f64>,

    /// Define a macro for the sources of the scene's shaders: NAME or NAME=VALUE. Of macros by which shaders ask for
    /// a renderer, only ANTHILL is defined
    #[arg(short = 'D', long = "define", value_name = "MACRO")]
    pub(crate) macros: Vec<String>,
}

impl WorkFlags {
    /// Returns the settings that override those of the scene; the error is a usage message.
    pub(crate) fn overrides(&self) -> Result<Overrides, String> {
        let pair = |values: &Option<Vec<u32>>| values.as_deref().and_then(|values| <[u32; 2]>::try_from(values).ok());
        let crop = self.crop.as_deref().and_then(|values| <[f64; 4]>::try_from(values).ok());
        if let Some([x0, x1, y0, y1]) = crop
            && let Some(rule) = broken_rule(&[x0, x1, y0, y1], self.overscan)
        {
            return Err(format!("--crop {x0} {x1} {y0} {y1}: {rule}"));
        }
        let shading_rate = self.shading_rate.map(|rate| rate as f32);
        if let Some(rate) = shading_rate.filter(|rate| *rate <= 0.0) {
            return Err(format!("--shading-rate {rate}: the area of a micropolygon must be above 0"));
        }
        let (overscan, samples) = (self.overscan, pair(&self.samples));
        let macros = self.macros.clone();
        if let Some(bad) = macros.iter().find(|text| !begins_with_name(text)) {
            return Err(format!("--define {bad:?}: a macro is NAME or NAME=VALUE"));
        }
        Ok(Overrides { format: pair(&self.format), crop, overscan, samples, shading_rate, macros })
    }

    /// Returns the flags as arguments of `anthill render`.
    pub(crate) fn to_arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut add = |name: &str, values: Vec<String>| {
            arguments.push(format!("--{name}"));
            arguments.extend(values);
        };
        // A number of KiB is an exact float, whatever unit was typed.
        let size = |bytes: u64| vec![format!("{}K", bytes as f64 / 1024.0)];
        if let Some(bytes) = self.memory {
            add("memory", size(bytes));
        }
        if let Some(bytes) = self.texture_memory {
            add("texture-memory", size(bytes));
        }
        if let Some(bytes) = self.host_memory {
            add("host-memory", size(bytes));
        }
        if let Some(Frames(ranges)) = &self.frames {
            let ranges: Vec<String> = ranges.iter().map(|range| format!("{}-{}", range.start(), range.end())).collect();
            add("frames", vec![ranges.join(",")]);
        }
        if let Some(size) = &self.format {
            add("format", size.iter().map(u32::to_string).collect());
        }
        if let Some(edges) = &self.crop {
            add("crop", edges.iter().map(f64::to_string).collect());
        }
        if self.overscan {
            add("overscan", Vec::new());
        }
        if let Some(samples) = &self.samples {
            add("samples", samples.iter().map(u32::to_string).collect());
        }
        if let Some(rate) = self.shading_rate {
            add("shading-rate", vec![rate.to_string()]);
        }
        for text in &self.macros {
            add("define", vec![text.clone()]);
        }
        arguments
    }
}

/// Returns whether a text begins with the name of a macro, which may have parameters, and a value follows if anything.
fn begins_with_name(text: &str) -> bool {
    let name = text.split(['=', '(']).next().unwrap_or_default();
    let is_first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    is_first && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns the rule that a crop window breaks, if any.
fn broken_rule([x0, x1, y0, y1]: &[f64; 4], overscan: bool) -> Option<&'static str> {
    let increase = x0 < x1 && y0 < y1;
    if overscan {
        return (!increase).then_some("each pair must increase");
    }
    let inside = [x0, x1, y0, y1].into_iter().all(|edge| (0.0..=1.0).contains(edge));
    let rule = "each pair must increase and be between 0 and 1; --overscan draws what is beyond";
    (!(increase && inside)).then_some(rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct OnlyWork {
        #[command(flatten)]
        work: WorkFlags,
    }

    fn work(line: &str) -> WorkFlags {
        let words = std::iter::once("anthill").chain(line.split_whitespace());
        OnlyWork::try_parse_from(words).expect("good flags").work
    }

    #[test]
    fn flags_are_passed_on_unchanged() {
        let all = "--memory 1.5G --texture-memory 8M --host-memory 10KB --frames -5--1,7 --format 64 48 --crop 0 0.5 0.1 1 --overscan --samples 4 2 --shading-rate 0.3 -D A -D B=2";
        let passed = work(all).to_arguments().join(" ");
        assert_eq!(
            passed,
            "--memory 1572864K --texture-memory 8192K --host-memory 9.765625K --frames -5--1,7-7 --format 64 48 --crop 0 0.5 0.1 1 --overscan --samples 4 2 --shading-rate 0.3 --define A --define B=2"
        );
        let (once, twice) = (work(all), work(&passed));
        assert_eq!((once.memory, once.host_memory, &once.crop), (twice.memory, twice.host_memory, &twice.crop));
        assert_eq!((once.memory, once.host_memory), (Some(3 << 29), Some(10_000)));
        assert!(once.overscan && twice.overscan);
        assert_eq!((once.shading_rate, once.samples, once.format), (twice.shading_rate, twice.samples, twice.format));
        assert_eq!((once.macros, twice.macros.len()), (vec!["A".to_owned(), "B=2".to_owned()], 2));
        assert!(work("").to_arguments().is_empty());
    }
}
