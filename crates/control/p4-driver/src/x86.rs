//! How does a program run on x86? As its text and the program that the text was made of, which stay together.

use crate::Error;
use crate::stages::{Form, Work};
use p4_ir::Ir;
use program::{Bridge, Program};
use service::Deployment;
use std::sync::Arc;
use target_api::{Replicating, Target};
use target_x86::{Options, X86};

/// A program for x86.
pub struct X86Program {
    /// C.
    pub text: String,
    /// The program of that text: the cut one, where there is a bridge.
    pub program: Program,
    /// What travels with a packet from one part of the program to the next; `None`: it is whole, as it copies no packets and calls no services.
    pub bridge: Option<Bridge>,
}

impl X86Program {
    /// Of an optimised program.
    ///
    /// # Errors
    /// As for [`Work::run`].
    pub fn of(ir: &Ir) -> Result<X86Program, Error> {
        let Work { ir, bridge, text, .. } = Work::optimised(ir).finish(Form::X86)?;
        let program = match ir {
            std::borrow::Cow::Borrowed(ir) => ir.program.clone(),
            std::borrow::Cow::Owned(ir) => ir.program,
        };
        Ok(X86Program { text, program, bridge })
    }

    /// Compiles it, unless there is an object, and loads it; one that was cut is driven from part to part, and calls these services.
    ///
    /// # Errors
    /// [`Error::Load`] and [`Error::Services`].
    pub fn load(&self, options: &Options, services: &[Arc<Deployment>]) -> Result<Box<dyn Target>, Error> {
        let x86 = self.load_part(options)?;
        let Some(bridge) = self.bridge.clone() else { return Ok(Box::new(x86)) };
        let whole = Replicating::new(x86, bridge).with_services(services);
        Ok(Box::new(whole.map_err(|error| Error::Services { program: self.program.name.clone(), error })?))
    }

    /// As [`X86Program::load`], of a program that makes one packet of one and calls nothing, by its type.
    ///
    /// # Errors
    /// [`Error::Load`], and [`Error::Cut`] if it is no such program.
    pub fn load_whole(&self, options: &Options) -> Result<X86, Error> {
        match self.bridge {
            Some(_) => Err(Error::Cut(self.program.name.clone())),
            None => self.load_part(options),
        }
    }

    fn load_part(&self, options: &Options) -> Result<X86, Error> {
        let error = |error| Error::Load { program: self.program.name.clone(), error };
        X86::load(Arc::new(self.program.clone()), &self.text, options).map_err(error)
    }
}
