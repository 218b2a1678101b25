//! Names of `upf.p4` bound once to ids of a compiled program, and its shapes checked.

use program::{ActionId, CounterId, MatchKind, MeterId, Program, TableId};

/// The program is not the one that this crate fills.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("program {program}: {what}")]
pub struct BindError {
    /// The program's name.
    pub program: String,
    /// What it lacks, or has in another shape.
    pub what: String,
}

/// Everything of the program that the control plane names.
#[derive(Clone, Debug)]
pub struct Ids {
    /// Tables.
    pub tables: Tables,
    /// Actions.
    pub actions: Actions,
    /// Volume cells; cell 0 is never used.
    pub usage: CounterId,
    /// Number of usage cells, cell 0 included.
    pub usage_cells: u64,
    /// MBR cells; cell 0 is never used.
    pub mbr: MeterId,
    /// Number of MBR cells, cell 0 included.
    pub mbr_cells: u64,
    /// Rates of traffic classes; cell 0 is never used.
    pub class_rate: MeterId,
    /// Number of class cells, cell 0 included.
    pub class_cells: u64,
    /// Entries that fit table `nexthop`.
    pub nexthops: u64,
    /// Codes of reasons.
    pub reasons: Reasons,
}

/// Tables.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // named as in the program
pub struct Tables {
    pub station: TableId,
    pub vxlan_termination: TableId,
    pub pdr_by_teid: TableId,
    pub pdr_by_ue_ipv4: TableId,
    pub pdr_by_ue_ipv6: TableId,
    pub pdr_by_class: TableId,
    pub sdf_ipv4: TableId,
    pub sdf_ipv6: TableId,
    pub local_ipv4: TableId,
    pub local_ipv6: TableId,
    pub firewall_v4: TableId,
    pub firewall_v6: TableId,
    pub traffic_class: TableId,
    pub route_ipv4: TableId,
    pub route_ipv6: TableId,
    pub nexthop: TableId,
}

/// Actions. One action of several tables is one id; actions of one name in several controls are distinguished.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // named as in the program
pub struct Actions {
    pub station_route: ActionId,
    pub station_loopback: ActionId,
    pub station_group: ActionId,
    pub vxlan_route: ActionId,
    pub set_pdr: ActionId,
    pub classify: ActionId,
    pub set_filter: ActionId,
    pub gtpu_endpoint: ActionId,
    pub host_v4: ActionId,
    pub host_v6: ActionId,
    pub permit: ActionId,
    pub deny: ActionId,
    pub set_class: ActionId,
    pub set_nexthop: ActionId,
    pub send: ActionId,
    pub send_vxlan: ActionId,
    pub unresolved: ActionId,
    pub nexthop_drop: ActionId,
}

/// Codes of the punt reasons, and of drops that entries ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named as in the program
pub struct Reasons {
    pub arp: u8,
    pub host: u8,
    pub gtpu_signalling: u8,
    pub unknown_teid: u8,
    pub neighbour_unknown: u8,
    pub ttl_expired: u8,
    pub too_big: u8,
    pub machine_address: u8,
}

use MatchKind::{Exact, Lpm, Range, Ternary};

