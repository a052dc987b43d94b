//! What the rest of a budget allows, at the very edge of it: calls, answers, seconds, and a change of the plan.

use std::sync::Arc;

use serde_json::json;
use toolyard::domain::rates::Rates;
use toolyard::domain::retrieve::Lexical;
use toolyard::domain::{
    BudgetEvent, By, ChangeEvent, Knob, KnownTool, ModelSpec, PastResults, Plan, PlanEvent,
    PlanStep, Refusal, Request, Role, TaskId, ToolName, tokens,
};
use toolyard::papers::btp::candidates::{self, HelpfulTool};
use toolyard::papers::btp::policy::Policy;

use crate::spending::{Candidate, plan};
use crate::story::{Story, tool};

const TASK: TaskId = TaskId(1);

/// A search costs 3 credits and a look-up 2. The model is free.
const TOOLS: [Candidate<'static>; 2] =
    [("search_web", 3.0, 0.5, 3, 2, 9, "planned"), ("wikipedia", 2.0, 0.3, 1, 1, 9, "planned")];

fn story(credits_per_second: f64) -> Story {
    let rates = Rates { credits_per_second: credits_per_second.into(), ..Rates::default() };
    let mut story = Story::opened("react+btp", rates);
    story.join(TOOLS.map(|(name, cost, ..)| tool(name, "", cost)));
    story.queue(&[("How high is Mount Orla?", None)]).start(1);
    story
}

/// A model call costs 0.75 credits.
fn of_unknown_price() -> Story {
    let rates = Rates { unknown_ask: 0.75.into(), ..Rates::default() };
    let mut story = Story::opened("react+btp", rates);
    story.tell(ChangeEvent::RoleBound {
        role: Role::Actor,
        model: "local".into(),
        was: "sim".into(),
        by: By::User,
    });
    story.join(TOOLS.map(|(name, cost, ..)| tool(name, "", cost)));
    story.queue(&[("How high is Mount Orla?", None)]).start(1);
    story
}

fn planned() -> Story {
    let mut story = story(0.0);
    story.planned(1, "the task begins", plan(0.0, &TOOLS));
    story
}

fn turn(story: &mut Story, budget: f64) {
    let was = story.state().knobs.get(Knob::Budget);
    story.tell(ChangeEvent::KnobTurned {
        knob: Knob::Budget,
        value: budget.into(),
        was: was.into(),
        by: By::User,
    });
}

fn policy(story: &Story) -> Policy<'_> {
    Policy { state: story.state().in_shown(), known: &[], allotted: 0.0 }
}

/// A dollar a token, read or written.
fn dear(story: &Story) -> ModelSpec {
    let model = story.state().models.known.values().next().unwrap();
    ModelSpec { price_in: Some(1e6.into()), price_out: Some(1e6.into()), ..model.spec.clone() }
}

fn request(max_tokens: Option<u32>) -> Arc<Request> {
    let request = json!({
        "role": "actor",
        "messages": [{"from": "user", "text": "How high is it?"}],
        "max_tokens": max_tokens,
    });
    Arc::new(serde_json::from_value(request).unwrap())
}

#[test]
fn an_embedding_is_afforded_up_to_the_last_credit_with_the_time_for_it() {
    let text = "How high is Mount Orla?";
    for per_second in [0.0, 10.0] {
        let mut story = story(per_second);
        let model = dear(&story);
        let dollars = tokens::count(text) as f64;
        let cost = dollars * story.state().rates.credits_per_dollar;
        // Twice the margin of 0.02 seconds.
        let least = cost + 0.04 * per_second;
        turn(&mut story, least);
        assert_eq!(policy(&story).affords_embedding(TASK, &model, text), Ok(()));
        turn(&mut story, least - 0.05);
        let why = policy(&story).affords_embedding(TASK, &model, text).unwrap_err();
        assert!(why.starts_with("calling the embedding model costs about"), "{why}");
    }
}

