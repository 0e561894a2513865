//! `cudaDeviceProp`, whose fields differ from version to version.

use std::ffi::{c_char, c_int};

use crate::arguments::Out;
use crate::driver;
use crate::inside;
use crate::status::{Answer, Error};

/// A field's type and value.
#[derive(Clone, Copy)]
enum Field {
    /// An `int`: an attribute of the device.
    Int(c_int),
    /// A `size_t`: an attribute of the device.
    Size(c_int),
    /// An `int` of 0.
    Zero,
    /// The memory's bytes, a `size_t`.
    Memory,
}

use Field::{Int, Memory, Size, Zero};

/// The first version of CUDA whose structure has a field, and the last.
type Versions = (u32, u32);
const ALL: Versions = (0, u32::MAX);
const BEFORE_13: Versions = (0, 12);
const SINCE_12: Versions = (12, u32::MAX);
const SINCE_13: Versions = (13, u32::MAX);

/// The fields behind the name and the identifiers, in their order, as several of one kind stand side by side. Numbers are
/// `CUdevice_attribute`.
#[rustfmt::skip]
const FIELDS: &[(Versions, &[Field])] = &[
    (ALL, &[Memory, Size(8), Int(12), Int(10), Size(11), Int(1), Int(2), Int(3), Int(4), Int(5), Int(6), Int(7)]),
    (BEFORE_13, &[Int(13)]),
    // Constant memory, capability, alignments of textures.
    (ALL, &[Size(9), Int(75), Int(76), Size(14), Size(51)]),
    (BEFORE_13, &[Int(15)]),
    (ALL, &[Int(16)]),
    (BEFORE_13, &[Int(17)]),
    (ALL, &[Int(18), Int(19)]),
    (BEFORE_13, &[Int(20)]),
    // Textures.
    (ALL, &[Int(21), Int(77)]),
    (BEFORE_13, &[Int(69)]),
    (ALL, &[
        Int(22), Int(23), Int(73), Int(74), Int(70), Int(71), Int(72), Int(45), Int(46), Int(24), Int(25), Int(26),
        Int(47), Int(48), Int(49), Int(52), Int(42), Int(43), Int(27), Int(28), Int(29), Int(53), Int(54),
        // Surfaces.
        Int(55), Int(56), Int(57), Int(58), Int(59), Int(60), Int(61), Int(62), Int(63), Int(64), Int(65), Int(66),
        Int(67), Int(68), Size(30),
        // From concurrent kernels to unified addresses.
        Int(31), Int(32), Int(33), Int(34), Int(50), Int(35), Int(40), Int(41),
    ]),
    (BEFORE_13, &[Int(36)]),
    // From the width of the memory's bus to registers of an SM, managed memory and boards of several GPUs.
    (ALL, &[
        Int(37), Int(38), Int(108), Int(39), Int(78), Int(79), Int(80), Size(81), Int(82), Int(83), Int(84), Int(85), Int(86),
    ]),
    (BEFORE_13, &[Int(87)]),
    (ALL, &[Int(88), Int(89), Int(90), Int(91), Int(95)]),
    (BEFORE_13, &[Int(96)]),
    (ALL, &[Size(97), Int(100), Int(101), Int(106), Int(109), Size(111)]),
    (SINCE_12, &[
        Int(99), Int(112), Int(113), Int(114), Int(115), Int(116), Int(117), Int(118), Int(119), Int(121), Int(125),
        Int(120), Int(129),
    ]),
    (SINCE_13, &[Int(130), Int(131), Int(133), Int(134), Int(139), Int(140), Int(143)]),
    // What is reserved.
    ((12, 12), &[Zero; 63]),
    (SINCE_13, &[Zero; 56]),
];

/// Bytes of a device's name.
const NAME: usize = 256;

/// Bytes as C lays fields out.
struct Layout(Vec<u8>);

impl Layout {
    fn push<const N: usize>(&mut self, bytes: [u8; N]) {
        let start = self.0.len().next_multiple_of(N);
        self.0.resize(start, 0);
        self.0.extend(bytes);
    }
}

/// Returns the structure's bytes for programs of a version of CUDA.
fn structure(index: c_int, major: u32) -> Answer<Vec<u8>> {
    crate::device::driver()?;
    let mut device = 0;
    driver::cuDeviceGet(Out::of(&mut device), index).map_err(|_| Error::INVALID_DEVICE)?;
    let mut name = [0 as c_char; NAME];
    driver::cuDeviceGetName(Out::of(&mut name[0]), NAME as c_int, device)?;
    let mut identifier = [0; 16];
    driver::cuDeviceGetUuid_v2(Out::of(&mut identifier), device)?;
    let mut memory = 0;
    driver::cuDeviceTotalMem_v2(Out::of(&mut memory), device)?;
    // What a driver does not know yet is 0.
    let attribute = |of| {
        let mut value = 0;
        driver::cuDeviceGetAttribute(Out::of(&mut value), of, device).map_or(0, |()| value)
    };
    let mut layout = Layout(name.map(|it| it as u8).to_vec());
    layout.0.extend(identifier);
    // `luid` and `luidDeviceNodeMask`, which only Windows has.
    layout.0.extend([0; 12]);
    for ((first, last), fields) in FIELDS {
        if !(first..=last).contains(&&major) {
            continue;
        }
        for &field in *fields {
            match field {
                Int(of) => layout.push(attribute(of).to_ne_bytes()),
                Size(of) => layout.push((attribute(of) as usize).to_ne_bytes()),
                Zero => layout.push(0_i32.to_ne_bytes()),
                Memory => layout.push(memory.to_ne_bytes()),
            }
        }
    }
    Ok(layout.0)
}

runtime! {
    // Of CUDA 11 and of CUDA 13, whose structures differ.
    fn cudaGetDeviceProperties(to: Out<u8>, index: c_int) {
        to.check()?;
        let major = if inside::major() >= 13 { 13 } else { 11 };
        to.put_all(&structure(index, major)?)
    }
    fn cudaGetDeviceProperties_v2(to: Out<u8>, index: c_int) { to.check()?; to.put_all(&structure(index, 12)?) }
}
