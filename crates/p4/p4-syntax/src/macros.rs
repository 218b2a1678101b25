//! What does a macro stand for? Macro bodies, substitution, and expansion that always ends.
//!
//! A macro is not expanded inside its own expansion: while a frame that came from it is being read it is *active*, and its
//! name met then is painted and stays a name. All work is counted against one limit, so doubling macros end in an error.

use crate::diag::Diagnostics;
use crate::lexer::{Cursor, P, Tok, Token};
use crate::preprocess::Preprocessor;
use crate::span::Span;
use std::cell::Cell;
use std::rc::Rc;

/// Most steps of expansion in one program.
const MAX_WORK: u64 = 4_000_000;
/// Characters of `#` and `##` that count as a step.
const TEXT_PER_STEP: u64 = 8;
/// Deepest nesting of macro calls in the arguments of macro calls.
const MAX_ARG_DEPTH: u32 = 60;

/// The parameter that stands for all further arguments, if it has no name of its own.
pub(crate) const VA_ARGS: &str = "__VA_ARGS__";

/// A macro's parameters.
#[derive(Default, PartialEq)]
pub(crate) struct Params {
    /// Their names.
    pub(crate) names: Vec<Rc<str>>,
    /// The last one takes all further arguments and the commas between them.
    pub(crate) variadic: bool,
}

impl Params {
    /// The position of the parameter that takes all further arguments.
    fn rest(&self) -> Option<usize> {
        self.variadic.then(|| self.names.len() - 1)
    }
}

/// A defined macro.
pub(crate) struct Macro {
    /// Its name in the `#define`.
    pub(crate) span: Span,
    /// `None` for a macro without a parameter list.
    pub(crate) params: Option<Params>,
    pub(crate) body: Body,
    /// How many frames made of this macro are being read.
    pub(crate) active: Cell<u32>,
}

impl Macro {
    /// A macro without parameters.
    pub(crate) fn object(span: Span, tokens: Vec<Token>) -> Macro {
        let items = tokens.into_iter().map(Item::Token).collect();
        Macro { span, params: None, body: Body { items }, active: Cell::new(0) }
    }

    /// Whether another definition says the same.
    pub(crate) fn same_as(&self, other: &Macro) -> bool {
        self.params == other.params && self.body.items == other.body.items
    }
}

/// A macro's body, parameters found.
pub(crate) struct Body {
    items: Vec<Item>,
}

/// One piece of a macro's body.
enum Item {
    Token(Token),
    /// A parameter, by its position.
    Param(usize),
    /// `#param`
    Quoted(usize),
    /// `##`
    Paste,
    /// `__VA_OPT__( ... )`: the next so many pieces, if there are further arguments.
    IfRest(usize),
}

impl PartialEq for Item {
    fn eq(&self, other: &Item) -> bool {
        match (self, other) {
            (Item::Token(a), Item::Token(b)) => a.tok == b.tok,
            (Item::Param(a), Item::Param(b)) | (Item::Quoted(a), Item::Quoted(b)) => a == b,
            (Item::Paste, Item::Paste) => true,
            (Item::IfRest(a), Item::IfRest(b)) => a == b,
            _ => false,
        }
    }
}

impl Body {
    /// Finds parameters, `#`, `##` and `__VA_OPT__` in a body; the error says what is wrong and where.
    pub(crate) fn new(tokens: Vec<Token>, params: Option<&Params>) -> Result<Body, (Span, String)> {
        let mut items = Vec::new();
        let mut tokens = tokens.into_iter().peekable();
        let param = |token: &Token| match (&token.tok, params) {
            (Tok::Word(name), Some(params)) => params.names.iter().position(|p| p == name),
            _ => None,
        };
        let variadic = params.is_some_and(|params| params.variadic);
        // Where an open `__VA_OPT__` stands, and how many parentheses are open within it.
        let mut optional: Option<(usize, Span, u32)> = None;
        while let Some(token) = tokens.next() {
            if let Some((at, _, depth)) = &mut optional {
                match token.tok {
                    Tok::P(P::LParen) => *depth += 1,
                    Tok::P(P::RParen) if *depth == 0 => {
                        items[*at] = Item::IfRest(items.len() - *at - 1);
                        optional = None;
                        continue;
                    }
                    Tok::P(P::RParen) => *depth -= 1,
                    _ => {}
                }
            }
            if variadic && matches!(&token.tok, Tok::Word(name) if &**name == "__VA_OPT__") {
                if optional.is_some() {
                    return Err((token.span, "`__VA_OPT__` within `__VA_OPT__`".to_string()));
                }
                if tokens.next_if(|next| next.tok == Tok::P(P::LParen)).is_none() {
                    return Err((token.span, "`__VA_OPT__` must be followed by `(`".to_string()));
                }
                optional = Some((items.len(), token.span, 0));
                items.push(Item::IfRest(0));
            } else if let Some(index) = param(&token) {
                items.push(Item::Param(index));
            } else if token.tok != Tok::P(P::Hash) {
                items.push(Item::Token(token));
            } else if tokens.next_if(|next| next.tok == Tok::P(P::Hash)).is_some() {
                if items.is_empty() || tokens.peek().is_none() {
                    return Err((token.span, "`##` needs something on both sides".to_string()));
                }
                items.push(Item::Paste);
            } else if let Some(index) = tokens.peek().and_then(param) {
                tokens.next();
                items.push(Item::Quoted(index));
            } else {
                items.push(Item::Token(token));
            }
        }
        match optional {
            Some((_, span, _)) => Err((span, "this `__VA_OPT__` is never closed".to_string())),
            None => Ok(Body { items }),
        }
    }
}

