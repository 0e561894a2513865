//! Bytes and sectors of asynchronous copies.

use std::collections::BTreeSet;

use engine::count::{Counts, Memory, Space};

use super::{clusters, copies, tensors};

/// Returns the accesses in a space of the only instruction whose text contains this one.
fn memory(counts: &Counts, text: &str, space: Space) -> Option<Memory> {
    let instructions = counts.instructions.iter();
    let found: Vec<_> = instructions
        .filter(|it| it.text.contains(text))
        .flat_map(|it| &it.memory)
        .filter(|it| it.space == space)
        .collect();
    assert!(found.len() < 2, "{found:?}");
    found.first().map(|&&it| it)
}

/// Requests, bytes and distinct sectors.
fn moved(counts: &Counts, text: &str, space: Space) -> (u64, u64, u64) {
    let memory = memory(counts, text, space);
    memory.map_or((0, 0, 0), |it| (it.requests, it.bytes, it.sectors))
}

/// Bytes and sectors of a tensor's elements that a box holds, one by one. The tensor begins with a sector.
fn inside((x, y): (i32, i32)) -> (u64, u64) {
    let (columns, rows) = tensors::SIZES;
    let all = (0..tensors::BOX.1 as i64)
        .flat_map(|row| (0..tensors::BOX.0 as i64).map(move |column| (column, row)))
        .map(|(column, row)| (i64::from(x) + column, i64::from(y) + row))
        .filter(|(column, row)| (0..columns).contains(column) && (0..rows).contains(row));
    let offsets: BTreeSet<i64> = all
        .map(|(column, row)| 4 * (row * columns + column))
        .collect();
    let sectors: BTreeSet<i64> = offsets.iter().map(|offset| offset / 32).collect();
    (4 * offsets.len() as u64, sectors.len() as u64)
}

#[test]
fn a_box_moves_what_of_the_tensor_is_in_it() {
    for (at, swizzle) in [
        ((0, 0), 0),
        ((4, 3), 1),
        ((9, 0), 2),
        ((-3, -2), 3),
        ((33, 17), 3),
        ((40, 20), 0),
    ] {
        let counts = tensors::case(at, swizzle).counts();
        let whole = (tensors::BOX.0 * tensors::BOX.1 * 4) as u64;
        let (bytes, sectors) = inside(at);
        let load = "cp.async.bulk.tensor.2d.shared";
        let requests = u64::from(bytes > 0);
        assert_eq!(
            moved(&counts, load, Space::Global),
            (requests, bytes, sectors),
            "{at:?}"
        );
        assert_eq!(moved(&counts, load, Space::Shared), (1, whole, 0), "{at:?}");
        let store = "cp.async.bulk.tensor.2d.global";
        let (bytes, sectors) = inside((2, 1));
        assert_eq!(moved(&counts, store, Space::Global), (1, bytes, sectors));
        assert_eq!(moved(&counts, store, Space::Shared), (1, whole, 0));
    }
}

#[test]
fn what_several_blocks_get_is_read_once() {
    let counts = clusters::case(clusters::MULTICAST).counts();
    let text = "multicast::cluster";
    // Of 2 clusters of 2 blocks each.
    assert_eq!(moved(&counts, text, Space::Global), (2, 2048, 64));
    assert_eq!(moved(&counts, text, Space::Shared), (4, 4096, 0));
    assert_eq!(counts.footprint.read, 64);
}

#[test]
fn a_reduction_reads_and_writes() {
    let counts = copies::histogram().counts();
    let text = "cp.reduce.async.bulk";
    // Of 2 blocks, at one place: each reaches it for the first time.
    assert_eq!(moved(&counts, text, Space::Global), (2, 128, 4));
    let global = memory(&counts, text, Space::Global).expect("it ran");
    assert_eq!((global.least_sectors, global.new_sectors), (4, 4));
    let footprint = &counts.footprint;
    assert_eq!((footprint.read, footprint.written), (2, 2));
    assert_eq!(
        (footprint.read_by_blocks, footprint.written_by_blocks),
        (4, 4)
    );
}

#[test]
fn cores_add_up_what_they_have_copied() {
    let case = |cores| copies::load().unchecked().cores(cores);
    let (one, four) = (case(1).counts(), case(4).counts());
    assert_eq!(one, four);
    assert!(one.bytes(Space::Global) > 0);
}
