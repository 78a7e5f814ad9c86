//! The counting pass on several devices. Identical devices count once, in shares; where devices differ, each group of identical ones
//! counts for itself, because each pixel must be what its device would have drawn alone.

use crate::heap;
use crate::host_memory::HostMemory;
use crate::render::device::bound_split::cut_into_shares;
use crate::render::device::error::DeviceError;
use crate::render::device::picture::Picture;
use crate::render::device::renderer::DeviceRenderer;
use crate::render::grids::list::{GridStore, ListError};
use crate::render::grids::order::{ShareGrids, SortedRun, merge_runs};
use crate::render::grids::picture_grids::{GridTotals, PictureGrids};
use crate::render::session::devices::Reopener;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Primitives of one job of the counting pass, at most,
const JOB_PRIMITIVES_MAX: u32 = 1 << 14;
/// and at least, unless there are fewer.
const JOB_PRIMITIVES_MIN: u32 = 16;
/// Jobs of each of several members, at least, so that they end together.
const MEMBER_JOBS: u64 = 8;

/// Vertices of the grids that are drawn lie elsewhere on the surface than those that were measured: this much is added.
const MEASURED_SLACK: f32 = 1.05;

/// A device's place in the session, and its driver.
pub(crate) type Member = (usize, DeviceRenderer);

/// What is counted.
pub(crate) struct Counting<'a> {
    pub picture: &'a Picture,
    /// Pixels of the picture.
    pub crop: [u32; 4],
    /// Where devices come from that take the place of failed ones.
    pub reopeners: &'a [Reopener],
    /// What lists of grids on the host are taken from, and how much of it all of one kind may take before they go to a file.
    pub memory: &'a Arc<HostMemory>,
    pub list_bytes: u64,
}

/// A driver that has counted, and what its group found.
pub(crate) struct Ready {
    pub driver: DeviceRenderer,
    pub counted: Arc<PictureGrids>,
}

/// The host has no room for the list of grids.
pub(crate) struct Uncounted {
    pub error: ListError,
    /// Those that are left, with their places.
    pub drivers: Vec<Member>,
}

/// Where members that count leave what they have found.
struct Board {
    store: Arc<GridStore>,
    /// The parts of each job that was counted to its end.
    runs: Mutex<Vec<Option<Vec<SortedRun>>>>,
    /// Why a part could not be kept.
    refused: Mutex<Option<ListError>>,
}

impl Board {
    /// Keeps a part of a job beside the `parts` before it, and, with the last, the job.
    fn take(&self, parts: &mut Vec<SortedRun>, (job, grids): (usize, ShareGrids), last: bool) {
        match SortedRun::of(grids, &self.store) {
            Ok(run) => parts.push(run),
            Err(error) => *self.refused.lock() = Some(error),
        }
        if last {
            self.runs.lock()[job] = Some(std::mem::take(parts));
        }
    }
}

