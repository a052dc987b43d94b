//! The TCP connections of a process and of all its descendants, and whether these know the listener.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use memchr::memmem;
use rustix::process::{Pid, getpid};

use crate::process::below;

/// A process that is connected to another program, which is neither toolyard nor of its own tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessConnection {
    pub pid: i32,
    /// The name of its program.
    pub program: String,
    pub remote: SocketAddr,
}

/// About the most connections and processes that are kept.
const MOST: usize = 1000;

/// Connections of a process and its descendants past the listener.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sightings {
    pub connections: BTreeSet<ProcessConnection>,
    /// Processes without the listener's address in their variables, with the names of their programs.
    pub untold: BTreeMap<i32, String>,
    /// The addresses to which this process is connected, such as those of endpoints.
    pub ours: BTreeSet<SocketAddr>,
}

impl Sightings {
    /// The connections of now; nothing where the system does not tell.
    pub fn look(root: Pid, listener: SocketAddr) -> Self {
        let mut seen = Self::default();
        let own = getpid();
        let pids = below(root, |_| false).into_iter().chain([root, own]);
        let pids: Vec<i32> = pids.map(|pid| pid.as_raw_nonzero().get()).collect();
        let sockets: Vec<BTreeSet<u64>> = pids.iter().map(|pid| sockets(*pid)).collect();
        let is_known = |it: &TcpSocket| sockets.iter().any(|own| own.contains(&it.inode));
        // Each network has its own tables.
        let mut tables: BTreeMap<_, Vec<TcpSocket>> = BTreeMap::new();
        for (pid, its) in pids.iter().copied().zip(&sockets) {
            let is_own = pid == own.as_raw_nonzero().get();
            let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            let text = |name: &str| String::from_utf8_lossy(&read(name)).into_owned();
            let program = text("comm").trim_end().to_owned();
            let network = fs::read_link(format!("/proc/{pid}/ns/net")).unwrap_or_default();
            let table = tables.entry(network).or_insert_with(|| {
                let rows = ["net/tcp", "net/tcp6"].map(|name| table(&text(name)));
                rows.into_iter().flatten().filter(is_known).collect()
            });
            let is_served = |port| table.iter().any(|it| it.listens() && it.local.port() == port);
            for socket in table.iter().filter(|it| its.contains(&it.inode)) {
                let (from, remote) = (socket.local.port(), socket.remote);
                let is_near = remote.ip().is_loopback() || remote.ip() == listener.ip();
                let is_inside = is_served(from) || is_near && is_served(remote.port());
                if is_own && socket.goes_out() && !is_inside {
                    seen.ours.insert(remote);
                } else if socket.goes_out() && !is_inside {
                    let program = program.clone();
                    seen.connections.insert(ProcessConnection { pid, program, remote });
                }
            }
            let (given, has_begun) = (read("environ"), !read("cmdline").is_empty());
            if has_begun
                && !is_own
                && memmem::find(&given, listener.to_string().as_bytes()).is_none()
            {
                seen.untold.insert(pid, program);
            }
        }
        seen
    }

    pub fn add(&mut self, other: Self) {
        // An agent may run for days.
        if self.connections.len().max(self.untold.len()) < MOST {
            self.connections.extend(other.connections);
            self.untold.extend(other.untold);
        }
        self.ours.extend(other.ours);
    }
}

/// The numbers of the sockets that a process has open.
fn sockets(pid: i32) -> BTreeSet<u64> {
    let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { return BTreeSet::new() };
    let targets = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    targets
        .filter_map(|target| {
            target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        })
        .collect()
}

/// A row of a table of `/proc/PID/net`.
struct TcpSocket {
    local: SocketAddr,
    remote: SocketAddr,
    state: String,
    /// The number of the socket.
    inode: u64,
}

impl TcpSocket {
    /// Whether it is connected or about to be.
    fn goes_out(&self) -> bool {
        const ESTABLISHED: &str = "01";
        const SYN_SENT: &str = "02";
        let is_on = [ESTABLISHED, SYN_SENT].contains(&self.state.as_str());
        is_on && !self.remote.ip().is_unspecified()
    }

    fn listens(&self) -> bool {
        self.state == "0A"
    }
}

fn table(text: &str) -> Vec<TcpSocket> {
    let row = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let (local, remote) = (address(words.next()?)?, address(words.next()?)?);
        let state = words.next()?.to_owned();
        Some(TcpSocket { local, remote, state, inode: words.nth(5)?.parse().ok()? })
    };
    text.lines().skip(1).filter_map(row).collect()
}

