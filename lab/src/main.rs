//! The program `toolyard-lab`; everything is in the library.

use std::process::ExitCode;

/// The same allocator as in the program `toolyard`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    toolyard_lab::main()
}
