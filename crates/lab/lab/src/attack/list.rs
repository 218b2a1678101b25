//! The list of attacks. One more is one more entry: its name, what it does, from where, what honest users may lose by it.

use super::acts::{self, Act};
use super::frames::{self, Make};
use Vantage::{Disk, Link, LocalUser, N3, N4, N6, Nowhere, Signal};
use std::time::Duration;

/// Where an attacker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vantage {
    /// Nobody attacks: what the machine itself does.
    Nowhere,
    /// On N3's network, or a user through its own tunnel.
    N3,
    /// In the data network.
    N6,
    /// On N4's network.
    N4,
    /// An account on the host without privileges.
    LocalUser,
    /// At a link.
    Link,
    /// At a disk, or a reader of our output.
    Disk,
    /// Signals and kills.
    Signal,
}

/// What is done.
#[derive(Clone, Copy)]
pub(super) enum Doing {
    /// Frames, so many a second. Where `stays_out` is set, none of them may leave by the other interface.
    Frames { make: Make, stays_out: bool },
    /// Frames as fast as one core sends them: honest users may lose some.
    Flood(Make),
    /// Code.
    Act(Act),
    /// Nothing.
    Nothing,
}

/// What honest users may lose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum MayLose {
    /// No packet, none reordered.
    Nothing,
    /// Less than this share.
    Share(f64),
    /// All, for as long as it lasts; afterwards packets flow again by themselves.
    Meanwhile,
}

/// One attack.
pub(super) struct Attack {
    pub name: &'static str,
    pub what: &'static str,
    pub from: Vantage,
    pub doing: Doing,
    pub may_lose: MayLose,
    /// Whether it is of the short form.
    pub short: bool,
    /// Of things that are done one after the other: how many.
    pub count: u32,
    /// How long the daemon itself is stopped: so much longer may a heartbeat's answer take.
    pub stopped: Duration,
    /// Whether the next attack needs another daemon: this one lacks something for good.
    pub last: bool,
}

/// Share of packets that a flood beyond what a port carries may cost.
const FLOOD: f64 = 0.1;

const fn attack(name: &'static str, from: Vantage, what: &'static str, doing: Doing) -> Attack {
    Attack { name, what, from, doing, may_lose: MayLose::Nothing, short: false, count: 0, stopped: Duration::ZERO, last: false }
}

const fn frames(make: Make) -> Doing {
    Doing::Frames { make, stays_out: false }
}

const fn stays_out(make: Make) -> Doing {
    Doing::Frames { make, stays_out: true }
}

impl Attack {
    const fn short(mut self) -> Attack {
        self.short = true;
        self
    }

    const fn may_lose(mut self, may_lose: MayLose) -> Attack {
        self.may_lose = may_lose;
        self
    }

    const fn count(mut self, count: u32) -> Attack {
        self.count = count;
        self
    }

    const fn stopped(mut self, stopped: Duration) -> Attack {
        self.stopped = stopped;
        self
    }

    const fn last(mut self) -> Attack {
        self.last = true;
        self
    }
}

