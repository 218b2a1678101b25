//! Removes parser states that are unreachable from a parser's start, and renumbers the others in their old order.

use p4_ir::{Ir, Next, State, StateId, Transition};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn run(ir: &mut Ir) -> bool {
    let reached: BTreeSet<StateId> = ir.pipes.values().flat_map(|p| ir.states_from(p.parser.start)).collect();
    if reached.len() == ir.states.len() {
        return false;
    }
    let renamed: BTreeMap<StateId, StateId> = reached.iter().enumerate().map(|(i, s)| (*s, StateId::from_u32(i as u32))).collect();
    let old = std::mem::take(&mut ir.states);
    for (_, state) in old.into_iter().filter(|(id, _)| reached.contains(id)) {
        ir.states.push(State { next: rename(state.next, &renamed), ..state });
    }
    for (_, pipe) in &mut ir.pipes {
        pipe.parser.start = pipe.parser.start.map(|s| renamed[&s]);
    }
    true
}

fn rename(next: Transition, renamed: &BTreeMap<StateId, StateId>) -> Transition {
    let one = |n: Next| match n {
        Next::State(s) => Next::State(renamed[&s]),
        other => other,
    };
    match next {
        Transition::Goto(n) => Transition::Goto(one(n)),
        Transition::Select { keys, mut cases } => {
            cases.iter_mut().for_each(|c| c.next = one(c.next));
            Transition::Select { keys, cases }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_nothing_reaches_go_and_the_others_keep_their_order() {
        let mut ir = Ir::v1model("states");
        let to = |i| Transition::Goto(Next::State(StateId::from_u32(i)));
        for (name, next) in
            [("lost", to(1)), ("also_lost", to(0)), ("end", Transition::Goto(Next::Accept)), ("start", to(4)), ("mid", to(2))]
        {
            ir.add_state(name, vec![], next);
        }
        ir.parser_mut().start = Some(StateId::from_u32(3));
        assert!(run(&mut ir));
        assert_eq!(p4_ir::verify(&ir), Ok(()));
        let names: Vec<&str> = ir.states.values().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["end", "start", "mid"]);
        let text = ir.to_string();
        assert!(text.contains("start state1.start\n"), "{text}");
        assert!(text.contains("state state1.start {\n  goto state2.mid\n}"), "{text}");
        assert!(!run(&mut ir));
    }
}
