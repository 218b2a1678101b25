//! What do RLC entities do, step by step? Each `scripts/NAME.script` is played over two of them; what happens is compared with `NAME.trace`.
//! `UPDATE=1 cargo test` accepts a change.
//!
//! A script's first line makes both entities, the others act at a time in ms:
//!
//! ```text
//! am 12 window=64 poll_pdu=4 poll_ms=45 reassembly_ms=35 prohibit_ms=0 max_retx=4
//! 0 a sdu 100 x3              a takes three SDUs of 100 bytes
//! 0 a grant 50 x4 lose 1,3    four grants; of the PDUs made the second and the fourth are lost
//! 5 b grant 20 twice reverse  each PDU arrives twice; the last one arrives first
//! 9 a hex 0f0f00              a receives these bytes
//! 50 wait                     nothing but timers
//! ```
//!
//! In a trace `a > b` is a PDU that arrives, `a > -` one that is lost, `b up` an SDU that is handed up, and the lines with `!` are what an entity says of its
//! own: SDUs delivered, drops, `maxRetxThreshold`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use buffer::status::Status;
use gnb::rlc::am::Am;
use gnb::rlc::am_rx::RxConfig;
use gnb::rlc::am_tx::{TxConfig, TxEvent};
use gnb::rlc::pdu::{AmPdu, Si, UmSnLength, Umd};
use gnb::rlc::um::{UmRx, UmRxConfig, UmTx};
use gnb::rlc::{QueueLimits, SnLength};

const MS: u64 = 1_000_000;

enum Entity {
    Am(Box<Am<Vec<u8>>>, SnLength),
    Um(Box<(UmTx<Vec<u8>>, UmRx)>, UmSnLength),
}

/// SDU `number`: its bytes tell its number and place.
fn sdu(number: u32, len: usize) -> Vec<u8> {
    (0..len).map(|at| (number as usize * 41 + at) as u8).collect()
}

impl Entity {
    fn new(line: &str) -> Entity {
        let mut words = line.split_whitespace();
        let (mode, bits) = (words.next().expect("a mode"), words.next().expect("a length of sequence numbers"));
        let options: BTreeMap<&str, u64> = words
            .map(|word| {
                let (name, value) = word.split_once('=').unwrap_or_else(|| panic!("{word}: NAME=VALUE"));
                (name, value.parse().unwrap_or_else(|_| panic!("{word}: a number")))
            })
            .collect();
        let known = ["window", "poll_pdu", "poll_byte", "poll_ms", "reassembly_ms", "prohibit_ms", "max_retx"];
        assert!(options.keys().all(|name| known.contains(name)), "{line}: one of {known:?}");
        let of = |name, default| options.get(name).copied().unwrap_or(default);
        let queue = QueueLimits { sdus: 1000, bytes: 1 << 20 };
        let reassembly_ns = of("reassembly_ms", 35) * MS;
        match mode {
            "am" => {
                let sn_length = if bits == "12" { SnLength::Bits12 } else { SnLength::Bits18 };
                let window = of("window", 2048) as u32;
                let tx = TxConfig {
                    sn_length,
                    window,
                    queue,
                    poll_retransmit_ns: of("poll_ms", 45) * MS,
                    poll_pdu: options.get("poll_pdu").map(|most| *most as u32),
                    poll_byte: options.get("poll_byte").map(|most| *most as u32),
                    max_retransmissions: of("max_retx", 4) as u8,
                };
                let status_prohibit_ns = of("prohibit_ms", 0) * MS;
                let rx = RxConfig { sn_length, window, partial_bytes: 1 << 20, reassembly_ns, status_prohibit_ns };
                Entity::Am(Box::new(Am::new(tx, rx).expect("a script's configuration")), sn_length)
            }
            "um" => {
                let sn_length = if bits == "6" { UmSnLength::Bits6 } else { UmSnLength::Bits12 };
                let rx = UmRx::new(UmRxConfig { sn_length, reassembly_ns, partial_bytes: 1 << 20 }).expect("valid");
                Entity::Um(Box::new((UmTx::new(sn_length, queue).expect("valid"), rx)), sn_length)
            }
            _ => panic!("{line}: am or um"),
        }
    }

