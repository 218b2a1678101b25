"""An SMF of Scapy's PFCP: one N4 socket, requests and their responses, and the shapes in which SMFs in use ask.

The shapes are what Open5GS 2.7.7, free5GC 4.2.2 and pfcpsim were seen to send (TS 29.244 §7.5). Elements newer than
Scapy's list (release 15) are given as octets.
"""

import queue
import threading
import time

from scapy.contrib.pfcp import *  # noqa: F403

from lab import GNB, SMF, UPF_N3, Udp

NTP_UNIX = 2_208_988_800
ACCEPTED, REJECTED = 1, 64
NOT_FOUND, MANDATORY_MISSING, CONDITIONAL_MISSING, INVALID_LENGTH, MANDATORY_INCORRECT = 65, 66, 67, 68, 69
NO_ASSOCIATION, RULE_FAILURE, NO_RESOURCES, NOT_SUPPORTED = 72, 73, 75, 76
ACCESS, CORE, CP_FUNCTION = 0, 1, 3


def other(ietype, octets):
    """An element that Scapy does not have, or that is written otherwise than Scapy does."""
    return IE_NotImplemented(ietype=ietype, data=octets)


def text_instance(name):
    """Network Instance as plain text: Scapy writes DNS labels."""
    return other(22, name.encode())


def find(ies, *kinds):
    """The elements of a kind in a message or group; with several kinds, those inside of those."""
    found = [ie for ie in ies if isinstance(ie, kinds[0])]
    for kind in kinds[1:]:
        found = [inner for outer in found for inner in outer.IE_list if isinstance(inner, kind)]
    return found


def one(ies, *kinds):
    """The only element of a kind, or None."""
    found = find(ies, *kinds)
    return found[0] if len(found) == 1 else None


class Response:
    """A message as it came, and as Scapy reads it."""

    def __init__(self, octets):
        self.octets = octets
        self.pfcp = PFCP(octets)
        self.kind = self.pfcp.message_type
        self.ies = getattr(self.pfcp.payload, "IE_list", None) or []

    @property
    def cause(self):
        cause = one(self.ies, IE_Cause)
        return cause and cause.cause

    @property
    def offending(self):
        offending = one(self.ies, IE_OffendingIE)
        return offending and offending.type

    @property
    def failed_rule(self):
        rule = one(self.ies, IE_FailedRuleId)
        if rule is None:
            return None
        return {0: ("PDR", rule.pdr_id), 1: ("FAR", rule.far_id), 2: ("QER", rule.qer_id), 3: ("URR", rule.urr_id),
                4: ("BAR", rule.bar_id)}[rule.type]

    @property
    def created(self):
        """Created PDRs: PDR ID to F-TEID."""
        return {one(pdr.IE_list, IE_PDR_Id).id: one(pdr.IE_list, IE_FTEID) for pdr in find(self.ies, IE_CreatedPDR)}

    def problems(self):
        """What Scapy cannot read, or reads and would write otherwise."""
        found = []

        def walk(ies):
            for ie in ies:
                if isinstance(ie, Raw) or getattr(ie, "ietype", None) is None:
                    found.append(f"unreadable {bytes(ie).hex()}")
                walk(getattr(ie, "IE_list", None) or [])

        walk(self.ies)
        if self.pfcp.length != len(self.octets) - 4:
            found.append(f"length {self.pfcp.length} of {len(self.octets)} octets")
        if bytes(self.pfcp) != self.octets:
            found.append("Scapy would write it otherwise")
        return found


