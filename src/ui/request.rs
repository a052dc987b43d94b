//! Input of an action, and the requests that it makes.

use std::path::PathBuf;

use super::call_lines::Called;
use super::history::History;
use super::keymap::Keymap;
use super::next::{ForkPlace, NextSession};
use super::own::{OwnCommand, Selection};
use super::twin::TwinKind;
use crate::domain::{Command, State};
use crate::papers::sweep::Scope;

/// Data that an action may read.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// The current state, which commands act on.
    pub live: &'a State,
    /// The state on the screen: the current one, unless the past is looked at.
    pub shown: &'a State,
    /// All events.
    pub history: &'a History,
    pub keymap: &'a Keymap,
    /// The demos, by name, with what each shows.
    pub demos: &'static [(&'static str, &'static str)],
    /// The user's own commands.
    pub commands: &'a [OwnCommand],
}

/// Request of an action for an effect outside of the view.
#[derive(Clone, Debug, PartialEq)]
pub enum ScreenRequest {
    /// A command for the engine.
    Send(Command),
    Quit,
    /// Return to the shell until `fg`.
    Suspend,
    /// Write the screen to files.
    Shoot,
    NextTheme,
    /// Run a twin beside this session.
    StartTwin(TwinKind),
    EndTwin,
    /// Try a knob at several values beside this session.
    StartSweep(Box<Scope>),
    EndSweep,
    /// Write the layout in use to the file of layouts.
    SaveLayout,
    /// Save the session as a scenario.
    SaveScenario,
    /// Write the watches to the file of the workspace.
    SaveWatches,
    /// Give this text to the terminal's clipboard.
    Copy {
        what: String,
        text: String,
    },
    /// Give the terminal's clipboard a command that makes this call by hand.
    CopyCommand(Box<Called>),
    /// Write the text that was copied last to a file.
    KeepCopy,
    /// Open this in an editor or a pager.
    View(Box<Selection>),
    /// Open this in the user's editor, and give the edited text to the topmost popup.
    Rewrite(Box<Selection>),
    /// Run a command of the user on this.
    RunOwn(Box<(OwnCommand, Selection)>),
    /// List the stored sessions.
    Sessions,
    /// Delete these journals, and list the sessions again.
    DeleteSessions(Vec<PathBuf>),
    /// Open this journal for looking at.
    Replay(PathBuf),
    /// End this session, and go on with this.
    Leave(NextSession),
    /// End this session, and go on from a moment of the one on the screen.
    Fork(ForkPlace),
    /// Take control of the session, request it, or hand it over.
    PassControl,
    /// Draw every cell again.
    Redraw,
}

/// Requests of an action, in order.
pub type Requests = Vec<ScreenRequest>;

/// Requests a command.
pub fn send(command: Command) -> Requests {
    vec![ScreenRequest::Send(command)]
}
