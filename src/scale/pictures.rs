//! The pictures of a study's runs, compared bit for bit.

use super::run::{PlannedRun, Purpose, RunError, io_error};
use super::study::Differing;
use crate::files::write_bytes;
use crate::stats::MeasuredOutput;
use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

/// Compares the files of all runs bit for bit. Files contain no date, host or device, so equal pictures are equal
/// files.
pub(super) struct PictureComparison<'a> {
    /// The folder for pictures that are kept.
    folder: &'a Path,
    /// The folder that runs write to.
    scratch: &'a Path,
    /// A hash of each file of the first run that must have the same bits.
    first: BTreeMap<PictureKey, Vec<u64>>,
    /// What was found for each work.
    found: Vec<ComparedPictures>,
}

/// What determines the bits of a picture: the work, its size, and the models of the devices.
type PictureKey = (usize, Option<[u32; 2]>, Vec<usize>);

/// The pictures of a work.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ComparedPictures {
    /// Runs whose pictures differ from those of the first run.
    pub(super) differing: Vec<Differing>,
    /// The picture of each world of the first run.
    pub(super) kept: Vec<PathBuf>,
}

impl<'a> PictureComparison<'a> {
    /// Returns one for this many works, whose runs write to `scratch`.
    pub(super) fn new(folder: &'a Path, scratch: &'a Path, works: usize) -> Self {
        Self { folder, scratch, first: BTreeMap::new(), found: vec![ComparedPictures::default(); works] }
    }

    /// Returns what was found for each work.
    pub(super) fn into_found(self) -> Vec<ComparedPictures> {
        self.found
    }

    /// Compares the files of a run with those of the first run of the same picture on devices of the same models; files
    /// that differ are kept.
    pub(super) fn compare(
        &mut self,
        run: &PlannedRun<'_>,
        size_px: Option<[u32; 2]>,
        outputs: &[MeasuredOutput],
    ) -> Result<(), RunError> {
        let hash = |output: &MeasuredOutput| {
            let bytes = fs::read(&output.file);
            bytes.map(hash).map_err(|reason| io_error(&format!("cannot read \"{}\"", output.file), reason))
        };
        // A run may leave out a display (of type `null`), but then every run does.
        let hashes: Vec<u64> = outputs.iter().map(hash).collect::<Result<_, _>>()?;
        if self.first.keys().all(|(work, ..)| *work != run.work) {
            self.keep_first(run.work, outputs)?;
        }
        let key = (run.work, size_px, run.configuration.models.clone());
        let first = self.first.entry(key).or_insert_with(|| hashes.clone()).clone();
        let differ = |(place, _): &(usize, &MeasuredOutput)| first.get(*place) != hashes.get(*place);
        for (place, output) in outputs.iter().enumerate().filter(differ) {
            let mut selection = run.configuration.to_string();
            if run.purpose == Purpose::Rates {
                selection += " for rates";
            }
            let safe: String = selection.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            let name = format!("differs.{}{safe}.{}.{}.exr", self.prefix(run.work), run.round, place + 1);
            let kept = self.folder.join(name);
            keep(Path::new(&output.file), &kept)?;
            let file = kept.display().to_string();
            self.found[run.work].differing.push(Differing { selection, round: run.round, file });
        }
        Ok(())
    }

    /// Keeps the pictures of the first run, which are those of all runs if none differs.
    fn keep_first(&mut self, work: usize, outputs: &[MeasuredOutput]) -> Result<(), RunError> {
        let own = outputs.iter().map(|output| Path::new(&output.file)).filter(|file| file.starts_with(self.scratch));
        for (file, number) in own.zip(1..) {
            let kept = self.folder.join(format!("picture.{}{number}.exr", self.prefix(work)));
            keep(file, &kept)?;
            self.found[work].kept.push(kept);
        }
        Ok(())
    }

    fn prefix(&self, work: usize) -> String {
        work_prefix(work, self.found.len())
    }
}

/// Returns what the names of a work's files have before their own number: its number, if there are several works.
pub(super) fn work_prefix(work: usize, works: usize) -> String {
    if works > 1 { format!("{}.", work + 1) } else { String::new() }
}

fn keep(file: &Path, kept: &Path) -> Result<(), RunError> {
    let copied = fs::read(file).and_then(|bytes| write_bytes(kept, &bytes));
    copied.map_err(|reason| io_error(&format!("cannot write \"{}\"", kept.display()), reason))
}

fn hash(bytes: Vec<u8>) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    hasher.finish()
}
