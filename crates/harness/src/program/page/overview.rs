//! The time at a glance: how much of each moment the host waited, and each part of the devices worked.

use recording::Memory;

use super::super::function::Purpose;
use super::super::model::{Process, Program, Work};
use crate::html::escaped;
use crate::table::time_text;

/// Moments that are drawn.
const MOMENTS: usize = 600;
/// Pixels of a row, and between rows.
const ROW: usize = 28;
const GAP: usize = 6;

/// A row: its name, and the share of each moment.
struct Lane {
    name: &'static str,
    shares: Vec<f64>,
}

/// A drawing for each process.
pub(super) fn overview(program: &Program) -> String {
    let drawings = program.processes.iter().map(|it| of_process(program, it));
    format!("<h2>Overview</h2>\n{}", drawings.collect::<String>())
}

fn of_process(program: &Program, process: &Process) -> String {
    let moment = (program.took() as f64 / MOMENTS as f64).max(1.0);
    let since = |time: u64| time.saturating_sub(program.start) as f64 / moment;
    let lane = |name, spans: &mut dyn Iterator<Item = (u64, u64)>| {
        let mut shares = vec![0.0; MOMENTS];
        for (start, end) in spans {
            spread(&mut shares, (since(start), since(end)));
        }
        Lane { name, shares }
    };
    let calls = |is_wait: bool| {
        let calls = process.calls.iter();
        let calls = calls.filter(move |it| {
            (it.purpose == Purpose::Wait || it.purpose == Purpose::Copy) == is_wait
        });
        calls.map(|it| (it.start, it.end))
    };
    let works = |is_it: fn(&Work) -> bool| {
        let works = process.activities.iter().filter(move |it| is_it(&it.work));
        works.map(|it| (it.start, it.end))
    };
    let lanes = [
        lane("host: waits and copies", &mut calls(true)),
        lane("host: other calls", &mut calls(false)),
        lane(
            "kernels",
            &mut works(|it| matches!(it, Work::Kernel { .. })),
        ),
        lane(
            "copies to the device",
            &mut works(|it| direction(it) == Some(Direction::ToDevice)),
        ),
        lane(
            "copies to the host",
            &mut works(|it| direction(it) == Some(Direction::ToHost)),
        ),
    ];
    let height = lanes.len() * (ROW + GAP);
    let rows = lanes
        .iter()
        .enumerate()
        .map(|(index, lane)| drawn(lane, index * (ROW + GAP)));
    let names = lanes.iter().map(|it| {
        format!(
            "<div style=\"height:{ROW}px;margin-bottom:{GAP}px;line-height:{ROW}px\">{}</div>",
            it.name
        )
    });
    format!(
        "<h3>{}</h3>\n<div style=\"display:flex;gap:12px\"><div class=\"faint\" style=\"font-size:13px;white-space:nowrap\">{}</div>\
         <svg viewBox=\"0 0 {MOMENTS} {height}\" preserveAspectRatio=\"none\" style=\"flex:1;min-width:0;height:{height}px\" \
         role=\"img\" aria-label=\"timeline\">{}</svg></div>\n<p class=\"faint\">from 0 to {}</p>\n",
        escaped(&format!("{} ({})", process.command.join(" "), process.id)),
        names.collect::<String>(),
        rows.collect::<String>(),
        time_text(program.took() as f64)
    )
}

#[derive(PartialEq, Eq)]
enum Direction {
    ToDevice,
    ToHost,
}

fn direction(work: &Work) -> Option<Direction> {
    let is_host = |it: &Memory| matches!(it, Memory::Pageable | Memory::Pinned);
    match work {
        Work::Copy { from, .. } if is_host(from) => Some(Direction::ToDevice),
        Work::Copy { to, .. } if is_host(to) => Some(Direction::ToHost),
        _ => None,
    }
}

/// Adds a span, in moments, to the shares of those that it covers.
fn spread(shares: &mut [f64], (start, end): (f64, f64)) {
    let last = shares.len().saturating_sub(1);
    for (moment, share) in shares
        .iter_mut()
        .enumerate()
        .take((end as usize).min(last) + 1)
        .skip(start as usize)
    {
        let from = start.max(moment as f64);
        let until = end.min(moment as f64 + 1.0);
        *share = (*share + (until - from).max(0.0)).min(1.0);
    }
}

fn drawn(lane: &Lane, top: usize) -> String {
    let bottom = top + ROW;
    let points = lane.shares.iter().enumerate().map(|(moment, share)| {
        let y = bottom as f64 - share * ROW as f64;
        format!("H{moment}V{y:.1}")
    });
    format!(
        "<rect x=\"0\" y=\"{top}\" width=\"{MOMENTS}\" height=\"{ROW}\" fill=\"var(--panel)\"/>\
         <path d=\"M0 {bottom}{}H{MOMENTS}V{bottom}Z\" fill=\"rgb(var(--heat))\"/>",
        points.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_covers_parts_of_moments() {
        let mut shares = vec![0.0; 4];
        spread(&mut shares, (0.5, 2.25));
        assert_eq!(shares, [0.5, 1.0, 0.25, 0.0]);
    }
}
