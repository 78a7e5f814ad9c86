//! A recording: what a device is to do, as plain data.
//!
//! Stages append commands to a [`Recording`]; a device turns it into its own commands and runs it. Nothing here knows
//! Vulkan, so that the order of passes can be printed and tested without a device.
//!
//! *Order.* Commands are passes: each sees all that those before it wrote, also those of recordings submitted earlier
//! to the same device. One full memory barrier between passes does this; drivers merge finer ones anyway, and a
//! forgotten one would be a wrong pixel on some other machine. Commands in a [`Recording::concurrent`] group are one
//! pass together: none reads or writes what another of the group writes, which is checked. In a
//! [`Recording::unordered`] group they may, if the result is the same in any order.

mod buffer;
mod dump;
mod extent;
mod kernel;
mod limits;
mod order;

pub use buffer::{Arena, ArenaFull, ArenaNeeds, Buffer, BufferRange, Slice, VIEW_SLACK, viewed_bytes};
pub use dump::{title, with_commas};
pub use extent::{DispatchExtent, Groups, Items};
pub use kernel::{
    Access, Binding, BindingForm, DRIVER_THREADS_ID, Kernel, KernelLines, KernelName, KernelParts, KernelWords,
    PushKind, PushMember, SourceText, hash,
};
pub use limits::{BINDINGS_MAX, PUSH_BYTES_MAX, SHARED_BYTES_MAX, WORKGROUP_INVOCATIONS_MAX};

use std::sync::Arc;

/// Offsets of parts of buffers that kernels are bound to are multiples of this: the largest
/// `minStorageBufferOffsetAlignment` that Vulkan permits a device to ask for.
pub const BINDING_ALIGNMENT: u64 = 256;

/// The largest range that a kernel is bound to: 128 MiB, the least that every device offers.
pub const BINDING_BYTES_MAX: u64 = 128 << 20;

/// The most workgroups along one axis: the least that every device offers.
pub const WORKGROUPS_MAX: u64 = 65_535;

/// The most data that one [`Recording::write`] may carry.
pub const WRITE_BYTES_MAX: u64 = 65_536;

/// One run of a kernel. Made by the generated `dispatch` functions of [`crate::pipeline::kernels`], whose types rule
/// out bindings in the wrong order; for compiled shaders it is made by hand.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// What runs.
    pub kernel: Arc<Kernel>,
    /// Bits of the specialisation constants; empty for the kernel's defaults.
    pub constants: Vec<u32>,
    /// How many workgroups.
    pub groups: Groups,
    /// What they go through; `None` if only the device knows.
    pub items: Option<Items>,
    /// What each binding of the kernel is bound to, in order.
    pub bindings: Vec<BufferRange>,
    /// The push constants' bytes.
    pub push: Vec<u8>,
}

/// One entry of a recording.
#[derive(Clone, Debug)]
pub enum Command {
    /// Run a kernel.
    Dispatch(Dispatch),
    /// Copy bytes; the ranges are of equal size and do not overlap.
    Copy {
        /// From here.
        from: BufferRange,
        /// To here.
        to: BufferRange,
    },
    /// Set every word of a range.
    Fill {
        /// The range; offset and size are multiples of 4.
        to: BufferRange,
        /// The word.
        value: u32,
    },
    /// Write data that the recording carries.
    Write {
        /// The range; offset and size are multiples of 4, at most [`WRITE_BYTES_MAX`].
        to: BufferRange,
        /// As many bytes as the range has.
        data: Vec<u8>,
    },
    /// The commands up to the matching end are one pass, independent of each other.
    BeginConcurrent,
    /// The commands up to the matching end are one pass: their order does not matter.
    BeginUnordered,
    /// Ends a group.
    EndGroup,
    /// A named part, for captures and dumps.
    BeginLabel(String),
    /// Ends a named part.
    EndLabel,
    /// The time until the matching end counts for this stage.
    BeginStage(&'static str),
    /// Ends a stage.
    EndStage,
}

/// A list of commands with a name. Its `Display` form is a readable dump.
#[derive(Clone, Debug)]
pub struct Recording {
    label: String,
    commands: Vec<Command>,
    stage_open: bool,
    group_open: bool,
}

impl Recording {
    /// An empty recording. The label names it in errors, time-outs and captures.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), commands: Vec::new(), stage_open: false, group_open: false }
    }

