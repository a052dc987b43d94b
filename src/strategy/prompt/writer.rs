//! The prompts of a model that writes while a small one reads along (CoTools).

use super::{ActorInput, Trajectory, actor, conversation, user};
use crate::domain::{Knob, Message, Prompt, Request, Role, State, Task};

/// The request for the next stretch of the answer. No tool is offered: the judge says where one is called.
pub fn write(state: &State, task: &Task, reflections: &[String], done: &Trajectory) -> Request {
    let system = Message::system(state.prompts.text(Prompt::Writer));
    let mut messages = vec![system, Message::user(user(task, reflections))];
    conversation(state, done, &mut messages);
    let temperature = Some(state.knobs.get(Knob::Temperature));
    Request { temperature: temperature.map(Into::into), ..Request::new(Role::Actor, messages) }
}

/// The request for a call after this text, with the tools that suit this place.
pub fn call(state: &State, asked: &ActorInput<'_>, text: &str) -> Request {
    let mut request = actor(state, asked);
    if let Some(system) = request.messages.first_mut() {
        *system = Message::system(state.prompts.text(Prompt::Writer));
    }
    // What the model has just written stands before the last words to it, which are new in the
    // first message if nothing was done before.
    let said = Message::Assistant { text: text.to_owned(), calls: Vec::new() };
    let at = request.messages.len() - 1;
    match request.messages.get_mut(at) {
        Some(Message::User { text }) if at > 1 => request.messages.insert(at, said),
        Some(Message::User { text }) => {
            let task = user(asked.task, asked.reflections);
            let words = text.strip_prefix(&task).unwrap_or_default().trim().to_owned();
            *text = task;
            request.messages.extend([said, Message::user(words)]);
        }
        _ => request.messages.push(said),
    }
    request
}