/// Tokens waiting to be read before the rest of the input.
pub(crate) struct Frame {
    tokens: std::vec::IntoIter<Token>,
    /// The macro the tokens came from.
    from: Option<Rc<Macro>>,
}

impl Frame {
    pub(crate) fn new(tokens: Vec<Token>, from: Option<Rc<Macro>>) -> Frame {
        if let Some(from) = &from {
            from.active.set(from.active.get() + 1);
        }
        Frame { tokens: tokens.into_iter(), from }
    }

    /// Ends the frame: its macro may be expanded again.
    pub(crate) fn leave(self) {
        if let Some(from) = self.from {
            from.active.set(from.active.get().saturating_sub(1));
        }
    }
}

impl Preprocessor<'_, '_> {
    /// The next token with macros expanded. Reads `stack`, then, if `raw`, the files.
    pub(crate) fn expand_next(&mut self, stack: &mut Vec<Frame>, raw: bool, depth: u32) -> Option<Token> {
        loop {
            let mut token = self.next_input(stack, raw)?;
            let Tok::Word(name) = &token.tok else { return Some(token) };
            if token.no_expand {
                return Some(token);
            }
            let Some(mac) = self.macros.get(name).cloned() else { return Some(self.place_macro(token)) };
            if mac.active.get() > 0 {
                token.no_expand = true;
                return Some(token);
            }
            let mut args = Vec::new();
            if let Some(params) = &mac.params {
                match self.next_input(stack, raw) {
                    Some(open) if open.tok == Tok::P(P::LParen) => {}
                    other => {
                        // Without arguments the name is just a name.
                        stack.extend(other.map(|t| Frame::new(vec![t], None)));
                        return Some(token);
                    }
                }
                args = self.collect_args(stack, raw, &token, params)?;
                let takes = params.names.len();
                if takes == 0 && args.len() == 1 && args[0].is_empty() {
                    args.clear();
                }
                if params.variadic && args.len() + 1 == takes {
                    args.push(Vec::new());
                }
                if args.len() != takes {
                    let takes = takes - usize::from(params.variadic);
                    let plural = if takes == 1 { "" } else { "s" };
                    let least = if params.variadic { "at least " } else { "" };
                    let given = if args.len() == 1 { "1 is".to_string() } else { format!("{} are", args.len()) };
                    let message = format!("macro `{name}` takes {least}{takes} argument{plural}, but {given} given");
                    self.error(token.span, message);
                    continue;
                }
            }
            let mut body = self.substitute(&mac, args, token.span, depth);
            if let Some(first) = body.first_mut() {
                first.line_start = token.line_start;
            }
            if !self.spend(body.len() as u64 + 1, token.span) {
                return None;
            }
            stack.push(Frame::new(body, Some(mac)));
        }
    }

    /// Counts work; false once there was too much.
    fn spend(&mut self, work: u64, span: Span) -> bool {
        self.work += work;
        if self.work > MAX_WORK {
            self.stop(span, "macro expansion does not come to an end".to_string());
        }
        !self.stopped
    }

    fn next_input(&mut self, stack: &mut Vec<Frame>, raw: bool) -> Option<Token> {
        if self.stopped {
            return None;
        }
        while let Some(frame) = stack.last_mut() {
            if let Some(token) = frame.tokens.next() {
                return Some(token);
            }
            if let Some(frame) = stack.pop() {
                frame.leave();
            }
        }
        if raw { self.next_raw() } else { None }
    }

    /// `__LINE__` and `__FILE__`.
    fn place_macro(&self, token: Token) -> Token {
        let Tok::Word(name) = &token.tok else { return token };
        let tok = match &**name {
            "__LINE__" => Tok::Number(self.map.line_col(token.span).line.to_string().into()),
            "__FILE__" => Tok::Str(self.map.get(token.span.file).map_or("", |f| &f.name).into()),
            _ => return token,
        };
        Token { tok, ..token }
    }

