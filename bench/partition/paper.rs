//! What Chan et al. (2002) print in tables 1 and 3 to 5.

/// Cost and passes.
pub(crate) type Total = (u32, usize);

/// What is printed of a shader: its row of table 1, and its columns of tables 3 and 4, for PC 1 to PC 8.
pub(crate) struct Printed {
    /// Nodes, operations without textures, fetches, all operations, registers, textures, interpolants.
    pub(crate) counts: [u32; 7],
    /// Of exhaustive search, where it ended.
    pub(crate) optimal: [Option<Total>; 8],
    pub(crate) rds: [Total; 8],
    /// What RDS_h costs more than RDS, in percent.
    pub(crate) rds_h_more: [f64; 8],
}

/// The bowling pin.
pub(crate) const RBP: Printed = Printed {
    counts: [68, 27, 9, 36, 7, 9, 24],
    optimal: [
        Some((309, 11)),
        Some((125, 2)),
        Some((171, 4)),
        Some((269, 9)),
        Some((310, 11)),
        Some((179, 5)),
        Some((145, 3)),
        Some((87, 1)),
    ],
    rds: [(309, 11), (131, 2), (171, 4), (269, 9), (310, 11), (184, 5), (145, 3), (87, 1)],
    rds_h_more: [7.1, 0.0, 0.0, 8.2, 6.8, 3.8, 0.0, 0.0],
};

/// The bowling pin with bumps.
pub(crate) const BMBP: Printed = Printed {
    counts: [72, 33, 3, 36, 5, 3, 6],
    optimal: [
        Some((310, 12)),
        Some((109, 3)),
        Some((63, 1)),
        Some((84, 2)),
        Some((310, 12)),
        Some((111, 3)),
        Some((63, 1)),
        Some((63, 1)),
    ],
    rds: [(310, 12), (109, 3), (63, 1), (84, 2), (310, 12), (116, 3), (63, 1), (63, 1)],
    rds_h_more: [1.9, 0.0, 0.0, 52.4, 1.9, 10.3, 0.0, 0.0],
};

/// A procedural wood.
pub(crate) const WOOD: Printed = Printed {
    counts: [475, 175, 33, 208, 16, 6, 5],
    optimal: [None, None, Some((378, 2)), Some((374, 2)), None, None, Some((396, 3)), Some((355, 1))],
    rds: [(2685, 91), (1462, 32), (378, 2), (374, 2), (2681, 92), (937, 17), (396, 3), (355, 1)],
    rds_h_more: [5.7, 16.1, 0.0, 0.0, 6.8, 0.7, 99.0, 0.0],
};

/// Table 5: operations, registers, textures, interpolants and restores of the bowling pin's passes on PC 5.
pub(crate) const PASSES_PC_5: [[u32; 5]; 11] = [
    [5, 3, 2, 3, 0],
    [5, 3, 2, 2, 1],
    [5, 3, 2, 2, 1],
    [4, 1, 1, 4, 0],
    [2, 1, 1, 2, 0],
    [6, 2, 3, 4, 2],
    [5, 2, 2, 3, 1],
    [5, 3, 3, 1, 2],
    [4, 1, 1, 4, 0],
    [6, 2, 3, 4, 2],
    [6, 3, 3, 3, 2],
];

/// The same on PC 7.
pub(crate) const PASSES_PC_7: [[u32; 5]; 3] = [[10, 2, 3, 10, 0], [10, 2, 3, 10, 0], [24, 4, 8, 10, 2]];
