//! In which order do stages run, so that what depends on the order of packets happens in it?
//!
//! A meter, a register, or a service may be used in several stages: those of packets of several classes, or where the program calls a service at several
//! places. Packets that wait there take *turns*: a row of packets that wait for one stage, then the next row, in the order in which they came. For that all
//! of them must have come to one of these stages and none beyond it, so everything that leads there runs before, and no way leads from one of them to another.
//!
//! Where a packet may call a service at one place and then at another, packets take turns at places of the first rank, and then at those of the second
//! ([`Plan::places`]), if that is order enough for the service.

use crate::graph::StageId;
use p4_analysis::effects::Ordered;
use std::collections::{BTreeMap, BTreeSet};

/// The stages of one class, or those of packets of no class, which come first and are track 0.
pub(crate) struct Track {
    /// In the order in which they may run.
    pub stages: Vec<Stage>,
}

/// A stage, by its number among all.
pub(crate) struct Stage {
    pub number: StageId,
    /// Where it passes packets to.
    pub to: BTreeSet<StageId>,
    /// What it uses.
    pub uses: BTreeSet<Use>,
}

/// What a stage uses; and of a service, if packets come to it several times, the place's rank: how many calls of it a packet may have made before.
pub(crate) type Use = (Ordered, usize);

/// Stages that run one after the other, then those that run in turns.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Phase {
    /// By track.
    pub alone: Vec<Vec<StageId>>,
    /// Whether those of track 0 run before the others.
    pub general_first: bool,
    /// None in the last phase.
    pub turns: Vec<StageId>,
}

/// How all stages run.
#[derive(Debug)]
pub(crate) struct Plan {
    /// One after the other.
    pub phases: Vec<Phase>,
    /// Services that a packet may call at one place after another: calls come in the order of the packets at places of one rank, and those of the first rank first.
    pub places: BTreeSet<Ordered>,
    /// Services whose calls come in no such order either.
    pub unordered: BTreeSet<Ordered>,
}

/// All calls of a service come in the order of the packets: `in_order` of `struct sp_lane`.
pub(crate) const IN_ORDER: u64 = 2;

impl Plan {
    /// `in_order` of `struct sp_lane` for a service's calls.
    pub(crate) fn order(&self, calls: Ordered) -> u64 {
        match () {
            () if self.unordered.contains(&calls) => 0,
            () if self.places.contains(&calls) => 1,
            () => IN_ORDER,
        }
    }
}

/// The plan of all tracks; `None` if meters, registers or random numbers would be used in another order than that of the packets.
pub(crate) fn plan(mut tracks: Vec<Track>) -> Option<Plan> {
    let (mut places, mut unordered) = (BTreeSet::new(), BTreeSet::new());
    loop {
        let calls: BTreeSet<Ordered> = match schedule(&tracks) {
            Ok(phases) => return Some(Plan { phases, places, unordered }),
            Err(Some((calls, _))) => BTreeSet::from([calls]),
            Err(None) => {
                let uses = tracks.iter().flat_map(|t| &t.stages).flat_map(|s| &s.uses);
                uses.filter(|of| is_calls(of)).map(|(what, _)| *what).collect()
            }
        };
        if calls.is_empty() {
            return None;
        }
        let (ranked, whole): (BTreeSet<Ordered>, BTreeSet<Ordered>) = calls.into_iter().partition(|what| places.contains(what));
        if whole.is_empty() {
            tracks.iter_mut().flat_map(|t| &mut t.stages).for_each(|s| s.uses.retain(|(what, _)| !ranked.contains(what)));
            places.retain(|what| !ranked.contains(what));
            unordered.extend(ranked);
        } else {
            whole.iter().for_each(|what| rank_places(&mut tracks, *what));
            places.extend(whole);
        }
    }
}

fn is_calls((what, _): &Use) -> bool {
    matches!(what, Ordered::Calls(_))
}

/// Tells the places where a service is called apart by their ranks.
fn rank_places(tracks: &mut [Track], calls: Ordered) {
    // Stages lead to later ones of their track, and those of classes to those of packets of no class.
    let mut made: BTreeMap<StageId, usize> = BTreeMap::new();
    let (general, classes) = tracks.split_at_mut(1.min(tracks.len()));
    for stage in classes.iter_mut().chain(general).flat_map(|track| &mut track.stages) {
        let rank = made.get(&stage.number).copied().unwrap_or(0);
        let is_place = stage.uses.remove(&(calls, 0));
        if is_place {
            stage.uses.insert((calls, rank));
        }
        for to in &stage.to {
            let most = made.entry(*to).or_default();
            *most = (*most).max(rank + usize::from(is_place));
        }
    }
}

