//! Copies by tensor maps that no driver has made.

use super::{failure, load};
use crate::tensor_map::{BYTES, Described, RANK};

/// A tensor map whose box has so many elements in each of its dimensions, of a tensor of 32-bit words.
struct Map {
    start: u64,
    size: u64,
    elements: u16,
    steps: u8,
    rank: u8,
}

impl Map {
    fn bytes(&self) -> [u8; BYTES] {
        let rank = usize::from(self.rank);
        Described {
            address: self.start,
            strides: &[1 << 62; RANK][..rank - 1],
            sizes: &[self.size; RANK][..rank],
            tile: &[self.elements.into(); RANK][..rank],
            steps: &[self.steps.into(); RANK][..rank],
            element: 2,
            swizzle: 0,
            outside: 0,
        }
        .encode()
    }

    /// A kernel that loads or stores a box at a coordinate in all dimensions.
    fn kernel(&self, copy: &str, coordinate: i32) -> String {
        let bytes: Vec<String> = self.bytes().iter().map(u8::to_string).collect();
        let all = vec!["%r3"; usize::from(self.rank)].join(", ");
        let copy = copy.replace("MAP", &format!("[%rd1, {{{all}}}]"));
        format!(
            ".global .align 64 .b8 map[128] = {{{}}};
            .visible .entry k(.param .u64 out) {{
            .reg .b64 %rd<4>; .reg .b32 %r<9>; .reg .pred %p<2>; .shared .align 128 .b8 s[4096];
            mov.u32 %r5, %tid.x; setp.ne.u32 %p1, %r5, 0; @%p1 bra D;
            mov.u64 %rd1, map; mov.u32 %r1, s; mbarrier.init.shared.b64 [%r1], 1;
            add.u32 %r2, %r1, 128; mov.u32 %r3, {coordinate};
            {};
            D: ret; }}",
            bytes.join(", "),
            copy.replace("DIM", &self.rank.to_string())
        )
    }
}

const LOAD: &str = "cp.async.bulk.tensor.DIMd.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], MAP, [%r1]";
const STORE: &str = "cp.async.bulk.tensor.DIMd.global.shared::cta.tile.bulk_group MAP, [%r2]";

#[test]
fn a_box_is_one_that_a_driver_makes() {
    for (elements, steps) in [(32_768, 1), (257, 1), (0, 1), (16, 0), (16, 9)] {
        let map = Map {
            start: 4096,
            size: 16,
            elements,
            steps,
            rank: 5,
        };
        for copy in [LOAD, STORE] {
            let said = failure(&map.kernel(copy, 1_000_000));
            let expected = format!(
                "a tensor map whose box has {elements} elements in dimension 0, with a stride of \
                 {steps}; 1 to 256 and 1 to 8 are allowed"
            );
            assert!(said.contains(&expected), "{said}");
        }
    }
}

#[test]
fn a_box_lies_in_shared_memory() {
    let map = Map {
        start: 4096,
        size: 16,
        elements: 256,
        steps: 1,
        rank: 5,
    };
    for copy in [LOAD, STORE] {
        let said = failure(&map.kernel(copy, 0));
        assert!(said.contains("out of bounds"), "{said}");
    }
}

#[test]
fn addresses_of_a_tensor_wrap_around_without_harm() {
    for (start, coordinate) in [
        (u64::MAX - 15, 0),
        (u64::MAX - 15, 1),
        (16, i32::MAX),
        (0, i32::MIN),
    ] {
        let map = Map {
            start,
            size: 1 << 32,
            elements: 8,
            steps: 1,
            rank: 2,
        };
        for copy in [LOAD, STORE] {
            // What lies outside of the tensor is not reached; everything else is in nobody's memory.
            if let Err(error) = load(&map.kernel(copy, coordinate))
                .expect("it can be loaded")
                .run(&[])
            {
                let said = error.to_string();
                let classes = ["null pointer", "bounds", "state space"];
                assert!(classes.iter().any(|it| said.contains(it)), "{said}");
            }
        }
    }
}
