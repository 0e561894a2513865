//! Where an emulated thread and its emulator take turns, each on a stack of its own.
//!
//! A processor expects a return to go to where the last call came from. That does not hold over a
//! switch of stacks: between two turns of a thread, others have made calls from which they return
//! later. Switches by call and return, as corosensei has them, go wrong themselves, and so do the
//! returns from the switch to the kernel where its calls are at several places. Here a switch is a
//! jump, inlined into the kernel, with no call between. On a Xeon of 2023 a turn takes 50 ns by
//! corosensei, 22 ns by jumps in a function that the kernel calls, and 4 ns like this.

#[cfg(not(all(target_arch = "x86_64", unix)))]
pub use other::Gate;
#[cfg(all(target_arch = "x86_64", unix))]
pub use x86_64::Gate;

#[cfg(all(target_arch = "x86_64", unix))]
mod x86_64 {
    use core::arch::asm;
    use core::cell::Cell;

    /// Between two stacks, one of which runs.
    #[repr(transparent)]
    pub struct Gate {
        /// The top of the other.
        other: Cell<*mut usize>,
    }

    impl Gate {
        /// To a stack on whose top lies the address of a function that begins there, and behind it
        /// what the function finds on its stack. It gets the gate's address as its first argument.
        pub fn to(top: *mut usize) -> Gate {
            Gate {
                other: Cell::new(top),
            }
        }

        /// Goes on on the other stack, until that passes the gate in its turn.
        ///
        /// # Safety
        /// The gate has last been passed from the other stack; or never, and this is not the one that
        /// was prepared. The other is still there, and the same host thread runs on both.
        #[inline(always)]
        pub unsafe fn pass(&self) {
            // SAFETY: what this function's code expects is saved, or told to the compiler as lost.
            // Who comes back does so at the label, with the stack as it was left.
            unsafe {
                asm!(
                    // The two registers that cannot be declared as lost.
                    "push rbp",
                    "push rbx",
                    "lea rax, [rip + 2f]",
                    "push rax",
                    "mov rax, [rdi]",
                    "mov [rdi], rsp",
                    "mov rsp, rax",
                    "pop rax",
                    "jmp rax",
                    "2:",
                    "pop rbx",
                    "pop rbp",
                    inlateout("rdi") self.other.as_ptr() => _,
                    lateout("r12") _,
                    lateout("r13") _,
                    lateout("r14") _,
                    lateout("r15") _,
                    clobber_abi("sysv64"),
                );
            }
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", unix)))]
mod other {
    /// There is none for this processor.
    pub enum Gate {}

    impl Gate {
        /// Never called.
        ///
        /// # Safety
        /// Always.
        pub unsafe fn pass(&self) {
            match *self {}
        }
    }
}
