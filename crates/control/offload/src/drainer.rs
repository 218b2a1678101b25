//! When is a stage ahead of the engine drained, so that it runs again what it has passed on until then?
//!
//! On a thread of its own: a drain waits for the kernel (some 12 ms), and then for packets in the engine's ports. The control plane's thread answers peers
//! meanwhile.

use crate::split::Split;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// From one drain to the next.
const PERIOD: Duration = Duration::from_millis(100);

/// The thread. It ends when this is dropped.
pub struct Drainer {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drainer {
    /// Drains the chain's first stage again and again; `None` if that is not ahead of the engine. `drain` returns when all that is in the engine's ports has
    /// been sent, with `false` if the engine has stopped.
    pub fn start(split: Arc<Split>, drain: impl Fn() -> bool + Send + 'static) -> Option<Drainer> {
        if !split.fast_is_ahead() {
            return None;
        }
        let (end, ended) = channel::<()>();
        let run = move || {
            while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                split.drain(&drain);
            }
        };
        match std::thread::Builder::new().name("drainer".into()).spawn(run) {
            Ok(thread) => Some(Drainer { end: Some(end), thread: Some(thread) }),
            Err(error) => {
                tracing::error!("no thread that drains the fast target, so moved sessions stay where they are: {error}");
                None
            }
        }
    }
}

impl Drop for Drainer {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Split {
    fn drain(&self, drain: &impl Fn() -> bool) {
        let Some(ahead) = self.fast().and_then(|fast| fast.facets().ahead) else { return };
        let Some(token) = ahead.begin_drain() else { return };
        if drain() {
            ahead.finish_drain(token);
        }
    }
}
