//! `entry-parameters`

use ::ptx::FunctionKind;

use super::super::kernels::Description;
use super::{Report, Subject};

/// Compares each kernel's description with its entry.
pub(super) fn check(subject: &Subject<'_>) -> Vec<Report> {
    let descriptions = subject.descriptions.iter();
    descriptions
        .filter_map(|description| {
            let message = fault(subject, description)?;
            Some(Report {
                kernel: description.name.clone(),
                place: Some(description.place.clone()),
                message,
            })
        })
        .collect()
}

fn fault(subject: &Subject<'_>, description: &Description) -> Option<String> {
    let entry = subject
        .module
        .function(&description.name)
        .filter(|function| function.kind == FunctionKind::Entry);
    let Some(entry) = entry else {
        return Some(
            "the PTX has no entry of this name: make the kernel's module part of the kernel \
             crate's library, under no `cfg` that is off"
                .to_owned(),
        );
    };
    let expected = &description.parameters;
    let found: Vec<u64> = entry.parameters.iter().map(|one| one.bytes).collect();
    if found == *expected {
        return None;
    }
    Some(format!(
        "the entry takes {} where the kernel's parameters are {}: give parameters types that \
         are passed as one value, such as numbers, pointers, slices and `#[repr(C)]` structs",
        list(&found),
        list(expected)
    ))
}

fn list(sizes: &[u64]) -> String {
    if sizes.is_empty() {
        return "no parameters".to_owned();
    }
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    format!("parameters of {} bytes", sizes.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::Lint;
    use super::super::testing::lines;

    fn module(parameters: &str, name: &str) -> String {
        format!(
            "// ptx-std kernel k file=a.rs line=3 params={parameters} max_threads=0 min_blocks=0 block=0,0,0 allow=\n\
             .visible .entry {name}(\n.param .u64 .ptr .align 1 a,\n.param .f32 b\n)\n{{\nret;\n}}"
        )
    }

    #[test]
    fn parameters_of_other_sizes_are_found() {
        for parameters in ["8,8", "8", "8,4,4", ""] {
            let lines = lines(Lint::EntryParameters, &module(parameters, "k"));
            let [line] = &lines[..] else {
                panic!("one for {parameters}: {lines:?}");
            };
            let start = "kernel k, a.rs:3: entry-parameters: the entry takes parameters of 8, 4";
            assert!(line.starts_with(start), "{line}");
        }
        assert!(lines(Lint::EntryParameters, &module("8,4", "k")).is_empty());
    }

    #[test]
    fn a_kernel_without_an_entry_is_found() {
        let lines = lines(Lint::EntryParameters, &module("8,4", "other"));
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("no entry of this name"), "{lines:?}");
    }
}
