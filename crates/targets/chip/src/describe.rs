//! Chip descriptions: figures read from a file, embedded or the user's.
//!
//! Two kinds: a *switch* runs a program as stages with a fixed amount of each resource; *cores* run it as instructions on
//! tables in tiers of memory. Every figure of ours has its source as a comment in `data/`.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The chips that we describe, by name.
const OURS: &[(&str, &str)] = &[
    ("tofino1", include_str!("../data/tofino1.toml")),
    ("tofino2", include_str!("../data/tofino2.toml")),
    ("nfp4000", include_str!("../data/nfp4000.toml")),
];

/// Most of anything that a description may claim: far above any chip, far below where sums overflow.
const MOST: u64 = 1 << 40;
/// Most stages: placement takes time with their number.
const MOST_STAGES: usize = 256;

/// A chip.
#[derive(Clone, Debug, PartialEq)]
pub struct Chip {
    /// Short name, e.g. `tofino1`.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// Macros that its compiler defines.
    pub macros: BTreeMap<String, String>,
    /// Its figures.
    pub form: Form,
}

/// The two kinds of chips.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A pipeline of stages.
    Switch(Box<Switch>),
    /// Cores over tiers of memory.
    Cores(Cores),
}

/// Why a description is none. The fault is its author's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// There is no chip of that name.
    #[error("no chip `{0}`: there are {1}")]
    Unknown(String, String),
    /// It is not the TOML that it should be.
    #[error("chip description: {0}")]
    Syntax(String),
    /// A figure cannot be.
    #[error("chip description: {0} must be between {1} and {2}")]
    Range(String, u64, u64),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    name: String,
    about: String,
    kind: String,
    #[serde(default)]
    macros: BTreeMap<String, String>,
    switch: Option<Switch>,
    cores: Option<Cores>,
}

impl Chip {
    /// One of ours: `tofino1`, `tofino2`, `nfp4000`.
    pub fn named(name: &str) -> Result<Chip, DescriptionError> {
        match OURS.iter().find(|(n, _)| *n == name) {
            Some((_, text)) => Chip::parse(text),
            None => Err(DescriptionError::Unknown(name.to_owned(), Chip::names().join(", "))),
        }
    }

    /// The names of ours.
    pub fn names() -> Vec<&'static str> {
        OURS.iter().map(|(n, _)| *n).collect()
    }

    /// A description as TOML text; see `data/tofino1.toml` for the fields.
    pub fn parse(text: &str) -> Result<Chip, DescriptionError> {
        let read: Text = toml::from_str(text).map_err(|e| DescriptionError::Syntax(e.to_string()))?;
        let form = match (read.kind.as_str(), read.switch, read.cores) {
            ("switch", Some(s), None) => {
                s.check()?;
                Form::Switch(Box::new(s))
            }
            ("cores", None, Some(c)) => {
                c.check()?;
                Form::Cores(c)
            }
            ("switch" | "cores", ..) => {
                return Err(DescriptionError::Syntax(format!("kind `{}` wants the table [{}] and no other", read.kind, read.kind)));
            }
            (other, ..) => return Err(DescriptionError::Syntax(format!("kind `{other}` is neither `switch` nor `cores`"))),
        };
        let word = |name: &str| {
            let mut bytes = name.bytes();
            bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_') && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        if let Some(name) = read.macros.keys().find(|name| !word(name)) {
            return Err(DescriptionError::Syntax(format!("macros: `{name}` is no name of a macro")));
        }
        Ok(Chip { name: read.name, about: read.about, macros: read.macros, form })
    }
}

/// A pipeline of stages, one pipe of the chip.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Stages; ingress and egress share each.
    pub stages: usize,
    /// Core clock; one packet a clock.
    pub clock_mhz: u64,
    /// Of the pipe's ports together.
    pub ports_gbps: u64,
    /// Of what the pipe can send to itself.
    pub recirculation_gbps: u64,
    /// What each stage has.
    pub stage: StageLimits,
    /// How tables lie in memory.
    pub memory: Memory,
    /// What a gateway compares.
    pub gateway: Gateway,
    /// What a stateful ALU does in one packet's time.
    pub stateful: Stateful,
    /// Containers of the packet header vector.
    pub phv: Phv,
    /// Of each direction.
    pub parser: ParserLimits,
    /// Of each direction.
    pub deparser: DeparserLimits,
    /// Clocks.
    pub latency: Latency,
    /// What goes to the switch's CPU.
    pub extras: Extras,
}

