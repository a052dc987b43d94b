//! Configurations that change while a session runs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tempfile::tempdir;
use tokio::time::timeout;
use toolyard::mcp::ServerEntry;
use toolyard::mcp::client::ServerFiles;
use toolyard::mcp::config::{Configuration, Surroundings};
use toolyard::mcp::trust::Trust;
use toolyard::tool::provider::{Provider, ProviderChange};

use super::{LONG, configuration, log};
use crate::processes::with_reaper;

fn read(folder: &Path) -> Result<(Vec<ServerEntry>, Vec<String>), String> {
    let file = folder.join(".mcp.json");
    let read = Configuration::load(&file, &Surroundings::of_process(None, folder));
    if read.entries.is_empty() {
        return Err(format!("{:?}", read.problems));
    }
    Ok((read.entries, read.problems.iter().map(ToString::to_string).collect()))
}

/// The names of the provider's tools, when it is ready.
async fn names(provider: &dyn Provider) -> usize {
    timeout(LONG, provider.ready()).await.expect("it neither starts nor fails");
    provider.tools().await.unwrap().len()
}

#[tokio::test]
async fn servers_come_and_go_with_their_entries() {
    with_reaper();
    let folder = tempdir().unwrap();
    let path = folder.path().to_owned();
    let file = configuration(&["plain"], &path);
    let (entries, _) = read(&path).unwrap();
    let of = path.clone();
    let trust = Arc::new(Trust::default());
    let files =
        ServerFiles::start(Duration::ZERO, entries, vec![file.clone()], trust, move || read(&of));
    let first = files.servers();
    assert_eq!(names(&*first[0]).await, 5);
    let mut changes = files.changes();
    let mut next =
        async || timeout(LONG, changes.next()).await.expect("nothing is noticed").unwrap();

    // Another one: the first is not touched.
    configuration(&["plain", "stateless"], &path);
    assert_eq!(next().await, ProviderChange::Listed);
    assert!(files.tools().await.unwrap().is_empty());
    assert_eq!(next().await, ProviderChange::Joined);
    let joined = files.joined();
    assert_eq!(joined[0].name(), "mcp:stateless");
    assert_eq!(names(&*joined[0]).await, 5);
    assert_eq!(log("plain", &path).matches("started").count(), 1);

    // A file that is being written changes nothing.
    std::fs::write(&file, "{").unwrap();
    assert_eq!(next().await, ProviderChange::Listed);
    files.tools().await.unwrap();
    assert!(
        matches!(next().await, ProviderChange::Noticed { text } if text.contains("stay as they are"))
    );
    assert_eq!(names(&*first[0]).await, 5);

    // One entry is gone, and the other one differs.
    let mut of_stateless = joined[0].changes();
    let mut of_plain = first[0].changes();
    configuration(&["plain"], &path);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"-q\"", "\"-q\",\"--quiet\"")).unwrap();
    assert_eq!(next().await, ProviderChange::Listed);
    files.tools().await.unwrap();
    let left = async {
        while let Some(change) = of_stateless.next().await {
            if change == ProviderChange::Left {
                return;
            }
        }
        panic!("it does not leave")
    };
    timeout(LONG, left).await.expect("it does not leave");
    tokio::time::sleep(Duration::from_millis(100)).await;
    drop(of_plain.next().await);
    assert_eq!(names(&*first[0]).await, 0, "the harness refuses a flag that it is given twice");
    assert_eq!(log("stateless", &path).matches("started").count(), 1);
}
