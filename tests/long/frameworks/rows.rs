//! The paths that are tried: each framework by each wire that it has, with a stream and without.

use std::net::SocketAddr;
use std::path::Path;

/// How a framework is started, and what is special about it.
#[derive(Clone, Copy)]
pub struct Framework {
    /// As a person knows it.
    pub name: &'static str,
    /// The folder in `target/sdks`.
    folder: &'static str,
    /// The package whose version is told.
    package: &'static str,
    /// The file in `tests/sdks`, and its first argument.
    file: &'static str,
    first: &'static str,
    wires: &'static [&'static str],
    pub kind: Kind,
}

/// What of a framework's calls the wire has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Calls and results.
    Calls,
    /// The same; it ends where an answer has text and calls.
    Silent,
    /// A call that it forces is its answer.
    Answer,
    /// Calls; their results are text.
    TextResults,
    /// Both are text.
    Text,
    /// A program of its own, whose tool is a shell.
    Shell,
}

/// One path.
#[derive(Clone)]
pub struct Path1 {
    pub framework: Framework,
    pub wire: &'static str,
    pub streams: bool,
    pub command: Vec<String>,
    pub version: String,
}

impl Path1 {
    /// Its name in the table.
    pub fn name(&self) -> String {
        let mode = if self.streams { "stream" } else { "whole" };
        format!("{}, {}, {mode}", self.framework.name, self.wire)
    }

    /// The Vercel SDK expects the version in the address.
    pub fn wants_version(&self) -> bool {
        ["ai", "mastra"].contains(&self.framework.name)
    }

    /// The SDK of OpenAI for Node, which these have, limits the time of a whole answer.
    pub fn is_limited(&self) -> bool {
        let have = ["openai of Node", "langchain of Node", "@openai/agents"];
        have.contains(&self.framework.name) && self.wire != "messages" && !self.streams
    }

    /// Arguments by which it is led to an endpoint where no variable does that.
    pub fn led(&self, address: SocketAddr) -> Vec<String> {
        if self.framework.name != "Codex" {
            return Vec::new();
        }
        let provider = format!(
            "model_providers.other={{name=\"other\", base_url=\"http://{address}/v1\", env_key=\"OPENAI_API_KEY\", \
             wire_api=\"responses\", supports_websockets=false}}"
        );
        ["-c", "model_provider=\"other\"", "-c", &provider].map(ToOwned::to_owned).to_vec()
    }

    /// Its command with a short limit of its client, and without retries, where variables do not say it.
    pub fn hurried(&self) -> Vec<String> {
        let mut command = self.command.clone();
        if self.framework.name == "Codex" {
            for setting in
                ["stream_idle_timeout_ms=3000", "request_max_retries=0", "stream_max_retries=0"]
            {
                let words = ["-c".to_owned(), format!("model_providers.toolyard.{setting}")];
                command.splice(1..1, words);
            }
        }
        command
    }

    /// The function that its calls name.
    pub fn tool(&self) -> &'static str {
        match self.framework.name {
            "Claude Code" => return "Bash",
            "Codex" => return "exec_command",
            _ => {}
        }
        match self.framework.name == "instructor" && self.streams {
            true => "Partialget_weather",
            false => "get_weather",
        }
    }
}

const ALL: &[&str] = &["chat", "responses", "messages"];
const OPENAI: &[&str] = &["chat", "responses"];
const TWO: &[&str] = &["chat", "messages"];
const GEMINI: &[&str] = &["gemini"];
const OLLAMA: &[&str] = &["ollama"];

const fn python(name: &'static str, number: &'static str, first: &'static str) -> Framework {
    let file = "frameworks.py";
    let (package, wires, kind) = (name, ALL, Kind::Calls);
    Framework { name, folder: number, package, file, first, wires, kind }
}

const fn node(name: &'static str, package: &'static str, file: &'static str) -> Framework {
    let (folder, wires, kind) = ("frames-node", ALL, Kind::Calls);
    Framework { name, folder, package, file, first: "", wires, kind }
}

/// A coding agent: the file is that of its program.
const fn shell(
    name: &'static str,
    package: &'static str,
    file: &'static str,
    wires: &'static [&'static str],
) -> Framework {
    let (folder, kind) = ("coding", Kind::Shell);
    Framework { name, folder, package, file, first: "", wires, kind }
}

