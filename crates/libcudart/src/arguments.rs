//! Pointers that a caller hands over. Only such callers make them, or functions of this library of their own values: that what they
//! point to is as large as the type says is the contract of each `extern "C"` function, and null is refused here.

use std::ffi::{CStr, c_char};

use crate::status::{Answer, Error};

/// Where an answer goes.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// A place of this library, for an answer of the driver.
    pub(crate) fn of(place: &mut T) -> Out<T> {
        Out(place)
    }

    /// Of the caller, as a number that it has in a structure.
    pub(crate) fn at(address: usize) -> Out<T> {
        Out(std::ptr::with_exposed_provenance_mut(address))
    }

    /// The address, for answers at several places behind it.
    pub(crate) fn address(self) -> usize {
        self.0.expose_provenance()
    }

    /// Refuses null, before anything is done.
    pub(crate) fn check(self) -> Answer {
        match self.0.is_null() {
            true => Err(Error::INVALID_VALUE),
            false => Ok(()),
        }
    }

    /// Writes the answer.
    pub(crate) fn put(self, value: T) -> Answer {
        self.check()?;
        // SAFETY: it is not null, so it points to a `T`, by the contract of the function that was given it.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Writes the answer where the caller has asked for it.
    pub(crate) fn put_if_asked(self, value: T) {
        let _ = self.put(value);
    }

    /// Writes answers side by side, into room for as many.
    pub(crate) fn put_all(self, values: &[T]) -> Answer
    where
        T: Copy,
    {
        self.check()?;
        for (index, &value) in values.iter().enumerate() {
            // SAFETY: it is not null, so the caller has room for as many as the function's description says, which are no fewer.
            unsafe { self.0.add(index).write_unaligned(value) };
        }
        Ok(())
    }
}

/// A caller's description: one or several of a type.
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// A value of this library, for the driver.
    pub(crate) fn of(value: &T) -> In<T> {
        In(value)
    }

    /// Of the caller, as a number that it has in a structure.
    pub(crate) fn at(address: usize) -> In<T> {
        In(std::ptr::with_exposed_provenance(address))
    }

    pub(crate) fn null() -> In<T> {
        In(std::ptr::null())
    }

    pub(crate) fn get(self) -> Answer<T> {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: it is not null, so it points to a `T`, by the contract of the function that was given it.
        Ok(unsafe { self.0.read_unaligned() })
    }
}

/// Text of a caller, which ends with NUL.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Text(*const c_char);

impl Text {
    pub(crate) fn of(text: &CStr) -> Text {
        Text(text.as_ptr())
    }

    /// A copy that stays.
    pub(crate) fn get(self) -> Option<std::ffi::CString> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: it is not null, so it points to text that ends with NUL, by the contract of the function that was given it.
        Some(unsafe { CStr::from_ptr(self.0) }.to_owned())
    }
}

/// Of a grid or block, in each dimension.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dim3 {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) z: u32,
}