/// In the order in which they are run. The first shows how busy the machine itself is.
pub(super) const ATTACKS: &[Attack] = &[
    attack("none", Nowhere, "honest users and heartbeats alone", Doing::Nothing).short(),
    attack("n3-random-frames", N3, "random bytes behind EtherTypes that we know", frames(frames::random_frames)).short(),
    attack("n3-random-gtpu", N3, "random GTP-U messages", frames(frames::random_gtpu)).short(),
    attack("n3-mutated-gtpu", N3, "a user's packets, some octets of GTP-U, IP or UDP changed", frames(frames::mutated_gtpu)).short(),
    attack("n3-gtpu-lengths", N3, "lengths in GTP-U that are not the packet's", frames(frames::gtpu_lengths)).short(),
    attack("n3-gtpu-extensions", N3, "1,360 bytes of extension headers", stays_out(frames::gtpu_extensions)).short(),
    attack("n3-unknown-teids", N3, "packets for TEIDs that nobody has", stays_out(frames::unknown_teids)).short(),
    attack("n3-flood-unknown-teids", N3, "the same, as fast as one core sends", Doing::Flood(frames::unknown_teids)),
    attack("n3-spoofed-users", N3, "a user sends from another user's address", stays_out(frames::spoofed_users)).short(),
    attack("n3-martians-inside", N3, "a user sends from and to 127/8, 224/4, 240/4, 0.0.0.0", stays_out(frames::martians_inside)).short(),
    attack("n3-martians-outside", N3, "tunnels from 127/8, 224/4, 0.0.0.0, 255.255.255.255, our own", stays_out(frames::martians_outside))
        .short(),
    attack("n3-source-routes", N3, "a user's loose source routes and routing headers 0", stays_out(frames::source_routes)).short(),
    attack("n3-fragments", N3, "fragments outside and inside of tunnels", frames(frames::fragments)).short(),
    attack("n3-padding", N3, "a user's bytes behind the end of its IP packet, past its rate", Doing::Act(acts::padding)).short(),
    attack(
        "n3-extension-headers",
        N3,
        "a user hides UDP from the firewall behind IPv6 headers",
        Doing::Act(acts::behind_extension_headers),
    )
    .short(),
    attack("n3-gtpu-echoes", N3, "GTP-U echo requests of a stranger", frames(frames::gtpu_echoes)).short(),
    attack("n3-flood-gtpu-echoes", N3, "the same, as fast as one core sends", Doing::Flood(frames::gtpu_echoes)),
    attack("n3-error-indications", N3, "a stranger's error indications for tunnels that work", Doing::Act(acts::error_indications)).short(),
    attack("n3-end-markers", N3, "a stranger's end markers for honest and unknown tunnels", frames(frames::end_markers)).short(),
    attack("n3-arp-spoof", N3, "a stranger's ARP requests in the gNodeB's name", frames(frames::arp_spoof_gnb)).short(),
    attack("n3-arp-flood", N3, "ARP requests from all addresses of the network", frames(frames::arp_flood)).short(),
    attack("n3-unresolved", N3, "a user sends to every address of N6's networks", frames(frames::unresolved_neighbours)).short(),
    attack("n3-users-to-n4", N3, "a user sends PFCP to our own addresses", Doing::Act(acts::users_to_n4)).short(),
    attack("n6-random-frames", N6, "random bytes behind EtherTypes that we know", frames(frames::random_frames)).short(),
    attack("n6-scan", N6, "packets to every address that a UE may have", stays_out(frames::scan_of_users)).short(),
    attack("n6-flood-scan", N6, "the same, as fast as one core sends", Doing::Flood(frames::scan_of_users)),
    attack("n6-flood-of-users", N6, "64-byte packets to honest users, as fast as one core sends", Doing::Flood(frames::flood_of_users)),
    attack("n6-martians", N6, "packets to users from addresses that must never be on a wire", stays_out(frames::martians_to_users)).short(),
    attack("n6-own-source", N6, "packets to users from our own address, which the firewall denies", stays_out(frames::own_source_to_users))
        .short(),
    attack("n6-odd-packets", N6, "to honest users: TTL 0 and 1, fragments, port 2152", frames(frames::odd_packets_to_users)).short(),
    attack("n6-icmp-echoes", N6, "echo requests to us from all over the network", frames(frames::icmp_echoes)).short(),
    attack("n6-flood-icmp-echoes", N6, "the same, as fast as one core sends", Doing::Flood(frames::icmp_echoes)),
    attack("n6-arp-spoof", N6, "a stranger's ARP requests in the router's name", frames(frames::arp_spoof_router)).short(),
    attack("n6-nd-flood", N6, "neighbour solicitations from 2^48 addresses", frames(frames::nd_flood)).short(),
    attack("n6-flood-nd", N6, "the same, as fast as one core sends", Doing::Flood(frames::nd_flood)),
    attack(
        "n6-unreachable-users",
        N6,
        "packets to 70 idle users that do not answer; then one that does",
        Doing::Act(acts::unreachable_users),
    ),
    attack("n4-heartbeats", N4, "a stranger's heartbeats", Doing::Act(acts::heartbeat_flood)).short(),
    attack("n4-associations", N4, "association requests of random nodes", Doing::Act(acts::association_flood)).short(),
    attack("n4-random", N4, "random bytes, half of them behind a right header", Doing::Act(acts::random_n4)).short(),
    attack("n4-longest", N4, "messages of 64 KB: elements, groups in groups, wrong ones", Doing::Act(acts::longest_messages)).short(),
    attack("n4-filters", N4, "540 SDF filters in one PDR", Doing::Act(acts::many_filters)).count(540).short(),
    attack("n4-filters-120", N4, "120 SDF filters in one PDR", Doing::Act(acts::many_filters)).count(120).short(),
    attack(
        "n4-foreign-sessions",
        N4,
        "a stranger changes and ends sessions of which it knows the SEID",
        Doing::Act(acts::foreign_sessions),
    )
    .short(),
    attack("n4-guessed-seids", N4, "SEIDs that follow from one's own", Doing::Act(acts::guessed_seids)).short(),
    attack("n4-other-name", N4, "a stranger's association in the honest SMF's name", Doing::Act(acts::association_in_anothers_name))
        .short(),
    attack("n4-other-release", N4, "a stranger releases the honest SMF's association", Doing::Act(acts::release_in_anothers_name)).short(),
    attack("n4-foreign-f-seids", N4, "a stranger's reports to the honest SMF, under its SEIDs", Doing::Act(acts::foreign_f_seids)).short(),
    attack(
        "starved-sockets",
        LocalUser,
        "hundreds of connections to the HTTP server and the control socket",
        Doing::Act(acts::starved_sockets),
    )
    .count(300)
    .short(),
    attack("n4-vanished", N4, "SMFs gone from the link, forged heartbeats: no ARP is answered", Doing::Act(acts::vanished_peers))
        .count(8)
        .short(),
    attack("n4-vanished-at-end", N4, "the same, and the daemon is ended meanwhile", Doing::Act(acts::vanished_at_the_end))
        .count(4)
        .short()
        .last(),
    attack("n4-all-associations", N4, "300 strangers take associations", Doing::Act(acts::all_associations)).count(300).short(),
    attack("n4-all-sessions", N4, "a stranger fills the room for sessions", Doing::Act(acts::all_sessions)),
    attack("n4-silent-peer", N4, "an SMF with idle users that get packets answers no reports", Doing::Act(acts::silent_peer))
        .count(600)
        .short(),
    attack("disk-full", Disk, "the log's file system is full, and there is much to log", Doing::Act(acts::full_disk)).short(),
    attack("signal-hangup", Signal, "SIGHUP", Doing::Act(acts::hangup)).short(),
    attack("signal-user", Signal, "SIGUSR1", Doing::Act(acts::user_signal)).short(),
    attack("signal-stop", Signal, "SIGSTOP, and SIGCONT after 0.7 s", Doing::Act(acts::stop_and_continue)).stopped(acts::STOPPED).short(),
    attack("kill-compiling", Signal, "SIGKILL while the compiler runs, under umask 0", Doing::Act(acts::killed_while_compiling)),
    attack(
        "own-compiler",
        LocalUser,
        "a local user with $CC and a copy of the binary that has capabilities",
        Doing::Act(acts::own_compiler),
    ),
    attack("links-down-up", Link, "both links down and up, at both ends", Doing::Act(acts::links_down_and_up))
        .may_lose(MayLose::Meanwhile)
        .short(),
    attack("link-anew", Link, "N6's interface deleted and created again", Doing::Act(acts::link_made_anew))
        .may_lose(MayLose::Meanwhile)
        .short(),
    attack("output-closed", Disk, "the reader of the live view exits", Doing::Act(acts::output_closed)).last(),
];

/// That of floods.
pub(super) fn may_lose(attack: &Attack) -> MayLose {
    match attack.doing {
        Doing::Flood(_) => MayLose::Share(FLOOD),
        _ => attack.may_lose,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_first_is_no_attack() {
        let mut names: Vec<&str> = ATTACKS.iter().map(|attack| attack.name).collect();
        assert_eq!(names[0], "none");
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
