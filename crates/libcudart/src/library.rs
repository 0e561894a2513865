//! Modules that a program loads itself.

use std::ffi::c_int;

use crate::arguments::{In, Out, Text};
use crate::driver::Handle;

runtime! {
    fn cudaLibraryLoadData(
        to: Out<Handle>, image: In<u8>, options: In<c_int>, values: In<usize>, count: u32,
        library_options: In<c_int>, library_values: In<usize>, library_count: u32,
    )
        [cuLibraryLoadData]
    fn cudaLibraryLoadFromFile(
        to: Out<Handle>, path: Text, options: In<c_int>, values: In<usize>, count: u32,
        library_options: In<c_int>, library_values: In<usize>, library_count: u32,
    )
        [cuLibraryLoadFromFile]
    fn cudaLibraryUnload(library: Handle) [cuLibraryUnload]
    fn cudaLibraryGetKernel(to: Out<Handle>, library: Handle, name: Text) [cuLibraryGetKernel]
    fn cudaLibraryGetGlobal(to: Out<u64>, bytes: Out<usize>, library: Handle, name: Text) [cuLibraryGetGlobal]
    fn cudaLibraryGetKernelCount(to: Out<u32>, library: Handle) [cuLibraryGetKernelCount]
    fn cudaLibraryEnumerateKernels(to: Out<Handle>, count: u32, library: Handle) [cuLibraryEnumerateKernels]
}
