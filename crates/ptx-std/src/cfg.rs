//! Which GPU the kernels are compiled for, as a value.
//!
//! ```
//! use ptx_std::cfg::ComputeCapability;
//!
//! let here = ComputeCapability::from_cuda_arch_env();
//! assert_eq!(here, ComputeCapability::Compute90);
//! assert!(ComputeCapability::ALL.contains(&here));
//! ```

macro_rules! capabilities {
    ($($variant:ident = $number:literal;)*) => {
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
        /// # use ComputeCapability::*;
        /// # let older = [
        /// #     Compute35, Compute37, Compute50, Compute52, Compute53, Compute60, Compute61, Compute62, Compute70,
        /// #     Compute72, Compute75, Compute80, Compute86, Compute87, Compute88, Compute89,
        /// # ];
        /// # let newer = [Compute100, Compute101, Compute103, Compute110, Compute120, Compute121];
        /// # assert!(older.is_sorted() && older.iter().all(|&it| stages(it) == 2));
        /// # assert!(newer.is_sorted() && newer.iter().all(|&it| stages(it) == 6));
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
            /// 9.0. The limits of those that have published ones are in `occupancy::Multiprocessor::of`.
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

capabilities! {
    Compute35 = 35;
    Compute37 = 37;
    Compute50 = 50;
    Compute52 = 52;
    Compute53 = 53;
    Compute60 = 60;
    Compute61 = 61;
    Compute62 = 62;
    Compute70 = 70;
    Compute72 = 72;
    Compute75 = 75;
    Compute80 = 80;
    Compute86 = 86;
    Compute87 = 87;
    Compute88 = 88;
    Compute89 = 89;
    Compute90 = 90;
    Compute100 = 100;
    Compute101 = 101;
    Compute103 = 103;
    Compute110 = 110;
    Compute120 = 120;
    Compute121 = 121;
}

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
