//! Network namespaces and veth pairs for tests. A namespace belongs to a thread and vanishes with it, interfaces and all, so
//! that nothing is left behind however a test ends.
#![allow(dead_code)]

pub(crate) mod frames;

use std::process::Command;
use std::time::{Duration, Instant};

use base::{Packet, PortId};
use pktio::Port;
pub(crate) use testkit::skip;

/// How long anything may take that does not depend on how busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// Runs `test` in a thread with a network namespace of its own, or says that it was skipped.
pub(crate) fn in_namespace(test: impl FnOnce() + Send + 'static) {
    let joined = std::thread::Builder::new()
        .name(std::thread::current().name().unwrap_or("test").to_owned())
        .spawn(move || {
            if enter_new_namespace() {
                test();
            } else {
                skip("needs root (CAP_NET_ADMIN)");
            }
        })
        .unwrap()
        .join();
    if let Err(panic) = joined {
        std::panic::resume_unwind(panic);
    }
}

/// An interface `vlan5` that tags what it sends by `name`; false if this kernel has none.
pub(crate) fn vlan5(name: &str) -> bool {
    let arguments = ["link", "add", "link", name, "name", "vlan5", "type", "vlan", "id", "5"];
    let made = Command::new("ip").args(arguments).output().unwrap().status.success();
    if made {
        ip("link set vlan5 up");
    } else {
        skip("this kernel has no VLAN interfaces");
    }
    made
}

/// Moves the calling thread into a new network namespace.
pub(crate) fn enter_new_namespace() -> bool {
    // SAFETY: changes only the calling thread's namespace; no pointers.
    let moved = unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0;
    if moved {
        ip("link set lo up");
    }
    moved
}

/// A veth pair in this namespace: both ends up, named by the process.
pub(crate) fn veth() -> (String, String) {
    veth_of("", 1)
}

/// Another one, with so many queues at each end.
pub(crate) fn veth_of(tag: &str, queues: u32) -> (String, String) {
    let id = std::process::id();
    let (a, b) = (format!("spa{tag}{id}"), format!("spb{tag}{id}"));
    let of_each = format!("numrxqueues {queues} numtxqueues {queues}");
    ip(&format!("link add {a} {of_each} type veth peer name {b} {of_each}"));
    for name in [&a, &b] {
        // No neighbour discovery between our frames.
        std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1").unwrap();
        ip(&format!("link set {name} up"));
    }
    wait_until_up(&a);
    wait_until_up(&b);
    (a, b)
}

/// Runs iproute2's `ip` in this thread's namespace.
pub(crate) fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

