//! Do the documents say what is there? Links lead somewhere, the walks of ARCHITECTURE.md name files that exist and are short, and its steps are
//! those of the program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each walk by the first words of its paragraph, and how many files a reader opens at most.
const WALKS: &[(&str, usize)] = &[
    ("**An uplink GTP-U packet**", 12),
    ("**A Session Establishment Request.**", 20),
    ("**`upf.p4` to C and to BPF.**", 15),
    ("**A packet that waits**", 18),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().expect("the repository is above the crate")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The pages at the root and in `docs/`.
fn pages() -> Vec<PathBuf> {
    let folders = [root(), root().join("docs")];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder")).map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    pages.sort();
    assert!(pages.len() >= 10, "{pages:?}");
    pages
}

/// The heading's anchor as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(page: &str) -> BTreeSet<String> {
    page.lines().filter(|line| line.starts_with('#')).map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

/// Targets of `[text](target)`.
fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

#[test]
fn every_link_between_documents_leads_to_a_file_and_a_heading() {
    let mut followed = 0;
    for page in pages() {
        let text = read(&page);
        for link in links(&text).filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
            let target = if file.is_empty() { page.clone() } else { page.with_file_name("").join(file) };
            assert!(target.exists(), "{}: [..]({link}): there is no such file", page.display());
            if let Some(heading) = heading {
                assert!(anchors(&read(&target)).contains(heading), "{}: [..]({link}): there is no such heading", page.display());
            }
            followed += 1;
        }
    }
    assert!(followed >= 30, "{followed} links");
}

#[test]
fn every_page_can_be_reached_from_the_readme() {
    let (mut reached, mut next) = (BTreeSet::new(), vec![root().join("README.md")]);
    while let Some(page) = next.pop() {
        if reached.insert(page.clone()) {
            let text = read(&page);
            let pages = links(&text).filter(|link| !link.contains("://")).map(|link| link.split('#').next().unwrap_or_default());
            next.extend(
                pages.filter(|file| file.ends_with(".md")).map(|file| page.with_file_name("").join(file).canonicalize().expect("a page")),
            );
        }
    }
    for page in pages() {
        assert!(reached.contains(&page), "no way leads from README.md to {}", page.display());
    }
}

/// The files of a walk in their order: `**N** ` and a path in backquotes, below `crates/`, the root, or the folder of the path before it.
fn walk(paragraph: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folder = root();
    for part in paragraph.split("**").collect::<Vec<_>>().windows(2).filter_map(|pair| Some((pair[0].parse::<usize>().ok()?, pair[1]))) {
        let (number, rest) = part;
        assert_eq!(number, files.len() + 1, "numbers go up by one: {rest}");
        let name = rest.split('`').nth(1).unwrap_or_else(|| panic!("{number} names no file: {rest}"));
        let places = [root().join("crates"), root(), folder.clone()];
        let place = places.iter().find(|place| place.join(name).is_file());
        let place = place.unwrap_or_else(|| panic!("{number} `{name}`: there is no such file"));
        let file = place.join(name);
        // `include/x.p4` behind `p4/upf.p4` is not the folder of what follows.
        if *place != folder {
            folder = file.parent().expect("a file has a folder").to_path_buf();
        }
        files.push(file);
    }
    files
}

#[test]
fn the_walks_name_files_that_exist_and_no_more_than_a_reader_opens() {
    let page = read(&root().join("ARCHITECTURE.md"));
    for (begin, most) in WALKS {
        let at = page.find(begin).unwrap_or_else(|| panic!("{begin} is not there"));
        let files = walk(page[at..].split("\n\n").next().expect("a paragraph"));
        assert!(files.len() >= 10 && files.len() <= *most, "{begin}: {} files, at most {most}", files.len());
        let distinct: BTreeSet<&PathBuf> = files.iter().collect();
        assert_eq!(distinct.len(), files.len(), "{begin} opens a file twice");
    }
}

/// `NAME.apply(hdr` in the program, rows of the table in the document.
#[test]
fn the_steps_of_the_document_are_those_of_the_program() {
    let program = read(&root().join("p4/upf.p4"));
    let ingress = program.split("control UpfEgress").next().expect("the ingress");
    // Behind `#else` are the same steps in another order.
    let mut other = false;
    let first = ingress.lines().filter(|line| {
        other = line.starts_with("#else") || other && !line.starts_with("#endif");
        !other
    });
    let steps = first.filter_map(|line| line.trim().split_once(".apply(hdr")).map(|(name, _)| name).filter(|name| *name != "heavy");
    let page = read(&root().join("ARCHITECTURE.md"));
    let rows: Vec<(&str, &str)> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | `"))
        .filter_map(|(step, rest)| Some((step, rest.split_once('`')?.0)))
        .filter(|(_, file)| file.ends_with(".p4"))
        .collect();
    assert_eq!(rows.iter().map(|(step, _)| *step).collect::<Vec<_>>(), steps.collect::<Vec<_>>());
    for (step, file) in rows {
        let control: String = step.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        let text = read(&root().join("p4/include").join(file));
        assert!(text.contains(&format!("control {control}(")), "{file} has no control {control}");
    }
}

#[test]
fn what_is_meant_to_be_short_is_short() {
    for (page, most) in [("ARCHITECTURE.md", 100), ("docs/glossary.md", 110)] {
        let lines = read(&root().join(page)).lines().count();
        assert!(lines <= most, "{page} has {lines} lines, at most {most}");
    }
}
