//! Question sets as their authors publish them: CSV, TSV, JSON lines and JSON become a file of tasks.
//!
//! Rows are read and written one by one, so a large file needs no more memory than a small one.

mod bounded;
mod columns;
mod golds;
mod json;
mod rows;
mod tables;
mod task;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{collections::HashSet, fmt};

use serde::Serialize;

pub use self::columns::ColumnNames;
use self::columns::Columns;
use crate::domain::Chance;
use crate::domain::words::counted;
use crate::files::toml_file::{Problem, Problems};
use crate::files::whole_file;
use crate::store::import::{ImportError, files};

/// The most problems that are reported at once.
const MOST_PROBLEMS: usize = 20;

/// A question set with the settings of its import.
#[derive(Clone, Debug, Default)]
pub struct QuestionSet {
    pub file: PathBuf,
    /// The columns that the user names; the others are guessed.
    pub chosen: ColumnNames,
    /// The source and the licence, for people.
    pub source: Option<String>,
    pub licence: Option<String>,
}

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Imported {
    pub tasks: usize,
    /// Tasks without a right answer, so that no answer can be checked.
    pub without_answer: usize,
    /// Tasks with several right answers.
    pub with_several: usize,
    pub columns: Columns,
    /// The lines of the first rows without an answer, with their file.
    pub remarks: Vec<String>,
}

impl fmt::Display for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tasks, without_answer, with_several, columns, .. } = self;
        write!(
            f,
            "{} ({columns}): {with_several} with several right answers, {without_answer} without one",
            counted(*tasks, "task"),
        )
    }
}

/// Writes the questions of a set as a file of tasks, and a file about their origin beside it. Another import of the
/// same set writes the same bytes.
///
/// # Errors
/// Problems of the set, each with its line, in which case nothing is written; or `out` exists and is not an earlier
/// import, and `force` is not given.
pub fn import_questions(
    set: &QuestionSet,
    out: &Path,
    force: bool,
) -> Result<Imported, ImportError> {
    let note = note_beside(out);
    if out.exists() && !note.exists() && !force {
        return Err(ImportError::Taken(out.to_owned()));
    }
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        files::make_folder(folder)?;
    }
    let imported =
        whole_file::write(out, |to| write_tasks(set, to)).map_err(|failed| match failed {
            Failed::Import(error) => error,
            Failed::Io(error) => {
                ImportError::Io { path: out.to_owned(), action: "cannot be written", source: error }
            }
        })?;
    files::write(&note, &note_of(set, &imported))?;
    Ok(imported)
}

/// A failure of reading or writing.
enum Failed {
    Import(ImportError),
    Io(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Failed::Io(error)
    }
}

fn write_tasks(set: &QuestionSet, to: &mut dyn Write) -> Result<Imported, Failed> {
    let file = set.file.display().to_string();
    let stem = set.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut imported = Imported {
        tasks: 0,
        without_answer: 0,
        with_several: 0,
        columns: Columns::default(),
        remarks: Vec::new(),
    };
    let mut columns: Option<Columns> = None;
    // Only a hash of each id is kept: 8 bytes per row.
    let (mut ids, mut problems) = (HashSet::new(), Vec::new());
    let mut failed = None;
    let read = rows::each(&set.file, &mut |row| {
        if columns.is_none() {
            columns = Some(Columns::of(&file, &row, &set.chosen)?);
        }
        let Some(columns) = &columns else { return Ok(()) };
        let mut task = match task::task(&file, &row, columns) {
            Ok(task) => task,
            Err(problem) => return keep(&mut problems, problem),
        };
        if task.name.is_empty() {
            task.name = format!("{stem}-{}", imported.tasks + 1);
        } else if !ids.insert(Chance::new(0).with(task.name.as_bytes()).bits()) {
            let text = format!(
                "{:?} is the id of an earlier row; name another column with --id, or none with --id \"\"",
                task.name
            );
            return keep(&mut problems, Problem::of_line(&file, row.line, columns.id(), text));
        }
        if task.gold.is_none() {
            imported.without_answer += 1;
            if imported.remarks.len() < MOST_PROBLEMS {
                imported.remarks.push(format!("{file}:{}: the answer is empty", row.line));
            }
        }
        imported.with_several += usize::from(!task.more_golds.is_empty());
        imported.tasks += 1;
        if problems.is_empty() {
            let line = serde_json::to_string(&task)
                .map_err(|error| Problem::of_line(&file, row.line, "", error.to_string()))?;
            if let Err(error) = writeln!(to, "{line}") {
                failed = Some(error);
                return Err(Problem::of_file(&file, "the tasks cannot be written").into());
            }
        }
        Ok(())
    });
    if let Some(error) = failed {
        return Err(Failed::Io(error));
    }
    if let Err(last) = read {
        problems.extend(last.0);
    }
    if imported.tasks == 0 && problems.is_empty() {
        problems.push(Problem::of_file(&file, "contains no row; expected a question in each"));
    }
    if !problems.is_empty() {
        return Err(Failed::Import(ImportError::Problems(Problems(problems))));
    }
    imported.columns = columns.unwrap_or_default();
    Ok(imported)
}

/// Notes a problem and continues, up to a number of them.
fn keep(problems: &mut Vec<Problem>, problem: Problem) -> Result<(), Problems> {
    if problems.len() + 1 >= MOST_PROBLEMS {
        return Err(problem.into());
    }
    problems.push(problem);
    Ok(())
}

/// The file about the origin of a file of tasks.
fn note_beside(out: &Path) -> PathBuf {
    out.with_extension("source.toml")
}

fn note_of(set: &QuestionSet, imported: &Imported) -> String {
    let text = |text: &str| toml::Value::String(text.to_owned());
    let unknown = "unknown; see the set's own documentation";
    let file = set.file.file_name().unwrap_or_default().to_string_lossy();
    format!(
        "# Where the tasks beside this file are from. Importing the set again replaces both files.\n\
         file = {}\nsource = {}\nlicence = {}\ntasks = {}\ncolumns = {}\n",
        text(&file),
        text(set.source.as_deref().unwrap_or(unknown)),
        text(set.licence.as_deref().unwrap_or(unknown)),
        imported.tasks,
        text(&imported.columns.to_string()),
    )
}
