//! Recipes: how to make agents send their model calls to a listener. They are data, which a user extends by a file.

use std::path::Path;

use regex::Regex;
use reqwest::Url;

use super::login::LoginFile;
use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::{Problems, TomlField, TomlFields, TomlFile};

/// The recipes that toolyard brings.
const OWN: (&str, &str) = ("recipes.toml", include_str!("recipes.toml"));

const FILE: Expectation = Expectation {
    what: "recipes for agents",
    missing: "create it, or leave it out",
    largest: 256 * 1024,
};

/// The words that a recipe may have in braces.
const PLACEHOLDERS: [&str; 4] = ["address", "session", "door", "token"];
/// Placeholders of arguments that name a configuration of MCP servers, or one of its servers.
const OF_SERVERS: [&str; 1] = ["mcp"];
const OF_SERVER: [&str; 2] = ["key", "server"];

/// The known endpoints and programs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipes {
    pub endpoints: Vec<Endpoint>,
    pub programs: Vec<ProgramRecipe>,
    /// Rules for the parts of requests that vary from run to run with any agent.
    varies: Vec<String>,
    /// Providers, or names of variables, that are sent here only if they were set before.
    providers: Vec<String>,
    /// Words in the names of variables that lead to no model.
    no_models: Vec<String>,
}

/// A kind of endpoint, and how clients learn its address.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    pub name: String,
    /// The destination of requests unless a variable names another one.
    pub upstream: Url,
    /// The end of the address that clients expect, such as `/v1`; may be empty.
    pub path: String,
    /// The variables from which clients read the address; if several are set, the first counts.
    pub variables: Vec<String>,
    /// The port of a value that is a host without a scheme; `None`: such a value is invalid.
    pub port: Option<u16>,
    /// Lines for the agent's code that name the address, for agents that read no variable.
    pub code: Vec<String>,
    /// Where one of these variables is set and that of the key is not, only variables that were set before are set.
    pub unless: Vec<String>,
    pub key: Option<String>,
}

/// A program that needs more than the variables of endpoints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgramRecipe {
    /// The name of its file, without folders.
    pub name: String,
    /// Arguments that are put before those of the user.
    pub arguments: Vec<String>,
    pub variables: Vec<(String, String)>,
    /// Arguments that name a configuration of MCP servers, whose path is `{mcp}` in them.
    pub servers: Vec<String>,
    /// Arguments for each MCP server: its key is `{key}`, and its entry as a table of TOML `{server}`.
    pub each_server: Vec<String>,
    /// Where the program keeps a login of its own.
    pub login: Option<LoginFile>,
    /// Whether the program needs the terminal for itself.
    pub tty: bool,
    /// Rules for the parts of its requests that vary from run to run.
    pub varies: Vec<String>,
}

impl Recipes {
    /// The built-in recipes, overridden by those of a file if there is one.
    ///
    /// # Errors
    /// All problems of the file.
    pub fn load(file: &Path) -> Result<Self, Problems> {
        if file.try_exists().is_ok_and(|exists| !exists) {
            return Self::default().with(OWN.0, OWN.1);
        }
        let text = text_file::read(file, &FILE)?;
        Self::default().with(OWN.0, OWN.1)?.with(&file.display().to_string(), &text)
    }

    /// Adds the recipes of a text; they take precedence over these.
    fn with(mut self, file: &str, text: &str) -> Result<Self, Problems> {
        TomlFile::read(file, text, |mut fields| {
            fields.put("varies", &mut self.varies, rules);
            fields.put("providers", &mut self.providers, |field| names(field));
            fields.put("no_models", &mut self.no_models, |field| names(field));
            for (name, field) in tables(&mut fields, "endpoints") {
                let at = self.endpoints.iter().position(|endpoint| endpoint.name == name);
                let known = at.map(|at| self.endpoints.remove(at));
                if let Some(endpoint) = endpoint(name, known, &field) {
                    self.endpoints.insert(at.unwrap_or(self.endpoints.len()), endpoint);
                }
            }
            for (name, field) in tables(&mut fields, "programs") {
                let at = self.programs.iter().position(|program| program.name == name);
                let known = at.map(|at| self.programs.remove(at));
                self.programs.extend(program(name, known.unwrap_or_default(), &field));
            }
            fields.finish();
            Some(self)
        })
    }

