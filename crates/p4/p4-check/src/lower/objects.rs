//! What comes into being when something is instantiated? Counters, meters, registers, parsers, controls, packages
//! (P4_16 §11.3, v1model).

use super::args::Subst;
use super::cx::Cx;
use super::ids::IdOf;
use super::instances::{ObjKind, ProfileDecl};
use crate::names::decls::BlockDecl;
use crate::names::scope::{Entity, ScopeId};
use crate::names::sink::R;
use crate::types::*;
use crate::values::body::Region;
use crate::values::data::count_unit;
use p4_syntax::{Diagnostic, Span, ast};
use program::{CounterInfo, LengthSource, MeterInfo, ParamInfo, RegisterInfo, ServiceInfo};

/// Longest request or answer of a service, in bytes: both travel in front of the packet.
const MAX_SERVICE_BYTES: usize = 32;

impl<'a> Cx<'a> {
    pub(crate) fn new_object(&mut self, path: String, kind: ObjKind<'a>) -> ObjId {
        self.objects.add(path, kind)
    }

    /// The instance a value is, if it is one.
    pub(crate) fn object(&self, v: &Tv) -> Option<ObjId> {
        match v.val {
            Val::Obj(id) => Some(id),
            _ => None,
        }
    }

    /// Declares `T(args) name;`. `single`: see [`BlockInst::single`].
    pub(crate) fn declare_instance(&mut self, i: &'a ast::Instantiation, annotations: &'a [ast::Annotation], single: bool) -> R<()> {
        if let ast::TypeKind::Stack { .. } = i.ty.kind {
            let result = self.instance_array(i, annotations);
            if result.is_err() {
                self.declare(&i.name, Entity::Bad);
            }
            return result;
        }
        let path = self.control_plane_name(&i.name.name, annotations);
        if self.body.region == Region::Global
            && let Ok(Type::Block(..)) = self.resolve(&i.ty)
        {
            self.declare(&i.name, Entity::Bad);
            return Err(self.error("misplaced", i.name.span, "parsers and controls cannot be instantiated at top level"));
        }
        let made = self
            .resolve(&i.ty)
            .and_then(|ty| self.fits_region(&ty, i.name.span).map(|()| ty))
            .and_then(|ty| self.construct(&ty, &i.args, path, annotations, single, i.name.span));
        match made {
            Ok(v) => {
                if self.body.region == Region::Global && i.name.name == "main" && !matches!(v.ty, Type::Package(..)) {
                    self.error("type-mismatch", i.name.span, format!("`main` must be an instance of a package, not of {}", v.ty));
                }
                if self.body.region == Region::Global
                    && i.name.name == "main"
                    && let Some(id) = self.object(&v)
                {
                    self.whole.main = Some((id, i.name.span));
                    self.whole.host_ports = ast::find_annotation(annotations, "host_ports");
                }
                self.declare(&i.name, Entity::Value(v.clone()));
                self.members(i, &v)
            }
            Err(e) => {
                self.declare(&i.name, Entity::Bad);
                Err(e)
            }
        }
    }

    /// A parser is not instantiated in a control, nor a control in a parser (P4_16 §14, §13).
    fn fits_region(&mut self, ty: &Type, span: Span) -> R<()> {
        let Type::Block(id, _) = ty else { return Ok(()) };
        match (self.decls.block(*id).is_parser(), self.body.region) {
            (true, Region::Control) => Err(self.error("misplaced", span, "a parser cannot be instantiated in a control")),
            (false, Region::Parser) => Err(self.error("misplaced", span, "a control cannot be instantiated in a parser")),
            _ => Ok(()),
        }
    }

    /// The full name for the control plane: the instance path and the name or `@name` (P4_16 §18.3.3).
    pub(crate) fn control_plane_name(&mut self, name: &str, annotations: &'a [ast::Annotation]) -> String {
        match ast::find_annotation(annotations, "name").and_then(ast::Annotation::string) {
            Some(s) => match s.strip_prefix('.') {
                Some(absolute) => absolute.to_owned(),
                None => self.local_name(s),
            },
            None => self.local_name(name),
        }
    }

