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
        offset_of!(Wait, what),
        offset_of!(Wait, correlation),
        offset_of!(Wait, event),
        offset_of!(Wait, recording),
        offset_of!(Recorded, event),
        offset_of!(Recorded, recording),
        offset_of!(Allocated, memory),
        offset_of!(Allocated, address),
        offset_of!(Allocated, time),
        offset_of!(Allocated, device),
        offset_of!(Allocated, pool),
        offset_of!(Marker, time),
        offset_of!(Marker, ids),
        offset_of!(Marker, name),
        offset_of!(Device, id),
        offset_of!(Device, name),
    ];
    assert_eq!(
        offsets,
        [
            92, 156, 44, 72, 72, 52, 60, 80, 4, 24, 36, 40, 16, 48, 8, 16, 32, 52, 80, 8, 24, 40,
            112, 136
        ]
    );
}

fn read_words<const N: usize>(words: &[u32; N], version: u32) -> Option<Traced<'static>> {
    let mut aligned = [0u64; 32];
    for (at, word) in words.iter().enumerate() {
        aligned[at / 2] |= u64::from(*word) << (at % 2 * 32);
    }
    // SAFETY: the words are longer than any record that is read here, and none has a name but null.
    unsafe { read(aligned.as_ptr().cast(), Version(version)) }
}

#[test]
fn waits_and_events_name_their_recording_where_the_version_has_one() {
    let words = [SYNCHRONIZATION, 2, 10, 0, 20, 0, 7, 1, 13, 5, 3, 0];
    for (version, recording) in [(24, 0), (26, 3), (130_001, 3)] {
        let expected = Traced::Synchronization {
            on: Synchronized::StreamOnEvent(13, 5, recording),
            context: 1,
            correlation: 7,
            start: 10,
            end: 20,
        };
        assert_eq!(read_words(&words, version), Some(expected));
    }
    let unknown = [SYNCHRONIZATION, 9, 10, 0, 20, 0, 7, 1, 13, 5, 3, 0];
    assert_eq!(read_words(&unknown, 130_001), None);
    let words = [EVENT, 7, 1, 13, 5, 0, 0, 0, 0, 0, 0, 0, 4, 0];
    let expected = Traced::Event {
        event: 5,
        recording: 4,
        context: 1,
        stream: 13,
        correlation: 7,
    };
    assert_eq!(read_words(&words, 130_001), Some(expected));
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
    assert_eq!(read_words(&words, 130_001), Some(expected));
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
    assert_eq!(read_words(&words, 130_001), Some(expected));
    assert_eq!(
        read_words(&[MEMSET, 0, 64, 0, 10, 0, 20, 0, 0, 1, 13, 7], 130_001),
        Some(Traced::Fill { span, bytes: 64 })
    );
    assert_eq!(read_words(&[4], 130_001), None);
}

#[test]
fn ranges_are_of_threads_and_end_by_their_number() {
    let begin = [MARKER, 2, 100, 0, 6, 2, 40, 41, 0, 0, 0, 0];
    let expected = Traced::RangeBegin {
        id: 6,
        thread: 41,
        name: c"?",
        time: 100,
    };
    assert_eq!(read_words(&begin, 130_001), Some(expected));
    let end = [MARKER, 4, 200, 0, 6, 2, 40, 41];
    assert_eq!(
        read_words(&end, 130_001),
        Some(Traced::RangeEnd { id: 6, time: 200 })
    );
}
