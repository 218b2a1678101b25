// go-pfcp as a third SMF: what its encoder writes and its decoder reads, with the usage reports that no other encoder of ours asks for.
//
// Usage: gopfcp BINARY
//
// The UPF and we are on addresses of 127/8 that carry our process number: N4 and N3 are UDP sockets, N6 is a file. No privileges are needed.
package main

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

// The SMF set of ours (TS 23.003 §28.12).
const smfSetID = "set1.smfset.5gc.mnc001.mcc001.3gppnetwork.org"

// Reporting Triggers (TS 29.244 §8.2.19), octets 5 and 6.
const (
	askPERIO, askVOLTH, askTIMTH, askQUHTI, askSTART, askSTOPT, askLIUSA = 1, 2, 4, 8, 16, 32, 128
	askVOLQU, askTIMQU, askEVETH, askEVEQU, askQUVTI                     = 1, 2, 16, 32, 128
)

// Usage Report Trigger (§8.2.41), octets 5, 6 and 7.
var (
	perio = [3]byte{0x01}
	volth = [3]byte{0x02}
	quhti = [3]byte{0x08}
	start = [3]byte{0x10}
	stopt = [3]byte{0x20}
	immer = [3]byte{0x80}
	volqu = [3]byte{0, 0x01}
	liusa = [3]byte{0, 0x04}
	termr = [3]byte{0, 0x08}
	quvti = [3]byte{0, 0, 0x08}
)

// The tunnel that packets go into when a quota is used up.
const quotaTEID = 0x9a

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gopfcp BINARY")
		os.Exit(2)
	}
	checks := &Checks{}
	fmt.Println("\nSMF: go-pfcp (TS 29.244), usage reports")
	if err := run(checks, os.Args[1]); err != nil {
		checks.ok("no step fails", false, err)
	}
	fmt.Printf("%d passed, %d failed\n", checks.passed, checks.failed)
	if checks.failed > 0 {
		os.Exit(1)
	}
}

func run(checks *Checks, binary string) error {
	upf, err := startUpf(binary)
	if err != nil {
		return err
	}
	defer upf.kill()
	smf, err := newSmf(upf)
	if err != nil {
		return err
	}
	for _, step := range []func(*Checks, *SMF){
		asked, association, everyTrigger, startAndStop, quotaHoldingTime, quotaValidityTime, farForQuotaAction, userPlaneInactivity,
		linkedUsage, periods, refusals, smfSet, nodeReport, release, gracefulRelease,
	} {
		if err := guarded(func() { step(checks, smf) }); err != nil {
			return err
		}
	}
	code, err := upf.ended()
	if err != nil {
		return err
	}
	checks.ok("the UPF ends, and all packets are accounted for", code == 0, code)
	report, err := upf.report()
	if err != nil {
		return err
	}
	for _, name := range []string{"VersionNotSupportedResponse", "AssociationSetupResponse", "AssociationUpdateResponse", "NodeReportResponse"} {
		checks.ok("it has received our "+name, report.Messages[name].Received > 0, report.Messages)
	}
	return nil
}

// The UPF asks for an association itself (§6.2.6.3), and our response to that is one.
func asked(checks *Checks, smf *SMF) {
	first := requested[*message.AssociationSetupRequest](smf)
	request := requested[*message.AssociationSetupRequest](smf)
	checks.ok("the UPF asks again when we say that its version is not supported", request.Sequence() != first.Sequence(), request)
	checks.ok("it asks for an association", request.NodeID != nil && request.UPFunctionFeatures.HasEMPU(), request)
	session := smf.establish(plainURR(1))
	checks.cause("a session in it", session.answer.Cause, ie.CauseRequestAccepted)
	session.delete(checks)
}

