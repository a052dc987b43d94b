//! Finds and reads the files of a set.

use std::path::{Path, PathBuf};

use super::set::DataSet;
use super::{api_bank, known, records, tools};
use crate::files::toml_file::Problem;
use crate::papers::cotools::QueryTemplate;

const TRAIN: [&str; 2] = ["train.jsonl", "train.jsonl.gz"];
const DEV: [&str; 2] = ["dev.jsonl", "dev.jsonl.gz"];
const TEST: [&str; 2] = ["test.jsonl", "test.jsonl.gz"];

/// The declarations of API-Bank's tools.
const API_BANK: &str = "derived_tools.json";

/// Reads a folder with `tool.json` and records for training, for choosing (dev) or for measuring (test), plain or
/// packed; or a folder of API-Bank.
///
/// # Errors
/// The first fault, with file, line and field.
pub fn load(folder: &Path) -> Result<DataSet, Problem> {
    if folder.join(API_BANK).is_file() {
        return api_bank::load(folder);
    }
    let there = |names: [&str; 2]| -> Option<PathBuf> {
        names.into_iter().map(|name| folder.join(name)).find(|path| path.is_file())
    };
    let path = folder.join("tool.json");
    if !path.is_file() {
        let text = "no tool.json in it; expected a folder with tool.json and train.jsonl, dev.jsonl or test.jsonl, also \
                    as .gz, or one of API-Bank with derived_tools.json";
        return Err(Problem::of_file(folder.display().to_string(), text));
    }
    let tools = tools::read(&path)?;
    let read = |path: Option<PathBuf>| match path {
        Some(path) => records::read(&path, &tools),
        None => Ok(Default::default()),
    };
    let (train, of_train) = read(there(TRAIN))?;
    let (dev, of_dev) = read(there(DEV))?;
    let (test, of_test) = read(there(TEST))?;
    if train.is_empty() && dev.is_empty() && test.is_empty() {
        let text = "no records; expected train.jsonl, dev.jsonl or test.jsonl beside tool.json";
        return Err(Problem::of_file(folder.display().to_string(), text));
    }
    let own = [of_dev, of_train, of_test].into_iter().find(|name| !name.is_empty());
    let own = own.unwrap_or_default();
    let (name, licence, template) = match known::known(&own) {
        Some(known) => (known.name.to_owned(), known.licence.to_owned(), known.template),
        None => {
            let of_folder =
                || folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name = if own.is_empty() { of_folder() } else { own };
            (name, "licence not stated".to_owned(), QueryTemplate::Knowledge)
        }
    };
    Ok(DataSet { name, licence, template, tools, train, dev, test })
}

/// The set with the records of another file in place of its dev records.
///
/// # Errors
/// The first fault, with file, line and field.
pub fn with_dev(set: DataSet, file: &Path) -> Result<DataSet, Problem> {
    let (dev, _) = records::read(file, &set.tools)?;
    Ok(DataSet { dev, ..set })
}