/// What a stage has of each resource.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct StageLimits {
    pub sram_blocks: u64,
    pub map_rams: u64,
    pub tcam_blocks: u64,
    pub ternary_tables: u64,
    pub logical_tables: u64,
    pub exact_crossbar_bytes: u64,
    pub ternary_crossbar_bytes: u64,
    pub hash_bits: u64,
    pub exact_tables: u64,
    pub hash_slices: u64,
    pub gateways: u64,
    pub meter_alus: u64,
    pub stats_alus: u64,
    pub instructions: u64,
    pub action_data_bytes: u64,
    pub result_buses: u64,
}

/// How tables lie in memory.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Rows of an SRAM block.
    pub sram_rows: u64,
    /// Bits of a row.
    pub sram_bits: u64,
    /// Rows of a TCAM block.
    pub tcam_rows: u64,
    /// Bits of its row.
    pub tcam_bits: u64,
    /// Bits of an exact key that the row's place says.
    pub ghost_bits: u64,
    /// Version bits of an entry.
    pub version_bits: u64,
    /// Bits of each row that may hold what is not key.
    pub overhead_window_bits: u64,
    /// Most entries in a row.
    pub entries_a_row: u64,
    /// Most entries in a pack of rows.
    pub entries_a_pack: u64,
    /// Most rows of a pack.
    pub pack_rows: u64,
    /// Most bits of action data in an entry itself.
    pub immediate_bits: u64,
    /// Of these, what a meter's colour has.
    #[serde(default)]
    pub colour_bits: u64,
    /// Hash ways of a table.
    pub ways: u64,
    /// Hash bits of a way without those that select its block.
    pub hash_way_bits: u64,
    /// Prefixes of a partition of an algorithmic LPM table.
    pub alpm_bucket: u64,
    /// LPM tables of more prefixes are algorithmic.
    pub alpm_from: u64,
    /// Constants below this, and as far below zero, lie in any instruction; others come with the entry,
    pub small_constants: u64,
    /// but for those of so many bits that fill a container.
    pub constant_bits: u64,
    /// Bits of an address of action data beside its number.
    pub pointer_bits: u64,
    /// Rows of blocks of a partitioned table that are one logical table.
    pub partition_rows: u64,
    /// Bits of an exact key beyond `ghost_bits` up to which they choose the block without a hash.
    pub identity_bits: u64,
    /// Blocks that a memory written by the data plane has on top.
    pub spare_blocks: u64,
    /// Members of a selector's group that one word says of whether they are there.
    pub selector_members: u64,
    /// TCAM bits for a bit of range.
    pub range_bits_factor: u64,
}

/// What a gateway compares.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gateway {
    /// Alternatives.
    pub rows: u64,
    /// Bytes that it looks at, and, beyond them, one that comes through the hash.
    pub bytes: u64,
    /// Bits through the hash: for what is compared with a range.
    pub hash_bits: u64,
}

/// What a stateful ALU does.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stateful {
    /// Width of a cell.
    pub bits: u64,
    /// Comparisons.
    pub comparators: u64,
    /// Different things that may be done to one register.
    pub programs: u64,
}

/// Containers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phv {
    /// That stages reach.
    pub normal: Vec<Containers>,
    /// That stages read, and set as a whole.
    #[serde(default)]
    pub read_only: Vec<Containers>,
    /// That only parser and deparser reach, or stages only copy.
    pub tagalong: Vec<Containers>,
    /// Pieces of the packet that no stage looks at, and that lie in no container.
    #[serde(default)]
    pub pieces: Option<Pieces>,
}

/// Pieces of a packet that the deparser puts in as they came.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pieces {
    /// Of one packet in one direction.
    pub count: u64,
    /// Of one piece, at most.
    pub bytes: u64,
}

/// Containers of one width.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Containers {
    /// Width.
    pub bits: u64,
    /// How many.
    pub count: u64,
}

/// A parser's limits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParserLimits {
    /// Transitions.
    pub tcam_rows: u64,
    /// Bits that a transition looks at.
    pub match_bits: u64,
    /// Bytes that a state takes.
    pub extract_bytes: u64,
    /// Bytes of a packet that it reaches, if it has a limit.
    pub depth_bytes: Option<u64>,
    /// The same of egress, where that is a pipe of its own.
    pub egress_depth_bytes: Option<u64>,
    /// Checksums that it verifies.
    pub checksums: u64,
}

/// A deparser's limits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeparserLimits {
    /// Pieces that a packet is put together from.
    pub entries: u64,
    /// Bytes of a piece.
    pub entry_bytes: u64,
    /// Checksums that it computes.
    pub checksums: u64,
}

/// Clocks from the start of a stage to that of the next.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// If the next matches on what this one writes.
    pub base: u64,
    /// More, if this one has a TCAM.
    pub tcam: u64,
    /// More, if this one has a meter or a register.
    pub meter: u64,
    /// If only the next one's actions use what this one writes.
    pub action: u64,
    /// If the next one uses nothing of this.
    pub concurrent: u64,
    /// Least clocks of egress.
    pub egress_minimum: u64,
    /// Whether stages can run concurrently.
    pub concurrent_stages: bool,
}

