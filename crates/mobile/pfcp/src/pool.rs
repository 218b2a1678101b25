//! What is allocated to sessions: TEIDs on our GTP-U addresses, and UE addresses.
//!
//! Allocation goes through a [`Taking`], which releases everything when dropped unless the session's change is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::net::{Ipv4Addr, Ipv6Addr};

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::config::{Config, GtpuAddress, UePool};
use crate::rules::{FTeid, Interface, Seid};
use crate::runs::Runs;

/// One thing that a session holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Held {
    /// A tunnel endpoint, chosen by us or by the CP function.
    Tunnel(u32, Ipv4Addr),
    /// An IPv4 address of the pool with this index.
    Ipv4(usize, Ipv4Addr),
    /// An IPv6 /64 of the pool with this index.
    Ipv6(usize, Ipv6Addr),
}

/// All that can be allocated, and its owners.
pub(crate) struct Pools {
    gtpu: Vec<GtpuAddress>,
    /// Those of the configuration, and those that were: sessions name them by position.
    ue: Vec<UePool>,
    /// Those of the configuration, in its order.
    open: Vec<usize>,
    teids: Numbers,
    first_teid: u32,
    ipv4: Vec<Numbers>,
    ipv6: Vec<Numbers>,
    /// A tree: a hash table of millions would stop to grow.
    owners: BTreeMap<Held, Seid>,
}

/// Why something was not handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// All are in use.
    Exhausted,
    /// Nothing is configured to be handed out here.
    NotOffered,
    /// It may be of several network instances.
    Ambiguous,
    /// This session has it.
    InUse(Seid),
    /// Not on an address of ours.
    Foreign,
}

impl Refusal {
    /// The session that has it.
    pub(crate) fn holder(self) -> Option<Seid> {
        match self {
            Refusal::InUse(seid) => Some(seid),
            Refusal::Exhausted | Refusal::NotOffered | Refusal::Ambiguous | Refusal::Foreign => None,
        }
    }
}

/// What one request allocates; released when dropped, unless [kept](Taking::keep).
pub(crate) struct Taking<'a> {
    pools: &'a mut Pools,
    seid: Seid,
    taken: Vec<Held>,
}

impl Pools {
    pub(crate) fn new(config: &Config) -> Pools {
        let teids = u64::from(config.teids.1 - config.teids.0) + 1;
        Pools {
            gtpu: config.gtpu.clone(),
            teids: match config.seed {
                Some(seed) => Numbers::shuffled(teids, seed),
                None => Numbers::new(teids),
            },
            first_teid: config.teids.0,
            ipv4: config.ue_pools.iter().map(addresses).collect(),
            ipv6: config.ue_pools.iter().map(prefixes).collect(),
            open: (0..config.ue_pools.len()).collect(),
            ue: config.ue_pools.clone(),
            owners: BTreeMap::new(),
        }
    }

    /// Whether these can be the pools of UE addresses from now on: see [`Pools::set_ue_pools`]. The position of one that cannot, and why.
    ///
    /// A new pool must not overlap one that it replaces while that one's addresses are in use: two sessions could get the same.
    pub(crate) fn check_ue_pools(&self, pools: &[UePool]) -> Result<(), (usize, String)> {
        // One that was replaced earlier and comes back is new: others may have been given its addresses meanwhile.
        let is_open = |pool: &UePool| self.open.iter().any(|index| self.ue[*index] == *pool);
        for (at, pool) in pools.iter().enumerate().filter(|(_, pool)| !is_open(pool)) {
            let replaced = self.ue.iter().enumerate().filter(|(_, old)| !pools.contains(old) && overlap(old, pool));
            for (index, old) in replaced {
                let (ipv4, ipv6) = (Held::Ipv4(index, Ipv4Addr::UNSPECIFIED), Held::Ipv6(index, Ipv6Addr::UNSPECIFIED));
                let (last_ipv4, last_ipv6) = (Held::Ipv4(index, Ipv4Addr::BROADCAST), Held::Ipv6(index, Ipv6Addr::from(u128::MAX)));
                let in_use = self.owners.range(ipv4..=last_ipv4).count() + self.owners.range(ipv6..=last_ipv6).count();
                if in_use > 0 {
                    let name = old.ipv4.map(|(network, length)| format!("{network}/{length}"));
                    let name = name.or(old.ipv6.map(|(network, length)| format!("{network}/{length}"))).unwrap_or_default();
                    return Err((
                        at,
                        format!(
                            "it overlaps the pool {name} that it replaces, of which {in_use} are in use: keep that one and add another"
                        ),
                    ));
                }
            }
        }
        Ok(())
    }

    /// These are the pools of UE addresses from now on, checked. Sessions keep what they have of others.
    pub(crate) fn set_ue_pools(&mut self, pools: &[UePool]) {
        self.open.clear();
        for pool in pools {
            let known = self.ue.iter().position(|known| known == pool);
            self.open.push(known.unwrap_or(self.ue.len()));
            if known.is_none() {
                self.ipv4.push(addresses(pool));
                self.ipv6.push(prefixes(pool));
                self.ue.push(pool.clone());
            }
        }
    }

