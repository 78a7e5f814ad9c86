//! Parses the values of flags: sizes, times, frames. Errors complete a sentence: "invalid value '5x' for '--memory
//! <SIZE>': ...".

use anthill::gpu::Breadcrumbs;
use anthill::options::{CaptureRegion, Frames};
use anthill::pipeline::plan::{CATALOGUE, NamedPipeline};
use anthill::scene::RESOLUTION_MAX;
use anthill::shading::standalone::PassLimits;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::num::NonZeroUsize;
use std::time::Duration;

/// Parses a number of bytes: `512M`, `1.5G`, `256MiB`. K, M, G and T, with or without `iB`, are powers of 1024; KB, MB,
/// GB and TB are powers of 1000. A bare number is refused, since it would mean bytes, which is hardly ever intended.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let help = || "expected a size such as 512M, 2G or 256MiB".to_string();
    let number: f64 = number.parse().map_err(|_| help())?;
    let unit = unit.to_ascii_lowercase();
    let (prefix, suffix) = unit.split_at_checked(1).ok_or_else(help)?;
    let power = "kmgt".find(prefix).ok_or_else(help)? as i32 + 1;
    let base: f64 = match suffix {
        "" | "ib" => 1024.0,
        "b" => 1000.0,
        _ => return Err(help()),
    };
    let bytes = number * base.powi(power);
    // About 2^63. Any real size is below it, and the conversion is exact enough.
    if !(1.0..=9.2e18).contains(&bytes) {
        Err("the size must be above 0 and below 8 EiB".into())
    } else {
        Ok(bytes as u64)
    }
}

/// Reads what programs are cut into passes for.
pub(crate) fn parse_pass_limits(text: &str) -> Result<PassLimits, String> {
    let limits = match text {
        "cpu" => Some(PassLimits::Cpu),
        "gpu" => Some(PassLimits::Gpu),
        _ => text.parse().ok().filter(|&operations| operations > 0).map(PassLimits::Operations),
    };
    limits.ok_or_else(|| "expected cpu, gpu or a number of operations from 1 on".to_string())
}

/// Reads the name of a pipeline.
pub(crate) fn pipelines() -> impl TypedValueParser<Value = &'static NamedPipeline> {
    let find = |name: String| NamedPipeline::find(&name).ok_or("no pipeline has this name");
    let described = |pipeline: NamedPipeline| PossibleValue::new(pipeline.name).help(pipeline.about);
    PossibleValuesParser::new(CATALOGUE.map(described)).try_map(find)
}

/// Parses a number of things: `40`.
pub(crate) fn parse_count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number of at least 1".into())
}

/// Parses the size of a picture: `640x480`.
pub(crate) fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let side = |text: &str| text.parse().ok().filter(|side| (1..=RESOLUTION_MAX).contains(side));
    let sides = text.split_once('x').and_then(|(width, height)| Some([side(width)?, side(height)?]));
    sides.ok_or_else(|| format!("expected width and height in pixels such as 640x480, from 1 to {RESOLUTION_MAX} each"))
}

/// Parses a number that is finite, also as a 32-bit float: `0.25`.
pub(crate) fn parse_number(text: &str) -> Result<f64, String> {
    let is_finite = |number: &f64| (*number as f32).is_finite();
    text.parse().ok().filter(is_finite).ok_or_else(|| "expected a finite number such as 0.25".into())
}

/// Parses a factor for colours: finite, and not negative.
pub(crate) fn parse_gain(text: &str) -> Result<f32, String> {
    match parse_number(text) {
        Ok(gain) if gain >= 0.0 => Ok(gain as f32),
        _ => Err("expected a finite number such as 0.5 or 2, not below 0".into()),
    }
}

/// A number of cores, as `-t` names it: 0 is all, negative numbers count from all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CoreCount(i32);

impl CoreCount {
    /// Returns the number of cores out of those that there are; at least 1.
    pub(crate) fn of(self, available: usize) -> usize {
        match usize::try_from(self.0) {
            Ok(0) => available,
            Ok(count) => count.min(available),
            Err(_) => available.saturating_sub(self.0.unsigned_abs() as usize).max(1),
        }
    }
}

/// Parses a number of cores: `4`, `0`, `-1`; also `:4`, as in `-t:4`.
pub(crate) fn parse_cores(text: &str) -> Result<CoreCount, String> {
    let number = text.strip_prefix(':').unwrap_or(text);
    number
        .parse()
        .map(CoreCount)
        .map_err(|_| "expected a number of cores such as 4, 0 for all or -1 for all but one".into())
}

