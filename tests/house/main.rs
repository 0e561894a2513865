//! The tree itself: its dependencies, its words and its examples.

mod architecture;
mod examples_of_items;
mod layers;
mod style;
#[path = "../support/mod.rs"]
mod support;
