//! The doctor: what it finds in good and in bad surroundings, and that it shows no key.

use std::{ffi::OsString, fs, path::Path};

use toolyard::app::doctor::{Finding, FindingLevel, Subject, Terminal, Trials, examine, is_well};

use crate::fake_endpoint::{Fake, Step};

const SCREEN: Terminal = Terminal { is_terminal: true, size: Some((160, 48)) };

/// A folder with a configuration and room for journals, and an environment that knows no other.
struct Surroundings {
    folder: tempfile::TempDir,
    variables: Vec<(&'static str, OsString)>,
}

impl Surroundings {
    fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("config.toml"), config).unwrap();
        let variables = vec![
            ("TOOLYARD_CONFIG", folder.path().join("config.toml").into()),
            ("TOOLYARD_JOURNALS", folder.path().join("made/later").into()),
            ("TERM", "xterm-256color".into()),
            ("LANG", "C.UTF-8".into()),
            ("TOOLYARD_LOCAL_SERVERS", "none".into()),
        ];
        Self { folder, variables }
    }

    fn with(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.retain(|(known, _)| *known != name);
        self.variables.push((name, value.into()));
        self
    }

    fn write(&self, file: &str, text: &str) {
        let file = self.folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    async fn examined(&self, workspace: Option<&Path>, terminal: Terminal) -> Vec<Finding> {
        let environment = |wanted: &str| {
            let found = self.variables.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| value.clone())
        };
        let environment = &environment;
        // What trials show is in `trials.rs`.
        let trials = Trials::None;
        let subject = Subject {
            config: None,
            workspace,
            mcp: &[],
            model: None,
            environment,
            terminal,
            trials,
        };
        examine(&subject).await
    }
}

fn shown(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}

fn body(status: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    let text =
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    vec![Step::Send(text.into_bytes())]
}

#[tokio::test]
async fn the_demo_is_well() {
    let surroundings = Surroundings::new("");
    let findings = surroundings.examined(None, SCREEN).await;
    assert!(
        findings.iter().all(|finding| finding.verdict == FindingLevel::Ok),
        "{}",
        shown(&findings)
    );
    let text = shown(&findings);
    for phrase in [
        "configuration: read from ",
        "TOOLYARD_CONFIG, TOOLYARD_JOURNALS",
        "workspace: embedded demo: ",
        "tools: all tools can be called",
        "terminal: 160 columns and 48 rows\n",
        "model simulated: actor, evaluator, reflector, judge, planner, solver, classifier, programmer, attributor, prober, grader: simulated",
    ] {
        assert!(text.contains(phrase), "{phrase} is missing in\n{text}");
    }
    let left: Vec<_> = fs::read_dir(surroundings.folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "it leaves nothing behind: {left:?}");
}

#[tokio::test]
async fn what_is_wrong_is_said_with_what_to_do() {
    let config = "[session]\nseed = -1\n[ui]\nthem = \"dark\"\n";
    let surroundings = Surroundings::new(config).with("TOOLYARD_JOURNALS", "/dev/null/journals");
    let findings = surroundings.examined(Some(Path::new("/no/such/folder")), SCREEN).await;
    assert!(!is_well(&findings));
    let text = shown(&findings);
    for phrase in [
        "config.toml:2: session.seed: expected a whole number",
        "config.toml:4: ui.them: unknown key; did you mean `theme`?",
        "FAIL  workspace: /no/such/folder: ",
    ] {
        assert!(text.contains(phrase), "{phrase} is missing in\n{text}");
    }

    let surroundings = Surroundings::new("").with("TOOLYARD_JOURNALS", "/dev/null/journals");
    let text = shown(&surroundings.examined(None, SCREEN).await);
    assert!(text.contains("FAIL  journals: /dev/null/journals is not writable: "), "{text}");
    assert!(text.contains("→ make it writable, or set session.journals"), "{text}");
}

#[tokio::test]
async fn a_theme_that_is_wrong_is_mentioned() {
    let surroundings = Surroundings::new("[ui]\ntheme = \"mine.toml\"\n");
    surroundings.write("mine.toml", "[styles]\ngod = \"green\"\n");
    let text = shown(&surroundings.examined(None, SCREEN).await);
    assert!(text.contains("warn  configuration: "), "{text}");
    assert!(text.contains("mine.toml:2: styles.god: unknown style"), "{text}");
}

#[tokio::test]
async fn a_default_key_that_moved_is_mentioned() {
    let surroundings = Surroundings::new("[ui.keys]\nstep = \"space\"\n");
    let text = shown(&surroundings.examined(None, SCREEN).await);
    assert!(
        text.contains("warn  configuration: ui.keys: `space` now does `step` instead of"),
        "{text}"
    );
}

