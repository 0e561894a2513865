//! Leaves out of the library what only a debugger reads, and keeps it in the process to the end.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,--strip-debug");
    // Functions of the program lead here: it is never unloaded.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Its constructor runs before those of the program's libraries, which hand over kernels.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,initfirst");
}
