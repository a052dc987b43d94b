//! What watched agents cost: prices by the table behind an address of no provider, limits that a person gave, and the
//! default, which ends nothing.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use toolyard::domain::State;
use toolyard::store::journal;

use super::http::Message;
use crate::program::{Home, Ran};

/// Half a million tokens in, of which 400,000 are from the cache, and 1,000 out, of which 900 are thoughts.
const USED: (u64, u64, u64) = (100_000, 400_000, 1_000);

/// An endpoint of all three wires. Returns its address, and the bodies that it gets.
fn endpoint() -> (SocketAddr, Arc<Mutex<Vec<Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, bodies) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<Value>>>::default());
    let kept = Arc::clone(&bodies);
    thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, bodies) = (client.unwrap(), Arc::clone(&kept));
            thread::spawn(move || {
                let mut rest = Vec::new();
                while let Ok(Some(request)) = Message::read(&mut client, &mut rest) {
                    bodies.lock().unwrap().push(serde_json::from_slice(&request.body).unwrap());
                    let body = answer(request.path()).to_string();
                    let head =
                        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
                    write!(client, "{head}{}\r\n\r\n{body}", body.len()).unwrap();
                }
            });
        }
    });
    (address, bodies)
}

fn answer(path: &str) -> Value {
    let (new, cached, out) = USED;
    let details = json!({"reasoning_tokens": 900});
    if path.ends_with("/messages") {
        let usage = json!({"input_tokens": new / 2, "cache_creation_input_tokens": new / 2,
            "cache_read_input_tokens": cached, "output_tokens": out});
        let content = [json!({"type": "text", "text": "It rains."})];
        return json!({"id": "m", "type": "message", "role": "assistant", "content": content,
            "stop_reason": "end_turn", "usage": usage});
    }
    let of_cache = json!({"cached_tokens": cached});
    if path.ends_with("/responses") {
        let content = [json!({"type": "output_text", "text": "It rains.", "annotations": []})];
        let output = [json!({"type": "message", "id": "o", "role": "assistant",
            "status": "completed", "content": content})];
        return json!({"id": "r", "object": "response", "status": "completed", "output": output,
            "usage": {"input_tokens": new + cached, "input_tokens_details": of_cache,
                "output_tokens": out, "output_tokens_details": details,
                "total_tokens": new + cached + out}});
    }
    let message = json!({"role": "assistant", "content": "It rains."});
    json!({"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": new + cached, "prompt_tokens_details": of_cache,
            "completion_tokens": out, "completion_tokens_details": details,
            "total_tokens": new + cached + out}})
}

/// Runs an agent that asks these models at these paths one after the other, and ends well whatever it gets. Returns what was
/// said, the state of the journal, and how many requests the endpoint got.
fn watch(home: &Home, asked: &[(&str, &str)], options: &str) -> (Ran, State, usize) {
    let (address, bodies) = endpoint();
    let call = |(at, (path, model)): (usize, &(&str, &str))| {
        let text = format!("question {at}");
        let messages = [json!({"role": "user", "content": text})];
        let body = json!({"model": model, "max_tokens": 9, "input": text, "messages": messages});
        let said = "--silent --write-out ' status %{http_code}\\n'";
        format!("curl {said} $BASE{path} --data '{body}'\n")
    };
    let calls: String = asked.iter().enumerate().map(call).collect();
    home.write("agent.sh", format!("BASE=${{OPENAI_BASE_URL%/v1}}\n{calls}echo done\n"));
    let config = home.read("c.toml").replace("ADDRESS", &address.to_string());
    home.write("c.toml", config);
    let variables =
        format!("OPENAI_BASE_URL=http://{address}/v1 ANTHROPIC_BASE_URL=http://{address}");
    let ran = home.shell(&format!(
        "{variables} toolyard watch --headless --config c.toml --journal j.jsonl --report r.json \
         {options} -- sh agent.sh"
    ));
    let state = State::fold(&journal::read(&home.path("j.jsonl")).unwrap().records);
    let count = bodies.lock().unwrap().len();
    (ran, state, count)
}

fn home(config: &str) -> Home {
    let home = Home::new();
    home.write("c.toml", config);
    home
}

const CHAT: &str = "/v1/chat/completions";

