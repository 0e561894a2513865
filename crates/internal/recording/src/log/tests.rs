//! Logs that are written from several threads, run out of room, or are damaged.

use std::thread;

use super::*;
use crate::record::Text;

fn text(id: u32, length: usize) -> Record {
    Record::Text(Text {
        id,
        text: "x".repeat(length),
    })
}

#[test]
fn threads_write_whole_records_beyond_the_first_step() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.rec");
    let log = Log::create(&path, 64 << 20).expect("a log");
    thread::scope(|scope| {
        for thread in 0..4 {
            let log = &log;
            scope.spawn(move || (0..500).for_each(|n| log.write(&text(thread * 500 + n, 5000))));
        }
    });
    let before = fs::metadata(&path).expect("a file").len();
    log.trim();
    let after = fs::metadata(&path).expect("a file").len();
    assert!(before > after && after > 2000 * 5000, "{before} {after}");
    log.write(&text(2000, 1));
    let recording = Recording::read(&path).expect("a log");
    assert_eq!((recording.records.len(), recording.refused), (2001, 0));
    let mut ids: Vec<u32> = recording
        .records
        .iter()
        .map(|record| match record {
            Record::Text(text) => text.id,
            other => panic!("{other:?}"),
        })
        .collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..2001));
}

#[test]
fn what_finds_no_room_is_counted_and_smaller_records_still_fit() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.rec");
    let log = Log::create(&path, 1000).expect("a log");
    for (id, length) in [(0, 800), (1, 400), (2, 10)] {
        log.write(&text(id, length));
    }
    let recording = Recording::read(&path).expect("a log");
    assert_eq!(recording.records, [text(0, 800), text(2, 10)]);
    assert_eq!(recording.refused, 1);
    assert_eq!(fs::metadata(&path).expect("a file").len(), 1000);
    assert!(Log::create(&path, 1000).is_err(), "it is there already");
}

#[test]
fn a_damaged_file_is_an_error_wherever_it_is_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.rec");
    let log = Log::create(&path, 1 << 20).expect("a log");
    (0..3).for_each(|id| log.write(&text(id, 20)));
    log.trim();
    let whole = fs::read(&path).expect("readable");
    let other = folder.path().join("b.rec");
    for length in 0..whole.len() {
        fs::write(&other, &whole[..length]).expect("writable");
        let error = Recording::read(&other).expect_err("cut");
        let known = matches!(error, NotALog::Unknown { .. } | NotALog::Damaged { .. });
        assert!(known, "{length}: {error}");
    }
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        fs::write(&other, bytes).expect("writable");
        // It is read or refused; nothing else.
        let _ = Recording::read(&other);
    }
}
