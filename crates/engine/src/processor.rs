//! The host's processor.

use std::sync::OnceLock;

/// Whether the processor has what the fast handlers are compiled for.
pub(crate) fn has_vectors() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    #[cfg(target_arch = "x86_64")]
    let known = || {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    };
    #[cfg(not(target_arch = "x86_64"))]
    let known = || false;
    *KNOWN.get_or_init(known)
}
