//! `ridgepoint norm --devices`

use super::{Alone, Failure, GoOn, Ranked, Shared, Study, measure};
use crate::cli::study_options::Common;
use crate::driver::Device;
use crate::study::devices::{DevicesRow, Exchange, Growth, Team, norm_of_rank};
use crate::study::{NormMode, NormStudy, Rounds, StudyError};
use crate::vector::Real;

/// A vector of `n` elements, or of as many on each device, normalized.
pub(in crate::cli) fn run<T: Real>(
    arguments: &Ranked,
    common: &Common,
    n: usize,
    rounds: Rounds,
) -> Result<(), Failure> {
    measure(arguments, common, |_| {
        Ok(Norm::<T> {
            n,
            rounds,
            element: std::marker::PhantomData,
        })
    })
}

struct Norm<T> {
    n: usize,
    rounds: Rounds,
    element: std::marker::PhantomData<fn() -> T>,
}

impl<T: Real> Study for Norm<T> {
    fn size(&self, devices: usize, growth: Growth) -> usize {
        match growth {
            Growth::Strong => self.n,
            Growth::Weak => self.n * devices,
        }
    }

    fn bytes(&self, devices: usize, _size: usize) -> f64 {
        (devices * size_of::<T::Sums>()) as f64
    }

    fn alone(&self, device: &Device, size: usize, go_on: &mut GoOn<'_>) -> Alone {
        NormStudy::<T>::check_memory(device, size)?;
        let mut study = NormStudy::<T>::new(device, size)?;
        let row = study.measure_while(NormMode::Fused, self.rounds, go_on)?;
        Ok(row.map(|row| DevicesRow {
            steps: u64::from(self.rounds.rounds) * u64::from(self.rounds.iterations),
            ..DevicesRow::alone("norm", size, row.device_us, row.device)
        }))
    }

    fn of_rank(
        &self,
        team: &Team<'_, '_>,
        size: usize,
        exchange: Exchange,
        _rows: &Shared<'_>,
    ) -> Result<DevicesRow, StudyError> {
        norm_of_rank::<T>(team, size, exchange, self.rounds)
    }
}
