//! `toolyard fork` of a watched session: its agent runs again over the record, as `toolyard watch --recorded --until` does.

use std::path::{Path, absolute};

use super::fork_args::ForkArgs;
use super::spec_trust::{self, Agreed};
use super::{ConfigArgs, out::warn, trouble::Trouble};
use crate::config::default_data;
use crate::session::{AgentCommand, ForkEdit, spec_of};
use crate::ui::next::ForkPlace;

/// The mark in place of a key.
const STRUCK: &str = "[key]";

/// The moment of a fork and its options, as words of the command line.
struct AgentFork<'a> {
    journal: &'a Path,
    /// `--until` or `--call`, the changes, and everything else.
    options: Vec<String>,
    /// The command that is given in place of the recorded one.
    command: Vec<String>,
    is_headless: bool,
    agreed: Agreed<'a>,
}

/// The forks of a watched session that a command line wants.
pub enum AgentForks {
    /// A single fork, with these arguments of `toolyard watch`.
    One(Vec<String>),
    /// A fork for each of these models.
    ForEach(Vec<String>),
}

/// The forks of the session of a journal; `None`: no agent was watched in it.
///
/// # Errors
/// The journal cannot be read, does not have the command, or nobody agrees to it; or an option has no meaning for agents.
pub fn of_args(args: &ForkArgs) -> Result<Option<AgentForks>, Trouble> {
    if !spec_of(&args.journal)?.watched {
        return match args.command.first() {
            Some(_) => Err(Trouble::usage(
                "toolyard's own agent acted in this session: leave out the command",
            )),
            None => Ok(None),
        };
    }
    let has = [
        ("--knob", !args.knob.is_empty()),
        ("--strategy", args.strategy.is_some()),
        ("--seed", args.seed.is_some()),
        ("--calls", args.calls != Default::default()),
        ("--allow", !args.allow.is_empty()),
        ("--learned", args.learned.is_some()),
        ("--workspace", args.workspace.is_some()),
        ("--json", args.json),
    ];
    if let Some((option, _)) = has.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Trouble::Usage(format!("{option} is for sessions of toolyard's own agent")));
    }
    if let Some(named) = args.model.iter().find(|model| model.contains('=')) {
        let why = "a watched agent has no roles: name a model of its endpoint";
        return Err(Trouble::Usage(format!("--model {named}: {why}")));
    }
    if args.model.len() > 1 {
        return Ok(Some(AgentForks::ForEach(args.model.clone())));
    }
    let mut options = Vec::new();
    let mut add = |option: &str, value: Option<String>| {
        options.extend(value.into_iter().flat_map(|value| [option.to_owned(), value]));
    };
    add("--until", args.at.map(|at| at.to_string()));
    add("--call", args.call.map(|call| call.to_string()));
    args.set.iter().for_each(|set| add("--set", Some(set.to_string())));
    args.fault.iter().for_each(|fault| add("--fault", Some(fault.to_string())));
    args.breakpoint.iter().for_each(|place| add("--break", Some(place.to_string())));
    add("--model", args.model.first().cloned());
    add("--verify", args.verify.verify.clone());
    let limit = args.verify.verify.as_ref().map(|_| args.verify.verify_limit.to_string());
    add("--verify-limit", limit);
    add("--max-dollars", args.max_dollars.map(|most| most.to_string()));
    add("--results", args.results.map(|results| results.name().to_owned()));
    add("--journal", args.own_journal.as_deref().map(word).transpose()?);
    add("--report", args.report.as_deref().map(word).transpose()?);
    add("--config", args.config.config.as_deref().map(word).transpose()?);
    options.extend(args.headless.then(|| "--headless".to_owned()));
    let fork = AgentFork {
        journal: &args.journal,
        options,
        command: args.command.clone(),
        is_headless: args.headless,
        agreed: Agreed { config: &args.config, workspace: None, trusts: args.trust_journal },
    };
    fork.words().map(|words| Some(AgentForks::One(words)))
}

