//! Additions to the requests of a role from configuration and workspace: sampling settings, and examples of a task and
//! its reply.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::chat::{Message, Request, Role};
use crate::finite::Finite;
use crate::markers::TASK;
use crate::strategy::Strategy;

/// Sampling of a role's answers. Only the settings with a value are sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sampling {
    /// Overrides the knob `temperature` and the temperatures of the roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Finite>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<Finite>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// The longest answer in tokens. A budget may bound it further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Texts at which an answer ends, in addition to those that its form needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
}

/// An example that a role sees before its task: a possible task, and a good reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FewShot {
    pub role: Role,
    /// The names of the loops in which it is shown; empty: in all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strategies: Vec<String>,
    pub task: String,
    pub reply: String,
}

/// The settings of all roles; a role without any is not in it.
pub type SamplingOfRoles = BTreeMap<Role, Sampling>;

impl Sampling {
    /// Applies the settings that have a value.
    fn apply(&self, request: &mut Request) {
        request.temperature = self.temperature.or(request.temperature);
        request.top_p = self.top_p.or(request.top_p);
        request.seed = self.seed.or(request.seed);
        let bounds = [self.max_tokens, request.max_tokens];
        request.max_tokens = bounds.into_iter().flatten().min();
        request.stop.extend(self.stop.iter().cloned());
    }
}

impl FewShot {
    fn is_for(&self, role: Role, strategy: Strategy) -> bool {
        let name = strategy.base.spec().name;
        let everywhere = self.strategies.is_empty();
        self.role == role && (everywhere || self.strategies.iter().any(|known| known == name))
    }

    /// The example as earlier turns of the conversation.
    fn turns(&self) -> [Message; 2] {
        [Message::user(format!("{TASK}{}", self.task)), Message::assistant(&self.reply)]
    }
}

/// A role's request with the settings and the examples for it.
pub fn completed(
    mut request: Request,
    strategy: Strategy,
    sampling: &SamplingOfRoles,
    few_shots: &[FewShot],
) -> Request {
    if let Some(sampling) = sampling.get(&request.role) {
        sampling.apply(&mut request);
    }
    let shown = few_shots.iter().filter(|example| example.is_for(request.role, strategy));
    let turns: Vec<Message> = shown.flat_map(FewShot::turns).collect();
    let is_system = |message: &Message| matches!(message, Message::System { .. });
    let start = request.messages.iter().take_while(|message| is_system(message)).count();
    request.messages.insert(start, turns);
    request
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::Base;

    fn example(role: Role, strategies: &[&str], task: &str) -> FewShot {
        let strategies = strategies.iter().map(|name| (*name).to_owned()).collect();
        FewShot { role, strategies, task: task.to_owned(), reply: "so".to_owned() }
    }

    #[test]
    fn only_what_is_set_changes_and_the_shorter_bound_holds() {
        let request = Request {
            temperature: Some(0.0.into()),
            max_tokens: Some(50),
            stop: vec!["x".to_owned()],
            ..Request::new(Role::Actor, vec![Message::system("s"), Message::user("u")])
        };
        let all = SamplingOfRoles::from([(
            Role::Actor,
            Sampling {
                top_p: Some(0.5.into()),
                max_tokens: Some(80),
                stop: vec!["y".to_owned()],
                ..Sampling::default()
            },
        )]);
        let done = completed(request.clone(), Base::React.into(), &all, &[]);
        assert_eq!(
            (done.temperature, done.top_p, done.seed),
            (Some(0.0.into()), Some(0.5.into()), None)
        );
        assert_eq!((done.max_tokens, done.stop), (Some(50), vec!["x".to_owned(), "y".to_owned()]));
        let other = Request { role: Role::Solver, ..request };
        assert_eq!(completed(other.clone(), Base::React.into(), &all, &[]), other);
    }

    #[test]
    fn examples_stand_between_the_prompt_and_the_task_of_their_role_and_loop() {
        let request = Request::new(Role::Planner, vec![Message::system("s"), Message::user("u")]);
        let all = [
            example(Role::Planner, &[], "a"),
            example(Role::Planner, &["workers"], "b"),
            example(Role::Solver, &[], "c"),
        ];
        let texts = |base: Base| -> Vec<String> {
            let done = completed(request.clone(), base.into(), &SamplingOfRoles::new(), &all);
            done.messages.iter().map(|message| message.text().to_owned()).collect()
        };
        assert_eq!(texts(Base::Rewoo), ["s", "Task: a", "so", "u"]);
        assert_eq!(texts(Base::Workers), ["s", "Task: a", "so", "Task: b", "so", "u"]);
    }
}
