"""Scapy as a second SMF: every procedure of N4, what is refused and why, and what hostile datagrams do (nothing).

Usage: smf_scapy.py BINARY
"""

import random
import struct
import sys
import time

from gtpu import at_n3, at_n6, downlink, udp4, uplink
from lab import ASIC, SMF, UPF_N3, UPF_N4, Checks, Lab
from n4 import *  # noqa: F403

SEED = 20240607
SERVER = "10.6.0.2"


def main():
    checks = Checks("SMF: Scapy's PFCP (TS 29.244), sessions on the switch model")
    lab = Lab(sys.argv[1], driver="af_packet", split=ASIC, associate=[SMF])
    smf = Smf()
    lab.start()
    asked(checks, smf)
    node(checks, smf)
    association(checks, smf)
    open5gs_session(checks, smf)
    free5gc_session(checks, smf)
    pfcpsim_session(checks, smf)
    chosen_addresses(checks, smf)
    restart(checks, smf)
    retransmission(checks, smf)
    rejections(checks, smf)
    all_or_nothing(checks, smf, lab)
    volumes(checks, smf, lab)
    usage_reports(checks, smf, lab)
    events(checks, smf, lab)
    monitoring_time(checks, smf, lab)
    downlink_data(checks, smf, lab)
    session_sets(checks, smf)
    malformed(checks, smf)
    release(checks, smf)
    end(checks, smf, lab)
    return checks.finish()


def asked(checks, smf):
    """The UPF asks for an association itself (§6.2.6.3)."""
    request = smf.next_request(10.0)
    if not checks.ok("the UPF asks for an association", request and request.kind == 5):
        return
    node_id, stamp = one(request.ies, IE_NodeId), one(request.ies, IE_RecoveryTimeStamp)
    checks.ok("  well formed, with Node ID and features", node_id and node_id.ipv4 == UPF_N4 and stamp
              and one(request.ies, IE_UPFunctionFeatures) and not request.problems(), request.problems())
    ies = [smf.node_id(), IE_Cause(cause=ACCEPTED), IE_RecoveryTimeStamp(timestamp=smf.started)]
    smf.udp.send(PFCP(S=0, seq=request.pfcp.seq) / PFCPAssociationSetupResponse(IE_list=ies))
    session = smf.establish(open5gs("10.45.0.2"))
    accepted(checks, "our response to that is an association: a session", session.response)
    accepted(checks, "  is deleted", session.delete())
    accepted(checks, "  and the association released", smf.release())
    while not smf.requests.empty():
        smf.requests.get()


def node(checks, smf):
    """Before there is an association."""
    response = smf.heartbeat()
    checks.ok("heartbeat is answered without an association", response and response.kind == 2)
    stamp = response and one(response.ies, IE_RecoveryTimeStamp)
    checks.ok("with a recovery time stamp of now", stamp and abs(stamp.timestamp - NTP_UNIX - time.time()) < 60)
    checks.ok("as a node message: no SEID", response and response.pfcp.S == 0 and response.problems() == [])
    smf.recovery = stamp.timestamp

    refused = smf.establish(open5gs("10.45.0.9")).response
    rejected(checks, "session without an association", refused, NO_ASSOCIATION)
    for missing, ies in ((60, [IE_RecoveryTimeStamp(timestamp=1)]), (96, [smf.node_id()])):
        refused = smf.ask(PFCPAssociationSetupRequest(IE_list=ies))
        rejected(checks, f"association setup without IE {missing}", refused, MANDATORY_MISSING, missing)
        checks.ok("  has a Node ID and a recovery time stamp", one(refused.ies, IE_NodeId) and one(refused.ies, IE_RecoveryTimeStamp))
    rejected(checks, "release of an association that is not there", smf.release(), NO_ASSOCIATION)
    rejected(checks, "modification without session", smf.ask(PFCPSessionModificationRequest(IE_list=[]), seid=1), NO_ASSOCIATION)
    rejected(checks, "PFD management", smf.ask(PFCPPFDManagementRequest(IE_list=[])), NOT_SUPPORTED)

    octets = bytearray(bytes(header(PFCPHeartbeatRequest(IE_list=[]), None, 77)))
    octets[0] |= 0x40  # version 3
    response = smf.ask_octets(bytes(octets), 77)
    checks.ok("another version is answered with Version Not Supported", response and response.kind == 11)


def association(checks, smf):
    response = smf.associate()
    accepted(checks, "association setup", response)
    node_id, stamp = one(response.ies, IE_NodeId), one(response.ies, IE_RecoveryTimeStamp)
    checks.ok("Node ID is the N4 address", node_id and node_id.id_type == 0 and node_id.ipv4 == UPF_N4)
    checks.ok("recovery time stamp as in heartbeats", stamp and stamp.timestamp == smf.recovery)
    features = one(response.ies, IE_UPFunctionFeatures)
    checks.ok("features: FTUP, EMPU, DDND", features and features.FTUP and features.EMPU and features.DDND)
    newer = features.extra_data[0] if features and features.extra_data else 0
    checks.ok("features: UEIP, MNOP, BUNDL", newer & 0x54 == 0x54, hex(newer))
    absent = features and (features.TREU, features.HEEU, features.PFDM, features.PDIU, features.BUCP, features.FRRT)
    checks.ok("no feature that is not there", absent == (0,) * 6, absent)
    update = smf.ask(PFCPAssociationUpdateRequest(IE_list=[smf.node_id()]))
    accepted(checks, "association update", update)

    two = [bytes(header(PFCPHeartbeatRequest(IE_list=[IE_RecoveryTimeStamp(timestamp=smf.started)]), None, n)) for n in (501, 502)]
    bundle = bytes([two[0][0] | 0x04]) + two[0][1:] + two[1]
    checks.ok("two messages in one datagram (FO) are both answered", smf.ask_octets(bundle, 502) is not None
              and any(Response(o).pfcp.seq == 501 for o in smf.everything))


