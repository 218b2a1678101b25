//! Flow descriptions (TS 29.212 §5.4.2): any text is read or refused, and what is read means the same when written out again.

use pfcp::rules::{AddressMatch, FlowDescription};

/// Reads `data` as a flow description.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match pfcp::flow::parse(&text) {
        Ok(flow) => {
            let written = write(&flow);
            assert_eq!(pfcp::flow::parse(&written), Ok(flow), "{text:?} became {written:?}");
        }
        Err(error) => {
            let error = error.to_string();
            assert!(error.len() < 1000 && !error.contains(char::is_control), "{error:?} is not fit for a log");
        }
    }
}

fn write(flow: &FlowDescription) -> String {
    let protocol = flow.protocol.map_or("ip".to_owned(), |number| number.to_string());
    let remote = write_end(&flow.remote, &flow.remote_ports);
    let local = write_end(&flow.local, &flow.local_ports);
    format!("permit out {protocol} from {remote} to {local}")
}

fn write_end(address: &AddressMatch, ports: &[(u16, u16)]) -> String {
    let address = match address {
        AddressMatch::Any => "any".to_owned(),
        AddressMatch::Assigned => "assigned".to_owned(),
        AddressMatch::Prefix(address, length) => format!("{address}/{length}"),
    };
    let ports: Vec<String> = ports.iter().map(|(low, high)| format!("{low}-{high}")).collect();
    if ports.is_empty() { address } else { format!("{address} {}", ports.join(",")) }
}