#[test]
fn an_embedding_that_costs_nothing_or_has_no_budget_is_never_refused() {
    let text = "How high is Mount Orla?";
    let mut bounded = story(0.0);
    let model = dear(&bounded);
    let free =
        ModelSpec { price_in: Some(0.0.into()), price_out: Some(0.0.into()), ..model.clone() };
    turn(&mut bounded, 0.0);
    assert!(policy(&bounded).affords_embedding(TASK, &model, text).is_err());
    assert_eq!(policy(&bounded).affords_embedding(TASK, &free, text), Ok(()));
    let rates = Rates { credits_per_second: 1.0.into(), ..Rates::default() };
    let mut unbounded = Story::opened("react", rates);
    unbounded.queue(&[(text, None)]).start(1);
    turn(&mut unbounded, 0.0);
    assert_eq!(policy(&unbounded).affords_embedding(TASK, &model, text), Ok(()));
    assert_eq!(policy(&unbounded).embedding_seconds(TASK, &model, text), None);
}

#[test]
fn an_embedding_may_take_the_seconds_that_the_credits_left_buy() {
    let text = "How high is Mount Orla?";
    let mut timed = story(2.0);
    let model = dear(&timed);
    let cost = tokens::count(text) as f64 * timed.state().rates.credits_per_dollar;
    turn(&mut timed, cost + 10.0);
    let seconds = policy(&timed).embedding_seconds(TASK, &model, text).unwrap();
    assert!((seconds - 4.98).abs() < 1e-6, "{seconds}");
    assert_eq!(policy(&story(0.0)).embedding_seconds(TASK, &model, text), None, "free");
}

#[test]
fn an_answer_is_as_long_as_the_credits_left_pay_for() {
    let mut story = planned();
    let model = dear(&story);
    let each = story.state().rates.credits_per_dollar;
    let asked = request(None);
    let prompt = tokens::count_request(&asked) as f64;
    turn(&mut story, (prompt + 7.5) * each);
    let bounded = policy(&story).bounded(Role::Actor, &model, &asked);
    assert_eq!(bounded.max_tokens, Some(7));
    for (own, right) in [(6, 6), (7, 7), (8, 7)] {
        let bounded = policy(&story).bounded(Role::Actor, &model, &request(Some(own)));
        assert_eq!(bounded.max_tokens, Some(right));
    }
    // Never 0 tokens, and no bound that no answer reaches.
    turn(&mut story, 0.0);
    assert_eq!(policy(&story).bounded(Role::Actor, &model, &asked).max_tokens, Some(1));
    let cheap =
        ModelSpec { price_in: Some(0.0.into()), price_out: Some((1e-3).into()), ..model.clone() };
    turn(&mut story, 20.0);
    assert_eq!(policy(&story).bounded(Role::Actor, &cheap, &asked).max_tokens, None);
    let free = ModelSpec { price_in: Some(0.0.into()), price_out: Some(0.0.into()), ..model };
    assert_eq!(policy(&story).bounded(Role::Actor, &free, &asked).max_tokens, None);
}

/// Half of the credits left is for the time of the answer, where time costs any.
#[test]
fn an_answer_is_half_as_long_where_seconds_cost_credits() {
    let mut story = story(1.0);
    story.planned(1, "the task begins", plan(0.0, &TOOLS));
    let model = dear(&story);
    let each = story.state().rates.credits_per_dollar;
    let asked = request(None);
    let prompt = tokens::count_request(&asked) as f64;
    // The summary needs its time too.
    turn(&mut story, (prompt + 15.0) * each + 0.04);
    let bounded = policy(&story).bounded(Role::Actor, &model, &asked);
    assert_eq!(bounded.max_tokens, Some(7));
}

