//! Pointers that a caller of the driver hands over. Only such callers make them: that what they point to is as large as
//! the type says is the contract of each `extern "C"` function, and null is refused here.

use std::ffi::{CStr, c_char};

use crate::status::{Answer, Status};

/// Where an answer goes.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    pub(crate) fn null() -> Out<T> {
        Out(std::ptr::null_mut())
    }

    /// Of a place whose address the program has given in another call.
    pub(crate) fn of_address(address: usize) -> Out<T> {
        Out(std::ptr::with_exposed_provenance_mut(address))
    }

    /// One of several places side by side, of which the function's arguments say how many there are.
    pub(crate) fn nth(self, index: usize) -> Out<T> {
        match self.is_null() {
            true => self,
            false => Out(self.0.wrapping_add(index)),
        }
    }

    /// Refuses null, before anything is done.
    pub(crate) fn check(self) -> Answer {
        match self.0.is_null() {
            true => Err(Status::INVALID_VALUE),
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

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The address as a number: where a program may pass either.
    pub(crate) fn address(self) -> usize {
        self.0 as usize
    }

    /// The same place for another type, which the function's other arguments name.
    pub(crate) fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// Reads what the caller has put there.
    pub(crate) fn get(self) -> Answer<T>
    where
        T: Copy,
    {
        self.check()?;
        // SAFETY: as in `put`.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Writes answers side by side, into room for as many.
    pub(crate) fn put_all(self, values: impl IntoIterator<Item = T>) -> Answer {
        self.check()?;
        for (index, value) in values.into_iter().enumerate() {
            // SAFETY: it is not null, so the caller has room for as many as the function's arguments say, which are
            // no fewer than the values that it is called with.
            unsafe { self.0.add(index).write_unaligned(value) };
        }
        Ok(())
    }
}

impl Out<c_char> {
    /// Writes text that ends with NUL, as much as fits.
    pub(crate) fn put_text(self, text: &str, room: usize) -> Answer {
        let Some(most) = room.checked_sub(1) else {
            return Err(Status::INVALID_VALUE);
        };
        let bytes = text.bytes().take(most).chain([0]);
        self.put_all(bytes.map(|it| it as c_char))
    }
}

/// A caller's description: one or several of a type.
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    pub(crate) fn null() -> In<T> {
        In(std::ptr::null())
    }

    /// Of a place whose address a structure of the caller's has.
    pub(crate) fn of_address(address: usize) -> In<T> {
        In(std::ptr::with_exposed_provenance(address))
    }

    pub(crate) fn get(self) -> Answer<T> {
        self.at(0)
    }

    /// One of several, of which the function's arguments say how many there are.
    pub(crate) fn at(self, index: usize) -> Answer<T> {
        if self.0.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: it is not null, so it points to as many as the function's arguments say.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }

    /// All of them: none needs no place.
    pub(crate) fn all(self, count: usize) -> Answer<Vec<T>> {
        (0..count).map(|index| self.at(index)).collect()
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn as_ptr(self) -> *const T {
        self.0
    }
}

/// Text of a caller, which ends with NUL.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text(*const c_char);

impl Text {
    pub(crate) fn get(self) -> Answer<String> {
        if self.0.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: it is not null, so it points to text that ends with NUL, by the contract of the function that was
        // given it.
        Ok(unsafe { CStr::from_ptr(self.0) }
            .to_string_lossy()
            .into_owned())
    }
}
