//! `unknown-ptx`

use ::ptx::ParseError;

use super::super::kernels::Description;
use super::super::parse::Module;
use super::{Finding, Levels, Lint, Report, Subject, allows, readable};

/// A module that was parsed has nothing of the kind: what has is [`unread`].
pub(super) fn check(_: &Subject<'_>) -> Vec<Report> {
    Vec::new()
}

/// What is said of a module that no other lint can look at, if it is not allowed.
pub(crate) fn unread(
    error: &ParseError,
    module: &Module<'_>,
    descriptions: &[Description],
    levels: &Levels,
) -> Option<Finding> {
    let severity = levels.severity(Lint::UnknownPtx)?;
    let kernel = function_at(error, module).map_or("of the module".to_owned(), readable);
    if allows(descriptions, &kernel, Lint::UnknownPtx) {
        return None;
    }
    let described = descriptions.iter().find(|one| one.name == kernel);
    let report = Report {
        place: described.map(|one| one.place.clone()),
        kernel,
        message: format!(
            "Ridgepoint's parser does not know `{}` ({}), so no lint has looked at this PTX and no emulator executes \
             it: write it in another way, or build without them with `.lint(Lint::UnknownPtx, Level::Warn)`",
            error.text, error.message
        ),
    };
    Some(report.finding(Lint::UnknownPtx, severity))
}

/// The function that the line of the error lies in.
fn function_at<'t>(error: &ParseError, module: &Module<'t>) -> Option<&'t str> {
    let before = error.line as usize - 1;
    let at: usize = module
        .text
        .split_inclusive('\n')
        .take(before)
        .map(str::len)
        .sum();
    let mut functions = module.functions.iter();
    let around = functions.find(|function| {
        let body = function.body.as_ref();
        body.is_some_and(|body| body.start <= at && at < body.end)
    })?;
    Some(around.name)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, lines};
    use super::*;

    const UNKNOWN: &str =
        "// ptx-std kernel k file=a.rs line=3 params= max_threads=0 min_blocks=0 allow=
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
}
