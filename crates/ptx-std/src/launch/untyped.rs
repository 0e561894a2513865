//! Kernels whose parameters a program learns when it runs, from PTX that it was given.

use std::boxed::Box;
use std::vec::Vec;

use super::foreign::kept;
use super::{Bounds, Entry, Memory, MemoryList, Parameter, Passing, Signature, Sink, SliceMut};

/// The signature of a kernel whose parameters are data: no type of this program says what they are.
/// A launch takes an [`Argument`] for each.
///
/// ```
/// use cuda_std::launch::{Argument, Entry, Passing, SliceMut, Untyped};
///
/// let entry = Entry::<Untyped>::untyped("scale", &[Passing::Value { size: 4 }, Passing::Pointer]);
/// assert!(entry.is_foreign());
/// assert_eq!(entry.parameters().len(), 2);
///
/// let (two, mut y) = (2f32.to_le_bytes(), [0_u8; 400]);
/// let arguments = [
///     Argument::Value(&two),
///     Argument::Memory {
///         name: "y",
///         element_bytes: 4,
///         // SAFETY: the array outlives the view.
///         view: unsafe { SliceMut::from_raw(y.as_mut_ptr(), 400) },
///     },
/// ];
/// let lent = entry.memory()(&&arguments[..]);
/// assert_eq!((lent[0].parameter, lent[0].len), ("y", 100));
/// ```
///
/// As of a [`Foreign`](super::Foreign) kernel, whoever launches vouches for the list.
pub struct Untyped;

impl Signature for Untyped {
    type Arguments<'a> = &'a [Argument<'a>];
}

/// The argument that an [`Untyped`] kernel is given for a parameter.
pub enum Argument<'a> {
    /// A value: its bytes, as the device has them.
    Value(&'a [u8]),
    /// A pointer to memory.
    Memory {
        /// The name in findings.
        name: &'static str,
        /// Bytes of an element, of which findings tell the number.
        element_bytes: usize,
        /// All bytes.
        view: SliceMut<'a, u8>,
    },
    /// Memory that the kernel reaches by a pointer in another argument's bytes or memory. It belongs to no parameter, and comes
    /// behind the arguments of all of them.
    Reached {
        /// The name in findings.
        name: &'static str,
        /// Bytes of an element, of which findings tell the number.
        element_bytes: usize,
        /// All bytes.
        view: SliceMut<'a, u8>,
    },
}

impl Entry<Untyped> {
    /// The kernel that the loaded file has under this name, with parameters that are passed so.
    ///
    /// The description is kept until the process ends.
    pub fn untyped(name: &str, parameters: &[Passing]) -> Entry<Untyped> {
        let places = parameters.iter().enumerate();
        let parameters = places.map(|(place, &passing)| Parameter {
            name: kept(&std::format!("{place}")),
            ty: "_",
            passing,
        });
        let parameters: Box<[Parameter]> = parameters.collect();
        Entry {
            name: kept(name),
            parameters: Box::leak(parameters),
            bounds: Bounds::default(),
            digest: None,
            marshal,
            memory,
            call: no_body,
            is_own: false,
            is_foreign: true,
        }
    }
}

fn marshal(arguments: &&[Argument<'_>], sink: &mut Sink<'_>) {
    for argument in arguments.iter() {
        match argument {
            Argument::Value(bytes) => sink(bytes.as_ptr().cast(), None),
            Argument::Memory { view, .. } => sink(view.pointer_parameter(), view.home()),
            Argument::Reached { .. } => {}
        }
    }
}

fn memory(arguments: &&[Argument<'_>]) -> MemoryList {
    let views = arguments.iter().filter_map(|argument| match argument {
        Argument::Value(_) => None,
        Argument::Memory {
            name,
            element_bytes,
            view,
        }
        | Argument::Reached {
            name,
            element_bytes,
            view,
        } => Some(Memory {
            len: view.len() / (*element_bytes).max(1),
            element_bytes: *element_bytes,
            ..view.memory(name)
        }),
    });
    views.collect::<Vec<_>>()
}

/// In place of a function that nobody has.
unsafe fn no_body(_: &&[Argument<'_>]) {
    panic!("a foreign kernel has no function that the emulator could run");
}
