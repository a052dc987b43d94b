//! `toolyard init`: what it finds, what it writes, and that the result runs.

use std::fs;

use serde_json::json;

use crate::fake_endpoint::{Fake, json as document};
use crate::program::{Home, Ran};

const FILES: [&str; 4] =
    ["config.toml", "tasks.toml", "tools/opening_hours.sh", "tools/opening_hours.toml"];

/// The program beside the server of this test; other servers of this machine do not matter.
async fn init(home: &Home, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = home.command(&[&["init"], arguments].concat());
    command.envs(variables.iter().copied());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    Ran::of(output.await.unwrap())
}

#[test]
fn a_project_without_a_model_runs_on_the_simulated_one() {
    let home = Home::new();
    for file in toolyard::app::init::files(&[], &[]) {
        file.write(&home.path("mine")).unwrap();
    }
    home.succeed(&["doctor", "--config", "mine/config.toml"]);
    let run = ["run", "--config", "mine/config.toml", "--no-journal", "--report", "r.json"];
    let out = home.succeed(&run);
    assert!(out.starts_with("toolnet on mine with SIMULATED"), "{out}");
    let totals = &home.json("r.json")["totals"];
    assert_eq!((&totals["correct"], &totals["calls"]), (&json!(2), &json!(2)), "{out}");
}

#[tokio::test]
async fn a_server_that_answers_is_configured() {
    let list = json!({ "data": [{ "id": "nomic-embed" }, { "id": "qwen\"3" }, { "id": "llama" }] });
    let list = || document("200 OK", &list.to_string());
    let fake = Fake::start(vec![list(), list()]).await;
    let address = fake.url.trim_end_matches("/v1").to_owned();
    // Ollama's own variable says where it listens, unless toolyard's does.
    let variables = [
        ("TOOLYARD_LOCAL_SERVERS", ""),
        ("OLLAMA_HOST", &*address),
        ("GROQ_API_KEY", "planted-0123456789"),
    ];
    let home = Home::new();
    let ran = init(&home, &["mine", "--no-probe"], &variables).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    for says in [
        &*format!("found ollama at {}: 2 models, such as qwen\"3", fake.url),
        "found in the environment: GROQ_API_KEY",
        "all roles use ollama",
        "wrote mine/config.toml",
        "  cd mine\n  toolyard doctor",
    ] {
        assert!(ran.out.contains(says), "{says}: {ran:?}");
    }
    let config = home.read("mine/config.toml");
    assert!(
        config.contains("[models.groq]") && config.contains("# It also has: llama"),
        "{config}"
    );
    assert!(!config.contains("planted") && !ran.out.contains("planted"));
    // What it wrote means what it found.
    let mut doctor = home.command(&["doctor", "--config", "mine/config.toml", "--probe", "none"]);
    let output = tokio::task::spawn_blocking(move || doctor.output().unwrap());
    let doctor = Ran::of(output.await.unwrap());
    assert_eq!(doctor.code, 0, "{doctor:?}");
    assert!(doctor.out.contains("answers and has \"qwen\\\"3\""), "{doctor:?}");
}

#[tokio::test]
async fn no_file_is_overwritten() {
    let home = Home::new();
    let dry = init(&home, &["--dry-run"], &[]).await;
    assert_eq!(dry.code, 0, "{dry:?}");
    assert!(dry.out.contains("would write ./config.toml"), "{dry:?}");
    assert!(FILES.iter().all(|file| !home.path(file).exists()), "{dry:?}");

    home.write("tasks.toml", "mine");
    let ran = init(&home, &[], &[]).await;
    assert!(ran.out.contains("unchanged, since it exists: ./tasks.toml"), "{ran:?}");
    assert_eq!(home.read("tasks.toml"), "mine");
    let before: Vec<_> = FILES.iter().map(|file| home.read(file)).collect();
    let again = init(&home, &[], &[("XAI_API_KEY", "x")]).await;
    assert_eq!(again.code, 0, "{again:?}");
    assert_eq!(before, FILES.iter().map(|file| home.read(file)).collect::<Vec<_>>());
    assert!(again.out.contains("config.toml existed already, so the models found"), "{again:?}");
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_named() {
    let home = Home::new();
    home.write("file", "");
    let ran = init(&home, &["file"], &[]).await;
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("file/config.toml: ") || ran.err.contains("file: "), "{ran:?}");
    assert!(fs::read(home.path("file")).unwrap().is_empty());
}
