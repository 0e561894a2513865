//! Ranks that are threads of one process.

use std::sync::Arc;

use super::hub::{Hub, Output};
use super::mailbox::Mailbox;
use super::{Control, Way};
use crate::limits::Limits;

/// The connections of so many ranks of this process, and their hub.
pub(crate) fn connected(size: usize, limits: Limits) -> (Vec<Control>, Arc<Hub>) {
    let hub = Arc::new(Hub::new(size));
    let member = |rank| at_hub(rank, size, limits, &hub);
    ((0..size).map(member).collect(), hub)
}

/// The connection of a rank that is where the hub is.
pub(super) fn at_hub(rank: usize, size: usize, limits: Limits, hub: &Arc<Hub>) -> Control {
    let mailbox = Arc::new(Mailbox::default());
    hub.connect(rank, Output::Mailbox(Arc::clone(&mailbox)));
    Control::new(rank, size, limits, mailbox, Way::Hub(Arc::clone(hub)))
}
