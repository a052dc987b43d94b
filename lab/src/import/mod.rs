//! `toolyard-lab import`: data sets as workspaces and tasks.

mod api_bank;
mod qa;
mod schema;

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub use self::api_bank::{ImportSummary, import_api_bank};
pub use self::qa::{ColumnNames, QuestionSet, import_questions};
use crate::app::shell::{out, trouble::Trouble};
use crate::ui::text::clean;

#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// API-Bank: dialogues become tools with recorded answers, tasks and a learned graph.
    ApiBank {
        dir: PathBuf,
        #[arg(long, value_name = "WORKSPACE")]
        out: PathBuf,
        /// Replace the contents of an existing workspace.
        #[arg(long)]
        force: bool,
    },
    /// A set of questions and answers (.csv, .tsv, .jsonl or .json) becomes a file of tasks.
    ///
    /// Columns are found by the names that published sets use, such as question, input, answer,
    /// target, id and choices. Beside the tasks, a file NAME.source.toml says where they are from.
    Qa(QaArgs),
}

#[derive(Debug, Args)]
pub struct QaArgs {
    pub file: PathBuf,
    /// Write the tasks to this file, such as mine/tasks.jsonl.
    #[arg(long, value_name = "TASKS.jsonl")]
    pub out: PathBuf,
    /// Column of questions. A name with dots goes into objects: question.text.
    #[arg(long, value_name = "COLUMN")]
    pub question: Option<String>,
    /// Column of right answers: a text, or a list of several; "" if there is none.
    #[arg(long, value_name = "COLUMN")]
    pub answer: Option<String>,
    /// Column of ids, which become names of tasks; "" if there is none.
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,
    /// Column of choices, which are added to the question; "" to leave them out.
    #[arg(long, value_name = "COLUMN")]
    pub choices: Option<String>,
    /// Where the set is from, to be noted beside the tasks.
    #[arg(long, value_name = "TEXT")]
    pub source: Option<String>,
    /// The set's licence, to be noted beside the tasks.
    #[arg(long, value_name = "TEXT")]
    pub licence: Option<String>,
    /// Replace a file that no import wrote.
    #[arg(long)]
    pub force: bool,
}

/// Runs `toolyard-lab import`.
///
/// # Errors
/// The files have mistakes, or something could not be written.
pub fn import(command: &ImportCommand) -> Result<(), Trouble> {
    match command {
        ImportCommand::ApiBank { dir, out, force } => {
            let imported = import_api_bank(dir, out, *force).map_err(Trouble::usage)?;
            let workspace = out.display();
            out::print_line(format!("{imported}\nrun it: toolyard --workspace {workspace}"))
        }
        ImportCommand::Qa(args) => questions(args),
    }
}

fn questions(args: &QaArgs) -> Result<(), Trouble> {
    let QaArgs { file, out: to, question, answer, id, choices, source, licence, force } = args;
    let chosen = ColumnNames {
        question: question.clone(),
        answer: answer.clone(),
        id: id.clone(),
        choices: choices.clone(),
    };
    let (source, licence) = (source.clone(), licence.clone());
    let set = QuestionSet { file: file.clone(), chosen, source, licence };
    let imported = import_questions(&set, to, *force).map_err(Trouble::usage)?;
    for remark in &imported.remarks {
        out::warn(remark);
    }
    let said = format!("{imported}\nwritten to {}", to.display());
    let said: Vec<_> = said.lines().map(clean).collect();
    out::print_line(said.join("\n"))
}
