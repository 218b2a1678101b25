//! Rules in, entries out, as text.

use pfcp::rules::{SessionRules, UserPlane};
use upf::plane::Plane;

use crate::model::Model;
use crate::{program, sessions};

const SESSION_TABLES: [&str; 3] = ["pdr_by_teid", "pdr_by_ue", "pdr_by_class"];

fn plane() -> Plane<Model> {
    let program = program::upf(1024);
    let mut plane = Plane::new(&sessions::network(), &program, Model::new(program.clone())).unwrap();
    let initial = plane.initial_batch().clone();
    plane.data_mut().apply(&initial).unwrap();
    plane
}

fn golden(name: &str, rules: &[SessionRules]) {
    let mut plane = plane();
    let mut text = String::new();
    for (step, rules) in rules.iter().enumerate() {
        plane.commit(1, Some(rules)).unwrap();
        let tables = [&SESSION_TABLES[..], &["sdf"]].concat();
        text += &format!("# after commit {}\n{}", step + 1, plane.data().dump(&tables));
        let info = plane.data().infos.last().unwrap();
        text += &format!("info {info:?}\n");
    }
    let fates = &plane.data().fates;
    text += &format!("buffers {fates:?}\n");
    testkit::assert_golden(format!("tests/golden/{name}.txt"), &text);
}

#[test]
fn open5gs() {
    golden("open5gs", &[sessions::open5gs(), sessions::open5gs_connected()]);
}

#[test]
fn free5gc() {
    golden("free5gc", &[sessions::free5gc()]);
}

#[test]
fn pfcpsim() {
    golden("pfcpsim", &[sessions::pfcpsim()]);
}

#[test]
fn initial() {
    let plane = plane();
    let all = ["station", "vxlan", "local", "route", "nexthop", "firewall", "traffic"];
    testkit::assert_golden("tests/golden/initial.txt", &plane.data().dump(&all));
}
