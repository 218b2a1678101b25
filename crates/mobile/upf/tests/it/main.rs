//! Tests of the user plane from outside: rules in, entries, counters and frames out.

mod bounded;
mod captures;
mod goldens;
mod gtpu_paths;
mod host;
mod model;
mod neighbours;
mod networks;
mod pipeline;
mod plane;
mod program;
mod properties;
mod quotas;
mod relay;
mod renewal;
mod scenarios;
mod sessions;
mod told;
