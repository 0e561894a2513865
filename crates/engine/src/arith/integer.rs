//! Integer arithmetic: `add`, `sub`, `mul`, `mad`, `div`, `rem`, `sad`, `min`, `max`, `dp4a` and their kin.
//!
//! The type argument is the instruction's type: `min::<i32>` is `min.s32`.

/// An integer type of PTX.
pub trait Integer: Copy + Ord + From<bool> {
    /// The type of twice the width, the result of `mul.wide`. Of 64 bits it is 128, which `mul.hi` uses.
    type Wide: Copy;
    /// The unsigned type of the width.
    type Unsigned: Word;

    /// Width in bits.
    const BITS: u32;
    /// The least value.
    const MIN: Self;
    /// The greatest value.
    const MAX: Self;

    /// The sum's lower bits.
    fn wrapping_add(self, other: Self) -> Self;
    /// The difference's lower bits.
    fn wrapping_sub(self, other: Self) -> Self;
    /// The product's lower bits.
    fn wrapping_mul(self, other: Self) -> Self;
    /// The quotient's lower bits. The divisor is not 0.
    fn wrapping_div(self, other: Self) -> Self;
    /// The remainder. The divisor is not 0.
    fn wrapping_rem(self, other: Self) -> Self;
    /// The sum, held within the type.
    fn saturating_add(self, other: Self) -> Self;
    /// The difference, held within the type.
    fn saturating_sub(self, other: Self) -> Self;
    /// Shifts right by less than the width, with copies of the sign if there is one.
    fn shift_right(self, amount: u32) -> Self;
    /// The whole product.
    fn wide_mul(self, other: Self) -> Self::Wide;
    /// The whole product plus a wide number, of which the lower bits stay.
    fn wide_mad(self, other: Self, addend: Self::Wide) -> Self::Wide;
    /// The upper half.
    fn upper(wide: Self::Wide) -> Self;
    /// The same bits without a sign.
    fn to_unsigned(self) -> Self::Unsigned;
    /// The same bits with the sign that the type has.
    fn from_unsigned(bits: Self::Unsigned) -> Self;
    /// The number.
    fn to_i128(self) -> i128;
    /// The number's lower bits.
    fn from_i128(number: i128) -> Self;
}

/// An unsigned integer type, as of the types that PTX calls `.b8` to `.b64`.
pub trait Word:
    Integer<Unsigned = Self>
    + std::ops::BitAnd<Output = Self>
    + std::ops::BitOr<Output = Self>
    + std::ops::BitXor<Output = Self>
    + std::ops::Not<Output = Self>
    + std::ops::Shl<u32, Output = Self>
    + std::ops::Shr<u32, Output = Self>
{
    /// The signed type of the width.
    type Signed: Integer<Unsigned = Self>;

    /// How many bits are set.
    fn count_ones(self) -> u32;
    /// How many bits are 0 above the highest that is set.
    fn leading_zeros(self) -> u32;
    /// The bits in the opposite order.
    fn reverse_bits(self) -> Self;
}

macro_rules! integers {
    ($($signed:ident $unsigned:ident $wide_signed:ident $wide_unsigned:ident;)*) => {$(
        integers!(@integer $signed $unsigned $wide_signed);
        integers!(@integer $unsigned $unsigned $wide_unsigned);

        impl Word for $unsigned {
            type Signed = $signed;

            #[inline(always)]
            fn count_ones(self) -> u32 {
                $unsigned::count_ones(self)
            }

            #[inline(always)]
            fn leading_zeros(self) -> u32 {
                $unsigned::leading_zeros(self)
            }

            #[inline(always)]
            fn reverse_bits(self) -> Self {
                $unsigned::reverse_bits(self)
            }
        }
    )*};
    (@integer $ty:ident $unsigned:ident $wide:ident) => {
        impl Integer for $ty {
            type Wide = $wide;
            type Unsigned = $unsigned;

            const BITS: u32 = $ty::BITS;
            const MIN: Self = $ty::MIN;
            const MAX: Self = $ty::MAX;

            integers!(@same $ty wrapping_add wrapping_sub wrapping_mul wrapping_div wrapping_rem
                saturating_add saturating_sub);

            #[inline(always)]
            fn shift_right(self, amount: u32) -> Self {
                self >> (amount & (Self::BITS - 1))
            }

            #[inline(always)]
            fn wide_mul(self, other: Self) -> $wide {
                $wide::from(self).wrapping_mul($wide::from(other))
            }

            #[inline(always)]
            fn wide_mad(self, other: Self, addend: $wide) -> $wide {
                self.wide_mul(other).wrapping_add(addend)
            }

            #[inline(always)]
            fn upper(wide: $wide) -> Self {
                (wide >> Self::BITS) as Self
            }

            #[inline(always)]
            fn to_unsigned(self) -> $unsigned {
                self as $unsigned
            }

            #[inline(always)]
            fn from_unsigned(bits: $unsigned) -> Self {
                bits as Self
            }

            #[inline(always)]
            fn to_i128(self) -> i128 {
                self.into()
            }

            #[inline(always)]
            fn from_i128(number: i128) -> Self {
                number as Self
            }
        }
    };
    (@same $ty:ident $($method:ident)*) => {$(
        #[inline(always)]
        fn $method(self, other: Self) -> Self {
            $ty::$method(self, other)
        }
    )*};
}

