//! GPU architectures by their compute capability.

use std::env;
use std::fmt;
use std::str::FromStr;

use crate::CudaBuilderError;

macro_rules! arches {
    ($($(#[$attribute:meta])? $variant:ident = $number:literal;)*) => {
        /// A GPU architecture, named by its compute capability without the dot. PTX built for one
        /// runs on it and on every later one.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum NvvmArch {
            $(
                #[doc = concat!("`sm_", stringify!($number), "`")]
                $(#[$attribute])?
                $variant = $number,
            )*
        }

        impl NvvmArch {
            /// Every architecture that can be built for, ascending.
            pub const ALL: &[NvvmArch] = &[$(NvvmArch::$variant),*];
        }
    };
}

arches! {
    Compute70 = 70;
    Compute72 = 72;
    Compute75 = 75;
    Compute80 = 80;
    Compute86 = 86;
    Compute87 = 87;
    Compute89 = 89;
    #[default]
    Compute90 = 90;
    Compute100 = 100;
    Compute103 = 103;
    Compute120 = 120;
    Compute121 = 121;
}

impl NvvmArch {
    /// The compute capability times ten: 90 for 9.0.
    pub fn number(self) -> u32 {
        self as u32
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
        write!(formatter, "sm_{}", self.number())
    }
}

impl FromStr for NvvmArch {
    type Err = CudaBuilderError;

    /// Takes `sm_90`, `compute_90` and `90`.
    fn from_str(text: &str) -> Result<Self, CudaBuilderError> {
        let text = text.trim();
        let number = text
            .strip_prefix("sm_")
            .or_else(|| text.strip_prefix("compute_"))
            .unwrap_or(text);
        NvvmArch::ALL
            .iter()
            .copied()
            .find(|arch| arch.number().to_string() == number)
            .ok_or_else(|| CudaBuilderError::UnknownArch(text.to_owned()))
    }
}
