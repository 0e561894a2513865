//! The hollow marks: rows whose speed on a GPU is predicted.

use super::along;
use crate::model::GpuRoofs;
use crate::report::plot::{Mark, MarkKind};
use crate::report::predicted::Predicted;
use crate::sweep::Record;

/// `None` for a row of which nothing was predicted.
pub(super) fn predicted(record: &Record, gpu: &GpuRoofs) -> Option<Mark> {
    let ai = record.ai.or(record.predicted_ai)?;
    let (gflops, _) = record.predicted_speed()?;
    let most = record.predicted_gflops?;
    let time = Predicted::of_sweep(record);
    let resources = record.resources.as_ref();
    let resources = resources.map_or_else(String::new, |it| format!("\n{it}"));
    let said = time.map_or_else(String::new, said);
    let tip = format!(
        "{}{ai:.3} {operation}/byte\npredicted for {}: at most {most:.1} G{operation}/s,\nlimited by {}{said}{resources}",
        along(record),
        gpu.gpu.name,
        record.predicted_limit?.name(),
        operation = record.operation(),
    );
    Some(Mark {
        x: ai,
        y: gflops,
        kind: MarkKind::Predicted,
        noise: time.map(|it| it.rates(gflops)),
        tip,
        note: None,
        letters: None,
    })
}

/// Beside the mark of a row of a GPU, where its predicted time puts it.
pub(super) fn predicted_beside(record: &Record) -> Option<Mark> {
    let time = Predicted::of_sweep(record).filter(|_| !record.is_emulated)?;
    let (ai, gflops) = (record.ai?, record.model_gflops.filter(|it| *it > 0.0)?);
    Some(Mark {
        x: ai,
        y: gflops,
        kind: MarkKind::Predicted,
        noise: Some(time.rates(gflops)),
        tip: format!(
            "{}{gflops:.1} G{}/s{}",
            along(record),
            record.operation(),
            said(time)
        ),
        note: None,
        letters: None,
    })
}

/// A line on a predicted time for the tip of its mark.
fn said(time: Predicted<'_>) -> String {
    format!(
        "\npredicted time: {},\nlimited by {}",
        time.text(),
        time.limit
    )
}
