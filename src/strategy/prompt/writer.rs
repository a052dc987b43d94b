//! The prompts of a model that writes while a small one reads along (CoTools).

use super::{ActorInput, Trajectory, actor, conversation, user};
use crate::domain::{InTask, Knob, Message, Prompt, Request, Role, Task};

/// The request for the next part of the answer. No tool is offered: the judge decides where one is called.
pub fn write(
    state: &InTask<'_>,
    task: &Task,
    reflections: &[String],
    done: &Trajectory,
) -> Request {
    let system = Message::system(state.prompts.text(Prompt::Writer));
    let mut messages = vec![system, Message::user(user(task, reflections))];
    conversation(state, done, &mut messages);
    let temperature = Some(state.knobs.get(Knob::Temperature));
    Request { temperature: temperature.map(Into::into), ..Request::new(Role::Actor, messages) }
}

/// The request for a call after this text, with the tools that fit this place.
pub fn call(state: &InTask<'_>, asked: &ActorInput<'_>, text: &str) -> Request {
    let mut request = actor(state, asked);
    let system = Message::system(state.prompts.text(Prompt::Writer));
    let mut messages = vec![system, Message::user(user(asked.task, asked.reflections))];
    conversation(state, asked.trajectory, &mut messages);
    // The text that the model has just written comes before the last words to it. These are at the end of a user
    // message if the conversation ends with one.
    let words = match request.messages.pop() {
        Some(Message::User { text, .. }) if request.messages.len() < messages.len() => {
            let before = messages.last().map_or("", Message::text);
            text.strip_prefix(before).unwrap_or_default().trim().to_owned()
        }
        Some(Message::User { text, .. }) => text,
        _ => String::new(),
    };
    messages.push(Message::assistant(text));
    if !words.is_empty() {
        messages.push(Message::user(words));
    }
    request.messages = messages.into();
    request
}