    /// Runs a constructor.
    pub(crate) fn construct(
        &mut self,
        ty: &Type,
        args: &'a [ast::Arg],
        path: String,
        annotations: &'a [ast::Annotation],
        single: bool,
        span: Span,
    ) -> R<Tv> {
        if !matches!(self.body.region, Region::Global | Region::Parser | Region::Control) {
            return Err(self.error("misplaced", span, "instances cannot be made here, only at top level, in parsers and in controls"));
        }
        let (ty, kind) = match ty {
            Type::Extern(id, targs) => self.construct_extern(*id, targs, args, &path, annotations, span)?,
            Type::Block(id, targs) => self.construct_block(*id, targs, args, single, span)?,
            Type::Package(id, targs) => self.construct_package(*id, targs, args, span)?,
            Type::Bad => return Err(self.poisoned()),
            t => return Err(self.error("type-mismatch", span, format!("{t} cannot be instantiated"))),
        };
        let id = self.new_object(path, kind);
        Ok(Tv { ty, val: Val::Obj(id), access: Access::Read("an instance"), span })
    }

    fn construct_block(&mut self, id: BlockId, targs: &[Type], args: &'a [ast::Arg], single: bool, span: Span) -> R<(Type, ObjKind<'a>)> {
        let id = self.block_for(id, args);
        let decl = self.decls.block(id);
        let name = decl.name().name.clone();
        if !decl.has_body() {
            return Err(self.error("no-body", span, format!("`{name}` is only a type of parsers or controls and cannot be instantiated")));
        }
        let mut subst = Subst::default();
        let scope = self.type_scope((ScopeId::GLOBAL, decl.seen()), decl.type_params(), targs, &mut subst);
        let params = self.resolve_params(decl.constructor_params(), scope)?;
        let found = self.match_args(&name, decl.constructor_params(), args, span)?;
        let (values, block) = self.block(|cx| cx.eval_args(&name, &params, &found, &mut subst, scope, span));
        let values = values?.values;
        if !block.is_empty() || values.iter().any(|v| !v.val.is_const()) {
            let at = values.iter().find(|v| !v.val.is_const()).map_or(span, |v| v.span);
            return Err(self.error("not-const", at, "constructor arguments must be known at compile time"));
        }
        for v in &values {
            // It may be applied in two places now.
            if let Some(o) = self.object(v)
                && let Some(inst) = self.objects.block_mut(o)
            {
                inst.single = false;
            }
        }
        let targs = if targs.is_empty() { subst.all() } else { targs.to_vec() };
        Ok((Type::Block(id, targs.clone().into()), ObjKind::block(id, targs, values, single)))
    }

    /// The package of that name that takes these arguments.
    fn package_for(&self, id: PackageId, args: &[ast::Arg]) -> PackageId {
        let first = self.decls.package(id);
        let fits = |p: &&ast::PackageDecl| p.name.name == first.name.name && accepts(&p.params, args);
        if fits(&first) { id } else { self.decls.find_package(fits).unwrap_or(id) }
    }

    /// The parser or control of that name whose constructor takes these arguments.
    fn block_for(&self, id: BlockId, args: &[ast::Arg]) -> BlockId {
        let first = self.decls.block(id);
        let fits = |b: &BlockDecl| b.name().name == first.name().name && accepts(b.constructor_params(), args);
        if fits(&first) { id } else { self.decls.find_block(fits).unwrap_or(id) }
    }

