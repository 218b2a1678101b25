"""Wireshark as a third reader: every packet of a demo's captures, dissected and checked, and the captures held against each other.

Usage: tshark_check.py FOLDER SESSIONS

FOLDER has n3.pcap, n4.pcap, n6.pcap (`splitplane-lab demo --capture`) and upf.json. Only the protocols that are ours to get
right are dissected: the users' payload is random, and would look malformed to whatever guesses at it.
"""

import collections
import concurrent.futures
import ipaddress
import json
import os
import subprocess
import sys
import tempfile
import time

from lab import Checks

PROTOCOLS = {"frame", "eth", "ethertype", "arp", "ip", "ipv6", "udp", "tcp", "icmp", "icmpv6", "gtp", "pfcp", "data", "_ws.malformed",
             "_ws.expert", "_ws.short"}
OPTIONS = ["-d", "udp.port==2152,gtp", "-d", "udp.port==8805,pfcp"]
OPTIONS += ["-o", "ip.check_checksum:TRUE", "-o", "tcp.desegment_tcp_streams:FALSE", "-o", "tcp.analyze_sequence_numbers:FALSE"]
# On the loopback, which N4 is captured on, the kernel leaves transport checksums unfinished.
TRANSPORT = ["-o", "udp.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]

PFCP = {1: "Heartbeat Request", 2: "Heartbeat Response", 5: "Association Setup Request", 6: "Association Setup Response",
        7: "Association Update Request", 8: "Association Update Response", 9: "Association Release Request",
        10: "Association Release Response", 50: "Session Establishment Request", 51: "Session Establishment Response",
        52: "Session Modification Request", 53: "Session Modification Response", 54: "Session Deletion Request",
        55: "Session Deletion Response", 56: "Session Report Request", 57: "Session Report Response"}
GTPU = {1: "Echo Request", 2: "Echo Response", 26: "Error Indication", 31: "Supported Extension Headers Notification", 254: "End Marker", 255: "G-PDU"}
ERROR = 0x00800000
GOOD, ABSENT = "1", "3"
UE_V4, UE_V6 = ipaddress.ip_network("10.45.0.0/16"), ipaddress.ip_network("2001:db8:45::/48")
UPF_N3 = "10.3.0.1"


def main():
    folder, sessions = sys.argv[1], int(sys.argv[2])
    checks = Checks("Wireshark: every packet of a captured demo")
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as profile:
        only(profile)
        wanted = (("n3", TRANSPORT), ("n4", ["-2"]), ("n6", TRANSPORT))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            n3, n4, n6 = pool.map(lambda one: Capture(folder, profile, *one), wanted)
    for capture in (n3, n4, n6):
        capture.check(checks)
    signalling(checks, n4, sessions)
    tunnels(checks, n3)
    plain(checks, n6)
    across(checks, folder, n3, n4, n6)
    print(f"       {len(n3.rows) + len(n4.rows) + len(n6.rows)} packets in {time.monotonic() - begin:.0f} s")
    return checks.finish()


def only(profile):
    """A Wireshark profile that dissects nothing but our protocols."""
    listed = subprocess.run(["tshark", "-G", "protocols"], capture_output=True, text=True).stdout.splitlines()
    names = [line.split("\t")[2] for line in listed if line.count("\t") >= 2]
    with open(os.path.join(profile, "disabled_protos"), "w") as f:
        f.write("\n".join(name for name in names if name not in PROTOCOLS) + "\n")




class Row:
    """A packet's fields by name."""

    __slots__ = ("values",)

    def __init__(self, values):
        self.values = values

    def __getitem__(self, field):
        return self.values[POSITION[field]]


ALL_ONES = "TCP Checksum 0xffff instead of 0x0000"


class Capture:
    """One capture: a row of fields a packet, each the list of its values from the outermost layer inwards."""

    FIELDS = ["frame.number", "frame.len", "eth.src", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "ip.len", "ipv6.plen", "ip.ttl", "ipv6.hlim",
              "ip.id", "ip.checksum.status", "udp.length", "udp.checksum.status", "tcp.checksum.status", "icmp.checksum.status",
              "icmpv6.checksum.status", "icmpv6.type", "gtp.message", "gtp.teid", "gtp.length", "gtp.ext_hdr.pdu_ses_con.pdu_type",
              "gtp.ext_hdr.pdu_ses_con.qos_flow_id", "pfcp.msg_type", "pfcp.cause", "pfcp.ie_type", "pfcp.response_in",
              "pfcp.report_type.dldr", "pfcp.volume_measurement.ulvol", "pfcp.volume_measurement.dlvol", "_ws.malformed", "_ws.short",
              "_ws.expert.severity", "_ws.expert.message"]

    def __init__(self, folder, profile, name, options):
        self.name, self.rows = name, []
        path = os.path.join(folder, f"{name}.pcap")
        command = ["tshark", "-n", "-r", path, *OPTIONS, *options, "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=|"]
        command += [word for field in self.FIELDS for word in ("-e", field)]
        errors = os.path.join(profile, f"{name}.err")
        with open(errors, "w") as err:
            tshark = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=err, text=True, env={**os.environ, "WIRESHARK_CONFIG_DIR": profile})
        known = {}  # equal values are one list: most are
        for line in tshark.stdout:
            line = line.rstrip("\n")
            self.rows.append(Row(tuple(known[v] if v in known else known.setdefault(v, v.split("|") if v else []) for v in line.split("\t"))))
        status = tshark.wait()
        with open(errors) as err:
            said = err.read()
        self.fault = "" if status == 0 and "cut short" not in said else said[-300:] or "tshark failed"

    def check(self, checks):
        name = self.name
        checks.ok(f"{name}: tshark reads all of it", not self.fault and self.rows, self.fault)
        bad = [r for r in self.rows if r["_ws.malformed"] or r["_ws.short"]]
        checks.ok(f"{name}: none of {len(self.rows)} is malformed", not bad, brief(bad))
        bad = [r for r in self.rows if any(int(s, 0) >= ERROR for s in r["_ws.expert.severity"])]
        checks.ok(f"{name}: none has an expert error", not bad, brief(bad))
        bad = [r for r in self.rows if any(s != GOOD for s in r["ip.checksum.status"])]
        checks.ok(f"{name}: all IPv4 header checksums are right", not bad, brief(bad))
        if name == "n4":
            return
        ends = ("tcp.checksum.status", "icmp.checksum.status", "icmpv6.checksum.status")
        bad = [r for r in self.rows if any(s != GOOD for field in ends for s in r[field]) or any(s not in (GOOD, ABSENT) for s in r["udp.checksum.status"])]
        # A sender whose kernel finishes checksums in software writes 0xffff for 0 in TCP too, which receivers take for the same: 1 packet of 65,536.
        bad = [r for r in bad if not any(ALL_ONES in message for message in r["_ws.expert.message"])]
        checks.ok(f"{name}: all TCP, UDP and ICMP checksums are right or absent", not bad, brief(bad))


