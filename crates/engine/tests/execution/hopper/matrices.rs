//! `ldmatrix`, `stmatrix`, `movmatrix`.

use super::harness::Case;

/// Fills shared memory with 0, 1, 2 and so on in 16 bits each, as many as 4 matrices have.
const FILL: &str = "
mov.u32 %r3, s;
mad.lo.u32 %r4, %r1, 16, %r3;
mul.lo.u32 %r5, %r1, 8;
add.u32 %r6, %r5, 1; shl.b32 %r7, %r6, 16; or.b32 %r10, %r5, %r7;
add.u32 %r11, %r10, 0x00020002; add.u32 %r12, %r10, 0x00040004; add.u32 %r13, %r10, 0x00060006;
st.shared.v4.b32 [%r4], {%r10, %r11, %r12, %r13};
bar.sync 0;
";

fn element(words: &[u32], at: usize) -> u32 {
    words[at / 2] >> (16 * (at % 2)) & 0xffff
}

#[test]
fn ldmatrix_gives_each_lane_its_pairs() {
    for (transposed, suffix) in [(false, ""), (true, ".trans")] {
        let body = format!(
            "{FILL}
            ldmatrix.sync.aligned.m8n8.x4{suffix}.shared.b16 {{%r20, %r21, %r22, %r23}}, [%r4];
            mad.wide.u32 %rd4, %r1, 16, %rd2;
            st.global.v4.b32 [%rd4], {{%r20, %r21, %r22, %r23}};"
        );
        let y = Case::new(&body).run();
        for lane in 0..32 {
            for matrix in 0..4 {
                for of in 0..2 {
                    let (row, column) = (lane / 4, lane % 4 * 2 + of);
                    let (row, column) = if transposed {
                        (column, row)
                    } else {
                        (row, column)
                    };
                    let expected = (matrix * 64 + row * 8 + column) as u32;
                    let got = element(&y[lane * 4 + matrix..], of);
                    assert_eq!(got, expected, "lane {lane}, matrix {matrix}{suffix}");
                }
            }
        }
    }
}

#[test]
fn few_matrices_take_the_addresses_of_few_lanes() {
    // Of the others the addresses are wild.
    for (count, lanes, registers) in [("x1", 8, "{%r20}"), ("x2", 16, "{%r20, %r21}")] {
        let body = format!(
            "{FILL}
            mov.b32 %r21, 0;
            setp.ge.u32 %p1, %r1, {lanes}; selp.b32 %r4, 0x12345678, %r4, %p1;
            ldmatrix.sync.aligned.m8n8.{count}.shared.b16 {registers}, [%r4];
            mad.wide.u32 %rd4, %r1, 8, %rd2;
            st.global.v2.b32 [%rd4], {{%r20, %r21}};"
        );
        let y = Case::new(&body).run();
        for lane in 0..32 {
            assert_eq!(
                element(&y[2 * lane..], 1) as usize,
                lane / 4 * 8 + lane % 4 * 2 + 1
            );
        }
    }
}

/// A byte of shared memory, which [`FILL`] fills with words of 16 bits.
fn byte(at: usize) -> u32 {
    (at / 2) as u32 >> (8 * (at % 2)) & 0xff
}

