//! Processes whose program has ended. They left its group, and often their own parent as well.
//!
//! Linux gives an orphan to its nearest ancestor that is a subreaper. Every program is one, so its descendants stay
//! below it while it runs. Then the reaper becomes their parent.

use rustix::process::Pid;

/// The processes below this one that are neither one of these programs nor below one.
pub fn strays(programs: impl Fn(Pid) -> bool) -> Vec<Pid> {
    below(rustix::process::getpid(), programs)
}

/// The names of the programs of these processes that still run.
pub fn names(pids: &[Pid]) -> Vec<String> {
    let stat = |pid: &Pid| std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok();
    pids.iter().filter_map(|pid| running(&String::from_utf8_lossy(&stat(pid)?))).collect()
}

/// The name of the program in a line of `/proc/PID/stat`, unless it has ended.
fn running(stat: &str) -> Option<String> {
    let (before, after_name) = stat.rsplit_once(')')?;
    let is_over = matches!(after_name.split_whitespace().next(), None | Some("Z" | "X"));
    let (_, name) = before.split_once('(')?;
    (!is_over).then(|| name.to_owned())
}

/// The processes below `root`, without those that `without` selects and everything below those.
#[cfg(target_os = "linux")]
pub fn below(root: Pid, without: impl Fn(Pid) -> bool) -> Vec<Pid> {
    let processes = processes();
    let mut below = vec![root];
    let mut seen = 0;
    while let Some(&parent) = below.get(seen) {
        let children = processes.iter().filter(|(_, its)| *its == parent).map(|(child, _)| *child);
        // Numbers may be reused while they are read, so a process may seem to be its own ancestor.
        let new: Vec<Pid> = children.filter(|pid| !without(*pid) && !below.contains(pid)).collect();
        below.extend(new);
        seen += 1;
    }
    below.split_off(1)
}

/// The visible processes, each with its parent.
#[cfg(target_os = "linux")]
fn processes() -> Vec<(Pid, Pid)> {
    let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let parents = pids.filter_map(|pid: i32| {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        Some((Pid::from_raw(pid)?, parent(&String::from_utf8_lossy(&stat))?))
    });
    parents.collect()
}

/// The parent in a line of `/proc/PID/stat`. The name of the program may contain anything.
#[cfg(target_os = "linux")]
fn parent(stat: &str) -> Option<Pid> {
    let (_, after_name) = stat.rsplit_once(')')?;
    Pid::from_raw(after_name.split_whitespace().nth(1)?.parse().ok()?)
}

/// Returns nothing: other systems give orphans to their first process, so nothing shows whose they were.
#[cfg(not(target_os = "linux"))]
pub fn below(_root: Pid, _without: impl Fn(Pid) -> bool) -> Vec<Pid> {
    Vec::new()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_forge_a_parent() {
        let pid = |raw| Pid::from_raw(raw);
        assert_eq!(parent("12 (sh) S 7 12 12 0 -1"), pid(7));
        assert_eq!(parent("12 (a) S 1 (b)) R 34 12 12"), pid(34));
        assert_eq!(parent("1 (init) S 0 1 1"), None);
        assert_eq!(parent("12 (sh"), None);
        assert_eq!(running("12 (a) S 1 (b)) R 34 12 12").as_deref(), Some("a) S 1 (b)"));
        assert_eq!((running("12 (sh) Z 7 12"), running("12 (sh")), (None, None));
    }
}
