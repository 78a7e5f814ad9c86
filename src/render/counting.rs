//! The counting pass on several devices. Identical devices count once, in shares; where devices differ, each group of identical ones
//! counts for itself, because each pixel must be what its device would have drawn alone.

use super::count::{Counted, jobs};
use super::devices::Reopener;
use super::driver::{Driver, DriverError, Picture};
use super::neighbours::arranged;
use crate::gpu;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Primitives of one job of the counting pass.
const JOB_PRIMITIVES: u32 = 1 << 14;

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

    /// Members take job after job; one that a failing member had is counted by the others, or by itself opened anew. Members
    /// know the displacement bounds that were measured.
    fn count(&self, members: &mut Vec<Member>, bounds: &[(u32, f32)]) -> Counted {
        let all = jobs(&self.picture.world.runs, JOB_PRIMITIVES);
        let lists = Mutex::new(vec![None; all.len()]);
        loop {
            let open: Vec<usize> = (0..all.len()).filter(|&job| lists.lock()[job].is_none()).collect();
            if open.is_empty() || members.is_empty() {
                break;
            }
            let next = AtomicUsize::new(0);
            let work = |(place, mut driver): Member| {
                let take = &mut || {
                    let job = *open.get(next.fetch_add(1, Ordering::Relaxed))?;
                    Some((job, &all[job]))
                };
                let counted = driver.count(take, &mut |job, list| lists.lock()[job] = Some(list));
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
                    Err(error) => self.instead(place, driver, &error, |driver| Ok(driver.bound(bounds)?)),
                };
                members.extend(kept.map(|driver| (place, driver)));
            }
        }
        let counted = arranged(lists.into_inner().into_iter().flatten().collect());
        // The lists of jobs were blocks of some 100 KiB.
        gpu::trim_heap();
        counted
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