/// An address such as `0100007F:0050`: words of 32 bits in the order of the machine's memory.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| {
        let word = u32::from_str_radix(ip.get(at * 8..at * 8 + 8)?, 16).ok()?;
        Some(word.to_ne_bytes())
    };
    let ip = match ip.len() {
        8 => IpAddr::from(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (at, place) in bytes.chunks_mut(4).enumerate() {
                place.copy_from_slice(&word(at)?);
            }
            Ipv6Addr::from(bytes).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, UdpSocket};
    use std::process::{Command, Stdio};

    use rustix::process::{Signal, kill_process};

    use super::*;
    use crate::agent::testing::wait_until;

    #[cfg(target_endian = "little")]
    #[test]
    fn tables_are_read() {
        let tcp = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 30111 1 0000000000000000 100 0 0 10 0
   1: 0100007F:A3F2 0100007F:11F8 01 00000000:00000000 00:00000000 00000000  1000        0 30112 1 0000000000000000 20 4 30 10 -1
   2: 0F02000A:C5B4 F58C9FA2:01BB 01 00000000:00000000 02:000006A5 00000000  1000        0 30113 2 0000000000000000 20 4 30 10 -1
   3: 0F02000A:C5B6 F58C9FA2:01BB 06 00000000:00000000 03:00000F1C 00000000     0        0 0 3 0000000000000000
   4: 0F02000A:C5B8 0101A8C0:01BB 02 00000001:00000000 01:00000070 00000001  1000        0 30115 2 0000000000000000 400 0 0 1 7
";
        let outgoing = |text: &str| {
            let all = table(text).into_iter().filter(TcpSocket::goes_out);
            all.map(|it| format!("{} {}", it.inode, it.remote)).collect::<Vec<_>>()
        };
        let found = ["30112 127.0.0.1:4600", "30113 162.159.140.245:443", "30115 192.168.1.1:443"];
        assert_eq!(outgoing(tcp), found);
        let listens: Vec<_> = table(tcp).into_iter().filter(TcpSocket::listens).collect();
        assert_eq!((listens.len(), listens[0].local.port()), (1, 0x1F90));
        let tcp6 = "  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000001000000:8124 00000000000000000000000001000000:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 40001 1 0000000000000000 20 0 0 10 -1
   1: B80D01200000000000000000010000AA:D431 00470626000000000000000011116810:01BB 01 00000000:00000000 00:00000000 00000000  1000        0 40002 1 0000000000000000 20 0 0 10 -1
   2: 0000000000000000FFFF00000F02000A:D432 0000000000000000FFFF0000F58C9FA2:01BB 01 00000000:00000000 00:00000000 00000000  1000        0 40003 1 0000000000000000 20 0 0 10 -1
";
        let found =
            ["40001 [::1]:8080", "40002 [2606:4700::1068:1111]:443", "40003 162.159.140.245:443"];
        assert_eq!(outgoing(tcp6), found);
        assert_eq!(table("sl\n nonsense\n 0: 1:2 0:0 01\n").len(), 0);
    }

    /// An address of this machine that is not on the loopback.
    fn own_address() -> Option<IpAddr> {
        let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
        // Connecting sends nothing; the system only chooses the route.
        socket.connect("192.0.2.1:9").ok()?;
        let ip = socket.local_addr().ok()?.ip();
        (!ip.is_loopback() && !ip.is_unspecified()).then_some(ip)
    }

    #[test]
    fn the_connections_of_a_child_are_found() {
        let Some(ip) = own_address() else {
            eprintln!("SKIPPED: this machine has no address but that of the loopback");
            return;
        };
        let loopback = IpAddr::from([127, 0, 0, 1]);
        let [ours, far] = [loopback, ip].map(|ip| TcpListener::bind((ip, 0)).unwrap());
        let [ours, remote] = [&ours, &far].map(|it| it.local_addr().unwrap());
        let script = r"exec 3<>/dev/tcp/${1/:/\/} 4<>/dev/tcp/${2/:/\/}; exec sleep 60";
        let mut bash = Command::new("bash");
        bash.stderr(Stdio::null());
        bash.args(["-c", &format!("env -i bash -c '{script}' bash $1 $2; true"), "bash"]);
        bash.args([ours, remote].map(|it| it.to_string()));
        bash.env("OPENAI_BASE_URL", format!("http://{ours}/v1"));
        let Ok(mut child) = bash.spawn() else {
            eprintln!(
                "SKIPPED: there is no bash, which connects to a host without another program"
            );
            return;
        };
        let look = || Sightings::look(Pid::from_child(&child), ours);
        // The remote connection is last, so all exist when it does.
        let is_connected = || {
            let seen = look().connections;
            seen.iter().any(|it| it.remote == remote && it.program == "sleep")
        };
        wait_until("the connection is seen", is_connected);
        let Sightings { connections, untold, .. } = look();
        let sleeper = connections.first().unwrap().pid;
        kill_process(Pid::from_raw(sleeper).unwrap(), Signal::KILL).unwrap();
        child.wait().unwrap();
        let at = |remote| ProcessConnection { pid: sleeper, program: "sleep".to_owned(), remote };
        assert_eq!(connections, BTreeSet::from([at(remote)]));
        assert_ne!(sleeper, child.id() as i32, "it is below the child");
        assert_eq!(untold, BTreeMap::from([(sleeper, "sleep".to_owned())]));
    }
}
