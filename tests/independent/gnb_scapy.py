"""Scapy as a second gNodeB and data network: each packet that the UPF sends is compared, octet for octet, with Scapy's own.

Usage: gnb_scapy.py BINARY x86|asic
"""

import random
import struct
import sys
import time

from gtpu import *  # noqa: F403
from lab import ASIC, GNB, GNB2, GNB2_MAC, GNB_MAC, ROUTER_MAC, ROUTER_V6, UPF_N3, UPF_N4, UPF_N6, UPF_N6_V6, Checks, Lab, Udp
from n4 import *  # noqa: F403

SEED = 20240607
SERVER, SERVER_V6 = "10.6.0.2", ROUTER_V6
FAR_SERVER, FAR_SERVER_V6 = "198.51.100.7", "2001:db8:ff::7"
UE, UE_V6 = "10.45.0.2", "2001:db8:45:2::5"
QFI, GNB_TEID = 9, 0x11
IPV4_SIZES = (28, 29, 46, 47, 64, 65, 100, 127, 128, 255, 576, 1001, 1400, 1500)


# Both are to drop what is over a rate.
POLICE = "[qos]\nmode = \"police\"\n"
# Senders are not told what is dropped: each packet that comes out is one that went in.
SILENT = "[host]\nicmp_errors_per_s = 0\n"


def main():
    fast = sys.argv[2] == "asic"
    checks = Checks(f"gNodeB: Scapy's GTP-U (TS 29.281), sessions on {'the switch model' if fast else 'x86'}")
    lab = Lab(sys.argv[1], driver="auto" if not fast else "af_packet", split=POLICE + SILENT + (ASIC if fast else ""))
    smf = Smf()
    n4u = N4u()
    lab.start()
    if smf.associate().cause != ACCEPTED:
        checks.ok("association", False)
        return checks.finish()
    session = smf.establish(open5gs(UE, "2001:db8:45:2::", qfi=QFI))
    checks.ok("session in Open5GS's shape", session.up_seid and session.modify(to_gnb(1, GNB_TEID, create=False)).cause == ACCEPTED)
    teid = session.teid(2)
    for part in (neighbours, going_up, going_down, refused_up, refused_down, charged_fragments):
        part(checks, lab, teid)
    headers_up(checks, lab, smf)
    path_messages(checks, lab, teid)
    error_indications(checks, lab, smf, session, teid)
    host(checks, lab, teid)
    router_solicitation(checks, lab, n4u, session, teid)
    flows(checks, lab, smf)
    gates_and_rates(checks, lab, smf)
    buffering(checks, lab, smf)
    path_switch(checks, lab, smf)
    indirect_forwarding(checks, lab, smf, session)
    storm(checks, lab, smf, teid)
    checks.equal("usage of the session is exact at the end", usage_matches(session), True)
    end(checks, lab, smf)
    return checks.finish()


class Tally:
    """What the session of `main` must be charged: the users' IP packets that went through."""
    up, down, up_packets, down_packets = 0, 0, 0, 0


def count_up(*packets):
    Tally.up += sum(len(bytes(p)) for p in packets)
    Tally.up_packets += len(packets)


def count_down(*packets):
    Tally.down += sum(len(bytes(p)) for p in packets)
    Tally.down_packets += len(packets)


def usage_matches(session):
    response = session.delete()
    report = one(response.ies, IE_UsageReport_SDR)
    measured = one(report.IE_list, IE_VolumeMeasurement)
    packets = struct.unpack("!3Q", measured.extra_data[:24])
    seen = (measured.uplink, measured.downlink, packets[1], packets[2])
    wanted = (Tally.up, Tally.down, Tally.up_packets, Tally.down_packets)
    return seen == wanted or f"{seen} instead of {wanted} (octets and packets, up and down)"


def up(checks, lab, what, frame, inner, charged=True):
    """Sends a frame on N3; its user packet must come out on N6."""
    lab.n3.send(frame)
    got = lab.n6.next()
    if charged:
        count_up(inner)
    return checks.bytes_equal(what, got, at_n6(lab.n6, inner))


def taken(lab):
    """Waits until the UPF has dealt with all that was sent on N6 before: a packet of the first session comes out behind it."""
    packet = udp4(SERVER, UE, 50, ident=0x2222)
    lab.n6.send(downlink(lab.n6, packet))
    count_down(packet)
    return lab.n3.next(5.0) == bytes(at_n3(lab.n3, packet, GNB_TEID, QFI))


def neighbours(checks, lab, teid):
    """The first packets find no neighbour: the UPF asks, and loses none of them."""
    first4, first6 = udp4(UE, SERVER, 100), udp6(UE_V6, SERVER_V6, 100)
    up(checks, lab, "first IPv4 packet, after ARP on N6", uplink(lab.n3, teid, first4, QFI), first4)
    checks.ok("  which asked for the router", SERVER in lab.n6.asked, lab.n6.asked)
    up(checks, lab, "first IPv6 packet, after neighbour discovery on N6", uplink(lab.n3, teid, first6, QFI), first6)
    checks.ok("  which asked for the router", SERVER_V6 in lab.n6.asked, lab.n6.asked)
    down = udp4(SERVER, UE, 100)
    lab.n6.send(downlink(lab.n6, down))
    checks.bytes_equal("first packet down, after ARP on N3", lab.n3.next(), at_n3(lab.n3, down, GNB_TEID, QFI))
    count_down(down)
    checks.ok("  which asked for the gNodeB", GNB in lab.n3.asked, lab.n3.asked)

    for port, address, station, mac in ((lab.n3, UPF_N3, GNB, GNB_MAC), (lab.n6, UPF_N6, SERVER, ROUTER_MAC)):
        port.send(Ether(src=mac, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=mac, psrc=station, pdst=address))
        answer = port.next()
        arp = Ether(answer)[ARP] if answer and ARP in Ether(answer) else None
        good = arp and (arp.op, arp.psrc, arp.hwsrc, arp.pdst, arp.hwdst) == (2, address, port.upf_mac, station, mac)
        checks.ok(f"ARP for {address} is answered", good, arp and arp.summary())
    from scapy.layers.inet6 import ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptSrcLLAddr
    group = "ff02::1:ff00:1"
    lab.n6.send(Ether(src=ROUTER_MAC, dst="33:33:ff:00:00:01") / IPv6(src=SERVER_V6, dst=group, hlim=255)
                / ICMPv6ND_NS(tgt=UPF_N6_V6) / ICMPv6NDOptSrcLLAddr(lladdr=ROUTER_MAC))
    answer = lab.n6.next()
    advert = Ether(answer) if answer else None
    good = advert and ICMPv6ND_NA in advert and advert[ICMPv6ND_NA].tgt == UPF_N6_V6 and advert[IPv6].hlim == 255 and \
        advert[ICMPv6ND_NA].S == 1 and advert.lladdr == lab.n6.upf_mac and advert.dst == ROUTER_MAC
    checks.ok(f"neighbour solicitation for {UPF_N6_V6} is answered", good and sums_hold(answer), advert and advert.summary())
    lab.n6.send(Ether(src=ROUTER_MAC, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=ROUTER_MAC, psrc=SERVER, pdst="10.6.0.77"))
    checks.ok("ARP for another address is not", lab.n6.quiet())