/// What goes to the switch's CPU.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extras {
    /// Kinds of digests.
    pub digest_types: u64,
    /// Bytes of one.
    pub digest_bytes: u64,
    /// How many reach the CPU.
    pub digests_per_second: u64,
}

/// Cores over tiers of memory.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cores {
    /// Cores.
    pub count: u64,
    /// Hardware threads of a core.
    pub threads: u64,
    /// Clock.
    pub clock_mhz: u64,
    /// Line rate.
    pub line_gbps: u64,
    /// Most entries of a table.
    pub table_entries: u64,
    /// Most tables.
    pub tables: u64,
    /// Entries are whole multiples of so many bytes.
    pub entry_bytes: u64,
    /// Bytes of an entry beside key and action data.
    pub entry_overhead_bytes: u64,
    /// Cycles for a parser state.
    pub state_cycles: u64,
    /// Cycles for a look-up's instructions.
    pub lookup_cycles: u64,
    /// Cycles for an assignment or comparison.
    pub operation_cycles: u64,
    /// Cycles for a packet, whatever is done with it.
    pub packet_cycles: u64,
    /// From fast to slow.
    pub tier: Vec<Tier>,
}

/// A tier of memory.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Name.
    pub name: String,
    /// Size.
    pub bytes: u64,
    /// Of an access.
    pub latency_cycles: u64,
    /// Part that is taken before any table.
    pub used: f64,
    /// Whether tables may lie there.
    pub tables: bool,
}

fn within(what: &str, value: u64, low: u64, high: u64) -> Result<(), DescriptionError> {
    if (low..=high).contains(&value) { Ok(()) } else { Err(DescriptionError::Range(what.to_owned(), low, high)) }
}

fn part(what: &str, value: f64) -> Result<(), DescriptionError> {
    if value.is_finite() && (0.0..=1.0).contains(&value) { Ok(()) } else { Err(DescriptionError::Range(what.to_owned(), 0, 1)) }
}

impl Switch {
    /// Everything that is divided by must not be zero, and nothing may be so large that sums overflow.
    fn check(&self) -> Result<(), DescriptionError> {
        within("stages", self.stages as u64, 1, MOST_STAGES as u64)?;
        let (s, m) = (&self.stage, &self.memory);
        for (what, value) in [
            ("sram_blocks", s.sram_blocks),
            ("map_rams", s.map_rams),
            ("tcam_blocks", s.tcam_blocks),
            ("ternary_tables", s.ternary_tables),
            ("logical_tables", s.logical_tables),
            ("exact_crossbar_bytes", s.exact_crossbar_bytes),
            ("ternary_crossbar_bytes", s.ternary_crossbar_bytes),
            ("hash_bits", s.hash_bits),
            ("exact_tables", s.exact_tables),
            ("hash_slices", s.hash_slices),
            ("gateways", s.gateways),
            ("meter_alus", s.meter_alus),
            ("stats_alus", s.stats_alus),
            ("instructions", s.instructions),
            ("action_data_bytes", s.action_data_bytes),
            ("result_buses", s.result_buses),
            ("ghost_bits", m.ghost_bits),
            ("version_bits", m.version_bits),
            ("immediate_bits", m.immediate_bits),
            ("hash_way_bits", m.hash_way_bits),
            ("alpm_from", m.alpm_from),
            ("small_constants", m.small_constants),
            ("constant_bits", m.constant_bits),
            ("pointer_bits", m.pointer_bits),
            ("identity_bits", m.identity_bits),
            ("spare_blocks", m.spare_blocks),
            ("parser.tcam_rows", self.parser.tcam_rows),
            ("parser.depth_bytes", self.parser.depth_bytes.unwrap_or(0)),
            ("parser.egress_depth_bytes", self.parser.egress_depth_bytes.unwrap_or(0)),
            ("parser.checksums", self.parser.checksums),
            ("deparser.entries", self.deparser.entries),
            ("deparser.checksums", self.deparser.checksums),
            ("stateful.bits", self.stateful.bits),
            ("stateful.comparators", self.stateful.comparators),
            ("stateful.programs", self.stateful.programs),
            ("digest_types", self.extras.digest_types),
            ("digest_bytes", self.extras.digest_bytes),
            ("digests_per_second", self.extras.digests_per_second),
            ("latency.base", self.latency.base),
            ("latency.tcam", self.latency.tcam),
            ("latency.meter", self.latency.meter),
            ("latency.action", self.latency.action),
            ("latency.concurrent", self.latency.concurrent),
            ("latency.egress_minimum", self.latency.egress_minimum),
        ] {
            within(what, value, 0, 1 << 24)?;
        }
        for (what, value) in [
            ("clock_mhz", self.clock_mhz),
            ("ports_gbps", self.ports_gbps),
            ("recirculation_gbps", self.recirculation_gbps),
            ("sram_rows", m.sram_rows),
            ("sram_bits", m.sram_bits),
            ("tcam_rows", m.tcam_rows),
            ("tcam_bits", m.tcam_bits),
            ("overhead_window_bits", m.overhead_window_bits),
            ("alpm_bucket", m.alpm_bucket),
            ("selector_members", m.selector_members),
            ("gateway.rows", self.gateway.rows),
            ("gateway.bytes", self.gateway.bytes),
            ("gateway.hash_bits", self.gateway.hash_bits),
            ("parser.match_bits", self.parser.match_bits),
            ("parser.extract_bytes", self.parser.extract_bytes),
            ("deparser.entry_bytes", self.deparser.entry_bytes),
        ] {
            within(what, value, 1, 1 << 24)?;
        }
        within("entries_a_row", m.entries_a_row, 1, 64)?;
        within("entries_a_pack", m.entries_a_pack, 1, 64)?;
        within("pack_rows", m.pack_rows, 1, 64)?;
        within("ways", m.ways, 1, 64)?;
        within("range_bits_factor", m.range_bits_factor, 1, 64)?;
        within("constant_bits", m.constant_bits, 1, 64)?;
        within("partition_rows", m.partition_rows, 1, 64)?;
        for c in self.phv.normal.iter().chain(&self.phv.read_only).chain(&self.phv.tagalong) {
            within("phv bits", c.bits, 1, 1024)?;
            within("phv count", c.count, 0, 1 << 16)?;
        }
        within("phv kinds", (self.phv.normal.len() + self.phv.read_only.len() + self.phv.tagalong.len()) as u64, 1, 16)
    }
}

