//! Ranges of NVTX, where a program has any and is recorded.

use std::ffi::c_int;

use recorder::nvtx::{self, ExportTable};

use crate::recorded::recorder;

/// Attaches the recorder. Each copy of NVTX in the program calls it where `NVTX_INJECTION64_PATH` names this library.
///
/// # Safety
/// `export_table` is NVTX's.
#[allow(non_snake_case, reason = "NVTX's interface")]
pub unsafe extern "C" fn InitializeInjectionNvtx2(export_table: ExportTable) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { nvtx::attach(export_table, recorder) }.into()
}
