//! Undefined values that a launch has stored to buffers.

use crate::check::access::LaunchId;
use crate::check::finding::Finding;

/// How many are remembered: the first ones.
const MOST: usize = 1 << 10;

/// Stores, each with where it went and what is found if nobody overwrites it.
#[derive(Debug, Default)]
pub(super) struct Results(Vec<(u64, Box<Finding>)>);

impl Results {
    /// Whether one more is remembered.
    pub(super) fn has_room(&self) -> bool {
        self.0.len() < MOST
    }

    pub(super) fn note(&mut self, address: u64, found: Box<Finding>) {
        if self.has_room() {
            self.0.push((address, found));
        }
    }

    /// Takes those of a launch.
    pub(super) fn take(&mut self, launch: LaunchId) -> Vec<(u64, Box<Finding>)> {
        let all = std::mem::take(&mut self.0).into_iter();
        let (own, others) = all.partition(|it| it.1.now.launch == Some(launch));
        self.0 = others;
        own
    }
}

/// Whether the undefined bits of an element that is stored can be no padding. Padding is whole bytes that follow a field, and ends with
/// the element, or where the next field is aligned by more bytes than there is padding.
pub(super) fn is_one(bits: u128, bytes: u32) -> bool {
    let byte = |at: u32| (bits >> (8 * at)) as u8;
    let mut at = 0;
    while at < bytes {
        match byte(at) {
            0 => at += 1,
            0xff if at > 0 => {
                let end = (at..bytes).find(|&it| byte(it) != 0xff).unwrap_or(bytes);
                let alignment = 1 << end.trailing_zeros();
                if end < bytes && alignment <= end - at {
                    return true;
                }
                at = end;
            }
            _ => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::is_one;

    #[test]
    fn padding_is_no_result_and_parts_of_fields_are() {
        // u8, 3 bytes of padding, u32; u16 and 6 bytes of padding; u8, one byte of padding, u16.
        let paddings = [
            (0xffff_ff00, 8),
            (0xffff_ffff_ffff_0000, 8),
            (0xff00, 4),
            (0, 4),
        ];
        for (bits, bytes) in paddings {
            assert!(!is_one(bits, bytes), "{bits:x}");
        }
        // A value, its low byte, two bits of its last byte, and two bytes in the middle of four.
        for (bits, bytes) in [
            (0xffff_ffff, 4),
            (0xff, 4),
            (0x0300_0000, 4),
            (0x00ff_ff00, 4),
        ] {
            assert!(is_one(bits, bytes), "{bits:x}");
        }
    }
}
