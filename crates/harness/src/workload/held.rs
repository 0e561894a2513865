//! A launch with its arrays, whose types only its workload knows.

use super::PointError;
use crate::driver::{Device, DriverError};
use crate::measure::Enqueue;
use crate::model::Work;

/// Compares the arrays with what they should be.
pub(super) type Check<'d, D> = dyn Fn(&D) -> Result<(), PointError> + 'd;

pub(super) type WorkOf<'d, D> = dyn Fn(&D) -> Result<Work, DriverError> + 'd;

/// Cycles and nanoseconds that the kernel itself has counted, and what else it has.
pub(super) type Counters<'d, D> = dyn Fn(&D) -> Result<Vec<u64>, PointError> + 'd;

/// An action with a case's launches.
pub(super) type With<'a> = dyn FnMut(&mut Enqueue<'_>) -> Result<(), DriverError> + 'a;

/// A launch, whatever its arrays are.
pub(super) trait Run {
    fn allocate(&mut self) -> Result<(), DriverError>;
    fn launch(&mut self, with: &mut With<'_>) -> Result<(), DriverError>;
    /// `false` where there is nothing to compare with.
    fn check(&self) -> Result<bool, PointError>;
    fn counters(&self) -> Result<Option<Vec<u64>>, PointError>;
    /// `None` where the arrays say nothing of it. Otherwise they are made, asked and freed.
    fn work(&mut self) -> Result<Option<Work>, DriverError>;
    fn release(&mut self);
}

/// A launch with its arrays, once they are allocated.
pub(super) struct Held<'d, D> {
    pub(super) device: &'d Device,
    pub(super) allocate: Box<dyn Fn(&'d Device) -> Result<D, DriverError> + 'd>,
    pub(super) check: Option<Box<Check<'d, D>>>,
    pub(super) counters: Option<Box<Counters<'d, D>>>,
    pub(super) work: Option<Box<WorkOf<'d, D>>>,
    pub(super) launch: Box<Launching<'d, D>>,
    pub(super) arrays: Option<D>,
}

pub(super) type Launching<'d, D> = dyn Fn(&mut D, &mut With<'_>) -> Result<(), DriverError> + 'd;

const ALLOCATED: &str = "`allocate` comes first";

impl<D> Run for Held<'_, D> {
    fn allocate(&mut self) -> Result<(), DriverError> {
        // The old ones first: there may be no memory for both.
        self.arrays = None;
        self.arrays = Some((self.allocate)(self.device)?);
        Ok(())
    }

    fn launch(&mut self, with: &mut With<'_>) -> Result<(), DriverError> {
        (self.launch)(self.arrays.as_mut().expect(ALLOCATED), with)
    }

    fn check(&self) -> Result<bool, PointError> {
        let arrays = self.arrays.as_ref().expect(ALLOCATED);
        match &self.check {
            Some(check) => check(arrays).map(|()| true),
            None => Ok(false),
        }
    }

    fn counters(&self) -> Result<Option<Vec<u64>>, PointError> {
        let arrays = self.arrays.as_ref().expect(ALLOCATED);
        let counters = self.counters.as_ref();
        counters.map(|counters| counters(arrays)).transpose()
    }

    fn work(&mut self) -> Result<Option<Work>, DriverError> {
        let Some(work) = &self.work else {
            return Ok(None);
        };
        let arrays = (self.allocate)(self.device)?;
        work(&arrays).map(Some)
    }

    fn release(&mut self) {
        self.arrays = None;
    }
}
