//! Keys of a watched agent and of a relay, as another user of the machine sees them: not at all.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{fs, thread};

use serde_json::{Value, json};

use super::http::Message;
use crate::program::{Home, text};

/// Looks as the user `nobody` for keys: in processes, in files, at ports and at sockets. It prints what it has found as
/// lines of kind, place and key.
const SEARCH: &str = r#"
import json, os, socket, stat, sys
asked = json.load(sys.stdin)
keys = [key.encode() for key in asked["keys"]]
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
seen = {"process": 0, "file": 0, "port": 0, "socket": 0}

def look(kind, place, content):
    seen[kind] += 1
    for key in keys:
        if key in content:
            print(kind, place, key.decode(), flush=True)

def read(path):
    if not stat.S_ISREG(os.stat(path).st_mode):
        return b""
    with open(path, "rb") as file:
        return file.read(64 << 20)

def allowed(work, *arguments):
    try:
        return work(*arguments)
    except OSError:
        return None

own = str(os.getpid())
for process in filter(str.isdigit, os.listdir("/proc")):
    if process == own:
        continue
    for name in ["cmdline", "environ", "comm", "status", "maps"]:
        path = f"/proc/{process}/{name}"
        content = allowed(lambda: open(path, "rb").read())
        if content is not None:
            look("process", path, content)
    for number in allowed(os.listdir, f"/proc/{process}/fd") or []:
        path = f"/proc/{process}/fd/{number}"
        look("process", path, (allowed(os.readlink, path) or "").encode() + (allowed(read, path) or b""))

for top in asked["folders"]:
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            content = allowed(read, path)
            look("file", path, os.fsencode(path) + (content or b""))

def exchange(family, address, text):
    with socket.socket(family) as connection:
        connection.settimeout(2)
        connection.connect(address)
        came = b""
        # A peer may answer and leave before it is asked.
        allowed(connection.sendall, text)
        try:
            while part := connection.recv(1 << 16):
                came += part
        except OSError:
            pass
        return came

end = "HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
for port in asked["ports"]:
    for path in ["/", "/v1/models", "/v1/chat/completions", "/v1/messages", "/mcp", "/mcp?x=1", "/t/x/mcp", "/s/x/v1/models"]:
        for text in [f"GET {path} {end}\r\n", f"POST {path} {end}content-length: 2\r\n\r\n{{}}"]:
            came = allowed(exchange, socket.AF_INET, ("127.0.0.1", port), text.encode())
            if came is not None:
                look("port", f"{port} {text.split()[0]} {path}", came)

for path in asked["sockets"]:
    address = "\0" + path[1:] if path.startswith("@") else path
    for text in ["", "{}\n", "{\"hello\":{}}\n", f"GET / {end}\r\n"]:
        came = allowed(exchange, socket.AF_UNIX, address, text.encode())
        if came is not None:
            look("socket", path, came)
print(json.dumps(seen), file=sys.stderr)
"#;