POSITION = {field: n for n, field in enumerate(Capture.FIELDS)}


def brief(rows):
    """The first few of them."""
    shown = "; ".join(f"{r['frame.number'][0]} {' '.join(r['_ws.expert.message'])[:80]} {r['_ws.malformed'] or ''}" for r in rows[:3])
    return f"{len(rows)} packets: {shown}"


def print_counts(title, names, rows, field):
    counts = collections.Counter(int(v, 0) for r in rows for v in r[field])
    for kind, count in sorted(counts.items()):
        print(f"       {title} {count:>7} {names.get(kind, f'type {kind}')}")
    return counts


def signalling(checks, n4, sessions):
    messages = [r for r in n4.rows if r["pfcp.msg_type"]]
    counts = print_counts("N4", PFCP, messages, "pfcp.msg_type")
    accepted = lambda kind: sum(r["pfcp.msg_type"] == [str(kind)] and r["pfcp.cause"] == ["1"] for r in messages)  # noqa: E731
    checks.ok("N4: only known messages", set(counts) <= set(PFCP))
    for kind, least in ((6, 1), (51, sessions), (53, sessions), (55, sessions), (10, 1), (57, 1)):
        checks.ok(f"N4: {least} or more of {PFCP[kind]}, all accepted", accepted(kind) >= least and accepted(kind) == counts[kind],
                  f"{accepted(kind)} of {counts[kind]}")
    checks.ok("N4: heartbeats, all answered", counts[1] >= 1 and counts[2] == counts[1])
    unanswered = [r for r in messages if int(r["pfcp.msg_type"][0]) in (1, 5, 7, 9, 50, 52, 54, 56) and not r["pfcp.response_in"]]
    checks.ok("N4: each request has its response", not unanswered, brief(unanswered))
    of = lambda kind, ie: sum(r["pfcp.msg_type"] == [str(kind)] and str(ie) in r["pfcp.ie_type"] for r in messages)  # noqa: E731
    checks.equal("N4: a usage report in each deletion's response", of(55, 79), counts[55])
    checks.ok("N4: created PDRs in each establishment's response", of(51, 8) == counts[51])
    dldr = [r for r in messages if r["pfcp.msg_type"] == ["56"] and r["pfcp.report_type.dldr"] == ["1"] and "83" in r["pfcp.ie_type"]]
    checks.ok("N4: a downlink data report for the idle UE", len(dldr) >= 1, len(dldr))


