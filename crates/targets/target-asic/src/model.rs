//! What a described chip holds, and what it does for one packet. Everything here is modelled.
//!
//! A switch chip cannot run the whole UPF (`splitplane plan upf.p4` says why). It runs a program of its own that does the same to
//! the packets that it handles: `p4/tna/upf.p4`. The size of that program's session tables is how many sessions the
//! model holds; what such a chip cannot do for a packet is a limit of the model.

use chip::{Chip, Form, Refusal, Sizes};
use p4_interp::{Beyond, Limits};
use p4_ir::Ir;
use std::collections::BTreeMap;

/// A chip with a program of its own on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// `asic` or `nic`.
    pub(crate) target: &'static str,
    /// Entries of the tables that hold sessions, by name.
    pub capacities: BTreeMap<String, u64>,
    /// What a packet may ask for.
    pub limits: Limits,
    /// Bandwidth for packets that are sent round; 0 if the chip has no bound of its own.
    pub recirculation_gbps: u64,
}

impl Model {
    /// The chip with as many sessions as its program has room for, or as `sizes` asks for. `own` is the chip's
    /// program. The refusal says what ran out.
    pub fn of(chip: &Chip, own: &Ir, sizes: &Sizes) -> Result<Model, Refusal> {
        match &chip.form {
            Form::Switch(switch) => {
                let sessions = sizes.sessions.or_else(|| chip::max_sessions(own, chip, sizes));
                let sizes = Sizes { sessions: sessions.or(Some(1)), ..sizes.clone() };
                let placement = chip::place(own, chip, &sizes)?;
                let held = placement.tables.iter().filter(|t| t.session).map(|t| (t.name.clone(), t.entries));
                Ok(Model {
                    target: "asic",
                    capacities: held.collect(),
                    limits: Limits {
                        once: true,
                        parse_depth_bytes: switch.parser.depth_bytes.unwrap_or(u64::MAX),
                        varbits: false,
                        digests_per_second: switch.extras.digests_per_second,
                    },
                    recirculation_gbps: switch.recirculation_gbps,
                })
            }
            Form::Cores(cores) => {
                // Cores do what instructions can; only tables are bounded. Every table is cut to the chip's largest.
                let mut sizes = sizes.clone();
                for t in own.program.tables.values().filter(|t| !t.split && t.size > cores.table_entries) {
                    sizes.set.entry(t.name.clone()).or_insert(cores.table_entries);
                }
                let fits = |n: u64| chip::place_in_tiers(own, chip, &Sizes { sessions: Some(n), ..sizes.clone() }).is_ok();
                let most = || (0..30).rev().fold(0, |most, bit| if fits(most | 1 << bit) { most | 1 << bit } else { most });
                sizes.sessions = Some(sizes.sessions.unwrap_or_else(most).max(1));
                let placement = chip::place_in_tiers(own, chip, &sizes)?;
                let held = placement.arrays.iter().filter(|a| a.session).map(|a| (a.name.clone(), a.entries));
                Ok(Model {
                    target: "nic",
                    capacities: held.collect(),
                    limits: Limits { once: false, parse_depth_bytes: u64::MAX, varbits: true, digests_per_second: u64::MAX },
                    recirculation_gbps: 0,
                })
            }
        }
    }
}

/// Packets that a program recirculates or copies: the chip would do it, the model passes them to the next target.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Recirculation {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their part of the chip's bandwidth for this, since the first packet; 1 is all of it. 0 where there is no bound.
    pub share: f64,
}

impl Recirculation {
    pub(crate) fn of(beyond: &Beyond, elapsed_ns: u64, gbps: u64) -> Recirculation {
        let (packets, bytes) = (beyond.copies, beyond.copied_bytes);
        let room = elapsed_ns as f64 * gbps as f64; // Gbit/s are bits a nanosecond
        let share = if room > 0.0 { bytes as f64 * 8.0 / room } else { 0.0 };
        Recirculation { packets, bytes, share }
    }
}