impl Counting<'_> {
    /// Parts that counting can be shared in, however many devices there are.
    pub(crate) fn job_count_max(&self) -> usize {
        cut_into_shares(&self.picture.world.runs, JOB_PRIMITIVES_MIN).len()
    }

    /// Counts on all drivers; one whose device fails again drops out.
    ///
    /// # Errors
    /// A list of grids that the host has no room for: then the drivers that are left come back.
    pub(crate) fn run(&self, drivers: Vec<Option<DeviceRenderer>>) -> Result<Vec<Option<Ready>>, Uncounted> {
        let mut ready: Vec<Option<Ready>> = drivers.iter().map(|_| None).collect();
        let groups = groups(drivers);
        let counted: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = groups.into_iter().map(|group| scope.spawn(|| self.count_group(group))).collect();
            threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).collect()
        });
        if let Some(error) = counted.iter().find_map(|(_, counted)| counted.as_ref().err()).cloned() {
            return Err(Uncounted { error, drivers: counted.into_iter().flat_map(|(members, _)| members).collect() });
        }
        for (members, counted) in counted {
            let Ok(counted) = counted else { continue };
            for (place, driver) in members {
                ready[place] = Some(Ready { driver, counted: Arc::clone(&counted) });
            }
        }
        Ok(ready)
    }

    fn count_group(&self, mut members: Vec<Member>) -> (Vec<Member>, Result<Arc<PictureGrids>, ListError>) {
        let counted = self.count_measured(&mut members);
        (members, counted)
    }

    /// Counts, and again where displacement bounds had to be measured.
    fn count_measured(&self, members: &mut Vec<Member>) -> Result<Arc<PictureGrids>, ListError> {
        let counted = Arc::new(self.count(members, &[])?);
        if self.picture.world.unbounded.is_empty() {
            return Ok(counted);
        }
        let bounds = self.measure(members, &counted)?;
        drop(counted);
        self.retain(members, |driver| Ok(driver.declare_bounds(&bounds)?));
        let again = self.count(members, &bounds)?;
        Ok(Arc::new(PictureGrids { bounds_measured: bounds, ..again }))
    }

    /// Members take job after job; one that a failing member had is counted by the others, or by itself opened anew. Members
    /// know the displacement bounds that were measured.
    fn count(&self, members: &mut Vec<Member>, bounds: &[(u32, f32)]) -> Result<PictureGrids, ListError> {
        let all = cut_into_shares(
            &self.picture.world.runs,
            job_primitives(self.picture.world.primitive_count(), members.len()),
        );
        let board = Board {
            store: GridStore::new(self.memory, self.list_bytes),
            runs: Mutex::new(all.iter().map(|_| None).collect()),
            refused: Mutex::new(None),
        };
        loop {
            let open: Vec<usize> = (0..all.len()).filter(|&job| board.runs.lock()[job].is_none()).collect();
            if open.is_empty() || members.is_empty() || board.refused.lock().is_some() {
                break;
            }
            let next = AtomicUsize::new(0);
            let work = |(place, mut driver): Member| {
                let take = &mut || {
                    let job = *open.get(next.fetch_add(1, Ordering::Relaxed))?;
                    board.refused.lock().is_none().then(|| (job, &all[job]))
                };
                let mut parts = Vec::new();
                let counted = driver.count(take, &mut |job, grids, last| board.take(&mut parts, (job, grids), last));
                (place, driver, counted)
            };
            let results: Vec<_> = thread::scope(|scope| {
                let works = std::mem::take(members).into_iter();
                let threads: Vec<_> = works.map(|member| scope.spawn(|| work(member))).collect();
                threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).collect()
            });
            for (place, driver, counted) in results {
                let kept = match counted {
                    Ok(()) => Some(driver),
                    Err(error) => self.instead(place, driver, &error, |driver| Ok(driver.declare_bounds(bounds)?)),
                };
                members.extend(kept.map(|driver| (place, driver)));
            }
        }
        match board.refused.into_inner() {
            Some(error) => Err(error),
            None => self.gathered(board.runs.into_inner().into_iter().flatten().flatten().collect()),
        }
    }

    fn gathered(&self, runs: Vec<SortedRun>) -> Result<PictureGrids, ListError> {
        let (list, lost) = merge_runs(&runs, &GridStore::new(self.memory, self.list_bytes))?;
        drop(runs);
        // The parts of jobs were blocks of up to a few MiB.
        heap::trim();
        let totals = GridTotals::of(&list, self.picture.world.frame.sampled_px, &self.picture.filter)?;
        Ok(PictureGrids { list, totals, lost, ..PictureGrids::default() })
    }

    /// Displacements without a declared bound are displaced once, by the first member that can, and measured.
    fn measure(&self, members: &mut Vec<Member>, counted: &Arc<PictureGrids>) -> Result<Vec<(u32, f32)>, ListError> {
        let mut measured = None;
        self.retain(members, |driver| {
            if measured.is_none() {
                measured = match driver.measure_displacement(counted, self.crop) {
                    Err(DeviceError::List(error)) => Some(Err(error)),
                    moved => Some(Ok(moved?)),
                };
            }
            Ok(())
        });
        let moved = measured.transpose()?.unwrap_or_default();
        let most = |instance: u32| moved.get(instance as usize).copied().unwrap_or(0.0);
        Ok(self.picture.world.unbounded.iter().map(|&instance| (instance, most(instance) * MEASURED_SLACK)).collect())
    }

    /// Keeps the members that can do something, if need be when their devices are opened anew.
    fn retain(&self, members: &mut Vec<Member>, mut act: impl FnMut(&mut DeviceRenderer) -> Result<(), DeviceError>) {
        for (place, mut driver) in std::mem::take(members) {
            let kept = match act(&mut driver) {
                Ok(()) => Some(driver),
                Err(error) => self.instead(place, driver, &error, &mut act),
            };
            members.extend(kept.map(|driver| (place, driver)));
        }
    }

    /// A driver in place of one that failed, which has done what the other had.
    fn instead(
        &self,
        place: usize,
        failed: DeviceRenderer,
        error: &DeviceError,
        mut act: impl FnMut(&mut DeviceRenderer) -> Result<(), DeviceError>,
    ) -> Option<DeviceRenderer> {
        drop(failed.finish());
        let mut driver = self.reopeners[place].instead(error)?;
        while let Err(error) = act(&mut driver) {
            drop(driver.finish());
            driver = self.reopeners[place].instead(&error)?;
        }
        Some(driver)
    }
}

/// How many primitives a job has where so many members share all of them.
fn job_primitives(all: u64, members: usize) -> u32 {
    if members < 2 {
        return JOB_PRIMITIVES_MAX;
    }
    let share = all / (members as u64 * MEMBER_JOBS);
    share.clamp(JOB_PRIMITIVES_MIN.into(), JOB_PRIMITIVES_MAX.into()) as u32
}

/// Drivers of identical devices together, each with its place.
fn groups(drivers: Vec<Option<DeviceRenderer>>) -> Vec<Vec<Member>> {
    let mut groups: Vec<Vec<Member>> = Vec::new();
    for (place, driver) in drivers.into_iter().enumerate() {
        let Some(driver) = driver else { continue };
        let like = |group: &&mut Vec<Member>| group[0].1.info().is_like(driver.info());
        match groups.iter_mut().find(like) {
            Some(group) => group.push((place, driver)),
            None => groups.push(vec![(place, driver)]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_members_have_jobs_enough_and_one_has_large_ones() {
        let of = |all| [1, 2, 8].map(|members| job_primitives(all, members));
        assert_eq!(of(4736), [JOB_PRIMITIVES_MAX, 296, 74], "each of two has eight jobs, and each of eight");
        assert_eq!(of(500_000), [JOB_PRIMITIVES_MAX, JOB_PRIMITIVES_MAX, 7812]);
        assert_eq!(of(3), [JOB_PRIMITIVES_MAX, JOB_PRIMITIVES_MIN, JOB_PRIMITIVES_MIN]);
    }
}