#[test]
fn a_plan_falls_short_when_the_credits_left_do_not_pay_for_its_uses() {
    let mut story = planned();
    // Two searches and a look-up.
    for (budget, falls_short) in [(8.0, false), (7.9, true), (0.0, true)] {
        turn(&mut story, budget);
        assert_eq!(policy(&story).falls_short(), falls_short, "{budget}");
    }
    for name in ["search_web", "search_web", "wikipedia"] {
        let call = story.call(1, 1, (name, json!({"query": "x"}), Ok("found"), 10));
        story.judge(call, true, "it helps");
    }
    assert!(!policy(&story).falls_short(), "nothing of the plan is left to pay for");
}

#[test]
fn a_plan_is_news_when_the_budget_or_the_uses_of_a_tool_differ() {
    let story = planned();
    let is_news = |change: fn(&mut toolyard::domain::BudgetPlan)| {
        let mut again = plan(0.0, &TOOLS);
        change(&mut again);
        policy(&story).is_news(&again)
    };
    assert!(!is_news(|_| {}));
    assert!(is_news(|plan| plan.budget = 21.0.into()));
    assert!(is_news(|plan| plan.tools[0].uses = 1));
    assert!(is_news(|plan| plan.tools[1].limit = 0));
    assert!(!is_news(|plan| plan.tools[0].limit = 9), "the uses are the same");
    assert!(is_news(|plan| drop(plan.tools.pop())));
}

#[test]
fn a_blacklisted_tool_may_be_set_to_no_use_only() {
    let mut story = planned();
    let name: ToolName = "wikipedia".into();
    assert_eq!(policy(&story).may_set(&name, 1), Ok((TASK, 1)));
    let why = "nothing found".to_owned();
    story.tell(BudgetEvent::ToolBlacklisted { task: TASK, tool: name.clone(), why });
    let why = policy(&story).may_set(&name, 1).unwrap_err();
    assert_eq!(why, "wikipedia is blacklisted for this task");
    assert!(policy(&story).may_set(&name, 0).is_ok());
}

/// Five tools for the weather, and one for money.
fn weather() -> (Story, Lexical) {
    let mut story = Story::opened("react+btp", Rates::default());
    let named = |name: &str, says: &str| {
        let mut tool = tool(name, "", 1.0);
        tool.description = says.to_owned();
        tool
    };
    let tools = [
        named("a_forecast", "the weather of tomorrow"),
        named("b_archive", "the weather of past years"),
        named("c_currency", "what money is worth"),
        named("d_rain", "weather: rain"),
    ];
    let index = Lexical::of_session(&tools);
    story.join(tools);
    story.queue(&[("Which weather is it?", None)]).start(1);
    story.tell(ChangeEvent::KnobTurned {
        knob: Knob::Candidates,
        value: 2.0.into(),
        was: story.state().knobs.get(Knob::Candidates).into(),
        by: By::User,
    });
    (story, index)
}

