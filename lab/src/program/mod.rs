//! `toolyard-lab program`: checks and runs programs over tools without a model, in a session of the strategy `atc`.

pub mod args;
mod items;
mod print;

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;

use self::args::{CheckArgs, ProgramCommand, RunProgramArgs};
use self::items::{ProgramItem, items};
use self::print::Printer;
use crate::app::shell::{openapi, out, trouble::Trouble};
use crate::app::session::{JournalChoice, SessionHandle, SessionSpec, TaskSource};
use crate::app::stage;
use crate::domain::program::Function;
use crate::domain::{
    Base, Command, Event, Knob, Mode, ProgramEvent, Record, Reflect, SessionEvent, State, Strategy,
    Task, ToolSpec,
};
use crate::papers::atc::flaws::flaws_of;
use crate::papers::atc::identifiers::{self, Identifiers};
use crate::store::import::OpenApi;

/// The most stops that are printed. Stops do not count as a program's time, so an endless one would print for ever.
const STOPS: u32 = 10_000;

/// Checks or runs programs; false if one has a flaw, or failed.
///
/// # Errors
/// The programs or the tools cannot be read, or the output cannot be written.
pub fn program(command: &ProgramCommand) -> Result<bool, Trouble> {
    match command {
        ProgramCommand::Check(args) => check(args),
        ProgramCommand::Run(args) => run(args),
    }
}

/// The folder of the tools; a folder made from an OpenAPI file is deleted with the second value.
fn tools(args: &CheckArgs) -> Result<(Option<PathBuf>, Option<TempDir>), Trouble> {
    let Some(file) = &args.openapi else { return Ok((args.tools.clone(), None)) };
    let folder = tempfile::tempdir().map_err(Trouble::failed)?;
    let path = folder.path().join("api");
    let api = OpenApi::read(file).map_err(Trouble::usage)?;
    let imported =
        api.write(args.base.as_deref(), &path, false, &openapi::check).map_err(Trouble::usage)?;
    imported.remarks.iter().for_each(|remark| out::warn(remark));
    Ok((Some(path), Some(folder)))
}

/// The session with the tools, working on these tasks.
fn session(args: &CheckArgs, workspace: Option<PathBuf>, tasks: Vec<Task>) -> SessionSpec {
    let knobs = [
        (Knob::Programs, 1.0),
        (Knob::Reflect, Reflect::Off as usize as f64),
        (Knob::MenuMax, 10_000.0),
    ];
    SessionSpec {
        config: args.config.config.clone(),
        workspace,
        sample: args.sample.or(stage::sample_of(Strategy::default())),
        strategy: Some(Base::Atc.into()),
        tasks: TaskSource::List(tasks),
        journal: JournalChoice::None,
        knobs: knobs.into(),
        fresh: true,
        ..SessionSpec::default()
    }
}

fn check(args: &CheckArgs) -> Result<bool, Trouble> {
    let items = items(args)?;
    let (workspace, _folder) = tools(args)?;
    let spec = SessionSpec { paused: true, stay: true, ..session(args, workspace, Vec::new()) };
    let SessionHandle { mut records, commands, engine, .. } = spec.prepare()?.spawn()?;
    let mut state = State::default();
    while let Some(record) = records.blocking_recv() {
        state.apply(&record);
        if matches!(record.event, Event::Session(SessionEvent::ToolsAdded { .. })) {
            break;
        }
    }
    drop(commands);
    engine.join().map_err(Trouble::failed)?;
    let functions = functions(&state);
    let mut printer = Printer::new(args.json);
    for ProgramItem { id, program } in &items {
        let found = match program {
            Ok(program) => flaws_of(program, &functions),
            Err(why) => vec![why.clone()],
        };
        printer.checked(id.as_ref(), program.as_deref().unwrap_or_default(), &found)?;
    }
    Ok(printer.is_well())
}

fn functions(state: &State) -> Vec<Function> {
    let tools: Vec<_> = state.in_shown().offered_tools().collect();
    let names = Identifiers::of(tools.iter().map(|tool| &tool.spec.name));
    let function = |spec: &ToolSpec| Some(identifiers::function(names.name(&spec.name)?, spec));
    tools.iter().filter_map(|tool| function(&tool.spec)).collect()
}

fn run(args: &RunProgramArgs) -> Result<bool, Trouble> {
    let items = items(&args.check)?;
    let task = |(number, program): (usize, &Arc<str>)| Task {
        program: Some(Arc::clone(program)),
        ..Task::from_text(format!("Run the program {}", number + 1))
    };
    let runnable = items.iter().filter_map(|item| item.program.as_ref().ok());
    let tasks: Vec<Task> = runnable.enumerate().map(task).collect();
    let paused = args.stop_at.is_some();
    let (workspace, _folder) = tools(&args.check)?;
    let spec =
        SessionSpec { allow: args.allow.clone(), paused, ..session(&args.check, workspace, tasks) };
    let SessionHandle { records, commands, engine, .. } = spec.prepare()?.spawn()?;
    let mut printer = Printer::new(args.check.json);
    let go_on = |command| {
        // An ended session takes no command.
        let _ended = commands.send(command);
    };
    let printed = follow(records, &items, &mut printer, paused, go_on);
    drop(commands);
    engine.join().map_err(Trouble::failed)?;
    printed?;
    Ok(printer.is_well())
}

/// Prints what each program did, in the order of the programs.
fn follow(
    mut records: UnboundedReceiver<Arc<Record>>,
    items: &[ProgramItem],
    printer: &mut Printer,
    steps: bool,
    go_on: impl Fn(Command),
) -> Result<(), Trouble> {
    let mut state = State::default();
    let mut rest = items.iter();
    let (mut stops, mut is_told) = (0, false);
    while let Some(record) = records.blocking_recv() {
        state.apply(&record);
        match &record.event {
            Event::Program(ProgramEvent::ProgramHeld { at, .. }) if stops < STOPS => {
                printer.stopped(at)?;
                stops += 1;
            }
            Event::Program(
                ProgramEvent::ProgramEnded { .. } | ProgramEvent::ProgramRefused { .. },
            ) => {
                for item in rest.by_ref() {
                    match &item.program {
                        Ok(_) => {
                            let program =
                                state.task_at_work().and_then(|task| task.programs.last());
                            program.map_or(Ok(()), |program| {
                                printer.ran(item.id.as_ref(), &state, program)
                            })?;
                            break;
                        }
                        Err(why) => printer.without(item.id.as_ref(), why)?,
                    }
                }
            }
            _ => {}
        }
        if steps && state.control.mode == Mode::Paused {
            go_on(if stops < STOPS { Command::Step } else { Command::Run });
        }
        if stops == STOPS && !is_told {
            is_told = true;
            out::warn(&format!("{STOPS} stops printed; the programs continue without stops"));
        }
    }
    rest.try_for_each(|item| match &item.program {
        Err(why) => printer.without(item.id.as_ref(), why),
        Ok(_) => Err(Trouble::Failed("the session ended before all programs ran".to_owned())),
    })
}
