//! The counting pass on several devices. Identical devices count once, in shares; where devices differ, each group of
//! identical ones counts for itself, because each pixel must be what its device would have drawn alone.

use crate::heap;
use crate::host_memory::HostMemory;
use crate::render::device::bound_split::cut_into_shares;
use crate::render::device::error::DeviceError;
use crate::render::device::measure_displacement::CountedView;
use crate::render::device::picture::Picture;
use crate::render::device::renderer::DeviceRenderer;
use crate::render::grids::list::{GridStore, ListError};
use crate::render::grids::order::{ShareGrids, SortedRun, merge_runs};
use crate::render::grids::picture_grids::{GridSums, PictureGrids};
use crate::render::session::devices::DeviceReopener;
use crate::schedule::Region;
use crossbeam::channel::{Receiver, Sender, bounded};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Primitives of one share of the counting pass, at most.
const SHARE_PRIMITIVES_MAX: u32 = 1 << 14;
/// Primitives of one share of the counting pass, at least, unless the picture has fewer.
const SHARE_PRIMITIVES_MIN: u32 = 16;
/// Shares for each of several devices, at least, so that the devices end together.
const DEVICE_SHARES: u64 = 8;

/// Parts of shares that wait until they are kept, for each device.
const FOUND_PARTS: usize = 1;

/// Measured displacement bounds are enlarged by this factor, because the vertices of the grids that are drawn are
/// elsewhere on the surface than those that were measured.
const MEASURED_SLACK: f32 = 1.05;

/// A device that takes part in counting.
pub(super) struct CountingDevice {
    /// Its position in the session's slots.
    pub slot: usize,
    pub renderer: DeviceRenderer,
}

/// The counting pass of a picture.
pub(super) struct CountingPass<'a> {
    pub picture: &'a Picture,
    /// All pixels of the picture, however few are drawn.
    pub whole: Region,
    /// What opens failed devices again, by slot.
    pub reopeners: &'a [DeviceReopener],
    pub memory: &'a Arc<HostMemory>,
    /// Bytes of a list of grids that stay in host memory, at most; longer lists go to a file.
    pub list_bytes: u64,
}

/// A device that has counted, and the grids that its group found.
pub(super) struct CountedDevice {
    pub renderer: DeviceRenderer,
    pub grids: Arc<PictureGrids>,
}

/// The list of grids could not be kept.
pub(super) struct CountingFailed {
    pub error: ListError,
    /// The devices that are left.
    pub devices: Vec<CountingDevice>,
}

/// Where devices that count leave the grids that they have found.
struct CountedShares {
    store: Arc<GridStore>,
    /// The parts of each share that was counted to its end.
    runs: Mutex<Vec<Option<Vec<SortedRun>>>>,
    /// What the grids of those shares add up to.
    sums: Mutex<GridSums>,
    /// Why a part could not be kept.
    refused: Mutex<Option<ListError>>,
}

/// Grids of a share on their way from a device to [`CountedShares`].
struct CountedPart {
    share: usize,
    grids: ShareGrids,
    /// Whether they are the share's last.
    last: bool,
}

impl CountedShares {
    /// Keeps the parts that a device finds, while it goes on. A share that it does not end is forgotten.
    fn keep(&self, found: &Receiver<CountedPart>) {
        let mut parts = Vec::new();
        for CountedPart { share, grids, last } in found {
            let kept = SortedRun::of(grids, &self.store).map(|run| parts.push(run));
            let kept = if last { kept.and_then(|()| self.end_share(share, std::mem::take(&mut parts))) } else { kept };
            if let Err(error) = kept {
                *self.refused.lock() = Some(error);
            }
        }
    }

    fn end_share(&self, share: usize, parts: Vec<SortedRun>) -> Result<(), ListError> {
        let mut sums = self.sums.lock();
        parts.iter().try_for_each(|part| sums.add(part.list()))?;
        self.runs.lock()[share] = Some(parts);
        Ok(())
    }
}

