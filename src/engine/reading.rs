//! Reading: a small model ranks the tools for a text by its states, beside the words (CoTools, eq. 6
//! to 10). A reading is an effect, and its end has the ranking, so that a replay needs no
//! model. Without a reader, or if it fails, words alone rank.

use std::{rc::Rc, sync::Arc};

use futures::StreamExt;

use super::effect::{self, Effect, Outcome, ReadingCall};
use super::ranker::{Absent, Ranker, on_this_machine};
use super::session::lanes::Waits;
use super::{Beginning, handle::Handle, session::Session};
use crate::domain::{Event, Ranking, ReaderEvent, Retrieve, TaskId};
use crate::strategy::Sought;

/// The replacement for the reader of an earlier session; `None` if nothing was read.
pub(super) fn of_record(beginning: &Beginning) -> Option<Rc<dyn Ranker>> {
    let recorded = beginning.facts().iter().find_map(|record| match &record.event {
        Event::Reader(ReaderEvent::HeadsLoaded { reader }) => Some(&reader.model),
        _ => None,
    });
    let past = || Some(&beginning.past()?.state().reader.as_ref()?.about.model);
    let model = recorded.or_else(past).filter(|model| !model.is_empty())?;
    Some(Rc::new(Absent(on_this_machine(model))))
}

/// Ranks the tools for a text, if that is useful; a ranking of an equal text in this task is used again. `None`: words
/// alone rank.
pub(super) async fn read(
    handle: &Handle,
    task: TaskId,
    text: &str,
    sought: Sought,
) -> Option<Arc<Ranking>> {
    let Some(call) = handle.read(|session| session.unread(task, text, sought)) else {
        return handle.read(|session| session.state().in_task(task).ranking(text).cloned());
    };
    let requested = handle
        .write(|session| effect::request(session, task, Effect::Reading(call), None, Waits::Agent));
    match effect::perform(handle, requested).await {
        (Outcome::Ranked(Ok(ranked)), _) => Some(ranked.ranking),
        _ => None,
    }
}

/// Records the reader's reports besides the effects.
pub(super) fn watch(handle: &Handle) {
    let Some(ranker) = handle.read(|session| session.kit().ranker.clone()) else { return };
    let mut news = ranker.news();
    let watched = handle.clone();
    handle.spawn(async move {
        while let Some(event) = news.next().await {
            watched.emit(event);
        }
    });
}

impl Session {
    /// The call that reads this text; `None` if words alone rank, or if the text was read in this task.
    fn unread(&self, task: TaskId, text: &str, sought: Sought) -> Option<ReadingCall> {
        let ranker = self.kit().ranker.clone()?;
        let by_words = self.state().knobs.choice::<Retrieve>() == Retrieve::Words;
        let has_failed = self.state().reader.as_ref().is_some_and(|reader| reader.failed.is_some());
        if by_words || has_failed || sought == Sought::Tool || text.trim().is_empty() {
            return None;
        }
        let name = ranker.spec().name.as_str();
        let of_task = self.state().embeddings.iter().rev().filter(|read| read.task == task);
        let is_known = of_task.into_iter().any(|read| read.text == text && read.model == name);
        (!is_known).then(|| ReadingCall { ranker, text: text.to_owned(), sought })
    }

    /// Tells the reader the current tools once it must find some; an unused reader costs nothing.
    pub fn tell_reader(&self) {
        let by_words = self.state().knobs.choice::<Retrieve>() == Retrieve::Words;
        if let Some(ranker) = self.kit().ranker.as_ref().filter(|_| !by_words) {
            ranker.take_tools(self.kit().tools.specs().cloned().collect());
        }
    }
}
