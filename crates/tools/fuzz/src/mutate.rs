//! Changes PTX in a few places, with an eye for types, sizes, offsets, registers and labels: of changes that know
//! nothing of them, nearly all are refused by the parser.

use fastrand::Rng;

/// PTX as words, which are put together again as they were.
#[derive(Clone, Debug)]
pub(crate) struct Tokens<'t>(Vec<&'t str>);

/// Sizes and offsets at which something wraps or ends.
const SIZES: [u64; 34] = [
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    16,
    31,
    32,
    64,
    127,
    128,
    255,
    256,
    4095,
    4096,
    32_764,
    48 << 10,
    64 << 10,
    65_535,
    (128 << 20) - 4,
    128 << 20,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 128,
    (1 << 32) - 4,
    (1 << 32) - 1,
    1 << 32,
    (1 << 32) + 16,
    200_000_000_000,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];

const TYPES: [&str; 18] = [
    ".b8", ".b16", ".b32", ".b64", ".b128", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32",
    ".s64", ".f16", ".f16x2", ".f32", ".f64", ".pred",
];

const SPACES: [&str; 7] = [
    ".global",
    ".shared",
    ".local",
    ".param",
    ".const",
    ".shared::cluster",
    ".reg",
];

const MODIFIERS: [&str; 30] = [
    ".sat",
    ".ftz",
    ".cc",
    ".uni",
    ".sync",
    ".aligned",
    ".volatile",
    ".relaxed.gpu",
    ".acquire.gpu",
    ".release.cta",
    ".v2",
    ".v4",
    ".v8",
    ".hi",
    ".lo",
    ".wide",
    ".rn",
    ".rz",
    ".rni",
    ".approx",
    ".x2",
    ".x4",
    ".trans",
    ".nc",
    ".idx",
    ".up",
    ".all",
    ".any",
    ".noinc",
    ".L2::128B",
];

impl<'t> Tokens<'t> {
    /// The words of a text.
    pub(crate) fn of(text: &'t str) -> Tokens<'t> {
        let mut tokens = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_word =
                |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '$' || it == ':';
            let begins = |it: char| is_word(it) || it == '.' || it == '%';
            let end = match begins(first) {
                true => rest[1..]
                    .find(|it| !is_word(it))
                    .map_or(rest.len(), |it| it + 1),
                false => first.len_utf8(),
            };
            let (token, behind) = rest.split_at(end);
            // `L1:` is a label and what follows; `.shared::cta` is one word.
            let (token, behind) = match token.strip_suffix(':') {
                Some(label) if !label.is_empty() => rest.split_at(label.len()),
                _ => (token, behind),
            };
            tokens.push(token);
            rest = behind;
        }
        Tokens(tokens)
    }

    /// The text with one to three changes.
    pub(crate) fn mutant(&self, random: &mut Rng) -> String {
        let mut words = Words(self.0.iter().map(|it| (*it).to_owned()).collect());
        for _ in 0..[1, 1, 1, 2, 3][random.usize(..5)] {
            for _ in 0..40 {
                if change(&mut words, random) {
                    break;
                }
            }
        }
        words.0.concat()
    }
}

/// The words of a mutant.
struct Words(Vec<String>);

/// A kind of change: makes it at a place, if the place is one for it.
type Change = fn(&mut Words, usize, &mut Rng) -> bool;

const CHANGES: [Change; 11] = [
    number, offset, typed, register, label, space, modifier, statement, element, alignment, operand,
];

/// Makes one change. Gives whether there was a place for it.
fn change(words: &mut Words, random: &mut Rng) -> bool {
    let count = words.0.len();
    if count == 0 {
        return false;
    }
    let kind = CHANGES[random.usize(..CHANGES.len())];
    let start = random.usize(..count);
    // Places of a kind may be rare: the next one behind a random place.
    (0..count.min(400)).any(|step| kind(words, (start + step) % count, random))
}

fn pick<'a>(all: &[&'a str], random: &mut Rng) -> &'a str {
    all[random.usize(..all.len())]
}

