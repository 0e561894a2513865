//! A kernel's PTX, and its machine code.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use cuda_builder::NvvmArch;
use cuda_builder::nvidia::Tool;
use cuda_builder::resources::Report;

use super::{KernelsError, names, not_embedded};
use crate::driver::{ComputeCapability, Embedded, target_of};

/// The PTX of a module whose only entry is `name`: of `arch`, or of the newest embedded architecture.
///
/// # Errors
/// [`KernelsError::NotEmbedded`]: there is no PTX for the architecture; [`KernelsError::NoKernel`]: it has
/// no such entry.
pub fn ptx(
    library: &[Embedded<'_>],
    arch: Option<u32>,
    name: &str,
) -> Result<String, KernelsError> {
    let (_, ptx) = module(library, arch)?;
    match entries(ptx).any(|(entry, _)| entry == name) {
        true => Ok(module_of(ptx, name)),
        false => Err(KernelsError::unknown(name, &names(library))),
    }
}

/// The module without its other entries, and without the variables and functions that only those name.
fn module_of(ptx: &str, name: &str) -> String {
    // Behind the code are the records of all kernels, for debuggers.
    let end = ptx.find("\n\t.section").unwrap_or(ptx.len());
    let mut rest = ptx[..end].to_owned();
    for (_, text) in entries(ptx).filter(|(entry, _)| *entry != name) {
        rest = rest.replacen(text, "", 1);
    }
    // What is gone may have been all that names another.
    loop {
        let unnamed = declarations(&rest).find(|it| !is_named(&rest, it));
        let Some(range) = unnamed.map(|it| it.range) else {
            break;
        };
        rest.replace_range(range, "");
    }
    let lines = rest.lines().filter(|line| !is_of_others(line, name, &rest));
    let mut lines: Vec<&str> = lines.map(without_records).collect();
    lines.dedup_by(|next, line| next.trim().is_empty() && line.trim().is_empty());
    lines.join("\n").trim_end().to_owned() + "\n"
}

/// Whether a line is the builder's or LLVM's note on another kernel, or names a source that no instruction is of.
fn is_of_others(line: &str, name: &str, ptx: &str) -> bool {
    let notes = ["// ptx-std kernel ", "\t// .globl\t"];
    if let Some(note) = notes.iter().find_map(|begin| line.strip_prefix(begin)) {
        return note.split_whitespace().next() != Some(name);
    }
    let number = line.trim_start().strip_prefix(".file");
    let number = number.and_then(|rest| rest.split_whitespace().next());
    number.is_some_and(|number| !ptx.contains(&format!(".loc\t{number} ")))
}

/// A line of the source without the function that it was inlined from, whose name the records had.
fn without_records(line: &str) -> &str {
    match line.trim_start().starts_with(".loc") {
        true => line.split(", function_name").next().unwrap_or(line),
        false => line,
    }
}

/// A variable or a function of a module.
struct Declaration {
    name: String,
    range: std::ops::Range<usize>,
}

/// Those that stand at the start of a line, each to its end.
fn declarations(ptx: &str) -> impl Iterator<Item = Declaration> {
    const KINDS: [&str; 6] = [
        ".global",
        ".const",
        ".shared",
        ".func",
        ".visible .func",
        ".visible .global",
    ];
    let starts = ptx.match_indices('\n').map(|(at, _)| at + 1);
    starts.filter_map(move |start| {
        let text = &ptx[start..];
        KINDS.iter().find(|kind| text.starts_with(**kind))?;
        let is_function = text.lines().next()?.contains(".func");
        let end = match is_function {
            true => text.find("\n}")? + "\n}".len(),
            false => text.find(';')? + 1,
        };
        let name = declared(&text[..end], is_function)?;
        Some(Declaration {
            name: name.to_owned(),
            range: start..start + end,
        })
    })
}

/// The name that a declaration gives: before the bracket or the value of a variable, and of a function before its parameters.
fn declared(text: &str, is_function: bool) -> Option<&str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_$%".contains(letter);
    let head = match is_function {
        // What it returns stands in brackets before its name.
        true => {
            let after = text.split_once(".func")?.1.trim_start();
            match after.strip_prefix('(') {
                Some(returned) => returned.split_once(')')?.1.trim_start(),
                None => after,
            }
            .split('(')
            .next()?
        }
        false => text.split(['[', '=', ';']).next()?,
    };
    let name = head.trim_end().rsplit(|letter| !is_part(letter)).next()?;
    (!name.is_empty()).then_some(name)
}

