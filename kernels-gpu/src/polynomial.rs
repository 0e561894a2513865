//! y = x + x^2 + ... + x^k for each element, in two forms of the same 2k operations.
//!
//! * **Power sum**: `result += power; power *= x`, the roofline exercise's loop. Its add and its
//!   multiply depend on different values and cannot fuse, so it can reach half of the FMA peak.
//! * **Horner**: `result = result * x + x`, k fused multiply-adds.
//!
//! Each form comes for f32, f64 and pairs of f16, for vectors of 1, 2 and 4 elements, and for 1, 2 and
//! 4 vectors that a thread works on at once; Horner's also for 32-bit integers, modulo 2^32, without vectors. A number costs one read and one write, so the arithmetic
//! intensity is 2k / 8 FLOP/byte in f32, 2k / 16 in f64 and 2k / 4 in f16.

use core::ops::{Add, Mul};

#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::launch::Entry;
use cuda_std::packed::F16x2;
use cuda_std::prelude::*;
use pastey::paste;

/// The element types.
pub trait Real: Copy + Default + Add<Output = Self> + Mul<Output = Self> + 'static {
    /// `self * a + b`, rounded once.
    fn fused(self, a: Self, b: Self) -> Self;

    /// `self * a`, or 0 for -0, which no sum that begins with 0 shows.
    #[inline(always)]
    fn times(self, a: Self) -> Self {
        self * a
    }

    /// The same value, of which a compiler does not know that it is: nothing that is computed from it moves in front of this place.
    fn kept_here(self) -> Self;
}

/// The value, as a result of assembly that has no instruction, but a comment that names it.
macro_rules! kept {
    ($class:ident, $value:expr) => {{
        #[cfg_attr(not(target_arch = "nvptx64"), expect(unused_mut, reason = "the host computes what it likes"))]
        let mut value = $value;
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: it is a comment.
        unsafe {
            core::arch::asm!("// {0}", inout($class) value, options(nomem, nostack, preserves_flags));
        }
        value
    }};
}

impl Real for f32 {
    #[inline(always)]
    fn fused(self, a: f32, b: f32) -> f32 {
        self.mul_add(a, b)
    }

    #[inline(always)]
    fn kept_here(self) -> f32 {
        kept!(reg32, self)
    }
}

impl Real for f64 {
    #[inline(always)]
    fn fused(self, a: f64, b: f64) -> f64 {
        self.mul_add(a, b)
    }

    #[inline(always)]
    fn kept_here(self) -> f64 {
        kept!(reg64, self)
    }
}