    /// New tunnels end at these addresses from now on.
    pub(crate) fn set_gtpu(&mut self, gtpu: &[GtpuAddress]) {
        self.gtpu = gtpu.to_vec();
    }

    /// Begins what session `seid` takes with one request.
    pub(crate) fn begin(&mut self, seid: Seid) -> Taking<'_> {
        Taking { pools: self, seid, taken: Vec::new() }
    }

    /// Where pools go on: what was given out last rests.
    pub(crate) fn places(&self) -> Vec<u64> {
        [&self.teids].into_iter().chain(&self.ipv4).chain(&self.ipv6).map(|numbers| numbers.next).collect()
    }

    /// Goes on at these places. Another order of TEIDs makes theirs any other.
    pub(crate) fn go_on_at(&mut self, places: &[u64]) {
        let all = [&mut self.teids].into_iter().chain(&mut self.ipv4).chain(&mut self.ipv6);
        all.zip(places).for_each(|(numbers, place)| numbers.next = *place);
    }

    /// Takes back what a session held.
    pub(crate) fn give_back(&mut self, held: Held) {
        if self.owners.remove(&held).is_none() {
            return;
        }
        // A CP function may have chosen a TEID that another address of ours has too.
        if let Held::Tunnel(teid, _) = held
            && self.owners.range(Held::Tunnel(teid, Ipv4Addr::UNSPECIFIED)..=Held::Tunnel(teid, Ipv4Addr::BROADCAST)).next().is_some()
        {
            return;
        }
        if let Some((numbers, number)) = self.number(held) {
            numbers.give_back(number);
        }
    }

    /// What it is a number of, if we give out such things; those that are never given out have none.
    fn number(&mut self, held: Held) -> Option<(&mut Numbers, u64)> {
        match held {
            Held::Tunnel(teid, _) => Some((&mut self.teids, teid.checked_sub(self.first_teid)?.into())),
            Held::Ipv4(pool, address) => {
                let (_, length) = self.ue[pool].ipv4?;
                let number = u64::from(u32::from(address) & !mask_v4(length)).checked_sub(reserved_v4(length))?;
                Some((&mut self.ipv4[pool], number))
            }
            Held::Ipv6(pool, prefix) => {
                let (_, length) = self.ue[pool].ipv6?;
                let number = (((u128::from(prefix) & !mask_v6(length)) >> 64) as u64).checked_sub(reserved_v6(length))?;
                Some((&mut self.ipv6[pool], number))
            }
        }
    }

    /// How many things are handed out.
    pub(crate) fn in_use(&self) -> usize {
        self.owners.len()
    }

    /// The pools for a session with these names (network instance, DNN) in order of preference: those named so, then those for all.
    fn pools_for<'a>(&'a self, names: &'a [Option<&'a str>]) -> impl Iterator<Item = usize> + 'a {
        let named = names.iter().flatten().flat_map(|name| self.indexes(move |pool| pool.network_instance.as_deref() == Some(*name)));
        named.chain(self.indexes(|pool| pool.network_instance.is_none()))
    }

    fn indexes<'a>(&'a self, fits: impl Fn(&UePool) -> bool + 'a) -> impl Iterator<Item = usize> + 'a {
        self.open.iter().copied().filter(move |index| fits(&self.ue[*index]))
    }
}

/// Numbers of a pool's IPv4 addresses: the first and the last are not given out.
fn addresses(pool: &UePool) -> Numbers {
    Numbers::new(pool.ipv4.map_or(0, |(_, len)| (1 << (32 - len.min(32))) - 2 * reserved_v4(len)))
}

/// Numbers of a pool's /64: the first is not given out.
fn prefixes(pool: &UePool) -> Numbers {
    Numbers::new(pool.ipv6.map_or(0, |(_, len)| (1 << (64 - len.min(64))) - reserved_v6(len)))
}

/// Addresses at either end that are not given out: none where there would be no others (RFC 3021).
fn reserved_v4(length: u8) -> u64 {
    u64::from(length < 31)
}

/// Prefixes that are not given out, likewise.
fn reserved_v6(length: u8) -> u64 {
    u64::from(length < 64)
}

/// Whether an address may be of both pools, for the same network instance.
fn overlap(a: &UePool, b: &UePool) -> bool {
    let same = a.network_instance.is_none() || b.network_instance.is_none() || a.network_instance == b.network_instance;
    let v4 = a.ipv4.zip(b.ipv4).is_some_and(|((a, m), (b, n))| within_v4(a, m.min(n), b));
    let v6 = a.ipv6.zip(b.ipv6).is_some_and(|((a, m), (b, n))| (u128::from(a) ^ u128::from(b)) & mask_v6(m.min(n)) == 0);
    same && (v4 || v6)
}

