//! Reads what `ptxas -v` says.

use super::{ConstantBank, KernelResources};

/// Reads the resources of each entry. The lines of a kernel follow one that says it is compiled:
///
/// ```text
/// ptxas info    : Compiling entry function 'busy' for 'sm_86'
/// ptxas info    : Function properties for busy
///     64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
/// ptxas info    : Used 9 registers, used 2 barriers, 64 bytes cumulative stack size, 2048 bytes smem, 364 bytes cmem[0]
/// ```
///
/// Properties of functions that are no entries stand between them.
pub(super) fn parse(output: &str) -> Vec<KernelResources> {
    let mut kernels: Vec<KernelResources> = Vec::new();
    let mut properties_of = "";
    for line in output.lines() {
        let line = line.trim();
        let info = line.strip_prefix("ptxas info").map(|rest| {
            let rest = rest.trim_start();
            rest.strip_prefix(':').unwrap_or(rest).trim_start()
        });
        if let Some(rest) = info.and_then(|info| info.strip_prefix("Compiling entry function '")) {
            let name = rest.split('\'').next().unwrap_or_default();
            kernels.push(KernelResources {
                name: name.to_owned(),
                ..KernelResources::default()
            });
        } else if let Some(name) =
            info.and_then(|info| info.strip_prefix("Function properties for "))
        {
            properties_of = name.trim();
        } else if let Some(kernel) = kernels.last_mut() {
            match info.and_then(|info| info.strip_prefix("Used ")) {
                Some(used) => read_used(used, kernel),
                None if properties_of == kernel.name => read_frame(line, kernel),
                None => {}
            }
        }
    }
    kernels
}

/// `64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads`
fn read_frame(line: &str, kernel: &mut KernelResources) {
    for (number, what) in numbers(line) {
        match what {
            "bytes stack frame" => kernel.stack_bytes = number,
            "bytes spill stores" => kernel.spill_store_bytes = number,
            "bytes spill loads" => kernel.spill_load_bytes = number,
            _ => {}
        }
    }
}

/// `9 registers, used 2 barriers, 64 bytes cumulative stack size, 2048 bytes smem, 364 bytes cmem[0]`
fn read_used(used: &str, kernel: &mut KernelResources) {
    for (number, what) in numbers(used) {
        match what {
            "registers" => kernel.registers = number,
            "barriers" => kernel.barriers = number,
            "bytes cumulative stack size" => kernel.stack_bytes = number,
            "bytes smem" => kernel.static_shared_bytes = number,
            _ => {
                let bank = what.strip_prefix("bytes cmem[");
                let bank = bank.and_then(|bank| bank.strip_suffix(']')?.parse().ok());
                kernel.constant.extend(bank.map(|bank| ConstantBank {
                    bank,
                    bytes: number,
                }));
            }
        }
    }
}

/// Splits `9 registers, used 2 barriers` into `(9, "registers")` and `(2, "barriers")`.
fn numbers(list: &str) -> impl Iterator<Item = (u32, &str)> {
    list.split(',').filter_map(|item| {
        let item = item.trim();
        let (number, what) = item.strip_prefix("used ").unwrap_or(item).split_once(' ')?;
        Some((number.parse().ok()?, what))
    })
}

/// The threads that `.maxntid` or `.reqntid` of the entry `name` allow a block.
pub(super) fn max_threads(ptx: &str, name: &str) -> Option<u32> {
    let head = ptx.split(".entry ").skip(1).find_map(|entry| {
        let (found, rest) = entry.split_once('(')?;
        (found.trim() == name).then(|| rest.split('{').next())?
    })?;
    [".maxntid", ".reqntid"].iter().find_map(|directive| {
        let (_, value) = head.split_once(directive)?;
        let value = value.split(['\n', '.']).next()?;
        value
            .split(',')
            .map(|extent| extent.trim().parse::<u32>().ok())
            .product()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of `ptxas` 13.0.88 for a kernel with a stack, two barriers, shared and constant memory; for
    /// `power_sum_f64_v2` with `-maxrregcount 24`; and for a kernel with bounds checks.
    const OUTPUT: &str = "\
ptxas info    : 0 bytes gmem, 64 bytes cmem[3]
ptxas info    : Compiling entry function 'busy' for 'sm_86'
ptxas info    : Function properties for busy
    64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 9 registers, used 2 barriers, 64 bytes cumulative stack size, 2048 bytes smem, 364 bytes cmem[0]
ptxas info    : Compile time = 1.156 ms
ptxas info    : Compiling entry function 'power_sum_f64_v2' for 'sm_90'
ptxas info    : Function properties for power_sum_f64_v2
    8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers, 8 bytes cumulative stack size
ptxas info    : Compile time = 10.062 ms
ptxas info    : Compiling entry function 'arithmetic' for 'sm_90'
ptxas info    : Function properties for arithmetic
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 20 registers, used 0 barriers
ptxas info    : Compile time = 18.218 ms
ptxas info    : Function properties for _RNvNtCs5BSODPsnYV7_4core9panicking9panic_fmt
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
";

    #[test]
    fn every_number_is_read() {
        let busy = KernelResources {
            name: "busy".to_owned(),
            registers: 9,
            stack_bytes: 64,
            static_shared_bytes: 2048,
            constant: vec![ConstantBank {
                bank: 0,
                bytes: 364,
            }],
            barriers: 2,
            ..KernelResources::default()
        };
        let spilling = KernelResources {
            name: "power_sum_f64_v2".to_owned(),
            registers: 24,
            stack_bytes: 8,
            spill_store_bytes: 8,
            spill_load_bytes: 8,
            ..KernelResources::default()
        };
        let arithmetic = KernelResources {
            name: "arithmetic".to_owned(),
            registers: 20,
            ..KernelResources::default()
        };
        assert_eq!(parse(OUTPUT), [busy, spilling, arithmetic]);
    }

    #[test]
    fn a_function_that_is_no_entry_adds_nothing_to_the_entry_before_it() {
        let frame = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
        let (before, _) = OUTPUT
            .rsplit_once(frame)
            .expect("the function's line is last");
        let planted =
            format!("{before}16 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n");
        assert_eq!(parse(&planted), parse(OUTPUT));
    }

    #[test]
    fn the_largest_block_is_read_from_the_entry_of_that_name() {
        let ptx = "\
.visible .entry one(.param .u64 a)
.maxntid 128, 2, 1
{ ret; }
.visible .entry one_more(
\t.param .u64 a
)
.reqntid 64
.minnctapersm 2
{ ret; }
.visible .entry free() { ret; } // .maxntid 7
";
        assert_eq!(max_threads(ptx, "one"), Some(256));
        assert_eq!(max_threads(ptx, "one_more"), Some(64));
        assert_eq!(max_threads(ptx, "free"), None);
        assert_eq!(max_threads(ptx, "none"), None);
    }
}
