//! Manifests that are read, refused and read again, and the set of tools made of them.

use std::{cell::RefCell, collections::VecDeque, fs, path::Path, rc::Rc, sync::Arc, time::Instant};

use proptest::prelude::*;
use serde_json::json;
use toolyard::domain::{EffectClass, ToolName, ToolSpec};
use toolyard::stage::builtin;
use toolyard::tool::manifest::{self, Loaded, Manifest, Manifests, ToolSource};
use toolyard::tool::{Changes, Invocation, Tool, ToolBox, ToolErrorKind, provider::Provider};

const WHOLE: &str = r#"
name = "weather.now-2"
description = "Says how the weather is."
class = "Information Retrieval"
cost = 2.5
effect = "read"
timeout = "1.5s"
examples = ["Does it rain in Lyon?"]

[parameters]
required = ["city"]

[parameters.properties.city]
type = "string"

[parameters.properties.days]
type = "integer"
minimum = 1

[source]
command = ["python3", "weather.py", "--plain"]
env = ["PATH", "HOME"]
set = { LANG = "C" }
cwd = "scripts"
max_output = 1000
"#;

fn parse(text: &str) -> Result<Manifest, String> {
    Manifest::parse("t.toml", text, Path::new("tools"), builtin::read)
        .map_err(|problems| problems.to_string())
}

fn manifest_of(name: &str, description: &str) -> String {
    format!(
        "name = \"{name}\"\ndescription = \"{description}\"\n[parameters.properties.expression]\n\
         type = \"string\"\n[source]\nbuiltin = \"calculator\"\n"
    )
}

fn manifests(texts: &[String]) -> Vec<Manifest> {
    texts.iter().map(|text| parse(text).unwrap()).collect()
}

fn names(specs: &[Arc<ToolSpec>]) -> Vec<&str> {
    specs.iter().map(|spec| spec.name.as_str()).collect()
}

#[test]
fn every_field_is_read() {
    let manifest = parse(WHOLE).unwrap();
    let spec = &manifest.spec;
    assert_eq!(
        (spec.name.as_str(), spec.cost, spec.timeout_ms),
        ("weather.now-2", Some(2.5.into()), 1500)
    );
    assert_eq!((spec.class.as_str(), spec.effect), ("Information Retrieval", EffectClass::Read));
    assert_eq!(spec.source, "command python3 weather.py --plain");
    assert_eq!(
        spec.parameters.to_string(),
        json!({
            "required": ["city"],
            "properties": {
                "city": { "type": "string" },
                "days": { "type": "integer", "minimum": 1 },
            },
            "type": "object",
        })
        .to_string(),
        "in the order that was written"
    );
    let ToolSource::Command(command) = &manifest.source else { panic!("{:?}", manifest.source) };
    assert_eq!(command.args, ["weather.py", "--plain"]);
    assert_eq!(command.env, ["PATH", "HOME"]);
    assert_eq!(command.set["LANG"], "C");
    assert_eq!(command.cwd.as_deref(), Some(Path::new("tools/scripts")));
    assert_eq!(command.max_output, 1000);
}

#[test]
fn what_is_left_out_has_a_careful_default() {
    let manifest =
        parse("name = \"t\"\ndescription = \"d\"\n[source]\ncommand = [\"true\"]").unwrap();
    let spec = &manifest.spec;
    assert_eq!((spec.effect, spec.cost, spec.timeout_ms), (EffectClass::Unknown, None, 30_000));
    assert_eq!(spec.parameters, json!({ "type": "object", "properties": {} }).into());
    let ToolSource::Command(command) = &manifest.source else { panic!("{:?}", manifest.source) };
    assert!(command.env.is_empty() && command.set.is_empty());
    assert_eq!(command.max_output, 64 * 1024);
}