/// Of our addresses for the interface: one of the network instance. SMFs name the DNN on all interfaces: if no address is of it, all
/// must be of one instance, or one is marked. Of what is left the lowest, so that their order does not matter.
fn meant(addresses: &[GtpuAddress], network_instance: Option<&str>, interface: Interface) -> Result<Ipv4Addr, Refusal> {
    let serves = |address: &&GtpuAddress| match address.interface {
        None => interface != Interface::CpFunction,
        Some(own) => own == interface || (own, interface) == (Interface::Core, Interface::SgiLan),
    };
    let mut fit: Vec<&GtpuAddress> = addresses.iter().filter(serves).collect();
    if fit.is_empty() && interface != Interface::Access {
        fit = addresses.iter().filter(|address| address.interface != Some(Interface::CpFunction)).collect();
    }
    if fit.is_empty() {
        return Err(Refusal::NotOffered);
    }
    let named = |address: &GtpuAddress| network_instance.is_some() && address.network_instance.as_deref() == network_instance;
    let several = |fit: &[&GtpuAddress]| fit.iter().any(|address| address.network_instance != fit[0].network_instance);
    if fit.iter().any(|address| named(address)) {
        fit.retain(|address| named(address));
    } else if several(&fit) {
        fit.retain(|address| address.default);
        if several(&fit) {
            return Err(Refusal::Ambiguous);
        }
    }
    fit.iter().map(|address| address.ipv4).min().ok_or(Refusal::Ambiguous)
}

impl Taking<'_> {
    /// A new F-TEID on the address that is meant: see [`meant`].
    pub(crate) fn choose_tunnel(&mut self, network_instance: Option<&str>, interface: Interface) -> Result<FTeid, Refusal> {
        let ipv4 = meant(&self.pools.gtpu, network_instance, interface)?;
        let number = self.pools.teids.take().ok_or(Refusal::Exhausted)?;
        let teid = self.pools.first_teid.wrapping_add(number as u32);
        self.own(Held::Tunnel(teid, ipv4));
        Ok(FTeid { teid, ipv4 })
    }

    /// The F-TEID that the CP function chose.
    pub(crate) fn claim_tunnel(&mut self, f_teid: FTeid) -> Result<(), Refusal> {
        if !self.pools.gtpu.iter().any(|address| address.ipv4 == f_teid.ipv4) {
            return Err(Refusal::Foreign);
        }
        self.claim(Held::Tunnel(f_teid.teid, f_teid.ipv4))
    }

    /// A new IPv4 address of the pools for these names.
    pub(crate) fn choose_ipv4(&mut self, names: &[Option<&str>]) -> Result<Held, Refusal> {
        let pools = &mut *self.pools;
        let candidates: Vec<usize> = pools.pools_for(names).filter(|index| pools.ue[*index].ipv4.is_some()).collect();
        let mut refusal = Refusal::NotOffered;
        for index in candidates {
            let Some((network, length)) = pools.ue[index].ipv4 else { continue };
            let first = (u32::from(network) & mask_v4(length)) + reserved_v4(length) as u32;
            let held = |number: u64| Held::Ipv4(index, Ipv4Addr::from(first + number as u32));
            match pools.ipv4[index].take() {
                Some(number) => return Ok(self.own(held(number))),
                None => refusal = Refusal::Exhausted,
            }
        }
        Err(refusal)
    }

    /// A new IPv6 /64 of the pools for these names.
    pub(crate) fn choose_ipv6(&mut self, names: &[Option<&str>]) -> Result<Held, Refusal> {
        let pools = &mut *self.pools;
        let candidates: Vec<usize> = pools.pools_for(names).filter(|index| pools.ue[*index].ipv6.is_some()).collect();
        let mut refusal = Refusal::NotOffered;
        for index in candidates {
            let Some((network, length)) = pools.ue[index].ipv6 else { continue };
            let first = (u128::from(network) & mask_v6(length)) + (u128::from(reserved_v6(length)) << 64);
            let held = |number: u64| Held::Ipv6(index, Ipv6Addr::from(first + (u128::from(number) << 64)));
            match pools.ipv6[index].take() {
                Some(number) => return Ok(self.own(held(number))),
                None => refusal = Refusal::Exhausted,
            }
        }
        Err(refusal)
    }

    /// The UE address that the CP function chose, if it is in a pool of ours for these names: it must be free then.
    pub(crate) fn claim_ipv4(&mut self, address: Ipv4Addr, names: &[Option<&str>]) -> Result<(), Refusal> {
        let pools = &self.pools;
        let inside = |index: &usize| pools.ue[*index].ipv4.is_some_and(|(network, length)| within_v4(network, length, address));
        let index = pools.pools_for(names).find(inside);
        index.map_or(Ok(()), |index| self.claim(Held::Ipv4(index, address)))
    }

    /// Likewise for the /64 of an IPv6 address.
    pub(crate) fn claim_ipv6(&mut self, address: Ipv6Addr, names: &[Option<&str>]) -> Result<(), Refusal> {
        let pools = &self.pools;
        let prefix = ipv6_prefix(address, 64);
        let inside = |index: &usize| {
            let same = |(network, length): (Ipv6Addr, u8)| (u128::from(network) ^ u128::from(prefix)) & mask_v6(length) == 0;
            pools.ue[*index].ipv6.is_some_and(same)
        };
        let index = pools.pools_for(names).find(inside);
        index.map_or(Ok(()), |index| self.claim(Held::Ipv6(index, prefix)))
    }

    /// Keeps what was taken: the session now holds `held` and this.
    pub(crate) fn keep(mut self, held: &mut BTreeSet<Held>) {
        held.extend(std::mem::take(&mut self.taken));
    }

    /// What the session held before a crash, if the configuration still has it and nobody else does. Pools may have another order now.
    pub(crate) fn reclaim(&mut self, held: Held) -> Result<(), Refusal> {
        let inside_v4 = |pool: usize, address| {
            let network = self.pools.ue.get(pool).and_then(|pool| pool.ipv4);
            network.is_some_and(|(network, length)| within_v4(network, length, address))
        };
        let inside_v6 = |pool: usize, prefix| {
            let inside = |(network, length): (Ipv6Addr, u8)| (u128::from(network) ^ u128::from(prefix)) & mask_v6(length) == 0;
            self.pools.ue.get(pool).and_then(|pool| pool.ipv6).is_some_and(inside)
        };
        let from = |first: usize| std::iter::once(first).chain(0..self.pools.ue.len());
        let ours = match held {
            Held::Tunnel(_, ipv4) => self.pools.gtpu.iter().any(|address| address.ipv4 == ipv4).then_some(held),
            Held::Ipv4(pool, address) => from(pool).find(|pool| inside_v4(*pool, address)).map(|pool| Held::Ipv4(pool, address)),
            Held::Ipv6(pool, prefix) => from(pool).find(|pool| inside_v6(*pool, prefix)).map(|pool| Held::Ipv6(pool, prefix)),
        };
        self.claim(ours.ok_or(Refusal::Foreign)?)
    }

    fn own(&mut self, held: Held) -> Held {
        self.pools.owners.insert(held, self.seid);
        self.taken.push(held);
        held
    }

    fn claim(&mut self, held: Held) -> Result<(), Refusal> {
        match self.pools.owners.get(&held) {
            Some(owner) if *owner == self.seid => Ok(()),
            Some(owner) => Err(Refusal::InUse(*owner)),
            None => {
                self.own(held);
                if let Some((numbers, number)) = self.pools.number(held) {
                    numbers.claim(number);
                }
                Ok(())
            }
        }
    }
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        for held in self.taken.drain(..) {
            self.pools.give_back(held);
        }
    }
}