class Smf:
    """A CP function at 10.4.0.2. Heartbeats and reports are answered on the receiving thread."""

    def __init__(self):
        self.started = int(time.time()) + NTP_UNIX
        self.sequence, self.lock = 1000, threading.Lock()
        self.responses, self.reports, self.requests = queue.Queue(), queue.Queue(), queue.Queue()
        self.answer_reports = True
        self.report_extra = []
        self.heartbeats = 0
        self.everything = []
        self.seids = 0x5e55_0000_0000
        self.udp = Udp(8805, self._receive)

    def _receive(self, octets, source):
        self.everything.append(octets)
        message = Response(octets)
        if message.kind == 1:
            self.heartbeats += 1
            self.udp.send(PFCP(S=0, seq=message.pfcp.seq) / PFCPHeartbeatResponse(IE_list=[IE_RecoveryTimeStamp(timestamp=self.started)]))
        elif message.kind == 56:
            message.source = source
            self.reports.put(message)
            if self.answer_reports:
                # Our SEID is not the UPF's: the address is the UP function's SEID of that session.
                seid = getattr(self, "up_seids", {}).get(message.pfcp.seid, 0)
                ies = [IE_Cause(cause=ACCEPTED)] + self.report_extra
                self.udp.send(PFCP(S=1, seid=seid, seq=message.pfcp.seq) / PFCPSessionReportResponse(IE_list=ies))
        elif message.kind == 7:
            ies = [self.node_id(), IE_Cause(cause=ACCEPTED)]
            self.udp.send(PFCP(S=0, seq=message.pfcp.seq) / PFCPAssociationUpdateResponse(IE_list=ies))
            self.requests.put(message)
        elif message.kind in (5, 9, 12):
            self.requests.put(message)
        else:
            self.responses.put(message)

    def next_sequence(self):
        with self.lock:
            self.sequence += 1
            return self.sequence

    def ask(self, payload, seid=None, sequence=None, priority=None, timeout=3.0):
        """Sends a request; its response, or None. Other responses are thrown away."""
        sequence = self.next_sequence() if sequence is None else sequence
        return self.ask_octets(bytes(header(payload, seid, sequence, priority)), sequence, timeout)

    def ask_octets(self, octets, sequence, timeout=3.0):
        while not self.responses.empty():
            self.responses.get()
        self.udp.send(octets)
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            try:
                response = self.responses.get(timeout=left)
            except queue.Empty:
                return None
            if response.pfcp.seq == sequence:
                return response
        return None

    def node_id(self):
        return IE_NodeId(ipv4=SMF)

    def associate(self, **more):
        ies = [self.node_id(), IE_RecoveryTimeStamp(timestamp=self.started), IE_CPFunctionFeatures(LOAD=1)]
        return self.ask(PFCPAssociationSetupRequest(IE_list=ies), **more)

    def release(self, **more):
        return self.ask(PFCPAssociationReleaseRequest(IE_list=[self.node_id()]), **more)

    def heartbeat(self, timeout=3.0):
        return self.ask(PFCPHeartbeatRequest(IE_list=[IE_RecoveryTimeStamp(timestamp=self.started)]), timeout=timeout)

    def new_seid(self):
        self.seids += 1
        return self.seids

    def establishment(self, rules, cp_seid):
        """The request as Scapy's payload."""
        return PFCPSessionEstablishmentRequest(IE_list=[self.node_id(), IE_FSEID(v4=1, seid=cp_seid, ipv4=SMF)] + rules)

    def establish(self, rules, priority=None):
        """A session of these rules; one with `up_seid` 0 if it was refused."""
        cp_seid = self.new_seid()
        response = self.ask(self.establishment(rules, cp_seid), seid=0, priority=priority)
        if response is None or response.cause != ACCEPTED:
            return Session(self, cp_seid, 0, response)
        up = one(response.ies, IE_FSEID).seid
        self.up_seids = {**getattr(self, "up_seids", {}), cp_seid: up}
        return Session(self, cp_seid, up, response)

    def next_report(self, timeout=3.0):
        try:
            return self.reports.get(timeout=timeout)
        except queue.Empty:
            return None

    def next_request(self, timeout=3.0):
        try:
            return self.requests.get(timeout=timeout)
        except queue.Empty:
            return None


class Session:
    """A session as an SMF knows it."""

    def __init__(self, smf, cp_seid, up_seid, response):
        self.smf, self.cp_seid, self.up_seid, self.response = smf, cp_seid, up_seid, response

    def modify(self, *ies, **more):
        return self.smf.ask(PFCPSessionModificationRequest(IE_list=list(ies)), seid=self.up_seid, **more)

    def delete(self, *ies, **more):
        return self.smf.ask(PFCPSessionDeletionRequest(IE_list=list(ies)), seid=self.up_seid, **more)

    def teid(self, pdr_id):
        return self.response.created[pdr_id].TEID


def header(payload, seid, sequence, priority=None):
    fields = {"S": 0} if seid is None else {"S": 1, "seid": seid}
    if priority is not None:
        fields |= {"MP": 1, "priority": priority}
    return PFCP(seq=sequence, **fields) / payload


