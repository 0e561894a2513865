//! A study on one device and on several, row by row.

use std::sync::Mutex;

use ranks::World;

use super::{Places, Shared, Study, locked};
use crate::cli::Failure;
use crate::cli::lists::each_once;
use crate::cli::study::{Rows, study_failure};
use crate::driver::Device;
use crate::report::counted;
use crate::study::devices::{
    DevicesRow, Exchange, Growth, Measured, Model, Problem, Team, measured_link,
};

/// Numbers of devices that are predicted.
const PREDICTED: [usize; 3] = [4, 8, 16];

/// A study, how it is run, and what has come of it.
pub(super) struct Run<'a, S> {
    /// Rows, at most.
    steps: usize,
    study: S,
    growth: Growth,
    /// The numbers of devices, and how each exchanges.
    counts: Vec<(usize, Vec<Exchange>)>,
    rows: Shared<'a>,
    /// On several devices.
    measured: Mutex<Vec<(Exchange, DevicesRow)>>,
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
        let predicted = PREDICTED.len() * exchanges.max().unwrap_or(0);
        Run {
            // One device, and each exchange on each number of devices, measured or predicted.
            steps: 1 + measured + predicted,
            study,
            growth,
            counts,
            rows: Mutex::new(rows),
            measured: Mutex::default(),
        }
    }

    /// Ranks as threads of this process: on one device, two, four and so on, and on all.
    pub(super) fn in_threads(&self, places: &Places, devices: &[Device]) -> Result<(), Failure> {
        let alone_us = self.alone(&devices[0])?;
        for (count, exchanges) in &self.counts {
            let own = &devices[..*count];
            places.run(None, own, |rank| {
                let team = Team { rank, devices: own };
                self.of_rank(team, exchanges, alone_us)
            })?;
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
            let alone_us = match rank.rank() {
                0 => self.alone(rank.device())?,
                _ => None,
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
            let row = row.map_err(study_failure)?.against(alone_us, self.growth);
            if is_first {
                locked(&self.measured).push((exchange, row.clone()));
                locked(&self.rows).add(row)?;
            }
        }
        Ok(())
    }

    /// The study on one device, if there is one: microseconds per step.
    fn alone(&self, device: &Device) -> Result<Option<f64>, Failure> {
        locked(&self.rows).begin("1 device".to_owned(), self.steps);
        let Some(row) = self.study.alone(device, self.study.size(1, self.growth)) else {
            return Ok(None);
        };
        let row = row.map_err(study_failure)?;
        let alone_us = Some(row.step_us);
        locked(&self.rows).add(row.against(alone_us, self.growth))?;
        Ok(alone_us)
    }

    /// What more devices would do, by each of the exchanges.
    fn predict(&self, devices: &[Device], alone_us: f64) -> Result<(), Failure> {
        let Some(link) = measured_link(devices).map_err(study_failure)? else {
            return Ok(());
        };
        let measured = locked(&self.measured);
        let exchanges = self.counts.iter().flat_map(|(_, exchanges)| exchanges);
        for exchange in each_once(exchanges.copied().collect()) {
            let of_exchange = measured.iter().filter(|it| it.0 == exchange);
            let rows: Vec<&DevicesRow> = of_exchange.map(|it| &it.1).collect();
            let times: Vec<Measured> = rows.iter().map(|row| self.times(row)).collect();
            let Some(last) = rows.last() else { continue };
            let model = Model::fitted(self.growth, alone_us, &times, (exchange, link));
            for count in PREDICTED.into_iter().filter(|&count| count > devices.len()) {
                let row = model.row(last, self.problem(count));
                locked(&self.rows).add(row.against(Some(alone_us), self.growth))?;
            }
        }
        Ok(())
    }

    fn times(&self, row: &DevicesRow) -> Measured {
        Measured {
            problem: self.problem(row.devices),
            step_us: row.step_us,
            exchange_us: row.exchange_us.unwrap_or(0.0),
        }
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
