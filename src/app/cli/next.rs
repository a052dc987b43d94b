//! The screen of the session that a person chose on the screen before.

use super::spec_trust::{self, Agreed};
use super::trouble::Trouble;
use super::{ConfigArgs, agent_fork, init, init_args::InitArgs, live, openapi};
use crate::session::{ForkEdit, ForkSpec, SessionSpec};
use crate::ui::EndReason;
use crate::ui::next::{ForkPlace, NextSession};

/// Shows the session. The command of an agent is not shown here: it is parsed as a command line.
///
/// # Errors
/// The session cannot begin.
pub fn show(next: NextSession) -> Result<EndReason, Trouble> {
    let plain = SessionSpec::default();
    let spec = match next {
        #[cfg(feature = "stage")]
        NextSession::Demo(name) => return super::demo::by_name(name),
        NextSession::Project => {
            init::init(&InitArgs::default())?;
            SessionSpec { config: Some(init::CONFIG.into()), ..plain }
        }
        NextSession::Import(file) => {
            SessionSpec { workspace: Some(openapi::import_beside(file)?), ..plain }
        }
        NextSession::Fork(of, place) => {
            if let Some(words) = agent_fork::of_place(&of, &place)? {
                return Ok(EndReason::For(NextSession::Watch(words)));
            }
            let ForkPlace { at, edit } = place;
            let (call, edit) = edit.unzip();
            let set = edit.map(ForkEdit::Call).into_iter().collect();
            let fork = ForkSpec { of, at, call, set, ..ForkSpec::default() };
            // A journal from elsewhere names tools that would run.
            let config = ConfigArgs::default();
            let agreed = Agreed { config: &config, workspace: None, trusts: false };
            spec_trust::expect_known(&fork.of, &agreed, true)?;
            let spec = SessionSpec { fork: Some(Box::new(fork)), ..plain };
            return live::show(spec, live::Show::default());
        }
        #[cfg(not(feature = "stage"))]
        NextSession::Demo(_) => return Ok(EndReason::ByUser),
        NextSession::Watch(_) => return Ok(EndReason::ByUser),
    };
    live::live(spec)
}
