//! `--devices`: the devices of a command that takes several.

use std::str::FromStr;

use super::{Failure, driver_failure};
use crate::driver::{DeviceChoice, DriverError, gpus};

/// The devices that `--devices` names.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DeviceList {
    /// Every GPU, or emulated devices where there is none.
    All,
    /// These: GPUs or emulated devices, each once.
    These(Vec<DeviceChoice>),
}

impl FromStr for DeviceList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(DeviceList::All);
        }
        let these = text.split(',').map(|name| match name.parse() {
            Ok(DeviceChoice::Cpu) => Ok(DeviceChoice::CpuNumber(0)),
            Ok(choice @ (DeviceChoice::Cuda(_) | DeviceChoice::CpuNumber(_))) => Ok(choice),
            // A device of several is called by its number.
            Ok(_) | Err(_) => Err(format!(
                "{name:?} cannot be in a list of devices: expected all, cuda:N or cpu:N, such as cuda:0,cuda:1"
            )),
        });
        let these = these.collect::<Result<Vec<DeviceChoice>, _>>()?;
        let twice = |(i, it): &(usize, &DeviceChoice)| these[..*i].contains(it);
        if let Some((_, it)) = these.iter().enumerate().find(twice) {
            return Err(format!("{it} is named twice"));
        }
        let is_gpu = |choice: &DeviceChoice| matches!(choice, DeviceChoice::Cuda(_));
        match these.iter().any(is_gpu) && !these.iter().all(is_gpu) {
            true => Err(
                "a GPU and an emulated device do not reach each other: name cuda:N or cpu:N alone"
                    .to_owned(),
            ),
            false => Ok(DeviceList::These(these)),
        }
    }
}

impl DeviceList {
    /// The devices, in order; `emulated` of them if all are meant and there is no GPU.
    pub(super) fn choices(&self, emulated: u32) -> Result<Vec<DeviceChoice>, Failure> {
        if let DeviceList::These(these) = self {
            return Ok(these.clone());
        }
        match gpus() {
            Ok(all) => Ok((0..all.len() as u32).map(DeviceChoice::Cuda).collect()),
            Err(DriverError::NoDriver(_) | DriverError::NoGpu) => {
                Ok((0..emulated).map(DeviceChoice::CpuNumber).collect())
            }
            Err(error) => Err(driver_failure(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_once_and_reach_each_other() {
        let list = |text: &str| text.parse::<DeviceList>();
        assert_eq!(list("all"), Ok(DeviceList::All));
        let emulated = [0, 1].map(DeviceChoice::CpuNumber).to_vec();
        assert_eq!(list("cpu,cpu:1"), Ok(DeviceList::These(emulated)));
        for (text, why) in [
            ("cpu,cpu:0", "cpu:0 is named twice"),
            ("cuda:0,cpu:1", "do not reach each other"),
            ("auto", "expected all"),
            ("cpu:sm_80", "expected all"),
            ("", "expected all"),
        ] {
            let error = list(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
