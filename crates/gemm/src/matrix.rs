//! Matrices in device memory.

use cuda_std::launch::{Slice, SliceMut};

use crate::error::{GemmError, Size};

macro_rules! matrices {
    ($($(#[$doc:meta])* $name:ident of $view:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name<'a, T> {
            pub(crate) view: $view<'a, T>,
            pub(crate) size: Size,
            pub(crate) pitch: usize,
        }

        impl<'a, T> $name<'a, T> {
            /// A matrix whose rows lie one behind the other.
            pub fn new(view: $view<'a, T>, rows: usize, columns: usize) -> Self {
                $name { view, size: Size(rows, columns), pitch: columns }
            }

            /// The same with `pitch` elements from the beginning of one row to that of the next.
            #[must_use]
            pub fn with_pitch(self, pitch: usize) -> Self {
                $name { pitch, ..self }
            }

            /// Sees that all rows lie in the view.
            pub(crate) fn check(&self, name: &'static str) -> Result<(), GemmError> {
                let Size(rows, columns) = self.size;
                let end = rows.saturating_sub(1).saturating_mul(self.pitch).saturating_add(columns);
                let reason = if self.pitch < columns {
                    "rows overlap".to_owned()
                } else if rows > 0 && columns > 0 && end > self.view.len() {
                    format!("it ends {end} elements into memory of {}", self.view.len())
                } else if [rows, columns, self.pitch].into_iter().any(|extent| i32::try_from(extent).is_err()) {
                    format!("sizes below {} are allowed", i32::MAX)
                } else {
                    return Ok(());
                };
                Err(GemmError::Memory { name, size: self.size, pitch: self.pitch, reason })
            }
        }
    )*};
}

matrices! {
    /// A matrix in row-major order that is read.
    Matrix of Slice;
    /// A matrix in row-major order that is written.
    MatrixMut of SliceMut;
}

/// The order of `B`, as [`Right`] has it, without the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Columns of `B` are dense.
    ByColumns,
    /// Rows of `B` are dense.
    ByRows,
}

/// `B`, of `k` rows and `n` columns, in one of two orders.
pub enum Right<'a, T> {
    /// As the matrix of `n` rows and `k` columns whose transpose it is: columns of `B` are dense.
    ByColumns(Matrix<'a, T>),
    /// As itself: rows of `B` are dense.
    ByRows(Matrix<'a, T>),
}

impl<T> Right<'_, T> {
    pub(crate) fn matrix(&self) -> &Matrix<'_, T> {
        match self {
            Right::ByColumns(matrix) | Right::ByRows(matrix) => matrix,
        }
    }

    pub(crate) fn order(&self) -> Order {
        match self {
            Right::ByColumns(_) => Order::ByColumns,
            Right::ByRows(_) => Order::ByRows,
        }
    }

    /// Rows and columns of `B` as it multiplies.
    pub(crate) fn size(&self) -> Size {
        match self {
            Right::ByColumns(Matrix { size, .. }) => Size(size.1, size.0),
            Right::ByRows(Matrix { size, .. }) => *size,
        }
    }
}
