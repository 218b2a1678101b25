//! What a target ahead of the engine hands on is drained now and then, so that it runs again what it has handed on until then.
//!
//! On a thread of its own: a drain waits for the kernel (some 12 ms), and then for packets in the engine's ports. The agent's thread answers peers
//! meanwhile.

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use engine::Engine;
use offload::Split;
use std::sync::Arc;
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
    /// Drains the pair's fast target, which is ahead of the engine.
    pub fn start(split: Arc<Split>, engine: Arc<Engine>) -> Option<Drainer> {
        let (end, ended) = bounded::<()>(0);
        let run = move || {
            while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                drain(&split, &engine);
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

fn drain(split: &Split, engine: &Engine) {
    let Some(ahead) = split.fast().facets().ahead else { return };
    let Some(drain) = ahead.begin_drain() else { return };
    // An engine that has stopped sends nothing.
    if engine.drain().is_ok() {
        ahead.finish_drain(drain);
    }
}
