//! `unknown-ptx`

use std::collections::BTreeMap;

use ::ptx::ParseError;

use super::super::kernels::Description;
use super::super::source::Source;
use super::{Finding, Levels, Lint, Report, Subject, allows, readable};

/// A module of which all is known has nothing of the kind: [`unknown`] and [`unread`] tell of others.
pub(super) fn check(_: &Subject<'_>) -> Vec<Report> {
    Vec::new()
}

/// Returns what is said of a module that no other lint looks at, because of statements that are not known: of each
/// function the first, if it is not allowed.
pub(crate) fn unknown(
    source: &Source<'_>,
    descriptions: &[Description],
    levels: &Levels,
) -> Vec<Finding> {
    let mut first = BTreeMap::new();
    for unknown in &source.spans.unknown {
        first.entry(unknown.function.0).or_insert(&unknown.error);
    }
    let found = first.into_iter().filter_map(|(function, error)| {
        let kernel = readable(&source.module.functions[function as usize].name);
        finding(
            kernel,
            error,
            "no lint has looked at this PTX",
            descriptions,
            levels,
        )
    });
    found.collect()
}

/// Returns what is said of a module that cannot be read.
pub(crate) fn unread(
    error: &ParseError,
    descriptions: &[Description],
    levels: &Levels,
) -> Option<Finding> {
    let untouched = "this PTX stays as the compiler wrote it, without launch bounds and shared memory, no lint has looked at it";
    finding(
        "of the module".to_owned(),
        error,
        untouched,
        descriptions,
        levels,
    )
}

fn finding(
    kernel: String,
    error: &ParseError,
    consequence: &str,
    descriptions: &[Description],
    levels: &Levels,
) -> Option<Finding> {
    let severity = levels.severity(Lint::UnknownPtx)?;
    if allows(descriptions, &kernel, Lint::UnknownPtx) {
        return None;
    }
    let described = descriptions.iter().find(|one| one.name == kernel);
    let report = Report {
        place: described.map(|one| one.place.clone()),
        kernel,
        message: format!(
            "Ridgepoint's parser does not know `{}` ({}), so {consequence} and no emulator executes \
             it: write it in another way, or build without them with `.lint(Lint::UnknownPtx, Level::Warn)`",
            error.text, error.message
        ),
    };
    Some(report.finding(Lint::UnknownPtx, severity))
}

#[cfg(test)]
mod tests {
    use super::super::super::process;
    use super::super::testing::{HEAD, findings, lines, options};
    use super::super::{Level, Severity};
    use super::*;

    const UNKNOWN: &str =
        "// ptx-std kernel k file=a.rs line=3 params= max_threads=0 min_blocks=0 block=0,0,0 allow=
.entry other() { ret; }
.entry k() {
conjure.b32 %r1;
call.uni missing, ();
ret; }";

    #[test]
    fn an_unknown_instruction_is_refused_with_its_text_and_silences_the_others() {
        let lines = lines(Lint::UnknownPtx, UNKNOWN);
        assert_eq!(lines.len(), 1, "{lines:?}");
        let start = "kernel k, a.rs:3: unknown-ptx: Ridgepoint's parser does not know `conjure.b32 %r1;` \
            (unknown instruction `conjure`)";
        assert!(lines[0].starts_with(start), "{lines:?}");
        assert_eq!(findings(Lint::UnresolvedExternal, UNKNOWN), []);
    }

    #[test]
    fn a_kernel_may_allow_it_and_what_is_known_is_silent() {
        let allowed = UNKNOWN.replace("allow=", "allow=unknown-ptx");
        assert_eq!(findings(Lint::UnknownPtx, &allowed), []);
        assert_eq!(findings(Lint::UnknownPtx, ".entry k() { ret; }"), []);
    }

    #[test]
    fn of_each_function_the_first_is_told() {
        let text = UNKNOWN.replace("{ ret; }", "{ conjure.b64; conjure.b16 4; ret; }");
        let lines = lines(Lint::UnknownPtx, &text);
        assert_eq!(lines.len(), 2, "{lines:?}");
        let start = "kernel other: unknown-ptx: Ridgepoint's parser does not know";
        assert!(lines[0].starts_with(start), "{lines:?}");
    }

    #[test]
    fn what_is_no_module_stays_as_it_is_and_is_told() {
        let text = format!("{HEAD}.conjure TILE;\n.entry k() {{ ret; }}\n");
        let mut options = options(|_| Level::Deny);
        options.levels.set(Lint::UnknownPtx, Level::Warn);
        let processed = process(&text, &options);
        assert_eq!(processed.text, text);
        let [finding] = &processed.findings[..] else {
            panic!("one: {:?}", processed.findings);
        };
        assert_eq!(finding.severity, Severity::Warning);
        let told = finding.to_string();
        let start =
            "kernel of the module: unknown-ptx: Ridgepoint's parser does not know `.conjure TILE;`";
        assert!(told.starts_with(start), "{told}");
        assert!(told.contains("stays as the compiler wrote it"), "{told}");
    }
}
