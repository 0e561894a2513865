//! Predictions of the rows of studies and profiles: all of them are made here.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use cuda_builder::resources::Report;

use super::{Board, Code, Kernel, Launch, Prediction};
use crate::driver::count::Counts;
use crate::driver::{Embedded, LaunchConfig, best_embedded};
use crate::kernels::{newest_report, report_of};
use crate::model::Gpu;

/// The file that lines of embedded PTX belong to, where they have no source.
const EMBEDDED: &str = "PTX";

/// A board, and kernels whose launches are predicted for it.
#[derive(Debug)]
pub struct Predictor {
    board: Board,
    code: Code,
    report: Option<Report>,
    /// The file that lines of PTX belong to.
    file: String,
}

/// Predictors for one GPU: of a program's own kernels, and of those of files, each made when it is first asked for.
#[derive(Debug)]
pub struct Predictors {
    own: Result<Predictor, String>,
    of_files: HashMap<PathBuf, Result<Predictor, String>>,
}

/// A launch that is predicted.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The counts of each kernel that it launches, or of one with fewer blocks.
    pub counts: &'a [Counts],
    /// The launch as its workload describes it.
    pub config: LaunchConfig,
    /// Its blocks over those that were counted.
    pub times: f64,
    /// Whether L2 has nothing of its data when it begins.
    pub is_cold: bool,
    /// Where they are known better than by the report of `ptxas`.
    pub held: Option<Held>,
}

/// The registers and blocks of a kernel that a multiprocessor holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Registers per thread.
    pub registers: u32,
    /// Blocks at once.
    pub blocks: u32,
}

impl Predictors {
    /// With this one of the program's own kernels, or why there is none for the GPU.
    pub fn new(own: Result<Predictor, String>) -> Predictors {
        Predictors {
            own,
            of_files: HashMap::new(),
        }
    }

    /// The one of the kernels of a file, or of the program's own.
    ///
    /// # Errors
    /// In words: why there is none for the GPU, or the file is no PTX.
    pub fn of(&mut self, file: Option<&Path>) -> Result<&Predictor, &str> {
        let own = self.own.as_ref().map_err(String::as_str)?;
        let Some(file) = file else {
            return Ok(own);
        };
        let of_file = self.of_files.entry(file.to_owned());
        let of_file = of_file.or_insert_with(|| own.for_file(file));
        of_file.as_ref().map_err(|reason| reason.as_str())
    }
}

impl Predictor {
    /// For a GPU, of the kernels of this PTX that an emulator of `arch` loads, 90 for `sm_90`.
    ///
    /// # Errors
    /// In words: the board is not known well enough, or there is no PTX for the architecture.
    pub fn embedded(gpu: Gpu, arch: u32, ptx: &[Embedded<'_>]) -> Result<Predictor, String> {
        let board = Board::of(gpu)?;
        let best = best_embedded(ptx, arch);
        let (_, text, _) = best.ok_or_else(|| format!("no kernel is embedded for sm_{arch}"))?;
        Ok(Predictor {
            board,
            code: Code::read(text)?,
            report: newest_report(ptx),
            file: EMBEDDED.to_owned(),
        })
    }

    /// For a GPU, of the kernels of a file, with the report of `ptxas` on it.
    ///
    /// # Errors
    /// In words: the board is not known well enough, or the text is no PTX.
    pub fn of_file(
        gpu: Gpu,
        (file, text): (&str, &str),
        report: Option<Report>,
    ) -> Result<Predictor, String> {
        Ok(Predictor {
            board: Board::of(gpu)?,
            code: Code::read(text)?,
            report,
            file: file.to_owned(),
        })
    }

    fn for_file(&self, path: &Path) -> Result<Predictor, String> {
        let file = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| format!("{file}: {error}"))?;
        let report = report_of(&text, self.board.gpu.capability).ok();
        Predictor::of_file(self.board.gpu.clone(), (&file, &text), report)
    }

    /// Predicts a launch: of several kernels, one behind the other.
    ///
    /// # Errors
    /// In words: nothing was counted, the model does not have what the kernel does, or its registers are not known.
    pub fn predict(&self, subject: Subject<'_>) -> Result<Prediction, String> {
        let each = subject.counts.iter().map(|it| self.kernel(it, &subject));
        let all = each.collect::<Result<Vec<Prediction>, String>>()?;
        let all = all.into_iter().reduce(Prediction::and);
        all.ok_or_else(|| "no launch was counted".to_owned())
    }

    fn kernel(&self, counts: &Counts, subject: &Subject<'_>) -> Result<Prediction, String> {
        self.check(counts)?;
        let block = counts.threads / counts.blocks;
        let held = match subject.held {
            Some(held) => held,
            None => self.held(counts, subject.config.dynamic_shared, block as u32)?,
        };
        let both = (counts, &self.code);
        let kernel = Kernel::new(both, held.registers, &self.board, &self.file)?;
        let counted = counts.blocks as f64 / counts.launches as f64;
        let launch = Launch {
            blocks: (counted * subject.times).round() as u64,
            block_threads: block,
            resident_blocks: held.blocks,
            is_cold: subject.is_cold,
        };
        let one = kernel.predict(launch, &self.board);
        let launches = (1..counts.launches).map(|_| one.clone());
        Ok(launches.fold(one.clone(), Prediction::and))
    }

    /// By the report of `ptxas`.
    fn held(&self, counts: &Counts, dynamic_shared: u32, block: u32) -> Result<Held, String> {
        let report = self.report.as_ref();
        let report = report.ok_or("the registers are not known, as there is no report of ptxas")?;
        let kernel = report.kernels.iter().find(|it| it.name == counts.kernel);
        let kernel = kernel.ok_or_else(|| {
            format!(
                "the registers are not known: the report of ptxas does not have {}",
                counts.kernel
            )
        })?;
        let shared = kernel.static_shared_bytes + dynamic_shared;
        let blocks = self
            .board
            .resident_blocks(kernel.registers, shared, block)?;
        Ok(Held {
            registers: kernel.registers,
            blocks,
        })
    }

    /// Fails where warps wait for what the model does not have, docs/prediction.md#what-is-not-modelled.
    fn check(&self, counts: &Counts) -> Result<(), String> {
        use ptx::Operation::{BarrierCluster, Getctarank, Mapa, Tcgen05Mma, WgmmaMma};
        let operations = counts.instructions.iter();
        let mut operations = operations.filter_map(|it| self.code.operation(it));
        let unknown = operations.find_map(|it| match it {
            BarrierCluster(_) | Mapa { .. } | Getctarank { .. } => Some("blocks of a cluster"),
            WgmmaMma(_) => Some("wgmma"),
            Tcgen05Mma(_) => Some("tcgen05"),
            _ => None,
        });
        match unknown {
            Some(what) => Err(format!("the model does not have waits for {what}")),
            None => Ok(()),
        }
    }
}