/// What a call of each wire costs by a price of new, cached, written and answered tokens.
#[test]
fn every_wire_has_the_list_price_of_its_model() {
    let asked = [
        (CHAT, "openai/gpt-4o"),
        ("/v1/responses", "gpt-4o-2024-08-06"),
        ("/v1/messages", "claude-sonnet-4-5-20250929"),
    ];
    let home = home("");
    let (ran, state, count) = watch(&home, &asked, "--html p.html");
    assert_eq!((ran.code, count), (0, 3), "{ran:?}");
    let costs: Vec<f64> =
        state.models.known.values().map(|model| f64::from(model.tally.dollars)).collect();
    let (new, cached, out) = (USED.0 as f64 / 1e6, USED.1 as f64 / 1e6, USED.2 as f64 / 1e6);
    let gpt = new * 2.5 + cached * 1.25 + out * 10.0;
    let claude = new / 2.0 * 3.0 + new / 2.0 * 3.75 + cached * 0.3 + out * 15.0;
    for (cost, right) in costs.iter().zip([gpt, gpt, claude]) {
        assert!((cost - right).abs() < 1e-9, "{costs:?}: {right}");
    }
    assert!(state.models.known.values().all(|model| model.spec.listed && model.tally.listed));
    let from = state.models.known[0].spec.price_from.as_deref().unwrap();
    assert!(from.starts_with("list price of gpt-4o in the prices of LiteLLM 1."), "{from}");
    assert!(state.tasks.iter().all(|task| task.listed));
    let report = home.json("r.json");
    assert_eq!(report["totals"]["listed"], true, "{report}");
    assert!(home.read("p.html").contains(", by list prices"), "{}", home.read("p.html"));
}

#[test]
fn the_default_limit_ends_nothing_and_is_said_once() {
    // A call costs 0.76 dollars.
    let (ran, state, count) = watch(&home(""), &[(CHAT, "gpt-4o"); 9], "");
    assert_eq!((ran.code, count), (0, 9), "{ran:?}");
    assert!(ran.out.ends_with("done\n"), "{ran:?}");
    let line = "the agents have spent more than 5 dollars by list prices (~); --max-dollars N ends \
                them at N dollars";
    assert_eq!(ran.err.matches(line).count(), 1, "{ran:?}");
    assert!(state.max_dollars.is_none() && state.dollars_spent() > 6.8);
    // A session that goes on does not say it again, and the limit of its new options counts.
    let home = home("");
    watch(&home, &[(CHAT, "gpt-4o"); 7], "");
    std::fs::rename(home.path("j.jsonl"), home.path("first.jsonl")).unwrap();
    let (ran, _, count) = watch(&home, &[(CHAT, "gpt-4o"); 2], "--resume first.jsonl");
    assert_eq!(
        (ran.code, count, ran.err.matches("more than 5 dollars").count()),
        (0, 2, 0),
        "{ran:?}"
    );
    std::fs::remove_file(home.path("j.jsonl")).unwrap();
    let most = "--resume first.jsonl --max-dollars 6";
    let (ran, _, count) = watch(&home, &[(CHAT, "gpt-4o"); 2], most);
    // The first call looks cheap by its request; what it costs is known when it is answered.
    assert_eq!((ran.code, count), (128 + 15, 1), "{ran:?}");
}

#[test]
fn a_limit_that_was_given_ends_the_agent_by_list_prices() {
    for (config, options, requests) in [
        ("", "--max-dollars 0.0001", 0),
        ("", "--max-dollars 0.01", 1),
        ("", "--max-dollars 1", 1),
        ("[cost]\nmax_dollars = 1.6", "", 2),
        ("[cost]\nmax_dollars = 9", "--max-dollars 1", 1),
    ] {
        let (ran, state, count) = watch(&home(config), &[(CHAT, "gpt-4o"); 4], options);
        assert_eq!((ran.code, count), (128 + 15, requests), "{config} {options}: {ran:?}");
        assert!(ran.err.contains("the limit of dollars is reached: "), "{ran:?}");
        assert!(state.max_dollars.is_some());
    }
    let home = home("");
    home.write("s.toml", "max_dollars = 0.0001\n[expect]\nanswered = 1\n");
    let (ran, _, count) = watch(&home, &[(CHAT, "gpt-4o")], "--scenario s.toml");
    assert_eq!((ran.code, count), (1, 0), "{ran:?}");
    assert!(
        ran.err.contains("FAILED: the session runs to its end: the limit of dollars is reached"),
        "{ran:?}"
    );
}

