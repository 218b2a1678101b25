//! Reading declarations (P4_16 §6.8, §7, §10 - §14) and the annotations in front of them.

use super::{Level, Parse, Parser, Stop};
use crate::ast::*;
use crate::diag::Diagnostic;
use crate::lexer::{Kw, P, Tok};
use crate::span::Span;

/// Words that start declarations, for "did you mean".
const STARTS: [&str; 15] = [
    "action",
    "const",
    "control",
    "enum",
    "extern",
    "header",
    "header_union",
    "match_kind",
    "package",
    "parser",
    "struct",
    "table",
    "typedef",
    "value_set",
    "state",
];

impl Parser<'_> {
    /// Everything up to the end of the text.
    pub(super) fn program(&mut self) -> Program {
        let mut decls = Vec::new();
        while !self.at_eof() {
            if self.eat(P::Semi) {
                continue;
            }
            let start = self.pos;
            match self.top_level_decl() {
                Ok(decl) => decls.extend(decl),
                Err(Stop) => {
                    self.synchronise(start, Level::Member);
                    // At top level a `}` closes nothing: step over it.
                    if self.at(P::RBrace) || self.pos == start {
                        self.bump();
                    }
                }
            }
        }
        Program { decls }
    }

    /// One declaration; `None` for a forward declaration `extern X;`, which says nothing.
    fn top_level_decl(&mut self) -> Parse<Option<Decl>> {
        let start = self.span();
        if self.at(P::RBrace) {
            return self.fail(Diagnostic::error("syntax", start, "this `}` closes nothing").with_label("no `{` is open here"));
        }
        let annotations = self.annotations()?;
        let kind = match self.tok() {
            Tok::Kw(Kw::Const) => self.const_decl()?,
            Tok::Kw(Kw::Extern) => match self.extern_decl()? {
                Some(kind) => kind,
                None => return Ok(None),
            },
            Tok::Kw(Kw::Action) => self.action_decl()?,
            Tok::Kw(Kw::Parser) => self.parser_decl()?,
            Tok::Kw(Kw::Control) => self.control_decl()?,
            Tok::Kw(Kw::Package) => self.package_decl()?,
            Tok::Kw(Kw::Struct | Kw::Header | Kw::HeaderUnion) => self.composite_decl()?,
            Tok::Kw(Kw::Enum) => self.enum_decl()?,
            Tok::Kw(Kw::Typedef | Kw::Type) => self.typedef_decl()?,
            Tok::Kw(Kw::Error) if *self.nth(1) == Tok::P(P::LBrace) => DeclKind::Error(self.member_names()?),
            Tok::Kw(Kw::MatchKind) if *self.nth(1) == Tok::P(P::LBrace) => DeclKind::MatchKind(self.member_names()?),
            Tok::Kw(Kw::Table | Kw::ValueSet | Kw::State) => {
                let home = if self.at_kw(Kw::Table) { "control" } else { "parser" };
                return self.expected(&format!("a declaration (this one belongs inside a {home})"));
            }
            _ if self.skip_type(self.pos).is_some() => self.function_or_instance()?,
            _ => return self.expected("a declaration"),
        };
        Ok(Some(self.finish_decl(annotations, kind, start)))
    }

    fn finish_decl(&self, annotations: Vec<Annotation>, kind: DeclKind, start: Span) -> Decl {
        Decl { annotations, kind, span: start.to(self.prev_span()) }
    }

    /// `{ a, b }` of `error` and `match_kind`
    fn member_names(&mut self) -> Parse<Vec<Ident>> {
        self.bump();
        let open = self.expect(P::LBrace)?;
        let names = self.ident_list(P::RBrace, "a name")?;
        self.expect_close(P::RBrace, open)?;
        Ok(names)
    }

    // -- annotations (P4_16 §20) --------------------------------------------------------------------------------------

    pub(super) fn annotations(&mut self) -> Parse<Vec<Annotation>> {
        let mut out = Vec::new();
        while self.at(P::At) {
            out.push(self.annotation()?);
        }
        Ok(out)
    }

    fn annotation(&mut self) -> Parse<Annotation> {
        let start = self.bump();
        let pragma = self.at_word("pragma");
        if pragma {
            self.bump();
        }
        let name = match self.tok() {
            Tok::Word(_) | Tok::Kw(_) => Ident { name: self.tok().text(), span: self.bump() },
            _ => return self.expected("an annotation's name"),
        };
        let body = if pragma {
            let tokens = self.annotation_tokens(None, |tok| *tok == Tok::PragmaEnd)?;
            AnnotationBody::Pragma(tokens)
        } else if self.at(P::LParen) {
            let open = self.bump();
            let tokens = self.annotation_tokens(Some(open), |tok| *tok == Tok::P(P::RParen))?;
            self.expect_close(P::RParen, open)?;
            AnnotationBody::Unstructured(tokens)
        } else if self.at(P::LBracket) {
            self.structured_annotation()?
        } else {
            AnnotationBody::None
        };
        let span = start.to(self.prev_span());
        if pragma && *self.tok() == Tok::PragmaEnd {
            self.bump();
        }
        Ok(Annotation { name, body, span })
    }

    /// Tokens up to `end`, with parentheses balanced; `end` is left. `outer` is the parenthesis they stand in.
    fn annotation_tokens(&mut self, outer: Option<Span>, end: impl Fn(&Tok) -> bool) -> Parse<Vec<AnnotationToken>> {
        let mut out = Vec::new();
        let mut open: Vec<Span> = Vec::new();
        loop {
            let tok = self.tok();
            if open.is_empty() && end(tok) {
                return Ok(out);
            }
            let kind = match tok {
                Tok::Word(word) => AnnotationTokenKind::Word(word.to_string()),
                Tok::Kw(kw) => AnnotationTokenKind::Word(kw.text().to_string()),
                Tok::Int(lit) => AnnotationTokenKind::Int((**lit).clone()),
                Tok::Str(text) => AnnotationTokenKind::Str(text.to_string()),
                Tok::P(P::LParen) => {
                    open.push(self.span());
                    AnnotationTokenKind::Punct("(")
                }
                Tok::P(P::RParen) if open.pop().is_none() => return self.expected("the annotation to go on"),
                Tok::P(p) => AnnotationTokenKind::Punct(p.text()),
                Tok::Unknown(text) | Tok::Char(text) | Tok::Number(text) => AnnotationTokenKind::Other(text.to_string()),
                Tok::PragmaEnd | Tok::Eof => {
                    let diagnostic = self.expectation("`)`");
                    return match open.pop().or(outer) {
                        Some(paren) => self.fail(diagnostic.with_place(paren, "to close this")),
                        None => self.fail(diagnostic),
                    };
                }
            };
            out.push(AnnotationToken { kind, span: self.bump() });
        }
    }

    /// `[ a, b ]` or `[ k = a, l = b ]`
    fn structured_annotation(&mut self) -> Parse<AnnotationBody> {
        let open = self.bump();
        let pairs = self.at_name() && *self.nth(1) == Tok::P(P::Eq);
        let body = if pairs {
            AnnotationBody::Pairs(self.with_gt(|p| p.comma_list(P::RBracket, Self::field_init))?)
        } else {
            AnnotationBody::Exprs(self.expr_list(P::RBracket)?)
        };
        self.expect_close(P::RBracket, open)?;
        Ok(body)
    }

    // -- constants, variables, instances, functions -------------------------------------------------------------------

    /// `const T x = e;`
    pub(super) fn const_decl(&mut self) -> Parse<DeclKind> {
        self.expect_kw(Kw::Const)?;
        let ty = self.ty()?;
        let name = self.ident("the constant's name")?;
        let ty = self.array_suffix(ty)?;
        self.expect(P::Eq)?;
        let value = self.expr()?;
        self.scopes.declare_value(&name.name, false);
        self.expect_semi()?;
        Ok(DeclKind::Const(ConstDecl { ty, name, value }))
    }

    /// `T x` or `T x = e`, without the `;`
    pub(super) fn var_decl(&mut self) -> Parse<VarDecl> {
        let ty = self.ty()?;
        let name = self.ident("the variable's name")?;
        let ty = self.array_suffix(ty)?;
        let init = if self.eat(P::Eq) { Some(self.expr()?) } else { None };
        self.scopes.declare_value(&name.name, false);
        Ok(VarDecl { ty, name, init })
    }

    /// `T(args) x;`, `T(args) x[n];` or `T(args) x = { ... };`
    pub(super) fn instantiation(&mut self) -> Parse<DeclKind> {
        let ty = self.ty()?;
        self.instantiation_of(ty)
    }

    fn instantiation_of(&mut self, ty: Type) -> Parse<DeclKind> {
        let args = self.args()?;
        let name = self.ident("the instance's name")?;
        let ty = self.array_suffix(ty)?;
        let members = if self.eat(P::Eq) { Some(self.nested(|p| p.braced(Level::Member, Self::object_member))?.0) } else { None };
        self.scopes.declare_value(&name.name, false);
        self.expect_semi()?;
        Ok(DeclKind::Instantiation(Instantiation { ty, args, name, members }))
    }

    /// A function or an instance inside an object initialiser.
    fn object_member(&mut self) -> Parse<Decl> {
        let start = self.span();
        let annotations = self.annotations()?;
        let kind = self.function_or_instance()?;
        Ok(self.finish_decl(annotations, kind, start))
    }

    fn function_or_instance(&mut self) -> Parse<DeclKind> {
        let misspelled = match self.tok() {
            Tok::Word(word) => crate::suggest::nearest(word, STARTS),
            _ => None,
        };
        let unknown = self.name_at(self.pos).is_some_and(|name| self.scopes.find(name, false).is_none());
        let ty = self.ty()?;
        if self.at(P::LParen) {
            return self.instantiation_of(ty);
        }
        let is_function = self.at_name() && matches!(self.nth(1), Tok::P(P::LParen | P::Lt));
        if is_function && !(unknown && misspelled.is_some()) {
            return self.function_of(ty, true);
        }
        let variable = self.at_name() && matches!(self.nth(1), Tok::P(P::Semi | P::Eq));
        if variable && misspelled.is_none() {
            let diagnostic = Diagnostic::error("syntax", ty.span.to(self.span()), "variables cannot be declared at top level");
            return self.fail(diagnostic.with_help("declare it as `const`, or inside a parser, control, action or function"));
        }
        let mut diagnostic = self.expectation("a declaration");
        if let Some(word) = misspelled {
            diagnostic.span = ty.span;
            diagnostic.message = format!("`{}` does not start a declaration", type_name(&ty));
            diagnostic = diagnostic.with_label("expected a declaration").with_help(format!("did you mean `{word}`?"));
        }
        self.fail(diagnostic)
    }

    /// A function from its name on, with a body if `body`, else with a `;`.
    fn function_of(&mut self, ret: Type, body: bool) -> Parse<DeclKind> {
        let name = self.ident("the function's name")?;
        self.scopes.declare_value(&name.name, self.at(P::Lt));
        self.scoped(|p| {
            let type_params = p.type_params()?;
            let params = p.params()?;
            let body = if body {
                Some(p.block(Vec::new())?)
            } else {
                p.expect_semi()?;
                None
            };
            Ok(DeclKind::Function(FunctionDecl { ret, name, type_params, params, body }))
        })
    }

    /// Runs a function inside a scope of its own.
    pub(super) fn scoped<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.scopes.push();
        let result = read(self);
        self.scopes.pop();
        result
    }

    /// `( parameter, parameter ... )`; the names are declared in the innermost scope.
    pub(super) fn params(&mut self) -> Parse<Vec<Param>> {
        let open = self.expect(P::LParen)?;
        let params = self.comma_list(P::RParen, Self::param)?;
        self.expect_close(P::RParen, open)?;
        Ok(params)
    }

    fn param(&mut self) -> Parse<Param> {
        let start = self.span();
        let annotations = self.annotations()?;
        let direction = match self.tok() {
            Tok::Kw(Kw::In) => Some(Direction::In),
            Tok::Kw(Kw::Out) => Some(Direction::Out),
            Tok::Kw(Kw::InOut) => Some(Direction::InOut),
            _ => None,
        };
        if direction.is_some() {
            self.bump();
        }
        let ty = self.ty()?;
        let name = self.ident("the parameter's name")?;
        let ty = self.array_suffix(ty)?;
        let default = if self.eat(P::Eq) { Some(self.expr()?) } else { None };
        self.scopes.declare_value(&name.name, false);
        Ok(Param { annotations, direction, ty, name, default, span: start.to(self.prev_span()) })
    }

    /// `action a(...) { ... }`
    pub(super) fn action_decl(&mut self) -> Parse<DeclKind> {
        self.bump();
        let name = self.ident("the action's name")?;
        self.scopes.declare_value(&name.name, false);
        self.scoped(|p| {
            let params = p.params()?;
            let body = p.block(Vec::new())?;
            Ok(DeclKind::Action(ActionDecl { name, params, body }))
        })
    }

    // -- types --------------------------------------------------------------------------------------------------------

    /// `struct S { ... }`, `header H { ... }`, `header_union U { ... }`
    fn composite_decl(&mut self) -> Parse<DeclKind> {
        let kind = match self.tok() {
            Tok::Kw(Kw::Struct) => CompositeKind::Struct,
            Tok::Kw(Kw::Header) => CompositeKind::Header,
            _ => CompositeKind::HeaderUnion,
        };
        self.bump();
        let name = self.ident("the type's name")?;
        self.scopes.declare_type(&name.name, self.at(P::Lt));
        self.scoped(|p| {
            let type_params = p.type_params()?;
            let (fields, _) = p.braced(Level::Member, Self::field)?;
            Ok(DeclKind::Composite(CompositeDecl { kind, name, type_params, fields }))
        })
    }

    fn field(&mut self) -> Parse<FieldDecl> {
        let start = self.span();
        let annotations = self.annotations()?;
        let ty = self.ty()?;
        let name = self.ident("the field's name")?;
        let ty = self.array_suffix(ty)?;
        self.expect_semi()?;
        Ok(FieldDecl { annotations, ty, name, span: start.to(self.prev_span()) })
    }

    /// `enum E { A, B }` or `enum bit<8> E { A = 1, B = 2 }`
    fn enum_decl(&mut self) -> Parse<DeclKind> {
        self.bump();
        let plain = self.at_name() && *self.nth(1) == Tok::P(P::LBrace);
        let underlying = if plain { None } else { Some(self.ty()?) };
        let name = self.ident("the enum's name")?;
        self.scopes.declare_type(&name.name, false);
        let open = self.expect(P::LBrace)?;
        let members = self.comma_list(P::RBrace, |p| {
            let name = p.ident("a member's name")?;
            if plain && p.at(P::Eq) {
                let diagnostic = Diagnostic::error("syntax", p.span(), "only an enum with an underlying type has values");
                p.report(diagnostic.with_help("give the type in front of the name: `enum bit<8> E { ... }`"));
            }
            let value = if p.eat(P::Eq) { Some(p.expr()?) } else { None };
            Ok(EnumMember { span: name.span.to(p.prev_span()), name, value })
        })?;
        if members.is_empty() {
            return self.expected("a member's name");
        }
        self.expect_close(P::RBrace, open)?;
        Ok(DeclKind::Enum(EnumDecl { underlying, name, members }))
    }

    /// `typedef T N;`, `typedef struct S { ... } N;`, `type T N;`
    fn typedef_decl(&mut self) -> Parse<DeclKind> {
        let is_new_type = self.at_kw(Kw::Type);
        self.bump();
        let start = self.span();
        let annotations = self.annotations()?;
        let derived = match self.tok() {
            _ if is_new_type => None,
            Tok::Kw(Kw::Struct | Kw::Header | Kw::HeaderUnion) => Some(self.composite_decl()?),
            Tok::Kw(Kw::Enum) => Some(self.enum_decl()?),
            _ => None,
        };
        let mut target = match derived {
            Some(kind) => TypedefTarget::Decl(Box::new(self.finish_decl(annotations, kind, start))),
            None if annotations.is_empty() => TypedefTarget::Type(self.ty()?),
            None => return self.expected("a struct, header or enum behind the annotation"),
        };
        let name = self.ident("the new type's name")?;
        if let TypedefTarget::Type(ty) = target {
            target = TypedefTarget::Type(self.array_suffix(ty)?);
        }
        // Another name for a generic type is as generic as that type.
        let is_generic = match &target {
            TypedefTarget::Type(Type { kind: TypeKind::Named { path, args }, .. }) if args.is_empty() => {
                self.scopes.find(&path.name.name, path.global).is_some_and(|k| k.is_generic)
            }
            _ => false,
        };
        self.scopes.declare_type(&name.name, is_generic);
        self.expect_semi()?;
        Ok(DeclKind::Typedef(TypedefDecl { is_new_type, target, name }))
    }

    // -- externs, packages --------------------------------------------------------------------------------------------

    /// `extern E { ... }`, `extern T f(...);` or, giving `None`, `extern E;`
    fn extern_decl(&mut self) -> Parse<Option<DeclKind>> {
        self.bump();
        // `extern T f<...>(...)` may return its own type parameter, so look for the name before the `<` or `{`.
        let object = self.at_name()
            && matches!(self.nth(1), Tok::P(P::LBrace | P::Lt))
            && self.skip_type(self.pos).is_none_or(|next| self.name_at(next).is_none());
        if self.at_name() && *self.nth(1) == Tok::P(P::Semi) {
            let name = self.ident("the extern's name")?;
            self.scopes.declare_type(&name.name, false);
            self.bump();
            return Ok(None);
        }
        if !object {
            let ty = self.ty()?;
            return self.function_of(ty, false).map(Some);
        }
        let name = self.ident("the extern's name")?;
        self.scopes.declare_type(&name.name, self.at(P::Lt));
        self.scoped(|p| {
            let type_params = p.type_params()?;
            let (methods, _) = p.braced(Level::Member, |p| p.method(&name.name))?;
            Ok(Some(DeclKind::Extern(ExternDecl { name: name.clone(), type_params, methods })))
        })
    }

    /// A constructor or method prototype of the extern called `owner`.
    fn method(&mut self, owner: &str) -> Parse<Method> {
        let start = self.span();
        let annotations = self.annotations()?;
        let is_abstract = self.eat_kw(Kw::Abstract);
        let constructor = !is_abstract && self.name_at(self.pos) == Some(owner) && *self.nth(1) == Tok::P(P::LParen);
        let ret = if constructor { None } else { Some(self.ty()?) };
        if self.at(P::LParen) {
            let diagnostic = self.expectation("the method's name");
            return self.fail(diagnostic.with_help(format!("a method starts with its result's type; a constructor is called `{owner}`")));
        }
        let name = self.ident("the method's name")?;
        self.scoped(|p| {
            let type_params = p.type_params()?;
            let params = p.params()?;
            p.expect_semi()?;
            Ok(Method { annotations, is_abstract, ret, name, type_params, params, span: start.to(p.prev_span()) })
        })
    }

    /// `package P<T>(...);`
    fn package_decl(&mut self) -> Parse<DeclKind> {
        self.bump();
        let name = self.ident("the package's name")?;
        self.scopes.declare_type(&name.name, self.at(P::Lt));
        self.scoped(|p| {
            let type_params = p.type_params()?;
            let params = p.params()?;
            p.expect_semi()?;
            Ok(DeclKind::Package(PackageDecl { name, type_params, params }))
        })
    }

    // -- controls (P4_16 §14) -----------------------------------------------------------------------------------------

    /// `control C(...);` or `control C(...)(...) { ... }`
    fn control_decl(&mut self) -> Parse<DeclKind> {
        self.bump();
        let name = self.ident("the control's name")?;
        self.scopes.declare_type(&name.name, self.at(P::Lt));
        self.scoped(|p| {
            let type_params = p.type_params()?;
            let params = p.params()?;
            if p.eat(P::Semi) {
                return Ok(DeclKind::Control(ControlDecl { name, type_params, params, constructor_params: Vec::new(), body: None }));
            }
            let constructor_params = if p.at(P::LParen) { p.params()? } else { Vec::new() };
            let body = p.control_body(&name)?;
            Ok(DeclKind::Control(ControlDecl { name, type_params, params, constructor_params, body: Some(body) }))
        })
    }

    fn control_body(&mut self, control: &Ident) -> Parse<ControlBody> {
        let mut apply: Option<Block> = None;
        let (locals, close) = self.braced(Level::Member, |p| {
            let at_apply = p.at_kw(Kw::Apply) && matches!(p.nth(1), Tok::P(P::LBrace | P::At));
            if let Some(before) = &apply {
                let diagnostic = Diagnostic::error("syntax", p.span(), "nothing may follow the `apply` block of a control");
                let place = before.span;
                p.report(diagnostic.with_place(Span { hi: place.lo + 1, ..place }, "the `apply` block starts here"));
            }
            if at_apply {
                p.bump();
                let annotations = p.annotations()?;
                let block = p.block(annotations)?;
                apply.get_or_insert(block);
                return Ok(None);
            }
            p.control_local().map(Some)
        })?;
        let apply = match apply {
            Some(apply) => apply,
            None => {
                let diagnostic = Diagnostic::error("syntax", close, format!("control `{}` has no `apply` block", control.name));
                // A syntax error inside may have swallowed the block: then nothing more is said.
                if self
                    .last_error
                    .is_none_or(|at| self.token_at(at).span.lo < control.span.lo || self.token_at(at).span.file != control.span.file)
                {
                    self.report(diagnostic.with_help("end the control with `apply { ... }`"));
                }
                Block { annotations: Vec::new(), stmts: Vec::new(), span: close }
            }
        };
        Ok(ControlBody { locals: locals.into_iter().flatten().collect(), apply })
    }

    fn control_local(&mut self) -> Parse<Decl> {
        let what = "a constant, variable, instance, action, table or `apply`";
        let start = self.span();
        let annotations = self.annotations()?;
        self.misspelled(&["const", "action", "table", "apply"], what)?;
        let kind = match self.tok() {
            Tok::Kw(Kw::Const) => self.const_decl()?,
            Tok::Kw(Kw::Action) => self.action_decl()?,
            Tok::Kw(Kw::Table) => self.table_decl()?,
            _ => self.variable_or_instance(what)?,
        };
        Ok(self.finish_decl(annotations, kind, start))
    }

    /// A variable or an instance, told apart by what follows the type.
    pub(super) fn variable_or_instance(&mut self, what: &str) -> Parse<DeclKind> {
        if self.at_variable() {
            let decl = self.var_decl()?;
            self.expect_semi()?;
            return Ok(DeclKind::Var(decl));
        }
        if self.at_instantiation() {
            return self.instantiation();
        }
        if let Tok::P(P::Semi) = self.tok() {
            let diagnostic = Diagnostic::error("syntax", self.span(), format!("expected {what}, found `;`"));
            return self.fail(diagnostic.with_help("remove this `;`"));
        }
        if self.skip_type(self.pos).is_some_and(|next| matches!(self.token_at(next).tok, Tok::P(P::Eq | P::Dot))) {
            let diagnostic = self.expectation(what);
            return self.fail(diagnostic.with_help("statements belong inside `apply`, an action or a state"));
        }
        if self.skip_type(self.pos).is_some() {
            self.ty()?;
            return self.expected("a name");
        }
        self.expected(what)
    }
}

/// The name a type was written as, for messages.
fn type_name(ty: &Type) -> &str {
    match &ty.kind {
        TypeKind::Named { path, .. } => &path.name.name,
        _ => "this type",
    }
}