impl Cores {
    fn check(&self) -> Result<(), DescriptionError> {
        for (what, value) in [
            ("count", self.count),
            ("threads", self.threads),
            ("clock_mhz", self.clock_mhz),
            ("line_gbps", self.line_gbps),
            ("table_entries", self.table_entries),
            ("tables", self.tables),
            ("entry_bytes", self.entry_bytes),
        ] {
            within(what, value, 1, 1 << 24)?;
        }
        for (what, value) in [
            ("entry_overhead_bytes", self.entry_overhead_bytes),
            ("state_cycles", self.state_cycles),
            ("lookup_cycles", self.lookup_cycles),
            ("operation_cycles", self.operation_cycles),
            ("packet_cycles", self.packet_cycles),
        ] {
            within(what, value, 0, 1 << 24)?;
        }
        within("tiers", self.tier.len() as u64, 1, 32)?;
        for t in &self.tier {
            within("bytes of a tier", t.bytes, 1, MOST)?;
            within("latency_cycles of a tier", t.latency_cycles, 0, 1 << 24)?;
            part("used of a tier", t.used)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_chips_are_what_their_sources_say() {
        for name in Chip::names() {
            let chip = Chip::named(name).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(chip.name, name);
        }
        let Form::Switch(t1) = Chip::named("tofino1").unwrap().form else { panic!("a switch") };
        let bits = |all: &[Containers]| all.iter().map(|c| c.bits * c.count).sum::<u64>();
        assert_eq!(bits(&t1.phv.normal), 4096);
        assert_eq!(t1.stage.sram_blocks * t1.stages as u64 * 16, 15 * 1024, "15 MiB in KiB");
        let Form::Switch(t2) = Chip::named("tofino2").unwrap().form else { panic!("a switch") };
        assert_eq!(t2.stage.sram_blocks * t2.stages as u64 * 16, 25 * 1024, "25 MiB in KiB");
    }

    #[test]
    fn a_wrong_description_is_refused_by_name() {
        let good = OURS[0].1;
        let bad = |from: &str, to: &str| {
            assert!(good.contains(from), "{from}");
            Chip::parse(&good.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(bad("stages = 12", "stages = 0").contains("stages must be between 1 and 256"));
        assert!(bad("sram_rows = 1024", "sram_rows = 0").contains("sram_rows"));
        assert!(bad("constant_bits = 21", "constant_bits = 0").contains("constant_bits"));
        assert!(bad("stages = 12", "stages = 12\nstagess = 3").contains("stagess"));
        assert!(bad("kind = \"switch\"", "kind = \"fpga\"").contains("fpga"));
        assert!(bad("kind = \"switch\"", "kind = \"cores\"").contains("[cores]"));
        assert!(Chip::named("tofino3").unwrap_err().to_string().contains("tofino1, tofino2, nfp4000"));
        assert!(Chip::parse(&"[".repeat(100_000)).is_err());
    }
}