def open5gs_session(checks, smf):
    session = smf.establish(open5gs("10.45.0.2", "2001:db8:45:2::"))
    response = session.response
    if not accepted(checks, "Open5GS: session establishment", response):
        return
    checks.equal("addressed to the SMF's SEID", response.pfcp.seid, session.cp_seid)
    node_id, f_seid = one(response.ies, IE_NodeId), one(response.ies, IE_FSEID)
    checks.ok("with Node ID", node_id and node_id.ipv4 == UPF_N4)
    checks.ok("with F-SEID at the N4 address", f_seid and f_seid.v4 and not f_seid.v6 and f_seid.ipv4 == UPF_N4 and f_seid.seid)
    created = response.created
    checks.equal("F-TEIDs for the PDRs that asked", sorted(created), [2, 3, 4])
    where = {n: (t.CH, t.V4, t.V6, t.ipv4) for n, t in created.items()}
    checks.equal("each on the address of its side", where, {2: (0, 1, 0, UPF_N3), 3: (0, 1, 0, UPF_N4), 4: (0, 1, 0, UPF_N3)})
    checks.ok("one TEID for one CHOOSE ID", created[2].TEID == created[4].TEID != 0 and created[3].TEID != 0)

    accepted(checks, "FAR update with outer header creation", session.modify(to_gnb(1, 0x11, create=False)))
    response = session.modify(IE_QueryURR(IE_list=[IE_URR_Id(id=1)]))
    report = accepted(checks, "query of a URR", response) and one(response.ies, IE_UsageReport_SMR)
    checks.ok("has a usage report with IMMER and UR-SEQN 0", report and one(report.IE_list, IE_UsageReportTrigger).IMMER
              and one(report.IE_list, IE_UR_SEQN).number == 0 and one(report.IE_list, IE_URR_Id).id == 1)
    response = session.modify(IE_PFCPSMReqFlags(spare=0, QUARR=1))
    reports = find(response.ies, IE_UsageReport_SMR)
    checks.ok("query of all URRs (QAURR)", len(reports) == 1 and one(reports[0].IE_list, IE_UR_SEQN).number == 1)

    uplink_pdi = [IE_SourceInterface(interface=ACCESS), IE_FTEID(CHID=1, CH=1, V4=1, choose_id=5), ue_address("10.45.0.2", "2001:db8:45:2::"),
                  sdf("permit out 17 from 10.6.0.9/32 5000-5100 to assigned")]
    flow = pdr(10, 50, uplink_pdi, IE_OuterHeaderRemoval(header=6), IE_FAR_Id(id=2), IE_URR_Id(id=1), IE_QER_Id(id=10))
    response = session.modify(flow, qer(10, 5, (128, 128)))
    accepted(checks, "a dedicated flow's PDR and QER", response)
    checks.ok("shares the session's tunnel", response.created[10].TEID == created[2].TEID)
    change = IE_UpdatePDR(IE_list=[IE_PDR_Id(id=10), IE_Precedence(precedence=40)])
    accepted(checks, "PDR and QER updates", session.modify(change, qer(10, 6, (256, 256), create=False)))
    gone = IE_RemovePDR(IE_list=[IE_PDR_Id(id=10)]), IE_RemoveQER(IE_list=[IE_QER_Id(id=10)])
    accepted(checks, "removal of the flow", session.modify(*gone))
    # An SMF in use sends it again when the first answer is late.
    accepted(checks, "removal once more", session.modify(*gone))

    moved = smf.new_seid()
    accepted(checks, "a new F-SEID of the SMF", session.modify(IE_FSEID(v4=1, seid=moved, ipv4=SMF)))
    response = session.modify(IE_Update_BAR_SMR(IE_list=[IE_BAR_Id(id=1), IE_DownlinkDataNotificationDelay(delay=2)]))
    checks.ok("  is used from then on", accepted(checks, "BAR update", response) and response.pfcp.seid == moved)
    response = session.delete()
    accepted(checks, "session deletion", response)
    report = one(response.ies, IE_UsageReport_SDR)
    checks.ok("has the last usage report (TERMR, UR-SEQN 2)", report and one(report.IE_list, IE_UsageReportTrigger).TERMR
              and one(report.IE_list, IE_UR_SEQN).number == 2)
    checks.ok("with start and end time, volume and duration", report and all(one(report.IE_list, kind) for kind in
              (IE_StartTime, IE_EndTime, IE_VolumeMeasurement, IE_DurationMeasurement)))


def free5gc_session(checks, smf):
    session = smf.establish(free5gc("10.45.0.3", 0x3003, 0x33), priority=7)
    response = session.response
    if not accepted(checks, "free5GC: session establishment, names as plain text", response):
        return
    checks.ok("priority is given back", (response.pfcp.MP, response.pfcp.priority) == (1, 7))
    checks.equal("no F-TEIDs where the SMF chose them", response.created, {})
    accepted(checks, "idle", session.modify(idle(2)))
    response = session.delete()
    reports = find(response.ies, IE_UsageReport_SDR)
    checks.equal("deletion reports both URRs", [one(r.IE_list, IE_URR_Id).id for r in reports], [1, 2])


def pfcpsim_session(checks, smf):
    session = smf.establish(pfcpsim("10.45.0.4", 0x4004))
    if not accepted(checks, "pfcpsim: session establishment, a QER with ID 0", session.response):
        return
    parameters = IE_UpdateForwardingParameters(IE_list=[IE_DestinationInterface(interface=ACCESS), gnb_tunnel(0x44)])
    accepted(checks, "FAR update from DROP to FORW", session.modify(far(2, parameters, create=False, FORW=1)))
    accepted(checks, "deletion with an F-SEID in it", session.delete(IE_FSEID(v4=1, seid=session.cp_seid, ipv4=SMF)))
    accepted(checks, "association release with sequence number 0", smf.release(sequence=0))
    rejected(checks, "session after it", smf.establish(pfcpsim("10.45.0.4", 0x4004)).response, NO_ASSOCIATION)
    accepted(checks, "association anew", smf.associate())
    accepted(checks, "association release with sequence number 0 again", smf.release(sequence=0))
    accepted(checks, "association anew", smf.associate())


