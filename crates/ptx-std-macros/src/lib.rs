//! The attribute macros of `ptx-std`. Use them through that crate: the code they write names it
//! `cuda_std`, the name under which kernel crates depend on it.

use proc_macro::TokenStream;

mod bounds;
mod digest;
mod instances;
mod kernel;
mod lifetimes;
mod mark;
mod parameter;
mod space;
mod value;

/// Turns a function into a GPU kernel.
///
/// Compiled for the GPU, the function becomes a PTX entry of the same name. Compiled for the host,
/// it stays a function that the emulator runs once for every thread of a grid, and a type of the
/// same name describes it (`cuda_std::launch::Kernel`), from which typed launches are made. A
/// kernel's name is therefore also a type's name, and must not be that of a module that the kernel
/// uses, such as `thread`.
///
/// | parameter | PTX parameters | launch argument |
/// |---|---|---|
/// | `&[T]` | pointer, length in elements (u64) | `Slice<'_, T>` |
/// | `Output<T>` | pointer, length in elements (u64, as it is or by `launch::output_length`) | `SliceMut<'_, T>` |
/// | `Output2<T>`, `Output3<T>`, `WarpOutput<T>`, `BlockOutput<T>` | pointer, each extent (u64) | `ShapedMut<'_, T, D>` |
/// | `Workspace` | pointer, length in words (u64) | `SliceMut<'_, u32>` |
/// | `&T` | pointer | `Slice<'_, T>`, of which it is the first |
/// | `*const T` | pointer | `Slice<'_, T>` |
/// | `*mut T` | pointer | `SliceMut<'_, T>` |
/// | any other `T: Copy` | by value; none if it has no bytes | `T` |
///
/// A struct that is passed by value is `#[repr(C)]`: the host's compiler and the GPU's are two, and
/// without it each may order the fields in its own way. A kernel that is a safe function takes values
/// of `cuda_std::parameter::SafeValue` alone, which makes sure of it: numbers, and structs and enums that derive it.
/// No value is aligned to more than 16 bytes.
///
/// The attribute writes a digest of the kernel's source and of the layout of its parameters into the PTX
/// and into its description, so a launch of PTX that was made of other source is an error.
///
/// In a generic kernel's parameters `T::Acc` is that of the one trait which bounds `T`; where
/// several do, write `<T as Trait>::Acc`.
///
/// A kernel with a raw pointer is an `unsafe fn`.
///
/// `#[kernel(..)]` takes, in any combination:
///
/// - `max_threads = 256`: no launch has more threads per block, so the compiler may use more registers
///   a thread (`.maxntid`); a launch with more is an error before the driver sees it;
/// - `min_blocks = 4`: so many blocks are to fit on a multiprocessor at once, so the compiler uses
///   fewer registers (`.minnctapersm`);
/// - `block = [16, 16]`: launches have exactly this block, of no more threads than `max_threads` (`.reqntid`), and the
///   compiler knows its size, so that loops in steps of the block are unrolled;
/// - `instances(scale_f32<f32>, scale_f64<f64>)`: a generic function becomes one kernel for each;
/// - `allow(local_memory)`: lints of ptx-builder that do not apply to this kernel.
///
/// Lifetimes may be named, and are all that of the launch. A pattern may stand in place of a name.
/// `extern "C"` says nothing more.
///
/// Refused, each at the offending tokens: a return value, `self`, generics without instances,
/// `async`, `const`, other ABIs, `&mut`, `&'static`, `&str` and `&dyn` references, and attributes on
/// parameters.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    finish(kernel::expand(attribute.into(), item.into()))
}

/// Puts a static into an address space: `shared`, `constant` or `global`, where statics are anyway.
///
/// Of a shared static each block has its own. Its initial value is ignored, because shared memory has
/// none: use `MaybeUninit`, or write before reading. Without `mut` it can be read without `unsafe`, and is
/// of a type for which any bits are a value (`cuda_std::shared::AnyBits`): an atomic, or a `MaybeUninit`,
/// which is written through a pointer from `MaybeUninit::as_ptr`.
///
/// A constant static is read through the constant cache, which is fast where all lanes of a warp
/// read the same element. A kernel reads it; the host may replace it before a launch through the
/// module's global of the static's own name.
///
/// In an `extern` block a static has no value to place: it stays the name of something that others
/// define.
#[proc_macro_attribute]
pub fn address_space(attribute: TokenStream, item: TokenStream) -> TokenStream {
    finish(space::address_space(attribute.into(), item.into()))
}

/// `shared_array![T; N]`: a block's array of `N` elements in shared memory, as a `*mut T` aligned
/// to 16 bytes.
///
/// Each place in the source is one array, however often it is inlined or unrolled. In a generic
/// function each element type and each size has its own.
#[proc_macro]
pub fn shared_array(input: TokenStream) -> TokenStream {
    finish(space::shared_array(input.into()))
}

/// `shared_tile![T; N]`: a block's `N` numbers in shared memory, as a `SharedTile<T, N>`, which is filled and read
/// without `unsafe`. Each place in the source is one tile, as of `shared_array!`.
#[proc_macro]
pub fn shared_tile(input: TokenStream) -> TokenStream {
    finish(space::shared_tile(input.into()))
}

/// Lets a kernel that is a safe function take the type by value. It is `Copy`, and a `#[repr(C)]` struct whose fields
/// are such values or an enum without fields of a `#[repr(u32)]` or the like. See the trait.
#[proc_macro_derive(SafeValue)]
pub fn safe_value(item: TokenStream) -> TokenStream {
    finish(value::derive(item.into()))
}

/// A function that the host can compile and never call: there its body is a panic. So it cannot
/// return `impl Trait`, which a panic gives no type.
#[proc_macro_attribute]
pub fn gpu_only(_: TokenStream, item: TokenStream) -> TokenStream {
    finish(mark::gpu_only(item.into()))
}

/// Keeps a function or static in the PTX under its own name. On the host it is a function or static like
/// any other.
#[proc_macro_attribute]
pub fn externally_visible(_: TokenStream, item: TokenStream) -> TokenStream {
    mark::externally_visible(item.into()).into()
}

fn finish(expansion: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    expansion
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
