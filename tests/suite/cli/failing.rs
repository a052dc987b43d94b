//! A model that cannot be used: the screen pauses and makes the call again, a run ends.

use serde_json::json;

use crate::fake_endpoint::{Fake, Script, json as document};
use crate::program::{Home, Ran};
use crate::sitting::Sitting;

fn answer() -> Script {
    let call = json!({ "id": "c", "type": "function",
        "function": { "name": "Finish", "arguments": "{\"answer\": \"391\"}" } });
    let message = json!({ "role": "assistant", "content": "I know it.", "tool_calls": [call] });
    let choice = json!({ "index": 0, "finish_reason": "tool_calls", "message": message });
    let usage = json!({ "prompt_tokens": 40, "completion_tokens": 7 });
    document("200 OK", &json!({ "choices": [choice], "usage": usage }).to_string())
}

fn refused() -> Script {
    document("401 Unauthorized", "{\"error\": {\"message\": \"bad key\"}}")
}

/// A configured model at this address, which is not asked a second time.
fn home(url: &str) -> Home {
    let home = Home::new();
    let model = format!("[models.mine]\nkind = \"openai\"\nurl = \"{url}\"\nmodel = \"x\"\n");
    home.write("c.toml", model + "retries = 0\n[roles]\ndefault = \"mine\"\n");
    home.write("t.txt", "What is 17 times 23?\nWhat is 2 times 3?\nWhat is 4 times 5?\n");
    home
}

const RUN: [&str; 8] =
    ["run", "--config", "c.toml", "--strategy", "react", "--tasks", "t.txt", "--no-journal"];

async fn ran(home: &Home, more: &[&str]) -> Ran {
    let mut command = home.command(&[&RUN[..], more].concat());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    Ran::of(output.await.unwrap())
}

#[tokio::test]
async fn a_run_ends_with_the_task_whose_model_cannot_be_used() {
    for (script, why) in [
        (refused(), "HTTP 401"),
        (document("404 Not Found", "{\"error\": {\"message\": \"no such model\"}}"), "HTTP 404"),
    ] {
        let fake = Fake::start(vec![script, answer(), answer()]).await;
        let ran = ran(&home(&fake.url), &[]).await;
        assert_eq!((ran.code, fake.bodies().len()), (4, 1), "{ran:?}");
        assert!(ran.err.contains("a model is unusable: mine: ") && ran.err.contains(why));
        assert!(ran.err.contains("--keep-going"), "{ran:?}");
        assert!(ran.out.contains("0 of 1 answered"), "{ran:?}");
    }
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ran = ran(&home(&format!("http://{gone}/v1")), &[]).await;
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains(&format!("no connection to {gone}")), "{ran:?}");
}

#[tokio::test]
async fn a_run_goes_on_if_it_is_told_to() {
    let fake = Fake::start(vec![refused(), answer(), answer()]).await;
    let ran = ran(&home(&fake.url), &["--keep-going"]).await;
    assert_eq!((ran.code, fake.bodies().len()), (1, 3), "{ran:?}");
    assert!(ran.out.contains("2 of 3 answered"), "{ran:?}");
}

#[tokio::test]
async fn a_failure_of_a_model_that_has_answered_ends_nothing() {
    let refused = document("400 Bad Request", "{\"error\": {\"message\": \"odd\"}}");
    let fake = Fake::start(vec![answer(), refused, answer()]).await;
    let ran = ran(&home(&fake.url), &[]).await;
    assert_eq!((ran.code, fake.bodies().len()), (1, 3), "{ran:?}");
}

#[tokio::test]
async fn a_first_request_that_is_too_long_or_filtered_fails_its_own_task_only() {
    // Field cases 7.1 and 7.5.
    let long = json!({ "message": "Input is too long for requested model." });
    let filtered =
        json!({ "error": { "message": "The response was filtered.", "code": "content_filter" } });
    for document in [long, filtered] {
        let first = self::document("400 Bad Request", &document.to_string());
        let fake = Fake::start(vec![first, answer(), answer()]).await;
        let ran = ran(&home(&fake.url), &[]).await;
        assert_eq!((ran.code, fake.bodies().len()), (1, 3), "{ran:?}");
        assert!(ran.out.contains("2 of 3 answered"), "{ran:?}");
    }
}

#[tokio::test]
async fn a_run_ends_with_an_account_that_has_no_credit() {
    // Field case 7.3.
    let error =
        json!({ "message": "You exceeded your current quota.", "code": "insufficient_quota" });
    let refused = || document("429 Too Many Requests", &json!({ "error": error }).to_string());
    let fake = Fake::start(vec![answer(), refused(), answer()]).await;
    let ran = ran(&home(&fake.url), &[]).await;
    assert_eq!((ran.code, fake.bodies().len()), (4, 2), "{ran:?}");
    assert!(ran.err.contains("a model is unusable: mine: HTTP 429"), "{ran:?}");
    assert!(ran.err.contains("no quota or credit left"), "{ran:?}");
}

#[tokio::test]
async fn a_comparison_says_which_model_cannot_be_used() {
    let fake = Fake::start((0..8).map(|_| refused()).collect()).await;
    let home = home(&fake.url);
    let compare = ["compare", "--strategies", "react", "--tasks", "t.txt", "--config", "c.toml"];
    let mut command = home.command(&compare);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    let ran = Ran::of(output.await.unwrap());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("a model is unusable: mine: HTTP 401"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_screen_pauses_and_makes_the_call_again() {
    let fake = Fake::start(vec![refused(), refused(), answer()]).await;
    let home = home(&fake.url);
    let requests = || fake.seen.lock().unwrap().len();
    tokio::task::block_in_place(|| {
        let options = ["--config", "c.toml", "--strategy", "react", "--journal", "j.jsonl"];
        let mut sitting =
            Sitting::start(&home, 120, 40, &[&["What is 17 times 23?"], &options[..]].concat());
        sitting.wait_header("PAUSED");
        for asked in 1..=2 {
            sitting.press(" ");
            // The header alone may still be that of the refusal before.
            sitting.wait_for("the pause at the refusal", || {
                let (text, header) = (sitting.text(), sitting.header());
                text.matches("note  mine cannot be used").count() == asked
                    && header.contains("PAUSED · mine refuses its key: set the key")
            });
            assert_eq!(requests(), asked);
        }
        sitting.wait("mine cannot be used: HTTP 401");
        sitting.press(" ");
        sitting.wait("right: 391");
        assert!(!sitting.header().contains("refuses"), "{}", sitting.header());
        sitting.press("q");
        sitting.end();
    });
    // The journal alone makes the same session: it knows that the call was made again.
    let again = ["run", "--config", "c.toml", "--recorded", "j.jsonl", "--journal", "k.jsonl"];
    let mut command = home.command(&[&again[..], &["--fresh"]].concat());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    let ran = Ran::of(output.await.unwrap());
    assert!(ran.code == 0 && ran.out.contains("→ 391"), "{ran:?}");
    assert_eq!(requests(), 3, "nothing is asked again");
}
