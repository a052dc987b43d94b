//! The knobs.

use super::choice::{
    Blacklist, CallJudge, Estimation, Judge, KnobChoice, ProbeSchema, Reflect, Retrieve, Schemas,
    Speed,
};
use super::name::Knob;
use super::spec::{KnobKind, KnobSpec, Takes};
use crate::graph::WeightFormat;

/// Every knob, in display order.
pub const KNOBS: &[KnobSpec] = &[
    real(
        Knob::Alpha,
        ("alpha", "α"),
        (0.0, 10.0, 0.05),
        0.5,
        Takes::AtOnce,
        "speed of learning: how strongly a score moves a weight (ToolNet, eq. 8)",
    ),
    real(
        Knob::Beta,
        ("beta", "β"),
        (0.0, 1.0, 0.05),
        0.5,
        Takes::AtOnce,
        "trust in the prior: 1 ignores scores, 0 ignores the prior (ToolNet, eq. 6)",
    ),
    whole(
        Knob::TopK,
        ("top_k", "K"),
        (1.0, 100.0, 1.0),
        8.0,
        Takes::NextStep,
        "how many tools the retriever puts on a task's first menu",
    ),
    whole(
        Knob::Explore,
        ("explore", "ex"),
        (0.0, 20.0, 1.0),
        2.0,
        Takes::NextStep,
        "how many non-successors that match the last thought are also offered",
    ),
    whole(
        Knob::MenuMax,
        ("menu_max", "menu"),
        (1.0, 10_000.0, 1.0),
        32.0,
        Takes::NextStep,
        "how many successors are offered at most, heaviest first",
    ),
    switch(
        Knob::FixTools,
        ("fix_tools", "fix"),
        true,
        Takes::NextTask,
        "define the same tools in every request of a task, for the prompt cache",
    ),
    choice::<WeightFormat>(
        ("weight_format", "w"),
        WeightFormat::Integer as usize,
        Takes::NextStep,
        "how the model sees a weight (ToolNet, table 5)",
    ),
    whole(
        Knob::MaxSteps,
        ("max_steps", "steps"),
        (1.0, 100.0, 1.0),
        8.0,
        Takes::NextStep,
        "steps per attempt; dfsdt and tot-dfs have limits of their own",
    ),
    whole(
        Knob::History,
        ("history", "hist"),
        (1.0, 100.0, 1.0),
        8.0,
        Takes::NextStep,
        "how many past steps the model sees",
    ),
    whole(
        Knob::ResultMax,
        ("result_max", "result"),
        (200.0, 10_000_000.0, 1000.0),
        32_000.0,
        Takes::NextStep,
        "characters of a tool result that a model sees; it can call `more` to read on",
    ),
    whole(
        Knob::Tries,
        ("tries", "tries"),
        (1.0, 10.0, 1.0),
        3.0,
        Takes::NextTask,
        "attempts per task with +reflexion",
    ),
    switch(
        Knob::Learn,
        ("learn", "learn"),
        true,
        Takes::AtOnce,
        "whether evaluations change scores; off freezes learning",
    ),
    switch(
        Knob::LearnInjected,
        ("learn_injected", "learn!"),
        true,
        Takes::AtOnce,
        "whether failures caused by faults lower scores",
    ),
    real(
        Knob::Temperature,
        ("temperature", "T"),
        (0.0, 2.0, 0.1),
        0.0,
        Takes::NextStep,
        "sampling temperature of the actor",
    ),
    whole(
        Knob::Concurrency,
        ("concurrency", "∥"),
        (1.0, 64.0, 1.0),
        8.0,
        Takes::NextStep,
        "how many tool calls may run in parallel",
    ),
    whole(
        Knob::MaxCalls,
        ("max_calls", "calls"),
        (1.0, 1000.0, 1.0),
        16.0,
        Takes::NextStep,
        "how many calls of one reply are made; the model sees that the others were not",
    ),
    choice::<Speed>(
        ("speed", "speed"),
        Speed::Off as usize,
        Takes::AtOnce,
        "speed of sample tools and the simulated model; 1: realistic; off: instant",
    ),
    real(
        Knob::Budget,
        ("budget", "B"),
        (0.0, 1e6, 1.0),
        20.0,
        Takes::AtOnce,
        "credits per task; +btp plans for them and enforces them (BTP, eq. 2)",
    )
    .replanning(),
    real(
        Knob::Tau,
        ("tau", "τ"),
        (0.0, 1.0, 0.05),
        0.15,
        Takes::AtOnce,
        "lowest expected value for which +btp plans a tool (BTP, section 2.2)",
    )
    .replanning(),
    whole(
        Knob::Candidates,
        ("candidates", "n"),
        (1.0, 1000.0, 1.0),
        16.0,
        Takes::NextTask,
        "how many tools +btp considers: by words, and by similar past tasks",
    ),
    real(
        Knob::Suits,
        ("suits", "suit"),
        (0.0, 1.0, 0.05),
        0.5,
        Takes::NextTask,
        "how well a candidate of +btp must match a task, as a share of the best match",
    ),
    real(
        Knob::Sharpness,
        ("sharpness", "sharp"),
        (1.0, 30.0, 1.0),
        1.0,
        Takes::NextTask,
        "+btp: how strongly past uses in similar tasks count; 1 is BTP (eq. 3)",
    ),
    switch(
        Knob::Spread,
        ("spread", "spread"),
        true,
        Takes::AtOnce,
        "+btp: plan one use of each tool before a second one, and spend all credits; off is BTP",
    )
    .replanning(),
    choice::<Estimation>(
        ("estimate", "est"),
        Estimation::Smoothed as usize,
        Takes::AtOnce,
        "how experience becomes values: smoothed, or as in the paper (BTP, eq. 3 and 4)",
    )
    .replanning(),
    switch(
        Knob::Widen,
        ("widen", "widen"),
        true,
        Takes::NextStep,
        "+btp: if no planned tool fits, the agent says what is missing and is replanned; off is BTP",
    ),
    choice::<Blacklist>(
        ("blacklist", "ban"),
        Blacklist::Protected as usize,
        Takes::AtOnce,
        "whether one useless result bans a tool from its task; protected spares what has helped",
    ),
    choice::<Judge>(
        ("judge", "judge"),
        Judge::Rules as usize,
        Takes::AtOnce,
        "who judges whether a result helped: rules (an error, nothing found) or a model",
    )
    .replanning(),
    switch(
        Knob::GoldFeedback,
        ("gold_feedback", "gold"),
        false,
        Takes::NextTask,
        "whether evaluator, reflector and experience may see if the answer is right",
    ),
    switch(
        Knob::Grader,
        ("grader", "grade"),
        false,
        Takes::AtOnce,
        "whether a model also grades each answer, beside exact match and token F1",
    ),
    whole(
        Knob::Programs,
        ("programs", "prog"),
        (1.0, 10.0, 1.0),
        3.0,
        Takes::NextStep,
        "atc: how many programs a task may have, the first one included (ATC, section 6.1)",
    ),
    choice::<Reflect>(
        ("reflect", "refl"),
        Reflect::Attribute as usize,
        Takes::NextStep,
        "atc: feedback for the next program after a failure: the blamed tool, only the error, or nothing",
    ),
    switch(
        Knob::Reuse,
        ("reuse", "reuse"),
        true,
        Takes::NextStep,
        "atc: whether a revised program gets the results of equal earlier calls that change nothing",
    ),
    choice::<Schemas>(
        ("schemas", "schema"),
        Schemas::Programs as usize,
        Takes::NextStep,
        "which prompts include the result schemas from probing: none, those of atc, or all",
    ),
    whole(
        Knob::ProbePasses,
        ("probe_passes", "pass"),
        (0.0, 10.0, 1.0),
        4.0,
        Takes::NextStep,
        "passes of a probing that use other tools; 0: each tool alone (ATC, section 6.2)",
    ),
    whole(
        Knob::ProbeSamples,
        ("probe_samples", "N"),
        (1.0, 10.0, 1.0),
        3.0,
        Takes::NextStep,
        "most programs per tool in each pass of a probing (ATC, section 6.2)",
    ),
    switch(
        Knob::ProbeAll,
        ("probe_all", "all"),
        false,
        Takes::NextStep,
        "whether a probing runs all samples and merges their results; off: the first answer is enough",
    ),
    choice::<ProbeSchema>(
        ("probe_schema", "shape"),
        ProbeSchema::Merged as usize,
        Takes::NextStep,
        "what a schema is learned from: all elements of lists, or the first one as in the paper",
    ),
    switch(
        Knob::ProbeEdges,
        ("probe_edges", "chain"),
        true,
        Takes::NextStep,
        "whether the tool graph gets an edge to a tool from the tool whose result it needs",
    ),
    choice::<Retrieve>(
        ("retrieve", "find"),
        Retrieve::Words as usize,
        Takes::AtOnce,
        "how tools are found for a text: by words, a reader's states, or both; with heads: both",
    ),
    real(
        Knob::Mix,
        ("mix", "mix"),
        (0.0, 1.0, 0.05),
        0.5,
        Takes::AtOnce,
        "share of a menu found by words, if retrieve is both",
    ),
    real(
        Knob::Near,
        ("near", "near"),
        (0.0, 1.0, 0.05),
        1.0,
        Takes::AtOnce,
        "how well a tool must match by states, as a share of the best match, if retrieve is both",
    ),
    choice::<CallJudge>(
        ("call_judge", "call"),
        CallJudge::Act as usize,
        Takes::AtOnce,
        "cotools: whether the judge ends the text where a call starts, or only marks it",
    ),
    real(
        Knob::Theta,
        ("theta", "θ"),
        (0.0, 1.0, 0.05),
        0.5,
        Takes::AtOnce,
        "cotools: the probability above which a call starts after a token (CoTools, eq. 4)",
    ),
    whole(
        Knob::CallK,
        ("call_k", "k"),
        (1.0, 100.0, 1.0),
        5.0,
        Takes::NextStep,
        "cotools: how many of the best tools are offered where a call starts; 1 is the paper's",
    ),
    switch(
        Knob::Skip,
        ("skip", "skip"),
        false,
        Takes::NextStep,
        "watch: a call that is answered here does not reach the agent; its model is asked on",
    ),
];

