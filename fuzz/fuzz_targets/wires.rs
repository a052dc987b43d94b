#![no_main]

#[path = "../readers.rs"]
#[expect(dead_code, reason = "each target runs one of the bodies")]
mod readers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| readers::wires(data));
