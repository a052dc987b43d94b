//! Keys that come back from where they were sent: in no file and on no output, whoever repeats them and however they are
//! written.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::{collections::BTreeMap, fs};

use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::fake_endpoint::{Fake, Script, Step, json as document, send, stream_head};
use crate::program::{Home, Ran, unpacked};
use crate::sitting::Sitting;

/// The keys of the tests, by the way they reach the program.
const KEYS: [(&str, &str); 7] = [
    ("the environment", "env-7Gq2aLpW9xR4"),
    ("a command", "cmd-Zt81KqvB3mN6+/Q"),
    ("a header", "hdr-Uw05YcXe2sJ9"),
    ("an address", "url4Hd7Fk1Lb6Vo3Pz8"),
    ("a tool over HTTP", "htt-Rk38VnbE5cT1"),
    ("an embedding model", "emb-Jy62MxdS4fA9"),
    ("digits only", "83917462507"),
];

const fn key(at: usize) -> &'static str {
    KEYS[at].1
}

/// What a program writes for a key.
type Encoding = (&'static str, fn(&str) -> String);

/// How a key comes back.
const ENCODINGS: [Encoding; 22] = [
    ("plain", str::to_owned),
    ("base64", |key| base64(key.as_bytes(), false)),
    ("base64 behind 1 byte", |key| base64(format!(":{key}").as_bytes(), false)),
    ("base64 behind 5 bytes", |key| base64(format!("user:{key}").as_bytes(), false)),
    ("base64 for addresses", |key| base64(format!("u:{key}").as_bytes(), true)),
    ("base64 on lines", |key| apart(&base64(key.as_bytes(), false), 10, "\r\n")),
    ("hex", |key| each(key, |byte| format!("{byte:02x}"))),
    ("upper hex", |key| each(key, |byte| format!("{byte:02X}"))),
    ("hex with colons", |key| each(key, |byte| format!("{byte:02x}:"))),
    ("hex with spaces", |key| each(key, |byte| format!("{byte:02X} "))),
    ("percent", |key| each(key, |byte| format!("%{byte:02x}"))),
    ("upper percent", |key| each(key, |byte| format!("%{byte:02X}"))),
    ("percent twice", |key| each(key, |byte| format!("%25{byte:02X}"))),
    ("JSON escapes", |key| each(key, |byte| format!("\\u{byte:04x}"))),
    ("JSON in JSON", |key| json!({ "k": json!({ "k": key }).to_string() }).to_string()),
    ("byte escapes", |key| each(key, |byte| format!("\\x{byte:02x}"))),
    ("HTML entities", |key| each(key, |byte| format!("&#x{byte:x};"))),
    ("zero width", |key| apart(key, 1, "\u{200b}")),
    ("soft hyphens and marks", |key| apart(key, 2, "\u{ad}\u{fe0f}\u{301}")),
    ("bidi", |key| apart(key, 3, "\u{202e}\u{2066}")),
    ("colours", |key| apart(key, 4, "\u{1b}[31m")),
    ("control characters", |key| apart(key, 5, "\0\u{7f}\r")),
];

fn each(key: &str, write: fn(u8) -> String) -> String {
    key.bytes().map(write).collect()
}

/// A text with this between pieces of so many characters.
fn apart(text: &str, piece: usize, between: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let pieces = chars.chunks(piece).map(|piece| piece.iter().collect::<String>());
    pieces.collect::<Vec<_>>().join(between)
}

fn base64(bytes: &[u8], for_addresses: bool) -> String {
    let last = if for_addresses { b"-_" } else { b"+/" };
    let digits: Vec<u8> =
        (b'A'..=b'Z').chain(b'a'..=b'z').chain(b'0'..=b'9').chain(*last).collect();
    let group = |group: &[u8]| {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | usize::from(*group.get(at).unwrap_or(&0)));
        let digit = |at: usize| char::from(digits[bits >> (18 - 6 * at) & 63]);
        (0..=group.len()).map(digit).collect::<String>() + &"="[..usize::from(group.len() == 2)]
    };
    bytes.chunks(3).map(group).collect()
}

/// The keys that an endpoint can know: all but that of a command which belongs to another one.
fn sent(own: usize) -> Vec<&'static str> {
    let others = (0..KEYS.len()).filter(|at| *at != 1 || own == 1);
    others.map(key).collect()
}

/// Every one of these keys in every encoding, each on a line of its own.
pub fn echo(keys: &[&str]) -> String {
    let line = |key: &str, encoding: &Encoding| format!("{}: {}\n", encoding.0, encoding.1(key));
    let of_key = |key: &&str| ENCODINGS.iter().map(|it| line(key, it)).collect::<String>();
    keys.iter().map(of_key).collect()
}