func association(checks *Checks, smf *SMF) {
	heartbeat := smf.node(message.NewHeartbeatRequest(smf.next(), ie.NewRecoveryTimeStamp(smf.started), nil)).(*message.HeartbeatResponse)
	stamp, err := heartbeat.RecoveryTimeStamp.RecoveryTimeStamp()
	checks.ok("heartbeat has a recovery time stamp", err == nil && time.Since(stamp) < time.Hour, stamp)

	ies := []*ie.IE{smf.nodeID(), ie.NewRecoveryTimeStamp(smf.started), ie.NewCPFunctionFeatures(0), ie.NewSMFSetID(smfSetID)}
	setup := smf.node(message.NewAssociationSetupRequest(smf.next(), ies...)).(*message.AssociationSetupResponse)
	checks.cause("association setup", setup.Cause, ie.CauseRequestAccepted)
	same, err := setup.RecoveryTimeStamp.RecoveryTimeStamp()
	checks.ok("  has the stamp of heartbeats", err == nil && same.Equal(stamp), same)
	features := setup.UPFunctionFeatures
	checks.ok("  has features: FTUP, EMPU, QUOAC, MNOP", features.HasFTUP() && features.HasEMPU() && features.HasQUOAC() && features.HasMNOP(), features)
	update := smf.node(message.NewAssociationUpdateRequest(smf.next(), smf.nodeID())).(*message.AssociationUpdateResponse)
	checks.cause("association update", update.Cause, ie.CauseRequestAccepted)
	// One that lasts: its gNodeB is asked whether it is there, and does not answer.
	smf.lasting = smf.establish(plainURR(1))
	checks.cause("a session that lasts", smf.lasting.answer.Cause, ie.CauseRequestAccepted)
}

// All triggers that the UPF has are taken together, and found in the rule.
func everyTrigger(checks *Checks, smf *SMF) {
	rule := ie.NewCreateURR(
		ie.NewURRID(1), ie.NewMeasurementMethod(1, 1, 1),
		ie.NewReportingTriggers(askPERIO|askVOLTH|askTIMTH|askQUHTI|askSTART|askSTOPT|askLIUSA, askVOLQU|askTIMQU|askEVETH|askEVEQU|askQUVTI),
		ie.NewMeasurementPeriod(time.Hour), ie.NewVolumeThreshold(1, 1_000_000, 0, 0), ie.NewTimeThreshold(time.Hour),
		ie.NewVolumeQuota(1, 2_000_000, 0, 0), ie.NewTimeQuota(2*time.Hour), ie.NewQuotaHoldingTime(time.Hour), ie.NewQuotaValidityTime(time.Hour),
		ie.NewEventThreshold(1000), ie.NewEventQuota(2000), ie.NewInactivityDetectionTime(3600), ie.NewLinkedURRID(2), ie.NewFARID(3),
		ie.NewMonitoringTime(time.Now().Add(time.Hour)), ie.NewSubsequentVolumeThreshold(1, 1_000_000, 0, 0),
		ie.NewSubsequentVolumeQuota(1, 2_000_000, 0, 0), ie.NewSubsequentTimeThreshold(3600), ie.NewSubsequentTimeQuota(7200),
		ie.NewSubsequentEventThreshold(1000), ie.NewSubsequentEventQuota(2000),
	)
	session := smf.establish(rule, plainURR(2))
	checks.cause("a URR with every trigger, limit and subsequent limit", session.answer.Cause, ie.CauseRequestAccepted)
	session.delete(checks)
}

func startAndStop(checks *Checks, smf *SMF) {
	session := smf.establish(urr(1, askSTART|askSTOPT, 0, ie.NewInactivityDetectionTime(2)))
	checks.cause("session with START, STOPT and an inactivity detection time of 2 s", session.answer.Cause, ie.CauseRequestAccepted)
	session.send(500)
	started := session.report(checks, 1, start)
	stopped := session.report(checks, 1, stopt)
	session.send(700)
	again := session.report(checks, 1, start)
	last := session.delete(checks)[1]
	sum := started.bytes + stopped.bytes + again.bytes + last.bytes
	checks.ok("  start, stop, start and the last report have all octets between them", sum == 1200, sum)
	checks.ok("  numbered on", started.number == 0 && stopped.number == 1 && again.number == 2, again.number)
}

