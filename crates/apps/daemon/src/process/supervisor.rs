//! What does the service manager (systemd) hear of us? That the UPF is ready, that it is alive, and that it stops: sd_notify(3). Nothing where
//! there is none.

use sd_notify::NotifyState;
use std::time::{Duration, Instant};

/// How long a start may take from one sign of life to the next while it waits, in microseconds.
const WAITS_US: u32 = 90_000_000;

/// The service manager's view of this process.
pub(crate) struct Supervisor {
    /// From one sign of life to the next: half of what the watchdog allows. `None`: there is no watchdog.
    period: Option<Duration>,
    next: Instant,
}

impl Supervisor {
    /// Says that the UPF is ready.
    pub(crate) fn ready() -> Supervisor {
        tell(&[NotifyState::Ready]);
        let mut allowed_us = 0;
        let period = sd_notify::watchdog_enabled(false, &mut allowed_us).then(|| Duration::from_micros(allowed_us) / 2);
        Supervisor { period, next: Instant::now() }
    }

    /// Says that it is alive, if it is time to and it is.
    pub(crate) fn alive(&mut self, now: Instant, is_alive: impl FnOnce() -> bool) {
        let Some(period) = self.period.filter(|_| now >= self.next) else { return };
        if is_alive() {
            tell(&[NotifyState::Watchdog]);
            self.next = now + period;
        }
    }

    /// Says that it stops. There is no watchdog from here on.
    pub(crate) fn stopping(self) {
        tell(&[NotifyState::Stopping]);
    }
}

/// Says why the UPF is not ready, and that this is no reason to give up waiting for it.
pub(crate) fn waiting(why: &str) {
    tell(&[NotifyState::Status(why), NotifyState::ExtendTimeoutUsec(WAITS_US)]);
}

/// The socket's name stays in the environment: nothing is started after this that could use it.
fn tell(what: &[NotifyState]) {
    if let Err(why) = sd_notify::notify(false, what) {
        tracing::warn!("the service manager does not hear us: {why}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_of_life_is_given_by_who_lives_and_not_more_often_than_needed() {
        let start = Instant::now();
        let mut supervisor = Supervisor { period: Some(Duration::from_secs(10)), next: start };
        let mut asked = 0;
        for second in 0..100 {
            supervisor.alive(start + Duration::from_secs(second), || {
                asked += 1;
                true
            });
        }
        assert_eq!(asked, 10);
        // One that does not answer is asked again each time.
        for second in 100..105 {
            supervisor.alive(start + Duration::from_secs(second), || {
                asked += 1;
                false
            });
        }
        assert_eq!(asked, 15);
        Supervisor { period: None, next: start }.alive(start, || panic!("there is no watchdog"));
    }
}
