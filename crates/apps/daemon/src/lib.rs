//! The UPF as a daemon, without the command line around it: configuration, agent, ports and targets put together.
//!
//! | file | question it answers |
//! |---|---|
//! | [`config`] | is the configuration valid, on this machine? |
//! | [`run`] | how is a UPF built from a configuration? |
//! | [`agent`] | what does the control plane's thread do, and in which order? |
//! | [`n4_socket`], [`n4`] | which PFCP messages go first, and who may send them? |
//! | [`store`] | what survives a crash, and how does it come back? |
//! | [`dataplane`] | how do session changes reach targets and workers? |
//! | [`placement`], `egress` | which sessions are on the fast target, and by which link do they leave? |
//! | [`kernel`], [`dpdk_ports`] | how do XDP and DPDK become ports? |
//! | [`program`], [`chip_model`] | which P4 program runs, and does it fit a chip? |
//! | [`services`] | what does the program call beside the pipeline, and where does it run? |
//! | [`report`], [`carried`], [`report_file`] | what was counted, and where is it written? |
//! | [`control`], [`control_socket`], `asked`, [`sessions`], [`show`] | what is a running UPF asked, and how does it answer? |
//! | [`reload`] | what does a changed configuration change while it runs? |
//! | [`look`], [`watch`] | what does it do with real packets? |
//! | [`api`], [`metrics`] | what does it answer over HTTP, and to Prometheus? |
//! | [`ceupf`], [`rules`] | how does the switch in front of a foreign UPF work? |
//! | [`privileges`] | what may the daemon do once it has started? |
//! | [`input`], [`stop`], [`output`], [`failure`] | how are commands stopped, and how do they print and fail? |
#![forbid(unsafe_code)]

pub mod agent;
pub mod api;
mod asked;
pub mod carried;
pub mod ceupf;
pub mod chip_model;
pub mod config;
pub mod control;
pub mod control_socket;
pub mod dataplane;
pub mod diagnostics;
pub mod dpdk_ports;
pub mod drainer;
mod egress;
pub mod failure;
pub mod input;
pub mod kernel;
pub mod log_limit;
pub mod look;
pub mod looks;
pub mod metrics;
pub mod n4;
pub mod n4_socket;
pub mod objects;
pub mod output;
pub mod page;
mod pcapng;
pub mod placement;
mod ports;
pub mod privileges;
pub mod program;
pub mod reasons;
pub mod reload;
pub mod report;
pub mod report_file;
pub mod rules;
pub mod run;
pub mod secrets;
pub mod services;
pub mod sessions;
pub mod show;
pub mod started;
pub mod stop;
pub mod store;
pub mod supervisor;
pub mod verified;
pub mod watch;

#[cfg(test)]
mod documents;

/// For the fuzzer: what reads files of the user's.
#[doc(hidden)]
pub mod fuzzing {
    /// A text as each kind of configuration; why it is none.
    pub fn configurations(text: &str) -> [Result<(), String>; 2] {
        [crate::config::Config::parse(text).map(drop), crate::ceupf::Config::parse(text).map(drop)]
    }

    /// A file of keys; why it is none.
    pub fn keys(text: &[u8]) -> Result<usize, String> {
        crate::services::parse_keys(text).map(|keys| keys.len())
    }

    /// A line of the control socket as a request and as an answer, written out again; why it is none.
    pub fn control_line(line: &[u8]) -> [Result<Vec<u8>, String>; 4] {
        use crate::{ceupf::requests, control};
        [again::<requests::Request>(line), again::<requests::Reply>(line), again::<control::Request>(line), again::<control::Reply>(line)]
    }

    fn again<T: serde::Serialize + serde::de::DeserializeOwned>(line: &[u8]) -> Result<Vec<u8>, String> {
        crate::control_socket::read::<T>(line, "a line").and_then(|value| serde_json::to_vec(&value).map_err(|e| e.to_string()))
    }

    /// A body of each path that changes something; why it is none.
    pub fn http_bodies(body: &[u8]) -> [Result<(), String>; 4] {
        crate::api::bodies(body)
    }

    /// A body of the path for placement, as it changes a configuration; why it does not.
    pub fn placement(body: &[u8], configuration: &str) -> Result<(), String> {
        let split = crate::control_socket::read(body, "what this path takes")?;
        crate::control::placed(&split, configuration).map(drop)
    }

    /// A request's `Host` as a name of this machine, and its `Authorization` as this token.
    pub fn http_head(host: &[u8], authorization: &[u8], token: &[u8]) -> (bool, bool) {
        let host = axum::http::HeaderValue::from_bytes(host).ok();
        let local = host.as_ref().and_then(|host| host.to_str().ok()).is_some_and(crate::api::is_local_name);
        let mut headers = axum::http::HeaderMap::new();
        if let Ok(value) = axum::http::HeaderValue::from_bytes(authorization) {
            headers.insert(axum::http::header::AUTHORIZATION, value);
        }
        (local, crate::api::has_token(&headers, token))
    }

    /// A query of sessions in a URI; why it is none.
    pub fn uri_query(text: &str) -> Result<(), String> {
        let uri: axum::http::Uri = format!("/v1/sessions?{text}").parse().map_err(|_| "no URI")?;
        let query = axum::extract::Query::<crate::sessions::SessionQuery>::try_from_uri(&uri).map_err(|e| e.to_string())?;
        query.validate()
    }

    /// A query of sessions as checked, and whether the checks hold for one session.
    pub fn session_query(text: &[u8]) -> Result<bool, String> {
        // And what begins a capture.
        let _ = crate::control_socket::read::<crate::looks::Start>(text, "a capture");
        let query: crate::sessions::SessionQuery = crate::control_socket::read(text, "a query")?;
        query.validate()?;
        Ok(query.matches(&Default::default()))
    }
}