func quotaHoldingTime(checks *Checks, smf *SMF) {
	session := smf.establish(urr(1, askQUHTI, askVOLQU, ie.NewVolumeQuota(1, 1_000_000, 0, 0), ie.NewQuotaHoldingTime(2*time.Second), ie.NewFARID(3)))
	checks.cause("session with a quota holding time of 2 s", session.answer.Cause, ie.CauseRequestAccepted)
	session.send(400)
	held := session.report(checks, 1, quhti)
	checks.ok("  QUHTI has the usage so far", held.bytes == 400, held.bytes)
	packet := session.send(300)
	checks.ok("  the quota is over: packets go by the FAR for quota action", smf.arrives(packet), nil)
	answer := session.modify(ie.NewUpdateURR(ie.NewURRID(1), ie.NewVolumeQuota(1, 1_000_000, 0, 0)))
	checks.cause("a new quota", answer.Cause, ie.CauseRequestAccepted)
	session.report(checks, 1, quhti)
	session.delete(checks)
}

func quotaValidityTime(checks *Checks, smf *SMF) {
	session := smf.establish(urr(1, 0, askVOLQU|askQUVTI, ie.NewVolumeQuota(1, 1_000_000, 0, 0), ie.NewQuotaValidityTime(2*time.Second)))
	checks.cause("session with a quota validity time of 2 s", session.answer.Cause, ie.CauseRequestAccepted)
	session.send(600)
	over := session.report(checks, 1, quvti)
	last := session.delete(checks)[1]
	checks.ok("  QUVTI and the last report have all octets between them", over.bytes+last.bytes == 600, over.bytes+last.bytes)
}

func farForQuotaAction(checks *Checks, smf *SMF) {
	session := smf.establish(urr(1, 0, askVOLQU, ie.NewVolumeQuota(1, 1000, 0, 0), ie.NewFARID(3)))
	checks.cause("session with a quota of 1000 octets and a FAR for quota action", session.answer.Cause, ie.CauseRequestAccepted)
	session.send(500)
	session.send(500)
	used := session.report(checks, 1, volqu)
	checks.ok("  VOLQU after 1000 octets", used.bytes == 1000, used.bytes)
	packet := session.send(333)
	checks.ok("  the next packet goes into the tunnel of that FAR, octet for octet", smf.arrives(packet), nil)
	answer := session.modify(ie.NewUpdateURR(ie.NewURRID(1), ie.NewVolumeQuota(1, 10_000, 0, 0)))
	checks.cause("a new quota", answer.Cause, ie.CauseRequestAccepted)
	session.send(450)
	since := session.queried(checks, 1, 333+450)
	checks.ok("  packets pass again; reported since are these and what went by that FAR", since == 333+450, since)
	session.delete(checks)
	checks.ok("  nothing else came by that FAR", smf.nothingArrives(), nil)
}

func userPlaneInactivity(checks *Checks, smf *SMF) {
	session := smf.establish(plainURR(1), ie.NewUserPlaneInactivityTimer(2*time.Second))
	checks.cause("session with a user plane inactivity timer of 2 s", session.answer.Cause, ie.CauseRequestAccepted)
	session.send(200)
	session.inactive(checks)
	session.send(200)
	session.inactive(checks)
	last := session.delete(checks)[1]
	checks.ok("  the last report has all octets", last.bytes == 400, last.bytes)
}

