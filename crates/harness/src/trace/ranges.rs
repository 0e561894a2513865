//! The spans of `tracing` as ranges in time.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// Something that the host did.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// Its name.
    pub name: &'static str,
    /// More of it: the span's fields but its colour.
    pub fields: Vec<(&'static str, String)>,
    /// The thread that did it.
    pub thread: ThreadId,
    /// When it began.
    pub began: Instant,
    /// How long it took.
    pub took: Duration,
}

/// A layer that keeps every span.
#[derive(Clone, Default)]
pub(super) struct Ranges {
    ended: Arc<Mutex<Vec<Range>>>,
}

impl Ranges {
    /// All that have ended, by their beginnings.
    pub(super) fn take(&self) -> Vec<Range> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ranges = std::mem::take(&mut *ended);
        ranges.sort_by_key(|range| range.began);
        ranges
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Ranges {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert((Instant::now(), fields));
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else {
            return;
        };
        let Some((began, fields)) = span.extensions_mut().remove::<(Instant, Fields)>() else {
            return;
        };
        let range = Range {
            name: span.name(),
            fields: fields.0,
            thread: thread::current().id(),
            began,
            took: began.elapsed(),
        };
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.push(range);
    }
}

#[derive(Default)]
struct Fields(Vec<(&'static str, String)>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() != "color" {
            self.0.push((field.name(), format!("{value:?}")));
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() != "color" {
            self.0.push((field.name(), value.to_owned()));
        }
    }
}
