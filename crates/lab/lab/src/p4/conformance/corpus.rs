//! Which checks does a folder of programs ask for? Its files, by architecture and kind; and which may fail.

use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names of the kinds, as floors and exclusions give them.
pub(super) const KINDS: [&str; 4] = ["accepted", "rejected", "compiled", "stf"];

/// Folders inside folders are followed no deeper than this: a link may lead back.
const MAX_FOLDERS: usize = 16;

/// A folder of programs, and how they are to be read.
#[derive(Clone, Debug, Default)]
pub(super) struct Folder {
    pub path: PathBuf,
    /// Folders to search for includes.
    pub include: Vec<PathBuf>,
    /// Macros, as NAME or NAME=VALUE.
    pub define: Vec<String>,
}

impl std::str::FromStr for Folder {
    type Err = String;

    /// `DIR -I DIR -D NAME=VALUE ...`
    fn from_str(text: &str) -> Result<Folder, String> {
        if Path::new(text).is_dir() {
            // Blanks are part of its name.
            return Ok(Folder { path: text.into(), ..Folder::default() });
        }
        let mut words = text.split_whitespace();
        let mut folder = Folder { path: words.next().ok_or("no folder")?.into(), ..Folder::default() };
        while let Some(word) = words.next() {
            let Some(flag) = word.get(..2) else { return Err(format!("`{word}` is neither -I DIR nor -D NAME=VALUE")) };
            let value = match &word[2..] {
                "" => words.next().ok_or_else(|| format!("`{flag}` has no value"))?,
                value => value,
            };
            match flag {
                "-I" => folder.include.push(value.into()),
                "-D" => folder.define.push(value.to_owned()),
                _ => return Err(format!("`{word}` is neither -I DIR nor -D NAME=VALUE")),
            }
        }
        Ok(folder)
    }
}

/// Programs of some folders.
pub(super) struct Corpus {
    programs: Vec<Program>,
}

struct Program {
    /// Path from the corpus folder, with `/`.
    path: String,
    file: PathBuf,
    architecture: &'static str,
    bad: bool,
    stf: Option<PathBuf>,
    folder: Arc<Folder>,
}

/// What is expected of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// The front end takes it.
    Accepted,
    /// The front end refuses it.
    Rejected,
    /// It becomes IR that verifies.
    Compiled,
    /// Its packet test passes.
    Stf,
}

impl Kind {
    /// As in [`KINDS`].
    pub(super) fn name(self) -> &'static str {
        KINDS[self as usize]
    }
}

/// One check.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub architecture: &'static str,
    pub kind: Kind,
    /// `interp` or `x86` for packet tests, else empty.
    pub target: String,
    /// Path from the corpus folder.
    pub path: String,
    /// The program.
    pub file: PathBuf,
    /// The packet test.
    pub stf: Option<PathBuf>,
    /// Where it is from.
    pub folder: Arc<Folder>,
}

/// A check that may fail.
pub(super) struct Exclusion {
    kind: String,
    path: String,
    /// Why.
    pub reason: String,
}

impl Exclusion {
    /// Whether it speaks of that check.
    pub(super) fn covers(&self, check: &Check) -> bool {
        (self.kind == "*" || self.kind == check.kind.name()) && self.path == check.path
    }
}

impl Corpus {
    /// All `.p4` files below the folders that no other one includes.
    pub(super) fn read(folders: &[Folder]) -> Result<Corpus, String> {
        let mut programs = Vec::new();
        for of in folders {
            let of = Arc::new(of.clone());
            let folder = of.path.as_path();
            let mut files = Vec::new();
            collect(folder, MAX_FOLDERS, &mut files)?;
            files.sort();
            let texts: Vec<String> = files.iter().map(|f| read(f)).collect::<Result<_, _>>()?;
            let included: BTreeSet<PathBuf> =
                files.iter().zip(&texts).flat_map(|(f, t)| includes(t).map(|i| f.with_file_name(i)).collect::<Vec<_>>()).collect();
            let included: BTreeSet<PathBuf> = included.iter().filter_map(|p| p.canonicalize().ok()).collect();
            for (file, text) in files.iter().zip(&texts) {
                if file.canonicalize().is_ok_and(|f| included.contains(&f)) {
                    continue;
                }
                let path = file.strip_prefix(folder).unwrap_or(file);
                let mut parents = path.parent().into_iter().flat_map(Path::components).chain(folder.components().next_back());
                let bad = parents.any(|c| c.as_os_str().to_string_lossy().ends_with("errors"));
                let stf = Some(file.with_extension("stf")).filter(|f| f.is_file() && !bad);
                let path = path.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
                programs.push(Program { path, file: file.clone(), architecture: architecture(text), bad, stf, folder: of.clone() });
            }
        }
        Ok(Corpus { programs })
    }