    fn enqueue(&mut self, number: u32, sdu: Vec<u8>) {
        match self {
            Entity::Am(am, _) => am.enqueue(number, sdu).expect("room"),
            Entity::Um(um, _) => um.0.enqueue(number, sdu).expect("room"),
        }
    }

    fn pull(&mut self, grant: usize, now: u64) -> Option<Vec<u8>> {
        let mut pdu = Vec::new();
        match self {
            Entity::Am(am, _) => am.pull(grant, now, &mut pdu).map(|_| ())?,
            Entity::Um(um, _) => um.0.pull(grant, &mut pdu).map(|_| ())?,
        }
        assert!(pdu.len() <= grant);
        Some(pdu)
    }

    /// What a PDU says.
    fn read(&self, pdu: &[u8]) -> String {
        let part = |si: Si, so: u16, len: usize| match si {
            Si::Whole => format!("all {len}"),
            _ => format!("{} {so}+{len}", ["all", "first", "last", "middle"][si as usize]),
        };
        match self {
            Entity::Am(_, sn_length) => match AmPdu::parse(pdu, *sn_length) {
                Ok(AmPdu::Data(data)) => {
                    format!("sn {} {}{}", data.sn, part(data.si, data.so, data.data.len()), if data.poll { " poll" } else { "" })
                }
                Ok(AmPdu::Status(bytes)) => match Status::new_checked(bytes, *sn_length) {
                    Ok(status) => status.nacks().fold(format!("status ack {}", status.ack_sn()), |text, nack| {
                        let range = if nack.range > 1 { format!("..{}", nack.sn + u32::from(nack.range) - 1) } else { String::new() };
                        let segment = nack.segment.map_or(String::new(), |(start, end)| {
                            format!(":{start}-{}", if end == 0xffff { "end".into() } else { end.to_string() })
                        });
                        format!("{text} nack {}{range}{segment}", nack.sn)
                    }),
                    Err(fault) => format!("no status: {}", fault.name()),
                },
                Err(fault) => format!("no PDU: {}", fault.name()),
            },
            Entity::Um(_, sn_length) => match Umd::parse(pdu, *sn_length) {
                Ok(pdu) if pdu.si == Si::Whole => part(pdu.si, 0, pdu.data.len()),
                Ok(pdu) => format!("sn {} {}", pdu.sn, part(pdu.si, pdu.so, pdu.data.len())),
                Err(fault) => format!("no PDU: {}", fault.name()),
            },
        }
    }
}

struct Play {
    ends: [Entity; 2],
    given: [Vec<Vec<u8>>; 2],
    trace: String,
}

impl Play {
    fn line(&mut self, text: String) {
        writeln!(self.trace, "  {text}").expect("a string grows");
    }

    fn advance(&mut self, now: u64) {
        for side in 0..2 {
            let mut said = Vec::new();
            match &mut self.ends[side] {
                Entity::Am(am, _) => am.advance(now, &mut |event| said.push(event)),
                Entity::Um(um, _) => um.1.advance(now),
            }
            self.say(side, said);
        }
    }

    fn say(&mut self, side: usize, said: Vec<TxEvent<Vec<u8>>>) {
        let mut tags = Vec::new();
        for event in said {
            match event {
                TxEvent::Delivered { tag, .. } => tags.push(tag.to_string()),
                TxEvent::MaxRetransmissions { tag } => self.line(format!("{} ! max retransmissions of #{tag}", NAMES[side])),
            }
        }
        if !tags.is_empty() {
            self.line(format!("{} ! delivered #{}", NAMES[side], tags.join(" #")));
        }
    }

    fn receive(&mut self, to: usize, pdu: &[u8], now: u64) {
        let (mut up, mut said) = (Vec::new(), Vec::new());
        let deliver = &mut |sdu: &[u8]| up.push(sdu.to_vec());
        let result = match &mut self.ends[to] {
            Entity::Am(am, _) => am.receive(pdu, now, deliver, &mut |event| said.push(event)).map_err(|drop| format!("{drop:?}")),
            Entity::Um(um, _) => um.1.receive(pdu, now, deliver).map_err(|drop| format!("{drop:?}")),
        };
        if let Err(drop) = result {
            self.line(format!("{} ! dropped: {drop}", NAMES[to]));
        }
        for sdu in up {
            let number = self.given[1 - to].iter().position(|given| *given == sdu).expect("only what was given comes up");
            self.line(format!("{} up #{number}", NAMES[to]));
        }
        self.say(to, said);
    }

