//! How are declarations written?

use super::{Binding, Printer};
use crate::ast::*;

impl Printer {
    /// A declaration on lines of its own.
    pub(super) fn decl(&mut self, decl: &Decl) {
        self.start();
        self.annotations(&decl.annotations);
        self.decl_kind(&decl.kind);
        self.end("");
    }

    pub(super) fn decl_kind(&mut self, kind: &DeclKind) {
        match kind {
            DeclKind::Const(d) => {
                self.put("const ");
                self.ty(&d.ty);
                self.put(&format!(" {} = ", d.name.name));
                self.expr(&d.value, Binding::Loosest);
                self.put(";");
            }
            DeclKind::Var(d) => {
                self.var(d);
                self.put(";");
            }
            DeclKind::Error(names) => self.names_block("error", names),
            DeclKind::MatchKind(names) => self.names_block("match_kind", names),
            DeclKind::Composite(d) => self.composite(d),
            DeclKind::Enum(d) => self.enumeration(d),
            DeclKind::Typedef(d) => self.typedef(d),
            DeclKind::Extern(d) => {
                self.put(&format!("extern {}", d.name.name));
                self.type_params(&d.type_params);
                self.put(" ");
                self.braced(&d.methods, Self::method);
            }
            DeclKind::Function(d) => self.function(d),
            DeclKind::Action(d) => {
                self.put(&format!("action {}", d.name.name));
                self.params(&d.params);
                self.put(" ");
                self.block(&d.body);
            }
            DeclKind::Parser(d) => {
                self.put("parser ");
                self.head(&d.name, &d.type_params, &d.params, &d.constructor_params);
                match &d.body {
                    Some(body) => self.parser_body(body),
                    None => self.put(";"),
                }
            }
            DeclKind::Control(d) => {
                self.put("control ");
                self.head(&d.name, &d.type_params, &d.params, &d.constructor_params);
                match &d.body {
                    Some(body) => self.control_body(body),
                    None => self.put(";"),
                }
            }
            DeclKind::Package(d) => {
                self.put("package ");
                self.head(&d.name, &d.type_params, &d.params, &[]);
                self.put(";");
            }
            DeclKind::Instantiation(d) => {
                // Of an array of instances the size stands behind the name.
                let mut sizes = Vec::new();
                let mut ty = &d.ty;
                while let TypeKind::Stack { elem, size } = &ty.kind {
                    sizes.push(size);
                    ty = elem;
                }
                self.ty(ty);
                self.args(&d.args);
                self.put(&format!(" {}", d.name.name));
                for size in sizes.into_iter().rev() {
                    self.put("[");
                    self.expr(size, Binding::Loosest);
                    self.put("]");
                }
                if let Some(members) = &d.members {
                    self.put(" = ");
                    self.braced(members, Self::decl);
                }
                self.put(";");
            }
            DeclKind::Table(d) => {
                self.put(&format!("table {} ", d.name.name));
                self.braced(&d.properties, Self::property);
            }
            DeclKind::ValueSet(d) => {
                self.put("value_set<");
                self.ty(&d.ty);
                self.put(">(");
                self.expr(&d.size, Binding::Loosest);
                self.put(&format!(") {};", d.name.name));
            }
        }
    }

    pub(super) fn var(&mut self, var: &VarDecl) {
        self.ty(&var.ty);
        self.put(&format!(" {}", var.name.name));
        if let Some(init) = &var.init {
            self.put(" = ");
            self.expr(init, Binding::Loosest);
        }
    }

    fn names_block(&mut self, keyword: &str, names: &[Ident]) {
        self.put(keyword);
        self.put(" ");
        self.braced(names, |p, name| {
            p.start();
            p.put(&name.name);
            p.end(",");
        });
    }

    fn composite(&mut self, decl: &CompositeDecl) {
        self.put(match decl.kind {
            CompositeKind::Struct => "struct ",
            CompositeKind::Header => "header ",
            CompositeKind::HeaderUnion => "header_union ",
        });
        self.put(&decl.name.name);
        self.type_params(&decl.type_params);
        self.put(" ");
        self.braced(&decl.fields, |p, field| {
            p.start();
            p.annotations(&field.annotations);
            p.ty(&field.ty);
            p.end(&format!(" {};", field.name.name));
        });
    }

    fn enumeration(&mut self, decl: &EnumDecl) {
        self.put("enum ");
        if let Some(ty) = &decl.underlying {
            self.ty(ty);
            self.put(" ");
        }
        self.put(&format!("{} ", decl.name.name));
        self.braced(&decl.members, |p, member| {
            p.start();
            p.put(&member.name.name);
            if let Some(value) = &member.value {
                p.put(" = ");
                p.expr(value, Binding::Loosest);
            }
            p.end(",");
        });
    }

    fn typedef(&mut self, decl: &TypedefDecl) {
        self.put(if decl.is_new_type { "type " } else { "typedef " });
        match &decl.target {
            TypedefTarget::Type(ty) => self.ty(ty),
            TypedefTarget::Decl(inner) => {
                self.annotations(&inner.annotations);
                self.decl_kind(&inner.kind);
            }
        }
        self.put(&format!(" {};", decl.name.name));
    }

    fn method(&mut self, method: &Method) {
        self.start();
        self.annotations(&method.annotations);
        if method.is_abstract {
            self.put("abstract ");
        }
        if let Some(ret) = &method.ret {
            self.ty(ret);
            self.put(" ");
        }
        self.put(&method.name.name);
        self.type_params(&method.type_params);
        self.params(&method.params);
        self.end(";");
    }

