//! How many lines may one cause write into the log? Peers, packets, clients and files that are read again and again can repeat what is logged about them as often as
//! they like, so every place in the program that logs is a cause with a rate of its own: a flood of one neither fills the disk nor hides another.
//!
//! *Not limited*: the audit log, in which each change is; and lines with the field `left_out`, which `pfcp` limits itself by finer causes.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tracing::callsite::Identifier;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// So many lines of a cause at once, as at a start with many ports, and so many a second from then on.
struct Rate {
    at_once: u32,
    per_second: u32,
}

/// Of errors, warnings and what happens to the UPF as a whole.
const LINES: Rate = Rate { at_once: 50, per_second: 5 };
/// At `debug` and `trace`, which are about single sessions and packets: who asks for them wants many.
const DETAILS: Rate = Rate { at_once: 2000, per_second: 500 };
/// Longest text by which lines that were left out are named, in characters.
const SHOWN: usize = 100;

/// What was left out of a cause since it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LeftOut {
    lines: u64,
    /// The message of the last line that was written.
    like: String,
    is_detail: bool,
}

impl LeftOut {
    fn tell(&self) {
        let LeftOut { lines, like, is_detail } = self;
        if *is_detail {
            tracing::debug!(left_out = lines, "more lines were left out, such as: {like}");
        } else {
            tracing::warn!(left_out = lines, "more lines were left out, such as: {like}");
        }
    }
}

struct Cause {
    /// Up to when its rate is spent.
    spent_until: Duration,
    left_out: LeftOut,
}

/// All places that have logged: no more than the program has.
#[derive(Default)]
struct Causes(Mutex<HashMap<Identifier, Cause>>);

impl Causes {
    /// Whether a line may be written at `now`: then what was left out before it.
    fn admit(&self, of: &Metadata<'_>, now: Duration, message: impl FnOnce() -> String) -> Option<Option<LeftOut>> {
        let is_detail = *of.level() > Level::INFO;
        let rate = if is_detail { DETAILS } else { LINES };
        let each = Duration::from_secs(1) / rate.per_second;
        let mut causes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cause = causes
            .entry(of.callsite())
            .or_insert_with(|| Cause { spent_until: Duration::ZERO, left_out: LeftOut { lines: 0, like: String::new(), is_detail } });
        let until = cause.spent_until.max(now) + each;
        if until > now + each * rate.at_once {
            cause.left_out.lines += 1;
            return None;
        }
        cause.spent_until = until;
        let before = cause.left_out.clone();
        cause.left_out.lines = 0;
        cause.left_out.like = message();
        Some(Some(before).filter(|before| before.lines > 0))
    }

    /// What was left out of all causes since it was told.
    fn take_left_out(&self) -> Vec<LeftOut> {
        let mut causes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Vec::new();
        for cause in causes.values_mut().filter(|cause| cause.left_out.lines > 0) {
            all.push(cause.left_out.clone());
            cause.left_out.lines = 0;
        }
        all
    }
}

static CAUSES: LazyLock<Causes> = LazyLock::new(Causes::default);
static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The limit of this process, in front of what writes its log.
pub struct LogLimit;

impl<S: Subscriber> Layer<S> for LogLimit {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let of = event.metadata();
        if of.target() == "audit" || of.fields().field("left_out").is_some() {
            return true;
        }
        match CAUSES.admit(of, STARTED.elapsed(), || message(event)) {
            None => false,
            Some(before) => {
                // Ahead of the line that may be written again. It is an event within an event, which the process's own log takes.
                before.iter().for_each(LeftOut::tell);
                true
            }
        }
    }
}

/// Logs what was left out and not told yet: of floods that have ended, or go on. A daemon does so every some seconds.
pub fn tell_left_out() {
    CAUSES.take_left_out().iter().for_each(LeftOut::tell);
}

fn message(event: &Event<'_>) -> String {
    struct Message(String);
    impl Visit for Message {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            if field.name() == "message" {
                self.0 = format!("{value:?}").chars().take(SHOWN).collect();
            }
        }
    }
    let mut text = Message(String::new());
    event.record(&mut text);
    text.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places to log from: of `warn`, another of `warn`, and of `debug`.
    struct Places;

    impl Subscriber for Places {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }
        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
        fn event(&self, event: &Event<'_>) {
            SEEN.lock().unwrap().push(event.metadata());
        }
        fn enter(&self, _: &tracing::span::Id) {}
        fn exit(&self, _: &tracing::span::Id) {}
    }

    static SEEN: Mutex<Vec<&'static Metadata<'static>>> = Mutex::new(Vec::new());

    fn places() -> [&'static Metadata<'static>; 3] {
        tracing::subscriber::with_default(Places, || {
            tracing::warn!("a flood");
            tracing::warn!("another");
            tracing::debug!("a session");
        });
        SEEN.lock().unwrap().clone().try_into().unwrap()
    }

    #[test]
    fn a_flood_of_one_place_does_not_hide_another_and_what_was_left_out_is_told() {
        let [flood, other, detail] = places();
        let causes = Causes::default();
        let count = |of, now, lines: u32| (0..lines).filter(|_| causes.admit(of, now, || "like this".into()).is_some()).count();
        let now = Duration::from_secs(7);
        assert_eq!(count(flood, now, 10_000), 50);
        assert_eq!(causes.admit(other, now, String::new), Some(None));
        assert_eq!(count(detail, now, 10_000), 2000);
        // After a second as many again as its rate, and the first of them says what was left out.
        let later = now + Duration::from_secs(1);
        let told = |lines, is_detail| LeftOut { lines, like: "like this".into(), is_detail };
        assert_eq!(causes.admit(flood, later, || "like this".into()), Some(Some(told(9950, false))));
        assert_eq!(count(flood, later, 10_000), 4);
        // Those of floods that have ended are told too, once.
        let mut left_out = causes.take_left_out();
        left_out.sort_by_key(|of| of.lines);
        assert_eq!(left_out, [told(8000, true), told(9996, false)]);
        assert_eq!(causes.take_left_out(), []);
        // After a pause there may be as many at once as at the start.
        assert_eq!(count(flood, now + Duration::from_secs(3600), 10_000), 50);
    }
}
