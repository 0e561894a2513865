//! The PTX of the kernels that `tests/api.rs` runs.

/// Architecture (90 for `sm_90`) and text, ascending.
pub fn ptx() -> &'static [(u32, &'static str)] {
    &include!(concat!(env!("OUT_DIR"), "/kernels.rs"))
}
