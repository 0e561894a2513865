//! The device under limits of registers, and what kernels need there.

use cuda_builder::resources::Report;

use super::{OccupancyError, OccupancyPlan};
use crate::driver::{Device, DriverError, Embedded};
use crate::kernels;
use crate::workload::{Bench, Case};

/// A device whose kernels take at most so many registers per thread.
pub struct Limited {
    registers: u32,
    device: Device,
    /// The kernels' needs, where no driver knows.
    report: Option<Report>,
}

impl Limited {
    /// The device once more for each limit of the plan, with the kernels of this PTX.
    ///
    /// # Errors
    /// [`OccupancyError::Points`]: the plan has too many points; [`OccupancyError::Registers`]: on the
    /// emulator, `ptxas` is not installed or refuses the PTX; [`OccupancyError::Driver`]: as
    /// [`Device::with_max_registers`].
    pub fn all(
        bench: &Bench,
        plan: &OccupancyPlan<'_>,
        ptx: &[Embedded<'_>],
    ) -> Result<Vec<Limited>, OccupancyError> {
        plan.check()?;
        let device = bench.device();
        let limits = plan.max_registers.iter().flatten();
        let limited = limits.map(|&registers| {
            let report = || kernels::report_with_max_registers(ptx, registers);
            let report = device.properties().is_emulated().then(report).transpose();
            Ok(Limited {
                registers,
                device: device.with_max_registers(registers, ptx)?,
                report: report.map_err(|error| OccupancyError::Registers { registers, error })?,
            })
        });
        limited.collect()
    }
}

/// A kernel's needs. `None` where neither the driver nor a report says it.
#[derive(Clone, Copy, Default)]
pub(super) struct Needs {
    pub(super) registers: Option<u32>,
    pub(super) local_bytes: Option<u32>,
    pub(super) static_shared: u32,
}

/// A device without a limit, and once more with each.
pub(super) struct Devices<'d> {
    unlimited: &'d Device,
    limited: &'d [Limited],
    /// The kernels' needs where nothing limits their registers and no driver knows.
    report: Option<Report>,
}

impl<'d> Devices<'d> {
    pub(super) fn new(bench: &'d Bench, limited: &'d [Limited], ptx: &[Embedded<'_>]) -> Self {
        Devices {
            unlimited: bench.device(),
            limited,
            report: kernels::newest_report(ptx),
        }
    }

    pub(super) fn device(&self, max_registers: Option<u32>) -> &'d Device {
        match self.limit(max_registers) {
            Some(limited) => &limited.device,
            None => self.unlimited,
        }
    }

    /// Returns the needs of a case's kernel; of a file's, whatever the limit is.
    pub(super) fn needs(
        &self,
        case: &Case<'_>,
        max_registers: Option<u32>,
    ) -> Result<Needs, DriverError> {
        let is_of_file = !self.has(case.device);
        let device = match is_of_file {
            true => case.device,
            false => self.device(max_registers),
        };
        if let Some(compiled) = device.compiled(case.kernel)? {
            return Ok(Needs {
                registers: Some(compiled.registers),
                local_bytes: Some(compiled.local_bytes),
                static_shared: compiled.static_shared,
            });
        }
        if is_of_file {
            // The report is of the bench's own kernels, of which one may have the same name.
            return Ok(Needs::default());
        }
        let report = match self.limit(max_registers) {
            Some(limited) => &limited.report,
            None => &self.report,
        };
        let mut reported = report.iter().flat_map(|report| &report.kernels);
        let found = reported.find(|kernel| kernel.name == case.kernel);
        Ok(found.map_or_else(Needs::default, |kernel| Needs {
            registers: Some(kernel.registers),
            local_bytes: Some(kernel.stack_bytes),
            static_shared: kernel.static_shared_bytes,
        }))
    }

    fn limit(&self, max_registers: Option<u32>) -> Option<&'d Limited> {
        let limit = max_registers?;
        let found = self.limited.iter().find(|one| one.registers == limit);
        Some(found.expect("`Limited::all` made one for each limit of the plan"))
    }

    /// Whether the device has the kernels of the bench, limited or not.
    fn has(&self, device: &Device) -> bool {
        let mut limited = self.limited.iter();
        let is_it = |other: &Device| std::ptr::eq(other, device);
        is_it(self.unlimited) || limited.any(|limited| is_it(&limited.device))
    }
}