def going_up(checks, lab, teid):
    for size in IPV4_SIZES:
        packet = udp4(UE, SERVER, size, ident=size)
        up(checks, lab, f"up, IPv4 of {size} octets", uplink(lab.n3, teid, packet, QFI), packet)
    for size in (48, 49, 100, 1280, 1499):
        packet = udp6(UE_V6, FAR_SERVER_V6, size)
        up(checks, lab, f"up, IPv6 of {size} octets", uplink(lab.n3, teid, packet, QFI), packet)
    for what, inner in (
        ("TTL 2", udp4(UE, SERVER, 60, ttl=2)),
        ("TTL 255", udp4(UE, SERVER, 60, ttl=255)),
        ("DSCP and ECN", udp4(UE, SERVER, 60, tos=0xbb)),
        ("IPv6 traffic class and flow label", IPv6(src=UE_V6, dst=SERVER_V6, tc=0xbb, fl=0xabcde) / UDP(sport=1, dport=2) / Raw(b"x")),
        ("TCP with options", IP(src=UE, dst=SERVER) / TCP(dport=80, flags="S", options=[("MSS", 1400), ("WScale", 7)])),
        ("ICMP echo", IP(src=UE, dst=SERVER) / ICMP() / Raw(b"ping")),
        ("IPv4 options", IP(src=UE, dst=SERVER, options=[IPOption_RR(routers=["0.0.0.0", "0.0.0.0"])]) / UDP(dport=9) / Raw(b"opt")),
        ("another protocol", IP(src=UE, dst=SERVER, proto=132) / Raw(b"sctp or so, 20 octets")),
        ("first fragment", IP(src=UE, dst=SERVER, id=7, flags="MF") / UDP(dport=9, len=2000) / Raw(bytes(800))),
        ("later fragment", IP(src=UE, dst=SERVER, id=7, frag=101, proto=17) / Raw(bytes(500))),
        ("UE's own GTP-U", IP(src=UE, dst=SERVER) / UDP(sport=2152, dport=2152) / GTP_U_Header(gtp_type=255, teid=1) / udp4("1.1.1.1", "2.2.2.2", 60)),
        ("UDP checksum 0", IP(src=UE, dst=SERVER) / UDP(sport=9, dport=9, chksum=0) / Raw(b"zero")),
        ("checksum that carries", carrying(UE, SERVER)),
        ("IPv6 fragment header", IPv6(src=UE_V6, dst=SERVER_V6) / IPv6ExtHdrFragment(id=5, m=1, nh=17) / Raw(bytes(64))),
        ("IPv6 ICMP echo", IPv6(src=UE_V6, dst=SERVER_V6) / ICMPv6EchoRequest(data=b"ping6")),
    ):
        packet = inner.__class__(bytes(inner))
        up(checks, lab, f"up, {what}", uplink(lab.n3, teid, packet, QFI), packet)
    burst = [udp4(UE, SERVER, 60 + n, ident=n) for n in range(300)]
    for packet in burst:
        lab.n3.send(uplink(lab.n3, teid, packet, QFI))
    count_up(*burst)
    checks.ok("up, 300 packets in a row keep their order", lab.n6.all(300) == [bytes(at_n6(lab.n6, p)) for p in burst])


def carrying(src, dst):
    """A packet whose checksum's increment at the hop (RFC 1624) carries round: it is 0xff.. before."""
    packet = IP(src=src, dst=dst, id=0, ttl=64) / UDP(sport=1, dport=2) / Raw(b"carry")
    checksum = struct.unpack("!H", bytes(packet)[10:12])[0]
    packet.id = checksum + 0x42  # the sum over the header goes just beyond 0xffff, and round to a small number
    assert bytes(packet)[10] == 0xff
    return packet