/// Parses a time: `30` or `2.5s` in seconds, `5m` in minutes.
pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let (number, unit) = match (text.strip_suffix('m'), text.strip_suffix('s')) {
        (Some(minutes), _) => (minutes, 60.0),
        (_, Some(seconds)) => (seconds, 1.0),
        _ => (text, 1.0),
    };
    let number = number.parse::<f64>().ok().filter(|number| number.is_finite());
    let seconds = number.ok_or("expected a time such as 30, 90s or 5m")? * unit;
    if seconds > 0.0 && seconds <= 1e9 {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("the time must be above 0".into())
    }
}

/// How long a device draws before its pipelines are measured; `None`: they never are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CalibrateAfter(pub(crate) Option<Duration>);

/// Parses a time, or `never`.
pub(crate) fn parse_calibrate_after(text: &str) -> Result<CalibrateAfter, String> {
    let time =
        if text == "never" { None } else { Some(parse_seconds(text).map_err(|error| format!("{error}, or never"))?) };
    Ok(CalibrateAfter(time))
}

/// Parses which region is captured: `slowest`, a number, or a pixel `X,Y`.
pub(crate) fn parse_capture_region(text: &str) -> Result<CaptureRegion, String> {
    let pixel = || {
        let (x, y) = text.split_once(',')?;
        Some(CaptureRegion::At([x.trim().parse().ok()?, y.trim().parse().ok()?]))
    };
    let region = match text {
        "slowest" => Some(CaptureRegion::Slowest),
        text => text.parse().ok().map(CaptureRegion::Number).or_else(pixel),
    };
    region.ok_or_else(|| "expected slowest, the number of a region, or a pixel as in 120,80".to_owned())
}

/// Parses frames: `1-10,12`. Numbers may be negative (`-5--1`).
pub(crate) fn parse_frames(text: &str) -> Result<Frames, String> {
    let frame = |number: &str| {
        number.trim().parse::<i32>().map_err(|_| format!("expected frames such as 1-10,12, not \"{number}\""))
    };
    let range = |part: &str| {
        // The first character may be a sign; a hyphen after it separates two numbers.
        let hyphen = part.char_indices().skip(1).find(|(_, c)| *c == '-').map(|(index, _)| index);
        let (first, last) = hyphen.map_or((part, part), |index| (&part[..index], &part[index + 1..]));
        let (first, last) = (frame(first)?, frame(last)?);
        if first > last { Err(format!("{first}-{last} runs backwards")) } else { Ok(first..=last) }
    };
    text.split(',').map(|part| range(part.trim())).collect::<Result<_, _>>().map(Frames)
}

/// The speeds of devices, relative to one of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpeedList(pub(crate) Vec<f64>);

/// Parses speeds: `1,3` or `1,0.5,2`; at most 1024.
pub(crate) fn parse_speeds(text: &str) -> Result<SpeedList, String> {
    let speed = |number: &str| match number.trim().parse::<f64>() {
        Ok(speed) if (1e-3..=1e6).contains(&speed) => Ok(speed),
        _ => Err(format!("expected speeds such as 1,3 or 1,0.5 (0.001 to 1000000), not \"{number}\"")),
    };
    let speeds: Vec<f64> = text.split(',').map(speed).collect::<Result<_, _>>()?;
    if speeds.len() > 1024 { Err("at most 1024 devices".into()) } else { Ok(SpeedList(speeds)) }
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressMode {
    /// A bar if standard error is a terminal
    Auto,
    /// A bar, on a terminal
    Bar,
    /// Lines like `R90000   45%`, for render farms
    Percent,
    /// No progress
    Off,
}

/// When devices leave breadcrumbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BreadcrumbMode {
    /// Once a device was lost or hung, and by the checkpoints of drivers that have them
    Auto,
    /// From the start
    Always,
    /// Never, and no checkpoints
    Never,
}

