//! `toolyard ask`: the recorded call of a watched agent, asked again of two endpoints. One fails at times, their replies come in
//! other orders than they were asked for, and their texts are hostile.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::fake_endpoint::{Fake, Script, Step, json as document, stream, stream_head};
use crate::program::{Home, Ran};

const KEY: &str = "ask-Hq83LpVt5wZ2";
/// Its third effect is the model call of a watched agent, with a result in its past.
const JOURNAL: &str = "tests/data/journals/watched-fault.jsonl";

fn answer(text: &str, arguments: Option<&str>) -> String {
    let call = |arguments: &str| {
        json!([{ "id": "c", "type": "function",
            "function": { "name": "weather", "arguments": arguments } }])
    };
    let calls = arguments.map_or(Value::Null, call);
    let message = json!({ "role": "assistant", "content": text, "tool_calls": calls });
    let choice = json!({ "index": 0, "finish_reason": "stop", "message": message });
    let usage = json!({ "prompt_tokens": 1000, "completion_tokens": 100 });
    json!({ "choices": [choice], "usage": usage }).to_string()
}

fn after(ms: u64, script: Script) -> Script {
    [Step::Wait(Duration::from_millis(ms))].into_iter().chain(script).collect()
}

/// An endpoint whose later replies come first.
async fn steady() -> Fake {
    let says = |arguments| document("200 OK", &answer("I look.", Some(arguments)));
    Fake::start(vec![
        after(300, says(r#"{"city": "Oslo", "day": 1}"#)),
        after(150, says(r#"{"day": 1, "city": "Oslo"}"#)),
        says(r#"{"city": "Oslo", "day": 2}"#),
        says(r#"{ "city":"Oslo","day":1 }"#),
        document("200 OK", &answer("Sunny.", None)),
    ])
    .await
}

/// An endpoint that refuses a request, breaks off an answer, and repeats the key and hostile bytes.
async fn hostile() -> Fake {
    let bad = "\u{1b}]0;owned\u{7}\u{9b}2J pay\u{202e}txt";
    let half = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"It is half"}}]}"#;
    Fake::start(vec![
        document("200 OK", &answer(bad, Some(&json!({ "city": bad }).to_string()))),
        document("400 Bad Request", &json!({ "error": { "message": bad } }).to_string()),
        stream(&[half]),
        document("200 OK", &answer(&format!("The key is {KEY}."), None)),
        document("200 OK", &answer(&"long ".repeat(4000), Some(r#"{"city": "Oslo", "day": 1}"#))),
    ])
    .await
}

fn configure(home: &Home, steady: &str, hostile: &str) {
    let model = |name: &str, url: &str, prices: &str| {
        format!(
            "[models.{name}]\nkind = \"openai\"\nurl = \"{url}\"\nmodel = \"{name}-1\"\n{prices}\
             retries = 0\nkey_env = \"ASK_KEY\"\n"
        )
    };
    let prices = "price_in = 1.0\nprice_out = 2.0\n";
    home.write("c.toml", model("steady", steady, prices) + &model("hostile", hostile, ""));
    std::fs::copy(crate::sources::root().join(JOURNAL), home.path("j.jsonl")).unwrap();
}

const ASK: [&str; 6] = ["ask", "j.jsonl", "--call", "3", "--config", "c.toml"];

async fn asked(home: &Home, more: &[&str]) -> Ran {
    let mut command = home.command(&[&ASK[..], more].concat());
    command.env("ASK_KEY", KEY);
    Ran::of(tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap())
}

/// The row of a table that begins like this.
fn row<'a>(ran: &'a Ran, begin: &str) -> Vec<&'a str> {
    let line = ran.out.lines().find(|line| line.starts_with(begin));
    let line = line.unwrap_or_else(|| panic!("no {begin:?} in {ran:?}"));
    line[begin.len()..].split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_endpoints_are_asked_five_times_each_and_nothing_else_is_sent() {
    let home = Home::new();
    let (steady, hostile) = (steady().await, hostile().await);
    configure(&home, &steady.url, &hostile.url);
    let ran = asked(&home, &["--model", "steady,hostile"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(row(&ran, r#"weather {"city":"Oslo","day":1} "#), ["3 of 5", "1 of 3", "✓"]);
    assert_eq!(row(&ran, r#"weather {"city":"Oslo","day":2} "#), ["1 of 5", "0 of 3"]);
    assert_eq!(row(&ran, "text without a call "), ["1 of 5", "1 of 3"]);
    assert_eq!(row(&ran, "no reply "), ["0", "2"]);
    assert_eq!(row(&ran, "not sent "), ["0", "0"]);
    assert_eq!(row(&ran, "tokens out "), ["500", "300"]);
    // 5 × (1000 × $1 + 100 × $2) / 1,000,000
    assert_eq!(row(&ran, "cost "), ["$0.0060", "$ unknown"]);
    let places: Vec<_> = ran.out.lines().filter(|line| line.starts_with("steady ")).collect();
    assert_eq!(places.len(), 5, "{ran:?}");
    assert!(
        places.last().unwrap().starts_with("steady 1 "),
        "they come as they are ready: {ran:?}"
    );
    let hides = !ran.out.contains(KEY) && ran.out.contains("The key is [key].");
    assert!(hides, "{ran:?}");
    let obeyed = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!ran.out.contains(obeyed) && !ran.err.contains(obeyed), "{ran:?}");
    assert!(ran.out.lines().all(|line| line.chars().count() < 200), "{ran:?}");
    let bodies = [steady.bodies(), hostile.bodies()];
    for (bodies, model) in bodies.iter().zip(["steady-1", "hostile-1"]) {
        assert_eq!(bodies.len(), 5);
        assert!(bodies.iter().all(|body| *body == bodies[0]), "the same request each time");
        assert_eq!(bodies[0]["model"], model);
        let roles = bodies[0]["messages"].as_array().unwrap().iter();
        let roles: Vec<_> = roles.map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "tool"]);
        assert_eq!(bodies[0]["tools"][0]["function"]["name"], "weather");
    }
    assert!(!home.path("toolyard").exists(), "nothing is recorded");
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_get_one_object_with_whole_replies_and_the_edited_prompt_is_sent() {
    let home = Home::new();
    let (steady, hostile) = (steady().await, hostile().await);
    configure(&home, &steady.url, &hostile.url);
    // The agent's own body has more than a request here.
    let journal = home.succeed(&["journal", "cat", "j.jsonl"]);
    let more = journal.replace(r#""tool_call_id":"c0""#, r#""tool_call_id":"c0","hologram":1"#);
    home.write(
        "j.jsonl",
        more.replace(r#""stream":false}"#, r#""stream":false,"logit_bias":{"1":2}}"#),
    );
    let ran =
        asked(&home, &["--model", "steady,hostile", "--json", "--set", "prompt=In Porto?"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    let notes = told["notes"].as_array().unwrap();
    let unsent =
        "not sent again, since requests here have no such field: logit_bias, messages[].hologram";
    assert_eq!(notes[0], unsent);
    assert_eq!(notes[1], "the last message of the user is now: In Porto?");
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert_eq!((&told["recorded"]["id"], &told["stopped"]), (&json!(3), &json!(false)));
    assert_eq!(
        told["recorded"]["phase"]["done"]["reply"]["calls"][0]["arguments"],
        json!({"city": "Oslo", "day": 1})
    );
    let sums = |model: &str| {
        ["replies", "failed", "tokens_in"].map(|name| told["models"][model][name].clone())
    };
    assert_eq!(sums("steady"), [5, 0, 5000].map(Value::from));
    assert_eq!(sums("hostile"), [3, 2, 3000].map(Value::from));
    let first = &told["choices"][0];
    assert_eq!(
        (&first["counts"], &first["recorded"]),
        (&json!({"steady": 3, "hostile": 1}), &json!(true))
    );
    let replies = told["replies"].as_array().unwrap();
    assert_eq!(replies.len(), 10);
    let texts: String = replies.iter().filter_map(|it| it["reply"]["text"].as_str()).collect();
    assert!(texts.contains("long long") && texts.contains('\u{1b}') && !ran.out.contains('\u{1b}'));
    assert!(!ran.out.contains(KEY));
    for body in steady.bodies().iter().chain(&hostile.bodies()) {
        assert_eq!(body["messages"][1]["content"], "In Porto?");
        assert!(body.get("logit_bias").is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_keeps_what_was_paid_for_and_closes_what_is_under_way() {
    let home = Home::new();
    let steady = steady().await;
    let hanging = Fake::start((0..5).map(|_| vec![stream_head(), Step::Hang]).collect()).await;
    configure(&home, &steady.url, &hanging.url);
    let mut command =
        home.command(&[&ASK[..], &["--model", "steady,hostile", "--at-once", "8"]].concat());
    let mut child = command.env("ASK_KEY", KEY).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let pid = Pid::from_child(&child);
    let ended = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        while text.matches("\nsteady ").count() < 3 {
            assert!(out.read_line(&mut text).unwrap() > 0, "{text}");
        }
        kill_process(pid, Signal::INT).unwrap();
        out.read_to_string(&mut text).unwrap();
        (child.wait().unwrap().code(), text)
    });
    let (code, text) = ended.await.unwrap();
    assert_eq!(code, Some(130), "{text}");
    let ran = Ran { code: 130, out: text, err: String::new() };
    let replies: usize = row(&ran, "no reply ").len();
    assert_eq!(replies, 2, "{ran:?}");
    assert!(row(&ran, "cost ")[0].starts_with("≥ $0.00"), "{ran:?}");
    assert!(
        ran.out.contains("cut off before its end") && ran.out.contains("\nstopped: "),
        "{ran:?}"
    );
    assert!(ran.out.contains("\nhostile 1 "), "{ran:?}");
    tokio::time::timeout(Duration::from_secs(10), hanging.left.notified()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_dollars_holds() {
    let home = Home::new();
    let fake = steady().await;
    configure(&home, &fake.url, &fake.url);
    let ran = asked(&home, &["--model", "steady", "--max-dollars", "0.003"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    let limit = "note: steady: the limit of dollars is reached: 0.0024 of 0.0030 are spent";
    assert!(ran.out.contains(limit), "{ran:?}");
    assert_eq!((row(&ran, "not sent "), fake.bodies().len()), (vec!["3"], 2));
}

#[test]
fn what_cannot_be_asked_is_said_with_what_can() {
    let home = Home::new();
    configure(&home, "http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1");
    home.write("torn.jsonl", "{\"toolyard_journal\":4,");
    let ask = |arguments: &[&str]| home.run(&[&["ask"], arguments].concat());
    let near = "j.jsonl: call 4 is a tool call, not a model call; the nearest model calls: 1, 3, 5, 6, 8, 10";
    let known = "(known: simulated, steady, hostile)";
    for (arguments, why) in [
        (&["j.jsonl"][..], "--call <N>"),
        (&["j.jsonl", "--call", "4"], near),
        (
            &["j.jsonl", "--call", "4000000000"],
            "no model call; the nearest model calls: 1, 3, 5, 6, 8, 10",
        ),
        (&["j.jsonl", "--call", "-1"], "expected a whole number"),
        (&["torn.jsonl", "--call", "1"], "torn.jsonl"),
        (&["none.jsonl", "--call", "1"], "none.jsonl: No such file"),
        (&["--call", "1"], "no journals in"),
        (&["j.jsonl", "--call", "3", "--config", "c.toml"], known),
        (
            &["j.jsonl", "--call", "3", "--config", "c.toml", "--model", "stedy"],
            "did you mean `steady`? (known: ",
        ),
        (&["j.jsonl", "--call", "3", "--times", "0"], "1..=1000"),
        (&["j.jsonl", "--call", "3", "--set", "reply=x"], "expected prompt=TEXT"),
        (&["j.jsonl", "--call", "3", "--set", "prompt= "], "expected a text"),
    ] {
        let ran = ask(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}: {ran:?}");
        assert!(ran.err.contains(why), "{arguments:?}: {ran:?}");
    }
    // Nobody answers there: each call is a row.
    let ran =
        ask(&["j.jsonl", "--call", "3", "--config", "c.toml", "--model", "steady", "--times", "2"]);
    assert_eq!((ran.code, row(&ran, "no reply ")), (1, vec!["2"]), "{ran:?}");
}

#[test]
fn a_session_of_toolyard_is_asked_again_of_its_own_model() {
    let home = Home::new();
    home.run(&["run", "--strategy", "react", "--tasks-limit", "1", "--journal", "j.jsonl"]);
    let told: Value =
        serde_json::from_str(&home.succeed(&["ask", "j.jsonl", "--call", "1", "--json"])).unwrap();
    let first = &told["choices"][0];
    assert_eq!((&first["recorded"], &first["counts"]), (&json!(true), &json!({"simulated": 5})));
    assert_eq!(told["models"]["simulated"]["dollars"], 0.0);
}

/// A model that has its tools in a text is understood as in its session.
#[tokio::test(flavor = "multi_thread")]
async fn calls_in_a_text_are_choices() {
    let home = Home::new();
    let act = |n: u32| {
        let text = format!(
            "Thought: I compute.\nAction: calculator\nAction Input: {{\"expression\": \"{n} * 23\"}}"
        );
        document("200 OK", &answer(&text, None))
    };
    let end = document("200 OK", &answer("Thought: I know.\nFinal Answer: 391", None));
    let fake = Fake::start(vec![act(17), end, act(17), act(18), act(17)]).await;
    let endpoint = format!("kind = \"openai\"\nurl = \"{}\"\nmodel = \"t\"", fake.url);
    home.write(
        "c.toml",
        format!("[models.t]\n{endpoint}\ntools = \"text\"\n[roles]\ndefault = \"t\"\n"),
    );
    let run = ["run", "--strategy", "react", "--config", "c.toml", "--journal", "j.jsonl"];
    let run = [&run[..], &["What is 17 times 23?"]].concat();
    let ask = ["ask", "j.jsonl", "--call", "1", "--config", "c.toml", "--times", "3"];
    let (mut run, mut ask) = (home.command(&run), home.command(&ask));
    let (first, second) = tokio::task::spawn_blocking(move || {
        (Ran::of(run.output().unwrap()), Ran::of(ask.output().unwrap()))
    })
    .await
    .unwrap();
    assert_eq!((first.code, second.code), (0, 0), "{first:?} {second:?}");
    assert_eq!(row(&second, r#"calculator {"expression":"17 * 23"} "#), ["2 of 3", "✓"]);
    assert_eq!(row(&second, r#"calculator {"expression":"18 * 23"} "#), ["1 of 3"]);
    let bodies = fake.bodies();
    assert!(bodies[2..].iter().all(|body| *body == bodies[0]), "{bodies:?}");
}
