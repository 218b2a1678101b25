"""Frames of N3 and N6 as Scapy builds them: what we send, and what the UPF is expected to send, octet for octet."""

from scapy.contrib.gtp import (  # noqa: F401
    GTP_U_Header, GTP_UDPPort_ExtensionHeader, GTPEchoRequest, GTPHeader, GTPPDUSessionContainer, IE_GSNAddress, IE_Recovery,
    IE_TEIDI,
)
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_RR  # noqa: F401
from scapy.layers.inet6 import (  # noqa: F401
    ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6ND_RA, ICMPv6ND_RS, ICMPv6NDOptPrefixInfo, ICMPv6NDOptSrcLLAddr, IPv6,
    IPv6ExtHdrFragment,
)
from scapy.layers.l2 import ARP, Ether  # noqa: F401
from scapy.packet import Raw  # noqa: F401

from lab import GNB, GNB_MAC, ROUTER_MAC, UPF_N3

G_PDU, ECHO_REQUEST, ECHO_RESPONSE, ERROR_INDICATION, END_MARKER = 255, 1, 2, 26, 254


def udp4(src, dst, size, ident=1, ttl=64, sport=4000, dport=5000, tos=0, seed=0):
    """An IPv4 UDP packet of `size` octets in all, at least 28."""
    load = bytes((seed + i * 7) & 0xff for i in range(size - 28))
    return IP(src=src, dst=dst, id=ident & 0xffff, ttl=ttl, tos=tos) / UDP(sport=sport, dport=dport) / Raw(load)


def udp6(src, dst, size, hlim=64, sport=4000, dport=5000, tc=0, seed=0):
    """An IPv6 UDP packet of `size` octets in all, at least 48."""
    load = bytes((seed + i * 5) & 0xff for i in range(size - 48))
    return IPv6(src=src, dst=dst, hlim=hlim, tc=tc) / UDP(sport=sport, dport=dport) / Raw(load)


def hopped(packet):
    """The packet one hop further: TTL less one, checksum computed anew by Scapy."""
    packet = packet.__class__(bytes(packet))
    if IPv6 in packet and packet.version == 6:
        packet.hlim -= 1
    else:
        packet.ttl -= 1
        packet.chksum = None
    return packet.__class__(bytes(packet))


def psc(qfi, kind, **more):
    """PDU Session Container (TS 38.415 §5.5.2): kind 0 downlink, 1 uplink."""
    return GTPPDUSessionContainer(type=kind, QFI=qfi, **more)


def uplink(port, teid, inner, qfi=None, src=GNB, src_mac=GNB_MAC, sport=2152, ttl=64, psc_fields=None, **gtp):
    """A frame from the gNodeB."""
    head = GTP_U_Header(gtp_type=G_PDU, teid=teid, **({"E": 1, "next_ex": 0x85} if qfi is not None else {}), **gtp)
    if qfi is not None:
        head = head / psc(qfi, 1, **(psc_fields or {}))
    outer = IP(src=src, dst=UPF_N3, ttl=ttl) / UDP(sport=sport, dport=2152)
    # As octets: Scapy leaves a fragment header inside out of the outer lengths.
    return Ether(src=src_mac, dst=port.upf_mac) / outer / head / Raw(bytes(inner))


def at_n6(port, inner, mac=ROUTER_MAC):
    """The frame that the UPF sends on N6 for this user packet."""
    kind = 0x86dd if inner.version == 6 else 0x0800
    return Ether(src=port.upf_mac, dst=mac, type=kind) / hopped(inner)


def downlink(port, packet, src_mac=ROUTER_MAC):
    """A frame from the data network."""
    kind = 0x86dd if packet.version == 6 else 0x0800
    return Ether(src=src_mac, dst=port.upf_mac, type=kind) / packet


def at_n3(port, inner, teid, qfi, dst=GNB, mac=GNB_MAC, rqi=0, tos=0, hop=True):
    """The frame that the UPF sends on N3 for this user packet: no options, DF, ID 0, UDP checksum 0 (TS 29.281 §4.4)."""
    inner = hopped(inner) if hop else inner
    head = GTP_U_Header(gtp_type=G_PDU, teid=teid, **({"E": 1, "next_ex": 0x85} if qfi is not None else {}))
    if qfi is not None:
        head = head / psc(qfi, 0, RQI=rqi)
    outer = IP(src=UPF_N3, dst=dst, ttl=64, id=0, flags="DF", tos=tos) / UDP(sport=2152, dport=2152, chksum=0)
    return Ether(src=port.upf_mac, dst=mac) / outer / head / inner


def sums_hold(frame):
    """Whether lengths and IPv4 header checksums of all layers are what Scapy computes; and UDP's where it has one."""
    packet = Ether(frame)
    layer = packet.payload
    while layer and not isinstance(layer, Raw):
        if isinstance(layer, IP):
            again = layer.copy()
            again.chksum = None
            if IP(bytes(again)).chksum != layer.chksum or layer.len != len(layer):
                return False
        if isinstance(layer, UDP) and layer.len != len(layer):
            return False
        if isinstance(layer, UDP) and layer.chksum:
            again = layer.underlayer.copy()
            again[UDP].chksum = None
            if again.__class__(bytes(again))[UDP].chksum != layer.chksum:
                return False
        if isinstance(layer, GTPHeader) and layer.length != len(layer) - 8:
            return False
        layer = layer.payload
    return True


def gtp_of(frame):
    """Outer IP, UDP and GTP-U of a frame on N3; None if it is something else."""
    packet = Ether(frame)
    if IP not in packet or UDP not in packet or packet[UDP].dport != 2152 and packet[UDP].sport != 2152:
        return None
    head = packet[UDP].payload
    if not isinstance(head, GTPHeader):
        head = GTPHeader(bytes(head))
    return packet[IP], packet[UDP], head


__all__ = [name for name in dir() if not name.startswith("_")]