    /// The name.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The entries in order; begins and ends match.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// Appends a run of a kernel.
    pub fn dispatch(&mut self, dispatch: Dispatch) {
        self.commands.push(Command::Dispatch(dispatch));
    }

    /// Appends a copy.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn copy<T>(&mut self, from: Slice<T>, to: Slice<T>) {
        assert_eq!(from.count(), to.count(), "copy from {} to {}", from.range(), to.range());
        self.commands.push(Command::Copy { from: from.range(), to: to.range() });
    }

    /// Appends a fill with one word, whatever the slice's type is.
    pub fn fill<T>(&mut self, to: Slice<T>, value: u32) {
        self.commands.push(Command::Fill { to: to.range(), value });
    }

    /// Appends a write of a little data that travels in the recording.
    ///
    /// # Panics
    /// When slice and data differ in length.
    pub fn write<T: bytemuck::NoUninit>(&mut self, to: Slice<T>, data: &[T]) {
        assert_eq!(to.count(), data.len() as u64, "write to {}", to.range());
        self.commands.push(Command::Write { to: to.range(), data: bytemuck::cast_slice(data).to_vec() });
    }

    /// Appends what `body` records as one pass: its commands are independent of each other. Devices refuse a group in
    /// which one writes what another uses.
    ///
    /// # Panics
    /// When already in a group.
    pub fn concurrent(&mut self, body: impl FnOnce(&mut Self)) {
        self.group(Command::BeginConcurrent, body);
    }

    /// Appends what `body` records as one pass: its commands may write to the same buffers, but give the same in any
    /// order, because they write different records or only with atomic operations that commute. Nothing checks this
    /// claim. Under validation, which could not know, they run one after the other.
    ///
    /// # Panics
    /// When already in a group.
    pub fn unordered(&mut self, body: impl FnOnce(&mut Self)) {
        self.group(Command::BeginUnordered, body);
    }

    fn group(&mut self, begin: Command, body: impl FnOnce(&mut Self)) {
        assert!(!self.group_open, "groups do not nest");
        self.group_open = true;
        self.commands.push(begin);
        body(self);
        self.commands.push(Command::EndGroup);
        self.group_open = false;
    }

    /// Appends what `body` records under a name that captures and dumps show.
    pub fn labelled(&mut self, label: impl Into<String>, body: impl FnOnce(&mut Self)) {
        self.commands.push(Command::BeginLabel(label.into()));
        body(self);
        self.commands.push(Command::EndLabel);
    }

    /// Appends what `body` records as a stage: labelled, and its time on the device is measured. A stage may occur
    /// often; times of equal names add up.
    ///
    /// # Panics
    /// Inside a stage or a group, where times would not be the stage's own.
    pub fn stage(&mut self, name: &'static str, body: impl FnOnce(&mut Self)) {
        assert!(!self.stage_open && !self.group_open, "stage {name} inside a stage or a group");
        self.stage_open = true;
        self.commands.push(Command::BeginStage(name));
        body(self);
        self.commands.push(Command::EndStage);
        self.stage_open = false;
    }

    /// The number of commands that do something: runs of kernels, copies, fills, writes.
    pub fn work_count(&self) -> usize {
        let works = |command: &&Command| {
            matches!(
                command,
                Command::Dispatch(_) | Command::Copy { .. } | Command::Fill { .. } | Command::Write { .. }
            )
        };
        self.commands.iter().filter(works).count()
    }

    /// Replaces the kernels that are run by other forms of them.
    pub fn replace_kernels(&mut self, mut form: impl FnMut(&Kernel) -> Arc<Kernel>) {
        for command in &mut self.commands {
            if let Command::Dispatch(dispatch) = command {
                dispatch.kernel = form(&dispatch.kernel);
            }
        }
    }

    /// Every kernel that is run, in order, repeats included: for compiling ahead.
    pub fn dispatches(&self) -> impl Iterator<Item = &Dispatch> {
        self.commands.iter().filter_map(|command| match command {
            Command::Dispatch(dispatch) => Some(dispatch),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests;
