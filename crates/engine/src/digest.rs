//! Digests of names, texts and numbers.

/// Tells bytes apart, in all processes alike: FNV-1a.
pub(crate) fn of(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, step)
}