# Elements.

def gnb_tunnel(teid, address=GNB):
    return IE_OuterHeaderCreation(GTPUUDPIPV4=1, TEID=teid, ipv4=address)


def far(far_id, *ies, create=True, **action):
    kind = IE_CreateFAR if create else IE_UpdateFAR
    apply = [IE_ApplyAction(spare=0, **action)] if action else []
    return kind(IE_list=[IE_FAR_Id(id=far_id), *apply, *ies])


def to_gnb(far_id, teid, address=GNB, create=True, instance=None, flags=()):
    kind = IE_ForwardingParameters if create else IE_UpdateForwardingParameters
    ies = [IE_DestinationInterface(interface=ACCESS), *([instance] if instance else []), gnb_tunnel(teid, address), *flags]
    return far(far_id, kind(IE_list=ies), create=create, FORW=1)


def idle(far_id):
    return far(far_id, create=False, BUFF=1, NOCP=1)


def to_core(far_id, instance=None):
    parameters = [IE_DestinationInterface(interface=CORE), *([instance] if instance else [])]
    return far(far_id, IE_ForwardingParameters(IE_list=parameters), FORW=1)


def ue_address(ipv4=None, ipv6=None, destination=False):
    fields = {}
    if ipv4:
        fields |= {"V4": 1, "ipv4": ipv4}
    if ipv6:
        fields |= {"V6": 1, "ipv6": ipv6}
    return IE_UE_IP_Address(SD=int(destination), **fields)


def pdr(pdr_id, precedence, pdi, *rest):
    return IE_CreatePDR(IE_list=[IE_PDR_Id(id=pdr_id), IE_Precedence(precedence=precedence), IE_PDI(IE_list=list(pdi)), *rest])


def sdf(flow):
    return IE_SDF_Filter(FD=1, flow_description=flow)


def qer(qer_id, qfi=None, mbr=None, ul="OPEN", dl="OPEN", create=True):
    ies = [IE_QER_Id(id=qer_id), IE_GateStatus(ul=ul, dl=dl)]
    ies += [IE_MBR(ul=mbr[0], dl=mbr[1])] if mbr else []
    ies += [IE_QFI(spare=0, QFI=qfi)] if qfi is not None else []
    return (IE_CreateQER if create else IE_UpdateQER)(IE_list=ies)


def urr(urr_id, *ies, **triggers):
    return IE_CreateURR(IE_list=[IE_URR_Id(id=urr_id), IE_MeasurementMethod(VOLUM=1, DURAT=1), IE_ReportingTriggers(**triggers),
                                 IE_MeasurementInformation(MNOP=1), *ies])


def total(kind, octets):
    return kind(TOVOL=1, total=octets)


# Shapes.

def open5gs(ue4, ue6=None, qfi=1, with_cp=True, n4u_teid=0x77, urr_ies=(), triggers=None):
    """Open5GS 2.7.7: 4 PDRs, 3 FARs, URR, QER, BAR; the UPF chooses TEIDs; the first downlink FAR waits."""
    access, core = IE_NetworkInstance(instance=b"internet"), IE_NetworkInstance(instance=b"internet")
    both = {"ipv4": ue4, "ipv6": ue6}
    interface = IE_3GPP_InterfaceType
    downlink = [IE_SourceInterface(interface=CORE), core, ue_address(**both, destination=True), interface(interface_type=17)]
    uplink = [IE_SourceInterface(interface=ACCESS), IE_FTEID(CHID=1, CH=1, V4=1, choose_id=5), access, ue_address(**both),
              IE_QFI(spare=0, QFI=qfi), interface(interface_type=11)]
    removal = IE_OuterHeaderRemoval(header=6)
    charged = [IE_URR_Id(id=1), IE_QER_Id(id=1)]
    rules = [pdr(1, 255, downlink, IE_FAR_Id(id=1), *charged), pdr(2, 255, uplink, removal, IE_FAR_Id(id=2), *charged)]
    if with_cp:
        from_cp = [IE_SourceInterface(interface=CP_FUNCTION), IE_FTEID(CHID=1, CH=1, V4=1, choose_id=6), core, ue_address(**both, destination=True)]
        to_cp = [IE_SourceInterface(interface=ACCESS), IE_FTEID(CHID=1, CH=1, V4=1, choose_id=5), access, ue_address(**both),
                 sdf("permit out 58 from ff02::2/128 to assigned")]
        rules += [pdr(3, 1, from_cp, removal, IE_FAR_Id(id=1), IE_QER_Id(id=1)), pdr(4, 1, to_cp, removal, IE_FAR_Id(id=3))]
    rules += [far(1, IE_BAR_Id(id=1), BUFF=1, NOCP=1), to_core(2, core)]
    if with_cp:
        parameters = [IE_DestinationInterface(interface=CP_FUNCTION), core, gnb_tunnel(n4u_teid, SMF)]
        rules.append(far(3, IE_ForwardingParameters(IE_list=parameters), FORW=1))
    triggers = triggers or {"volume_threshold": 1}
    urr_ies = urr_ies or [total(IE_VolumeThreshold, 100 << 20)]
    return rules + [
        urr(1, *urr_ies, **triggers),
        qer(1, qfi, (1_000_000, 1_000_000)),
        IE_Create_BAR(IE_list=[IE_BAR_Id(id=1)]),
        IE_PDNType(pdn_type=3 if ue6 else 1),
        IE_UserId(IMSIF=1, imsi=bytes.fromhex("9970000000000001")[:8]),
        IE_APN_DNN(apn_dnn=b"internet"),
        other(257, b"\x01\xff\xff\xff"),
    ]


