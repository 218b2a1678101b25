//! What has a lane of a service, wherever it runs?

use crate::counters::Cells;
use crate::lane::InLane;
use crate::process::Process;
use crate::setting::{Settings, VALUE_MAX};
use crate::threads::Threads;
use crate::{AtOnce, Call, Counters, Interface, Place, Question, Service, Setting, SettingError};
use crossbeam_channel::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;

/// A lane's end. Counts what becomes of its calls.
pub struct Caller {
    place: Box<dyn Service>,
    settings: Receiver<Setting>,
    cells: Arc<Cells>,
    at_once: AtOnce,
}

impl Caller {
    /// Of a service that has none.
    pub(crate) fn without_settings(place: Box<dyn Service>, cells: Arc<Cells>) -> Caller {
        Caller { at_once: place.at_once(), place, settings: crossbeam_channel::never(), cells }
    }

    /// What the service declares.
    pub fn interface(&self) -> &'static Interface {
        self.place.interface()
    }

    /// Which calls are answered or dropped by [`Caller::answer`]; none of a service that is not in the lane.
    #[inline]
    pub fn at_once(&self) -> AtOnce {
        self.at_once
    }

    /// Gives a burst of calls to the service. On return each is answered, kept or dropped; of a kept one the packet is gone.
    #[inline]
    pub fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        self.take_settings();
        self.place.call(burst, now_ns);
        self.cells.count_burst(burst.iter().map(|call| call.outcome));
    }

    /// As [`Caller::call`], of packets that stay where they are and requests that [`Caller::at_once`] names: on return each is answered, dropped, or declined,
    /// which is to be called. One that is kept nevertheless is lost to its caller.
    #[inline]
    pub fn answer(&mut self, burst: &mut [Question<'_>], now_ns: u64) {
        self.take_settings();
        self.place.answer(burst, now_ns);
        self.cells.count_burst(burst.iter().map(|question| question.outcome));
    }

    /// Appends calls that come back, and copies of kept ones. To be asked after each burst, and by [`Caller::next_deadline_ns`] without one.
    #[inline]
    pub fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        self.take_settings();
        let from = out.len();
        self.place.poll(now_ns, out);
        self.cells.count_polled(&out[from..]);
    }

    /// When the lane should poll at the latest; `None`: nothing is waited for.
    #[inline]
    pub fn next_deadline_ns(&self) -> Option<u64> {
        self.place.next_deadline_ns()
    }

    /// Changes since the last call go ahead of the next.
    #[inline]
    fn take_settings(&mut self) {
        // To look is two loads; to try costs a nanosecond for each packet of a short burst.
        if !self.settings.is_empty() {
            self.set();
        }
    }

    #[cold]
    fn set(&mut self) {
        while let Ok(setting) = self.settings.try_recv() {
            if let Err(error) = self.place.set(&setting) {
                tracing::warn!(service = self.place.interface().name, "{error}");
                self.cells.count_refused_setting();
            }
        }
    }
}

/// Makes one instance of a service. Each place makes as many as it has owners.
pub type Make = Arc<dyn Fn() -> Box<dyn Service> + Send + Sync>;

/// A service as a program uses it, before there are lanes: makes their [`Caller`]s, holds its settings and counters.
pub struct Deployment {
    interface: &'static Interface,
    host: Host,
    settings: Arc<Settings>,
    cells: Mutex<Vec<Arc<Cells>>>,
}

enum Host {
    Lane(Make),
    Threads(Threads),
    Process(Process),
}

/// Room of the rings to a service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rings {
    /// Calls that wait for one thread.
    pub calls: usize,
    /// Words of 8 bytes for each way to a second process, a power of two: a request takes 16 bytes, its fields and its payload, each in whole words.
    pub words: usize,
}

impl Default for Rings {
    fn default() -> Rings {
        Rings { calls: 4096, words: 1 << 19 }
    }
}

impl Deployment {
    /// A service at its place.
    ///
    /// # Errors
    /// If threads do not start, or the socket cannot be made.
    pub fn new(place: &Place, make: Make, rings: Rings) -> std::io::Result<Deployment> {
        let interface = make().interface();
        interface.assert_sound();
        let settings = Arc::<Settings>::default();
        let host = match place {
            Place::Lane => Host::Lane(make),
            Place::Threads(count) => Host::Threads(Threads::start(&make, *count, rings.calls)?),
            Place::Process(path) => Host::Process(Process::listen(interface, path, settings.clone(), rings.words)?),
        };
        Ok(Deployment { interface, host, settings, cells: Mutex::default() })
    }

    /// What the service declares.
    pub fn interface(&self) -> &'static Interface {
        self.interface
    }

    /// A lane's end. Its settings are those that are in place.
    pub fn caller(&self) -> Caller {
        let cells = Arc::new(Cells::default());
        self.cells().push(cells.clone());
        let place: Box<dyn Service> = match &self.host {
            Host::Lane(make) => Box::new(InLane::new(make())),
            Host::Threads(threads) => Box::new(threads.client()),
            Host::Process(process) => Box::new(process.client()),
        };
        Caller { at_once: place.at_once(), place, settings: self.settings.follow(), cells }
    }

    /// Sets a value, or removes it: it is in place for each call that a lane makes afterwards.
    ///
    /// # Errors
    /// If the service does not take it; nothing has changed then.
    pub fn set(&self, index: u32, value: Option<Zeroizing<Vec<u8>>>) -> Result<(), SettingError> {
        if let Some(len) = value.as_ref().map(|value| value.len()).filter(|len| *len > VALUE_MAX) {
            return Err(SettingError::Value { index, what: format!("{len} bytes: at most {VALUE_MAX}") });
        }
        (self.interface.check_setting)(index, value.as_deref().map(Vec::as_slice))?;
        self.settings.set(index, value.map(Arc::new));
        Ok(())
    }

    /// What became of all calls, of all lanes past and present.
    pub fn counters(&self) -> Counters {
        Counters::sum(&self.cells())
    }

    fn cells(&self) -> MutexGuard<'_, Vec<Arc<Cells>>> {
        // Growing is all that is done under it.
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
