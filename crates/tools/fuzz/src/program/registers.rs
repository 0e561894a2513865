//! The registers that statements of a program name.

/// A kind of registers, of which a program has a few.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) letter: char,
    pub(super) ty: &'static str,
    pub(super) count: usize,
}

/// 32, 64, 16 bits, predicates.
pub(super) const FILES: [File; 4] = [
    File {
        letter: 'r',
        ty: "b32",
        count: 14,
    },
    File {
        letter: 'd',
        ty: "b64",
        count: 9,
    },
    File {
        letter: 'h',
        ty: "b16",
        count: 7,
    },
    File {
        letter: 'p',
        ty: "pred",
        count: 6,
    },
];

/// The file with a letter.
pub(super) fn file(letter: char) -> Option<File> {
    FILES.into_iter().find(|it| it.letter == letter)
}

/// All registers of a program, each of which has a word of input and one of output in each thread.
#[derive(Clone, Copy, Debug)]
pub struct Registers;

impl Registers {
    /// Their names, in the order of the words.
    pub const ALL: [&str; 36] = [
        "%r0", "%r1", "%r2", "%r3", "%r4", "%r5", "%r6", "%r7", "%r8", "%r9", "%r10", "%r11",
        "%r12", "%r13", "%d0", "%d1", "%d2", "%d3", "%d4", "%d5", "%d6", "%d7", "%d8", "%h0",
        "%h1", "%h2", "%h3", "%h4", "%h5", "%h6", "%p0", "%p1", "%p2", "%p3", "%p4", "%p5",
    ];

    /// The type of a register.
    pub fn ty(name: &str) -> &'static str {
        let letter = name.chars().nth(1);
        letter.and_then(file).map_or("b32", |it| it.ty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_registers_of_the_files_have_a_word() {
        let of_files: Vec<String> = FILES
            .iter()
            .flat_map(|it| (0..it.count).map(|index| format!("%{}{index}", it.letter)))
            .collect();
        assert_eq!(of_files, Registers::ALL);
    }
}