def headers_up(checks, lab, smf):
    """TS 29.281 §5: the optional fields, and extension headers, which are skipped however many they are."""
    ue, teid = "10.45.0.9", 0x9999
    # The PDR names no QFI: it takes packets without a container too.
    session = smf.establish(free5gc(ue, teid, 0x99))
    checks.ok("session in free5GC's shape", session.up_seid)
    inner = udp4(ue, FAR_SERVER, 300)
    for what, frame in (
        ("without container", uplink(lab.n3, teid, inner)),
        ("with sequence number", uplink(lab.n3, teid, inner, S=1, seq=0xffff)),
        ("with N-PDU number", uplink(lab.n3, teid, inner, PN=1, npdu=255)),
        ("with all of E, S and PN", uplink(lab.n3, teid, inner, QFI, S=1, PN=1, seq=7, npdu=9)),
        ("with another QFI", uplink(lab.n3, teid, inner, 63)),
        ("from another UDP port", uplink(lab.n3, teid, inner, QFI, sport=40000)),
        ("with outer TTL 1", uplink(lab.n3, teid, inner, QFI, ttl=1)),
        ("from another address", uplink(lab.n3, teid, inner, QFI, src="10.3.0.99")),
        ("with options in the outer header", with_outer_options(uplink(lab.n3, teid, inner, QFI))),
        ("without outer UDP checksum", bytes(uplink(lab.n3, teid, inner, QFI))[:40] + b"\0\0" + bytes(uplink(lab.n3, teid, inner, QFI))[42:]),
    ):
        up(checks, lab, f"up, {what}", frame, inner, charged=False)
    body = bytes(inner)

    def tunnel(extensions, kind):
        gtp = struct.pack("!BBHI", 0x34, 255, 4 + len(extensions) + len(body), teid) + b"\x00\x00\x00" + bytes([kind])
        return Ether(src=GNB_MAC, dst=lab.n3.upf_mac) / IP(src=GNB, dst=UPF_N3) / UDP(sport=2152, dport=2152) / Raw(gtp + extensions + body)

    for what, extensions, kind in (
        ("E with no extension", b"", 0),
        ("UDP port, then container", bytes([1, 0x12, 0x34, 0x85, 1, 0x10, QFI, 0]), 0x40),
        ("container, then UDP port", bytes([1, 0x10, QFI, 0x40, 1, 0x12, 0x34, 0]), 0x85),
        ("container with time stamps (16 octets)", bytes([4, 0x18, QFI]) + bytes(12) + b"\x00", 0x85),
        ("an extension that need not be understood", bytes([2, 1, 2, 3, 4, 5, 6, 0]), 0x20),
        ("4 extensions", bytes([1, 0, 0, 0x20]) * 3 + bytes([1, 0, 0, 0]), 0x20),
    ):
        up(checks, lab, f"up, {what}", tunnel(extensions, kind), inner, charged=False)
    for what, extensions, kind in (
        ("an extension that must be understood", bytes([1, 0, 0, 0]), 0xc5),
        ("an extension of length 0", bytes([0, 0, 0, 0]), 0x40),
        ("an extension beyond the packet", bytes([255, 0, 0, 0]), 0x40),
        ("200 extensions", bytes([1, 0, 0, 0x20]) * 200, 0x20),
    ):
        lab.n3.send(tunnel(extensions, kind))
        after = udp4(ue, SERVER, 90, ident=0x7777)
        lab.n3.send(uplink(lab.n3, teid, after))
        checks.bytes_equal(f"not forwarded: {what}", lab.n6.next(), at_n6(lab.n6, after))
    got = lab.n3.next()
    parts = gtp_of(got) if got else None
    checks.ok("what we understand is told to the sender (supported extension headers)", parts and parts[0].dst == GNB
              and parts[2].gtp_type == 31 and bytes(parts[2])[12:] == bytes([141, 2, 0x85, 0x40]) and sums_hold(got), parts and bytes(parts[2]).hex())
    checks.ok("once", lab.n3.quiet(0.05))
    inner = udp4(ue, SERVER, 30)
    lab.n3.send(bytes(uplink(lab.n3, teid, inner)) + b"\xaa" * 9)
    same_but_padding(checks, "up, octets behind the tunnel's packet change nothing", lab.n6.next(), at_n6(lab.n6, inner))
    session.delete()


def with_outer_options(frame):
    frame[IP].options = [IPOption_RR(routers=["0.0.0.0"])]
    return frame


def same_but_padding(checks, what, got, expected):
    """Whether a frame has the right packet; octets behind it are Ethernet's affair (IEEE 802.3 §3.2.8)."""
    expected = bytes(expected)
    checks.bytes_equal(what, (got or b"")[:len(expected)], expected)


def not_up(checks, lab, teid, what, *frames):
    """Nothing of these may come out on N6: the next packet there is the one sent after them."""
    for frame in frames:
        lab.n3.send(frame)
    after = udp4(UE, SERVER, 90, ident=0x7777)
    lab.n3.send(uplink(lab.n3, teid, after, QFI))
    count_up(after)
    return checks.bytes_equal(f"not forwarded: {what}", lab.n6.next(), at_n6(lab.n6, after))


def going_down(checks, lab, teid):
    for size in IPV4_SIZES:
        packet = udp4(SERVER, UE, size, ident=size)
        lab.n6.send(downlink(lab.n6, packet))
        got = lab.n3.next()
        checks.bytes_equal(f"down, IPv4 of {size} octets, container with QFI", got, at_n3(lab.n3, packet, GNB_TEID, QFI))
        count_down(packet)
        if got and not sums_hold(got):
            checks.ok("  lengths and checksums", False)
    for what, packet in (
        ("IPv6 of 48 octets", udp6(SERVER_V6, UE_V6, 48)),
        ("IPv6 of 1400 octets", udp6(FAR_SERVER_V6, UE_V6, 1400)),
        ("IPv6 to another interface ID of the UE", udp6(SERVER_V6, "2001:db8:45:2:ffff:ffff:ffff:ffff", 90)),
        ("UDP port 2152 is the user's own here", IP(src=SERVER, dst=UE) / UDP(sport=2152, dport=2152) / GTP_U_Header(gtp_type=255, teid=teid) / udp4(UE, SERVER, 60)),
        ("TCP", IP(src=SERVER, dst=UE) / TCP(sport=80, flags="SA")),
        ("later fragment", IP(src=SERVER, dst=UE, frag=10, proto=17) / Raw(bytes(64))),
        ("IPv4 options", IP(src=SERVER, dst=UE, options=[IPOption_RR(routers=["0.0.0.0"] * 9)]) / UDP(dport=9) / Raw(b"x")),
        ("DSCP stays in the user's packet", udp4(SERVER, UE, 60, tos=0xb8)),
        ("checksum that carries", carrying(SERVER, UE)),
    ):
        packet = packet.__class__(bytes(packet))
        lab.n6.send(downlink(lab.n6, packet))
        got = lab.n3.next()
        checks.bytes_equal(f"down, {what}", got, at_n3(lab.n3, packet, GNB_TEID, QFI))
        count_down(packet)
        if got:
            ip, udp, gtp = gtp_of(got)
            checks.ok("  as Scapy reads it: container of type 0 with the QFI", gtp.gtp_type == 255 and gtp.teid == GNB_TEID
                      and gtp[GTPPDUSessionContainer].type == 0 and gtp[GTPPDUSessionContainer].QFI == QFI and sums_hold(got))
    packet = udp4(SERVER, UE, 30)
    lab.n6.send(bytes(downlink(lab.n6, packet)).ljust(60, b"\x00"))
    same_but_padding(checks, "down, Ethernet's padding is not taken for the packet", lab.n3.next(), at_n3(lab.n3, packet, GNB_TEID, QFI))
    count_down(packet)
    burst = [udp4(SERVER, UE, 60 + n, ident=n) for n in range(300)]
    for packet in burst:
        lab.n6.send(downlink(lab.n6, packet))
    count_down(*burst)
    checks.ok("down, 300 packets in a row keep their order", lab.n3.all(300) == [bytes(at_n3(lab.n3, p, GNB_TEID, QFI)) for p in burst])