def chosen_addresses(checks, smf):
    """UEIP: the UPF chooses the UE's addresses, the same for all PDRs of the session (TS 29.244 §5.21.3)."""
    choose = {False: other(93, b"\x30"), True: other(93, b"\x34")}  # CHV6, CHV4; S/D

    def rules():
        made = [r for r in open5gs("10.45.0.2", with_cp=False)]
        for create in find(made, IE_CreatePDR):
            pdi = one(create.IE_list, IE_PDI)
            pdi.IE_list = [choose[bool(ie.SD)] if isinstance(ie, IE_UE_IP_Address) else ie for ie in pdi.IE_list]
        return made

    sessions = [smf.establish(rules()) for _ in range(3)]
    if not all([accepted(checks, "session whose addresses the UPF chooses", s.response) for s in sessions]):
        return
    chosen = []
    for session in sessions:
        each = [one(p.IE_list, IE_UE_IP_Address) for p in find(session.response.ies, IE_CreatedPDR)]
        checks.ok("  both PDRs get the same IPv4 address and IPv6 prefix", len(each) == 2 and all(each) and len({(a.V4, a.ipv4, a.V6, a.ipv6) for a in each}) == 1
                  and each[0].V4 == each[0].V6 == 1 and each[0].ipv4.startswith("10.45.") and each[0].ipv6.startswith("2001:db8:45:"), [a and a.summary() for a in each])
        chosen += each[:1]
    checks.ok("  each session its own", len({a.ipv4 for a in chosen}) == len({a.ipv6 for a in chosen}) == 3)
    refused = smf.establish(open5gs(chosen[0].ipv4, with_cp=False)).response
    rejected(checks, "a chosen address is not given again", refused, RULE_FAILURE, rule=("PDR", 1))
    for session in sessions:
        accepted(checks, "deletion", session.delete())


def restart(checks, smf):
    """TS 23.527 §4.3: an SMF that has begun anew has lost its sessions, so they end here too."""
    accepted(checks, "association release", smf.release())
    named = IE_NodeId(id_type=2, id=b"smf.example.org")
    response = smf.ask(PFCPAssociationSetupRequest(IE_list=[named, IE_RecoveryTimeStamp(timestamp=smf.started)]))
    accepted(checks, "association of a Node ID that is a name", response)
    mine = smf.node_id
    smf.node_id = lambda: named
    session = smf.establish(open5gs("10.45.0.30"))
    accepted(checks, "  and a session of it", session.response)
    smf.started += 100
    smf.heartbeat()
    accepted(checks, "a new recovery time stamp is not believed at once", session.modify())
    time.sleep(4)
    smf.heartbeat()
    rejected(checks, "but when it stays: the SMF has restarted, its sessions have ended", session.modify(), NO_ASSOCIATION)
    rejected(checks, "  and its association", smf.establish(open5gs("10.45.0.30")).response, NO_ASSOCIATION)
    smf.node_id = mine
    accepted(checks, "association anew", smf.associate())


def retransmission(checks, smf):
    """TS 29.244 §6.4: a request that comes again is answered as before and not done again."""
    cp_seid, sequence = smf.new_seid(), smf.next_sequence()
    request = bytes(header(smf.establishment(open5gs("10.45.0.5"), cp_seid), 0, sequence))
    first = smf.ask_octets(request, sequence)
    again = smf.ask_octets(request, sequence)
    accepted(checks, "establishment", first)
    checks.bytes_equal("  sent again: the same answer", again and again.octets, first.octets)
    session = Session(smf, cp_seid, one(first.ies, IE_FSEID).seid, first)
    rejected(checks, "another session with the same UE address", smf.establish(open5gs("10.45.0.5")).response, RULE_FAILURE, rule=("PDR", 1))
    for what, payload in (
        ("modification with a query", PFCPSessionModificationRequest(IE_list=[IE_QueryURR(IE_list=[IE_URR_Id(id=1)])])),
        ("deletion", PFCPSessionDeletionRequest(IE_list=[])),
    ):
        sequence = smf.next_sequence()
        request = bytes(header(payload, session.up_seid, sequence))
        first, again = smf.ask_octets(request, sequence), smf.ask_octets(request, sequence)
        accepted(checks, what, first)
        checks.bytes_equal("  sent again: the same answer", again and again.octets, first.octets)
    rejected(checks, "a new deletion of the deleted session", session.delete(), NOT_FOUND)
    checks.ok("the address is free again", accepted(checks, "the same UE's next session", (s := smf.establish(open5gs("10.45.0.5"))).response))
    s.delete()


