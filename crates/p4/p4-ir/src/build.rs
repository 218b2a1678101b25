//! Short constructors for expressions and for whole small programs: what tests, passes and generators build IR with.

use crate::*;
use program::{ActionInfo, ActionUse, CountUnit, CounterInfo, KeyInfo, LengthSource, MatchKind, MeterInfo, ParamInfo};
use program::{RegisterInfo, ServiceInfo, TableInfo};

impl Expr {
    /// A constant: `value` modulo the type's width.
    pub fn constant(ty: Ty, value: u128) -> Expr {
        Expr { kind: ExprKind::Const(Bits::new(ty.width(), value)), ty }
    }

    /// A `bit<width>` constant.
    pub fn bit(width: u32, value: u128) -> Expr {
        Expr::constant(Ty::Bit(width), value)
    }

    /// `true` or `false`.
    pub fn bool(value: bool) -> Expr {
        Expr::constant(Ty::Bool, value as u128)
    }

    /// The variable's value.
    pub fn var(ir: &Ir, var: VarId) -> Expr {
        Expr { kind: ExprKind::Var(var), ty: ir.vars[var].ty }
    }

    /// A field by name.
    ///
    /// # Panics
    /// If the header has no such field.
    pub fn field(ir: &Ir, header: HeaderId, name: &str) -> Expr {
        let i = field_index(ir, header, name);
        let ty = ir.header_types[ir.headers[header].ty].fields[i as usize].ty;
        Expr { kind: ExprKind::Field(HeaderRef::Static(header), i), ty }
    }

    /// `header.isValid()`.
    pub fn is_valid(header: HeaderId) -> Expr {
        Expr { kind: ExprKind::IsValid(HeaderRef::Static(header)), ty: Ty::Bool }
    }

    /// An operator applied; the type follows from the operands.
    pub fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
        let ty = match op {
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::LAnd | BinOp::LOr => Ty::Bool,
            _ => a.ty,
        };
        Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty }
    }

    /// An operator applied.
    pub fn unary(op: UnOp, a: Expr) -> Expr {
        let ty = a.ty;
        Expr { kind: ExprKind::Unary(op, Box::new(a)), ty }
    }

    /// A conversion to `ty`.
    pub fn cast(self, ty: Ty) -> Expr {
        Expr { kind: ExprKind::Cast(Box::new(self)), ty }
    }

    /// Bits `hi` to `lo`.
    pub fn slice(self, hi: u32, lo: u32) -> Expr {
        Expr { ty: Ty::Bit(hi - lo + 1), kind: ExprKind::Slice(Box::new(self), hi, lo) }
    }

    /// The constant's value, if it is one.
    pub fn as_const(&self) -> Option<Bits> {
        match self.kind {
            ExprKind::Const(b) => Some(b),
            _ => None,
        }
    }
}

impl LValue {
    /// A field by name.
    ///
    /// # Panics
    /// If the header has no such field.
    pub fn field(ir: &Ir, header: HeaderId, name: &str) -> LValue {
        LValue::Field(HeaderRef::Static(header), field_index(ir, header, name))
    }
}

fn field_index(ir: &Ir, header: HeaderId, name: &str) -> u32 {
    let ty = &ir.header_types[ir.headers[header].ty];
    let found = ty.fields.iter().position(|f| f.name == name);
    found.unwrap_or_else(|| panic!("{} has no field {name}", ir.headers[header].name)) as u32
}

/// P4's core error names, in `core.p4`'s order.
pub const CORE_ERRORS: [&str; 7] =
    ["NoError", "PacketTooShort", "NoMatch", "StackOutOfBounds", "HeaderTooShort", "ParserTimeout", "ParserInvalidArgument"];

impl Ir {
    /// An empty v1model program: the core errors and `standard_metadata`.
    pub fn v1model(name: &str) -> Ir {
        let mut ir = Ir::new(Architecture::V1Model);
        ir.program.name = name.into();
        ir.program.errors = CORE_ERRORS.map(str::to_owned).to_vec();
        let fields: [(&str, u32); 15] = [
            ("ingress_port", 9),
            ("egress_spec", 9),
            ("egress_port", 9),
            ("instance_type", 32),
            ("packet_length", 32),
            ("enq_timestamp", 32),
            ("enq_qdepth", 19),
            ("deq_timedelta", 32),
            ("deq_qdepth", 19),
            ("ingress_global_timestamp", 48),
            ("egress_global_timestamp", 48),
            ("mcast_grp", 16),
            ("egress_rid", 16),
            ("checksum_error", 1),
            ("priority", 3),
        ];
        for (field, width) in fields {
            let v = ir.add_var(&format!("standard_metadata.{field}"), Ty::Bit(width));
            ir.intrinsic.standard.insert(field.into(), v);
        }
        let v = ir.add_var("standard_metadata.parser_error", Ty::Bit(32));
        ir.intrinsic.standard.insert("parser_error".into(), v);
        ir
    }

    /// The variable of a `standard_metadata` field.
    ///
    /// # Panics
    /// If the program has no such field.
    pub fn standard(&self, field: &str) -> VarId {
        self.intrinsic.standard[field]
    }

    /// A new variable.
    pub fn add_var(&mut self, name: &str, ty: Ty) -> VarId {
        self.vars.push(Var { name: name.into(), ty, role: VarRole::Own })
    }

