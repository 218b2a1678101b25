//! How is a burst ordered, and which implementation takes it?

use std::marker::PhantomData;

use zeroize::Zeroize;

use crate::ipsec_mb::IpsecMb;
use crate::iv::Inputs;
use crate::job::{Error, Fault, Job, Outcome, Step, split, verdict};
use crate::key::{Form, KEY_LEN, Key, Nea, Nia};
use crate::portable::Prepared;

/// Which implementation is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The fastest that this build and this machine have.
    #[default]
    Fastest,
    /// In Rust, on any machine.
    Portable,
    /// libipsec-mb.
    IpsecMb,
}

impl Choice {
    /// Each implementation by its name.
    pub const ALL: [Choice; 2] = [Choice::Portable, Choice::IpsecMb];
}

/// Runs bursts of jobs. Each thread has one of its own; keys may be made by another of the same implementation.
pub struct Engine {
    name: String,
    /// `None`: portable. In a box: room for a library that is not there would take along what lay on the stack when an engine is moved to the heap, where nothing wipes it.
    library: Option<Box<IpsecMb>>,
    /// Of a burst: what is not done, by number.
    failed: Vec<(u32, Outcome)>,
}

impl Engine {
    /// Of the implementation that is asked for.
    ///
    /// # Errors
    /// [`Error::Absent`] if it is asked for by name and is not there.
    pub fn new(choice: Choice) -> Result<Engine, Error> {
        match (choice, IpsecMb::open) {
            (Choice::Portable, _) => Ok(Engine::portable("portable".to_owned())),
            (Choice::IpsecMb, open) => open().map(Engine::with),
            (Choice::Fastest, open) => Ok(open().map_or_else(|why| Engine::portable(format!("portable ({why})")), Engine::with)),
        }
    }

    fn portable(name: String) -> Engine {
        Engine { name, library: None, failed: Vec::new() }
    }

    fn with(library: IpsecMb) -> Engine {
        Engine { name: library.name().to_owned(), library: Some(Box::new(library)), failed: Vec::new() }
    }

    /// Implementation in use, and why not the fastest, for reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A bearer's key for ciphering. The caller wipes `bytes`.
    pub fn cipher_key(&self, algorithm: Nea, bytes: &[u8; KEY_LEN]) -> Key<Nea> {
        let form = with_wiped_stack(|| match &self.library {
            Some(library) => library.cipher_key(algorithm, bytes),
            None => Form::Portable(Prepared::cipher(algorithm, bytes)),
        });
        Key { algorithm, form }
    }

    /// A bearer's key for integrity protection. The caller wipes `bytes`.
    pub fn integrity_key(&self, algorithm: Nia, bytes: &[u8; KEY_LEN]) -> Key<Nia> {
        let form = with_wiped_stack(|| match &self.library {
            Some(library) => library.integrity_key(algorithm, bytes),
            None => Form::Portable(Prepared::integrity(algorithm, bytes)),
        });
        Key { algorithm, form }
    }

    /// Runs all jobs and sets the outcome of each. One that cannot be run is refused alone; the others of the burst are run.
    pub fn run(&mut self, jobs: &mut [Job<'_>]) {
        let mut burst = self.burst();
        for (at, job) in jobs.iter_mut().enumerate() {
            job.outcome = Outcome::Done;
            let Job { cipher, integrity, count, bearer, direction, step, clear, ref mut data, .. } = *job;
            burst.push(at as u32, Job { cipher, integrity, count, bearer, direction, step, clear, data, outcome: Outcome::Pending });
        }
        for (at, outcome) in burst.run() {
            jobs[*at as usize].outcome = *outcome;
        }
    }

    /// A burst to which jobs are added one by one, so that none is written down twice.
    #[inline]
    pub fn burst<'j>(&mut self) -> Burst<'_, 'j> {
        self.failed.clear();
        if let Some(library) = &mut self.library {
            library.begin();
        }
        Burst { library: self.library.as_deref_mut(), failed: &mut self.failed, protected: Vec::new(), jobs: PhantomData }
    }
}

/// Bytes of the stack that expanding a key may reach: several times what it takes without optimisation.
const EXPANSION_STACK: usize = 16 << 10;

/// Runs what expands a key, and wipes the stack that it has used: a schedule is built there before it is moved to its box, and whatever has a hole in it and is moved
/// to the heap later would take a piece of that along.
fn with_wiped_stack<T>(expand: impl FnOnce() -> T) -> T {
    #[inline(never)]
    fn apart<T>(expand: impl FnOnce() -> T) -> T {
        expand()
    }
    #[inline(never)]
    fn wipe() {
        let mut below = [0u8; EXPANSION_STACK];
        below.zeroize();
        std::hint::black_box(&below);
    }
    let expanded = apart(expand);
    wipe();
    expanded
}

