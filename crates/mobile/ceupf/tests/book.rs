//! Does the book hold what it was told, and does each of its batches lead from one state of the tables to the next?

use ceupf::{Arrangement, Book, BookError, Decap, Encap, Hop, Idle, Installed, Match, Rule, Selector, Side};
use program::{Batch, Entry, KeyMatch, Op, Program, TableId};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::net::Ipv4Addr;
use std::path::Path;

const ROOM: u32 = 12;

fn program(rules: u32) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4/ceupf.p4");
    let defines = [("RULES".to_owned(), rules.to_string())].into();
    let compiled = p4_check::compile_file(&path, &p4_check::Options { defines, ..Default::default() });
    compiled.unwrap_or_else(|e| panic!("{e}")).ir.program
}

fn arrangement() -> Arrangement {
    let hop = |name: &str, side, to: [u8; 4], len| Hop {
        name: name.into(),
        side,
        to: (to.into(), len),
        src_mac: [2, 0, 0, 0, 0, 1],
        dst_mac: [2, 0, 0, 0, 0, 2],
        mtu: 1500,
    };
    Arrangement {
        upf: Ipv4Addr::new(10, 3, 0, 1),
        hops: vec![
            hop("gnbs", Side::Access, [10, 3, 0, 0], 24),
            hop("gnb-9", Side::Access, [10, 3, 0, 9], 32),
            hop("internet", Side::Core, [0, 0, 0, 0], 0),
            hop("lab", Side::Core, [192, 0, 2, 0], 24),
        ],
    }
}

fn book(rules: u32) -> (Book, Program) {
    let program = program(rules);
    (Book::new(arrangement(), &program).unwrap(), program)
}

