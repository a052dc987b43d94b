//! The client against a server that behaves.

use std::cell::RefCell;

use serde_json::json;
use tempfile::tempdir;
use toolyard::domain::EffectClass;
use toolyard::domain::fault::Drift;
use toolyard::mcp::client::Stage;
use toolyard::tool::ToolErrorKind;
use toolyard::tool::provider::Provider;

use super::{call, log, named, start, telling, tools};

#[tokio::test]
async fn tools_of_all_pages_are_listed_by_the_key_and_called() {
    let folder = tempdir().unwrap();
    // The last one answers `server/discover` twice.
    for behaviour in ["plain", "stateless", "garbage", "twice"] {
        let server = start(behaviour, folder.path());
        let tools = tools(&server).await;
        let names: Vec<_> = tools.iter().map(|tool| tool.spec().name.to_string()).collect();
        let all = ["echo", "slow", "fails", "dies", "asks"];
        assert_eq!(names, all.map(|name| format!("{behaviour}__{name}")), "{:?}", server.stage());
        let Stage::Ready(offer) = server.stage() else { panic!("{:?}", server.stage()) };
        let revision = if behaviour == "stateless" { "2026-07-28" } else { "2025-11-25" };
        assert_eq!(offer.revision, revision);
        let echo = named(&tools, "echo");
        assert_eq!(call(&*echo, json!({"text": "größe 🚀"})).await.unwrap(), "größe 🚀");
        assert_eq!(echo.spec().source, format!("mcp:{behaviour}"));
        // A hint of a stranger is no more than that.
        assert_eq!(echo.spec().effect, EffectClass::Unknown);
        assert_eq!(echo.spec().proposed, Some(EffectClass::Read));
        let failed = call(&*named(&tools, "fails"), json!({})).await.unwrap_err();
        assert_eq!((failed.kind, &*failed.text), (ToolErrorKind::Failed, "no such thing"));
    }
}

#[tokio::test]
async fn a_fault_has_a_tool_listed_otherwise_and_back() {
    let folder = tempdir().unwrap();
    let server = start("plain", folder.path());
    let echo = named(&tools(&server).await, "echo").spec().name.clone();
    let disabled = |tools: &[std::rc::Rc<dyn toolyard::tool::Tool>]| {
        tools.iter().find(|tool| tool.spec().name == echo).map(|it| it.spec().disabled.is_some())
    };
    for (change, expected) in
        [(Some(Drift::Rename), Some(true)), (Some(Drift::Drop), None), (None, Some(false))]
    {
        server.relist(change.map(|change| (&echo, change)));
        let listed = async {
            while disabled(&tools(&server).await) != expected {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(super::LONG, listed).await.expect("the list stays as it was");
        // One that is not listed cannot be named any more.
        if change == Some(Drift::Drop) {
            server.relist(Some((&"other".into(), Drift::Rename)));
        }
    }
}

#[tokio::test]
async fn progress_is_told_and_a_dropped_call_is_cancelled() {
    let folder = tempdir().unwrap();
    let server = start("plain", folder.path());
    let slow = named(&tools(&server).await, "slow");
    let told = RefCell::new(Vec::new());
    let tell = |progress: toolyard::domain::CallProgress| {
        let share = *progress.done / *progress.total.unwrap();
        told.borrow_mut().push((share, progress.message));
    };
    assert_eq!(telling(&*slow, json!({}), &tell).await.unwrap(), "done");
    let expected = [(0.25, "begun␛[2J".to_owned()), (0.5, "nearly".to_owned())];
    assert_eq!(*told.borrow(), expected);
    let never = call(&*slow, json!({"text": "never"}));
    assert!(tokio::time::timeout(std::time::Duration::from_millis(600), never).await.is_err());
    let cancelled = async {
        while !log("plain", folder.path()).contains("notifications/cancelled") {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(super::LONG, cancelled).await.expect("the server was not told");
    // The connection is as good as before.
    assert_eq!(call(&*slow, json!({})).await.unwrap(), "done");
}

#[tokio::test]
async fn what_a_server_asks_back_is_answered_or_refused_at_once() {
    let folder = tempdir().unwrap();
    let server = start("plain", folder.path());
    let asks = named(&tools(&server).await, "asks");
    assert_eq!(
        call(&*asks, json!({})).await.unwrap(),
        "sampling/createMessage refused, roots/list answered, elicitation/create answered, no/such refused"
    );
}

#[tokio::test]
async fn a_result_that_does_not_fit_its_schema_is_a_failure() {
    let folder = tempdir().unwrap();
    let server = start("lies", folder.path());
    let tools = tools(&server).await;
    let wrong = call(&*named(&tools, "__typed"), json!({})).await.unwrap_err();
    assert!(wrong.text.contains("outputSchema") && wrong.text.contains("/n"), "{}", wrong.text);
    // What is no schema promises nothing.
    let untyped = named(&tools, "untyped");
    assert_eq!(untyped.spec().returns, None);
    assert_eq!(call(&*untyped, json!({})).await.unwrap(), r#"{"n":"seven"}"#);
}

#[tokio::test]
async fn a_program_sees_no_variable_that_its_entry_does_not_name() {
    let folder = tempdir().unwrap();
    let entry = super::entry("plain", folder.path());
    let names: Vec<_> = entry["env"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["STAND_IN", "STAND_IN_LOG"]);
    let file = folder.path().join(".mcp.json");
    let shell =
        json!({"command": "/bin/sh", "args": ["-c", "env >&2; exit 1"], "env": {"OWN": "1"}});
    std::fs::write(&file, json!({"mcpServers": {"env": shell}}).to_string()).unwrap();
    crate::processes::with_reaper();
    let around = toolyard::mcp::config::Surroundings::of_process(None, folder.path());
    let read = toolyard::mcp::config::Configuration::load(&file, &around);
    let entry = read.entries.into_iter().next().unwrap();
    let server = toolyard::mcp::client::McpServer::start(entry, Default::default());
    tools(&server).await;
    let said = super::harm::lines(&server).await.join("\n");
    assert!(said.contains("OWN=1") && said.contains("PATH="), "{said}");
    assert!(!said.contains("CARGO_"), "{said}");
}