#[tokio::test]
async fn case_10_5_a_key_that_begins_others_takes_them_all() {
    let surroundings = Surroundings::new("[ui.keys]\nstep = \"g\"\n");
    let text = shown(&surroundings.examined(None, SCREEN).await);
    let said = "ui.keys.step: this hides all keys that begin with `g`: `g";
    assert!(text.contains(said) && text.contains("`gg` (top)"), "{text}");
    assert!(text.contains("`ge` (goto)") && text.contains("`gf` (faults)"), "{text}");
    assert!(!text.contains("now does `step`"), "{text}");
}

#[tokio::test]
async fn case_10_4_a_key_that_no_terminal_sends_is_refused() {
    for (key, sent) in [("ctrl-i", "tab"), ("ctrl-m", "enter"), ("ctrl-[", "esc")] {
        let surroundings = Surroundings::new(&format!("[ui.keys]\nstep = \"{key}\"\n"));
        let text = shown(&surroundings.examined(None, SCREEN).await);
        let said = format!(":2: ui.keys.step: a terminal never sends `{key}`; it sends {sent}");
        assert!(text.contains("FAIL  configuration: ") && text.contains(&said), "{text}");
    }
}

#[tokio::test]
async fn programs_that_are_not_there_are_found_before_a_call_is() {
    let surroundings = Surroundings::new("");
    surroundings.write(
        "w/tools/gone.toml",
        "name = \"gone\"\ndescription = \"d\"\n[source]\ncommand = [\"no-such-program-anywhere\"]\n\
         env = [\"TOOLYARD_TEST_UNSET\"]\n",
    );
    surroundings.write(
        "w/tools/there.toml",
        "name = \"there\"\ndescription = \"d\"\neffect = \"read\"\n[source]\n\
         command = [\"sh\", \"-c\", \"cat\"]\n",
    );
    surroundings.write(
        "w/tools/gone-too.toml",
        "name = \"gone_too\"\ndescription = \"d\"\n[source]\ncommand = [\"./no-such-file\"]\n",
    );
    let workspace = surroundings.folder.path().join("w");
    let text = shown(&surroundings.examined(Some(&workspace), SCREEN).await);
    assert!(text.contains("3 tools, 0 tasks"), "{text}");
    assert!(text.contains("the program `no-such-program-anywhere` is not in PATH"), "{text}");
    assert!(text.contains("FAIL  tool gone_too: "), "{text}");
    assert!(text.contains("warn  tool gone: "), "{text}");
    assert!(text.contains("no effect declared: a screen asks before each call"), "{text}");
    assert!(text.contains("TOOLYARD_TEST_UNSET, which is not set"), "{text}");
    assert!(!text.contains("tool there"), "{text}");

    surroundings.write(
        "w/tools/there.toml",
        "name = \"there\"\ndescription = \"d\"\n[parameters]\nrequired = [\"town\"]\n\
         properties.city.type = \"string\"\n[source]\ncommand = [\"sh\", \"-c\", \"cat\"]\n",
    );
    let text = shown(&surroundings.examined(Some(&workspace), SCREEN).await);
    assert!(text.contains("parameters.required names \"town\", which"), "{text}");

    surroundings.write("empty/tools/readme.txt", "no tools");
    let workspace = surroundings.folder.path().join("empty");
    let text = shown(&surroundings.examined(Some(&workspace), SCREEN).await);
    assert!(text.contains("warn  tools: no tools: "), "{text}");
}

#[tokio::test]
async fn a_terminal_is_judged_by_what_it_says_of_itself() {
    let cases: [(&str, &str, Terminal, &str); 9] = [
        ("TERM", "dumb", SCREEN, "FAIL  terminal: TERM is dumb"),
        ("TERM", "", SCREEN, "FAIL  terminal: TERM is not set"),
        ("LANG", "C", SCREEN, "warn  terminal: LANG=C is not a UTF-8 locale"),
        ("LC_ALL", "POSIX", SCREEN, "warn  terminal: LC_ALL=POSIX is not a UTF-8 locale"),
        ("COLORTERM", "truecolor", SCREEN, "ok    terminal: all colours"),
        ("TERM", "xterm", SCREEN, "ok    terminal: 16 colours"),
        ("NO_COLOR", "1", SCREEN, "ok    terminal: NO_COLOR is set"),
        (
            "COLUMNS",
            "50",
            Terminal { size: Some((50, 20)), ..SCREEN },
            "warn  terminal: 50 columns and 20 rows: too small",
        ),
        ("COLUMNS", "70", Terminal { size: Some((70, 20)), ..SCREEN }, "one pane fits"),
    ];
    for (name, value, terminal, phrase) in cases {
        let surroundings = Surroundings::new("").with(name, value);
        let text = shown(&surroundings.examined(None, terminal).await);
        assert!(text.contains(phrase), "{name}={value}: {phrase} is missing in\n{text}");
    }
    let piped = Surroundings::new("").examined(None, Terminal::default()).await;
    assert!(is_well(&piped) && shown(&piped).contains("warn  terminal: stdout is not a terminal"));
}