func linkedUsage(checks *Checks, smf *SMF) {
	session := smf.establish(
		urr(1, askVOLTH, 0, ie.NewVolumeThreshold(1, 900, 0, 0)),
		urr(2, askLIUSA, 0, ie.NewLinkedURRID(1)),
	)
	checks.cause("session with a URR linked to another's threshold", session.answer.Cause, ie.CauseRequestAccepted)
	session.send(500)
	session.send(500)
	own := session.report(checks, 1, volth)
	linked := session.report(checks, 2, liusa)
	checks.ok("  both have the 1000 octets", own.bytes == 1000 && linked.bytes == 1000, linked.bytes)
	session.send(640)
	both := [2]uint64{session.queried(checks, 1, 640), session.queried(checks, 2, 640)}
	checks.ok("  queries have the 640 since", both == [2]uint64{640, 640}, both)
	session.delete(checks)
}

func periods(checks *Checks, smf *SMF) {
	session := smf.establish(urr(1, askPERIO, 0, ie.NewMeasurementPeriod(time.Second)))
	checks.cause("session with a period of 1 s", session.answer.Cause, ie.CauseRequestAccepted)
	first, second := session.report(checks, 1, perio), session.report(checks, 1, perio)
	checks.ok("  each begins where the one before ended", first.end.Equal(second.start) && second.start.Before(second.end), second)
	answer := session.modify(ie.NewUpdateURR(ie.NewURRID(1), ie.NewReportingTriggers(0, 0)))
	checks.cause("  no more of them", answer.Cause, ie.CauseRequestAccepted)
	session.delete(checks)
}

func refusals(checks *Checks, smf *SMF) {
	for _, refused := range []struct {
		what  string
		urr   *ie.IE
		cause uint8
	}{
		{"DROTH", urr(1, 0x40, 0), ie.CauseServiceNotSupported},
		{"a FAR for quota action that is not there", urr(1, 0, askVOLQU, ie.NewVolumeQuota(1, 1, 0, 0), ie.NewFARID(9)), ie.CauseRuleCreationModificationFailure},
	} {
		session := smf.establish(refused.urr)
		checks.cause("refused: "+refused.what, session.answer.Cause, refused.cause)
		checks.ok("  no session is made", session.seid == 0, session.seid)
	}
	answer := smf.session(0x1234, message.NewSessionModificationRequest(0, 0, 0x1234, smf.next(), 0)).(*message.SessionModificationResponse)
	checks.cause("modification of no session", answer.Cause, ie.CauseSessionContextNotFound)
}

// With a session that lives: the UPF ends it, and no report comes after.
// A session is served for another SMF of the set, which has an association of its own (MPAS), and not for one of another set.
func smfSet(checks *Checks, smf *SMF) {
	session := smf.establish(plainURR(1))
	checks.cause("a session of the first SMF", session.answer.Cause, ie.CauseRequestAccepted)
	session.send(300)
	session.queried(checks, 1, 300)
	for _, other := range []struct {
		set   string
		last  byte
		cause uint8
	}{{"another." + smfSetID, 34, ie.CauseSessionContextNotFound}, {smfSetID, 35, ie.CauseRequestAccepted}} {
		second, err := smf.another(other.last)
		if err != nil {
			panic(givenUp(err.Error()))
		}
		defer second.n4.Close()
		ies := []*ie.IE{second.nodeID(), ie.NewRecoveryTimeStamp(second.started), ie.NewCPFunctionFeatures(0x20), ie.NewSMFSetID(other.set)}
		setup := second.node(message.NewAssociationSetupRequest(second.next(), ies...)).(*message.AssociationSetupResponse)
		checks.cause("association of an SMF of the set "+other.set, setup.Cause, ie.CauseRequestAccepted)
		checks.ok("  has features: SSET, MPAS", setup.UPFunctionFeatures.HasSSET() && setup.UPFunctionFeatures.HasMPAS(), setup.UPFunctionFeatures)
		modify := func(ies ...*ie.IE) *message.SessionModificationResponse {
			request := message.NewSessionModificationRequest(0, 0, session.seid, second.next(), 0, ies...)
			return second.node(request).(*message.SessionModificationResponse)
		}
		checks.cause("  its query of the first one's session", modify(ie.NewQueryURR(ie.NewURRID(1))).Cause, other.cause)
		taken := modify(second.nodeID(), ie.NewFSEID(session.cpSEID+0x1000, second.upf.smf, nil))
		checks.cause("  its modification with its Node ID", taken.Cause, other.cause)
		if other.cause == ie.CauseRequestAccepted {
			request := message.NewSessionDeletionRequest(0, 0, session.seid, second.next(), 0)
			deletion := second.node(request).(*message.SessionDeletionResponse)
			checks.cause("  its deletion", deletion.Cause, ie.CauseRequestAccepted)
			checks.ok("  is answered to its SEID", deletion.SEID() == session.cpSEID+0x1000, deletion.SEID())
		}
		released := second.node(message.NewAssociationReleaseRequest(second.next(), second.nodeID())).(*message.AssociationReleaseResponse)
		checks.cause("  its association's release", released.Cause, ie.CauseRequestAccepted)
	}
}