/// Packets of a lane's burst, as a rule.
const BURST: usize = 32;

/// Jobs that are being put together.
pub struct Burst<'e, 'j> {
    library: Option<&'e mut IpsecMb>,
    failed: &'e mut Vec<(u32, Outcome)>,
    /// The library's that have a MAC-I, with their numbers: what is done to them has an order.
    protected: Vec<(u32, Job<'j>)>,
    /// The library has addresses of their data and keys.
    jobs: PhantomData<Job<'j>>,
}

impl<'e, 'j> Burst<'e, 'j> {
    /// Adds a job, under a number by which the caller knows it; its `outcome` is not looked at. A portable engine runs it at once.
    #[inline]
    pub fn push(&mut self, at: u32, mut job: Job<'j>) {
        if let Err(fault) = job.check() {
            return self.failed.push((at, Outcome::Refused(fault)));
        }
        let (Some(_), Some(_)) = (&self.library, job.integrity) else {
            return match (job.cipher, job.integrity) {
                (cipher, None) => self.apply(at, cipher, Inputs::of(&job), &mut job.data[job.clear..]),
                (_, Some(_)) => match run_portable(&mut job) {
                    Ok(Outcome::Done) => {}
                    Ok(outcome) => self.failed.push((at, outcome)),
                    Err(fault) => self.failed.push((at, Outcome::Refused(fault))),
                },
            };
        };
        if !IpsecMb::has_keys_of(&job) {
            return self.failed.push((at, Outcome::Refused(Fault::Key)));
        }
        job.outcome = Outcome::Pending;
        if self.protected.is_empty() {
            // A lane's burst: to grow to it step by step would cost some nanoseconds of each packet.
            self.protected.reserve(BURST);
        }
        self.protected.push((at, job));
    }

    /// Adds the ciphering of a packet that has no MAC-I: `data` without the bytes that stay clear. It was checked, by [`crate::job::check_plain`].
    #[inline(always)]
    pub(crate) fn cipher(&mut self, at: u32, key: &'j Key<Nea>, inputs: Inputs, data: &'j mut [u8]) {
        self.apply(at, Some(key), inputs, data);
    }

    #[inline(always)]
    fn apply(&mut self, at: u32, key: Option<&Key<Nea>>, inputs: Inputs, data: &mut [u8]) {
        let Some(key) = key else { return };
        let applied = match &mut self.library {
            Some(library) => library.cipher(at, key, inputs, data),
            None => own(Some(&key.form)).map(|key| key.into_iter().for_each(|key| key.apply(inputs, data))),
        };
        if let Err(fault) = applied {
            self.failed.push((at, Outcome::Refused(fault)));
        }
    }

    /// Runs what was added. Gives the numbers of those that are not [`Outcome::Done`], and what came of them.
    #[inline]
    pub fn run(mut self) -> &'e [(u32, Outcome)] {
        if let Some(library) = self.library {
            library.run(&mut self.protected, self.failed);
        }
        self.failed
    }
}

/// One job of portable keys.
fn run_portable(job: &mut Job<'_>) -> Result<Outcome, Fault> {
    let inputs = Inputs::of(job);
    let cipher = own(job.cipher.map(|key| &key.form))?;
    let integrity = own(job.integrity.map(|key| &key.form))?;
    if let (Step::Protect, Some(key)) = (job.step, integrity) {
        let (message, mac) = split(job.data);
        mac.copy_from_slice(&key.mac(inputs, message));
    }
    if let Some(key) = cipher {
        key.apply(inputs, &mut job.data[job.clear..]);
    }
    match (job.step, job.integrity, integrity) {
        (Step::Recover, Some(of), Some(key)) => {
            let (message, mac) = split(job.data);
            let mut expected = key.mac(inputs, message);
            let outcome = verdict(of.algorithm, mac, &expected);
            expected.zeroize();
            Ok(outcome)
        }
        _ => Ok(Outcome::Done),
    }
}

/// A key in this implementation's form.
fn own(form: Option<&Form>) -> Result<Option<&Prepared>, Fault> {
    match form {
        None => Ok(None),
        Some(Form::Portable(key)) => Ok(Some(key)),
        Some(Form::IpsecMb(_)) => Err(Fault::Key),
    }
}
