//! Changes texts of any kind in a few places.

use fastrand::Rng;

const PIECES: [&[u8]; 24] = [
    b"0",
    b"-1",
    b"4294967295",
    b"4294967296",
    b"18446744073709551615",
    b"1e400",
    b"-0.0",
    b"NaN",
    b"inf",
    b"\"",
    b"\"\"",
    b",",
    b"\n",
    b"\r\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b"=",
    b"\x1b[31m",
    b"\0",
    b"\xff\xfe",
    "\u{202e}é".as_bytes(),
    b"\\u0000",
];

/// The text with one to four changes: pieces put in, parts taken away, repeated, moved, bytes changed.
pub(super) fn mutant(text: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..random.u32(1..5) {
        let at = random.usize(..=bytes.len());
        let end = (at + part(random)).min(bytes.len());
        match random.u32(0..7) {
            0 => drop(bytes.splice(at..at, PIECES[random.usize(..PIECES.len())].iter().copied())),
            1 => drop(bytes.splice(
                at..end,
                PIECES[random.usize(..PIECES.len())].iter().copied(),
            )),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            4 => {
                let moved: Vec<u8> = bytes.drain(at..end).collect();
                let to = random.usize(..=bytes.len());
                bytes.splice(to..to, moved);
            }
            5 if at < bytes.len() => bytes[at] ^= 1 << random.u32(0..8),
            _ => number(&mut bytes, at, random),
        }
    }
    bytes
}

fn part(random: &mut Rng) -> usize {
    match random.u32(0..4) {
        0 => 1,
        1 => random.usize(1..8),
        2 => random.usize(1..64),
        _ => random.usize(1..512),
    }
}

/// The next number becomes another one.
fn number(bytes: &mut Vec<u8>, at: usize, random: &mut Rng) {
    let is_digit = |it: &u8| it.is_ascii_digit() || *it == b'.';
    if let Some(begin) = bytes[at..].iter().position(is_digit).map(|it| at + it) {
        let end = bytes[begin..]
            .iter()
            .position(|it| !is_digit(it))
            .map_or(bytes.len(), |it| begin + it);
        let piece = PIECES[random.usize(..8)];
        bytes.splice(begin..end, piece.iter().copied());
    }
}
