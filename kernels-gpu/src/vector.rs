//! The host's side: entries to launch the kernels over vectors, and references to check them.

use core::fmt::Debug;
use core::marker::PhantomData;

use cuda_std::launch::{Entry, Signature, Slice, SliceMut};

use crate::functions::{Add, Axpy, Exp, Gelu, Mul, Relu, Scale, Sqrt};
use crate::real::Float;
use crate::{distributed, elementwise, gemv, norm, normalize};

/// An element type that there are kernels for.
pub trait Element: Float + Debug {
    /// Elements in 16 bytes.
    const WIDTH: usize;
    /// The type that squares of elements are added up in.
    type Sums: Copy + Send + Sync + 'static;
    /// How many sums those are.
    const SUMS: usize = size_of::<Self::Sums>() / size_of::<f64>();

    /// [`norm::nrm2`].
    fn nrm2() -> Entry<Nrm2<Self>>;
    /// [`norm::dot`].
    fn dot() -> Entry<Dot<Self>>;
    /// [`normalize::normalize`].
    fn normalize() -> Entry<Normalize<Self>>;
    /// [`elementwise::map`] of [`Scale`].
    fn scale() -> Entry<Map<Self, Scale<Self>>>;
    /// [`elementwise::zip`] of [`Axpy`].
    fn axpy() -> Entry<Zip<Self, Axpy<Self>>>;
    /// [`elementwise::scale_by`].
    fn scale_by() -> Entry<Map<Self, Scalar<Self>>>;
    /// [`elementwise::divide_by`].
    fn divide_by() -> Entry<Map<Self, Scalar<Self>>>;
    /// [`gemv::gemv`].
    fn gemv() -> Entry<Gemv<Self>>;
    /// [`distributed::squares_send`].
    fn squares_send() -> Entry<SquaresSend<Self>>;
    /// [`distributed::take_root`].
    fn take_root() -> Entry<TakeRoot<Self>>;
}

