//! Atomics of 8 and 16 bits, of which PTX changes the word around them: what counts as accessed is the part.

use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{Module, Options, Shape};

use crate::support::launch_checked;

/// `%rd2` is the part's address, `%rd4` its word's, `%r4` the bit that it begins at, `%r5` the value. Threads of the second warp go to `OTHERS`.
const HEAD: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 y, .param .u32 value)
{
.reg .pred %p<4>;
.reg .b16 %h<4>;
.reg .b32 %r<24>;
.reg .b32 %s<40>;
.reg .b64 %rd<8>;
ld.param.u64 %rd1, [y];
mov.u32 %r1, %tid.x;
add.u64 %rd2, %rd1, PLACE;
and.b64 %rd4, %rd2, -4;
cvt.u32.u64 %r2, %rd2;
and.b32 %r3, %r2, 3;
shl.b32 %r4, %r3, 3;
ld.param.LOAD %r5, [value];
setp.ge.u32 %p1, %r1, 32;
@%p1 bra OTHERS;
";

/// The operand of an `or` or `xor`, and of an `and` of a byte and of a half.
const SHIFTED: &str = "shl.b32 %r6, %r5, %r4;";
const BYTE_AMONG_ONES: &str = "mov.b32 %r7, 255; shl.b32 %r8, %r7, %r4; not.b32 %r9, %r8; shl.b32 %r10, %r5, %r4; or.b32 %r6, %r10, %r9;";
const HALF_AMONG_ONES: &str = "mov.b32 %r7, 65535; shl.b32 %r8, %r7, %r4; not.b32 %r9, %r8; shl.b32 %r10, %r5, %r4; or.b32 %r6, %r9, %r10;";

/// The buffer's contents, and its bytes.
const WRITTEN: (Contents, u64) = (Contents::Defined, 16);
const UNWRITTEN: (Contents, u64) = (Contents::Undefined, 16);

/// How a part is changed: its bytes, how its value is loaded, and the instructions.
const CHANGES: [(u64, &str, &str, &str); 7] = [
    (1, "u8", SHIFTED, "atom.relaxed.sys.global.or.b32 %r11, [%rd4], %r6;"),
    (1, "u8", SHIFTED, "red.global.xor.b32 [%rd4], %r6;"),
    (1, "u8", BYTE_AMONG_ONES, "atom.global.and.b32 %r11, [%rd4], %r6;"),
    (2, "u16", SHIFTED, "atom.global.or.b32 %r11, [%rd4], %r6;"),
    (2, "u16", SHIFTED, "red.global.xor.b32 [%rd4], %r6;"),
    (2, "u16", HALF_AMONG_ONES, "red.global.and.b32 [%rd4], %r6;"),
    // The greater one, beside a value that comes of more instructions than are looked at.
    (
        1,
        "u8",
        "mov.b32 %r7, 255; shl.b32 %r8, %r7, %r4; not.b32 %r9, %r8; ld.relaxed.sys.global.b32 %r12, [%rd4];",
        "LONG AGAIN: shr.u32 %r13, %r12, %r4; and.b32 %r14, %r13, 255; max.u32 %r15, %r14, %s39; shl.b32 %r16, %r15, %r4;
         and.b32 %r17, %r12, %r9; or.b32 %r6, %r17, %r16; atom.global.cas.b32 %r11, [%rd4], %r12, %r6;
         setp.ne.b32 %p2, %r11, %r12; mov.b32 %r12, %r11; @%p2 bra AGAIN;",
    ),
];

/// The finding of a checked launch of two warps: the first changes the part at `place` by the value, the second does what
/// `others` says.
fn found(
    (load, change): (&str, &str),
    (place, value): (u64, u32),
    others: &str,
    (contents, bytes): (Contents, u64),
) -> Option<String> {
    let head = HEAD
        .replace("PLACE", &place.to_string())
        .replace("LOAD", load);
    let text = format!("{head}{change}\nret;\nOTHERS:\n{others}\nret;\n}}\n");
    let memory: Arc<Memory> = Arc::default();
    let y = memory.allocate(bytes, 256, contents, Label::new("y", 1));
    let y = y.expect("memory");
    let kernel = Module::load(&text, &memory).expect("PTX").kernel("kernel");
    let shape = Shape {
        grid: [1; 3],
        block: [64, 1, 1],
        dynamic_shared: 0,
    };
    let mut parameters = y.to_le_bytes().to_vec();
    parameters.extend(value.to_le_bytes());
    let kernel = kernel.expect("it is there");
    let ran = launch_checked(&kernel, shape, Options::default(), &parameters);
    ran.err().map(|error| error.to_string())
}

/// A change as PTX: its bytes, its load, its instructions.
fn changes() -> impl Iterator<Item = (u64, &'static str, String)> {
    let long: String = (1..40)
        .map(|it| format!("add.u32 %s{it}, %s{}, 0;\n", it - 1))
        .collect();
    let long = format!("mov.b32 %s0, %r5; {long}");
    CHANGES.iter().map(move |&(bytes, load, operand, change)| {
        let change = change.replace("LONG", &long);
        (bytes, load, format!("{operand} {change}"))
    })
}

#[test]
fn neighbours_belong_to_others() {
    for (bytes, load, change) in changes() {
        for place in (0..4).step_by(bytes as usize) {
            let others: String = (0..8)
                .filter(|it| !(place..place + bytes).contains(it))
                .map(|it| format!("st.global.u8 [%rd1+{it}], %r1;\n"))
                .collect();
            // The second warp's lanes store different bytes: one of them does.
            let others = format!("setp.eq.u32 %p3, %r1, 40; @!%p3 bra END; {others} END:");
            for value in [0, 1, 0x0f, 0xff] {
                let found = found((load, &change), (place, value), &others, WRITTEN);
                assert_eq!(found, None, "{change}, {value}");
            }
        }
    }
}

#[test]
fn the_part_itself_races() {
    for (bytes, load, change) in changes() {
        for place in (0..4).step_by(bytes as usize) {
            let last = place + bytes - 1;
            for others in [
                format!("st.global.u8 [%rd1+{last}], %r1;"),
                "setp.eq.u32 %p3, %r1, 40; @%p3 st.global.u32 [%rd1], %r1;".into(),
                format!("ld.global.u8 %h1, [%rd1+{last}];"),
            ] {
                let found = found((load, &change), (place, 1), &others, WRITTEN);
                let found = found.unwrap_or_else(|| panic!("nothing: {change}, {others}"));
                assert!(found.contains("race on"), "{change}, {others}: {found}");
            }
        }
    }
}

#[test]
fn the_part_itself_must_have_been_written() {
    for (bytes, load, change) in changes().filter(|it| !it.2.contains("cas")) {
        let of_lane = |first: u64, end: u64| {
            let stores: String = (first..end)
                .map(|it| format!("st.global.u8 [%rd1+{it}], 1;\n"))
                .collect();
            format!("setp.eq.u32 %p3, %r1, 0; @!%p3 bra NEXT; {stores} NEXT: bar.sync 0;")
        };
        let begin = |first, end| format!("{} {change}", of_lane(first, end));
        let wait = "bar.sync 0;";
        let known = begin(bytes, 2 * bytes);
        let at = (bytes, 3);
        assert_eq!(found((load, &known), at, wait, UNWRITTEN), None, "{change}");
        let unknown = begin(0, bytes);
        let said = found((load, &unknown), at, wait, UNWRITTEN);
        assert!(
            said.is_some_and(|it| it.contains("uninitialised")),
            "{change}"
        );
    }
}

/// PTX has it as an atomic of the word, whatever it is about. So has a byte that is swapped in its word.
#[test]
fn atomics_of_the_whole_word_are_atomic_for_that_of_its_part() {
    for (bytes, load, change) in changes() {
        for place in (0..4).step_by(bytes as usize) {
            for others in [
                "atom.relaxed.sys.global.or.b32 %r11, [%rd1], 0x01010101;",
                "red.relaxed.sys.global.add.u32 [%rd1], 1;",
                "st.relaxed.sys.global.u32 [%rd1], %r1;",
                "ld.relaxed.sys.global.u32 %r11, [%rd1];",
            ] {
                let found = found((load, &change), (place, 1), others, WRITTEN);
                assert_eq!(found, None, "{change}, {others}");
            }
            let half = place / 2 * 2;
            let others = format!(
                "st.relaxed.sys.global.u{} [%rd1+{half}], %h1;",
                8 * (3 - bytes)
            );
            let found = found((load, &change), (place, 1), &others, WRITTEN);
            let found = found.unwrap_or_else(|| panic!("nothing: {change}, {others}"));
            assert!(
                found.contains("atomics of different sizes"),
                "{others}: {found}"
            );
        }
    }
}

/// One instruction is about a byte of one word and all of another.
#[test]
fn what_one_instruction_is_about_may_differ() {
    let change = format!(
        "GO: @%p1 mov.b32 %r5, 0x10001; {SHIFTED} atom.relaxed.sys.global.or.b32 %r11, [%rd4], %r6;"
    );
    assert_eq!(found(("u32", &change), (0, 1), "bra GO;", WRITTEN), None);
}

/// An operand with ones outside of a part changes the whole word.
#[test]
fn a_wider_value_changes_the_word() {
    let change = format!("{SHIFTED} atom.global.or.b32 %r11, [%rd4], %r6;");
    let others = "setp.eq.u32 %p3, %r1, 40; @%p3 st.global.u8 [%rd1+2], %r1;";
    for (place, value) in [(0, 0x10001), (1, 0x100)] {
        let said = found(("u32", &change), (place, value), others, WRITTEN);
        assert!(said.is_some_and(|it| it.contains("race on")), "{value}");
    }
}

#[test]
fn the_word_may_end_behind_the_buffer() {
    let short = (Contents::Defined, 6);
    for (bytes, load, change) in changes().filter(|it| !it.2.contains("cas")) {
        let inside = found((load, &change), (4, 3), "", short);
        assert_eq!(inside, None, "{change}");
        let outside = found((load, &change), (8 - bytes, 3), "", short);
        assert!(
            outside.is_some_and(|it| it.contains("out of bounds")),
            "{change}"
        );
    }
}
