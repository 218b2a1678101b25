//! Tables, actions, counters and meters of a program.

use crate::ids::P4Ids;
use crate::{BitField, Fingerprint};
use cranelift_entity::{PrimaryMap, entity_impl};
use std::collections::HashSet;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);
        entity_impl!($name, $prefix);
    };
}
id!(/// A table.
    TableId, "table");
id!(/// An action.
    ActionId, "action");
id!(/// A counter array, direct or indexed.
    CounterId, "counter");
id!(/// A meter array, direct or indexed.
    MeterId, "meter");
id!(/// A register array.
    RegisterId, "register");
id!(/// A parser value set.
    ValueSetId, "vset");
id!(/// A service that the program calls.
    ServiceId, "service");

/// The compiled program, as data.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// File name of the top source without its folder, e.g. `upf.p4`.
    pub name: String,
    /// What it was compiled from.
    pub fingerprint: Fingerprint,
    /// What P4Runtime calls its objects.
    pub ids: P4Ids,
    /// Tables, in the order of declaration.
    pub tables: PrimaryMap<TableId, TableInfo>,
    /// Actions that a table may run.
    pub actions: PrimaryMap<ActionId, ActionInfo>,
    /// Counters.
    pub counters: PrimaryMap<CounterId, CounterInfo>,
    /// Meters.
    pub meters: PrimaryMap<MeterId, MeterInfo>,
    /// Registers.
    pub registers: PrimaryMap<RegisterId, RegisterInfo>,
    /// Parser value sets, empty until the control plane fills them.
    pub value_sets: PrimaryMap<ValueSetId, ValueSetInfo>,
    /// Action profiles and selectors, in the order of [`P4Ids::action_profiles`]: what a control plane sees in place of the tables that they are made of.
    pub profiles: Vec<ProfileInfo>,
    /// Services that it calls (`service.p4`).
    pub services: PrimaryMap<ServiceId, ServiceInfo>,
    /// Places where it stops for another stage of a chain of targets, if it was cut for one: the stage, counted from 0, of each ([`crate::BridgeStop`]).
    pub stages: Vec<u8>,
    /// Tables that stand for calls of services, if it was cut for them ([`crate::BridgeCall::table`]): they have no entries. A lane that can ask its caller while
    /// a burst runs gives the service's answer as the entry that was found.
    pub asks: Vec<Ask>,
    /// Codes below 128 that the program gives to drops and punts, with their names.
    pub reasons: Vec<(u8, String)>,
    /// P4 `error` names in declaration order; the position is the code of the value.
    pub errors: Vec<String>,
}

/// An action profile or selector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileInfo {
    /// The tables that the program gives it to.
    pub tables: Vec<TableId>,
    /// The tables that it is made of.
    pub behind: Vec<TableId>,
    /// The actions by which the program's tables lead to those.
    pub handles: Vec<ActionId>,
    /// Whether it has groups.
    pub selector: bool,
    /// Most members.
    pub size: u64,
    /// Most members of a group, as `@max_group_size` says.
    pub max_group_size: Option<u64>,
}

/// A table that stands for a call of a service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ask {
    /// The table.
    pub table: TableId,
    /// The service.
    pub service: ServiceId,
}

/// How a key field is matched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum MatchKind {
    /// Equal.
    Exact,
    /// Longest prefix wins; at most one such field a table.
    Lpm,
    /// Value under mask; priorities decide.
    Ternary,
    /// Low to high inclusive; priorities decide.
    Range,
    /// Exact or absent; priorities decide.
    Optional,
}

/// One key field of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyInfo {
    /// The expression's text, or its `@name`.
    pub name: String,
    /// Width in bits.
    pub width: u32,
    /// How it is matched.
    pub kind: MatchKind,
}

/// A table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableInfo {
    /// Name without the control's name where that is unique, e.g. `pdr_by_teid`.
    pub name: String,
    /// Fully qualified name, e.g. `UpfIngress.pdr_by_teid`.
    pub full_name: String,
    /// Key fields in order; empty: the default action always runs.
    pub keys: Vec<KeyInfo>,
    /// The actions that entries may name, and whether each may be used as the default too.
    pub actions: Vec<ActionUse>,
    /// What runs on a miss.
    pub default_action: (ActionId, Vec<u128>),
    /// Whether the control plane may not change the default.
    pub const_default: bool,
    /// Declared `size`: the number of entries that must fit. 1024 where the source gives none.
    pub size: u64,
    /// `const entries` or `entries`, priorities as the specification orders them (larger wins).
    pub entries: Vec<Entry>,
    /// Whether `entries` is constant: the control plane may then add none.
    pub const_entries: bool,
    /// `@split("horizontal")`: a target that holds a subset hands a miss in this table to the next target.
    pub split: bool,
    /// Direct counter attached to the table.
    pub direct_counter: Option<CounterId>,
    /// Direct meter attached to the table.
    pub direct_meter: Option<MeterId>,
}

