//! Why an SMF's request did not succeed, in words: causes and elements by name (TS 29.244 §8.2.1, §8.1.2).

use std::net::SocketAddr;
use std::time::Duration;

use pfcp::codec::{Cause, Ie, IeType, Message, MessageType, find, number};
use pfcp::rules::RuleId;

/// Why a request did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum SmfError {
    /// The caller asks for what cannot be.
    #[error("{0}")]
    Plan(String),
    /// Sessions need an association.
    #[error("not associated with the UPF: call `associate` first")]
    NotAssociated,
    /// The UPF refuses.
    #[error("the UPF rejects the {}: {}{}{}", name(*.request), cause_name(*.cause), offence(.offending), rule(.failed))]
    Rejected {
        /// What was asked.
        request: MessageType,
        /// Why not.
        cause: Cause,
        /// The element that it dislikes.
        offending: Option<IeType>,
        /// The rule that it cannot obey.
        failed: Option<RuleId>,
    },
    /// No answer.
    #[error("{upf} does not answer the {} ({sent} sent in {waited:.1?}): is the UPF up, and its N4 address right?", name(*.request))]
    NoAnswer {
        /// What was asked.
        request: MessageType,
        /// The UPF.
        upf: SocketAddr,
        /// How often it was sent.
        sent: u32,
        /// How long we waited.
        waited: Duration,
    },
    /// An answer that cannot be used.
    #[error("the UPF's answer to the {} is unusable: {why}", name(*.request))]
    Answer {
        /// What was asked.
        request: MessageType,
        /// What is wrong.
        why: String,
    },
    /// A socket fails; the text says what was being done.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
}

impl SmfError {
    pub(super) fn io(what: impl Into<String>, source: std::io::Error) -> SmfError {
        SmfError::Io { what: what.into(), source }
    }

    /// An answer without an element that it must have.
    pub(super) fn missing(request: MessageType, ie_type: IeType) -> SmfError {
        SmfError::Answer { request, why: format!("{} is missing or wrong", ie_name(ie_type)) }
    }

    /// The error that an answer tells of, if it does not accept.
    pub(super) fn of(request: MessageType, answer: &Message) -> Option<SmfError> {
        if answer.kind == MessageType::VersionNotSupportedResponse {
            return Some(SmfError::Answer { request, why: "it does not speak PFCP version 1".into() });
        }
        let cause = match answer.cause() {
            Some(cause) if cause.is_accepted() => return None,
            Some(cause) => cause,
            None if request == MessageType::HeartbeatRequest => return None,
            None => return Some(SmfError::missing(request, number::Cause)),
        };
        let offending = find!(answer.ies, OffendingIe).copied();
        let failed = answer.ies.iter().find_map(|ie| if let Ie::FailedRuleId(id) = ie { Some(id.0) } else { None });
        Some(SmfError::Rejected { request, cause, offending, failed })
    }
}

/// A message's name as the standard spells it: `SessionEstablishmentRequest` with spaces.
fn name(kind: MessageType) -> String {
    let mut text = String::new();
    for letter in format!("{kind:?}").chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push(' ');
        }
        text.push(letter);
    }
    text
}

fn offence(offending: &Option<IeType>) -> String {
    offending.map(|ie_type| format!(", offending IE {}", ie_name(ie_type))).unwrap_or_default()
}

fn rule(failed: &Option<RuleId>) -> String {
    match failed {
        None => String::new(),
        Some(RuleId::Pdr(id)) => format!(", failed rule PDR {id}"),
        Some(RuleId::Far(id)) => format!(", failed rule FAR {id}"),
        Some(RuleId::Qer(id)) => format!(", failed rule QER {id}"),
        Some(RuleId::Urr(id)) => format!(", failed rule URR {id}"),
        Some(RuleId::Bar(id)) => format!(", failed rule BAR {id}"),
    }
}

