//! The program `toolyard-lab`; everything is in the library.

use std::process::ExitCode;

/// As in the program `toolyard`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    toolyard_lab::main()
}
