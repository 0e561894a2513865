//! No text makes the parser panic or run forever.

/// A generator of numbers, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

const PIECES: [&str; 24] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ":",
    "|",
    "!",
    "@",
    "_",
    "-",
    ".v4",
    ".reg",
    "%r1",
    "%tid",
    "0x",
    "\"",
    "/*",
    "é",
    "<",
    "18446744073709551615",
];

/// Pieces of a text from elsewhere in it, removed, doubled, or replaced.
fn mutate(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..1 + random.below(4) {
        let begin = boundary(&text, random.below(text.len()));
        let end = boundary(&text, (begin + random.below(24)).min(text.len()));
        let from = boundary(&text, random.below(text.len()));
        let to = boundary(&text, (from + random.below(40)).min(text.len()));
        let piece = match random.below(4) {
            0 => String::new(),
            1 => PIECES[random.below(PIECES.len())].to_owned(),
            2 => text[from..to].to_owned(),
            _ => text[begin..end].repeat(2),
        };
        text.replace_range(begin..end, &piece);
    }
    text
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[test]
fn changed_texts() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut failed, mut all) = (0, 0);
    for (name, text) in crate::common::corpus() {
        // Small files, and the begin of large ones.
        let short = &text[..boundary(&text, text.len().min(20_000))];
        let rounds = if name.starts_with("isa") { 3000 } else { 150 };
        for _ in 0..rounds {
            all += 1;
            let text = mutate(short, &mut random);
            failed += usize::from(ptx::parse(&text).is_err());
            let kept = ptx::parse_with_spans(&text);
            if let Ok(known) = ptx::parse_undeclared(&text) {
                let (module, spans) = kept.expect("it is known");
                assert!(module == known && spans.unknown.is_empty(), "{text}");
            }
        }
    }
    assert!(
        failed > all / 2,
        "{failed} of {all} changed texts are no PTX"
    );
}

#[test]
fn cut_texts() {
    let (_, text) = crate::common::corpus()
        .into_iter()
        .find(|(name, _)| name.starts_with("isa"))
        .expect("the file");
    for end in (0..text.len()).step_by(7) {
        let cut = &text[..boundary(&text, end)];
        if let Err(error) = ptx::parse(cut) {
            assert!(error.line as usize <= cut.lines().count() + 1, "{error}");
        }
    }
}

#[test]
fn deep_texts() {
    let head = ".version 8.0 .target sm_80 ";
    for (open, count) in [
        ("(", 100_000),
        ("-", 100_000),
        ("{", 100_000),
        ("1?", 100_000),
        ("!", 100_000),
    ] {
        let deep = open.repeat(count);
        for text in [
            format!("{head}.global .u32 x = {deep}"),
            format!("{head}.global .u32 x[9] = {{{deep}"),
            format!("{head}.entry k() {{ {deep}"),
        ] {
            assert!(ptx::parse(&text).is_err());
        }
        assert!(ptx::parse(&crate::common::text(&format!("tex.1d [{deep}"))).is_err());
        assert!(ptx::parse(&crate::common::text(&format!("tex.1d {deep}"))).is_err());
    }
    let many = "{".repeat(100_000) + &"}".repeat(100_000);
    assert!(ptx::parse(&crate::common::text(&many)).is_ok());
}

#[test]
fn large_numbers() {
    let head = ".version 8.0 .target sm_80 ";
    for text in [
        ".global .b8 x[18446744073709551615][2];",
        ".global .b8 x[1099511627776] = {1};",
        ".global .b8 x[][1099511627776] = {{1}};",
        ".global .align 4294967296 .b8 x;",
        ".entry k(.param .b64 x[18446744073709551615]) { ret; }",
    ] {
        assert!(ptx::parse(&format!("{head}{text}")).is_err(), "{text}");
    }
    assert!(
        ptx::parse(&crate::common::text(
            ".reg .b32 %many<4294967295>; mov.u32 %many4000000000, 1;"
        ))
        .is_ok()
    );
}