/// The frameworks of `scripts/sdks.sh --all`.
pub const FRAMEWORKS: &[Framework] = &[
    Framework { file: "agent.py", wires: OPENAI, ..python("openai", "frames-1", "") },
    Framework { file: "agent.py", wires: &["messages"], ..python("anthropic", "frames-1", "") },
    python("langgraph", "frames-1", "langgraph"),
    Framework {
        package: "langchain-google-genai",
        wires: GEMINI,
        ..python("langchain with Gemini", "frames-1", "langgraph")
    },
    Framework {
        package: "langchain-ollama",
        wires: OLLAMA,
        ..python("langchain with Ollama", "frames-1", "langgraph")
    },
    Framework { package: "pydantic-ai-slim", ..python("pydantic-ai", "frames-1", "pydantic_ai") },
    Framework {
        package: "pydantic-ai-slim",
        wires: GEMINI,
        ..python("pydantic-ai with Gemini", "frames-1", "pydantic_ai")
    },
    Framework {
        package: "pydantic-ai-slim",
        ..python("pydantic-ai output_type", "frames-1", "pydantic_ai_form")
    },
    Framework { wires: OPENAI, ..python("openai-agents", "frames-1", "agents") },
    python("litellm", "frames-1", "litellm"),
    Framework {
        package: "litellm",
        wires: GEMINI,
        ..python("litellm with Gemini", "frames-1", "litellm")
    },
    Framework {
        package: "litellm",
        wires: OLLAMA,
        ..python("litellm with Ollama", "frames-1", "litellm")
    },
    Framework { package: "haystack-ai", ..python("haystack", "frames-1", "haystack") },
    Framework {
        wires: TWO,
        kind: Kind::TextResults,
        ..python("smolagents", "frames-1", "smolagents")
    },
    Framework { kind: Kind::Text, ..python("dspy", "frames-1", "dspy") },
    Framework { wires: GEMINI, ..python("google-genai", "frames-1", "google_genai") },
    Framework { wires: OLLAMA, ..python("ollama", "frames-1", "ollama") },
    Framework { package: "strands-agents", ..python("strands", "frames-2", "strands") },
    Framework { package: "llama-index-core", ..python("llama-index", "frames-2", "llama_index") },
    Framework { kind: Kind::Answer, ..python("instructor", "frames-2", "instructor") },
    Framework { wires: OPENAI, ..python("google-adk", "frames-2", "google_adk") },
    Framework {
        package: "google-adk",
        wires: GEMINI,
        ..python("google-adk with Gemini", "frames-2", "google_adk")
    },
    python("ag2", "frames-3", "ag2"),
    Framework { kind: Kind::Silent, ..python("crewai", "frames-4", "crewai") },
    Framework {
        package: "autogen-agentchat",
        wires: TWO,
        ..python("autogen", "frames-5", "autogen")
    },
    Framework { wires: OPENAI, ..node("openai of Node", "openai", "agent.mjs") },
    Framework {
        wires: &["messages"],
        ..node("anthropic of Node", "@anthropic-ai/sdk", "agent.mjs")
    },
    node("ai", "ai", "vercel.mjs"),
    Framework { first: "mastra", ..node("mastra", "@mastra/core", "frameworks.mjs") },
    Framework { first: "langchain", ..node("langchain of Node", "langchain", "frameworks.mjs") },
    Framework {
        first: "agents",
        wires: OPENAI,
        ..node("@openai/agents", "@openai/agents", "frameworks.mjs")
    },
    Framework {
        first: "genai",
        wires: GEMINI,
        ..node("google-genai of Node", "@google/genai", "frameworks.mjs")
    },
    Framework {
        first: "ollama",
        wires: OLLAMA,
        ..node("ollama of Node", "ollama", "frameworks.mjs")
    },
    shell("Claude Code", "@anthropic-ai/claude-code", "claude", &["messages"]),
    shell("Codex", "@openai/codex", "codex", &["responses"]),
];

const QUESTION: &str = "How is the weather in Oslo?";
const CLAUDE: &[&str] = &["-p", QUESTION, "--allowedTools", "Bash", "--model", "claude-sonnet-4-5"];
const CODEX: &[&str] = &[
    "exec",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    "--model",
    "gpt-5",
    QUESTION,
];

impl Framework {
    /// Its paths; `None` if it is not installed.
    pub fn paths(self) -> Option<Vec<Path1>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = root.join("target/sdks").join(self.folder);
        if !folder.join("done").exists() {
            return None;
        }
        if self.kind == Kind::Shell {
            let program = folder.join("node_modules/.bin").join(self.file);
            let arguments = if self.file == "claude" { CLAUDE } else { CODEX };
            let words = [&[program.to_str().unwrap()][..], arguments].concat();
            let command = words.into_iter().map(ToOwned::to_owned).collect();
            let version = self.version(&folder);
            return Some(vec![Path1 {
                framework: self,
                wire: self.wires[0],
                streams: true,
                command,
                version,
            }]);
        }
        let source = root.join("tests/sdks").join(self.file);
        let (program, file) = match self.file.ends_with(".py") {
            true => (folder.join("bin/python"), source),
            false => {
                // Node looks for packages beside a file.
                let copy = folder.join(self.file);
                std::fs::copy(source, &copy).unwrap();
                (folder.join("node_modules/.bin/node"), copy)
            }
        };
        let version = self.version(&folder);
        let both = self.wires.iter().flat_map(|wire| [(*wire, false), (*wire, true)]);
        let path = |(wire, streams): (&'static str, bool)| {
            let mut command =
                vec![program.to_str().unwrap().to_owned(), file.to_str().unwrap().to_owned()];
            command.extend((!self.first.is_empty()).then(|| self.first.to_owned()));
            command.push(wire.to_owned());
            command.push(if streams { "stream" } else { "whole" }.to_owned());
            Path1 { framework: self, wire, streams, command, version: version.clone() }
        };
        Some(both.map(path).collect())
    }

    /// The version of its package that is installed.
    fn version(&self, folder: &Path) -> String {
        if self.file.ends_with(".py") {
            let packages = folder.join("lib");
            let python = std::fs::read_dir(&packages).unwrap().next().unwrap().unwrap().path();
            let begin = format!("{}-", self.package.replace('-', "_"));
            let names = std::fs::read_dir(python.join("site-packages")).unwrap();
            let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let found = names.find_map(|name| {
                let version = name.strip_prefix(&begin)?.strip_suffix(".dist-info")?;
                Some(version.to_owned())
            });
            return found.unwrap();
        }
        let file = folder.join("node_modules").join(self.package).join("package.json");
        let package = std::fs::read(file).unwrap();
        let package: serde_json::Value = serde_json::from_slice(&package).unwrap();
        package["version"].as_str().unwrap().to_owned()
    }
}
