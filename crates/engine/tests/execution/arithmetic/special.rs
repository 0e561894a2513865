//! Moves of several values, registers that the hardware sets, and values that caches are given.

use super::harness::{Case, check};

#[test]
fn vectors_move_value_by_value() {
    let case = Case {
        text: "mov.v2.b32 {%d, %e}, {%b, %a};",
        written: &["b32", "b32"],
        read: ["b32"; 2],
    };
    let few = &[1, 0x8000_0000, 0xFFFF_FFFF];
    case.check([few; 2], |[a, b]| vec![b, a]);
    // What is read is read before anything is written.
    let case = Case {
        text: "mov.b64 %d, %a; mov.b64 %e, %b; mov.v2.b64 {%d, %e}, {%e, %d};",
        written: &["b64", "b64"],
        read: ["b64"; 2],
    };
    case.check([few; 2], |[a, b]| vec![b, a]);
}

#[test]
fn what_the_emulator_has_nothing_of_is_zero() {
    for name in [
        "%pm0",
        "%pm7",
        "%envreg0",
        "%envreg3",
        "%envreg31",
        // Where a cooperative grid's workspace is: this one is not.
        "%envreg1",
        "%envreg2",
        "%reserved_smem_offset_begin",
        "%reserved_smem_offset_end",
        "%reserved_smem_offset_cap",
        "%reserved_smem_offset_0",
        "%reserved_smem_offset_1",
    ] {
        check(
            &format!("mov.u32 %d, {name};"),
            "b32",
            ["b32"],
            [&[7]],
            |_| 0,
        );
    }
    for name in ["%pm0_64", "%current_graph_exec"] {
        check(
            &format!("mov.u64 %d, {name};"),
            "b64",
            ["b32"],
            [&[7]],
            |_| 0,
        );
    }
}
