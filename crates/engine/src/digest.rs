//! Digests of texts.

/// Tells texts apart, in all processes alike: FNV-1a.
pub(crate) fn of(text: &str) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}
