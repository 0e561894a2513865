//! The resource report, with the `ptxas` that the environment names.

use std::fs;

use ptx_builder::nvidia::PTXAS_VARIABLE;
use ptx_builder::resources::{BLOCK_THREADS, Report};
use ptx_builder::{NvvmArch, Ptx};

use crate::Environment;
use crate::support::{builder, kernel_crate, workspace};

const KERNELS: &str = "
/// # Safety
/// y has room for x.len() elements.
#[kernel]
pub unsafe fn scale(x: &[f32], y: *mut f32, a: f32) {
    for i in thread::grid_stride(x.len()) {
        unsafe { *y.add(i) = a * x[i] };
    }
}
";

#[test]
fn a_report_lies_beside_the_ptx_where_there_is_ptxas() {
    let mut environment = Environment::lock();
    let folder = kernel_crate("fixture-resources", KERNELS);
    let table = folder.path().join("kernels.rs");
    let build = || -> Ptx {
        let builder = builder(&folder).copy_to(folder.path().join("kernels.ptx"));
        let mut built = builder.embed_to(&table).build_all().expect("it builds");
        built.swap_remove(0)
    };
    let ptxas = workspace().join(".venv/cuda/bin/ptxas");
    assert!(ptxas.is_file(), "./setup.sh installs NVIDIA's PTX tools");
    environment.set(PTXAS_VARIABLE, ptxas.to_str());

    let path = build().resources.expect("there is a ptxas");
    assert_eq!(path, folder.path().join("kernels.resources.json"));
    let report = Report::from_json(&fs::read_to_string(&path).expect("written")).expect("valid");
    assert_eq!(report.arch, NvvmArch::default().number());
    let [scale] = &report.kernels[..] else {
        panic!("one kernel: {report:?}");
    };
    assert_eq!(scale.name, "scale");
    assert!((8..64).contains(&scale.registers), "{scale:?}");
    assert_eq!(scale.spill_store_bytes, 0);
    let blocks: Vec<u32> = scale.occupancy.iter().map(|at| at.block_threads).collect();
    assert_eq!(blocks, BLOCK_THREADS);
    assert!(
        fs::read_to_string(&table)
            .expect("written")
            .contains("Some(include_str!(")
    );

    let written = || {
        fs::metadata(&path)
            .and_then(|file| file.modified())
            .expect("it is there")
    };
    let first = written();
    build();
    assert_eq!(written(), first, "the same PTX is not assembled again");

    // As another version of the occupancy's rules has left it.
    let text = fs::read_to_string(&path).expect("written");
    let stale = text.replace("\"warps\"", "\"warp slots\"");
    assert_ne!(stale, text);
    fs::write(&path, stale).expect("written");
    build();
    let again = fs::read_to_string(&path).expect("written");
    assert_eq!(
        again, text,
        "what follows from the needs is worked out anew"
    );

    environment.set(PTXAS_VARIABLE, Some(""));
    assert_eq!(build().resources, None);
    assert!(
        !path.exists(),
        "a report of other PTX would be taken for one of this"
    );
    assert!(
        fs::read_to_string(&table)
            .expect("written")
            .contains(", None),")
    );
}