const fn real(
    knob: Knob,
    names: (&'static str, &'static str),
    range: (f64, f64, f64),
    default: f64,
    takes: Takes,
    doc: &'static str,
) -> KnobSpec {
    let (name, symbol) = names;
    let (min, max, step) = range;
    KnobSpec {
        knob,
        name,
        symbol,
        kind: KnobKind::Real,
        min,
        max,
        step,
        default,
        takes,
        replans: false,
        doc,
    }
}

const fn whole(
    knob: Knob,
    names: (&'static str, &'static str),
    range: (f64, f64, f64),
    default: f64,
    takes: Takes,
    doc: &'static str,
) -> KnobSpec {
    let mut spec = real(knob, names, range, default, takes, doc);
    spec.kind = KnobKind::Whole;
    spec
}

const fn switch(
    knob: Knob,
    names: (&'static str, &'static str),
    default: bool,
    takes: Takes,
    doc: &'static str,
) -> KnobSpec {
    let mut spec = real(knob, names, (0.0, 1.0, 1.0), 0.0, takes, doc);
    spec.kind = KnobKind::Switch;
    spec.default = if default { 1.0 } else { 0.0 };
    spec
}

const fn choice<C: KnobChoice>(
    names: (&'static str, &'static str),
    default: usize,
    takes: Takes,
    doc: &'static str,
) -> KnobSpec {
    let most = (C::NAMES.len() - 1) as f64;
    let mut spec = real(C::KNOB, names, (0.0, most, 1.0), default as f64, takes, doc);
    spec.kind = KnobKind::Choice(C::NAMES);
    spec
}

impl KnobSpec {
    const fn replanning(mut self) -> Self {
        self.replans = true;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (i, spec) in KNOBS.iter().enumerate() {
            assert_eq!(spec.knob as usize, i, "{}", spec.name);
            assert_eq!(spec.knob.spec().name, spec.name);
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
