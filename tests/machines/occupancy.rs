//! The occupancy model gives the driver's answers.

use std::collections::BTreeSet;
use std::fmt::Write;

use gpu_test::{Device, Failed, Trial, on_gpu};
use occupancy::{Kernel, Multiprocessor};
use ridgepoint::driver::Compiled;
use ridgepoint::kernels::embedded_ptx;
use ridgepoint::kernels::{disassemble, names};

/// Words that a kernel holds in registers at once. It needs some registers more, and `ptxas` takes
/// what else is free, up to the kernel's `.maxnreg`.
const LIVE: std::ops::RangeInclusive<usize> = 1..=247;
const LIVE_STEP: usize = 3;
/// Registers of a thread beside the live words.
const OTHERS: usize = 8;

/// Threads per block: all whole warps, and some that are none.
fn blocks() -> impl Iterator<Item = u32> {
    (32..=1024).step_by(32).chain([1, 33, 100, 500, 1000])
}

/// Bytes of dynamic shared memory: all KiB up to the limit, in steps, and amounts beside a unit.
fn shared(limit: u32) -> Vec<u32> {
    const KIB: u32 = 1024;
    let steps = (0..=limit / KIB).step_by(9).map(|kib| kib * KIB);
    steps
        .chain([1, 127, 129, 48 * KIB + 1, limit - 1, limit])
        .collect()
}

/// The cases of this file.
pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test(
            "occupancy::the_generated_ptx_assembles",
            generated_ptx_assembles,
        ),
        on_gpu(
            "occupancy::the_model_gives_the_drivers_answers",
            embedded_ptx(),
            model_gives_the_drivers_answers,
        ),
        on_gpu(
            "occupancy::shipped_kernels_are_resident_as_the_model_says",
            embedded_ptx(),
            shipped_kernels_agree,
        ),
        on_gpu(
            "occupancy::a_limit_of_registers_is_kept",
            embedded_ptx(),
            limit_of_registers_is_kept,
        ),
    ]
}

fn entry_names() -> Vec<String> {
    LIVE.step_by(LIVE_STEP)
        .map(|live| format!("hold_{live}"))
        .collect()
}

/// Kernels that each hold another number of words at once, between reading all and writing all.
fn ptx(arch: u32) -> String {
    let mut text = format!(".version 7.8\n.target sm_{arch}\n.address_size 64\n");
    for (live, name) in LIVE.step_by(LIVE_STEP).zip(entry_names()) {
        let most = live + OTHERS;
        let _ = writeln!(
            text,
            ".visible .entry {name}(.param .u64 words) .maxnreg {most} {{\n\
             .reg .b64 %rd<2>;\n.reg .b32 %r<{live}>;\n\
             ld.param.u64 %rd1, [words];\ncvta.to.global.u64 %rd1, %rd1;"
        );
        for word in 0..live {
            let _ = writeln!(
                text,
                "ld.volatile.global.u32 %r{word}, [%rd1+{}];",
                4 * word
            );
        }
        for word in 0..live {
            let _ = writeln!(
                text,
                "st.volatile.global.u32 [%rd1+{}], %r{word};",
                4 * word
            );
        }
        text.push_str("ret;\n}\n");
    }
    text
}

fn generated_ptx_assembles() -> Result<(), Failed> {
    let code = disassemble(90, &ptx(90), "hold_100")?;
    assert_eq!(code.matches("LDG.E").count(), 100, "{code}");
    Ok(())
}

fn model_gives_the_drivers_answers(device: &Device) -> Result<(), Failed> {
    let (major, minor) = device.properties().compute_capability;
    let arch = major * 10 + minor;
    let text = ptx(arch);
    let loaded = Device::with_ptx(0, &[(arch, &text, None)])?;
    let mut tally = Tally::default();
    for name in entry_names() {
        // Lives as long as the process, as the names of real kernels do.
        let compiled = loaded.compiled(name.leak())?.ok_or("a GPU's kernel")?;
        tally.compare(&loaded, &compiled)?;
    }
    assert!(tally.cases >= 5000, "{} cases", tally.cases);
    assert!(tally.registers.len() >= 40, "{:?}", tally.registers);
    assert!(
        tally.registers.first() <= Some(&24),
        "{:?}",
        tally.registers
    );
    assert!(
        tally.registers.last() >= Some(&250),
        "{:?}",
        tally.registers
    );
    tally.verdict()
}

fn shipped_kernels_agree(device: &Device) -> Result<(), Failed> {
    let mut tally = Tally::default();
    for name in names(embedded_ptx()) {
        let compiled = device.compiled(name.leak())?.ok_or("a GPU's kernel")?;
        tally.compare(device, &compiled)?;
    }
    tally.verdict()
}

fn limit_of_registers_is_kept(device: &Device) -> Result<(), Failed> {
    const LIMIT: u32 = 32;
    const NAME: &str = "power_sum_f32_v4_ilp4";
    let free = device.compiled(NAME)?.ok_or("a GPU's kernel")?;
    assert!(free.registers > LIMIT, "{}", free.registers);
    assert_eq!(free.local_bytes, 0);
    let limited = device.with_max_registers(LIMIT, embedded_ptx())?;
    let kernel = limited.compiled(NAME)?.ok_or("a GPU's kernel")?;
    assert!(kernel.registers <= LIMIT, "{}", kernel.registers);
    assert!(kernel.local_bytes > 0);
    Ok(())
}

/// The tally of comparisons.
#[derive(Default)]
struct Tally {
    cases: usize,
    registers: BTreeSet<u32>,
    differing: Vec<String>,
}

impl Tally {
    fn compare(&mut self, device: &Device, compiled: &Compiled<'_>) -> Result<(), Failed> {
        let facts = device.properties();
        let multiprocessor = Multiprocessor::of(facts.capability())?;
        self.registers.insert(compiled.registers);
        let limit = facts.limits.shared_per_block - compiled.static_shared;
        for block in blocks() {
            for dynamic_shared_bytes in shared(limit) {
                let kernel = Kernel {
                    registers_per_thread: compiled.registers,
                    static_shared_bytes: compiled.static_shared,
                    dynamic_shared_bytes,
                    max_threads_per_block: None,
                };
                // A block that cannot run is 0 blocks to the driver.
                let model = multiprocessor
                    .occupancy(&kernel, block)
                    .map_or(0, |it| it.blocks);
                let driver = compiled.resident_blocks(block, dynamic_shared_bytes)?;
                self.cases += 1;
                if model != driver {
                    self.differing.push(format!(
                        "{kernel:?}, {block} threads: model {model}, driver {driver}"
                    ));
                }
            }
        }
        Ok(())
    }

    fn verdict(self) -> Result<(), Failed> {
        let Tally {
            cases,
            registers,
            differing,
        } = self;
        println!("{cases} cases, {} numbers of registers", registers.len());
        if differing.is_empty() {
            return Ok(());
        }
        let first = differing[..differing.len().min(10)].join("\n");
        Err(format!(
            "{} of {cases} cases differ, the first:\n{first}",
            differing.len()
        )
        .into())
    }
}
