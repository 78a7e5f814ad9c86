//! For tests: devices that are used as GPUs are, whatever they are.

use super::mutant::Mutant;
use std::borrow::Cow;
use std::str::FromStr;

/// In which respects a device is used as a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsGpu {
    /// The kernels for GPUs are taken, with barriers, where there are such for CPU drivers too.
    pub parallel: bool,
    /// The host may not access the memory of the device, as on a discrete GPU: data is copied through staging buffers.
    pub staged: bool,
    /// The device's queue has no timestamps.
    pub clockless: bool,
    /// Kernels have no clock.
    pub unclocked_kernels: bool,
    /// How kernels are rewritten, one after the other.
    pub mutants: Vec<Mutant>,
}

/// The variable that has devices used as GPUs.
const VARIABLE: &str = "ANTHILL_AS_GPU";

impl AsGpu {
    /// Returns what the environment asks for.
    ///
    /// # Errors
    /// What is wrong with the variable, and what it may be.
    pub fn from_environment() -> Result<Self, String> {
        let Ok(text) = std::env::var(VARIABLE) else { return Ok(Self::default()) };
        text.parse().map_err(|message| format!("{VARIABLE}={text}: {message}"))
    }

    /// Returns the words of a kernel, as the device is given them.
    pub(super) fn words<'a>(&self, words: &'a [u32]) -> Cow<'a, [u32]> {
        let rewritten = |words: Cow<'a, [u32]>, mutant: &Mutant| Cow::Owned(mutant.rewrite(&words));
        self.mutants.iter().fold(Cow::Borrowed(words), rewritten)
    }
}

impl FromStr for AsGpu {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut as_gpu = Self::default();
        for part in text.split(',') {
            match part {
                "parallel" => as_gpu.parallel = true,
                "staged" => as_gpu.staged = true,
                "clockless" => as_gpu.clockless = true,
                "clockless-kernels" => as_gpu.unclocked_kernels = true,
                mutant => as_gpu.mutants.push(mutant.parse().map_err(|_| unknown(part))?),
            }
        }
        Ok(as_gpu)
    }
}

fn unknown(part: &str) -> String {
    let mutants = Mutant::ALL.map(Mutant::name).join(", ");
    format!(
        "{part:?} is not known: parallel, staged, clockless, clockless-kernels and some of {mutants} are expected, separated by commas"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn respects_are_read() {
        let all = AsGpu {
            parallel: true,
            staged: true,
            clockless: true,
            mutants: vec![Mutant::Fused, Mutant::SqrtUlp],
            ..AsGpu::default()
        };
        assert_eq!("staged,fused,clockless,parallel,sqrt-ulp".parse(), Ok(all));
        assert_eq!("clockless-kernels".parse(), Ok(AsGpu { unclocked_kernels: true, ..AsGpu::default() }));
        assert_eq!("parallel".parse(), Ok(AsGpu { parallel: true, ..AsGpu::default() }));
        for wrong in ["", "parallel,", "fuse"] {
            let error = wrong.parse::<AsGpu>().expect_err(wrong);
            assert!(error.contains("reciprocal-ulp"), "{error}");
        }
    }
}