def refused_up(checks, lab, teid):
    good = udp4(UE, SERVER, 60)
    octets = bytes(uplink(lab.n3, teid, good, QFI))
    wrong_sum = IP(src=UE, dst=SERVER, chksum=0x1234) / UDP() / Raw(b"sum")
    short = bytes(udp4(UE, SERVER, 100))[:60]
    cut = Ether(src=GNB_MAC, dst=lab.n3.upf_mac) / IP(src=GNB, dst=UPF_N3) / UDP(sport=2152, dport=2152) / GTP_U_Header(gtp_type=255, teid=teid) / Raw(short)
    v2 = octets[:42] + bytes([octets[42] & 0x1f | 0x40]) + octets[43:]
    prime = octets[:42] + bytes([octets[42] & ~0x10]) + octets[43:]
    outer_sum = octets[:24] + b"\xde\xad" + octets[26:]
    fragment = Ether(src=GNB_MAC, dst=lab.n3.upf_mac) / IP(src=GNB, dst=UPF_N3, flags="MF", id=4, proto=17) / Raw(octets[34:])
    not_up(checks, lab, teid, "a stranger's source address", uplink(lab.n3, teid, udp4("10.45.0.200", SERVER, 60), QFI))
    not_up(checks, lab, teid, "a stranger's IPv6 prefix", uplink(lab.n3, teid, udp6("2001:db8:45:3::5", SERVER_V6, 60), QFI))
    not_up(checks, lab, teid, "TTL 1 and hop limit 1", uplink(lab.n3, teid, udp4(UE, SERVER, 60, ttl=1), QFI),
           uplink(lab.n3, teid, udp4(UE, SERVER, 60, ttl=0), QFI), uplink(lab.n3, teid, udp6(UE_V6, SERVER_V6, 60, hlim=1), QFI))
    not_up(checks, lab, teid, "a wrong inner checksum", uplink(lab.n3, teid, wrong_sum, QFI))
    not_up(checks, lab, teid, "a wrong outer checksum", outer_sum)
    not_up(checks, lab, teid, "a user's packet that is longer than its tunnel", cut)
    not_up(checks, lab, teid, "GTP version 2, GTP'", v2, prime)
    not_up(checks, lab, teid, "a QFI that the PDR does not name, and none", uplink(lab.n3, teid, good, QFI + 1), uplink(lab.n3, teid, good))
    not_up(checks, lab, teid, "another destination MAC", uplink(lab.n3, teid, good, QFI).__class__(b"\x02" * 6 + octets[6:]))
    not_up(checks, lab, teid, "fragments of the tunnel", fragment)
    elsewhere = uplink(lab.n3, teid, good, QFI)
    elsewhere[IP].dst = UPF_N6
    not_up(checks, lab, teid, "a tunnel to an address that ends none", elsewhere)
    not_up(checks, lab, teid, "a VLAN tag", octets[:12] + b"\x81\x00\x00\x05" + octets[12:])
    not_up(checks, lab, teid, "frames cut anywhere", *[octets[:n] for n in range(14, len(octets) - 1, 3)])
    not_up(checks, lab, teid, "plain IP on N3", Ether(src=GNB_MAC, dst=lab.n3.upf_mac) / good, Ether(src=GNB_MAC, dst=lab.n3.upf_mac) / udp4(SERVER, UE, 60))
    not_up(checks, lab, teid, "a PDU that is no IP", uplink(lab.n3, teid, Raw(b"\x00\x01ethernet or so"), QFI), uplink(lab.n3, teid, Raw(b""), QFI))
    lab.n3.drain()


def refused_down(checks, lab, teid):
    good = udp4(SERVER, UE, 60)
    octets = bytes(downlink(lab.n6, good))
    frames = [
        downlink(lab.n6, udp4(SERVER, "10.45.7.7", 60)),
        downlink(lab.n6, udp6(SERVER_V6, "2001:db8:45:7777::1", 60)),
        downlink(lab.n6, udp4(SERVER, UE, 60, ttl=1)),
        b"\x02" * 6 + octets[6:],
        octets[:24] + b"\xde\xad" + octets[26:],
        octets[:50],
        Ether(src=ROUTER_MAC, dst=lab.n6.upf_mac, type=0x8847) / Raw(b"mpls" * 20),
        Ether(src=ROUTER_MAC, dst=lab.n6.upf_mac) / IP(src=GNB, dst=UPF_N3) / UDP(sport=2152, dport=2152)
        / GTP_U_Header(gtp_type=255, teid=teid) / udp4(UE, SERVER, 60),
    ]
    for frame in frames:
        lab.n6.send(frame)
    lab.n6.send(downlink(lab.n6, good))
    count_down(good)
    checks.bytes_equal("not forwarded down: no session, TTL 1, foreign MAC, wrong checksum, cut, no IP, a tunnel on N6",
                       lab.n3.next(), at_n3(lab.n3, good, GNB_TEID, QFI))
    checks.ok("and nothing of it went up", lab.n6.quiet())


def charged_fragments(checks, lab, teid):
    """Scapy cuts a packet in fragments: each passes by itself, both ways."""
    from scapy.layers.inet import fragment
    whole = udp4(UE, SERVER, 3000)
    pieces = [IP(bytes(p)) for p in fragment(whole, 1000)]
    for piece in pieces:
        lab.n3.send(uplink(lab.n3, teid, piece, QFI))
    count_up(*pieces)
    checks.ok("up, a packet in 3 fragments or more", len(pieces) >= 3 and lab.n6.all(len(pieces)) == [bytes(at_n6(lab.n6, p)) for p in pieces])


def path_messages(checks, lab, teid):
    """TS 29.281 §7.2: echo."""
    for what, sport, seq in (("port 2152", 2152, 0x1234), ("another port", 33333, 0)):
        echo = Ether(src=GNB_MAC, dst=lab.n3.upf_mac) / IP(src=GNB, dst=UPF_N3) / UDP(sport=sport, dport=2152) / \
            GTPHeader(gtp_type=ECHO_REQUEST, S=1, seq=seq, teid=0)
        lab.n3.send(echo)
        got = lab.n3.next()
        if not checks.ok(f"echo request from {what} is answered", got is not None):
            continue
        ip, udp, gtp = gtp_of(got)
        checks.ok("  to where it came from", (ip.src, ip.dst, udp.sport, udp.dport, Ether(got).dst) == (UPF_N3, GNB, 2152, sport, GNB_MAC))
        checks.ok("  with its sequence number and TEID 0", (gtp.version, gtp.PT, gtp.gtp_type, gtp.S, gtp.seq, gtp.teid) == (1, 1, ECHO_RESPONSE, 1, seq, 0), gtp.summary())
        checks.ok("  with Recovery, and lengths and checksums that hold", bytes(gtp)[12:] == b"\x0e\x00" and sums_hold(got), bytes(gtp).hex())
    lab.n3.send(Ether(src=GNB_MAC, dst=lab.n3.upf_mac) / IP(src=GNB, dst=UPF_N3) / UDP(sport=2152, dport=2152)
                / GTPHeader(gtp_type=ECHO_RESPONSE, S=1, seq=1, teid=0) / IE_Recovery(restart_counter=0))
    lab.n3.send(Ether(src=GNB_MAC, dst=lab.n3.upf_mac) / IP(src=GNB, dst=UPF_N3) / UDP(sport=2152, dport=2152)
                / GTPHeader(gtp_type=99, S=1, seq=1, teid=0))
    checks.ok("an echo response and an unknown type are not answered", lab.n3.quiet())


