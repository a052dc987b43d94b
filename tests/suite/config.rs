//! The configuration: its example is complete and equal to the defaults, it says what is wrong where,
//! and a key never gets out of it.

use std::path::{Path, PathBuf};
use std::{collections::BTreeSet, ffi::OsString, fs, time::Duration};

use proptest::prelude::*;
use toolyard::app::config::{Config, ModelConfig, SessionOverrides};
use toolyard::domain::knob::{KNOBS, Takes};
use toolyard::domain::{Knob, ModelName, Role, Speed, ToolMode};
use toolyard::model::http::Endpoint;
use toolyard::model::secret::{HeaderSource, KeySource};
use toolyard::wire::WireFormat;

const EXAMPLE: &str = include_str!("../../config.example.toml");
/// Stands for a key in bad configurations.
const SECRET: &str = "hunter22";

fn parse(text: &str) -> Config {
    Config::parse("/home/me/config.toml", text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn refused(text: &str) -> String {
    Config::parse("c.toml", text).unwrap_err().to_string()
}

fn endpoint(config: &Config, name: &str) -> Endpoint {
    match &config.models[name] {
        ModelConfig::Hosted(endpoint) => endpoint.clone(),
        other => panic!("{name} is {other:?}"),
    }
}

/// The example with every setting in it taken into use.
fn uncommented() -> String {
    let setting = |line: &str| {
        let rest = line.strip_prefix('#')?;
        rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '[').then(|| rest.to_owned())
    };
    EXAMPLE.lines().map(|line| setting(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
}

#[test]
fn the_example_is_the_defaults() {
    // The example sets every knob, and so the pace too.
    assert_eq!(
        parse(EXAMPLE),
        Config {
            chosen: SessionOverrides { strategy: true, speed: true, retrieve: true },
            ..Config::default()
        }
    );
    assert_eq!(parse(""), Config::default());
}

#[test]
fn the_example_can_be_taken_into_use_line_by_line() {
    let config = parse(&uncommented());
    let names: Vec<_> = config.models.keys().map(ModelName::as_str).collect();
    assert_eq!(
        names,
        [
            "simulated",
            "openai",
            "claude",
            "gpt",
            "gemini",
            "ollama-native",
            "ollama",
            "openrouter",
            "vllm",
        ]
    );
    assert_eq!(endpoint(&config, "claude").format, WireFormat::Messages);
    assert_eq!(endpoint(&config, "gpt").format, WireFormat::Responses);
    assert_eq!(endpoint(&config, "gemini").format, WireFormat::Gemini);
    assert_eq!(endpoint(&config, "ollama-native").format, WireFormat::Ollama);
    assert_eq!(endpoint(&config, "openai").key, KeySource::Env("OPENAI_API_KEY".into()));
    assert_eq!(endpoint(&config, "ollama").key, KeySource::None);
    let command = ["pass", "show", "openrouter"].map(str::to_owned).to_vec();
    assert_eq!(endpoint(&config, "openrouter").key, KeySource::Command(command));
    assert_eq!(endpoint(&config, "vllm").mode, ToolMode::Text);
    assert_eq!(config.roles[&Role::Actor].as_str(), "openai");
    assert!(config.session.workspace.is_some() && config.session.journals.is_some());
    let servers: Vec<_> = config.tools.servers.iter().map(|server| server.key.as_str()).collect();
    assert_eq!(servers, ["files", "github"]);
    let keys: Vec<_> = config.ui.keys.keys().map(String::as_str).collect();
    assert_eq!(keys, ["graph.pin", "quit", "step"]);
}

/// What an unknown key in this section is answered with: all the known ones.
fn known(section: &str, before: &str) -> BTreeSet<String> {
    let text = refused(&format!("[{section}]\n{before}\nzzzz = 1\n"));
    let (_, list) = text.rsplit_once("known: ").expect("the known keys are listed");
    list.trim_end_matches(')').split(", ").map(str::to_owned).collect()
}

#[test]
fn the_example_has_every_key() {
    let openai = "kind = \"openai\"\nurl = \"http://h/v1\"\nmodel = \"m\"";
    let sections = [
        ("session", ""),
        ("models.simulated", "kind = \"simulated\""),
        ("models.openai", openai),
        ("roles", ""),
        ("ui", ""),
        ("tools", ""),
        ("experience", ""),
        ("reader", ""),
        ("cost", ""),
        ("workers", ""),
        ("workers.null", ""),
    ];
    let all = uncommented();
    for (section, before) in sections {
        let from = all.find(&format!("\n[{section}]\n")).expect("the section is there") + 2;
        let part = &all[from..];
        let part = part.find("\n[").map_or(part, |end| &part[..end]);
        for key in known(section, before) {
            let here = part.contains(&format!("\n{key} = "))
                || all.contains(&format!("\n[{section}.{key}]\n"))
                || all.contains(&format!("\n[{section}.{key}."))
                // The alternative to key_env is shown where it is used.
                || key == "key_command" && all.contains("\nkey_command = ");
            assert!(here, "{section}.{key} is missing in config.example.toml");
        }
    }
}

#[test]
fn the_example_has_every_key_of_a_server() {
    let all = uncommented();
    let (_, part) = all.split_once("\n[tools.mcp.files]\n").unwrap();
    let (part, _) = part.split_once("\n[experience]\n").unwrap();
    for key in known("tools.mcp.files", "command = \"x\"") {
        assert!(format!("\n{part}").contains(&format!("\n{key} = ")), "{key} is missing");
    }
}

#[test]
fn the_example_explains_every_knob() {
    for spec in KNOBS {
        let takes = match spec.takes {
            Takes::AtOnce => "at once",
            Takes::NextStep => "at the next step",
            Takes::NextTask => "at the next task",
        };
        let (doc, range, default) = (spec.doc, spec.range(), spec.show(spec.default));
        let name = spec.name;
        let entry =
            format!("# {doc}\n# {range}; default {default}; takes effect {takes}\n{name} = ");
        assert!(EXAMPLE.contains(&entry), "config.example.toml needs\n{entry}");
    }
}

#[test]
fn the_example_names_every_theme() {
    let names: Vec<_> = toolyard::ui::theme::load::built_in_names().collect();
    for name in &names {
        let line = format!("your terminal), {}; default \"auto\"", names[1..].join(", "));
        assert!(EXAMPLE.contains(&line), "config.example.toml needs\n{line}");
        assert_eq!(parse(&format!("[ui]\ntheme = {name:?}\n")).ui.theme, *name);
    }
}

#[test]
fn every_bad_configuration_is_refused_with_its_phrase() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bad-configs");
    let mut seen = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let phrase = text.lines().next().and_then(|line| line.strip_prefix("# expect: ")).unwrap();
        let said = match Config::load(&path) {
            Ok(_) => panic!("{} was taken", path.display()),
            Err(problems) => problems.to_string(),
        };
        assert!(said.contains(phrase), "{}: expected {phrase:?} in\n{said}", path.display());
        assert!(!said.contains(SECRET), "{said}");
        for line in said.lines() {
            let place = line.strip_prefix(&format!("{}:", path.display()));
            assert!(
                place.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())),
                "{line}"
            );
        }
        seen += 1;
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn all_mistakes_are_said_at_once() {
    let said =
        refused("[session]\nseed = \"x\"\n[knobs]\nbeta = 2\n[tool]\n[ui]\nthem = \"dark\"\n");
    let lines: Vec<_> = said.lines().map(|line| line.split_once(": ").unwrap().0).collect();
    assert_eq!(lines, ["c.toml:2", "c.toml:4", "c.toml:7", "c.toml:5"], "{said}");
}

#[test]
fn an_endpoint_needs_three_lines_and_takes_every_setting() {
    let few = "[models.mine]\nkind = \"openai\"\nurl = \"http://localhost:11434/v1\"\nmodel = \"qwen3\"\n\
        [roles]\ndefault = \"mine\"\nevaluator = \"simulated\"\n";
    let config = parse(few);
    let expected = Endpoint::new("mine", "http://localhost:11434/v1", "qwen3");
    assert_eq!(endpoint(&config, "mine"), expected);
    let bound: Vec<_> = config.roles.iter().map(|(role, model)| (*role, model.as_str())).collect();
    let mine = "mine";
    assert_eq!(
        bound,
        [
            (Role::Actor, mine),
            (Role::Evaluator, "simulated"),
            (Role::Reflector, mine),
            (Role::Judge, mine),
            (Role::Planner, mine),
            (Role::Solver, mine),
            (Role::Classifier, mine),
            (Role::Programmer, mine),
            (Role::Attributor, mine),
            (Role::Prober, mine),
            (Role::Grader, mine)
        ]
    );

    let full = r#"
        [models.full]
        kind = "openai"
        url = "https://h/v1"
        model = "x"
        key_env = "A_KEY"
        tools = "text"
        stream = false
        connect_timeout = "500ms"
        silence_timeout = "2m"
        call_timeout = "90s"
        answer_limit = 500
        retries = 0
        max_tokens_field = "max_completion_tokens"
        proxy = "none"
        ca_file = "certificates/ca.pem"
        price_in = 0.5
        price_out = 2
        price_cached = 0.05
        provider = "openai"
        context = 8192
        headers = { "X-A" = "b", "X-Secret" = { env = "C_D" } }
        extra = { top_p = 0.9, nested = { list = [1, "two"] } }
    "#;
    let full = endpoint(&parse(full), "full");
    assert_eq!(full.key, KeySource::Env("A_KEY".into()));
    assert_eq!((full.mode, full.stream, full.max_retries), (ToolMode::Text, false, 0));
    assert_eq!(full.connect_timeout, Duration::from_millis(500));
    assert_eq!(full.silence_timeout, Duration::from_secs(120));
    assert_eq!((full.call_timeout, full.answer_limit), (Duration::from_secs(90), 500));
    assert_eq!(full.max_tokens_field, "max_completion_tokens");
    assert_eq!(full.proxy.as_deref(), Some("none"));
    assert_eq!(full.ca_file, Some("/home/me/certificates/ca.pem".into()));
    assert_eq!((full.price_in, full.price_out, full.context), (Some(0.5), Some(2.0), Some(8192)));
    assert_eq!(
        (full.price_cached, full.price_from.as_deref()),
        (Some(0.05), Some("configuration"))
    );
    assert_eq!(full.provider.as_deref(), Some("openai"));
    assert_eq!(full.headers["X-A"], HeaderSource::Literal("b".into()));
    assert_eq!(full.headers["X-Secret"], HeaderSource::Env("C_D".into()));
    let extra = serde_json::to_string(&full.extra).unwrap();
    assert_eq!(extra, r#"{"top_p":0.9,"nested":{"list":[1,"two"]}}"#);
}

#[test]
fn knobs_are_written_as_numbers_switches_or_names() {
    let knobs = parse(
        "[knobs]\nalpha = 1\nlearn = false\nlearn_injected = \"off\"\n\
        weight_format = \"x10\"\nmax_calls = \"250\"\nspeed = \"1/4\"\npace = 80\n",
    )
    .knobs;
    let values =
        [Knob::Alpha, Knob::Learn, Knob::LearnInjected, Knob::WeightFormat, Knob::MaxCalls];
    assert_eq!(values.map(|knob| knobs.get(knob)), [1.0, 0.0, 0.0, 4.0, 250.0]);
    assert_eq!(knobs.choice::<Speed>(), Speed::Quarter, "a file of before speed was there is read");
    assert_eq!(knobs.get(Knob::Beta), Knob::Beta.spec().default);
}

#[test]
fn workers_have_classes_patterns_and_a_timeout() {
    let workers = parse(
        r#"
        [workers]
        timeout = "1.5s"
        [workers.classes]
        Search = "finds"
        [workers.classes."Travel Booking"]
        description = " books "
        domains = { Accommodation = "places to stay", Airline = "flights" }
        [workers.null]
        all = ["nope"]
        tools.google = ["try again later"]
        classes."travel booking" = ["sold out"]
        classes.airline = ["no seats"]
    "#,
    )
    .workers;
    assert_eq!(workers.timeout_ms, 1500);
    let names: Vec<_> = workers.classes.0.keys().map(String::as_str).collect();
    assert_eq!(names, ["Search", "Travel Booking"]);
    let travel = &workers.classes.0["Travel Booking"];
    assert_eq!(travel.description, "books");
    assert_eq!(travel.domains["Airline"], "flights");
    let airline = ["Travel Booking", "Airline"];
    let nulled = |text| workers.null.nulled(&"google".into(), &airline, Some(text)).is_some();
    assert!(nulled("Nope.") && nulled("Try again later") && nulled("Sold out!"));
    assert!(nulled("There are no seats left") && !nulled("Not found"));
}

#[test]
fn paths_begin_at_the_file_and_at_home() {
    let config = parse(
        "[session]\nworkspace = \"work\"\njournals = \"/var/j\"\n[ui]\ntheme = \"my.toml\"\n\
         [tools]\nfolders = [\"../tools\", \"~/t\"]\n\
         [reader]\nmodel = \"a.gguf\"\nheads = [\"/h/b.json\", \"c.json\"]\n",
    );
    assert_eq!(config.session.workspace.as_deref(), Some(Path::new("/home/me/work")));
    assert_eq!(config.session.journals.as_deref(), Some(Path::new("/var/j")));
    assert_eq!(config.ui.theme, "/home/me/my.toml");
    assert_eq!(config.tools.folders[0], Path::new("/home/me/../tools"));
    assert!(!config.tools.folders[1].starts_with("~"), "{:?}", config.tools.folders);
    assert_eq!(config.reader.model.as_deref(), Some(Path::new("/home/me/a.gguf")));
    assert_eq!(config.reader.heads, ["/h/b.json", "/home/me/c.json"].map(PathBuf::from));
}

#[test]
fn a_key_of_the_defaults_may_be_given_to_another_action() {
    let config = parse("[ui.keys]\nstep = [\"space\", \"f10\"]\nstop = []\n");
    assert_eq!(config.ui.keys["step"], ["space", "f10"]);
    assert_eq!(config.ui.keys["stop"], [""; 0]);
}

/// An environment of these variables alone.
fn environment(vars: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<OsString> {
    move |wanted| vars.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.into())
}

/// A folder with a configuration in it.
fn written(text: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn the_environment_counts_more_than_the_file_and_the_file_more_than_the_defaults() {
    let text = "[session]\nseed = 5\nstrategy = \"react\"\n[ui]\ntheme = \"dark\"\n\
        [reader]\nmodel = \"one.gguf\"\n[models.mine]\nkind = \"openai\"\nurl = \"http://h/v1\"\nmodel = \"m\"\n";
    let (_folder, path) = written(text);
    let environment = environment(&[
        ("TOOLYARD_SEED", "7"),
        ("TOOLYARD_STRATEGY", ""),
        ("TOOLYARD_MODEL", "mine"),
        ("TOOLYARD_WORKSPACE", "here"),
        ("TOOLYARD_JOURNALS", "there"),
        ("TOOLYARD_THEME", "light"),
        ("TOOLYARD_READER_MODEL", "other.gguf"),
        ("TOOLYARD_CONFIG", "/no/such/file"),
    ]);
    let settled = Config::settle(Some(&path), &environment).unwrap();
    assert_eq!(settled.file.as_deref(), Some(&*path));
    let config = settled.config;
    assert_eq!((config.session.seed, &*config.ui.theme), (7, "light"));
    assert_eq!(config.session.strategy.to_string(), "react");
    assert_eq!(config.session.workspace.as_deref(), Some(Path::new("here")));
    assert_eq!(config.session.journals.as_deref(), Some(Path::new("there")));
    assert_eq!(config.reader.model.as_deref(), Some(Path::new("other.gguf")));
    assert!(config.roles.values().all(|model| model.as_str() == "mine"));

    let said = Config::settle(None, &environment).unwrap_err().to_string();
    assert!(said.starts_with("/no/such/file: no such file; start from"), "{said}");
}

#[test]
fn what_is_wrong_in_the_environment_is_said_by_its_name() {
    let (_folder, path) = written("");
    let environment = environment(&[
        ("TOOLYARD_SEED", "-3"),
        ("TOOLYARD_STRATEGY", "tree"),
        ("TOOLYARD_MODEL", "simulatd"),
    ]);
    let said = Config::settle(Some(&path), &environment).unwrap_err().to_string();
    let lines: Vec<_> = said.lines().collect();
    assert!(
        lines[0].starts_with("TOOLYARD_MODEL: no model \"simulatd\" in [models]; did you mean")
    );
    assert!(lines[1].starts_with("TOOLYARD_STRATEGY: there is no strategy `tree`"), "{said}");
    assert_eq!(lines[2], "TOOLYARD_SEED: expected a whole number of at least 0, got \"-3\"");
}

#[test]
fn a_file_that_cannot_be_a_configuration_is_said_to_be_none() {
    let said = |path: &Path| Config::load(path).unwrap_err().to_string();
    let folder = tempfile::tempdir().unwrap();
    assert!(said(folder.path()).contains(": a directory; expected a configuration file"));
    assert!(said(&folder.path().join("no.toml")).contains("no such file"));

    let (_folder, path) = written(b"[session]\nseed = 1\n# \xff\n");
    assert!(said(&path).contains("c.toml:3: not UTF-8"), "{}", said(&path));
    let (_folder, path) = written(vec![b'#'; 10 * 1024 * 1024]);
    assert!(said(&path).contains("longer than 1024 KiB"));
    let (_folder, path) = written("");
    assert_eq!(Config::load(&path).unwrap(), Config::default());
    let (_folder, path) = written("\u{feff}[session]\r\nseed = 9\r\n");
    assert_eq!(Config::load(&path).unwrap().session.seed, 9);
}

proptest! {
    /// Whatever is done to a configuration, reading it says so and never panics.
    #[test]
    fn no_text_is_too_strange(at in 0..EXAMPLE.len(), cut in 0..60_usize, put in "\\PC{0,12}") {
        let text = uncommented();
        let floor = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let (from, to) = (floor(at).unwrap(), floor(at + cut).unwrap());
        let text = format!("{}{put}{}", &text[..from], &text[to..]);
        if let Err(problems) = Config::parse("c.toml", &text) {
            prop_assert!(!problems.0.is_empty());
        }
    }
}

#[test]
fn what_no_longer_exists_is_named_and_the_rest_of_the_file_counts() {
    let config = parse(
        "[models.small]\nkind = \"local\"\npath = \"m.gguf\"\nanswer_limit = 5\n[roles]\nactor = \"small\"\n\
         [ui.keys]\nmap = \"f3\"\nquit = \"f4\"\n",
    );
    assert!(!config.models.contains_key("small"));
    assert_eq!(config.roles[&Role::Actor], ModelName::new("simulated"));
    assert_eq!(config.ui.keys.keys().collect::<Vec<_>>(), ["quit"]);
    let said: Vec<_> = config.gone.notices.iter().map(ToString::to_string).collect();
    for (said, start) in said.iter().zip([
        "/home/me/config.toml:1: models.small: models of kind \"local\" no longer exist",
        "/home/me/config.toml:6: roles.actor: this model is ignored",
        "/home/me/config.toml:8: ui.keys.map: the map of tools no longer exists",
    ]) {
        assert!(said.starts_with(start), "{said}");
    }
    assert_eq!(said.len(), 3);
}