integers! {
    i8 u8 i16 u16;
    i16 u16 i32 u32;
    i32 u32 i64 u64;
    i64 u64 i128 u128;
}

/// `add`.
#[inline(always)]
pub fn add<T: Integer>(a: T, b: T) -> T {
    a.wrapping_add(b)
}

/// `sub`.
#[inline(always)]
pub fn sub<T: Integer>(a: T, b: T) -> T {
    a.wrapping_sub(b)
}

/// `add.sat`, which PTX has for `.s32`.
#[inline(always)]
pub fn add_sat<T: Integer>(a: T, b: T) -> T {
    a.saturating_add(b)
}

/// `sub.sat`, which PTX has for `.s32`.
#[inline(always)]
pub fn sub_sat<T: Integer>(a: T, b: T) -> T {
    a.saturating_sub(b)
}

/// `mul.lo`.
#[inline(always)]
pub fn mul_lo<T: Integer>(a: T, b: T) -> T {
    a.wrapping_mul(b)
}

/// `mul.hi`.
#[inline(always)]
pub fn mul_hi<T: Integer>(a: T, b: T) -> T {
    T::upper(a.wide_mul(b))
}

/// `mul.wide`.
#[inline(always)]
pub fn mul_wide<T: Integer>(a: T, b: T) -> T::Wide {
    a.wide_mul(b)
}

/// `mad.lo`.
#[inline(always)]
pub fn mad_lo<T: Integer>(a: T, b: T, c: T) -> T {
    a.wrapping_mul(b).wrapping_add(c)
}

/// `mad.hi`.
#[inline(always)]
pub fn mad_hi<T: Integer>(a: T, b: T, c: T) -> T {
    mul_hi(a, b).wrapping_add(c)
}

/// `mad.hi.sat`, which PTX has for `.s32`.
#[inline(always)]
pub fn mad_hi_sat<T: Integer>(a: T, b: T, c: T) -> T {
    mul_hi(a, b).saturating_add(c)
}

/// `mad.wide`.
#[inline(always)]
pub fn mad_wide<T: Integer>(a: T, b: T, c: T::Wide) -> T::Wide {
    a.wide_mad(b, c)
}

/// The product of two numbers of 24 bits, the lower ones of the operands. In range of `i64` either way.
#[inline(always)]
fn product_of_24_bits<T: Integer>(a: T, b: T) -> i64 {
    let lower = |x: T| {
        let bits = (x.to_i128() as i64) << 40;
        let is_signed = T::MIN < T::from(false);
        if is_signed {
            bits >> 40
        } else {
            (bits.cast_unsigned() >> 40).cast_signed()
        }
    };
    lower(a).wrapping_mul(lower(b))
}

/// `mul24.lo`, of `u32` or `i32`: bits 0 to 31 of the 48.
#[inline(always)]
pub fn mul24_lo<T: Integer>(a: T, b: T) -> T {
    T::from_i128(product_of_24_bits(a, b).into())
}

/// `mul24.hi`, of `u32` or `i32`: bits 16 to 47 of the 48.
#[inline(always)]
pub fn mul24_hi<T: Integer>(a: T, b: T) -> T {
    T::from_i128((product_of_24_bits(a, b) >> 16).into())
}

/// `mad24.lo`.
#[inline(always)]
pub fn mad24_lo<T: Integer>(a: T, b: T, c: T) -> T {
    mul24_lo(a, b).wrapping_add(c)
}

/// `mad24.hi`.
#[inline(always)]
pub fn mad24_hi<T: Integer>(a: T, b: T, c: T) -> T {
    mul24_hi(a, b).wrapping_add(c)
}

/// `mad24.hi.sat`, which PTX has for `.s32`.
#[inline(always)]
pub fn mad24_hi_sat<T: Integer>(a: T, b: T, c: T) -> T {
    mul24_hi(a, b).saturating_add(c)
}

/// `div`. PTX leaves division by 0 open; the code that `ptxas` makes gives all ones.
#[inline(always)]
pub fn div<T: Integer>(a: T, b: T) -> T {
    if b == T::from(false) {
        T::from_unsigned(!T::Unsigned::MIN)
    } else {
        a.wrapping_div(b)
    }
}

/// `rem`, of the dividend's sign. PTX leaves division by 0 open; see [`div`].
#[inline(always)]
pub fn rem<T: Integer>(a: T, b: T) -> T {
    if b == T::from(false) {
        T::from_unsigned(!T::Unsigned::MIN)
    } else {
        a.wrapping_rem(b)
    }
}