/// A text as somebody reads it who looks for keys: once as it is, and after each level of escapes.
fn read_closely(text: &str) -> Vec<String> {
    let colours = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap();
    let escape =
        r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|%([0-9a-fA-F]{2})|&#x([0-9a-fA-F]{1,4});|\\(.)";
    let escape = regex::Regex::new(escape).unwrap();
    let mut levels = vec![text.to_owned()];
    for _ in 0..3 {
        let plain = colours.replace_all(&levels[levels.len() - 1], "").into_owned();
        let meant = |found: &regex::Captures<'_>| {
            let code = (1..=4).find_map(|at| found.get(at));
            let code = code.and_then(|code| u32::from_str_radix(code.as_str(), 16).ok());
            let c = code.and_then(char::from_u32);
            c.map(String::from)
                .unwrap_or_else(|| found.get(5).map_or("", |c| c.as_str()).to_owned())
        };
        levels.push(escape.replace_all(&plain, meant).into_owned());
    }
    levels.iter().map(|level| level.chars().filter(char::is_ascii_graphic).collect()).collect()
}

/// Where a text has a part of one of these keys.
pub fn leaks(text: &str, keys: &[(&str, &str)]) -> Vec<String> {
    let mut leaks = Vec::new();
    for level in read_closely(text) {
        let letters: String = level.chars().filter(char::is_ascii_alphanumeric).collect();
        for (whose, key) in keys {
            // Half of a key is as bad.
            let (begin, end) = (&key[..7], &key[key.len() - 7..]);
            let hex = [begin, end].map(|part| each(part, |byte| format!("{byte:02x}")));
            let base64s = [begin, end].into_iter().flat_map(|part| {
                (0..3).map(move |offset| {
                    let bytes = [&b"\0\0"[..offset], part.as_bytes()].concat();
                    let text = base64(&bytes, false);
                    // Only what no neighbour changes.
                    text[(8 * offset).div_ceil(6)..8 * bytes.len() / 6].replace(['+', '/'], "")
                })
            });
            let mut look = |text: &str, sought: &str, how: &str| {
                if let Some(at) = text.find(sought) {
                    let around = &text[at.saturating_sub(40)..text.len().min(at + 80)];
                    leaks.push(format!("the key of {whose}, {how}: {around}"));
                }
            };
            look(&level, begin, "its beginning");
            look(&level, end, "its end");
            hex.iter().for_each(|hex| look(&letters.to_lowercase(), hex, "hex"));
            base64s.for_each(|text| look(&letters, &text, "base64"));
        }
    }
    leaks
}

/// Every file below a folder, but for those that the test itself wrote.
pub fn files(folder: &Path) -> Vec<(String, Vec<u8>, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = path.metadata().unwrap();
        if path.is_dir() {
            found.extend(files(&path));
        } else if about.is_file()
            && path.extension().is_none_or(|end| end != "toml" && end != "planted")
        {
            found.push((
                path.display().to_string(),
                unpacked(&path).unwrap(),
                about.mode() & 0o777,
            ));
        }
    }
    found
}

/// The texts in a file: as it is, and what is compressed in it.
pub fn texts(bytes: &[u8]) -> Vec<String> {
    let compressed =
        (0..bytes.len().saturating_sub(1)).filter(|at| bytes[*at] == 0x78 && bytes[at + 1] == 1);
    let inflated =
        compressed.filter_map(|at| miniz_oxide::inflate::decompress_to_vec_zlib(&bytes[at..]).ok());
    let all = [bytes.to_vec()].into_iter().chain(inflated);
    all.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}

fn calls(at: usize) -> Script {
    calls_with(&echo(&sent(at)), key(at))
}

/// An answer that calls a tool with keys, streamed so that text comes in two events with half of a key each.
pub fn calls_with(text: &str, key: &str) -> Script {
    let event = |delta: Value| format!("data: {}\n\n", json!({ "choices": [{ "delta": delta }] }));
    let (first, second) = text.split_at(text.find(&key[6..]).unwrap());
    let arguments = json!({ "name": text, key: key, "number": 83_917_462_507_u64 }).to_string();
    let call = |index, id, name: &str| json!({ "index": index, "id": id, "function": { "name": name, "arguments": arguments } });
    let events = [
        event(json!({ "reasoning_content": text })) + &event(json!({ "content": first })),
        event(json!({ "content": second }))
            + &event(json!({ "tool_calls": [call(0, "c1", "leak")] }))
            + &event(json!({ "tool_calls": [call(1, "c2", "film"), call(2, "c3", key)] }))
            + &format!(
                "data: {}\n\n",
                json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] })
            ),
    ];
    let [first, second] = events.map(|events| send(&events));
    vec![stream_head(), first, Step::Wait(std::time::Duration::from_millis(150)), second]
}