impl Ids {
    /// Binds all names, and checks keys and parameters against what this crate writes.
    pub fn bind(program: &Program) -> Result<Ids, BindError> {
        let b = Binder { program };
        let five_tuple = |width| [(width, Ternary), (width, Ternary), (8, Ternary), (16, Range), (16, Range)];
        let firewall = |width| [&[(16, Ternary)][..], &five_tuple(width)].concat();
        let tables = Tables {
            station: b.table("station", &[(9, Exact), (48, Exact)])?,
            vxlan_termination: b.table("vxlan_termination", &[(32, Exact), (24, Exact)])?,
            pdr_by_teid: b.table("pdr_by_teid", &[(32, Exact), (32, Exact)])?,
            pdr_by_ue_ipv4: b.table("pdr_by_ue_ipv4", &[(16, Exact), (32, Exact)])?,
            pdr_by_ue_ipv6: b.table("pdr_by_ue_ipv6", &[(16, Exact), (64, Exact)])?,
            pdr_by_class: b.table("pdr_by_class", &[(32, Exact), (8, Exact)])?,
            sdf_ipv4: b.table("sdf_ipv4", &[&[(16, Exact)][..], &five_tuple(32), &[(8, Ternary), (6, Ternary)]].concat())?,
            sdf_ipv6: b
                .table("sdf_ipv6", &[&[(16, Exact)][..], &five_tuple(128), &[(8, Ternary), (20, Ternary), (6, Ternary)]].concat())?,
            local_ipv4: b.table("local_ipv4", &[(16, Exact), (32, Exact)])?,
            local_ipv6: b.table("local_ipv6", &[(16, Exact), (128, Ternary)])?,
            firewall_v4: b.table("firewall_v4", &firewall(32))?,
            firewall_v6: b.table("firewall_v6", &firewall(128))?,
            traffic_class: b.table("traffic_class", &[&[(4, Ternary), (8, Ternary)][..], &five_tuple(32)].concat())?,
            route_ipv4: b.table("route_ipv4", &[(16, Exact), (32, Lpm)])?,
            route_ipv6: b.table("route_ipv6", &[(16, Exact), (128, Lpm)])?,
            nexthop: b.table("nexthop", &[(16, Exact)])?,
        };
        let sessions = [tables.pdr_by_teid, tables.pdr_by_ue_ipv4, tables.pdr_by_ue_ipv6];
        let sessions_and_class = [&sessions[..], &[tables.pdr_by_class]].concat();
        let actions = Actions {
            station_route: b.action(&[tables.station], "route", &[16])?,
            station_loopback: b.action(&[tables.station], "loopback", &[16])?,
            station_group: b.action(&[tables.station], "group", &[16])?,
            vxlan_route: b.action(&[tables.vxlan_termination], "route", &[16])?,
            set_pdr: b.action(&sessions_and_class, "set_pdr", &[32, 8, 8, 32, 32, 32, 32, 32, 64, 8, 32, 32, 32, 8, 8, 16])?,
            classify: b.action(&sessions, "classify", &[32, 16])?,
            set_filter: b.action(&[tables.sdf_ipv4, tables.sdf_ipv6], "set_filter", &[8])?,
            gtpu_endpoint: b.action(&[tables.local_ipv4], "gtpu_endpoint", &[])?,
            host_v4: b.action(&[tables.local_ipv4], "host", &[])?,
            host_v6: b.action(&[tables.local_ipv6], "host", &[])?,
            permit: b.action(&[tables.firewall_v4, tables.firewall_v6], "permit", &[])?,
            deny: b.action(&[tables.firewall_v4, tables.firewall_v6], "deny", &[])?,
            set_class: b.action(&[tables.traffic_class], "set_class", &[3, 16])?,
            set_nexthop: b.action(&[tables.route_ipv4, tables.route_ipv6], "set_nexthop", &[16])?,
            send: b.action(&[tables.nexthop], "send", &[9, 48, 48, 16])?,
            send_vxlan: b.action(&[tables.nexthop], "send_vxlan", &[9, 48, 48, 24, 32, 32, 48, 48, 16])?,
            unresolved: b.action(&[tables.nexthop], "unresolved", &[32])?,
            nexthop_drop: b.action(&[tables.nexthop], "drop", &[8])?,
        };
        let usage = program.counter("usage").ok_or_else(|| b.error("no counter usage"))?;
        let mbr = program.meter("mbr").ok_or_else(|| b.error("no meter mbr"))?;
        let class_rate = program.meter("class_rate").ok_or_else(|| b.error("no meter class_rate"))?;
        Ok(Ids {
            usage_cells: program.counters[usage].size,
            mbr_cells: program.meters[mbr].size,
            class_cells: program.meters[class_rate].size,
            nexthops: program.tables[tables.nexthop].size,
            reasons: Reasons {
                arp: b.reason("arp")?,
                host: b.reason("host")?,
                gtpu_signalling: b.reason("gtpu_signalling")?,
                unknown_teid: b.reason("unknown_teid")?,
                neighbour_unknown: b.reason("neighbour_unknown")?,
                ttl_expired: b.reason("ttl_expired")?,
                too_big: b.reason("too_big")?,
                machine_address: b.reason("machine_address")?,
            },
            tables,
            actions,
            usage,
            mbr,
            class_rate,
        })
    }
}

struct Binder<'a> {
    program: &'a Program,
}

impl Binder<'_> {
    fn error(&self, what: impl Into<String>) -> BindError {
        BindError { program: self.program.name.clone(), what: what.into() }
    }

    fn table(&self, name: &str, keys: &[(u32, MatchKind)]) -> Result<TableId, BindError> {
        let id = self.program.table(name).ok_or_else(|| self.error(format!("no table {name}")))?;
        let has: Vec<_> = self.program.tables[id].keys.iter().map(|k| (k.width, k.kind)).collect();
        if has != keys {
            return Err(self.error(format!("table {name} has keys {has:?}, not {keys:?}")));
        }
        Ok(id)
    }

    /// The action of that name which the first table has; the other tables must have the same one.
    fn action(&self, tables: &[TableId], name: &str, params: &[u32]) -> Result<ActionId, BindError> {
        let actions = &self.program.actions;
        let mut found = None;
        for table in tables {
            let info = &self.program.tables[*table];
            let entry = info.actions.iter().find(|used| {
                let full = &actions[used.action].name;
                used.entry && full.rsplit('.').next() == Some(name)
            });
            let Some(entry) = entry else {
                return Err(self.error(format!("table {} has no action {name} for entries", info.name)));
            };
            if found.is_some_and(|id| id != entry.action) {
                return Err(self.error(format!("action {name} of table {} is not that of the others", info.name)));
            }
            found = Some(entry.action);
        }
        let id = found.ok_or_else(|| self.error(format!("no action {name}")))?;
        let has: Vec<_> = actions[id].params.iter().map(|p| p.width).collect();
        if has != params {
            return Err(self.error(format!("action {name} has parameters of {has:?} bits, not {params:?}")));
        }
        Ok(id)
    }

    fn reason(&self, name: &str) -> Result<u8, BindError> {
        self.program.reason(name).ok_or_else(|| self.error(format!("no reason {name}")))
    }
}
