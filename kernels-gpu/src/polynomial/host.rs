//! The host's side: entries to launch the kernels, and references to check them.

use core::fmt::Debug;
use core::marker::PhantomData;

use cuda_std::f16;
use cuda_std::launch::{Entry, Signature, Slice, SliceMut};
use cuda_std::packed::F16x2;

use super::Real;

/// How the polynomial is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A running power and a running sum: an add and a multiply that cannot fuse.
    PowerSum,
    /// Horner's rule: one fused multiply-add a step.
    Horner,
}

/// The numbers of elements in a vector that there are kernels for.
pub const WIDTHS: [u32; 3] = [1, 2, 4];

/// The numbers of vectors a thread that there are kernels for.
pub const ILPS: [u32; 3] = [1, 2, 4];

/// The signature of the kernels of this family: x, y and k.
pub struct Polynomial<T>(PhantomData<T>);

impl<T: Element> Signature for Polynomial<T> {
    type Arguments<'a> = (Slice<'a, T>, SliceMut<'a, T>, u32);
}

/// An element type that there are kernels for: a number, or two in one register.
pub trait Element: Real + Send + Sync + Debug {
    /// Its name: "f32".
    const NAME: &'static str;
    /// Half of the distance from 1 to the next number: what rounding changes at most, relative. 0 of integers, which wrap.
    const ROUNDOFF: f64;
    /// The least normal number.
    const LEAST_NORMAL: f64;
    /// The greatest number.
    const GREATEST: f64;
    /// An x at which neither form overflows or loses its digits for k up to 1000.
    const X: f64;

    /// An element of the numbers nearest to those that `next` gives.
    fn from_numbers(next: impl FnMut() -> f64) -> Self;

    /// The numbers in it, in the order of [`Element::from_numbers`].
    fn numbers(self) -> impl Iterator<Item = f64>;

    /// An element whose numbers are all the nearest one to `value`.
    fn from_f64(value: f64) -> Self {
        Self::from_numbers(|| value)
    }

    /// The float64 answer for one number, and what rounding each step to this type's numbers can change.
    fn reference(x: f64, k: u32) -> Reference {
        // Two float64 results differ by the roundings of both.
        evaluate(x, k, Self::ROUNDOFF + f64::ROUNDOFF, Self::LEAST_NORMAL)
    }

    /// The kernel of this form for `ilp` vectors of `width` elements per thread, or `None` if these
    /// are not of [`ILPS`] and [`WIDTHS`], or the type has no such form.
    fn kernel(form: Form, width: u32, ilp: u32) -> Option<Entry<Polynomial<Self>>>;
}

macro_rules! elements {
    ($(
        $element:ty = $name:literal {
            $roundoff:expr, $least_normal:expr, $greatest:expr, $x:literal,
            |$next:ident| $from_numbers:expr,
            |$element_value:ident| $numbers:expr,
            $power_sum:path, $horner:path,
        }
    )*) => {$(
        impl Element for $element {
            const NAME: &'static str = $name;
            const ROUNDOFF: f64 = $roundoff;
            const LEAST_NORMAL: f64 = $least_normal;
            const GREATEST: f64 = $greatest;
            const X: f64 = $x;

            fn from_numbers(mut $next: impl FnMut() -> f64) -> Self {
                $from_numbers
            }

            fn numbers(self) -> impl Iterator<Item = f64> {
                let $element_value = self;
                $numbers.into_iter()
            }

            fn kernel(form: Form, width: u32, ilp: u32) -> Option<Entry<Polynomial<Self>>> {
                match form {
                    Form::PowerSum => $power_sum(width, ilp),
                    Form::Horner => $horner(width, ilp),
                }
            }
        }
    )*};
}

elements! {
    f32 = "f32" {
        f32::EPSILON as f64 / 2.0, f32::MIN_POSITIVE as f64, f32::MAX as f64, 1.01,
        |next| next() as f32,
        |x| [f64::from(x)],
        super::power_sum_f32, super::horner_f32,
    }
    f64 = "f64" {
        f64::EPSILON / 2.0, f64::MIN_POSITIVE, f64::MAX, 1.01,
        |next| next(),
        |x| [x],
        super::power_sum_f64, super::horner_f64,
    }
    F16x2 = "f16x2" {
        // 1.01^k is more than an f16 holds from k = 630 on.
        1.0 / 2048.0, 1.0 / 16384.0, 65504.0, 0.9,
        |next| F16x2::new(f16::from_f64(next()), f16::from_f64(next())),
        |x| [x.low().to_f64(), x.high().to_f64()],
        super::power_sum_f16x2, super::horner_f16x2,
    }
}