/// Whether a declaration's name stands anywhere but in it.
fn is_named(ptx: &str, declaration: &Declaration) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_$%".contains(letter);
    let mut places = ptx.match_indices(&declaration.name);
    places.any(|(at, found)| {
        let before = ptx[..at].chars().next_back().is_some_and(is_part);
        let after = ptx[at + found.len()..].chars().next().is_some_and(is_part);
        !before && !after && !declaration.range.contains(&at)
    })
}

/// The machine code of the entry `name`, as `ptxas` and `nvdisasm` make it here and now: of `arch`,
/// or of the newest embedded architecture.
///
/// # Errors
/// As [`ptx()`] and [`disassemble`].
pub fn machine_code(
    library: &[Embedded<'_>],
    arch: Option<u32>,
    name: &str,
) -> Result<String, KernelsError> {
    ptx(library, arch, name)?;
    let (arch, module) = module(library, arch)?;
    disassemble(arch, module, name)
}

/// The machine code of the entry `name` of any PTX for `arch` (90 for `sm_90`).
///
/// # Errors
/// [`KernelsError::NoTool`]: `ptxas` or `nvdisasm` is not installed; [`KernelsError::Tool`]: one of them
/// refuses the PTX; [`KernelsError::Io`]: its files cannot be written to the folder for temporary files.
pub fn disassemble(arch: u32, ptx: &str, name: &str) -> Result<String, KernelsError> {
    let (ptxas, nvdisasm) = (Tool::Ptxas.find_here()?, Tool::Nvdisasm.find_here()?);
    let folder = tempfile::tempdir().map_err(io("create a folder in", &std::env::temp_dir()))?;
    let source = folder.path().join("kernels.ptx");
    let cubin = folder.path().join("kernels.cubin");
    fs::write(&source, ptx).map_err(io("write", &source))?;
    let target = assembled_for(arch, ptx);
    let assemble: [&OsStr; 6] = [
        target.as_ref(),
        "-e".as_ref(),
        name.as_ref(),
        "-o".as_ref(),
        cubin.as_ref(),
        source.as_ref(),
    ];
    run(&ptxas, &assemble)?;
    let listing = run(&nvdisasm, &["-c".as_ref(), cubin.as_ref()])?;
    Ok(section(&String::from_utf8_lossy(&listing.stdout), name))
}

/// Returns the needs of the newest embedded architecture's kernels where none takes more than `registers` registers per
/// thread, as `ptxas` says here and now.
///
/// # Errors
/// [`KernelsError::NotEmbedded`]: there is no PTX; [`KernelsError::NoTool`]: `ptxas` is not installed;
/// [`KernelsError::Tool`]: it refuses the PTX.
pub(crate) fn report_with_max_registers(
    library: &[Embedded<'_>],
    registers: u32,
) -> Result<Report, KernelsError> {
    let (arch, ptx) = module(library, None)?;
    report(arch, ptx, Some(registers))
}

/// Returns the needs of the PTX's kernels, as `ptxas` says here and now.
pub(super) fn report(
    arch: u32,
    ptx: &str,
    max_registers: Option<u32>,
) -> Result<Report, KernelsError> {
    let known = known(arch).expect("PTX is embedded for architectures that the builder knows");
    let target = assembled_for(arch, ptx);
    report_for(known, &target, ptx, max_registers)
}

/// Returns the needs of the kernels of any PTX on a GPU that runs it, as `ptxas` says here and now; code for one
/// architecture alone is reported for that.
///
/// # Errors
/// In words: `ptxas` was not found, or what it says against the PTX.
pub fn report_of(ptx: &str, capability: ComputeCapability) -> Result<Report, String> {
    let unknown = || "the PTX is for no architecture that is known here".to_owned();
    let target = target_of(ptx).ok_or_else(unknown)?;
    let wanted = capability.major() * 10 + capability.minor();
    // `sm_90a` and `sm_100f` have no number behind the underscore.
    let own = target
        .strip_prefix("sm_")
        .and_then(|it| it.parse::<u32>().ok());
    let report = match own {
        Some(own) if own <= wanted => {
            let arch = known(wanted).ok_or_else(unknown)?;
            report_for(arch, &format!("-arch=sm_{wanted}"), ptx, None)
        }
        _ => {
            let digits = target.trim_start_matches("sm_");
            let digits = digits.trim_end_matches(|it: char| !it.is_ascii_digit());
            let arch = digits.parse().ok().and_then(known);
            let arch = arch.ok_or_else(unknown)?;
            report_for(arch, &format!("-arch={target}"), ptx, None)
        }
    };
    report.map_err(|error| match error {
        KernelsError::NoTool(_) => {
            "ptxas was not found; `ridgepoint doctor` says how to get it".to_owned()
        }
        KernelsError::Tool { message, .. } => format!("ptxas says: {}", complaint(&message)),
        error => error.to_string(),
    })
}

/// The first line of what `ptxas` says, without the name of the temporary file.
fn complaint(message: &str) -> &str {
    let first = message.lines().next().unwrap_or_default();
    let told = first.split_once("; ").map_or(first, |(_, told)| told);
    let told = told.split_once(" : ").map_or(told, |(_, told)| told);
    told.trim()
}

fn known(arch: u32) -> Option<NvvmArch> {
    let mut all = NvvmArch::ALL.iter();
    all.find(|it| it.number() == arch).copied()
}

fn report_for(
    arch: NvvmArch,
    target: &str,
    ptx: &str,
    max_registers: Option<u32>,
) -> Result<Report, KernelsError> {
    let ptxas = Tool::Ptxas.find_here()?;
    let folder = tempfile::tempdir().map_err(io("create a folder in", &std::env::temp_dir()))?;
    let source = folder.path().join("kernels.ptx");
    fs::write(&source, ptx).map_err(io("write", &source))?;
    let limit = max_registers.map(|registers| format!("-maxrregcount={registers}"));
    let mut assemble: Vec<&OsStr> = vec!["-v".as_ref(), target.as_ref()];
    assemble.extend(limit.as_ref().map(OsStr::new));
    assemble.extend(["-o".as_ref(), "/dev/null".as_ref(), source.as_os_str()]);
    let said = run(&ptxas, &assemble)?;
    let said = [said.stdout, said.stderr].concat();
    Ok(Report::parse(arch, ptx, &String::from_utf8_lossy(&said)))
}

/// Returns the option of `ptxas` for the architecture: as the PTX says, whose suffix the number lacks.
fn assembled_for(arch: u32, ptx: &str) -> String {
    match target_of(ptx) {
        Some(target) => format!("-arch={target}"),
        None => format!("-arch=sm_{arch}"),
    }
}

/// The architecture's PTX, or the newest.
fn module<'a>(library: &[Embedded<'a>], arch: Option<u32>) -> Result<(u32, &'a str), KernelsError> {
    let wanted = |(it, ..): &&Embedded<'_>| arch.is_none_or(|arch| arch == *it);
    library
        .iter()
        .rfind(wanted)
        .map(|&(arch, ptx, _)| (arch, ptx))
        .ok_or_else(|| not_embedded(library, arch.unwrap_or_default()))
}

