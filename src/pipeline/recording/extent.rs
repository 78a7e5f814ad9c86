//! How many workgroups a dispatch has, and how much they go through.

use super::{BufferRange, Slice};

/// How many workgroups run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// This many along x, y, z; a zero runs nothing.
    Direct([u32; 3]),
    /// As many as the three `uint` at this place say when the dispatch begins.
    Indirect(BufferRange),
}

impl Groups {
    /// Enough workgroups of `local_size` along x for `count` invocations. Devices refuse more than their limit (65,535
    /// or more): a kernel that may need more takes the rest along y.
    pub fn covering(count: u64, local_size: [u32; 3]) -> Self {
        let groups = count.div_ceil(u64::from(local_size[0]));
        Groups::Direct([u32::try_from(groups).unwrap_or(u32::MAX), 1, 1])
    }
}

impl From<u32> for Groups {
    fn from(x: u32) -> Self {
        Groups::Direct([x, 1, 1])
    }
}

/// What a dispatch goes through, as far as the host knows when it is recorded: for labels of captures, and for times of
/// kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Items {
    /// How many. Where a kernel before drops some, for instance grids that are hidden, it is the number before.
    pub count: u64,
    /// What they are, in the plural.
    pub unit: &'static str,
}

/// The workgroups of a dispatch, and what they go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchExtent {
    /// The workgroups.
    pub groups: Groups,
    /// What they go through; `None` if only the device knows.
    pub items: Option<Items>,
}

impl DispatchExtent {
    /// The extent of workgroups that go through `count` of something.
    pub fn of(groups: Groups, count: u64, unit: &'static str) -> Self {
        Self { groups, items: Some(Items { count, unit }) }
    }
}

impl From<Groups> for DispatchExtent {
    fn from(groups: Groups) -> Self {
        match groups {
            Groups::Direct(size) => Self::of(groups, size.map(u64::from).into_iter().product(), "workgroups"),
            Groups::Indirect(_) => Self { groups, items: None },
        }
    }
}

impl From<u32> for DispatchExtent {
    fn from(x: u32) -> Self {
        Groups::from(x).into()
    }
}

impl From<[u32; 3]> for DispatchExtent {
    fn from(groups: [u32; 3]) -> Self {
        Groups::Direct(groups).into()
    }
}

impl From<Slice<[u32; 3]>> for DispatchExtent {
    fn from(place: Slice<[u32; 3]>) -> Self {
        Groups::Indirect(place.range()).into()
    }
}
