//! The product under Ridgepoint's commands.
//!
//! ```sh
//! cargo bench --package ridgepoint-gemm -- roofline --plot gemm.svg
//! ```

mod product;

ridgepoint::main!(gemm::ptx(); product::Gemm);
