//! Instructions that are not executed: the list in docs/testing-kernels.md, against those that are refused.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use engine::memory::{Limits, Memory};
use engine::{Module, Unlowered, Unsupported};

/// A row of the list: instructions, as opcodes of which all parts are meant, and why.
struct Row {
    instructions: Vec<String>,
    why: String,
}

/// The rows below the list's heading.
fn rows() -> Vec<Row> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../docs/testing-kernels.md"
    );
    let text = fs::read_to_string(path).expect("the guide");
    let (_, list) = text
        .split_once("\n## What is not executed\n")
        .expect("the heading");
    let list = list.split_once("\n## ").map_or(list, |(list, _)| list);
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let instructions = cells
            .next()?
            .split('`')
            .filter(|it| !it.trim_matches([',', ' ']).is_empty());
        Some(Row {
            instructions: instructions.map(str::to_owned).collect(),
            why: cells.next()?.trim_end_matches([' ', '|']).to_owned(),
        })
    };
    let rows: Vec<Row> = list.lines().filter_map(row).collect();
    assert!(rows.len() > 10, "the list has {} rows", rows.len());
    rows
}

/// Whether an opcode is one that an entry of the list means: its first part, and all others.
fn means(entry: &str, opcode: &str) -> bool {
    let parts: BTreeSet<&str> = opcode.split('.').collect();
    opcode.split('.').next() == entry.split('.').next()
        && entry.split('.').all(|part| parts.contains(part))
}

/// The opcode of an instruction's text.
fn opcode(text: &str) -> &str {
    let text = match text.strip_prefix('@') {
        Some(guarded) => guarded
            .split_once(' ')
            .map_or(text, |(_, rest)| rest.trim_start()),
        None => text,
    };
    text.split([' ', '\t', ';']).next().unwrap_or_default()
}

/// The row that names a refused instruction, with its reason.
fn row_of<'r>(rows: &'r [Row], refused: &Unsupported) -> Option<&'r Row> {
    let opcode = opcode(&refused.text);
    let names = |row: &&Row| row.instructions.iter().any(|it| means(it, opcode));
    rows.iter().filter(names).find(|row| row.why == refused.why)
}

/// Returns the refusals of a module's kernels: each instruction that is found is blanked, so that the next is.
fn refused(name: &str, text: &str) -> Vec<Unsupported> {
    let mut text = text.to_owned();
    let mut all = Vec::new();
    loop {
        let memory = Arc::new(Memory::new(Limits::default()));
        let module = Module::load(&text, &memory).unwrap_or_else(|error| panic!("{name}: {error}"));
        let names: Vec<_> = module.kernels().map(str::to_owned).collect();
        let kernels = names.iter().filter_map(|name| module.kernel(name));
        let Some(found) = kernels.filter_map(|kernel| kernel.prepare().err()).next() else {
            return all;
        };
        let Unlowered::Unsupported(found) = found else {
            panic!("{name}: {found}");
        };
        let line = text.lines().take(found.line as usize - 1);
        let begin: usize = line.map(|line| line.len() + 1).sum();
        let at = begin + text[begin..].find(&found.text).expect("the instruction");
        text.replace_range(at..at + found.text.len(), "");
        all.push(found);
    }
}

/// Why calls are refused: what is called is no instruction, and in the words above the list.
const CALLS: [&str; 1] = ["which nothing defines"];

fn corpus() -> Vec<(String, String)> {
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../ptx/tests/corpus"
    ));
    let entries = fs::read_dir(folder).expect("the corpus");
    let paths = entries.map(|entry| entry.expect("a file").path());
    let ptx = paths.filter(|path| path.extension().is_some_and(|it| it == "ptx"));
    ptx.map(|path| {
        let text = fs::read_to_string(&path).expect("text");
        (path.display().to_string(), text)
    })
    .collect()
}