#[test]
fn matrices_of_bytes_are_transposed() {
    for (count, registers) in [("x1", 2), ("x2", 4)] {
        let list = ["{%r20, %r21}", "{%r20, %r21, %r22, %r23}"][registers / 4];
        let body = format!(
            "{FILL}
            mov.b32 %r22, 0; mov.b32 %r23, 0;
            ldmatrix.sync.aligned.m16n16.{count}.trans.shared.b8 {list}, [%r4];
            mad.wide.u32 %rd4, %r1, 16, %rd2;
            st.global.v4.b32 [%rd4], {{%r20, %r21, %r22, %r23}};"
        );
        let y = Case::new(&body).on("sm_100a").run();
        for lane in 0..32 {
            for register in 0..registers {
                for of in 0..4 {
                    let row = register / 2 * 16 + lane % 4 * 4 + of;
                    let column = lane / 4 + register % 2 * 8;
                    let got = y[lane * 4 + register] >> (8 * of) & 0xff;
                    assert_eq!(
                        got,
                        byte(row * 16 + column),
                        "lane {lane}, register {register}"
                    );
                }
            }
        }
    }
    // Stored, a register has two rows of two columns.
    let body = format!(
        "{FILL}
        stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r4+1024], {{%r10, %r11}};
        bar.sync 0;
        setp.lt.u32 %p1, %r1, 16;
        @!%p1 bra end;
        ld.shared.v4.b32 {{%r20, %r21, %r22, %r23}}, [%r4+1024];
        mad.wide.u32 %rd4, %r1, 16, %rd2;
        st.global.v4.b32 [%rd4], {{%r20, %r21, %r22, %r23}};
        end:"
    );
    let y = Case::new(&body).on("sm_100a").run();
    for row in 0..16 {
        for column in 0..16 {
            let (matrix, row) = (row / 8, row % 8);
            let lane = column % 8 * 4 + row / 2;
            let of = row % 2 + column / 8 * 2;
            let got = y[(8 * matrix + row) * 4 + column / 4] >> (8 * (column % 4)) & 0xff;
            assert_eq!(
                got,
                byte(16 * lane + 4 * matrix + of),
                "row {row}, column {column}"
            );
        }
    }
}

#[test]
fn stmatrix_is_the_opposite_of_ldmatrix() {
    for suffix in ["", ".trans"] {
        let body = format!(
            "{FILL}
            ldmatrix.sync.aligned.m8n8.x4{suffix}.shared.b16 {{%r20, %r21, %r22, %r23}}, [%r4];
            bar.sync 0;
            stmatrix.sync.aligned.m8n8.x4{suffix}.shared.b16 [%r4+512], {{%r20, %r21, %r22, %r23}};
            bar.sync 0;
            ld.shared.v4.b32 {{%r20, %r21, %r22, %r23}}, [%r4+512];
            mad.wide.u32 %rd4, %r1, 16, %rd2;
            st.global.v4.b32 [%rd4], {{%r20, %r21, %r22, %r23}};"
        );
        let y = Case::new(&body).run();
        for at in 0..256 {
            assert_eq!(element(&y, at) as usize, at, "{suffix}");
        }
    }
}

#[test]
fn movmatrix_transposes() {
    let body = "
        shl.b32 %r5, %r1, 1; add.u32 %r6, %r5, 1; shl.b32 %r7, %r6, 16; or.b32 %r10, %r5, %r7;
        movmatrix.sync.aligned.m8n8.trans.b16 %r11, %r10;
        mad.wide.u32 %rd4, %r1, 4, %rd2;
        st.global.b32 [%rd4], %r11;";
    let y = Case::new(body).run();
    for at in 0..64 {
        assert_eq!(element(&y, at) as usize, at % 8 * 8 + at / 8);
    }
}

#[test]
fn rows_are_accesses_of_their_lanes() {
    // Written by another warp without a barrier.
    let race = "
        mov.u32 %r3, s; and.b32 %r5, %r1, 31; mad.lo.u32 %r4, %r5, 16, %r3;
        mov.b32 %r20, 0;
        setp.ge.u32 %p1, %r1, 32; @%p1 bra second;
        st.shared.v4.b32 [%r4], {%r20, %r20, %r20, %r20};
        bra done;
        second:
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%r4];
        done:";
    let text = Case::new(race).grid(1, 64).finding();
    assert!(
        text.contains("race") && text.contains("thread [32, 0, 0] reads"),
        "{text}"
    );
    let off = "mov.u32 %r3, s; add.u32 %r3, %r3, 8;
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%r3];";
    let text = Case::new(off).finding();
    assert!(text.contains("misaligned"), "{text}");
}
