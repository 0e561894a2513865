//! Registers that kernels need, as the report on their machine code says.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;

use super::DriverError;

/// Registers of a thread, by kernel. What has no report has no number here.
#[derive(Clone, Debug, Default)]
pub(super) struct Registers(Arc<HashMap<String, u32>>);

/// Of `cuda_builder::resources::Report` what concerns registers.
#[derive(Deserialize)]
struct Report {
    kernels: Vec<Needs>,
}

#[derive(Deserialize)]
struct Needs {
    name: String,
    registers: u32,
}

impl Registers {
    /// Those of the report that is embedded with PTX.
    pub(super) fn embedded(arch: u32, report: Option<&str>) -> Result<Registers, DriverError> {
        Registers::of(report, || format!("with the PTX for sm_{arch}"))
    }

    /// Those of the report that `CudaBuilder` writes beside a file of PTX.
    pub(super) fn beside(path: &Path) -> Result<Registers, DriverError> {
        let report = path.with_extension("resources.json");
        let text = fs::read_to_string(&report).ok();
        Registers::of(text.as_deref(), || format!("in {}", report.display()))
    }

    fn of(report: Option<&str>, place: impl Fn() -> String) -> Result<Registers, DriverError> {
        static LAST: LastRead = LastRead(Mutex::new(None));
        let Some(text) = report else {
            return Ok(Registers::default());
        };
        LAST.read(text)
            .map_err(|error| DriverError::UnreadableReport {
                place: place(),
                error: error.to_string(),
            })
    }

    /// Of a thread of the kernel; `None` where no report says it.
    pub(super) fn of_kernel(&self, name: &str) -> Option<u32> {
        self.0.get(name).copied()
    }
}

/// The report that was read last, and what it says. It is kept because tests open a device again and again, and
/// a report with many kernels takes long to read.
struct LastRead(Mutex<Option<(String, Registers)>>);

impl LastRead {
    /// Returns the registers of a report. One whose text is not the last one's is read.
    fn read(&self, text: &str) -> serde_json::Result<Registers> {
        let last = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = last().as_ref().filter(|(last, _)| last == text) {
            return Ok(known.clone());
        }
        let report: Report = serde_json::from_str(text)?;
        let kernels = report.kernels.into_iter();
        let by_kernel: HashMap<_, _> = kernels.map(|it| (it.name, it.registers)).collect();
        let registers = Registers(Arc::new(by_kernel));
        *last() = Some((text.to_owned(), registers.clone()));
        Ok(registers)
    }
}

#[cfg(test)]
mod tests {
    use cuda_std::launch::{Entry, Foreign};

    use super::*;
    use crate::{Device, DeviceChoice, LaunchConfig};

    const PTX: &str = ".version 7.8\n.target sm_90\n.address_size 64\n\
        .visible .entry wide() { ret; }\n\
        .visible .entry slim() { ret; }\n\
        .visible .entry unknown() { ret; }\n";

    const REPORT: &str = r#"{"arch": 90, "key": "", "kernels": [
        {"name": "slim", "registers": 32, "spill_store_bytes": 0},
        {"name": "wide", "registers": 128, "spill_store_bytes": 0}]}"#;

    fn entry(name: &'static str) -> Entry<Foreign<()>> {
        Entry::foreign(name)
    }

    fn opened() -> Device {
        let ptx = [(90, PTX, Some(REPORT))];
        Device::open(&DeviceChoice::Cpu, &ptx).expect("PTX and a report")
    }

    fn refused<R>(result: Result<R, DriverError>) -> String {
        result.err().expect("refused").to_string()
    }

    #[test]
    fn a_block_that_needs_more_registers_than_there_are_is_refused() -> Result<(), DriverError> {
        let device = opened();
        // 128 registers of 512 threads are the 65,536 of a block.
        device.prepare(entry("wide"), LaunchConfig::blocks(1, 512))?;
        for threads in [513, 1024] {
            let text = refused(device.prepare(entry("wide"), LaunchConfig::blocks(1, threads)));
            let name = &device.properties().name;
            let expected = format!(
                "wide: block of {threads} threads; this kernel with 128 registers per thread on {name} \
                 allows 1 to 512"
            );
            assert_eq!(text, expected);
        }
        device.prepare(entry("slim"), LaunchConfig::blocks(1, 1024))?;
        // What no report has is limited by threads alone.
        device.prepare(entry("unknown"), LaunchConfig::blocks(1, 1024))?;
        Ok(())
    }

    #[test]
    fn residency_counts_registers() -> Result<(), DriverError> {
        let device = opened();
        let at_once = |name, threads| {
            let one = device.prepare(entry(name), LaunchConfig::blocks(1, threads))?;
            device.blocks_at_once(&one)
        };
        // 16 warps of 128 registers per thread fill a multiprocessor; by threads alone it holds 64.
        assert_eq!(at_once("wide", 256)?, 2 * 132);
        assert_eq!(at_once("unknown", 256)?, 8 * 132);
        assert_eq!(at_once("slim", 256)?, 8 * 132);
        let over = LaunchConfig::blocks(2 * 132 + 1, 256);
        let text = refused(device.prepare_cooperative(entry("wide"), over));
        assert!(
            text.contains("cooperative grid of 265 blocks") && text.contains("runs 264 at once"),
            "{text}"
        );
        Ok(())
    }

    #[test]
    fn a_report_is_read_once_and_another_text_again() {
        let last = LastRead(Mutex::new(None));
        let first = last.read(REPORT).expect("a report");
        let again = last.read(REPORT).expect("a report");
        assert!(Arc::ptr_eq(&first.0, &again.0), "it was read again");

        let other = REPORT.replace("128", "64");
        let changed = last.read(&other).expect("a report");
        assert_eq!(changed.of_kernel("wide"), Some(64));
        assert!(last.read("{}").is_err());
        let back = last.read(REPORT).expect("a report");
        assert_eq!(back.of_kernel("wide"), Some(128));
    }

    #[test]
    fn the_report_beside_a_file_counts() -> Result<(), DriverError> {
        let folder = std::env::temp_dir().join(format!("ridgepoint-report-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let (path, report) = (folder.join("k.ptx"), folder.join("k.resources.json"));
        fs::write(&path, PTX).expect("written");
        let load = || Device::open(&DeviceChoice::Cpu, &[])?.load(&path);
        let shape = LaunchConfig::blocks(1, 1024);
        let without = load()?.prepare(entry("wide"), shape).map(|_| ());
        fs::write(&report, REPORT).expect("written");
        let with = load()?.prepare(entry("wide"), shape).map(|_| ());
        fs::write(&report, REPORT.replace("128", "64")).expect("written");
        let changed = load()?.prepare(entry("wide"), shape).map(|_| ());
        fs::write(&report, "{}").expect("written");
        let unreadable = refused(load());
        fs::remove_dir_all(&folder).expect("made above");
        without?;
        changed?;
        assert!(refused(with).contains("128 registers per thread"));
        assert!(
            unreadable.contains("k.resources.json") && unreadable.contains("kernels"),
            "{unreadable}"
        );
        Ok(())
    }
}
