//! Look-ups of near tables: for one packet, where the program applies the table, in the midst of a stage.
//!
//! The record is remembered by its key: for the packet that follows in locals, for the burst in the run (`sp_near`). So a packet with the key of the one before
//! costs a comparison, and a table is asked once for each key of a burst.
//!
//! Where other actions than the usual one make headers, packets with these are handed to a function of their own, a packet at a time: meters see packets
//! in their order.

use crate::EmitError;
use crate::emitter::{Emitter, Others};
use crate::graph::{SiteId, StageId, Vertex};
use crate::layout::{key_fields, key_stride};
use crate::model::Near;
use crate::stages::{PAUSE, RESUME, function};
use cranelift_entity::EntityRef;
use p4_analysis::control::actions;
use p4_ir::TableId;

impl Emitter<'_> {
    /// How this stage looks up a table that it comes to; `None`: packets wait for the look-up.
    pub(crate) fn looks_up_here(&self, table: TableId) -> Option<Near> {
        self.model.near(self.ir, table).filter(|_| self.uses_near())
    }

    /// Whether near tables are looked up in this stage: it is one of a class, and does not begin with a far look-up, whose records' cells are still on their way.
    pub(crate) fn uses_near(&self) -> bool {
        let far = |site: SiteId| self.model.near(self.ir, self.graph.sites[site].table).is_none();
        self.class.is_some() && !self.graph.stages[self.stage].site.is_some_and(far)
    }

    /// Remembers or looks up the record of this packet, `r`, and whether it hit, `hit`. A packet may also have waited, if `waited`.
    pub(crate) fn near_record(&mut self, site: SiteId, waited: bool) -> Result<(), EmitError> {
        let table = self.graph.sites[site].table;
        // Who handed the packet over has counted it.
        let counts = self.others_of != Some(site);
        let (name, stride) = (self.model.tables[table.index()].clone(), key_stride(key_fields(self.ir, table).1));
        if waited {
            self.open(format!("if (small_{name})"));
        }
        let words = self.key_words(table)?;
        let near = self.nears.entry(table).or_insert((words.len(), false));
        near.1 |= counts;
        let other = words.iter().enumerate().map(|(w, x)| format!(" | ({x} != key_{name}_{w})")).collect::<String>();
        self.open(format!("if (!near_{name}{other})"));
        for (w, x) in words.iter().enumerate() {
            self.line(format!("key_{name}_{w} = {x};"));
        }
        let key = format!("(const uint64_t[{}]){{{}}}", words.len(), words.join(", "));
        self.line(format!("near_{name} = sp_near(run, TABLE_{name}, {key}, {stride});"));
        if counts {
            self.line(format!("asked_{name}++;"));
        }
        self.close();
        if waited {
            self.or_else();
            self.line("const uint32_t k = wait->key_of[i];");
            self.line(format!("near_{name} = wait->hits >> k & 1 ? (const void *)wait->records[k] : table_{name}->miss;"));
            self.line(format!("asked_{name}++;"));
            self.close();
        }
        self.line(format!("const struct record_{name} *const r = near_{name};"));
        self.line(format!("const uint32_t hit = r != table_{name}->miss;"));
        if counts {
            self.line(format!("found_{name} += 1 + ((uint64_t)hit << 32);"));
        }
        Ok(())
    }

    /// What follows a near look-up, in the midst of a stage or at its head: the usual action, or all.
    pub(crate) fn near_actions(&mut self, site: SiteId) -> Result<(), EmitError> {
        let (ir, graph) = (self.ir, self.graph);
        let at = &graph.sites[site];
        let usual = self.usual_action(site);
        let mut all = actions(ir, at.table);
        match usual {
            Some(usual) if self.others_of == Some(site) => all.retain(|action| *action != usual),
            Some(usual) => {
                all = vec![usual];
                self.hand_to_others(site, &self.model.actions[usual.index()].clone());
            }
            None => {}
        }
        self.actions(at.table, all, (at.hit, at.action_run), Some(at.exit))?;
        self.goto(at.after)
    }

    /// Calls the function for packets with other actions, for this packet.
    fn hand_to_others(&mut self, site: SiteId, usual: &str) {
        self.open(format!("if (__builtin_expect(r->action != ACTION_{usual}, 0))"));
        let before = self.fork();
        self.settle_fields();
        if self.shared.valid {
            self.keep_valid();
        }
        let name = self.others_name(self.stage, site);
        self.line(PAUSE);
        self.line(format!("{name}(run, bit);"));
        self.line(RESUME);
        if let Some(flow) = self.flow.clone() {
            match self.others.iter_mut().find(|of| of.site == site) {
                Some(of) => of.flow.meet(&flow),
                None => self.others.push(Others { site, flow }),
            }
        }
        // Not by way of this stage's end, which would undo what that function has put into the context.
        self.line("continue;");
        self.close();
        self.flow = before;
    }

    /// The name of the function for packets of a stage that have other actions than the usual one at a site.
    pub(crate) fn others_name(&self, stage: StageId, site: SiteId) -> String {
        let table = &self.model.tables[self.graph.sites[site].table.index()];
        format!("{}{}_others_{site}_{table}", self.prefix(), function(self.graph, self.model, stage))
    }

    /// A near table in the midst of a stage.
    pub(crate) fn near_site(&mut self, site: SiteId) -> Result<(), EmitError> {
        self.open("");
        self.near_record(site, false)?;
        self.near_actions(site)?;
        self.close();
        Ok(())
    }

    /// What a stage's function begins with for the near tables that it looks up.
    pub(crate) fn begin_nears(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for (table, (words, counts)) in &self.nears {
            let name = &self.model.tables[table.index()];
            lines.push(format!("struct sp_table *const table_{name} = &run->lane->tables[TABLE_{name}];"));
            lines.push(format!("const struct record_{name} *near_{name} = 0;"));
            lines.extend((0..*words).map(|w| format!("uint64_t key_{name}_{w} = 0;")));
            if *counts {
                lines.push(format!("uint64_t found_{name} = 0;"));
                lines.push(format!("uint32_t asked_{name} = 0;"));
            }
        }
        for table in std::mem::take(&mut self.smalls) {
            let name = &self.model.tables[table.index()];
            lines.push(format!("const uint32_t small_{name} = run->lane->tables[TABLE_{name}].small;"));
        }
        lines
    }

    /// And what it ends with.
    pub(crate) fn end_nears(&mut self) -> Vec<String> {
        let nears = std::mem::take(&mut self.nears).into_iter().filter(|(_, (_, counts))| *counts);
        nears
            .map(|(table, _)| {
                let name = &self.model.tables[table.index()];
                format!("sp_count_near(run, table_{name}, (uint32_t)found_{name}, found_{name} >> 32, asked_{name});")
            })
            .collect()
    }

    /// Goes on at a near look-up in this stage.
    pub(crate) fn goto_near(&mut self, site: SiteId) {
        let vertex = Vertex::Near(site);
        let Some(flow) = self.flow.take() else { return };
        match self.arrivals.get_mut(&vertex) {
            Some(known) => known.meet(&flow),
            None => drop(self.arrivals.insert(vertex, flow)),
        }
        self.jumped.insert(vertex);
        self.line(format!("goto site_{site};"));
    }
}
