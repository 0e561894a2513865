//! A product, prepared once for any number of launches.

use std::marker::PhantomData;

use cuda_std::launch::{Entry, SliceMut};
use cuda_std::tma::TensorMap;
use cuda_std::wgmma::Tf32;
use cuda_std::{bf16, f16};
use gemm_kernels::pipeline as kernels;
use gemm_kernels::problem::Problem;
use ridgepoint_driver::{
    Device, DeviceBuffer, DeviceValue, DriverError, Prepared, Stream, TensorElement,
};

use crate::error::{GemmError, Size};
use crate::matrix::{Matrix, MatrixMut, Order, Right};
use crate::plan::{Copied, Kernel, Plan, Scaled};

/// An element type of `A` and `B`: `bf16`, `f16`, or [`Tf32`], whose results are `f32`.
pub trait Element: TensorElement + DeviceValue + sealed::Sealed {
    /// The result's.
    type Result: TensorElement + DeviceValue;
    #[doc(hidden)]
    const NAME: &'static str;
    /// The kernel that stores the product by copies, where the result allows it: by width 256 and 128.
    #[doc(hidden)]
    fn copied(order: Order) -> Option<[Entry<Copied>; 2]>;
    /// The kernel that scales.
    #[doc(hidden)]
    fn scaled(order: Order) -> Option<Entry<Scaled<Self::Result>>>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! halves {
    ($($ty:ident: $columns_256:ident $columns_128:ident $rows_256:ident $rows_128:ident, $by_columns:ident $by_rows:ident;)*) => {$(
        impl sealed::Sealed for $ty {}

        impl Element for $ty {
            type Result = $ty;
            const NAME: &'static str = stringify!($ty);

            fn copied(order: Order) -> Option<[Entry<Copied>; 2]> {
                Some(match order {
                    Order::ByColumns => [
                        kernels::$columns_256::entry().with_signature(),
                        kernels::$columns_128::entry().with_signature(),
                    ],
                    Order::ByRows => [
                        kernels::$rows_256::entry().with_signature(),
                        kernels::$rows_128::entry().with_signature(),
                    ],
                })
            }

            fn scaled(order: Order) -> Option<Entry<Scaled<$ty>>> {
                Some(match order {
                    Order::ByColumns => kernels::$by_columns::entry().with_signature(),
                    Order::ByRows => kernels::$by_rows::entry().with_signature(),
                })
            }
        }
    )*};
}

halves! {
    bf16: gemm_bf16_by_columns_256 gemm_bf16_by_columns_128 gemm_bf16_by_rows_256 gemm_bf16_by_rows_128,
        scaled_bf16_by_columns scaled_bf16_by_rows;
    f16: gemm_f16_by_columns_256 gemm_f16_by_columns_128 gemm_f16_by_rows_256 gemm_f16_by_rows_128,
        scaled_f16_by_columns scaled_f16_by_rows;
}

impl sealed::Sealed for Tf32 {}

impl Element for Tf32 {
    type Result = f32;
    const NAME: &'static str = "tf32";

    fn copied(_: Order) -> Option<[Entry<Copied>; 2]> {
        None
    }

    fn scaled(order: Order) -> Option<Entry<Scaled<f32>>> {
        match order {
            Order::ByColumns => Some(kernels::scaled_tf32_by_columns::entry().with_signature()),
            Order::ByRows => None,
        }
    }
}

/// `C = alpha A B + beta C`, prepared for its device.
pub struct Product<'a, T: Element> {
    launch: Launch<'a, T>,
    /// Of `A`, `B` and, where copies store it, `C`.
    maps: DeviceBuffer<TensorMap>,
    problem: Problem,
    matrices: PhantomData<(&'a [T], &'a mut [T::Result])>,
}

enum Launch<'a, T: Element> {
    /// The result has no elements.
    Nothing,
    Copied(Prepared<'a, Copied>),
    Scaled(Prepared<'a, Scaled<T::Result>>, MatrixMut<'a, T::Result>),
}

impl<'a, T: Element> Product<'a, T> {
    /// `C = A B`. `A` and `B` begin at multiples of 16 bytes, and so do their rows.
    ///
    /// # Errors
    /// As for [`Product::prepare_scaled`].
    pub fn prepare(
        device: &'a Device,
        a: Matrix<'a, T>,
        b: Right<'a, T>,
        c: MatrixMut<'a, T::Result>,
    ) -> Result<Self, GemmError> {
        Product::prepare_scaled(device, a, b, c, [1.0, 0.0])
    }

    /// `C = alpha A B + beta C`; with a `beta` of 0 what `C` held does not matter.
    ///
    /// # Errors
    /// [`GemmError::Sizes`]: the matrices do not fit together. [`GemmError::Memory`]: one does not lie in its memory.
    /// [`GemmError::ByRows`]: the type is multiplied with `B` by columns alone. [`GemmError::Driver`]: a matrix does not begin at a multiple of 16 bytes, or
    /// its rows do not ([`DriverError::TensorMap`]); the device was not opened with [`ptx`](crate::ptx).
    /// [`GemmError::Capability`]: it is no Hopper GPU, and no emulator of one.
    pub fn prepare_scaled(
        device: &'a Device,
        a: Matrix<'a, T>,
        b: Right<'a, T>,
        c: MatrixMut<'a, T::Result>,
        [alpha, beta]: [f32; 2],
    ) -> Result<Self, GemmError> {
        check(&a, &b, &c)?;
        let problem = Problem {
            m: c.size.0 as u32,
            n: c.size.1 as u32,
            k: a.size.1 as u32,
            alpha,
            beta,
            pitch: c.pitch as u32,
        };
        let plan = Plan::<T>::of(device, problem, b.order(), can_be_copied(&c))?;
        let maps = plan.maps_of(device, &a, b.matrix(), &c)?;
        let config = plan.config();
        let launch = match plan.kernel() {
            _ if config.grid[0] == 0 => Launch::Nothing,
            Kernel::Copied(entry) => Launch::Copied(device.prepare(entry, config)?),
            Kernel::Scaled(entry) => Launch::Scaled(device.prepare(entry, config)?, c),
        };
        Ok(Product {
            launch,
            maps,
            problem,
            matrices: PhantomData,
        })
    }

    /// Puts the product into the stream.
    ///
    /// # Safety
    /// The buffers and this value stay alive until the stream has been synchronised; until then nothing writes `A` and `B`, and nothing
    /// else reads or writes `C`.
    ///
    /// # Errors
    /// As for [`Prepared::launch`].
    pub unsafe fn launch(&self, stream: &Stream<'_>) -> Result<(), DriverError> {
        let map = |number: usize| self.maps.slice(number..number + 1);
        match &self.launch {
            Launch::Nothing => Ok(()),
            Launch::Copied(prepared) => {
                let arguments = (map(0), map(1), map(2), self.problem);
                // SAFETY: the maps are of the matrices, which lie where they say, and the caller vouches for the rest.
                unsafe { prepared.launch(stream, &arguments) }
            }
            Launch::Scaled(prepared, c) => {
                // SAFETY: the same memory, as long as `C` is borrowed.
                let view = unsafe { SliceMut::from_raw(c.view.as_ptr(), c.view.len()) };
                let view = match c.view.home() {
                    // SAFETY: it is the memory's own.
                    Some(home) => unsafe { view.of(home) },
                    None => view,
                };
                // SAFETY: as above.
                unsafe { prepared.launch(stream, &(map(0), map(1), view, self.problem)) }
            }
        }
    }
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
