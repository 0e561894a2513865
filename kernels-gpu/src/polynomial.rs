//! y = x + x^2 + ... + x^k for each element, in two forms of the same 2k FLOP.
//!
//! * **Power sum**: `result += power; power *= x`, the roofline exercise's loop. Its add and its
//!   multiply depend on different values and cannot fuse, so it can reach half of the FMA peak.
//! * **Horner**: `result = result * x + x`, k fused multiply-adds.
//!
//! Each form comes for f32 and f64 and for 1, 2 and 4 elements a thread. An element costs one read
//! and one write, so the arithmetic intensity is 2k / 8 FLOP/byte in f32 and 2k / 16 in f64.

use core::ops::{Add, Mul};

use cuda_std::prelude::*;

/// The element types.
pub trait Real: GpuFloat + Default + Add<Output = Self> + Mul<Output = Self> + 'static {}
impl Real for f32 {}
impl Real for f64 {}

macro_rules! kernels {
    ($($name:ident = $form:ident<$real:ty, $width:literal>;)*) => {$(
        #[doc = concat!("`", stringify!($form), "` of ", stringify!($real), ", ",
            stringify!($width), " elements a thread.")]
        ///
        /// # Safety
        /// `y` has room for `x.len()` elements and does not overlap `x`. Both are aligned to the
        /// width's bytes, 16 at most, as every device allocation is. The grid is one-dimensional.
        #[kernel]
        pub unsafe fn $name(x: &[$real], y: *mut $real, k: u32) {
            // SAFETY: the same contract.
            unsafe { map::<$real, $width>(x, y, |v| $form(v, k)) }
        }
    )*};
}

kernels! {
    power_sum_f32_v1 = power_sum<f32, 1>;
    power_sum_f32_v2 = power_sum<f32, 2>;
    power_sum_f32_v4 = power_sum<f32, 4>;
    power_sum_f64_v1 = power_sum<f64, 1>;
    power_sum_f64_v2 = power_sum<f64, 2>;
    power_sum_f64_v4 = power_sum<f64, 4>;
    horner_f32_v1 = horner<f32, 1>;
    horner_f32_v2 = horner<f32, 2>;
    horner_f32_v4 = horner<f32, 4>;
    horner_f64_v1 = horner<f64, 1>;
    horner_f64_v2 = horner<f64, 2>;
    horner_f64_v4 = horner<f64, 4>;
}

/// Applies `f` to `x`, `N` elements a thread, and to the rest, fewer than `N`, one by one.
#[inline(always)]
pub(crate) unsafe fn map<T: Real, const N: usize>(
    x: &[T],
    y: *mut T,
    f: impl Fn([T; N]) -> [T; N],
) {
    let vectors = x.len() / N;
    for i in thread::grid_stride(vectors) {
        // SAFETY: vector i lies within `x`, and so within `y`, and comes to one thread; the caller
        // vouches for the alignment.
        unsafe {
            let input = vector::load(x.as_ptr().add(i * N));
            vector::store(y.add(i * N), f(input));
        }
    }
    for i in thread::grid_stride(x.len() % N) {
        let element = vectors * N + i;
        // SAFETY: `element < x.len()`, and comes to one thread.
        unsafe { y.add(element).write(f([*x.get_unchecked(element); N])[0]) };
    }
}

/// x + x^2 + ... + x^k, a running power and a running sum.
#[inline(always)]
pub fn power_sum<T: Real, const N: usize>(x: [T; N], k: u32) -> [T; N] {
    let mut result = [T::default(); N];
    let mut power = x;
    repeat::<N, 64>(k, || {
        for i in 0..N {
            result[i] = result[i] + power[i];
            power[i] = power[i] * x[i];
        }
    });
    result
}

/// x + x^2 + ... + x^k by Horner's rule.
#[inline(always)]
fn horner<T: Real, const N: usize>(x: [T; N], k: u32) -> [T; N] {
    let mut result = [T::default(); N];
    repeat::<N, 128>(k, || {
        for i in 0..N {
            result[i] = result[i].mul_add(x[i], x[i]);
        }
    });
    result
}

