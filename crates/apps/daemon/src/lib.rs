//! The UPF as a daemon, without the command line around it: configuration, agent, ports and targets put together.
//!
//! | room | question it answers |
//! |---|---|
//! | [`run`] | how is a UPF built from a configuration? |
//! | [`config`] | is the configuration valid, on this machine? |
//! | [`agent`] | what does the control plane's thread do, and in which order? |
//! | [`n4`] | how do PFCP messages come and go, and what of the sessions survives a crash? |
//! | [`datapath`] | what carries packets, and how do session changes reach it? |
//! | [`manage`] | what do operators ask of a running UPF, and how does it answer? |
//! | [`ceupf`] | how does the switch in front of a foreign UPF work? |
//! | [`process`] | which options and privileges does the daemon have, and how does it speak to the service manager? |
//! | [`chip_model`] | does the P4 program fit a chip? |
#![forbid(unsafe_code)]

pub mod agent;
pub mod ceupf;
pub mod chip_model;
pub mod config;
pub mod datapath;
pub mod manage;
pub mod n4;
pub mod process;
pub mod run;

/// For the fuzzer: what reads files of the user's.
#[doc(hidden)]
pub mod fuzzing {
    /// A text as each kind of configuration; why it is none.
    pub fn configurations(text: &str) -> [Result<(), String>; 2] {
        [crate::config::Config::parse(text).map(drop), crate::ceupf::Config::parse(text).map(drop)]
    }

    /// A file of keys; why it is none.
    pub fn keys(text: &[u8]) -> Result<usize, String> {
        crate::datapath::services::parse_keys(text).map(|keys| keys.len())
    }

    /// A line of the control socket as a request and as an answer, written out again; why it is none.
    pub fn control_line(line: &[u8]) -> [Result<Vec<u8>, String>; 4] {
        use crate::{ceupf::requests, manage::control};
        [again::<requests::Request>(line), again::<requests::Reply>(line), again::<control::Request>(line), again::<control::Reply>(line)]
    }

    fn again<T: serde::Serialize + serde::de::DeserializeOwned>(line: &[u8]) -> Result<Vec<u8>, String> {
        crate::manage::socket::read::<T>(line, "a line").and_then(|value| serde_json::to_vec(&value).map_err(|e| e.to_string()))
    }

    /// A body of each path that changes something; why it is none.
    pub fn http_bodies(body: &[u8]) -> [Result<(), String>; 4] {
        crate::manage::api::bodies(body)
    }

    /// A body of the path for placement, as it changes a configuration; why it does not.
    pub fn placement(body: &[u8], configuration: &str) -> Result<(), String> {
        let split = crate::manage::socket::read(body, "what this path takes")?;
        crate::manage::control::placed(&split, configuration).map(drop)
    }

    /// A request's `Host` as a name of this machine, and its `Authorization` as this token.
    pub fn http_head(host: &[u8], authorization: &[u8], token: &[u8]) -> (bool, bool) {
        let host = axum::http::HeaderValue::from_bytes(host).ok();
        let local = host.as_ref().and_then(|host| host.to_str().ok()).is_some_and(crate::manage::api::is_local_name);
        let mut headers = axum::http::HeaderMap::new();
        if let Ok(value) = axum::http::HeaderValue::from_bytes(authorization) {
            headers.insert(axum::http::header::AUTHORIZATION, value);
        }
        (local, crate::manage::api::has_token(&headers, token))
    }

    /// A query of sessions in a URI; why it is none.
    pub fn uri_query(text: &str) -> Result<(), String> {
        let uri: axum::http::Uri = format!("/v1/sessions?{text}").parse().map_err(|_| "no URI")?;
        let query = axum::extract::Query::<crate::manage::sessions::SessionQuery>::try_from_uri(&uri).map_err(|e| e.to_string())?;
        query.validate()
    }

    /// A query of sessions as checked, and whether the checks hold for one session.
    pub fn session_query(text: &[u8]) -> Result<bool, String> {
        // And what begins a capture.
        let _ = crate::manage::socket::read::<crate::manage::capture::http::Start>(text, "a capture");
        let query: crate::manage::sessions::SessionQuery = crate::manage::socket::read(text, "a query")?;
        query.validate()?;
        Ok(query.matches(&Default::default()))
    }
}