#[test]
fn every_mistake_is_named_with_its_line_and_what_to_do() {
    let cases = [
        (
            "name = \"weather.now-2\"",
            "name = \"two words\"",
            "t.toml:2: name: expected 1 to 128 letters, digits, `_`, `.` or `-`, got \"two words\"",
        ),
        (
            "name = \"weather.now-2\"",
            "name = \"end\"",
            "t.toml:2: name: \"end\" is a node of the tool graph; choose another name",
        ),
        ("name = \"weather.now-2\"", "", "name: missing; write name = \"my_tool\""),
        (
            "cost = 2.5",
            "cost = -1",
            "t.toml:5: cost: expected a number from 0 to 1000000000, got -1",
        ),
        (
            "cost = 2.5",
            "cost = nan",
            "t.toml:5: cost: expected a number from 0 to 1000000000, got nan",
        ),
        (
            "effect = \"read\"",
            "effect = \"reed\"",
            "t.toml:6: effect: \"reed\" is not a valid value; did you mean `read`?",
        ),
        (
            "\"1.5s\"",
            "\"90\"",
            "t.toml:7: timeout: expected a time such as \"500ms\", \"10s\" or \"2m\", from 1ms to 3600s, got \"90\"",
        ),
        ("\"1.5s\"", "\"2h\"", "t.toml:7: timeout: expected a time"),
        ("examples =", "exampels =", "t.toml:8: exampels: unknown key; did you mean `examples`?"),
        (
            "class = \"Information Retrieval\"",
            "class = 3",
            "t.toml:4: class: expected a text in quotes, got 3",
        ),
        (
            "type = \"string\"",
            "type = \"strin\"",
            "t.toml:14: parameters.properties.city.type: not a JSON Schema: \"strin\" is not a type; did you mean `string`?",
        ),
        ("type = \"string\"", "pattern = \"(\"", "t.toml:10: parameters: not a JSON Schema: "),
        (
            "type = \"string\"",
            "\"$ref\" = \"https://example.com/x\"",
            "t.toml:10: parameters: not a JSON Schema: ",
        ),
        (
            "required = [\"city\"]",
            "type = \"array\"",
            "t.toml:10: parameters: arguments are an object: expected type = \"object\", got \"array\"",
        ),
        (
            "minimum = 1",
            "minimum = 2026-01-01",
            "parameters.properties.days.minimum: expected a date in quotes",
        ),
        (
            "command = [\"python3\", \"weather.py\", \"--plain\"]",
            "command = []",
            "t.toml:21: source.command: expected a program and its arguments",
        ),
        (
            "command = [\"python3\", \"weather.py\", \"--plain\"]",
            "command = \"python3 x\"",
            "t.toml:21: source.command: expected a list in [brackets], got \"python3 x\"",
        ),
        (
            "command = [\"python3\",",
            "builtin = \"calculator\"\ncommand = [\"python3\",",
            "t.toml:20: source: expected one of `builtin`, `command`, `recorded`, `url`, got 2",
        ),
        (
            "command = [\"python3\", \"weather.py\", \"--plain\"]",
            "",
            "t.toml:20: source: expected one of `builtin`, `command`, `recorded`, `url`, got 0",
        ),
        (
            "max_output = 1000",
            "max_ouput = 1000",
            "t.toml:25: source.max_ouput: unknown key; did you mean `max_output`?",
        ),
        (
            "env = [\"PATH\", \"HOME\"]",
            "env = [\"PATH\", 7]",
            "t.toml:22: source.env[1]: expected a text in quotes, got 7",
        ),
        ("[source]", "[source", "t.toml:20: not TOML: "),
    ];
    for (good, bad, phrase) in cases {
        let text = WHOLE.replacen(good, bad, 1);
        assert_ne!(text, WHOLE, "{good} is not in the manifest");
        let problems = parse(&text).unwrap_err();
        assert!(problems.contains(phrase), "{bad}: expected {phrase:?} in {problems:?}");
    }
}

