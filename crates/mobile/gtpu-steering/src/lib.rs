//! GTP-U in the steering program of AF_XDP ports: how the kernel finds the UE of a packet in a tunnel.
//!
//! Together with [`pktio::steer_program`] it computes what `upf::steer::ue_hash` computes, for every frame, malformed ones included; the
//! reasons for each step are there. `tests/gtpu_steering.rs` of `pktio` compares the two.
#![forbid(unsafe_code)]

use pktio::af_xdp::Tunnels;
use pktio::code::{Code, Label, R, Size};
use pktio::steer_program::{AT, END, HERE, need};

/// GTP-U tunnels of ours.
pub const GTPU: Tunnels = Tunnels { udp_port: 2152, inner: user_packet, urgent: of_paths };

/// Messages of paths and errors have types below this, those of tunnels above (TS 29.281 §6.1). An end marker keeps its place
/// among its tunnel's packets.
const OF_TUNNELS: i32 = 32;
const G_PDU: i32 = 255;
const SESSION_CONTAINER: i32 = 0x85;
const EXTENSIONS: usize = 8;

/// Type of the next extension header.
const NEXT: R = R(4);

/// From a GTP-U message (TS 29.281 §5.1) on to the user packet, and which end of it is the UE.
fn user_packet(c: &mut Code, none: Label) {
    let (bare, no_extension, inner) = (c.label(), c.label(), c.label());
    need(c, 2, none);
    c.load(Size::U8, R(1), HERE, 1);
    c.jump_unless(R(1), G_PDU, none);
    c.set(END, 0);
    c.load(Size::U8, R(1), HERE, 0);
    c.copy(R(3), R(1));
    c.and_value(R(3), 7);
    c.jump_if(R(3), 0, bare);
    c.and_value(R(1), 4);
    c.jump_if(R(1), 0, no_extension);
    need(c, 12, none);
    c.load(Size::U8, NEXT, HERE, 11);
    c.add_value(AT, 12);
    for _ in 0..EXTENSIONS {
        c.jump_if(NEXT, 0, inner);
        need(c, 1, none);
        // Of its bytes no more than the header's length is known.
        c.load(Size::U8, R(1), HERE, 0);
        c.shift_left(R(1), 2);
        let other = c.label();
        c.jump_unless(NEXT, SESSION_CONTAINER, other);
        need(c, 2, none);
        c.load(Size::U8, R(3), HERE, 1);
        c.shift_right(R(3), 4);
        c.jump_unless(R(3), 0, other);
        // DL PDU SESSION INFORMATION.
        c.set(END, 1);
        c.place(other);
        // The type of the next one is the last byte of this.
        c.add(AT, R(1));
        c.add_value(AT, -1);
        need(c, 1, none);
        c.load(Size::U8, NEXT, HERE, 0);
        c.add_value(AT, 1);
    }
    c.jump(inner);
    c.place(no_extension);
    c.add_value(AT, 4);
    c.place(bare);
    c.add_value(AT, 8);
    c.place(inner);
}

/// To `yes` with messages of paths and errors.
fn of_paths(c: &mut Code, yes: Label, no: Label) {
    need(c, 2, no);
    c.load(Size::U8, R(1), HERE, 1);
    c.jump_from(R(1), OF_TUNNELS, no);
    c.jump(yes);
}