fn rule(text: &str) -> Rule {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn add(book: &mut Book, text: &str) -> Result<Batch, String> {
    let rules: Vec<Rule> = text.lines().map(rule).collect();
    let staged = book.stage_add(&rules).map_err(|refusal| format!("{}: {refusal}", refusal.position + 1))?;
    let batch = staged.batch.clone();
    book.commit(staged);
    Ok(batch)
}

fn delete(book: &mut Book, text: &str) -> Result<Batch, String> {
    let which: Vec<Selector> = text.lines().map(|line| line.parse().unwrap()).collect();
    let staged = book.stage_delete(&which).map_err(|refusal| format!("{}: {refusal}", refusal.position + 1))?;
    let batch = staged.batch.clone();
    book.commit(staged);
    Ok(batch)
}

#[test]
fn duplicates_and_conflicts_are_refused_by_name_and_nothing_of_the_request_is_done() {
    let (mut book, _) = book(ROOM);
    add(&mut book, "encap ue=10.45.0.2 teid=1 gnb=10.3.0.2 qfi=9\ndecap teid=7 ue=10.45.0.2").unwrap();
    for (text, why) in [
        (
            "decap teid=8 ue=10.45.0.2\nencap gnb=10.3.0.2 qfi=9 ue=10.45.0.2 teid=0x1",
            "2: duplicate: `encap ue=10.45.0.2 teid=0x1 gnb=10.3.0.2 qfi=9` exists already (rule 1)",
        ),
        (
            "encap ue=10.45.0.2 teid=2 gnb=10.3.0.2",
            "1: conflict: `encap ue=10.45.0.2 teid=0x1 gnb=10.3.0.2 qfi=9` (rule 1) says something else of these packets",
        ),
        ("decap teid=7 ue=10.45.0.2 via=lab", "1: conflict: `decap teid=0x7 ue=10.45.0.2` (rule 2)"),
        (
            "encap ue=10.45.0.3 teid=1 gnb=10.3.0.2\nencap ue=10.45.0.3 teid=1 gnb=10.3.0.3",
            "2: conflict: `encap ue=10.45.0.3 teid=0x1 gnb=10.3.0.2` (an earlier line)",
        ),
        ("encap ue=10.45.0.3 teid=1 gnb=10.9.0.2", "1: no hop on the access side leads to 10.9.0.2"),
        ("decap teid=9 ue=10.45.0.3 via=gnbs", "1: via=gnbs: no hop of that name on the core side"),
    ] {
        let error = add(&mut book, text).expect_err(text);
        assert!(error.starts_with(why), "{error}");
        assert_eq!(book.rules().len(), 2, "{text}");
    }
    for (text, why) in [
        ("encap ue=10.45.0.9", "1: there is no rule `encap ue=10.45.0.9`"),
        ("encap ue=10.45.0.2\nid=1", "2: `encap ue=10.45.0.2 teid=0x1 gnb=10.3.0.2 qfi=9` is deleted by an earlier line already"),
        ("id=3", "1: there is no rule `id=3`"),
    ] {
        assert_eq!(delete(&mut book, text).expect_err(text), why);
        assert_eq!(book.rules().len(), 2, "{text}");
    }
    // Narrower rules, and the same UE in another tunnel, are other rules.
    add(&mut book, "encap ue=10.45.0.2 remote=192.0.2.9 teid=2 gnb=10.3.0.2\ndecap teid=8 ue=10.45.0.2").unwrap();
    delete(&mut book, "encap ue=10.45.0.2\nid=2").unwrap();
    let left: Vec<String> = book.rules().map(|r| format!("{} {}", r.id, r.rule)).collect();
    assert_eq!(left, ["3 encap ue=10.45.0.2 remote=192.0.2.9 teid=0x2 gnb=10.3.0.2", "4 decap teid=0x8 ue=10.45.0.2"]);
}

#[test]
fn a_full_book_says_so_and_cells_are_used_again() {
    let (mut book, _) = book(2);
    add(&mut book, "decap teid=1 ue=10.45.0.1").unwrap();
    let error = book.stage_add(&[rule("decap teid=2 ue=10.45.0.1"), rule("decap teid=3 ue=10.45.0.1")]).unwrap_err();
    assert_eq!((error.position, &error.why), (1, &BookError::Full { capacity: 2, installed: 1 }));
    assert_eq!(error.to_string(), "full: the program was built for 2 rules, and 1 are there");
    add(&mut book, "decap teid=2 ue=10.45.0.1").unwrap();
    delete(&mut book, "id=1").unwrap();
    let batch = add(&mut book, "decap teid=3 ue=10.45.0.1").unwrap();
    // The cell of rule 1, cleared first.
    assert!(matches!(batch.ops[0], Op::ClearCounter { index: 0, .. }), "{batch:?}");
    assert_eq!(book.rules().map(|r| (r.id, r.cell)).collect::<Vec<_>>(), [(2, 1), (3, 0)]);
}

/// A UE that became idle, or whose session has ended, sends nothing; servers go on sending to it.
#[test]
fn rules_of_a_ue_that_sends_nothing_step_aside_and_those_of_others_stay() {
    let (mut book, _) = book(ROOM);
    add(&mut book, "encap ue=10.45.0.1 teid=1 gnb=10.3.0.2\ndecap teid=1 ue=10.45.0.1\nencap ue=10.45.0.2 teid=2 gnb=10.3.0.2").unwrap();
    add(&mut book, "encap ue=10.45.0.3 teid=3 gnb=10.3.0.2\ndecap teid=3 ue=10.45.0.3").unwrap();
    let mut idle = Idle::new(std::time::Duration::from_secs(10));
    let mut look = |book: &Book, counts: [u64; 6], second: u64| {
        let packets = |of: &Installed| counts[of.id as usize - 1];
        idle.look(book, packets, std::time::Duration::from_secs(second))
    };
    assert!(look(&book, [0; 6], 100).is_empty(), "they have just come");
    // UE 1 and UE 2 send or get, UE 3 only gets.
    assert!(look(&book, [5, 1, 5, 5, 0, 0], 109).is_empty());
    assert_eq!(look(&book, [9, 1, 9, 9, 0, 0], 110), [4, 5]);
    delete(&mut book, "id=4\nid=5").unwrap();
    assert!(look(&book, [9, 1, 9, 0, 0, 0], 118).is_empty());
    // A UE with a downlink rule only is judged by that.
    assert_eq!(look(&book, [99, 1, 10, 0, 0, 0], 119), [1, 2]);
    // A rule that is added is a sign of life.
    add(&mut book, "decap teid=9 ue=10.45.0.2").unwrap();
    assert_eq!(look(&book, [99, 1, 10, 0, 0, 0], 125), [1, 2]);
    assert_eq!(look(&book, [99, 1, 10, 0, 0, 0], 136), [1, 2, 3, 6]);
}

#[test]
fn rules_leave_by_the_longest_prefix_or_the_hop_that_they_name() {
    let (mut book, program) = book(ROOM);
    let mut hop = |text: &str| {
        let batch = add(&mut book, text).unwrap();
        let Op::Insert(entry) = &batch.ops[1] else { panic!("{batch:?}") };
        let params = &program.actions[entry.action].params;
        let at = params.iter().position(|p| p.name == "next_hop").unwrap();
        entry.args[at]
    };
    assert_eq!(hop("encap ue=10.45.0.1 teid=1 gnb=10.3.0.2"), 0);
    assert_eq!(hop("encap ue=10.45.0.2 teid=1 gnb=10.3.0.9 qfi=1"), 1);
    assert_eq!(hop("encap ue=10.45.0.3 teid=1 gnb=10.3.0.9 via=gnbs"), 0);
    assert_eq!(hop("encap ue=10.45.0.4 teid=1 gnb=172.16.0.1 via=gnbs"), 0);
    assert_eq!(hop("decap teid=1 ue=10.45.0.1"), 2);
    assert_eq!(hop("decap teid=1 ue=10.45.0.1 remote=192.0.2.7"), 3);
    assert_eq!(hop("decap teid=1 ue=10.45.0.1 remote=192.0.3.7"), 2);
}

#[test]
fn arrangements_that_cannot_be_are_refused() {
    let program = program(ROOM);
    let refused = |change: &dyn Fn(&mut Arrangement)| {
        let mut changed = arrangement();
        change(&mut changed);
        Book::new(changed, &program).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert_eq!(refused(&|_| {}), "");
    assert!(refused(&|a| a.upf = Ipv4Addr::UNSPECIFIED).contains("0.0.0.0 is no address of a UPF"));
    assert!(refused(&|a| a.hops[0].name = "a b".into()).contains("hop `a b`: a name is"));
    assert!(refused(&|a| a.hops[1].name = "gnbs".into()).contains("two of that name"));
    assert!(refused(&|a| a.hops[0].to.1 = 23).is_empty() && refused(&|a| a.hops[0].to.1 = 8).contains("without bits of hosts"));
    assert!(refused(&|a| a.hops[0].to.1 = 33).contains("`to` is a network"));
    assert!(refused(&|a| a.hops[3].to = a.hops[2].to).contains("has that network already"));
    assert!(refused(&|a| a.hops[0].dst_mac = [0; 6]).contains("MAC"));
    assert!(refused(&|a| a.hops[0].mtu = 60).contains("mtu"));
    assert!(Book::new(arrangement(), &Program::default()).is_err_and(|e| e.to_string() == "the program has no gtp_default_forward"));
}

/// Tables as a target has them.
#[derive(Default)]
struct Tables(HashMap<(TableId, Vec<KeyMatch>, u32), Entry>);

impl Tables {
    /// Applies what must be right: nothing is inserted twice, nothing deleted that is not there, everything fits the program.
    fn apply(&mut self, batch: &Batch, program: &Program) {
        for (position, op) in batch.ops.iter().enumerate() {
            program.check_op(position, op).unwrap_or_else(|e| panic!("{e}"));
            match op {
                Op::Insert(e) => assert!(self.0.insert((e.table, e.keys.clone(), e.priority), e.clone()).is_none(), "{e:?} twice"),
                Op::Delete(e) => assert!(self.0.remove(&(e.table, e.keys.clone(), e.priority)).is_some(), "{e:?} is not there"),
                Op::ClearCounter { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

fn few_rules() -> impl Strategy<Value = Rule> {
    let address = |third: u8| (0u8..4).prop_map(move |n| Ipv4Addr::new(10, 45, third, n + 1));
    let remote = proptest::option::of((1u8..3).prop_map(|n| Ipv4Addr::new(192, 0, 2, n)));
    let encap = (address(0), remote.clone(), 1u32..3, proptest::option::of(1u8..3))
        .prop_map(|(ue, remote, teid, qfi)| Rule::Encap(Encap { ue, remote, teid, gnb: Ipv4Addr::new(10, 3, 0, 2), qfi, via: None }));
    let decap = (1u32..3, address(0), remote).prop_map(|(teid, ue, remote)| Rule::Decap(Decap { teid, ue, remote, via: None }));
    prop_oneof![encap, decap]
}

/// A request: rules to add, or which of the rules of the model to delete.
fn requests() -> impl Strategy<Value = Vec<Result<Vec<Rule>, Vec<prop::sample::Index>>>> {
    let add = proptest::collection::vec(few_rules(), 1..4).prop_map(Ok);
    let delete = proptest::collection::vec(any::<prop::sample::Index>(), 1..3).prop_map(Err);
    proptest::collection::vec(prop_oneof![3 => add, 1 => delete], 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]
    /// Beside a map from matches to rules: same rules, same refusals, and tables that hold one entry a rule in a cell of its own.
    #[test]
    fn the_book_is_a_map_from_matches_to_rules(requests in requests()) {
        thread_local!(static PROGRAM: Program = program(ROOM));
        let program = PROGRAM.with(Program::clone);
        let mut book = Book::new(arrangement(), &program).unwrap();
        let mut model: BTreeMap<Match, Rule> = BTreeMap::new();
        let mut tables = Tables::default();
        tables.apply(&book.initial(), &program);
        let fixed = tables.0.len();
        for request in requests {
            let (mut after, mut good) = (model.clone(), true);
            let staged = match &request {
                Ok(rules) => {
                    for rule in rules {
                        good &= after.insert(rule.matches(), rule.clone()).is_none();
                    }
                    good &= after.len() <= ROOM as usize;
                    book.stage_add(rules)
                }
                Err(which) => {
                    let all: Vec<Match> = model.keys().copied().collect();
                    let absent = Match::Encap { ue: Ipv4Addr::new(10, 99, 0, 1), remote: None };
                    let which: Vec<Match> = which.iter().map(|i| if all.is_empty() { absent } else { *i.get(&all) }).collect();
                    for of in &which {
                        good &= after.remove(of).is_some();
                    }
                    book.stage_delete(&which.into_iter().map(Selector::Match).collect::<Vec<_>>())
                }
            };
            prop_assert_eq!(staged.is_ok(), good, "{:?}", request);
            if let Ok(staged) = staged {
                tables.apply(&staged.batch, &program);
                book.commit(staged);
                model = after;
            }
            let mut held: Vec<(Match, Rule)> = book.rules().map(|r| (r.rule.matches(), r.rule.clone())).collect();
            held.sort_by_key(|(of, _)| *of);
            prop_assert_eq!(held, model.clone().into_iter().collect::<Vec<_>>());
            let mut cells: Vec<u32> = book.rules().map(|r| r.cell).collect();
            cells.sort_unstable();
            cells.dedup();
            prop_assert!(cells.len() == model.len() && cells.last().is_none_or(|last| *last < ROOM), "{:?}", cells);
            prop_assert_eq!(tables.0.len(), fixed + model.len());
        }
    }
}
