//! The knobs.

use serde::{Deserialize, Serialize};

use super::choice::{
    Blacklist, CallJudge, Estimation, Judge, KnobChoice, ProbeSchema, Reflect, Retrieve, Schemas,
    Scorer, Speed,
};
use super::spec::{KnobKind, KnobReader, KnobSpec, Takes};
use crate::graph::WeightFormat;
use crate::strategy::{Base, Strategy};

/// Makes [`Knob`] and [`KNOBS`] of one list.
macro_rules! knobs {
    ($($(#[$attribute:meta])* $knob:ident: $doc:literal, $spec:expr;)*) => {
        /// Name of a knob.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Knob {
            $($(#[$attribute])* $knob,)*
        }

        /// Every knob, in display order, which is that of [`Knob`].
        pub const KNOBS: &[KnobSpec] = &[$(KnobSpec { knob: Knob::$knob, doc: $doc, ..$spec },)*];
    };
}

knobs! {
    Alpha: "speed of learning: how strongly a score moves a weight (ToolNet, eq. 8)",
        real("alpha", "α", 0.5, (0.0, 10.0, 0.05)).at_once().read_by(LEARNING);
    Beta: "trust in the prior: 1 ignores scores, 0 ignores the prior (ToolNet, eq. 6)",
        real("beta", "β", 0.5, (0.0, 1.0, 0.05)).at_once().read_by(LEARNING);
    TopK: "how many tools the retriever puts on a task's first menu",
        whole("top_k", "K", 8.0, (1.0, 100.0, 1.0)).read_by(LEARNING);
    Explore: "how many non-successors that match the last thought are also offered",
        whole("explore", "ex", 2.0, (0.0, 20.0, 1.0)).read_by(LEARNING);
    MenuMax: "how many successors are offered at most, heaviest first",
        whole("menu_max", "menu", 32.0, (1.0, 10_000.0, 1.0));
    FixTools: "define the same tools in every request of a task, for the prompt cache",
        switch("fix_tools", "fix", true).next_task();
    WeightFormat: "how the model sees a weight (ToolNet, table 5)",
        choice::<WeightFormat>("weight_format", "w", WeightFormat::Integer as usize)
            .read_by(LEARNING);
    MaxSteps: "steps per attempt; dfsdt and tot-dfs have limits of their own",
        whole("max_steps", "steps", 8.0, (1.0, 100.0, 1.0));
    History: "how many past steps the model sees",
        whole("history", "hist", 8.0, (1.0, 100.0, 1.0));
    ResultMax: "characters of a tool result that a model sees; it can call `more` to read on",
        whole("result_max", "result", 32_000.0, (200.0, 10_000_000.0, 1000.0));
    Tries: "attempts per task with +reflexion",
        whole("tries", "tries", 3.0, (1.0, 10.0, 1.0)).next_task().read_by(RETRYING);
    Learn: "whether evaluations change scores; off freezes learning",
        switch("learn", "learn", true).at_once().read_by(LEARNING);
    LearnInjected: "whether failures caused by faults lower scores",
        switch("learn_injected", "learn!", true).at_once().read_by(LEARNING);
    Scorer: "who scores the tools of a finished task: the evaluator (ToolNet), rules without a model, or the evaluator \
             only where no rule is sure",
        choice::<Scorer>("scorer", "score", Scorer::Auto as usize).at_once().read_by(LEARNING);
    Temperature: "sampling temperature of the actor",
        real("temperature", "T", 0.0, (0.0, 2.0, 0.1));
    Concurrency: "how many tool calls may run in parallel",
        whole("concurrency", "||", 8.0, (1.0, 64.0, 1.0));
    MaxCalls: "how many calls of one reply are made; the model sees that the others were not",
        whole("max_calls", "calls", 16.0, (1.0, 1000.0, 1.0));
    /// Older journals have `pace` in its place.
    #[serde(alias = "pace")]
    Speed: "speed of sample tools and the simulated model; 1: realistic; off: instant",
        choice::<Speed>("speed", "speed", Speed::Off as usize).at_once().watching();
    Budget: "credits per task; +btp plans for them and enforces them (BTP, eq. 2)",
        real("budget", "B", 20.0, (0.0, 1e6, 1.0)).at_once().read_by(BUDGETED).replanning();
    Tau: "lowest expected value for which +btp plans a tool (BTP, section 2.2)",
        real("tau", "τ", 0.15, (0.0, 1.0, 0.05)).at_once().read_by(PLANNING).replanning();
    Candidates: "how many tools +btp considers: by words, and by similar past tasks",
        whole("candidates", "n", 16.0, (1.0, 1000.0, 1.0)).next_task().read_by(PLANNING);
    Suits: "how well a candidate of +btp must match a task, as a share of the best match",
        real("suits", "suit", 0.5, (0.0, 1.0, 0.05)).next_task().read_by(PLANNING);
    Sharpness: "+btp: how strongly past uses in similar tasks count; 1 is BTP (eq. 3)",
        real("sharpness", "sharp", 1.0, (1.0, 30.0, 1.0)).next_task().read_by(PLANNING);
    Spread: "+btp: plan one use of each tool before a second one, and spend all credits; off is BTP",
        switch("spread", "spread", true).at_once().read_by(PLANNING).replanning();
    Estimate: "how experience becomes values: smoothed, or as in the paper (BTP, eq. 3 and 4)",
        choice::<Estimation>("estimate", "est", Estimation::Smoothed as usize).at_once()
            .read_by(PLANNING).replanning();
    Widen: "+btp: if no planned tool fits, the agent says what is missing and is replanned; off is BTP",
        switch("widen", "widen", true).read_by(PLANNING);
    Blacklist: "whether one useless result bans a tool from its task; protected spares what has helped",
        choice::<Blacklist>("blacklist", "ban", Blacklist::Protected as usize).at_once()
            .read_by(PLANNING);
    Judge: "who judges whether a result helped: rules (an error, nothing found) or a model",
        choice::<Judge>("judge", "judge", Judge::Rules as usize).at_once().replanning();
    GoldFeedback: "whether evaluator, reflector and experience may see if the answer is right",
        switch("gold_feedback", "gold", false).next_task();
    Grader: "whether a model also grades each answer, beside exact match and token F1",
        switch("grader", "grade", false).at_once();
    Programs: "atc: how many programs a task may have, the first one included (ATC, section 6.1)",
        whole("programs", "prog", 3.0, (1.0, 10.0, 1.0)).read_by(PROGRAMS);
    Reflect: "atc: feedback for the next program after a failure: the blamed tool, only the error, or nothing",
        choice::<Reflect>("reflect", "refl", Reflect::Attribute as usize).read_by(PROGRAMS);
    Reuse: "atc: whether a revised program gets the results of equal earlier calls that change nothing",
        switch("reuse", "reuse", true).read_by(PROGRAMS);
    Schemas: "which prompts include the result schemas from probing: none, those of atc, or all",
        choice::<Schemas>("schemas", "schema", Schemas::Programs as usize).read_by(PROGRAMS);
    ProbePasses: "passes of a probing that use other tools; 0: each tool alone (ATC, section 6.2)",
        whole("probe_passes", "pass", 4.0, (0.0, 10.0, 1.0)).read_by(PROBING);
    ProbeSamples: "most programs per tool in each pass of a probing (ATC, section 6.2)",
        whole("probe_samples", "N", 3.0, (1.0, 10.0, 1.0)).read_by(PROBING);
    ProbeAll: "whether a probing runs all samples and merges their results; off: the first answer is enough",
        switch("probe_all", "all", false).read_by(PROBING);
    ProbeSchema: "what a schema is learned from: all elements of lists, or the first one as in the paper",
        choice::<ProbeSchema>("probe_schema", "shape", ProbeSchema::Merged as usize)
            .read_by(PROBING);
    ProbeEdges: "whether the tool graph gets an edge to a tool from the tool whose result it needs",
        switch("probe_edges", "chain", true).read_by(PROBING);
    Retrieve: "how tools are found for a text: by words, a reader's states, or both; with heads: both",
        choice::<Retrieve>("retrieve", "find", Retrieve::Words as usize).at_once();
    Mix: "share of a menu found by words, if retrieve is both",
        real("mix", "mix", 0.5, (0.0, 1.0, 0.05)).at_once().read_by(BOTH_RANKINGS);
    Near: "how well a tool must match by states, as a share of the best match, if retrieve is both",
        real("near", "near", 1.0, (0.0, 1.0, 0.05)).at_once().read_by(BOTH_RANKINGS);
    CallJudge: "cotools: whether the judge ends the text where a call starts, or only marks it",
        choice::<CallJudge>("call_judge", "call", CallJudge::Act as usize).at_once()
            .read_by(COTOOLS);
    Theta: "cotools: the probability above which a call starts after a token (CoTools, eq. 4)",
        real("theta", "θ", 0.5, (0.0, 1.0, 0.05)).at_once().read_by(COTOOLS);
    CallK: "cotools: how many of the best tools are offered where a call starts; 1 is the paper's",
        whole("call_k", "k", 5.0, (1.0, 100.0, 1.0)).read_by(COTOOLS);
    Skip: "watch: a call that is answered here does not reach the agent; its model is asked on",
        switch("skip", "skip", false).read_by(WATCHED).watching();
    Scores: "watch: score the tools at the end of each task, by rules; the agent does not see it",
        switch("scores", "score", false).at_once().read_by(WATCHED).watching();
}

/// Values from the first to the second number of the range; the third is the change of one key press.
const EVERY: KnobReader = reader(|_, _| true, "");
const LEARNING: KnobReader =
    reader(|strategy, _| strategy.learns(), "this strategy does not use the weights of the graph");
const PLANNING: KnobReader = reader(|strategy, _| strategy.btp, "only +btp plans a budget");
const BUDGETED: KnobReader =
    reader(|strategy, _| strategy.btp || strategy.prompt, "only +btp and +prompt read the budget");
const RETRYING: KnobReader =
    reader(|strategy, _| strategy.reflexion, "only +reflexion tries a task again");
const PROGRAMS: KnobReader =
    reader(|strategy, _| strategy.base == Base::Atc, "only atc writes programs");
const PROBING: KnobReader = reader(|_, _| false, "used only by probing");
const COTOOLS: KnobReader =
    reader(|strategy, _| strategy.base == Base::Cotools, "only cotools asks where a call starts");
const BOTH_RANKINGS: KnobReader = reader(
    |_, retrieve| retrieve == Retrieve::Both,
    "used only if both words and states rank (knob retrieve)",
);
const WATCHED: KnobReader = KnobReader {
    is_foreign: true,
    ..reader(|_, _| false, "only an agent that is watched can be kept from a call")
};

const fn reader(reads: fn(Strategy, Retrieve) -> bool, why_unread: &'static str) -> KnobReader {
    KnobReader { reads, why_unread, is_foreign: false }
}

const fn real(
    name: &'static str,
    symbol: &'static str,
    default: f64,
    (min, max, step): (f64, f64, f64),
) -> KnobSpec {
    KnobSpec {
        knob: Knob::Alpha,
        name,
        symbol,
        kind: KnobKind::Real,
        min,
        max,
        step,
        default,
        takes: Takes::NextStep,
        reader: EVERY,
        replans: false,
        is_watching: false,
        doc: "",
    }
}

const fn whole(
    name: &'static str,
    symbol: &'static str,
    default: f64,
    range: (f64, f64, f64),
) -> KnobSpec {
    KnobSpec { kind: KnobKind::Whole, ..real(name, symbol, default, range) }
}

const fn switch(name: &'static str, symbol: &'static str, default: bool) -> KnobSpec {
    let default = if default { 1.0 } else { 0.0 };
    KnobSpec { kind: KnobKind::Switch, ..real(name, symbol, default, (0.0, 1.0, 1.0)) }
}

const fn choice<C: KnobChoice>(
    name: &'static str,
    symbol: &'static str,
    default: usize,
) -> KnobSpec {
    let range = (0.0, (C::NAMES.len() - 1) as f64, 1.0);
    KnobSpec { kind: KnobKind::Choice(C::NAMES), ..real(name, symbol, default as f64, range) }
}

impl KnobSpec {
    const fn at_once(mut self) -> Self {
        self.takes = Takes::AtOnce;
        self
    }

    const fn next_task(mut self) -> Self {
        self.takes = Takes::NextTask;
        self
    }

    const fn read_by(mut self, reader: KnobReader) -> Self {
        self.reader = reader;
        self
    }

    const fn replanning(mut self) -> Self {
        self.replans = true;
        self
    }

    const fn watching(mut self) -> Self {
        self.is_watching = true;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_of_its_knob() {
        for spec in KNOBS {
            assert_eq!(spec.check(spec.default), Ok(spec.default), "{}", spec.name);
        }
    }

    #[test]
    fn what_a_plan_is_made_of_makes_it_again() {
        let replanning = KNOBS.iter().filter(|spec| spec.replans);
        let names: Vec<_> = replanning.map(|spec| spec.name).collect();
        assert_eq!(names, ["budget", "tau", "spread", "estimate", "judge"]);
    }
}
