//! The steps under Ridgepoint's commands.
//!
//! ```sh
//! cargo bench --package ladder -- roofline --plot ladder.svg
//! ```

mod step;

ridgepoint::main!(ladder::ptx(); step::Ladder);
