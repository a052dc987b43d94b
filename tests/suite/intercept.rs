//! `toolyard watch --intercept`: an agent with an address in its code is seen, and neither keys nor certificates stay.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;

use crate::processes::wait_until;
use crate::program::{Home, Ran, text};
use crate::secrets::{files, leaks, texts};

/// The host that the agent asks. Only the proxy of the test knows where it is.
const HOST: &str = "llm.test";

/// The key of the agent, which the provider's answer says again, and the password of the proxy's user.
const KEYS: [(&str, &str); 2] =
    [("the agent", "int-8Wq3bMsX5zT7"), ("the proxy's user", "pwd-Kx52GnuD9rL4")];

/// A provider over TLS that answers every request with the key, and the authority that signed for it.
fn provider() -> (SocketAddr, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![HOST.to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap().der().clone();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = rustls::crypto::ring::default_provider();
    let config = rustls::ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key);
    let config = Arc::new(config.unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let config = Arc::clone(&config);
            thread::spawn(move || {
                let mut connection = rustls::ServerConnection::new(config).unwrap();
                let mut stream = stream.unwrap();
                let mut tls = rustls::Stream::new(&mut connection, &mut stream);
                let mut request = Vec::new();
                let mut bytes = [0; 65536];
                // The body of such a request ends with its last bracket.
                while !request.ends_with(b"}") {
                    match tls.read(&mut bytes) {
                        Ok(n @ 1..) => request.extend_from_slice(&bytes[..n]),
                        _ => return,
                    }
                }
                let has_key = String::from_utf8_lossy(&request).contains(KEYS[0].1);
                let text = if has_key { "It rains." } else { "Who are you?" };
                let message = json!({"role": "assistant", "content": text});
                let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
                let body = json!({"id": "c-1", "object": "chat.completion", "choices": [choice], "for": KEYS[0].1});
                let body = body.to_string();
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
                let _ = write!(tls, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            });
        }
    });
    (address, authority)
}

/// A proxy that leads every host to the provider, and what it was asked for.
fn proxy(to: SocketAddr) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let told = Arc::clone(&asked);
    thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, told) = (client.unwrap(), Arc::clone(&told));
            thread::spawn(move || {
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && client.read(&mut byte).is_ok_and(|n| n > 0) {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                told.lock().unwrap().push(head.lines().next().unwrap_or_default().to_owned());
                let mut server = TcpStream::connect(to).unwrap();
                client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
                let (mut back, mut front) =
                    (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || {
                    let _ = std::io::copy(&mut back, &mut front);
                    let _ = front.shutdown(Shutdown::Both);
                });
                let _ = std::io::copy(&mut client, &mut server);
                let _ = server.shutdown(Shutdown::Both);
            });
        }
    });
    (address, asked)
}

/// Watches an agent whose code names the provider, with these options.
fn watched(home: &Home, options: &[&str]) -> (Ran, Vec<String>) {
    let (provider, authority) = provider();
    let (proxy, asked) = proxy(provider);
    home.write("authority.pem", authority);
    let [state, journal] = ["state.json", "watched.jsonl"].map(|name| home.path(name));
    let mut words =
        vec!["watch", "--headless", "--state", text(&state), "--journal", text(&journal)];
    words.extend(options);
    let model = format!(
        "kind = \"openai\"\nurl = \"https://{HOST}/v1\"\nmodel = \"m\"\nkey_env = \"PLANTED\""
    );
    home.write("c.toml", format!("[models.m]\n{model}\n[roles]\ndefault = \"m\"\n"));
    let program = env!("CARGO_BIN_EXE_toolyard");
    words.extend(["--", program, "run", "--config", "c.toml", "--no-journal", "--task", "Hi"]);
    let mut command = home.command(&words);
    let [key, password] = KEYS.map(|(_, key)| key);
    command.env("PLANTED", key).env("HTTPS_PROXY", format!("http://me:{password}@{proxy}"));
    command.env("SSL_CERT_FILE", home.path("authority.pem"));
    let ran = Ran::of(command.output().unwrap());
    let asked = asked.lock().unwrap().clone();
    (ran, asked)
}

/// The files of sessions that are left.
fn left(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.path("run/toolyard")).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("files-")).collect()
}

#[test]
fn an_address_in_the_code_is_seen_where_a_person_chose_it() {
    let home = Home::new();
    let (ran, asked) = watched(&home, &["--intercept", "--intercept-host", HOST]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("It rains."), "{} {}", ran.out, ran.err);
    let state = home.json("state.json");
    assert_eq!(state["watched"]["intercepts"], true);
    let asks = state["asks"].as_array().unwrap();
    assert_eq!((asks.len(), &asks[0]["model"]), (1, &json!("m")), "{}", ran.err);
    assert!(ran.err.contains(&format!("OpenAI chat at {HOST}")), "{}", ran.err);
    // It goes on through the proxy of the environment.
    assert!(
        asked.iter().all(|line| line.starts_with(&format!("CONNECT {HOST}:443 "))),
        "{asked:?}"
    );
    assert_eq!(left(&home), Vec::<String>::new());
    // No key stays, and no key of a certificate.
    assert_eq!(leaks(&ran.err, &KEYS), [""; 0]);
    for (name, bytes, _) in files(&home.path("")) {
        let all = texts(&bytes);
        assert!(all.iter().all(|text| leaks(text, &KEYS).is_empty()), "{name}");
        assert!(all.iter().all(|text| !text.contains("PRIVATE KEY")), "{name}");
    }
}

#[test]
fn what_a_killed_session_leaves_goes_with_the_next_one() {
    let home = Home::new();
    let watch = |agent: [&str; 2]| {
        let words =
            ["watch", "--headless", "--intercept", "--no-journal", "--", agent[0], agent[1]];
        home.command(&words)
    };
    let mut killed = watch(["sleep", "5"]).spawn().unwrap();
    wait_until("the files of the session", || !left(&home).is_empty());
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(left(&home).len(), 1);
    let next = Ran::of(watch(["true", ""]).output().unwrap());
    assert_eq!((next.code, left(&home)), (0, Vec::new()), "{}", next.err);
}

#[test]
fn other_hosts_pass_unread_and_are_named() {
    let home = Home::new();
    let (ran, asked) = watched(&home, &["--intercept"]);
    assert_eq!((ran.code, asked.len()), (0, 1), "{}", ran.err);
    assert!(ran.out.contains("It rains."), "{} {}", ran.out, ran.err);
    assert_eq!(home.json("state.json")["asks"], json!([]));
    assert!(ran.err.contains(&format!("CONNECT {HOST}:443")), "{}", ran.err);
}

#[test]
fn without_the_choice_nothing_is_opened() {
    let home = Home::new();
    let (ran, asked) = watched(&home, &[]);
    assert_eq!((ran.code, asked.len()), (0, 1), "{}", ran.err);
    assert_eq!(home.json("state.json")["asks"], json!([]));
    assert!(!home.read("watched.jsonl").contains("Intercepting"));
    let wrong =
        home.run(&["watch", "--headless", "--intercept", "--intercept-host", "a b", "--", "true"]);
    assert!(wrong.code != 0 && wrong.err.contains("is no host"), "{}", wrong.err);
}