def rejections(checks, smf):
    """Cause, Offending IE and Failed Rule ID of requests with one fault (TS 29.244 §7.6, §8.2.1)."""
    base = lambda: free5gc("10.45.0.6", 0x6006, 0x66)  # noqa: E731

    def without(kind, inner=None, index=0):
        rules = base()
        target = find(rules, kind)[index]
        if inner is None:
            return [r for r in rules if not isinstance(r, kind)]
        target.IE_list = [ie for ie in target.IE_list if not isinstance(ie, inner)]
        return rules

    def replaced(kind, old, new, index=0):
        rules = base()
        target = find(rules, kind)[index]
        target.IE_list = [new if isinstance(ie, old) else ie for ie in target.IE_list]
        return rules

    def pdi_with(*ies, drop=()):
        rules = base()
        pdi = one(find(rules, IE_CreatePDR)[0].IE_list, IE_PDI)
        pdi.IE_list = [ie for ie in pdi.IE_list if not isinstance(ie, drop)] + list(ies)
        return rules

    cases = [
        ("no Create PDR", without(IE_CreatePDR), MANDATORY_MISSING, 1, None),
        ("no Create FAR", without(IE_CreateFAR), MANDATORY_MISSING, 3, None),
        ("PDR without ID", without(IE_CreatePDR, IE_PDR_Id), MANDATORY_MISSING, 56, None),
        ("PDR without precedence", without(IE_CreatePDR, IE_Precedence), MANDATORY_MISSING, 29, None),
        ("PDR without PDI", without(IE_CreatePDR, IE_PDI), MANDATORY_MISSING, 2, None),
        ("PDR without FAR ID", without(IE_CreatePDR, IE_FAR_Id), CONDITIONAL_MISSING, 108, None),
        ("PDI without source interface", pdi_with(drop=(IE_SourceInterface,)), MANDATORY_MISSING, 20, None),
        ("FAR without ID", without(IE_CreateFAR, IE_FAR_Id), MANDATORY_MISSING, 108, None),
        ("FAR without apply action", without(IE_CreateFAR, IE_ApplyAction), MANDATORY_MISSING, 44, None),
        ("FORW without forwarding parameters", without(IE_CreateFAR, IE_ForwardingParameters), CONDITIONAL_MISSING, 4, None),
        ("URR without method", without(IE_CreateURR, IE_MeasurementMethod), MANDATORY_MISSING, 62, None),
        ("URR without triggers", without(IE_CreateURR, IE_ReportingTriggers), MANDATORY_MISSING, 37, None),
        ("QER without gate status", without(IE_CreateQER, IE_GateStatus), MANDATORY_MISSING, 25, None),
        ("FORW and DROP at once", replaced(IE_CreateFAR, IE_ApplyAction, IE_ApplyAction(spare=0, FORW=1, DROP=1)), MANDATORY_INCORRECT, 44, None),
        ("source interface 9", replaced_in_pdi(base(), IE_SourceInterface, IE_SourceInterface(interface=9)), MANDATORY_INCORRECT, 20, None),
        ("outer header removal 99", replaced(IE_CreatePDR, IE_OuterHeaderRemoval, IE_OuterHeaderRemoval(header=99)), MANDATORY_INCORRECT, 95, None),
        ("UE address of nothing", replaced_in_pdi(base(), IE_UE_IP_Address, ue_address()), MANDATORY_INCORRECT, 93, None),
        ("TEID 0", replaced_in_pdi(base(), IE_FTEID, IE_FTEID(V4=1, TEID=0, ipv4=UPF_N3)), MANDATORY_INCORRECT, 21, None),
        ("F-TEID cut short", replaced_in_pdi(base(), IE_FTEID, other(21, b"\x01\x00\x00")), INVALID_LENGTH, 21, None),
        ("FAR that is not there", replaced(IE_CreatePDR, IE_FAR_Id, IE_FAR_Id(id=77)), RULE_FAILURE, None, ("PDR", 1)),
        ("QER that is not there", replaced(IE_CreatePDR, IE_QER_Id, IE_QER_Id(id=77)), RULE_FAILURE, None, ("PDR", 1)),
        ("URR that is not there", replaced(IE_CreatePDR, IE_URR_Id, IE_URR_Id(id=77)), RULE_FAILURE, None, ("PDR", 1)),
        ("BAR that is not there", far_with(base(), IE_BAR_Id(id=3)), RULE_FAILURE, None, ("FAR", 2)),
        ("F-TEID on an address that is not ours", replaced_in_pdi(base(), IE_FTEID, IE_FTEID(V4=1, TEID=5, ipv4="192.0.2.1")), RULE_FAILURE, None, ("PDR", 1)),
        ("SDF filter that is no rule", pdi_with(sdf("allow everything")), RULE_FAILURE, None, ("PDR", 1)),
        ("application ID", pdi_with(IE_ApplicationId(id=b"video")), RULE_FAILURE, None, ("PDR", 1)),
        ("forwarding policy", policy(base()), 70, None, ("FAR", 1)),
        ("outer header over IPv6", outer_v6(base()), RULE_FAILURE, None, ("FAR", 2)),
        ("PDN type Ethernet", [ie for ie in base() if not isinstance(ie, IE_PDNType)] + [IE_PDNType(pdn_type=5)], NOT_SUPPORTED, 113, None),
        ("traffic endpoint", base() + [IE_CreateTrafficEndpoint(IE_list=[IE_TrafficEndpointId(id=1)])], NOT_SUPPORTED, 127, None),
        ("more rules than are allowed", base() + [urr(1000 + n, volume_threshold=1) for n in range(300)], NO_RESOURCES, None, None),
    ]
    for what, rules, cause, offending, rule in cases:
        response = smf.establish(rules).response
        rejected(checks, f"establishment: {what}", response, cause, offending, rule)
    for missing, ies in ((60, [IE_FSEID(v4=1, seid=1, ipv4=SMF)]), (57, [smf.node_id()])):
        response = smf.ask(PFCPSessionEstablishmentRequest(IE_list=ies + base()), seid=0)
        rejected(checks, f"establishment without IE {missing}", response, MANDATORY_MISSING, missing)
        checks.ok("  has the UPF's Node ID", response and one(response.ies, IE_NodeId))

    extra = [other(0x7abc, b"new"), other(0x8001, b"\x27\x0f" + b"vendor")]
    session = smf.establish(base() + extra)
    accepted(checks, "elements that are not known and vendors' own are ignored", session.response)
    rejected(checks, "TEID of another session", smf.establish(free5gc("10.45.0.7", 0x6006, 0x67)).response, RULE_FAILURE, rule=("PDR", 1))
    for what, ie, rule in (
        ("update of a FAR that is not there", to_gnb(9, 1, create=False), ("FAR", 9)),
        ("update of a QER that is not there", qer(9, 1, create=False), ("QER", 9)),
        ("update of a PDR that is not there", IE_UpdatePDR(IE_list=[IE_PDR_Id(id=9)]), ("PDR", 9)),
        ("removal of a FAR in use", IE_RemoveFAR(IE_list=[IE_FAR_Id(id=1)]), ("PDR", 1)),
        ("query of a URR that is not there", IE_QueryURR(IE_list=[IE_URR_Id(id=9)]), ("URR", 9)),
        ("PDR made twice", pdr(1, 7, [IE_SourceInterface(interface=CORE)], IE_FAR_Id(id=1)), ("PDR", 1)),
    ):
        response = session.modify(ie)
        rejected(checks, f"modification: {what}", response, RULE_FAILURE, rule=rule)
        checks.equal("  is addressed to the SMF's SEID", response.pfcp.seid, session.cp_seid)
    response = smf.ask(PFCPSessionModificationRequest(IE_list=[]), seid=session.up_seid ^ 1)
    rejected(checks, "modification of an unknown SEID", response, NOT_FOUND)
    checks.equal("  is addressed to SEID 0", response.pfcp.seid, 0)
    accepted(checks, "deletion after all that", session.delete())


def replaced_in_pdi(rules, old, new):
    pdi = one(find(rules, IE_CreatePDR)[0].IE_list, IE_PDI)
    pdi.IE_list = [new if isinstance(ie, old) else ie for ie in pdi.IE_list]
    return rules


def far_with(rules, ie):
    find(rules, IE_CreateFAR)[1].IE_list.append(ie)
    return rules


def policy(rules):
    one(find(rules, IE_CreateFAR)[0].IE_list, IE_ForwardingParameters).IE_list.append(IE_ForwardingPolicy(policy_identifier=b"fast"))
    return rules


