//! GPU architectures by their compute capability.

use std::env;
use std::fmt;
use std::str::FromStr;

use crate::CudaBuilderError;

macro_rules! arches {
    ($($name:ident = $number:literal [$($variant:ident $suffix:literal),*] { $($fact:tt)* })*) => {
        /// A GPU architecture, named by its compute capability without the dot.
        ///
        /// PTX built for one without a suffix runs on it and on every later one; for one with `f` on it
        /// and on later ones of the same major number; for one with `a` on it alone. In exchange these
        /// have instructions that the plain one lacks, most of them of the tensor cores.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum NvvmArch {
            $($(
                #[doc = concat!("`sm_", stringify!($number), $suffix, "`")]
                $variant,
            )*)*
        }

        impl NvvmArch {
            /// Every architecture that can be built for, ascending.
            pub const ALL: &[NvvmArch] = &[$($(NvvmArch::$variant,)*)*];

            /// The compute capability times ten: 90 for 9.0.
            pub fn number(self) -> u32 {
                match self {
                    $($(NvvmArch::$variant => $number,)*)*
                }
            }

            fn suffix(self) -> &'static str {
                match self {
                    $($(NvvmArch::$variant => $suffix,)*)*
                }
            }
        }

        /// Every capability that kernels may ask for: also those that Rust-CUDA builds for and rustc does not, as they are
        /// long supported.
        const NAMED: &[u32] = &[$($number),*];
    };
}

occupancy::capabilities!(arches);

impl Default for NvvmArch {
    /// `sm_90`
    fn default() -> Self {
        NvvmArch::Compute90
    }
}

/// Those of [`NAMED`] that nothing is built for.
fn past() -> impl Iterator<Item = u32> {
    let is_built = |number: &u32| NvvmArch::ALL.iter().any(|it| it.number() == *number);
    NAMED
        .iter()
        .copied()
        .filter(move |number| !is_built(number))
}

impl NvvmArch {
    /// [`NvvmArch::number`] under Rust-CUDA's name.
    pub fn capability_value(&self) -> u32 {
        self.number()
    }

    /// Returns the feature that kernels ask for with `cfg(target_feature = "compute_90a")`.
    pub fn target_feature(&self) -> String {
        format!("compute_{}{}", self.number(), self.suffix())
    }

    /// Every `target_feature` that a kernel has which is built for this one: those of all plain
    /// architectures up to it and its own; with `a` also those of its family (`f`), up to it.
    pub fn all_target_features(&self) -> Vec<String> {
        let past = past().map(|number| format!("compute_{number}"));
        let here = NvvmArch::ALL
            .iter()
            .filter(|other| match other.suffix() {
                "" => other.number() <= self.number(),
                "f" if self.is_architecture_variant() => {
                    other.number() / 10 == self.number() / 10 && other.number() <= self.number()
                }
                _ => *other == self,
            })
            .map(NvvmArch::target_feature);
        past.chain(here).collect()
    }

    /// The `target_feature` of every architecture.
    pub(crate) fn known_target_features() -> impl Iterator<Item = String> {
        let past = past().map(|number| format!("compute_{number}"));
        let all = NvvmArch::ALL.iter().map(NvvmArch::target_feature);
        past.chain(all)
    }

    /// Whether it has no suffix.
    pub fn is_base_variant(&self) -> bool {
        self.suffix().is_empty()
    }

    /// Whether it has the suffix `f`.
    pub fn is_family_variant(&self) -> bool {
        self.suffix() == "f"
    }

    /// Whether it has the suffix `a`.
    pub fn is_architecture_variant(&self) -> bool {
        self.suffix() == "a"
    }

    /// The same without a suffix.
    pub fn base_architecture(&self) -> Self {
        let same = |other: &&NvvmArch| other.is_base_variant() && other.number() == self.number();
        NvvmArch::ALL.iter().find(same).copied().unwrap_or(*self)
    }

    /// The version of PTX that LLVM is to write, where its own choice lacks what ptx-std uses:
    /// `activemask` came with 6.2, and `.noreturn`, by which panics are known, with 6.4. 7.0 is what
    /// `sm_80` has, so all drivers since CUDA 11 take it.
    pub(crate) fn ptx_feature(self) -> Option<&'static str> {
        (self.number() < 80).then_some("+ptx70")
    }

    /// The architectures that the environment variable `name` lists, such as `sm_80,sm_90`, or the
    /// default one if it is not set. Tells cargo to watch the variable.
    ///
    /// # Errors
    /// An entry of the list is not an architecture.
    pub fn list_from_env(name: &str) -> Result<Vec<NvvmArch>, CudaBuilderError> {
        println!("cargo::rerun-if-env-changed={name}");
        match env::var(name) {
            Ok(list) if !list.trim().is_empty() => list.split(',').map(str::parse).collect(),
            _ => Ok(vec![NvvmArch::default()]),
        }
    }
}

impl fmt::Display for NvvmArch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "sm_{}{}", self.number(), self.suffix())
    }
}

impl FromStr for NvvmArch {
    type Err = CudaBuilderError;

    /// Takes `sm_90`, `compute_90` and `90`, each with a suffix if there is one: `sm_90a`.
    fn from_str(text: &str) -> Result<Self, CudaBuilderError> {
        let text = text.trim();
        let name = text
            .strip_prefix("sm_")
            .or_else(|| text.strip_prefix("compute_"))
            .unwrap_or(text);
        NvvmArch::ALL
            .iter()
            .copied()
            .find(|arch| format!("{}{}", arch.number(), arch.suffix()) == name)
            .ok_or_else(|| CudaBuilderError::UnknownArch(text.to_owned()))
    }
}
