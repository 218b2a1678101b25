//! How are our few programs for the kernel written? An instruction a line, with labels to jump to.
//!
//! The instructions are in the kernel's Documentation/bpf/standardization/instruction-set.rst.
//! They are too small for a compiler on the user's machine, and too long for tables of numbers.

/// `struct bpf_insn`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Instruction {
    code: u8,
    /// Destination in the low half, source in the high half.
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// A register, 0 to 9.
#[derive(Clone, Copy)]
pub struct R(pub u8);

/// How much is loaded.
#[derive(Clone, Copy)]
pub enum Size {
    /// A byte.
    U8 = 0x10,
    /// Two bytes.
    U16 = 0x08,
    /// Four bytes.
    U32 = 0x00,
    /// Eight bytes.
    U64 = 0x18,
}

/// A place in the program.
#[derive(Clone, Copy)]
pub struct Label(usize);

/// A program that grows.
#[derive(Default)]
pub struct Code {
    instructions: Vec<Instruction>,
    places: Vec<Option<usize>>,
    /// Jumps, and where they go.
    jumps: Vec<(usize, Label)>,
}

impl Code {
    /// The instructions, jumps resolved.
    ///
    /// # Panics
    /// If a label was used and not placed, or is too far away: a defect of the program's author.
    pub(crate) fn finish(mut self) -> Vec<Instruction> {
        for (at, Label(label)) in self.jumps {
            let place = self.places[label].expect("every label that is used is placed");
            // Relative to the next instruction.
            let distance = place as i64 - at as i64 - 1;
            self.instructions[at].offset = i16::try_from(distance).expect("programs are short");
        }
        self.instructions
    }

    /// A label, to be placed later.
    pub fn label(&mut self) -> Label {
        self.places.push(None);
        Label(self.places.len() - 1)
    }

    /// The label is here.
    pub fn place(&mut self, label: Label) {
        self.places[label.0] = Some(self.instructions.len());
    }

    /// to = from
    pub fn copy(&mut self, to: R, from: R) {
        self.push(0xbf, to, from, 0, 0);
    }

    /// to = value
    pub fn set(&mut self, to: R, value: i32) {
        self.push(0xb7, to, R(0), 0, value);
    }

    /// to = value, of 64 bits
    pub fn set_long(&mut self, to: R, value: u64) {
        self.push(0x18, to, R(0), 0, value as u32 as i32);
        self.push(0, R(0), R(0), 0, (value >> 32) as i32);
    }

    /// to = the map with this descriptor
    pub fn map(&mut self, to: R, fd: i32) {
        const BPF_PSEUDO_MAP_FD: R = R(1);
        self.push(0x18, to, BPF_PSEUDO_MAP_FD, 0, fd);
        self.push(0, R(0), R(0), 0, 0);
    }

    /// to = address of the first value of the array map with this descriptor
    pub fn table(&mut self, to: R, fd: i32) {
        const BPF_PSEUDO_MAP_VALUE: R = R(2);
        self.push(0x18, to, BPF_PSEUDO_MAP_VALUE, 0, fd);
        self.push(0, R(0), R(0), 0, 0);
    }

    /// to = what is at from + offset, in this machine's order
    pub fn load(&mut self, size: Size, to: R, from: R, offset: i16) {
        self.push(0x61 | size as u8, to, from, offset, 0);
    }

    /// A value of so many bits as it is in the packet: in network order.
    pub fn network(&mut self, register: R, bits: i32) {
        self.push(0xdc, register, R(0), 0, bits);
    }

    /// to += from
    pub fn add(&mut self, to: R, from: R) {
        self.push(0x0f, to, from, 0, 0);
    }

    /// to += value
    pub fn add_value(&mut self, to: R, value: i32) {
        self.push(0x07, to, R(0), 0, value);
    }

    /// to *= from
    pub fn multiply(&mut self, to: R, from: R) {
        self.push(0x2f, to, from, 0, 0);
    }

    /// to *= value
    pub fn multiply_value(&mut self, to: R, value: i32) {
        self.push(0x27, to, R(0), 0, value);
    }

    /// to ^= from
    pub fn xor(&mut self, to: R, from: R) {
        self.push(0xaf, to, from, 0, 0);
    }

    /// to &= value
    pub fn and_value(&mut self, to: R, value: i32) {
        self.push(0x57, to, R(0), 0, value);
    }

    /// to <<= by
    pub fn shift_left(&mut self, to: R, by: i32) {
        self.push(0x67, to, R(0), 0, by);
    }

    /// to >>= by
    pub fn shift_right(&mut self, to: R, by: i32) {
        self.push(0x77, to, R(0), 0, by);
    }

    /// Always.
    pub fn jump(&mut self, to: Label) {
        self.jump_by(0x05, R(0), R(0), 0, to);
    }

    /// If a == value.
    pub fn jump_if(&mut self, a: R, value: i32, to: Label) {
        self.jump_by(0x15, a, R(0), value, to);
    }

    /// If a != value.
    pub fn jump_unless(&mut self, a: R, value: i32, to: Label) {
        self.jump_by(0x55, a, R(0), value, to);
    }

    /// If a > b.
    pub fn jump_if_above(&mut self, a: R, b: R, to: Label) {
        self.jump_by(0x2d, a, b, 0, to);
    }

    /// If a >= value.
    pub fn jump_from(&mut self, a: R, value: i32, to: Label) {
        self.jump_by(0x35, a, R(0), value, to);
    }

    /// R0 = helper(R1, R2, ...); R1 to R5 are lost.
    pub fn call(&mut self, helper: i32) {
        self.push(0x85, R(0), R(0), 0, helper);
    }

    /// Ends with the action in R0.
    pub fn exit(&mut self) {
        self.push(0x95, R(0), R(0), 0, 0);
    }

    fn jump_by(&mut self, code: u8, a: R, b: R, value: i32, to: Label) {
        self.jumps.push((self.instructions.len(), to));
        self.push(code, a, b, 0, value);
    }

    fn push(&mut self, code: u8, to: R, from: R, offset: i16, immediate: i32) {
        self.instructions.push(Instruction { code, registers: to.0 | from.0 << 4, offset, immediate });
    }
}