#[test]
fn a_model_without_a_price_is_refused_before_it_is_sent() {
    let asked = [
        (CHAT, "my-alias"),
        ("/v1/responses", "my-alias"),
        ("/v1/messages", "gpt-oss-20b"),
        (CHAT, "gpt-4o"),
    ];
    for config in ["", "[cost]\nmax_dollars = 5"] {
        let options = if config.is_empty() { "--max-dollars 5" } else { "" };
        let (ran, state, count) = watch(&home(config), &asked, options);
        // The model that has a price goes on.
        assert_eq!((ran.code, count), (1, 1), "{ran:?}");
        assert_eq!(ran.out.matches(" status 400").count(), 3, "{ran:?}");
        assert!(ran.out.contains(" status 200") && ran.out.ends_with("done\n"), "{ran:?}");
        assert_eq!(ran.out.matches("nothing has its price").count(), 3, "{ran:?}");
        assert!(ran.out.contains("{\"type\":\"error\""), "Anthropic's own form: {ran:?}");
        // It is said once for each model, with what to do.
        assert_eq!(ran.err.matches("the limit of dollars cannot count").count(), 2, "{ran:?}");
        for what in ["my-alias at 127.0.0.1:", "[models.NAME]", "toolyard import prices FILE"] {
            assert!(ran.err.contains(what), "{what}: {ran:?}");
        }
        let failed = state.model_calls.iter().filter(|call| call.reply().is_none());
        assert_eq!(failed.count(), 3);
    }
    // Without a limit it is sent, and its price stays unknown.
    let (ran, state, count) = watch(&home(""), &[(CHAT, "my-alias")], "");
    assert_eq!((ran.code, count, state.dollars_spent()), (0, 1, 0.0), "{ran:?}");
    assert_eq!(state.models.known[0].tally.unpriced, 1);
    let home = home("");
    home.write("s.toml", "max_dollars = 5\n[expect]\nanswered = 1\n");
    let (ran, ..) = watch(&home, &[(CHAT, "my-alias")], "--scenario s.toml --junit j.xml");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err.contains("FAILED: the session runs to its end: the limit of dollars cannot count"),
        "{ran:?}"
    );
    assert!(home.read("j.xml").contains("cannot count"), "{}", home.read("j.xml"));
}

#[test]
fn a_price_by_hand_is_that_of_its_address_and_model() {
    let model = "[models.mine]\nkind = \"openai\"\nurl = \"http://ADDRESS/v1\"\nmodel = \"my-alias\"\n\
                 price_in = 1\nprice_out = 1\n";
    let (ran, state, count) = watch(&home(model), &[(CHAT, "my-alias"); 3], "--max-dollars 1.1");
    assert_eq!((ran.code, count), (128 + 15, 2), "{ran:?}");
    let spec = &state.models.known[0].spec;
    assert!(!spec.listed && spec.price_from.as_deref() == Some("configuration"), "{spec:?}");
    let free = model.replace("= 1\n", "= 0\n");
    let (ran, _, count) = watch(&home(&free), &[(CHAT, "my-alias"); 3], "--max-dollars 0");
    assert_eq!((ran.code, count), (0, 3), "what is free is not refused: {ran:?}");
    let elsewhere = model.replace("ADDRESS", "gateway.example");
    let (ran, _, count) = watch(&home(&elsewhere), &[(CHAT, "my-alias")], "--max-dollars 1");
    assert_eq!((ran.code, count), (1, 0), "{ran:?}");
}

/// The person's own table counts alone.
#[test]
fn an_imported_table_comes_before_the_embedded_one() {
    let home = home("");
    let entry = json!({"litellm_provider": "openai", "mode": "chat",
        "input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6});
    home.write("t.json", json!({"my-alias": entry}).to_string());
    home.succeed(&["import", "prices", "t.json"]);
    let asked = [(CHAT, "my-alias"), (CHAT, "gpt-4o")];
    let (ran, state, count) = watch(&home, &asked, "--max-dollars 5");
    assert_eq!((ran.code, count), (1, 1), "{ran:?}");
    assert!((state.dollars_spent() - 0.501).abs() < 1e-9, "{}", state.dollars_spent());
}
