//! Files written by people, parsed so that every mistake is reported with file, line, field and
//! what was expected; and files replaced as a whole.

pub mod json_file;
pub mod safe_json;
pub mod text_file;
pub mod toml_file;
pub mod whole_file;
