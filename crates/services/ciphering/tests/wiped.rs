//! Is a key gone when it was dropped, replaced or removed? Looks for its bytes in all memory of this process: glibc leaves what was freed as it was, and so do stacks.

use ciphering::service::{CipherService, key_setting};
use ciphering::{Choice, Engine, Nea, Nia};
use service::caller::{Make, Rings};
use service::{Deployment, Place};
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex};
use zeroize::Zeroizing;

/// One at a time: another test's keys are in the same memory.
static MEMORY: Mutex<()> = Mutex::new(());

/// A key that this process has nowhere as it is but where it is given to.
struct Hidden([u8; 16]);

impl Hidden {
    fn new(seed: u8) -> Hidden {
        Hidden(std::array::from_fn(|i| (i as u8).wrapping_mul(37).wrapping_add(seed).wrapping_mul(91) ^ 0x5a))
    }

    /// In a place of its own, for the length of `work`.
    fn with<R>(&self, work: impl FnOnce(&[u8; 16]) -> R) -> R {
        let mut key = Box::new(Zeroizing::new([0; 16]));
        key.iter_mut().zip(&self.0).for_each(|(byte, hidden)| *byte = hidden ^ 0x5a);
        work(&key)
    }

    /// How often it is in memory that can be written, stacks too.
    fn found(&self) -> usize {
        // What it has seen must not be left behind either.
        let mut bytes = Zeroizing::new(vec![0u8; 1 << 16]);
        let own = bytes.as_ptr() as usize;
        let own = own..own + bytes.len();
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
        let mut memory = std::fs::File::open("/proc/self/mem").expect("one's own");
        let mut found = 0;
        for line in maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|rights| rights.starts_with("rw"))) {
            let (from, to) = line.split(' ').next().and_then(|range| range.split_once('-')).expect("a range");
            let address = |text| usize::from_str_radix(text, 16).expect("hexadecimal");
            let (mut at, to) = (address(from), address(to));
            // What lies across two pieces is looked at in both.
            while at + 16 <= to {
                let len = (to - at).min(bytes.len());
                let seen = memory.seek(SeekFrom::Start(at as u64)).and_then(|_| memory.read(&mut bytes[..len])).unwrap_or(0);
                if seen < 16 {
                    break;
                }
                let is_key = |window: &[u8]| window.iter().zip(&self.0).all(|(a, b)| *a == b ^ 0x5a);
                let matches = bytes[..seen].windows(16).enumerate().filter(|(i, window)| !own.contains(&(at + i)) && is_key(window));
                found += matches.count();
                at += seen - 15;
            }
        }
        found
    }
}

/// The lane takes changes ahead of its next call.
fn deployment(choice: Choice) -> Option<Arc<Deployment>> {
    if let Err(why) = Engine::new(choice) {
        println!("skipped: {why}");
        return None;
    }
    let make: Make = Arc::new(move || Box::new(CipherService::new(choice).expect("it is there")));
    Some(Arc::new(Deployment::new(&Place::Lane, make, Rings::default()).expect("nothing is started in the lane")))
}

#[test]
fn a_key_that_is_replaced_or_removed_is_wiped() {
    let _alone = MEMORY.lock();
    // With libipsec-mb 16 bytes are left: docs/security.md.
    for choice in Choice::ALL {
        for (at, nea) in [Nea::Nea1, Nea::Nea2, Nea::Nea3].into_iter().enumerate() {
            let Some(deployment) = deployment(choice) else { continue };
            let mut caller = deployment.caller();
            let (first, second) = (Hidden::new(3 + at as u8), Hidden::new(103 + at as u8));
            let mut set = |key: Option<&Hidden>| {
                let value = key.map(|key| key.with(|key| key_setting(nea, key, Some((Nia::Nia2, key)))));
                deployment.set(1, value).expect("a setting");
                caller.poll(0, &mut Vec::new());
                caller.call(&mut [], 0);
            };
            set(Some(&first));
            assert!(first.found() >= 2, "{choice:?} {nea:?}: the search finds a key that is set");
            set(Some(&second));
            assert_eq!(first.found(), 0, "{choice:?} {nea:?}: a key that was replaced");
            assert!(second.found() >= 2, "{choice:?} {nea:?}");
            set(None);
            assert_eq!(second.found(), 0, "{choice:?} {nea:?}: a key that was removed");
            set(Some(&first));
            assert!(first.found() >= 2, "{choice:?} {nea:?}");
            drop(caller);
            drop(deployment);
            assert_eq!(first.found(), 0, "{choice:?} {nea:?}: all that ended");
        }
    }
}

#[test]
fn a_key_that_is_dropped_is_wiped() {
    let _alone = MEMORY.lock();
    for choice in Choice::ALL {
        let Ok(engine) = Engine::new(choice) else { continue };
        let key = Hidden::new(77);
        // The two forms that hold the bytes as they are: ZUC's, and the first round's key of AES as libipsec-mb has it.
        let zuc = key.with(|key| engine.cipher_key(Nea::Nea3, key));
        let aes = key.with(|key| engine.cipher_key(Nea::Nea2, key));
        assert!(key.found() >= 1, "{choice:?}: the search finds a key that is held");
        drop((zuc, aes));
        assert_eq!(key.found(), 0, "{choice:?}: keys that were dropped");
    }
}
