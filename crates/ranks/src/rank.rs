//! A rank: a device, and a connection to the others.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use ridgepoint_driver::Device;

use crate::communicator::Communicator;
use crate::control::{self, Control};
use crate::error::RankError;
use crate::limits::Limits;
use crate::threads::RunError;
use crate::world::World;

/// A rank: a device that one thread drives, and a connection to the other ranks. All ranks run the same program.
///
/// [`run_threads`](crate::run_threads) makes ranks of the threads of one process, and [`run_process`] makes this
/// process one of several.
///
/// ```
/// use ranks::{Communicator, Control, Limits, Rank, RankError, run_threads};
/// use ridgepoint_driver::{Device, DeviceChoice};
///
/// fn who(rank: &Rank<'_>) -> Result<String, RankError> {
///     let control: &Control = rank.control();
///     assert_eq!((control.rank(), control.size()), (rank.rank(), rank.size()));
///     assert_eq!(control.limits(), Limits::default());
///     // As `rank.communicator()`.
///     let communicator = Communicator::new(rank)?;
///     communicator.control().barrier()?;
///     let (own, all) = (communicator.rank(), communicator.size());
///     assert!(rank.device().properties().is_emulated());
///     Ok(format!("rank {own} of {all} by {}", communicator.engine()))
/// }
///
/// let open = |_| Device::open(&DeviceChoice::Cpu, &[]);
/// let devices = (0..2).map(open).collect::<Result<Vec<_>, _>>()?;
/// let all = run_threads(&devices, Limits::default(), |rank| who(&rank))?;
/// assert_eq!(all, ["rank 0 of 2 by the host", "rank 1 of 2 by the host"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Rank<'d> {
    device: &'d Device,
    control: Control,
}

impl<'d> Rank<'d> {
    pub(crate) fn new(device: &'d Device, control: Control) -> Rank<'d> {
        Rank { device, control }
    }

    /// This rank, counted from 0.
    pub fn rank(&self) -> usize {
        self.control.rank()
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.control.size()
    }

    /// The rank's device.
    pub fn device(&self) -> &'d Device {
        self.device
    }

    /// The connection to the other ranks.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Collectives of this rank's device with those of all others, as [`Communicator::new`] makes them. Every rank makes
    /// its own at the same time.
    ///
    /// # Errors
    /// As [`Communicator::new`].
    pub fn communicator(&self) -> Result<Communicator<'d>, RankError> {
        Communicator::new(self)
    }
}

/// Runs `work` as the rank that `world` says, with this device. All ranks meet first: by a file in `rendezvous`,
/// a folder that all of them see, or at the address that `MASTER_ADDR` and `MASTER_PORT` name. Each process has a GPU
/// of its own, or an emulated device.
///
/// If `work` fails or panics, the other ranks are told that this one was lost, and why; a process that is
/// killed is missed at once, and a host that no longer answers after [`Limits::fault`].
///
/// ```
/// use ranks::{Limits, RankError, World, run_process};
/// use ridgepoint_driver::{Device, DeviceChoice};
///
/// let folder = std::env::temp_dir();
/// // Without a launcher this process is the only rank.
/// let world = World::from_env()?.unwrap_or(World::new(0, 1)?);
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let ranks = run_process(&world, Some(&folder), &device, Limits::default(), |rank| {
///     Ok::<_, RankError>(rank.control().exchange(b"here")?.len())
/// })?;
/// assert_eq!(ranks, world.size());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RunError::Meeting`]: the ranks do not find each other, do not fit together, or two of them have one GPU. [`RunError::Failed`]: `work`
/// failed.
pub fn run_process<T, E: Display>(
    world: &World,
    rendezvous: Option<&Path>,
    device: &Device,
    limits: Limits,
    work: impl FnOnce(Rank<'_>) -> Result<T, E>,
) -> Result<T, RunError<E>> {
    let control = control::meet(world, rendezvous, limits).map_err(RunError::Meeting)?;
    check_apart(&control, device).map_err(RunError::Meeting)?;
    let rank = world.rank();
    match work(Rank::new(device, control.clone())) {
        Ok(result) => Ok(result),
        Err(error) => {
            control.fail(&error.to_string());
            Err(RunError::Failed { rank, error })
        }
    }
}

/// Refuses two processes with one GPU: launchers can give them one, and NCCL cannot connect them.
fn check_apart(control: &Control, device: &Device) -> Result<(), RankError> {
    let gpu = device.properties().gpu.as_ref();
    // Machines of one name may have their GPUs at the same place, but not one boot. There is none to be read on other systems than Linux.
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let own = gpu.map(|it| format!("{} of {}\n{boot}", it.pci_bus_id, control::hostname()));
    let all = control.exchange(own.unwrap_or_default().as_bytes())?;
    for (second, gpu) in all.iter().enumerate().filter(|(_, gpu)| !gpu.is_empty()) {
        if let Some(first) = all[..second].iter().position(|it| it == gpu) {
            return Err(RankError::SharedGpu {
                ranks: [first, second],
                gpu: named(gpu),
            });
        }
    }
    Ok(())
}

/// Returns a GPU as a message names it: its place and its host.
fn named(gpu: &[u8]) -> String {
    let gpu = String::from_utf8_lossy(gpu);
    gpu.lines().next().unwrap_or_default().to_owned()
}
