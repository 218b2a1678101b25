// What we are: an SMF, a gNodeB's socket, and the sessions between.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

// For what must come, however busy the machine is.
const patience = 60 * time.Second

// Requests are sent again after this time (T1).
const retry = time.Second

type Checks struct{ passed, failed int }

func (checks *Checks) ok(what string, holds bool, seen any) {
	if holds {
		checks.passed++
		fmt.Printf("  ok   %s\n", what)
		return
	}
	checks.failed++
	fmt.Printf("  FAIL %s: %v\n", what, seen)
}

func (checks *Checks) cause(what string, is *ie.IE, expected uint8) {
	checks.ok(what, is != nil && len(is.Payload) == 1 && is.Payload[0] == expected, is)
}

// Steps give up by a panic of this type: what they wait for has not come.
type givenUp string

func guarded(step func()) (err error) {
	defer func() {
		switch why := recover().(type) {
		case nil:
		case givenUp:
			err = fmt.Errorf("%s", string(why))
		default:
			panic(why)
		}
	}()
	step()
	return nil
}

type SMF struct {
	upf      *UPF
	n4, n3   *net.UDPConn
	started  time.Time
	answers  chan message.Message
	reports  chan *message.SessionReportRequest
	requests chan message.Message
	packets  chan []byte
	lock     sync.Mutex
	problems [][]byte
	sequence uint32
	seids    uint64
	seen     map[uint32]bool
	// By our SEID, the UPF's.
	sessions map[uint64]uint64
	// One for as long as we are there.
	lasting *Session
}

func newSmf(upf *UPF) (*SMF, error) {
	n4, err := net.ListenUDP("udp4", &net.UDPAddr{IP: upf.smf, Port: 8805})
	if err != nil {
		return nil, err
	}
	n3, err := net.ListenUDP("udp4", &net.UDPAddr{IP: upf.gnb, Port: 2152})
	if err != nil {
		return nil, err
	}
	smf := &SMF{
		upf: upf, n4: n4, n3: n3, started: time.Now(), seids: 0x60_0000_0000, seen: map[uint32]bool{}, sessions: map[uint64]uint64{},
		answers: make(chan message.Message, 64), reports: make(chan *message.SessionReportRequest, 1024), packets: make(chan []byte, 1024),
		requests: make(chan message.Message, 64),
	}
	go smf.receiveN4()
	go smf.receiveN3()
	return smf, nil
}

// Another SMF on N4, at the address with this last octet, without a gNodeB.
func (smf *SMF) another(last byte) (*SMF, error) {
	upf := *smf.upf
	upf.smf = net.IPv4(upf.smf[0], upf.smf[1], upf.smf[2], last).To4()
	n4, err := net.ListenUDP("udp4", &net.UDPAddr{IP: upf.smf, Port: 8805})
	if err != nil {
		return nil, err
	}
	other := &SMF{
		upf: &upf, n4: n4, started: time.Now(), seen: map[uint32]bool{}, sessions: map[uint64]uint64{},
		answers: make(chan message.Message, 64), reports: make(chan *message.SessionReportRequest, 1024), requests: make(chan message.Message, 64),
	}
	go other.receiveN4()
	return other, nil
}

// Reads what comes on N4. Reports are acknowledged here; one that is sent again is not handed on twice.
func (smf *SMF) receiveN4() {
	buffer := make([]byte, 65536)
	for {
		length, _, err := smf.n4.ReadFromUDP(buffer)
		if err != nil {
			return
		}
		octets := append([]byte(nil), buffer[:length]...)
		got, err := message.Parse(octets)
		if err != nil || got.MarshalLen() != length {
			smf.lock.Lock()
			smf.problems = append(smf.problems, fmt.Appendf(nil, "%x: %v", octets, err))
			smf.lock.Unlock()
			continue
		}
		switch got := got.(type) {
		case *message.SessionReportRequest:
			smf.lock.Lock()
			seid, again := smf.sessions[got.SEID()], smf.seen[got.Sequence()]
			smf.seen[got.Sequence()] = true
			smf.lock.Unlock()
			smf.write(message.NewSessionReportResponse(0, 0, seid, got.Sequence(), 0, ie.NewCause(ie.CauseRequestAccepted)))
			if !again {
				smf.reports <- got
			}
		case *message.HeartbeatRequest:
			smf.write(message.NewHeartbeatResponse(got.Sequence(), ie.NewRecoveryTimeStamp(smf.started)))
		case *message.AssociationSetupRequest:
			// The first one as an SMF of another version would.
			if len(smf.seen) == 0 {
				smf.answered(got, message.NewVersionNotSupportedResponse(got.Sequence()))
				continue
			}
			accepted := []*ie.IE{smf.nodeID(), ie.NewCause(ie.CauseRequestAccepted), ie.NewRecoveryTimeStamp(smf.started)}
			smf.answered(got, message.NewAssociationSetupResponse(got.Sequence(), accepted...))
		case *message.AssociationUpdateRequest:
			smf.answered(got, message.NewAssociationUpdateResponse(got.Sequence(), smf.nodeID(), ie.NewCause(ie.CauseRequestAccepted)))
		case *message.NodeReportRequest:
			smf.answered(got, message.NewNodeReportResponse(got.Sequence(), smf.nodeID(), ie.NewCause(ie.CauseRequestAccepted), nil))
		default:
			select {
			case smf.answers <- got:
			default: // Answers to what was sent again, which nobody waits for.
			}
		}
	}
}