/// A cause and its name (table 8.2.1-1).
pub fn cause_name(cause: Cause) -> String {
    let name = match cause.0 {
        1 => "Request accepted",
        64 => "Request rejected (reason not specified)",
        65 => "Session context not found",
        66 => "Mandatory IE missing",
        67 => "Conditional IE missing",
        68 => "Invalid length",
        69 => "Mandatory IE incorrect",
        70 => "Invalid Forwarding Policy",
        71 => "Invalid F-TEID allocation option",
        72 => "No established PFCP Association",
        73 => "Rule creation/modification Failure",
        74 => "PFCP entity in congestion",
        75 => "No resources available",
        76 => "Service not supported",
        77 => "System failure",
        78 => "Redirection Requested",
        79 => "All dynamic addresses are occupied",
        other => return format!("cause {other}"),
    };
    format!("{name} (cause {})", cause.0)
}

/// An element and its name (table 8.1.2-1).
pub(crate) fn ie_name(ie_type: IeType) -> String {
    let name = match ie_type {
        number::CreatePdr => "Create PDR",
        number::Pdi => "PDI",
        number::CreateFar => "Create FAR",
        number::ForwardingParameters => "Forwarding Parameters",
        number::CreateUrr => "Create URR",
        number::CreateQer => "Create QER",
        number::CreatedPdr => "Created PDR",
        number::UpdateForwardingParameters => "Update Forwarding Parameters",
        number::CreateBar => "Create BAR",
        number::CreateTrafficEndpoint => "Create Traffic Endpoint",
        number::Cause => "Cause",
        number::SourceInterface => "Source Interface",
        number::FTeid => "F-TEID",
        number::NetworkInstance => "Network Instance",
        number::SdfFilter => "SDF Filter",
        number::ApplicationId => "Application ID",
        number::GateStatus => "Gate Status",
        number::Mbr => "MBR",
        number::Precedence => "Precedence",
        number::ReportingTriggers => "Reporting Triggers",
        number::DestinationInterface => "Destination Interface",
        number::ApplyAction => "Apply Action",
        number::PdrId => "PDR ID",
        number::FSeid => "F-SEID",
        number::NodeId => "Node ID",
        number::MeasurementMethod => "Measurement Method",
        number::UrrId => "URR ID",
        number::OuterHeaderCreation => "Outer Header Creation",
        number::BarId => "BAR ID",
        number::UeIpAddress => "UE IP Address",
        number::OuterHeaderRemoval => "Outer Header Removal",
        number::RecoveryTimeStamp => "Recovery Time Stamp",
        number::FarId => "FAR ID",
        number::QerId => "QER ID",
        number::PdnType => "PDN Type",
        number::Qfi => "QFI",
        number::ApnDnn => "APN/DNN",
        other => return format!("{other}"),
    };
    format!("{name} ({ie_type})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejections_name_cause_element_and_rule() {
        let answer = Message::session(
            MessageType::SessionEstablishmentResponse,
            1,
            1,
            vec![
                Ie::Cause(Cause::RULE_FAILURE),
                Ie::OffendingIe(number::SdfFilter),
                Ie::FailedRuleId(pfcp::codec::FailedRuleId(RuleId::Pdr(3))),
            ],
        );
        let error = SmfError::of(MessageType::SessionEstablishmentRequest, &answer).unwrap();
        assert_eq!(
            error.to_string(),
            "the UPF rejects the Session Establishment Request: Rule creation/modification Failure (cause 73), \
             offending IE SDF Filter (23), failed rule PDR 3"
        );
        assert_eq!(cause_name(Cause(99)), "cause 99");
        assert_eq!(ie_name(40_000), "40000");
    }

    #[test]
    fn answers_without_a_cause_are_unusable() {
        let answer = Message::session(MessageType::SessionDeletionResponse, 1, 1, Vec::new());
        let error = SmfError::of(MessageType::SessionDeletionRequest, &answer).unwrap().to_string();
        assert_eq!(error, "the UPF's answer to the Session Deletion Request is unusable: Cause (19) is missing or wrong");
        let heartbeat = Message::node(MessageType::HeartbeatResponse, 1, Vec::new());
        assert!(SmfError::of(MessageType::HeartbeatRequest, &heartbeat).is_none());
    }
}
