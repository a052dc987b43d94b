//! Tool results in the actor's prompt: the beginning of a long one, and the action that reads on.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use super::ActorInput;
use crate::domain::excerpt::{beginning, is_long};
use crate::domain::markers::MORE;
use crate::domain::{InTask, Prompt, Role, ToolDef, ToolName};
use crate::{CallResult, Observation};

/// The text of a result as the agent reads it.
pub(super) fn shown(state: &InTask<'_>, called: &CallResult) -> String {
    let text = called.observation.text();
    if !is_cut(state, called) {
        return text;
    }
    let number = reads_on(state).then(|| state.result_number(called.id)).flatten();
    beginning(&text, state.result_max(Role::Actor, 1), number).into_owned()
}

/// Whether the agent may read on: `None` if there is nothing to read, so that requests define no such action.
/// `Some(false)` if no call is allowed: the definition stays, for the prompt cache.
pub(super) fn more(state: &InTask<'_>, asked: &ActorInput<'_>) -> Option<bool> {
    let turns = asked.trajectory.turns.iter().rev();
    let before = turns.skip(usize::from(asked.is_last));
    let mut called = before.flat_map(|turn| &turn.called);
    let is_defined = reads_on(state) && called.any(|called| is_cut(state, called));
    is_defined.then_some(!asked.is_last)
}

/// The action that reads on. It comes last, so that the definitions before it stay cached.
pub(super) fn definition(state: &InTask<'_>) -> ToolDef {
    ToolDef {
        name: MORE.into(),
        description: state.prompts.text(Prompt::More).to_owned(),
        parameters: Arc::clone(&SCHEMA),
    }
}

fn reads_on(state: &InTask<'_>) -> bool {
    state.reads_on(&ToolName::from(MORE))
}

fn is_cut(state: &InTask<'_>, called: &CallResult) -> bool {
    let most = state.result_max(Role::Actor, 1);
    matches!(&called.observation, Observation::Result(text) if is_long(text, most))
}

static SCHEMA: LazyLock<Arc<Value>> = LazyLock::new(|| {
    Arc::new(json!({
        "type": "object",
        "properties": {
            "result": {"type": "integer", "description": "The number of the result."},
            "from": {"type": "integer", "description": "The character to read on from."},
        },
        "required": ["result", "from"],
    }))
});