    /// Every check, programs in order, each packet test once a target.
    pub(super) fn checks(&self, targets: &[String]) -> Vec<Check> {
        let mut checks = Vec::new();
        for p in &self.programs {
            let mut add = |kind, target: &str| {
                checks.push(Check {
                    architecture: p.architecture,
                    kind,
                    target: target.to_owned(),
                    path: p.path.clone(),
                    file: p.file.clone(),
                    stf: p.stf.clone().filter(|_| kind == Kind::Stf),
                    folder: p.folder.clone(),
                })
            };
            if p.bad {
                add(Kind::Rejected, "");
                continue;
            }
            add(Kind::Accepted, "");
            if p.architecture == "v1model" {
                add(Kind::Compiled, "");
                if p.stf.is_some() {
                    targets.iter().for_each(|t| add(Kind::Stf, t));
                }
            }
            if let ("psa" | "pna", Some(_)) = (p.architecture, &p.stf) {
                // XDP refuses PSA's two pipes.
                targets.iter().filter(|t| p.architecture == "pna" || *t != "xdp").for_each(|t| add(Kind::Stf, t));
            }
        }
        checks
    }
}

/// Lines of `KIND PATH REASON`; `#` starts a comment.
pub(super) fn exclusions(files: &[PathBuf]) -> Result<Vec<Exclusion>, String> {
    let mut all = Vec::new();
    for file in files {
        let text = read(file)?;
        for (i, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            let mut words = line.splitn(3, char::is_whitespace).map(str::trim);
            let (Some(kind), Some(path), Some(reason)) = (words.next(), words.next(), words.next()) else {
                return Err(format!("{}:{}: not KIND PATH REASON", file.display(), i + 1));
            };
            if kind != "*" && !KINDS.contains(&kind) {
                return Err(format!("{}:{}: no kind `{kind}`", file.display(), i + 1));
            }
            all.push(Exclusion { kind: kind.to_owned(), path: path.to_owned(), reason: reason.to_owned() });
        }
    }
    Ok(all)
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if depth > 0 {
                collect(&path, depth - 1, files)?;
            }
        } else if path.is_file() && path.extension().is_some_and(|e| e == "p4") {
            files.push(path);
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<String, String> {
    let bytes = std::fs::read(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Names that a text includes.
fn includes(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim();
        rest.strip_prefix(['"', '<'])?.split(['"', '>']).next()
    })
}

/// The architecture whose file a program includes, or that it declares itself.
fn architecture(text: &str) -> &'static str {
    let of = |name: &str| {
        let file = name.rsplit('/').next().unwrap_or(name);
        match file {
            "v1model.p4" => Some("v1model"),
            "psa.p4" => Some("psa"),
            "pna.p4" => Some("pna"),
            "tna.p4" | "t2na.p4" | "tofino.p4" => Some("tna"),
            "ebpf_model.p4" | "xdp_model.p4" => Some("ebpf"),
            "ubpf_model.p4" => Some("ubpf"),
            _ => None,
        }
    };
    let names: Vec<&str> = includes(text).collect();
    let declared = || text.contains("package V1Switch").then_some("v1model");
    names.iter().find_map(|n| of(n)).or_else(declared).unwrap_or(if names.contains(&"core.p4") { "core" } else { "other" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_architecture_is_that_of_the_included_model() {
        assert_eq!(architecture("#include <core.p4>\n  # include \"bmv2/psa.p4\"\n"), "psa");
        assert_eq!(architecture("#include <core.p4>\n"), "core");
        assert_eq!(architecture("control c();"), "other");
    }

    #[test]
    fn a_folder_comes_with_its_flags() {
        let folder: Folder = "a/b -I c -Dx=1 -D y -Id".parse().unwrap();
        assert_eq!((folder.path, folder.include), (PathBuf::from("a/b"), vec![PathBuf::from("c"), PathBuf::from("d")]));
        assert_eq!(folder.define, ["x=1", "y"]);
        for wrong in ["", "x -I", "x -x", "x y", "x \u{e9}\u{e9}"] {
            assert!(wrong.parse::<Folder>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn programs_that_others_include_are_none_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("a.p4", "#include <v1model.p4>\n#include \"lib/b.p4\"\n");
        write("a.stf", "");
        write("lib/b.p4", "");
        write("some_errors/c.p4", "");
        write("some_errors/c.stf", "");
        let corpus = Corpus::read(&[Folder { path: folder.path().to_owned(), ..Folder::default() }]).unwrap();
        let checks = corpus.checks(&["interp".to_owned(), "x86".to_owned()]);
        let all: Vec<(Kind, &str, &str)> = checks.iter().map(|c| (c.kind, c.target.as_str(), c.path.as_str())).collect();
        let expected = [
            (Kind::Accepted, "", "a.p4"),
            (Kind::Compiled, "", "a.p4"),
            (Kind::Stf, "interp", "a.p4"),
            (Kind::Stf, "x86", "a.p4"),
            (Kind::Rejected, "", "some_errors/c.p4"),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn an_exclusion_needs_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        std::fs::write(&file, "# why\nstf a.p4 because of it # really\n* b.p4 so\n").unwrap();
        let all = exclusions(std::slice::from_ref(&file)).unwrap();
        assert_eq!(all.iter().map(|e| e.reason.as_str()).collect::<Vec<_>>(), ["because of it", "so"]);
        for bad in ["stf a.p4", "packets a.p4 reason"] {
            std::fs::write(&file, bad).unwrap();
            assert!(exclusions(std::slice::from_ref(&file)).is_err(), "{bad}");
        }
    }
}
