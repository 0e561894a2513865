//! A study on one device and on several, row by row.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Mutex;

use ranks::{RankError, World};

use super::waiting::{keep_waiting, wait_for_first};
use super::{Places, Shared, Study, locked};
use crate::cli::Failure;
use crate::cli::option_values::each_once;
use crate::cli::study_options::{Rows, study_failure};
use crate::driver::{Device, DriverError};
use crate::report::counted;
use crate::study::StudyError;
use crate::study::devices::{
    DevicesRow, Exchange, Growth, Measured, Model, Problem, Team, measured_link,
};

/// Numbers of devices that are predicted, whether they are measured or not. So is each other number that is measured.
const PREDICTED: [usize; 3] = [4, 8, 16];

/// A study, how it is run, and what has come of it.
pub(super) struct Run<'a, S> {
    /// Rows, at most.
    steps: usize,
    study: S,
    growth: Growth,
    /// The numbers of devices, and how each exchanges.
    counts: Vec<(usize, Vec<Exchange>)>,
    /// The most devices whose times predictions are made from, if that is asked for.
    predict_from: Option<usize>,
    rows: Shared<'a>,
    /// On several devices.
    measured: Mutex<Vec<(Exchange, DevicesRow)>>,
    /// Why the devices that are running the study lack memory for it.
    lacking: Mutex<Option<String>>,
}

impl<'a, S: Study> Run<'a, S> {
    /// A study on these numbers of devices, with these exchanges on each.
    pub(super) fn new(
        study: S,
        growth: Growth,
        counts: Vec<(usize, Vec<Exchange>)>,
        rows: &'a mut Rows<DevicesRow>,
    ) -> Self {
        let exchanges = counts.iter().map(|(_, exchanges)| exchanges.len());
        let measured: usize = exchanges.clone().sum();
        let predicted = (PREDICTED.len() + counts.len()) * exchanges.max().unwrap_or(0);
        Run {
            // One device, and each exchange on each number of devices, measured or predicted.
            steps: 1 + measured + predicted,
            study,
            growth,
            counts,
            predict_from: None,
            rows: Mutex::new(rows),
            measured: Mutex::default(),
            lacking: Mutex::default(),
        }
    }

    /// With predictions from the times of at most so many devices, if a number is given.
    pub(super) fn predicting_from(self, most: Option<usize>) -> Self {
        Run {
            predict_from: most,
            ..self
        }
    }

    /// The study as it is on one device, and ranks as threads of this process: on one device, two, four and so on, and on all.
    pub(super) fn in_threads(&self, places: &Places, devices: &[Device]) -> Result<(), Failure> {
        let alone_us = self.alone(&devices[0], || Ok(()))?;
        for (count, exchanges) in &self.counts {
            let own = &devices[..*count];
            let ran = places.run(None, own, |rank| {
                let team = Team { rank, devices: own };
                self.of_rank(team, exchanges, alone_us)
            });
            match locked(&self.lacking).take() {
                // A part of what more devices share may fit.
                Some(why) if ran.is_err() && own.len() < devices.len() => {
                    self.leave_out(*count, &why)
                }
                _ => ran?,
            }
        }
        match alone_us {
            Some(alone_us) => self.predict(devices, alone_us),
            None => Ok(()),
        }
    }

    /// The only rank of this process, on its device, with all ranks of the launcher's world.
    pub(super) fn in_process(
        &self,
        places: &Places,
        world: &World,
        devices: &[Device],
    ) -> Result<(), Failure> {
        places.run(Some(world), devices, |rank| {
            let control = rank.control();
            let alone_us = match rank.rank() {
                0 => keep_waiting(control, || self.alone(rank.device(), || control.check()))?,
                _ => {
                    wait_for_first(control, || locked(&self.rows).interrupt.check())?;
                    None
                }
            };
            let team = Team { rank, devices: &[] };
            let mut counts = self.counts.iter();
            counts.try_for_each(|(_, exchanges)| self.of_rank(team, exchanges, alone_us))
        })
    }

