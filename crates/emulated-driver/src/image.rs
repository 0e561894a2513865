//! Images that modules are loaded from: PTX, or PTX in a fatbin, packed in either of nvcc's ways. Machine code is refused
//! with a sentence for each way of getting PTX in its place.

use std::borrow::Cow;
use std::ffi::CStr;
use std::io::Read;

use crate::arguments::In;
use crate::findings::say;
use crate::linker::linked_or_said;
use crate::settings::settings;
use crate::status::{Answer, Status};

/// The mark of the structure that programs of nvcc hold a fatbin by: mark, version, address; and, of the version that
/// nvlink makes of objects with relocatable code (`-rdc=true`), the address of the list of their fatbins, which ends with null.
const WRAPPER: u32 = 0x4662_43b1;
const OF_LINKED: u32 = 2;
const FATBIN: u32 = 0xba55_ed50;
const ELF: u32 = u32::from_le_bytes(*b"\x7fELF");

/// Kinds of a fatbin's entries, and how they are packed.
const PTX: u16 = 1;
const MACHINE_CODE: u16 = 2;
const BY_LZ4: u64 = 0x2000;
const BY_ZSTD: u64 = 0x8000;

/// Bytes of an entry's header that are read.
const HEADER: usize = 64;

/// More than this is no PTX.
const MOST_BYTES: u64 = 1 << 30;

/// Returns the PTX of an image in memory, whose length nobody tells.
///
/// # Errors
/// It has none that the devices can execute.
pub(crate) fn ptx(image: In<u8>) -> Answer<String> {
    let magic = u32::from_le_bytes(image_bytes(image, 0)?);
    match magic {
        WRAPPER if u32::from_le_bytes(image_bytes(image, 4)?) == OF_LINKED => {
            let list = usize::from_le_bytes(image_bytes(image, 16)?);
            ptx_of_objects(In::of_address(list))
        }
        WRAPPER => {
            let address = usize::from_le_bytes(image_bytes(image, 8)?);
            // SAFETY: the wrapper's address is of a fatbin, by the contract of the functions that take images.
            let fatbin = unsafe { whole_fatbin(std::ptr::with_exposed_provenance(address)) }?;
            ptx_of_fatbin(fatbin)
        }
        // SAFETY: an image with this mark is a whole fatbin, by the same contract.
        FATBIN => ptx_of_fatbin(unsafe { whole_fatbin(image.as_ptr()) }?),
        ELF => Err(machine_code()),
        _ => {
            // SAFETY: any other image is text that ends with NUL, by the same contract.
            let text = unsafe { CStr::from_ptr(image.as_ptr().cast()) };
            text_of(text.to_bytes())
        }
    }
}

/// Whether a fatbin is that of the runtime which kernels call (libcudadevrt): our own takes its place. Its PTX is for the
/// newest architecture alone, and its names have that of its file.
fn is_device_runtime(fatbin: &[u8]) -> bool {
    const NAME: &[u8] = b"_cuda_device_runtime_cu_";
    entries(fatbin)
        .filter(|it| it.kind == PTX && it.arch > newest())
        .filter_map(|it| it.text())
        .any(|text| text.windows(NAME.len()).any(|it| it == NAME))
}

/// Returns the PTX of a list of objects' fatbins, linked. What nvlink has made of them is machine code.
fn ptx_of_objects(list: In<usize>) -> Answer<String> {
    let mut modules = Vec::new();
    for index in 0.. {
        let address = list.at(index)?;
        if address == 0 {
            break;
        }
        // SAFETY: the list is of fatbins, by the contract of the functions that take images.
        let fatbin = unsafe { whole_fatbin(std::ptr::with_exposed_provenance(address)) }?;
        if !is_device_runtime(fatbin) {
            modules.push(ptx_of_fatbin(fatbin)?);
        }
    }
    if modules.is_empty() {
        return Err(no_kernels());
    }
    linked_or_said(&modules)
}

/// Returns the PTX of a file's bytes.
///
/// # Errors
/// As [`ptx`].
pub(crate) fn ptx_of_file(bytes: &[u8]) -> Answer<String> {
    match number::<4>(bytes, 0).map(u32::from_le_bytes) {
        Some(FATBIN) => ptx_of_fatbin(bytes),
        Some(ELF) => Err(machine_code()),
        _ => text_of(bytes),
    }
}

