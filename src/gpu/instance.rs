//! The connection to the Vulkan loader, with validation and debug messages if requested.

use super::error::GpuError;
use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use ash::{ext, vk};
use parking_lot::Mutex;
use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// RenderDoc's layer.
pub(super) const CAPTURE_LAYER: &CStr = c"VK_LAYER_RENDERDOC_Capture";

/// The layers that are on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layers {
    /// Core and synchronization validation.
    pub validation: bool,
    /// RenderDoc's capture layer.
    pub capture: bool,
}

/// A `VkInstance`. Every opened device has its own: CPU drivers then give each device its own threads, and capture
/// tools work, which fail at a second device of one instance.
pub(super) struct Instance {
    raw: ash::Instance,
    debug_utils: bool,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    /// The messenger's user data points to this; it is boxed so that it does not move, and dropped after the messenger.
    target: Box<MessageTarget>,
    /// The loader library, which must stay loaded for as long as the instance lives.
    entry: ash::Entry,
}

/// Where messages of layers and drivers go.
struct MessageTarget {
    reporter: Mutex<Arc<Reporter>>,
}

impl Instance {
    /// Starts Vulkan with these layers. Validation reports to `reporter`.
    pub(super) fn new(layers: Layers, reporter: &Arc<Reporter>) -> Result<Self, GpuError> {
        // SAFETY: the library that `load` opens is the system's Vulkan loader, whose initialisers have no
        // preconditions; `entry` keeps it loaded until the instance is destroyed.
        let entry = unsafe { ash::Entry::load() }.map_err(|e| GpuError::NoLoader { reason: e.to_string() })?;
        let validate = layers.validation;
        if validate && layer(&entry, VALIDATION_LAYER)?.is_none() {
            return Err(GpuError::NoValidationLayer);
        }
        let debug_utils = has_extension(&entry, None, ext::debug_utils::NAME)?
            || validate && has_extension(&entry, Some(VALIDATION_LAYER), ext::debug_utils::NAME)?;
        let target = Box::new(MessageTarget { reporter: Mutex::new(Arc::clone(reporter)) });
        let raw = create(&entry, layers, debug_utils)?;
        let messenger = if validate && debug_utils { Some(create_messenger(&entry, &raw, &target)?) } else { None };
        Ok(Self { raw, debug_utils, messenger, target, entry })
    }

    /// Returns the functions of the instance.
    pub(super) fn raw(&self) -> &ash::Instance {
        &self.raw
    }

    /// Sends messages of layers and drivers elsewhere from now on.
    pub(super) fn report_to(&self, reporter: &Arc<Reporter>) {
        *self.target.reporter.lock() = Arc::clone(reporter);
    }

    /// Returns the version of a layer, if it is installed.
    pub(super) fn layer_version(&self, name: &CStr) -> Option<String> {
        Some(layer_version(layer(&self.entry, name).ok()??.implementation_version))
    }

    /// Whether somebody reads the names of objects on a physical device: a layer that captures or validates, or a
    /// profiler. Where the driver cannot say, somebody might.
    pub(super) fn is_observed(&self, physical: vk::PhysicalDevice) -> bool {
        self.observers(physical).is_none_or(|tools| !tools.is_empty())
    }

    /// Returns the names of the tools that observe a physical device; `None` if it lacks VK_EXT_tooling_info.
    pub(super) fn observers(&self, physical: vk::PhysicalDevice) -> Option<Vec<String>> {
        // SAFETY: callers pass a physical device that was listed from this instance.
        let extensions = unsafe { self.raw.enumerate_device_extension_properties(physical) }.unwrap_or_default();
        let name = ext::tooling_info::NAME;
        if !extensions.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name)) {
            return None;
        }
        let tooling = ext::tooling_info::Instance::new(&self.entry, &self.raw);
        // SAFETY: callers pass a physical device that was listed from this instance, and that has the extension, whose
        // function is one of the instance.
        let tools = unsafe { tooling.get_physical_device_tool_properties(physical) }.unwrap_or_default();
        let name = |tool: &vk::PhysicalDeviceToolProperties<'_>| {
            tool.name_as_c_str().map_or_else(|_| String::new(), |name| name.to_string_lossy().into_owned())
        };
        Some(tools.iter().map(name).collect())
    }

    /// Whether objects can be named and commands labelled.
    pub(super) fn debug_utils(&self) -> bool {
        self.debug_utils
    }
}

/// Whether an instance was kept.
static KEPT: AtomicBool = AtomicBool::new(false);

impl Drop for Instance {
    /// Destroys the instance. The first one is kept for as long as the process runs: without any, the loader unloads
    /// the drivers, and a GPU driver that is loaded hundreds of times in a process fails or crashes.
    fn drop(&mut self) {
        // SAFETY: `Device::drop` destroys the VkDevice before it gives up its instance, and the devices of
        // `PrecompileDevices` before that. The messenger was created from this instance, and `take` leaves no second
        // handle of it.
        unsafe {
            if let Some((debug, messenger)) = self.messenger.take() {
                debug.destroy_debug_utils_messenger(messenger, None);
            }
            if KEPT.swap(true, Ordering::Relaxed) {
                self.raw.destroy_instance(None);
            } else {
                std::mem::forget(self.entry.clone());
            }
        }
    }
}

