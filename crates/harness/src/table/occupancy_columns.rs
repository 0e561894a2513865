//! The columns of an occupancy study: a row each.

/// Hands the columns of an occupancy study to the macro of this name, in the order of files. The rows are as those of
/// `roofline_columns`.
macro_rules! occupancy_columns {
    ($with:ident) => {
        $with! {
            /// The workload's name.
            kernel: String, "", [Launch, 0, Any] = |it| it.launched.point.workload.clone();
            /// The values of the study's axes.
            axes: AxisValues, "", [Several, 0, Any] = |it| it.launched.axes();
            /// Threads per block.
            block: u64, "threads", [Launch, 0, Any] = |it| it.launched.case.config.block_threads();
            /// Dynamic shared memory per block.
            dynamic_shared: u32, "bytes", [Launch, 0, Any] = |it| it.launched.case.config.dynamic_shared;
            /// Registers per thread of the compiled kernel, on the emulator by `ptxas`; empty where neither is known.
            registers: Option<u32>, "", [Outcome, 0, Any] = |it| it.launched.registers;
            /// Blocks that a multiprocessor holds at once, by our model.
            resident_blocks: u32, "blocks", [Outcome, 0, Any] = |it| it.launched.model.blocks;
            /// The same by the driver; empty on the emulator.
            driver_blocks: Option<u32>, "blocks", [Outcome, 0, Any] = |it| it.launched.driver_blocks;
            /// Active warps as a percentage of the most there can be.
            occupancy_percent: f64, "%", [Outcome, 2, Any] = |it| 100.0 * it.launched.model.fraction();
            /// The resources that allow no more blocks: of `warps`, `blocks`, `registers` and `shared_memory`.
            limited_by: Vec<&'static str>, "", [Outcome, 0, Any] =
                |it| it.launched.model.limited_by.iter().map(|it| it.name()).collect();
            /// Blocks in the grid.
            grid: u64, "blocks", [Launch, 0, Any] = |it| it.launched.case.config.grid.iter().product();
            /// Blocks over those that all multiprocessors hold at once.
            waves: f64, "", [Outcome, 3, Any] = |it| it.waves.0;
            /// Places that the last, partial wave leaves idle, as a percentage of all waves' places.
            tail_percent: f64, "%", [Outcome, 2, Any] = |it| it.waves.1;
            /// The rate of the median time, in `unit`.
            rate: f64, "", [Timed, 2, Any] = |it| it.rate();
            /// `GB/s` or `GFLOP/s`, whichever is nearer to its ceiling, on the emulator to that in the data sheet of the GPU
            /// that it stands for; without bytes and operations `launches/s`.
            unit: &'static str, "", [Outcome, 0, Any] = |it| it.measure.unit;
            /// `rate` as a percentage of the measured ceiling.
            percent_ceiling: Option<f64>, "%", [Timed, 2, Any] = |it| it.percent_ceiling;
            /// The amount that Little's law asks to be in flight on a multiprocessor, where the workload says what a thread has in flight.
            in_flight_needed: Option<f64>, "`in_flight_unit`", [Timed, 0, Any] = |it| it.in_flight.map(|it| it.needed);
            /// The amount that the resident threads have in flight.
            in_flight_provided: Option<f64>, "`in_flight_unit`", [Outcome, 0, Any] = |it| it.in_flight.map(|it| it.provided);
            /// The unit of the two columns before it: `bytes` or `operations`.
            in_flight_unit: Option<&'static str>, "", [Outcome, 0, Any] = |it| it.in_flight.map(|it| it.unit);
            /// Mean time of a launch.
            mean_ms: f64, "ms", [Timed, 6, Positive] = |it| it.time.mean;
            /// Median time of a launch.
            median_ms: f64, "ms", [Timed, 6, Positive] = |it| it.time.median;
            /// Population standard deviation of the samples, as a percentage of the mean.
            rms_percent: f64, "%", [Timed, 3, NotNegative] = |it| it.time.rms_percent;
            /// The device that ran it.
            device: String, "", [Outcome, 0, Any] = |it| it.properties.name.clone();
            /// Whether the output was compared with a reference; a row that differs from it is not written.
            checked: bool, "", [Outcome, 0, Any] = |it| it.launched.is_checked;
            /// The limit that `--max-registers` set, if any.
            max_registers: Option<u32>, "", [Launch, 0, Any] = |it| it.launched.max_registers;
            /// Local memory per thread of the compiled kernel: what its registers do not hold.
            local_bytes: Option<u32>, "bytes", [Outcome, 0, Any] = |it| it.launched.local_bytes;
            /// `noisy`, `untimed` and `implausible`, [as of a roofline's](#flags).
            flags: Vec<&'static str>, "", [Timed, 0, Any] = |it| flags(it.time.rms_percent, it.percent_ceiling);
            /// The version of the files' format: 1 is that of files without this column.
            format: u32, "", [Outcome, 0, Any] = |_it| crate::table::FORMAT;
            /// On the emulator: the GPU that it stands for. This and the next three are computed; nothing was measured on that
            /// GPU.
            predicted_gpu: Option<String>, "", [Outcome, 0, Any] =
                |it| it.predicted_gpu();
            /// The lowest of its roofs over the launch.
            predicted_limit: Option<Limit>, "", [Outcome, 0, Any] = |it| it.predicted.as_ref().map(|it| it.limit);
            /// The most that its roofs allow, in `unit`.
            predicted_rate: Option<f64>, "", [Outcome, 2, Positive] =
                |it| it.predicted.as_ref().map(|it| it.rate);
            /// The least time of the launch that they allow.
            predicted_ms: Option<f64>, "ms", [Outcome, 9, Positive] =
                |it| it.predicted.as_ref().map(|it| 1e3 * it.seconds);
            /// The time that [the model](prediction.md) predicts for the launch, on the emulator on the one that it stands for, on a GPU on itself. This and the next six are empty where `not_modelled` says why.
            model_ms: Option<f64>, "ms", [Outcome, 9, Positive] = |it| it.of_model().map(|it| 1e3 * it.seconds);
            /// The shortest time of the interval that holds the measured one in 90 % of the cases.
            model_low_ms: Option<f64>, "ms", [Outcome, 9, Positive] = |it| it.of_model().map(|it| 1e3 * it.low);
            /// The longest time of this interval.
            model_high_ms: Option<f64>, "ms", [Outcome, 9, Positive] = |it| it.of_model().map(|it| 1e3 * it.high);
            /// The rate of this time, in `unit`.
            model_rate: Option<f64>, "", [Outcome, 2, Positive] = |it| it.modelled_rate();
            /// Blocks of the launch that is predicted: `grid`, or `--times` as many.
            model_blocks: Option<u64>, "blocks", [Outcome, 0, Any] = |it| it.modelled().map(|it| it.blocks);
            /// The part of the GPU that is busy all the time then, such as `memory` or `issue`; `latency` where warps wait and none is.
            model_limit: Option<String>, "", [Outcome, 0, Any] = |it| it.of_model().map(|it| it.limit.clone());
            /// Why the columns before it are empty: [what is not modelled](prediction.md#where-studies-show-it).
            not_modelled: Option<String>, "", [Outcome, 0, Any] =
                |it| it.launched.modelled.as_ref().and_then(|it| it.as_ref().err().cloned());
            /// Little's law, for a multiprocessor, where the workload says what a thread has in flight.
            in_flight: Option<InFlight>, "", [Json, 0, Any] = |it| it.in_flight;
        }
    };
}

pub(crate) use occupancy_columns;