#[tokio::test]
async fn endpoints_are_asked_and_keys_stay_out_of_sight() {
    let list = r#"{"data":[{"id":"there"}]}"#;
    let fake = Fake::start(vec![body("200 OK", list), body("200 OK", list)]).await;
    let url = &fake.url;
    let model = |name: &str, url: &str, id: &str, more: &str| {
        format!("[models.{name}]\nkind = \"openai\"\nurl = \"{url}\"\nmodel = \"{id}\"\n{more}\n")
    };
    let config = [
        model("good", url, "there", "headers = { X-Team = { env = \"TEAM\" } }"),
        model("other", url, "elsewhere", ""),
        model("keyless", url, "there", "key_env = \"TOOLYARD_TEST_UNSET\""),
        model("unbound", "http://127.0.0.1:1/v1", "there", ""),
        "[roles]\nactor = \"good\"\nevaluator = \"other\"\nreflector = \"keyless\"\n".to_owned(),
    ];
    // The endpoint reads the process's own variables; this one is in every test's.
    let config = config.concat().replace("TEAM", "CARGO_MANIFEST_DIR");
    let secret = env!("CARGO_MANIFEST_DIR");
    let surroundings = Surroundings::new(&config).with("CARGO_MANIFEST_DIR", secret);
    let findings = surroundings.examined(None, SCREEN).await;
    let text = shown(&findings);
    for phrase in [
        "ok    model good: the environment variable CARGO_MANIFEST_DIR is set",
        "ok    model good: actor: ",
        "warn  model other: evaluator: ",
        "does not list \"elsewhere\"",
        "FAIL  model keyless: the environment variable TOOLYARD_TEST_UNSET is not set",
        "→ export TOOLYARD_TEST_UNSET=",
    ] {
        assert!(text.contains(phrase), "{phrase} is missing in\n{text}");
    }
    assert!(!text.contains("unbound"), "{text}");
    assert!(!text.contains(secret), "{text}");

    let json = serde_json::to_value(&findings).unwrap();
    let last = json.as_array().unwrap().last().unwrap();
    assert_eq!(last["about"], "model keyless");
    assert_eq!(last["verdict"], "fail");

    let config = model("off", "http://127.0.0.1:1/v1", "x", "") + "[roles]\ndefault = \"off\"\n";
    let text = shown(&Surroundings::new(&config).examined(None, SCREEN).await);
    assert!(
        text.contains("FAIL  model off: actor, evaluator, reflector, judge, planner, solver, classifier, programmer, attributor, prober, grader: no connection to"),
        "{text}"
    );
}

#[tokio::test]
async fn model_files_are_opened_and_hashed() {
    let text = shown(&Surroundings::new("").examined(None, SCREEN).await);
    let none = "ok    reader: no local model configured; tools are compared by words only\n";
    assert!(text.contains(none) && !text.contains("pip download"), "{text}");

    let tiny = crate::reader::tiny_path();
    let config = format!("[reader]\nmodel = {tiny:?}\n");
    let findings = Surroundings::new(&config).examined(None, SCREEN).await;
    let text = shown(&findings);
    let facts = "tiny.gguf: tiny test model, random weights, 3 layers of width 64, reads 512 tokens, \
                 0.1 MB\n      SHA-256 ";
    for phrase in [facts, ": not the file used for the published figures", "ok    reader: "] {
        assert!(text.contains(phrase), "{phrase} is missing in\n{text}");
    }
    assert!(is_well(&findings), "{text}");

    let config = "[reader]\nmodel = \"no.gguf\"\n";
    let surroundings = Surroundings::new(config).with("TOOLYARD_READER_MODEL", "other.gguf");
    let text = shown(&surroundings.examined(None, SCREEN).await);
    for phrase in [
        "TOOLYARD_READER_MODEL",
        "FAIL  reader: reader.model: other.gguf: cannot read the model file",
    ] {
        assert!(text.contains(phrase), "{phrase} is missing in\n{text}");
    }
}
