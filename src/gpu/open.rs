//! Opens the devices that a selection names.

use super::compile::CompileThreads;
use super::device::{Device, OpenOptions};
use super::driver_cache;
use super::error::{GpuError, OpenDeviceTitle};
use super::instance::{Instance, Layers};
use super::physical::{DeviceInfo, enumerate};
use super::select::{select, unused_gpus};
use super::threads::single_threaded_cpu_devices;
use crate::diagnostic::{Diagnostic, Severity, SourceLocation};
use std::sync::Arc;
use std::thread;

/// One of the devices that a selection names.
pub struct Opening {
    /// The name of the device in messages.
    pub title: OpenDeviceTitle,
    /// The properties of the device, as listed.
    pub info: DeviceInfo,
    /// Bytes of memory that the device may use.
    pub budget_bytes: u64,
    /// The device, or why it did not open.
    pub device: Result<Device, GpuError>,
}

/// A device that is to be opened.
pub(super) struct RequestedDevice<'a> {
    pub(super) title: OpenDeviceTitle,
    pub(super) info: &'a DeviceInfo,
    pub(super) budget_bytes: u64,
}

/// Opens the devices that a selection names (see [`select`]), numbered in that order, from 0 unless the options say
/// otherwise.
///
/// # Errors
/// If there is no loader, driver or device, the selection matches nothing, or a device cannot be used.
pub fn open(selection: &str, options: &OpenOptions) -> Result<Vec<Device>, GpuError> {
    open_each(selection, options)?.into_iter().map(|opening| opening.device).collect()
}

/// Does what [`open`] does, but devices that do not open do not prevent the others from being used.
///
/// # Errors
/// If there is no loader, driver or device, or the selection matches nothing.
pub fn open_each(selection: &str, options: &OpenOptions) -> Result<Vec<Opening>, GpuError> {
    if options.single_threaded_cpu {
        single_threaded_cpu_devices()?;
    }
    driver_cache::report(&options.reporter);
    let instance = Instance::new(layers(options), &options.reporter)?;
    let mut infos: Vec<DeviceInfo> = enumerate(&instance)?.into_iter().map(|physical| physical.info).collect();
    if options.partial {
        infos.iter_mut().for_each(|info| info.usable = !info.lacking.iter().any(|lack| lack.fatal));
    }
    let chosen = select(&infos, selection)?;
    for message in unused_gpus(&infos, &chosen) {
        let note = Diagnostic::new(Severity::Info, "devices", SourceLocation::default(), message);
        options.reporter.report(note.hint("a newer driver may help; `anthill devices` says what it lacks and why"));
    }
    let threads = compile_threads(options)?;
    let requested = (options.first_number..).zip(&chosen).map(|(number, index)| {
        let info = &infos[*index];
        let title = OpenDeviceTitle { number, name: info.name.clone() };
        let times = chosen.iter().filter(|other| *other == index).count() as u64;
        let budget_bytes = budget(&title, info, times, options);
        RequestedDevice { title, info, budget_bytes }
    });
    let requested: Vec<RequestedDevice<'_>> = requested.collect();
    let devices = open_all(instance, &requested, options, &threads);
    let opening = |(requested, device): (RequestedDevice<'_>, Result<Device, GpuError>)| Opening {
        title: requested.title,
        info: requested.info.clone(),
        budget_bytes: requested.budget_bytes,
        device,
    };
    Ok(requested.into_iter().zip(devices).map(opening).collect())
}

/// Opens devices in parallel; under validation one after the other, because validation layers of 2023 keep devices in a
/// table without a lock. A single device gets the instance that listed it.
fn open_all(
    listed: Instance,
    requested: &[RequestedDevice<'_>],
    options: &OpenOptions,
    threads: &Arc<CompileThreads>,
) -> Vec<Result<Device, GpuError>> {
    if options.validate || requested.len() < 2 {
        let mut first = Some(listed);
        return requested.iter().map(|requested| open_one(first.take(), requested, options, threads)).collect();
    }
    let devices = thread::scope(|scope| {
        let open = |requested| scope.spawn(move || open_one(None, requested, options, threads));
        let opening: Vec<_> = requested.iter().map(open).collect();
        opening.into_iter().map(|thread| thread.join().expect("opening does not panic")).collect()
    });
    // Not before the threads have ended, even if no device has opened: drivers clean up after each thread, by code that
    // must still be loaded (see `CompileThreads`).
    drop(listed);
    devices
}

/// Opens again a device that was listed as `info`; if another device is now in its place, it is lost.
///
/// # Errors
/// If there is no loader or driver, or the device cannot be used.
pub fn reopen(info: &DeviceInfo, options: &OpenOptions) -> Result<Device, GpuError> {
    let title = OpenDeviceTitle { number: options.first_number, name: info.name.clone() };
    let budget_bytes = budget(&title, info, 1, options);
    open_one(None, &RequestedDevice { title, info, budget_bytes }, options, &compile_threads(options)?)
}

fn compile_threads(options: &OpenOptions) -> Result<Arc<CompileThreads>, GpuError> {
    let threads = CompileThreads::new(options.cache_folder.clone()).map(Arc::new);
    threads.map_err(|e| GpuError::NoInstance { reason: format!("no thread could be started to compile kernels: {e}") })
}

fn layers(options: &OpenOptions) -> Layers {
    Layers { validation: options.validate, capture: options.capture }
}

/// Opens one device on the given instance, or on a new one.
fn open_one(
    instance: Option<Instance>,
    requested: &RequestedDevice<'_>,
    options: &OpenOptions,
    threads: &Arc<CompileThreads>,
) -> Result<Device, GpuError> {
    let instance = instance.map_or_else(|| Instance::new(layers(options), &options.reporter), Ok);
    let instance = instance.map_err(|error| match error {
        GpuError::NoCaptureLayer { .. } => error,
        other => {
            GpuError::Vulkan { device: requested.title.clone(), doing: OPENING.to_string(), reason: other.to_string() }
        }
    })?;
    Device::open(instance, requested, options, threads)
}

/// How messages describe creating an instance and a device.
pub(super) const OPENING: &str = "opening it";

/// Returns the bytes of memory that a device may use.
fn budget(title: &OpenDeviceTitle, info: &DeviceInfo, times: u64, options: &OpenOptions) -> u64 {
    let has = info.memory_bytes;
    match options.memory_bytes {
        Some(requested) if requested.saturating_mul(times) > has => {
            let share = has / times;
            let message =
                format!("{title}: {requested} bytes of memory were requested, but only {share} are available");
            options.reporter.warn("memory", &SourceLocation::default(), message);
            share
        }
        Some(requested) => requested,
        None => has / 4 * 3 / times,
    }
}