def outer_v6(rules):
    parameters = one(find(rules, IE_CreateFAR)[1].IE_list, IE_ForwardingParameters)
    parameters.IE_list = [IE_DestinationInterface(interface=ACCESS), IE_OuterHeaderCreation(GTPUUDPIPV6=1, TEID=1, ipv6="2001:db8::1")]
    return rules


def all_or_nothing(checks, smf, lab):
    """A request with one bad rule changes nothing (TS 29.244 §5.2.1 allows no partial success)."""
    session = smf.establish(free5gc("10.45.0.8", 0x8008, 0x88))
    if not accepted(checks, "session for traffic", session.response):
        return
    passes(checks, lab, "traffic flows", "10.45.0.8", 0x8008, 0x88, 9)
    rejected(checks, "a good FAR update beside a bad PDR", session.modify(
        far(1, create=False, DROP=1), far(2, create=False, DROP=1), IE_UpdatePDR(IE_list=[IE_PDR_Id(id=99)])), RULE_FAILURE, rule=("PDR", 99))
    passes(checks, lab, "traffic flows on as before", "10.45.0.8", 0x8008, 0x88, 9)
    session.delete()


def passes(checks, lab, what, ue, teid, gnb_teid, qfi):
    up, down = udp4(ue, SERVER, 100), udp4(SERVER, ue, 200)
    lab.n3.send(uplink(lab.n3, teid, up, qfi))
    checks.bytes_equal(f"{what}: up", lab.n6.next(), at_n6(lab.n6, up))
    lab.n6.send(downlink(lab.n6, down))
    checks.bytes_equal(f"{what}: down", lab.n3.next(), at_n3(lab.n3, down, gnb_teid, qfi))


# Octets ahead of a user's packet at N3: Ethernet, IPv4, UDP, GTP-U with a PDU session container.
TUNNELLED = 14 + 20 + 8 + 8 + 8


def volumes(checks, smf, lab):
    """Usage to the octet: the users' IP packets, without tunnels, frames, padding or what was dropped."""
    rng = random.Random(SEED)
    session = smf.establish(free5gc("10.45.0.10", 0xa00a, 0xaa))
    if not accepted(checks, "session for counting", session.response):
        return
    ups = [udp4("10.45.0.10", SERVER, rng.randint(28, 1500), ident=n) for n in range(40)]
    downs = [udp4(SERVER, "10.45.0.10", rng.randint(28, 1500), ident=n) for n in range(25)]

    def send(up, down):
        for packet in up:
            lab.n3.send(uplink(lab.n3, 0xa00a, packet, 9))
        for packet in down:
            lab.n6.send(downlink(lab.n6, packet))
        return len(lab.n6.all(len(up))), len(lab.n3.all(len(down)))

    checks.equal("half of the packets arrive", send(ups[:15], downs[:10]), (15, 10))
    response = session.modify(IE_QueryURR(IE_list=[IE_URR_Id(id=1)]))
    first = one(response.ies, IE_UsageReport_SMR)
    checks.equal("the query's volumes are exact", volume(first), expected(ups[:15], downs[:10]))
    # Not charged: a stranger's source address, and what is not routed as its TTL ends here. The UE hears of the latter, by a downlink packet like any other.
    lab.n3.send(uplink(lab.n3, 0xa00a, udp4("10.45.9.9", SERVER, 500), 9))
    lab.n3.send(uplink(lab.n3, 0xa00a, udp4("10.45.0.10", SERVER, 500, ttl=1), 9))
    told = (lab.n3.next() or b"")[TUNNELLED:]
    checks.ok("time exceeded, the UE is told", told[9:10] == b"\x01" and told[20:22] == b"\x0b\x00", told.hex())
    checks.equal("the other half arrives, strangers do not", send(ups[15:], downs[10:]), (25, 15))
    checks.ok("and nothing else", lab.n6.quiet(0.1) and lab.n3.quiet(0.05))
    response = session.delete()
    accepted(checks, "deletion", response)
    reports = {one(r.IE_list, IE_URR_Id).id: r for r in find(response.ies, IE_UsageReport_SDR)}
    checks.equal("the last report has the rest", volume(reports.get(1)), expected(ups[15:], [*downs[10:], told]))
    checks.equal("the other URR has all", volume(reports.get(2)), expected(ups, [*downs, told]))
    times = [(one(r.IE_list, IE_StartTime).timestamp, one(r.IE_list, IE_EndTime).timestamp) for r in (first, reports[1])]
    checks.ok("reports follow each other in time", times[0][0] <= times[0][1] == times[1][0] <= times[1][1], times)


def volume(report):
    """Octets and packets (total, up, down) of a usage report."""
    measured = report and one(report.IE_list, IE_VolumeMeasurement)
    if not measured:
        return None
    packets = struct.unpack("!3Q", measured.extra_data[:24]) if len(measured.extra_data) >= 24 else None
    return (measured.total, measured.uplink, measured.downlink), packets


def expected(ups, downs):
    up, down = sum(len(p) for p in ups), sum(len(p) for p in downs)
    return (up + down, up, down), (len(ups) + len(downs), len(ups), len(downs))


def sender(lab, teid):
    """Sends packets into a tunnel; how many came out at N6."""
    def send(packets):
        for packet in packets:
            lab.n3.send(uplink(lab.n3, teid, packet, 9))
        return len(lab.n6.all(len(packets), 0.5))
    return send


def reports_of(checks, smf, session):
    """The next report of a URR, and its trigger; those of others are passed over."""
    def report_of(urr_id, timeout=2.0):
        end = time.monotonic() + timeout
        while (message := smf.next_report(max(0.01, end - time.monotonic()))) is not None:
            kind = one(message.ies, IE_ReportType)
            for report in find(message.ies, IE_UsageReport_SRR):
                if one(report.IE_list, IE_URR_Id).id == urr_id:
                    checks.ok(f"  report of URR {urr_id} is well formed", kind and kind.USAR and not kind.DLDR
                              and message.pfcp.seid == session.cp_seid and not message.problems(), message.problems())
                    return report, one(report.IE_list, IE_UsageReportTrigger)
            if time.monotonic() > end:
                break
        return None, None
    return report_of