    fn construct_package(&mut self, id: PackageId, targs: &[Type], args: &'a [ast::Arg], span: Span) -> R<(Type, ObjKind<'a>)> {
        if self.body.region != Region::Global {
            return Err(self.error("misplaced", span, "a package can be instantiated at top level only"));
        }
        let id = self.package_for(id, args);
        let decl = self.decls.package(id);
        let name = &decl.name.name;
        let mut subst = Subst::default();
        let scope = self.type_scope((ScopeId::GLOBAL, u32::MAX), &decl.type_params, targs, &mut subst);
        let params = self.resolve_params(&decl.params, scope)?;
        let found = self.match_args(name, &decl.params, args, span)?;
        let mut values = Vec::new();
        let mut failed = None;
        for (p, arg) in params.iter().zip(&found) {
            let given = arg.map(|a| &a.value);
            let Some(value) = given.or(p.ast.default.as_ref()) else { continue };
            let inner = if given.is_some() { self.body.scope } else { scope };
            match self.in_scope(inner, |cx| cx.pure(value, "the argument of a package")) {
                Ok(v) => values.push((p, v)),
                Err(e) => failed = Some(e),
            }
        }
        if let Some(e) = failed {
            return Err(e);
        }
        let mut given = Vec::new();
        for (p, v) in values {
            match (&p.ty, &v.ty) {
                (Type::Block(..), Type::Block(..)) => {
                    if let Err(e) = self.unify(&p.ty, &v.ty, &mut subst, v.span, name, &p.ast.name.name) {
                        failed = Some(e);
                    }
                    given.push((p.ast, v));
                }
                (Type::Package(a, wanted), Type::Package(b, own)) if a == b && wanted.len() == own.len() => {
                    for (w, o) in wanted.clone().iter().zip(own.iter()) {
                        self.unify(w, o, &mut subst, v.span, name, &p.ast.name.name)?;
                        let w = self.substitute(w, &subst, span)?;
                        if !w.has_var() && w != *o && !matches!(w, Type::DontCare) {
                            let message = format!("`{}` of `{name}` has type argument {o}, but {w} is wanted", p.ast.name.name);
                            failed = Some(self.error("type-mismatch", v.span, message));
                        }
                    }
                    given.push((p.ast, v));
                }
                (Type::Package(a, _), Type::Package(b, _)) if a == b => given.push((p.ast, v)),
                (t, _) => {
                    self.unify(t, &v.ty, &mut subst, v.span, name, &p.ast.name.name)?;
                    let t = self.substitute(t, &subst, span)?;
                    match self.coerce(v, &t, &format!("parameter `{}` of `{name}`", p.ast.name.name)) {
                        Ok(v) => given.push((p.ast, v)),
                        Err(e) => failed = Some(e),
                    }
                }
            }
        }
        if let Some(e) = failed {
            return Err(e);
        }
        for (p, _) in params.iter().zip(&found).filter(|(p, arg)| arg.is_none() && p.ast.default.is_some()) {
            let ty = self.substitute(&p.ty, &subst, span)?;
            if ty.has_var() {
                return Err(self.error(
                    "inference",
                    span,
                    format!("type argument of `{name}` for `{}` is not determined", p.ast.name.name),
                ));
            }
        }
        let targs: Vec<Type> = subst.open.iter().filter_map(|(i, _)| subst.found.get(i).cloned()).collect();
        Ok((Type::Package(id, targs.into()), ObjKind::Package(id, given)))
    }

    fn construct_extern(
        &mut self,
        id: ExternId,
        targs: &[Type],
        args: &'a [ast::Arg],
        path: &str,
        annotations: &'a [ast::Annotation],
        span: Span,
    ) -> R<(Type, ObjKind<'a>)> {
        let decl = self.decls.ext(id);
        let name = &decl.name.name;
        let constructors: Vec<&'a ast::Method> = decl.methods.iter().filter(|m| m.ret.is_none()).collect();
        let Some(method) = choose(&constructors, args) else {
            let d = match constructors.first() {
                None => {
                    Diagnostic::error("no-constructor", span, format!("extern `{name}` has no constructor; the architecture provides it"))
                }
                Some(m) => {
                    let message = format!("no constructor of `{name}` takes these {} arguments", args.len());
                    Diagnostic::error("arity", span, message).with_place(m.span, "a constructor")
                }
            };
            return Err(self.report(d));
        };
        self.note_deprecated(name, span, method.name.span);
        let mut subst = Subst::default();
        let scope = self.type_scope((ScopeId::GLOBAL, u32::MAX), &decl.type_params, targs, &mut subst);
        let params = self.resolve_params(&method.params, scope)?;
        let found = self.match_args(name, &method.params, args, span)?;
        let (values, block) = self.block(|cx| cx.eval_args(name, &params, &found, &mut subst, scope, span));
        let values = values?.values;
        if !block.is_empty() || values.iter().any(|v| !v.val.is_const()) {
            let at = values.iter().find(|v| !v.val.is_const()).map_or(span, |v| v.span);
            return Err(self.error("not-const", at, "constructor arguments must be known at compile time"));
        }
        let full: Vec<Type> = match targs {
            [] => subst.open.iter().map(|(i, _)| subst.found.get(i).cloned().unwrap_or(Type::Var(*i))).collect(),
            given => given.to_vec(),
        };
        let kind = self.extern_kind(name, &full, &values, path, annotations, span)?;
        match &kind {
            ObjKind::Counter(id) => self.note_id(IdOf::Counter(*id), annotations),
            ObjKind::DirectCounter(id) => {
                self.ids.note_direct_counter(*id);
                self.note_id(IdOf::Counter(*id), annotations);
            }
            ObjKind::Meter(id) => self.note_id(IdOf::Meter(*id), annotations),
            ObjKind::DirectMeter(id) => {
                self.ids.note_direct_meter(*id);
                self.note_id(IdOf::Meter(*id), annotations);
            }
            ObjKind::Cells(id, _) => self.note_id(IdOf::Register(*id), annotations),
            ObjKind::Register(parts) => match (parts.as_slice(), ast::find_annotation(annotations, "id")) {
                ([(id, _)], _) => self.note_id(IdOf::Register(*id), annotations),
                (_, Some(at)) => {
                    return Err(self.unsupported(at.span, "`@id` on a register of structs (it becomes a register for each field)"));
                }
                _ => {}
            },
            ObjKind::Profile(_) => self.note_profile_id(path, annotations),
            _ => {}
        }
        let kind = match (kind, self.is_tna(), values.first().and_then(|v| self.object(v))) {
            // Its register, until the body comes.
            (ObjKind::Unknown, true, Some(register)) if matches!(name.as_str(), "RegisterAction" | "DirectRegisterAction") => {
                ObjKind::Acts(register)
            }
            (kind, ..) => kind,
        };
        Ok((Type::Extern(id, full.into()), kind))
    }

