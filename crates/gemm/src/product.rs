//! A product, prepared once for any number of launches.

use std::marker::PhantomData;

use cuda_std::launch::{Entry, Slice};
use cuda_std::tma::TensorMap;
use cuda_std::wgmma::{E4m3, Tf32};
use cuda_std::{bf16, f16};
use gemm_kernels::problem::Problem;
use gemm_kernels::{double, pipeline as kernels, small};
use ridgepoint_driver::{
    Device, DeviceBuffer, DeviceValue, DriverError, Prepared, Stream, TensorElement,
};

use crate::error::{GemmError, Size};
use crate::finish::{Finish, ResultElement};
use crate::matrix::{Matrix, MatrixMut, Order, Right, same};
use crate::packed::{Packed, must_be_packed};
use crate::plan::{Copied, Epilogue, Fused, Kernel, Plan};

/// An element type of `A` and `B`: `bf16`, `f16`, [`Tf32`], whose results are `f32`, [`E4m3`], whose results are `bf16`, or
/// `f64`.
///
/// Products of [`E4m3`] are added up with fewer bits than `f32` has: the tensor cores of an H100 or H200 align the 32 products of an
/// instruction and the sum so far to the greatest of them, and keep about 14 bits.
pub trait Element: TensorElement + DeviceValue + sealed::Sealed {
    /// The result's.
    type Result: ResultElement;
    #[doc(hidden)]
    const NAME: &'static str;
    /// Those that multiply a `B` of this order.
    #[doc(hidden)]
    fn kernels(order: Order) -> Option<Kernels<Self::Result>>;
}

/// The kernels of an element type and an order of `B`.
#[doc(hidden)]
#[expect(
    clippy::large_enum_variant,
    reason = "one lives as long as a plan is made"
)]
pub enum Kernels<R: ResultElement> {
    /// By `wgmma`, which warpgroups multiply by.
    Warpgroups {
        /// One for each [`Tiling`](crate::tiling::Tiling) of such kernels.
        copied: [Entry<Copied<R>>; 3],
        /// Of small tiles whose sums do not stay as they are.
        finished_small: Entry<Copied<R>>,
        fused: Entry<Fused<R>>,
    },
    /// By `mma.sync`, which warps multiply by.
    Warps(Entry<Fused<R>>),
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($ty:ident $result:ident $name:literal:
        $($order:ident $columns_256:ident $columns_128:ident $small:ident $finished:ident $fused:ident),*;)*
    ) => {$(
        impl sealed::Sealed for $ty {}

        impl Element for $ty {
            type Result = $result;
            const NAME: &'static str = $name;

            fn kernels(order: Order) -> Option<Kernels<$result>> {
                match order {
                    $(Order::$order => Some(Kernels::Warpgroups {
                        copied: [
                            kernels::$columns_256::entry().with_signature(),
                            kernels::$columns_128::entry().with_signature(),
                            small::$small::entry().with_signature(),
                        ],
                        finished_small: small::$finished::entry().with_signature(),
                        fused: kernels::$fused::entry().with_signature(),
                    }),)*
                    #[allow(unreachable_patterns, reason = "some types have both orders")]
                    _ => None,
                }
            }
        }
    )*};
}

elements! {
    bf16 bf16 "bf16":
        ByColumns gemm_bf16_by_columns_256 gemm_bf16_by_columns_128 small_bf16_by_columns finished_small_bf16_by_columns fused_bf16_by_columns,
        ByRows gemm_bf16_by_rows_256 gemm_bf16_by_rows_128 small_bf16_by_rows finished_small_bf16_by_rows fused_bf16_by_rows;
    f16 f16 "f16":
        ByColumns gemm_f16_by_columns_256 gemm_f16_by_columns_128 small_f16_by_columns finished_small_f16_by_columns fused_f16_by_columns,
        ByRows gemm_f16_by_rows_256 gemm_f16_by_rows_128 small_f16_by_rows finished_small_f16_by_rows fused_f16_by_rows;
    Tf32 f32 "tf32":
        ByColumns gemm_tf32_by_columns_256 gemm_tf32_by_columns_128 small_tf32_by_columns finished_small_tf32_by_columns fused_tf32_by_columns;
    E4m3 bf16 "e4m3":
        ByColumns gemm_e4m3_by_columns_256 gemm_e4m3_by_columns_128 small_e4m3_by_columns finished_small_e4m3_by_columns fused_e4m3_by_columns;
}

impl sealed::Sealed for f64 {}

