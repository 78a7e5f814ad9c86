//! Marks where a picture or a region ends (VK_EXT_frame_boundary): tools that capture frames find them in a program
//! without a window.

use super::device::Device;
use super::error::GpuError;
use super::shared::DeviceShared;
use ash::vk;

/// The name of the tags that frames have, which are texts.
const TAG_NAME: u64 = u64::from_le_bytes(*b"anthill\0");

impl Device {
    /// Marks the end of a frame, such as `region [0, 64) x [0, 48)`, for tools; what was submitted before belongs to
    /// it. Does nothing where the driver does not offer such marks.
    pub fn end_frame(&self, title: &str) {
        if self.shared.marks_frames() {
            // A failure is found again when the device is used.
            let _ = submit_end(&self.shared, title);
        }
    }
}

/// Submits nothing but the end of a frame.
fn submit_end(shared: &DeviceShared, title: &str) -> Result<(), GpuError> {
    let mut end = frame_end(shared.next_frame(), title);
    shared.submit("the end of a frame", vk::SubmitInfo::default().push_next(&mut end), vk::Fence::null())
}

/// Returns what is chained to the last submission of a frame.
fn frame_end(number: u64, title: &str) -> vk::FrameBoundaryEXT<'_> {
    vk::FrameBoundaryEXT::default()
        .flags(vk::FrameBoundaryFlagsEXT::FRAME_END)
        .frame_id(number)
        .tag_name(TAG_NAME)
        .tag(title.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_frame_is_chained_with_its_number_and_title() {
        let mut end = frame_end(7, "region [0, 8) x [0, 4)");
        let info = vk::SubmitInfo::default().push_next(&mut end);
        assert_eq!(info.command_buffer_count, 0);
        let chained = info.p_next.cast::<vk::FrameBoundaryEXT<'_>>();
        // SAFETY: `push_next` stored the address of `end`, which is alive; its tag is the text above.
        let (chained, tag) = unsafe {
            let chained = &*chained;
            (chained, std::slice::from_raw_parts(chained.p_tag.cast::<u8>(), chained.tag_size))
        };
        assert_eq!(chained.s_type, vk::StructureType::FRAME_BOUNDARY_EXT);
        assert_eq!((chained.frame_id, chained.flags), (7, vk::FrameBoundaryFlagsEXT::FRAME_END));
        assert_eq!((tag, chained.image_count), (&b"region [0, 8) x [0, 4)"[..], 0));
        assert!(chained.p_next.is_null(), "nothing else");
    }
}
