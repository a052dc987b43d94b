//! The files of a job on the machine of a worker, in a folder of their own.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use bytes::Bytes;

use super::order::Order;
use super::pack::{hash, is_below, pack, unpack};
use crate::config::{Config, ModelConfig};
use crate::domain::approval::{Approval, Consent};
use crate::domain::breakpoint::{At, When};
use crate::domain::target::{Aim, Target};
use crate::domain::{EffectClass, State, ToolName};
use crate::model::secret::KeySource;
use crate::runner::is_done;
use crate::session::{JournalChoice, PreparedSession, SessionSpec};
use crate::store::experience::Experience;
use crate::store::journal::{self, Header};
use crate::tool::Tool as _;

/// The name of the journal of the first session. Later ones get a number.
const FIRST: &str = "session.jsonl";

/// A job whose files are laid. They end with this value.
pub struct LaidJob {
    folder: PathBuf,
    spec: SessionSpec,
    /// The journal of the last session, if it has an event, and the number of its events.
    last: Option<(PathBuf, u64)>,
    is_done: bool,
}

impl LaidJob {
    /// Writes the files of a job and the journals of its sessions so far.
    ///
    /// # Errors
    /// The disk is full, or a file is wrong.
    pub fn lay(
        folder: PathBuf,
        order: &Order,
        packs: Vec<(PathBuf, Vec<u8>)>,
        sessions: Vec<(Bytes, Vec<u8>)>,
    ) -> Result<Self, String> {
        let spec = order.spec.moved_to(|path| folder.join(path));
        let mut laid = Self { folder, spec, last: None, is_done: false };
        let folder = laid.folder.clone();
        let failed = |error: std::io::Error| format!("its files cannot be laid: {error}");
        fs::create_dir_all(&folder).map_err(failed)?;
        for (place, bytes) in packs {
            if !is_below(&place) {
                return Err(format!("{} is no place below its folder", place.display()));
            }
            unpack(&bytes, &folder.join(place)).map_err(failed)?;
        }
        // Wherever they were written, they are of this session now.
        let own = serde_json::to_value(&laid.spec).map_err(|error| error.to_string())?;
        for (number, (header, lines)) in (1..).zip(sessions).filter(|(_, it)| !it.1.is_empty()) {
            // What is damaged counts no more than if it had never come.
            let Ok(header) = serde_json::from_slice::<Header>(&header) else { continue };
            let header = Header { spec: Some(own.clone()), ..header };
            let header = serde_json::to_string(&header).map_err(|error| error.to_string())?;
            let name =
                if number == 1 { FIRST.to_owned() } else { format!("session.{number}.jsonl") };
            let path = folder.join(name);
            fs::write(&path, [header.as_bytes(), b"\n", &lines].concat()).map_err(failed)?;
            laid.last = Some((path, lines.iter().filter(|byte| **byte == b'\n').count() as u64));
        }
        if let Some((last, _)) = &laid.last
            && let Ok(loaded) = journal::read(last)
        {
            laid.is_done = is_done(&loaded.records, &State::fold(&loaded.records));
        }
        Ok(laid)
    }

    /// The session, or the rest of it; `None`: it has ended.
    ///
    /// # Errors
    /// Why it cannot run on this machine.
    pub fn prepare(&self, own: &Config) -> Result<Option<PreparedSession>, String> {
        if self.is_done {
            return Ok(None);
        }
        let spec = SessionSpec {
            journal: JournalChoice::File(self.folder.join(FIRST)),
            ..self.spec.clone()
        };
        // A fork that was not yet at its moment begins again.
        let goes_on = |events: u64| spec.fork.as_ref().is_none_or(|fork| events > fork.at);
        let resumed = self.last.as_ref().filter(|(_, events)| goes_on(*events));
        let resumed = resumed
            .map(|(last, _)| SessionSpec { resumed: Some(last.clone()), ..spec.clone() }.prepare());
        // Where nobody can go on from its journal, it begins again.
        let prepared = match resumed {
            Some(Ok(prepared)) => Ok(prepared),
            Some(Err(_)) | None => spec.prepare(),
        };
        let mut prepared =
            prepared.map_err(|why| format!("it cannot run on this machine: {why}"))?;
        find_keys(&mut prepared.config, own)?;
        expect_allowed(&prepared, &own.approval)?;
        let denied = own.approval.deny.iter().cloned();
        prepared.config.approval.deny.extend(denied);
        Ok(Some(prepared))
    }

    /// The hash and the bytes of its past uses, if it keeps some.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn past(&self) -> Result<Option<(String, Vec<u8>)>, String> {
        let Some(past) = self.spec.experience.as_ref().filter(|past| past.exists()) else {
            return Ok(None);
        };
        let copy = self.folder.join("past-uses.sqlite");
        let store = Experience::open_existing(past).map_err(|error| error.to_string())?;
        store.copy_to(&copy).map_err(|error| error.to_string())?;
        let bytes = pack(&copy, &Default::default())?;
        Ok(Some((hash(&bytes), bytes)))
    }
}

impl Drop for LaidJob {
    fn drop(&mut self) {
        // What is left ends with the worker.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Finds the key of each model that has a role: by the name in the job, or in the configuration of this machine.
fn find_keys(config: &mut Config, own: &Config) -> Result<(), String> {
    let mut lacking = BTreeSet::new();
    let used: BTreeSet<_> = config.roles.values().cloned().collect();
    for (name, model) in &mut config.models {
        let ModelConfig::Hosted(endpoint) = model else { continue };
        if let Some(ModelConfig::Hosted(own)) = own.models.get(name)
            && own.base_url == endpoint.base_url
        {
            endpoint.key.clone_from(&own.key);
        }
        if let KeySource::Env(variable) = &endpoint.key
            && used.contains(name)
            && std::env::var_os(variable).is_none()
        {
            lacking.insert(format!("{variable} for {name}"));
        }
    }
    let lacking: Vec<_> = lacking.into_iter().collect();
    if lacking.is_empty() {
        return Ok(());
    }
    Err(format!("this machine lacks {}; set it where the worker runs", lacking.join(", ")))
}

/// Checks that this machine allows each tool that the job may call without asking.
fn expect_allowed(prepared: &PreparedSession, own: &Approval) -> Result<(), String> {
    let consent = |rules: &Approval, name: &ToolName, effect, mcp| {
        let aim = Aim { tool: Some((name, None)), effect: Some(effect), mcp, ..Aim::default() };
        rules.of(&At { when: When::Before, aim, troubles: &[] }, |_| false).0
    };
    let tools = prepared.workspace.manifests.iter().filter(|tool| !tool.is_sample());
    let tools = tools.map(|tool| (tool.spec.name.clone(), tool.spec.effect, None));
    // What a server's tools do is known only when it runs.
    let servers = prepared.config.tools.servers.iter();
    let servers = servers.map(|server| {
        (ToolName::new(&server.key), EffectClass::Unknown, Some(server.key.as_str()))
    });
    let job = &prepared.config.approval;
    let more: BTreeSet<String> = tools
        .chain(servers)
        .filter(|(name, effect, mcp)| {
            consent(job, name, *effect, *mcp) == Consent::Allow
                && consent(own, name, *effect, *mcp) == Consent::Ask
        })
        .map(|(name, effect, _)| format!("{name} ({})", Target::Effect(effect)))
        .collect();
    if more.is_empty() {
        return Ok(());
    }
    let more: Vec<_> = more.into_iter().collect();
    Err(format!(
        "this machine does not allow {}; start its worker with --allow, such as --allow effect:unknown",
        more.join(", ")
    ))
}
