//! The result of reading a stream.

/// Why reading ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// An input could not be opened or decompressed, which was reported; the others were read.
    Unreadable,
    /// An error occurred under `ErrorHandler "abort"`.
    Aborted,
    /// The consumer of worlds asked to stop, or the interrupt was raised.
    Consumer,
}

/// The result of reading a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of worlds that were passed to the consumer.
    pub worlds: u32,
    /// Number of textures that were passed to the consumer.
    pub textures: u32,
    /// Number of requests that were read.
    pub requests: u64,
    /// Number of reported errors, repeats included.
    pub errors: u64,
    /// Whether something was not read: the end of a text is missing or does not fit in host memory, it is damaged, or
    /// an archive cannot be read.
    pub incomplete: bool,
    /// Number of requests for geometry that is not supported or not valid.
    pub left_out: u64,
    /// Why reading ended before the end of the input, if it did.
    pub stopped: Option<Stopped>,
}