impl CountingPass<'_> {
    /// Returns the number of shares that counting can be cut into, for any number of devices.
    pub(super) fn share_count_max(&self) -> usize {
        cut_into_shares(&self.picture.world.runs, SHARE_PRIMITIVES_MIN).len()
    }

    /// Counts on all devices; one that fails again drops out.
    ///
    /// # Errors
    /// A list of grids that the host has no memory for, with the devices that are left.
    pub(super) fn run(
        &self,
        renderers: Vec<Option<DeviceRenderer>>,
    ) -> Result<Vec<Option<CountedDevice>>, CountingFailed> {
        let mut ready: Vec<Option<CountedDevice>> = renderers.iter().map(|_| None).collect();
        let groups = groups(renderers);
        let passes = if self.picture.world.unbounded.is_empty() { 1.0 } else { 2.0 };
        self.picture.tally.begin_counting(passes * (groups.len() as u64 * self.picture.world.primitive_count()) as f64);
        let counted: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = groups.into_iter().map(|group| scope.spawn(|| self.count_group(group))).collect();
            threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).collect()
        });
        if let Some(error) = counted.iter().find_map(|(_, counted)| counted.as_ref().err()).cloned() {
            let devices = counted.into_iter().flat_map(|(devices, _)| devices).collect();
            return Err(CountingFailed { error, devices });
        }
        for (devices, counted) in counted {
            let Ok(grids) = counted else { continue };
            for CountingDevice { slot, renderer } in devices {
                ready[slot] = Some(CountedDevice { renderer, grids: Arc::clone(&grids) });
            }
        }
        Ok(ready)
    }

    /// Counts on identical devices; returns those that are left.
    fn count_group(
        &self,
        mut devices: Vec<CountingDevice>,
    ) -> (Vec<CountingDevice>, Result<Arc<PictureGrids>, ListError>) {
        let counted = self.count_measured(&mut devices);
        (devices, counted)
    }

    /// Counts; where displacement bounds are missing, it first counts and measures all of the picture, so that what a
    /// crop window shows is part of the whole picture.
    fn count_measured(&self, devices: &mut Vec<CountingDevice>) -> Result<Arc<PictureGrids>, ListError> {
        let frame = &self.picture.world.frame;
        let view = CountedView { sampled_px: frame.sampled_px, bounds: &[] };
        if self.picture.world.unbounded.is_empty() {
            return Ok(Arc::new(self.count(devices, &view)?));
        }
        let whole = CountedView { sampled_px: frame.picture_px, ..view };
        self.retain(devices, |renderer| Ok(renderer.set_view(&whole)?));
        let counted = Arc::new(self.count(devices, &whole)?);
        let bounds = self.measure(devices, &counted)?;
        drop(counted);
        let bounded = CountedView { bounds: &bounds, ..view };
        self.retain(devices, |renderer| Ok(renderer.set_view(&bounded)?));
        let grids = self.count(devices, &bounded)?;
        Ok(Arc::new(PictureGrids { bounds_measured: bounds, ..grids }))
    }

    /// Devices take share after share. The share of a device that fails is counted by the others, or by itself when it
    /// is opened again. All devices have this view.
    fn count(&self, devices: &mut Vec<CountingDevice>, view: &CountedView<'_>) -> Result<PictureGrids, ListError> {
        let all = cut_into_shares(
            &self.picture.world.runs,
            share_primitives(self.picture.world.primitive_count(), devices.len()),
        );
        let counted = CountedShares {
            store: GridStore::new(self.memory, self.list_bytes),
            runs: Mutex::new(all.iter().map(|_| None).collect()),
            sums: Mutex::new(GridSums::new(view.sampled_px, &self.picture.widest_filter)),
            refused: Mutex::new(None),
        };
        loop {
            if self.picture.interrupt.is_raised() {
                return Err(ListError::Interrupted);
            }
            let open: Vec<usize> = (0..all.len()).filter(|&share| counted.runs.lock()[share].is_none()).collect();
            if open.is_empty() || devices.is_empty() || counted.refused.lock().is_some() {
                break;
            }
            let next = AtomicUsize::new(0);
            let work = |CountingDevice { slot, mut renderer }, found: Sender<CountedPart>| {
                let take = &mut || {
                    let share = *open.get(next.fetch_add(1, Ordering::Relaxed))?;
                    counted.refused.lock().is_none().then(|| (share, &all[share]))
                };
                let give = &mut |share, grids, last| {
                    found.send(CountedPart { share, grids, last }).expect("it keeps until this ends");
                };
                let result = renderer.count(take, give);
                (CountingDevice { slot, renderer }, result)
            };
            let results: Vec<_> = thread::scope(|scope| {
                let works = std::mem::take(devices).into_iter();
                let (counted, work) = (&counted, &work);
                let begin = |device| {
                    let (sender, found) = bounded(FOUND_PARTS);
                    scope.spawn(move || counted.keep(&found));
                    scope.spawn(move || work(device, sender))
                };
                let threads: Vec<_> = works.map(begin).collect();
                threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).collect()
            });
            for (device, result) in results {
                devices.extend(match result {
                    Ok(()) => Some(device),
                    Err(error) if error.is_interruption() => Some(device),
                    Err(error) => self.replace_failed(device, &error, |renderer| Ok(renderer.set_view(view)?)),
                });
            }
        }
        match counted.refused.into_inner() {
            Some(error) => Err(error),
            None => {
                let runs = counted.runs.into_inner().into_iter().flatten().flatten().collect();
                self.merge(runs, counted.sums.into_inner())
            }
        }
    }

    /// Merges the shares into one list.
    fn merge(&self, runs: Vec<SortedRun>, sums: GridSums) -> Result<PictureGrids, ListError> {
        let (list, lost) = merge_runs(&runs, &GridStore::new(self.memory, self.list_bytes))?;
        drop(runs);
        // The parts of shares were blocks of up to a few MiB.
        heap::trim();
        Ok(PictureGrids { list, totals: sums.finish(), lost, ..PictureGrids::default() })
    }

    /// Measures displacements without a declared bound, on the first device that can: it displaces all of them once.
    fn measure(
        &self,
        devices: &mut Vec<CountingDevice>,
        counted: &Arc<PictureGrids>,
    ) -> Result<Vec<(u32, f32)>, ListError> {
        let mut measured = None;
        self.retain(devices, |renderer| {
            if measured.is_none() {
                measured = match renderer.measure_displacement(counted, self.whole) {
                    Err(DeviceError::List(error)) => Some(Err(error)),
                    displaced_by => Some(Ok(displaced_by?)),
                };
            }
            Ok(())
        });
        let displaced_by = measured.transpose()?.unwrap_or_default();
        let most = |instance: u32| displaced_by.get(instance as usize).copied().unwrap_or(0.0);
        Ok(self.picture.world.unbounded.iter().map(|&instance| (instance, most(instance) * MEASURED_SLACK)).collect())
    }

    /// Keeps the devices that can do something, when they are opened again if necessary.
    fn retain(
        &self,
        devices: &mut Vec<CountingDevice>,
        mut act: impl FnMut(&mut DeviceRenderer) -> Result<(), DeviceError>,
    ) {
        for mut device in std::mem::take(devices) {
            devices.extend(match act(&mut device.renderer) {
                Ok(()) => Some(device),
                Err(error) => self.replace_failed(device, &error, &mut act),
            });
        }
    }

    /// Opens a failed device again, and has it do what it had done before.
    fn replace_failed(
        &self,
        failed: CountingDevice,
        error: &DeviceError,
        mut act: impl FnMut(&mut DeviceRenderer) -> Result<(), DeviceError>,
    ) -> Option<CountingDevice> {
        let CountingDevice { slot, renderer } = failed;
        drop(renderer.finish());
        let mut renderer = self.reopeners[slot].reopen_after(error)?;
        while let Err(error) = act(&mut renderer) {
            drop(renderer.finish());
            renderer = self.reopeners[slot].reopen_after(&error)?;
        }
        Some(CountingDevice { slot, renderer })
    }
}

