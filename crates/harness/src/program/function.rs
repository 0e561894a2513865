//! The functions of CUDA's runtime and driver: their names without versions, and their purposes.

/// The purpose of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Launches a kernel or a graph.
    Launch,
    /// Copies.
    Copy,
    /// Fills memory with a value.
    Fill,
    /// Waits for the device.
    Wait,
    /// Orders streams by events.
    Order,
    /// Allocates memory, or locks its pages.
    Allocation,
    /// Frees memory, or unlocks its pages.
    Release,
    /// Loads modules and finds kernels in them.
    Loading,
    /// All else.
    Other,
}

/// Returns a function's name as CUDA's documentation has it: without version, and without the mark of per-thread streams.
pub(super) fn documented(name: &str) -> &str {
    let name = ["_ptsz", "_ptds"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    match name.rsplit_once("_v") {
        Some((name, version)) if version.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => name,
    }
}

impl Purpose {
    /// Of the function of this documented name.
    pub(super) fn of(function: &str) -> Purpose {
        /// The first row with a part of the name holds.
        const PARTS: [(&str, Purpose); 20] = [
            ("Synchronize", Purpose::Wait),
            ("GraphLaunch", Purpose::Launch),
            ("LaunchHostFunc", Purpose::Order),
            ("Launch", Purpose::Launch),
            // Nodes and attributes are no work yet.
            ("Graph", Purpose::Other),
            ("GetAttribute", Purpose::Other),
            ("EventRecord", Purpose::Order),
            ("WaitEvent", Purpose::Order),
            ("Memcpy", Purpose::Copy),
            ("Memset", Purpose::Fill),
            ("Free", Purpose::Release),
            ("HostUnregister", Purpose::Release),
            ("MemRelease", Purpose::Release),
            ("Malloc", Purpose::Allocation),
            ("Alloc", Purpose::Allocation),
            ("HostRegister", Purpose::Allocation),
            ("MemCreate", Purpose::Allocation),
            ("ModuleLoad", Purpose::Loading),
            ("LibraryLoad", Purpose::Loading),
            ("GetFunction", Purpose::Loading),
        ];
        let row = PARTS.iter().find(|(part, _)| function.contains(part));
        row.map_or(Purpose::Other, |(_, purpose)| *purpose)
    }
}

/// Whether a copy or a fill of this documented name is one that the host does not wait for by itself.
pub(super) fn is_asynchronous(function: &str) -> bool {
    function.contains("Async")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_versions() {
        let names = [
            ("cuMemcpyDtoHAsync_v2_ptsz", "cuMemcpyDtoHAsync"),
            ("cudaMemcpyAsync_v3020", "cudaMemcpyAsync"),
            ("cudaLaunchKernel_ptsz", "cudaLaunchKernel"),
            ("my_value", "my_value"),
        ];
        for (name, documented_name) in names {
            assert_eq!(documented(name), documented_name);
        }
    }

    #[test]
    fn functions_have_purposes() {
        let purposes = [
            ("cudaLaunchKernelExC", Purpose::Launch),
            ("cuLaunchCooperativeKernel", Purpose::Launch),
            ("cudaGraphLaunch", Purpose::Launch),
            ("cudaGraphAddMemcpyNode", Purpose::Other),
            ("cuMemcpyDtoHAsync", Purpose::Copy),
            ("cudaEventSynchronize", Purpose::Wait),
            ("cuStreamWaitEvent", Purpose::Order),
            ("cudaFreeHost", Purpose::Release),
            ("cuMemAllocHost", Purpose::Allocation),
            ("cudaHostAlloc", Purpose::Allocation),
            ("cuModuleLoadDataEx", Purpose::Loading),
            ("cudaGetDevice", Purpose::Other),
        ];
        for (function, purpose) in purposes {
            assert_eq!(Purpose::of(function), purpose, "{function}");
        }
    }
}
