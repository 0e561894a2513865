//! Kernels that somebody else compiled: a signature that the caller writes, because no `#[kernel]` did.

use core::marker::PhantomData;
use std::boxed::Box;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use bytemuck::NoUninit;

use super::{
    Bounds, Entry, Memory, MemoryList, Parameter, Passing, Signature, Sink, Slice, SliceMut,
};

/// The signature of a kernel that another compiler made: nvcc's, Triton's. `P` is the tuple of its
/// parameters, from none to 12.
///
/// | CUDA C++ | `P` | a launch takes |
/// |---|---|---|
/// | `const T*` | [`In<T>`] | [`Slice<T>`](Slice) |
/// | `T*` | [`Out<T>`] | [`SliceMut<T>`](SliceMut) |
/// | `int`, `float`, `bool`, a `struct` | `i32`, `f32`, `bool`, any [`NoUninit`] | the value |
///
/// A view is passed as a pointer alone: its length is a parameter of its own, if the kernel has one. For
/// `extern "C" __global__ void saxpy(int n, float a, const float* x, float* y)`:
///
/// ```
/// use cuda_std::launch::{Entry, Foreign, In, Out};
///
/// type Saxpy = Foreign<(i32, f32, In<f32>, Out<f32>)>;
/// let saxpy = Entry::<Saxpy>::foreign("saxpy");
/// assert_eq!(saxpy.name(), "saxpy");
/// assert!(saxpy.is_foreign());
/// ```
///
/// Nothing compares it with the kernel: whoever launches vouches for it, with `Prepared::launch`, and there is
/// no `run`. The emulator executes the PTX that is loaded.
pub struct Foreign<P>(PhantomData<fn() -> P>);

impl<P: ForeignParameters> Signature for Foreign<P> {
    type Arguments<'a> = P::Arguments<'a>;
}

impl<P: ForeignParameters> Entry<Foreign<P>> {
    /// The kernel that the loaded file has under this name. C++ changes the names of its functions, unless
    /// they are `extern "C"`.
    ///
    /// Each name is kept until the process ends, once however often it is asked for.
    pub fn foreign(name: &str) -> Entry<Foreign<P>> {
        Entry {
            name: kept(name),
            parameters: P::PARAMETERS,
            bounds: Bounds::default(),
            digest: None,
            marshal: P::marshal,
            memory: P::memory,
            call: no_body::<P>,
            is_own: false,
            is_foreign: true,
        }
    }
}

/// In place of a function that nobody has.
unsafe fn no_body<P: ForeignParameters>(_: &P::Arguments<'_>) {
    panic!("a foreign kernel has no function that the emulator could run");
}

/// The name, for as long as the process runs.
pub(super) fn kept(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.into());
    names.insert(name);
    name
}

/// A parameter `const T*`: memory that the kernel reads.
pub struct In<T>(PhantomData<fn() -> T>);

/// A parameter `T*`: memory that the kernel writes, and may read.
pub struct Out<T>(PhantomData<fn() -> T>);

/// A parameter of a [`Foreign`] kernel: [`In`], [`Out`], or a value. A value is of a type whose layout is
/// C's and has no padding; a pointer that no buffer has, such as a null pointer, is a `u64`.
///
/// ```
/// use cuda_std::launch::{ForeignParameter, In, Out, Passing, Slice};
///
/// assert_eq!(<In<f32> as ForeignParameter>::TYPE, "*const _");
/// assert_eq!(<Out<f32> as ForeignParameter>::PASSING, Passing::Pointer);
/// assert_eq!(<f64 as ForeignParameter>::PASSING, Passing::Value { size: 8 });
///
/// let x = [1.0_f32; 4];
/// // SAFETY: the array outlives the view.
/// let argument: <In<f32> as ForeignParameter>::Argument<'_> = unsafe { Slice::from_raw(x.as_ptr(), 4) };
/// let mut addresses = Vec::new();
/// <In<f32> as ForeignParameter>::marshal(&argument, &mut |address, _| addresses.push(address));
/// assert_eq!(addresses, [argument.pointer_parameter()]);
/// let memory = <In<f32> as ForeignParameter>::memory(&argument, "x").expect("a pointer");
/// assert_eq!(memory.len, 4);
/// ```
pub trait ForeignParameter: 'static {
    /// The argument that a launch takes for it.
    type Argument<'a>;
    /// Its type as far as it is known: `*const _`, `*mut _` or `_`.
    const TYPE: &'static str;
    /// How it is passed.
    const PASSING: Passing;

    /// As [`Kernel::marshal`](super::Kernel::marshal), for this parameter.
    fn marshal(argument: &Self::Argument<'_>, sink: &mut Sink<'_>);

    /// The memory that the argument of the parameter `name` points to, if it does.
    fn memory(argument: &Self::Argument<'_>, name: &'static str) -> Option<Memory>;
}

