//! CoTools: a model writes its answer, and a small one reads along. Where the small one judges that a call starts (eq.
//! 3 and 4), it finds the tools that fit this place (eq. 6 to 10), the writer calls one of them, and continues with the
//! result.
//!
//! The paper's frozen model does all of this itself. Here the writer may be any model: the authors also judge on a
//! second prompt, and not on the state that generates.

use std::sync::Arc;

use super::{
    AskSpec, Base, Before, CallResult, CallSpec, Context, Ending, Observation, Sought, Trajectory,
    TrajectoryTurn, act, array, close, prompt,
};
use crate::domain::markers::{ANSWER_IS, UNKNOWN};
use crate::domain::{
    Finish, Knob, MenuItem, MenuReason, ModelError, ModelErrorKind, Outcome, Prompt, Reply, Role,
    Task, TaskEvent, ToolName,
};

/// Calls without a result after which a task ends, as in the paper.
const FAILURES: usize = 2;

/// Makes one attempt at a task.
pub async fn act(ctx: &impl Context, task: &Task, reflections: &[String]) -> (Trajectory, Ending) {
    let mut writing = Writing { ctx, task, reflections, done: Trajectory::default(), failures: 0 };
    let mut step = 0;
    let ending = loop {
        step += 1;
        if step as usize > ctx.state(|state| state.knobs.count(Knob::MaxSteps)) {
            break Ending::without_answer(Outcome::OutOfSteps);
        }
        let written = match writing.write().await {
            Ok(written) => written,
            Err(error) => break writing.failed(&error).await,
        };
        if written.finish != Finish::Judged {
            break ended(&written);
        }
        match writing.have_called(step, &written).await {
            Ok(true) => {}
            Ok(false) if writing.failures < FAILURES => {}
            Ok(false) => break Ending::without_answer(Outcome::GaveUp),
            Err(error) => break writing.failed(&error).await,
        }
    };
    (writing.done, ending)
}

/// An answer that is being written.
struct Writing<'a, C> {
    ctx: &'a C,
    task: &'a Task,
    reflections: &'a [String],
    /// The parts of the text, each with the call at its end.
    done: Trajectory,
    /// Calls in a row without a result.
    failures: usize,
}

impl<C: Context> Writing<'_, C> {
    /// The next part of the text, up to a place where a call starts, or to its end.
    async fn write(&self) -> Result<Arc<Reply>, ModelError> {
        let request = self
            .ctx
            .state(|state| prompt::writer::write(state, self.task, self.reflections, &self.done));
        let before = Before { question: self.task.sought().into_owned(), so_far: self.so_far("") };
        let spec = AskSpec { along: Some(before), ..Role::Actor.into() };
        self.ctx.ask(spec, request).await
    }

    /// Lets the writer call one of the tools that fit this place. Returns whether a call had a result.
    async fn have_called(&mut self, step: u32, written: &Reply) -> Result<bool, ModelError> {
        let so_far = self.so_far(&written.text);
        let question = self.task.sought();
        let (text, answer_at) = (format!("{question}{so_far}"), question.len());
        let found = self.ctx.retrieve(&text, Sought::Here { answer_at }, usize::MAX).await;
        let menu = self.menu(found);
        array::cover(self.ctx, Base::Cotools, &menu);
        let last = self.done.calls().last().map(|called| called.tool.clone());
        self.ctx.say(|task| {
            let (from, menu) = (last.unwrap_or_else(ToolName::start), Arc::clone(&menu));
            TaskEvent::StepStarted { task, step, from, menu }
        });
        let request = self.ctx.state(|state| {
            let note = state.prompts.text(Prompt::WriterCall);
            let (task, reflections) = (self.task, self.reflections);
            let (menu, trajectory, is_last) = (&*menu, &self.done, false);
            let asked = prompt::ActorInput { task, menu, trajectory, reflections, note, is_last };
            prompt::writer::call(state, &asked, &written.text)
        });
        let reply = self.ctx.ask(Role::Actor, request).await?;
        let calls = match act::decide(&reply) {
            act::Decision::Call(calls) => calls,
            act::Decision::Finish(_) | act::Decision::Nothing => Vec::new(),
        };
        let called = self.ctx.call(CallSpec::Step(step), &calls).await;
        let has_result = |called: &CallResult| {
            matches!(called.observation, Observation::Result(_) | Observation::More(_))
        };
        let helped = called.iter().any(has_result);
        self.failures = if helped { 0 } else { self.failures + 1 };
        let calls = super::context::as_shown(calls, &called);
        self.done.turns.push(TrajectoryTurn {
            thought: written.text.clone(),
            ..TrajectoryTurn::of(&reply, calls, called)
        });
        Ok(helped)
    }

    /// The `call_k` best tools that were found for this place and have not just failed there, and the option to give
    /// up.
    fn menu(&self, found: Vec<ToolName>) -> Arc<[MenuItem]> {
        let k = self.ctx.state(|state| state.knobs.count(Knob::CallK));
        let failed: Vec<&ToolName> = self
            .done
            .turns
            .iter()
            .rev()
            .take(self.failures)
            .flat_map(|turn| turn.called.iter().map(|called| &called.tool))
            .collect();
        let has_plan = self.ctx.state(|state| state.has_plan());
        let fits = |tool: &ToolName| {
            !failed.contains(&tool)
                && (!has_plan || self.ctx.state(|state| state.plan_allows(tool)))
        };
        let item = |tool| MenuItem { tool, weight: None, why: MenuReason::Retrieved };
        let mut menu: Vec<_> = found.into_iter().filter(fits).take(k).map(item).collect();
        menu.push(MenuItem { tool: ToolName::end(), weight: None, why: MenuReason::Finish });
        menu.into()
    }

    /// The answer so far, with the results of its calls, and this at its end.
    fn so_far(&self, end: &str) -> String {
        let mut text = String::new();
        for turn in &self.done.turns {
            text.push_str(&turn.thought);
            let last = turn.called.last().map(|called| called.observation.text());
            text.extend([" ", &last.unwrap_or_default(), ". "]);
        }
        text + end
    }

    async fn failed(&self, error: &ModelError) -> Ending {
        if error.kind != ModelErrorKind::OverBudget {
            return close::failed(error);
        }
        let why = "the rest of the budget does not pay for more";
        close::close(self.ctx, self.task, &self.done, self.reflections, why).await
    }
}

/// The ending with the answer in this text: the part after the last `The answer is`, or all of it.
fn ended(written: &Reply) -> Ending {
    let text = written.text.rsplit(ANSWER_IS).next().unwrap_or_default();
    let text = text.trim().trim_end_matches('.').trim();
    if text.is_empty() || text.eq_ignore_ascii_case(UNKNOWN) {
        return Ending::without_answer(Outcome::GaveUp);
    }
    Ending::answered(text).of(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str) -> Reply {
        Reply::of_text(text)
    }

    #[test]
    fn the_answer_is_what_follows_its_words() {
        for (text, answer) in [
            ("17 * 23 = 391. The answer is 391.", Some("391")),
            ("The answer is 3. No: The answer is 4", Some("4")),
            ("Paris", Some("Paris")),
            ("The answer is unknown.", None),
            ("  ", None),
        ] {
            assert_eq!(ended(&reply(text)).answer.as_deref(), answer, "{text}");
        }
    }
}
