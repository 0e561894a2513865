//! Places of machine code: this test's own.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use recording::{Frame, Module};

use crate::program::place::Places;

#[inline(never)]
fn calls_the_driver() -> u64 {
    black_box(42)
}

/// The file of this process, at its place in memory.
fn own_module() -> Module {
    let path = std::env::current_exe().expect("a path");
    let path = path.to_str().expect("text").to_owned();
    let maps = fs::read_to_string("/proc/self/maps").expect("the kernel tells");
    let own = maps.lines().filter(|it| it.ends_with(&path));
    let ranges = own.filter_map(|it| {
        let (start, end) = it.split(' ').next()?.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some((number(start)?, number(end)?))
    });
    let ranges: Vec<(u64, u64)> = ranges.collect();
    let (start, end) = (ranges[0].0, ranges[ranges.len() - 1].1);
    Module {
        path,
        start,
        end,
        bias: start,
    }
}

#[test]
fn a_place_of_machine_code_is_the_innermost_line_of_the_author() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The compiler is told of files from the workspace's root.
    let mut places = Places::new(vec![own_module()], directory);
    let of_library = Frame::Native(std::thread::yield_now as fn() as usize as u64 + 1);
    let own = Frame::Native(calls_the_driver as fn() -> u64 as usize as u64 + 1);
    assert_eq!(calls_the_driver(), 42);
    let place = places.of(&[of_library, own]);
    assert!(
        place.file.ends_with("src/program/tests/native.rs"),
        "{place:?}"
    );
    assert!(place.function.ends_with("calls_the_driver"), "{place:?}");
    let line = place.line.expect("a line");
    let text = include_str!("native.rs").lines().nth(line as usize - 1);
    let is_it = |text: &str| text.contains("calls_the_driver") || text.contains("black_box");
    assert!(text.is_some_and(is_it), "line {line}: {text:?}");
    let through = place.through.as_deref().unwrap_or_default();
    assert!(through.contains("yield_now"), "{place:?}");
    // An address of no module says nothing.
    assert!(!places.of(&[Frame::Native(1)]).is_known());
}