macro_rules! signatures {
    ($($(#[$doc:meta])* $name:ident<$($generic:ident),*> = ($($argument:ty),*);)*) => {$(
        $(#[$doc])*
        pub struct $name<$($generic),*>(PhantomData<($($generic,)*)>);

        impl<T: Element> Signature for $name<T> {
            type Arguments<'a> = ($($argument,)*);
        }
    )*};
}

signatures! {
    /// x, the norm, partials, ticket.
    Nrm2<T> = (Slice<'a, T>, SliceMut<'a, T>, SliceMut<'a, T::Sums>, SliceMut<'a, u32>);
    /// x, y, the product, partials, ticket.
    Dot<T> = (Slice<'a, T>, Slice<'a, T>, SliceMut<'a, T>, SliceMut<'a, [f64; 1]>, SliceMut<'a, u32>);
    /// x, y, elements, the norm, partials, arrivals.
    Normalize<T> = (Slice<'a, T>, SliceMut<'a, T>, usize, SliceMut<'a, T>, SliceMut<'a, T::Sums>,
        SliceMut<'a, u32>);
    /// x, rank, targets, partials, ticket.
    SquaresSend<T> = (Slice<'a, T>, u32, Slice<'a, u64>, SliceMut<'a, T::Sums>, SliceMut<'a, u32>);
    /// words, spare, devices, the norm, lost, nanoseconds.
    TakeRoot<T> = (SliceMut<'a, u64>, SliceMut<'a, u64>, u32, SliceMut<'a, T>, SliceMut<'a, u32>, u64);
    /// a, x, y.
    Gemv<T> = (Slice<'a, T>, Slice<'a, T>, SliceMut<'a, T>);
}

macro_rules! plain {
    ($($function:ident)*) => {$(
        impl Argument for $function {
            type Of<'a> = $function;
        }
    )*};
}

plain!(Add Exp Gelu Mul Relu Sqrt);

/// A factor or a divisor on the device, as [`Map`]'s function.
pub struct Scalar<T>(PhantomData<T>);

/// A function as a launch's argument.
pub trait Argument: 'static {
    /// Its type.
    type Of<'a>;
}

impl<T: Element> Argument for Scale<T> {
    type Of<'a> = Scale<T>;
}

impl<T: Element> Argument for Axpy<T> {
    type Of<'a> = Axpy<T>;
}

impl<T: Element> Argument for Scalar<T> {
    type Of<'a> = Slice<'a, T>;
}

/// The function, x, y, elements.
pub struct Map<T, F>(PhantomData<(T, F)>);

impl<T: Element, F: Argument> Signature for Map<T, F> {
    type Arguments<'a> = (F::Of<'a>, Slice<'a, T>, SliceMut<'a, T>, usize);
}

/// The function, x, y, z, elements.
pub struct Zip<T, F>(PhantomData<(T, F)>);

impl<T: Element, F: Argument> Signature for Zip<T, F> {
    type Arguments<'a> = (
        F::Of<'a>,
        Slice<'a, T>,
        Slice<'a, T>,
        SliceMut<'a, T>,
        usize,
    );
}

macro_rules! elements {
    ($($float:ident: $width:literal, $sums:literal, $nrm2:ident, $dot:ident, $normalize:ident,
        $scale:ident, $axpy:ident, $scale_by:ident, $divide_by:ident, $gemv:ident, $squares_send:ident, $take_root:ident;)*) => {$(
        impl Element for $float {
            const WIDTH: usize = $width;
            type Sums = [f64; $sums];

            fn nrm2() -> Entry<Nrm2<Self>> {
                norm::$nrm2::entry().with_signature()
            }

            fn dot() -> Entry<Dot<Self>> {
                norm::$dot::entry().with_signature()
            }

            fn normalize() -> Entry<Normalize<Self>> {
                normalize::$normalize::entry().with_signature()
            }

            fn scale() -> Entry<Map<Self, Scale<Self>>> {
                elementwise::$scale::entry().with_signature()
            }

            fn axpy() -> Entry<Zip<Self, Axpy<Self>>> {
                elementwise::$axpy::entry().with_signature()
            }

            fn scale_by() -> Entry<Map<Self, Scalar<Self>>> {
                elementwise::$scale_by::entry().with_signature()
            }

            fn divide_by() -> Entry<Map<Self, Scalar<Self>>> {
                elementwise::$divide_by::entry().with_signature()
            }

            fn gemv() -> Entry<Gemv<Self>> {
                gemv::$gemv::entry().with_signature()
            }

            fn squares_send() -> Entry<SquaresSend<Self>> {
                distributed::$squares_send::entry().with_signature()
            }

            fn take_root() -> Entry<TakeRoot<Self>> {
                distributed::$take_root::entry().with_signature()
            }
        }
    )*};
}

elements! {
    f32: 4, 1, nrm2_f32, dot_f32, normalize_f32, scale_f32, axpy_f32, scale_by_f32, divide_by_f32,
        gemv_f32, squares_send_f32, take_root_f32;
    f64: 2, 3, nrm2_f64, dot_f64, normalize_f64, scale_f64, axpy_f64, scale_by_f64, divide_by_f64,
        gemv_f64, squares_send_f64, take_root_f64;
}

/// Blocks for a reduction over `n` elements on a device with so many multiprocessors: one where that has
/// everything in flight at once, and one per multiprocessor below 6 tiles for each, 50 MB on an H200, which
/// its L2 cache may hold.
///
/// For larger vectors there are more than run at once, because a GPU does not serve all its
/// multiprocessors alike: on some H200 half of them read 5 % faster, and with equal parts would wait for
/// the others at the end. So they take more of the blocks, which are of 4 tiles: of fewer, blocks begin
/// too often. Each block's sums have to be added up in turn, so there are at most 48 of those of a norm a
/// multiprocessor. `docs/asynchrony.md` has what was measured.
pub fn reduction_blocks<T: Element>(n: u64, multiprocessors: u32) -> u64 {
    let row = u64::from(norm::BLOCK) * T::WIDTH as u64;
    let tiles = n.div_ceil(row * norm::IN_FLIGHT as u64);
    let multiprocessors = u64::from(multiprocessors);
    if tiles <= 1 {
        1
    } else if tiles < 6 * multiprocessors {
        n.div_ceil(row).min(multiprocessors)
    } else {
        (tiles / 4).clamp(4 * multiprocessors, 48 / T::SUMS as u64 * multiprocessors)
    }
}

/// Blocks of a cooperative launch that normalizes `n` elements; of an ordinary one, if it is one.
pub fn normalize_blocks<T: Element>(n: u64, multiprocessors: u32) -> u64 {
    let tiles = n.div_ceil((normalize::TILE * T::WIDTH) as u64);
    let most = u64::from(normalize::BLOCKS_EACH) * u64::from(multiprocessors);
    // One block has two tiles sooner than two have met at a barrier.
    if tiles <= 2 { 1 } else { tiles.min(most) }
}

/// Threads for an elementwise kernel over `n` elements.
pub fn map_threads<T: Element>(n: u64) -> u64 {
    n.div_ceil((T::WIDTH * elementwise::IN_FLIGHT) as u64)
}

/// The Euclidean norm in float64, scaled so that it neither overflows nor underflows; infinity and
/// NaN as the kernels give them.
pub fn reference_norm(x: impl Iterator<Item = f64> + Clone) -> f64 {
    let greatest = x.clone().fold(0.0, |greatest: f64, x| {
        if x.is_nan() || greatest.is_nan() {
            f64::NAN
        } else {
            greatest.max(x.abs())
        }
    });
    if greatest == 0.0 || !greatest.is_finite() {
        return greatest;
    }
    // Kahan's summation: the reference must be better than what it is compared with.
    let (mut sum, mut lost) = (0.0, 0.0);
    for x in x {
        let ratio = x / greatest;
        let term = ratio * ratio - lost;
        let next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    cuda_std::GpuFloat::sqrt(sum) * greatest
}
