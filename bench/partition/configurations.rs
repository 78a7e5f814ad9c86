//! Tables 2 to 4 of Chan et al. (2002): pipeline configurations and cost models.

use spirv_gen::partition::{Architecture, CostModel, Limits, UNLIMITED};

/// A pipeline configuration (PC) with one output.
const fn configuration(operations: u32, registers: u32, textures: u32, interpolants: u32) -> Limits {
    Limits { operations, registers, textures, interpolants, outputs: 1 }
}

/// Table 2: PC 1 to PC 8.
pub(crate) const CONFIGURATIONS: [Limits; 8] = [
    configuration(6, UNLIMITED, UNLIMITED, UNLIMITED),
    configuration(UNLIMITED, 4, UNLIMITED, UNLIMITED),
    configuration(UNLIMITED, UNLIMITED, 4, UNLIMITED),
    configuration(UNLIMITED, UNLIMITED, UNLIMITED, 4),
    configuration(6, 4, 4, 4),
    configuration(24, 8, 8, 8),
    configuration(128, 12, 16, 12),
    configuration(UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED),
];

/// The cost models of section 5.2; the first is that of all tables.
pub(crate) const COST_MODELS: [(&str, CostModel); 5] = [
    ("15/5/1", CostModel::linear(15.0, 5.0, 1.0)),
    ("5/3/1", CostModel::linear(5.0, 3.0, 1.0)),
    ("3/2/1", CostModel::linear(3.0, 2.0, 1.0)),
    ("1/1/1", CostModel::linear(1.0, 1.0, 1.0)),
    ("0/1/1", CostModel::linear(0.0, 1.0, 1.0)),
];

/// A pipeline configuration, by its number in table 2, with the cost model of the tables.
pub(crate) fn pc(number: usize) -> Architecture {
    Architecture::fetching(CONFIGURATIONS[number - 1], COST_MODELS[0].1)
}

/// The same with so many outputs.
pub(crate) fn with_outputs(architecture: Architecture, outputs: u32) -> Architecture {
    Architecture { limits: Limits { outputs, ..architecture.limits }, ..architecture }
}
