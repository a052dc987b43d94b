//! Examples at the end of `--help`.

use crate::domain::breakpoint::BREAKPOINT_HELP;
use crate::domain::fault::FAULT_HELP;

pub const TOOLYARD: &str = "\
Examples:
  toolyard demo                               see toolyard work in two minutes
  toolyard watch -- python my_agent.py        watch your agent
  toolyard                                    open the screen on the embedded demo
  toolyard --workspace mine \"Will it rain?\"   open it on one task with your own tools
  toolyard run --tasks-limit 10               run ten tasks without a screen";

pub const INIT: &str = "\
Examples:
  toolyard init                               in the working directory
  toolyard init mine --dry-run                show what would be written to the folder mine";

#[cfg(feature = "stage")]
pub const DEMO: &str = "\
Examples:
  toolyard demo
  toolyard demo resilience
  toolyard demo resilience --speed 16 --unattended --out pictures";

/// Examples of `toolyard run`, and the kinds of faults and breakpoints.
pub fn run() -> String {
    format!("{RUN}\n\n{FAULT_HELP}\n\n{BREAKPOINT_HELP}")
}

const RUN: &str = "\
Examples:
  toolyard run \"What is 17 times 23?\" --strategy react+btp --budget 20
  toolyard run --tasks-limit 100 --fault search_web:error:from-task=50 --report report.json
  toolyard run --recorded session.jsonl.zst --no-journal
  toolyard run --scenario broken-search.toml --junit junit.xml";

pub const COMPARE: &str = "\
Examples:
  toolyard compare resilience --fault search_web:error:from-task=30
  toolyard compare --strategies react,react+btp --seeds 0..4 --tasks-limit 20 --out kept
  toolyard compare --strategies toolnet --vary alpha=0.2,0.5,1 --json";

pub const ATTACH: &str = "\
Examples:
  toolyard attach                             the newest running session
  toolyard attach session.jsonl.zst --watch       never take control
  toolyard sessions                           list the sessions";

pub const WATCH: &str = "\
Examples:
  toolyard watch -- python my_agent.py        watch the agent on this screen
  toolyard watch -- claude                    the agent has this terminal; `toolyard attach` shows the screen
  toolyard watch                              print the variables for agents that you start elsewhere
  toolyard watch --headless --fault get_weather:error:p=0.3 --journal run.jsonl.zst -- pytest tests/agents";

pub const MCP: &str = "\
Examples:
  toolyard mcp -- npx -y @modelcontextprotocol/server-everything     the command for the client's configuration
  toolyard mcp --name files -- npx -y @modelcontextprotocol/server-filesystem .
  toolyard mcp --target https://example.com/mcp --listen 127.0.0.1:4700
  toolyard mcp --fault get_weather:error --journal run.jsonl.zst -- python server.py";

pub const FOLLOW: &str = "\
Examples:
  toolyard follow session.jsonl.zst
  toolyard follow session.jsonl.zst --json | jq -c .kind";