def error_indications(checks, lab, smf, session, teid):
    """TS 29.281 §7.3.1, both ways."""
    stray = teid ^ 0x00ff00ff
    for sport in (2152, 44444):
        lab.n3.send(uplink(lab.n3, stray, udp4(UE, SERVER, 60), QFI, sport=sport))
        got = lab.n3.next()
        if not checks.ok(f"unknown TEID (from port {sport}): error indication", got is not None):
            continue
        ip, udp, gtp = gtp_of(got)
        checks.ok("  to the sender's port 2152", (ip.src, ip.dst, udp.dport, Ether(got).dst) == (UPF_N3, GNB, 2152, GNB_MAC))
        checks.ok("  type 26, TEID 0, with sequence number", (gtp.gtp_type, gtp.teid, gtp.S) == (ERROR_INDICATION, 0, 1), gtp.summary())
        elements = bytes(gtp)[12:]
        if sport != 2152:
            port_header, elements = elements[:4], elements[4:]
            checks.ok("  with the UDP port extension header", gtp.E == 1 and gtp.next_ex == 0x40 and port_header == struct.pack("!BHB", 1, sport, 0), port_header.hex())
        wanted = bytes(IE_TEIDI(TEIDI=stray)) + b"\x85\x00\x04" + bytes(map(int, UPF_N3.split(".")))
        checks.bytes_equal("  names the TEID and the address", elements, wanted)
        checks.ok("  lengths and checksums hold", sums_hold(got))
    checks.ok("and nothing on N6", lab.n6.quiet(0.05))

    indication = Ether(src=GNB_MAC, dst=lab.n3.upf_mac) / IP(src=GNB, dst=UPF_N3) / UDP(sport=2152, dport=2152) / \
        GTPHeader(gtp_type=ERROR_INDICATION, S=1, seq=0, teid=0) / IE_TEIDI(TEIDI=GNB_TEID) / Raw(b"\x85\x00\x04" + bytes(map(int, GNB.split("."))))
    lab.n3.send(indication)
    report = smf.next_report()
    kind = report and one(report.ies, IE_ReportType)
    remote = report and find(report.ies, IE_ErrorIndicationReport, IE_FTEID)
    checks.ok("error indication of the gNodeB is reported to the SMF (ERIR)", kind and kind.ERIR and not kind.DLDR
              and report.pfcp.seid == session.cp_seid and not report.problems())
    checks.ok("  with the tunnel's F-TEID", remote and (remote[0].TEID, remote[0].ipv4) == (GNB_TEID, GNB))
    lab.n3.send(Ether(src=GNB_MAC, dst=lab.n3.upf_mac) / IP(src=GNB, dst=UPF_N3) / UDP(sport=2152, dport=2152)
                / GTPHeader(gtp_type=ERROR_INDICATION, S=1, seq=0, teid=0) / IE_TEIDI(TEIDI=0xdead) / Raw(b"\x85\x00\x04" + bytes([10, 3, 0, 2])))
    checks.ok("one for a tunnel that no session has is not", smf.next_report(0.2) is None)


def host(checks, lab, teid):
    """The UPF's own addresses answer pings: from N6's network, and from UEs through their tunnels."""
    echo = IP(src=SERVER, dst=UPF_N6, id=5) / ICMP(id=7, seq=1) / Raw(b"hello host")
    lab.n6.send(downlink(lab.n6, echo))
    got = lab.n6.next()
    reply = Ether(got) if got else None
    checks.ok("ping to the N6 address", reply and ICMP in reply and reply[ICMP].type == 0 and reply[Raw].load == b"hello host"
              and (reply[IP].src, reply[IP].dst, reply.dst) == (UPF_N6, SERVER, ROUTER_MAC) and sums_hold(got), reply and reply.summary())
    echo6 = IPv6(src=SERVER_V6, dst=UPF_N6_V6) / ICMPv6EchoRequest(id=3, seq=4, data=b"hello six")
    lab.n6.send(downlink(lab.n6, echo6))
    got = lab.n6.next()
    reply = Ether(got) if got else None
    good = reply and ICMPv6EchoReply in reply and reply[ICMPv6EchoReply].data == b"hello six" and reply[IPv6].src == UPF_N6_V6
    checks.ok("ping to the N6 IPv6 address", good and sums_hold6(got), reply and reply.summary())
    ping = IP(src=UE, dst=UPF_N6, id=6) / ICMP(id=8, seq=2) / Raw(b"from the UE")
    lab.n3.send(uplink(lab.n3, teid, ping, QFI))
    got = lab.n3.next()
    parts = gtp_of(got) if got else None
    inner = parts[2][GTPPDUSessionContainer].payload if parts and GTPPDUSessionContainer in parts[2] else None
    good = inner is not None and ICMP in inner and inner[ICMP].type == 0 and (inner[IP].src, inner[IP].dst) == (UPF_N6, UE)
    checks.ok("a UE's ping to the N6 address is answered in its tunnel", good and parts[2].teid == GNB_TEID and sums_hold(got), inner is not None and inner.summary())
    if good:
        count_down(inner.__class__(bytes(inner)))
    # The request ended at the UPF itself: it is punted before the step that charges.
    checks.ok("and does not go to N6", lab.n6.quiet(0.05))


def sums_hold6(frame):
    packet = Ether(frame)
    again = packet[IPv6].copy()
    again.payload.cksum = None
    return bytes(again) == bytes(packet[IPv6])


class N4u:
    """The SMF's end of N4-U."""

    def __init__(self):
        import queue
        self.datagrams = queue.Queue()
        self.udp = Udp(2152, lambda octets, source: self.datagrams.put((octets, source)))

    def next(self, timeout=2.0):
        import queue
        try:
            return self.datagrams.get(timeout=timeout)
        except queue.Empty:
            return None