    /// The recipe of the program that a command starts.
    pub fn program(&self, command: &Path) -> Option<&ProgramRecipe> {
        let name = command.file_name()?;
        self.programs.iter().find(|program| name == program.name.as_str())
    }

    /// Rules for the parts of requests that vary from run to run with the program that a command starts.
    pub fn varies(&self, command: Option<&Path>) -> Vec<String> {
        let own = command.and_then(|command| self.program(command));
        let own = own.map_or(&[][..], |program| &program.varies);
        self.varies.iter().chain(own).cloned().collect()
    }
}

/// The ends of the names of variables that have addresses.
const ENDS: [&str; 6] =
    ["_BASE_URL", "_API_BASE", "_API_BASE_URL", "_API_URL", "_ENDPOINT", "_HOST"];

impl Recipes {
    /// Whether this variable has the address of a known provider.
    pub fn is_of_provider(&self, variable: &str) -> bool {
        let of = |known: &String| {
            variable
                .strip_prefix(known.as_str())
                .is_some_and(|end| end.is_empty() || ENDS.contains(&end))
        };
        self.providers.iter().any(of)
    }

    /// Whether this variable, which no recipe names, may have the address of a model.
    pub fn may_name_model(&self, variable: &str) -> bool {
        let name = variable.to_ascii_uppercase();
        let is_other = |word: &str| self.no_models.iter().any(|other| other == word);
        let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let ends = ENDS.iter().any(|end| name.ends_with(end));
        is_plain && ends && !name.split('_').any(is_other)
    }
}

/// A recipe's text with the address and the session filled in. `{door}` is the address without its token, for command
/// lines, which other users can read, and `{token}` the token.
pub fn filled(text: &str, address: &str, session: &str) -> String {
    let (door, token) = apart(address);
    let text = text.replace("{address}", address).replace("{session}", session);
    text.replace("{door}", &door).replace("{token}", token)
}

/// A listener's address without its token, and the token; empty if it has none.
pub fn apart(address: &str) -> (String, &str) {
    let Some((host, rest)) = address.split_once("/t/") else { return (address.to_owned(), "") };
    let (token, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    (format!("{host}{path}"), token)
}

/// The named tables of this table.
fn tables<'f>(fields: &mut TomlFields<'f>, key: &'static str) -> Vec<(&'f str, TomlField<'f>)> {
    fields.get(key).and_then(|field| field.table()).map_or_else(Vec::new, |table| table.all())
}

fn endpoint(name: &str, known: Option<Endpoint>, field: &TomlField<'_>) -> Option<Endpoint> {
    let mut fields = field.table()?;
    let (upstream, variables) = if known.is_some() {
        (fields.get("upstream"), fields.get("variables"))
    } else {
        let upstream = fields.need("upstream", "upstream = \"https://HOST/v1\"");
        (upstream, fields.need("variables", "variables = [\"NAME_BASE_URL\"]"))
    };
    let upstream =
        upstream.and_then(|field| field.text_as("an address: http://… or https://…", url));
    let variables = variables.and_then(|field| names(&field));
    let known = known.or_else(|| {
        Some(Endpoint {
            name: name.to_owned(),
            upstream: upstream.clone()?,
            path: String::new(),
            variables: variables.clone()?,
            port: None,
            code: Vec::new(),
            unless: Vec::new(),
            key: None,
        })
    });
    let mut path = None;
    fields.put("path", &mut path, |field| {
        let good = |text: &&str| text.is_empty() || text.starts_with('/') && !text.ends_with('/');
        let expected = "\"\", or a path such as \"/v1\"";
        Some(field.text_as(expected, |text| Some(text).filter(good)).map(str::to_owned))
    });
    let port = fields.get("port").and_then(|field| field.whole(1, 65535));
    let code = fields.get("code").and_then(|field| templates(&field));
    let unless = fields.get("unless").and_then(|field| names(&field));
    let key = fields.get("key").and_then(|field| Some(field.text()?.to_owned()));
    fields.finish();
    let known = known?;
    Some(Endpoint {
        upstream: upstream.unwrap_or(known.upstream),
        path: path.unwrap_or(known.path),
        variables: variables.unwrap_or(known.variables),
        port: port.and_then(|port| u16::try_from(port).ok()).or(known.port),
        code: code.unwrap_or(known.code),
        unless: unless.unwrap_or(known.unless),
        key: key.or(known.key),
        name: known.name,
    })
}

