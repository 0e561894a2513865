//! What becomes of the examples' kernels: NVIDIA's tools show it without a GPU (setup.sh brings them).

use std::collections::BTreeSet;

use ridgepoint::kernels::disassemble;

/// The memory instructions of a kernel, each once, such as `LDS.128`.
fn accesses(kernel: &str) -> BTreeSet<String> {
    let (arch, ptx, _) = examples::ptx()[0];
    let code = disassemble(arch, ptx, kernel).expect("setup.sh has brought the tools");
    let instructions = code.lines().flat_map(str::split_whitespace);
    instructions
        .filter(|word| {
            ["LD", "ST", "ATOM", "RED"]
                .iter()
                .any(|kind| word.starts_with(kind))
        })
        // Constant memory holds the parameters.
        .filter(|word| !word.starts_with("LDC"))
        .map(str::to_owned)
        .collect()
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(ToString::to_string).collect()
}

#[test]
fn the_tiled_multiplication_names_shared_memory_and_moves_16_bytes_at_once() {
    assert_eq!(
        accesses("matmul"),
        set(&["LDG.E.128", "LDS.128", "STG.E.128", "STS", "STS.128"])
    );
}

#[test]
fn the_histogram_counts_in_shared_memory() {
    let found = accesses("histogram");
    assert!(
        found.iter().any(|word| word.starts_with("ATOMS")),
        "{found:?}"
    );
    assert!(found.contains("LDG.E.128"), "{found:?}");
    let generic = |word: &String| {
        ["LD.E", "ST.E", "ATOM.E"]
            .iter()
            .any(|kind| word.starts_with(kind))
    };
    assert!(!found.iter().any(generic), "{found:?}");
}

#[test]
fn reductions_and_scans_have_no_generic_access() {
    for kernel in ["block_sums", "tile_sums", "scan_tiles"] {
        let found = accesses(kernel);
        assert!(
            found.contains("LDS") && found.contains("STS"),
            "{kernel}: {found:?}"
        );
        let generic = |word: &String| ["LD.E", "ST.E"].iter().any(|kind| word.starts_with(kind));
        assert!(!found.iter().any(generic), "{kernel}: {found:?}");
    }
}
