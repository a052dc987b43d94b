//! The full text of a transcript line without a page of its own, and the messages of this screen.

use super::{Page, plan};
use crate::domain::{By, State, state::What};
use crate::view::{Message, Tone};
use crate::{text, wording};

pub(super) fn line(state: &State, n: u64, page: &mut Page<'_>) {
    let Some(line) = state.line(n) else { return page.not_yet("This had not happened") };
    page.field("event", &line.n.to_string());
    page.field("at", &text::span(line.at));
    if let Some(task) = line.task {
        page.field("task", &task.to_string());
    }
    page.blank();
    match &line.what {
        What::Told { event } => {
            let by = event.by().map(|by| match by {
                By::User => "by you".to_owned(),
                By::Engine => "by the engine".to_owned(),
                By::Undo(n) => format!("as an undo of event {n}"),
                By::Redo(n) => format!("as a redo of event {n}"),
            });
            by.into_iter().for_each(|by| page.field("changed", &by));
            page.text(&wording::told(event), page.theme.text);
        }
        What::Newer { fields } => page.text(&wording::newer(fields), page.theme.text),
        What::BudgetPlanned { why, plan, before } => plan::page(why, plan, before.as_deref(), page),
        What::Plan { plan } => page.text(&plan.to_string(), page.theme.text),
        What::TaskStarted
        | What::TryStarted { .. }
        | What::Step { .. }
        | What::ModelCall { .. }
        | What::ToolCall { .. }
        | What::Evaluated { .. }
        | What::TaskFinished => {}
    }
}

/// Writes all messages of this screen, the newest last.
pub(super) fn messages(messages: &[Message], page: &mut Page<'_>) {
    if messages.is_empty() {
        page.text("No messages yet.", page.theme.dim);
    }
    for message in messages {
        let style = match message.tone {
            Tone::Good => page.theme.good,
            Tone::Plain => page.theme.text,
            Tone::Bad => page.theme.bad,
        };
        page.field_in(&text::span(message.at), &message.text, style);
    }
}