// Answers a request of the UPF's node; one that is sent again is not handed on twice.
func (smf *SMF) answered(request, answer message.Message) {
	smf.write(answer)
	smf.lock.Lock()
	again := smf.seen[request.Sequence()]
	smf.seen[request.Sequence()] = true
	smf.lock.Unlock()
	if !again {
		smf.requests <- request
	}
}

// The next request of the UPF's node that is of this type.
func requested[T message.Message](smf *SMF) T {
	for end := time.After(patience); ; {
		select {
		case request := <-smf.requests:
			if request, is := request.(T); is {
				return request
			}
		case <-end:
			var none T
			panic(givenUp(fmt.Sprintf("no %T comes", none)))
		}
	}
}

func (smf *SMF) receiveN3() {
	buffer := make([]byte, 65536)
	for {
		length, _, err := smf.n3.ReadFromUDP(buffer)
		if err != nil {
			return
		}
		// An echo request is not answered.
		if length > 1 && buffer[1] == 1 {
			continue
		}
		smf.packets <- append([]byte(nil), buffer[:length]...)
	}
}

func (smf *SMF) write(what message.Message) {
	octets := make([]byte, what.MarshalLen())
	if err := what.MarshalTo(octets); err != nil {
		panic(err)
	}
	smf.n4.WriteToUDP(octets, &net.UDPAddr{IP: smf.upf.ip, Port: 8805})
}

func (smf *SMF) next() uint32 {
	smf.sequence++
	return smf.sequence
}

// Sends a request of the node until it is answered.
func (smf *SMF) node(request message.Message) message.Message {
	end := time.After(patience)
	for {
		smf.write(request)
		again := time.After(retry)
	wait:
		for {
			select {
			case answer := <-smf.answers:
				if answer.Sequence() == request.Sequence() {
					return answer
				}
			case <-again:
				break wait
			case <-end:
				panic(givenUp(fmt.Sprintf("no answer to %s", request.MessageTypeName())))
			}
		}
	}
}

func (smf *SMF) session(_ uint64, request message.Message) message.Message { return smf.node(request) }

func (smf *SMF) nodeID() *ie.IE { return ie.NewNodeID(smf.upf.smf.String(), "", "") }

