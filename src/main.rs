//! The program `toolyard`; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolyard::main()
}