/// Numbers 0 to `size` - 1 in an order of places, in turn or shuffled, that are given out round and round: a number rests until all others that
/// are free have been given, so that a late packet of an ended session finds no session. What was in use once costs nothing: there are at
/// most as many runs of free places as numbers in use, and one.
struct Numbers {
    size: u64,
    shuffle: Option<Shuffle>,
    /// Places of numbers that nobody has.
    free: Runs,
    /// The place after the one that was given last.
    next: u64,
}

impl Numbers {
    fn new(size: u64) -> Numbers {
        Numbers { size, shuffle: None, free: Runs::below(size), next: 0 }
    }

    /// In an order that cannot be guessed without the seed.
    fn shuffled(size: u64, seed: [u8; 32]) -> Numbers {
        Numbers { shuffle: Some(Shuffle::new(size, seed)), ..Numbers::new(size) }
    }

    /// The next number.
    fn take(&mut self) -> Option<u64> {
        let place = self.free.next(self.next)?;
        self.free.remove(place);
        self.next = place + 1;
        Some(self.shuffle.as_ref().map_or(place, |shuffle| shuffle.at(place)))
    }

    fn place(&self, number: u64) -> Option<u64> {
        (number < self.size).then(|| self.shuffle.as_ref().map_or(number, |shuffle| shuffle.position(number)))
    }

    /// A number that a CP function has chosen is not given out.
    fn claim(&mut self, number: u64) {
        if let Some(place) = self.place(number) {
            self.free.remove(place);
        }
    }

    fn give_back(&mut self, number: u64) {
        if let Some(place) = self.place(number) {
            self.free.insert(place);
        }
    }
}

/// The numbers below `size` in an order given by a key, without a list of them: a Feistel network over the next power of four,
/// walked on from until a number is below `size` (at most four steps on average).
struct Shuffle {
    size: u64,
    half_bits: u32,
    keys: [u64; 8],
}

