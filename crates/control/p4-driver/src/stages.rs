//! Which stages does a program go through on its way to a target, in which order?
//!
//! [`STAGES`] is the one list. It begins with the checked program; `p4-check` reads and checks the source. All users of optimised IR
//! and of targets' texts go through it by [`Work::finish`], so that the text that is printed, compiled ahead and loaded is the same.

use crate::Error;
use crate::refusal::Refusal;
use p4_ir::Ir;
use p4_passes::bridge;
use program::Bridge;
use std::borrow::Cow;

/// What a program is made into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Optimised IR, for the interpreter and for plans of chips.
    Ir,
    /// C for x86.
    X86,
    /// C for the kernel's XDP hook.
    Xdp,
}

/// A stage.
pub struct Stage {
    /// Its name, for `p4 ir --after`.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// The forms that need it.
    pub forms: &'static [Form],
    /// Runs it.
    run: fn(&mut Work<'_>) -> Result<(), Error>,
}

/// All stages in their order.
pub const STAGES: &[Stage] = &[
    Stage { name: "optimise", about: "runs the passes until nothing changes", forms: &[Form::Ir, Form::X86, Form::Xdp], run: optimise },
    Stage {
        name: "cut",
        about: "cuts the optimised program where it copies packets and calls services, for targets",
        forms: &[Form::X86],
        run: cut,
    },
    Stage { name: "optimise_cut", about: "runs the passes over what was cut", forms: &[Form::X86], run: optimise_cut },
    Stage { name: "emit_x86", about: "writes C for x86", forms: &[Form::X86], run: emit_x86 },
    Stage { name: "emit_xdp", about: "writes C for the kernel's XDP hook", forms: &[Form::Xdp], run: emit_xdp },
];

/// The stages of one form, in their order.
pub fn of(form: Form) -> impl Iterator<Item = &'static Stage> {
    STAGES.iter().filter(move |stage| stage.forms.contains(&form))
}

/// A program between two stages.
pub struct Work<'a> {
    /// The program: from "cut" on the one that is emitted.
    pub ir: Cow<'a, Ir>,
    /// What travels with a packet from one part of it to the next, if it was cut.
    pub bridge: Option<Bridge>,
    /// The target's C, at the end.
    pub text: String,
    optimised: bool,
}

impl<'a> Work<'a> {
    /// A program as it was checked.
    pub fn checked(ir: Ir) -> Work<'a> {
        Work { ir: Cow::Owned(ir), bridge: None, text: String::new(), optimised: false }
    }

    /// A program that has been through "optimise".
    pub fn optimised(ir: &'a Ir) -> Work<'a> {
        Work { ir: Cow::Borrowed(ir), bridge: None, text: String::new(), optimised: true }
    }

    /// Does one stage.
    ///
    /// # Errors
    /// [`Error::Refused`], whose place is not shown yet, and [`Error::Pass`].
    pub fn run(&mut self, stage: &Stage) -> Result<(), Error> {
        (stage.run)(self)
    }

    /// Does all stages of a form.
    ///
    /// # Errors
    /// As for [`Work::run`].
    pub fn finish(mut self, form: Form) -> Result<Work<'a>, Error> {
        of(form).try_for_each(|stage| self.run(stage))?;
        Ok(self)
    }

    /// Does the stages of x86 until the program is cut, and the parts are optimised. Nothing is emitted.
    ///
    /// # Errors
    /// As for [`Work::run`].
    pub fn finish_cut(mut self) -> Result<Work<'a>, Error> {
        of(Form::X86).take_while(|stage| stage.name != "emit_x86").try_for_each(|stage| self.run(stage))?;
        Ok(self)
    }
}

fn optimise(work: &mut Work<'_>) -> Result<(), Error> {
    match std::mem::replace(&mut work.optimised, true) {
        true => Ok(()),
        false => passes(work),
    }
}

fn cut(work: &mut Work<'_>) -> Result<(), Error> {
    if let Some((ir, bridge)) = bridge::cut(&work.ir).map_err(|e| Refusal::new(&work.ir, e.origin(&work.ir), &e))? {
        (work.ir, work.bridge) = (Cow::Owned(ir), Some(bridge));
    }
    Ok(())
}

fn optimise_cut(work: &mut Work<'_>) -> Result<(), Error> {
    if work.bridge.is_some() { passes(work) } else { Ok(()) }
}

fn passes(work: &mut Work<'_>) -> Result<(), Error> {
    let program = work.ir.program.name.clone();
    p4_passes::optimise(work.ir.to_mut()).map_err(|error| Error::Pass { program, error })
}

fn emit_x86(work: &mut Work<'_>) -> Result<(), Error> {
    work.text = p4_emit::emit_x86(&work.ir).map_err(|e| Refusal::new(&work.ir, e.origin(&work.ir), &e))?;
    Ok(())
}

fn emit_xdp(work: &mut Work<'_>) -> Result<(), Error> {
    let refused = |e: p4_emit::bpf::Refused| Refusal { kind: Some(e.kind().to_owned()), ..Refusal::new(&work.ir, e.origin, &e) };
    work.text = p4_emit::bpf::emit_xdp(&work.ir).map_err(refused)?;
    Ok(())
}
