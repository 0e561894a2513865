//! Which functions are recorded, and what they are called.

/// The name that people know a function by, where its calls are recorded: those that launch, copy, wait, allocate, load
/// code or order streams. What only asks for something is called so often, and takes so little, that recording it would be
/// most of its cost.
pub(crate) fn recorded(name: &str) -> Option<&str> {
    const PARTS: [&str; 22] = [
        "Launch",
        "Memcpy",
        "Memset",
        "Synchronize",
        "WaitEvent",
        "EventRecord",
        "Malloc",
        "MemAlloc",
        "HostAlloc",
        "MemCreate",
        "MemMap",
        "Free",
        "HostRegister",
        "HostUnregister",
        "ModuleLoad",
        "LibraryLoad",
        "GraphInstantiate",
        "EndCapture",
        "StreamCreate",
        "PrimaryCtxRetain",
        "CtxCreate",
        "MemPrefetch",
    ];
    /// Parts of names of functions that ask or describe.
    const QUESTIONS: [&str; 6] = [
        "Attribute",
        "Get",
        "Params",
        "Kernel_SetParam",
        "AddM",
        "Node",
    ];
    let is_wanted = PARTS.iter().any(|part| name.contains(part))
        && !QUESTIONS.iter().any(|part| name.contains(part));
    is_wanted.then(|| known(name))
}

/// Whether a function of this name puts a kernel or a graph into a stream.
pub(crate) fn launches(name: &str) -> bool {
    name.contains("Launch") && !name.contains("HostFunc")
}

/// A function's name without what tells its versions apart: `cudaMemcpyAsync_ptsz_v7000`, `cuMemAlloc_v2`.
fn known(name: &str) -> &str {
    let mut name = name;
    while let Some((head, tail)) = name.rsplit_once('_') {
        let is_version = tail.strip_prefix('v').is_some_and(|digits| {
            !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
        });
        match is_version || tail == "ptsz" || tail == "ptds" {
            true => name = head,
            false => break,
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_works_or_waits_is_recorded_under_the_name_that_people_know() {
        for (name, expected) in [
            ("cudaMemcpyAsync_ptsz_v7000", Some("cudaMemcpyAsync")),
            ("cuMemcpyDtoHAsync_v2", Some("cuMemcpyDtoHAsync")),
            ("cudaLaunchKernel_v7000", Some("cudaLaunchKernel")),
            ("cuLaunchKernelEx", Some("cuLaunchKernelEx")),
            ("cuMemAlloc_v2", Some("cuMemAlloc")),
            ("cudaStreamWaitEvent_v3020", Some("cudaStreamWaitEvent")),
            ("cudaGetDevice_v3020", None),
            ("cudaFuncGetAttributes_v3020", None),
            ("cudaGraphAddMemcpyNode_v10000", None),
            ("cuStreamQuery", None),
            ("cuMemGetInfo_v2", None),
        ] {
            assert_eq!(recorded(name), expected, "{name}");
        }
        let launch = [
            "cuLaunchKernelEx",
            "cudaGraphLaunch",
            "cuLaunchHostFunc",
            "cuMemAlloc",
        ];
        assert_eq!(launch.map(launches), [true, true, false, false]);
    }
}
