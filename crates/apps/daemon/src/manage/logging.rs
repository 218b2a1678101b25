//! What does a command log, and how? What RUST_LOG asks for, until a running daemon is asked for something else.

use super::control;
use crate::config;
use cli::failure::Failure;
use cli::log_limit::LogLimit;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Logs go to standard error, so that output stays data, as lines of text or of JSON; of a cause so many lines at most. `default` is the filter where RUST_LOG
/// gives none. A reader that is gone or a full disk loses lines, and nothing else.
///
/// # Errors
/// If RUST_LOG is no filter.
pub fn start(json: bool, default: &str) -> Result<(), Failure> {
    let wrong = |why: String| Failure::Usage(format!("RUST_LOG: {why}"));
    let filter = match control::asked_filter().map_err(wrong)? {
        Some(text) => parse_filter(&text).map_err(wrong)?,
        None => audited(EnvFilter::new(default)),
    };
    let colours = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(|| cli::output::Log);
    if json {
        let builder = builder.json().with_filter_reloading();
        let handle = builder.reload_handle();
        control::on_log(move |filter| handle.reload(parse_filter(filter)?).map_err(|e| e.to_string()));
        builder.finish().with(LogLimit).init();
    } else {
        let builder = builder.with_target(false).with_filter_reloading();
        let handle = builder.reload_handle();
        control::on_log(move |filter| handle.reload(parse_filter(filter)?).map_err(|e| e.to_string()));
        builder.finish().with(LogLimit).init();
    }
    Ok(())
}

fn parse_filter(text: &str) -> Result<EnvFilter, String> {
    config::read_filter(text).map(audited)
}

/// Who changed what is logged whatever the filter says.
fn audited(filter: EnvFilter) -> EnvFilter {
    filter.add_directive("audit=info".parse().expect("it is a directive"))
}
