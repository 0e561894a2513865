//! The results of ptx-std's functions of floats on the host, for `scripts/gpu/mathematics-errors.py`.
//!
//! ```text
//! mathematics values FUNCTION f32|f64 < arguments > values
//! mathematics worst FUNCTION [LOW HIGH [absolute]]
//! mathematics ptx
//! ```
//!
//! `values` reads the arguments x, y and z of each evaluation as three little-endian floats and
//! writes one float for each. `worst` goes through every `f32` and prints those at which the function is
//! furthest from its own `f64` form, the furthest first: bits and the distance, in units in the last
//! place of the result or absolute. `ptx` prints the kernels.

use std::io::{self, Read, Write};
use std::ops::{Range, RangeInclusive};
use std::process::ExitCode;
use std::thread;

use mathematics_kernels::{FUNCTIONS, Function, units};

/// The kernels of `mathematics-kernels`.
const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mathematics: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), String> {
    match *arguments {
        ["ptx"] => io::stdout()
            .write_all(PTX.as_bytes())
            .map_err(|e| e.to_string()),
        ["values", name, float] => values(named(name)?, float),
        ["worst", name, ref part @ ..] => worst(named(name)?, &Part::of(part)?),
        _ => Err("expected: values FUNCTION f32|f64, worst FUNCTION or ptx".to_owned()),
    }
}

fn named(name: &str) -> Result<&'static Function, String> {
    FUNCTIONS
        .iter()
        .find(|function| function.name == name)
        .ok_or_else(|| format!("no function is called {name}"))
}

fn values(function: &Function, float: &str) -> Result<(), String> {
    let mut input = Vec::new();
    io::stdin()
        .read_to_end(&mut input)
        .map_err(|e| format!("standard input: {e}"))?;
    let output: Vec<u8> = match float {
        "f32" => words::<4>(&input)?
            .flat_map(|[x, y, z]| {
                (function.single)(
                    f32::from_le_bytes(x),
                    f32::from_le_bytes(y),
                    f32::from_le_bytes(z),
                )
                .to_le_bytes()
            })
            .collect(),
        "f64" => words::<8>(&input)?
            .flat_map(|[x, y, z]| {
                (function.double)(
                    f64::from_le_bytes(x),
                    f64::from_le_bytes(y),
                    f64::from_le_bytes(z),
                )
                .to_le_bytes()
            })
            .collect(),
        other => return Err(format!("f32 or f64, not {other}")),
    };
    io::stdout()
        .write_all(&output)
        .map_err(|e| format!("standard output: {e}"))
}

/// The arguments of each evaluation.
fn words<const SIZE: usize>(bytes: &[u8]) -> Result<impl Iterator<Item = [[u8; SIZE]; 3]>, String> {
    let (evaluations, rest) = bytes.as_chunks::<SIZE>().0.as_chunks::<3>();
    if evaluations.is_empty() || !rest.is_empty() || !bytes.len().is_multiple_of(SIZE) {
        return Err(format!(
            "{} bytes are not whole evaluations of three floats of {SIZE} bytes",
            bytes.len()
        ));
    }
    Ok(evaluations.iter().copied())
}

/// Which arguments [`worst`] looks at, and how it measures.
struct Part {
    arguments: RangeInclusive<f32>,
    is_absolute: bool,
}

impl Part {
    fn of(words: &[&str]) -> Result<Part, String> {
        let number = |text: &str| text.parse().map_err(|_| format!("{text} is no number"));
        Ok(match words {
            [] => Part {
                arguments: f32::NEG_INFINITY..=f32::INFINITY,
                is_absolute: false,
            },
            [low, high, rest @ ..] => Part {
                arguments: number(low)?..=number(high)?,
                is_absolute: match rest {
                    [] => false,
                    ["absolute"] => true,
                    _ => return Err(format!("absolute, not {rest:?}")),
                },
            },
            _ => return Err("LOW HIGH [absolute]".to_owned()),
        })
    }
}

/// How many arguments [`worst`] prints.
const WORST: usize = 64;

fn worst(function: &Function, part: &Part) -> Result<(), String> {
    let threads = thread::available_parallelism().map_or(1, usize::from) as u64;
    let all = 1_u64 << 32;
    let mut worst: Vec<(f64, u32)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|i| all * i / threads..all * (i + 1) / threads)
            .map(|bits| scope.spawn(move || worst_of(function, part, bits)))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("no evaluation panics"))
            .collect()
    });
    if worst.is_empty() {
        return Err(format!("no float lies in {:?}", part.arguments));
    }
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    let lines: String = worst
        .iter()
        .take(WORST)
        .map(|(distance, bits)| format!("{bits:08x} {distance:.4e}\n"))
        .collect();
    io::stdout()
        .write_all(lines.as_bytes())
        .map_err(|e| format!("standard output: {e}"))
}

/// The arguments of a range of bits at which the two forms differ most.
fn worst_of(function: &Function, part: &Part, bits: Range<u64>) -> Vec<(f64, u32)> {
    let mut worst = Vec::new();
    let mut least = -1.0;
    for bits in bits {
        let bits = bits as u32;
        let x = f32::from_bits(bits);
        if !part.arguments.contains(&x) {
            continue;
        }
        let (value, true_value) = (
            (function.single)(x, 1.0, 1.0),
            (function.double)(x.into(), 1.0, 1.0),
        );
        let distance = if part.is_absolute {
            (f64::from(value) - true_value).abs()
        } else {
            units(value, true_value)
        };
        if distance > least {
            worst.push((distance, bits));
            if worst.len() == 16 * WORST {
                worst.sort_by(|a, b| b.0.total_cmp(&a.0));
                worst.truncate(WORST);
                least = worst[WORST - 1].0;
            }
        }
    }
    worst
}