/// An endpoint that answers with what it was asked, and the requests that it got.
struct Echo {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Echo {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<_>>>::default());
        let kept = Arc::clone(&asked);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (mut client, kept) = (client.unwrap(), Arc::clone(&kept));
                thread::spawn(move || {
                    let mut bytes = Vec::new();
                    while let Ok(Some(request)) = Message::read(&mut client, &mut bytes) {
                        let body = format!("{} {:?}", request.first, request.headers);
                        kept.lock().unwrap().push(body.clone());
                        let head =
                            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                        let _ = client.write_all((head + &body).as_bytes());
                    }
                });
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

/// A key that was never there before.
fn key(of: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    format!("k3y-0f-{of}-{}-{}", std::process::id(), now.as_nanos())
}

/// What another user finds of these keys, by kinds.
fn found(home: &Home, keys: &[String], (ports, sockets): (&[u16], &[String])) -> Vec<String> {
    let folders = ["/tmp".to_owned(), text(&home.path("run")).to_owned()];
    let asked = json!({"keys": keys, "folders": folders, "ports": ports, "sockets": sockets});
    let mut search = Command::new("python3");
    search.args(["-c", SEARCH]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut search = search.spawn().unwrap();
    search.stdin.take().unwrap().write_all(asked.to_string().as_bytes()).unwrap();
    let out = search.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{errors}");
    eprintln!("looked at {}", errors.trim());
    String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// The processes with this home.
fn processes(home: &Home) -> Vec<String> {
    let variable = format!("HOME={}", text(&home.path("")).trim_end_matches('/'));
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let ours = all.filter(|process| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|it| it == variable.as_bytes())
    });
    ours.map(|process| text(&process).to_owned()).collect()
}

/// The ports and the sockets where processes of this home listen. What others listen at is not asked: these may be other
/// tests.
fn listened(home: &Home) -> (Vec<u16>, Vec<String>) {
    let links = processes(home).into_iter().flat_map(|process| {
        let open = fs::read_dir(Path::new(&process).join("fd")).into_iter().flatten().flatten();
        open.filter_map(|entry| fs::read_link(entry.path()).ok()).collect::<Vec<_>>()
    });
    let inodes: BTreeSet<String> = links
        .filter_map(|link| {
            Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        })
        .collect();
    let table = |name: &str| fs::read_to_string(format!("/proc/net/{name}")).unwrap_or_default();
    let (mut ports, mut sockets) = (Vec::new(), Vec::new());
    for line in [table("tcp"), table("tcp6")].concat().lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields.get(3) == Some(&"0A")
            && fields.get(9).is_some_and(|inode| inodes.contains(*inode))
        {
            let (_, port) = fields[1].rsplit_once(':').unwrap();
            ports.push(u16::from_str_radix(port, 16).unwrap());
        }
    }
    for line in table("unix").lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if let [.., inode, path] = fields[..]
            && inodes.contains(inode)
        {
            sockets.push(path.to_owned());
        }
    }
    (ports, sockets)
}

/// Waits until there is a file of this name, and reads it.
fn awaited(home: &Home, name: &str) -> String {
    let begun = Instant::now();
    while !home.path(name).exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{name} does not come");
        thread::sleep(Duration::from_millis(10));
    }
    home.read(name)
}

/// The search finds what is open: in a file, on a command line, at a port, at a socket, and in what reaches the endpoint.
fn expect_that_open_keys_are_found(home: &Home, echo: &Echo) {
    let open = key("nobody-in-particular");
    home.write("open", &open);
    let mut process = Command::new("sh").args(["-c", "sleep 120; true", &open]).spawn().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (said, endpoint) = (open.clone(), echo.address);
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let _ = client.read(&mut [0; 4096]);
            let mut there = TcpStream::connect(endpoint).unwrap();
            let request = format!("GET /{said} HTTP/1.1\r\nhost: x\r\n\r\n");
            there.write_all(request.as_bytes()).unwrap();
            let answer = Message::read(&mut there, &mut Vec::new()).unwrap().unwrap();
            let _ = client.write_all(&answer.body);
        }
    });
    let socket = home.path("open.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o777)).unwrap();
    let said = open.clone();
    thread::spawn(move || {
        for client in listener.incoming() {
            let _ = client.unwrap().write_all(said.as_bytes());
        }
    });
    let sockets = [text(&socket).to_owned()];
    let found = found(home, std::slice::from_ref(&open), (&[port], &sockets));
    process.kill().unwrap();
    process.wait().unwrap();
    for kind in ["process", "file", "port", "socket"] {
        let is_found = found.iter().any(|line| line.starts_with(kind) && line.ends_with(&open));
        assert!(is_found, "the search does not find a key at an open {kind}: {found:#?}");
    }
    assert!(echo.asked().iter().any(|asked| asked.contains(&open)));
    fs::remove_file(home.path("open")).unwrap();
    fs::remove_file(socket).unwrap();
}

/// Ends a process when the test does.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A relay of this address, which has the key from a variable, and where it listens.
fn relay(home: &Home, target: &str, key: &str) -> (Running, String) {
    let words = ["mcp", "--name", "own", "--journal", "relay.jsonl", "--target", target];
    let mut command = home.command(&words);
    let mut child = command.env("OWN_KEY", key).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("relays http://") {
        line.clear();
        assert!(errors.read_line(&mut line).unwrap() > 0, "it has ended");
    }
    thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
    (Running(child), line.trim().rsplit_once(" http").unwrap().1.to_owned())
}

