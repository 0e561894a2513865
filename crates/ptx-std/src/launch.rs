//! The description of a kernel for the host: its name, its parameters and the arguments a launch takes.
//!
//! `#[kernel]` writes all of it from the kernel's own signature, so a launch with a wrong argument
//! list does not compile. [`Entry`] is the same description as a value, for tables of kernels that
//! take the same arguments. [`Foreign`] describes a kernel that somebody else compiled, [`Untyped`] one whose
//! parameters are known when the program runs.
//!
//! ```
//! use cuda_std::launch::{Bounds, Kernel, Parameter, Passing, SafeKernel, Slice, SliceMut};
//! use cuda_std::prelude::*;
//!
//! #[kernel(max_threads = 256, min_blocks = 4)]
//! pub fn scale(x: &[f32], mut y: Output<f32>, a: f32) {
//!     for (x, y) in y.own_with(x) {
//!         *y = a * x;
//!     }
//! }
//!
//! // What the attribute has written:
//! assert_eq!(scale::NAME, "scale");
//! let a = Parameter { name: "a", ty: "f32", passing: Passing::Value { size: 4 } };
//! assert_eq!(scale::PARAMETERS[2], a);
//! assert_eq!(scale::PARAMETERS[0].passing, Passing::Slice);
//! assert_eq!(scale::PARAMETERS[1].passing, Passing::Output);
//! assert_eq!(scale::BOUNDS, Bounds { max_threads: Some(256), min_blocks: Some(4), block: None });
//! assert_eq!(scale::entry().digest(), Some(scale::DIGEST));
//!
//! /// Runs a safe kernel on the host, as an emulator does.
//! fn run<K: SafeKernel>(arguments: &K::Arguments<'_>) {
//!     let shape = simt::Shape { grid: [1, 1, 1], block: [64, 1, 1], dynamic_shared: 0 };
//!     // SAFETY: the kernel is safe; whoever made the views vouches for the buffers.
//!     let launch = simt::Launch::new(shape).run(&|| unsafe { K::call(arguments) });
//!     launch.expect("a launch on the host");
//! }
//!
//! let (x, mut y) = ([1.5_f32; 100], [0.0_f32; 100]);
//! // SAFETY: the arrays outlive the launch.
//! let views = unsafe { (Slice::from_raw(x.as_ptr(), 100), SliceMut::from_raw(y.as_mut_ptr(), 100)) };
//! run::<scale>(&(views.0, views.1, 2.0));
//! assert_eq!(y, [3.0; 100]);
//! ```

mod foreign;
mod shaped;
mod untyped;
mod views;

use core::ffi::c_void;
use core::marker::PhantomData;
use std::string::String;
use std::vec::Vec;

pub use crate::output::output_length;
pub use foreign::{Foreign, ForeignParameter, ForeignParameters, In, Out};
pub use shaped::{ShapeError, ShapedMut};
pub use untyped::{Argument, Untyped};
pub use views::{HasAtomic, Slice, SliceMut};

/// The arguments that a launch takes, as a tuple of [`Slice`]s, [`SliceMut`]s and values.
///
/// A signature of one's own is that of a table of kernels: see [`Entry`].
pub trait Signature: 'static {
    /// The arguments, borrowed from their buffers for `'a`.
    type Arguments<'a>;
}

/// A kernel, described. Implemented by `#[kernel]` for a type of the kernel's own name.
pub trait Kernel: Signature + Sized {
    /// The name of the entry in the PTX.
    const NAME: &'static str;
    /// The parameters as the kernel's author wrote them.
    const PARAMETERS: &'static [Parameter];
    /// The blocks that it is made for.
    const BOUNDS: Bounds;
    /// The digest that tells the kernel's PTX from that of every other source: the PTX has it in a comment.
    const DIGEST: u64;

    /// Hands `sink` the address of each PTX parameter's value, in order, and with a pointer whose
    /// memory it points to. The addresses are good for as long as `arguments` is borrowed.
    fn marshal(arguments: &Self::Arguments<'_>, sink: &mut Sink<'_>);

    /// The memory that the arguments point to.
    fn memory(arguments: &Self::Arguments<'_>) -> MemoryList;

    /// Runs the kernel's function for the emulated thread that is entered on this host thread.
    ///
    /// # Safety
    /// The kernel's own contract, with every buffer alive and in host memory.
    unsafe fn call(arguments: &Self::Arguments<'_>);

    /// The description as a value.
    fn entry() -> Entry<Self> {
        Entry::of_kernel()
    }
}

/// A type that may have lifetimes which its author did not write, as it is while a launch runs: what a
/// function returns whose one argument lives as long. `#[kernel]` writes `<fn(&()) -> Scene as
/// During<'a>>::Type`, which is `Scene<'a>`, and `Scene` where it has none.
#[doc(hidden)]
pub trait During<'a> {
    /// The type.
    type Type;
}

impl<'a, F: Fn(&'a ()) -> T, T> During<'a> for F {
    type Type = T;
}

