//! Attention under Ridgepoint's commands.
//!
//! ```sh
//! cargo bench --package attention -- roofline --plot attention.svg
//! ```

mod scaled;

ridgepoint::main!(attention::ptx(); scaled::ScaledAttention);
