//! The machine code of the examples' kernels: NVIDIA's tools show it without a GPU (setup.sh brings them).

use std::collections::BTreeSet;

use ridgepoint_harness::kernels::disassemble;

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
fn bytes_are_moved_by_sixteen() {
    assert_eq!(
        accesses("threshold_by_sixteen"),
        set(&["LDG.E.128", "STG.E.128"])
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

/// Returns what a thread executes up to its first load from global memory. It takes the first branch, or falls
/// through it; later ones are those of the way it went, which all threads take that have an element.
fn before_the_first_load(code: &str, taken: bool) -> Vec<&str> {
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let mut way = Vec::new();
    let (mut at, mut branches) = (0, 0);
    while let Some(line) = lines.get(at) {
        at += 1;
        let Some((_, instruction)) = line.split_once("*/").filter(|_| line.starts_with("/*"))
        else {
            continue;
        };
        let instruction = instruction.trim();
        if instruction.starts_with("LDG") {
            return way;
        }
        if instruction.is_empty() {
            continue;
        }
        way.push(instruction);
        if let Some((condition, target)) = instruction.split_once("BRA `(") {
            branches += 1;
            if condition.is_empty() || (branches == 1 && taken) {
                let label = target.split(')').next().expect("split has a first part");
                let place = lines.iter().position(|line| *line == format!("{label}:"));
                at = place.expect("the label is there");
            }
        }
    }
    panic!("there is no load:\n{code}");
}

#[test]
fn a_grid_of_one_dimension_is_not_asked_for_others_before_the_first_load() {
    let (arch, ptx, _) = examples::ptx()[0];
    let code = disassemble(arch, ptx, "saxpy").expect("setup.sh has brought the tools");
    let mut ways = [true, false].map(|taken| before_the_first_load(&code, taken));
    ways.sort_by_key(Vec::len);
    let [line, solid] = &ways;
    let others = |way: &[&str]| {
        let reads = way
            .iter()
            .filter(|instruction| instruction.starts_with("S2"));
        reads
            .filter(|read| read.contains(".Y") || read.contains(".Z"))
            .count()
    };
    // nvcc has 13 for a kernel that counts in 32 bits and in one dimension.
    assert!(line.len() <= 40, "{}:\n{}", line.len(), line.join("\n"));
    assert_eq!(others(line), 0, "{}", line.join("\n"));
    // Of a grid of three dimensions each thread's place in all of them counts.
    assert_eq!(others(solid), 4, "{}", solid.join("\n"));
}

#[test]
fn a_loop_with_a_check_in_each_turn_has_several_loads_under_way() {
    let (arch, ptx, _) = examples::ptx()[0];
    let code = disassemble(arch, ptx, "column_sums").expect("setup.sh has brought the tools");
    let most = code
        .split("FADD")
        .map(|between| between.matches("LDG").count())
        .max();
    assert!(most >= Some(4), "{most:?} loads before a sum:\n{code}");
}