fn image_bytes<const N: usize>(image: In<u8>, at: usize) -> Answer<[u8; N]> {
    let mut bytes = [0; N];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = image.at(at + index)?;
    }
    Ok(bytes)
}

/// # Safety
/// The address is null, or of a whole fatbin, which stays.
unsafe fn whole_fatbin<'a>(start: *const u8) -> Answer<&'a [u8]> {
    if start.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: a fatbin begins with 16 bytes, by this function's contract.
    let header = unsafe { std::slice::from_raw_parts(start, 16) };
    let bytes = total_bytes(header).ok_or(Status::INVALID_IMAGE)?;
    // SAFETY: its header says how long it is, and all of it is there, by this function's contract.
    Ok(unsafe { std::slice::from_raw_parts(start, bytes) })
}

/// Bytes of a fatbin with its header.
fn total_bytes(header: &[u8]) -> Option<usize> {
    if number(header, 0).map(u32::from_le_bytes) != Some(FATBIN) {
        return None;
    }
    let own = u16::from_le_bytes(number(header, 6)?);
    let rest = u64::from_le_bytes(number(header, 8)?);
    usize::from(own).checked_add(usize::try_from(rest).ok()?)
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn text_of(bytes: &[u8]) -> Answer<String> {
    let bytes = match bytes.iter().position(|&it| it == 0) {
        Some(end) => &bytes[..end],
        None => bytes,
    };
    if !bytes
        .first()
        .is_some_and(|&it| it.is_ascii_graphic() || it.is_ascii_whitespace())
    {
        let start = &bytes[..bytes.len().min(4)];
        say(&format!(
            "an image that begins with the bytes {start:02x?} is no PTX"
        ));
        return Err(Status::INVALID_IMAGE);
    }
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// Says how to get PTX.
fn machine_code() -> Status {
    say(
        "machine code was to be loaded; the emulator executes PTX. nvcc: -gencode arch=compute_90,code=compute_90; \
         CuPy: CUPY_COMPILE_WITH_PTX=1; Triton and Numba hand PTX over under `ridgepoint emulate`; libraries such as cuBLAS \
         hold no PTX",
    );
    Status::NO_BINARY_FOR_GPU
}

fn no_kernels() -> Status {
    say("a fatbin has no kernels");
    Status::INVALID_IMAGE
}

/// An entry of a fatbin.
struct Entry<'a> {
    kind: u16,
    arch: u32,
    flags: u64,
    /// Bytes of the payload that are packed data, and bytes that they make.
    packed: usize,
    unpacked: u64,
    payload: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Reads one, and gives what follows it.
    fn read(bytes: &'a [u8]) -> Option<(Entry<'a>, &'a [u8])> {
        let header = bytes.get(..HEADER)?;
        let own = u32::from_le_bytes(number(header, 4)?) as usize;
        let size = usize::try_from(u64::from_le_bytes(number(header, 8)?)).ok()?;
        let end = own.checked_add(size)?;
        let entry = Entry {
            kind: u16::from_le_bytes(number(header, 0)?),
            packed: u32::from_le_bytes(number(header, 16)?) as usize,
            arch: u32::from_le_bytes(number(header, 28)?),
            flags: u64::from_le_bytes(number(header, 40)?),
            unpacked: u64::from_le_bytes(number(header, 56)?),
            payload: bytes.get(own..end)?,
        };
        Some((entry, &bytes[end..]))
    }

    fn text(&self) -> Option<Cow<'a, [u8]>> {
        let packing = self.flags & (BY_LZ4 | BY_ZSTD);
        if packing == 0 {
            return Some(Cow::Borrowed(self.payload));
        }
        let packed = self.payload.get(..self.packed)?;
        let bytes = usize::try_from(self.unpacked)
            .ok()
            .filter(|_| self.unpacked <= MOST_BYTES)?;
        match packing {
            BY_LZ4 => lz4_flex::block::decompress(packed, bytes)
                .ok()
                .map(Cow::Owned),
            _ => zstd(packed, bytes).map(Cow::Owned),
        }
    }
}

fn zstd(packed: &[u8], bytes: usize) -> Option<Vec<u8>> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(packed).ok()?;
    let mut text = Vec::with_capacity(bytes);
    decoder.take(bytes as u64 + 1).read_to_end(&mut text).ok()?;
    (text.len() == bytes).then_some(text)
}