#[test]
fn builtin_sources_are_checked_with_their_options() {
    let with = |source: &str| {
        let text = manifest_of("t", "d");
        parse(&text.replace("builtin = \"calculator\"", source))
    };
    let cases = [
        (
            "builtin = \"calculater\"",
            "t.toml:6: source.builtin: unknown built-in tool \"calculater\"; did you mean `calculator`?",
        ),
        (
            "builtin = \"calculator\"\noptions = { hits = 3 }",
            "t.toml:7: source.options.hits: unknown key; known: ",
        ),
        (
            "builtin = \"knowledge_search\"\noptions = { hits = 0 }",
            "t.toml:7: source.options.hits: expected a whole number from 1 to 20, got 0",
        ),
        (
            "builtin = \"knowledge_search\"",
            "t.toml:3: parameters: the built-in tool `knowledge_search` needs the argument `query`; declare it in [parameters.properties.query]",
        ),
        (
            "builtin = \"slow\"\noptions = { delay = \"1s\" }",
            "t.toml:7: source.options.builtin: missing; write builtin = \"calculator\"",
        ),
        (
            "builtin = \"flaky\"\noptions = { probability = 2, builtin = \"calculator\" }",
            "t.toml:7: source.options.probability: expected a number from 0 to 1, got 2",
        ),
        (
            "builtin = \"slow\"\noptions = { delay = \"1s\", builtin = \"climate\" }",
            "the built-in tool `slow` needs the argument `city`",
        ),
        (
            "builtin = \"random_number\"\noptions = { least = 3, most = 2 }",
            "t.toml:7: source.options: expected `least` to be at most `most`, got 3 and 2",
        ),
        (
            "builtin = \"calculator\"\nenv = []",
            "t.toml:7: source.env: unknown key; known: builtin, command, recorded, url, options",
        ),
    ];
    for (source, phrase) in cases {
        let problems = with(source).unwrap_err();
        assert!(problems.contains(phrase), "{source}: expected {phrase:?} in {problems:?}");
    }
    assert!(
        with("builtin = \"slow\"\noptions = { delay = \"1s\", builtin = \"calculator\" }").is_ok()
    );
}

#[test]
fn a_folder_is_read_in_order_and_all_its_mistakes_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("b.toml", &manifest_of("beta", "second"));
    write("a.toml", &manifest_of("alpha", "first"));
    write("notes.md", "not a tool");
    write(".hidden.toml", "not a tool");
    fs::create_dir(folder.path().join("more")).unwrap();
    write("more/c.toml", "not a tool");
    let loaded = manifest::load_dir(folder.path(), builtin::read).and_then(Loaded::whole).unwrap();
    let names: Vec<_> = loaded.iter().map(|manifest| manifest.spec.name.as_str()).collect();
    assert_eq!(names, ["alpha", "beta"]);

    write("c.toml", &manifest_of("alpha", "again"));
    write("d.toml", "name = 3");
    fs::write(folder.path().join("e.toml"), [0xff]).unwrap();
    let problems = manifest::load_dir(folder.path(), builtin::read)
        .and_then(Loaded::whole)
        .unwrap_err()
        .to_string();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let expected = [
        format!(
            "{}: name: \"alpha\" is already the name of the tool in {}",
            path("c.toml"),
            path("a.toml")
        ),
        format!("{}:1: name: expected a text in quotes, got 3", path("d.toml")),
        format!("{}: cannot be read", path("e.toml")),
    ];
    for phrase in expected {
        assert!(problems.contains(&phrase), "{phrase:?} is not in\n{problems}");
    }
    let missing = manifest::load_dir(&folder.path().join("none"), builtin::read)
        .and_then(Loaded::whole)
        .unwrap_err()
        .to_string();
    assert!(missing.contains("expected a directory of tool manifests"), "{missing}");
}

#[tokio::test]
async fn recorded_answers_lie_beside_the_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let text = "name = \"sky\"\ndescription = \"d\"\n[parameters.properties.city]\ntype = \"string\"\n\
                [source]\nrecorded = \"sky.jsonl\"\n";
    write("sky.toml", text);
    write("sky.jsonl", "{\"arguments\":{\"city\":\"Lyon\"},\"result\":\"blue\"}\n");
    let tools = ToolBox::from_manifests(
        manifest::load_dir(folder.path(), builtin::read).and_then(Loaded::whole).unwrap(),
    );
    let call = |city: &str| Invocation { arguments: json!({ "city": city }), seed: 0 };
    let tool = tools.get("sky").unwrap();
    assert_eq!(tool.call(&call("Lyon")).await.unwrap().text, "blue");
    let miss = tool.call(&call("Lyons")).await.unwrap_err();
    assert_eq!(miss.kind, ToolErrorKind::NotRecorded);

    write("sky.toml", &format!("{text}otherwise = \"grey\"\n"));
    let tools = ToolBox::from_manifests(
        manifest::load_dir(folder.path(), builtin::read).and_then(Loaded::whole).unwrap(),
    );
    assert_eq!(tools.get("sky").unwrap().call(&call("Lyons")).await.unwrap().text, "grey");

    write("sky.jsonl", "\n{\"arguments\":{}}\n");
    let problems = manifest::load_dir(folder.path(), builtin::read)
        .and_then(Loaded::whole)
        .unwrap_err()
        .to_string();
    assert!(problems.contains("sky.jsonl:2: result: missing"), "{problems}");
    fs::remove_file(folder.path().join("sky.jsonl")).unwrap();
    let problems = manifest::load_dir(folder.path(), builtin::read)
        .and_then(Loaded::whole)
        .unwrap_err()
        .to_string();
    assert!(problems.contains("sky.jsonl: cannot be read"), "{problems}");
}