fn answers(at: usize) -> Script {
    let message = json!({ "role": "assistant", "content": echo(&sent(at)) });
    document("200 OK", &json!({ "choices": [{ "message": message }] }).to_string())
}

/// A home whose tools and endpoints repeat what they know.
async fn home(url: &str, key: &str) -> (Home, MockServer) {
    let home = Home::new();
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(ResponseTemplate::new(401).set_body_string(echo(&sent(0))))
        .mount(&server)
        .await;
    home.write(
        "c.toml",
        format!(
            "[models.m]\nkind = \"openai\"\nurl = \"{url}?sig={}\"\nmodel = \"x\"\n{key}\nretries = 0\n\
             headers = {{ X-Project = {{ env = \"PLANTED_HEADER\" }}, X-Id = {{ env = \"PLANTED_DIGITS\" }} }}\n\
             [models.n]\nkind = \"openai\"\nurl = \"http://127.0.0.1:9/v1\"\nmodel = \"x\"\n\
             key_command = [\"cat\", \"{}\"]\n\
             [models.o]\nkind = \"openai\"\nurl = \"http://127.0.0.1:9/v1\"\nmodel = \"x\"\nkey_env = \"PLANTED_KEY\"\n\
             [roles]\ndefault = \"m\"\n\
             [experience]\nfile = \"e.sqlite\"\n[experience.embeddings]\nurl = \"{}/v1\"\nmodel = \"e\"\nkey_env = \"PLANTED_EMBEDDINGS\"\nretries = 0\n",
            KEYS[3].1,
            home.path("key.planted").display(),
            server.uri(),
        ),
    );
    home.write("key.planted", KEYS[1].1);
    home.write("leak.planted", echo(&KEYS.map(|(_, key)| key)));
    let tool = |name: &str, source: &str| {
        let head = format!("name = \"{name}\"\ndescription = \"Prints.\"\neffect = \"read\"\n");
        let text =
            format!("{head}[parameters.properties.name]\ntype = \"string\"\n[source]\n{source}\n");
        home.write(&format!("w/tools/{name}.toml"), text);
    };
    let leak = home.path("leak.planted");
    tool("leak", &format!("command = [\"cat\", {leak:?}]"));
    tool("fail", &format!("command = [\"sh\", \"-c\", \"cat {} >&2; exit 3\"]", leak.display()));
    let film = "headers = { Authorization = \"Bearer ${PLANTED_HTTP}\" }";
    tool("film", &format!("url = \"{}/film\"\n{film}", server.uri()));
    (home, server)
}

/// The variables that have keys.
fn variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    let names = [
        "PLANTED_KEY",
        "",
        "PLANTED_HEADER",
        "",
        "PLANTED_HTTP",
        "PLANTED_EMBEDDINGS",
        "PLANTED_DIGITS",
    ];
    let named = names.into_iter().zip(KEYS).filter(|(name, _)| !name.is_empty());
    named.map(|(name, (_, key))| (name, key))
}

async fn run(home: &Home, arguments: &[&str]) -> Ran {
    let mut command = home.command(arguments);
    command.envs(variables());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    Ran::of(output.await.unwrap())
}