def usage_reports(checks, smf, lab):
    """Reports that the UPF begins: threshold, quota, period (TS 29.244 §5.2.2.3)."""
    ue, teid, tunnel = "10.45.0.11", 0xb00b, 0xbb
    rules = [r for r in free5gc(ue, teid, tunnel) if not isinstance(r, IE_CreateURR)]
    limit = urr(1, total(IE_VolumeThreshold, 3000), total(IE_VolumeQuota, 5000), volume_threshold=1, volume_quota=1)
    session = smf.establish(rules + [limit, urr(2, IE_MeasurementPeriod(period=1), periodic_reporting=1)])
    if not accepted(checks, "session with threshold 3000, quota 5000 and a period of 1 s", session.response):
        return
    up = [udp4(ue, SERVER, 1000, ident=n) for n in range(8)]

    send, report_of = sender(lab, teid), reports_of(checks, smf, session)
    checks.equal("packets below the threshold pass", send(up[:2]), 2)
    checks.equal("the threshold is reached", send(up[2:3]), 1)
    report, trigger = report_of(1)
    checks.ok("reported: VOLTH and not VOLQU, 3000 octets", report and trigger.VOLTH and not trigger.VOLQU
              and volume(report) == expected(up[:3], []), report and volume(report))
    checks.equal("the quota is used up", send(up[3:5]), 2)
    report, trigger = report_of(1)
    checks.ok("reported: VOLQU, the 2000 octets since", report and trigger.VOLQU and volume(report) == expected(up[3:5], []), report and volume(report))
    checks.equal("no packet passes", send(up[5:6]), 0)
    renewed = IE_UpdateURR(IE_list=[IE_URR_Id(id=1), total(IE_VolumeQuota, 10_000)])
    accepted(checks, "a new quota", session.modify(renewed))
    checks.equal("packets pass again", send(up[6:8]), 2)

    while not smf.reports.empty():
        smf.reports.get()
    begin, seqns = time.monotonic(), []
    for _ in range(2):
        report, trigger = report_of(2, 1.6)
        seqns += [one(report.IE_list, IE_UR_SEQN).number] if report and trigger.PERIO else []
    took = time.monotonic() - begin
    checks.ok("periodic reports come every second, numbered on", len(seqns) == 2 and seqns[1] == seqns[0] + 1 and 0.9 < took < 2.4, (seqns, took))

    smf.answer_reports = False
    while not smf.reports.empty():
        smf.reports.get()
    first = smf.next_report(1.6)
    same = None
    end = time.monotonic() + 4
    while first and same is None and time.monotonic() < end:
        message = smf.next_report(1.0)
        same = message if message and message.pfcp.seq == first.pfcp.seq else None
    smf.answer_reports = True
    checks.bytes_equal("a report without answer is sent again as it was", same and same.octets, first and first.octets)
    accepted(checks, "deletion", session.delete())
    drain(smf)


def events(checks, smf, lab):
    """Events are starts of traffic: a threshold and a quota of them (§5.2.2.2.1, §8.2.112, §8.2.113, §8.2.114)."""
    ue, teid, tunnel = "10.45.0.13", 0xb00d, 0xbd
    rules = [r for r in free5gc(ue, teid, tunnel) if not isinstance(r, IE_CreateURR)]
    method, triggers = IE_MeasurementMethod(EVENT=1), IE_ReportingTriggers(event_threshold=1, event_quota=1)
    limits = [IE_EventThreshold(event_threshold=1), IE_EventQuota(event_quota=2), IE_InactivityDetectionTime(time_value=1)]
    count = IE_CreateURR(IE_list=[IE_URR_Id(id=1), method, triggers, *limits])
    session = smf.establish(rules + [count, urr(2)])
    if not accepted(checks, "session with an event threshold of 1 and a quota of 2", session.response):
        return
    send, report_of = sender(lab, teid), reports_of(checks, smf, session)
    up = [udp4(ue, SERVER, 1000, ident=n) for n in range(3)]
    checks.equal("the first packet passes", send(up[:1]), 1)
    report, trigger = report_of(1, 4.0)
    when = report and one(report.IE_list, IE_EventTimeStamp)
    checks.ok("an event is reported: EVETH, with its time", trigger and trigger.EVETH and when
              and abs(when.timestamp - NTP_UNIX - time.time()) < 10, report and report.show(dump=True))
    # Until the traffic is seen to have stopped: its second, and a look's.
    time.sleep(3)
    checks.equal("the second event is the quota's last", send(up[1:2]), 1)
    report, trigger = report_of(1, 4.0)
    # EVEQU is in the third octet, which Scapy does not know.
    last = trigger and trigger.extra_data
    checks.ok("reported: EVEQU", last and last[0] & 1, report and report.show(dump=True))
    checks.equal("no packet passes", send(up[2:3]), 0)
    renewed = IE_UpdateURR(IE_list=[IE_URR_Id(id=1), IE_EventQuota(event_quota=2), IE_SubsequentEventQuota(subsequent_event_quota=2),
                                    IE_SubsequentEventThreshold(subsequent_event_threshold=2)])
    accepted(checks, "a new event quota, with subsequent ones", session.modify(renewed))
    checks.equal("packets pass again", send(up[2:3]), 1)
    accepted(checks, "deletion", session.delete())
    drain(smf)


def monitoring_time(checks, smf, lab):
    """After the monitoring time the subsequent limits count, and what was before is reported apart (§5.2.2.2.2)."""
    ue, teid, tunnel = "10.45.0.14", 0xb00e, 0xbe
    rules = [r for r in free5gc(ue, teid, tunnel) if not isinstance(r, IE_CreateURR)]
    at = int(time.time()) + NTP_UNIX + 2
    later = [IE_MonitoringTime(time_value=at), total(IE_SubsequentVolumeThreshold, 1500), total(IE_SubsequentVolumeQuota, 2500),
             IE_SubsequentTimeThreshold(threshold=3600), IE_SubsequentTimeQuota(quota=7200)]
    first = [total(IE_VolumeThreshold, 100_000), total(IE_VolumeQuota, 200_000)]
    limit = urr(1, *first, *later, volume_threshold=1, volume_quota=1)
    session = smf.establish(rules + [limit, urr(2)])
    if not accepted(checks, "session with a monitoring time, and a subsequent threshold and quota of each kind", session.response):
        return
    send, report_of = sender(lab, teid), reports_of(checks, smf, session)
    up = [udp4(ue, SERVER, 1000, ident=n) for n in range(5)]
    checks.equal("before it, packets pass below the first threshold", send(up[:2]), 2)
    # The UPF's seconds begin with its recovery time stamp: within a second of ours.
    time.sleep(max(0.0, at - NTP_UNIX + 1.5 - time.time()))
    checks.equal("after it, the subsequent threshold is reached", send(up[2:4]), 2)
    message = smf.next_report(4.0)
    reports = [r for r in find(message.ies if message else [], IE_UsageReport_SRR) if one(r.IE_list, IE_URR_Id).id == 1]
    parts = {(i.BEF, i.AFT): volume(r) for r in reports for i in [one(r.IE_list, IE_UsageInformation)] if i}
    checks.equal("what was before is reported apart", parts, {(1, 0): expected(up[:2], []), (0, 1): expected(up[2:4], [])})
    checks.ok("  by the subsequent threshold (VOLTH)", reports and any(one(r.IE_list, IE_UsageReportTrigger).VOLTH for r in reports))
    checks.equal("the subsequent quota's last packet passes", send(up[4:5]), 1)
    report, trigger = report_of(1)
    checks.ok("reported: VOLQU", trigger and trigger.VOLQU)
    checks.equal("no packet passes behind it", send(up[:1]), 0)
    accepted(checks, "deletion", session.delete())
    drain(smf)


