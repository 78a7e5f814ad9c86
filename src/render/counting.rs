//! The counting pass on several devices. Identical devices count once, in shares; where devices differ, each group of identical ones
//! counts for itself, because each pixel must be what its device would have drawn alone.

use super::count::{CountJob, Counted, jobs};
use super::devices::Reopener;
use super::driver::{Driver, DriverError, Picture};
use std::sync::Arc;
use std::thread;

/// Primitives of one job of the counting pass.
const JOB_PRIMITIVES: u32 = 1 << 15;

/// Vertices of the grids that are drawn lie elsewhere on the surface than those that were measured: this much is added.
const MEASURED_SLACK: f32 = 1.05;

/// A device's place in the session, and its driver.
type Member = (usize, Driver);

/// What is counted.
pub(crate) struct Counting<'a> {
    pub picture: &'a Picture,
    /// Pixels of the picture.
    pub crop: [u32; 4],
    /// Where devices come from that take the place of failed ones.
    pub reopeners: &'a [Reopener],
}

/// A driver that has counted, and what its group found.
pub(crate) struct Ready {
    pub driver: Driver,
    pub counted: Arc<Counted>,
}

impl Counting<'_> {
    /// Parts that devices share counting in.
    pub(crate) fn job_count(&self) -> usize {
        jobs(&self.picture.world.runs, JOB_PRIMITIVES).len()
    }

    /// Counts on all drivers; one whose device fails again drops out.
    pub(crate) fn run(&self, drivers: Vec<Option<Driver>>) -> Vec<Option<Ready>> {
        let mut ready: Vec<Option<Ready>> = drivers.iter().map(|_| None).collect();
        let groups = groups(drivers);
        let counted: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = groups.into_iter().map(|group| scope.spawn(|| self.count_group(group))).collect();
            threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).collect()
        });
        for (members, counted) in counted {
            for (place, driver) in members {
                ready[place] = Some(Ready { driver, counted: Arc::clone(&counted) });
            }
        }
        ready
    }

    fn count_group(&self, mut members: Vec<Member>) -> (Vec<Member>, Arc<Counted>) {
        let mut counted = Arc::new(self.count(&mut members, &[]));
        if !self.picture.world.unbounded.is_empty() {
            let bounds = self.measure(&mut members, &counted);
            self.retain(&mut members, |driver| Ok(driver.bound(&bounds)?));
            let again = self.count(&mut members, &bounds);
            counted = Arc::new(Counted { bounds_measured: bounds, ..again });
        }
        (members, counted)
    }

    /// Every member takes a share of the jobs; what a failing one leaves is counted by the others, or by itself opened anew. Members
    /// know the displacement bounds that were measured.
    fn count(&self, members: &mut Vec<Member>, bounds: &[(u32, f32)]) -> Counted {
        let all = jobs(&self.picture.world.runs, JOB_PRIMITIVES);
        let mut lists: Vec<Option<Counted>> = vec![None; all.len()];
        loop {
            let open: Vec<usize> = (0..all.len()).filter(|&job| lists[job].is_none()).collect();
            if open.is_empty() || members.is_empty() {
                break;
            }
            let mut shares = open.chunks(open.len().div_ceil(members.len()));
            let works = std::mem::take(members).into_iter().map(|member| (member, shares.next().unwrap_or(&[])));
            let results: Vec<_> = thread::scope(|scope| {
                let threads: Vec<_> = works.map(|work| scope.spawn(|| count_share(work, &all))).collect();
                threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).collect()
            });
            for ((place, driver), share, counted) in results {
                let kept = match counted {
                    Ok(counted) => {
                        share.iter().zip(counted).for_each(|(&job, list)| lists[job] = Some(list));
                        Some(driver)
                    }
                    Err(error) => self.instead(place, driver, &error, |driver| Ok(driver.bound(bounds)?)),
                };
                members.extend(kept.map(|driver| (place, driver)));
            }
        }
        Counted::concatenated(lists.into_iter().flatten())
    }

    /// Displacements without a declared bound are displaced once, by the first member that can, and measured.
    fn measure(&self, members: &mut Vec<Member>, counted: &Arc<Counted>) -> Vec<(u32, f32)> {
        let mut moved = None;
        self.retain(members, |driver| {
            if moved.is_none() {
                moved = Some(driver.measure(counted, self.crop)?);
            }
            Ok(())
        });
        let moved = moved.unwrap_or_default();
        let most = |instance: u32| moved.get(instance as usize).copied().unwrap_or(0.0);
        self.picture.world.unbounded.iter().map(|&instance| (instance, most(instance) * MEASURED_SLACK)).collect()
    }

    /// Keeps the members that can do something, if need be when their devices are opened anew.
    fn retain(&self, members: &mut Vec<Member>, mut act: impl FnMut(&mut Driver) -> Result<(), DriverError>) {
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
        failed: Driver,
        error: &DriverError,
        mut act: impl FnMut(&mut Driver) -> Result<(), DriverError>,
    ) -> Option<Driver> {
        drop(failed.finish());
        let mut driver = self.reopeners[place].instead(error)?;
        while let Err(error) = act(&mut driver) {
            drop(driver.finish());
            driver = self.reopeners[place].instead(&error)?;
        }
        Some(driver)
    }
}

fn count_share<'a>(
    ((place, mut driver), share): (Member, &'a [usize]),
    all: &[CountJob],
) -> (Member, &'a [usize], Result<Vec<Counted>, DriverError>) {
    let jobs: Vec<CountJob> = share.iter().map(|&job| all[job].clone()).collect();
    let counted = driver.count(&jobs);
    ((place, driver), share, counted)
}

/// Drivers of identical devices together, each with its place.
fn groups(drivers: Vec<Option<Driver>>) -> Vec<Vec<Member>> {
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
