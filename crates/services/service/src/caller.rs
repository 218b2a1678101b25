//! What has a lane of a service, wherever it runs?

use crate::counters::Cells;
use crate::lane::InLane;
use crate::setting::{Settings, VALUE_MAX};
use crate::{Call, Counters, Interface, Service, Setting, SettingError};
use crossbeam_channel::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use zeroize::Zeroizing;

/// A lane's end. Counts what becomes of its calls.
pub struct Caller {
    place: Box<dyn Service>,
    settings: Receiver<Setting>,
    cells: Arc<Cells>,
}

impl Caller {
    /// Gives a burst of calls to the service. On return each is answered, kept or dropped; of a kept one the packet is gone.
    #[inline]
    pub fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        self.take_settings();
        self.place.call(burst, now_ns);
        self.cells.count_burst(burst);
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
    make: Make,
    settings: Arc<Settings>,
    cells: Mutex<Vec<Arc<Cells>>>,
}

impl Deployment {
    /// The service in each lane itself. What is kept for a bearer must then come to one lane.
    pub fn in_lane(make: Make) -> Deployment {
        let interface = make().interface();
        interface.assert_sound();
        Deployment { interface, make, settings: Arc::default(), cells: Mutex::default() }
    }

    /// What the service declares.
    pub fn interface(&self) -> &'static Interface {
        self.interface
    }

    /// A lane's end. Its settings are those that are in place.
    pub fn caller(&self) -> Caller {
        let cells = Arc::new(Cells::default());
        self.cells.lock().unwrap_or_else(PoisonError::into_inner).push(cells.clone());
        Caller { place: Box::new(InLane::new((self.make)())), settings: self.settings.follow(), cells }
    }

    /// Sets a value, or removes it: lanes see it with their next call.
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
        let mut sum = Counters::default();
        self.cells.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|cells| cells.add_to(&mut sum));
        sum
    }
}
