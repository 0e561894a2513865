//! The `cp.async` instructions. None is `nomem`: the compiler moves no memory access across the
//! copies or the waits.

use core::arch::asm;

macro_rules! copies {
    ($($name:ident = $cache:literal;)*) => {$(
        /// # Safety
        /// The pointers are valid and aligned for a copy of `T`'s size, from global memory to
        /// shared, until the copy was waited for; the instruction has that size.
        #[inline(always)]
        pub(crate) unsafe fn $name<T: Copy>(shared: *mut T, global: *const T) {
            // SAFETY: the caller's contract. The instruction takes no generic addresses.
            unsafe {
                asm!(
                    "{{",
                    ".reg .b64 to, from;",
                    "cvta.to.shared.u64 to, {shared};",
                    "cvta.to.global.u64 from, {global};",
                    concat!("cp.async.", $cache, ".shared.global [to], [from], {size};"),
                    "}}",
                    shared = in(reg64) shared,
                    global = in(reg64) global,
                    size = const size_of::<T>(),
                    options(nostack)
                );
            }
        }
    )*};
}

copies! {
    copy_ca = "ca";
    copy_cg = "cg";
}

#[inline(always)]
pub(crate) fn commit_group() {
    // SAFETY: it groups copies whose contracts hold until they were waited for.
    unsafe { asm!("cp.async.commit_group;", options(nostack)) }
}

#[inline(always)]
pub(crate) fn wait_group<const PENDING: usize>() {
    // SAFETY: waiting has no precondition.
    unsafe { asm!("cp.async.wait_group {};", const PENDING, options(nostack)) }
}

#[inline(always)]
pub(crate) fn wait_all() {
    // SAFETY: waiting has no precondition.
    unsafe { asm!("cp.async.wait_all;", options(nostack)) }
}
