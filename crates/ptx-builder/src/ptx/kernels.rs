//! Kernels' descriptions, which `#[kernel]` writes into the PTX as comments:
//! `// ptx-std kernel NAME file=FILE line=N params=8,8,4 max_threads=256 min_blocks=4
//! block=0,0,0 allow=local-memory digest=17`.
//!
//! `params` are the bytes of each parameter, 0 for one that the PTX does not have; the launch bounds, and the block
//! that every launch has, are 0 when none were given; `allow` are the lints that do not apply; `digest` is for the driver, which
//! compares it with that of the kernel that a program launches.

use std::path::PathBuf;

use ::ptx::{Directives, FunctionKind};

use super::edit::Edits;
use super::places::Place;
use super::source::Source;

const MARK: &str = "// ptx-std kernel ";

/// A kernel, as its author described it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Description {
    pub(crate) name: String,
    pub(crate) place: Place,
    /// Bytes of each parameter.
    pub(crate) parameters: Vec<u64>,
    max_threads: u32,
    min_blocks: u32,
    /// The threads of the block that every launch has, x, y and z.
    block: Option<[u32; 3]>,
    /// Names of lints that do not apply.
    pub(crate) allowed: Vec<String>,
}

/// Reads every description in the text. What is no well-formed one is passed over.
pub(crate) fn descriptions(text: &str) -> Vec<Description> {
    text.lines()
        .filter_map(|line| parse(line.trim().strip_prefix(MARK)?))
        .collect()
}

fn parse(line: &str) -> Option<Description> {
    // From the end, since the file's name may hold anything.
    let line = line.rsplit_once(" digest=").map_or(line, |(rest, _)| rest);
    let (rest, allowed) = line.rsplit_once(" allow=")?;
    let (rest, block) = rest.rsplit_once(" block=")?;
    let (rest, min_blocks) = rest.rsplit_once(" min_blocks=")?;
    let (rest, max_threads) = rest.rsplit_once(" max_threads=")?;
    let (rest, parameters) = rest.rsplit_once(" params=")?;
    let (rest, number) = rest.rsplit_once(" line=")?;
    let (name, file) = rest.split_once(" file=")?;
    let sizes = parameters
        .split(',')
        .filter(|size| !size.is_empty() && *size != "0");
    let allowed = allowed.split(',').filter(|name| !name.is_empty());
    let block: Vec<u32> = block
        .split(',')
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    let block = <[u32; 3]>::try_from(block).ok()?;
    Some(Description {
        name: name.trim().to_owned(),
        place: Place {
            file: PathBuf::from(file),
            line: number.parse().ok()?,
        },
        parameters: sizes.map(str::parse).collect::<Result<_, _>>().ok()?,
        max_threads: max_threads.parse().ok()?,
        min_blocks: min_blocks.parse().ok()?,
        block: Some(block).filter(|block| *block != [0; 3]),
        allowed: allowed.map(str::to_owned).collect(),
    })
}

/// Writes the launch bounds after each entry's parameters: `.reqntid`, the block that every launch has, or `.maxntid`, which
/// bounds the number of threads of a block, whatever its shape: PTX defines it as a bound on the product. An entry
/// has one of the two.
pub(crate) fn write_bounds(source: &Source<'_>, descriptions: &[Description], edits: &mut Edits) {
    for description in descriptions {
        let entry = source.definitions().find(|it| {
            it.function.kind == FunctionKind::Entry && it.function.name == description.name
        });
        let Some(entry) = entry else { continue };
        let Directives {
            maxntid,
            reqntid,
            minnctapersm,
            ..
        } = entry.function.directives;
        let threads = match (description.block, description.max_threads) {
            (Some([x, y, z]), _) => Some(format!("\n.reqntid {x}, {y}, {z}")),
            (None, 0) => None,
            (None, threads) => Some(format!("\n.maxntid {threads}, 1, 1")),
        };
        if let Some(threads) = threads
            && maxntid.is_none()
            && reqntid.is_none()
        {
            edits.insert(entry.spans.directives, threads);
        }
        let blocks = description.min_blocks;
        if blocks > 0 && minnctapersm.is_none() {
            edits.insert(entry.spans.directives, format!("\n.minnctapersm {blocks}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".version 7.8
.target sm_90
.address_size 64
// ptx-std kernel bounded file=my crate/lib.rs line=27 params=8,4,0,12 max_threads=256 min_blocks=4 block=0,0,0 allow=
// ptx-std kernel free file=lib.rs line=3 params= max_threads=0 min_blocks=0 block=0,0,0 allow=local-memory digest=17
// ptx-std kernel tile file=lib.rs line=9 params= max_threads=256 min_blocks=0 block=16,16,1 allow=
// ptx-std kernel broken
.visible .entry bounded(
\t.param .u64 .ptr .align 1 bounded_param_0,
\t.param .f32 bounded_param_1,
\t.param .align 4 .b8 bounded_param_2[12]
)
{
\tret;
}
.visible .entry free()
{
\tret;
}
.visible .entry tile()
{
\tret;
}
";

    #[test]
    fn descriptions_are_read() {
        let all = descriptions(TEXT);
        assert_eq!(all.len(), 3, "{all:?}");
        assert_eq!(all[0].place.to_string(), "my crate/lib.rs:27");
        assert_eq!(all[0].parameters, [8, 4, 12]);
        assert!(all[1].parameters.is_empty());
        assert_eq!(all[1].allowed, ["local-memory"]);
    }

    #[test]
    fn bounds_are_written_between_parameters_and_body() {
        let source = Source::parse(TEXT).expect("PTX");
        let mut edits = Edits::default();
        write_bounds(&source, &descriptions(TEXT), &mut edits);
        let text = edits.apply(TEXT);
        assert!(
            text.contains("[12]\n)\n.maxntid 256, 1, 1\n.minnctapersm 4\n{"),
            "{text}"
        );
        assert!(text.contains("free()\n{"), "{text}");
        assert!(text.contains("tile()\n.reqntid 16, 16, 1\n{"), "{text}");
    }
}