macro_rules! pointers {
    ($($parameter:ident: $view:ident, $ty:literal;)*) => {$(
        impl<T: 'static> ForeignParameter for $parameter<T> {
            type Argument<'a> = $view<'a, T>;
            const TYPE: &'static str = $ty;
            const PASSING: Passing = Passing::Pointer;

            fn marshal(argument: &Self::Argument<'_>, sink: &mut Sink<'_>) {
                sink(argument.pointer_parameter(), argument.home());
            }

            fn memory(argument: &Self::Argument<'_>, name: &'static str) -> Option<Memory> {
                Some(argument.memory(name))
            }
        }
    )*};
}

pointers! {
    In: Slice, "*const _";
    Out: SliceMut, "*mut _";
}

impl<T: NoUninit> ForeignParameter for T {
    type Argument<'a> = T;
    const TYPE: &'static str = "_";
    const PASSING: Passing = Passing::Value {
        size: size_of::<T>(),
    };

    fn marshal(argument: &T, sink: &mut Sink<'_>) {
        // As `#[kernel]` does: a value without bytes is no parameter.
        if size_of::<T>() > 0 {
            sink((&raw const *argument).cast(), None);
        }
    }

    fn memory(_: &T, _: &'static str) -> Option<Memory> {
        None
    }
}

/// The parameters of a [`Foreign`] kernel, in order: a tuple of [`ForeignParameter`]s. Each is named by its
/// place, from `0` on.
///
/// ```
/// use cuda_std::launch::{ForeignParameters, In, Slice};
///
/// type Parameters = (i32, In<f32>);
/// assert_eq!(<Parameters as ForeignParameters>::PARAMETERS[1].name, "1");
///
/// let x = [1.0_f32; 4];
/// // SAFETY: the array outlives the view.
/// let arguments: <Parameters as ForeignParameters>::Arguments<'_> =
///     unsafe { (7, Slice::from_raw(x.as_ptr(), 4)) };
/// let mut parameters = 0;
/// <Parameters as ForeignParameters>::marshal(&arguments, &mut |_, _| parameters += 1);
/// assert_eq!(parameters, 2);
/// // The value lends no memory.
/// let lent = <Parameters as ForeignParameters>::memory(&arguments);
/// assert_eq!(lent.len(), 1);
/// ```
pub trait ForeignParameters: 'static {
    /// The tuple of what a launch takes.
    type Arguments<'a>;
    /// The description of each.
    const PARAMETERS: &'static [Parameter];

    /// See [`Kernel::marshal`](super::Kernel::marshal).
    fn marshal(arguments: &Self::Arguments<'_>, sink: &mut Sink<'_>);

    /// See [`Kernel::memory`](super::Kernel::memory).
    fn memory(arguments: &Self::Arguments<'_>) -> MemoryList;
}

macro_rules! tuple {
    ($($parameter:ident $place:tt)*) => {
        impl<$($parameter: ForeignParameter),*> ForeignParameters for ($($parameter,)*) {
            type Arguments<'a> = ($($parameter::Argument<'a>,)*);
            const PARAMETERS: &'static [Parameter] = &[$(Parameter {
                name: stringify!($place),
                ty: $parameter::TYPE,
                passing: $parameter::PASSING,
            }),*];

            #[allow(unused_variables)]
            fn marshal(arguments: &Self::Arguments<'_>, sink: &mut Sink<'_>) {
                $($parameter::marshal(&arguments.$place, sink);)*
            }

            #[allow(unused_variables)]
            fn memory(arguments: &Self::Arguments<'_>) -> MemoryList {
                let each: [Option<Memory>; _] =
                    [$($parameter::memory(&arguments.$place, stringify!($place))),*];
                each.into_iter().flatten().collect()
            }
        }
    };
}

/// The tuple of all, and each that begins as it does.
macro_rules! tuples {
    ([$($first:tt)*]) => {
        tuple!($($first)*);
    };
    ([$($first:tt)*] $parameter:ident $place:tt $($rest:tt)*) => {
        tuple!($($first)*);
        tuples!([$($first)* $parameter $place] $($rest)*);
    };
}

tuples!([] A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11);