/// Receives the address of each PTX parameter's value and, for a view, the device that its memory
/// belongs to.
pub type Sink<'s> = dyn FnMut(*const c_void, Option<&'static Home>) + 's;

/// A kernel that is a safe function: whatever its arguments are, a launch of it is sound as long as they
/// live. `#[kernel]` implements it for each `fn` that is not `unsafe`.
///
/// # Safety
/// The constants and functions of [`Kernel`] all describe one `fn` that is not `unsafe`, and
/// [`Kernel::call`] asks only that the buffers are alive, that nobody writes what the kernel reads, and
/// that nobody else reads or writes what it writes.
#[diagnostic::on_unimplemented(
    message = "the kernel `{Self}` is an `unsafe fn`, or a table's entry that may be one",
    note = "`Prepared::launch`, which is unsafe, takes any kernel"
)]
pub unsafe trait SafeKernel: Kernel {}

/// Hands the address of each PTX parameter's value to a sink.
pub type Marshal<S> = for<'a, 'b, 'c, 'd> fn(&'b <S as Signature>::Arguments<'a>, &'c mut Sink<'d>);

/// The memory that a launch's arguments point to.
pub type MemoryOf<S> = for<'a, 'b> fn(&'b <S as Signature>::Arguments<'a>) -> MemoryList;

/// Runs a kernel's function for one emulated thread.
pub type Call<S> = for<'a, 'b> unsafe fn(&'b <S as Signature>::Arguments<'a>);

/// A kernel's description as a value. `S` says which arguments a launch takes.
///
/// ```
/// use cuda_std::launch::*;
/// use cuda_std::prelude::*;
///
/// #[kernel]
/// pub fn negate(x: &[f32], mut y: Output<f32>) {
///     y.own_with(x).for_each(|(x, y)| *y = -x);
/// }
///
/// #[kernel(block = [32, 1, 1])]
/// pub fn square(x: &[f32], mut y: Output<f32>) {
///     y.own_with(x).for_each(|(x, y)| *y = x * x);
/// }
///
/// /// The parameters of all kernels of the table.
/// struct Unary;
/// impl Signature for Unary {
///     type Arguments<'a> = (Slice<'a, f32>, SliceMut<'a, f32>);
/// }
/// const TABLE: [Entry<Unary>; 2] =
///     [Entry::<negate>::of_kernel().with_signature(), Entry::<square>::of_kernel().with_signature()];
///
/// assert!(TABLE.map(|entry| entry.name()) == ["negate", "square"]);
/// assert_eq!(TABLE[1].bounds().block, Some([32, 1, 1]));
/// assert_eq!(TABLE[0].parameters(), negate::entry().parameters());
/// assert!(negate::entry().is_own() && !TABLE[0].is_own() && !TABLE[0].is_foreign());
///
/// let (x, mut y) = ([3.0_f32], [0.0_f32]);
/// // SAFETY: the arrays outlive the launch.
/// let arguments = unsafe { (Slice::from_raw(x.as_ptr(), 1), SliceMut::from_raw(y.as_mut_ptr(), 1)) };
///
/// // What a driver does with an entry. For a GPU: the address of each parameter of the PTX, ..
/// let marshal: Marshal<Unary> = TABLE[1].marshal();
/// let mut parameters = Vec::new();
/// let sink: &mut Sink<'_> = &mut |address, home| parameters.push((address, home));
/// marshal(&arguments, sink);
/// assert_eq!(parameters.len(), 4, "a slice is two");
/// // .. to check a launch, the memory that it lends, ..
/// let memory: MemoryOf<Unary> = TABLE[1].memory();
/// let lent: MemoryList = memory(&arguments);
/// assert_eq!((lent[0].parameter, lent[0].address, lent[0].len), ("x", x.as_ptr().addr(), 1));
/// assert!(lent[0].is_fixed && !lent[1].is_fixed);
/// // .. and on the host the function.
/// let call: Call<Unary> = TABLE[1].call();
/// let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// // SAFETY: the kernel is safe, and its buffers are in host memory.
/// simt::Launch::new(shape).run(&|| unsafe { call(&arguments) })?;
/// assert_eq!(y, [9.0]);
/// # Ok::<(), simt::LaunchError>(())
/// ```
pub struct Entry<S: Signature> {
    name: &'static str,
    parameters: &'static [Parameter],
    bounds: Bounds,
    /// Of a kernel whose PTX is compared with it.
    digest: Option<u64>,
    marshal: Marshal<S>,
    memory: MemoryOf<S>,
    call: Call<S>,
    /// Whether the signature is the kernel's own.
    is_own: bool,
    /// Whether somebody else compiled it, so that `call` has nothing to run.
    is_foreign: bool,
}