/// Everything of the corpus that is refused is in the list, and all of the corpus that the list names is refused.
#[test]
fn the_corpus_and_the_list_agree() {
    let rows = rows();
    let (mut count, mut wrong) = (0, Vec::new());
    for (name, text) in corpus() {
        let found = refused(&name, &text);
        count += found.len();
        for it in &found {
            let is_call =
                opcode(&it.text) == "call" && CALLS.iter().any(|why| it.why.ends_with(why));
            if !is_call && row_of(&rows, it).is_none() {
                wrong.push(format!("{name}: not in the list: {it}"));
            }
        }
        let places: BTreeSet<(u32, &str)> =
            found.iter().map(|it| (it.line, it.text.as_str())).collect();
        let module = ptx::parse(&text).expect("it has been loaded");
        let entries = module
            .functions
            .iter()
            .filter(|it| it.kind == ptx::FunctionKind::Entry);
        let instructions = entries
            .filter_map(|it| it.body.as_ref())
            .flat_map(|it| &it.instructions);
        for instruction in instructions {
            let opcode = instruction.opcode(&text);
            let is_named = rows
                .iter()
                .flat_map(|row| &row.instructions)
                .any(|it| means(it, opcode));
            let place = (instruction.line, instruction.text(&text));
            if is_named && !places.contains(&place) {
                wrong.push(format!(
                    "{name}, line {}: in the list, and executed: {}",
                    place.0, place.1
                ));
            }
        }
    }
    assert!(count > 20, "{count} instructions of the corpus are refused");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// One instruction for each entry of the list.
const EXAMPLES: &[&str] = &[
    "tex.2dms.v4.f32.s32 {f, f, f, f}, [d, {r, r, r, r}];",
    "tex.a2dms.v4.f32.s32 {f, f, f, f}, [d, {r, r, r, r, r}];",
    "txq.width.b32 r, [d];",
    "sust.p.1d.b32.trap [d, {r}], {r};",
    "sured.b.add.1d.u32.trap [d, {r}], r;",
    "suq.width.b32 r, [d];",
    "istypep.texref p, d;",
    "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [r], 64;",
    "tcgen05.mma.sp.cta_group::1.kind::f16 [r], d, d, [r], r, p;",
    "tcgen05.mma.ws.cta_group::1.kind::f16 [r], d, d, r, p;",
    "tcgen05.mma.cta_group::1.kind::f16.ashift [r], [r], d, r, p;",
    "tcgen05.shift.cta_group::1.down [r];",
    "tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {r, r}, r, [r];",
    "tcgen05.cp.cta_group::1.4x256b [r], d;",
    "tcgen05.cp.cta_group::1.128x128b.b8x16.b6x16_p32 [r], d;",
    "multimem.ld_reduce.global.add.f32 f, [d];",
    "tensormap.replace.tile.interleave_layout.global.b1024.b32 [d], 1;",
    "tensormap.replace.tile.elemtype.global.b1024.b32 [d], 13;",
    "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [d], 4;",
    "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [d], 1;",
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [r], [r];",
    "_warpsync r;",
    "wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64 {g, g}, {g}, {g}, {g, g};",
    "wmma.mma.sync.aligned.row.col.m8n8k4.rm.f64.f64.f64.f64 {g, g}, {g}, {g}, {g, g};",
    "wmma.mma.sync.aligned.row.col.m8n8k4.rp.f64.f64.f64.f64 {g, g}, {g}, {g}, {g, g};",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f, f, f, f}, {r, r}, {r, r}, {f, f, f, f}, r, 0x0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f, f, f, f}, {r, r}, {r, r}, {f, f, f, f}, r, 0x0;",
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {f, f, f, f}, {r, r, r, r}, {r, r}, {f, f, f, f};",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 {f, f, f, f}, {r, r, r, r}, {r, r}, {f, f, f, f}, r, {h, h}, r, {h, h};",
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {f, f, f, f, f, f, f, f}, {r, r}, {r, r}, {f, f, f, f, f, f, f, f};",
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {f, f, f, f}, d, d, r, 0, 1, 1, 1, 0, 0;",
    "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {r, r, r, r}, d, d, 1;",
    "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {r}, [r];",
    "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [r], [d, {r, r, r, r}], [r], {h, h};",
    "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [r], [d, {r, r, r}], [r], {h, h};",
    "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w::128.mbarrier::complete_tx::bytes [r], [d, {r, r, r}], [r], {h, h};",
    "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [d, {r, r, r}], [r];",
    "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [r], [d, {r, r, r, r, r}], [r];",
    "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [d, {r, r, r, r, r}], [r];",
    "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes [r], [d, {r, r}], [r];",
    "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [d], [r], r, h;",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [r], [r], r, [r];",
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [r], [r], r, [r];",
    "st.async.mbarrier::complete_tx::bytes.shared::cluster.u32 [r], r, [r];",
    "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster.add.u32 [r], r, [r];",
    "cvt.rs.satfinite.e2m1x4.f32 h, {f, f, f, f}, r;",
    "rcp.rn.ftz.f64 g, g;",
    "rcp.rz.ftz.f64 g, g;",
    "rcp.rm.ftz.f64 g, g;",
    "rcp.rp.ftz.f64 g, g;",
    "fma.rz.bf16 h, h, h, h;",
    "fma.rm.bf16 h, h, h, h;",
    "fma.rp.bf16 h, h, h, h;",
    "fma.rz.bf16x2 r, r, r, r;",
    "fma.rm.bf16x2 r, r, r, r;",
    "fma.rp.bf16x2 r, r, r, r;",
];

/// Each entry of the list is refused, with the list's reason.
#[test]
fn what_the_list_names_is_refused() {
    let rows = rows();
    let mut named = BTreeSet::new();
    for example in EXAMPLES {
        let text = format!(
            ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k() {{\n\
             .reg .pred p; .reg .b16 h; .reg .b32 r; .reg .b64 d; .reg .f32 f; .reg .f64 g;\n\
             {example}\nret;\n}}\n"
        );
        let found = refused(example, &text);
        let [found] = &found[..] else {
            panic!("executed: {example}");
        };
        let row = row_of(&rows, found);
        let row = row.unwrap_or_else(|| panic!("not in the list: {found}"));
        named.extend(
            row.instructions
                .iter()
                .filter(|it| means(it, opcode(example))),
        );
    }
    let all = rows.iter().flat_map(|row| &row.instructions);
    let without: Vec<_> = all.filter(|it| !named.contains(it)).collect();
    assert!(
        without.is_empty(),
        "entries of the list without an example: {without:?}"
    );
}