    /// A header type of `bit` fields; `varbit` names a last field of that many bits at most.
    pub fn add_header_type(&mut self, name: &str, fields: &[(&str, u32)], varbit: Option<(&str, u32)>) -> HeaderTypeId {
        let mut ty = HeaderType { name: name.into(), fields: Vec::new(), fixed_bits: 0 };
        for (name, width) in fields {
            ty.fields.push(Field { name: (*name).into(), ty: Ty::Bit(*width), offset_bits: ty.fixed_bits, varbit: false });
            ty.fixed_bits += width;
        }
        if let Some((name, width)) = varbit {
            ty.fields.push(Field { name: name.into(), ty: Ty::Bit(width), offset_bits: ty.fixed_bits, varbit: true });
        }
        self.header_types.push(ty)
    }

    /// A header instance outside of unions.
    pub fn add_header(&mut self, name: &str, ty: HeaderTypeId) -> HeaderId {
        self.headers.push(Header { name: name.into(), ty, union: None })
    }

    /// A header stack with its elements.
    pub fn add_stack(&mut self, name: &str, ty: HeaderTypeId, size: usize) -> StackId {
        let elements = (0..size).map(|i| self.add_header(&format!("{name}[{i}]"), ty)).collect();
        self.stacks.push(Stack { name: name.into(), elements })
    }

    /// A new parser state; the first one becomes the start.
    pub fn add_state(&mut self, name: &str, body: Block, next: Transition) -> StateId {
        let id = self.states.push(State { name: name.into(), body, next, likely: None });
        self.parser_mut().start.get_or_insert(id);
        id
    }

    /// A new label.
    pub fn add_label(&mut self, name: &str) -> LabelId {
        self.labels.push(name.into())
    }

    /// An action whose parameters live in variables of their own; the body is made from them.
    pub fn add_action(&mut self, name: &str, params: &[(&str, u32)], body: impl FnOnce(&Ir, &[VarId]) -> Block) -> ActionId {
        let vars: Vec<VarId> = params.iter().map(|(p, w)| self.add_var(&format!("{name}.{p}"), Ty::Bit(*w))).collect();
        let infos = params.iter().map(|(p, w)| ParamInfo { name: (*p).into(), width: *w }).collect();
        self.program.actions.push(ActionInfo { name: name.into(), full_name: name.into(), params: infos });
        let body = body(self, &vars);
        self.actions.push(ActionCode { params: vars, body })
    }

    /// A table: keys by expression and kind, actions usable in entries and as default, the default action (it must
    /// take no parameters). Size 1024.
    pub fn add_table(&mut self, name: &str, keys: Vec<(&str, Expr, MatchKind)>, actions: &[ActionId], default: ActionId) -> TableId {
        let infos = keys.iter().map(|(n, e, k)| KeyInfo { name: (*n).into(), width: e.ty.width(), kind: *k }).collect();
        let uses = actions.iter().map(|a| ActionUse { action: *a, entry: true, default: true }).collect();
        self.tables.push(TableCode { keys: keys.into_iter().map(|(_, e, _)| e).collect(), ..TableCode::default() });
        self.program.tables.push(TableInfo {
            name: name.into(),
            full_name: name.into(),
            keys: infos,
            actions: uses,
            default_action: (default, Vec::new()),
            const_default: false,
            size: 1024,
            entries: Vec::new(),
            const_entries: false,
            split: false,
            direct_counter: None,
            direct_meter: None,
        })
    }

    /// A counter of packets and bytes; direct if a table is given (which then knows it).
    pub fn add_counter(&mut self, name: &str, size: u64, table: Option<TableId>) -> CounterId {
        let info = CounterInfo { name: name.into(), size, unit: CountUnit::Both, length: LengthSource::Frame, table, bits: None };
        let id = self.program.counters.push(info);
        if let Some(t) = table {
            self.program.tables[t].direct_counter = Some(id);
        }
        id
    }

    /// An indexed meter.
    pub fn add_meter(&mut self, name: &str, size: u64, unit: CountUnit) -> MeterId {
        self.program.meters.push(MeterInfo { name: name.into(), size, unit, length: LengthSource::Frame, table: None })
    }

    /// The direct meter of a table.
    pub fn add_direct_meter(&mut self, name: &str, table: TableId, unit: CountUnit) -> MeterId {
        let size = self.program.tables[table].size;
        let id = self.program.meters.push(MeterInfo { name: name.into(), size, unit, length: LengthSource::Frame, table: Some(table) });
        self.program.tables[table].direct_meter = Some(id);
        id
    }

    /// A service: names and widths of its request's and its answer's fields.
    pub fn add_service(&mut self, name: &str, request: &[(&str, u32)], answer: &[(&str, u32)]) -> ServiceId {
        let fields = |all: &[(&str, u32)]| all.iter().map(|(n, w)| ParamInfo { name: (*n).into(), width: *w }).collect();
        self.program.services.push(ServiceInfo { name: name.into(), request: fields(request), answer: fields(answer) })
    }

    /// A register array.
    pub fn add_register(&mut self, name: &str, size: u64, width: u32) -> RegisterId {
        self.program.registers.push(RegisterInfo { name: name.into(), size, width, initial: 0, table: None })
    }
}
