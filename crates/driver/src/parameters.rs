//! A launch's parameters, as a driver copies them.

use std::ffi::c_void;

use cuda_std::launch::{Entry, Home, Passing, Signature, output_length};
use smallvec::SmallVec;

/// The addresses of the values, good for as long as the arguments are borrowed.
pub(super) struct Parameters {
    addresses: SmallVec<[*mut c_void; PARAMETERS]>,
    /// Lengths of outputs that say what the grid is, each with its place among the parameters.
    lengths: SmallVec<[(usize, usize); OUTPUTS]>,
}

impl Parameters {
    /// Those of a launch of this shape. `seen` is told whose memory each view is of.
    pub(super) fn of<S: Signature>(
        entry: &Entry<S>,
        shape: simt::Shape,
        arguments: &S::Arguments<'_>,
        mut seen: impl FnMut(&'static Home),
    ) -> Parameters {
        let mut addresses: SmallVec<[*mut c_void; PARAMETERS]> = SmallVec::new();
        (entry.marshal())(arguments, &mut |address, home| {
            home.into_iter().for_each(&mut seen);
            addresses.push(address.cast_mut());
        });
        let length = |place: usize| {
            // SAFETY: the description says that the parameter in this place is a length, and `marshal` has given the
            // address of one that is borrowed.
            (place, unsafe { *addresses[place].cast::<usize>() })
        };
        let mut lengths: SmallVec<[_; OUTPUTS]> = output_lengths(entry).map(length).collect();
        let longest = lengths.iter().map(|(_, len)| *len).max().unwrap_or(0);
        for (_, len) in &mut lengths {
            *len = output_length(*len, longest, shape.grid, shape.block);
        }
        Parameters { addresses, lengths }
    }

    /// The addresses, good for as long as this stays where it is, too.
    pub(super) fn addresses(&mut self) -> &mut [*mut c_void] {
        for (place, length) in &mut self.lengths {
            self.addresses[*place] = (&raw mut *length).cast();
        }
        &mut self.addresses
    }
}

/// The places of the outputs' lengths among the parameters. Only PTX that was made of the kernel's source is known to
/// take them with what they say.
fn output_lengths<S: Signature>(entry: &Entry<S>) -> impl Iterator<Item = usize> {
    let of_source = entry.digest().is_some();
    let parameters = entry.parameters().iter().filter(move |_| of_source);
    let ends = parameters.scan(0, |end, parameter| {
        *end += parameter.passing.parameter_bytes().count();
        Some((parameter.passing, *end))
    });
    ends.filter(|(passing, _)| *passing == Passing::Output)
        .map(|(_, end)| end - 1)
}

/// Parameters of most kernels: more of them take an allocation per launch.
const PARAMETERS: usize = 16;

/// Outputs of most kernels.
const OUTPUTS: usize = 4;