impl From<BreadcrumbMode> for Breadcrumbs {
    fn from(mode: BreadcrumbMode) -> Self {
        match mode {
            BreadcrumbMode::Auto => Self::Auto,
            BreadcrumbMode::Always => Self::Always,
            BreadcrumbMode::Never => Self::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibration_comes_after_a_time_or_never() {
        assert_eq!(parse_calibrate_after("never"), Ok(CalibrateAfter(None)));
        assert_eq!(parse_calibrate_after("15m"), Ok(CalibrateAfter(Some(Duration::from_secs(900)))));
        assert!(parse_calibrate_after("soon").is_err_and(|error| error.ends_with(", or never")));
    }

    #[test]
    fn captured_regions_are_the_slowest_or_have_a_number_or_a_pixel() {
        let parsed = |text| parse_capture_region(text).ok();
        assert_eq!(parsed("slowest"), Some(CaptureRegion::Slowest));
        assert_eq!(parsed("12"), Some(CaptureRegion::Number(12)));
        assert_eq!(parsed("120, -8"), Some(CaptureRegion::At([120, -8])));
        for wrong in ["", "fastest", "-1", "1,2,3", "1,", "1.5"] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_have_units() {
        let table = [
            ("512M", Some(512 << 20)),
            ("2G", Some(2 << 30)),
            ("256MiB", Some(256 << 20)),
            ("1.5g", Some(3 << 29)),
            ("10KB", Some(10_000)),
            ("1TiB", Some(1 << 40)),
            ("0.5K", Some(512)),
            ("512", None),
            ("", None),
            ("M", None),
            ("0M", None),
            ("-1G", None),
            ("1X", None),
            ("1Mb/s", None),
            ("1.2.3M", None),
            ("99999999T", None),
            ("1µ", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse_bytes(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn counts_are_positive_whole_numbers() {
        assert_eq!(parse_count("40").map(NonZeroUsize::get), Ok(40));
        for bad in ["", "0", "-1", "1.5", "many", "99999999999999999999999"] {
            assert!(parse_count(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_are_finite() {
        assert_eq!((parse_number("-0.5"), parse_gain("2")), (Ok(-0.5), Ok(2.0)));
        for bad in ["nan", "NaN", "inf", "-inf", "infinity", "1e39", "", "x"] {
            assert!(parse_number(bad).is_err() && parse_gain(bad).is_err(), "{bad}");
        }
        assert!(parse_gain("-1").is_err());
        for bad in ["nan", "inf", "-inf", "infm", "nans"] {
            assert_eq!(parse_seconds(bad), Err("expected a time such as 30, 90s or 5m".into()));
        }
    }

    #[test]
    fn cores_count_from_none_or_from_all() {
        let of_eight = |text| parse_cores(text).map(|count| count.of(8));
        let table = [("1", 1), (":4", 4), ("99", 8), ("0", 8), ("-1", 7), ("-8", 1), ("-99", 1)];
        table.iter().for_each(|(text, count)| assert_eq!(of_eight(text), Ok(*count), "{text}"));
        for bad in ["", ":", "many", "1.5", "nan", "99999999999"] {
            assert!(parse_cores(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_seconds_or_minutes() {
        assert_eq!(parse_seconds("30"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_seconds("2.5s"), Ok(Duration::from_millis(2500)));
        assert_eq!(parse_seconds("5m"), Ok(Duration::from_secs(300)));
        for bad in ["", "m", "0", "-1", "soon", "nan", "inf", "1h"] {
            assert!(parse_seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn frames_are_lists_of_ranges() {
        assert_eq!(parse_frames("1-10,12"), Ok(Frames(vec![1..=10, 12..=12])));
        assert_eq!(parse_frames(" 3 , 5-5"), Ok(Frames(vec![3..=3, 5..=5])));
        assert_eq!(parse_frames("-5--1,-7-2"), Ok(Frames(vec![-5..=-1, -7..=2])));
        let frames = parse_frames("1-3,7").expect("good frames");
        assert_eq!([0, 1, 3, 4, 7].map(|frame| frames.contains(frame)), [false, true, true, false, true]);
        assert_eq!(parse_frames("10-1"), Err("10-1 runs backwards".into()));
        for bad in ["", "1,", "a", "1-", "-", "1-2-3", "1..3", "99999999999"] {
            assert!(parse_frames(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn speeds() {
        assert_eq!(parse_speeds("1, 0.5,3"), Ok(SpeedList(vec![1.0, 0.5, 3.0])));
        for bad in ["", "1,", "0", "-1", "nan", "inf", "1;2"] {
            assert!(parse_speeds(bad).is_err(), "{bad}");
        }
        assert!(parse_speeds(&vec!["1"; 1025].join(",")).is_err());
    }
}
