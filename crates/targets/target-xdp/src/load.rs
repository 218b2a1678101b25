//! From text to a program in the kernel, at the sizes that the target needs.

use crate::object::{Object, Sizes};
use crate::store::cells_for;
use crate::{Form, LoadError, Options, compile, meters};
use program::Program;
use program::packing::{CellLayout, MOST_DIRECT, cells_grow, grows};

/// Bytes of a counter's cell, and of a register's.
pub(crate) const COUNTER: usize = crate::cells::CELL;
pub(crate) const REGISTER: usize = 8;

impl Sizes {
    /// What the text of a P4 program leaves open, for so many cores.
    ///
    /// # Errors
    /// A counter or register has too many cells.
    pub fn of(program: &Program, options: &Options, cpus: u32) -> Result<Sizes, LoadError> {
        Ok(open(program, options, cpus)?.sizes)
    }
}

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
    let simple = || (SIMPLE.to_owned(), 1);
    let attempt = |defines: &[(String, u32)]| Object::load(&compile::compile(text, defines, &options.objects())?, sizes, entry_points);
    if let Some(form) = options.later {
        let is_simple = form == Form::Simple && text.contains(SIMPLE);
        defines.extend(is_simple.then(simple));
        return Ok((attempt(&defines)?, is_simple));
    }
    match attempt(&defines) {
        Err(LoadError::Limit(why)) if text.contains(SIMPLE) => {
            tracing::info!("the XDP program is loaded in its simple form, which is slower: the full form is too large ({why})");
            defines.push(simple());
            Ok((attempt(&defines)?, true))
        }
        whole => Ok((whole?, false)),
    }
}

/// What a text is compiled ahead with: all that [`build`] may ask for, of a program that is attached and has no array that is too large.
pub(crate) fn forms(text: &str) -> Vec<Vec<(String, u32)>> {
    let full = defines(0, Vec::new());
    let simple = [&full[..], &[(SIMPLE.to_owned(), 1)]].concat();
    if text.contains(SIMPLE) { vec![full, simple] } else { vec![full] }
}

/// What the text leaves to the loader's compiler: bytes behind each packet, and which arrays are too large for one value of a map.
pub(crate) fn defines(behind: usize, large: Vec<String>) -> Vec<(String, u32)> {
    std::iter::once(("SP_BEHIND".to_owned(), behind as u32)).chain(large.into_iter().map(|array| (format!("{array}_large"), 1))).collect()
}

/// The macro that gives the emitted text its simple form.
const SIMPLE: &str = "SP_SIMPLE";

/// Capacity, home cells and all cells of each table.
pub(crate) type Rooms = Vec<(u64, u32, u32)>;

/// Sizes of all arrays and counters that the text leaves open.
pub(crate) struct Open {
    pub sizes: Sizes,
    /// Arrays of more bytes than one value of a map has.
    pub large: Vec<String>,
    pub rooms: Rooms,
}

/// For so many cores.
pub(crate) fn open(program: &Program, options: &Options, cpus: u32) -> Result<Open, LoadError> {
    let mut large = Vec::new();
    let mut sizes = Sizes { seed: options.seed, most_segments: options.most_segments, ..Sizes::default() };
    // Those that grow are in parts.
    let mut array = |name: String, n: u64, len: usize, grows: bool| {
        let entries = u32::try_from(n.max(1)).map_err(|_| LoadError::Io(format!("{name} has {n} cells: too many")))?;
        if entries as usize > MOST_DIRECT / len && !grows {
            large.push(name.clone());
        }
        sizes.entries.push((name, entries));
        Ok(())
    };
    let mut rooms = Rooms::new();
    for (i, (id, info)) in program.tables.iter().enumerate() {
        let most = options.entries.min(if info.split { options.split_entries } else { options.shared_entries });
        let capacity = info.size.min(most.max(info.entries.len() as u64));
        let (homes, total) = cells_for(capacity);
        rooms.push((capacity, homes, total));
        array(format!("sp_t{i}"), total.into(), CellLayout::new(program, id).len, grows(info))?;
    }
    for (i, info) in program.counters.values().enumerate() {
        array(format!("sp_n{i}"), counter_size(program, info).saturating_mul(cpus.into()), COUNTER, cells_grow(info.size, info.table))?;
    }
    for (i, info) in program.meters.values().enumerate() {
        let (cells, profiles) = meters::entries(info);
        array(format!("sp_p{i}"), cells, meters::CELL, cells_grow(info.size, info.table))?;
        array(format!("sp_q{i}"), profiles, meters::PROFILE, false)?;
    }
    for (i, info) in program.registers.values().enumerate() {
        array(format!("sp_r{i}"), info.size, REGISTER, false)?;
    }
    sizes.entries.extend(["sp_contexts", "sp_ledgers"].map(|of_cores| (of_cores.to_owned(), cpus)));
    sizes.homes = rooms.iter().map(|(_, homes, _)| homes - 1).collect();
    // They fit, as their rows do.
    sizes.cells = program.counters.values().map(|info| counter_size(program, info) as u32).collect();
    Ok(Open { sizes, large, rooms })
}
