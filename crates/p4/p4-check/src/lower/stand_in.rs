//! What is a body lowered with that is looked at for its faults only? With some value of each type.

use super::cx::Cx;
use super::instances::ObjKind;
use crate::names::scope::ScopeId;
use crate::names::sink::R;
use crate::types::*;
use crate::values::body::{Body, Frame, Region};
use p4_syntax::Span;

impl<'a> Cx<'a> {
    pub(crate) fn scratch(&self, region: Region, path: &str) -> Body {
        Body { region, path: path.to_owned(), frames: vec![Frame::default()], ..Body::new(ScopeId::GLOBAL) }
    }

    /// Some value of a type, in storage of its own.
    pub(crate) fn stand_in(&mut self, ty: &Type, name: &str, span: Span) -> R<Tv> {
        match ty {
            Type::Extern(..) | Type::Block(..) | Type::Package(..) | Type::Str | Type::Int => self.stand_in_constant(ty, span),
            _ => {
                let val = self.storage(name, ty, span)?;
                Ok(Tv { ty: ty.clone(), val, access: Access::Write, span })
            }
        }
    }

    pub(crate) fn stand_in_constant(&mut self, ty: &Type, span: Span) -> R<Tv> {
        let val = match ty {
            Type::Str => Val::Str("".into()),
            Type::Int => Val::Int(1.into()),
            Type::Extern(id, _) => {
                let name = self.decls.ext(*id).name.name.clone();
                let kind = match name.as_str() {
                    "packet_in" => ObjKind::PacketIn,
                    "packet_out" => ObjKind::PacketOut,
                    _ => ObjKind::Unknown,
                };
                Val::Obj(self.new_object(name, kind))
            }
            Type::Block(id, _) => Val::Obj(self.new_object("block".to_owned(), ObjKind::block(*id, Vec::new(), Vec::new(), false))),
            Type::Package(id, _) => Val::Obj(self.new_object("package".to_owned(), ObjKind::Package(*id, Vec::new()))),
            Type::Bits { .. } => {
                let t = ty.scalar().unwrap_or(p4_ir::Ty::Bit(1));
                Val::Expr(constant(p4_ir::Bits::new(t.width(), 1), t))
            }
            other => self.zero(other, span)?,
        };
        Ok(Tv::value(ty.clone(), val, span))
    }
}
