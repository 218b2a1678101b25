//! Valid files, and the errors of invalid ones.

use super::*;

const GOOD: &str = r#"
[n4]
listen = "127.0.0.1:8805"
[[port]]
name = "n3"
interface = "eth0"
role = "access"
network_instance = "access"
addresses = ["10.3.0.1/24"]
gtpu = ["10.3.0.1"]
[[port]]
name = "n6"
interface = "eth1"
role = "core"
network_instance = "internet"
addresses = ["10.6.0.1/24"]
[[route]]
network_instance = "internet"
prefix = "0.0.0.0/0"
via = "10.6.0.2"
[split]
fast = "asic"
policy = { share = 0.5 }
"#;

#[test]
fn a_good_file_is_read() {
    let c = Config::parse(GOOD).unwrap();
    assert_eq!(c.split.policy, Policy::Share(0.5));
    assert_eq!(c.ports[1].driver, Driver::Auto);
}

#[test]
fn packets_over_an_mbr_wait_unless_the_file_says_otherwise() {
    let qos = |text: &str| Config::parse(text).unwrap().qos;
    let whole = GOOD.replace("fast = \"asic\"\npolicy = { share = 0.5 }", "");
    for text in [&whole, GOOD, &GOOD.replace("\"asic\"", "\"xdp\"")] {
        let qos = qos(text);
        assert!(qos.shapes());
        assert_eq!(qos.defines(), [("SHAPE".to_owned(), "1".to_owned())]);
        assert_eq!(qos.limits(8).map(|limits| limits.nodes), Some(8));
    }
    let police = format!("{whole}[qos]\nmode = \"police\"\n");
    let own_program = format!("program = \"own.p4\"\n{whole}");
    for text in [&police, &own_program] {
        let qos = qos(text);
        assert!(!qos.shapes() && qos.defines().is_empty() && qos.limits(8).is_none(), "{text}");
        assert_eq!(qos.policing().burst_ms, 250);
    }
    assert!(qos(&format!("{own_program}[qos]\nmode = \"shape\"\n")).shapes());
    let error = Config::parse(&format!("{whole}[qos]\ntarget_ms = 1001\n")).unwrap_err();
    assert!(error.contains("qos.target_ms = 1001: expected 1 to 1000 milliseconds"), "{error}");
    assert_eq!(qos(&format!("{whole}[qos]\npackets = 1000\n")).limits(8).map(|limits| limits.packets), Some(1000));
}

#[test]
fn a_tun_device_that_is_made_fits_the_tunnels_of_all_other_ports() {
    let fits = |mtu: &str| {
        let n3 = format!("driver = \"udp\"\nlisten = \"10.3.0.1:2152\"\n{mtu}");
        let text = GOOD.replace("interface = \"eth0\"", &n3).replace("interface = \"eth1\"", "driver = \"tun\"\ninterface = \"n6\"");
        let text = text.replace("[[route]]\nnetwork_instance = \"internet\"\nprefix = \"0.0.0.0/0\"\nvia = \"10.6.0.2\"\n", "");
        longest_user_packet(&Config::parse(&text).unwrap().ports)
    };
    assert_eq!(["mtu = 1500", "mtu = 1400", "mtu = 1544", "mtu = 9000", ""].map(fits), [Some(1456), Some(1356), None, None, None]);
}

#[test]
fn users_reach_a_machine_by_a_tun_device_alone() {
    let error = Config::parse(&GOOD.replace("interface = \"eth1\"", "interface = \"eth1\"\nreachable = [\"10.6.0.1/32\"]")).unwrap_err();
    assert!(error.contains("port[1].reachable = [\"10.6.0.1/32\"]: only for driver \"tun\""), "{error}");
}

/// Ports of that file, the second with a rate.
fn with_queues(blocks: &str) -> Result<Config, String> {
    Config::parse(&format!("{}\n{blocks}", GOOD.replace("role = \"core\"", "role = \"core\"\nrate_kbps = 1000000")))
}

