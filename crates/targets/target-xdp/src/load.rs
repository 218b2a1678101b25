//! From text to a program in the kernel, at the sizes that the target needs.

use crate::object::{Object, Sizes};
use crate::store::cells_for;
use crate::{LoadError, Options, compile, meters};
use program::Program;

/// Cells of a counter: an attached one has as many as its table has entries.
pub(crate) fn counter_size(program: &Program, info: &program::CounterInfo) -> u64 {
    info.table.map_or(info.size, |t| program.tables[t].size)
}

/// Compiles and loads, and says whether that had to be the simple form of the text, since the kernel takes no larger one.
pub(crate) fn build(
    text: &str,
    options: &Options,
    mut defines: Vec<(String, u32)>,
    sizes: &Sizes,
    entry_points: &[&str],
) -> Result<(Object, bool), LoadError> {
    let attempt = |defines: &[(String, u32)]| {
        let bytes = compile::compile(text, options.cc.as_deref(), defines, options.cache.as_ref())?;
        Object::load(&bytes, sizes, entry_points)
    };
    match attempt(&defines) {
        Err(LoadError::Limit(why)) if text.contains(SIMPLE) => {
            tracing::info!("the XDP program is loaded in its simple form, which is slower: the full form is too large ({why})");
            defines.push((SIMPLE.to_owned(), 1));
            Ok((attempt(&defines)?, true))
        }
        whole => Ok((whole?, false)),
    }
}

/// The macro that gives the emitted text its simple form.
const SIMPLE: &str = "SP_SIMPLE";

/// Capacity, home cells and all cells of each table.
pub(crate) type Rooms = Vec<(u64, u32, u32)>;

/// Entries of arrays, by name.
pub(crate) type Entries = Vec<(String, u32)>;

/// Entries of all arrays whose sizes the text leaves open, and the rooms of all tables.
pub(crate) fn entries(program: &Program, options: &Options, cpus: u32) -> Result<(Entries, Rooms), LoadError> {
    let (mut entries, mut rooms) = (Entries::new(), Rooms::new());
    let fits = |name: &str, n: u64| u32::try_from(n.max(1)).map_err(|_| LoadError::Io(format!("{name} has {n} cells: too many")));
    for (i, info) in program.tables.values().enumerate() {
        let most = if info.split { options.entries.min(options.split_entries) } else { options.entries };
        let capacity = info.size.min(most.max(info.entries.len() as u64));
        let (homes, total) = cells_for(capacity);
        rooms.push((capacity, homes, total));
        entries.push((format!("sp_t{i}"), total));
    }
    for (i, info) in program.counters.values().enumerate() {
        let n = counter_size(program, info).saturating_mul(cpus.into());
        entries.push((format!("sp_n{i}"), fits(&info.name, n)?));
    }
    for (i, info) in program.meters.values().enumerate() {
        let (cells, profiles) = meters::entries(info);
        entries.push((format!("sp_p{i}"), fits(&info.name, cells)?));
        entries.push((format!("sp_q{i}"), fits(&info.name, profiles)?));
    }
    for (i, info) in program.registers.values().enumerate() {
        entries.push((format!("sp_r{i}"), fits(&info.name, info.size)?));
    }
    Ok((entries, rooms))
}