impl Real for i32 {
    /// Modulo 2^32. LLVM would make of `r x + x` the sum and the product of `(r + 1) x`.
    #[inline(always)]
    fn fused(self, a: i32, b: i32) -> i32 {
        #[cfg(target_arch = "nvptx64")]
        {
            let result: i32;
            // SAFETY: the instruction does nothing but compute its result of these registers.
            unsafe {
                core::arch::asm!(
                    "mad.lo.s32 {0}, {1}, {2}, {3};",
                    out(reg32) result, in(reg32) self, in(reg32) a, in(reg32) b,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            result
        }
        #[cfg(not(target_arch = "nvptx64"))]
        self.wrapping_mul(a).wrapping_add(b)
    }

    #[inline(always)]
    fn kept_here(self) -> i32 {
        kept!(reg32, self)
    }
}

impl Real for F16x2 {
    #[inline(always)]
    fn fused(self, a: F16x2, b: F16x2) -> F16x2 {
        self.mul_add(a, b)
    }

    /// `self * a + 0`. Multiply-adds `ptxas` deals out evenly to the two pipes that do them; of
    /// multiplications and additions it gives two thirds to one, which costs a quarter of the rate.
    #[inline(always)]
    fn times(self, a: F16x2) -> F16x2 {
        self.mul_add(a, F16x2::default())
    }

    #[inline(always)]
    fn kept_here(self) -> F16x2 {
        F16x2::from_bits(kept!(reg32, self.to_bits()))
    }
}

macro_rules! kernels {
    ($($family:ident = $form:ident<$real:ty>;)*) => {$(
        kernels! {
            $family = $form<$real>:
            _v1<1, 1> _v2<2, 1> _v4<4, 1>
            _v1_ilp2<1, 2> _v2_ilp2<2, 2> _v4_ilp2<4, 2>
            _v1_ilp4<1, 4> _v2_ilp4<2, 4> _v4_ilp4<4, 4>
        }
    )*};
    ($family:ident = $form:ident<$real:ty>: $($size:ident<$width:literal, $ilp:literal>)*) => {
        paste! {$(
            #[doc = concat!("`", stringify!($form), "` of ", stringify!($real), ", ",
                stringify!($ilp), " vectors of ", stringify!($width), " a thread.")]
            ///
            /// # Safety
            /// `y` has room for `x.len()` elements and does not overlap `x`. Both are aligned to
            /// the vector's bytes, 16 at most, as every device allocation is. The grid is
            /// one-dimensional, and `k` is at least 1.
            #[kernel]
            pub unsafe fn [<$family $size>](x: &[$real], y: *mut $real, k: u32) {
                // SAFETY: the same contract.
                unsafe { map::<$form, $real, $width, $ilp>(x, y, k) }
            }
        )*

        /// The kernel for `ilp` vectors of `width` elements per thread.
        #[cfg(not(target_arch = "nvptx64"))]
        fn $family(width: u32, ilp: u32) -> Option<Entry<Polynomial<$real>>> {
            Some(match (width, ilp) {
                $(($width, $ilp) => [<$family $size>]::entry().with_signature(),)*
                _ => return None,
            })
        }}
    };
}

kernels! {
    power_sum_f32 = PowerSum<f32>;
    power_sum_f64 = PowerSum<f64>;
    power_sum_f16x2 = PowerSum<F16x2>;
    horner_f32 = Horner<f32>;
    horner_f64 = Horner<f64>;
    horner_f16x2 = Horner<F16x2>;
}

kernels! {
    horner_i32 = Horner<i32>: _v1<1, 1> _v1_ilp2<1, 2> _v1_ilp4<1, 4>
}

/// How the polynomial is computed. A closure or a function that is passed would be called where it is long, as of integers; this is
/// always inlined.
trait Rule {
    /// x + x^2 + ... + x^k. k is at least 1.
    fn of<T: Real, const N: usize, const ILP: usize>(x: [[T; N]; ILP], k: u32) -> [[T; N]; ILP];
}

struct PowerSum;

impl Rule for PowerSum {
    #[inline(always)]
    fn of<T: Real, const N: usize, const ILP: usize>(x: [[T; N]; ILP], k: u32) -> [[T; N]; ILP] {
        power_sum(x, k)
    }
}

struct Horner;

impl Rule for Horner {
    #[inline(always)]
    fn of<T: Real, const N: usize, const ILP: usize>(x: [[T; N]; ILP], k: u32) -> [[T; N]; ILP] {
        horner(x, k)
    }
}

