//! Coverage as the text that crosses processes: a line for each fact, under the kernel and the file that were named last.

use std::fmt;
use std::str::{FromStr, SplitN};

use super::{Branch, BranchId, Coverage, File, Function, Kernel};

/// A line that is no fact of coverage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no line of a record")]
pub struct NoRecord(pub String);

impl fmt::Display for Coverage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, kernel) in &self.kernels {
            writeln!(formatter, "kernel {} {name}", kernel.launches)?;
            for (name, file) in &kernel.files {
                writeln!(formatter, "file {name}")?;
                write!(formatter, "{file}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for File {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, Function { line, threads }) in &self.functions {
            writeln!(formatter, "function {line} {threads} {name}")?;
        }
        for (line, times) in &self.lines {
            writeln!(formatter, "line {line} {times}")?;
        }
        for (id, branch) in &self.branches {
            let BranchId {
                line,
                module,
                ptx_line,
            } = id;
            write!(formatter, "branch {line} {module} {ptx_line}")?;
            write!(formatter, " {}", branch.divergent)?;
            for lanes in &branch.outcomes {
                write!(formatter, " {lanes}")?;
            }
            writeln!(formatter)?;
        }
        Ok(())
    }
}

impl FromStr for Coverage {
    type Err = NoRecord;

    fn from_str(text: &str) -> Result<Coverage, NoRecord> {
        let mut coverage = Coverage::default();
        let (mut kernel, mut file) = (String::new(), String::new());
        for line in text.lines() {
            let mut add = || {
                let (key, value) = line.split_once(' ')?;
                match key {
                    "kernel" => {
                        let mut words = value.splitn(2, ' ');
                        let launches: u64 = number(&mut words)?;
                        kernel = words.next()?.to_owned();
                        let own: &mut Kernel = coverage.kernels.entry(kernel.clone()).or_default();
                        own.launches += launches;
                        file.clear();
                    }
                    "file" => value.clone_into(&mut file),
                    _ => {
                        let kernel = coverage.kernels.get_mut(&kernel)?;
                        let file = kernel.files.entry(file.clone()).or_default();
                        file.read(key, value)?;
                    }
                }
                Some(())
            };
            add().ok_or_else(|| NoRecord(line.to_owned()))?;
        }
        Ok(coverage)
    }
}

impl File {
    /// Reads one of its facts.
    fn read(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "function" => {
                let mut words = value.splitn(3, ' ');
                let function = Function {
                    line: number(&mut words)?,
                    threads: number(&mut words)?,
                };
                self.functions.insert(words.next()?.to_owned(), function);
            }
            "line" => {
                let mut words = value.splitn(2, ' ');
                self.lines.insert(number(&mut words)?, number(&mut words)?);
            }
            "branch" => {
                let mut words = value.splitn(5, ' ');
                let id = BranchId {
                    line: number(&mut words)?,
                    module: number(&mut words)?,
                    ptx_line: number(&mut words)?,
                };
                let divergent = number(&mut words)?;
                let outcomes = words.next()?.split(' ').map(|word| word.parse().ok());
                let outcomes = outcomes.collect::<Option<Vec<u64>>>()?;
                let branch = Branch {
                    outcomes,
                    divergent,
                };
                self.branches.insert(id, branch);
            }
            _ => return None,
        }
        Some(())
    }
}

fn number<T: FromStr>(words: &mut SplitN<'_, char>) -> Option<T> {
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written_and_nothing_else_is() {
        let branch = Branch {
            outcomes: vec![3, 0],
            divergent: 1,
        };
        let id = BranchId {
            line: 7,
            module: u64::MAX,
            ptx_line: 40,
        };
        let function = Function {
            line: 5,
            threads: 64,
        };
        let file = File {
            functions: [("scale<f32, 4>".to_owned(), function)].into(),
            lines: [(5, 64), (9, 0)].into(),
            branches: [(id, branch)].into(),
        };
        let kernel = Kernel {
            launches: 2,
            files: [("a folder/lib.rs".to_owned(), file)].into(),
        };
        let idle = Kernel::default();
        let kernels = [("scale".to_owned(), kernel), ("idle".to_owned(), idle)];
        let coverage = Coverage {
            kernels: kernels.into(),
        };
        let text = coverage.to_string();
        assert_eq!(text.parse(), Ok(coverage.clone()));
        let cut = &text[..text.len() - "3 0\n".len()];
        for wrong in ["line 3 4", "kernel x y", "kernel 1", "word", cut] {
            assert!(wrong.parse::<Coverage>().is_err(), "{wrong}");
        }
        let mut twice = coverage.clone();
        twice += coverage;
        let sum = &twice.files()["a folder/lib.rs"];
        assert_eq!(sum.lines, [(5, 128), (9, 0)].into());
        assert_eq!(sum.functions["scale<f32, 4>"].threads, 128);
        assert_eq!(sum.branches[&id].outcomes, [6, 0]);
        assert_eq!(twice.kernels["scale"].launches, 4);
    }
}
