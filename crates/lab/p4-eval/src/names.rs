//! What does a name mean, and which type is written here? Scopes, declarations and instances (P4_16 §6.4, §7, §17.3).

use crate::place::Place;
use crate::value::{Composite, EnumTy, Field, Ty, Value};
use crate::{Block, Evaluator, Instance, Object, R, Stop};
use p4_syntax::ast::{self, DeclKind};
use std::collections::HashMap;
use std::rc::Rc;

/// What a name stands for.
#[derive(Clone)]
pub(crate) enum Entity<'a> {
    Variable(Place),
    Constant(Value),
    Type(Ty),
    /// A struct, header or union with type parameters.
    Generic(&'a ast::CompositeDecl),
    /// An enum with an underlying type: its members' values.
    Members(Ty, Rc<HashMap<String, Value>>),
    Extern(&'a ast::ExternDecl),
    Block(Block<'a>),
    /// Several where the name is overloaded.
    Functions(Vec<&'a ast::FunctionDecl>),
    /// With the scope in which it was declared.
    Action(&'a ast::ActionDecl, usize),
    Table(usize, usize),
    Object(usize),
    /// A value set, which is empty.
    Nothing,
}

/// Scopes in each other; 0 is the outermost.
pub(crate) struct Scopes<'a>(Vec<(HashMap<&'a str, Entity<'a>>, usize)>);

impl<'a> Scopes<'a> {
    pub(crate) fn new() -> Scopes<'a> {
        Scopes(vec![(HashMap::new(), 0)])
    }

    pub(crate) fn inside(&mut self, parent: usize) -> usize {
        self.0.push((HashMap::new(), parent));
        self.0.len() - 1
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Forgets scopes made since there were `count`.
    pub(crate) fn leave(&mut self, count: usize) {
        self.0.truncate(count);
    }

    pub(crate) fn declare(&mut self, scope: usize, name: &'a str, entity: Entity<'a>) {
        self.0[scope].0.insert(name, entity);
    }

    pub(crate) fn own(&self, scope: usize, name: &str) -> Option<&Entity<'a>> {
        self.0[scope].0.get(name)
    }

    pub(crate) fn find(&self, mut scope: usize, name: &str) -> Option<&Entity<'a>> {
        loop {
            let (names, parent) = &self.0[scope];
            match names.get(name) {
                Some(found) => return Some(found),
                None if scope == 0 => return None,
                None => scope = *parent,
            }
        }
    }
}

impl<'a> Evaluator<'a> {
    pub(crate) fn find(&self, scope: usize, path: &ast::Path) -> R<Entity<'a>> {
        let from = if path.global { 0 } else { scope };
        self.scopes.find(from, &path.name.name).cloned().ok_or_else(|| Stop::cannot(format!("the name {}", path.name.name)))
    }

    pub(crate) fn declare_all(&mut self, program: &'a ast::Program) -> R<()> {
        let mut main = None;
        for d in &program.decls {
            match &d.kind {
                DeclKind::Instantiation(i) if i.name.name == "main" => main = Some(i),
                _ => self.declare_global(d)?,
            }
        }
        let main = main.ok_or_else(|| Stop::cannot("a program without main"))?;
        for arg in &main.args {
            let block = self.construct_arg(&arg.value, 0, "")?;
            self.blocks.push(block);
        }
        Ok(())
    }

    fn declare_global(&mut self, d: &'a ast::Decl) -> R<()> {
        match &d.kind {
            DeclKind::Composite(c) => self.declare_composite(c)?,
            DeclKind::Enum(e) => self.declare_enum(e)?,
            DeclKind::Typedef(t) => match &t.target {
                ast::TypedefTarget::Type(ty) => {
                    let entity = match self.named(ty, 0) {
                        Some(members @ Entity::Members(..)) => members,
                        _ => Entity::Type(self.resolve(ty, 0)?),
                    };
                    self.declare(0, &t.name.name, entity);
                }
                ast::TypedefTarget::Decl(_) => return Err(Stop::cannot("a typedef of a declaration")),
            },
            DeclKind::Extern(x) => self.declare(0, &x.name.name, Entity::Extern(x)),
            DeclKind::Function(f) => {
                let mut all = match self.scopes.own(0, &f.name.name) {
                    Some(Entity::Functions(all)) => all.clone(),
                    _ => Vec::new(),
                };
                all.push(f);
                self.declare(0, &f.name.name, Entity::Functions(all));
            }
            DeclKind::Action(a) => self.declare(0, &a.name.name, Entity::Action(a, 0)),
            DeclKind::Parser(p) => self.declare(0, &p.name.name, Entity::Block(Block::Parser(p))),
            DeclKind::Control(c) => self.declare(0, &c.name.name, Entity::Block(Block::Control(c))),
            DeclKind::Instantiation(i) => {
                let object = self.construct(&i.ty, &i.args, 0, i.name.name.clone())?;
                self.declare(0, &i.name.name, Entity::Object(object));
            }
            DeclKind::Const(c) => self.declare_const(c, 0)?,
            DeclKind::Error(names) => {
                for n in names {
                    if !self.errors.contains(&n.name) {
                        self.errors.push(n.name.clone());
                    }
                }
            }
            DeclKind::MatchKind(_) | DeclKind::Package(_) => {}
            DeclKind::Var(_) | DeclKind::Table(_) | DeclKind::ValueSet(_) => return Err(Stop::cannot("this declaration")),
        }
        Ok(())
    }

    pub(crate) fn declare_const(&mut self, c: &'a ast::ConstDecl, scope: usize) -> R<()> {
        let ty = self.resolve(&c.ty, scope)?;
        let value = self.eval(&c.value, scope)?.becomes(&ty)?;
        self.declare(scope, &c.name.name, Entity::Constant(value));
        Ok(())
    }

    fn declare_composite(&mut self, c: &'a ast::CompositeDecl) -> R<()> {
        let entity = match c.type_params.is_empty() {
            true => Entity::Type(self.composite(c, 0)?),
            false => Entity::Generic(c),
        };
        self.declare(0, &c.name.name, entity);
        Ok(())
    }

    fn composite(&mut self, c: &'a ast::CompositeDecl, scope: usize) -> R<Ty> {
        let mut fields = Vec::new();
        for f in &c.fields {
            let marks = f.annotations.iter().map(|a| a.name.name.clone()).collect();
            fields.push(Field { name: f.name.name.clone(), ty: self.resolve(&f.ty, scope)?, marks });
        }
        Ok(Ty::Composite(Rc::new(Composite { name: c.name.name.clone(), kind: c.kind, fields })))
    }

    fn declare_enum(&mut self, e: &'a ast::EnumDecl) -> R<()> {
        let entity = match &e.underlying {
            None => {
                let members = e.members.iter().map(|m| m.name.name.clone()).collect();
                Entity::Type(Ty::Enum(Rc::new(EnumTy { name: e.name.name.clone(), members })))
            }
            Some(ty) => {
                let ty = self.resolve(ty, 0)?;
                let mut members = HashMap::new();
                for m in &e.members {
                    let Some(value) = &m.value else { return Err(Stop::cannot("an enum member without value")) };
                    // A member may be named by those after it.
                    let so_far = Entity::Members(ty.clone(), Rc::new(members.clone()));
                    self.declare(0, &e.name.name, so_far);
                    members.insert(m.name.name.clone(), self.eval(value, 0)?.becomes(&ty)?);
                }
                Entity::Members(ty, Rc::new(members))
            }
        };
        self.declare(0, &e.name.name, entity);
        Ok(())
    }

    /// What a type that is only a name stands for.
    fn named(&self, ty: &ast::Type, scope: usize) -> Option<Entity<'a>> {
        match &ty.kind {
            ast::TypeKind::Named { path, args } if args.is_empty() => self.find(scope, path).ok(),
            _ => None,
        }
    }

    pub(crate) fn resolve(&mut self, ty: &'a ast::Type, scope: usize) -> R<Ty> {
        use ast::TypeKind as K;
        let width = |e: &mut Self, w: &'a ast::Expr| -> R<u32> { Ok(e.eval(w, scope)?.index()? as u32) };
        Ok(match &ty.kind {
            K::Bool => Ty::Bool,
            K::Error => Ty::Error,
            K::String => Ty::Str,
            K::Void | K::MatchKind | K::DontCare => Ty::Void,
            K::Int => Ty::Number,
            K::Bit(None) => Ty::Bits { width: 1, signed: false },
            K::Bit(Some(w)) => Ty::Bits { width: width(self, w)?, signed: false },
            K::SizedInt(w) => Ty::Bits { width: width(self, w)?, signed: true },
            K::Varbit(w) => Ty::Varbit(width(self, w)?),
            K::Stack { elem, size } => Ty::Stack(Rc::new(self.resolve(elem, scope)?), self.eval(size, scope)?.index()?),
            K::Tuple(ts) => {
                let mut out = Vec::new();
                for t in ts {
                    out.push(self.resolve(t, scope)?);
                }
                Ty::Tuple(out.into())
            }
            K::List(_) => return Err(Stop::cannot("the type list")),
            K::Named { path, args } => match self.find(scope, path)? {
                Entity::Type(t) | Entity::Members(t, _) => t,
                Entity::Generic(decl) => {
                    let inner = self.scopes.inside(0);
                    for (name, arg) in decl.type_params.iter().zip(args) {
                        let t = self.resolve(arg, scope)?;
                        self.declare(inner, &name.name, Entity::Type(t));
                    }
                    self.composite(decl, inner)?
                }
                Entity::Extern(_) | Entity::Block(_) => Ty::Object,
                _ => return Err(Stop::cannot(format!("{} as a type", path.name.name))),
            },
        })
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Instances

    /// The instance that `C(...)` or a name makes, as an argument of a constructor.
    fn construct_arg(&mut self, e: &'a ast::Expr, scope: usize, path: &str) -> R<usize> {
        match &e.kind {
            ast::ExprKind::Call { callee, args, .. } => {
                let name = match &callee.kind {
                    ast::ExprKind::Path(p) => p,
                    ast::ExprKind::Type(t) => match &t.kind {
                        ast::TypeKind::Named { path, .. } => path,
                        _ => return Err(Stop::cannot("this constructor")),
                    },
                    _ => return Err(Stop::cannot("this constructor")),
                };
                let full = join(path, &name.name.name);
                let entity = self.find(scope, name)?;
                self.construct_entity(entity, None, args, scope, full)
            }
            ast::ExprKind::Path(p) => match self.find(scope, p)? {
                Entity::Object(o) => Ok(o),
                _ => Err(Stop::cannot("this argument of a constructor")),
            },
            _ => Err(Stop::cannot("this argument of a constructor")),
        }
    }

    fn construct(&mut self, ty: &'a ast::Type, args: &'a [ast::Arg], scope: usize, path: String) -> R<usize> {
        let ast::TypeKind::Named { path: name, args: targs } = &ty.kind else { return Err(Stop::cannot("this instance")) };
        let entity = self.find(scope, name)?;
        self.construct_entity(entity, targs.first(), args, scope, path)
    }

    fn construct_entity(
        &mut self,
        entity: Entity<'a>,
        targ: Option<&'a ast::Type>,
        args: &'a [ast::Arg],
        scope: usize,
        path: String,
    ) -> R<usize> {
        let object = match entity {
            Entity::Extern(x) => {
                let size = match args.first() {
                    Some(a) => self.eval(&a.value, scope)?.index().unwrap_or(0),
                    None => 0,
                };
                match (x.name.name.as_str(), targ) {
                    ("counter", _) => Object::Counter { name: path, cells: vec![0; size] },
                    ("register", Some(t)) => {
                        let start = self.resolve(t, scope)?.start();
                        Object::Register { name: path, cells: vec![start; size] }
                    }
                    ("direct_counter" | "meter" | "direct_meter", _) => Object::Inert,
                    (other, _) => return Err(Stop::cannot(format!("an instance of {other}"))),
                }
            }
            Entity::Block(decl) => return self.construct_block(decl, args, scope, path),
            _ => return Err(Stop::cannot("an instance of this")),
        };
        self.objects.push(object);
        Ok(self.objects.len() - 1)
    }

    pub(crate) fn construct_block(&mut self, decl: Block<'a>, args: &'a [ast::Arg], scope: usize, path: String) -> R<usize> {
        let own = self.scopes.inside(0);
        for (i, p) in decl.constructor_params().iter().enumerate() {
            let arg = args.iter().find(|a| a.name.as_ref().is_some_and(|n| n.name == p.name.name)).or_else(|| args.get(i));
            let entity = match arg {
                Some(a) => match self.eval(&a.value, scope) {
                    Ok(value) => {
                        let ty = self.resolve(&p.ty, own)?;
                        Entity::Constant(value.becomes(&ty)?)
                    }
                    Err(_) => Entity::Object(self.construct_arg(&a.value, scope, &path)?),
                },
                None => match &p.default {
                    Some(d) => Entity::Constant(self.eval(d, own)?),
                    None => return Err(Stop::cannot("a constructor without its argument")),
                },
            };
            self.declare(own, &p.name.name, entity);
        }
        let mut instance = Instance { decl, path: path.clone(), scope: own, objects: HashMap::new(), tables: HashMap::new() };
        // Constants of the block may size what stands after them.
        let locals = self.scopes.inside(own);
        for d in decl.locals() {
            match &d.kind {
                DeclKind::Const(c) => self.declare_const(c, locals)?,
                DeclKind::Instantiation(i) => {
                    let full = full_name(&path, &i.name.name, &d.annotations);
                    let object = self.construct(&i.ty, &i.args, locals, full)?;
                    self.declare(locals, &i.name.name, Entity::Object(object));
                    instance.objects.insert(&i.name.name, object);
                }
                DeclKind::Action(a) => self.declare(locals, &a.name.name, Entity::Action(a, locals)),
                DeclKind::Table(t) => {
                    let full = full_name(&path, &t.name.name, &d.annotations);
                    let table = self.new_table(t, full)?;
                    self.declare(locals, &t.name.name, Entity::Table(table, locals));
                    instance.tables.insert(&t.name.name, table);
                }
                _ => {}
            }
        }
        self.objects.push(Object::Block(instance.clone()));
        let made = self.objects.len() - 1;
        for table in instance.tables.values() {
            self.fill_table(*table, locals)?;
        }
        Ok(made)
    }
}

/// The control plane's name (P4_16 §18.3).
fn full_name(path: &str, name: &str, annotations: &[ast::Annotation]) -> String {
    match ast::find_annotation(annotations, "name").and_then(ast::Annotation::string) {
        Some(own) => own.strip_prefix('.').map_or_else(|| join(path, own), str::to_owned),
        None => join(path, name),
    }
}

pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