fn program(name: &str, known: ProgramRecipe, field: &TomlField<'_>) -> Option<ProgramRecipe> {
    let mut program = ProgramRecipe { name: name.to_owned(), ..known };
    if name.contains('/') {
        field.refuse("expected the name of a program without folders, such as codex");
    }
    let mut fields = field.table()?;
    fields.put("arguments", &mut program.arguments, templates);
    fields.put("servers", &mut program.servers, |field| templates_of(field, &OF_SERVERS));
    fields.put("each_server", &mut program.each_server, |field| templates_of(field, &OF_SERVER));
    fields.put("variables", &mut program.variables, |field| {
        let variables = field.table()?.all();
        let variable = |(name, field): (&str, TomlField<'_>)| {
            is_name(name, &field).then_some(())?;
            Some((name.to_owned(), template(&field)?))
        };
        variables.into_iter().map(variable).collect()
    });
    fields.put("login", &mut program.login, |field| Some(LoginFile::of(field)));
    fields.put("tty", &mut program.tty, TomlField::flag);
    fields.put("varies", &mut program.varies, rules);
    fields.finish();
    Some(program)
}

/// An HTTP address.
pub fn url(text: &str) -> Option<Url> {
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    Url::parse(text).ok().filter(is_web)
}

/// The names of variables.
fn names(field: &TomlField<'_>) -> Option<Vec<String>> {
    let name = |field: &TomlField<'_>| {
        let name = field.text()?;
        is_name(name, field).then(|| name.to_owned())
    };
    field.list()?.iter().map(name).collect()
}

fn is_name(name: &str, field: &TomlField<'_>) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = !name.is_empty() && name.chars().all(good);
    if !is_name {
        field.refuse("expected the name of an environment variable, such as OPENAI_BASE_URL");
    }
    is_name
}

/// Places in a body, or regular expressions for texts.
fn rules(field: &TomlField<'_>) -> Option<Vec<String>> {
    let rule = |field: &TomlField<'_>| {
        let text = field.text()?;
        let wrong = match text.strip_prefix('/') {
            Some("") => Some("expected a field such as /metadata".to_owned()),
            Some(_) => None,
            None => Regex::new(text).err().map(|error| {
                // The last line gives the reason; the lines before it show the place.
                let why = error.to_string();
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
                format!("no regular expression: {why}")
            }),
        };
        wrong.map_or_else(
            || Some(text.to_owned()),
            |why| {
                field.refuse(why);
                None
            },
        )
    };
    // Each mistake is named.
    let rules: Vec<Option<String>> = field.list()?.iter().map(rule).collect();
    rules.into_iter().collect()
}

fn templates(field: &TomlField<'_>) -> Option<Vec<String>> {
    templates_of(field, &PLACEHOLDERS)
}

fn templates_of(field: &TomlField<'_>, known: &[&str]) -> Option<Vec<String>> {
    field.list()?.iter().map(|field| template_of(field, known)).collect()
}

fn template(field: &TomlField<'_>) -> Option<String> {
    template_of(field, &PLACEHOLDERS)
}

