"""A UPF in a network namespace, and we as everything around it: SMF on N4, gNodeB on N3, data network on N6.

    far namespace (this process)                 upf namespace (splitplane run)
    n3  raw frames, no kernel addresses   <-->   n3  10.3.0.1
    n6  raw frames, no kernel addresses   <-->   n6  10.6.0.1, 2001:db8:6::1
    n4  10.4.0.2, kernel UDP              <-->   n4  10.4.0.1, PFCP and N4-U

Nothing of Splitplane is used but the binary: packets and messages are Scapy's. Namespaces carry our process number and
go with us, however we end; `run` sweeps up if even that fails.
"""

import atexit
import ctypes
import ipaddress
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from scapy.layers.inet6 import ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptDstLLAddr, IPv6
from scapy.layers.l2 import ARP, Ether

UPF_N3, UPF_N6, UPF_N6_V6, UPF_N4 = "10.3.0.1", "10.6.0.1", "2001:db8:6::1", "10.4.0.1"
SMF = "10.4.0.2"
GNB, GNB_MAC = "10.3.0.2", "02:00:00:00:03:02"
GNB2, GNB2_MAC = "10.3.0.3", "02:00:00:00:03:03"
ROUTER, ROUTER_V6, ROUTER_MAC = "10.6.0.2", "2001:db8:6::2", "02:00:00:00:06:02"

CONFIG = """
[n4]
listen = "{n4}:8805"
max_sessions = 1000
heartbeat_s = {heartbeat_s}
associate = {associate}

[[port]]
name = "n3"
driver = "{driver}"
# Raw sockets would be given super-frames as they are.
gso = false
interface = "n3"
role = "access"
network_instance = "access"
addresses = ["10.3.0.1/24"]
gtpu = ["10.3.0.1"]

[[port]]
name = "n6"
driver = "{driver}"
# Raw sockets would be given super-frames as they are.
gso = false
interface = "n6"
role = "core"
network_instance = "internet"
addresses = ["10.6.0.1/24", "2001:db8:6::1/64"]

[[port]]
name = "n4u"
driver = "udp"
listen = "{n4}:2152"
role = "cp"
network_instance = "cp"
addresses = ["10.4.0.1/24"]
gtpu = ["10.4.0.1"]

[[route]]
network_instance = "internet"
prefix = "0.0.0.0/0"
via = "10.6.0.2"

[[route]]
network_instance = "internet"
prefix = "::/0"
via = "2001:db8:6::2"

[[pool]]
network_instance = "internet"
ipv4 = "10.45.0.0/16"
ipv6 = "2001:db8:45::/48"

{split}
[engine]
buffer_packets_per_pdr = 64
buffer_packets = 256
"""
ASIC = """
[split]
fast = "asic"
capacity = 1024
policy = { share = 1.0 }
"""


class Checks:
    """Counts what holds and what does not, a line each."""

    def __init__(self, title):
        self.passed, self.failed = 0, 0
        print(f"\n{title}", flush=True)

    def ok(self, what, holds, seen=""):
        if holds:
            self.passed += 1
            print(f"  ok   {what}", flush=True)
        else:
            self.failed += 1
            print(f"  FAIL {what}{': ' if seen != '' else ''}{seen}", flush=True)
        return bool(holds)

    def equal(self, what, seen, expected):
        return self.ok(what, seen == expected, f"{seen!r} instead of {expected!r}")

    def bytes_equal(self, what, seen, expected):
        """Packets, octet by octet; a difference is shown from the first differing octet on."""
        seen, expected = bytes(seen or b""), bytes(expected)
        at = next((i for i, (a, b) in enumerate(zip(seen, expected)) if a != b), min(len(seen), len(expected)))
        diff = f"octet {at}: {seen[at:at + 24].hex() or 'end'} instead of {expected[at:at + 24].hex() or 'end'} " \
               f"({len(seen)} and {len(expected)} octets)"
        return self.ok(what, seen == expected, diff)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed else 0


def sh(*args):
    """Runs a command to its end."""
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"`{' '.join(args)}` failed: {done.stderr.strip()}")
    return done.stdout