    /// Reads arguments up to the closing parenthesis; `None` at the end of the input.
    fn collect_args(&mut self, stack: &mut Vec<Frame>, raw: bool, name: &Token, params: &Params) -> Option<Vec<Vec<Token>>> {
        let mut args = vec![Vec::new()];
        let mut depth = 0u32;
        loop {
            let Some(mut token) = self.next_input(stack, raw) else {
                if !self.stopped {
                    self.error(name.span, format!("the arguments of macro `{}` are never closed", name.tok.text()));
                }
                return None;
            };
            if !self.spend(1, name.span) {
                return None;
            }
            match token.tok {
                Tok::P(P::LParen) => depth += 1,
                Tok::P(P::RParen) if depth == 0 => return Some(args),
                Tok::P(P::RParen) => depth -= 1,
                Tok::P(P::Comma) if depth == 0 && params.rest().is_none_or(|rest| args.len() <= rest) => {
                    args.push(Vec::new());
                    continue;
                }
                // Macros active now must stay names when the argument is read again on its own.
                Tok::Word(ref word) if self.macros.get(word).is_some_and(|m| m.active.get() > 0) => token.no_expand = true,
                Tok::PragmaEnd => continue,
                _ => {}
            }
            token.line_start = false;
            if let Some(arg) = args.last_mut() {
                arg.push(token);
            }
        }
    }

    /// The body with arguments put in. Tokens of the body get the span of the macro's use, arguments keep theirs.
    fn substitute(&mut self, mac: &Macro, args: Vec<Vec<Token>>, span: Span, depth: u32) -> Vec<Token> {
        let mut out: Vec<Token> = Vec::new();
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; args.len()];
        let items = &mac.body.items;
        let mut paste = false;
        let rest = mac.params.as_ref().and_then(Params::rest);
        let mut next = 0;
        while let Some(item) = items.get(next) {
            let (before, at) = (out.len(), next);
            next += 1;
            match item {
                Item::Paste => {
                    paste = true;
                    continue;
                }
                Item::IfRest(count) => {
                    if rest.is_none_or(|rest| args[rest].is_empty()) {
                        next += count;
                    }
                    continue;
                }
                Item::Token(token) => out.push(Token { span, ..token.clone() }),
                Item::Quoted(index) => {
                    let text = written(&args[*index]);
                    if !self.spend(text.len() as u64 / TEXT_PER_STEP, span) {
                        return Vec::new();
                    }
                    out.push(Token { tok: Tok::Str(text.into()), span, line_start: false, glued: false, no_expand: false });
                }
                // `, ## __VA_ARGS__`, as GNU's preprocessor has it: without further arguments the comma goes too.
                Item::Param(index) if paste && rest == Some(*index) && matches!(out.last(), Some(last) if last.tok == Tok::P(P::Comma)) => {
                    paste = false;
                    if args[*index].is_empty() {
                        out.pop();
                    } else {
                        out.extend(self.expanded(&mut expanded, &args, *index, span, depth).iter().cloned());
                    }
                }
                Item::Param(index) if paste || items.get(at + 1) == Some(&Item::Paste) => out.extend(args[*index].iter().cloned()),
                Item::Param(index) => out.extend(self.expanded(&mut expanded, &args, *index, span, depth).iter().cloned()),
            }
            if std::mem::take(&mut paste) && before > 0 && out.len() > before {
                let right = &out[before];
                let text = out[before - 1].tok.text() + &right.tok.text();
                if !self.spend(text.len() as u64 / TEXT_PER_STEP, span) {
                    return Vec::new();
                }
                // What makes no single token stays two.
                if let Some(tok) = one_token(span, text) {
                    out[before - 1] = Token { tok, span, line_start: false, glued: false, no_expand: false };
                    out.remove(before);
                }
            }
            if !self.spend((out.len() - before.min(out.len())) as u64, span) {
                return Vec::new();
            }
        }
        out
    }

    /// An argument with its macros expanded, once for all its uses.
    fn expanded<'e>(
        &mut self,
        expanded: &'e mut [Option<Vec<Token>>],
        args: &[Vec<Token>],
        index: usize,
        span: Span,
        depth: u32,
    ) -> &'e [Token] {
        if depth >= MAX_ARG_DEPTH {
            self.stop(span, format!("macro arguments are nested more than {MAX_ARG_DEPTH} deep"));
            return &[];
        }
        expanded[index].get_or_insert_with(|| self.expand_list(args[index].clone(), depth + 1))
    }
}

/// Tokens as `#` gives them: a space where there was one or more.
fn written(tokens: &[Token]) -> String {
    let mut text = String::new();
    for (at, token) in tokens.iter().enumerate() {
        let touches = |before: &Token| before.span.file == token.span.file && before.span.hi == token.span.lo;
        if at > 0 && !touches(&tokens[at - 1]) {
            text.push(' ');
        }
        text.push_str(&token.tok.text());
    }
    text
}

/// The one token that a text makes, if it does.
fn one_token(at: Span, text: String) -> Option<Tok> {
    let mut diags = Diagnostics::default();
    let mut cursor = Cursor::new(at.file, text.into());
    let token = cursor.token(&mut diags);
    let end = cursor.token(&mut diags);
    (end.tok == Tok::Eof && diags.into_vec().is_empty()).then_some(token.tok)
}
