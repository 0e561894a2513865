//! Bits and bytes of integers.

use crate::arch::intrinsics as arch;
use crate::intrinsics::intrinsics;

intrinsics! {
    /// The number of zeros above the highest 1.
    ///
    /// ```
    /// use cuda_std::intrinsics::clz;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { clz(1) }, 31);
    /// ```
    clz(x: i32) -> i32 = x.leading_zeros().cast_signed();
    /// The number of zeros above the highest 1.
    ///
    /// ```
    /// use cuda_std::intrinsics::clzll;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { clzll(1) }, 63);
    /// ```
    clzll(x: i64) -> i32 = x.leading_zeros().cast_signed();
    /// The place of the lowest 1, counted from 1; 0 where there is none.
    ///
    /// ```
    /// use cuda_std::intrinsics::ffs;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { ffs(0b1000) }, 4);
    /// ```
    ffs(x: i32) -> i32 = if x == 0 { 0 } else { x.trailing_zeros().cast_signed() + 1 };
    /// The place of the lowest 1, counted from 1; 0 where there is none.
    ///
    /// ```
    /// use cuda_std::intrinsics::ffsll;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { ffsll(0) }, 0);
    /// ```
    ffsll(x: i64) -> i32 = if x == 0 { 0 } else { x.trailing_zeros().cast_signed() + 1 };
    /// The number of ones.
    ///
    /// ```
    /// use cuda_std::intrinsics::popc;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { popc(0b1011) }, 3);
    /// ```
    popc(x: i32) -> i32 = x.count_ones().cast_signed();
    /// The number of ones.
    ///
    /// ```
    /// use cuda_std::intrinsics::popcll;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { popcll(-1) }, 64);
    /// ```
    popcll(x: i64) -> i32 = x.count_ones().cast_signed();
    /// The bits in reverse.
    ///
    /// ```
    /// use cuda_std::intrinsics::brev;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { brev(1) }, i32::MIN);
    /// ```
    brev(x: i32) -> i32 = x.reverse_bits();
    /// The bits in reverse.
    ///
    /// ```
    /// use cuda_std::intrinsics::brevll;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { brevll(1) }, i64::MIN);
    /// ```
    brevll(x: i64) -> i64 = x.reverse_bits();
    /// Four bytes of eight, of which `x` has number 0 to 3 and `y` number 4 to 7: the lowest digit of
    /// 4 bits of `z` is the number of the lowest byte. For a digit of 8 or more it is that byte's sign
    /// eight times (PTX ISA, `prmt`).
    ///
    /// ```
    /// use cuda_std::intrinsics::byte_perm;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { byte_perm(0x33_22_11_00, 0x77_66_55_44, 0x7531) }, 0x77_55_33_11);
    /// ```
    byte_perm(x: i32, y: i32, z: i32) -> i32 = arch::byte_perm(x, y, z);
}
