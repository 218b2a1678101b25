//! What x86 holds is read back through the seam as it was put there.

mod common;

use p4_interp::Mode;

#[test]
fn what_tables_hold_is_read_back() {
    common::twin::read_back::what_tables_hold_is_read_back::<common::NativeX86>(Mode::Whole, &["-O1"]);
}