/// Asks as the user whose keys they are; returns what the endpoint says that it got.
fn ask(url: &str, key: &str) -> String {
    let (host, path) = url.split_once("://").unwrap().1.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!("POST /{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\n");
    stream.write_all(format!("{head}content-length: 2\r\n\r\n{{}}").as_bytes()).unwrap();
    let answer = Message::read(&mut stream, &mut Vec::new()).unwrap().unwrap();
    String::from_utf8(answer.body).unwrap()
}

#[test]
fn another_user_of_the_machine_sees_no_key() {
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: another user's view needs the right to change users");
        return;
    }
    if Command::new("python3").arg("--version").output().is_err() {
        println!("SKIPPED: there is no python3");
        return;
    }
    let (home, echo) = (Home::new(), Echo::start());
    // Whoever may look into the folder sees only what its files allow.
    fs::set_permissions(home.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    expect_that_open_keys_are_found(&home, &echo);

    let names =
        ["environment", "dotenv", "password", "query", "header", "entry", "server", "target"];
    let keys = names.map(key);
    let [environment, dotenv, password, query, header, entry, server, target] = &keys;
    let at = echo.address;
    home.write(
        ".env",
        format!("ANTHROPIC_API_KEY={dotenv}\nANTHROPIC_BASE_URL=http://{at}?key={dotenv}\n"),
    );
    let servers: Value = json!({"mcpServers": {
        "far": {"type": "http", "url": format!("http://{at}/mcp?api_key={entry}"), "headers": {"Authorization": format!("Bearer {header}")}},
        "near": {"command": "sh", "args": ["-c", "cat > /dev/null"], "env": {"API_TOKEN": server}},
    }});
    home.write("servers.json", servers.to_string());
    for name in [".env", "servers.json"] {
        fs::set_permissions(home.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    // The agent starts its local server, and keeps what it was told to itself.
    let script = r#"umask 077
        python3 -c 'import json, os, subprocess
all = json.load(open(os.environ["TOOLYARD_MCP_CONFIG"]))["mcpServers"]
near = all["near"]
server = subprocess.Popen([near["command"], *near["args"]], env={**os.environ, **near.get("env", {})}, stdin=subprocess.PIPE)
print(os.environ["OPENAI_BASE_URL"], all["far"]["url"], file=open("told.new", "w"))
os.rename("told.new", "told")
server.wait()'"#;
    let words =
        ["watch", "--headless", "--journal", "j.jsonl", "--log", "l.txt", "--log-level", "trace"];
    let mut watch =
        home.command(&[&words[..], &["--mcp", "servers.json", "--", "sh", "-c", script]].concat());
    watch.env("OPENAI_API_KEY", environment);
    watch.env("OPENAI_BASE_URL", format!("http://team:{password}@{at}/v1?api-key={query}"));
    let _watch = Running(watch.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let (_relay, relayed) = relay(&home, &format!("http://{at}/mcp?api_key=${{OWN_KEY}}"), target);
    let told = awaited(&home, "told");
    let (model, far) = told.trim().split_once(' ').unwrap();
    // Each key is in use: the user's own requests have it.
    let asked = [
        ask(&format!("{model}/models"), environment),
        ask(far, "x"),
        ask(&format!("http{relayed}"), "x"),
    ];
    for (at, key) in [(0, environment), (0, query), (1, header), (1, entry), (2, target)] {
        assert!(asked[at].contains(key), "{key}: {asked:?}");
    }
    echo.asked();
    let (ports, sockets) = listened(&home);
    assert!(ports.len() >= 3 && !sockets.is_empty(), "{ports:?} {sockets:?}");
    let found = found(&home, &keys, (&ports, &sockets));
    assert!(found.is_empty(), "another user sees keys: {found:#?}");
    let leaked: Vec<String> = echo
        .asked()
        .into_iter()
        .filter(|asked| keys.iter().any(|key| asked.contains(key)))
        .collect();
    assert!(leaked.is_empty(), "requests of another user have keys: {leaked:#?}");
}
