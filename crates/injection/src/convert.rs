//! CUPTI's records as those of a recording.

use std::ffi::CStr;

use cupti::{Memory, Span, Traced};
use recorder::Recorder;
use recording::{Activity, Allocation, Device, Kernel, Record, Work};

/// The record of what CUPTI tells; `None` where it could not take the times.
pub(crate) fn convert(recorder: &Recorder, traced: Traced<'_>) -> Option<Record> {
    let text = |name: &CStr| recorder.text(&name.to_string_lossy());
    let record = match traced {
        Traced::Device { id, name } => Record::Device(Device {
            id,
            name: name.to_string_lossy().into_owned(),
        }),
        Traced::Kernel {
            span,
            name,
            grid,
            block,
            registers,
            shared,
        } => {
            let name = text(name);
            activity(
                span,
                Work::Kernel(Kernel {
                    name,
                    grid,
                    block,
                    registers,
                    shared,
                }),
            )?
        }
        Traced::Copy {
            span,
            from,
            to,
            bytes,
            peer,
        } => {
            let (from, to) = (memory(from), memory(to));
            activity(
                span,
                Work::Copy {
                    from,
                    to,
                    bytes,
                    peer,
                },
            )?
        }
        Traced::Fill { span, bytes } => activity(span, Work::Fill { bytes })?,
        Traced::Memory {
            memory: of,
            is_release,
            is_pooled,
            address,
            bytes,
            device,
            correlation,
            time,
        } => Record::Allocation(Allocation {
            memory: memory(of),
            is_release,
            is_pooled,
            address,
            bytes,
            device,
            correlation,
            time,
        }),
    };
    Some(record)
}

fn activity(span: Span, work: Work) -> Option<Record> {
    if span.start == 0 || span.end < span.start {
        return None;
    }
    Some(Record::Activity(Activity {
        work,
        device: span.device,
        context: span.context,
        stream: span.stream,
        correlation: span.correlation,
        graph: span.graph,
        start: span.start,
        end: span.end,
    }))
}

fn memory(memory: Memory) -> recording::Memory {
    match memory {
        Memory::Pageable => recording::Memory::Pageable,
        Memory::Pinned => recording::Memory::Pinned,
        Memory::Device => recording::Memory::Device,
        Memory::Managed => recording::Memory::Managed,
        Memory::Array => recording::Memory::Array,
        Memory::Unknown => recording::Memory::Unknown,
    }
}
