//! Bits and bytes of integers.

use crate::arch::intrinsics as arch;
use crate::intrinsics::intrinsics;

intrinsics! {
    /// The number of zeros above the highest 1.
    clz(x: i32) -> i32 = x.leading_zeros().cast_signed();
    /// The number of zeros above the highest 1.
    clzll(x: i64) -> i32 = x.leading_zeros().cast_signed();
    /// The place of the lowest 1, counted from 1; 0 where there is none.
    ffs(x: i32) -> i32 = if x == 0 { 0 } else { x.trailing_zeros().cast_signed() + 1 };
    /// The place of the lowest 1, counted from 1; 0 where there is none.
    ffsll(x: i64) -> i32 = if x == 0 { 0 } else { x.trailing_zeros().cast_signed() + 1 };
    /// The number of ones.
    popc(x: i32) -> i32 = x.count_ones().cast_signed();
    /// The number of ones.
    popcll(x: i64) -> i32 = x.count_ones().cast_signed();
    /// The bits in reverse.
    brev(x: i32) -> i32 = x.reverse_bits();
    /// The bits in reverse.
    brevll(x: i64) -> i64 = x.reverse_bits();
    /// Four bytes of eight, of which `x` has number 0 to 3 and `y` number 4 to 7: the lowest digit of
    /// 4 bits of `z` is the number of the lowest byte. For a digit of 8 or more it is that byte's sign
    /// eight times (PTX ISA, `prmt`).
    byte_perm(x: i32, y: i32, z: i32) -> i32 = arch::byte_perm(x, y, z);
}
