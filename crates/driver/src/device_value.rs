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
///
/// // A struct without padding derives two traits of `bytemuck`.
/// #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// struct Particle {
///     place: [f32; 3],
///     charge: i32,
/// }
/// let particle = Particle { place: [1.0, 2.0, 3.0], charge: -1 };
/// assert_eq!(twice(&device, &[particle])?.to_vec()?, [particle; 2]);
/// # Ok::<(), DriverError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a buffer cannot have elements of `{Self}`",
    label = "not known to be plain data, any bits of which are a value",
    note = "a `#[repr(C)]` struct without padding derives `bytemuck::Pod` and `bytemuck::Zeroable`; the crate needs \
            `bytemuck = {{ version = \"1\", features = [\"derive\"] }}`"
)]
pub trait DeviceValue: Pod {}
#[diagnostic::do_not_recommend]
impl<T: Pod> DeviceValue for T {}
