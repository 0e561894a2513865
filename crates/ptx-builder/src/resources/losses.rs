//! `tensor-core-loss`: what `ptxas` says costs tensor cores their speed.

use std::collections::HashSet;

use ::ptx::Operation;

use super::{KernelResources, Report};
use crate::ptx;
use crate::ptx::lints::{Finding, Levels, Lint};

/// Notes the losses that `ptxas -v` reports, each with the function that it was in:
///
/// ```text
/// ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.
/// ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to wgmma pipeline crossing function boundary at a function call in the function 'called'
/// ```
///
/// A line that names no kernel counts for each that has such instructions.
pub(super) fn note(output: &str, ptx: &str, kernels: &mut [KernelResources]) {
    let users = users_of_warpgroups(ptx);
    for line in output.lines() {
        let Some((before, loss)) = line.split_once("Potential Performance Loss: ") else {
            continue;
        };
        let code = before
            .split_once('(')
            .and_then(|(_, code)| code.split(')').next());
        let loss = format!("{}: {}", code.unwrap_or("ptxas"), loss.trim());
        let named = loss.split('\'').nth_back(1).unwrap_or_default();
        let is_known = kernels.iter().any(|kernel| kernel.name == named);
        for kernel in kernels.iter_mut() {
            if kernel.name == named || (!is_known && users.contains(&kernel.name)) {
                kernel.losses.push(loss.clone());
            }
        }
    }
    for kernel in kernels {
        let kept = kernel.stack_bytes.max(kernel.spill_store_bytes);
        if kept > 0 && users.contains(&kernel.name) {
            kernel.losses.push(format!(
                "{kept} bytes of local memory in a kernel with wgmma"
            ));
        }
    }
}

/// The names of the entries that have instructions that are a warpgroup's, themselves or by the functions that they
/// call.
fn users_of_warpgroups(text: &str) -> HashSet<String> {
    ptx::entries_that_run(text, |instruction| {
        matches!(
            instruction.operation,
            Operation::WgmmaMma(_) | Operation::Setmaxnreg(_)
        )
    })
}

/// The losses that are not allowed, with the kernel's place.
pub(super) fn check(report: &Report, ptx: &str, levels: &Levels) -> Vec<Finding> {
    let lint = Lint::TensorCoreLoss;
    let lossy = report
        .kernels
        .iter()
        .filter(|kernel| !kernel.losses.is_empty());
    let (Some(severity), Some(_)) = (levels.severity(lint), lossy.clone().next()) else {
        return Vec::new();
    };
    let descriptions = ptx::descriptions(ptx);
    let findings = lossy.filter_map(|kernel| {
        let described = descriptions.iter().find(|one| one.name == kernel.name);
        if described.is_some_and(|one| one.allowed.iter().any(|name| name == lint.name())) {
            return None;
        }
        Some(Finding {
            severity,
            lint,
            kernel: kernel.name.clone(),
            place: described.map(|one| one.place.clone()),
            message: message(&kernel.losses),
        })
    });
    findings.collect()
}

fn message(losses: &[String]) -> String {
    format!(
        "tensor cores wait where they need not ({}): bound the kernel's threads and say `min_blocks = 1`, \
         inline what multiplies, index accumulators by constants alone (`unroll!`), and touch none \
         between the first instruction of a group and the wait for it",
        losses.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NvvmArch;
    use crate::ptx::lints::{Level, Severity};

    /// Output of `ptxas` 13.0.88 for kernels that were made to show each loss, with their PTX cut down.
    const OUTPUT: &str = "\
ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.
ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'local'
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to wgmma pipeline crossing function boundary at a function call in the function 'called'
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'local' for 'sm_90a'
ptxas info    : Function properties for local
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 30 registers, used 0 barriers
ptxas info    : Compiling entry function 'called' for 'sm_90a'
ptxas info    : Used 30 registers, used 0 barriers
ptxas info    : Compiling entry function 'unbound' for 'sm_90a'
ptxas info    : Used 161 registers, used 16 barriers
ptxas info    : Compiling entry function 'spilling' for 'sm_90a'
ptxas info    : Function properties for spilling
    48 bytes stack frame, 40 bytes spill stores, 40 bytes spill loads
ptxas info    : Used 255 registers, used 16 barriers
ptxas info    : Compiling entry function 'plain' for 'sm_90a'
ptxas info    : Function properties for plain
    48 bytes stack frame, 40 bytes spill stores, 40 bytes spill loads
ptxas info    : Used 255 registers
";
    const PTX: &str = "\
.version 8.0
.target sm_90a
.address_size 64
// ptx-std kernel local file=src/lib.rs line=7 params= max_threads=0 min_blocks=0 block=0,0,0 allow=
// ptx-std kernel called file=src/lib.rs line=9 params= max_threads=0 min_blocks=0 block=0,0,0 allow=tensor-core-loss
.visible .entry local()
{
\tret;
}
.visible .entry called()
{
\tret;
}
.visible .entry unbound()
{
\tsetmaxnreg.inc.sync.aligned.u32 232;
\tret;
}
.visible .entry spilling()
{
\t.reg .b32 %r<2>; .reg .f32 %f<5>; .reg .b64 %rd<3>; .reg .pred %p<2>;
\t{
\tmov.u32 %r1, 0;
\t}
\twgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0;
\tret;
}
.func by_call()
{
\tsetmaxnreg.dec.sync.aligned.u32 24;
\tret;
}
.visible .entry calling()
{
\tcall.uni by_call, ();
\tret;
}
.visible .entry plain()
{
\tret;
}
";

    fn report() -> Report {
        Report::parse(NvvmArch::Compute90a, PTX, OUTPUT)
    }

    #[test]
    fn what_an_entry_calls_is_its_own() {
        let mut users = Vec::from_iter(users_of_warpgroups(PTX));
        users.sort_unstable();
        assert_eq!(users, ["calling", "spilling", "unbound"]);
    }

    #[test]
    fn each_loss_is_told_of_its_kernel() {
        let report = report();
        let losses = |name: &str| -> Vec<String> {
            let kernel = report.kernels.iter().find(|kernel| kernel.name == name);
            kernel.expect("it is there").losses.clone()
        };
        assert!(
            losses("local")[0].starts_with("C7511: wgmma.mma_async instructions are serialized")
        );
        assert!(losses("called")[0].starts_with("C7510: "));
        let ignored = "C7508: 'setmaxnreg' ignored; unable to determine register count at entry.";
        assert_eq!(losses("unbound"), [ignored]);
        let local = "48 bytes of local memory in a kernel with wgmma";
        assert_eq!(losses("spilling"), [ignored, local]);
        assert_eq!(losses("plain"), [""; 0]);
    }

    #[test]
    fn losses_are_refused_unless_the_kernel_or_the_build_allows_them() {
        let found = check(&report(), PTX, &Levels::default());
        let kernels: Vec<&str> = found.iter().map(|one| one.kernel.as_str()).collect();
        assert_eq!(kernels, ["local", "spilling", "unbound"]);
        assert!(found.iter().all(|one| one.severity == Severity::Error));
        let start = "kernel local, src/lib.rs:7: tensor-core-loss: tensor cores wait where they need not (C7511: ";
        assert!(found[0].to_string().starts_with(start), "{}", found[0]);
        let mut levels = Levels::default();
        levels.set(Lint::TensorCoreLoss, Level::Allow);
        assert_eq!(check(&report(), PTX, &levels), []);
    }
}