    fn act(&mut self, words: &[&str], now: u64) {
        if words == ["wait"] {
            return;
        }
        let side = NAMES.iter().position(|name| *name == words[0]).expect("a or b");
        let size: usize = if words[1] == "hex" { 0 } else { words[2].parse().expect("bytes") };
        let (mut times, mut lost, mut copies, mut reverse) = (1, Vec::new(), 1, false);
        let mut rest = words[3..].iter();
        while let Some(word) = rest.next() {
            match *word {
                "lose" => lost = rest.next().expect("which").split(',').map(|at| at.parse::<usize>().expect("a place")).collect(),
                "twice" => copies = 2,
                "reverse" => reverse = true,
                _ => times = word.strip_prefix('x').and_then(|times| times.parse().ok()).unwrap_or_else(|| panic!("{word}?")),
            }
        }
        match words[1] {
            "sdu" => {
                for _ in 0..times {
                    let number = self.given[side].len() as u32;
                    self.given[side].push(sdu(number, size));
                    self.ends[side].enqueue(number, sdu(number, size));
                }
            }
            "grant" => {
                let mut made: Vec<(usize, Vec<u8>)> = (0..times).map_while(|at| Some((at, self.ends[side].pull(size, now)?))).collect();
                if made.is_empty() {
                    self.line(format!("{} ! nothing to send", NAMES[side]));
                }
                if reverse {
                    made.reverse();
                }
                for (at, pdu) in made {
                    let to = if lost.contains(&at) { "-" } else { NAMES[1 - side] };
                    let text = format!("{} > {to} {}", NAMES[side], self.ends[side].read(&pdu));
                    self.line(text);
                    for _ in 0..if lost.contains(&at) { 0 } else { copies } {
                        self.receive(1 - side, &pdu, now);
                    }
                }
            }
            "hex" => {
                let bytes: Vec<u8> =
                    (0..words[2].len() / 2).map(|at| u8::from_str_radix(&words[2][2 * at..2 * at + 2], 16).expect("hex")).collect();
                let text = format!("? > {} {}", NAMES[side], self.ends[side].read(&bytes));
                self.line(text);
                self.receive(side, &bytes, now);
            }
            verb => panic!("{verb}: sdu, grant or hex"),
        }
    }
}

const NAMES: [&str; 2] = ["a", "b"];

fn play(script: &str) -> String {
    let mut lines = script.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let first = lines.next().expect("a script begins with its entities");
    let mut play = Play { ends: [Entity::new(first), Entity::new(first)], given: Default::default(), trace: format!("{first}\n") };
    let mut now = 0;
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at: u64 = words[0].parse().expect("a time in ms");
        assert!(at * MS >= now, "{line}: time goes back");
        now = at * MS;
        writeln!(play.trace, "{line}").expect("a string grows");
        play.advance(now);
        play.act(&words[1..], now);
    }
    for (side, end) in play.ends.iter().enumerate() {
        let text = match end {
            Entity::Am(am, _) => format!("{} ends {:?} {:?}", NAMES[side], am.tx().state(), am.rx().state()),
            Entity::Um(um, _) => format!("{} ends {:?}", NAMES[side], um.1.state()),
        };
        writeln!(play.trace, "{text}").expect("a string grows");
    }
    play.trace
}

#[test]
fn scripts_go_as_their_traces_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut scripts: Vec<_> = fs::read_dir(&folder).expect("scripts").map(|entry| entry.expect("an entry").path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|extension| extension == "script"));
    scripts.sort();
    assert!(scripts.len() >= 12, "{} scripts", scripts.len());
    for path in scripts {
        let trace = play(&fs::read_to_string(&path).expect("a script"));
        testkit::assert_golden(path.with_extension("trace"), &trace);
    }
}
