//! What does a specification of SWX say? DPDK 22.11 reads the text only to generate code from it; to interpret it, it wants to be told call by
//! call.
//!
//! Only what `downlink.spec` and `uplink.spec` use is read. The texts are ours, so a fault is a defect that a test finds; it is reported by line
//! all the same.

/// Fields of a struct: name and bits.
pub type Fields = Vec<(String, u32)>;

/// A specification's parts, in the order in which SWX wants them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// Name and fields.
    pub structs: Vec<(String, Fields)>,
    /// Name and struct.
    pub headers: Vec<(String, String)>,
    /// Struct.
    pub metadata: String,
    /// Name and size.
    pub regarrays: Vec<(String, u32)>,
    /// Name and size.
    pub metarrays: Vec<(String, u32)>,
    /// Name, struct of the arguments, instructions.
    pub actions: Vec<(String, Option<String>, Vec<String>)>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Instructions of the pipeline.
    pub apply: Vec<String>,
}

/// An exact table.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Name.
    pub name: String,
    /// Fields of the key.
    pub keys: Vec<String>,
    /// Names of its actions.
    pub actions: Vec<String>,
    /// Action of packets that match nothing; without arguments.
    pub default_action: String,
    /// Entries.
    pub size: u32,
}

/// Fills in a specification's places: number of sessions, and whether there are meters.
pub fn fill(text: &str, sessions: u32, meter: bool) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let (metered, rest) = match line.trim_start().strip_prefix("@METER@") {
            Some(rest) if !line.trim_start().starts_with("//") => (true, rest),
            _ => (false, line),
        };
        if !metered || meter {
            out.push_str(&rest.replace("@SESSIONS@", &sessions.to_string()));
            out.push('\n');
        }
    }
    out
}

/// Reads a filled-in specification.
///
/// # Errors
/// The line that is not understood.
pub fn parse(text: &str) -> Result<Spec, String> {
    let mut spec = Spec::default();
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim())).filter(|(_, l)| !l.is_empty() && !l.starts_with("//"));
    while let Some((number, line)) = lines.next() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let wrong = || format!("line {number}: `{line}` is not understood");
        let mut block = || -> Vec<(usize, &str)> { lines.by_ref().take_while(|(_, line)| *line != "}").collect() };
        let count = |word: &str| word.parse::<u32>().map_err(|_| wrong());
        match words[..] {
            ["struct", name, "{"] => {
                let fields: Result<Fields, String> =
                    block().into_iter().map(|(n, line)| field(line).ok_or(format!("line {n}: `{line}`"))).collect();
                spec.structs.push((name.to_owned(), fields?));
            }
            ["header", name, "instanceof", of] => spec.headers.push((name.to_owned(), of.to_owned())),
            ["metadata", "instanceof", of] => spec.metadata = of.to_owned(),
            ["regarray", name, "size", size, "initval", "0"] => spec.regarrays.push((name.to_owned(), count(size)?)),
            ["metarray", name, "size", size] => spec.metarrays.push((name.to_owned(), count(size)?)),
            ["action", name, "args", "none", "{"] => spec.actions.push((name.to_owned(), None, texts(block()))),
            ["action", name, "args", "instanceof", of, "{"] => spec.actions.push((name.to_owned(), Some(of.to_owned()), texts(block()))),
            ["apply", "{"] => spec.apply = texts(block()),
            ["table", name, "{"] => {
                let mut table = Table { name: name.to_owned(), ..Table::default() };
                loop {
                    let (number, line) = lines.next().ok_or_else(wrong)?;
                    let words: Vec<&str> = line.split_whitespace().collect();
                    let mut block = || -> Vec<(usize, &str)> { lines.by_ref().take_while(|(_, line)| *line != "}").collect() };
                    match words[..] {
                        ["}"] => break,
                        ["key", "{"] => {
                            for (number, line) in block() {
                                let key = line.strip_suffix(" exact").ok_or_else(|| format!("line {number}: `{line}` is no exact key"))?;
                                table.keys.push(key.to_owned());
                            }
                        }
                        ["actions", "{"] => table.actions = texts(block()),
                        ["default_action", action, "args", "none", "const"] => table.default_action = action.to_owned(),
                        ["size", size] => table.size = count(size)?,
                        _ => return Err(format!("line {number}: `{line}` is not understood in a table")),
                    }
                }
                spec.tables.push(table);
            }
            _ => return Err(wrong()),
        }
    }
    Ok(spec)
}

fn texts(lines: Vec<(usize, &str)>) -> Vec<String> {
    lines.into_iter().map(|(_, line)| line.to_owned()).collect()
}

/// `bit<16> type`.
fn field(line: &str) -> Option<(String, u32)> {
    let (bits, name) = line.strip_prefix("bit<")?.split_once("> ")?;
    Some((name.to_owned(), bits.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_specifications_are_read_whole() {
        for (text, action) in [(super::super::DOWNLINK, "encapsulate"), (super::super::UPLINK, "decapsulate")] {
            for meter in [false, true] {
                let filled = fill(text, 1024, meter);
                assert!(!filled.lines().any(|line| line.contains('@') && !line.starts_with("//")), "{filled}");
                let spec = parse(&filled).unwrap();
                assert_eq!((spec.structs.len(), spec.headers.len(), spec.regarrays.len()), (6, 5, 2));
                assert_eq!(spec.metarrays, if meter { vec![("rate".to_owned(), 1024)] } else { vec![] });
                assert_eq!(spec.apply.iter().any(|line| line.starts_with("meter ")), meter);
                assert_eq!(spec.tables.len(), 1);
                assert_eq!((spec.tables[0].actions.as_slice(), spec.tables[0].size), (&[action.to_owned(), "unknown".into()][..], 1024));
                assert!(spec.apply.iter().any(|line| line.starts_with("DROP : ")) && !spec.apply.iter().any(|line| line == "drop"));
            }
        }
    }

    #[test]
    fn faults_name_their_line() {
        for (text, wrong) in [
            ("struct a {\n\tbit<8 x\n}\n", "line 2"),
            ("regarray a size x initval 0\n", "line 1"),
            ("table t {\n\tkey {\n\t\th.a.b lpm\n\t}\n}\n", "line 3"),
            ("table t {\n", "line 1"),
            ("\n\nextern x\n", "line 3"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(wrong), "{text}: {error}");
        }
    }
}
