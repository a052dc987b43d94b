//! Agents that no variable leads: those of Amazon Bedrock and Vertex AI, and those with an address in their code.
//! `tests/sdks/clouds.py` is each of them, and the endpoint, which checks signatures. `scripts/sdks.sh --all` installs the
//! SDKs; without them this is skipped.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::Value;

use crate::program::{Home, Ran, text};

const HOSTS: [&str; 3] = [
    "bedrock-runtime.us-east-1.amazonaws.com",
    "us-east5-aiplatform.googleapis.com",
    "api.openai.com",
];
const KINDS: [&str; 5] = ["converse", "anthropic", "langchain", "strands", "vertex"];
/// Clients that post a request to an address in their code.
const CLIENTS: [&str; 6] = ["curl", "requests", "httpx", "aiohttp", "fetch", "undici"];
const ANSWER: &str = "So: rain in Porto; rain in Lisbon\n";
/// Keys that no file may have.
const KEYS: [(&str, &str); 3] = [
    ("AWS_ACCESS_KEY_ID", "AKIAQ7TESTONLY54WXYZ"),
    ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMIbPxRfiCYzzTESTkeyQ81Lm"),
    ("AWS_SESSION_TOKEN", "IQoJb3JpZ2luX2VjTESTtoken8Kx2Pq7Rw"),
];

/// The folder of the SDKs; `None`, after a word about it, if it is not there.
fn python() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/sdks/clouds/bin/python");
    if !python.exists() {
        println!("SKIPPED: target/sdks/clouds is not there; scripts/sdks.sh --all installs it");
        return None;
    }
    Some(python)
}

/// The endpoint, which ends with this.
struct Endpoint {
    child: Child,
    port: String,
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn script() -> String {
    format!("{}/tests/sdks/clouds.py", env!("CARGO_MANIFEST_DIR"))
}

impl Endpoint {
    /// An endpoint with a certificate for all hosts, whose files are in this home.
    fn new(home: &Home) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        home.write("authority.pem", params.self_signed(&key).unwrap().pem());
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(HOSTS.map(str::to_owned)).unwrap();
        home.write("host.pem", params.signed_by(&key, &issuer).unwrap().pem());
        home.write("host.key", key.serialize_pem());
        let [certificate, key, log] =
            ["host.pem", "host.key", "asked.jsonl"].map(|name| home.path(name));
        let mut child = Command::new("python3")
            .args([&script(), "serve", text(&certificate), text(&key), text(&log)])
            .envs(KEYS)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Self { child, port: port.trim().to_owned() }
    }

    /// Watches an agent that does this.
    fn watched(&self, home: &Home, options: &[&str], agent: &[&str]) -> Ran {
        let (python, script) = (python().unwrap(), script());
        let node =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("target/sdks/clouds-node/node_modules");
        let words = [&["watch", "--headless"], options, &["--"]].concat();
        let mut command = home.command(&words);
        command.args([text(&python), &script]).args(agent).envs(KEYS);
        command.env("NODE", node.join(".bin/node")).env("NODE_PATH", node);
        command.env("HTTPS_PROXY", format!("http://127.0.0.1:{}", self.port));
        command.env("SSL_CERT_FILE", home.path("authority.pem"));
        Ran::of(command.output().unwrap())
    }

    fn asked(home: &Home) -> Vec<Value> {
        let log = home.read("asked.jsonl");
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[test]
fn agents_of_clouds_are_seen_held_broken_and_replayed_and_signatures_hold() {
    if python().is_none() {
        return;
    }
    for (kind, form) in KINDS.into_iter().flat_map(|kind| [(kind, "whole"), (kind, "stream")]) {
        let home = Home::new();
        let endpoint = Endpoint::new(&home);
        let run = |options: &[&str]| {
            endpoint.watched(&home, &[&["--intercept"], options].concat(), &["ask", kind, form])
        };
        let [state, journal] = ["state.json", "j.jsonl"].map(|name| home.path(name));
        let (state, journal) = (text(&state), text(&journal));
        let name = format!("{kind} {form}");
        let ran = run(&["--state", state, "--journal", journal]);
        assert_eq!((ran.code, ran.out.as_str()), (0, ANSWER), "{name}: {}", ran.err);
        let seen = home.json("state.json");
        let counts = ["asks", "calls"].map(|part| seen[part].as_array().unwrap().len());
        assert_eq!(counts, [2, 2], "{name}");
        let tokens = &seen["asks"][1]["phase"]["done"]["reply"]["usage"];
        assert_eq!(
            (&tokens["tokens_in"], &tokens["tokens_out"]),
            (&31.into(), &17.into()),
            "{name}"
        );
        // Over its record it asks nobody.
        let ran = run(&["--recorded", journal, "--strict", "--no-journal"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, ANSWER), "{name}: {}", ran.err);
        assert!(ran.err.contains("2 of 2 model calls answered from the record"), "{name}");
        assert_eq!(Endpoint::asked(&home).len(), 2, "{name}");
        for fault in ["role:actor:rate-limit:first=1:retry-after=1", "role:actor:error:first=1"] {
            let ran = run(&["--fault", fault, "--no-journal"]);
            assert_eq!((ran.code, ran.out.as_str()), (0, ANSWER), "{name} {fault}: {}", ran.err);
        }
        // It is held for longer than its client waits for the next bytes.
        let ran = run(&["--break", "weather:before", "--hold", "5", "--no-journal"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, ANSWER), "{name}: {}", ran.err);
        // A signature holds for the request as the agent wrote it; a request with a token may change.
        let ran = run(&["--fault", "weather:error:text=hail", "--no-journal"]);
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        let says = ran.err.contains("its signature holds only for the request as it came");
        let is_signed = kind != "vertex";
        assert_eq!((says, ran.out.contains("rain")), (is_signed, is_signed), "{name}: {}", ran.err);
        let asked = Endpoint::asked(&home);
        assert!(asked.iter().all(|it| it["signed"] == true), "{name}: {asked:?}");
        for file in ["state.json", "j.jsonl"] {
            let kept = home.read(file);
            assert!(KEYS.iter().all(|(_, key)| !kept.contains(key)), "{name}: {file}");
        }
        println!("{name}: {} requests, all of them as the agent signed them", asked.len());
    }
}

#[test]
fn an_address_in_the_code_of_any_client_is_seen() {
    if python().is_none() {
        return;
    }
    for kind in CLIENTS {
        let home = Home::new();
        let endpoint = Endpoint::new(&home);
        let state = home.path("state.json");
        let options = ["--intercept", "--no-journal", "--state", text(&state)];
        let ran = endpoint.watched(&home, &options, &["post", kind]);
        assert_eq!((ran.code, ran.out), (0, format!("Hello, {kind}.\n")), "{}", ran.err);
        let seen = home.json("state.json");
        assert_eq!(seen["asks"][0]["model"], "gpt-5-mini", "{kind}: {}", ran.err);
        // What it trusts by itself opens nothing.
        let ran =
            endpoint.watched(&home, &["--no-journal", "--state", text(&state)], &["post", kind]);
        assert!(ran.err.contains("without a model request that toolyard understands"), "{kind}");
        assert_eq!(home.json("state.json")["asks"].as_array().map(Vec::len), Some(0), "{kind}");
        println!("{kind}: seen with --intercept, and only with it");
    }
}