impl TableInfo {
    /// Whether entries have priorities: of two that match, the larger one's wins.
    pub fn has_priorities(&self) -> bool {
        self.keys.iter().any(|key| !matches!(key.kind, MatchKind::Exact | MatchKind::Lpm))
    }
}

pub(crate) use crate::batch::Entry;

/// An action in a table's list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ActionUse {
    /// Which.
    pub action: ActionId,
    /// `@tableonly` clears `default`, `@defaultonly` clears `entry`.
    pub entry: bool,
    /// May be the default action.
    pub default: bool,
}

/// An action that a table may run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActionInfo {
    /// Name without the control's name where that is unique.
    pub name: String,
    /// Fully qualified name.
    pub full_name: String,
    /// The directionless parameters: what an entry supplies.
    pub params: Vec<ParamInfo>,
}

/// A parameter that an entry supplies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParamInfo {
    /// Name in the source.
    pub name: String,
    /// Width in bits (`bool` is 1).
    pub width: u32,
}

/// What a counter or meter counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CountUnit {
    /// Packets only.
    Packets,
    /// Bytes only.
    Bytes,
    /// Both.
    Both,
}

/// A counter array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CounterInfo {
    /// Instance name.
    pub name: String,
    /// Number of cells (for a direct counter: the table's size).
    pub size: u64,
    /// What is counted.
    pub unit: CountUnit,
    /// Which length counts as the packet's bytes.
    pub length: LengthSource,
    /// The table it is attached to, if direct.
    pub table: Option<TableId>,
    /// Bits that a program for a chip wants it to have at least.
    pub bits: Option<u32>,
}

/// Which length a counter or meter takes for a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LengthSource {
    /// The frame as received: v1model's `packet_length`.
    Frame,
    /// The metadata field marked `@pdu_length`, at the time of the call: an instance declared with the
    /// annotation `@pdu_length`. Charging and MBR are about the user's IP packet (TS 29.244 §5.2.2, §5.4.4),
    /// whatever tunnel it came in; TNA has the same as `adjust_byte_count`.
    Pdu,
}

/// A meter array. A direct one has a cell for each entry of its table. Colours: 0 green, 1 yellow, 2 red (two rates, RFC 2698).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MeterInfo {
    /// Instance name.
    pub name: String,
    /// Number of cells.
    pub size: u64,
    /// Packets or bytes.
    pub unit: CountUnit,
    /// Which length counts as the packet's bytes.
    pub length: LengthSource,
    /// The table it is attached to, if direct.
    pub table: Option<TableId>,
}

/// A register array. A direct one, which only programs for a chip have, has a cell for each entry of its table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegisterInfo {
    /// Instance name.
    pub name: String,
    /// Number of cells.
    pub size: u64,
    /// Width of a cell in bits.
    pub width: u32,
    /// What each cell holds before packets or anybody else has written it.
    pub initial: u128,
    /// The table it is attached to, if direct.
    pub table: Option<TableId>,
}

/// A parser value set (P4_16 §13.11).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueSetInfo {
    /// Name in the source.
    pub name: String,
    /// Number of members that fit.
    pub size: u64,
    /// Width of each field of a member.
    pub widths: Vec<u32>,
}

/// A service that the program calls: what P4 cannot do. Request and answer are bytes, their fields packed in order from the top bit of the
/// first byte on, padded with zeros to whole bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServiceInfo {
    /// The name that the program gives it, and a configuration.
    pub name: String,
    /// Fields of a request.
    pub request: Vec<ParamInfo>,
    /// Fields of an answer.
    pub answer: Vec<ParamInfo>,
}

impl ServiceInfo {
    /// Where the request's fields are in it.
    pub fn request_fields(&self) -> Vec<BitField> {
        packed(&self.request)
    }

