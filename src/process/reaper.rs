//! The reaper: a second process of toolyard, which starts all programs and outlives them all. When toolyard ends,
//! however it ends, the socket between them closes; the reaper kills all running programs, and ends as well.
//!
//! A program leads its own group and session, so that no program can open the terminal behind the screen and ask for a
//! password there. Its remaining processes end with it: its group, and on Linux also the processes that have left the
//! group.

use std::collections::{HashMap, HashSet};
use std::os::{fd::AsFd, unix::net::UnixStream, unix::process::CommandExt};
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};
use rustix::process::{
    ioctl_tiocsctty, kill_process, kill_process_group, setsid, wait, waitid, waitpid,
};

use super::strays::{names, strays};
use super::wire::{Incoming, ProcessEvent, ProgramLaunch, ReaperReply, ReaperRequest, send};

/// How long the reaper tries to end processes that cannot be killed, such as those of another user.
const LAST: Duration = Duration::from_secs(2);

/// The running programs by their process, with the numbers that toolyard gave them.
struct ReaperPrograms {
    programs: Mutex<HashMap<Pid, u64>>,
    started: Condvar,
    socket: Arc<UnixStream>,
}

/// Runs as the reaper until toolyard has ended: requests come through standard input, a socket.
///
/// # Errors
/// Standard input is not such a socket, or no thread can be started.
pub fn serve() -> io::Result<()> {
    own_subtree()?;
    use_huge_pages(true);
    let socket = Arc::new(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?));
    let programs = Mutex::new(HashMap::new());
    let running =
        Arc::new(ReaperPrograms { programs, started: Condvar::new(), socket: socket.clone() });
    let waiting = running.clone();
    thread::Builder::new().name("reaper-wait".into()).spawn(move || waiting.watch())?;
    let mut requests = Incoming::new(socket);
    let mut litter = Vec::new();
    let mut last = requests.next();
    while let Ok(Some(request)) = last {
        match request {
            ReaperRequest::Start(start) => running.start(&start, &mut requests),
            ReaperRequest::Remove(folder) => litter.push(folder),
            ReaperRequest::End { id, grace } => running.clone().end(id, grace),
        }
        last = requests.next();
    }
    running.end_all();
    for folder in litter {
        // Usually it is gone already.
        let _ = std::fs::remove_dir_all(folder);
    }
    last.map(drop)
}

/// Switches huge pages on or off for this process and the programs that it starts. toolyard runs without them: a long
/// session on the screen takes a third more memory with them. The reaper's programs get them back.
pub fn use_huge_pages(are_on: bool) {
    // A kernel without huge pages has nothing to switch.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(!are_on);
    #[cfg(not(target_os = "linux"))]
    let _ = are_on;
}

impl ReaperPrograms {
    fn start(&self, start: &ProgramLaunch, requests: &mut Incoming) {
        let mut programs = self.locked();
        let spawned = requests
            .files()
            .ok_or_else(|| io::Error::other("its files are missing"))
            .and_then(|[stdin, stdout, stderr]| {
                let mut command = Command::new(&start.program);
                command.args(&start.args).env_clear().envs(start.env.iter().cloned());
                command.stdin(stdin).stdout(stdout).stderr(stderr);
                if let Some(cwd) = &start.cwd {
                    command.current_dir(cwd);
                }
                own_session(&mut command, start.terminal);
                command.spawn()
            });
        match spawned {
            Ok(child) => {
                let pid = Pid::from_child(&child);
                programs.insert(pid, start.id);
                self.tell(start.id, ProcessEvent::Started(pid.as_raw_nonzero().get()));
                self.started.notify_all();
            }
            Err(error) => self.tell(start.id, ProcessEvent::Ended(Err(error.to_string()))),
        }
    }

    /// Asks a program and its group to end, and kills them if necessary.
    fn end(self: Arc<Self>, id: u64, grace: Duration) {
        let found = self.locked().iter().find(|(_, its)| **its == id).map(|(pid, _)| *pid);
        let Some(pid) = found else { return };
        self.signal(pid, id, Signal::TERM);
        // A stopped process receives the signal above only when it continues.
        self.signal(pid, id, Signal::CONT);
        let running = self.clone();
        let waiting = thread::Builder::new().name("reaper-end".into()).spawn(move || {
            thread::sleep(grace);
            running.signal(pid, id, Signal::KILL);
        });
        if waiting.is_err() {
            self.signal(pid, id, Signal::KILL);
        }
    }

