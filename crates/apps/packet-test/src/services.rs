//! Which services has a program that is traced or tested? Those of this project that it calls, in the lane or in the interpreter's turn, with the settings that
//! are given.

use cli::failure::Failure;
use daemon::config::service_kind::{Kind, Sizes};
use inline::{Inline, in_lane};
use program::Program;
use service::Deployment;
use service::caller::Make;
use std::sync::Arc;

/// As many bearers as `gnb.p4` has, and room for what a test keeps.
const SIZES: Sizes = Sizes {
    bearers: Some(1 << 16),
    packets: Some(1 << 12),
    bytes: Some(1 << 24),
    interval_ms: None,
    attempts: None,
    queues: Some(1 << 16),
    queue_ms: None,
    target_ms: None,
};

/// The value of a setting, as `--setting` says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The service's name.
    pub service: String,
    /// Which.
    pub index: u32,
    /// The value.
    pub value: Vec<u8>,
}

impl std::str::FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let fault = || {
            format!(
                "{text}: expected SERVICE.INDEX=HEX, as in cipher.3=02ff00112233445566778899aabbccddeeff00000000000000000000000000000000"
            )
        };
        let (name, value) = text.split_once('=').ok_or_else(fault)?;
        let (service, index) = name.split_once('.').ok_or_else(fault)?;
        let digits: Vec<u8> = value.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>().ok_or_else(fault)?;
        let (pairs, []) = digits.as_chunks::<2>() else { return Err(fault()) };
        let value = pairs.iter().map(|[high, low]| high << 4 | low).collect();
        Ok(Setting { service: service.to_owned(), index: index.parse().map_err(|_| fault())?, value })
    }
}

/// Services for the interpreter of a program that calls some; `None` for one that calls none, or one that is not ours: its packets are dropped there.
///
/// # Errors
/// If a setting is not one, or the program declares a service otherwise.
pub fn inline(program: &Program, settings: &[Setting]) -> Result<Option<Inline>, Failure> {
    let all = deployed(program, settings, Kind::plain)?;
    if all.is_empty() || all.len() < program.services.len() {
        return Ok(None);
    }
    Inline::new(program, &all).map(Some).map_err(|error| Failure::Usage(error.to_string()))
}

/// Those of our services that a program calls, in its lanes.
///
/// # Errors
/// If a setting is not one.
pub fn in_lanes(program: &Program, settings: &[Setting]) -> Result<Vec<Arc<Deployment>>, Failure> {
    deployed(program, settings, Kind::make)
}

