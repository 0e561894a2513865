//! Records made of words, as the headers say that they lie.

use std::mem::offset_of;

use super::*;

/// The numbers are those of `offsetof` in C, by the headers of CUPTI 13.0.
#[test]
fn fields_lie_where_the_headers_have_them() {
    let offsets = [
        offset_of!(Kernel, correlation),
        offset_of!(LongKernel, graph),
        offset_of!(record::Transfer, correlation),
        offset_of!(LongTransfer, graph),
        offset_of!(LongFill, graph),
        offset_of!(PeerCopy, destination),
        offset_of!(PeerCopy, correlation),
        offset_of!(PeerCopy, graph),
        offset_of!(Allocated, memory),
        offset_of!(Allocated, address),
        offset_of!(Allocated, time),
        offset_of!(Allocated, device),
        offset_of!(Allocated, pool),
        offset_of!(Device, id),
        offset_of!(Device, name),
    ];
    assert_eq!(
        offsets,
        [92, 156, 44, 72, 72, 52, 60, 80, 8, 16, 32, 52, 80, 112, 136]
    );
}

fn read_words<const N: usize>(words: &[u32; N]) -> Option<Traced<'static>> {
    let mut aligned = [0u64; 32];
    for (at, word) in words.iter().enumerate() {
        aligned[at / 2] |= u64::from(*word) << (at % 2 * 32);
    }
    // SAFETY: the words are longer than any record that is read here, and none has a name but null.
    unsafe { read(aligned.as_ptr().cast()) }
}

#[test]
fn copies_tell_both_memories_and_the_peer() {
    // Pageable to device: kind, then copy kind, source, destination and flags in a word.
    let words = [
        MEMCPY,
        1 | 1 << 8 | 3 << 16,
        4096,
        0,
        10,
        0,
        20,
        0,
        0,
        1,
        13,
        7,
    ];
    let span = Span {
        device: 0,
        context: 1,
        stream: 13,
        correlation: 7,
        graph: 0,
        start: 10,
        end: 20,
    };
    let expected = Traced::Copy {
        span,
        from: Memory::Pageable,
        to: Memory::Device,
        bytes: 4096,
        peer: None,
    };
    assert_eq!(read_words(&words), Some(expected));
    let words = [
        PEER_MEMCPY,
        10 | 3 << 8 | 3 << 16,
        4096,
        0,
        10,
        0,
        20,
        0,
        0,
        1,
        13,
        0,
        1,
        2,
        9,
        7,
    ];
    let expected = Traced::Copy {
        span,
        from: Memory::Device,
        to: Memory::Device,
        bytes: 4096,
        peer: Some(2),
    };
    assert_eq!(read_words(&words), Some(expected));
    assert_eq!(
        read_words(&[MEMSET, 0, 64, 0, 10, 0, 20, 0, 0, 1, 13, 7]),
        Some(Traced::Fill { span, bytes: 64 })
    );
    assert_eq!(read_words(&[4]), None);
}