#[test]
fn whoever_looks_closely_finds_every_key_in_every_encoding() {
    for (_, key) in KEYS {
        for (name, encode) in ENCODINGS {
            assert!(!leaks(&encode(key), &KEYS).is_empty(), "{key} as {name}");
        }
    }
    assert_eq!(leaks("Bearer [key] and cGxhbnRlZA== of 706c616e746564", &KEYS), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_in_no_file_and_on_no_output_in_any_encoding() {
    let own = [("key_env = \"PLANTED_KEY\"", 0), ("key_command = [\"cat\", \"key.planted\"]", 1)];
    for (at, (source, planted)) in own.into_iter().enumerate() {
        let fake = Fake::start(vec![calls(planted), answers(planted)]).await;
        let (home, _server) = home(&fake.url, source).await;
        // Files of older versions.
        for name in ["l.txt", "e.sqlite", "w/learned.json"] {
            home.write(
                name,
                if name.ends_with("json") { "{\"scores\": {}, \"explored\": []}" } else { "" },
            );
            fs::set_permissions(home.path(name), fs::Permissions::from_mode(0o644)).unwrap();
        }
        let shared = ["--config", "c.toml", "--log", "l.txt", "--log-level", "trace"];
        let here = [&shared[..], &["--workspace", "w"]].concat();
        let session = [
            &["run"][..],
            &here,
            &["--strategy", "react+btp", "--task", "What were you sent?", "--journal", "j.jsonl"],
            &["--report", "r.json", "--state", "s.json"],
        ];
        let session = [&session.concat()[..], if at == 0 { &["--json"] } else { &[] }].concat();
        let with = |words: &[&'static str], more: &[&'static str]| [words, more].concat();
        let mut commands: BTreeMap<&str, Vec<&str>> = BTreeMap::from([
            ("a run", session),
            ("b replay", with(&["replay", "j.jsonl", "--json"], &shared)),
            ("c report", with(&["report", "j.jsonl"], &shared)),
            ("d page", with(&["report", "j.jsonl", "--html", "--out", "r.html"], &shared)),
            (
                "e picture",
                with(&["shot", "j.jsonl", "--pane", "transcript", "--out", "s.svg"], &shared),
            ),
            ("f export", with(&["experience", "export", "--out", "e.jsonl"], &shared)),
        ]);
        commands.extend([
            ("g call", [&["tools", "call", "leak", "name=x"][..], &here].concat()),
            ("h call", [&["tools", "call", "leak", "name=x", "--json"][..], &here].concat()),
            ("i call", [&["tools", "call", "fail", "name=x"][..], &here].concat()),
            ("j call", [&["tools", "call", "film", "name=x"][..], &here].concat()),
            (
                "l probe",
                [&["probe", "leak", "film", "--json", "--journal", "p.jsonl"][..], &here].concat(),
            ),
            ("m doctor", [&["doctor"][..], &here].concat()),
            ("n sessions", [&["sessions"][..], &shared].concat()),
        ]);
        let mut outputs = Vec::new();
        for (name, arguments) in commands {
            let ran = run(&home, &arguments).await;
            assert_ne!(ran.code, 2, "{name}: {ran:?}");
            if "abcdefgh".contains(&name[..1]) {
                assert_eq!(ran.code, 0, "{name}: {ran:?}");
            }
            outputs.push((format!("standard output of {name}"), ran.out));
            outputs.push((format!("standard error of {name}"), ran.err));
        }
        assert!(home.read("j.jsonl").contains("plain: [key]"), "{}", home.read("j.jsonl"));
        assert!(outputs.iter().filter(|(_, text)| text.contains("[key]")).count() >= 5);
        let written = files(&home.path(""));
        assert!(
            written.len() >= 10,
            "{:?}",
            written.iter().map(|(name, ..)| name).collect::<Vec<_>>()
        );
        for (name, bytes, mode) in written {
            // A lock is empty.
            assert!(mode == 0o600 || bytes.is_empty(), "{name}: {mode:o}");
            outputs.extend(texts(&bytes).into_iter().map(|text| (name.clone(), text)));
        }
        for (name, text) in outputs {
            let leaks = leaks(&text, &KEYS);
            assert!(leaks.is_empty(), "{source}: {name}: {:#?}", &leaks[..leaks.len().min(5)]);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_not_on_the_screen_in_the_clipboard_nor_in_the_editor() {
    let source = "key_command = [\"cat\", \"key.planted\"]";
    let fake = Fake::start(vec![calls(1), answers(1)]).await;
    let (home, _server) = home(&fake.url, source).await;
    let words = [
        &[env!("CARGO_BIN_EXE_toolyard"), "--config", "c.toml", "--workspace", "w"][..],
        &["--strategy", "react", "--no-journal", "What were you sent?"],
    ];
    let editor = ("EDITOR", "sh -c 'cat \"$1\" >> edited.txt' ed");
    let variables: Vec<_> = variables().chain([editor]).collect();
    let mut sitting = Sitting::of(&home, 120, 40, &words.concat(), &variables);
    sitting.wait_header("PAUSED");
    sitting.press(" ");
    sitting.wait_header("DONE");
    let mut screens = vec![sitting.text()];
    for pane in ["2", "6", "7"] {
        sitting.press(pane);
        sitting.press("zyy");
        sitting.wait("copied");
        screens.push(sitting.text());
        sitting.press("E");
        sitting.wait_header("DONE");
        sitting.press("z");
    }
    sitting.press("ys");
    sitting.wait("toolyard-");
    sitting.press("q");
    let (status, bytes) = sitting.end();
    assert_eq!(status.exit_code(), 0);
    assert!(home.read("edited.txt").contains("[key]"), "{}", home.read("edited.txt"));
    assert!(bytes.contains("\x1b]52;"), "something was copied");
    screens.push(bytes);
    screens.extend(files(&home.path("")).iter().flat_map(|(_, bytes, _)| texts(bytes)));
    for text in screens {
        let leaks = leaks(&text, &KEYS);
        assert!(leaks.is_empty(), "{:#?}", &leaks[..leaks.len().min(5)]);
    }
}