/// Returns the number of primitives in a share, where this many devices count `all` primitives.
fn share_primitives(all: u64, devices: usize) -> u32 {
    if devices < 2 {
        return SHARE_PRIMITIVES_MAX;
    }
    let share = all / (devices as u64 * DEVICE_SHARES);
    share.clamp(SHARE_PRIMITIVES_MIN.into(), SHARE_PRIMITIVES_MAX.into()) as u32
}

/// Groups of identical devices.
fn groups(renderers: Vec<Option<DeviceRenderer>>) -> Vec<Vec<CountingDevice>> {
    let mut groups: Vec<Vec<CountingDevice>> = Vec::new();
    for (slot, renderer) in renderers.into_iter().enumerate() {
        let Some(renderer) = renderer else { continue };
        let is_like = |group: &&mut Vec<CountingDevice>| group[0].renderer.info().is_like(renderer.info());
        match groups.iter_mut().find(is_like) {
            Some(group) => group.push(CountingDevice { slot, renderer }),
            None => groups.push(vec![CountingDevice { slot, renderer }]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_devices_have_enough_shares_and_one_has_large_ones() {
        let of = |all| [1, 2, 8].map(|devices| share_primitives(all, devices));
        assert_eq!(of(4736), [SHARE_PRIMITIVES_MAX, 296, 74], "each of two has eight shares, and each of eight");
        assert_eq!(of(500_000), [SHARE_PRIMITIVES_MAX, SHARE_PRIMITIVES_MAX, 7812]);
        assert_eq!(of(3), [SHARE_PRIMITIVES_MAX, SHARE_PRIMITIVES_MIN, SHARE_PRIMITIVES_MIN]);
    }
}
