//! The words of shared memory through which a block's warps exchange values.
//!
//! All accesses are atomic, so threads that come to different calls, which is a fault of the kernel's, read other
//! numbers, and nothing worse.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Element;
use super::element::map_words;
use crate::shared;

/// Stands for the declaration of the words, as the number that `shared_array!` makes does for its own.
const SITE: u64 = 0x6772_6f75_7073_0001;

/// The most warps that a block has.
const WARPS: usize = 32;

/// Places for a value of each warp: what warps bring, and what the first warp makes of it. Two rows, so that the next
/// exchange may begin before all have read what this one has made.
#[derive(Clone, Copy)]
pub(super) struct Scratch<T: Element> {
    words: *const AtomicU32,
    value: core::marker::PhantomData<T>,
}

impl<T: Element> Scratch<T> {
    #[inline(always)]
    pub(super) fn brought() -> Scratch<T> {
        Scratch::at(0)
    }

    #[inline(always)]
    pub(super) fn made() -> Scratch<T> {
        Scratch::at(WARPS * T::WORDS)
    }

    #[inline(always)]
    fn at(first: usize) -> Scratch<T> {
        const { assert!(size_of::<T>() >= 4 * T::WORDS) };
        let words = shared::array::<[T; 2], WARPS, SITE>();
        Scratch {
            words: words.cast::<AtomicU32>().wrapping_add(first).cast_const(),
            value: core::marker::PhantomData,
        }
    }

    /// Writes the value of a warp, which is below 32.
    #[inline(always)]
    pub(super) fn write(self, warp: u32, value: T) {
        map_words(value, |number, word| {
            // SAFETY: 2 * WARPS values have 2 * WARPS * WORDS words at least, and the number is below WORDS.
            unsafe { self.word(warp, number) }.store(word, Relaxed);
            word
        });
    }

    /// The value of a warp, which is below 32; `like` is any value.
    #[inline(always)]
    pub(super) fn read(self, warp: u32, like: T) -> T {
        map_words(like, |number, _| {
            // SAFETY: as above.
            unsafe { self.word(warp, number) }.load(Relaxed)
        })
    }

    /// # Safety
    /// `warp` is below [`WARPS`], and `number` below `T::WORDS`.
    #[inline(always)]
    unsafe fn word<'a>(self, warp: u32, number: usize) -> &'a AtomicU32 {
        // SAFETY: the block's memory, as long as it runs, which is reached only so.
        unsafe { &*self.words.add(warp as usize * T::WORDS + number) }
    }
}