#[test]
fn candidates_are_those_that_helped_and_those_that_match_in_turn() {
    let (story, index) = weather();
    let helped = |tool: &str, similarity| HelpfulTool { tool: tool.into(), similarity, queries: 1 };
    let found = |helped: Vec<HelpfulTool>| {
        let found = candidates::candidates(story.state().in_shown(), &index, "the weather", helped);
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let matching = found(vec![]);
    assert_eq!(matching.len(), 2);
    assert!(!matching.contains(&"c_currency".to_owned()), "{matching:?}");
    assert_eq!(found(vec![helped("c_currency", 0.8)]), ["c_currency", &matching[0]]);
    // What helped with a task half as similar still counts, and no further.
    let two = |second| found(vec![helped(&matching[0], 0.8), helped("c_currency", second)]);
    assert_eq!(two(0.4), [&matching[0], "c_currency"]);
    assert_eq!(two(0.39), matching);
}

#[test]
fn further_candidates_match_the_need_first() {
    let (story, index) = weather();
    let others = |needs: &[&str], known: &[&str]| {
        let is_known = |tool: &ToolName| known.contains(&tool.as_str());
        candidates::others(story.state().in_shown(), &index, needs, "the weather", is_known)
            .map(|tools| tools.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let [suit, any] = others(&["money"], &[]);
    assert_eq!((suit.len(), suit[0].as_str()), (2, "c_currency"));
    assert_eq!(any.len(), 2);
    assert!(any.iter().all(|tool| !suit.contains(tool)), "{suit:?} {any:?}");
    // Known ones among the first matches do not hide the others.
    let [suit, _] = others(&[], &[]);
    let known: Vec<&str> = suit.iter().map(String::as_str).collect();
    let [further, any] = others(&[], &known);
    assert_eq!((further.len(), any), (1, vec!["c_currency".to_owned()]));
}

#[test]
fn a_budget_widens_a_plan_while_it_pays_for_a_use_and_the_answer() {
    let mut story = of_unknown_price();
    assert!(!story.state().in_shown().may_widen(), "there is no plan yet");
    story.planned(1, "the task begins", plan(0.0, &TOOLS));
    // A use of 2 credits with the decision on it, and the call that answers.
    for (budget, may_widen) in [(3.5, true), (3.4, false)] {
        turn(&mut story, budget);
        assert_eq!(story.state().in_shown().may_widen(), may_widen, "{budget}");
    }
    turn(&mut story, 3.5);
    let why = "nothing found".to_owned();
    story.tell(BudgetEvent::ToolBlacklisted { task: TASK, tool: "wikipedia".into(), why });
    assert!(!story.state().in_shown().may_widen(), "the other tool is too dear");
}

#[test]
fn a_limit_of_dollars_concerns_models_that_cost_any() {
    let mut state = story(0.0).state().clone();
    state.max_dollars = Some(2.0.into());
    let mut limit = |simulated: bool, dollars: Option<f64>| {
        for known in state.models.known.values_mut() {
            let spec = ModelSpec {
                price_in: dollars.map(Into::into),
                price_out: dollars.map(Into::into),
                ..known.spec.clone()
            };
            known.spec = ModelSpec { simulated, ..spec };
        }
        state.dollar_limit()
    };
    assert_eq!(limit(false, Some(1.0)), Some(2.0.into()));
    assert_eq!(limit(false, Some(0.0)), None);
    assert_eq!(limit(false, None), None);
    assert_eq!(limit(true, Some(1.0)), None);
}

/// A menu or a plan for another value of a knob is made of the same rates and measurements.
#[test]
fn a_turned_knob_changes_no_cost() {
    let mut story = story(2.0);
    story.step(1, 1, "start");
    story.call(1, 1, ("search_web", json!({"query": "x"}), Ok("found"), 1_500));
    let state = story.state();
    let turned = state.with_knob(Knob::Tau, 0.3);
    assert_eq!(turned.knobs.get(Knob::Tau), 0.3);
    let (name, decides) = ("search_web".into(), toolyard::domain::strategy::Decides::OnEachUse);
    // The declared 3 credits, and 1.5 seconds at 2 credits each.
    assert_eq!(state.use_cost(&name, decides), 6.0);
    assert_eq!(turned.use_cost(&name, decides), 6.0);
    assert_eq!(turned.in_shown().credits_left(), state.in_shown().credits_left());
    // The declared 3 credits, and the decision on it.
    let priced = of_unknown_price();
    for state in [priced.state(), &priced.state().with_knob(Knob::Tau, 0.3)] {
        assert_eq!(state.use_cost(&name, decides), 3.75);
    }
}

#[test]
fn calls_leave_the_credits_for_the_summary() {
    let mut story = of_unknown_price();
    story.planned(1, "the task begins", plan(0.0, &TOOLS));
    for (budget, affords) in [(1.5, true), (1.4, false)] {
        turn(&mut story, budget);
        assert_eq!(policy(&story).affords_model_call(Role::Actor).is_ok(), affords, "{budget}");
    }
    // The summary itself, and calls beside the agent.
    turn(&mut story, 0.75);
    assert_eq!(policy(&story).affords_model_call(Role::Solver), Ok(()));
    turn(&mut story, 0.0);
    assert_eq!(policy(&story).affords_model_call(Role::Evaluator), Ok(()));
    // A use of 2 credits, the decision on it, and the summary.
    let name: ToolName = "wikipedia".into();
    for (budget, allotted, affords) in
        [(3.5, 0.0, true), (3.4, 0.0, false), (4.5, 1.0, true), (4.4, 1.0, false)]
    {
        turn(&mut story, budget);
        let policy = Policy { allotted, ..policy(&story) };
        let refused = policy.affords_call(&name).map_err(|(refusal, _)| refusal);
        assert_eq!(refused, if affords { Ok(()) } else { Err(Refusal::TooDear) }, "{budget}");
    }
}

#[test]
fn a_task_is_over_its_budget_when_it_has_spent_more() {
    let mut story = planned();
    story.call(1, 1, ("wikipedia", json!({"query": "x"}), Ok("found"), 10));
    let task = story.state().task(TASK).unwrap();
    assert_eq!(task.credits(), 2.0);
    assert!(!task.is_over(2.0), "all of it may be spent");
    assert!(task.is_over(1.9));
}

/// What was on offer and was not called is not missing, until the agent uses another tool.
#[test]
fn an_agent_has_what_its_plan_allows_and_what_it_has_just_declined() {
    let mut story = planned();
    let mut known = KnownTool::new("weather".into(), PastResults::default());
    let had = |story: &Story, known: &KnownTool, tool: &str| {
        let known = std::slice::from_ref(known);
        Policy { known, ..policy(story) }.had(&tool.into())
    };
    assert!(had(&story, &known, "search_web"));
    assert!(!had(&story, &known, "weather"));
    known.declined = Some(0);
    assert!(had(&story, &known, "weather"));
    assert!(!had(&story, &known, "population"));
    story.call(1, 1, ("wikipedia", json!({"query": "x"}), Ok("found"), 10));
    assert!(!had(&story, &known, "weather"));
}

/// The calls that are ahead besides the uses of tools.
#[test]
fn a_planner_is_paid_for_once_there_is_its_plan() {
    let rates = Rates { unknown_ask: 0.75.into(), ..Rates::default() };
    let mut story = Story::opened("workers+btp", rates);
    for role in [Role::Planner, Role::Solver] {
        let (model, was) = ("local".into(), "sim".into());
        story.tell(ChangeEvent::RoleBound { role, model, was, by: By::User });
    }
    story.join(TOOLS.map(|(name, cost, ..)| tool(name, "", cost)));
    story.queue(&[("How high is Mount Orla?", None)]).start(1);
    assert_eq!(policy(&story).make_plan(TASK).reserve, 1.5, "the planner and the solver");
    let step = PlanStep { text: "look it up".into(), evidence: vec![] };
    story.tell(PlanEvent::PlanWritten { task: TASK, plan: Plan { steps: vec![step] }.into() });
    assert_eq!(policy(&story).make_plan(TASK).reserve, 0.75);
    // The planner alone is free now: it is no part of either sum.
    let (model, was) = ("sim".into(), "local".into());
    story.tell(ChangeEvent::RoleBound { role: Role::Planner, model, was, by: By::User });
    assert_eq!(policy(&story).make_plan(TASK).reserve, 0.75);
}

#[test]
fn a_plan_says_of_each_tool_why_it_has_no_use() {
    let mut story = planned();
    let known = [KnownTool::new("wikipedia".into(), PastResults::default())];
    let why = |story: &Story| {
        let plan = Policy { known: &known, ..policy(story) }.make_plan(TASK);
        plan.tools[0].why.clone()
    };
    turn(&mut story, 0.0);
    let before = why(&story);
    assert!(!before.contains("used up") && !before.contains("blacklisted"), "{before}");
    let mut above = story.state().clone();
    above.knobs.set(Knob::Tau, 1.0);
    above.knobs.set(Knob::Budget, 20.0);
    let past = PastResults { uses: 5, smoothed: (0.2.into(), 1), paper: (0.2.into(), 1) };
    let poor = [KnownTool::new("wikipedia".into(), past)];
    let none = Policy { known: &poor, state: above.in_shown(), allotted: 0.0 }.make_plan(TASK);
    assert_eq!(none.tools[0].why, "below tau: its expected value is too low");
    story.call(1, 1, ("wikipedia", json!({"query": "x"}), Ok("found"), 10));
    assert_eq!(why(&story), "used up: 1 of 1");
    let again = [KnownTool { more: 1, ..known[0].clone() }];
    let plan = Policy { known: &again, ..policy(&story) }.make_plan(TASK);
    assert!(!plan.tools[0].why.contains("used up"), "one more use: {}", plan.tools[0].why);
    let (tool, on, by) = ("wikipedia".into(), false, By::User);
    story.tell(ChangeEvent::ToolSwitched { tool, on, by });
    assert_eq!(why(&story), "not offered: removed or switched off");
    let (tool, why_not) = ("wikipedia".into(), "nothing found".to_owned());
    story.tell(BudgetEvent::ToolBlacklisted { task: TASK, tool, why: why_not });
    assert_eq!(why(&story), "blacklisted: its result did not help");
}

/// A search of 3 credits and a look-up of 2 wait at the same time.
#[test]
fn calls_that_wait_share_the_seconds_that_the_rest_of_the_budget_buys() {
    let mut story = story(1.0);
    story.planned(1, "the task begins", plan(0.0, &TOOLS));
    turn(&mut story, 20.0);
    let calls = ["search_web", "wikipedia"]
        .map(|tool| story.request_call(1, 1, tool, json!({"query": "x"})));
    // Each leaves what the other one costs, and the time for the summary.
    let seconds = calls.map(|call| policy(&story).call_time(call).unwrap());
    for (seconds, right) in seconds.into_iter().zip([8.98, 8.48]) {
        assert!((seconds - right).abs() < 1e-6, "{seconds} {right}");
    }
}

#[test]
fn uses_that_a_person_sets_count_in_the_plan_with_what_they_are_worth() {
    let mut story = planned();
    let known = [KnownTool::new("wikipedia".into(), PastResults::default())];
    for (name, uses) in [("wikipedia", 2), ("search_web", 1)] {
        let (tool, by) = (name.into(), By::User);
        story.tell(BudgetEvent::UsesSet { task: TASK, tool, uses, was: 0, by });
    }
    turn(&mut story, 20.0);
    let plan = Policy { known: &known, ..policy(&story) }.make_plan(TASK);
    let uses: Vec<_> =
        plan.tools.iter().map(|tool| (tool.tool.as_str(), tool.uses, tool.set)).collect();
    assert_eq!(uses, [("wikipedia", 2, true), ("search_web", 1, true)]);
    assert!(plan.tools[0].value > 0.0);
    assert_eq!(plan.value, 2.0 * plan.tools[0].value + plan.tools[1].value);
    assert_eq!(plan.cost, 2.0 * 2.0 + 3.0);
}

#[test]
fn what_is_ahead_of_a_plan_is_paid_for_with_the_end_of_the_task() {
    let mut story = planned();
    let ahead = |story: &Story| story.state().task(TASK).unwrap().budget.ahead();
    assert_eq!(ahead(&story), (8.0, 0.0));
    story.call(1, 1, ("search_web", json!({"query": "x"}), Ok("found"), 10));
    assert_eq!(ahead(&story), (5.0, 0.0));
    // Each use with the decision on it, and the call that answers.
    let mut priced = of_unknown_price();
    priced.planned(1, "the task begins", plan(0.0, &TOOLS));
    for (budget, falls_short) in [(11.0, false), (10.9, true)] {
        turn(&mut priced, budget);
        assert_eq!(policy(&priced).falls_short(), falls_short, "{budget}");
    }
    for name in ["search_web", "search_web", "wikipedia"] {
        priced.call(1, 1, (name, json!({"query": "x"}), Ok("found"), 10));
    }
    turn(&mut priced, 0.0);
    assert!(!policy(&priced).falls_short(), "nothing is ahead");
}