/// The entries of a fatbin, as far as they are whole.
fn entries(fatbin: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    let header = number(fatbin, 6).map(u16::from_le_bytes);
    let mut rest = header
        .and_then(|it| fatbin.get(usize::from(it)..))
        .unwrap_or(&[]);
    std::iter::from_fn(move || {
        let (entry, after) = Entry::read(rest)?;
        rest = after;
        Some(entry)
    })
}

/// The architecture that the devices have.
fn newest() -> u32 {
    let capability = settings().capability;
    capability.major() * 10 + capability.minor()
}

/// The PTX of the newest architecture that the devices have.
fn ptx_of_fatbin(fatbin: &[u8]) -> Answer<String> {
    let most = newest();
    let (mut best, mut has_code, mut newer): (Option<Entry<'_>>, bool, Option<u32>) =
        (None, false, None);
    for entry in entries(fatbin) {
        has_code |= entry.kind == MACHINE_CODE;
        match entry.kind {
            PTX if entry.arch > most => newer = Some(entry.arch),
            PTX if best.as_ref().is_none_or(|it| it.arch < entry.arch) => best = Some(entry),
            _ => {}
        }
    }
    match (best, newer) {
        (Some(entry), _) => text_of(&entry.text().ok_or(Status::INVALID_IMAGE)?),
        (None, Some(arch)) => {
            say(&format!(
                "a fatbin has PTX for sm_{arch} and newer; the device is sm_{most}: see --arch"
            ));
            Err(Status::NO_BINARY_FOR_GPU)
        }
        (None, None) if has_code => Err(machine_code()),
        (None, None) => Err(no_kernels()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fatbin of one entry.
    fn fatbin(kind: u16, arch: u32, flags: u64, payload: &[u8], unpacked: u64) -> Vec<u8> {
        let mut entry = vec![0u8; HEADER];
        entry[0..2].copy_from_slice(&kind.to_le_bytes());
        entry[4..8].copy_from_slice(&(HEADER as u32).to_le_bytes());
        entry[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        entry[16..20].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        entry[28..32].copy_from_slice(&arch.to_le_bytes());
        entry[40..48].copy_from_slice(&flags.to_le_bytes());
        entry[56..64].copy_from_slice(&unpacked.to_le_bytes());
        entry.extend(payload);
        let mut all = Vec::new();
        all.extend(FATBIN.to_le_bytes());
        all.extend(1u16.to_le_bytes());
        all.extend(16u16.to_le_bytes());
        all.extend((entry.len() as u64).to_le_bytes());
        all.extend(entry);
        all
    }

    const TEXT: &str = ".version 8.0\n.target sm_80\n.address_size 64\n// text text text text text text text text\n";

    #[test]
    fn ptx_is_found_however_it_is_packed() {
        let bytes = TEXT.as_bytes();
        let lz4 = lz4_flex::block::compress(bytes);
        let zstd =
            ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest);
        for (flags, payload) in [(0, bytes), (BY_LZ4, &lz4), (BY_ZSTD, &zstd)] {
            let image = fatbin(PTX, 80, flags, payload, bytes.len() as u64);
            assert_eq!(ptx_of_file(&image).as_deref(), Ok(TEXT), "flags {flags:#x}");
        }
        assert_eq!(ptx_of_file(TEXT.as_bytes()).as_deref(), Ok(TEXT));
    }

    #[test]
    fn what_has_no_ptx_for_the_device_is_refused_and_no_length_is_believed() {
        let code = fatbin(MACHINE_CODE, 90, 0, b"code", 0);
        assert_eq!(ptx_of_file(&code), Err(Status::NO_BINARY_FOR_GPU));
        assert_eq!(ptx_of_file(b"\x7fELF...."), Err(Status::NO_BINARY_FOR_GPU));
        let newer = fatbin(PTX, 999, 0, TEXT.as_bytes(), 0);
        assert_eq!(ptx_of_file(&newer), Err(Status::NO_BINARY_FOR_GPU));
        let whole = fatbin(PTX, 80, BY_LZ4, b"\xff\xff\xff", u64::MAX);
        assert_eq!(ptx_of_file(&whole), Err(Status::INVALID_IMAGE));
        // Less than the mark is text.
        for length in 4..whole.len() {
            assert!(ptx_of_file(&whole[..length]).is_err(), "{length} bytes");
        }
        assert_eq!(ptx_of_file(b"\x01\x02"), Err(Status::INVALID_IMAGE));
    }
}