fn size(random: &mut Rng) -> u64 {
    SIZES[random.usize(..SIZES.len())]
}

fn is_number(word: &str) -> bool {
    word.starts_with(|it: char| it.is_ascii_digit())
}

/// A number becomes another size, or one near it.
fn number(Words(words): &mut Words, at: usize, random: &mut Rng) -> bool {
    if !is_number(&words[at]) {
        return false;
    }
    let old: u64 = words[at].parse().unwrap_or(0);
    words[at] = match random.u32(0..4) {
        0 => old
            .wrapping_add(u64::from(random.u32(0..9)))
            .wrapping_sub(4),
        1 => old.wrapping_mul(1 << random.u32(1..33)),
        _ => size(random),
    }
    .to_string();
    true
}

/// An address gets an offset.
fn offset(Words(words): &mut Words, at: usize, random: &mut Rng) -> bool {
    let is_address =
        words[at] == "]" && at > 0 && words[..at].iter().rev().take(4).any(|it| it == "[");
    if !is_address || words[at - 1].is_empty() {
        return false;
    }
    let sign = if random.bool() { "+" } else { "+-" };
    words.insert(at, format!("{sign}{}", size(random)));
    true
}

fn typed(Words(words): &mut Words, at: usize, random: &mut Rng) -> bool {
    let is_type = TYPES.contains(&words[at].as_str());
    if is_type {
        words[at] = pick(&TYPES, random).to_owned();
    }
    is_type
}

/// A register becomes another one, of another kind too.
fn register(Words(words): &mut Words, at: usize, random: &mut Rng) -> bool {
    if !words[at].starts_with('%') {
        return false;
    }
    let others: Vec<usize> = (0..words.len())
        .filter(|it| words[*it].starts_with('%'))
        .collect();
    let other = words[others[random.usize(..others.len())]].clone();
    match random.u32(0..8) {
        0 => words[at] = size(random).to_string(),
        1 => {
            words[at] = pick(
                &["%tid.x", "%clock64", "%envreg1", "%laneid", "%nosuch", "_"],
                random,
            )
            .to_owned()
        }
        _ => words[at] = other,
    }
    true
}

/// A label, or another name, becomes one of the others.
fn label(Words(words): &mut Words, at: usize, random: &mut Rng) -> bool {
    let is_name = |word: &str| {
        word.starts_with(['$', '_']) || word.starts_with(|it: char| it.is_ascii_alphabetic())
    };
    let stands_alone = |at: usize, words: &[String]| {
        at == 0 || words[at - 1].ends_with([' ', '[', '(', ',', '\t'])
    };
    if !is_name(&words[at]) || !stands_alone(at, words) {
        return false;
    }
    let is_label = words.get(at + 1).is_some_and(|it| it == ":");
    let same = |it: &usize| is_name(&words[*it]) && stands_alone(*it, words) && !is_label;
    let others: Vec<usize> = (0..words.len()).filter(same).collect();
    if others.is_empty() {
        return false;
    }
    words[at] = words[others[random.usize(..others.len())]].clone();
    true
}

fn space(Words(words): &mut Words, at: usize, random: &mut Rng) -> bool {
    let is_space = SPACES.contains(&words[at].as_str());
    if is_space {
        words[at] = match random.u32(0..6) {
            0 => String::new(),
            _ => pick(&SPACES, random).to_owned(),
        };
    }
    is_space
}

/// A modifier is added, taken away or replaced.
fn modifier(Words(words): &mut Words, at: usize, random: &mut Rng) -> bool {
    if !words[at].starts_with('.') || words[at].len() < 2 {
        return false;
    }
    match random.u32(0..3) {
        0 => words[at] = String::new(),
        1 => words[at] = pick(&MODIFIERS, random).to_owned(),
        _ => words.insert(at, pick(&MODIFIERS, random).to_owned()),
    }
    true
}