/// Name and text of each entry.
pub(super) fn entries(ptx: &str) -> impl Iterator<Item = (&str, &str)> {
    const ENTRY: &str = ".visible .entry ";
    ptx.match_indices(ENTRY).filter_map(move |(start, _)| {
        let text = &ptx[start..];
        let (name, _) = text[ENTRY.len()..].split_once('(')?;
        // The brace that ends a function stands at the start of its line, those within do not.
        let end = text.find("\n}")? + "\n}".len();
        Some((name.trim(), &text[..end]))
    })
}

/// The part of `nvdisasm`'s listing that is the kernel's code.
fn section(listing: &str, name: &str) -> String {
    let heading = format!(".text.{name}:");
    let lines = listing
        .lines()
        .skip_while(|line| line.trim() != heading)
        .take_while(|line| !line.trim_start().starts_with(".section"));
    let text = lines.collect::<Vec<_>>().join("\n");
    text.trim_end().to_owned()
}

fn run(program: &Path, arguments: &[&OsStr]) -> Result<Output, KernelsError> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(io("run", program))?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        return Err(KernelsError::Tool {
            tool: program.to_path_buf(),
            message: String::from_utf8_lossy(&said).trim().to_owned(),
        });
    }
    Ok(output)
}

fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> KernelsError {
    move |error| KernelsError::Io {
        action,
        path: path.to_path_buf(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::{complaint, entries, module_of, section};

    #[test]
    fn what_ptxas_says_is_told_without_its_temporary_file() {
        let said = "ptxas /tmp/.tmpA1/kernels.ptx, line 5; fatal   : Unsupported .version 9.4; current version is '9.0'\n\
                    ptxas fatal   : Ptx assembly aborted due to errors";
        let told = "Unsupported .version 9.4; current version is '9.0'";
        assert_eq!(complaint(said), told);
        assert_eq!(
            complaint("ptxas fatal   : Ptx assembly aborted due to errors"),
            "Ptx assembly aborted due to errors"
        );
        assert_eq!(complaint("Killed"), "Killed");
    }

    #[test]
    fn an_entry_ends_at_its_own_brace() {
        let ptx = "\
.version 7.8
.visible .entry one(
\t.param .u64 a
)
{
\t{ // callseq 0
\t}
\tret;

}
.func helper()
{
}
.visible .entry two()
{
}
";
        let found: Vec<(&str, &str)> = entries(ptx).collect();
        assert_eq!(found[0].0, "one");
        assert!(found[0].1.ends_with("\tret;\n\n}"), "{}", found[0].1);
        assert_eq!(found[1], ("two", ".visible .entry two()\n{\n}"));
    }

    #[test]
    fn a_module_of_one_entry_has_what_that_names_and_nothing_else() {
        let ptx = "\
// ptx-std kernel one params=8
// ptx-std kernel two params=8
.version 7.8
.target sm_70
.address_size 64
.global .align 4 .b8 used[4] = {1, 2, 3, 4};
.global .align 4 .b8 used_by_other[4];
.const .align 4 .u32 by_helper;
.func  (.param .b32 func_retval0) helper(
\t.param .b32 a
)
{
\tld.const.u32 %r1, [by_helper];
}
.func other_helper()
{
}
.visible .entry one()
{
\t.loc\t1 5 0
\t.loc\t1 7 0, function_name $L__info_string1, inlined_at 1 5 0
\tmov.u64 %rd1, used;
\tcall.uni (retval0), helper, (param0);
}
.visible .entry two()
{
\tmov.u64 %rd1, used_by_other;
\tcall.uni other_helper;
}
\t.file\t1 \"own.rs\"
\t.file\t2 \"gone.rs\"
\t.section\t.debug_str
\t{
$L__info_string1:
\t}
";
        let one = module_of(ptx, "one");
        for kept in [
            ".version 7.8",
            "used[4]",
            "by_helper;",
            "helper(",
            ".entry one",
        ] {
            assert!(one.contains(kept), "{kept}: {one}");
        }
        assert!(
            one.contains("\t.loc\t1 7 0\n") && one.contains("own.rs"),
            "{one}"
        );
        for gone in [
            "two",
            "used_by_other",
            "other_helper",
            "gone.rs",
            "info_string",
            ".section",
        ] {
            assert!(!one.contains(gone), "{gone}: {one}");
        }
    }

    #[test]
    fn a_listing_is_cut_to_the_kernel() {
        let listing = "header\n.section .text.a,\"ax\"\n.text.a:\n  /*0000*/ EXIT ;\n.section .b\n";
        assert_eq!(section(listing, "a"), ".text.a:\n  /*0000*/ EXIT ;");
    }
}