pub(crate) fn ip_output(arguments: &str) -> String {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Waits until the kernel has noticed that a link is up: until then its queue swallows packets.
pub(crate) fn wait_until_up(name: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !ip_output(&format!("link show {name}")).contains("state UP") {
        assert!(Instant::now() < deadline, "{name} does not come up");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn buffers(count: usize) -> Vec<Packet> {
    (0..count).map(|_| Packet::empty(0)).collect()
}

/// A frame of the local experimental EtherType (IEEE 802, 88b5), whose bytes tell which one it is.
pub(crate) fn frame(number: u32, length: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 0xbb, 2, 0, 0, 0, 0, 0xaa, 0x88, 0xb5];
    frame.extend(number.to_be_bytes());
    frame.extend((frame.len()..length).map(|i| (i as u32 ^ number.wrapping_mul(31)) as u8));
    frame
}

/// Whether a frame is one of [`frame`]'s and not the kernel's.
pub(crate) fn is_ours(packet: &Packet) -> bool {
    packet.data().get(12..14) == Some(&[0x88, 0xb5])
}

/// The frame with a VLAN tag for VLAN 5.
pub(crate) fn tagged(frame: &[u8], tpid: u16) -> Vec<u8> {
    [&frame[..12], &tpid.to_be_bytes(), &[0, 5], &frame[12..]].concat()
}

/// Receives until `wanted` packets that `accept` likes have come; fewer if they do not come at all.
pub(crate) fn collect(port: &mut dyn Port, wanted: usize, accept: impl Fn(&Packet) -> bool) -> Vec<Vec<u8>> {
    let mut packets = buffers(32);
    let mut got = Vec::new();
    let deadline = Instant::now() + PATIENCE;
    while got.len() < wanted && Instant::now() < deadline {
        let n = port.receive(&mut packets).unwrap();
        got.extend(packets[..n].iter().filter(|p| accept(p)).map(|p| p.data().to_vec()));
        if n == 0 {
            pktio::wait(&[port.fd().unwrap()], Duration::from_millis(5)).unwrap();
        }
    }
    got
}

/// Transmits all of `frames`, however many calls it takes.
pub(crate) fn send(port: &mut dyn Port, frames: &[Vec<u8>]) {
    let packets: Vec<Packet> = frames.iter().map(|frame| Packet::new(frame, PortId(0))).collect();
    let deadline = Instant::now() + PATIENCE;
    let mut sent = 0;
    while sent < packets.len() {
        assert!(Instant::now() < deadline, "{}: sent only {sent} of {}", port.name(), packets.len());
        sent += port.transmit(&packets[sent..]).unwrap();
        port.flush().unwrap();
    }
}

/// Sends thousands of frames of all lengths both ways in bursts, and compares every byte.
pub(crate) fn exchange(a: &mut dyn Port, b: &mut dyn Port, rounds: u32) {
    let mut number = 0;
    for _ in 0..rounds {
        let burst: Vec<Vec<u8>> = (0..48)
            .map(|i| {
                number += 1;
                let longest = a.max_frame().min(b.max_frame());
                let length = if i % 8 == 0 { longest } else { 18 + (number as usize * 37) % (longest - 18) };
                frame(number, length)
            })
            .collect();
        send(a, &burst);
        let got = collect(b, burst.len(), is_ours);
        assert!(got == burst, "{} to {}: got {} of {}", a.name(), b.name(), got.len(), burst.len());
        send(b, &burst);
        let got = collect(a, burst.len(), is_ours);
        assert!(got == burst, "{} to {}: got {} of {}", b.name(), a.name(), got.len(), burst.len());
    }
}

/// RFC 1071, the slow way.
pub(crate) fn sum(bytes: &[u8]) -> u16 {
    let mut sum = 0u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Whether IPv4 header and UDP or TCP checksum of an untagged frame are right.
pub(crate) fn checksums_are_right(frame: &[u8]) -> bool {
    let ip = &frame[14..];
    let header_len = usize::from(ip[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    let layer4 = &ip[header_len..total];
    let pseudo = [&ip[12..20], &[0, ip[9]], &(layer4.len() as u16).to_be_bytes(), layer4].concat();
    sum(&ip[..header_len]) == 0xffff && sum(&pseudo) == 0xffff
}

/// An address for the kernel on interface `name`, and a neighbour 10.9.0.2 behind it that is never asked for.
pub(crate) fn kernel_side(name: &str) -> std::net::UdpSocket {
    ip(&format!("address add 10.9.0.1/24 dev {name}"));
    ip(&format!("neighbour add 10.9.0.2 lladdr 02:00:00:00:00:99 dev {name}"));
    let socket = std::net::UdpSocket::bind("10.9.0.1:7000").unwrap();
    socket.connect("10.9.0.2:7001").unwrap();
    socket
}

/// A UDP frame to port 7001, as [`kernel_side`]'s socket sends.
pub(crate) fn is_kernels_udp(packet: &Packet) -> bool {
    let data = packet.data();
    data.get(12..14) == Some(&[8, 0]) && data.get(23) == Some(&17) && data.get(36..38) == Some(&7001u16.to_be_bytes())
}

/// Sends one buffer as several datagrams of `size` bytes that the kernel cuts as late as it can (UDP_SEGMENT).
pub(crate) fn send_segmented(socket: &std::net::UdpSocket, bytes: &[u8], size: u16) {
    use std::os::fd::AsRawFd;
    const UDP_SEGMENT: libc::c_int = 103;
    let size = libc::c_int::from(size);
    let pointer = (&raw const size).cast();
    // SAFETY: pointer and length describe `size`, which outlives the call.
    let set = unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_UDP, UDP_SEGMENT, pointer, 4) };
    assert_eq!(set, 0);
    assert_eq!(socket.send(bytes).unwrap(), bytes.len());
}

/// Connects two hosts, each in a namespace of its own, through two ports, and lets kernel TCP move megabytes both ways.
/// The far ends keep all their offloads.
pub(crate) fn tcp_through(open: impl Fn(&str, &str) -> Box<dyn Port>, megabytes: usize) {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::mpsc::channel;

    let id = std::process::id();
    // SAFETY: no arguments.
    let thread_id = || unsafe { libc::syscall(libc::SYS_gettid) };
    let data: Vec<u8> = (0..megabytes << 20).map(|i| (i ^ i >> 8 ^ i >> 16) as u8).collect();
    let mut hosts = Vec::new();
    let mut ports = Vec::new();
    let (done_to_us, done) = channel();
    for host in 0..2 {
        let (to_us, from_host) = channel();
        let (to_host, from_us) = channel();
        let data = data.clone();
        let done_to_us = done_to_us.clone();
        hosts.push(std::thread::spawn(move || {
            assert!(enter_new_namespace());
            to_us.send(thread_id()).unwrap();
            from_us.recv().unwrap();
            let name = format!("sph{host}x{id}");
            let (us, peer) = (host + 1, 2 - host);
            ip(&format!("link set {name} address 02:00:00:00:01:0{us}"));
            ip(&format!("link set {name} up"));
            ip(&format!("address add 10.8.0.{us}/24 dev {name}"));
            ip(&format!("neighbour add 10.8.0.{peer} lladdr 02:00:00:00:01:0{peer} dev {name}"));
            let listener = (host == 0).then(|| TcpListener::bind("10.8.0.1:5000").unwrap());
            to_us.send(0).unwrap();
            from_us.recv().unwrap();
            let mut stream = match listener {
                Some(listener) => listener.accept().unwrap().0,
                None => TcpStream::connect("10.8.0.1:5000").unwrap(),
            };
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut writer = stream.try_clone().unwrap();
            let sent = data.clone();
            let sender = std::thread::spawn(move || writer.write_all(&sent));
            let mut got = vec![0; data.len()];
            let received = stream.read_exact(&mut got);
            sender.join().unwrap().unwrap();
            received.unwrap();
            assert!(got == data, "host {host}: bytes differ");
            done_to_us.send(()).unwrap();
            // The namespace, with the kernel's unacknowledged data, must outlive the other host's reading.
            let _ = from_us.recv();
        }));
        let host_thread = from_host.recv().unwrap();
        ip(&format!("link add spp{host}x{id} type veth peer name sph{host}x{id} netns {host_thread}"));
        std::fs::write(format!("/proc/sys/net/ipv6/conf/spp{host}x{id}/disable_ipv6"), "1").unwrap();
        ip(&format!("link set spp{host}x{id} up"));
        to_host.send(()).unwrap();
        from_host.recv().unwrap();
        ports.push((open("n6", &format!("spp{host}x{id}")), to_host));
    }
    for (_, to_host) in &ports {
        to_host.send(()).unwrap();
    }
    let mut packets = buffers(64);
    let deadline = Instant::now() + PATIENCE;
    let mut finished = 0;
    let mut longest = 0;
    while finished < 2 {
        assert!(Instant::now() < deadline, "TCP did not finish");
        for from in 0..2 {
            let n = ports[from].0.receive(&mut packets).unwrap();
            longest = packets[..n].iter().map(Packet::len).fold(longest, usize::max);
            assert!(packets[..n].iter().all(|p| p.len() <= ports[from].0.max_frame()), "a packet longer than the wire's");
            // What does not fit the queue is dropped: TCP copes.
            ports[1 - from].0.transmit(&packets[..n]).unwrap();
            ports[1 - from].0.flush().unwrap();
        }
        finished += done.try_iter().count();
        if hosts.iter().any(|host| host.is_finished()) {
            // It waits for us when all went well, so it failed: its panic comes out of join.
            break;
        }
    }
    drop(ports);
    for host in hosts {
        host.join().unwrap();
    }
    assert!(longest > 1000, "no full frames seen");
}