def router_solicitation(checks, lab, n4u, session, teid):
    """TS 23.501 §5.8.2.2: solicitations go to the SMF in GTP-U, its advertisements come back; hop limits stay 255."""
    solicitation = IPv6(src="fe80::5", dst="ff02::2", hlim=255) / ICMPv6ND_RS()
    solicitation = IPv6(bytes(solicitation))
    for what, source in (("link-local address", "fe80::5"), ("no address", "::"), ("UE's prefix", UE_V6)):
        packet = IPv6(bytes(IPv6(src=source, dst="ff02::2", hlim=255) / ICMPv6ND_RS()))
        lab.n3.send(uplink(lab.n3, teid, packet, QFI))
        got = n4u.next()
        gtp = GTP_U_Header(got[0]) if got else None
        checks.ok(f"router solicitation from {what} reaches the SMF by N4-U", gtp and gtp.gtp_type == 255 and gtp.teid == 0x77
                  and got[1] == (UPF_N4, 2152), gtp and gtp.summary())
        if gtp:
            checks.bytes_equal("  as the UE sent it", bytes(gtp.payload), packet)
    advertisement = IPv6(bytes(IPv6(src="fe80::1", dst="fe80::5", hlim=255) / ICMPv6ND_RA() / ICMPv6NDOptPrefixInfo(prefix="2001:db8:45:2::", prefixlen=64)))
    n4u.udp.send(GTP_U_Header(gtp_type=255, teid=session.teid(3)) / advertisement)
    checks.bytes_equal("router advertisement comes to the gNodeB, container and hop limit 255", lab.n3.next(),
                       at_n3(lab.n3, advertisement, GNB_TEID, QFI, hop=False))


def flows(checks, lab, smf):
    """SDF filters: each packet takes the QFI of the first PDR that it matches, in order of precedence (§5.2.1)."""
    ue = "10.45.0.3"
    rules = open5gs(ue, with_cp=False, qfi=1)
    session = smf.establish(rules)
    checks.ok("session for flows", session.up_seid and session.modify(to_gnb(1, 0x31, create=False)).cause == ACCEPTED)
    teid = session.teid(2)
    name = IE_NetworkInstance(instance=b"internet")

    def flow(n, precedence, qfi, *filters, far_id=1):
        down = [IE_SourceInterface(interface=CORE), name, ue_address(ue, destination=True), *filters]
        above = [IE_SourceInterface(interface=ACCESS), IE_FTEID(CHID=1, CH=1, V4=1, choose_id=5), name, ue_address(ue), *filters]
        return [pdr(10 + 2 * n, precedence, down, IE_FAR_Id(id=1), IE_URR_Id(id=1), IE_QER_Id(id=10 + n)),
                pdr(11 + 2 * n, precedence, above, IE_OuterHeaderRemoval(header=6), IE_FAR_Id(id=2), IE_URR_Id(id=1), IE_QER_Id(id=10 + n)),
                qer(10 + n, qfi)]

    voice = flow(0, 10, 5, sdf("permit out 17 from 10.6.0.2/32 5000-5010 to assigned"))
    web = flow(1, 20, 6, sdf("permit out 6 from any 443 to assigned"), sdf("permit out 6 from any to assigned 8080,9090"))
    marked = flow(2, 30, 7, IE_SDF_Filter(TTC=1, tos_traffic_class=0xb8, tos_traffic_mask=0xfc))
    response = session.modify(*voice, *web, *marked)
    checks.ok("three dedicated flows", response.cause == ACCEPTED, (response.cause, response.offending, response.failed_rule))
    tcp = lambda src, dst, sport, dport: IP(src=src, dst=dst) / TCP(sport=sport, dport=dport, flags="A")  # noqa: E731
    for what, packet, qfi in (
        ("default", udp4(SERVER, ue, 60, sport=4999), 1),
        ("voice, first port", udp4(SERVER, ue, 60, sport=5000), 5),
        ("voice, last port", udp4(SERVER, ue, 60, sport=5010), 5),
        ("beyond its ports", udp4(SERVER, ue, 60, sport=5011), 1),
        ("from another server", udp4(FAR_SERVER, ue, 60, sport=5005), 1),
        ("TCP on voice's ports", tcp(SERVER, ue, 5005, 1), 1),
        ("web, server's port", tcp(FAR_SERVER, ue, 443, 1), 6),
        ("web, UE's second port", tcp(FAR_SERVER, ue, 1, 9090), 6),
        ("marked with the DSCP", udp4(FAR_SERVER, ue, 60, tos=0xb8), 7),
        ("marked, other ECN", udp4(FAR_SERVER, ue, 60, tos=0xbb), 7),
        ("voice before marked", udp4(SERVER, ue, 60, sport=5001, tos=0xb8), 5),
        ("a later fragment has no ports", IP(src=SERVER, dst=ue, frag=3, proto=17) / Raw(struct.pack("!HH", 5000, 5000) + bytes(20)), 1),
    ):
        packet = IP(bytes(packet))
        lab.n6.send(downlink(lab.n6, packet))
        checks.bytes_equal(f"flow: {what}: QFI {qfi}", lab.n3.next(), at_n3(lab.n3, packet, 0x31, qfi))
    closed = session.modify(qer(10, 5, ul="CLOSED", dl="OPEN", create=False))
    checks.ok("voice's gate is closed up", closed.cause == ACCEPTED)
    voice_up, other_up = udp4(ue, SERVER, 60, dport=5000), udp4(ue, SERVER, 61, dport=4999)
    for packet in (voice_up, other_up):
        lab.n3.send(uplink(lab.n3, teid, packet, 1))
    checks.bytes_equal("flow: up, the filter is turned round: only the other packet passes", lab.n6.next(), at_n6(lab.n6, other_up))
    gone = [IE_RemovePDR(IE_list=[IE_PDR_Id(id=n)]) for n in range(10, 16)] + [IE_RemoveQER(IE_list=[IE_QER_Id(id=n)]) for n in (10, 11, 12)]
    checks.ok("flows removed", session.modify(*gone).cause == ACCEPTED)
    packet = udp4(SERVER, ue, 60, sport=5000)
    lab.n6.send(downlink(lab.n6, packet))
    checks.bytes_equal("flow: default again", lab.n3.next(), at_n3(lab.n3, packet, 0x31, 1))
    session.delete()


