mod hardware;

#[test]
fn dbg() {
    use super::float::{self, Rounding::*};
    for b in [0u32,0x80000000,1,0x80000001,0x7fffff,0x3f800000,0xbf800000,0x7f800000,0xff800000,0x7fc00000,0x7f800001,0xffc12345,0x40000000,0x00800000, 0x3f800001] {
        let a = f32::from_bits(b);
        eprintln!("{b:x} rn {:x} rz {:x} rp {:x} ftz {:x}", float::sqrt(a, Nearest).to_bits(), float::sqrt(a, Zero).to_bits(), float::sqrt(a, Up).to_bits(), float::flush(float::sqrt(float::flush(a), Nearest)).to_bits());
    }
}