def tunnels(checks, n3):
    tunnelled = [r for r in n3.rows if r["gtp.message"]]
    counts = print_counts("N3", GTPU, tunnelled, "gtp.message")
    checks.ok("N3: nothing but GTP-U and ARP", all(r["gtp.message"] or not r["ip.src"] and not r["ipv6.src"] for r in n3.rows))
    checks.ok("N3: 1000 G-PDUs or more each way", sum(down(r) for r in tunnelled) >= 1000 and sum(not down(r) for r in tunnelled) >= 1000)
    checks.ok("N3: no error indication", counts[26] == 0, counts[26])
    containers = collections.Counter((down(r), tuple(r["gtp.ext_hdr.pdu_ses_con.pdu_type"]), tuple(r["gtp.ext_hdr.pdu_ses_con.qos_flow_id"]))
                                     for r in tunnelled if r["gtp.message"] == ["0xff"])
    wrong = {k: v for k, v in containers.items() if k[1:] != (("0",) if k[0] else ("1",), ("9",))}
    checks.ok("N3: each G-PDU has a container of its direction, QFI 9", not wrong, wrong)
    bad = [r for r in tunnelled if down(r) and not lengths_fit(r)]
    checks.ok("N3: lengths of frame, IP, UDP and GTP-U fit each other in all that the UPF sent", not bad, brief(bad))
    bad = [r for r in tunnelled if down(r) and (r["ip.ttl"][0] != "64" or r["udp.checksum.status"][0] != ABSENT)]
    checks.ok("N3: outer TTL 64 and no UDP checksum in all that the UPF sent", not bad, brief(bad))


def down(row):
    return bool(row["ip.src"]) and row["ip.src"][0] == UPF_N3


def lengths_fit(row):
    """Ethernet 14, IPv4 20, UDP 8, GTP-U 8 and what its length says; the container takes 8, the user's packet the rest."""
    outer = int(row["ip.len"][0])
    user = user_length(row)
    gtp = int(row["gtp.length"][0])
    return (int(row["frame.len"][0]) == 14 + outer and int(row["udp.length"][0]) == outer - 20 and gtp == outer - 36
            and (row["gtp.message"] != ["0xff"] or user == gtp - 8))


def user_length(row):
    """Length of the user's IP packet: the inner one of a tunnel, the only one elsewhere."""
    at = 1 if row["gtp.message"] else 0
    return int(row["ip.len"][at]) if len(row["ip.len"]) > at else int(row["ipv6.plen"][0]) + 40 if row["ipv6.plen"] else 0


def ends(row):
    """Source and destination of the user's packet."""
    at = 1 if row["gtp.message"] else 0
    if len(row["ip.src"]) > at:
        return row["ip.src"][at], row["ip.dst"][at]
    return (row["ipv6.src"][0], row["ipv6.dst"][0]) if row["ipv6.src"] else ("", "")


def is_ue(address):
    if not address:
        return False
    ip = ipaddress.ip_address(address)
    return ip in (UE_V4 if ip.version == 4 else UE_V6)


def plain(checks, n6):
    checks.ok("N6: no tunnel leaks out", not any(r["gtp.message"] for r in n6.rows))
    from_ues = [r for r in n6.rows if is_ue(ends(r)[0])]
    hops = collections.Counter((r["ip.ttl"] or r["ipv6.hlim"])[0] for r in from_ues)
    checks.equal("N6: the UEs' packets are one hop on", set(hops), {"63"})
    bad = [r for r in from_ues if int(r["frame.len"][0]) != 14 + user_length(r)]
    checks.ok("N6: frames end with their packets", not bad, brief(bad))


def across(checks, folder, n3, n4, n6):
    """What went in by one interface came out by the other, in order for each UE; and was charged, no octet more or less."""
    with open(os.path.join(folder, "upf.json")) as f:
        ports = json.load(f)["ports"]
    whole = True
    for capture in (n3, n6):
        port = ports[capture.name]
        frames = port["received"]["packets"] + port["transmitted"]["packets"]
        whole &= len(capture.rows) == frames
        print(f"       {capture.name}: {len(capture.rows)} of the UPF's {frames} frames are captured")
    if not whole:
        print("       skipped: the captures have gaps: comparison of N3, N6 and N4")
        return
    gpdus = [r for r in n3.rows if r["gtp.message"] == ["0xff"] and not set(r["icmpv6.type"]) & {"133", "134"}]
    for way, inside, outside, at in (("up", [r for r in gpdus if not down(r)], [r for r in n6.rows if is_ue(ends(r)[0])], 0),
                                     ("down", [r for r in gpdus if down(r)], [r for r in n6.rows if is_ue(ends(r)[1])], 1)):
        seen, wanted = collected(outside if way == "up" else inside, at), collected(inside if way == "up" else outside, at)
        differing = [ue for ue in set(seen) | set(wanted) if seen.get(ue) != wanted.get(ue)]
        checks.ok(f"{way}: each of {len(inside)} packets of {len(wanted)} UE addresses passed once and in order", not differing, differing[:3])
        charged = sum(int(v) for r in n4.rows if r["pfcp.msg_type"] == ["55"]
                      for v in r["pfcp.volume_measurement.ulvol" if way == "up" else "pfcp.volume_measurement.dlvol"])
        checks.equal(f"{way}: octets in the usage reports are those of the users' packets on N3", charged, sum(map(user_length, inside)))


def collected(rows, at):
    """By UE address: identification (IPv4) and length of its packets, in order."""
    by_ue = collections.defaultdict(list)
    for row in rows:
        ident = row["ip.id"][1:] if row["gtp.message"] else row["ip.id"]
        by_ue[ends(row)[at]].append((*ident, user_length(row)))
    return by_ue


if __name__ == "__main__":
    sys.exit(main())