def gates_and_rates(checks, lab, smf):
    ue, teid = "10.45.0.4", 0x4444
    session = smf.establish(free5gc(ue, teid, 0x41))
    checks.ok("session with TEIDs of the SMF", session.up_seid)
    probe = udp4(SERVER, ue, 60)

    def passes_down():
        lab.n6.send(downlink(lab.n6, probe))
        return lab.n3.next(0.3) == bytes(at_n3(lab.n3, probe, 0x41, 9))

    checks.ok("the second of two QERs has the QFI", passes_down())
    session.modify(qer(1, None, (2_000_000, 2_000_000), dl="CLOSED", create=False))
    checks.ok("a closed gate drops", not passes_down())
    session.modify(qer(1, None, (2_000_000, 2_000_000), create=False))
    checks.ok("an open one does not", passes_down())
    # 1 Mbit/s: the bucket holds 250 ms, 31250 octets. 120 packets of 1000 come at once: a few more than 31 pass.
    checks.ok("a rate of 1 Mbit/s down", session.modify(qer(2, 9, (1_000_000, 1_000), create=False)).cause == ACCEPTED)
    time.sleep(0.1)
    frames = [bytes(downlink(lab.n6, udp4(SERVER, ue, 1000, ident=n))) for n in range(120)]
    begin = time.monotonic()
    for frame in frames:
        lab.n6.send(frame)
    took = time.monotonic() - begin
    passed = len(lab.n3.all(120, 0.4))
    most = 31 + int(took * 125) + 12
    checks.ok("a burst beyond the rate is cut to the bucket and the rate", 26 <= passed <= most, f"{passed} of 120 passed in {took * 1000:.0f} ms; at most {most}")
    lab.n3.drain()
    checks.ok("up is not touched by it", all_up(lab, ue, teid, 40) == 40)
    session.delete()
    stray = uplink(lab.n3, teid, udp4(ue, SERVER, 60), 9)
    lab.n3.send(stray)
    got = lab.n3.next()
    checks.ok("after deletion its tunnel is unknown", got and gtp_of(got)[2].gtp_type == ERROR_INDICATION)
    checks.ok("and its address too", not passes_down())


def all_up(lab, ue, teid, count):
    packets = [udp4(ue, SERVER, 1000, ident=n) for n in range(count)]
    for packet in packets:
        lab.n3.send(uplink(lab.n3, teid, packet, 9))
    got = lab.n6.all(count, 1.0)
    return len(got) if got == [bytes(at_n6(lab.n6, p)) for p in packets] else -1


def buffering(checks, lab, smf):
    """Idle mode: what waits leaves in order, before what comes later, changed no more than once."""
    ue = "10.45.0.5"
    session = smf.establish(open5gs(ue, with_cp=False, qfi=3))
    packets = [IP(bytes(udp4(SERVER, ue, 40 + 13 * n, ident=n))) for n in range(50)]
    for packet in packets[:20]:
        lab.n6.send(downlink(lab.n6, packet))
    report = smf.next_report()
    checks.ok("buffering: reported once", report and one(report.ies, IE_ReportType).DLDR and smf.next_report(0.2) is None)
    checks.ok("buffering: nothing leaves but what is not for it", taken(lab) and lab.n3.quiet(0.01))
    session.modify(to_gnb(1, 0x51, create=False))
    for packet in packets[20:30]:
        lab.n6.send(downlink(lab.n6, packet))
    checks.ok("buffering: 20 packets and then 10 more, in order", lab.n3.all(30) == [bytes(at_n3(lab.n3, p, 0x51, 3)) for p in packets[:30]])
    session.modify(idle(1))
    for n in range(70):
        lab.n6.send(downlink(lab.n6, udp4(SERVER, ue, 60, ident=n)))
    checks.ok("buffering: reported again when idle again", smf.next_report() is not None and taken(lab))
    session.modify(to_gnb(1, 0x52, create=False))
    wanted = [bytes(at_n3(lab.n3, udp4(SERVER, ue, 60, ident=n), 0x52, 3)) for n in range(64)]
    checks.ok("buffering: the oldest 64 are kept (the limit), by the new tunnel", lab.n3.all(64) == wanted and lab.n3.quiet(0.05))
    session.modify(idle(1))
    lab.n6.send(downlink(lab.n6, packets[0]))
    taken(lab)
    session.modify(IE_PFCPSMReqFlags(spare=0, DROBU=1))
    session.modify(to_gnb(1, 0x51, create=False))
    lab.n6.send(downlink(lab.n6, packets[1]))
    checks.bytes_equal("buffering: DROBU drops what waits", lab.n3.next(), at_n3(lab.n3, packets[1], 0x51, 3))
    session.modify(idle(1))
    lab.n6.send(downlink(lab.n6, packets[2]))
    taken(lab)
    session.modify(far(1, create=False, DROP=1))
    session.modify(to_gnb(1, 0x51, create=False))
    lab.n6.send(downlink(lab.n6, packets[3]))
    checks.bytes_equal("buffering: DROP drops what waits", lab.n3.next(), at_n3(lab.n3, packets[3], 0x51, 3))
    session.modify(idle(1))
    lab.n6.send(downlink(lab.n6, packets[4]))
    smf.next_report()
    session.modify(idle(1))
    lab.n6.send(downlink(lab.n6, packets[5]))
    checks.ok("buffering: told BUFF and NOCP anew, the next packet is reported anew", smf.next_report(0.5) is not None)
    session.modify(to_gnb(1, 0x51, create=False))
    checks.ok("buffering: both packets come", lab.n3.all(2) == [bytes(at_n3(lab.n3, p, 0x51, 3)) for p in packets[4:6]])
    session.delete()


def path_switch(checks, lab, smf):
    """Handover: an end marker closes the old tunnel, behind its last packet (TS 29.281 §7.3.2, SNDEM)."""
    ue = "10.45.0.6"
    session = smf.establish(free5gc(ue, 0x6600, 0x61))
    before, after = [udp4(SERVER, ue, 100, ident=n) for n in range(5)], [udp4(SERVER, ue, 100, ident=100 + n) for n in range(5)]
    for packet in before:
        lab.n6.send(downlink(lab.n6, packet))
    first = lab.n3.all(5)
    checks.ok("path switch: the packets before by the old tunnel", first == [bytes(at_n3(lab.n3, p, 0x61, 9)) for p in before])
    flags = [IE_PFCPSMReqFlags(spare=0, SNDEM=1)]
    response = session.modify(to_gnb(2, 0x62, GNB2, create=False, flags=flags))
    checks.ok("path switch to a second gNodeB", response.cause == ACCEPTED)
    for packet in after:
        lab.n6.send(downlink(lab.n6, packet))
    frames = lab.n3.all(6)
    to_old = [f for f in frames if Ether(f)[IP].dst == GNB]
    to_new = [f for f in frames if Ether(f)[IP].dst == GNB2]
    marker = gtp_of(to_old[0])[2] if to_old else None
    checks.ok("path switch: then its end marker, and nothing after", len(to_old) == 1 and marker.gtp_type == END_MARKER and marker.teid == 0x61
              and marker.length == 0 and sums_hold(to_old[0]), [gtp_of(f)[2].summary() for f in to_old])
    checks.ok("path switch: the packets after by the new one", to_new == [bytes(at_n3(lab.n3, p, 0x62, 9, GNB2, GNB2_MAC)) for p in after])
    response = session.modify(to_gnb(2, 0x63, GNB2, create=False))
    checks.ok("path switch without SNDEM: no end marker", response.cause == ACCEPTED and lab.n3.quiet())
    session.delete()