impl Shuffle {
    fn new(size: u64, seed: [u8; 32]) -> Shuffle {
        // A stream of its own: SEIDs come from the other one.
        let mut random = ChaCha12Rng::from_seed(seed);
        random.set_stream(1);
        let bits = u64::BITS - size.saturating_sub(1).leading_zeros();
        Shuffle { size, half_bits: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| random.next_u64()) }
    }

    fn at(&self, position: u64) -> u64 {
        let mut number = position;
        loop {
            let (mut left, mut right) = self.halves(number);
            for key in self.keys {
                (left, right) = (right, left ^ self.round(key, right));
            }
            number = left << self.half_bits | right;
            if number < self.size {
                return number;
            }
        }
    }

    /// The position of a number: [`at`](Shuffle::at), backwards.
    fn position(&self, number: u64) -> u64 {
        let mut position = number;
        loop {
            let (mut left, mut right) = self.halves(position);
            for key in self.keys.into_iter().rev() {
                (left, right) = (right ^ self.round(key, left), left);
            }
            position = left << self.half_bits | right;
            if position < self.size {
                return position;
            }
        }
    }

    fn halves(&self, number: u64) -> (u64, u64) {
        (number >> self.half_bits, number & self.mask())
    }

    fn round(&self, key: u64, half: u64) -> u64 {
        // SipHash; the key comes first, as its own would.
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(key);
        hasher.write_u64(half);
        hasher.finish() & self.mask()
    }

    fn mask(&self) -> u64 {
        (1 << self.half_bits) - 1
    }
}

fn mask_v4(length: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(length.min(32))).unwrap_or(0)
}

fn mask_v6(length: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(length.min(128))).unwrap_or(0)
}

fn within_v4(network: Ipv4Addr, length: u8, address: Ipv4Addr) -> bool {
    (u32::from(network) ^ u32::from(address)) & mask_v4(length) == 0
}

/// The prefix of an IPv6 address, host bits zero.
pub(crate) fn ipv6_prefix(address: Ipv6Addr, length: u8) -> Ipv6Addr {
    Ipv6Addr::from(u128::from(address) & mask_v6(length))
}