#[tokio::test]
async fn manifests_join_leave_and_change_while_a_session_runs() {
    let lists = RefCell::new(VecDeque::from([
        vec![manifest_of("c", "1"), manifest_of("a", "1"), manifest_of("b", "2")],
        vec![manifest_of("b", "2")],
        vec![manifest_of("b", "2")],
    ]));
    let first = manifests(&[manifest_of("a", "1"), manifest_of("b", "1")]);
    let provider = Manifests::new(first, move || match lists.borrow_mut().pop_front() {
        Some(list) => Ok(manifests(&list)),
        None => Err(manifest::load_dir(Path::new("no/such/folder"), builtin::read)
            .and_then(Loaded::whole)
            .unwrap_err()),
    });
    let mut tools = ToolBox::default();
    tools.replace("files", provider.tools().await.unwrap());
    let kept = tools.get("a").unwrap();
    let changes = tools.replace("files", provider.tools().await.unwrap());
    assert_eq!((names(&changes.joined), names(&changes.changed)), (vec!["c"], vec!["b"]));
    assert!(changes.left.is_empty());
    assert!(Rc::ptr_eq(&kept, &tools.get("a").unwrap()), "unchanged, so the same");
    assert_eq!(tools.spec("b").unwrap().description, "2");

    // One that comes from elsewhere is left alone.
    tools.join(Rc::new(manifests(&[manifest_of("guest", "1")]).remove(0)));
    let changes = tools.replace("files", provider.tools().await.unwrap());
    let left: Vec<_> = changes.left.iter().map(ToolName::as_str).collect();
    assert_eq!(left, ["a", "c"]);
    assert!(tools.get("guest").is_some() && tools.get("a").is_none());
    let changes = tools.replace("files", provider.tools().await.unwrap());
    assert_eq!(changes, Changes::default());
    let Err(error) = provider.tools().await else { panic!("there is no such folder") };
    assert_eq!(error.kind, ToolErrorKind::Unavailable);
    assert!(error.text.contains("no/such/folder: cannot be read"), "{error}");
}

#[test]
fn sixteen_thousand_tools_are_no_trouble() {
    let texts: Vec<_> =
        (0..16_000).map(|n| manifest_of(&format!("tool_{n}"), "one of many")).collect();
    let started = Instant::now();
    let mut tools = ToolBox::default();
    let all = manifests(&texts).into_iter().map(|manifest| Rc::new(manifest) as Rc<dyn Tool>);
    let all: Vec<_> = all.collect();
    tools.replace("files", all.clone());
    eprintln!("16,000 manifests: {:?}", started.elapsed());
    assert_eq!(tools.len(), 16_000);
    assert_eq!(tools.check("tool_15999", &json!({ "expression": "1" })), Ok(()));
    let started = Instant::now();
    assert_eq!(tools.replace("files", all[..8_000].to_vec()).left.len(), 8_000);
    eprintln!("half of them gone: {:?}", started.elapsed());
    assert!(
        tools.specs().map(|spec| spec.name.as_str()).eq((0..8_000).map(|n| format!("tool_{n}")))
    );
}

proptest! {
    /// Whatever a file holds, it is read or refused with a place in it, and nothing panics.
    #[test]
    fn a_damaged_manifest_is_read_or_refused(
        at in 0.0..1.0f64,
        length in 0usize..12,
        with in prop_oneof!["\\PC{0,6}", "[\\[\\]{}\"'=.,#\\n0-9a-z-]{0,6}"],
    ) {
        let chars: Vec<char> = WHOLE.chars().collect();
        let start = (at * chars.len() as f64) as usize;
        let end = (start + length).min(chars.len());
        let parts = [String::from_iter(&chars[..start]), with, String::from_iter(&chars[end..])];
        if let Err(problems) = Manifest::parse("t.toml", &parts.concat(), Path::new(""), builtin::read) {
            prop_assert!(!problems.0.is_empty());
            prop_assert!(problems.0.iter().all(|problem| problem.line.is_some()));
        }
    }
}