def indirect_forwarding(checks, lab, smf, session):
    """Data forwarding at a handover (TS 23.502 §4.9.1.3.3): from gNodeB to gNodeB through us, not routed, not charged."""
    pdi = [IE_SourceInterface(interface=ACCESS), IE_FTEID(CH=1, V4=1), IE_NetworkInstance(instance=b"internet")]
    response = session.modify(pdr(20, 255, pdi, IE_OuterHeaderRemoval(header=6), IE_FAR_Id(id=20), IE_QER_Id(id=1)), to_gnb(20, 0x71, GNB2))
    if not checks.ok("indirect forwarding: rules", response.cause == ACCEPTED, (response.cause, response.failed_rule)):
        return
    teid = response.created[20].TEID
    packet = udp4(SERVER, UE, 200)
    lab.n3.send(uplink(lab.n3, teid, packet))
    checks.bytes_equal("indirect forwarding: to the other gNodeB, TTL as it was", lab.n3.next(),
                       at_n3(lab.n3, packet, 0x71, QFI, GNB2, GNB2_MAC, hop=False))
    lab.n3.send(Ether(src=GNB_MAC, dst=lab.n3.upf_mac) / IP(src=GNB, dst=UPF_N3) / UDP(sport=2152, dport=2152)
                / GTP_U_Header(gtp_type=END_MARKER, teid=teid))
    got = lab.n3.next()
    parts = gtp_of(got) if got else None
    checks.ok("indirect forwarding: the end marker follows", parts and (parts[0].dst, parts[2].gtp_type, parts[2].teid) == (GNB2, END_MARKER, 0x71), got)
    response = session.modify(IE_RemovePDR(IE_list=[IE_PDR_Id(id=20)]), IE_RemoveFAR(IE_list=[IE_FAR_Id(id=20)]))
    checks.ok("indirect forwarding: removed", response.cause == ACCEPTED)


def storm(checks, lab, smf, teid):
    """Mutated and random frames on both sides: whatever comes out, the UPF goes on."""
    rng = random.Random(SEED)
    templates = [bytes(uplink(lab.n3, teid ^ 0x55aa, udp4(UE, SERVER, 90), QFI, S=1, seq=1)), bytes(uplink(lab.n3, teid ^ 0x55aa, udp6(UE_V6, SERVER_V6, 90), QFI)),
                 bytes(Ether(src=GNB_MAC, dst=lab.n3.upf_mac) / IP(src=GNB, dst=UPF_N3) / UDP(sport=2152, dport=2152) / GTPHeader(gtp_type=ECHO_REQUEST, S=1, seq=1, teid=0)),
                 bytes(Ether(src=GNB_MAC, dst=lab.n3.upf_mac) / ARP(op=1, hwsrc=GNB_MAC, psrc="10.3.0.77", pdst=UPF_N3))]
    for port, count in ((lab.n3, 1500), (lab.n6, 500)):
        for n in range(count):
            frame = bytearray(rng.choice(templates))
            for _ in range(rng.randint(1, 8)):
                frame[rng.randrange(12, len(frame))] = rng.randrange(256)
            frame = bytes(frame[:rng.randint(14, len(frame))] if rng.random() < 0.2 else frame)
            frame = bytes.fromhex(port.upf_mac.replace(":", "")) + frame[6:]
            port.send(frame)
    checks.ok("2000 mutated frames: heartbeats are answered", smf.heartbeat() is not None)
    time.sleep(0.3)
    lab.n3.drain()
    lab.n6.drain()
    packet = udp4(UE, SERVER, 100, ident=0x4711)
    up(checks, lab, "2000 mutated frames: traffic flows", uplink(lab.n3, teid, packet, QFI), packet)


def end(checks, lab, smf):
    lab.n3.drain()
    lab.n6.drain()
    code, report = lab.stop()
    time.sleep(0.1)
    checks.equal("the UPF ends well", code, 0)
    checks.equal("every packet is accounted for", report.get("imbalance"), 0)
    ports = report.get("ports", {})
    of = lambda name, way: ports.get(name, {}).get(way, {}).get("packets")  # noqa: E731
    checks.equal("the UPF has received what we sent", {n: of(n, "received") for n in ("n3", "n6")}, {"n3": lab.n3.sent, "n6": lab.n6.sent})
    checks.equal("we have received what the UPF sent", {"n3": lab.n3.received, "n6": lab.n6.received}, {n: of(n, "transmitted") for n in ("n3", "n6")})
    dropped = sorted((reason, count["packets"]) for reason, count in report.get("dropped", {}).items())
    print("       the host refused: " + ", ".join(f"{reason} {count}" for reason, count in sorted(report.get("refused", {}).items())))
    print("       dropped, by reason: " + ", ".join(f"{reason} {count}" for reason, count in dropped))
    wanted = {"source_spoofed", "ttl_expired", "ipv4_checksum", "length_mismatch", "gtpu_version", "not_our_mac", "fragmented_tunnel",
              "no_session", "gate_closed", "rate_exceeded", "malformed", "unsupported_protocol", "no_pdr", "buffer_full", "buffer_discarded"}
    missing = sorted(wanted - set(report.get("dropped", {})) - set(report.get("refused", {})))
    checks.equal("each of the faults above has its reason", missing, [])
    targets = report.get("targets", {})
    fast = [t for t in targets.values() if t.get("modelled")]
    if fast:
        # Packets that were dropped are told apart: these are those that went on.
        carried = {way: (fast[0][way]["packets"], sum(t[way]["packets"] for t in targets.values())) for way in ("uplink", "downlink")}
        checks.ok("the switch model has carried nearly all of both directions",
                  all(by_switch > 300 and by_switch >= 0.9 * of_all for by_switch, of_all in carried.values()), carried)
    log = lab.log_text()
    checks.ok("nothing in its log is an error", "panicked" not in log and "ERROR" not in log, log[-600:])


if __name__ == "__main__":
    sys.exit(main())
