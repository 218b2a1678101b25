//! Which programs are open, and what is known of them?

use crate::complete;
use crate::position::{offset, path, range, uri};
use lsp_types::*;
use p4_check::{Analysis, Mention, Options, SourceFile};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Who says so, beside each diagnostic.
const SOURCE: &str = "splitplane";

/// The open documents.
pub(crate) struct Documents {
    options: Options,
    open: BTreeMap<PathBuf, Document>,
    /// Files that diagnostics were given for, by the document that is the program.
    told: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// Built-in files that an editor has asked for.
    builtins: tempfile::TempDir,
}

struct Document {
    text: String,
    version: i32,
    analysis: Option<Analysis>,
}

impl Documents {
    pub(crate) fn new(options: Options) -> std::io::Result<Documents> {
        let builtins = tempfile::Builder::new().prefix("splitplane-p4-").tempdir()?;
        Ok(Documents { options, open: BTreeMap::new(), told: BTreeMap::new(), builtins })
    }

    /// The text of a document now. What is no file is not looked at.
    pub(crate) fn set(&mut self, of: &Uri, text: String, version: i32) {
        let Some(path) = path(of) else { return };
        self.open.insert(path.clone(), Document { text, version, analysis: None });
        self.including(&path).into_iter().for_each(|p| self.stale(&p));
    }

    pub(crate) fn close(&mut self, of: &Uri) {
        if let Some(path) = path(of) {
            self.open.remove(&path);
        }
    }

    /// Looks at all programs again: a file that they include may have changed.
    pub(crate) fn check_all(&mut self) {
        self.open.values_mut().for_each(|d| d.analysis = None);
    }

    fn stale(&mut self, path: &Path) {
        if let Some(d) = self.open.get_mut(path) {
            d.analysis = None;
        }
    }

    /// Open programs that include a file.
    fn including(&self, path: &Path) -> Vec<PathBuf> {
        let includes = |d: &Document| d.analysis.as_ref().is_some_and(|a| a.map.find_path(path).is_some());
        self.open.iter().filter(|(p, d)| *p != path && includes(d)).map(|(p, _)| p.clone()).collect()
    }

    /// Checks what has changed, and gives the diagnostics of each file that has or had some.
    pub(crate) fn diagnostics(&mut self) -> Vec<PublishDiagnosticsParams> {
        let mut changed = Vec::new();
        for (path, d) in &mut self.open {
            if d.analysis.is_none() {
                d.analysis = Some(p4_check::analyse(path, &d.text, &self.options));
                changed.push(path.clone());
            }
        }
        let closed: Vec<PathBuf> = self.told.keys().filter(|p| !self.open.contains_key(*p)).cloned().collect();
        let mut files: BTreeSet<PathBuf> = BTreeSet::new();
        for program in changed.iter().chain(&closed) {
            let now = self.files_of(program);
            files.extend(self.told.insert(program.clone(), now.clone()).unwrap_or_default());
            files.extend(now);
        }
        closed.iter().for_each(|p| drop(self.told.remove(p)));
        files.iter().filter_map(|f| self.file_diagnostics(f)).collect()
    }

    /// The program itself, and the files that it includes and blames.
    fn files_of(&self, program: &Path) -> BTreeSet<PathBuf> {
        let Some(Document { analysis: Some(a), .. }) = self.open.get(program) else { return BTreeSet::new() };
        let blamed = a.diagnostics.iter().filter_map(|d| a.map.get(d.span.file)?.path.clone());
        blamed.chain([program.to_owned()]).collect()
    }

    fn file_diagnostics(&self, file: &Path) -> Option<PublishDiagnosticsParams> {
        // A part of an open program is not a program of its own.
        let included = self.including(file);
        let programs: Vec<&Path> = match included.is_empty() {
            true => vec![file],
            false => included.iter().map(PathBuf::as_path).collect(),
        };
        let mut diagnostics = Vec::new();
        for program in programs {
            let Some(Document { analysis: Some(a), .. }) = self.open.get(program) else { continue };
            let of_file = a.diagnostics.iter().filter(|d| a.map.get(d.span.file).is_some_and(|f| f.path.as_deref() == Some(file)));
            diagnostics.extend(of_file.filter_map(|d| diagnostic(a, d)).filter(|d| !diagnostics.contains(d)).collect::<Vec<_>>());
        }
        Some(PublishDiagnosticsParams { uri: uri(file)?, diagnostics, version: self.open.get(file).map(|d| d.version) })
    }