impl<K: Kernel> Entry<K> {
    /// As [`Kernel::entry`], for constants.
    pub const fn of_kernel() -> Entry<K> {
        Entry {
            name: K::NAME,
            parameters: K::PARAMETERS,
            bounds: K::BOUNDS,
            digest: Some(K::DIGEST),
            marshal: K::marshal,
            memory: K::memory,
            call: K::call,
            is_own: true,
            is_foreign: false,
        }
    }
}

impl<S: Signature> Entry<S> {
    /// The name of the entry in the PTX.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The parameters as the kernel's author wrote them; of a [`Foreign`] kernel, as its signature has them.
    pub fn parameters(&self) -> &'static [Parameter] {
        self.parameters
    }

    /// The blocks that it is made for.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// [`Kernel::DIGEST`], which the PTX that is launched has to have. None of a [`Foreign`] kernel, nor
    /// where somebody [vouches](Entry::of_any_ptx) for the PTX.
    pub fn digest(&self) -> Option<u64> {
        self.digest
    }

    /// The same kernel, launched from whatever the device has under its name: PTX that was written by hand or
    /// edited, machine code, the PTX of an older build.
    ///
    /// ```
    /// use cuda_std::prelude::*;
    ///
    /// #[kernel]
    /// pub fn fill(mut y: Output<u32>) {
    ///     y.own().for_each(|(i, y)| *y = i as u32);
    /// }
    ///
    /// assert!(fill::entry().digest().is_some());
    /// // SAFETY: the file that is going to be loaded was made of `fill` and edited: it does the same.
    /// let of_file = unsafe { fill::entry().of_any_ptx() };
    /// assert_eq!(of_file.digest(), None);
    /// ```
    ///
    /// # Safety
    /// The function that the device has under this name has the kernel's parameters, and does with them only what the
    /// kernel may: it reads and writes no other memory, and writes none that is lent for reading.
    #[must_use]
    pub const unsafe fn of_any_ptx(self) -> Entry<S> {
        Entry {
            digest: None,
            ..self
        }
    }

    /// See [`Kernel::marshal`].
    pub fn marshal(&self) -> Marshal<S> {
        self.marshal
    }

    /// See [`Kernel::memory`].
    pub fn memory(&self) -> MemoryOf<S> {
        self.memory
    }

    /// See [`Kernel::call`]. That of a [foreign](Entry::is_foreign) kernel panics.
    pub fn call(&self) -> Call<S> {
        self.call
    }

    /// Whether `S` is the kernel itself, and not another [signature](Entry::with_signature): then a
    /// [`SafeKernel`] is what it says.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// Whether it is a [`Foreign`] kernel, of which a GPU has the machine code and the emulator the PTX.
    pub fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// The same kernel under another signature with the same arguments, so that one table can
    /// hold several kernels.
    pub const fn with_signature<T>(self) -> Entry<T>
    where
        T: for<'a> Signature<Arguments<'a> = <S as Signature>::Arguments<'a>>,
    {
        Entry {
            name: self.name,
            parameters: self.parameters,
            bounds: self.bounds,
            digest: self.digest,
            marshal: self.marshal,
            memory: self.memory,
            call: self.call,
            is_own: false,
            is_foreign: self.is_foreign,
        }
    }
}

impl<S: Signature> Clone for Entry<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Signature> Copy for Entry<S> {}

/// The blocks that a kernel is made for, as `#[kernel(..)]` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The most threads that a block may have.
    pub max_threads: Option<u32>,
    /// How many blocks are to fit on a multiprocessor at once.
    pub min_blocks: Option<u32>,
    /// The only block that it may have, x, y, z.
    pub block: Option<[u32; 3]>,
}

/// One parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its type, as written.
    pub ty: &'static str,
    /// How it is passed.
    pub passing: Passing,
}

