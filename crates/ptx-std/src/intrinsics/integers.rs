//! Arithmetic of integers.

use crate::intrinsics::intrinsics;

intrinsics! {
    /// The magnitude; of the least number that number.
    ///
    /// ```
    /// use cuda_std::intrinsics::abs;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { abs(-7) }, 7);
    /// ```
    abs(x: i32) -> i32 = x.wrapping_abs();
    /// The magnitude; of the least number that number.
    ///
    /// ```
    /// use cuda_std::intrinsics::llabs;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { llabs(-7) }, 7);
    /// ```
    llabs(x: i64) -> i64 = x.wrapping_abs();

    /// The greater number.
    ///
    /// ```
    /// use cuda_std::intrinsics::max;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { max(-1, 2) }, 2);
    /// ```
    max(x: i32, y: i32) -> i32 = x.max(y);
    /// The lesser number.
    ///
    /// ```
    /// use cuda_std::intrinsics::min;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { min(-1, 2) }, -1);
    /// ```
    min(x: i32, y: i32) -> i32 = x.min(y);
    /// The greater number.
    ///
    /// ```
    /// use cuda_std::intrinsics::llmax;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { llmax(-1, 2) }, 2);
    /// ```
    llmax(x: i64, y: i64) -> i64 = x.max(y);
    /// The lesser number.
    ///
    /// ```
    /// use cuda_std::intrinsics::llmin;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { llmin(-1, 2) }, -1);
    /// ```
    llmin(x: i64, y: i64) -> i64 = x.min(y);
    /// The greater number, of unsigned ones.
    ///
    /// ```
    /// use cuda_std::intrinsics::umax;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { umax(-1, 2) }, -1);
    /// ```
    umax(x: i32, y: i32) -> i32 = x.cast_unsigned().max(y.cast_unsigned()).cast_signed();
    /// The lesser number, of unsigned ones.
    ///
    /// ```
    /// use cuda_std::intrinsics::umin;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { umin(-1, 2) }, 2);
    /// ```
    umin(x: i32, y: i32) -> i32 = x.cast_unsigned().min(y.cast_unsigned()).cast_signed();
    /// The greater number, of unsigned ones.
    ///
    /// ```
    /// use cuda_std::intrinsics::ullmax;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { ullmax(-1, 2) }, -1);
    /// ```
    ullmax(x: i64, y: i64) -> i64 = x.cast_unsigned().max(y.cast_unsigned()).cast_signed();
    /// The lesser number, of unsigned ones.
    ///
    /// ```
    /// use cuda_std::intrinsics::ullmin;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { ullmin(-1, 2) }, 2);
    /// ```
    ullmin(x: i64, y: i64) -> i64 = x.cast_unsigned().min(y.cast_unsigned()).cast_signed();

    /// The upper 32 bits of the product.
    ///
    /// ```
    /// use cuda_std::intrinsics::mulhi;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { mulhi(-1, 2) }, -1);
    /// ```
    mulhi(x: i32, y: i32) -> i32 = ((i64::from(x) * i64::from(y)) >> 32) as i32;
    /// The upper 32 bits of the product of unsigned numbers.
    ///
    /// ```
    /// use cuda_std::intrinsics::umulhi;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { umulhi(-1, 2) }, 1);
    /// ```
    umulhi(x: i32, y: i32) -> i32 =
        ((u64::from(x.cast_unsigned()) * u64::from(y.cast_unsigned())) >> 32) as i32;
    /// The upper 64 bits of the product.
    ///
    /// ```
    /// use cuda_std::intrinsics::mul64hi;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { mul64hi(-1, 2) }, -1);
    /// ```
    mul64hi(x: i64, y: i64) -> i64 = ((i128::from(x) * i128::from(y)) >> 64) as i64;
    /// The upper 64 bits of the product of unsigned numbers.
    ///
    /// ```
    /// use cuda_std::intrinsics::umul64hi;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { umul64hi(-1, 2) }, 1);
    /// ```
    umul64hi(x: i64, y: i64) -> i64 =
        ((u128::from(x.cast_unsigned()) * u128::from(y.cast_unsigned())) >> 64) as i64;
    /// The lower 32 bits of the product of the lower 24 bits, which have a sign.
    ///
    /// ```
    /// use cuda_std::intrinsics::mul24;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { mul24(0xFF_FFFF, 2) }, -2);
    /// ```
    mul24(x: i32, y: i32) -> i32 = (x << 8 >> 8).wrapping_mul(y << 8 >> 8);
    /// The lower 32 bits of the product of the lower 24 bits.
    ///
    /// ```
    /// use cuda_std::intrinsics::umul24;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { umul24(0xFF_FFFF, 2) }, 0x1FF_FFFE);
    /// ```
    umul24(x: i32, y: i32) -> i32 = (x & 0xff_ffff).wrapping_mul(y & 0xff_ffff);

    /// `|x - y| + z`, of which `z` is unsigned.
    ///
    /// ```
    /// use cuda_std::intrinsics::sad;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { sad(-1, 2, 10) }, 13);
    /// ```
    sad(x: i32, y: i32, z: i32) -> i32 = x.abs_diff(y).cast_signed().wrapping_add(z);
    /// `|x - y| + z` of unsigned numbers.
    ///
    /// ```
    /// use cuda_std::intrinsics::usad;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { usad(5, 2, 10) }, 13);
    /// ```
    usad(x: i32, y: i32, z: i32) -> i32 =
        x.cast_unsigned().abs_diff(y.cast_unsigned()).cast_signed().wrapping_add(z);
    /// The mean, rounded down.
    ///
    /// ```
    /// use cuda_std::intrinsics::hadd;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { hadd(2, 5) }, 3);
    /// ```
    hadd(x: i32, y: i32) -> i32 = ((i64::from(x) + i64::from(y)) >> 1) as i32;
    /// The mean, rounded up.
    ///
    /// ```
    /// use cuda_std::intrinsics::rhadd;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { rhadd(2, 5) }, 4);
    /// ```
    rhadd(x: i32, y: i32) -> i32 = ((i64::from(x) + i64::from(y) + 1) >> 1) as i32;
    /// The mean of unsigned numbers, rounded down.
    ///
    /// ```
    /// use cuda_std::intrinsics::uhadd;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { uhadd(-1, -3) }, -2);
    /// ```
    uhadd(x: i32, y: i32) -> i32 =
        ((u64::from(x.cast_unsigned()) + u64::from(y.cast_unsigned())) >> 1) as i32;
    /// The mean of unsigned numbers, rounded up.
    ///
    /// ```
    /// use cuda_std::intrinsics::urhadd;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { urhadd(-1, -2) }, -1);
    /// ```
    urhadd(x: i32, y: i32) -> i32 =
        ((u64::from(x.cast_unsigned()) + u64::from(y.cast_unsigned()) + 1) >> 1) as i32;
}
