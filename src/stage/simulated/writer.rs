//! The writer of an answer that tools complete: it writes its need, and an equals sign.

use super::actor::fruitless;
use super::progress::{ChainProgress, OpenStep};
use super::request_parser::PromptReading;
use super::step_needs::need_now;
use super::{SimulatedSettings, Speech};
use crate::domain::Task;
use crate::domain::markers::{ANSWER_IS, UNKNOWN};

/// The next part of the text. If nobody ends it at the equals sign, the model has nothing to add.
pub(super) fn write(
    prompted: &PromptReading<'_>,
    chain: Option<&Task>,
    settings: SimulatedSettings,
) -> Speech {
    let unknown = format!("{ANSWER_IS} {UNKNOWN}.");
    let Some(task) = chain else { return Speech::text(unknown) };
    let progress = ChainProgress::of(task, &prompted.past);
    Speech::text(match &progress.open {
        Some(_) if fruitless(&prompted.past) >= settings.patience => unknown,
        Some(OpenStep { arguments, .. }) => {
            format!("I need to know: {} = I do not know. {unknown}", need_now(arguments))
        }
        None => format!("{ANSWER_IS} {}.", progress.answer(task)),
    })
}
