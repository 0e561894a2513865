//! Host memory is one space.

use crate::ptr::AddressSpace;

#[inline]
pub(crate) fn is_in(_pointer: *const u8, space: AddressSpace) -> bool {
    space == AddressSpace::Global
}

#[inline]
pub(crate) fn to_specific(pointer: *const u8, _space: AddressSpace) -> *const u8 {
    pointer
}

#[inline]
pub(crate) fn to_generic(pointer: *const u8, _space: AddressSpace) -> *const u8 {
    pointer
}
