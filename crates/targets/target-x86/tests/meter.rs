//! The meter of generated code against `table::Meter`, which keeps whole units and fractions: the same colours, also where products
//! and sums do not fit 64 bits, and where time goes back. Executed with and without the lock in turn, as built by gcc and by clang.

use program::{MAX_BURST, MeterConfig};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::io::Write;
use std::process::{Command, Stdio};
use table::{Colour, Meter};

/// Reads how many packets there are, the configuration, and of each packet time and units; writes a colour each; until the input ends.
const DRIVER: &str = r#"
#include <stdio.h>
#include <stdint.h>
#include <stddef.h>
typedef unsigned __int128 sp_u128;
#include "meter.h"

int main(void)
{
    uint64_t head[5], packet[2];
    while (fread(head, sizeof head, 1, stdin) == 1) {
        const struct sp_profile profiles[] = {{0}, {0}, {head[1], head[2] * 1000000000, head[3], head[4] * 1000000000}};
        const int one_rate = head[1] == head[3] && head[2] == head[4];
        struct sp_meter cell = {profiles[2].cbs, profiles[2].pbs, 0, 2 | (one_rate ? SP_ONE_RATE : 0), 0};
        for (uint64_t i = 0; i < head[0]; i++) {
            if (fread(packet, sizeof packet, 1, stdin) != 1) return 1;
            putchar((i % 2 ? sp_meter_locked : sp_meter_execute)(&cell, profiles, packet[0], packet[1]));
        }
        if (cell.lock) return 2;
    }
    return 0;
}
"#;

struct Case {
    config: MeterConfig,
    packets: Vec<(u64, u64)>,
}

/// How often something happened that the test is about.
#[derive(Default, Debug)]
struct Hits {
    /// By colour, of one-rate and two-rate cells.
    colours: [[u64; 3]; 2],
    /// Rates times times beyond 64 bits.
    products: u64,
    /// Gains of more than 2^63 to buckets of nearly 2^64.
    sums: u64,
    /// Packets beyond the largest burst.
    costs: u64,
    /// Times before the latest.
    back: u64,
}

fn case(rng: &mut ChaCha8Rng) -> Case {
    let mut config = match rng.random_range(0..6) {
        0 => {
            let cir = rng.random_range(0..=u64::MAX / 2);
            let cbs = rng.random_range(0..=MAX_BURST);
            MeterConfig { cir, cbs, pir: cir.saturating_mul(2), pbs: MAX_BURST }
        }
        // Buckets of nearly 2^64, which fill within seconds.
        1 => {
            let cir = rng.random_range(1_000_000_000..20_000_000_000);
            MeterConfig { cir, cbs: MAX_BURST - rng.random_range(0..10), pir: cir + rng.random_range(0..4), pbs: MAX_BURST }
        }
        // Few packets a second, where fractions of a unit decide.
        2 => {
            let cir = rng.random_range(0..50_000);
            MeterConfig { cir, cbs: rng.random_range(0..4_000), pir: cir + rng.random_range(0..50_000), pbs: rng.random_range(0..8_000) }
        }
        _ => {
            let (cir, cbs) = (rng.random_range(100_000..20_000_000), rng.random_range(1_000..10_000));
            MeterConfig { cir, cbs, pir: cir * rng.random_range(1..4), pbs: cbs * rng.random_range(1..4) }
        }
    };
    if rng.random_bool(0.3) {
        (config.pir, config.pbs) = (config.cir, config.cbs);
    }
    let wide = config.pbs > 1_000_000;
    let mut now = rng.random_range(0..u64::MAX / 2);
    let packets = (0..rng.random_range(1..150)).map(|_| {
        now = match rng.random_range(0..20) {
            0 => now.saturating_sub(rng.random_range(0..5_000_000)),
            1 => now.saturating_add(rng.random_range(0..20_000_000_000)),
            2 => now.saturating_add(rng.random_range(0..1 << 60)) & (u64::MAX >> 1),
            3 => now.saturating_add(rng.random_range(0..4_000_000_000)),
            _ => now.saturating_add(rng.random_range(0..2_000_000)),
        };
        let units = match rng.random_range(0..10) {
            0 => rng.random(),
            1 => rng.random_range(0..=MAX_BURST),
            2 => MAX_BURST + rng.random_range(0..3),
            _ if wide => rng.random_range(0..MAX_BURST / 20),
            _ => rng.random_range(40..3_000),
        };
        (now, units)
    });
    let packets = packets.collect();
    Case { config, packets }
}

/// What `table::Meter` says.
fn expected(case: &Case, hits: &mut Hits) -> Vec<u8> {
    let MeterConfig { cir, cbs, pir, pbs } = case.config;
    let mut meter = Meter::new(cir, cbs, pir, pbs, 0);
    let one_rate = cir == pir && cbs == pbs;
    let mut last = 0;
    let colour = |&(now, units): &(u64, u64)| {
        let elapsed = now.saturating_sub(last);
        match pir.checked_mul(elapsed) {
            None => hits.products += 1,
            Some(gain) => hits.sums += u64::from(gain > u64::MAX / 2 && pbs > MAX_BURST - 10),
        }
        hits.costs += u64::from(units > MAX_BURST);
        hits.back += u64::from(now < last);
        last = last.max(now);
        let colour: Colour = meter.execute(now, units);
        hits.colours[usize::from(one_rate)][colour as usize] += 1;
        colour as u8
    };
    case.packets.iter().map(colour).collect()
}

#[test]
fn generated_meters_colour_like_the_slow_one() {
    const SEED: u64 = 32;
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let cases: Vec<Case> = (0..4_000).map(|_| case(&mut rng)).collect();
    let mut hits = Hits::default();
    let expected: Vec<Vec<u8>> = cases.iter().map(|c| expected(c, &mut hits)).collect();
    assert!(hits.colours.iter().flatten().enumerate().all(|(i, n)| if i == 4 { *n == 0 } else { *n > 5_000 }), "{hits:?}");
    assert!([hits.products, hits.sums, hits.costs, hits.back].iter().all(|n| *n > 500), "{hits:?}");

    let mut input = Vec::new();
    for Case { config: c, packets } in &cases {
        let head = [packets.len() as u64, c.cir, c.cbs, c.pir, c.pbs];
        let words = head.into_iter().chain(packets.iter().flat_map(|(now, units)| [*now, *units]));
        words.for_each(|word| input.extend(word.to_ne_bytes()));
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("driver.c"), DRIVER).unwrap();
    let mut built = 0;
    for cc in ["gcc", "clang"] {
        let program = folder.path().join(cc);
        let headers = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../p4/p4-emit/src");
        let compiled = Command::new(cc).args(["-O3", "-w", headers]).arg(folder.path().join("driver.c")).arg("-o").arg(&program).output();
        let Ok(output) = compiled else {
            testkit::skip(&format!("no {cc}"));
            continue;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        built += 1;
        let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            scope.spawn(|| stdin.write_all(&input).map(|()| drop(stdin)));
            child.wait_with_output().unwrap()
        });
        assert!(output.status.success(), "{cc}: {}", output.status);
        let mut found = &output.stdout[..];
        for (i, (case, expected)) in cases.iter().zip(&expected).enumerate() {
            let (of_case, rest) = found.split_at(expected.len().min(found.len()));
            assert_eq!(of_case, expected, "{cc}, seed {SEED}, case {i}: {:?} {:?}", case.config, case.packets);
            found = rest;
        }
        assert!(found.is_empty(), "{cc}");
    }
    assert!(built > 0, "there is neither gcc nor clang");
}
