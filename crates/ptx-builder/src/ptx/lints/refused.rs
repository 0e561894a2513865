//! `ptxas-refuses`: what no GPU loads, as `ptxas` says where it is found, and as the parser says of what it knows.

use ::ptx::Module;

use super::super::calls::Calls;
use super::super::places::{Place, Sources};
use super::{Finding, Levels, Lint, Report, allows, readable};
use crate::assembler::Complaint;
use crate::ptx;

/// A module that is refused, and where its lines come from.
struct Refused<'m> {
    text: &'m str,
    module: &'m Module,
    calls: Calls,
    sources: &'m Sources,
}

/// Returns what the parser refuses of a finished text.
pub(crate) fn by_parser(text: &str, sources: &Sources, levels: &Levels) -> Vec<Finding> {
    // What cannot be read is another lint's.
    let Ok(module) = ::ptx::parse_undeclared(text) else {
        return Vec::new();
    };
    let complaints: Vec<Complaint> = ::ptx::check(&module, text)
        .into_iter()
        .map(|error| Complaint {
            line: Some(error.line),
            kernel: None,
            message: error.message,
        })
        .collect();
    findings("", &complaints, text, sources, levels)
}

/// Returns what `ptxas` refuses.
pub(crate) fn by_assembler(
    complaints: &[Complaint],
    text: &str,
    sources: &Sources,
    levels: &Levels,
) -> Vec<Finding> {
    findings("ptxas: ", complaints, text, sources, levels)
}

fn findings(
    whose: &str,
    complaints: &[Complaint],
    text: &str,
    sources: &Sources,
    levels: &Levels,
) -> Vec<Finding> {
    let lint = Lint::PtxasRefuses;
    let (Some(severity), false) = (levels.severity(lint), complaints.is_empty()) else {
        return Vec::new();
    };
    let descriptions = ptx::descriptions(text);
    let parsed = ::ptx::parse_undeclared(text).ok();
    let refused = parsed.as_ref().map(|module| Refused {
        text,
        module,
        calls: Calls::new(module),
        sources,
    });
    let mut found = Vec::new();
    for complaint in complaints {
        let mut report = match &refused {
            Some(refused) => refused.report(whose, complaint),
            None => unplaced(whose, complaint, text),
        };
        if allows(&descriptions, &report.kernel, lint) {
            continue;
        }
        let described = descriptions.iter().find(|one| one.name == report.kernel);
        report.place = report
            .place
            .or_else(|| described.map(|one| one.place.clone()));
        let finding = report.finding(lint, severity);
        if !found.contains(&finding) {
            found.push(finding);
        }
    }
    found
}

/// Of a text that is not understood.
fn unplaced(whose: &str, complaint: &Complaint, text: &str) -> Report {
    let line = complaint
        .line
        .and_then(|line| text.lines().nth(line as usize - 1));
    Report {
        kernel: complaint
            .kernel
            .clone()
            .unwrap_or("of the module".to_owned()),
        place: None,
        message: message(whose, complaint, line.unwrap_or_default().trim()),
    }
}

impl Refused<'_> {
    fn report(&self, whose: &str, complaint: &Complaint) -> Report {
        let line = complaint.line.unwrap_or_default();
        let within = self.function_at(line);
        let (instruction, place) = within
            .and_then(|index| self.instruction_at(index, line))
            .unwrap_or_default();
        let named = within.map(|index| {
            let own = || readable(&self.module.functions[index].name);
            self.calls.kernel_of(self.module, index).unwrap_or_else(own)
        });
        let kernel = complaint.kernel.clone().or(named);
        Report {
            kernel: kernel.unwrap_or("of the module".to_owned()),
            place,
            message: message(whose, complaint, &instruction),
        }
    }

    /// The function that a line lies in: the last that begins at it or before.
    fn function_at(&self, line: u32) -> Option<usize> {
        let functions = self.module.functions.iter().enumerate();
        let before = functions.filter(|(_, it)| it.body.is_some() && it.line <= line);
        before.max_by_key(|(_, it)| it.line).map(|(index, _)| index)
    }

    fn instruction_at(&self, function: usize, line: u32) -> Option<(String, Option<Place>)> {
        let body = self.module.functions[function].body.as_ref()?;
        let index = body.instructions.iter().rposition(|it| it.line == line)?;
        let text = body.instructions[index].text(self.text);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some((text, self.sources.place(self.module, body, index)))
    }
}

