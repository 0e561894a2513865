//! The CUDA runtime API over the driver API: what nvcc's `kernel<<<..>>>(..)` and `cudaMalloc` call.
//!
//! NVIDIA's runtime runs on no driver but NVIDIA's: it asks for undocumented tables. So a program that runs on the emulated driver
//! gets this one, which asks for documented functions alone. It is preloaded. A program that is
//! linked with `libcudart.so` finds these functions before NVIDIA's, as the linker does it for any that is preloaded; in a program
//! that has NVIDIA's runtime inside, as nvcc links it by default, a jump to each is put at the start of its namesake (`inside.rs`).
//!
//! A function is its definition, in a `runtime!` block of the file of its family; the rest of NVIDIA's are rows of `absent.rs`, which
//! answer `cudaErrorNotSupported`. As in the emulated driver, pointers of the caller are the types of `arguments.rs`, which refuse
//! null, and nothing unwinds into the caller (`api.rs`).

#[macro_use]
mod api;
#[macro_use]
mod driver;
mod absent;
mod arguments;
mod array;
mod copy;
mod device;
mod event;
mod fill;
mod function;
mod graph;
mod graph_node;
mod host_memory;
mod inside;
mod launch;
mod library;
mod memory;
mod occupancy;
mod pointer;
mod pool;
mod program;
mod properties;
mod status;
mod stream;
mod symbol;

/// The functions of every family, by name.
fn functions() -> impl Iterator<Item = api::Row> {
    [
        absent::ROWS,
        array::PLAIN_ROWS,
        array::ROWS,
        copy::ROWS,
        device::ROWS,
        event::ROWS,
        fill::ROWS,
        function::ROWS,
        graph::ROWS,
        graph_node::ROWS,
        host_memory::ROWS,
        launch::ROWS,
        library::ROWS,
        memory::ROWS,
        occupancy::ROWS,
        pointer::ROWS,
        pool::ROWS,
        program::ROWS,
        properties::ROWS,
        status::ROWS,
        stream::ROWS,
        symbol::ROWS,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// Runs before the program's own constructors, which hand over its kernels.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = {
    extern "C" fn at_start() {
        inside::replace();
    }
    at_start
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    #[test]
    fn each_function_has_one_row() {
        let names: Vec<&str> = super::functions().map(|row| row.name).collect();
        let different: HashSet<&str> = names.iter().copied().collect();
        assert_eq!(names.len(), different.len());
        assert!(names.len() > 400, "{}", names.len());
    }
}