/// Calls `step`, which works on `N` elements, k times: in straight lines of `LINE / N` steps, then
/// of each power of two below that.
///
/// A look at the loop's counter takes three instructions, so a line of 128 arithmetic instructions
/// leaves it at 2 %. `LINE` counts element-steps: 128 where a step is one instruction an element,
/// 64 where it is two. Lines twice as long gain nothing, because `ptxas` then puts both operands of
/// some additions into one register bank, which costs a cycle each.
#[inline(always)]
fn repeat<const N: usize, const LINE: u32>(k: u32, mut step: impl FnMut()) {
    let mut length = const { LINE / N as u32 };
    let mut lines = k / length;
    while lines > 0 {
        for _ in 0..const { LINE / N as u32 } {
            step();
        }
        lines -= 1;
    }
    while length > 1 {
        length /= 2;
        if k & length != 0 {
            for _ in 0..length {
                step();
            }
        }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
pub use host::{Element, Form, Polynomial, Reference, WIDTHS, reference};

/// What the host needs to launch the kernels and to check them.
#[cfg(not(target_arch = "nvptx64"))]
mod host {
    use core::marker::PhantomData;

    use cuda_std::launch::{Entry, Signature, Slice, SliceMut};

    use super::*;

    /// How the polynomial is evaluated.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Form {
        /// A running power and a running sum: an add and a multiply that cannot fuse.
        PowerSum,
        /// Horner's rule: one fused multiply-add a step.
        Horner,
    }

    /// The numbers of elements a thread that there are kernels for.
    pub const WIDTHS: [u32; 3] = [1, 2, 4];

    /// What a launch of any kernel of this file takes: x, y and k.
    pub struct Polynomial<T>(PhantomData<T>);

    impl<T: Element> Signature for Polynomial<T> {
        type Arguments<'a> = (Slice<'a, T>, SliceMut<'a, T>, u32);
    }

    /// An element type that there are kernels for.
    pub trait Element: Real + Send + Sync + Into<f64> + core::fmt::Debug {
        /// Its name: "f32".
        const NAME: &'static str;

        /// The nearest value to `value`.
        fn from_f64(value: f64) -> Self;

        /// The kernel of this form for `width` elements a thread, or `None` if `width` is not one
        /// of [`WIDTHS`].
        fn kernel(form: Form, width: u32) -> Option<Entry<Polynomial<Self>>>;

        /// The error that k steps may make, relative to [`Reference::scale`]. A step rounds twice
        /// at most, so this is some k times the type's precision.
        fn tolerance(k: u32) -> f64;
    }

    impl Element for f32 {
        const NAME: &'static str = "f32";

        fn from_f64(value: f64) -> f32 {
            value as f32
        }

        fn kernel(form: Form, width: u32) -> Option<Entry<Polynomial<f32>>> {
            Some(match (form, width) {
                (Form::PowerSum, 1) => power_sum_f32_v1::entry().with_signature(),
                (Form::PowerSum, 2) => power_sum_f32_v2::entry().with_signature(),
                (Form::PowerSum, 4) => power_sum_f32_v4::entry().with_signature(),
                (Form::Horner, 1) => horner_f32_v1::entry().with_signature(),
                (Form::Horner, 2) => horner_f32_v2::entry().with_signature(),
                (Form::Horner, 4) => horner_f32_v4::entry().with_signature(),
                _ => return None,
            })
        }

        fn tolerance(k: u32) -> f64 {
            f64::from(k) * 1e-7
        }
    }

    impl Element for f64 {
        const NAME: &'static str = "f64";

        fn from_f64(value: f64) -> f64 {
            value
        }

        fn kernel(form: Form, width: u32) -> Option<Entry<Polynomial<f64>>> {
            Some(match (form, width) {
                (Form::PowerSum, 1) => power_sum_f64_v1::entry().with_signature(),
                (Form::PowerSum, 2) => power_sum_f64_v2::entry().with_signature(),
                (Form::PowerSum, 4) => power_sum_f64_v4::entry().with_signature(),
                (Form::Horner, 1) => horner_f64_v1::entry().with_signature(),
                (Form::Horner, 2) => horner_f64_v2::entry().with_signature(),
                (Form::Horner, 4) => horner_f64_v4::entry().with_signature(),
                _ => return None,
            })
        }

        fn tolerance(k: u32) -> f64 {
            (f64::from(k) * f64::EPSILON).max(1e-14)
        }
    }

    /// The float64 answer for one element.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Reference {
        /// x + x^2 + ... + x^k.
        pub value: f64,
        /// |x| + |x|^2 + ... + |x|^k: what a rounding error is relative to.
        pub scale: f64,
    }

    /// Evaluates the polynomial in float64, by Horner's rule.
    pub fn reference(x: f64, k: u32) -> Reference {
        let evaluate = |x: f64| (0..k).fold(0.0, |result: f64, _| (result + 1.0) * x);
        Reference {
            value: evaluate(x),
            scale: evaluate(x.abs()),
        }
    }
}