    /// The name at a position: in the document as a program, or in a program that includes it.
    fn mention(&self, at: &TextDocumentPositionParams) -> Option<(&Analysis, &SourceFile, &Mention)> {
        let path = path(&at.text_document.uri)?;
        let programs = self.including(&path).into_iter().chain([path.clone()]);
        programs.into_iter().find_map(|program| {
            let a = self.open.get(&program)?.analysis.as_ref()?;
            let (id, file) = a.map.files().find(|(_, f)| f.path.as_deref() == Some(&path))?;
            let offset = offset(&file.text, at.position) as u32;
            let here = |m: &&Mention| m.span.file == id && m.span.lo <= offset && offset <= m.span.hi;
            a.index.mentions.iter().filter(here).min_by_key(|m| m.span.hi - m.span.lo).map(|m| (a, file, m))
        })
    }

    pub(crate) fn definition(&self, at: &TextDocumentPositionParams) -> Option<GotoDefinitionResponse> {
        let (a, _, mention) = self.mention(at)?;
        let declared = mention.declared?;
        let file = a.map.get(declared.file)?;
        let uri = match &file.path {
            Some(path) => uri(path)?,
            None => self.builtin(file)?,
        };
        Some(GotoDefinitionResponse::Scalar(Location { uri, range: range(file, declared) }))
    }

    /// A built-in file, as one that an editor can open.
    fn builtin(&self, file: &SourceFile) -> Option<Uri> {
        let name = Path::new(&file.name).file_name()?;
        let path = self.builtins.path().join(name);
        std::fs::write(&path, file.text.as_bytes()).ok()?;
        uri(&path)
    }

    pub(crate) fn hover(&self, at: &TextDocumentPositionParams) -> Option<Hover> {
        let (_, file, mention) = self.mention(at)?;
        let value = format!("```p4\n{}\n```", mention.what);
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
        Some(Hover { contents, range: Some(range(file, mention.span)) })
    }

    pub(crate) fn completion(&self, at: &TextDocumentPositionParams) -> Option<CompletionResponse> {
        let path = path(&at.text_document.uri)?;
        let text = &self.open.get(&path)?.text;
        let members = complete::members(&path, text, offset(text, at.position), &self.options);
        let item = |m: p4_check::Member| CompletionItem {
            kind: Some(if m.method { CompletionItemKind::METHOD } else { CompletionItemKind::FIELD }),
            label: m.name,
            detail: Some(m.what),
            ..Default::default()
        };
        Some(CompletionResponse::Array(members.into_iter().map(item).collect()))
    }
}

fn diagnostic(a: &Analysis, d: &p4_check::Diagnostic) -> Option<Diagnostic> {
    let file = a.map.get(d.span.file)?;
    let related = d.labels.iter().filter_map(|l| {
        let file = a.map.get(l.span.file)?;
        let location = Location { uri: uri(file.path.as_deref()?)?, range: range(file, l.span) };
        Some(DiagnosticRelatedInformation { location, message: l.message.clone() })
    });
    let related: Vec<_> = related.collect();
    let mut message = d.message.clone();
    for (word, text) in d.notes.iter().map(|n| ("note", n)).chain(d.help.iter().map(|h| ("help", h))) {
        message += &format!("\n{word}: {text}");
    }
    Some(Diagnostic {
        range: range(file, d.span),
        severity: Some(if d.is_error() { DiagnosticSeverity::ERROR } else { DiagnosticSeverity::WARNING }),
        code: Some(NumberOrString::String(d.code.to_owned())),
        source: Some(SOURCE.to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..Default::default()
    })
}