/// `abs`; the least value stays what it is.
#[inline(always)]
pub fn abs<T: Integer>(a: T) -> T {
    max(a, neg(a))
}

/// `neg`.
#[inline(always)]
pub fn neg<T: Integer>(a: T) -> T {
    T::from(false).wrapping_sub(a)
}

/// `min`.
#[inline(always)]
pub fn min<T: Integer>(a: T, b: T) -> T {
    if b < a { b } else { a }
}

/// `max`.
#[inline(always)]
pub fn max<T: Integer>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// `.relu`, of the result of a `min` or `max` of signed numbers: 0 in the place of a negative one.
#[inline(always)]
pub fn relu<T: Integer>(a: T) -> T {
    max(a, T::from(false))
}

/// `sad`: `c + |a - b|`.
#[inline(always)]
pub fn sad<T: Integer>(a: T, b: T, c: T) -> T {
    max(a, b).wrapping_sub(min(a, b)).wrapping_add(c)
}

/// `add.cc` without a carry, `addc.cc` with one: the sum and the carry.
#[inline(always)]
pub fn add_with_carry<T: Word>(a: T, b: T, carry: bool) -> (T, bool) {
    let partial = a.wrapping_add(b);
    let sum = partial.wrapping_add(T::from(carry));
    (sum, partial < a || sum < partial)
}

/// `sub.cc` with a carry, `subc.cc` with that of the last instruction: the difference and the carry, which is set
/// where nothing was borrowed, because hardware adds the complement.
#[inline(always)]
pub fn sub_with_carry<T: Word>(a: T, b: T, carry: bool) -> (T, bool) {
    add_with_carry(a, !b, carry)
}

/// `mad.lo.cc`, `madc.lo.cc`.
#[inline(always)]
pub fn mad_lo_with_carry<T: Integer>(a: T, b: T, c: T, carry: bool) -> (T, bool) {
    with_carry(mul_lo(a, b), c, carry)
}

/// `mad.hi.cc`, `madc.hi.cc`.
#[inline(always)]
pub fn mad_hi_with_carry<T: Integer>(a: T, b: T, c: T, carry: bool) -> (T, bool) {
    with_carry(mul_hi(a, b), c, carry)
}

#[inline(always)]
fn with_carry<T: Integer>(a: T, b: T, carry: bool) -> (T, bool) {
    let (sum, carry) = add_with_carry(a.to_unsigned(), b.to_unsigned(), carry);
    (T::from_unsigned(sum), carry)
}

/// An instruction of `.u16x2` or `.s16x2`: the function for `u16` or `i16`, on both halves.
#[inline(always)]
pub fn packed<T: Integer<Unsigned = u16>>(a: u32, b: u32, function: impl Fn(T, T) -> T) -> u32 {
    let half = |shift: u32| {
        let [a, b] = [a, b].map(|x| T::from_unsigned((x >> shift) as u16));
        u32::from(function(a, b).to_unsigned()) << shift
    };
    half(0) | half(16)
}

/// Bytes or half-words of a dot product: `u8` and `u16` for `.u32` operands, `i8` and `i16` for `.s32`.
pub trait Part: Copy {
    /// The part of that number, the lowest being 0, extended.
    fn of(word: u32, index: u32) -> i32;
}

macro_rules! parts {
    ($($ty:ident)*) => {$(
        impl Part for $ty {
            #[inline(always)]
            fn of(word: u32, index: u32) -> i32 {
                i32::from((word >> (index * $ty::BITS)) as $ty)
            }
        }
    )*};
}

parts!(u8 i8 u16 i16);

#[inline(always)]
fn dot<A: Part, B: Part>(a: u32, b: u32, c: u32, parts: u32) -> u32 {
    let products = (0..parts).map(|i| A::of(a, i).wrapping_mul(B::of(b, i)).cast_unsigned());
    products.fold(c, u32::wrapping_add)
}

/// `dp4a`, with `u8` or `i8` for the types of `a` and `b`.
#[inline(always)]
pub fn dp4a<A: Part, B: Part>(a: u32, b: u32, c: u32) -> u32 {
    dot::<A, B>(a, b, c, 4)
}

/// `dp2a.lo`, with `u16` or `i16` for the type of `a` and `u8` or `i8` for that of `b`.
#[inline(always)]
pub fn dp2a_lo<A: Part, B: Part>(a: u32, b: u32, c: u32) -> u32 {
    dot::<A, B>(a, b, c, 2)
}

/// `dp2a.hi`: [`dp2a_lo`] with the upper two bytes of `b`.
#[inline(always)]
pub fn dp2a_hi<A: Part, B: Part>(a: u32, b: u32, c: u32) -> u32 {
    dot::<A, B>(a, b >> 16, c, 2)
}
