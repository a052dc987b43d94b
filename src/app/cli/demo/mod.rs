//! `toolyard demo`: a guided session on the screen.

mod hidden_terminal;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use clap::Args;
use toolyard_stage::demo::Demo;

use super::live::{self, Show};
use super::{out, trouble::Trouble, watch::screen_run::ScreenLook};
use crate::config::Config;
use crate::domain::knob::Knob;
use crate::domain::{KnobChoice, Speed};
use crate::files::toml_file::TomlFile;
use crate::session::SessionSpec;
use crate::ui::tour::{Tour, TourOutcome};
use crate::ui::{EndReason, terminal};

#[derive(Debug, Default, Args)]
pub struct DemoArgs {
    /// Name of the demo; without it, choose one on the screen.
    #[arg(value_enum)]
    pub name: Option<Demo>,
    /// Write the last picture and a recording into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Speed of the sample tools, the simulated model and the tour: 1/4 to 16.
    #[arg(long, value_name = "S", default_value = "1", value_parser = speed)]
    pub speed: Speed,
    /// Quit at the end of the tour; works without a terminal, too.
    #[arg(long)]
    pub unattended: bool,
}

fn speed(text: &str) -> Result<Speed, String> {
    let value = Knob::Speed.spec().parse(text)?;
    let speed = Speed::ALL.get(value as usize).copied().filter(|speed| *speed != Speed::Off);
    speed.ok_or_else(|| "expected a speed from 1/4 to 16".to_owned())
}

/// Shows a demo, or lets the person choose one.
///
/// # Errors
/// There is no terminal, or the demo's files could not be kept.
pub fn demo(args: &DemoArgs) -> Result<EndReason, Trouble> {
    match args.name {
        Some(demo) => show(demo, args),
        None => live::choosing(),
    }
}

fn show(demo: Demo, args: &DemoArgs) -> Result<EndReason, Trouble> {
    if let Err(error) = terminal::expect("add --unattended to run the tour alone") {
        if args.unattended {
            return unseen();
        }
        return Err(Trouble::Failed(format!("cannot open the screen: {error}")));
    }
    let folder = tempfile::Builder::new().prefix("toolyard-demo-").tempdir();
    let folder = folder.map_err(Trouble::failed)?;
    let spec = session(demo, folder.path(), args.speed)?;
    let told: Arc<Mutex<TourOutcome>> = Arc::default();
    let tour = Tour {
        guide: Box::new(demo.steps().map_err(Trouble::Failed)?),
        leaves: args.unattended,
        keeps: args.out.is_some(),
        told: Arc::clone(&told),
    };
    // The user's colours and folders count; keys are the defaults, since the tour presses them.
    let own = Config::find(None).map_err(Trouble::usage)?.ui;
    let shots = args.out.clone().or(own.shots.clone());
    let ui = crate::config::UiConfig { shots, keys: Default::default(), ..own };
    let (tour, ui) = (Some(tour), Some(ui));
    let ended = match demo {
        Demo::Watch => watch::show(&spec, ScreenLook { tour, ui }, args.speed)?,
        Demo::Resilience | Demo::Budget | Demo::Workers => {
            live::show(spec, Show { tour, ui, ..Show::default() })?
        }
    };
    tell(demo, &told)?;
    Ok(ended)
}

/// The session of a demo, whose files are written into this folder.
fn session(demo: Demo, folder: &Path, speed: Speed) -> Result<SessionSpec, Trouble> {
    demo.write(folder).map_err(Trouble::failed)?;
    let read =
        TomlFile::read("session.toml", demo.session(), |mut fields| fields.rest::<SessionSpec>());
    let mut spec = read.map_err(Trouble::failed)?;
    spec.start_paths_at(folder);
    let speed = Speed::ALL.iter().position(|other| *other == speed).unwrap_or_default();
    spec.knobs.insert(Knob::Speed, speed as f64);
    Ok(spec)
}

/// Shows the tour in a hidden terminal.
fn unseen() -> Result<EndReason, Trouble> {
    let failed = |error| Trouble::Failed(format!("cannot open a terminal for the demo: {error}"));
    let (status, said) = hidden_terminal::run_again().map_err(failed)?;
    out::print_line(said.trim_end())?;
    match status.success() {
        true => Ok(EndReason::ByUser),
        false => Err(Trouble::Failed(format!("the demo did not finish: {status}"))),
    }
}

/// Prints the verdict of the tour, the files it wrote, and the command that repeats it.
fn tell(demo: Demo, told: &Arc<Mutex<TourOutcome>>) -> Result<(), Trouble> {
    let told = told.lock().map(|told| told.clone()).unwrap_or_default();
    if let Some(verdict) = &told.verdict {
        out::print_line(verdict)?;
    }
    for file in &told.files {
        out::print_line(format!("written: {}", file.display()))?;
    }
    out::print_line(format!("again: toolyard demo {}", demo.name()))?;
    match told.failed {
        Some(why) => Err(Trouble::Failed(format!("cannot write the demo's files: {why}"))),
        None => Ok(()),
    }
}

/// Shows the demo of this name, with the usual settings.
///
/// # Errors
/// As [`demo`].
pub fn by_name(name: &str) -> Result<EndReason, Trouble> {
    let demo = Demo::ALL.into_iter().find(|demo| demo.name() == name);
    self::demo(&DemoArgs { name: demo, speed: Speed::Normal, ..DemoArgs::default() })
}
