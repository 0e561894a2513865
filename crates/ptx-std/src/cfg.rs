//! Which GPU the kernels are compiled for, as a value.
//!
//! ```
//! use ptx_std::cfg::ComputeCapability;
//!
//! let here = ComputeCapability::from_cuda_arch_env();
//! assert_eq!(here, ComputeCapability::Compute90);
//! assert!(ComputeCapability::ALL.contains(&here));
//! ```

macro_rules! names {
    ($($variant:ident = $number:literal [$($architecture:tt)*] { $($fact:tt)* })*) => {
        /// A compute capability, ascending. Of an architecture with a suffix (`sm_90a`) it is that
        /// without.
        ///
        /// ```
        /// use cuda_std::cfg::ComputeCapability;
        ///
        /// /// How many stages of shared memory a kernel fills ahead: a constant for each architecture.
        /// fn stages(capability: ComputeCapability) -> u32 {
        ///     match capability {
        ///         ComputeCapability::Compute90 => 4,
        ///         newer if newer > ComputeCapability::Compute90 => 6,
        ///         _ => 2,
        ///     }
        /// }
        /// # let here = ComputeCapability::Compute90;
        /// # for &it in ComputeCapability::ALL.iter().filter(|it| **it != here) {
        /// #     assert_eq!(stages(it), if it < here { 2 } else { 6 });
        /// # }
        /// assert_eq!(stages(ComputeCapability::from_cuda_arch_env()), 4); // On the host it is 9.0.
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ComputeCapability {
            $(
                #[doc = concat!("That of `sm_", stringify!($number), "`.")]
                $variant = $number,
            )*
        }

        impl ComputeCapability {
            /// Every capability that has a name here, ascending. `as u32` is ten times its number: 90 for
            /// 9.0.
            pub const ALL: &[ComputeCapability] = &[$(ComputeCapability::$variant),*];
        }

        const fn from_number(number: u32) -> ComputeCapability {
            match number {
                $($number => ComputeCapability::$variant,)*
                _ => panic!("CUDA_ARCH is no compute capability that is known here"),
            }
        }
    };
}

occupancy::capabilities!(names);

/// The capability that the builder names, or its default on the host.
const HERE: ComputeCapability = from_number(match option_env!("CUDA_ARCH") {
    Some(tenfold) => digits(tenfold) / 10,
    None => 90,
});

const fn digits(text: &str) -> u32 {
    match u32::from_str_radix(text, 10) {
        Ok(number) => number,
        Err(_) => panic!("CUDA_ARCH is no number"),
    }
}

impl ComputeCapability {
    /// The one that the PTX is built for: a constant, so that branches on it cost nothing. On the
    /// emulator it is [`ComputeCapability::Compute90`].
    #[inline(always)]
    pub fn from_cuda_arch_env() -> Self {
        HERE
    }
}