/// The float64 answer for one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// x + x^2 + ... + x^k.
    pub value: f64,
    /// The same of |x|: no step of either form is beyond it.
    pub scale: f64,
    /// How far from `value` the roundings of either form can lead.
    pub error: f64,
}

impl Element for i32 {
    const NAME: &'static str = "i32";
    const ROUNDOFF: f64 = 0.0;
    const LEAST_NORMAL: f64 = 0.0;
    const GREATEST: f64 = f64::INFINITY;
    const X: f64 = 3.0;

    fn from_numbers(mut next: impl FnMut() -> f64) -> i32 {
        next() as i32
    }

    fn numbers(self) -> impl Iterator<Item = f64> {
        [f64::from(self)].into_iter()
    }

    /// Exact, modulo 2^32, in integers of 64 bits.
    fn reference(x: f64, k: u32) -> Reference {
        let x = i64::from(x as i32);
        let value = (0..k).fold(0i64, |sum, _| i64::from((sum * x + x) as i32));
        let value = value as f64;
        Reference {
            value,
            scale: value.abs(),
            error: 0.0,
        }
    }

    fn kernel(form: Form, width: u32, ilp: u32) -> Option<Entry<Polynomial<i32>>> {
        match form {
            Form::PowerSum => None,
            Form::Horner => super::horner_i32(width, ilp),
        }
    }
}

/// The float64 answer for one number, as [`Element::reference`].
pub fn reference<T: Element>(x: f64, k: u32) -> Reference {
    T::reference(x, k)
}

/// The error is that of the power sum, step by step, as if each rounding went the worst way; Horner's
/// is no more. A sum whose term is less than its last digit changes by that term at most. Of 1 and -1 all steps are whole numbers,
/// which are exact as far as the type has all of them.
fn evaluate(x: f64, k: u32, roundoff: f64, least_normal: f64) -> Reference {
    let rounding = |number: f64| roundoff * number.max(least_normal);
    let mut found = Reference {
        value: 0.0,
        scale: 0.0,
        error: 0.0,
    };
    let (mut power, mut power_error) = (x.abs(), 0.0);
    for _ in 0..k {
        found.value = found.value.fused(x, x);
        found.scale += power;
        found.error += power_error;
        found.error += rounding(found.scale + found.error).min(power + power_error);
        power *= x.abs();
        power_error *= x.abs();
        power_error += rounding(power + power_error);
    }
    if x.abs() == 1.0 && f64::from(k) * roundoff < 1.0 {
        found.error = 0.0;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worst error of the forms, as their steps are written in the kernels, over the allowed.
    fn share<T: Element>(x: f64, k: u32) -> f64 {
        let x = T::from_f64(x);
        let forms = [
            crate::polynomial::power_sum([[x]], k),
            crate::polynomial::horner([[x]], k),
        ];
        let number = x.numbers().next().expect("at least one");
        let expected = reference::<T>(number, k);
        let errors = forms.map(|[[y]]| {
            let errors = y.numbers().map(|y| (y - expected.value).abs());
            errors.fold(0.0, f64::max) / expected.error.max(f64::MIN_POSITIVE)
        });
        errors.into_iter().fold(0.0, f64::max)
    }

    #[test]
    fn roundings_stay_within_the_allowed_error_and_come_near_it() {
        let mut worst = [0.0f64; 2];
        for x in [
            -1.01, -0.9, -0.3, 0.01, 0.3, 0.5, 0.75, 0.9, 0.99, 1.0, 1.01,
        ] {
            for k in [1, 2, 3, 5, 10, 20, 50, 100, 300, 600] {
                worst[0] = worst[0].max(share::<f32>(x, k));
                worst[1] = worst[1].max(share::<F16x2>(x, k));
            }
        }
        assert!(worst.iter().all(|it| (0.2..=1.0).contains(it)), "{worst:?}");
    }

    #[test]
    fn integers_wrap_as_their_reference_does() {
        for x in [-7, -1, 0, 1, 3, i32::MAX] {
            for k in [1, 2, 3, 20, 21, 1000] {
                let [[y]] = crate::polynomial::horner([[x]], k);
                assert_eq!(
                    f64::from(y),
                    reference::<i32>(x.into(), k).value,
                    "{x}, {k}"
                );
            }
        }
    }

    #[test]
    fn the_inputs_of_sweeps_do_not_overflow_and_are_checked_to_some_percent() {
        fn relative<T: Element>() -> f64 {
            let expected = reference::<T>(T::X, 1000);
            assert!(expected.scale < T::GREATEST, "{}", T::NAME);
            expected.error / expected.value
        }
        assert!(relative::<f32>() < 2e-4 && relative::<f64>() < 4e-13);
        assert!(relative::<F16x2>() < 0.05);
    }
}