    /// A rank's part of the study, with each exchange. The first rank writes the rows.
    fn of_rank(
        &self,
        team: Team<'_, '_>,
        exchanges: &[Exchange],
        alone_us: Option<f64>,
    ) -> Result<(), Failure> {
        let (is_first, count) = (team.rank.rank() == 0, team.rank.size());
        let size = self.study.size(count, self.growth);
        for &exchange in exchanges {
            if is_first {
                let what = format!("{exchange}, {}", counted(count as u64, "device"));
                locked(&self.rows).begin(what, self.steps);
            }
            let row = self.study.of_rank(&team, size, exchange, &self.rows);
            let row = row.map_err(|error| {
                let lacking = &mut *locked(&self.lacking);
                *lacking = lacking.take().or(lack_of_memory(&error));
                study_failure(error)
            })?;
            let row = row.against(alone_us, self.growth);
            if is_first {
                locked(&self.measured).push((exchange, row.clone()));
                locked(&self.rows).add(row)?;
            }
        }
        Ok(())
    }

    /// The study on one device, if there is one and the device has room for it: microseconds per step. It ends early where a signal
    /// asks for it, or where the others are not well.
    fn alone(
        &self,
        device: &Device,
        others: impl Fn() -> Result<(), RankError>,
    ) -> Result<Option<f64>, Failure> {
        locked(&self.rows).begin("1 device".to_owned(), self.steps);
        let size = self.study.size(1, self.growth);
        let mut go_on = || match others() {
            Ok(()) => locked(&self.rows).interrupt.flow(),
            Err(_) => ControlFlow::Break(()),
        };
        let row = match self.study.alone(device, size, &mut go_on) {
            Ok(row) => row,
            Err(error) => {
                let why = lack_of_memory(&error).ok_or_else(|| study_failure(error))?;
                self.leave_out(1, &why);
                None
            }
        };
        let Some(row) = row else {
            locked(&self.rows).interrupt.check()?;
            others().map_err(|error| study_failure(error.into()))?;
            return Ok(None);
        };
        let alone_us = Some(row.step_us);
        locked(&self.rows).add(row.against(alone_us, self.growth))?;
        Ok(alone_us)
    }

    /// Says that devices are too few to hold what is shared.
    fn leave_out(&self, devices: usize, why: &str) {
        let devices = counted(devices as u64, "device");
        let rows = locked(&self.rows);
        rows.console
            .warn(&format!("not everything is measured on {devices}: {why}"));
    }

    /// Predicts by each of the exchanges what every number of devices does, from the times of fewer; beside one that was measured, with the
    /// error.
    fn predict(&self, devices: &[Device], alone_us: f64) -> Result<(), Failure> {
        let Some(link) = measured_link(devices).map_err(study_failure)? else {
            return Ok(());
        };
        let measured = locked(&self.measured);
        if let Some(most) = self.predict_from
            && !measured.iter().any(|it| (2..=most).contains(&it.1.devices))
        {
            let why = format!(
                "nothing is predicted: --predict-from {most}, and nothing was measured on so few devices, one aside"
            );
            locked(&self.rows).console.warn(&why);
        }
        let exchanges = self.counts.iter().flat_map(|(_, exchanges)| exchanges);
        for exchange in each_once(exchanges.copied().collect()) {
            let of_exchange = measured.iter().filter(|it| it.0 == exchange);
            let rows: Vec<&DevicesRow> = of_exchange.map(|it| &it.1).collect();
            for count in predicted(&rows) {
                let most = self.predict_from.unwrap_or(usize::MAX).min(count - 1);
                let fewer = rows.iter().filter(|it| it.devices <= most);
                let fewer: Vec<&DevicesRow> = fewer.copied().collect();
                let Some(last) = fewer.last().filter(|it| it.devices > 1) else {
                    continue;
                };
                let times = self.times(&fewer, alone_us);
                let model = Model::fitted(self.growth, &times, (exchange, link));
                let row = model.row(last, self.problem(count));
                let row = match rows.iter().find(|it| it.devices == count) {
                    Some(measured) => row.with_error(measured.step_us),
                    None => row,
                };
                locked(&self.rows).add(row.against(Some(alone_us), self.growth))?;
            }
        }
        Ok(())
    }