impl Element for f64 {
    type Result = f64;
    const NAME: &'static str = "f64";

    fn kernels(order: Order) -> Option<Kernels<f64>> {
        let entry = match order {
            Order::ByColumns => double::gemm_f64_by_columns::entry().with_signature(),
            Order::ByRows => double::gemm_f64_by_rows::entry().with_signature(),
        };
        Some(Kernels::Warps(entry))
    }
}

/// `C = activation(alpha A B + beta C + bias)`, prepared for its device.
///
/// `A` and `B` may begin at any element, and have any distance between their rows. Where no tensor map describes
/// them, because a matrix or its rows do not begin at multiples of 16 bytes, each launch first copies
/// them into memory of the product's own.
pub struct Product<'a, T: Element> {
    launch: Launch<'a, T>,
    /// Operands that are copied before.
    packed: Vec<Packed<'a, T>>,
    /// Of `A`, `B` and, where copies store it, `C`.
    maps: DeviceBuffer<TensorMap>,
    problem: Problem<Factor<T>>,
    matrices: PhantomData<(&'a [T], &'a mut [T::Result])>,
}

/// The type of the factors of a product.
type Factor<T> = <<T as Element>::Result as ResultElement>::Factor;

enum Launch<'a, T: Element> {
    /// The result has no elements.
    Nothing,
    Copied(Prepared<'a, Copied<T::Result>>, Slice<'a, T::Result>),
    Fused(
        Prepared<'a, Fused<T::Result>>,
        MatrixMut<'a, T::Result>,
        Slice<'a, T::Result>,
    ),
}

impl<'a, T: Element> Product<'a, T> {
    /// `C = A B`.
    ///
    /// # Errors
    /// As for [`Product::prepare_finished`].
    pub fn prepare(
        device: &'a Device,
        a: Matrix<'a, T>,
        b: Right<'a, T>,
        c: MatrixMut<'a, T::Result>,
    ) -> Result<Self, GemmError> {
        Product::prepare_finished(device, a, b, c, Finish::default())
    }

    /// `C = alpha A B + beta C`; with a `beta` of 0 what `C` held does not matter.
    ///
    /// # Errors
    /// As for [`Product::prepare_finished`].
    pub fn prepare_scaled(
        device: &'a Device,
        a: Matrix<'a, T>,
        b: Right<'a, T>,
        c: MatrixMut<'a, T::Result>,
        [alpha, beta]: [<T::Result as ResultElement>::Factor; 2],
    ) -> Result<Self, GemmError> {
        let finish = Finish {
            alpha,
            beta,
            ..Finish::default()
        };
        Product::prepare_finished(device, a, b, c, finish)
    }