def free5gc(ue4, teid, gnb_teid, qfi=9, urr_id=1):
    """free5GC: the SMF chooses TEIDs; names as plain text; two URRs and two QERs a PDR; UE address in both PDIs."""
    name = text_instance("internet")
    rules = [IE_URR_Id(id=urr_id), IE_URR_Id(id=urr_id + 1), IE_QER_Id(id=1), IE_QER_Id(id=2)]
    uplink = [IE_SourceInterface(interface=ACCESS), IE_FTEID(V4=1, TEID=teid, ipv4=UPF_N3), name, ue_address(ue4)]
    downlink = [IE_SourceInterface(interface=CORE), name, ue_address(ue4, destination=True)]
    return [
        pdr(1, 255, uplink, IE_OuterHeaderRemoval(header=0), IE_FAR_Id(id=1), *rules),
        pdr(2, 255, downlink, IE_FAR_Id(id=2), *rules),
        to_core(1, name),
        to_gnb(2, gnb_teid, instance=name),
        urr(urr_id, total(IE_VolumeThreshold, 500_000_000), volume_threshold=1),
        urr(urr_id + 1, IE_MeasurementPeriod(period=30), periodic_reporting=1),
        qer(1, None, (2_000_000, 2_000_000)),
        qer(2, qfi, (1_000_000, 1_000_000)),
        IE_PDNType(pdn_type=1),
    ]


def pfcpsim(ue4, teid, qfi=9):
    """pfcpsim: 2 PDRs with filters, 2 FARs, 2 URRs, 3 QERs of which one has ID 0; downlink is dropped at first."""
    sess, up_app, down_app = 0, 1, 2
    flow = sdf("permit out ip from any to assigned")
    uplink = [IE_SourceInterface(interface=ACCESS), IE_FTEID(V4=1, TEID=teid, ipv4=UPF_N3), flow]
    downlink = [IE_SourceInterface(interface=CORE), ue_address(ue4, destination=True), flow]
    return [
        pdr(1, 100, uplink, IE_OuterHeaderRemoval(header=0), IE_FAR_Id(id=1), IE_QER_Id(id=sess), IE_QER_Id(id=up_app), IE_URR_Id(id=1)),
        pdr(2, 100, downlink, IE_FAR_Id(id=2), IE_QER_Id(id=sess), IE_QER_Id(id=down_app), IE_URR_Id(id=2)),
        to_core(1),
        far(2, IE_ForwardingParameters(IE_list=[IE_DestinationInterface(interface=ACCESS), gnb_tunnel(0x5151)]), DROP=1),
        urr(1, total(IE_VolumeThreshold, 500_000_000), volume_threshold=1),
        urr(2, total(IE_VolumeThreshold, 500_000_000), volume_threshold=1),
        qer(sess, None, (60_000, 60_000)),
        qer(up_app, qfi, (50_000, 50_000)),
        qer(down_app, qfi, (50_000, 50_000)),
    ]


__all__ = [name for name in dir() if not name.startswith("_")]