    /// Where the answer's fields are in it.
    pub fn answer_fields(&self) -> Vec<BitField> {
        packed(&self.answer)
    }

    /// Bytes of a request.
    pub fn request_len(&self) -> usize {
        bytes(&self.request)
    }

    /// Bytes of an answer.
    pub fn answer_len(&self) -> usize {
        bytes(&self.answer)
    }
}

fn packed(fields: &[ParamInfo]) -> Vec<BitField> {
    let mut offset = 0;
    let place = |f: &ParamInfo| {
        let field = BitField { offset, width: f.width };
        offset += f.width;
        field
    };
    fields.iter().map(place).collect()
}

fn bytes(fields: &[ParamInfo]) -> usize {
    fields.iter().map(|f| f.width as usize).sum::<usize>().div_ceil(8)
}

impl Program {
    /// Whether both are one program: compiled from the same source with the same build options, and so of the same objects.
    pub fn is_same(&self, other: &Program) -> bool {
        self.name == other.name && self.fingerprint == other.fingerprint && self.stages == other.stages && self.has_objects_of(other)
    }

    /// Whether entries, counters and cells mean the same in both: tables, actions, counters, meters, registers and value sets are alike, number
    /// by number. The name does not tell: `upf.p4` has other objects with other build options. Where a packet's length is taken from is left
    /// out: it is another place in a program that was cut ([`crate::Bridge`]). So are the tables, with their actions, that stand for calls there
    /// ([`Program::asks`]): nobody can fill them, and they come behind all others.
    pub fn has_objects_of(&self, other: &Program) -> bool {
        let counters = |p: &Program| p.counters.values().map(|c| (c.name.clone(), c.size, c.unit, c.table)).collect::<Vec<_>>();
        let meters = |p: &Program| p.meters.values().map(|m| (m.name.clone(), m.size, m.unit, m.table)).collect::<Vec<_>>();
        let tables = |p: &Program| p.tables.iter().filter(|(id, _)| !p.is_ask(*id)).map(|(id, t)| (id, t.clone())).collect::<Vec<_>>();
        let actions = |p: &Program| {
            let of_asks: HashSet<ActionId> = p.asks.iter().flat_map(|ask| &p.tables[ask.table].actions).map(|a| a.action).collect();
            p.actions.iter().filter(|(id, _)| !of_asks.contains(id)).map(|(id, a)| (id, a.clone())).collect::<Vec<_>>()
        };
        tables(self) == tables(other)
            && actions(self) == actions(other)
            && counters(self) == counters(other)
            && meters(self) == meters(other)
            && self.registers == other.registers
            && self.value_sets == other.value_sets
            && self.services == other.services
    }

    /// Whether a table stands for a call of a service.
    pub fn is_ask(&self, table: TableId) -> bool {
        self.asks.iter().any(|ask| ask.table == table)
    }

    /// The table of that short or full name.
    pub fn table(&self, name: &str) -> Option<TableId> {
        self.tables.iter().find(|(_, t)| t.name == name || t.full_name == name).map(|(id, _)| id)
    }

    /// The action of that short or full name.
    pub fn action(&self, name: &str) -> Option<ActionId> {
        self.actions.iter().find(|(_, a)| a.name == name || a.full_name == name).map(|(id, _)| id)
    }

    /// The counter of that name.
    pub fn counter(&self, name: &str) -> Option<CounterId> {
        self.counters.iter().find(|(_, c)| c.name == name).map(|(id, _)| id)
    }

    /// The meter of that name.
    pub fn meter(&self, name: &str) -> Option<MeterId> {
        self.meters.iter().find(|(_, m)| m.name == name).map(|(id, _)| id)
    }

    /// The service of that name.
    pub fn service(&self, name: &str) -> Option<ServiceId> {
        self.services.iter().find(|(_, s)| s.name == name).map(|(id, _)| id)
    }

    /// The code of the drop or punt reason of that name.
    pub fn reason(&self, name: &str) -> Option<u8> {
        self.reasons.iter().find(|(_, n)| n == name).map(|(code, _)| *code)
    }

    /// Name of a drop or punt reason, the program's or the engine's.
    pub fn reason_name(&self, code: u8) -> String {
        if let Some((_, name)) = self.reasons.iter().find(|(c, _)| *c == code) {
            return name.clone();
        }
        base::DropReason(code).engine_name().map_or_else(|| format!("reason_{code}"), str::to_owned)
    }
}