// A session between our gNodeB and N6, whose packets all URRs count, and which has FAR 3 for quotas that are used up.
func (smf *SMF) establish(more ...*ie.IE) *Session {
	smf.seids++
	session := &Session{smf: smf, cpSEID: smf.seids, ue: net.IPv4(10, 45, byte(smf.seids>>8), byte(smf.seids)).To4()}
	var charged []*ie.IE
	for _, rule := range more {
		if rule.Type == ie.CreateURR {
			id, err := rule.URRID()
			if err != nil {
				panic(err)
			}
			charged = append(charged, ie.NewURRID(id))
		}
	}
	access, core := ie.NewNetworkInstance("access"), ie.NewNetworkInstance("internet")
	address := func(flags uint8) *ie.IE { return ie.NewUEIPAddress(flags, session.ue.String(), "", 0, 0) }
	pdr := func(id uint16, far uint32, pdi *ie.IE, rest ...*ie.IE) *ie.IE {
		rules := append([]*ie.IE{ie.NewPDRID(id), ie.NewPrecedence(100), pdi, ie.NewFARID(far)}, rest...)
		return ie.NewCreatePDR(append(rules, charged...)...)
	}
	to := func(id uint32, teid uint32) *ie.IE {
		tunnel := ie.NewOuterHeaderCreation(0x0100, teid, smf.upf.gnb.String(), "", 0, 0, 0)
		return ie.NewCreateFAR(ie.NewFARID(id), ie.NewApplyAction(2), ie.NewForwardingParameters(ie.NewDestinationInterface(ie.DstInterfaceAccess), access, tunnel))
	}
	ies := append([]*ie.IE{
		smf.nodeID(), ie.NewFSEID(session.cpSEID, smf.upf.smf, nil), ie.NewPDNType(ie.PDNTypeIPv4),
		pdr(1, 1, ie.NewPDI(ie.NewSourceInterface(ie.SrcInterfaceAccess), ie.NewFTEID(0x05, 0, nil, nil, 0), access, address(2)), ie.NewOuterHeaderRemoval(0, 0)),
		pdr(2, 2, ie.NewPDI(ie.NewSourceInterface(ie.SrcInterfaceCore), core, address(6))),
		ie.NewCreateFAR(ie.NewFARID(1), ie.NewApplyAction(2), ie.NewForwardingParameters(ie.NewDestinationInterface(ie.DstInterfaceCore), core)),
		to(2, 0x77), to(3, quotaTEID),
	}, more...)
	session.answer = smf.node(message.NewSessionEstablishmentRequest(0, 0, 0, smf.next(), 0, ies...)).(*message.SessionEstablishmentResponse)
	if session.answer.UPFSEID == nil {
		return session
	}
	seid, err := session.answer.UPFSEID.FSEID()
	if err != nil || len(session.answer.CreatedPDR) != 1 {
		panic(givenUp("the answer has no F-SEID, or not one created PDR"))
	}
	tunnel, err := session.answer.CreatedPDR[0].FTEID()
	if err != nil {
		panic(givenUp("the created PDR has no F-TEID"))
	}
	session.seid, session.teid = seid.SEID, tunnel.TEID
	smf.lock.Lock()
	smf.sessions[session.cpSEID] = session.seid
	smf.lock.Unlock()
	return session
}

type Session struct {
	smf          *SMF
	answer       *message.SessionEstablishmentResponse
	cpSEID, seid uint64
	teid         uint32
	ue           net.IP
	// Reports that came before they were asked for.
	kept []usage
}

func (session *Session) modify(ies ...*ie.IE) *message.SessionModificationResponse {
	request := message.NewSessionModificationRequest(0, 0, session.seid, session.smf.next(), 0, ies...)
	return session.smf.node(request).(*message.SessionModificationResponse)
}

// Deletes it; the last reports, by URR ID.
func (session *Session) delete(checks *Checks) map[uint32]usage {
	request := message.NewSessionDeletionRequest(0, 0, session.seid, session.smf.next(), 0)
	answer := session.smf.node(request).(*message.SessionDeletionResponse)
	checks.cause("deletion", answer.Cause, ie.CauseRequestAccepted)
	last := map[uint32]usage{}
	for _, report := range usageOf(answer.UsageReport) {
		checks.ok(fmt.Sprintf("  the last report of URR %d says TERMR", report.urr), report.trigger == termr, report)
		last[report.urr] = report
	}
	return last
}

// Queries a URR until so many octets were reported, as packets and messages pass by different ways; what was.
func (session *Session) queried(checks *Checks, urr uint32, octets uint64) uint64 {
	sum := uint64(0)
	for end := time.Now().Add(patience); sum < octets && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		answer := session.modify(ie.NewQueryURR(ie.NewURRID(urr)))
		for _, report := range usageOf(answer.UsageReport) {
			if report.urr != urr || report.trigger != immer {
				checks.ok(fmt.Sprintf("  a query of URR %d has its report, with IMMER", urr), false, report)
			}
			sum += report.bytes
		}
	}
	return sum
}

// A usage report, as go-pfcp reads it.
type usage struct {
	urr, number uint32
	trigger     [3]byte
	bytes       uint64
	start, end  time.Time
}