/// The prefix of an IPv4 address, host bits zero.
pub(crate) fn ipv4_prefix(address: Ipv4Addr, length: u8) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(address) & mask_v4(length))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::codec::NodeId;

    fn pools(change: impl FnOnce(&mut Config)) -> Pools {
        let mut config = Config::new(NodeId::Fqdn("upf".into()), IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        config.gtpu = vec![GtpuAddress { ipv4: Ipv4Addr::new(10, 0, 0, 1), network_instance: None, interface: None, default: false }];
        change(&mut config);
        Pools::new(&config)
    }

    #[test]
    fn what_is_not_kept_goes_back() {
        let mut pools = pools(|_| ());
        {
            let mut taking = pools.begin(1);
            taking.choose_tunnel(None, Interface::Access).unwrap();
            taking.claim_tunnel(FTeid { teid: 77, ipv4: Ipv4Addr::new(10, 0, 0, 1) }).unwrap();
        }
        assert_eq!(pools.in_use(), 0);
    }

    #[test]
    fn pools_change_while_sessions_keep_their_addresses() {
        let pool = |network: [u8; 4], length| UePool { network_instance: None, ipv4: Some((network.into(), length)), ipv6: None };
        let (first, second) = (pool([10, 45, 0, 0], 30), pool([10, 46, 0, 0], 30));
        let mut pools = pools(|config| config.ue_pools = vec![first.clone()]);
        let mut held = BTreeSet::new();
        let mut taking = pools.begin(1);
        assert_eq!(taking.choose_ipv4(&[]), Ok(Held::Ipv4(0, [10, 45, 0, 1].into())));
        taking.keep(&mut held);
        // A wider one in its place would give out the address once more.
        let wider = pool([10, 44, 0, 0], 15);
        let (at, why) = pools.check_ue_pools(&[second.clone(), wider.clone()]).unwrap_err();
        assert!(at == 1 && why.contains("overlaps the pool 10.45.0.0/30") && why.contains("1 are in use"), "{why}");
        assert_eq!(pools.check_ue_pools(std::slice::from_ref(&second)), Ok(()));
        pools.set_ue_pools(std::slice::from_ref(&second));
        let chosen = |pools: &mut Pools| {
            let mut taking = pools.begin(2);
            std::iter::from_fn(|| taking.choose_ipv4(&[]).ok()).collect::<Vec<Held>>()
        };
        let of_second = [Held::Ipv4(1, [10, 46, 0, 1].into()), Held::Ipv4(1, [10, 46, 0, 2].into())];
        assert_eq!(chosen(&mut pools), of_second);
        // The first is back, behind the second; what the session has is still its own.
        pools.set_ue_pools(&[second.clone(), first.clone()]);
        assert_eq!(chosen(&mut pools), [&of_second[..], &[Held::Ipv4(0, [10, 45, 0, 2].into())]].concat());
        assert_eq!(pools.begin(3).claim_ipv4([10, 45, 0, 1].into(), &[]), Err(Refusal::InUse(1)));
        pools.set_ue_pools(&[second]);
        held.into_iter().for_each(|held| pools.give_back(held));
        assert_eq!(pools.check_ue_pools(&[wider]), Ok(()));
        assert_eq!(pools.in_use(), 0);
    }

    #[test]
    fn a_pool_that_comes_back_has_no_addresses_that_were_given_out_meanwhile() {
        let pool = |network: [u8; 4], length| UePool { network_instance: None, ipv4: Some((network.into(), length)), ipv6: None };
        let (first, wider) = (pool([10, 45, 0, 0], 24), pool([10, 45, 0, 0], 16));
        let mut pools = pools(|config| config.ue_pools = vec![first.clone()]);
        assert_eq!(pools.check_ue_pools(std::slice::from_ref(&wider)), Ok(()));
        pools.set_ue_pools(&[wider]);
        let mut taking = pools.begin(1);
        taking.choose_ipv4(&[]).unwrap();
        taking.keep(&mut BTreeSet::new());
        let (at, why) = pools.check_ue_pools(&[first]).unwrap_err();
        assert!(at == 0 && why.contains("overlaps the pool 10.45.0.0/16") && why.contains("1 are in use"), "{why}");
    }

    #[test]
    fn what_a_session_held_before_a_crash_is_found_in_pools_of_another_order() {
        let pool = |network: [u8; 4]| UePool { network_instance: None, ipv4: Some((network.into(), 24)), ipv6: None };
        let mut pools = pools(|config| config.ue_pools = vec![pool([10, 46, 0, 0]), pool([10, 45, 0, 0])]);
        let mut held = BTreeSet::new();
        let mut taking = pools.begin(1);
        taking.reclaim(Held::Ipv4(0, [10, 45, 0, 9].into())).unwrap();
        taking.reclaim(Held::Ipv4(7, [10, 46, 0, 9].into())).unwrap();
        assert_eq!(taking.reclaim(Held::Ipv4(0, [10, 47, 0, 9].into())), Err(Refusal::Foreign));
        taking.keep(&mut held);
        assert_eq!(held, BTreeSet::from([Held::Ipv4(1, [10, 45, 0, 9].into()), Held::Ipv4(0, [10, 46, 0, 9].into())]));
    }

    const OURS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];

    #[test]
    fn teids_are_each_given_once_before_any_comes_again_and_claimed_ones_are_not() {
        for seed in [None, Some([7; 32])] {
            let mut pools = pools(|config| (config.teids, config.seed) = ((10, 13), seed));
            let mut held = BTreeSet::new();
            let mut taking = pools.begin(1);
            taking.claim_tunnel(FTeid { teid: 13, ipv4: OURS[0] }).unwrap();
            let mut next = || taking.choose_tunnel(None, Interface::Access).map(|f_teid| f_teid.teid);
            let given = [next(), next(), next()].map(Result::unwrap);
            assert_eq!(BTreeSet::from(given), BTreeSet::from([10, 11, 12]));
            assert_eq!(next(), Err(Refusal::Exhausted));
            taking.keep(&mut held);
            [given[1], given[0], 13].iter().for_each(|teid| pools.give_back(Held::Tunnel(*teid, OURS[0])));
            // One session after the other: none has the number of the one before, nor of the one before that.
            let mut before = Vec::new();
            for seid in 2..20 {
                let mut held = BTreeSet::new();
                let mut taking = pools.begin(seid);
                before.push(taking.choose_tunnel(None, Interface::Access).unwrap().teid);
                taking.keep(&mut held);
                held.into_iter().for_each(|held| pools.give_back(held));
            }
            assert!(before.windows(3).all(|of| BTreeSet::from_iter(of).len() == 3 && !of.contains(&given[2])), "{before:?}");
        }
    }

    #[test]
    fn a_teid_that_two_of_our_addresses_have_is_free_when_both_are() {
        let mut pools = pools(|config| {
            config.teids = (10, 10);
            config.gtpu.push(GtpuAddress { ipv4: OURS[1], ..config.gtpu[0].clone() });
        });
        let chosen = |pools: &mut Pools| pools.begin(3).choose_tunnel(None, Interface::Access).map(|f_teid| f_teid.teid);
        let mut held = BTreeSet::new();
        let mut taking = pools.begin(1);
        taking.choose_tunnel(None, Interface::Access).unwrap();
        taking.claim_tunnel(FTeid { teid: 10, ipv4: OURS[1] }).unwrap();
        taking.keep(&mut held);
        for ipv4 in OURS {
            assert_eq!(chosen(&mut pools), Err(Refusal::Exhausted));
            pools.give_back(Held::Tunnel(10, ipv4));
        }
        assert_eq!(chosen(&mut pools), Ok(10));
    }

    /// TEIDs are four thousand million: a list of those that have been used would grow for years.
    #[test]
    fn sessions_that_have_come_and_gone_leave_nothing_in_the_pools() {
        let mut random = ChaCha12Rng::from_seed([5; 32]);
        let pool =
            || UePool { network_instance: None, ipv4: Some(([10, 45, 0, 0].into(), 16)), ipv6: Some(("2001:db8::".parse().unwrap(), 32)) };
        let mut pools = pools(|config| (config.seed, config.ue_pools) = (Some([3; 32]), vec![pool()]));
        let mut sessions: Vec<BTreeSet<Held>> = Vec::new();
        let (mut given, mut most) = (0, 0);
        for seid in 1..200_000 {
            let mut taking = pools.begin(seid);
            taking.choose_tunnel(None, Interface::Access).unwrap();
            taking.choose_ipv4(&[]).unwrap();
            taking.choose_ipv6(&[]).unwrap();
            sessions.push(BTreeSet::new());
            taking.keep(sessions.last_mut().unwrap());
            given += 1;
            if sessions.len() == 100 {
                for held in sessions.swap_remove(random.next_u64() as usize % 100) {
                    pools.give_back(held);
                }
            }
            let runs = [&pools.teids, &pools.ipv4[0], &pools.ipv6[0]].map(|numbers| numbers.free.runs());
            most = most.max(runs.into_iter().max().unwrap());
        }
        assert!(given > 3 * (1 << 16) - 1000 && (50..=101).contains(&most), "{most} runs for 100 sessions");
        sessions.into_iter().flatten().for_each(|held| pools.give_back(held));
        assert_eq!([&pools.teids, &pools.ipv4[0], &pools.ipv6[0]].map(|numbers| numbers.free.runs()), [1, 1, 1]);
    }

    #[test]
    fn a_shuffle_has_every_number_once_and_another_order_for_another_seed() {
        for size in [1, 2, 3, 4, 5, 16, 17, 100, 1000, 4096] {
            let shuffle = Shuffle::new(size, [1; 32]);
            let order: Vec<u64> = (0..size).map(|position| shuffle.at(position)).collect();
            assert_eq!(order.iter().copied().collect::<BTreeSet<_>>(), (0..size).collect(), "{size}");
            assert!(order.iter().enumerate().all(|(position, number)| shuffle.position(*number) == position as u64));
        }
        let first = |seed| (0..8).map(|position| Shuffle::new(u32::MAX.into(), [seed; 32]).at(position)).collect::<Vec<u64>>();
        assert_ne!(first(1), first(2));
        // Neighbours in time are not neighbours in number.
        assert!(first(1).windows(2).all(|pair| pair[0].abs_diff(pair[1]) > 1000), "{:?}", first(1));
    }

    #[test]
    fn a_teid_of_an_ended_session_is_not_the_next_sessions() {
        let mut pools = pools(|config| config.seed = Some([3; 32]));
        let mut seen = BTreeSet::new();
        for seid in 1..10_000 {
            let mut held = BTreeSet::new();
            let mut taking = pools.begin(seid);
            assert!(seen.insert(taking.choose_tunnel(None, Interface::Access).unwrap().teid));
            taking.keep(&mut held);
            held.into_iter().for_each(|held| pools.give_back(held));
        }
        assert_eq!(pools.in_use(), 0);
    }

    #[test]
    fn an_f_teid_lies_on_the_address_of_its_interface_whatever_their_order() {
        use Interface::{Access, Core, CpFunction};
        let address = |last: u8, name: &str, interface, default| GtpuAddress {
            ipv4: Ipv4Addr::new(10, 0, 0, last),
            network_instance: Some(name.into()),
            interface,
            default,
        };
        let choices = |addresses: &[GtpuAddress]| {
            let names = [None, Some("internet"), Some("n3"), Some("n9"), Some("cp")];
            let one = |name, interface| meant(addresses, name, interface).map(|ip| ip.octets()[3]);
            [Access, Core, CpFunction].map(|interface| names.map(|name| one(name, interface)))
        };
        let (n3, n9, cp) =
            (address(3, "n3", Some(Access), false), address(9, "n9", Some(Access), false), address(1, "cp", Some(CpFunction), false));
        let orders = |mut a: Vec<GtpuAddress>| {
            let mut seen = Vec::new();
            for _ in 0..2 {
                for _ in 0..a.len() {
                    a.rotate_left(1);
                    seen.push(choices(&a));
                }
                a.reverse();
            }
            assert!(seen.iter().all(|s| *s == seen[0]), "{seen:?}");
            seen.remove(0)
        };
        let several = Err(Refusal::Ambiguous);
        assert_eq!(orders(vec![n3.clone(), cp.clone()]), [[Ok(3); 5], [Ok(3); 5], [Ok(1); 5]]);
        assert_eq!(
            orders(vec![n3.clone(), n9.clone(), cp.clone()]),
            [[several, several, Ok(3), Ok(9), several], [several, several, Ok(3), Ok(9), several], [Ok(1); 5]]
        );
        let marked = address(9, "n9", Some(Access), true);
        assert_eq!(orders(vec![n3.clone(), marked, cp])[0], [Ok(9), Ok(9), Ok(3), Ok(9), Ok(9)]);
        assert_eq!(orders(vec![n3])[2], [Ok(3); 5], "without an address for the CP function");
        let both = address(5, "n9", None, false);
        assert_eq!(orders(vec![address(1, "cp", Some(CpFunction), false), both])[1], [Ok(5); 5]);
        assert_eq!(meant(&[address(1, "cp", Some(CpFunction), false)], None, Access), Err(Refusal::NotOffered));
    }

    #[test]
    fn tunnels_collide_only_between_sessions_and_on_our_addresses() {
        let mut pools = pools(|_| ());
        let f_teid = FTeid { teid: 5, ipv4: Ipv4Addr::new(10, 0, 0, 1) };
        let mut held = BTreeSet::new();
        let mut taking = pools.begin(1);
        assert_eq!(taking.claim_tunnel(f_teid), Ok(()));
        assert_eq!(taking.claim_tunnel(f_teid), Ok(()));
        taking.keep(&mut held);
        assert_eq!(pools.begin(2).claim_tunnel(f_teid), Err(Refusal::InUse(1)));
        let foreign = FTeid { teid: 5, ipv4: Ipv4Addr::new(10, 0, 0, 2) };
        assert_eq!(pools.begin(2).claim_tunnel(foreign), Err(Refusal::Foreign));
    }

    /// RFC 3021. A lone UE, or two, need no gateway and no broadcast.
    #[test]
    fn the_smallest_pools_give_all_that_they_have() {
        let ipv4 = |network: [u8; 4], length| UePool { network_instance: None, ipv4: Some((network.into(), length)), ipv6: None };
        for (length, hosts) in [(32, vec![4]), (31, vec![4, 5]), (30, vec![5, 6]), (29, (1..=6).collect())] {
            let mut config = Config::new(NodeId::Fqdn("upf".into()), IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
            config.ue_pools = vec![ipv4([10, 45, 0, if length == 29 { 0 } else { 4 }], length)];
            config.validate().unwrap();
            let mut pools = Pools::new(&config);
            for _ in 0..2 {
                let mut held = BTreeSet::new();
                let mut taking = pools.begin(1);
                let given: Vec<Held> = std::iter::from_fn(|| taking.choose_ipv4(&[]).ok()).collect();
                let expected = |host: &u8| Held::Ipv4(0, [10, 45, 0, *host].into());
                assert_eq!(given, hosts.iter().map(expected).collect::<Vec<_>>(), "/{length}");
                taking.keep(&mut held);
                held.into_iter().for_each(|held| pools.give_back(held));
            }
            // One of the SMF's choice is taken out of it.
            let mut taking = pools.begin(1);
            taking.claim_ipv4([10, 45, 0, hosts[0]].into(), &[]).unwrap();
            assert_eq!(std::iter::from_fn(|| taking.choose_ipv4(&[]).ok()).count(), hosts.len() - 1);
        }
        let mut config = Config::new(NodeId::Fqdn("upf".into()), IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        config.ue_pools = vec![UePool { network_instance: None, ipv4: None, ipv6: Some(("fd45::".parse().unwrap(), 64)) }];
        config.validate().unwrap();
        let mut pools = Pools::new(&config);
        let mut taking = pools.begin(1);
        assert_eq!(taking.choose_ipv6(&[]), Ok(Held::Ipv6(0, "fd45::".parse().unwrap())));
        assert_eq!(taking.choose_ipv6(&[]), Err(Refusal::Exhausted));
    }

    #[test]
    fn ue_addresses_come_from_the_pool_of_the_name_and_end() {
        let mut pools = pools(|config| {
            let pool = |name: Option<&str>, net: [u8; 4], v6: Option<&str>| UePool {
                network_instance: name.map(str::to_owned),
                ipv4: Some((net.into(), 30)),
                ipv6: v6.map(|net| (net.parse().unwrap(), 62)),
            };
            config.ue_pools = vec![pool(None, [10, 45, 0, 0], Some("fd45::")), pool(Some("ims"), [10, 46, 0, 0], None)];
        });
        let mut taking = pools.begin(1);
        assert_eq!(taking.choose_ipv4(&[Some("ims")]), Ok(Held::Ipv4(1, Ipv4Addr::new(10, 46, 0, 1))));
        assert_eq!(taking.choose_ipv4(&[None, Some("ims")]), Ok(Held::Ipv4(1, Ipv4Addr::new(10, 46, 0, 2))));
        // Then the pool for all serves.
        assert_eq!(taking.choose_ipv4(&[Some("ims")]), Ok(Held::Ipv4(0, Ipv4Addr::new(10, 45, 0, 1))));
        assert_eq!(taking.claim_ipv4(Ipv4Addr::new(10, 45, 0, 2), &[]), Ok(()));
        assert_eq!(taking.choose_ipv4(&[]), Err(Refusal::Exhausted));
        assert_eq!(taking.choose_ipv6(&[Some("ims")]), Ok(Held::Ipv6(0, "fd45:0:0:1::".parse().unwrap())));
        drop(taking);
        assert_eq!(pools.in_use(), 0);
        assert_eq!(pools.begin(1).choose_ipv6(&[]), Ok(Held::Ipv6(0, "fd45:0:0:2::".parse().unwrap())));
    }
}
