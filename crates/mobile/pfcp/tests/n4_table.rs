//! Does `docs/n4.md` say what the codec's tables say? `UPDATE=1 cargo test -p pfcp --test n4_table` writes it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;

use pfcp::codec::fate::{self, Announced, Fate, Flag};
use pfcp::codec::{ELEMENTS, TYPES};

const HEAD: &str = "\
# N4: what of TS 29.244 is done

This page is made of the tables that the codec itself uses (`crates/mobile/pfcp/src/codec/ie.rs`, `fate.rs`, `mod.rs`); the test `n4_table` compares
them. It covers release 17. Nothing else exists: what a CP function sends is done, refused by name, or skipped because a clause allows it (one
exception: the flag MBQE, see there).

| word | what happens |
|---|---|
| done | it has its effect |
| sent | only a UP function sends it, and we do; if a CP function sends it, it is skipped (clause 7.6.6) |
| not sent | only a UP function sends it, and we do not; skipped likewise |
| refused | the request is rejected with cause 76 (\"Service not supported\") and this number as Offending IE; nothing of it has an effect |
| refused: why | the same; and where it applies instead |
| refused with its rule | the same with cause 73 (\"Rule creation/modification failure\") and Failed Rule ID; a Forwarding Policy has cause 70 |
| skipped: why | no effect, and why that is allowed |

An element that is not in the table, or that is a vendor's, is skipped (clause 7.6.6) and counted as `unknown_elements`. So is an element at a place where
the clause does not have it. An element that is wrong inside is refused with cause 68 (length) or 69 (value) and its number. What is inside an element
that is refused is refused by the number of that element. In a response nothing can be refused: there such elements are skipped. The removal of a
rule that is not there is taken as done, for rules of every kind, and counted as `absent_removals`: Open5GS's SMF removes indirect forwarding twice.

Notes:

- Traffic is seen when counters are looked at, not packet by packet: a start is reported within a second or so, a stop, the end of a holding time and an
  inactive user plane up to a quarter of their time late, at least a second. Traffic has stopped after the Inactivity Detection Time, or after 10 s.
- A volume quota ends where packets flow, on all workers and targets at once: it is passed by less than the longest packet of a port (`mtu`). What is behind
  it is dropped (`quota_exhausted`) until the report is made, at the next look, and then the FAR for quota action has it. A PDR has
  three places for MBRs and quotas, the smallest quotas first; the total and the PDR's own direction of a URR are two. A quota that finds no place there is seen to be
  used up by looks alone, as thresholds are. A quota that changes while packets flow is passed by what comes in the microseconds
  of the change. Where packets wait for a port's rate it may be passed by what waits ([limits.md](limits.md#engine)).
- A volume limit is looked at before it can have been reached at the highest rate that was seen: at most once a millisecond, once in five while no packet
  comes. So a threshold is passed by the bytes of a millisecond, or of five after a pause: 1.25 or 6.25 MB at 10 Gbit/s.
- An event is a start of traffic: which events a URR counts is the UP function's to say (TS 23.501 table 5.8.2.11.5-1). A report has the Time Stamp of
  each, at most of 100. An event quota is used up by the last event that it allows, as a volume quota is by its last byte.
- A quota of nothing (volume, one direction of it, time or events; by Create or Update URR, or from the monitoring time on) stops packets at once, those of a direction if it is of that
  one. Nothing is reported until a packet comes: that one waits, and is dropped when the end of the quota is reported (VOLQU, TIMQU, EVEQU, and START if that is asked for), once for each
  quota given (clauses 5.2.2.2.1 and 5.4.11). Packets that are stopped are not looked at after that: no STOPT tells when they end. Where there is a FAR for quota action it has the packets
  from the first on, which is reported.
- A URR that no PDR names any more, by Update PDR or Remove PDR, is reported in that response (TERMR, clause 8.2.41); it stays until it is removed.
- A rule that a request creates twice is refused (cause 73), unless both are the same and a PDR names it: some SMFs list a rule with each PDR that it is for.
- In a flow description whichever end is `assigned`, or the UE's own address, is the UE: `permit in` and `from assigned to any` are read so. `0.0.0.0/0` and `::/0` match their own
  family, `any` both. An SDF Filter that says nothing, has a description of no length, or has an ID that no other filter of the session has, restricts nothing, as peers take it; an ID that comes
  later is meant from then on.
- A UE address that is left to us (CHOOSE) is looked for where the session is, whichever PDR asks: in the pool of the network instance of a PDR without F-TEID, then of the DNN, then of a PDR
  with F-TEID. A session has one.
- A CP F-SEID at the address of another SMF is refused with cause 69 ([security.md](security.md#n4)). Session requests from an address without association have cause 72. Domain names as Node
  IDs are the same in whatever case.
- The end of a quota's validity is reported, and what is left of the quota is void, as at the end of its holding time (clause 5.2.2.2.1).
- Octets that pass by the FAR for quota action are measured and reported like any others, and count against the next quota: the measurement goes on until the
  CP function says otherwise, and what was forwarded since the last report is deducted from a new quota (clause 5.2.2.2.1, note 1). What that FAR drops
  is not measured. An SMF that does not charge for a redirect sets INAM or gives the redirected PDR no URR. Others differ: gtp5g (free5GC) and
  upg-vpp know no FAR for quota action and drop, and Open5GS's UPF stops nothing.
- From tunnel to tunnel (N9, indirect forwarding) GTP-U extension headers and numbers go on as they came, in their order, but for those whose type says
  otherwise (TS 29.281 §5.2.1). In a PDU Session Container a QER's QFI replaces the QFI, and its RQI is added; what else it says stays. Outer Header Removal
  deletes the container where it says so (§8.2.64), and so does a FAR to the CP function. A packet without a container gets one if there is a QER with a QFI, or,
  towards the access side, with the QFI of the session's default QoS flow.
- A PDR that names neither F-TEID nor UE address, as SMFs make them for dedicated QoS flows, means the session's tunnels on its side, and from the core side the
  session's addresses. A QFI in the PDI is matched where packets come by a tunnel. An uplink PDR without UE address takes packets from the session's
  address alone: it is refused if that is not one, and forwards nothing to N6 if the session has none.
- Session sets are those of an FQ-CSID, of a Group ID, or of an address of the CP function, in one association; those that are handed over, in all
  associations of an SMF set. What is deleted as a set has no usage reports: its CP function has lost the sessions. Reports of a set that was handed
  over go to its Alternative SMF IP Address, until a CP function gives a session another F-SEID.
- A request of ours that a CP function does not answer (T1, N1) goes to its other addresses (Alternative SMF IP Address of its association; preferred ones
  first), and so do later ones until the first address is heard again. One of those may take a session over: with a CP F-SEID in its answer to a report, or
  by a modification. Another SMF is sent SEID 0 and the session's F-SEID as its Old CP F-SEID. A report that is answered with cause 78 (\"Redirection
  Requested\") and an Alternative SMF IP Address goes there. The association is lost when none of its addresses answers heartbeats.
- An SMF set may have one association, which names the addresses of all (SSET), or one for each SMF, which name the set (MPAS, SMF Set ID). With MPAS
  a request for a session is served whichever of them sends it. A modification with the sender's Node ID moves the session to the sender's association, and so
  does a CP F-SEID in its answer to a report. The others' addresses come behind those of the association itself when an SMF does not answer. Release, update and
  new sessions are each SMF's own. A set is within one entry of `n4.peers`, so that nobody else joins it; what an SMF says of its set counts until its next setup.
- After a restart of ours an SMF restores its sessions (RESTI): it names the F-TEIDs and UE addresses that they had, which are taken if they are ours and free,
  without RESTI too. If one is not, the request is rejected with cause 86 (\"PFCP session restoration failure\"), without RESTI with cause 73. Our F-SEID is another than before.
- PFCPSMReq-Flags are obeyed with the message and in Update Forwarding Parameters alike; SNDEM of the message is for each FAR that it updates. What DROBU drops is
  dropped with the message's change of rules: if that is refused, nothing is.
- CP functions that announce LOAD are told, with the next response after a change, which share of `n4.max_sessions` is there. Those that announce OVRL are
  told how much fewer requests to send when more than an eighth of the queue of messages is full, for 10 s or until told otherwise. While seven
  eighths are full new sessions are rejected with cause 74, whoever asks.
- With `n4.graceful_release_s` CP functions are asked at shutdown to release their associations within that time; sessions go on meanwhile.
- With `host.gtpu_echo_s` the UPF asks the GTP-U peers of sessions whether they are there, and tells all CP functions of a path that fails or works again.
- Sessions that end without a request (shutdown, association released, peer lost) have their final usage reported, with trigger TEBUR, if there is any. If
  the peer is out of reach it is kept until it associates again. One that has restarted meanwhile does not know the session: that usage is lost, logged
  and counted (`usage_reports_lost`, and by its reason). At shutdown the daemon waits as long as reports are acknowledged, and 4 s longer, or 0.6 s for peers that say nothing at all. What is not
  acknowledged then, final or not, is lost, with the reason `end`.
- A report of usage that nobody answers (T1, N1) is kept likewise, with its UR-SEQN, and sent again when its CP function is heard: with its next message of
  any kind. A CP function that got it before, and whose answer was lost, knows it by the UR-SEQN. Half of the requests that may wait for a CP function are
  for new reports. At most as many reports wait as there may be sessions (`n4.max_sessions`), those that are kept and those that are still to be sent together; what
  comes beyond is lost, with the reason `full`: the oldest of the CP function that has most of the room, those of sessions that lived first.
- A request that is in flight when its CP function restarts is not sent again: the SEID may be another session's. Nor is it while a heartbeat says that the CP
  function may have restarted, until the next one.
- The response to a Session Deletion Request has, behind the last usage, the reports of the session that nobody acknowledged, with the UR-SEQNs that they
  had. A request that has just been sent for the first time is left to its answer, and PURU says that one is pending (clause 5.2.2.3.1); so it does of what
  has no room in the response (30,000 octets), which is sent in Session Report Requests.
- Usage that another SMF of a set does not know (cause 65) waits until the address that has given the session's SEID is heard, or the session is handed over, or the
  CP function associates again: then it is told to whom the session is with. That goes for final usage too.
";

fn text(fate: Fate) -> String {
    match fate {
        Fate::Done => "done".into(),
        Fate::Sent => "sent".into(),
        Fate::Unsent => "not sent".into(),
        Fate::Refused => "refused".into(),
        Fate::Inapplicable(why) => format!("refused: {why}"),
        Fate::RuleRefused => "refused with its rule".into(),
        Fate::Ignored(why) => format!("skipped: {why}"),
    }
}

fn flags(page: &mut String, title: &str, flags: &[Flag]) {
    let of = |flag: &Flag| format!("| {}/{} | {} | {} |\n", 5 + flag.bit / 8, 1 + flag.bit % 8, flag.name, text(flag.fate));
    let rows: String = flags.iter().map(of).collect();
    writeln!(page, "\n### {title}\n\n| octet/bit | flag | |\n|---|---|---|\n{rows}").unwrap();
}

#[test]
fn the_page_says_what_the_tables_say() {
    let mut page = HEAD.to_owned();
    page.push_str("\n## Messages\n\n| type | message | |\n|---|---|---|\n");
    for (kind, number, fate) in TYPES {
        let words = format!("{kind:?}").chars().fold(String::new(), |name, c| {
            let space = if c.is_uppercase() && !name.is_empty() && !name.ends_with("PF") { " " } else { "" };
            name + space + &c.to_string()
        });
        writeln!(page, "| {number} | {} | {} |", words.replace("Pfd", "PFD"), text(fate)).unwrap();
    }
    page.push_str("\n## Features that we announce\n\n| octet/bit | feature | |\n|---|---|---|\n");
    for (bit, name, announced) in fate::FEATURES {
        let when: String = match announced {
            Announced::Always => "announced".into(),
            Announced::WithGtpu => "announced if there is a GTP-U address".into(),
            Announced::WithPools => "announced if there is a pool of UE addresses".into(),
            Announced::Never => "no".into(),
            Announced::Not(why) => format!("no: {why}"),
        };
        writeln!(page, "| {}/{} | {name} | {when} |", 5 + bit / 8, 1 + bit % 8).unwrap();
    }
    page.push_str("\n## Flags\n");
    for (number, list) in fate::FLAG_ELEMENTS {
        flags(&mut page, pfcp::codec::fate(*number).unwrap().0, list);
    }
    page.push_str("## Information elements\n\n| type | element | |\n|---|---|---|\n");
    let elements: BTreeMap<u16, _> = ELEMENTS.iter().map(|(number, name, fate)| (*number, (name, fate))).collect();
    for (number, (name, fate)) in &elements {
        writeln!(page, "| {number} | {name} | {} |", text(**fate)).unwrap();
    }
    testkit::assert_golden("../../../docs/n4.md", &page);
}

#[test]
fn no_number_and_no_bit_is_there_twice() {
    let numbers: BTreeMap<u16, &str> = ELEMENTS.iter().map(|(number, name, _)| (*number, *name)).collect();
    assert_eq!(numbers.len(), ELEMENTS.len());
    assert_eq!(numbers.keys().copied().collect::<Vec<_>>(), (1..=320).collect::<Vec<u16>>(), "release 17 has them all");
    for (at, (bit, name, _)) in fate::FEATURES.iter().enumerate() {
        assert_eq!(at, usize::from(*bit), "{name}");
    }
    // How many bits the clause of each has in release 17.
    let clauses = [
        (37, 18),
        (63, 22),
        (62, 3),
        (100, 8),
        (90, 4),
        (44, 13),
        (186, 2),
        (49, 6),
        (318, 1),
        (161, 1),
        (50, 1),
        (39, 7),
        (101, 6),
        (259, 1),
        (184, 2),
        (162, 1),
        (111, 2),
        (110, 1),
        (89, 10),
    ];
    let counts: Vec<(u16, usize)> = fate::FLAG_ELEMENTS.iter().map(|(number, flags)| (*number, flags.len())).collect();
    assert_eq!(counts, clauses);
    for (number, flags) in fate::FLAG_ELEMENTS {
        assert!(flags.iter().enumerate().all(|(at, flag)| at == usize::from(flag.bit)), "{number}: {flags:?}");
    }
}

/// Another implementation's list of flags (Wireshark's): each is in the table, at the bit of its octet.
#[test]
fn every_flag_that_wireshark_knows_is_in_the_table() {
    let Ok(output) = Command::new("tshark").args(["-G", "fields"]).output() else {
        println!("skipped: needs tshark");
        return;
    };
    let listed = String::from_utf8_lossy(&output.stdout);
    // Wireshark's names of elements, and ours. It knows two flags by older names.
    let prefixes = [
        ("reporting_triggers_flags.", 37),
        ("usage_report_trigger", 63),
        ("measurement_info.", 100),
        ("usage_information.", 90),
        ("apply_action.", 44),
        ("sereq_flags.", 186),
        ("smreq_flags.", 49),
        ("pfcpsdrsp_flags.", 318),
        ("srreq_flags.", 161),
        ("srrsp_flags.", 50),
        ("report_type.", 39),
        ("node_report_type.", 101),
        ("asreq_flags.", 259),
        ("asrsp_flags.", 184),
        ("aureq_flags.", 162),
        ("assoc_rel_req.", 111),
        ("oci_flags.", 110),
        ("cp_function_features.", 89),
    ];
    let ours = |name: &str| match name {
        "TEMUR" => "TEBUR".to_owned(),
        "PARPBS" => "PARPS".to_owned(),
        name => name.to_owned(),
    };
    let mut found = BTreeMap::<u16, usize>::new();
    for line in listed.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let ["F", text, name, "FT_BOOLEAN", _, _, mask, ..] = fields[..] else { continue };
        let Some(name) = name.strip_prefix("pfcp.") else { continue };
        let Some((_, number)) = prefixes.iter().find(|(prefix, _)| name.starts_with(prefix)) else { continue };
        let (flag, mask) = (text.split([' ', ':']).next().unwrap(), u32::from_str_radix(mask.trim_start_matches("0x"), 16).unwrap());
        if flag == "Spare" || mask.count_ones() != 1 {
            continue;
        }
        let (_, flags) = fate::FLAG_ELEMENTS.iter().find(|(this, _)| this == number).unwrap();
        let here = flags.iter().find(|this| this.name == ours(flag)).unwrap_or_else(|| panic!("{number}: {text}"));
        assert_eq!(1 << (here.bit % 8), mask, "{number}: {text}");
        *found.entry(*number).or_default() += 1;
    }
    println!("{found:?}");
    assert!(found.values().sum::<usize>() > 80 && found.len() == prefixes.len(), "{found:?}");
}

/// Another implementation's list of elements (Wireshark's): each is in the table.
#[test]
fn every_element_that_wireshark_knows_is_in_the_table() {
    let Ok(output) = Command::new("tshark").args(["-G", "values"]).output() else {
        println!("skipped: needs tshark");
        return;
    };
    let listed = String::from_utf8_lossy(&output.stdout);
    let numbers = listed.lines().filter_map(|line| line.strip_prefix("V\tpfcp.ie_type\t")?.split('\t').next()?.parse::<u16>().ok());
    let numbers: Vec<u16> = numbers.filter(|number| (1..=320).contains(number)).collect();
    assert!(numbers.len() > 250, "{} elements", numbers.len());
    for number in numbers {
        assert!(pfcp::codec::fate(number).is_some(), "{number}");
    }
}
