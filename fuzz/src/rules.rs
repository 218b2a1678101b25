//! Files of rules for the switch in front of a foreign UPF: any text is read or refused, what is read means the same when written out
//! again, and what the book takes of it fits the program.
//!
//! A line that begins with `-` deletes; all others add.

use ceupf::{Arrangement, Book, Hop, Rule, Selector, Side};
use program::Program;
use std::path::Path;
use std::sync::OnceLock;

/// Reads `data` line by line, and does what the lines say.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let program = program();
    let mut book = Book::new(arrangement(), program).expect("the arrangement is good");
    for (_, rule) in ceupf::rules_of(&text) {
        match rule {
            Ok(rule) => {
                let written = rule.to_string();
                assert_eq!(written.parse::<Rule>(), Ok(rule.clone()), "{written}");
                if let Err(refusal) = book.stage_add(&[rule]).map(|staged| commit(&mut book, staged, program)) {
                    fit_for_a_log(&refusal.to_string());
                }
            }
            Err(error) => fit_for_a_log(&error.to_string()),
        }
    }
    for line in text.lines().filter_map(|line| line.strip_prefix('-')) {
        match line.parse::<Selector>() {
            Ok(which) => {
                let before = book.rules().len();
                if let Ok(staged) = book.stage_delete(&[which]) {
                    commit(&mut book, staged, program);
                    assert_eq!(book.rules().len(), before - 1);
                }
            }
            Err(error) => fit_for_a_log(&error.to_string()),
        }
    }
    assert!(book.rules().len() <= book.capacity() as usize);
}

fn commit(book: &mut Book, staged: ceupf::Staged, program: &Program) {
    for (position, op) in staged.batch.ops.iter().enumerate() {
        program.check_op(position, op).unwrap_or_else(|e| panic!("{e}"));
    }
    book.commit(staged);
}

fn fit_for_a_log(error: &str) {
    assert!(error.len() < 1000 && !error.contains(char::is_control), "{error:?} is not fit for a log");
}

fn program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        // The folder of the crate that this is compiled in: this one, or that of the regression test.
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = here.ancestors().map(|folder| folder.join("p4/ceupf.p4")).find(|path| path.exists());
        let defines = [("RULES".to_owned(), "16".to_owned())].into();
        let options = p4_check::Options { defines, ..Default::default() };
        p4_check::compile_file(&path.expect("the program is there"), &options).unwrap_or_else(|e| panic!("{e}")).ir.program
    })
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
    let hops = vec![hop("gnbs", Side::Access, [10, 3, 0, 0], 24), hop("internet", Side::Core, [0, 0, 0, 0], 0)];
    Arrangement { upf: [10, 3, 0, 1].into(), hops }
}