#[test]
fn queues_of_a_port_with_a_rate_are_served_and_filled_as_the_file_says() {
    use shaper::Service;
    let text = "[[queue]]\nnumber = 7\nstrict = true\nqfi = [5]\ndscp = [46, 48]\nqueue_ms = 10\n[[queue]]\nnumber = 2\nweight = 4\ndscp = [10]\n\
                [[queue]]\nnumber = 0\nweight = 2\n";
    let config = with_queues(text).unwrap();
    assert!(config.port_queues(&config.ports[0]).is_none());
    let (port, fill) = config.port_queues(&config.ports[1]).unwrap();
    assert_eq!(port.rate, 125_000_000);
    let services: Vec<Service> = port.queues.iter().map(|queue| queue.service).collect();
    let weighted = Service::Weighted;
    assert_eq!(services, [weighted(2), weighted(1), weighted(4), weighted(1), weighted(1), weighted(1), weighted(1), Service::Strict]);
    assert_eq!((port.queues[7].delay_ns, port.queues[0].delay_ns), (10_000_000, 50_000_000));
    assert_eq!([fill.qfi[5], fill.qfi[6], fill.dscp[46], fill.dscp[48], fill.dscp[10], fill.dscp[0]], [7, 0, 7, 7, 2, 0]);

    let ipv4 = |tos: u8, protocol: u8, payload: &[u8]| {
        let mut frame = vec![8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0];
        let begin = frame.len();
        frame.extend([0x45, tos, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame[begin + 2..begin + 4].copy_from_slice(&((20 + payload.len()) as u16).to_be_bytes());
        let sum = wire::checksum::finish(wire::checksum::sum(&frame[begin..]));
        frame[begin + 10..begin + 12].copy_from_slice(&sum.to_be_bytes());
        frame.extend(payload);
        frame
    };
    let of_flow = |qfi: u8| {
        let mut tunnel = Vec::new();
        let container = wire::gtpu::SessionContainer::Downlink { qfi, rqi: false, ppi: None };
        wire::gtpu::Repr::g_pdu(1, Some(container), &[0x45; 40]).emit(&mut tunnel);
        let udp = [&2152u16.to_be_bytes()[..], &2152u16.to_be_bytes(), &(8 + tunnel.len() as u16).to_be_bytes(), &[0, 0], &tunnel].concat();
        ipv4(10 << 2, 17, &udp)
    };
    // The QoS flow counts before the tunnel's DSCP, and ECN is none of it.
    let frames = [ipv4(46 << 2, 6, &[1; 40]), ipv4(10 << 2 | 1, 6, &[1; 40]), of_flow(5), of_flow(6), ipv4(0, 6, &[1; 40]), vec![0; 60]];
    assert_eq!(frames.map(|frame| engine::Fill::queue(&fill, &frame)), [7, 2, 7, 2, 0, 0]);
}

#[test]
fn faults_of_queues_are_named() {
    for (blocks, expected) in [
        ("[[queue]]\nnumber = 8\n", "queue[0].number = 8: expected 0 to 7"),
        ("[[queue]]\nnumber = 1\n[[queue]]\nnumber = 1\n", "queue[1].number = 1: expected a number of its own: queue[0] has it"),
        ("[[queue]]\nnumber = 1\nstrict = true\nweight = 2\n", "queue[0].weight = 2: a strict queue has none"),
        ("[[queue]]\nnumber = 1\nweight = 0\n", "queue[0].weight = 0: expected 1 to 1000"),
        ("[[queue]]\nnumber = 1\nqueue_ms = 0\n", "queue[0].queue_ms = 0: expected 1 to 1000 milliseconds"),
        ("[[queue]]\nnumber = 1\nqfi = [0]\n", "queue[0].qfi[0]"),
        ("[[queue]]\nnumber = 1\ndscp = [64]\n", "queue[0].dscp[0]"),
        ("[[queue]]\nnumber = 0\ndscp = [1]\n", "queue 0 takes what no other does"),
        ("[[queue]]\nnumber = 1\nqfi = [5]\n[[queue]]\nnumber = 2\nqfi = [5]\n", "expected in one queue only: queue[0] has it"),
        ("[[class]]\nqueue = 8\n", "class[0].queue = 8: expected 0 to 7"),
        ("[[slice]]\nweight = 2\n", "slice[0].s_nssai is missing: expected `s_nssai`, `network_instance` or both"),
        ("[[slice]]\ns_nssai = \"1-2\"\n", "slice[0].s_nssai = \"1-2\": expected a type with or without a differentiator"),
        ("[[slice]]\ns_nssai = \"1\"\nweight = 0\n", "slice[0].weight = 0: expected 1 to 1000"),
        ("[[slice]]\ns_nssai = \"1\"\nrate_kbps = 0\n", "slice[0].rate_kbps = 0: expected 1 to"),
        ("[[share]]\nqfi = [1]\n", "share[0].weight is missing: expected either `weight` or `kbps_per_weight`"),
        ("[[share]]\nweight = 2\nkbps_per_weight = 10\n", "share[0].weight = 2: expected either `weight` or `kbps_per_weight`"),
        ("[[share]]\nweight = 1001\n", "share[0].weight = 1001: expected 1 to 1000"),
        ("[[share]]\nkbps_per_weight = 0\n", "share[0].kbps_per_weight = 0: expected 1 to"),
        ("[[share]]\ns_nssai = \"x\"\nweight = 1\n", "share[0].s_nssai = \"x\": expected a type with or without a differentiator"),
        ("[[share]]\nqfi = [64]\nweight = 1\n", "share[0].qfi[0]"),
        ("[[share]]\ndnn = \"a\"\nweight = 1\n", "share[0].dnn"),
        ("[workers]\ncount = 2\n", "cannot be combined with several workers and steering = \"software\""),
    ] {
        let error = with_queues(blocks).unwrap_err();
        assert!(error.contains(expected), "{blocks}: {error}");
    }
    let xdp = GOOD.replace("role = \"core\"", "role = \"core\"\nrate_kbps = 5").replace("\"asic\"", "\"xdp\"");
    let error = Config::parse(&xdp).unwrap_err();
    assert!(error.contains("port[1].rate_kbps = 5: cannot be combined with split.fast = \"xdp\""), "{error}");
    // By this port XDP does not send.
    assert!(Config::parse(&xdp.replace("rate_kbps", "driver = \"af_packet\"\nrate_kbps")).unwrap().has_queues());
}

#[test]
fn what_the_fast_target_runs_leaves_by_another_port_of_the_same_role() {
    let bulk = GOOD.replace("[[route]]", "[[port]]\nname = \"bulk\"\ninterface = \"eth2\"\nrole = \"access\"\nnetwork_instance = \"bulk\"\naddresses = [\"10.4.0.1/24\"]\n[[route]]");
    let text = bulk.replace("[split]", "[split]\negress = { access = \"bulk\" }");
    assert_eq!(Config::parse(&text).unwrap().split.egress.into_iter().collect::<Vec<_>>(), [("access".to_owned(), "bulk".to_owned())]);
    let kept = text.replace("\"asic\"", "\"xdp\"\nkeep = \"/sys/fs/bpf/upf\"").replace("[split]", "[n4.store]\npath = \"/s\"\n[split]");
    let error = Config::parse(&kept).unwrap_err();
    assert!(error.contains("split.egress.access = \"bulk\": not with split.keep"), "{error}");
}

#[test]
fn devices_of_dpdk_are_read_and_are_each_one_ports() {
    let text = GOOD.replace("interface = \"eth1\"", "driver = \"dpdk\"\ndevice = \"0000:01:00.0\"\nmtu = 1600");
    let text = text.replace("interface = \"eth0\"", "driver = \"dpdk\"\ndevice = \"net_memif0,role=server,socket=/run/n3.sock\"");
    let text = format!("{text}\n[dpdk]\nhuge_pages = false\neal_args = [\"--iova-mode=va\"]\n");
    let c = Config::parse(&text).unwrap();
    assert_eq!((c.ports[1].driver, c.ports[1].mtu, c.dpdk.huge_pages, c.dpdk.memory_mib), (Driver::Dpdk, Some(1600), Some(false), 256));
    let error = Config::parse(&text.replace("0000:01:00.0", "net_memif0,role=client")).unwrap_err();
    assert!(error.contains("device `net_memif0` is there twice"), "{error}");
}

#[test]
fn xdp_needs_an_interface_that_it_can_run_on() {
    let text = GOOD.replace("\"asic\"", "\"xdp\"");
    assert_eq!(Config::parse(&text).unwrap().split.fast, Some(FastTarget::Xdp));
    let text = text.replace("interface = ", "driver = \"af_packet\"\ninterface = ");
    assert_eq!(Config::parse(&text).unwrap_err(), "line 24: split.fast = \"xdp\": no port has driver \"auto\" or \"af_xdp\"");
}

const CIPHER: &str =
    "[[service]]\nname = \"cipher\"\nplace = { process = \"/run/splitplane/cipher.sock\" }\nstart = true\nkey_file = \"keys\"\n";
const BUFFER: &str = r#"[[service]]
name = "buffer"
place = { threads = 2 }
bearers = 16
packets = 1000
[[service.bearer]]
number = 3
sn_bits = 18
window = 512
poll_retransmit_ms = 45
poll_pdu = 4
max_retransmissions = 8
"#;

#[test]
fn services_are_read_with_their_places_and_settings() {
    let c = Config::parse(&format!("{GOOD}{CIPHER}{BUFFER}[[service]]\nname = \"resubmit\"\ninterval_ms = 20\n")).unwrap();
    let places: Vec<String> = c.services.iter().map(|service| service.place.to_service().to_string()).collect();
    assert_eq!(places, ["process:/run/splitplane/cipher.sock", "threads:2", "lane"]);
    let bearers = c.services[1].bearers();
    assert_eq!((bearers.len(), bearers[0].0, bearers[0].1[0]), (1, 3, 18));
    assert!((buffer::service::INTERFACE.check_setting)(3, Some(&bearers[0].1)).is_ok());
    assert!(c.services[0].start && c.services[2].sizes().number("interval_ms") == 20 && c.services[2].sizes().number("attempts") == 8);
}

const RADIO_BEARER: &str = r#"[[service]]
name = "radio_bearer"
place = { threads = 2 }
bearers = 16
[[service.radio_bearer]]
number = 3
rlc = "am"
rlc_sn_bits = 12
reassembly_ms = 35
status_prohibit_ms = 5
pdcp_sn_bits = 18
integrity = true
[[service.radio_bearer]]
number = 4
rlc = "tm"
pdcp_sn_bits = 12
"#;

#[test]
fn bearers_of_the_radio_are_read_with_their_defaults_and_faults_are_named() {
    let good = format!("{GOOD}{RADIO_BEARER}");
    let c = Config::parse(&good).unwrap();
    let bearers = c.services[0].bearers();
    assert_eq!(bearers.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [3, 4]);
    // Mode, bits of RLC and of PDCP, flags, and the window: half of RLC's numbers.
    assert_eq!(bearers[0].1[..8], [2, 12, 18, 1, 0, 0, 8, 0]);
    assert_eq!(bearers[1].1[..4], [0, 0, 12, 0]);
    for (number, value) in &bearers {
        assert!((radio_bearer::INTERFACE.check_setting)(*number, Some(value)).is_ok());
    }
    for (from, to, message) in [
        ("bearers = 16", "bearers = 3", "service[0].radio_bearer[0].number = 3: expected a number below 3, the service's `bearers`"),
        ("number = 4", "number = 3", "service[0].radio_bearer[1].number = 3: expected a unique number"),
        ("bearers = 16", "packets = 16", "service[0].packets = 16: only for service buffer, resubmit and shaper"),
        ("rlc_sn_bits = 12", "rlc_sn_bits = 6", "service[0].radio_bearer[0].rlc_sn_bits = 6: expected 12 or 18"),
        ("rlc_sn_bits = 12", "", "service[0].radio_bearer[0].rlc_sn_bits is missing: missing, and needed with this `rlc`"),
        ("rlc = \"am\"", "rlc = \"um\"", "service[0].radio_bearer[0].status_prohibit_ms = 5: not used with this `rlc`: leave it out"),
        ("pdcp_sn_bits = 18", "pdcp_sn_bits = 17", "service[0].radio_bearer[0].pdcp_sn_bits = 17: expected 12 or 18"),
        ("integrity = true", "window = 2049", "service[0].radio_bearer[0].window = 2049: expected 1 to AM_Window_Size"),
        ("integrity = true", "bytes = 100", "service[0].radio_bearer[0].bytes = 100: expected room for one SDU"),
        ("reassembly_ms = 35", "reassembly_ms = 5000", "service[0].radio_bearer[0].reassembly_ms = 5000: expected at most 4 s"),
        ("integrity = true", "reordering_ms = 5000", "service[0].radio_bearer[0].reordering_ms = 5000: expected at most 3 s"),
        ("name = \"radio_bearer\"", "name = \"cipher\"", "service[0].bearers = 16: only for service buffer and radio_bearer"),
        ("name = \"radio_bearer\"", "name = \"buffer\"", "service[0].radio_bearer[0].number = 3: only for service radio_bearer"),
    ] {
        assert!(good.contains(from), "{from}");
        let error = Config::parse(&good.replacen(from, to, 1)).unwrap_err();
        assert!(error.contains(message) && !error.contains('\n'), "{to}: {error}");
    }
}

const SHAPER: &str = r#"[[service]]
name = "shaper"
queues = 16
queue_ms = 50
[[service.queue]]
number = 3
rate_kbps = 10000
[[service.queue]]
number = 4
rate_kbps = 8
burst_bytes = 1500
"#;

#[test]
fn queues_of_the_shaper_are_read_with_their_defaults_and_faults_are_named() {
    let good = format!("{GOOD}{SHAPER}");
    let c = Config::parse(&good).unwrap();
    let queues = c.services[0].bearers();
    let setting = |rate, burst| shaper::service::queue_setting(&shaper::service::QueueConfig { rate, burst });
    assert_eq!(
        queues.iter().map(|(number, value)| (*number, value.to_vec())).collect::<Vec<_>>(),
        [(3, setting(1_250_000, 16_384)), (4, setting(1000, 1500))]
    );
    assert_eq!((c.services[0].sizes().number("queue_ms"), c.services[0].sizes().number("target_ms")), (50, 10));
    for (from, to, message) in [
        ("queues = 16", "queues = 3", "service[0].queue[0].number = 3: expected a number below 3, the service's `queues`"),
        ("number = 4", "number = 3", "service[0].queue[1].number = 3: expected a unique number"),
        ("queue_ms = 50", "queue_ms = 0", "service[0].queue_ms = 0: expected 1 to 1000"),
        ("queue_ms = 50", "bytes = 50", "service[0].bytes = 50: only for service buffer and resubmit"),
        ("rate_kbps = 8\n", "rate_kbps = 0\n", "service[0].queue[1].rate_kbps = 0: expected 1 to 1000000000"),
        ("burst_bytes = 1500", "burst_bytes = 0", "service[0].queue[1].burst_bytes = 0: expected 1 to 1073741824"),
        ("rate_kbps = 10000\n", "", "service[0].queue[0].rate_kbps is missing: required"),
        ("name = \"shaper\"", "name = \"buffer\"", "service[0].queues = 16: only for service shaper"),
        ("name = \"shaper\"\nqueues = 16\nqueue_ms = 50", "name = \"buffer\"", "service[0].queue[0].number = 3: only for service shaper"),
    ] {
        assert!(good.contains(from), "{from}");
        let error = Config::parse(&good.replacen(from, to, 1)).unwrap_err();
        assert!(error.contains(message) && !error.contains('\n'), "{to}: {error}");
    }
}

#[test]
fn faults_of_services_are_named() {
    let good = format!("{GOOD}{CIPHER}{BUFFER}");
    for (from, to, message) in [
        ("\"buffer\"", "\"bufer\"", "service[1].name = \"bufer\": expected one of \"buffer\", \"resubmit\", \"cipher\""),
        ("name = \"buffer\"", "name = \"cipher\"", "service[1].name = \"cipher\": expected a unique name: service[0] has it"),
        ("name = \"buffer\"\n", "", "service[1].name is missing: required"),
        ("{ threads = 2 }", "{ threads = 0 }", "service[1].place.threads = 0: expected 1 to 64 threads"),
        ("{ threads = 2 }", "{ threads = -2 }", "service[1].place: expected \"lane\", { threads = NUMBER } or { process = PATH }"),
        ("{ threads = 2 }", "\"line\"", "service[1].place = \"line\": expected \"lane\", { threads = NUMBER } or { process = PATH }"),
        ("{ threads = 2 }", "3", "service[1].place = 3: expected \"lane\", { threads = NUMBER } or { process = PATH }"),
        ("{ threads = 2 }", "{ process = \"cipher.sock\" }", "service[1].place.process = \"cipher.sock\": expected an absolute path"),
        ("{ threads = 2 }", "{ process = \"/run/splitplane/cipher.sock\" }", "expected a socket of its own: service[0] has this one"),
        (
            "{ threads = 2 }",
            "{ process = \"/run/b.sock\" }",
            "service[1].bearers = 16: a process that the daemon does not start has its sizes",
        ),
        ("{ threads = 2 }", "{ threads = 2 }\nstart = true", "service[1].start = true: only for place = { process = PATH }"),
        (
            "[[service]]\nname = \"buffer\"\nplace = { threads = 2 }",
            "[workers]\ncount = 2\n[[service]]\nname = \"buffer\"\nplace = \"lane\"",
            "service[1].place = \"lane\": with more than one worker the buffer service runs",
        ),
        ("bearers = 16", "bearers = 0", "service[1].bearers = 0: expected 1 to 1048576"),
        ("bearers = 16", "bearers = 3", "service[1].bearer[0].number = 3: expected a number below 3, the service's `bearers`"),
        ("bearers = 16", "attempts = 16", "service[1].attempts = 16: only for service resubmit"),
        ("bearers = 16", "key_file = \"keys\"", "service[1].key_file = \"keys\": only for service cipher"),
        ("bearers = 16", "bearer_count = 16", "service[1].bearer_count = 16: unknown key: expected one of"),
        (
            "key_file = \"keys\"\n",
            "[[service.bearer]]\nnumber = 1\nsn_bits = 12\nwindow = 1\npoll_retransmit_ms = 1\nmax_retransmissions = 1\n",
            "service[0].bearer[0].number = 1: only for service buffer",
        ),
        ("sn_bits = 18", "sn_bits = 6", "service[1].bearer[0].sn_bits = 6: expected 12 or 18"),
        ("window = 512", "window = 0", "service[1].bearer[0].window = 0: expected 1 to AM_Window_Size"),
        ("window = 512", "", "service[1].bearer[0].window is missing: required"),
        ("poll_retransmit_ms = 45", "poll_retransmit_ms = 5000", "service[1].bearer[0].poll_retransmit_ms = 5000: expected 1 to 4000"),
        ("poll_pdu = 4", "poll_byte = 0", "service[1].bearer[0].poll_byte = 0: expected 1 or more"),
        ("max_retransmissions = 8", "max_retransmissions = 0", "service[1].bearer[0].max_retransmissions = 0: expected 1 or more"),
    ] {
        assert!(good.contains(from), "{from}");
        let error = Config::parse(&good.replace(from, to)).unwrap_err();
        assert!(error.contains(message) && !error.contains('\n'), "{to}: {error}");
    }
}

/// Each fault gives one line that names the key.
#[test]
fn faults_are_named() {
    for (from, to, message) in [
        ("10.3.0.1/24", "10.3.0.1/33", "port[0].addresses = [\"10.3.0.1/33\"]: expected an address with a prefix length"),
        (
            "gtpu = [\"10.3.0.1\"]",
            "gtpu = [\"10.3.0.9\"]",
            "line 10: port[0].gtpu[0] = \"10.3.0.9\": expected one of the port's `addresses`",
        ),
        ("role = \"core\"", "role = \"access\"", "port: expected at least one [[port]] of role \"core\""),
        ("interface = \"eth1\"", "", "line 11: port[1].interface is missing: expected the name of a kernel interface"),
        ("name = \"n6\"", "name = \"n3\"", "port[1].name = \"n3\": expected a unique name: port[0] has it"),
        (
            "network_instance = \"internet\"\nprefix",
            "network_instance = \"none\"\nprefix",
            "route[0].network_instance = \"none\": expected the network_instance of a port",
        ),
        (
            "via = \"10.6.0.2\"",
            "via = \"2001:db8::1\"",
            "route[0].via = \"2001:db8::1\": expected an address of the same IP version as `prefix`",
        ),
        ("share = 0.5", "share = 1.5", "split.policy: share 1.5"),
        ("role = \"core\"", "role = \"core\"\nvxlan = true", "port[1].vxlan = true: needs a [vxlan] section"),
        ("127.0.0.1:8805", "0.0.0.0:8805", "line 3: n4.listen = \"0.0.0.0:8805\": expected one address of this machine"),
        ("listen = ", "node_id = \"a..b\"\nlisten = ", "n4.node_id = \"a..b\": expected an IP address or a domain name"),
        ("listen = ", "max_sessions = 0\nlisten = ", "n4.max_sessions = 0: expected 1 or more"),
        ("listen = ", "max_sessions_per_peer = 0\nlisten = ", "n4.max_sessions_per_peer = 0: expected 1 or more"),
        ("listen = ", "messages_per_second = -1\nlisten = ", "n4.messages_per_second = -1: expected a whole number"),
        ("listen = ", "peers = []\nlisten = ", "n4.peers = []: expected at least one peer"),
        ("listen = ", "peers = [\"smf\"]\nlisten = ", "expected an address or a network, such as"),
        ("interface = \"eth1\"", "interface = \"eth0\"", "port[1].interface = \"eth0\": expected an unused interface"),
        ("fast = \"asic\"", "", "needs split.fast"),
        (
            "fast = \"asic\"",
            "fast = \"asic\"\negress = { access = \"internet\" }",
            "split.egress.access = \"internet\": expected the network_instance of another port of the same role",
        ),
        ("fast = \"asic\"", "fast = \"asic\"\negress = { access = \"Access\" }", "split.egress.access = \"Access\": expected the network_"),
        ("fast = \"asic\"", "fast = \"asic\"\negress = { bulk = \"access\" }", "split.egress.bulk = \"access\": expected the network_"),
        ("fast = \"asic\"\npolicy = { share = 0.5 }", "egress = { access = \"bulk\" }", "split.egress.access = \"bulk\": needs split.fast"),
        ("fast = \"asic\"", "fast = \"asic\"\nrates = \"cells\"", "split.rates = \"cells\": only for split.policy = \"planned\""),
        ("fast = \"asic\"", "fast = \"xdp\"\nchip = \"tofino1\"", "split.chip = \"tofino1\": only for split.fast = \"asic\""),
        ("[split]", "[split]\nkeep = \"/sys/fs/bpf/upf\"", "split.keep = \"/sys/fs/bpf/upf\": only for split.fast = \"xdp\""),
        ("fast = \"asic\"", "fast = \"xdp\"\nkeep = \"/sys/fs/bpf/upf\"", "split.keep = \"/sys/fs/bpf/upf\": needs [n4.store]"),
        (
            "[split]\nfast = \"asic\"",
            "[n4.store]\npath = \"/tmp/store\"\n[split]\nfast = \"xdp\"\nkeep = \"upf\"",
            "split.keep = \"upf\": expected a path from the root",
        ),
        (
            "[split]\nfast = \"asic\"",
            "[n4.store.shared]\nurl = \"redis://10.9.0.1\"\n[split]\nfast = \"xdp\"\nkeep = \"/upf\"",
            "split.keep = \"/upf\": not with [n4.store.shared]",
        ),
        ("[split]", "[n4.store]\non_stop = \"keep\"\n[split]", "n4.store.path is missing: expected a folder, or a server"),
        (
            "[split]",
            "[n4.store]\npath = \"/s\"\nshared.url = \"redis://h\"\n[split]",
            "n4.store.path = \"/s\": expected a folder or a server",
        ),
        (
            "[split]",
            "[n4.store]\nsurvives = \"crash\"\nshared.url = \"redis://h\"\n[split]",
            "n4.store.survives = \"crash\": it is for files",
        ),
        (
            "[split]",
            "[n4.store.shared]\nurl = \"rediss://u:secret@h\"\n[split]",
            "n4.store.shared: `url`: TLS to the store is not supported",
        ),
        ("[split]", "[n4.store.shared]\nurl = \"http://u:secret@h\"\n[split]", "n4.store.shared: `url`: "),
        ("[split]", "[n4.store]\nurl = \"redis://u:secret@h\"\n[split]", "n4.store.url: unknown key"),
        ("[split]", "[n4.store]\nshared = \"redis://u:secret@h\"\n[split]", "n4.store.shared: "),
        ("[split]", "[n4.store.shared]\nuri = \"redis://u:secret@h\"\n[split]", "n4.store.shared.uri: unknown key"),
        ("[split]", "[n4.store.shared]\nurl = \"redis://h\"\nname = \"a{b}\"\n[split]", "n4.store.shared: expected a `name` of 1 to 64"),
        (
            "[split]",
            "[n4.store.shared]\nurl = \"redis://h\"\nlease_ms = 10\n[split]",
            "n4.store.shared.lease_ms = 10: expected 200 to 60000",
        ),
        ("fast = \"asic\"", "fast = \"fpga\"", "split.fast = \"fpga\": expected \"asic\" or \"xdp\""),
        ("fast = \"asic\"\npolicy = { share = 0.5 }", "fast = \"xdp\"\npolicy = { dscps = [46] }", "`dscps` needs split.fast"),
        ("listen = ", "lisen = ", "line 3: n4.lisen = \"127.0.0.1:8805\": unknown key: expected one of"),
        ("role = \"core\"", "role = \"core\"\nmac = \"1:2\"", "port[1].mac = \"1:2\": expected a MAC address, such as"),
        (
            "[split]",
            "[[class]]\nqueue = 3\n[split]",
            "class[0].queue = 3: no port has `rate_kbps`, and packets wait for no other: give it to one, or remove the key",
        ),
        ("[split]", "[[queue]]\nnumber = 3\n[split]", "queue[0].number = 3: no port has `rate_kbps`, and packets wait for no other"),
        (
            "[split]",
            "[[slice]]\nnetwork_instance = \"internet\"\n[split]",
            "slice[0].network_instance = \"internet\": no port has `rate_kbps`, and slices share nothing else",
        ),
        ("[split]", "[[share]]\nweight = 2\n[split]", "share[0].weight = 2: no port has `rate_kbps`, and sessions share nothing else"),
        ("role = \"core\"", "role = \"core\"\nrate_kbps = 0", "port[1].rate_kbps = 0: expected 1 to 10000000000 kbit/s"),
        ("[split]", "[[class]]\nrate_bps = 1000000\n[split]", "class[0].rate_bps = 1000000: cannot be combined with split.fast"),
        ("interface = \"eth1\"", "driver = \"dpdk\"", "port[1].device is missing: driver \"dpdk\" needs"),
        ("interface = \"eth1\"", "driver = \"dpdk\"\ninterface = \"eth1\"", "port[1].interface = \"eth1\": driver \"dpdk\" takes `device`"),
        (
            "interface = \"eth1\"",
            "driver = \"dpdk\"\ndevice = \"--help\"",
            "port[1].device = \"--help\": device `--help`: neither a PCI address",
        ),
        ("interface = \"eth1\"", "driver = \"dpdk\"\ndevice = \"net_null0,size=64 --vdev=x\"", "port[1].device = \"net_null0,size=64"),
        ("interface = \"eth1\"", "interface = \"eth1\"\ndriver = \"af_xdp\"\ngso = false", "port[1].gso"),
        ("interface = \"eth1\"", "interface = \"eth1\"\nmtu = 1500", "port[1].mtu = 1500: only for drivers \"dpdk\", \"tun\""),
        ("[split]", "[dpdk]\neal_args = [\"--vdev=net_null0\"]\n[split]", "dpdk: eal_args: `--vdev=net_null0`"),
        ("[split]", "[dpdk]\nmemory_mib = 0\n[split]", "dpdk: memory_mib 0"),
        ("[split]", "[dpdk]\nhuge = true\n[split]", "dpdk.huge = true: unknown key"),
        ("[split]", "[qos]\nmode = \"police\"\nqueue_ms = 5\n[split]", "qos.queue_ms = 5: expected only where packets wait: not with mode"),
        (
            "[split]",
            "[qos]\nmode = \"police\"\ntarget_ms = 5\n[split]",
            "qos.target_ms = 5: expected only where packets wait: not with mode",
        ),
        ("[split]", "[qos]\npackets = 0\n[split]", "qos.packets = 0: expected 1 to 16777216 packets"),
        ("[split]", "[qos]\nqueue_ms = 0\n[split]", "qos.queue_ms = 0: expected 1 to 1000 milliseconds"),
        ("[split]", "[qos]\nburst_ms = 0\n[split]", "qos.burst_ms = 0: expected 1 to 60000 milliseconds"),
        ("[split]", "[workers]\ncount = 0\n[split]", "workers.count = 0: expected 1 to 64"),
        ("[split]", "[workers]\ncount = 2\nmax = 1\n[split]", "workers.max = 1: expected min <= count <= max: they are 2, 2 and 1"),
        ("[split]", "[workers]\nmax = 65\n[split]", "workers.max = 65: expected 1 to 64"),
        ("[split]", "[workers]\nsteering = \"port\"\nmax = 2\n[split]", "workers.max = 2: the number of workers changes only with"),
        (
            "[split]",
            "[[port]]\nname = \"x\"\ndriver = \"pcap\"\ninput = \"x\"\nrole = \"core\"\nnetwork_instance = \"y\"\n[workers]\nsteering = \"xdp\"\n[split]",
            "port[2].driver = \"pcap\": XDP cannot steer beside it",
        ),
        ("interface = \"eth0\"", "driver = \"udp\"", "port[0].listen is missing: driver \"udp\" needs"),
        ("interface = \"eth0\"", "driver = \"udp\"\nlisten = \"10.3.0.1:2153\"", "port[0].listen = \"10.3.0.1:2153\": expected port 2152"),
        ("interface = \"eth0\"", "driver = \"udp\"\nlisten = \"0.0.0.0:2152\"", "port[0].listen = \"0.0.0.0:2152\": expected one address"),
        ("interface = \"eth0\"", "driver = \"udp\"\nlisten = \"[::1]:2152\"", "port[0].listen = \"[::1]:2152\": expected an IPv4 address"),
        (
            "interface = \"eth0\"",
            "driver = \"udp\"\nlisten = \"10.3.0.9:2152\"",
            "port[0].addresses[0] = \"10.3.0.1/24\": expected the address of",
        ),
        ("interface = \"eth0\"", "interface = \"eth0\"\nlisten = \"10.3.0.1:2152\"", "port[0].listen = \"10.3.0.1:2152\": only for driver"),
        ("interface = \"eth0\"", "driver = \"tun\"\ninterface = \"eth0\"", "port[0].role = \"access\": expected \"core\""),
        ("interface = \"eth1\"", "driver = \"udp\"\nlisten = \"10.6.0.1:2152\"", "port[1].role = \"core\": expected \"access\""),
        ("interface = \"eth1\"", "driver = \"tun\"", "port[1].interface is missing: expected the name of a TUN device"),
        ("interface = \"eth1\"", "driver = \"tun\"\ninterface = \"a-name-of-sixteen\"", "expected the name of a TUN device, 1 to 15"),
        ("role = \"access\"", "role = \"cp\"", "expected at least one [[port]] of role \"access\""),
        ("role = \"core\"", "role = \"core\"\ngtpu = [\"10.6.0.1\"]", "port[1].gtpu = [\"10.6.0.1\"]: only for ports of role"),
        (
            "[split]",
            "[[port]]\nname = \"a\"\ndriver = \"udp\"\nlisten = \"127.0.0.1:2152\"\nrole = \"access\"\nnetwork_instance = \"y\"\n\
             [[port]]\nname = \"b\"\ndriver = \"udp\"\nlisten = \"127.0.0.2:2152\"\nrole = \"cp\"\nnetwork_instance = \"Y\"\n[split]",
            "port[3].network_instance = \"Y\": expected another network instance: the kernel already routes for port[2]",
        ),
        ("10.6.0.1/24", "10.3.0.1/24", "port[1].addresses[0] = \"10.3.0.1/24\": expected a unique address: port[0] has it too"),
        (
            "prefix = \"0.0.0.0/0\"",
            "prefix = \"10.9.0.1/16\"",
            "route[0].prefix = \"10.9.0.1/16\": expected a network without host bits: 10.9.0.0/16",
        ),
        ("share = 0.5", "ues = [\"10.45.0.1/16\"]", "split.policy.ues[0] = \"10.45.0.1/16\": expected a network"),
        ("fast = \"asic\"", "fast = \"asic\"\ncapacity = 0", "split.capacity = 0: expected 1 or more"),
        (
            "[split]",
            "[[pool]]\nnetwork_instance = \"nowhere\"\nipv4 = \"10.45.0.0/16\"\n[split]",
            "pool[0].network_instance = \"nowhere\": expected",
        ),
        (
            "[split]",
            "[[pool]]\nipv4 = \"10.45.0.0/16\"\n[[pool]]\nipv4 = \"10.45.128.0/17\"\n[split]",
            "pool[1].ipv4 = \"10.45.128.0/17\": expected a network that overlaps no other: pool[0] overlaps it",
        ),
        ("[split]", "[[pool]]\nipv4 = \"10.45.3.0/16\"\n[split]", "pool[0].ipv4 = \"10.45.3.0/16\": expected a network"),
        ("[split]", "[[pool]]\nipv4 = \"2001:db8::/48\"\n[split]", "pool[0].ipv4 = \"2001:db8::/48\": expected an IPv4 network"),
        ("[split]", "[[pool]]\nipv4 = \"0.0.0.0/0\"\n[split]", "pool[0].ipv4 = \"0.0.0.0/0\": expected a prefix length of 1 to 32"),
        ("[split]", "[[pool]]\nipv6 = \"2001:db8::/65\"\n[split]", "pool[0].ipv6 = \"2001:db8::/65\": expected a prefix length of 1 to 64"),
        ("[split]", "[[firewall]]\naction = \"deny\"\nto = \"10.0.0.1/8\"\n[split]", "firewall[0].to = \"10.0.0.1/8\": expected a network"),
        ("listen = ", "max_sessions = \"many\"\nlisten = ", "line 3: n4.max_sessions = \"many\": expected a whole number, 0 or more"),
        ("listen = ", "max_sessions = -1\nlisten = ", "n4.max_sessions = -1: expected a whole number, 0 or more"),
        ("listen = \"127.0.0.1:8805\"", "", "n4.listen is missing: required"),
        ("127.0.0.1:8805", "127.0.0.1", "n4.listen = \"127.0.0.1\": expected an address and port, such as"),
        ("via = \"10.6.0.2\"", "via = \"router\"", "route[0].via = \"router\": expected an IP address, such as"),
        ("fast = \"asic\"", "fast = \"asic\"\nheavy = 3", "split.heavy = 3: expected \"none\" or"),
        ("[n4]", "[n4", "line 2: no TOML: "),
        ("[split]", "[engine]\nworkers = 2\n[split]", "engine.workers = 2: unknown key"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let error = Config::parse(&GOOD.replace(from, to)).unwrap_err();
        assert!(error.contains(message) && !error.contains('\n'), "{to}: {error}");
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn an_http_server_beyond_loopback_needs_a_token() {
    let api = |text: &str| Config::parse(&format!("{GOOD}\n[api]\n{text}\n")).map(drop);
    for good in ["", "listen = \"127.0.0.1:9090\"", "listen = \"[::1]:9090\"", "listen = \"192.0.2.1:9090\"\ntoken_file = \"token\""] {
        assert_eq!(api(good), Ok(()), "{good}");
    }
    for (text, message) in [
        ("listen = \"192.0.2.1:9090\"", "expected a loopback address, such as 127.0.0.1:9090, or `api.token_file` with it"),
        ("listen = \"0.0.0.0:9090\"", "api.listen"),
        ("token_file = \"token\"", "expected `api.listen` with it"),
        ("requests_per_s = 0", "expected 1 or more"),
        ("listen = \"127.0.0.1\"", "api.listen"),
        ("port = 9090", "port"),
    ] {
        let error = api(text).unwrap_err();
        assert!(error.contains(message), "{text}: {error}");
    }
}

/// Files of both kinds with bytes changed, cut, doubled and mixed: each is read, or refused with a line that fits a log.
#[test]
fn hostile_files_are_read_or_refused_in_one_line() {
    use rand::Rng;
    let seeds = [GOOD, include_str!("../../../../../docs/split.example.toml"), include_str!("../../../../../docs/ceupf.example.toml")];
    let mut rng = testkit::rng(12);
    let (mut good, mut refused) = (0, 0);
    for round in 0..4000 {
        let mut bytes = seeds[round % seeds.len()].as_bytes().to_vec();
        for _ in 0..rng.random_range(0..4) {
            let at = rng.random_range(0..bytes.len());
            let to = rng.random_range(at..=bytes.len().min(at + 40));
            match rng.random_range(0..4) {
                0 => bytes[at] = rng.random(),
                1 => drop(bytes.drain(at..to)),
                2 => bytes.splice(at..at, bytes[at..to].to_vec()).for_each(drop),
                _ => {
                    let other = seeds[rng.random_range(0..seeds.len())].as_bytes();
                    let from = rng.random_range(0..other.len());
                    bytes.splice(at..to, other[from..].iter().take(40).copied()).for_each(drop);
                }
            }
            if bytes.is_empty() {
                bytes.push(b'#');
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let plain = Config::parse(&text).map(drop);
        let switch = crate::ceupf::Config::parse(&text).map(drop);
        for result in [plain, switch] {
            match result {
                Ok(()) => good += 1,
                Err(line) => {
                    refused += 1;
                    assert!(!line.is_empty() && line.chars().count() < 700 && !line.contains(char::is_control), "{line:?}\n{text}");
                }
            }
        }
    }
    assert!(good > 100 && refused > 1000, "{good} read, {refused} refused");
}

#[test]
fn a_sign_is_no_digit_of_a_mac_address() {
    assert_eq!(Mac::try_from("02:00:00:00:00:0a".to_owned()), Ok(Mac([2, 0, 0, 0, 0, 10])));
    for wrong in ["02:00:00:00:00:+1", "2:0:0:0:0:1", "02:00:00:00:00", "02:00:00:00:00:01:02", ""] {
        assert!(Mac::try_from(wrong.to_owned()).is_err(), "{wrong}");
    }
}

const WITHOUT_TARGETS: &str = "
[n4]
listen = \"127.0.0.1:8805\"
peers = [\"127.0.0.0/8\"]
[[port]]
name = \"n3\"
driver = \"auto\"
interface = \"n3\"
role = \"access\"
network_instance = \"access\"
addresses = [\"10.3.0.1/24\"]
gtpu = [\"10.3.0.1\"]
[[port]]
name = \"n6\"
driver = \"auto\"
interface = \"n6\"
role = \"core\"
network_instance = \"internet\"
addresses = [\"10.6.0.1/24\"]
";

/// One that is missing would ask for a compiler on a machine that has none.
#[test]
fn every_program_that_a_configuration_can_ask_for_is_compiled_ahead() {
    let mut asked = 0;
    for qos in ["", "[qos]\nmode = \"police\"\n", "[qos]\nmode = \"shape\"\n"] {
        let planned = |fast: &str| format!("[split]\nfast = \"{fast}\"\npolicy = \"planned\"\nrates = \"cells\"\n");
        let fast = |fast: &str| format!("[split]\nfast = \"{fast}\"\n");
        for split in [String::new(), fast("xdp"), fast("asic"), planned("xdp"), planned("asic")] {
            // XDP sends by no port with a rate.
            for rate in ["", "rate_kbps = 1000000\n", "driver = \"af_packet\"\nrate_kbps = 1000000\n"] {
                // Not all go together.
                let Ok(config) = Config::parse(&format!("{WITHOUT_TARGETS}{rate}{qos}{split}")) else { continue };
                let (defines, xdp) = (config.defines(), split.contains("xdp"));
                let all = p4_driver::objects::all();
                let found = all.iter().find(|a| a.program == Path::new("upf.p4") && a.defines == defines && (a.xdp || !xdp));
                assert!(found.is_some(), "{rate}{qos}{split}");
                asked += 1;
            }
        }
    }
    assert!(asked >= 12, "{asked}");
    assert!(p4_driver::objects::all().iter().any(|a| a.program == Path::new("ceupf.p4")));
}
