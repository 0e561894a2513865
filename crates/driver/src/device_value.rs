//! The values that lie in device memory.

use bytemuck::Pod;

/// A type whose values can lie in device memory: plain data, any bit pattern of which is a value.
///
/// ```
/// use ridgepoint_driver::{Device, DeviceBuffer, DeviceChoice, DeviceValue, DriverError};
///
/// fn twice<T: DeviceValue>(device: &Device, values: &[T]) -> Result<DeviceBuffer<T>, DriverError> {
///     device.buffer_from(&[values, values].concat())
/// }
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// assert_eq!(twice(&device, &[1u8, 2])?.to_vec()?, [1, 2, 1, 2]);
/// # Ok::<(), DriverError>(())
/// ```
pub trait DeviceValue: Pod {}
impl<T: Pod> DeviceValue for T {}