def drain(smf):
    time.sleep(0.05)
    while not smf.reports.empty():
        smf.reports.get()


def downlink_data(checks, smf, lab):
    """A packet for an idle UE is kept, told once after the BAR's delay, and sent when the UE is back (§5.2.4)."""
    ue = "10.45.0.12"
    session = smf.establish(open5gs(ue))
    if not accepted(checks, "session that begins with BUFF and NOCP", session.response):
        return
    delay = IE_Update_BAR_SMR(IE_list=[IE_BAR_Id(id=1), IE_DownlinkDataNotificationDelay(delay=4)])
    accepted(checks, "a notification delay of 200 ms", session.modify(delay))
    packets = [udp4(SERVER, ue, 60 + n, ident=n) for n in range(6)]
    begin = time.monotonic()
    for packet in packets[:3]:
        lab.n6.send(downlink(lab.n6, packet))
    report = smf.next_report()
    took = time.monotonic() - begin
    checks.ok("is reported after 200 ms", report and 0.19 < took < 0.6, took)
    kind = report and one(report.ies, IE_ReportType)
    checks.ok("as downlink data (DLDR) only", kind and kind.DLDR and not kind.USAR and not kind.ERIR and report.problems() == [])
    data = report and find(report.ies, IE_DownlinkDataReport, IE_PDR_Id)
    checks.equal("of the downlink PDR", [p.id for p in data or []], [1])
    checks.equal("to the SMF's SEID", report and report.pfcp.seid, session.cp_seid)
    lab.n6.send(downlink(lab.n6, packets[3]))
    checks.ok("once only, and no packet leaves", smf.next_report(0.4) is None and lab.n3.quiet(0.01))
    accepted(checks, "the UE is back", session.modify(to_gnb(1, 0xcc, create=False)))
    lab.n6.send(downlink(lab.n6, packets[4]))
    wanted = [bytes(at_n3(lab.n3, p, 0xcc, 1)) for p in packets[:5]]
    checks.ok("all packets come, in order, before the new one", lab.n3.all(5) == wanted)

    accepted(checks, "idle again", session.modify(idle(1)))
    smf.report_extra = [IE_PFCPSRRspFlags(spare=0, DROBU=1)]
    lab.n6.send(downlink(lab.n6, packets[5]))
    checks.ok("is reported again", smf.next_report() is not None)
    time.sleep(0.1)
    smf.report_extra = []
    accepted(checks, "the UE is back", session.modify(to_gnb(1, 0xcc, create=False)))
    checks.ok("DROBU in the report's answer has dropped what waited", lab.n3.quiet())
    accepted(checks, "deletion", session.delete())


def session_sets(checks, smf):
    """Sessions of an FQ-CSID end at once; those handed over go on; and the load that the SMF announced to want."""
    told = [find(r.ies, IE_LoadControlInformation) for r in map(Response, smf.everything) if r.kind == 51]
    told = [group for groups in told for group in groups]
    metric = told and one(told[0].IE_list, IE_Metric)
    checks.ok("load control information in a response", metric and metric.metric >= 1 and one(told[0].IE_list, IE_SequenceNumber), told)

    csid = IE_FqCSID(node_id_type=0, ipv4=SMF, csids=[7, 8])
    lost, kept = smf.establish(open5gs("10.45.0.21") + [csid]), smf.establish(open5gs("10.45.0.22"))
    accepted(checks, "session with an FQ-CSID", lost.response)
    accepted(checks, "session without", kept.response)
    rejected(checks, "session set deletion without FQ-CSID",
             smf.ask(PFCPSessionSetDeletionRequest(IE_list=[smf.node_id()])), MANDATORY_MISSING, 65)

    # Release 17, which Scapy does not know: what is inside is Scapy's.
    alternative = other(178, b"\x02" + bytes([10, 4, 0, 9]))
    info = other(290, bytes(IE_FqCSID(node_id_type=0, ipv4=SMF, csids=[9])) + bytes(alternative))
    sequence = smf.next_sequence()
    body = bytes(smf.node_id()) + bytes(info)
    response = smf.ask_octets(struct.pack("!BBHI", 0x20, 16, len(body) + 4, sequence << 8) + body, sequence)
    checks.ok("session set modification", response and response.kind == 17 and b"\x00\x13\x00\x01\x01" in response.octets,
              response and response.octets.hex())

    accepted(checks, "session set deletion", smf.ask(PFCPSessionSetDeletionRequest(IE_list=[smf.node_id(), csid])))
    rejected(checks, "its session is gone", lost.delete(), NOT_FOUND)
    accepted(checks, "the other is there", kept.delete())


