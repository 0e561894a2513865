//! The columns of a roofline: a row each.

/// Hands the columns of a roofline to the macro of this name, in the order of files.
///
/// A row is a column's meaning, its name, the type of its values, their unit, whether it is an `Outcome`, an outcome that
/// follows from the time (`Timed`), says what the `Launch` was (by which rows are told apart) or is in `Json` alone, the digits
/// behind the point, what a cell may hold, and its formula, of a `Measurement`. `Several` stands for columns that the value itself names. The record, its JSON, the header, the
/// rules of `compare`, and the table of docs/measuring.md follow from the rows.
macro_rules! roofline_columns {
    ($with:ident) => {
        $with! {
            /// The first axis of the sweep, if there is one.
            first: AxisValues, "", [Several, 0, Any] = |it| it.first_axis();
            /// Arithmetic intensity: operations / bytes, each by the workload's formula where it has one, and otherwise as
            /// counted. It is the one that the terminal, charts and reports show; those of the formula, of counts and of
            /// counters are in `formula_ai`, `counted_ai` and `measured_ai`. The polynomial does 2k FLOP and moves 8 (f32), 16
            /// (f64) or 4 (f16) bytes per number.
            ai: Option<f64>, "FLOP/byte", [Outcome, 6, Positive] = |it| it.launched.work.intensity().map(|it| it.0);
            /// Operations / mean time.
            gflops: Option<f64>, "1e9 FLOP/s", [Timed, 2, NotNegative] = |it| it.rate.map(|rate| rate / 1e9);
            /// Bytes / mean time.
            bandwidth: Option<f64>, "1e9 bytes/s", [Timed, 2, NotNegative] = |it| it.moved.map(|moved| moved / 1e9);
            /// `gflops` as a percentage of the data sheet's FMA peak: 67 TFLOP/s (f64: 33.5, f16: 133.8) on H100 and H200 SXM,
            /// of a board without a data sheet the FMA roof; for matrix products of the rate of the tensor cores for their
            /// type, if the data sheet has it; on the emulator of the higher of its two arithmetic roofs.
            percent_peak: Option<f64>, "%", [Timed, 2, Any] = |it| it.percent_peak();
            /// The workload's name.
            kernel: String, "", [Launch, 0, Any] = |it| it.launched.workload.to_owned();
            /// The element type: of an axis of that name, or of most operations.
            dtype: Option<String>, "", [Launch, 0, Any] = |it| it.launched.dtype();
            /// The workload's other axes.
            axes: AxisValues, "", [Several, 0, Any] = |it| it.other_axes();
            /// Threads per block.
            block: u64, "threads", [Launch, 0, Any] = |it| it.launched.config.block_threads();
            /// Blocks in the grid.
            grid: u64, "blocks", [Launch, 0, Any] = |it| it.launched.config.grid.iter().product();
            /// Blocks per multiprocessor, if `--grid` gave such a number.
            blocks_per_sm: Option<u32>, "blocks", [Outcome, 0, Any] = |it| it.launched.grid.per_multiprocessor();
            /// Mean time of a launch.
            mean_ms: f64, "ms", [Timed, 6, Positive] = |it| it.time.mean;
            /// Median time of a launch.
            median_ms: f64, "ms", [Timed, 6, Positive] = |it| it.time.median;
            /// Shortest time of a launch.
            min_ms: f64, "ms", [Timed, 6, Positive] = |it| it.time.min;
            /// Population standard deviation of the samples, as a percentage of the mean.
            rms_percent: f64, "%", [Timed, 3, NotNegative] = |it| it.time.rms_percent;
            /// The lowest roof at the point's intensity: `memory`, `fma`, `add+mul`, `integer`, `special` or `tensor`.
            limiting_roof: Option<Limit>, "", [Timed, 0, Any] = |it| it.limiting_roof();
            /// The intensity at which memory and this arithmetic take the same time: arithmetic roof / memory roof, both
            /// measured where they are known.
            ridge_point: Option<f64>, "FLOP/byte", [Timed, 3, Any] =
                |it| it.arithmetic.map(|(_, rate)| (rate / it.reached.memory).0);
            /// The most that the roofs allow at the point's intensity: min(`ai` x memory roof, arithmetic roof), after Williams,
            /// Waterman, Patterson, CACM 52(4), 2009.
            roof_gflops: Option<f64>, "1e9 FLOP/s", [Timed, 2, Any] = |it| it.roof.map(|it| it.value.giga());
            /// `gflops` as a percentage of `roof_gflops`; without operations, `bandwidth` as a percentage of the memory roof.
            percent_roof: Option<f64>, "%", [Timed, 2, Any] = |it| it.percent_roof();
            /// `roof_gflops` with the device's measured ceilings: memory copied, or the L2 cache read where `working_set` is
            /// `L2`; of tensor cores the rate of random numbers.
            measured_roof_gflops: Option<f64>, "1e9 FLOP/s", [Timed, 2, Any] =
                |it| it.measured_roof.map(|it| it.value.giga());
            /// As `percent_roof`, of the measured roof.
            percent_measured_roof: Option<f64>, "%", [Timed, 2, Any] = |it| it.percent_measured_roof();
            /// `gflops` / (FMA roof x `clock_mhz` / highest clock); empty for tensor cores, whose rate the data sheet gives for
            /// a lower clock.
            percent_peak_at_clock: Option<f64>, "%", [Outcome, 2, Any] = |it| it.percent_peak_at_clock();
            /// `bandwidth` or `compute` if the bytes or the operations would take at least 75 % of the time at their roof,
            /// whichever takes longer; otherwise `latency`; empty where the roof of the arithmetic is not known, as for the
            /// tensor cores of most GPUs.
            bound: Option<Bound>, "", [Timed, 0, Any] = |it| it.bound;
            /// `L2` if x and y together fit in that cache and launches are warm, else `memory`.
            working_set: &'static str, "", [Outcome, 0, Any] = |it| if it.in_l2 { "L2" } else { "memory" };
            /// The caches when a launch begins: `warm` or `cold`.
            cache: &'static str, "", [Launch, 0, Any] = |it| it.launched.cache.name();
            /// Number of samples.
            samples: usize, "", [Timed, 0, NotNegative] = |it| it.samples.timed().len();
            /// Launches of a sample.
            batch: u32, "", [Timed, 0, Any] = |it| it.samples.batch;
            /// Samples beyond Tukey's outer fences and more than 1 % from the median. They are in the mean.
            outliers: usize, "", [Timed, 0, Any] = |it| outliers(&it.samples.timed());
            /// The clock from the device's counters, the median of the samples.
            clock_mhz: Option<f64>, "MHz", [Outcome, 0, Any] = |it| it.clock_hz.map(|hz| hz / 1e6);
            /// The clock that NVIDIA's management library said.
            nvml_clock_mhz: Option<u32>, "MHz", [Outcome, 0, Any] = |it| it.samples.conditions.clock_mhz;
            /// Power draw, by the management library.
            power_watts: Option<f64>, "W", [Outcome, 0, Any] = |it| it.samples.conditions.power_watts;
            /// Temperature of the chip, by the management library.
            temperature: Option<u32>, "°C", [Outcome, 0, Any] = |it| it.samples.conditions.temperature;
            /// With `--aa`: how much the medians of two measurements of the point in this run differ.
            noise_floor_percent: Option<f64>, "%", [Timed, 3, NotNegative] =
                |it| it.again.and_then(|again| difference(&it.time, again));
            /// Bytes that the GPU's memory gave and took in a launch, by its counters.
            dram_bytes: Option<f64>, "bytes", [Outcome, 0, NotNegative] = |it| it.counters().map(|it| it.dram_bytes);
            /// 32 bytes for each sector that multiprocessors read from the L2 cache or wrote to it, hits and misses alike, by
            /// the GPU's counters.
            l2_bytes: Option<f64>, "bytes", [Outcome, 0, Any] = |it| it.counters().map(|it| it.l2_bytes);
            /// Operations on floating point of a launch, by the GPU's counters.
            measured_flop: Option<f64>, "FLOP", [Outcome, 0, NotNegative] = |it| it.measured_flop;
            /// `measured_flop` / `dram_bytes`.
            measured_ai: Option<f64>, "FLOP/byte", [Outcome, 6, Any] = |it| it.measured_ai();
            /// Multiply-adds of f32 by the GPU's counters, one per thread that executed it. Tensor cores and approximations are
            /// not included, here and in the next eight columns.
            measured_fma_f32: Option<f64>, "instructions", [Outcome, 0, Any] = |it| it.instructions("measured_fma_f32");
            /// Additions of f32.
            measured_add_f32: Option<f64>, "instructions", [Outcome, 0, Any] = |it| it.instructions("measured_add_f32");
            /// Multiplications of f32.
            measured_multiply_f32: Option<f64>, "instructions", [Outcome, 0, Any] =
                |it| it.instructions("measured_multiply_f32");
            /// Multiply-adds of f64.
            measured_fma_f64: Option<f64>, "instructions", [Outcome, 0, Any] = |it| it.instructions("measured_fma_f64");
            /// Additions of f64.
            measured_add_f64: Option<f64>, "instructions", [Outcome, 0, Any] = |it| it.instructions("measured_add_f64");
            /// Multiplications of f64.
            measured_multiply_f64: Option<f64>, "instructions", [Outcome, 0, Any] =
                |it| it.instructions("measured_multiply_f64");
            /// Multiply-adds of pairs of f16: one of them processes two numbers.
            measured_fma_f16x2: Option<f64>, "instructions", [Outcome, 0, Any] =
                |it| it.instructions("measured_fma_f16x2");
            /// Additions of pairs of f16.
            measured_add_f16x2: Option<f64>, "instructions", [Outcome, 0, Any] =
                |it| it.instructions("measured_add_f16x2");
            /// Multiplications of pairs of f16.
            measured_multiply_f16x2: Option<f64>, "instructions", [Outcome, 0, Any] =
                |it| it.instructions("measured_multiply_f16x2");
            /// Operations on floating point that the [emulator counts](profiling-a-kernel.md) in a launch.
            counted_flop: Option<u64>, "FLOP", [Outcome, 0, NotNegative] = |it| it.counted().map(|it| it.flop);
            /// Bytes of the distinct sectors of 32 bytes that the emulator has seen read and written.
            counted_bytes: Option<u64>, "bytes", [Outcome, 0, NotNegative] = |it| it.counted().map(|it| it.bytes);
            /// `counted_flop` / `counted_bytes`.
            counted_ai: Option<f64>, "FLOP/byte", [Outcome, 6, Any] = |it| it.counted().and_then(Sum::intensity);
            /// `counted`: the launch itself was; `scaled`: [smaller ones
            /// were](adding-a-workload.md#what-it-moves-and-computes), as on a GPU.
            counted_from: Option<Origin>, "", [Outcome, 0, Any] = |it| it.counted().map(|it| it.origin);
            /// Instructions of warps that the emulator has counted in this launch. This and the next two are what `compare` judges
            /// emulated launches by.
            counted_instructions: Option<u64>, "instructions", [Outcome, 0, NotNegative] = |it| it.exact().map(|it| it.warps);
            /// Sectors of 32 bytes that its accesses to global memory took.
            counted_sectors: Option<u64>, "sectors", [Outcome, 0, NotNegative] = |it| it.exact().map(|it| it.sectors);
            /// Passes through the banks of shared memory that conflicts cost.
            counted_conflicts: Option<u64>, "wavefronts", [Outcome, 0, NotNegative] = |it| it.exact().map(|it| it.conflicts);
            /// Why the columns before it are empty, if the emulator could not count.
            not_counted: Option<String>, "", [Outcome, 0, Any] = |it| it.context.figures.reason();
            /// `dram_bytes` over `counted_bytes`, the least that memory must move; below 1 if a cache held some of them.
            dram_over_least: Option<f64>, "", [Outcome, 3, Any] = |it| it.dram_over_least();
            /// Where the operations come from that the rates are of: the workload's `formula`, `counted` or `scaled`.
            flop_from: Option<Origin>, "", [Outcome, 0, Any] =
                |it| it.rate.and_then(|_| it.context.figures.origin(it.context.figures.says_flop));
            /// Where the bytes come from.
            bytes_from: Option<Origin>, "", [Outcome, 0, Any] =
                |it| it.moved.and_then(|_| it.context.figures.origin(it.context.figures.says_bytes));
            /// The types whose matrices the kernel's tensor cores multiply: of `f16`, `bf16`, `tf32`, `f64`, `f8` (`e4m3` or
            /// `e5m2`) and `i8`.
            tensor_types: Vec<TensorType>, "", [Outcome, 0, Any] = |it| it.launched.work.tensor_types();
            /// [Reasons to distrust the row](#flags).
            flags: Vec<String>, "", [Timed, 0, Any] = |it| it.flags();
            /// One sentence: what to try; on the emulator, that the times are the host's.
            advice: &'static str, "", [Timed, 0, Any] = |it| it.advice();
            /// On the emulator: the GPU of `--roofs`. This and the next four are computed; nothing was measured on that GPU.
            predicted_gpu: Option<String>, "", [Outcome, 0, Any] = |it| it.predicted_gpu();
            /// The lowest of its roofs over the launch.
            predicted_limit: Option<Limit>, "", [Outcome, 0, Any] =
                |it| it.predicted_time.as_ref().map(|it| it.limit);
            /// The most that its roofs allow at the counted intensity, without counts at `ai`.
            predicted_gflops: Option<f64>, "1e9 FLOP/s", [Outcome, 2, Positive] =
                |it| it.predicted.map(|it| it.rate.giga());
            /// The most bytes that its roofs allow such launches to move.
            predicted_bandwidth: Option<f64>, "1e9 bytes/s", [Outcome, 2, Positive] =
                |it| it.predicted_time.as_ref().map(|it| it.bandwidth.giga());
            /// The least time of the launch that its roofs allow.
            predicted_ms: Option<f64>, "ms", [Outcome, 9, Positive] =
                |it| it.predicted_time.as_ref().map(|it| 1e3 * it.seconds);
            /// The time that [the model](prediction.md) predicts for the launch, on the emulator on the GPU of `--roofs`, on a GPU on itself. This and the next seven are empty where `not_modelled` says why.
            model_ms: Option<f64>, "ms", [Outcome, 9, Positive] = |it| it.of_model().map(|it| 1e3 * it.seconds);
            /// The shortest time of the interval that holds the measured one in 90 % of the cases.
            model_low_ms: Option<f64>, "ms", [Outcome, 9, Positive] = |it| it.of_model().map(|it| 1e3 * it.low);
            /// The longest time of this interval.
            model_high_ms: Option<f64>, "ms", [Outcome, 9, Positive] = |it| it.of_model().map(|it| 1e3 * it.high);
            /// Operations of this launch over `model_ms`.
            model_gflops: Option<f64>, "1e9 FLOP/s", [Outcome, 2, NotNegative] =
                |it| it.modelled_rate(it.launched.work.flops());
            /// Bytes of this launch over `model_ms`.
            model_bandwidth: Option<f64>, "1e9 bytes/s", [Outcome, 2, NotNegative] =
                |it| it.modelled_rate(it.launched.work.bytes());
            /// Blocks of the launch that is predicted: `grid`, or `--times` as many.
            model_blocks: Option<u64>, "blocks", [Outcome, 0, Any] = |it| it.modelled().map(|it| it.blocks);
            /// The part of the GPU that is busy all the time then, such as `memory` or `issue`; `latency` where warps wait and none is.
            model_limit: Option<String>, "", [Outcome, 0, Any] = |it| it.of_model().map(|it| it.limit.clone());
            /// Why the columns before it are empty: [what is not modelled](prediction.md#where-studies-show-it).
            not_modelled: Option<String>, "", [Outcome, 0, Any] =
                |it| it.context.modelled.as_ref().and_then(|it| it.as_ref().err().cloned());
            /// The intensity by the workload's formula; empty where it leaves out bytes or operations.
            formula_ai: Option<f64>, "FLOP/byte", [Outcome, 6, Positive] = |it| it.formula_ai();
            /// Bytes of the distinct sectors that each block reads and writes: what the L2 cache gives and takes at least; of
            /// launches that the emulator counted themselves.
            counted_l2_bytes: Option<u64>, "bytes", [Outcome, 0, NotNegative] =
                |it| it.counted().and_then(|it| Some(it.caches?.l2));
            /// Bytes of all sectors that warps ask for, which go through the L1 caches; of the same launches.
            counted_l1_bytes: Option<u64>, "bytes", [Outcome, 0, NotNegative] =
                |it| it.counted().and_then(|it| Some(it.caches?.l1));
            /// Active warps as a percentage of the most there can be, by the limits of the GPU that ran it, or of the one that
            /// is predicted.
            occupancy_percent: Option<f64>, "%", [Outcome, 2, Any] = |it| it.occupancy.as_ref().map(|it| it.percent);
            /// The resources that allow no more blocks on a multiprocessor: of `warps`, `blocks`, `registers` and
            /// `shared_memory`.
            limited_by: Vec<String>, "", [Outcome, 0, Any] =
                |it| it.occupancy.as_ref().map_or_else(Vec::new, |it| it.limited_by.clone());
            /// The GPU's number on its host; empty on the emulator.
            gpu: Option<u32>, "", [Outcome, 0, Any] = |it| it.context.properties.gpu.as_ref().map(|gpu| gpu.ordinal);
            /// The device that ran it.
            device: String, "", [Outcome, 0, Any] = |it| it.context.properties.name.clone();
            /// Whether the output was compared with a reference; a row that differs from it is not written.
            checked: bool, "", [Outcome, 0, Any] = |it| it.context.is_checked;
            /// The version of the files' format: 1 is that of files without this column.
            format: u32, "", [Outcome, 0, Any] = |_it| crate::table::FORMAT;
            /// The time of a launch, for each sample, in order.
            samples_ms: Vec<f64>, "ms", [Timed, 6, Times] = |it| it.samples.timed();
            /// How many of them each round took, in order. A GPU takes up to 4 rounds, with other launches between them and with
            /// arrays of its own in each.
            round_samples: Vec<u32>, "", [Timed, 0, Times] = |it| it.samples.timed_of_rounds();
            /// The clock of each sample.
            samples_clock_hz: Vec<Option<f64>>, "Hz", [Json, 0, Any] = |it| it.samples.clocks_of_timed();
        }
    };
}

pub(crate) use roofline_columns;