pub const JOURNAL: &str = "\
Examples:
  toolyard journal cat session.jsonl.zst | jq -c .kind
  toolyard journal upgrade old/*.jsonl        the same names, in format 4";

pub const COTOOLS: &str = "\
Examples:
  toolyard cotools encode --workspace mine
  toolyard cotools encode --workspace mine --heads question.heads";

pub const REPLAY: &str = "\
Examples:
  toolyard replay                             the newest session
  toolyard replay session.jsonl.zst
  toolyard replay session.jsonl.zst --at 200 --json > state.json";

pub const SEARCH_FAULTS: &str = "\
Examples:
  toolyard search-faults --scenario examples/scenarios/broken-search.toml
  toolyard search-faults --scenario s.toml --runs 2000 --kinds error,empty --out smallest.toml
  toolyard search-faults --scenario mine.toml --recorded run.jsonl.zst -- python my_agent.py
  toolyard run --scenario smallest.toml       fails, and passes without any one of the faults";

pub const SWEEP: &str = "\
Examples:
  toolyard sweep --over alpha=0..1/11 --strategy toolnet --out alpha
  toolyard sweep --over alpha=0..1/5 --over model=a,b --seeds 10 --out both --svg both.svg
  toolyard sweep --over budget=5,10,20 --scenario s.toml --out budgets --shard 1/3";

#[cfg(feature = "nats")]
pub const WORKER: &str = "\
Examples:
  toolyard worker --nats nats://host:4222
  toolyard worker --nats nats://host:4222 --jobs 8 --tag gpu
  toolyard sweep --over tau=0..1/11 --out taus --nats nats://host:4222";

#[cfg(feature = "nats")]
pub const JOBS: &str = "\
Examples:
  toolyard jobs --nats nats://host:4222
  toolyard jobs --nats nats://host:4222 --retry 0f3a
  toolyard follow nats://host:4222/0f3a";

pub const SCORE: &str = "\
Examples:
  toolyard score --scenario examples/scenarios/book-once.toml
  toolyard score --scenario s.toml --repeat 10 --jobs 8 --out scored
  toolyard score --scenario s.toml --json";

pub const ASK: &str = "\
Examples:
  toolyard ask session.jsonl.zst --call 12    five times, of the model that answered
  toolyard ask session.jsonl.zst --call 12 --model small,openai:gpt-5-mini --times 10
  toolyard ask session.jsonl.zst --call 12 --set \"prompt=How is the weather in Porto?\" --json";

pub const RESUME: &str = "\
Examples:
  toolyard resume                             the newest session that did not end
  toolyard resume session.jsonl.zst           continue in session.2.jsonl.zst
  toolyard resume session.jsonl.zst --headless --json";

pub const FORK: &str = "\
Examples:
  toolyard fork session.jsonl.zst --at 40     go on from event 40, on the screen
  toolyard fork session.jsonl.zst --call 12 --set \"result=No result.\" --headless
  toolyard fork session.jsonl.zst --at 40 --model solver=openai:gpt-5-mini --knob alpha=0.8
  toolyard fork session.jsonl.zst --at 40 --fault search_web:error --calls live
  toolyard fork watched.jsonl.zst --call 12 --set \"result=No result.\"    the watched agent runs again";

pub const REPORT: &str = "\
Examples:
  toolyard report session.jsonl.zst --html --out session.html
  toolyard report --html > newest.html        the newest session
  toolyard report session.jsonl.zst           the same numbers as JSON";

pub const SESSIONS: &str = "\
Examples:
  toolyard sessions
  toolyard sessions prune --older 30d --keep 20";

pub const TRUST: &str = "\
Examples:
  toolyard trust
  toolyard trust --forget 2
  toolyard trust --forget ~/downloads/agent   all answers about this folder";

pub const PLAN: &str = "\
Examples:
  toolyard plan --task \"What is 17 times 23?\" --budget 20
  toolyard plan --tools tools.json --budget 12.5 --json";

pub const GRAPH: &str = "\
Examples:
  toolyard graph learn --format jsonl trajectories.jsonl --out graph.json
  toolyard graph learn --format api-bank lv1-lv2-samples --out graph.json";

pub const IMPORT: &str = "\
Examples:
  toolyard import openapi api.yaml --out workspace --base https://api.example.org/v1
  toolyard import prices model_prices_and_context_window.json";

pub const EXPERIENCE: &str = "\
Examples:
  toolyard experience show
  toolyard experience import uses.jsonl --workspace mine
  toolyard experience prune --older-than 90 --dry-run";

pub const SHOT: &str = "\
Example:
  toolyard shot session.jsonl.zst --at 200 --size 120x40 --out moment.svg";

pub const PROMPTS: &str = "\
Examples:
  toolyard prompts
  toolyard prompts planner
  toolyard prompts --write mine";

pub const DOCTOR: &str = "\
Examples:
  toolyard doctor
  toolyard doctor --config my.toml --workspace mine --json";

pub const PROBE: &str = "\
Examples:
  toolyard probe --workspace mine             all read-only tools without a schema
  toolyard probe get_order --workspace mine   only this tool, again
  toolyard probe --workspace mine --passes 0 --json";

pub const TOOLS: &str = "\
Examples:
  toolyard tools list --mcp .mcp.json
  toolyard tools check --mcp .mcp.json        tools, response times and problems of each server
  toolyard tools call time__get_current_time timezone=Europe/Oslo --mcp .mcp.json
  toolyard tools add files -- npx -y @modelcontextprotocol/server-filesystem .";

pub const CALL: &str = "\
Examples:
  toolyard tools call calculator expression='17 * 23'
  toolyard tools call weather '{\"city\": \"Oslo\"}' --workspace mine
  toolyard tools call search_web query=lantern --fault search_web:timeout";