/// The phases of all tracks.
///
/// # Errors
/// What is used at places that a packet may come to one after the other, or that would have to be both before and behind others.
fn schedule(tracks: &[Track]) -> Result<Vec<Phase>, Option<Use>> {
    let groups = ranked(groups(tracks))?;
    let mut phases: Vec<Phase> = (0..=groups.len())
        .map(|k| Phase {
            alone: vec![Vec::new(); tracks.len()],
            general_first: k == 0 && !groups.is_empty(),
            turns: groups.get(k).map_or_else(Vec::new, |group| group.stages.iter().copied().collect()),
        })
        .collect();
    for (t, track) in tracks.iter().enumerate() {
        let firsts: Vec<Option<StageId>> =
            groups.iter().map(|group| track.stages.iter().map(|s| s.number).find(|s| group.stages.contains(s))).collect();
        for stage in track.stages.iter().filter(|s| !groups.iter().any(|group| group.stages.contains(&s.number))) {
            phases[phase_of(stage.number, t, &firsts, &groups)].alone[t].push(stage.number);
        }
    }
    if runs_forward(&phases, tracks) { Ok(phases) } else { Err(None) }
}

/// Stages that use the same: several.
#[derive(Debug, PartialEq, Eq)]
struct Group {
    stages: BTreeSet<StageId>,
    /// What they use.
    uses: BTreeSet<Use>,
    /// Stages from which a packet may come to one of them.
    before: BTreeSet<StageId>,
    /// Stages that a packet may come to from one of them.
    behind: BTreeSet<StageId>,
}

impl Group {
    fn leads_to(&self, other: &Group) -> bool {
        !self.behind.is_disjoint(&other.stages)
    }
}

/// All groups, each where its last stage is in the order of the stages. What leads where is asked of them alone, as most programs have none: that of each stage
/// would be quadratic in the program.
fn groups(tracks: &[Track]) -> Vec<Group> {
    let stages: Vec<&Stage> = tracks.iter().flat_map(|t| &t.stages).collect();
    let mut users: BTreeMap<Use, Vec<&Stage>> = BTreeMap::new();
    for stage in &stages {
        stage.uses.iter().for_each(|what| users.entry(*what).or_default().push(stage));
    }
    users.retain(|_, of| of.len() > 1);
    if users.is_empty() {
        return Vec::new();
    }
    let forward: Edges = stages.iter().map(|s| (s.number, s.to.iter().copied().collect())).collect();
    let mut backward = Edges::new();
    for stage in &stages {
        stage.to.iter().for_each(|to| backward.entry(*to).or_default().push(stage.number));
    }
    let mut groups = Vec::new();
    for last in stages.iter().rev() {
        let (mut members, mut uses, mut left) = (BTreeSet::new(), BTreeSet::new(), vec![*last]);
        while let Some(stage) = left.pop() {
            for what in &stage.uses {
                // Taken away, so that what has a group is not found again.
                let Some(of) = users.remove(what) else { continue };
                members.extend(of.iter().map(|s| s.number));
                left.extend(of);
            }
            uses.extend(&stage.uses);
        }
        if !members.is_empty() {
            groups.push(Group { before: reach(&members, &backward), behind: reach(&members, &forward), stages: members, uses });
        }
    }
    groups.reverse();
    groups
}

type Edges = BTreeMap<StageId, Vec<StageId>>;

/// What can be reached from any of these over one edge or more.
fn reach(starts: &BTreeSet<StageId>, edges: &Edges) -> BTreeSet<StageId> {
    let (mut seen, mut left) = (BTreeSet::new(), starts.iter().copied().collect::<Vec<_>>());
    while let Some(stage) = left.pop() {
        let next = edges.get(&stage).into_iter().flatten().copied();
        left.extend(next.filter(|to| seen.insert(*to)));
    }
    seen
}

/// The groups, each behind those that lead to it.
fn ranked(mut groups: Vec<Group>) -> Result<Vec<Group>, Option<Use>> {
    if let Some(group) = groups.iter().find(|group| group.leads_to(group)) {
        // Of one that is used in several stages, a service as a rule: the caller can do without its order.
        return Err(group.uses.iter().copied().find(is_calls));
    }
    let mut ranked = Vec::new();
    while !groups.is_empty() {
        let Some(next) = (0..groups.len()).find(|at| !groups.iter().any(|other| other.leads_to(&groups[*at]))) else { return Err(None) };
        ranked.push(groups.remove(next));
    }
    Ok(ranked)
}