    /// Returns the times of rows, and of one device. Where no row is of that, as in a run with checkpoints, the study as it is without an exchange
    /// stands for it; other kernels do that, and of a problem that grows they say nothing.
    fn times(&self, rows: &[&DevicesRow], alone_us: f64) -> Vec<Measured> {
        let has_one = rows.iter().any(|row| row.devices == 1);
        let one = (!has_one && self.growth == Growth::Strong).then(|| Measured {
            problem: self.problem(1),
            step_us: alone_us,
            exchange_us: 0.0,
        });
        let rows = rows.iter().map(|row| Measured {
            problem: self.problem(row.devices),
            step_us: row.step_us,
            exchange_us: row.exchange_us.unwrap_or(0.0),
        });
        one.into_iter().chain(rows).collect()
    }

    fn problem(&self, devices: usize) -> Problem {
        let size = self.study.size(devices, self.growth);
        Problem {
            devices,
            size,
            bytes: self.study.bytes(devices, size),
        }
    }
}

/// Returns the numbers of devices to predict, beside what was measured.
fn predicted(measured: &[&DevicesRow]) -> BTreeSet<usize> {
    let measured = measured.iter().map(|row| row.devices);
    measured.chain(PREDICTED).collect()
}

/// Returns the device's message if it has too little memory.
fn lack_of_memory(error: &StudyError) -> Option<String> {
    match error {
        StudyError::Driver(error @ DriverError::OutOfMemory { .. }) => Some(error.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::{Alone, GoOn};
    use super::*;
    use crate::cli::output::target;
    use crate::cli::study_options::Common;
    use crate::driver::Emulation;

    /// A study that a device has no room for unless so many share it.
    struct Large {
        fits: usize,
    }

    impl Large {
        fn row(&self, devices: usize) -> Result<DevicesRow, StudyError> {
            if devices < self.fits {
                let too_much = DriverError::OutOfMemory {
                    bytes: 80 << 30,
                    free: 78 << 30,
                    device: "a device".to_owned(),
                };
                return Err(too_much.into());
            }
            Ok(DevicesRow {
                devices,
                ..DevicesRow::alone("norm", 1, 1.0, "a device".to_owned())
            })
        }
    }

    impl Study for Large {
        fn size(&self, _devices: usize, _growth: Growth) -> usize {
            1
        }

        fn bytes(&self, _devices: usize, _size: usize) -> f64 {
            1.0
        }

        fn alone(&self, _device: &Device, _size: usize, _go_on: &mut GoOn<'_>) -> Alone {
            self.row(1).map(Some)
        }

        fn of_rank(
            &self,
            team: &Team<'_, '_>,
            _size: usize,
            _exchange: Exchange,
            _rows: &Shared<'_>,
        ) -> Result<DevicesRow, StudyError> {
            self.row(team.rank.size())
        }
    }

    #[derive(Parser)]
    struct Options {
        #[command(flatten)]
        places: Places,

        /// One device, with which several conflict.
        #[command(flatten)]
        _common: Common,
    }

    /// The numbers of devices that have rows, and how the command ends.
    fn ran(fits: usize) -> (Vec<usize>, Result<(), Failure>) {
        let Options { places, .. } = Options::parse_from(["power", "--devices", "all"]);
        let device = |number| Device::emulator_number(number, Emulation::default(), &[]);
        let devices: Result<Vec<Device>, _> = (0..4).map(device).collect();
        let devices = devices.expect("emulated devices");
        let mut rows = Rows::open(&[], None, target(true, &[])).expect("no files");
        let counts = [2, 4].map(|count| (count, vec![Exchange::Gather])).to_vec();
        let run = Run::new(Large { fits }, Growth::Strong, counts, &mut rows);
        let ended = run.in_threads(&places, &devices);
        let measured = locked(&run.measured);
        (measured.iter().map(|(_, row)| row.devices).collect(), ended)
    }

    #[test]
    fn what_does_not_fit_few_devices_is_measured_on_more() {
        for (fits, expected) in [(1, vec![2, 4]), (2, vec![2, 4]), (4, vec![4])] {
            let (measured, ended) = ran(fits);
            assert!(ended.is_ok(), "{fits}: {ended:?}");
            assert_eq!(measured, expected, "{fits}");
        }
        let (measured, ended) = ran(5);
        let Err(Failure::Usage(why)) = ended else {
            panic!("{ended:?}");
        };
        assert!(measured.is_empty() && why.contains("free"), "{why}");
    }
}