// A GTP-U peer that does not answer is told of (§6.2.9).
func nodeReport(checks *Checks, smf *SMF) {
	request := requested[*message.NodeReportRequest](smf)
	checks.ok("a node report: a user plane path has failed", request.NodeReportType.HasUPFR(), request)
	peers, err := request.UserPlanePathFailureReport.UserPlanePathFailureReport()
	if err != nil || len(peers) != 1 {
		panic(givenUp(fmt.Sprintf("the report has %d peers: %v", len(peers), err)))
	}
	peer, err := peers[0].RemoteGTPUPeer()
	checks.ok("  that to our gNodeB", err == nil && peer.IPv4Address.Equal(smf.upf.gnb), peer)
	smf.lasting.delete(checks)
}

// The UPF is stopped: it asks for the release of the association within a time, and sessions go on until that comes (§6.2.8.3).
func gracefulRelease(checks *Checks, smf *SMF) {
	ies := []*ie.IE{smf.nodeID(), ie.NewRecoveryTimeStamp(smf.started), ie.NewCPFunctionFeatures(0)}
	setup := smf.node(message.NewAssociationSetupRequest(smf.next(), ies...)).(*message.AssociationSetupResponse)
	checks.cause("association for the end", setup.Cause, ie.CauseRequestAccepted)
	session := smf.establish(plainURR(1))
	checks.cause("a session", session.answer.Cause, ie.CauseRequestAccepted)
	smf.upf.stop()
	request := requested[*message.AssociationUpdateRequest](smf)
	checks.ok("the UPF that is stopped asks for a release", request.PFCPAssociationReleaseRequest.HasSARR(), request)
	period, err := request.GracefulReleasePeriod.GracefulReleasePeriod()
	checks.ok("  within the time of its configuration", err == nil && period == 600*time.Second, period)
	session.send(400)
	went := session.queried(checks, 1, 400)
	checks.ok("  the session goes on meanwhile", went == 400, went)
	session.delete(checks)
	answer := smf.node(message.NewAssociationReleaseRequest(smf.next(), smf.nodeID())).(*message.AssociationReleaseResponse)
	checks.cause("association release", answer.Cause, ie.CauseRequestAccepted)
}

func release(checks *Checks, smf *SMF) {
	session := smf.establish(plainURR(1))
	checks.cause("a last session", session.answer.Cause, ie.CauseRequestAccepted)
	answer := smf.node(message.NewAssociationReleaseRequest(smf.next(), smf.nodeID())).(*message.AssociationReleaseResponse)
	checks.cause("association release", answer.Cause, ie.CauseRequestAccepted)
	gone := session.modify()
	checks.ok("  and its session is gone", gone.Cause.Payload[0] == ie.CauseSessionContextNotFound || gone.Cause.Payload[0] == ie.CauseNoEstablishedPFCPAssociation, gone.Cause)
	checks.ok("every message that came was read whole", len(smf.problems) == 0, bytes.Join(smf.problems, []byte("; ")))
	checks.ok("no report is left", len(smf.reports) == 0, len(smf.reports))
}
