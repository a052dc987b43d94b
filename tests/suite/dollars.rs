//! Real money: a session stops before the model call that would bring it above its limit.

use serde_json::{Value, json};
use toolyard::domain::{Event, ModelCallEvent, State};
use toolyard::store::journal;

use crate::fake_endpoint::{Fake, Script, json as document};
use crate::program::{Home, Ran};
use crate::sitting::Sitting;

/// An answer that costs 4 dollars and asks for a tool, or answers.
fn reply(calls: bool) -> Script {
    let function = json!({"name": "calculator", "arguments": "{\"expression\": \"1 + 1\"}"});
    let call = json!({"id": "c1", "type": "function", "function": function});
    let message = match calls {
        true => json!({"role": "assistant", "content": "I call.", "tool_calls": [call]}),
        false => json!({"role": "assistant", "content": "It is 2."}),
    };
    let usage = json!({"prompt_tokens": 1_000_000, "completion_tokens": 10});
    let body = json!({"choices": [{"message": message}], "usage": usage});
    document("200 OK", &body.to_string())
}

async fn home(prices: &str) -> (Fake, Home) {
    let fake = Fake::start(vec![reply(true), reply(true), reply(false)]).await;
    let home = Home::new();
    let config = format!(
        "[models.m]\nkind = \"openai\"\nurl = \"{}\"\nmodel = \"x\"\n{prices}\n\
         [roles]\ndefault = \"m\"\n",
        fake.url
    );
    home.write("c.toml", config);
    (fake, home)
}

async fn run(home: &Home, more: &[&str]) -> Ran {
    let run = ["run", "--config", "c.toml", "--strategy", "react", "--task", "What is 1 + 1?"];
    let mut command = home.command(&[&run[..], &["--journal", "j.jsonl"], more].concat());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    Ran::of(output.await.unwrap())
}

const CHEAP: &str = "price_in = 4\nprice_out = 4";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_ends_before_the_call_that_would_cost_too_much() {
    let (fake, home_of_default) = home("price_in = 100000\nprice_out = 0").await;
    let ran = run(&home_of_default, &[]).await;
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.out.contains("at most 5.00 dollars"), "{ran:?}");
    assert!(ran.out.contains("the limit of dollars is reached: 0.0000 of 5.00"), "{ran:?}");
    assert!(ran.out.contains("--max-dollars sets the limit"), "{ran:?}");
    assert!(fake.bodies().is_empty(), "the first call already costs too much");

    for (most, requests, code) in [("4.1", 1, 3), ("7.9", 1, 3), ("8.1", 2, 3), ("13", 3, 0)] {
        let (fake, home) = home(CHEAP).await;
        let ran = run(&home, &["--max-dollars", most]).await;
        assert_eq!((fake.bodies().len(), ran.code), (requests, code), "{most}: {ran:?}");
        let records = journal::read(&home.path("j.jsonl")).unwrap().records;
        let state = State::fold(&records);
        assert!((state.dollars_spent() - 4.00004 * requests as f64).abs() < 1e-9);
        let started = records.iter().filter(|record| {
            matches!(record.event, Event::ModelCall(ModelCallEvent::ModelCallStarted { .. }))
        });
        assert_eq!(started.count(), requests, "what is over the limit does not start");
    }
    let (_fake, home) = home(CHEAP).await;
    let first = run(&home, &["--max-dollars", "13", "--fresh"]).await;
    assert_eq!(first.code, 0, "{first:?}");
    let again = ["--recorded", "j.jsonl", "--fresh", "--max-dollars", "0", "--no-journal"];
    let run_again = ["run", "--config", "c.toml", "--strategy", "react"];
    let mut command = home.command(&[&run_again[..], &again].concat());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    let ran = Ran::of(output.await.unwrap());
    assert_eq!(ran.code, 0, "recorded answers cost nothing: {ran:?}");
    let ran = run(&home, &["--max-dollars", "-1"]).await;
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("--max-dollars: -1 is not from 0 to 1000000"), "{ran:?}");
}

/// An endpoint that gives this message to every call, with this part in its usage.
async fn saying(message: &Value, cost: &str) -> Fake {
    let usage = format!("{{\"prompt_tokens\": 1000000, \"completion_tokens\": 10{cost}}}");
    let body = format!("{{\"choices\": [{{\"message\": {message}}}], \"usage\": {usage}}}");
    Fake::start((0..40).map(|_| document("200 OK", &body)).collect()).await
}

const CHARGES: &str = ", \"cost\": 10";