    fn extern_kind(
        &mut self,
        name: &str,
        targs: &[Type],
        values: &[Tv],
        path: &str,
        annotations: &'a [ast::Annotation],
        span: Span,
    ) -> R<ObjKind<'a>> {
        let pdu = ast::find_annotation(annotations, "pdu_length");
        let length = if pdu.is_some() { LengthSource::Pdu } else { LengthSource::Frame };
        if let (Some(a), true) = (pdu, matches!(name, "counter" | "direct_counter" | "meter" | "direct_meter")) {
            self.whole.pdu_users.push(a.span);
        }
        if let Some(arch) = self.arch()
            && let Some(kind) = (arch.kind)(self, name, targs, values, path, span)?
        {
            return Ok(kind);
        }
        let owned = path.to_owned();
        Ok(match (name, values) {
            ("counter", [size, unit]) => {
                let info = CounterInfo { name: owned, size: self.cells(size)?, unit: count_unit(unit), length, table: None, bits: None };
                ObjKind::Counter(self.build.ir.program.counters.push(info))
            }
            ("direct_counter", [unit]) => {
                let info = CounterInfo { name: owned, size: 0, unit: count_unit(unit), length, table: None, bits: None };
                ObjKind::DirectCounter(self.build.ir.program.counters.push(info))
            }
            ("meter", [size, unit]) => {
                let info = MeterInfo { name: owned, size: self.cells(size)?, unit: count_unit(unit), length, table: None };
                ObjKind::Meter(self.build.ir.program.meters.push(info))
            }
            ("direct_meter", [unit]) => {
                let info = MeterInfo { name: owned, size: 0, unit: count_unit(unit), length, table: None };
                ObjKind::DirectMeter(self.build.ir.program.meters.push(info))
            }
            ("register", [size, ..]) => {
                let cell = targs.first().cloned().unwrap_or(Type::Bad);
                if cell.has_var() {
                    return Err(self.error("inference", span, "a register needs its cell type: `register<bit<32>>(...)`"));
                }
                if values.len() > 1 {
                    return Err(self.unsupported(span, "a register with initial values"));
                }
                // A struct's fields are registers side by side.
                let mut parts = Vec::new();
                if !scalar_parts(&cell, &owned, &mut parts) {
                    return Err(self.unsupported(span, format!("a register of {cell}")));
                }
                let size = self.cells(size)?;
                let register =
                    |(name, ty): (String, p4_ir::Ty)| (RegisterInfo { name, size, width: ty.width(), initial: 0, table: None }, ty);
                let parts: Vec<_> = parts.into_iter().map(register).collect();
                ObjKind::Register(parts.into_iter().map(|(info, ty)| (self.build.ir.program.registers.push(info), ty)).collect())
            }
            ("action_profile", [size]) => {
                ObjKind::Profile(ProfileDecl { size: self.cells(size)?, algorithm: None, groups: None, lowered: None })
            }
            ("action_selector", [algorithm, size, _]) => {
                let algorithm = Some(self.hash_algorithm(algorithm)?);
                ObjKind::Profile(ProfileDecl { size: self.cells(size)?, algorithm, groups: None, lowered: None })
            }
            ("Service", [called]) => self.service(targs, called, span)?,
            _ => ObjKind::Unknown,
        })
    }

    /// A service: one of a name, however often it is instantiated.
    fn service(&mut self, targs: &[Type], called: &Tv, span: Span) -> R<ObjKind<'a>> {
        let Val::Str(called) = &called.val else {
            return Err(self.error("not-const", called.span, "the name of a service must be known at compile time"));
        };
        let name = called.to_string();
        if self.body.region != Region::Control && !self.check_only() {
            return Err(self.error("misplaced", span, format!("service \"{name}\" must be instantiated in a control")));
        }
        let mut sides = Vec::new();
        for (what, ty) in ["request", "answer"].into_iter().zip(targs) {
            if ty.has_var() {
                let d = Diagnostic::error("inference", span, format!("the type of the {what} of service \"{name}\" is not determined"));
                return Err(self.report(d.with_help("write both: `Service<request_t, answer_t>(...)`")));
            }
            let mut parts = Vec::new();
            let simple = matches!(ty, Type::Composite(_) | Type::Tuple(_)) && scalar_parts(ty, "", &mut parts);
            if !simple {
                let d = Diagnostic::error("type-mismatch", span, format!("the {what} of service \"{name}\" is {ty}"));
                return Err(self.report(d.with_help("use a struct of fields of a fixed width")));
            }
            if parts.iter().any(|(_, ty)| ty.width() == 0) {
                return Err(self.unsupported(span, format!("a field of 0 bits in the {what} of service \"{name}\"")));
            }
            sides.push(parts);
        }
        let field = |(name, ty): &(String, p4_ir::Ty)| ParamInfo { name: name.trim_start_matches('.').to_owned(), width: ty.width() };
        let fields = |side: usize| -> Vec<ParamInfo> { sides.get(side).into_iter().flatten().map(field).collect() };
        let info = ServiceInfo { name: name.clone(), request: fields(0), answer: fields(1) };
        let longest = info.request_len().max(info.answer_len());
        if longest > MAX_SERVICE_BYTES {
            return Err(self.unsupported(span, format!("a request or answer of {longest} bytes (more than {MAX_SERVICE_BYTES})")));
        }
        let id = match self.build.ir.program.service(&name) {
            Some(id) if self.build.ir.program.services[id] == info => id,
            Some(_) => {
                let message = format!("service \"{name}\" has another request or answer than where it was instantiated before");
                return Err(self.error("type-mismatch", span, message));
            }
            None => self.build.ir.program.services.push(info),
        };
        Ok(ObjKind::Service(id))
    }

    /// Notes the `@id` of a declaration, if it has one.
    pub(crate) fn note_id(&mut self, of: IdOf, annotations: &'a [ast::Annotation]) {
        if let Some(id) = self.written_id(annotations) {
            self.ids.given.insert(of, id);
        }
    }

    /// The same of an action profile or selector, which becomes an object when a table uses it.
    pub(crate) fn note_profile_id(&mut self, name: &str, annotations: &'a [ast::Annotation]) {
        if let Some(id) = self.written_id(annotations) {
            self.ids.given_to_profiles.insert(name.to_owned(), id);
        }
        self.ids.note_group_size(name, annotations);
    }

    fn written_id(&mut self, annotations: &'a [ast::Annotation]) -> Option<(u64, Span)> {
        let annotation = ast::find_annotation(annotations, "id")?;
        match annotation.int().map(u64::try_from) {
            Some(Ok(value)) => return Some((value, annotation.span)),
            Some(Err(_)) => self.error("annotation", annotation.span, "an `@id` has 32 bits"),
            None => self.error("annotation", annotation.span, "`@id` needs a number, as in `@id(7)`"),
        };
        None
    }
}