fn no_instance(result: vk::Result) -> GpuError {
    GpuError::NoInstance { reason: result.to_string() }
}

/// Returns a layer that is installed.
fn layer(entry: &ash::Entry, name: &CStr) -> Result<Option<vk::LayerProperties>, GpuError> {
    // SAFETY: `entry` holds the loaded library; enumerating layers has no other precondition.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.map_err(no_instance)?;
    Ok(layers.into_iter().find(|layer| layer.layer_name_as_c_str() == Ok(name)))
}

/// Returns the version of the capture layer, if it is installed.
///
/// # Errors
/// If there is no loader.
pub(super) fn capture_layer_version() -> Result<Option<u32>, GpuError> {
    // SAFETY: as in `Instance::new`; `entry` lives as long as this function uses it.
    let entry = unsafe { ash::Entry::load() }.map_err(|e| GpuError::NoLoader { reason: e.to_string() })?;
    Ok(layer(&entry, CAPTURE_LAYER)?.map(|layer| layer.implementation_version))
}

/// Returns the version of a layer in words. RenderDoc writes only its minor version there, of version 1.
fn layer_version(version: u32) -> String {
    let (major, minor) = (version >> 16, version & 0xffff);
    format!("{}.{minor}", major.max(1))
}

fn has_extension(entry: &ash::Entry, layer: Option<&CStr>, name: &CStr) -> Result<bool, GpuError> {
    // SAFETY: `entry` holds the loaded library; `layer` is null, or the validation layer once
    // `Instance::new` has found it with `layer`.
    let extensions = unsafe { entry.enumerate_instance_extension_properties(layer) }.map_err(no_instance)?;
    Ok(extensions.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name)))
}

fn create(entry: &ash::Entry, wanted: Layers, debug_utils: bool) -> Result<ash::Instance, GpuError> {
    let application = vk::ApplicationInfo::default()
        .application_name(c"anthill")
        .engine_name(c"anthill")
        .api_version(vk::API_VERSION_1_2);
    let mut extensions = Vec::new();
    let mut layers = Vec::new();
    if debug_utils {
        extensions.push(ext::debug_utils::NAME.as_ptr());
    }
    if wanted.capture {
        layers.push(CAPTURE_LAYER.as_ptr());
    }
    if wanted.validation {
        layers.push(VALIDATION_LAYER.as_ptr());
        extensions.push(ext::validation_features::NAME.as_ptr());
    }
    let enabled = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
    let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled);
    let mut info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_extension_names(&extensions)
        .enabled_layer_names(&layers);
    if wanted.validation {
        info = info.push_next(&mut features);
    }
    // SAFETY: `application`, `extensions`, `layers` and `features`, to which `info` points, are locals that outlive the
    // call, and the names are C string constants; `Instance::new` asked the loader for the layer and the debug
    // extension.
    unsafe { entry.create_instance(&info, None) }.map_err(|result| match result {
        vk::Result::ERROR_LAYER_NOT_PRESENT if wanted.capture => {
            GpuError::NoCaptureLayer { reason: result.to_string() }
        }
        other => no_instance(other),
    })
}

fn create_messenger(
    entry: &ash::Entry,
    instance: &ash::Instance,
    target: &MessageTarget,
) -> Result<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT), GpuError> {
    let debug = ext::debug_utils::Instance::new(entry, instance);
    let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
        .pfn_user_callback(Some(on_message))
        .user_data(std::ptr::from_ref(target).cast_mut().cast());
    // SAFETY: the caller created `instance` with the debug extension. `target` is boxed in the `Instance`, whose drop
    // destroys the messenger first, and `on_message` only reads it.
    let messenger = unsafe { debug.create_debug_utils_messenger(&info, None) }.map_err(no_instance)?;
    Ok((debug, messenger))
}

/// Called by the validation layer, on the thread that made the invalid call.
unsafe extern "system" fn on_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user_data: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: `user_data` is the pointer to the `MessageTarget` that `create_messenger` registered: it outlives the
    // messenger, and is only read, on any thread (`Reporter` is `Sync`). Vulkan passes a valid `data`, whose strings
    // are null or C strings, for the duration of the call.
    let (target, id, message) = unsafe {
        let data = &*data;
        (&*user_data.cast::<MessageTarget>(), data.message_id_name_as_c_str(), data.message_as_c_str())
    };
    let text = |string: Option<&CStr>| string.map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let message = format!("{}: {}", text(id), text(message));
    let severity = match severity {
        vk::DebugUtilsMessageSeverityFlagsEXT::ERROR => Severity::Error,
        _ => Severity::Warning,
    };
    let reporter = Arc::clone(&target.reporter.lock());
    reporter.report(Diagnostic::new(severity, "validation", SourceLocation::default(), message));
    vk::FALSE
}