fn deployed(program: &Program, settings: &[Setting], make: fn(Kind, Sizes) -> Make) -> Result<Vec<Arc<Deployment>>, Failure> {
    let mut all: Vec<Arc<Deployment>> = Vec::new();
    for info in program.services.values() {
        all.extend(Kind::named(&info.name).map(|kind| in_lane(make(kind, SIZES))));
    }
    for Setting { service, index, value } in settings {
        let found = all.iter().find(|deployment| deployment.interface().name == service);
        let deployment =
            found.ok_or_else(|| Failure::Usage(format!("--setting {service}.{index}: the program calls no service {service}")))?;
        let set = deployment.set(*index, Some(value.clone().into()));
        set.map_err(|error| Failure::Usage(format!("--setting {service}.{index}: {error}")))?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::TargetDevice;
    use p4_interp::{Machine, stf};
    use std::path::Path;

    /// A bearer with 18 bits of sequence numbers, a window of 16 packets and 1 MiB.
    const BEARER: &str = "buffer.5=12 00000010 0000000000100000 00000064 00000000 00000000 04";

    #[test]
    fn a_packet_test_of_a_program_with_services_gives_the_same_on_the_interpreter_and_on_x86() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let include = [folder.join("../../../p4/include")];
        let program = p4_driver::Program::compile(&folder.join("src/testdata/keeps.p4"), &include, &[]).unwrap();
        let ir = program.ir.clone();
        let text = std::fs::read_to_string(folder.join("src/testdata/keeps.stf")).unwrap();
        let script = stf::parse(&text, &ir.program).unwrap();
        let settings: Vec<Setting> = vec![BEARER.replace(' ', "").parse().unwrap()];
        let with = |settings: &[Setting]| {
            let mut machine = Machine::new(ir.clone()).unwrap();
            machine.set_services(Box::new(inline(&ir.program, settings).unwrap().expect("the program calls one of ours")));
            let mut x86 = TargetDevice::x86(program.x86().unwrap(), &in_lanes(&ir.program, settings).unwrap()).unwrap();
            [stf::run(&script, &mut stf::MachineDevice::new(machine)), stf::run(&script, &mut x86)]
        };
        for report in with(&settings) {
            assert!(report.passed() && (report.sent, report.received) == (4, 3), "{report:?}");
        }
        // Without the bearer nothing is kept, and nothing is sent.
        assert!(with(&[]).iter().all(|report| report.received == 0 && report.failures.len() == 3));
        let refused = |text: &str| in_lanes(&ir.program, &[text.parse().unwrap()]).err().unwrap().to_string();
        assert!(refused("cipher.5=00").contains("the program calls no service cipher"));
        assert!(refused("buffer.5=00").contains("--setting buffer.5: setting 5: expected a bearer's 26 bytes"));
    }

    /// A queue of 1000 bytes a second and 8 at once.
    const QUEUE: &str = "shaper.5=00000000000003e8 00000008";

    #[test]
    fn a_packet_test_of_a_program_that_shapes_gives_the_same_on_the_interpreter_and_on_x86() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let include = [folder.join("../../../p4/include")];
        let program = p4_driver::Program::compile(&folder.join("src/testdata/shapes.p4"), &include, &[]).unwrap();
        let ir = program.ir.clone();
        let script = stf::parse(&std::fs::read_to_string(folder.join("src/testdata/shapes.stf")).unwrap(), &ir.program).unwrap();
        let settings: Vec<Setting> = vec![QUEUE.replace(' ', "").parse().unwrap()];
        let mut machine = Machine::new(ir.clone()).unwrap();
        machine.set_services(Box::new(inline(&ir.program, &settings).unwrap().expect("the program calls one of ours")));
        let mut x86 = TargetDevice::x86(program.x86().unwrap(), &in_lanes(&ir.program, &settings).unwrap()).unwrap();
        for report in [stf::run(&script, &mut stf::MachineDevice::new(machine)), stf::run(&script, &mut x86)] {
            assert!(report.passed() && (report.sent, report.received) == (4, 2), "{report:?}");
        }
    }

    const OUT: base::PortId = base::PortId(1);

    /// What leaves of a packet at once: by itself, as a copy, or when a service has answered.
    fn run(lane: &mut dyn target_api::Lane, bytes: &[u8], now_ns: u64) -> Vec<Vec<u8>> {
        let (mut packets, mut verdicts) = ([base::Packet::new(bytes, base::PortId(0))], [base::Verdict::default()]);
        lane.process(&mut packets, &mut verdicts, now_ns);
        let mut extra = Vec::new();
        lane.take_extra(&mut extra);
        let all = packets.iter().zip(verdicts).chain(extra.iter().map(|copy| (&copy.packet, copy.verdict)));
        let sent = all.filter(|(_, verdict)| *verdict == base::Verdict::forward(OUT)).map(|(packet, _)| packet.data().to_vec());
        sent.chain(again(lane, now_ns)).collect()
    }

    /// What leaves by then.
    fn again(lane: &mut dyn target_api::Lane, now_ns: u64) -> Vec<Vec<u8>> {
        let mut back = Vec::new();
        lane.poll(now_ns, &mut back);
        back.iter().filter(|back| back.verdict == base::Verdict::forward(OUT)).map(|back| back.packet.data().to_vec()).collect()
    }

    /// Singh et al., Algorithm 1, from P4: a bucket of 10 ms, 8 attempts.
    #[test]
    fn a_program_sends_a_packet_again_until_a_status_names_it() {
        const MS: u64 = 1_000_000;
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let include = [folder.join("../../../p4/include")];
        let program = p4_driver::Program::compile(&folder.join("src/testdata/resubmits.p4"), &include, &[]).unwrap();
        let ir = program.ir.clone();
        let batch = program::Batch { ops: vec![program::Op::Mirror { session: 1, to: Some(program::Mirror::Port(OUT)) }] };
        let services = in_lanes(&ir.program, &[]).unwrap();
        let target = program.x86().unwrap().load(&Default::default(), &services).unwrap();
        let mut machine = Machine::new(ir.clone()).unwrap();
        machine.set_services(Box::new(inline(&ir.program, &[]).unwrap().expect("the program calls one of ours")));
        target.apply(&batch).unwrap();
        machine.apply(&batch).unwrap();
        let mut lane = target.lane(0);
        let packet = |operation: u8, id: u8| vec![operation, 0, 0, 0, 5, 0, 0, 0, id, 0xaa, id];
        // Sent, and kept: the interpreter waits for nothing, and has no more of it.
        for id in 1..=3 {
            assert_eq!(run(lane.as_mut(), &packet(0, id), MS), [packet(0, id)]);
            let sent = packet(0, id);
            let twin = machine.process(&sent, base::PortId(0), MS, p4_interp::Mode::Whole);
            assert_eq!((twin.verdict, twin.bytes), (base::Verdict::forward(OUT), &sent[..]));
            let copies: Vec<String> = machine.extra().iter().map(|copy| ir.program.reason_name(copy.verdict.reason)).collect();
            assert_eq!(copies, ["service_lost"]);
        }
        assert_eq!(again(lane.as_mut(), 10 * MS), Vec::<Vec<u8>>::new(), "not yet");
        assert_eq!(again(lane.as_mut(), 11 * MS), [packet(0, 1), packet(0, 2), packet(0, 3)]);
        // A status names the second, once: the answer of both, and nothing the second time.
        for (now_ns, named) in [(12 * MS, true), (13 * MS, false)] {
            let expected: Vec<Vec<u8>> = named.then(|| vec![2, 0, 0, 0, 5, 0, 0, 0, 2, 0xaa, 2]).into_iter().collect();
            assert_eq!(run(lane.as_mut(), &packet(1, 2), now_ns), expected);
            let status = packet(1, 2);
            let twin = machine.process(&status, base::PortId(0), now_ns, p4_interp::Mode::Whole);
            assert_eq!(
                (twin.verdict == base::Verdict::forward(OUT)).then(|| twin.bytes.to_vec()).into_iter().collect::<Vec<_>>(),
                expected
            );
        }
        for attempt in 2..=8 {
            assert_eq!(again(lane.as_mut(), (1 + 10 * attempt) * MS), [packet(0, 1), packet(0, 3)], "attempt {attempt}");
        }
        assert_eq!(again(lane.as_mut(), 91 * MS), Vec::<Vec<u8>>::new(), "given up");
        let counters = services[0].counters();
        // 3 kept, 2 statuses, copies: 3 and 7 times 2.
        assert_eq!((counters.calls, counters.copies, counters.waiting(), counters.imbalance()), (5, 17, 0, 0), "{counters:?}");
    }

    #[test]
    fn a_setting_is_read_or_refused() {
        let read: Setting = "cipher.3=02fF".parse().unwrap();
        assert_eq!(read, Setting { service: "cipher".into(), index: 3, value: vec![2, 255] });
        for wrong in ["cipher=02", "cipher.3", "cipher.x=02", "cipher.3=0", "cipher.3=zz", ""] {
            assert!(wrong.parse::<Setting>().unwrap_err().contains("SERVICE.INDEX=HEX"), "{wrong}");
        }
    }
}