/// A text with placeholders. Braces with anything but one word are part of the text.
fn template_of(field: &TomlField<'_>, known: &[&str]) -> Option<String> {
    let text = field.text()?;
    let words = text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic());
    for word in words {
        if is_word(word) && !known.contains(&word) {
            let known: Vec<_> = known.iter().map(|known| format!("{{{known}}}")).collect();
            let known = known.join(", ");
            field.refuse(format!("unknown placeholder {{{word}}}; known: {known}"));
            return None;
        }
    }
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn own() -> Recipes {
        Recipes::load(Path::new("/no/such/file")).unwrap()
    }

    #[test]
    fn the_own_recipes_are_valid_and_in_their_order() {
        let recipes = own();
        let names: Vec<_> = recipes.endpoints.iter().map(|endpoint| &*endpoint.name).collect();
        assert_eq!(names, ["openai", "anthropic", "gemini", "ollama", "groq", "openrouter"]);
        let codex = recipes.program(Path::new("/usr/local/bin/codex")).unwrap();
        let last = filled(codex.arguments.last().unwrap(), "http://127.0.0.1:1", "s1");
        assert!(last.contains(r#"base_url="http://127.0.0.1:1/v1""#), "{last}");
        assert!(last.contains(r#"{"x-toolyard-session"="s1"}"#), "{last}");
        let last = filled(codex.arguments.last().unwrap(), "http://127.0.0.1:1/t/abc/s/2", "s1");
        assert!(last.contains(r#"base_url="http://127.0.0.1:1/s/2/v1""#), "{last}");
        assert!(last.contains(r#"env_http_headers={"x-toolyard-door"="TOOLYARD_DOOR"}"#), "{last}");
        let (name, token) = &codex.variables[0];
        let token = filled(token, "http://127.0.0.1:1/t/abc", "s1");
        assert_eq!((name.as_str(), token.as_str()), ("TOOLYARD_DOOR", "abc"));
        let key = codex.login.as_ref().and_then(|login| login.key.as_deref());
        assert_eq!(key, Some("OPENAI_API_KEY"));
        assert!(codex.tty && recipes.program(Path::new("python")).is_none());
    }

    /// A text without what varies for a program.
    fn without(program: &str, text: &str) -> String {
        let rules = own().varies(Some(Path::new(program)));
        let texts = rules.iter().filter(|rule| !rule.starts_with('/'));
        texts.fold(text.to_owned(), |text, rule| {
            Regex::new(rule).unwrap().replace_all(&text, "…").into_owned()
        })
    }

    /// The texts are from Claude Code 2.1.197 and Codex 0.171.
    #[test]
    fn what_varies_for_coding_agents_is_left_out_and_nothing_beside_it() {
        let status = |branch: &str, files: &str, commits: &str, after: &str| {
            let text = format!(
                "Act.\n\ngitStatus: This is the git status at the start of the conversation.\n\n\
                 Current branch: {branch}\n\nMain branch: main\n\nGit user: a\n\nStatus:\n{files}\n\n\
                 Recent commits:\n{commits}\n{after}"
            );
            without("claude", &text)
        };
        let many = "M  a.txt\n?? b c.txt\n... (truncated because it exceeds 2k characters)";
        let then = status("main", "(clean)", "3c20915 First", "\nBe brief.");
        assert_eq!(status("main", many, "aaaaaaa Second\n3c20915 First", "\nBe brief."), then);
        assert_ne!(status("other", "(clean)", "3c20915 First", "\nBe brief."), then);
        assert_ne!(status("main", "(clean)", "3c20915 First", "\nBe long."), then);
        assert_ne!(status("main", "(clean)", "3c20915 First", "no commit\n\nBe brief."), then);
        let of = |id: &str, file: &str| {
            without("claude", &format!("Write to /tmp/x/{id}/pad/{file}, not to {id}."))
        };
        let [one, other] =
            ["81ea6b81-1901-4091-8067-0cd392675c3e", "9e088a1f-6749-42a4-928c-5cabcacc691e"];
        assert_ne!(of(one, "a"), of(other, "a"), "only as a folder");
        assert_eq!(of(one, "a").replace(one, ""), of(other, "a").replace(other, ""));
        assert_ne!(of(one, "a"), of(one, "b"));
        let ran = |chunk: &str, wall: &str, code: u8| {
            let head = format!(
                "Chunk ID: {chunk}\nWall time: {wall} seconds\nProcess exited with code {code}"
            );
            let json = format!(
                r#"{{"chunk_id":"{chunk}","wall_time_seconds":{wall},"exit_code":{code}}}"#
            );
            without("codex", &format!("{head}\nScript completed\nWall time {wall} seconds\n{json}"))
        };
        assert_eq!(ran("db3c0d", "0.0000", 0), ran("dfce23", "12.4000", 0));
        assert_ne!(ran("db3c0d", "0.0000", 0), ran("db3c0d", "0.0000", 1));
    }

    #[test]
    fn a_file_of_the_user_extends_and_replaces_single_fields() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agents.toml");
        let text = "[endpoints.openai]\nupstream = \"http://gateway:4000/v1\"\n\
                    [endpoints.mistral]\nupstream = \"https://api.mistral.ai/v1\"\n\
                    variables = [\"MISTRAL_BASE_URL\"]\npath = \"/mistral/v1\"\n\
                    [programs.codex]\ntty = false\n[programs.mine]\narguments = [\"--url={address}\"]\n\
                    varies = [\"/seed\"]\n";
        std::fs::write(&file, text).unwrap();
        let (before, after) = (own(), Recipes::load(&file).unwrap());
        let expected = Endpoint {
            upstream: url("http://gateway:4000/v1").unwrap(),
            ..before.endpoints[0].clone()
        };
        assert_eq!((after.endpoints.len(), &after.endpoints[0]), (7, &expected));
        assert_eq!(after.endpoints[6].path, "/mistral/v1");
        let [was, is] =
            [&before, &after].map(|recipes| recipes.program(Path::new("codex")).unwrap());
        assert_eq!((is.tty, &is.arguments), (false, &was.arguments));
        assert_eq!(after.program(Path::new("./mine")).unwrap().arguments, ["--url={address}"]);
        let general = before.varies(None);
        assert!(general.contains(&"/metadata".to_owned()), "{general:?}");
        let own = after.varies(Some(Path::new("./mine")));
        assert_eq!(own, [general, vec!["/seed".to_owned()]].concat());
    }

    #[test]
    fn every_mistake_is_named() {
        let text = "[endpoints.openai]\nupstream = \"api.openai.com\"\nvariables = [\"A B\"]\npath = \"v1\"\n\
                    [endpoints.new]\nport = 0\n\
                    [programs.x]\narguments = [\"{adress}\"]\nvariables = { \"A=\" = \"\" }\nttyy = true\n\
                    varies = [\"/\", \"(\", \"/seed\"]\n";
        let problems = own().with("agents.toml", text).unwrap_err().to_string();
        let found: Vec<_> = problems.lines().collect();
        assert_eq!(
            found,
            [
                "agents.toml:2: endpoints.openai.upstream: expected an address: http://… or https://…, got \"api.openai.com\"",
                "agents.toml:3: endpoints.openai.variables[0]: expected the name of an environment variable, such as OPENAI_BASE_URL",
                "agents.toml:4: endpoints.openai.path: expected \"\", or a path such as \"/v1\", got \"v1\"",
                "agents.toml:5: endpoints.new.upstream: missing; write upstream = \"https://HOST/v1\"",
                "agents.toml:5: endpoints.new.variables: missing; write variables = [\"NAME_BASE_URL\"]",
                "agents.toml:6: endpoints.new.port: expected a whole number from 1 to 65535, got 0",
                "agents.toml:8: programs.x.arguments[0]: unknown placeholder {adress}; known: {address}, {session}, {door}, {token}",
                "agents.toml:9: programs.x.variables.A=: expected the name of an environment variable, such as OPENAI_BASE_URL",
                "agents.toml:11: programs.x.varies[0]: expected a field such as /metadata",
                "agents.toml:11: programs.x.varies[1]: no regular expression: unclosed group",
                "agents.toml:10: programs.x.ttyy: unknown key; did you mean `tty`? (known: arguments, servers, each_server, variables, login, tty, varies)",
            ]
        );
    }
}