/// An endpoint whose every call costs 10 dollars, as it says itself or as these prices say, or not at all.
async fn charging(cost: &str, prices: &str) -> (Fake, Home) {
    let function = json!({"name": "calculator", "arguments": "{\"expression\": \"1 + 1\"}"});
    let call = json!({"id": "c1", "type": "function", "function": function});
    let message = json!({"role": "assistant", "content": "I call.", "tool_calls": [call]});
    let fake = saying(&message, cost).await;
    let home = Home::new();
    let model = format!("kind = \"openai\"\nurl = \"{}\"\nmodel = \"gpt-a\"", fake.url);
    home.write("c.toml", format!("[models.m]\n{model}\n{prices}\n[roles]\ndefault = \"m\"\n"));
    (fake, home)
}

/// A second model, of which nobody knows what it costs, is expected to cost what the first one did.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_call_of_a_model_without_a_price_is_expected_to_cost_what_others_did() {
    for (most, requests) in [("15", 0), ("25", 1)] {
        let say = |text: &str| json!({"role": "assistant", "content": text});
        let planner = saying(&say("Plan: add\n#E1 = calculator[1 + 1]"), CHARGES).await;
        let solver = saying(&say("It is 2."), "").await;
        let home = Home::new();
        let model = |name: &str, fake: &Fake| {
            format!("[models.{name}]\nkind = \"openai\"\nurl = \"{}\"\nmodel = \"x\"\n", fake.url)
        };
        let models = [model("p", &planner), model("s", &solver)].concat();
        home.write("c.toml", models + "[roles]\ndefault = \"s\"\nplanner = \"p\"\n");
        let workers = ["--strategy", "workers", "--max-dollars", most];
        let run = ["run", "--config", "c.toml", "--task", "What is 1 + 1?", "--no-journal"];
        let mut command = home.command(&[&run[..], &workers].concat());
        let output = tokio::task::spawn_blocking(move || command.output().unwrap());
        let ran = Ran::of(output.await.unwrap());
        assert_eq!(planner.bodies().len(), 1, "{ran:?}");
        assert_eq!(solver.bodies().len().min(1), requests, "{most}: {ran:?}");
    }
}

/// Whoever knows the price, the limit holds: no call starts when one more like those before would exceed it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_holds_however_a_price_is_known() {
    let entry = json!({"litellm_provider": "openai", "mode": "chat",
        "input_cost_per_token": 1e-5, "output_cost_per_token": 1e-5});
    let table = json!({"gpt-a": entry}).to_string();
    for (cost, prices, most, requests) in [
        // The endpoint says what it charged.
        (CHARGES, "", "5", 1),
        (CHARGES, "", "35", 3),
        // It charges more than the configuration says.
        (CHARGES, "price_in = 0.1\nprice_out = 0.1", "25", 2),
        // The configuration, and a list of prices.
        ("", "price_in = 10\nprice_out = 10", "25", 2),
        ("", "provider = \"openai\"", "25", 2),
    ] {
        let (fake, home) = charging(cost, prices).await;
        home.write("table.json", &table);
        if prices.contains("provider") {
            home.succeed(&["import", "prices", "table.json"]);
        }
        let ran = run(&home, &["--max-dollars", most]).await;
        assert_eq!(fake.bodies().len(), requests, "{cost} {prices} {most}: {ran:?}");
        assert!(ran.out.contains("the limit of dollars is reached"), "{ran:?}");
        let state = State::fold(&journal::read(&home.path("j.jsonl")).unwrap().records);
        assert!((state.dollars_spent() - 10.0 * requests as f64).abs() < 0.001);
        assert_eq!(ran.code, 3, "{ran:?}");
    }
    // Nobody knows: the limit cannot stop it, and no sum is made up.
    let (fake, home) = charging("", "").await;
    let ran = run(&home, &["--max-dollars", "5"]).await;
    assert!(fake.bodies().len() > 3, "{ran:?}");
    let state = State::fold(&journal::read(&home.path("j.jsonl")).unwrap().records);
    assert_eq!(state.dollars_spent(), 0.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_asked_and_may_go_on() {
    let (fake, home) = home(CHEAP).await;
    let requests = || fake.seen.lock().unwrap().len();
    tokio::task::block_in_place(|| {
        let arguments = ["--config", "c.toml", "--strategy", "react", "--max-dollars", "4"];
        let arguments = [&["What is 1 + 1?"], &arguments[..], &["--no-journal"]].concat();
        let mut sitting = Sitting::start(&home, 200, 50, &arguments);
        sitting.wait_header("PAUSED");
        for requested in [1, 2] {
            sitting.press(" ");
            // The header has the sum of this request, and so is not the one before it.
            let sum = format!("${}.0", 4 * requested);
            sitting.wait_for("the pause at the limit", || {
                let header = sitting.header();
                requests() == requested && header.contains("PAUSED") && header.contains(&sum)
            });
            sitting.wait("of $4");
            // What was allowed before counts.
            sitting.wait(&format!("of {}.00", 4 * requested));
            sitting.wait("the limit of dollars is reached");
        }
        sitting.press(" ");
        sitting.wait("It is 2.");
        sitting.press("qy");
        sitting.end();
    });
    assert_eq!(fake.bodies().len(), 3);
}
