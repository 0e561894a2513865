//! Properties of kernels, over inputs, launch shapes and schedules.

use gpu_test::Schedules;
use properties::{count_above, ptx, unpacked};
use properties_kernels::MAGIC;
use proptest::collection::vec;
use proptest::prelude::*;
use ridgepoint_driver::{Device, DriverError, Emulation, LaunchConfig, Schedule};

fn checked(schedule: Schedule) -> Result<Device, DriverError> {
    let emulation = Emulation {
        schedule,
        is_checked: true,
        ..Emulation::default()
    };
    Device::emulator_with(emulation, ptx())
}

fn launches() -> impl Strategy<Value = LaunchConfig> {
    (1..=4u64, 1..=256u32).prop_map(|(blocks, threads)| LaunchConfig::blocks(blocks, threads))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[should_panic(expected = "minimal failing input: limit = 0, ")]
    fn elements_above_a_limit_are_counted(
        limit in 0..10u32,
        launch in launches(),
        x in vec(0..10u32, 0..300),
        schedules in vec(Schedules, 1..32),
    ) {
        let expected = x.iter().filter(|&&x| x > limit).count();
        for schedule in schedules {
            let counted = count_above(&checked(schedule)?, &x, limit, launch)?;
            prop_assert_eq!(counted as usize, expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_packed_is_unpacked(
        launch in launches(),
        runs in vec((1..128u8, any::<u8>()), 0..10),
        schedule in Schedules,
    ) {
        let repeated = |(len, byte): &(u8, u8)| vec![*byte; usize::from(*len)];
        let expected: Vec<u8> = runs.iter().flat_map(repeated).collect();
        let pairs = runs.iter().flat_map(|&(len, byte)| [len, byte]);
        let packed: Vec<u8> = MAGIC.into_iter().chain(pairs).collect();
        let device = checked(schedule)?;
        prop_assert_eq!(unpacked(&device, &packed, expected.len(), launch)?, expected);
    }
}