/// The arguments of `toolyard watch` for a fork from the screen.
///
/// # Errors
/// As [`of_args`].
pub fn of_place(journal: &Path, place: &ForkPlace) -> Result<Option<Vec<String>>, Trouble> {
    if !spec_of(journal)?.watched {
        return Ok(None);
    }
    let options = match &place.edit {
        Some((call, edit)) => {
            let edit = ForkEdit::Call(edit.clone()).to_string();
            vec!["--call".to_owned(), call.0.to_string(), "--set".to_owned(), edit]
        }
        None => vec!["--until".to_owned(), place.at.to_string()],
    };
    let agreed = Agreed { config: &ConfigArgs::default(), workspace: None, trusts: false };
    AgentFork { journal, options, command: Vec::new(), is_headless: false, agreed }
        .words()
        .map(Some)
}

/// A path as a word that means the same in another folder.
fn word(path: &Path) -> Result<String, Trouble> {
    let whole = absolute(path).map_err(Trouble::failed)?;
    let word = whole.to_str().map(str::to_owned);
    word.ok_or_else(|| Trouble::Usage(format!("{}: the path is not UTF-8", path.display())))
}

/// Leads a word that names a file of the agent to the same file in its new folder, if that exists.
fn lead(word: &mut String, from: &Path, to: &Path) {
    let moved = Path::new(word.as_str()).strip_prefix(from).ok().map(|within| to.join(within));
    if let Some(moved) = moved.filter(|moved| moved.exists()).as_deref().and_then(Path::to_str) {
        *word = moved.to_owned();
    }
}

impl AgentFork<'_> {
    /// The arguments. The process is in the agent's folder from here on.
    fn words(self) -> Result<Vec<String>, Trouble> {
        let shown = self.journal.display().to_string();
        let advice = format!("add it: toolyard fork {shown} … -- COMMAND");
        let known = spec_of(self.journal)?.agent.map(|known| *known).unwrap_or_default();
        let mut words = vec!["--recorded".to_owned(), word(self.journal)?];
        words.extend(self.options.iter().chain(&known.options).cloned());
        words.push("--".to_owned());
        if !self.command.is_empty() {
            words.extend(self.command);
            return Ok(words);
        }
        if known.command.is_empty() {
            let why =
                format!("{shown}: its agent was started elsewhere, and the journal has no command");
            return Err(Trouble::Usage(format!("{why}; {advice}")));
        }
        if let Some(word) = known.command.iter().find(|word| word.contains(STRUCK)) {
            let why = format!("{shown}: a key of its command is not in the journal: {word}");
            return Err(Trouble::Usage(format!("{why}; {advice}")));
        }
        let AgentCommand { mut command, mut folder, variables, tree, .. } = known;
        let told = format!("{} in {}", command.join(" "), folder.display());
        spec_trust::expect_agent(self.journal, &self.agreed, &told, !self.is_headless)?;
        let has_tree = tree.is_some();
        if let Some(tree) = tree {
            let data =
                default_data().ok_or_else(|| Trouble::usage("there is no home directory"))?;
            let made = tree.again(&data).map_err(Trouble::Usage)?;
            folder = made.folder();
            command.iter_mut().for_each(|word| lead(word, tree.top(), made.top()));
            let json = serde_json::to_string(&made).map_err(Trouble::failed)?;
            words.splice(0..0, ["--tree".to_owned(), json]);
        }
        let files = if has_tree { "" } else { ", with its files as they are now" };
        let told = format!("{} in {}{files}", command.join(" "), folder.display());
        std::env::set_current_dir(&folder).map_err(|error| {
            let why = format!("{}: the agent's folder: {error}", folder.display());
            Trouble::Usage(format!("{why}; in its new place, {advice}"))
        })?;
        warn(&format!("starts {told}"));
        let is_gone = |name: &&String| std::env::var_os(name).is_none_or(|value| value.is_empty());
        let gone: Vec<&str> = variables.iter().filter(is_gone).map(String::as_str).collect();
        if !gone.is_empty() {
            warn(&format!("the agent had variables that are not set now: {}", gone.join(", ")));
        }
        words.extend(command);
        Ok(words)
    }
}
