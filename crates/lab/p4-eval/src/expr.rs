//! What does an expression evaluate to, and what does it change on the way? Left to right (P4_16 §8.1).

use crate::names::Entity;
use crate::value::{Ty, Value, binary, cast, slice, unary};
use crate::{Evaluator, R, Stop};
use p4_syntax::BigInt;
use p4_syntax::ast::{self, BinOp, ExprKind as K};

impl<'a> Evaluator<'a> {
    pub(crate) fn eval(&mut self, e: &'a ast::Expr, scope: usize) -> R<Value> {
        match &e.kind {
            K::Bool(b) => Ok(Value::Bool(*b)),
            K::Int(lit) => {
                let n = Value::Number(lit.value.clone());
                lit.width.map_or(Ok(n.clone()), |w| cast(n, &Ty::Bits { width: w.bits, signed: w.signed }))
            }
            K::Str(s) => Ok(Value::Str(s.clone())),
            K::Path(path) => match self.find(scope, path)? {
                Entity::Variable(place) => self.read(&place),
                Entity::Constant(v) => Ok(v),
                _ => Err(Stop::cannot(format!("{} as a value", path.name.name))),
            },
            K::Member { base, member } => self.member(e, base, &member.name, scope),
            K::Index { base, index } => match self.place(e, scope)? {
                Some(place) => self.read(&place),
                None => {
                    let v = self.eval(base, scope)?;
                    let i = self.eval(index, scope)?.index()?;
                    match v {
                        Value::Tuple(vs, _) => vs.into_iter().nth(i).ok_or_else(|| Stop::cannot("an element that is not there")),
                        Value::Stack { elem, elems, .. } => Ok(elems.into_iter().nth(i).unwrap_or_else(|| elem.start())),
                        _ => Err(Stop::cannot("an element of this")),
                    }
                }
            },
            K::Slice { base, hi, lo } => {
                let v = self.eval(base, scope)?;
                let (hi, lo) = (self.eval(hi, scope)?.index()?, self.eval(lo, scope)?.index()?);
                slice(&v, hi, lo)
            }
            K::PlusSlice { base, lo, width } => {
                let v = self.eval(base, scope)?;
                let lo = self.eval(lo, scope)?;
                let width = self.eval(width, scope)?.index()?;
                // Beyond the value's bits it is as a shift by that much.
                let Value::Bits { value, width: all, .. } = &v else { return Err(Stop::cannot("a slice of this")) };
                let unsigned = crate::value::wrap(value, *all, false);
                let shifted = binary(BinOp::Shr, unsigned, lo)?;
                slice(&shifted, width - 1, 0)
            }
            K::Call { callee, type_args, args } => self.call(e, callee, type_args, args, scope),
            K::Unary { op, operand } => unary(*op, &self.eval(operand, scope)?),
            K::Binary { op: BinOp::And, left, right } => {
                Ok(Value::Bool(self.eval(left, scope)?.truth()? && self.eval(right, scope)?.truth()?))
            }
            K::Binary { op: BinOp::Or, left, right } => {
                Ok(Value::Bool(self.eval(left, scope)?.truth()? || self.eval(right, scope)?.truth()?))
            }
            K::Binary { op, left, right } => {
                let a = self.eval(left, scope)?;
                let b = self.eval(right, scope)?;
                binary(*op, a, b)
            }
            K::Ternary { cond, then, otherwise } => {
                let chosen = if self.eval(cond, scope)?.truth()? { then } else { otherwise };
                self.eval(chosen, scope)
            }
            K::Cast { ty, operand } => {
                let to = self.resolve(ty, scope)?;
                let v = self.eval(operand, scope)?;
                cast(v, &to)
            }
            K::List { items, rest } => {
                let mut values = Vec::new();
                for i in items {
                    values.push(self.eval(i, scope)?);
                }
                Ok(Value::Tuple(values, *rest))
            }
            K::Struct { fields, rest } => {
                let mut values = Vec::new();
                for f in fields {
                    values.push((f.name.name.clone(), self.eval(&f.value, scope)?));
                }
                Ok(Value::Fields(values, *rest))
            }
            K::Invalid => Ok(Value::Invalid),
            K::Dots => Ok(Value::Default),
            K::Type(_) | K::This | K::Default | K::DontCare | K::Mask { .. } | K::Range { .. } => Err(Stop::cannot("this as a value")),
        }
    }

    /// Whether the base of `E.member` names a type.
    pub(crate) fn names_a_type(&self, base: &ast::Expr, scope: usize) -> bool {
        match &base.kind {
            K::Type(_) => true,
            K::Path(p) => p.name.name == "error" || matches!(self.find(scope, p), Ok(Entity::Type(_) | Entity::Members(..))),
            _ => false,
        }
    }

    fn member(&mut self, e: &'a ast::Expr, base: &'a ast::Expr, member: &'a str, scope: usize) -> R<Value> {
        if self.names_a_type(base, scope) {
            return self.type_member(base, member, scope);
        }
        if let K::Call { callee, args, .. } = &base.kind
            && let Some((table, from)) = self.applied(callee, scope)?
        {
            let _ = args;
            let (hit, ran) = self.apply_table(table, from)?;
            return Ok(match member {
                "hit" => Value::Bool(hit),
                "miss" => Value::Bool(!hit),
                _ => Value::Ran(ran),
            });
        }
        if let Some(place) = self.place(e, scope)? {
            return self.read(&place);
        }
        let v = match self.place(base, scope)? {
            Some(place) => self.read(&place)?,
            None => self.eval(base, scope)?,
        };
        match v {
            Value::Struct(c, fs) | Value::Union(c, fs) => {
                let i = c.position(member).ok_or_else(|| Stop::cannot(member))?;
                Ok(fs[i].clone())
            }
            Value::Header { ty, valid, fields } => {
                let i = ty.position(member).ok_or_else(|| Stop::cannot(member))?;
                Ok(if valid { fields[i].clone() } else { ty.fields[i].ty.start() })
            }
            Value::Stack { elems, next, .. } => match member {
                "size" => Ok(word(elems.len())),
                // Undefined where there is none; as the interpreter says.
                "lastIndex" => Ok(crate::value::wrap(&(BigInt::from(next) - 1), 32, false)),
                _ => Err(Stop::cannot(member)),
            },
            Value::Fields(fs, _) => fs.into_iter().find(|(n, _)| n == member).map(|(_, v)| v).ok_or_else(|| Stop::cannot(member)),
            other => Err(Stop::cannot(format!("{member} of {other:?}"))),
        }
    }

    fn type_member(&mut self, base: &'a ast::Expr, member: &str, scope: usize) -> R<Value> {
        match &base.kind {
            K::Type(t) if matches!(t.kind, ast::TypeKind::Error) => return Ok(Value::Error(member.to_owned())),
            K::Path(p) if p.name.name == "error" => return Ok(Value::Error(member.to_owned())),
            K::Path(p) => match self.find(scope, p)? {
                Entity::Type(Ty::Enum(e)) => {
                    if let Some(i) = e.members.iter().position(|m| m == member) {
                        return Ok(Value::Enum(e, i));
                    }
                }
                Entity::Members(_, values) => {
                    if let Some(v) = values.get(member) {
                        return Ok(v.clone());
                    }
                }
                _ => {}
            },
            _ => {}
        }
        Err(Stop::cannot(format!("member {member} of a type")))
    }
}

/// A `bit<32>`.
pub(crate) fn word(n: usize) -> Value {
    Value::Bits { value: BigInt::from(n), width: 32, signed: false }
}
