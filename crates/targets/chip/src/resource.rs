//! What a stage has and how much of it is used: one number for each resource.

use crate::describe::StageLimits;
use serde::Serialize;
use std::ops::{Index, IndexMut};

/// A resource of a stage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[allow(missing_docs)]
pub enum Resource {
    Sram,
    MapRam,
    Tcam,
    ExactCrossbar,
    TernaryCrossbar,
    HashBits,
    HashSlices,
    ExactTables,
    TernaryTables,
    LogicalTables,
    Gateways,
    MeterAlus,
    StatsAlus,
    Instructions,
    ActionData,
    ResultBuses,
}

impl Resource {
    /// All, in the order in which they are shown.
    pub const ALL: [Resource; 16] = [
        Resource::Sram,
        Resource::MapRam,
        Resource::Tcam,
        Resource::ExactCrossbar,
        Resource::TernaryCrossbar,
        Resource::HashBits,
        Resource::HashSlices,
        Resource::ExactTables,
        Resource::TernaryTables,
        Resource::LogicalTables,
        Resource::Gateways,
        Resource::MeterAlus,
        Resource::StatsAlus,
        Resource::Instructions,
        Resource::ActionData,
        Resource::ResultBuses,
    ];

    /// What it is called in text, with its unit.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Sram => "SRAM blocks",
            Resource::MapRam => "map RAMs",
            Resource::Tcam => "TCAM blocks",
            Resource::ExactCrossbar => "exact crossbar bytes",
            Resource::TernaryCrossbar => "ternary crossbar bytes",
            Resource::HashBits => "hash bits",
            Resource::HashSlices => "hash distribution slices",
            Resource::ExactTables => "exact tables",
            Resource::TernaryTables => "ternary tables",
            Resource::LogicalTables => "logical tables",
            Resource::Gateways => "gateways",
            Resource::MeterAlus => "meter and stateful ALUs",
            Resource::StatsAlus => "statistics ALUs",
            Resource::Instructions => "VLIW instructions",
            Resource::ActionData => "action data bytes",
            Resource::ResultBuses => "exact match result buses",
        }
    }

    /// A few letters for the head of a column.
    pub fn short(self) -> &'static str {
        match self {
            Resource::Sram => "sram",
            Resource::MapRam => "map",
            Resource::Tcam => "tcam",
            Resource::ExactCrossbar => "xbar",
            Resource::TernaryCrossbar => "txbar",
            Resource::HashBits => "hash",
            Resource::HashSlices => "hdist",
            Resource::ExactTables => "exact",
            Resource::TernaryTables => "tern",
            Resource::LogicalTables => "table",
            Resource::Gateways => "gate",
            Resource::MeterAlus => "meter",
            Resource::StatsAlus => "stats",
            Resource::Instructions => "vliw",
            Resource::ActionData => "adata",
            Resource::ResultBuses => "rbus",
        }
    }
}

/// An amount of each resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Amounts([u64; 16]);

impl Index<Resource> for Amounts {
    type Output = u64;
    fn index(&self, r: Resource) -> &u64 {
        &self.0[r as usize]
    }
}

impl IndexMut<Resource> for Amounts {
    fn index_mut(&mut self, r: Resource) -> &mut u64 {
        &mut self.0[r as usize]
    }
}

impl Amounts {
    /// What a stage has.
    pub fn of_stage(s: &StageLimits) -> Amounts {
        let mut a = Amounts::default();
        for (r, n) in [
            (Resource::Sram, s.sram_blocks),
            (Resource::MapRam, s.map_rams),
            (Resource::Tcam, s.tcam_blocks),
            (Resource::ExactCrossbar, s.exact_crossbar_bytes),
            (Resource::TernaryCrossbar, s.ternary_crossbar_bytes),
            (Resource::HashBits, s.hash_bits),
            (Resource::HashSlices, s.hash_slices),
            (Resource::ExactTables, s.exact_tables),
            (Resource::TernaryTables, s.ternary_tables),
            (Resource::LogicalTables, s.logical_tables),
            (Resource::Gateways, s.gateways),
            (Resource::MeterAlus, s.meter_alus),
            (Resource::StatsAlus, s.stats_alus),
            (Resource::Instructions, s.instructions),
            (Resource::ActionData, s.action_data_bytes),
            (Resource::ResultBuses, s.result_buses),
        ] {
            a[r] = n;
        }
        a
    }

    /// The sum.
    pub fn plus(&self, other: &Amounts) -> Amounts {
        let mut sum = *self;
        for r in Resource::ALL {
            sum[r] = sum[r].saturating_add(other[r]);
        }
        sum
    }

    /// The first resource of which this is more than `limit`, and how much.
    pub fn exceeds(&self, limit: &Amounts) -> Option<Resource> {
        Resource::ALL.into_iter().find(|r| self[*r] > limit[*r])
    }
}