func usageOf(reports []*ie.IE) []usage {
	var all []usage
	for _, report := range reports {
		ies, err := report.UsageReport()
		if err != nil {
			panic(givenUp(err.Error()))
		}
		var read usage
		for _, one := range ies {
			var err error
			switch one.Type {
			case ie.URRID:
				read.urr, err = one.URRID()
			case ie.URSEQN:
				read.number, err = one.URSEQN()
			case ie.UsageReportTrigger:
				copy(read.trigger[:], one.Payload)
			case ie.StartTime:
				read.start, err = one.StartTime()
			case ie.EndTime:
				read.end, err = one.EndTime()
			case ie.VolumeMeasurement:
				var volume *ie.VolumeMeasurementFields
				if volume, err = one.VolumeMeasurement(); err == nil {
					read.bytes = volume.TotalVolume
					if volume.TotalVolume != volume.UplinkVolume+volume.DownlinkVolume {
						err = fmt.Errorf("the total is not the sum")
					}
				}
			}
			if err != nil {
				panic(givenUp(fmt.Sprintf("IE %d of a usage report: %v", one.Type, err)))
			}
		}
		all = append(all, read)
	}
	return all
}

// The next report of a URR; it must have this trigger and no other.
func (session *Session) report(checks *Checks, urr uint32, trigger [3]byte) usage {
	end := time.After(patience)
	for {
		for i, report := range session.kept {
			if report.urr == urr {
				session.kept = append(session.kept[:i:i], session.kept[i+1:]...)
				checks.ok(fmt.Sprintf("  report of URR %d with trigger %x", urr, trigger), report.trigger == trigger, report)
				return report
			}
		}
		got := session.next(checks, end, fmt.Sprintf("no report of URR %d with trigger %x", urr, trigger))
		if got.ReportType.HasUSAR() {
			session.kept = append(session.kept, usageOf(got.UsageReport)...)
		}
	}
}

// The next report must be that the user plane is inactive.
func (session *Session) inactive(checks *Checks) {
	got := session.next(checks, time.After(patience), "no report of an inactive user plane")
	checks.ok("  the user plane is inactive: UPIR alone", got.ReportType.HasUPIR() && !got.ReportType.HasUSAR(), got.ReportType)
}

func (session *Session) next(checks *Checks, end <-chan time.Time, otherwise string) *message.SessionReportRequest {
	select {
	case got := <-session.smf.reports:
		if got.SEID() != session.cpSEID || got.ReportType == nil {
			checks.ok("  a report is of this session and has a type", false, got)
		}
		return got
	case <-end:
		panic(givenUp(otherwise))
	}
}

// A packet of so many octets from the UE, into its tunnel.
func (session *Session) send(length int) []byte {
	user := make([]byte, length)
	user[0], user[8], user[9] = 0x45, 64, 17
	binary.BigEndian.PutUint16(user[2:], uint16(length))
	copy(user[12:], session.ue)
	copy(user[16:], net.IPv4(198, 51, 100, 7).To4())
	binary.BigEndian.PutUint16(user[10:], checksum(user[:20]))
	binary.BigEndian.PutUint16(user[20:], 4000)
	binary.BigEndian.PutUint16(user[22:], 5000)
	binary.BigEndian.PutUint16(user[24:], uint16(length-20))
	packet := binary.BigEndian.AppendUint16([]byte{0x30, 0xff}, uint16(length))
	packet = append(binary.BigEndian.AppendUint32(packet, session.teid), user...)
	session.smf.n3.WriteToUDP(packet, &net.UDPAddr{IP: session.smf.upf.ip, Port: 2152})
	return user
}

func checksum(header []byte) uint16 {
	sum := uint32(0)
	for i := 0; i < len(header); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(header[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// Whether the user's packet comes to our gNodeB by the FAR for quota action: from tunnel to tunnel, as it was.
func (smf *SMF) arrives(user []byte) bool {
	select {
	case packet := <-smf.packets:
		return len(packet) > 8 && binary.BigEndian.Uint32(packet[4:]) == quotaTEID && bytes.Equal(packet[8:], user)
	case <-time.After(patience):
		return false
	}
}

// Whether no packet has come that was not asked for, after requests that were answered behind it.
func (smf *SMF) nothingArrives() bool { return len(smf.packets) == 0 }

// A URR that measures volume and time, with these octets of triggers.
func urr(id uint32, fifth, sixth uint8, more ...*ie.IE) *ie.IE {
	return ie.NewCreateURR(append([]*ie.IE{ie.NewURRID(id), ie.NewMeasurementMethod(0, 1, 1), ie.NewReportingTriggers(fifth, sixth)}, more...)...)
}

// A URR that reports at the end alone.
func plainURR(id uint32) *ie.IE {
	return urr(id, askVOLTH, 0, ie.NewVolumeThreshold(1, 1_000_000_000, 0, 0))
}
