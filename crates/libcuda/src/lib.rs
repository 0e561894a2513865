//! The emulated CUDA driver under the names that programs look for in libcuda.so.1: a jump each.
//!
//! This is a package of its own because whatever links it defines those names, as `cuda-loader` does.

/// Defines a symbol for each function of the table.
macro_rules! export {
    (emulated { $($emulated:ident $since:literal,)* } absent { $($absent:ident $since_absent:literal,)* }) => {
        $(export!(@jump $emulated, functions);)*
        $(export!(@jump $absent, absent);)*
    };
    (@jump $name:ident, $module:ident) => {
        /// Jumps to the emulated driver's function of this name, which finds its arguments where this one had them.
        ///
        /// # Safety
        /// As for that function.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            #[cfg(target_arch = "x86_64")]
            core::arch::naked_asm!("jmp {}", sym emulated_driver::$module::$name);
            #[cfg(target_arch = "aarch64")]
            core::arch::naked_asm!("b {}", sym emulated_driver::$module::$name);
        }
    };
}

emulated_driver::each_function!(export);
export!(@jump InitializeInjectionNvtx2, ranges);
