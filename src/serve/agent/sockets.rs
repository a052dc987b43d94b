//! The TCP connections of a process and of all its descendants.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rustix::process::Pid;

use crate::process::below;

/// A process that is connected to another host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessConnection {
    pub pid: i32,
    /// The name of its program.
    pub program: String,
    pub remote: SocketAddr,
}

/// The connections of this process and its descendants to other hosts. Empty where the system does not tell.
pub fn connections(root: Pid) -> Vec<ProcessConnection> {
    let mut found = BTreeSet::new();
    for pid in below(root, |_| false).into_iter().chain([root]) {
        let pid = pid.as_raw_nonzero().get();
        let own = sockets(pid);
        if own.is_empty() {
            continue;
        }
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}"));
        let program = read("comm").unwrap_or_default().trim_end().to_owned();
        for table in ["net/tcp", "net/tcp6"] {
            let text = read(table).unwrap_or_default();
            let own = outgoing(&text).filter(|(inode, _)| own.contains(inode));
            let connection =
                own.map(|(_, remote)| ProcessConnection { pid, program: program.clone(), remote });
            found.extend(connection);
        }
    }
    found.into_iter().collect()
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

/// The connections to other hosts in a table of `/proc/PID/net`, established or being established: the number of the
/// socket and the remote address.
fn outgoing(table: &str) -> impl Iterator<Item = (u64, SocketAddr)> {
    const ESTABLISHED: &str = "01";
    const SYN_SENT: &str = "02";
    table.lines().skip(1).filter_map(|line| {
        let mut words = line.split_whitespace().skip(2);
        let remote = address(words.next()?)?;
        let state = words.next()?;
        let inode = words.nth(5)?.parse().ok()?;
        let is_elsewhere = !remote.ip().is_loopback() && !remote.ip().is_unspecified();
        ([ESTABLISHED, SYN_SENT].contains(&state) && is_elsewhere).then_some((inode, remote))
    })
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
        let found: Vec<_> = outgoing(tcp).map(|(inode, at)| format!("{inode} {at}")).collect();
        assert_eq!(found, ["30113 162.159.140.245:443", "30115 192.168.1.1:443"]);
        let tcp6 = "  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000001000000:8124 00000000000000000000000001000000:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 40001 1 0000000000000000 20 0 0 10 -1
   1: B80D01200000000000000000010000AA:D431 00470626000000000000000011116810:01BB 01 00000000:00000000 00:00000000 00000000  1000        0 40002 1 0000000000000000 20 0 0 10 -1
   2: 0000000000000000FFFF00000F02000A:D432 0000000000000000FFFF0000F58C9FA2:01BB 01 00000000:00000000 00:00000000 00000000  1000        0 40003 1 0000000000000000 20 0 0 10 -1
";
        let found: Vec<_> = outgoing(tcp6).map(|(inode, at)| format!("{inode} {at}")).collect();
        assert_eq!(found, ["40002 [2606:4700::1068:1111]:443", "40003 162.159.140.245:443"]);
        assert_eq!(outgoing("sl\n nonsense\n 0: 1:2 0:0 01\n").count(), 0);
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
        let [local, other] = [IpAddr::from([127, 0, 0, 1]), ip];
        let [local, other] = [local, other].map(|ip| TcpListener::bind((ip, 0)).unwrap());
        let [near, remote] = [&local, &other].map(|listener| listener.local_addr().unwrap());
        let script = r"exec 3<>/dev/tcp/${1/:/\/} 4<>/dev/tcp/${2/:/\/}; exec sleep 60";
        let mut bash = Command::new("bash");
        bash.stderr(Stdio::null());
        bash.args(["-c", &format!("bash -c '{script}' bash $1 $2; true"), "bash"]);
        let Ok(mut child) = bash.args([near.to_string(), remote.to_string()]).spawn() else {
            eprintln!(
                "SKIPPED: there is no bash, which connects to a host without another program"
            );
            return;
        };
        // The remote connection is second, so both exist when it does.
        let is_connected = || {
            let own = connections(Pid::from_child(&child));
            own.iter()
                .any(|connection| connection.remote == remote && connection.program == "sleep")
        };
        wait_until("the connection is seen", is_connected);
        let found = connections(Pid::from_child(&child));
        let sleeper = found[0].pid;
        kill_process(Pid::from_raw(sleeper).unwrap(), Signal::KILL).unwrap();
        child.wait().unwrap();
        let program = "sleep".to_owned();
        assert_eq!(found, [ProcessConnection { pid: sleeper, program, remote }]);
        assert_ne!(sleeper, child.id() as i32, "it is below the child");
    }
}
