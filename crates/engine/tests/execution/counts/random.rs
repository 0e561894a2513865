//! Random addresses: what is counted, and what the definitions say of each lane.

use std::collections::{BTreeMap, BTreeSet};

use engine::count::Space;

use super::harness::{Case, memory};

/// The lanes that are active, and where each of them reads.
type Request = Vec<(u32, u64)>;

#[test]
fn sectors_and_wavefronts_are_those_of_the_definitions() {
    let mut random = fastrand::Rng::with_seed(0x5EC7);
    for round in 0..400 {
        let bytes = 1 << random.u32(0..5);
        let request = request(&mut random, bytes);
        let counts = Case::new(&body(bytes)).y(table(&request)).run();
        let about = format!("round {round}, {bytes} bytes: {request:?}");

        let global = memory(&counts, "@%p1 ld.global", Space::Global);
        let touched = sectors(&request, bytes);
        assert_eq!(global.sectors, touched, "{about}");
        assert_eq!(global.new_sectors, touched, "{about}");
        let least = (request.len() as u64 * bytes).div_ceil(32);
        assert_eq!(global.least_sectors, least.min(touched), "{about}");

        let shared = memory(&counts, "@%p1 ld.shared", Space::Shared);
        let passes = passes(&request, bytes);
        let wavefronts: u64 = passes.iter().map(|pass| wavefronts(pass, bytes)).sum();
        let conflicts = wavefronts - passes.len() as u64;
        assert_eq!(
            (shared.wavefronts, shared.conflicts),
            (wavefronts, conflicts),
            "{about}"
        );
    }
}

/// Each lane reads in both memories where the table says; it does not where that is the highest number.
fn body(bytes: u64) -> String {
    let (ty, registers) = match bytes {
        1 => ("u8", "%r9"),
        2 => ("u16", "%h1"),
        4 => ("f32", "%f1"),
        8 => ("f64", "%fd1"),
        _ => ("v4.f32", "{%f1, %f2, %f3, %f4}"),
    };
    format!(
        "mul.wide.u32 %rd3, %r1, 4;
        add.s64 %rd3, %rd3, %rd2;
        ld.global.u32 %r6, [%rd3];
        setp.ne.u32 %p1, %r6, 0xFFFFFFFF;
        cvt.u64.u32 %rd4, %r6;
        add.s64 %rd5, %rd4, %rd1;
        @%p1 ld.global.{ty} {registers}, [%rd5];
        mov.u64 %rd6, s;
        add.s64 %rd7, %rd6, %rd4;
        @%p1 ld.shared.{ty} {registers}, [%rd7];"
    )
}

fn table(request: &Request) -> Vec<u32> {
    let mut table = vec![u32::MAX; 32];
    for &(lane, address) in request {
        table[lane as usize] = address as u32;
    }
    table
}

/// Patterns as kernels have them, some with lanes that do not take part.
fn request(random: &mut fastrand::Rng, bytes: u64) -> Request {
    let mask = match random.u32(0..3) {
        0 => u32::MAX,
        1 => u32::MAX >> random.u32(0..32),
        _ => random.u32(1..=u32::MAX),
    };
    let kind = random.u32(0..6);
    let (start, step, few) = (random.u64(0..64), random.u64(0..20), random.u64(1..9));
    let element = |random: &mut fastrand::Rng, lane: u64| match kind {
        0 => start + lane,
        1 => start + lane * step,
        2 => start + (31 - lane) * step,
        3 => start + (lane ^ (step % 4)) / few,
        4 => random.u64(0..few * 16),
        _ => random.u64(0..1024),
    };
    let lanes = (0..32).filter(|lane| mask >> lane & 1 == 1);
    lanes
        .map(|lane| (lane, element(random, lane.into()) * bytes))
        .collect()
}

fn sectors(request: &Request, bytes: u64) -> u64 {
    let all = request.iter().flat_map(|(_, at)| *at..at + bytes);
    all.map(|byte| byte / 32).collect::<BTreeSet<_>>().len() as u64
}

/// The most distinct words that a bank has to give.
fn wavefronts(pass: &Request, bytes: u64) -> u64 {
    let mut banks: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for byte in pass.iter().flat_map(|(_, at)| *at..at + bytes) {
        banks.entry(byte / 4 % 32).or_default().insert(byte / 4);
    }
    banks
        .values()
        .map(|words| words.len() as u64)
        .max()
        .unwrap_or(0)
}

/// Lanes that pass together: all of 4 bytes and less, half-warps of 8, quarter-warps of 16. Two neighbouring
/// ones of these do if each lane reads where the next one or the next but one of its four does, or that one
/// reads nothing.
fn passes(request: &Request, bytes: u64) -> Vec<Request> {
    let (width, whole) = match bytes {
        8 => (16, 32),
        16 => (8, 16),
        _ => (32, 32),
    };
    let mut passes = Vec::new();
    for group in (0..32).step_by(whole as usize) {
        let within: Request = request
            .iter()
            .copied()
            .filter(|it| it.0 / whole * whole == group)
            .collect();
        let at = |lane: u32| within.iter().find(|it| it.0 == lane).map(|it| it.1);
        let pairs = |step: u32| {
            within
                .iter()
                .all(|&(lane, own)| at(lane ^ step).is_none_or(|other| other == own))
        };
        if pairs(1) || pairs(2) {
            passes.push(within);
            continue;
        }
        for part in (group..group + whole).step_by(width as usize) {
            passes.push(
                within
                    .iter()
                    .copied()
                    .filter(|it| it.0 / width * width == part)
                    .collect(),
            );
        }
    }
    passes.retain(|pass| !pass.is_empty());
    passes
}
