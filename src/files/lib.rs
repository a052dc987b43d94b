//! Files written by people, parsed so that every mistake is reported with file, line, field and
//! what was expected; files replaced as a whole; and work on many files at once.

use toolyard_domain as domain;

pub mod json_file;
pub mod parallel;
pub mod private;
pub mod safe_json;
pub mod safe_text;
pub mod sha256;
pub mod text_file;
pub mod toml_file;
pub mod whole_file;
