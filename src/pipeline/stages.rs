//! Which descriptor is whose: the one list of all processes.

use super::stage::{Process, StageDescriptor};
use super::{composite, dice, displace, filter, hide, layers, sample, select, shade, solids, visibility};

impl Process {
    /// What its stage says of it.
    pub const fn descriptor(self) -> &'static StageDescriptor {
        match self {
            Self::ClearSelection => &select::CLEAR_SELECTION,
            Self::Choose => &select::CHOOSE,
            Self::Rank => &select::RANK,
            Self::Gather => &select::GATHER,
            Self::SortForHiding => &select::SORT_FOR_HIDING,
            Self::BlurSamples => &hide::BLUR_SAMPLES,
            Self::Dice => &dice::DICE,
            Self::Displace => &displace::DISPLACE,
            Self::Hide => &hide::HIDE,
            Self::RenewBlocks => &hide::RENEW_BLOCKS,
            Self::KeepVisible => &visibility::KEEP_VISIBLE,
            Self::RecallVisible => &visibility::RECALL_VISIBLE,
            Self::ClearResolved => &composite::CLEAR_RESOLVED,
            Self::ClearEntries => &sample::CLEAR_ENTRIES,
            Self::CarrySolids => &solids::CARRY_SOLIDS,
            Self::Sample => &sample::SAMPLE,
            Self::ListEntries => &sample::LIST_ENTRIES,
            Self::ScatterEntries => &sample::SCATTER_ENTRIES,
            Self::SortEntries => &sample::SORT_ENTRIES,
            Self::CutSolids => &solids::CUT_SOLIDS,
            Self::KeepSolids => &solids::KEEP_SOLIDS,
            Self::Mark => &shade::MARK,
            Self::MarkAll => &shade::MARK_ALL,
            Self::MarkUnseen => &shade::MARK_UNSEEN,
            Self::NumberVisible => &shade::NUMBER_VISIBLE,
            Self::PlaceEntries => &composite::PLACE_ENTRIES,
            Self::SortForShading => &shade::SORT_FOR_SHADING,
            Self::Shade => &shade::SHADE,
            Self::ListLayers => &layers::LIST_LAYERS,
            Self::CompositeSlab => &composite::COMPOSITE_SLAB,
            Self::CompositeOpaque => &composite::COMPOSITE_OPAQUE,
            Self::Filter => &filter::FILTER,
            Self::FilterDepth => &filter::FILTER_DEPTH,
        }
    }
}