    /// `C = activation(alpha A B + beta C + bias)`.
    ///
    /// # Errors
    /// [`GemmError::Sizes`]: the matrices do not fit together. [`GemmError::Memory`]: one does not lie in its memory.
    /// [`GemmError::Bias`]: it has not as many elements as `C` has columns. [`GemmError::ByRows`]: the type is
    /// multiplied with `B` by columns alone. [`GemmError::Driver`]: there is no memory for copies of `A` or `B`; the device was not opened with
    /// [`ptx`](crate::ptx). [`GemmError::Capability`]: it is no Hopper GPU, and no emulator of one.
    pub fn prepare_finished(
        device: &'a Device,
        a: Matrix<'a, T>,
        b: Right<'a, T>,
        c: MatrixMut<'a, T::Result>,
        finish: Finish<'a, T::Result>,
    ) -> Result<Self, GemmError> {
        check(&a, &b, &c)?;
        let columns = c.size.1;
        if let Some(elements) = finish
            .bias
            .as_ref()
            .map(Slice::len)
            .filter(|&len| len != columns)
        {
            return Err(GemmError::Bias { elements, columns });
        }
        let problem = Problem {
            m: c.size.0 as u32,
            n: columns as u32,
            k: a.size.1 as u32,
            alpha: finish.alpha,
            beta: finish.beta,
            pitch: c.pitch as u32,
            has_bias: u32::from(finish.bias.is_some()),
            activation: finish.activation as u32,
        };
        let order = b.order();
        let epilogue = match finish.is_in_registers() && can_be_copied(&c) {
            true if finish.is_plain() => Epilogue::Copied,
            true => Epilogue::Finished,
            false => Epilogue::Fused,
        };
        let plan = Plan::<T>::of(device, problem, order, epilogue)?;
        let mut packed = Vec::new();
        let is_nothing = plan.config().grid[0] == 0;
        let mut mapped = |matrix: Matrix<'a, T>| match is_nothing || !must_be_packed(&matrix) {
            true => Ok(matrix),
            false => {
                let (copy, view) = Packed::new(device, matrix)?;
                packed.push(copy);
                Ok::<_, GemmError>(view)
            }
        };
        let (a, b) = (mapped(a)?, mapped(b.into_matrix())?);
        let maps = match is_nothing {
            true => device.buffer_uninitialized(0)?,
            false => plan.maps_of(device, &a, &b, &c)?,
        };
        Ok(Product {
            launch: launch_of(device, &plan, c, finish)?,
            packed,
            maps,
            problem,
            matrices: PhantomData,
        })
    }

    /// Puts the product into the stream.
    ///
    /// # Safety
    /// The buffers and this value stay alive until the stream has been synchronised; until then nothing writes `A`, `B` and the bias,
    /// nothing else reads or writes `C`, and where `A` or `B` is copied the product is in no other stream. If the launch before it in the
    /// stream is an [overlapping](Prepared::overlapping) one, its kernel waits for the one before that.
    ///
    /// # Errors
    /// As for [`Prepared::launch`].
    pub unsafe fn launch(&self, stream: &Stream<'_>) -> Result<(), DriverError> {
        for operand in &self.packed {
            // SAFETY: the caller's contract.
            unsafe { operand.launch(stream) }?;
        }
        let map = |number: usize| self.maps.slice(number..number + 1);
        match &self.launch {
            Launch::Nothing => Ok(()),
            Launch::Copied(prepared, bias) => {
                let arguments = (map(0), map(1), map(2), same(bias), self.problem);
                // SAFETY: the maps are of the matrices, which lie where they say, and the caller vouches for the rest.
                unsafe { prepared.launch(stream, &arguments) }
            }
            Launch::Fused(prepared, c, bias) => {
                let arguments = (map(0), map(1), c.again(), same(bias), self.problem);
                // SAFETY: as above.
                unsafe { prepared.launch(stream, &arguments) }
            }
        }
    }
}

/// Returns the launch after operands have been copied.
fn launch_of<'a, T: Element>(
    device: &'a Device,
    plan: &Plan<T>,
    c: MatrixMut<'a, T::Result>,
    finish: Finish<'a, T::Result>,
) -> Result<Launch<'a, T>, GemmError> {
    let config = plan.config();
    if config.grid[0] == 0 {
        return Ok(Launch::Nothing);
    }
    let bias = finish.bias.unwrap_or_else(Slice::empty);
    Ok(match plan.kernel() {
        Kernel::Copied(entry) => {
            let prepared = device
                .prepare(entry, config)?
                .with_cluster(plan.cluster())?;
            // SAFETY: all threads wait for the launch before, in front of their first access to global memory.
            let prepared = unsafe { prepared.overlapping() }?;
            Launch::Copied(prepared, bias)
        }
        Kernel::Fused(entry) => {
            let prepared = device
                .prepare(entry, config)?
                .with_cluster(plan.cluster())?;
            // SAFETY: as above.
            let prepared = unsafe { prepared.overlapping() }?;
            Launch::Fused(prepared, c, bias)
        }
    })
}

fn check<T, R>(a: &Matrix<'_, T>, b: &Right<'_, T>, c: &MatrixMut<'_, R>) -> Result<(), GemmError> {
    let sizes = (a.size, b.size(), c.size);
    let reason = match sizes {
        (Size(_, k), Size(rows, _), _) if k != rows => "A has as many columns as B has rows",
        (Size(m, _), _, Size(rows, _)) if m != rows => "C has as many rows as A",
        (_, Size(_, n), Size(_, columns)) if n != columns => "C has as many columns as B",
        _ => {
            a.check("A")?;
            b.matrix().check("B")?;
            return c.check("C");
        }
    };
    let (a, b, c) = sizes;
    Err(GemmError::Sizes { a, b, c, reason })
}

/// Whether copies can store the result: its rows begin and end at multiples of 16 bytes. Copies leave out what is outside in pieces of
/// as many.
fn can_be_copied<R>(c: &MatrixMut<'_, R>) -> bool {
    let bytes = |elements: usize| elements * size_of::<R>();
    let Size(_, columns) = c.size;
    let places = [c.view.as_ptr().addr(), bytes(c.pitch), bytes(columns)];
    places.into_iter().all(|place| place.is_multiple_of(16))
}