/// The overload for these arguments: by number, then by names.
pub(crate) fn choose<'a>(methods: &[&'a ast::Method], args: &[ast::Arg]) -> Option<&'a ast::Method> {
    let fits = |m: &&&'a ast::Method| accepts(&m.params, args);
    methods.iter().find(fits).copied()
}

/// Whether a call with these arguments can be meant for these parameters.
pub(crate) fn accepts(params: &[ast::Param], args: &[ast::Arg]) -> bool {
    let optional = |p: &ast::Param| p.default.is_some() || ast::find_annotation(&p.annotations, "optional").is_some();
    let named = |p: &ast::Param| args.iter().any(|a| a.name.as_ref().is_some_and(|n| n.name == p.name.name));
    args.len() <= params.len()
        && args.iter().all(|a| a.name.as_ref().is_none_or(|n| params.iter().any(|p| p.name.name == n.name)))
        && params.iter().enumerate().all(|(i, p)| optional(p) || named(p) || args.get(i).is_some_and(|a| a.name.is_none()))
}

/// The scalars that a cell consists of, by name; false if there is something else in it.
fn scalar_parts(ty: &Type, name: &str, into: &mut Vec<(String, p4_ir::Ty)>) -> bool {
    match (ty.scalar(), ty) {
        (Some(t), _) => {
            into.push((name.to_owned(), t));
            true
        }
        (None, Type::Composite(c)) if c.kind == Kind::Struct => {
            c.fields.iter().all(|f| scalar_parts(&f.ty, &format!("{name}.{}", f.name), into))
        }
        (None, Type::Tuple(ts)) => ts.iter().enumerate().all(|(i, t)| scalar_parts(t, &format!("{name}.{i}"), into)),
        _ => false,
    }
}
