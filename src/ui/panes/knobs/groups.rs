//! The knobs in groups, as they are listed: the usual ones that the agent reads, or all.

use super::rows::is_changed;
use crate::domain::Knob::{self, *};
use crate::domain::{KnobSpec, State};
use crate::{pane::PaneId, view::View};

/// A knob that is listed, with the name of its group.
#[derive(Clone, Copy)]
pub(super) struct ListedKnob {
    pub group: &'static str,
    pub spec: &'static KnobSpec,
}

/// A group: its name, the knobs that people turn mostly, and the others.
type Group = (&'static str, &'static [Knob], &'static [Knob]);

const GROUPS: [Group; 10] = [
    ("learn", &[Alpha, Beta, Explore], &[Learn, LearnInjected, Scorer]),
    ("menu", &[TopK], &[MenuMax, FixTools, WeightFormat, Retrieve, Mix, Near]),
    ("budget", &[Budget, Tau], &[Candidates, Suits, Sharpness, Spread, Estimate, Widen, Blacklist]),
    ("steps", &[MaxSteps, Concurrency, Tries], &[History, ResultMax, MaxCalls, Temperature]),
    ("judge", &[], &[Judge, GoldFeedback, Grader]),
    ("program", &[Programs, Reflect], &[Reuse, Schemas]),
    ("probe", &[], &[ProbePasses, ProbeSamples, ProbeAll, ProbeSchema, ProbeEdges]),
    ("cotools", &[Theta, CallK], &[CallJudge]),
    ("pace", &[Speed], &[]),
    ("watch", &[Skip, Scores], &[]),
];

/// The knobs that are listed now: the usual ones that the agent reads, each that was changed, and the selected one. All of
/// them if the person asks for them or looks for one; where a watched agent acts, only those that act on it.
pub(super) fn listed(state: &State, view: &View) -> Vec<ListedKnob> {
    let is_sought = view.find.as_ref().is_some_and(|find| find.pane == PaneId::Knobs);
    let is_all = view.all_knobs || is_sought;
    let is_read = |knob: Knob| knob.why_unread(state.strategy, &state.knobs).is_none();
    let all = GROUPS.into_iter().flat_map(|(group, usual, others)| {
        let usual = usual.iter().map(move |knob| (group, *knob, true));
        usual.chain(others.iter().map(move |knob| (group, *knob, false)))
    });
    let is_listed = |(_, knob, is_usual): &(&str, Knob, bool)| match state.watched.is_some() {
        true => knob.spec().is_watching,
        false if is_all || view.knob == Some(*knob) => true,
        false => is_changed(state, knob.spec()) || *is_usual && is_read(*knob),
    };
    all.filter(is_listed).map(|(group, knob, _)| ListedKnob { group, spec: knob.spec() }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::knob::KNOBS;
    use crate::domain::state::Keeps;

    #[test]
    fn each_knob_has_one_group() {
        let all = GROUPS.iter().flat_map(|(_, usual, others)| usual.iter().chain(*others));
        let all: Vec<Knob> = all.copied().collect();
        assert_eq!(all.len(), KNOBS.len());
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), KNOBS.len());
    }

    #[test]
    fn the_usual_knobs_of_the_agent_come_first_and_the_others_when_asked_for() {
        let mut view = View::default();
        let mut state = State::keeping(Keeps::All);
        state.strategy = "toolnet+btp".parse().unwrap();
        let names = |view: &View| -> Vec<&str> {
            listed(&state, view).iter().map(|row| row.spec.name).collect()
        };
        let usual = names(&view);
        assert_eq!(usual[..4], ["alpha", "beta", "explore", "top_k"]);
        assert!(usual.contains(&"budget") && !usual.contains(&"theta") && usual.len() < 12);
        view.knob = Some(Theta);
        assert!(names(&view).contains(&"theta"), "the selected one is never hidden");
        view.all_knobs = true;
        assert_eq!(names(&view).len(), KNOBS.len());
    }
}
