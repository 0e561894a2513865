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

/// The same view once more.
pub(crate) fn same<'a, T>(view: &Slice<'a, T>) -> Slice<'a, T> {
    // SAFETY: the view's own memory, and as long as it.
    let again = unsafe { Slice::from_raw(view.as_ptr(), view.len()) };
    match view.home() {
        // SAFETY: it is the memory's own.
        Some(home) => unsafe { again.of(home) },
        None => again,
    }
}

impl<T> MatrixMut<'_, T> {
    /// The memory once more, for one launch.
    pub(crate) fn again(&self) -> SliceMut<'_, T> {
        // SAFETY: the same memory, as long as it is borrowed.
        let view = unsafe { SliceMut::from_raw(self.view.as_ptr(), self.view.len()) };
        match self.view.home() {
            // SAFETY: it is the memory's own.
            Some(home) => unsafe { view.of(home) },
            None => view,
        }
    }

    /// The memory as what is read, for the time of a call in which nothing reads it.
    pub(crate) fn as_read(&self) -> Matrix<'_, T> {
        // SAFETY: it is borrowed, and nothing reads it.
        let view = unsafe { Slice::from_raw(self.view.as_ptr().cast_const(), self.view.len()) };
        Matrix {
            view: match self.view.home() {
                // SAFETY: it is the memory's own.
                Some(home) => unsafe { view.of(home) },
                None => view,
            },
            size: self.size,
            pitch: self.pitch,
        }
    }
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

impl<'a, T> Right<'a, T> {
    pub(crate) fn matrix(&self) -> &Matrix<'a, T> {
        match self {
            Right::ByColumns(matrix) | Right::ByRows(matrix) => matrix,
        }
    }

    pub(crate) fn into_matrix(self) -> Matrix<'a, T> {
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
