//! What do global names mean, and of which parts does a variable consist? As far as warnings need it.

use p4_syntax::ast::{self, CompositeKind, DeclKind, ExprKind, TypeKind, TypedefTarget};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Most parts of one variable that are followed one by one. A variable of more is not followed: nested structs multiply.
const MAX_SLOTS: u32 = 4096;
/// Deepest nesting of types that is followed.
const MAX_DEPTH: u32 = 64;

/// What a type is made of.
#[derive(Debug)]
pub(crate) enum Shape<'a> {
    Scalar,
    /// With the names of its fields, which are followed as a whole.
    Header(Vec<&'a str>),
    Struct(Vec<(&'a str, Rc<Shape<'a>>)>),
    /// Not followed.
    Other,
}

impl Shape<'_> {
    /// How many parts there are: one for each scalar; for a header one for its validity and one for each field.
    pub(crate) fn slots(&self) -> u32 {
        match self {
            Shape::Scalar => 1,
            Shape::Header(fields) => 1 + fields.len() as u32,
            Shape::Struct(fields) => fields.iter().fold(0, |n, (_, s)| n.saturating_add(s.slots())),
            Shape::Other => 0,
        }
    }
}

/// A global name.
#[derive(Clone)]
pub(crate) enum Global<'a> {
    Composite(&'a ast::CompositeDecl),
    Enum,
    Typedef(&'a ast::TypedefDecl),
    Extern(&'a ast::ExternDecl),
    /// Several where the name is overloaded.
    Functions(Vec<&'a ast::FunctionDecl>),
    Action(&'a ast::ActionDecl),
    Parser(&'a ast::ParserDecl),
    Control(&'a ast::ControlDecl),
    /// A constant that is written as `true` or `false`.
    Flag(bool),
    Instance(&'a ast::Type),
}

/// The global names.
pub(crate) struct Names<'a> {
    globals: HashMap<&'a str, Global<'a>>,
    shapes: RefCell<HashMap<&'a str, Rc<Shape<'a>>>>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(program: &'a ast::Program) -> Names<'a> {
        let mut globals: HashMap<&'a str, Global<'a>> = HashMap::new();
        for d in &program.decls {
            let Some(name) = d.name() else { continue };
            let global = match &d.kind {
                DeclKind::Composite(c) => Global::Composite(c),
                DeclKind::Enum(_) => Global::Enum,
                DeclKind::Typedef(t) => Global::Typedef(t),
                DeclKind::Extern(e) => Global::Extern(e),
                DeclKind::Function(f) => {
                    if let Some(Global::Functions(all)) = globals.get_mut(name.name.as_str()) {
                        all.push(f);
                        continue;
                    }
                    Global::Functions(vec![f])
                }
                DeclKind::Action(a) => Global::Action(a),
                DeclKind::Parser(p) => Global::Parser(p),
                DeclKind::Control(c) => Global::Control(c),
                DeclKind::Instantiation(i) => Global::Instance(&i.ty),
                DeclKind::Const(c) => match c.value.kind {
                    ExprKind::Bool(b) => Global::Flag(b),
                    _ => continue,
                },
                _ => continue,
            };
            globals.insert(&name.name, global);
        }
        Names { globals, shapes: RefCell::default() }
    }

    pub(crate) fn global(&self, name: &str) -> Option<&Global<'a>> {
        self.globals.get(name)
    }

    /// The shape of a type; `generics` are type parameters, which may hide global names.
    pub(crate) fn shape(&self, ty: &'a ast::Type, generics: &[ast::Ident]) -> Rc<Shape<'a>> {
        let shape = self.shape_at(ty, generics, 0);
        if shape.slots() > MAX_SLOTS { Rc::new(Shape::Other) } else { shape }
    }

    fn shape_at(&self, ty: &'a ast::Type, generics: &[ast::Ident], depth: u32) -> Rc<Shape<'a>> {
        match &ty.kind {
            TypeKind::Bool | TypeKind::Error | TypeKind::Bit(_) | TypeKind::SizedInt(_) => Rc::new(Shape::Scalar),
            TypeKind::Named { path, args } if args.is_empty() && depth < MAX_DEPTH => {
                let name = path.name.name.as_str();
                if generics.iter().any(|g| g.name == name) {
                    return Rc::new(Shape::Other);
                }
                if let Some(known) = self.shapes.borrow().get(name) {
                    return known.clone();
                }
                let shape = self.named(name, depth + 1);
                self.shapes.borrow_mut().insert(&path.name.name, shape.clone());
                shape
            }
            _ => Rc::new(Shape::Other),
        }
    }

    fn named(&self, name: &str, depth: u32) -> Rc<Shape<'a>> {
        match self.globals.get(name) {
            Some(Global::Composite(c)) => self.composite(c, depth),
            Some(Global::Enum) => Rc::new(Shape::Scalar),
            Some(Global::Typedef(t)) => match &t.target {
                TypedefTarget::Type(ty) => self.shape_at(ty, &[], depth),
                TypedefTarget::Decl(d) => match &d.kind {
                    DeclKind::Composite(c) => self.composite(c, depth),
                    DeclKind::Enum(_) => Rc::new(Shape::Scalar),
                    _ => Rc::new(Shape::Other),
                },
            },
            _ => Rc::new(Shape::Other),
        }
    }

    fn composite(&self, c: &'a ast::CompositeDecl, depth: u32) -> Rc<Shape<'a>> {
        Rc::new(match c.kind {
            _ if !c.type_params.is_empty() => Shape::Other,
            CompositeKind::HeaderUnion => Shape::Other,
            CompositeKind::Header => Shape::Header(c.fields.iter().map(|f| f.name.name.as_str()).collect()),
            CompositeKind::Struct => {
                let field = |f: &'a ast::FieldDecl| (f.name.name.as_str(), self.shape_at(&f.ty, &[], depth));
                let shape = Shape::Struct(c.fields.iter().map(field).collect());
                if shape.slots() > MAX_SLOTS { Shape::Other } else { shape }
            }
        })
    }
}