    /// Sends a signal to a program's group, unless the program has been reaped.
    fn signal(&self, pid: Pid, id: u64, signal: Signal) {
        if self.locked().get(&pid) == Some(&id) {
            // Fails only if the group is empty.
            let _gone = kill_process_group(pid, signal);
        }
    }

    /// Waits for the ends of programs and of their remaining processes.
    fn watch(&self) {
        let mut killed = HashSet::new();
        loop {
            let ended = waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            let mut programs = self.locked();
            match ended {
                Ok(_) => self.reap(&mut programs, &mut killed),
                Err(Errno::INTR) => {}
                // There is no child, so no process can become one.
                Err(_) => drop(
                    self.started
                        .wait_while(programs, |programs| programs.is_empty())
                        .unwrap_or_else(PoisonError::into_inner),
                ),
            }
        }
    }

    /// Ends the remaining processes of ended programs, and reports their ends. `killed` holds the processes that earlier
    /// runs killed: one that is still there belonged to an earlier program.
    fn reap(&self, programs: &mut HashMap<Pid, u64>, killed: &mut HashSet<Pid>) {
        let mut over = ended(programs);
        let strays = loop {
            let strays = strays(|pid| programs.contains_key(&pid));
            // The children of a program become strays when it ends, so none may end while they are looked for.
            let now = ended(programs);
            if now == over {
                break strays;
            }
            over = now;
        };
        let new: Vec<Pid> = strays.iter().copied().filter(|pid| !killed.contains(pid)).collect();
        let left = match over.is_empty() {
            true => Vec::new(),
            false => names(&new),
        };
        for pid in &over {
            if let Some(id) = programs.get(pid).filter(|_| !left.is_empty()) {
                self.tell(*id, ProcessEvent::Left(left.clone()));
            }
            let _nobody_left = kill_process_group(*pid, Signal::KILL);
        }
        kill(&strays);
        *killed = strays.into_iter().collect();
        for pid in over {
            if let Ok(Some((_, status))) = waitpid(Some(pid), WaitOptions::NOHANG) {
                let id = programs.remove(&pid).into_iter();
                id.for_each(|id| self.tell(id, ProcessEvent::Ended(Ok(status.as_raw()))));
            }
        }
    }

    /// Kills all processes, until none is left.
    fn end_all(&self) {
        let mut programs = self.locked();
        for (pid, _) in std::mem::take(&mut *programs) {
            let _nobody_left = kill_process_group(pid, Signal::KILL);
        }
        let deadline = Instant::now() + LAST;
        while Instant::now() < deadline {
            kill(&strays(|pid| programs.contains_key(&pid)));
            while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
            if wait(WaitOptions::NOHANG).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn tell(&self, id: u64, news: ProcessEvent) {
        // Fails only if toolyard has ended; then the requests end, too.
        let _ended = send(&self.socket, &ReaperReply { id, news }, &[]);
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<Pid, u64>> {
        // The guarded data is consistent at every moment, even after a panic.
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The programs that have ended. Until one is reaped, the number of its group is not used again.
fn ended(programs: &HashMap<Pid, u64>) -> HashSet<Pid> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let has_ended = |pid: &&Pid| matches!(waitid(WaitId::Pid(**pid), look), Ok(Some(_)));
    programs.keys().filter(has_ended).copied().collect()
}

/// Kills and reaps processes that belong to no program. Each death reveals its children to the next run.
fn kill(strays: &[Pid]) {
    for &stray in strays {
        // Fails if it ended, or runs as another user.
        let _gone = kill_process(stray, Signal::KILL);
        // Fails if it has another parent.
        let _reaped = waitpid(Some(stray), WaitOptions::NOHANG);
    }
}

/// Makes this process the new parent of orphans below it, out of reach of the terminal's keys.
fn own_subtree() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        rustix::thread::set_name(c"tool-reaper")?;
    }
    setsid()?;
    Ok(())
}

/// Makes the program the leader of a new session, and thus of a new group. The program's input becomes the session's
/// terminal, if it should have one.
fn own_session(command: &mut Command, terminal: bool) {
    let prepare = move || {
        setsid()?;
        if terminal {
            ioctl_tiocsctty(io::stdin())?;
        }
        #[cfg(target_os = "linux")]
        {
            rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        }
        Ok(())
    };
    #[expect(
        unsafe_code,
        reason = "what runs in the new process before the program has no safe wrapper"
    )]
    // SAFETY: between fork and exec only async-signal-safe code may run. These are system calls:
    // they allocate nothing, take no lock and touch no memory of the parent. `serve` has made the handle of the input.
    unsafe {
        command.pre_exec(prepare);
    }
}