class Lab:
    """The two namespaces, and a UPF running in one of them."""

    def __init__(self, binary, driver="auto", split="", heartbeat_s=0, associate=()):
        self.binary, self.driver = os.path.abspath(binary), driver
        tag = f"splitplane-eyes-{os.environ.get('EYES_ID', os.getpid())}-{os.getpid()}"
        self.upf_ns, self.far_ns = f"{tag}-upf", f"{tag}-far"
        self.process, self.ports, self.errors = None, [], []
        atexit.register(self.close)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(1))
        self._networks()
        self.folder = tempfile.TemporaryDirectory(prefix="splitplane-eyes-")
        self.report_file = os.path.join(self.folder.name, "report.json")
        self.config = os.path.join(self.folder.name, "upf.toml")
        with open(self.config, "w") as f:
            f.write(CONFIG.format(n4=UPF_N4, driver=driver, split=split, heartbeat_s=heartbeat_s, associate=json.dumps(list(associate))))
        # From here on, every socket of ours is in the far namespace.
        with open(f"/run/netns/{self.far_ns}") as ns:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.setns(ns.fileno(), 0x40000000):
                raise OSError(ctypes.get_errno(), "setns")
        self.n3 = RawPort("n3", {GNB: GNB_MAC, GNB2: GNB2_MAC})
        self.n6 = RawPort("n6", {ROUTER: ROUTER_MAC, ROUTER_V6: ROUTER_MAC})
        self.ports = [self.n3, self.n6]
        self.n3.upf_mac = self._mac("n3")
        self.n6.upf_mac = self._mac("n6")

    def _networks(self):
        for ns in (self.upf_ns, self.far_ns):
            sh("ip", "netns", "add", ns)
            # The kernels must add no packet of their own: each one is accounted for.
            for which in ("all", "default"):
                sh("ip", "netns", "exec", ns, "sh", "-c", f"echo 1 > /proc/sys/net/ipv6/conf/{which}/disable_ipv6")
            sh("ip", "-n", ns, "link", "set", "lo", "up")
        for name in ("n3", "n6", "n4"):
            sh("ip", "link", "add", name, "netns", self.upf_ns, "mtu", "1600", "type", "veth",
               "peer", "name", name, "netns", self.far_ns)
            sh("ip", "-n", self.far_ns, "link", "set", name, "mtu", "1600")
            for ns in (self.upf_ns, self.far_ns):
                if name != "n4":
                    sh("ip", "-n", ns, "link", "set", name, "arp", "off")
                    sh("ip", "netns", "exec", ns, self.binary, "offloads-off", name)
                sh("ip", "-n", ns, "link", "set", name, "up")
        sh("ip", "-n", self.upf_ns, "address", "add", f"{UPF_N4}/24", "dev", "n4")
        sh("ip", "-n", self.far_ns, "address", "add", f"{SMF}/24", "dev", "n4")

    def _mac(self, name):
        for link in json.loads(sh("ip", "-n", self.upf_ns, "-json", "link", "show", name)):
            return link["address"]

    def start(self):
        """Starts the UPF and waits until it says `ready`."""
        command = ["ip", "netns", "exec", self.upf_ns, self.binary, "run", "--config", self.config,
                   "--report", self.report_file, "--until-input-ends"]
        self.log = open(os.path.join(self.folder.name, "upf.log"), "w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)
        ready = self.process.stdout.readline().strip()
        if ready != "ready":
            raise RuntimeError(f"the UPF did not start: {self.log_text() or self.process.poll()}")

    def alive(self):
        return self.process.poll() is None

    def log_text(self):
        self.log.flush()
        with open(self.log.name) as f:
            return f.read()

    def stop(self):
        """Ends the UPF as an operator does; its exit code and what it counted."""
        try:
            self.process.stdin.close()
            code = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        try:
            with open(self.report_file) as f:
                return code, json.load(f)
        except (OSError, ValueError):
            return code, {}

    def close(self):
        for port in self.ports:
            port.close()
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for ns in (self.upf_ns, self.far_ns):
            subprocess.run(["ip", "netns", "delete", ns], capture_output=True)


class RawPort:
    """The far end of N3 or N6: frames as octets. Answers ARP and neighbour solicitations for its stations."""

    OUTGOING = 4

    def __init__(self, name, stations):
        self.name, self.stations, self.upf_mac = name, stations, None
        self.sent, self.received, self.asked = 0, 0, []
        self.frames = queue.Queue()
        self.answers = True
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.socket.bind((name, 0))
        self.open = True
        self.thread = threading.Thread(target=self._receive, daemon=True)
        self.thread.start()

    def send(self, frame):
        self.sent += 1
        self.socket.send(bytes(frame))

    def next(self, timeout=2.0):
        """The next frame that is no neighbour question, or None."""
        try:
            return self.frames.get(timeout=timeout)
        except queue.Empty:
            return None

    def all(self, count, timeout=3.0):
        """That many frames, or as many as come in time."""
        end, frames = time.monotonic() + timeout, []
        while len(frames) < count and (frame := self.next(max(0.0, end - time.monotonic()))) is not None:
            frames.append(frame)
        return frames

    def quiet(self, seconds=0.15):
        """Whether nothing comes for a while; to be used where nothing can follow that would prove it."""
        return self.next(seconds) is None

    def drain(self):
        while self.next(0.0 if self.frames.empty() else 0.01) is not None:
            pass

    def _receive(self):
        while self.open:
            try:
                octets, address = self.socket.recvfrom(65536)
            except OSError:
                return
            if address[2] == self.OUTGOING:
                continue
            self.received += 1
            if not self._question(octets):
                self.frames.put(octets)

    def _question(self, octets):
        kind = octets[12:14]
        if kind == b"\x08\x06":
            question = Ether(octets)
            if question[ARP].op != 1:
                return False
            self.asked.append(question[ARP].pdst)
            mac = self.stations.get(question[ARP].pdst)
            if mac and self.answers:
                arp = ARP(op=2, hwsrc=mac, psrc=question[ARP].pdst, hwdst=question[ARP].hwsrc, pdst=question[ARP].psrc)
                self.send(Ether(src=mac, dst=question.src) / arp)
            return True
        if kind == b"\x86\xdd" and octets[20] == 58 and octets[54] == 135:
            question = Ether(octets)
            target = str(ipaddress.ip_address(question[ICMPv6ND_NS].tgt))
            self.asked.append(target)
            mac = self.stations.get(target)
            if mac and self.answers:
                self.send(Ether(src=mac, dst=question.src) / IPv6(src=target, dst=question[IPv6].src, hlim=255)
                          / ICMPv6ND_NA(tgt=target, R=1, S=1, O=1) / ICMPv6NDOptDstLLAddr(lladdr=mac))
            return True
        return False

    def close(self):
        self.open = False
        self.socket.close()


class Udp:
    """A kernel UDP socket of ours on N4: PFCP or N4-U. Datagrams go to `handle` on a thread."""

    def __init__(self, port, handle):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.socket.bind((SMF, port))
        self.port, self.handle = port, handle
        threading.Thread(target=self._receive, daemon=True).start()

    def send(self, octets):
        self.socket.sendto(bytes(octets), (UPF_N4, self.port))

    def _receive(self):
        while True:
            try:
                octets, source = self.socket.recvfrom(65536)
            except OSError:
                return
            self.handle(octets, source)


__all__ = [name for name in dir() if not name.startswith("_")]
