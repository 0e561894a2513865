//! The attribute macros of `ptx-std`. Use them through that crate: the code they write names it
//! `cuda_std`, the name under which kernel crates depend on it.

use proc_macro::TokenStream;

mod kernel;

/// Turns an `unsafe fn` into a GPU kernel.
///
/// Compiled for the GPU, the function becomes a PTX entry of the same name. Compiled for the host,
/// it stays a function that the emulator runs once for every thread of a grid, and a type of the
/// same name describes it (`cuda_std::launch::Kernel`), from which typed launches are made.
///
/// | parameter | PTX parameters | launch argument |
/// |---|---|---|
/// | `&[T]` | pointer, length in elements (u64) | `Slice<'_, T>` |
/// | `*const T` | pointer | `Slice<'_, T>` |
/// | `*mut T` | pointer | `SliceMut<'_, T>` |
/// | any other `T: Copy` | by value | `T` |
///
/// Refused, each at the offending tokens: a function that is not `unsafe` (its threads share raw
/// memory, which no signature can vouch for), a return value, `self`, generics, `async`, `const`,
/// an ABI of its own, `&mut` references and patterns in place of parameter names.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(attribute.into(), item.into())
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