/// A statement is taken away, repeated, or moved to another place.
fn statement(Words(words): &mut Words, at: usize, random: &mut Rng) -> bool {
    if words[at] != ";" {
        return false;
    }
    let Some(end) = words[at + 1..]
        .iter()
        .position(|it| it == ";")
        .map(|it| at + 2 + it)
    else {
        return false;
    };
    let one: Vec<String> = words[at + 1..end].to_vec();
    match random.u32(0..3) {
        0 => drop(words.drain(at + 1..end)),
        1 => drop(words.splice(at + 1..at + 1, one)),
        _ => {
            words.drain(at + 1..end);
            let ends: Vec<usize> = (0..words.len()).filter(|it| words[*it] == ";").collect();
            if let Some(to) = ends.get(random.usize(..ends.len().max(1))) {
                words.splice(to + 1..to + 1, one);
            }
        }
    }
    true
}

/// An element of a list in braces or parentheses is taken away or repeated.
fn element(Words(words): &mut Words, at: usize, random: &mut Rng) -> bool {
    let behind = words[at..]
        .iter()
        .take(8)
        .position(|it| it == "}" || it == ")");
    let (",", Some(_)) = (words[at].as_str(), behind) else {
        return false;
    };
    let end = at
        + 1
        + words[at + 1..]
            .iter()
            .position(|it| [",", "}", ")"].contains(&it.as_str()))
            .unwrap_or(0);
    let one: Vec<String> = words[at..end].to_vec();
    match random.bool() {
        true => drop(words.drain(at..end)),
        false => drop(words.splice(at..at, one)),
    }
    true
}

fn alignment(Words(words): &mut Words, at: usize, random: &mut Rng) -> bool {
    let number = words[at..].iter().take(4).position(|it| is_number(it));
    match number {
        Some(number) if words[at] == ".align" => {
            words[at + number] = size(random).to_string();
            true
        }
        _ => false,
    }
}

/// Two operands change places.
fn operand(Words(words): &mut Words, at: usize, random: &mut Rng) -> bool {
    if words[at] != "," || at == 0 {
        return false;
    }
    let Some(next) = words[at + 1..].iter().take(3).position(|it| it != " ") else {
        return false;
    };
    let next = at + 1 + next;
    match random.bool() {
        true => words.swap(at - 1, next),
        false => words[next] = words[at - 1].clone(),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Classes, generate, module};

    #[test]
    fn words_are_put_together_as_they_were() {
        let text = "L1:\n@!%p1 bra $L__2; ld.shared::cta.v2.u32 {%r1, %r2}, [%rd1+4]; // é\n.align 16 .b8 x[0x10];";
        assert_eq!(Tokens::of(text).0.concat(), text);
        for word in ["L1", "%p1", "$L__2", ".shared::cta", "]", "0x10"] {
            assert!(Tokens::of(text).0.contains(&word), "{word}");
        }
    }

    #[test]
    fn mutants_are_other_texts_and_the_same_for_a_seed() {
        let text = module(&[generate(1, Classes::default())]);
        let tokens = Tokens::of(&text);
        let mutant = |seed| tokens.mutant(&mut Rng::with_seed(seed));
        let others = (0..100).filter(|it| mutant(*it) != text).count();
        assert!(others > 90, "{others} of 100 differ");
        assert_eq!(mutant(5), mutant(5));
    }

    #[test]
    fn every_kind_of_change_has_places() {
        let text = ".shared .align 16 .b8 x[64]; L1: add.u32 %r1, %r2, 5; st.shared.v2.b32 [%r1], {%r1, %r2}; bra L1;";
        for (index, kind) in CHANGES.iter().enumerate() {
            let mut words = Words(
                Tokens::of(text)
                    .0
                    .iter()
                    .map(|it| (*it).to_owned())
                    .collect(),
            );
            let mut random = Rng::with_seed(1);
            assert!(
                (0..words.0.len()).any(|at| kind(&mut words, at, &mut random)),
                "kind {index}"
            );
        }
    }
}
