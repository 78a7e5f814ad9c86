//! The counting pass on several devices. Identical devices count once, in shares; where devices differ, each group of identical ones
//! counts for itself, because each pixel must be what its device would have drawn alone.

use super::count::{CountJob, Counted, jobs};
use super::driver::{Driver, DriverError, Picture};
use crate::diagnostic::{Diagnostic, Place, Reporter, Severity};
use std::sync::Arc;
use std::thread;

/// Primitives of one job of the counting pass.
const JOB_PRIMITIVES: u32 = 1 << 15;

/// Vertices of the grids that are drawn lie elsewhere on the surface than those that were measured: this much is added.
const MEASURED_SLACK: f32 = 1.05;

/// A device's place in the session, and its driver.
type Member = (usize, Driver);

/// What is counted, and who hears of trouble.
pub(crate) struct Counting<'a> {
    pub picture: &'a Picture,
    /// Pixels of the picture.
    pub crop: [u32; 4],
    pub reporter: &'a Reporter,
}

/// A driver that has counted, and what its group found.
pub(crate) struct Ready {
    pub driver: Driver,
    pub counted: Arc<Counted>,
}

impl Counting<'_> {
    /// Counts on all drivers; one that fails is reported and drops out.
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
        let mut counted = self.count(&mut members);
        if !self.picture.world.unbounded.is_empty() {
            let bounds = self.measure(&mut members, &counted);
            retain(&mut members, self.reporter, |driver| Ok(driver.bound(&bounds)?));
            counted = Counted { bounds_measured: bounds, ..self.count(&mut members) };
        }
        (members, Arc::new(counted))
    }

    /// Every member takes a share of the jobs; what a failing one leaves is counted by the others.
    fn count(&self, members: &mut Vec<Member>) -> Counted {
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
            for (member, share, counted) in results {
                match counted {
                    Ok(counted) => {
                        share.iter().zip(counted).for_each(|(&job, list)| lists[job] = Some(list));
                        members.push(member);
                    }
                    Err(error) => drop_out(member.1, self.reporter, &error),
                }
            }
        }
        Counted::concatenated(lists.into_iter().flatten())
    }

    /// Displacements without a declared bound are displaced once, by the first member that can, and measured.
    fn measure(&self, members: &mut Vec<Member>, counted: &Counted) -> Vec<(u32, f32)> {
        let mut moved = None;
        retain(members, self.reporter, |driver| {
            if moved.is_none() {
                moved = Some(driver.measure(counted, self.crop)?);
            }
            Ok(())
        });
        let moved = moved.unwrap_or_default();
        let most = |instance: u32| moved.get(instance as usize).copied().unwrap_or(0.0);
        self.picture.world.unbounded.iter().map(|&instance| (instance, most(instance) * MEASURED_SLACK)).collect()
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

/// Keeps the members that can do something; the others are reported.
fn retain(members: &mut Vec<Member>, reporter: &Reporter, mut act: impl FnMut(&mut Driver) -> Result<(), DriverError>) {
    for (place, mut driver) in std::mem::take(members) {
        match act(&mut driver) {
            Ok(()) => members.push((place, driver)),
            Err(error) => drop_out(driver, reporter, &error),
        }
    }
}

/// Closes a device that failed.
fn drop_out(driver: Driver, reporter: &Reporter, error: &DriverError) {
    report(reporter, error);
    drop(driver.finish());
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

/// Tells the user that a device drops out.
pub(crate) fn report(reporter: &Reporter, error: &DriverError) {
    let message = format!("{error}; it draws no more of this picture");
    reporter.report(Diagnostic::new(Severity::Error, "system", Place::default(), message).hint(error.hint()));
}