/// In which phase a stage runs that uses nothing which others use: as the order of its track has it, but ahead of all that it leads to and behind all that
/// leads to it. `firsts`: of each group the first stage in that track.
fn phase_of(number: StageId, t: usize, firsts: &[Option<StageId>], groups: &[Group]) -> usize {
    let (mut phase, mut last) = (0, groups.len());
    for (k, group) in groups.iter().enumerate().rev() {
        let leads = group.before.contains(&number);
        if leads {
            last = k;
        }
        // What a packet of a class comes to that has left it is behind everything else.
        let behind = firsts[k].map_or(t == 0, |first| number > first);
        if phase == 0 && (group.behind.contains(&number) || (behind && !leads)) {
            phase = k + 1;
        }
    }
    phase.min(last)
}

/// Whether nothing passes a packet to a stage that has run.
fn runs_forward(phases: &[Phase], tracks: &[Track]) -> bool {
    let mut at: BTreeMap<StageId, usize> = BTreeMap::new();
    let mut next = 0;
    for phase in phases {
        let (general, classes) = phase.alone.split_at(1.min(phase.alone.len()));
        let order: Vec<StageId> = match phase.general_first {
            true => general.iter().chain(classes).flatten().copied().collect(),
            false => classes.iter().chain(general).flatten().copied().collect(),
        };
        for stage in order {
            next += 1;
            at.insert(stage, next);
        }
        next += 1;
        at.extend(phase.turns.iter().map(|stage| (*stage, next)));
    }
    tracks.iter().flat_map(|t| &t.stages).all(|from| from.to.iter().all(|to| at.get(&from.number) < at.get(to)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_ir::ServiceId;
    use rand::Rng as _;

    fn calls(service: u32) -> Use {
        (Ordered::Calls(ServiceId::from_u32(service)), 0)
    }

    fn track(stages: &[(StageId, &[StageId], &[Use])]) -> Track {
        let stage = |(number, to, uses): &(StageId, &[StageId], &[Use])| Stage {
            number: *number,
            to: to.iter().copied().collect(),
            uses: uses.iter().copied().collect(),
        };
        Track { stages: stages.iter().map(stage).collect() }
    }

    #[test]
    fn what_leads_to_a_turn_runs_before_it_and_what_comes_of_it_behind() {
        // 2 and 4 call one service; 3 leads to 4 alone, 5 comes of both.
        let phases = schedule(&[track(&[
            (0, &[1, 2, 3], &[]),
            (1, &[5], &[]),
            (2, &[5], &[calls(0)]),
            (3, &[4], &[]),
            (4, &[5], &[calls(0)]),
            (5, &[], &[]),
        ])])
        .expect("can be");
        assert_eq!(
            phases.iter().map(|p| (p.alone[0].clone(), p.turns.clone())).collect::<Vec<_>>(),
            [(vec![0, 1, 3], vec![2, 4]), (vec![5], vec![]),]
        );
    }

    #[test]
    fn places_that_a_packet_may_come_to_one_after_the_other_take_no_turns() {
        let twice = [track(&[(0, &[1], &[calls(1)]), (1, &[], &[calls(1)])])];
        assert_eq!(schedule(&twice), Err(Some(calls(1))));
        // Two services, each of which is called ahead of the other by somebody.
        let crossed =
            [track(&[(0, &[1, 3], &[]), (1, &[2], &[calls(1)]), (2, &[], &[calls(2)]), (3, &[4], &[calls(2)]), (4, &[], &[calls(1)])])];
        assert_eq!(schedule(&crossed), Err(None));
    }

    #[test]
    fn a_service_that_packets_call_twice_takes_turns_at_the_first_calls_and_then_at_the_second() {
        // 1 and 3 lead to 4, which calls again, in a class as in the general stages.
        let general = track(&[(0, &[1, 3], &[]), (1, &[4], &[calls(1)]), (3, &[4], &[calls(1)]), (4, &[], &[calls(1)])]);
        let class = track(&[(10, &[11], &[calls(1)]), (11, &[4], &[]), (12, &[], &[calls(2)])]);
        let plan = plan(vec![general, class]).expect("can be");
        let turns: Vec<_> = plan.phases.iter().map(|p| p.turns.clone()).collect();
        assert_eq!(turns, [vec![1, 3, 10], vec![]]);
        assert_eq!([0, 1, 2].map(|n| plan.order(calls(n).0)), [IN_ORDER, 1, IN_ORDER]);
        // Where one service is ahead of another and behind it there are no turns at all.
        let crossed =
            track(&[(0, &[1], &[calls(1)]), (1, &[2], &[calls(2)]), (2, &[3], &[calls(1)]), (3, &[], &[calls(2)]), (4, &[], &[calls(1)])]);
        let crossed = super::plan(vec![crossed, track(&[(10, &[11], &[calls(2)]), (11, &[], &[calls(1)])])]).expect("without");
        assert_eq!(crossed.order(calls(1).0).max(crossed.order(calls(2).0)), 0);
    }

    /// The slow twin of [`groups`]: stages merged pair by pair, and all that leads from each stage to another.
    fn groups_pair_by_pair(tracks: &[Track]) -> Vec<Group> {
        let stages: Vec<&Stage> = tracks.iter().flat_map(|t| &t.stages).collect();
        let mut leads: BTreeSet<(StageId, StageId)> = stages.iter().flat_map(|s| s.to.iter().map(|to| (s.number, *to))).collect();
        loop {
            let further = |(from, by): &(StageId, StageId)| {
                let to: Vec<_> = leads.iter().filter(|(other, _)| other == by).map(|(_, to)| (*from, *to)).collect();
                to
            };
            let more: Vec<_> = leads.iter().flat_map(further).filter(|pair| !leads.contains(pair)).collect();
            if more.is_empty() {
                break;
            }
            leads.extend(more);
        }
        let mut groups: Vec<(BTreeSet<StageId>, BTreeSet<Use>)> = Vec::new();
        for stage in stages.into_iter().filter(|s| !s.uses.is_empty()) {
            let (mut here, mut uses) = (BTreeSet::from([stage.number]), stage.uses.clone());
            groups.retain_mut(|(stages, used)| {
                let apart = used.is_disjoint(&uses);
                if !apart {
                    here.append(stages);
                    uses.append(used);
                }
                apart
            });
            groups.push((here, uses));
        }
        groups.retain(|(stages, _)| stages.len() > 1);
        let group = |(stages, uses): (BTreeSet<StageId>, BTreeSet<Use>)| Group {
            before: leads.iter().filter(|(_, to)| stages.contains(to)).map(|(from, _)| *from).collect(),
            behind: leads.iter().filter(|(from, _)| stages.contains(from)).map(|(_, to)| *to).collect(),
            stages,
            uses,
        };
        groups.into_iter().map(group).collect()
    }

    #[test]
    fn groups_of_random_tracks_are_those_found_pair_by_pair() {
        let mut rng = testkit::rng(7);
        let (mut without, mut several, mut planned) = (0, 0, 0);
        for _ in 0..2000 {
            let (per_track, tracks) = (rng.random_range(1..8usize), rng.random_range(1..4usize));
            let many = rng.random_range(0.02..0.5);
            let track = |t: usize| {
                let stage = |number: StageId| Stage {
                    number,
                    // To later ones of its own track, and of no class.
                    to: (0..tracks * per_track)
                        .filter(|to| if to / per_track == t { *to > number } else { *to < per_track })
                        .filter(|_| rng.random_bool(many))
                        .collect(),
                    uses: (0..6).filter(|_| rng.random_bool(many / 2.0)).map(calls).collect(),
                };
                Track { stages: (t * per_track..(t + 1) * per_track).map(stage).collect() }
            };
            let tracks: Vec<Track> = (0..tracks).map(track).collect();
            let found = groups(&tracks);
            assert_eq!(found, groups_pair_by_pair(&tracks));
            without += usize::from(found.is_empty());
            several += usize::from(found.len() > 1);
            planned += usize::from(!found.is_empty() && schedule(&tracks).is_ok());
        }
        assert!(without > 100 && several > 100 && planned > 100, "{without} {several} {planned}");
    }

    #[test]
    fn packets_of_classes_take_turns_at_one_service_after_the_other() {
        let general = track(&[(0, &[1, 2], &[]), (1, &[3], &[calls(1)]), (2, &[3], &[]), (3, &[], &[calls(2)])]);
        let class = track(&[(10, &[11], &[]), (11, &[12, 2], &[calls(1)]), (12, &[], &[calls(2)])]);
        let phases = schedule(&[general, class]).expect("can be");
        let turns: Vec<_> = phases.iter().map(|p| p.turns.clone()).collect();
        assert_eq!(turns, [vec![1, 11], vec![3, 12], vec![]]);
        assert_eq!((&phases[0].alone, &phases[1].alone), (&vec![vec![0], vec![10]], &vec![vec![2], vec![]]));
    }
}