/// The device that memory and kernels belong to. Two are equal only if they are the same value; names
/// are not compared.
///
/// ```
/// use cuda_std::launch::{Home, Slice};
///
/// let homes = ["cuda:0", "cuda:0"].map(|name| Home::new(name.to_owned()));
/// assert_eq!(homes[0].name(), homes[1].name());
/// assert_ne!(homes[0], homes[1]); // Two devices of one name.
///
/// let home: &'static Home = Box::leak(Box::new(Home::new("the host".to_owned())));
/// let x = [1.0_f32; 4];
/// // SAFETY: the array outlives the view, and is in the memory that `home` stands for.
/// let view = unsafe { Slice::from_raw(x.as_ptr(), 4).of(home) };
/// assert_eq!(view.home(), Some(home));
/// ```
#[derive(Debug)]
pub struct Home {
    name: String,
}

impl Home {
    /// A device of this name, different from every other.
    pub fn new(name: String) -> Home {
        Home { name }
    }

    /// The name for people: "cuda:1 (NVIDIA H200)".
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl PartialEq for Home {
    fn eq(&self, other: &Home) -> bool {
        core::ptr::eq(self, other)
    }
}

impl Eq for Home {}

/// Memory that a launch lends to its kernel.
///
/// ```
/// use cuda_std::launch::{Memory, Slice};
///
/// let x = [1.0_f32; 4];
/// // SAFETY: the array outlives the view.
/// let memory = unsafe { Slice::from_raw(x.as_ptr(), 4) }.memory("x");
/// let expected = Memory {
///     parameter: "x",
///     address: x.as_ptr().addr(),
///     len: 4,
///     element_bytes: 4,
///     home: None,
///     is_fixed: false,
/// };
/// assert_eq!(memory, expected);
/// assert!(memory.shared(true).is_fixed); // Of a parameter `&[f32]`.
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The parameter that points to it.
    pub parameter: &'static str,
    /// Where it begins.
    pub address: usize,
    /// How many elements there are.
    pub len: usize,
    /// The size of one, in bytes.
    pub element_bytes: usize,
    /// The device whose memory it is, where that is known.
    pub home: Option<&'static Home>,
    /// Whether the parameter is a `&` that says that the kernel does not write through it.
    pub is_fixed: bool,
}

impl Memory {
    /// The same, of a parameter that is a `&`.
    #[must_use]
    pub fn shared(self, is_fixed: bool) -> Memory {
        Memory { is_fixed, ..self }
    }
}

/// Tells `#[kernel]` of a `&T` whether nobody may write to the `T`: `Shared::<T>::IS_FIXED`. There is
/// no `UnsafeCell` in a `Copy` type; of others nothing is known ([`MayChange`]).
#[doc(hidden)]
pub struct Shared<T>(PhantomData<T>);

impl<T: Copy> Shared<T> {
    /// It stays as it is.
    pub const IS_FIXED: bool = true;
}

/// The constant of all types that are not `Copy`.
#[doc(hidden)]
pub trait MayChange {
    /// It may change.
    const IS_FIXED: bool = false;
}

impl<T> MayChange for Shared<T> {}

/// All memory that a launch lends, one entry per parameter.
pub type MemoryList = Vec<Memory>;

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// Two PTX parameters: pointer, then length in elements.
    Slice,
    /// As [`Passing::Slice`], with a length that may say what the grid is: see [`output_length`].
    Output,
    /// A pointer, then the extents: a PTX parameter each.
    Shaped {
        /// How many extents.
        dimensions: usize,
    },
    /// One PTX parameter, a pointer.
    Pointer,
    /// One PTX parameter, the value.
    Value {
        /// Its size in bytes.
        size: usize,
    },
}

impl Passing {
    /// The sizes in bytes of its PTX parameters. A value without bytes has none.
    ///
    /// ```
    /// use cuda_std::launch::Passing;
    ///
    /// let of = |passing: Passing| passing.parameter_bytes().collect::<Vec<_>>();
    /// assert_eq!(of(Passing::Slice), [8, 8]);
    /// assert_eq!(of(Passing::Shaped { dimensions: 2 }), [8, 8, 8]);
    /// assert_eq!(of(Passing::Value { size: 0 }), []);
    /// ```
    pub fn parameter_bytes(self) -> impl Iterator<Item = u64> {
        let (count, bytes) = match self {
            Passing::Slice | Passing::Output => (2, 8),
            Passing::Shaped { dimensions } => (1 + dimensions, 8),
            Passing::Pointer => (1, 8),
            Passing::Value { size } => (usize::from(size > 0), size as u64),
        };
        core::iter::repeat_n(bytes, count)
    }
}