/// Applies the rule `F` of degree `k` to `x`, `ILP` vectors of `N` elements per thread at once, and to the rest, fewer than
/// `N`, one by one. A thread that stays loads its next vectors before it works on those it has, so
/// that memory and arithmetic are busy at the same time.
#[inline(always)]
unsafe fn map<F: Rule, T: Real, const N: usize, const ILP: usize>(x: &[T], y: *mut T, k: u32) {
    let vectors = x.len() / N;
    let threads = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    let load = |first: usize| {
        let mut loaded = [[T::default(); N]; ILP];
        for j in 0..ILP {
            let vector = first + j * threads;
            if vector < vectors {
                // SAFETY: the vector lies within `x`; the caller vouches for the alignment.
                loaded[j] = unsafe { vector::load(x.as_ptr().add(vector * N)) };
            }
        }
        loaded
    };
    let mut first = thread::global_index();
    let mut next = load(first);
    while first < vectors {
        let current = next;
        next = load(first + ILP * threads);
        let result = F::of(current, k);
        for j in 0..ILP {
            let vector = first + j * threads;
            if vector < vectors {
                // SAFETY: as for its load, and it comes to one thread.
                unsafe { vector::store(y.add(vector * N), result[j]) };
            }
        }
        first += ILP * threads;
    }
    for i in thread::grid_stride(x.len() % N) {
        let element = vectors * N + i;
        // SAFETY: `element < x.len()`, and comes to one thread.
        unsafe {
            y.add(element)
                .write(F::of([[*x.get_unchecked(element); N]; ILP], k)[0][0])
        };
    }
}

/// x + x^2 + ... + x^k, a running power and a running sum. k is at least 1.
///
/// Here as in `horner` the last step is not in the loop: it writes to registers of its own, those
/// that are stored, which leaves `ptxas` free to put the loop's operands into different banks. So
/// does the addition of 0 with the powers, which else begin in the registers that were loaded.
#[inline(always)]
pub fn power_sum<T: Real, const N: usize, const ILP: usize>(
    x: [[T; N]; ILP],
    k: u32,
) -> [[T; N]; ILP] {
    let mut result = [[T::default(); N]; ILP];
    let mut power = x;
    for j in 0..ILP {
        for i in 0..N {
            power[j][i] = x[j][i] + T::default();
        }
    }
    repeat(x, k - 1, |x| {
        for j in 0..ILP {
            for i in 0..N {
                let raised = power[j][i].times(x[j][i]);
                result[j][i] = result[j][i] + power[j][i];
                power[j][i] = raised;
            }
        }
    });
    for j in 0..ILP {
        for i in 0..N {
            result[j][i] = result[j][i] + power[j][i];
        }
    }
    result
}

/// x + x^2 + ... + x^k by Horner's rule. k is at least 1.
#[inline(always)]
fn horner<T: Real, const N: usize, const ILP: usize>(x: [[T; N]; ILP], k: u32) -> [[T; N]; ILP] {
    let mut result = [[T::default(); N]; ILP];
    let mut step = |x: &[[T; N]; ILP]| {
        for j in 0..ILP {
            for i in 0..N {
                result[j][i] = result[j][i].fused(x[j][i], x[j][i]);
            }
        }
    };
    repeat(x, k - 1, &mut step);
    step(&x);
    result
}

/// Element-steps of a straight line. A look at the loop's counter takes three instructions, which
/// beside so many is 2 % and less.
const LINE: u32 = 128;

/// Calls `step` with `x`, `ILP` vectors of `N` elements, `count` times: in straight lines of
/// [`LINE`], then of each power of two below that.
#[inline(always)]
fn repeat<T: Real, const N: usize, const ILP: usize>(
    x: [[T; N]; ILP],
    count: u32,
    mut step: impl FnMut(&[[T; N]; ILP]),
) {
    let mut length = const { LINE / (N * ILP) as u32 };
    let mut lines = count / length;
    while lines > 0 {
        for _ in 0..const { LINE / (N * ILP) as u32 } {
            step(&x);
        }
        lines -= 1;
    }
    while length > 1 {
        length /= 2;
        if count & length != 0 {
            // A few steps are cheap enough for LLVM to compute them in any case and to throw away what is too much: a degree
            // of 10 would take 16 multiply-adds.
            let x = x.map(|vector| vector.map(T::kept_here));
            for _ in 0..length {
                step(&x);
            }
        }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod host;
#[cfg(not(target_arch = "nvptx64"))]
pub use host::{Element, Form, ILPS, Polynomial, Reference, WIDTHS, reference};