def malformed(checks, smf):
    """Datagrams of no sense: each is refused or dropped, and N4 goes on."""
    rng = random.Random(SEED)
    good = smf.establish(open5gs("10.45.0.20"))
    accepted(checks, "session before the storm", good.response)
    templates = [
        bytes(header(smf.establishment(open5gs("10.45.0.21", "2001:db8:45:21::"), 1), 0, 0x100)),
        bytes(header(smf.establishment(free5gc("10.45.0.22", 0x2222, 1), 2), 0, 0x101, 3)),
        bytes(header(PFCPSessionModificationRequest(IE_list=[to_gnb(1, 5, create=False)]), good.up_seid ^ 7, 0x102)),
        bytes(header(PFCPAssociationSetupRequest(IE_list=[IE_NodeId(ipv4="192.0.2.9"), IE_RecoveryTimeStamp(timestamp=1)]), None, 0x103)),
    ]
    for name, datagrams in (
        ("every second prefix of an establishment", [templates[0][:n] for n in range(0, len(templates[0]), 2)]),
        ("200 mutated messages", [mutate(rng, rng.choice(templates)) for _ in range(200)]),
        ("200 random datagrams", [rng.randbytes(rng.randint(0, 300)) for _ in range(200)]),
        ("100 random bodies behind a good header", [random_body(rng) for _ in range(100)]),
        ("groups nested 500 deep", [bytes(header(PFCPSessionEstablishmentRequest(IE_list=[nested(500)]), 0, 0x104))]),
        ("the largest datagram", [bytes(header(Raw(b"\x00\x16\x00\x04abcd" * 8000), 0, 0x105))[:65000]]),
    ):
        for n, datagram in enumerate(datagrams):
            smf.udp.send(datagram)
            if n % 32 == 31:
                smf.heartbeat()  # not more than a socket's buffer holds
        checks.ok(f"{name}: heartbeats are answered", (response := smf.heartbeat()) and response.kind == 2)
    unreadable = [o.hex() for o in smf.everything if Response(o).problems()]
    checks.equal("Scapy reads all that the UPF ever sent, and would write it so", unreadable[:3], [])
    accepted(checks, "the session is still there", good.modify(IE_QueryURR(IE_list=[IE_URR_Id(id=1)])))
    accepted(checks, "and ends", good.delete())


def mutate(rng, octets):
    octets = bytearray(octets)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(octets))
        match rng.randrange(4):
            case 0:
                octets[at] = rng.randrange(256)
            case 1:
                octets[at] ^= 1 << rng.randrange(8)
            case 2:
                del octets[at:at + rng.randint(1, 8)]
            case _:
                octets[at:at] = rng.randbytes(rng.randint(1, 8))
        if not octets:
            break
    if rng.random() < 0.7 and len(octets) > 4:  # a right length, so that the fault is deeper
        octets[2:4] = struct.pack("!H", len(octets) - 4)
    return bytes(octets)


def random_body(rng):
    body = b""
    for _ in range(rng.randint(1, 12)):
        value = rng.randbytes(rng.choice((0, 1, 2, 4, 5, 9, 13, 17, 40)))
        body += struct.pack("!HH", rng.choice((rng.randrange(1, 260), rng.randrange(65536))), len(value)) + value
    return bytes(header(Raw(body), 0, rng.randrange(1 << 24)))[:1] + bytes([rng.choice((5, 7, 50, 52, 54, 57))]) + \
        struct.pack("!H", len(body) + 12) + bytes(8) + rng.randbytes(3) + b"\x00" + body


def nested(depth):
    octets = b""
    for _ in range(depth):
        octets = struct.pack("!HH", 2, len(octets)) + octets
    return other(1, octets)


def release(checks, smf):
    session = smf.establish(open5gs("10.45.0.30"))
    accepted(checks, "session", session.response)
    accepted(checks, "association setup while there is one", smf.associate())
    rejected(checks, "has ended the sessions of the one before", session.delete(), NOT_FOUND)
    session = smf.establish(open5gs("10.45.0.30"))
    accepted(checks, "session", session.response)
    accepted(checks, "association release", smf.release())
    rejected(checks, "has ended its sessions", session.delete(), NOT_FOUND)
    accepted(checks, "association", smf.associate())


def end(checks, smf, lab):
    session = smf.establish(open5gs("10.45.0.31"))
    accepted(checks, "session as the UPF is told to stop", session.response)
    code, report = lab.stop()
    request = smf.next_request()
    ask = request and one(request.ies, IE_PFCPAssociationReleaseRequest)
    checks.ok("the UPF asks for release of the association", request and request.kind == 7 and ask and ask.SARR
              and one(request.ies, IE_NodeId).ipv4 == UPF_N4)
    checks.equal("and ends well", code, 0)
    accepted_seids = {one(r.ies, IE_FSEID).seid for r in map(Response, smf.everything) if r.kind == 51 and r.cause == ACCEPTED}
    # Mutated messages have made associations of other nodes, too.
    asked = [r.pfcp.seq for r in map(Response, smf.everything) if r.kind == 7]
    checks.equal("and has understood our responses to that: it asks each once", len(asked), len(set(asked)))
    n4 = report.get("n4", {})
    checks.equal("sessions established are those answered", n4.get("established"), len(accepted_seids))
    checks.equal("all have ended", n4.get("ended"), len(accepted_seids))
    checks.equal("every packet is accounted for", report.get("imbalance"), 0)
    received = {name: report.get("ports", {}).get(name, {}).get("received", {}).get("packets") for name in ("n3", "n6")}
    checks.equal("the UPF has received what we sent", received, {"n3": lab.n3.sent, "n6": lab.n6.sent})
    sent = {name: report.get("ports", {}).get(name, {}).get("transmitted", {}).get("packets") for name in ("n3", "n6")}
    checks.equal("we have received what the UPF sent", {"n3": lab.n3.received, "n6": lab.n6.received}, sent)
    log = lab.log_text()
    checks.ok("nothing in its log is an error", "panicked" not in log and "ERROR" not in log, log[-600:])


def accepted(checks, what, response):
    """An accepted response without anything that Scapy cannot read; whether it is that."""
    if response is None:
        return checks.ok(what, False, "no answer")
    return checks.ok(what, response.cause == ACCEPTED and not response.problems(),
                     f"cause {response.cause}, offending {response.offending}, rule {response.failed_rule}, {response.problems()}")


def rejected(checks, what, response, cause, offending=None, rule=None):
    if response is None:
        return checks.ok(f"{what}: cause {cause}", False, "no answer")
    seen = (response.cause, response.offending, response.failed_rule)
    named = "".join([f", IE {offending}" if offending else "", f", {rule[0]} {rule[1]}" if rule else ""])
    good = seen == (cause, offending, rule) and not response.problems()
    return checks.ok(f"{what}: cause {cause}{named}", good, f"{seen} {response.problems() or ''}")


if __name__ == "__main__":
    sys.exit(main())
