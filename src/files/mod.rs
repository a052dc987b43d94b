//! Files that people write, read so that every mistake is named with file, line, field and what was
//! expected.

pub mod json_file;
pub mod text_file;
pub mod toml_file;