    fn function(&mut self, function: &FunctionDecl) {
        if function.body.is_none() {
            self.put("extern ");
        }
        self.ty(&function.ret);
        self.put(&format!(" {}", function.name.name));
        self.type_params(&function.type_params);
        self.params(&function.params);
        match &function.body {
            Some(body) => {
                self.put(" ");
                self.block(body);
            }
            None => self.put(";"),
        }
    }

    /// Name, generic parameters and the one or two parameter lists of a parser, control or package.
    fn head(&mut self, name: &Ident, type_params: &[Ident], params: &[Param], constructor_params: &[Param]) {
        self.put(&name.name);
        self.type_params(type_params);
        self.params(params);
        if !constructor_params.is_empty() {
            self.params(constructor_params);
        }
    }

    fn type_params(&mut self, params: &[Ident]) {
        if !params.is_empty() {
            self.put("<");
            self.list(params, |p, name| p.put(&name.name));
            self.put(">");
        }
    }

    fn params(&mut self, params: &[Param]) {
        self.put("(");
        self.list(params, |p, param| {
            p.annotations(&param.annotations);
            p.put(match param.direction {
                None => "",
                Some(Direction::In) => "in ",
                Some(Direction::Out) => "out ",
                Some(Direction::InOut) => "inout ",
            });
            p.ty(&param.ty);
            p.put(&format!(" {}", param.name.name));
            if let Some(default) = &param.default {
                p.put(" = ");
                p.expr(default, Binding::Loosest);
            }
        });
        self.put(")");
    }

    fn parser_body(&mut self, body: &ParserBody) {
        self.end(" {");
        self.indent += 1;
        for local in &body.locals {
            self.decl(local);
        }
        for state in &body.states {
            self.state(state);
        }
        self.indent -= 1;
        self.start();
        self.put("}");
    }

    fn state(&mut self, state: &ParserState) {
        self.start();
        self.annotations(&state.annotations);
        self.end(&format!("state {} {{", state.name.name));
        self.indent += 1;
        for stmt in &state.stmts {
            self.stmt(stmt);
        }
        match &state.transition {
            None => {}
            Some(Transition::Direct(name)) => {
                self.start();
                self.end(&format!("transition {};", name.name));
            }
            Some(Transition::Select(select)) => self.select(select),
        }
        self.indent -= 1;
        self.start();
        self.end("}");
    }

    fn select(&mut self, select: &Select) {
        self.start();
        self.put("transition select(");
        self.list(&select.keys, |p, key| p.expr(key, Binding::Loosest));
        self.put(") ");
        self.braced(&select.cases, |p, case| {
            p.start();
            p.keyset(&case.keyset);
            p.end(&format!(": {};", case.next.name));
        });
        self.end("");
    }

    /// One element alone needs no parentheses.
    fn keyset(&mut self, keyset: &Keyset) {
        match keyset.elems.as_slice() {
            [one] => self.expr(one, Binding::Loosest),
            many => {
                self.put("(");
                self.list(many, |p, elem| p.expr(elem, Binding::Loosest));
                self.put(")");
            }
        }
    }

    fn control_body(&mut self, body: &ControlBody) {
        self.end(" {");
        self.indent += 1;
        for local in &body.locals {
            self.decl(local);
        }
        self.start();
        self.put("apply ");
        self.block(&body.apply);
        self.end("");
        self.indent -= 1;
        self.start();
        self.put("}");
    }

    fn property(&mut self, property: &TableProperty) {
        self.start();
        self.annotations(&property.annotations);
        if property.is_const {
            self.put("const ");
        }
        match &property.kind {
            TablePropertyKind::Key(elements) => {
                self.put("key = ");
                self.braced(elements, |p, element| {
                    p.start();
                    p.expr(&element.expr, Binding::Loosest);
                    p.put(&format!(": {}", element.match_kind.name));
                    p.trailing(&element.annotations);
                });
            }
            TablePropertyKind::Actions(actions) => {
                self.put("actions = ");
                self.braced(actions, |p, action| {
                    p.start();
                    p.annotations(&action.annotations);
                    p.action_ref(action);
                    p.end(";");
                });
            }
            TablePropertyKind::Entries(entries) => {
                self.put("entries = ");
                self.braced(entries, Self::entry);
            }
            TablePropertyKind::Custom { name, value } => {
                self.put(&format!("{} = ", name.name));
                self.expr(value, Binding::Loosest);
                self.put(";");
            }
        }
        self.end("");
    }

    fn entry(&mut self, entry: &TableEntry) {
        self.start();
        if entry.is_const {
            self.put("const ");
        }
        if let Some(priority) = &entry.priority {
            self.put("priority = ");
            let number = matches!(priority.kind, ExprKind::Int(_));
            self.put(if number { "" } else { "(" });
            self.expr(priority, Binding::Loosest);
            self.put(if number { ": " } else { "): " });
        }
        self.keyset(&entry.keyset);
        self.put(": ");
        self.action_ref(&entry.action);
        self.trailing(&entry.action.annotations);
    }

    fn action_ref(&mut self, action: &ActionRef) {
        self.path(&action.path);
        if let Some(args) = &action.args {
            self.args(args);
        }
    }

    /// Annotations at the end of a key element or entry, and the `;`.
    fn trailing(&mut self, annotations: &[Annotation]) {
        self.put(" ");
        self.annotations(annotations);
        while self.out.ends_with(' ') {
            self.out.pop();
        }
        self.end(";");
    }
}
