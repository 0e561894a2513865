//! Answers that are kept for the next time.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Answer, Mutant};

/// A file with a line for each answer, written as it comes: a process may be killed at any time.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// The digest of the tests that answer now.
    tests: u64,
    known: HashMap<u64, Kept>,
}

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    mutant: String,
    tests: String,
    answer: Answer,
}

impl Journal {
    /// Opens or begins a journal for tests of this digest.
    ///
    /// # Errors
    /// The system's, or [`ErrorKind::InvalidData`]: it is no journal.
    pub fn open(path: &Path, tests: u64) -> io::Result<Journal> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            text => text?,
        };
        let known = read(&text).map_err(|line| {
            let path = path.display();
            let text = format!("{path}, line {line}: expected the answer of tests to a mutant");
            io::Error::new(ErrorKind::InvalidData, text)
        })?;
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if !text.is_empty() && !text.ends_with('\n') {
            // What was being written as the process was killed.
            file.write_all(b"\n")?;
        }
        Ok(Journal {
            path: path.to_owned(),
            file,
            tests,
            known,
        })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The answer that is known to a mutant. One that survived other tests is asked for again.
    #[must_use]
    pub fn answer(&self, mutant: &Mutant) -> Option<&Answer> {
        let kept = self.known.get(&mutant.key)?;
        let counts = match kept.answer {
            Answer::Killed { .. } | Answer::Refused => true,
            Answer::Survived => kept.tests == hexadecimal(self.tests),
            Answer::NotMade => false,
        };
        counts.then_some(&kept.answer)
    }

    /// Adds an answer.
    ///
    /// # Errors
    /// The system's.
    pub fn add(&mut self, mutant: &Mutant, answer: Answer) -> io::Result<()> {
        let kept = Kept {
            mutant: hexadecimal(mutant.key),
            tests: hexadecimal(self.tests),
            answer,
        };
        let mut line = serde_json::to_vec(&kept)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.known.insert(mutant.key, kept);
        Ok(())
    }
}

fn hexadecimal(number: u64) -> String {
    format!("{number:016x}")
}

/// The answers of a text, or the line that is none. The last line may be a part of one.
fn read(text: &str) -> Result<HashMap<u64, Kept>, usize> {
    let mut known = HashMap::new();
    let lines = text.lines().enumerate();
    for (index, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let kept: Result<Kept, _> = serde_json::from_str(line);
        let key = |kept: &Kept| u64::from_str_radix(&kept.mutant, 16).ok();
        let kept = kept.ok().and_then(|kept| Some((key(&kept)?, kept)));
        match kept {
            Some((key, kept)) => {
                known.insert(key, kept);
            }
            // Killed processes have left it.
            None if line.starts_with("{\"mutant\":") => {}
            None => return Err(index + 1),
        }
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::Killer;
    use crate::mutation::report::tests::mutant;

    #[test]
    fn answers_outlive_the_process_and_survivors_are_asked_again_by_other_tests() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.jsonl");
        let killed = Answer::Killed {
            test: "sums".to_owned(),
            by: Killer::Check("race".to_owned()),
        };
        let [first, second, third] = [1, 2, 3].map(mutant);
        let mut journal = Journal::open(&path, 7).expect("it is new");
        assert_eq!(journal.answer(&first), None);
        journal.add(&first, killed.clone()).expect("a line");
        journal.add(&second, Answer::Survived).expect("a line");
        journal.add(&third, Answer::Refused).expect("a line");

        let torn = fs::read_to_string(&path).expect("it is there") + "{\"mutant\":\"00";
        fs::write(&path, torn).expect("it is written");
        let same = Journal::open(&path, 7).expect("it is a journal");
        assert_eq!(same.answer(&first), Some(&killed));
        assert_eq!(same.answer(&second), Some(&Answer::Survived));
        let mut other = Journal::open(&path, 8).expect("it is a journal");
        assert_eq!(other.answer(&first), Some(&killed));
        assert_eq!(other.answer(&second), None);
        assert_eq!(other.answer(&third), Some(&Answer::Refused));
        other.add(&second, killed.clone()).expect("a line");
        let again = Journal::open(&path, 9).expect("it is a journal");
        assert_eq!(again.answer(&second), Some(&killed));

        fs::write(&path, "a,b\n").expect("it is written");
        let error = Journal::open(&path, 7).expect_err("it is no journal");
        assert!(error.to_string().contains("line 1"), "{error}");
    }
}