fn message(whose: &str, complaint: &Complaint, instruction: &str) -> String {
    let shown = match instruction {
        "" => String::new(),
        instruction => format!(" (`{instruction}`)"),
    };
    let advice = advice(&complaint.message, instruction);
    format!(
        "no GPU loads this PTX, nor any other kernel of it: {whose}{}{shown}{advice}",
        complaint.message
    )
}

/// Advice, where Rust's side of it is known.
fn advice(complaint: &str, instruction: &str) -> &'static str {
    let is_atomic = ["atom.", "red."]
        .iter()
        .any(|name| instruction.contains(name));
    if is_atomic && instruction.contains(".local") {
        return ": an atomic of the thread's own memory, which no other thread sees: use a plain variable or `Cell`, or put \
                it in shared or global memory";
    }
    if complaint.contains("shared data") || complaint.contains("static shared memory") {
        return ": make the arrays smaller, or take dynamic shared memory, whose size the launch gives";
    }
    if complaint.contains("PTX ISA .version") {
        return ": build for a newer architecture";
    }
    ""
}

/// Of a lint that the finished text shows, and machine code: [`by_parser`] and [`by_assembler`] look for it.
pub(super) fn check(_: &super::Subject<'_>) -> Vec<Report> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{HEAD, options};
    use super::super::{Level, Severity};
    use super::*;

    const KERNELS: &str = "// ptx-std kernel k file=kernels/src/lib.rs line=3 params= max_threads=0 min_blocks=0 block=0,0,0 allow=
.entry k() {
.reg .b32 %r<9>; .reg .b64 %rd<9>;
.loc 1 5 7
atom.relaxed.sys.local.cas.b32 %r2, [%rd6], %r4, %r5;
ret;
}
.file 1 \"/w/kernels/src/lib.rs\"
";

    fn of(text: &str, complaints: Option<&[Complaint]>) -> Vec<String> {
        let options = options(|_| Level::Deny);
        let (sources, levels) = (&options.sources, &options.levels);
        let found = match complaints {
            None => by_parser(text, sources, levels),
            Some(complaints) => by_assembler(complaints, text, sources, levels),
        };
        assert!(found.iter().all(|it| it.severity == Severity::Error));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_atomic_in_local_memory_is_refused_with_its_line_and_advice() {
        let text = format!("{HEAD}{KERNELS}");
        let found = of(&text, None);
        assert_eq!(found.len(), 1, "{found:?}");
        let start = "kernel k, kernels/src/lib.rs:5: ptxas-refuses: no GPU loads this PTX, nor any other kernel of it: \
             `atom.relaxed.sys.local.cas.b32`: it is not in `.local`";
        assert!(found[0].starts_with(start), "{found:?}");
        assert!(
            found[0].contains("use a plain variable or `Cell`"),
            "{found:?}"
        );
        let complaint = Complaint {
            line: Some(8),
            kernel: None,
            message: "State space incorrect for instruction 'atom'".to_owned(),
        };
        let found = of(&text, Some(&[complaint.clone(), complaint]));
        assert_eq!(found.len(), 1, "said once: {found:?}");
        let start = "kernel k, kernels/src/lib.rs:5: ptxas-refuses: no GPU loads this PTX, nor any other kernel of it: \
             ptxas: State space incorrect for instruction 'atom' (`atom.relaxed";
        assert!(found[0].starts_with(start), "{found:?}");
    }

    #[test]
    fn a_complaint_of_a_kernel_has_the_kernels_place() {
        let complaint = Complaint {
            line: None,
            kernel: Some("k".to_owned()),
            message: "Entry function 'k' uses too much shared data (0xea60 bytes, 0xc000 max)"
                .to_owned(),
        };
        let found = of(&format!("{HEAD}{KERNELS}"), Some(&[complaint]));
        assert!(
            found[0].starts_with("kernel k, kernels/src/lib.rs:3: ptxas-refuses: "),
            "{found:?}"
        );
        assert!(
            found[0].ends_with("take dynamic shared memory, whose size the launch gives"),
            "{found:?}"
        );
    }

    #[test]
    fn a_kernel_may_allow_it() {
        let text = format!("{HEAD}{}", KERNELS.replace("allow=", "allow=ptxas-refuses"));
        assert_eq!(of(&text, None), [""; 0]);
        assert_eq!(of(&format!("{HEAD}.entry k() {{ ret; }}\n"), None), [""; 0]);
    }
}
