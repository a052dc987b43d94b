//! Answers and requests through the proxy of `toolyard watch`.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use toolyard::wire::chat;

use super::bodies::{self, Framed, Sent, framed};
use super::raw::{Raw, unpacked};
use super::{ANSWERS, Figures, LIMIT, REQUESTS, shown};
use crate::program::Home;
use crate::runs::cases;
use crate::watched::started::Watch;

const CLIENTS: usize = 4;
/// Exchanges of one session.
const SESSION: usize = 5000;
/// Bytes of an answer that is parsed again with each piece of it, and how long a longer one is quiet before it is.
const LONG: usize = 1 << 18;
const QUIET: Duration = Duration::from_millis(200);
/// What comes while an answer is not there.
const HEARTBEATS: [&str; 3] = [": held\n\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n", BLANK];
const BLANK: &str = " ";
/// Bytes that a compressed body and a text have in common only if one is in the other.
const PART_OF_PACKED: usize = 16;
/// Requests before one that may still arrive.
const RECENT: usize = 8;

/// What an endpoint answers to a request.
type Rule = Arc<dyn Fn(Raw) -> Sent + Send + Sync>;

/// An endpoint that answers by a rule.
pub fn endpoint(rule: Rule) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let rule = Arc::clone(&rule);
            thread::spawn(move || serve(client.unwrap(), &rule));
        }
    });
    address
}

fn serve(mut client: TcpStream, rule: &Rule) {
    client.set_nodelay(true).unwrap();
    let (mut kept, mut chunk) = (Vec::new(), [0; 65536]);
    loop {
        while let Some(request) = Raw::read(&kept, false, false).filter(|it| it.is_whole) {
            kept.drain(..request.length);
            let Sent { bytes, closes } = rule(request);
            let (one, other) = bytes.split_at(bytes.len() / 2);
            if client.write_all(one).and_then(|()| client.write_all(other)).is_err() || closes {
                return;
            }
        }
        match client.read(&mut chunk) {
            Ok(read @ 1..) => kept.extend_from_slice(&chunk[..read]),
            Ok(0) | Err(_) => return,
        }
    }
}

/// A client that keeps its connection as long as it can.
pub struct Client {
    address: SocketAddr,
    stream: Option<TcpStream>,
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, stream: None }
    }

    /// Sends these bytes and reads one answer; `None`: the connection ended without a head. `ends`: nothing follows them.
    ///
    /// # Errors
    /// It takes too long.
    pub fn ask(&mut self, bytes: &[u8], ends: bool) -> Result<Option<Raw>, String> {
        let mut stream = self.stream.take().unwrap_or_else(|| {
            let stream = TcpStream::connect(self.address).unwrap();
            stream.set_nodelay(true).unwrap();
            stream.set_read_timeout(Some(QUIET)).unwrap();
            stream
        });
        // One that is refused early is not read to its end.
        let sent = stream.write_all(bytes);
        if ends {
            let _ = stream.shutdown(Shutdown::Write);
        }
        let (begun, mut got, mut chunk, mut is_over) =
            (Instant::now(), Vec::new(), vec![0; 1 << 18], false);
        let mut is_quiet = false;
        loop {
            // A long answer is read whole before it is looked at.
            if got.len() < LONG || is_quiet || is_over {
                let raw = Raw::read(&got, true, is_over);
                let is_interim = raw.as_ref().is_some_and(|raw| raw.status().starts_with(b"1"));
                if let Some(raw) = raw.as_ref().filter(|_| is_interim) {
                    got.drain(..raw.length);
                    continue;
                }
                if is_over || raw.as_ref().is_some_and(|raw| raw.is_whole) {
                    if !is_over && !ends && sent.is_ok() {
                        self.stream = Some(stream);
                    }
                    return Ok(raw);
                }
            }
            is_quiet = false;
            match stream.read(&mut chunk) {
                Ok(read @ 1..) => got.extend_from_slice(&chunk[..read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => is_quiet = true,
                Ok(0) | Err(_) => is_over = true,
            }
            if begun.elapsed() > LIMIT {
                return Err(format!("it hangs after {:?}: {}", begun.elapsed(), shown(&got)));
            }
        }
    }
}

/// Starts toolyard before an endpoint of all wires.
pub fn watch(home: &Home, endpoint: SocketAddr) -> Watch<'_> {
    let variables = [
        ("OPENAI_BASE_URL", format!("http://{endpoint}/v1")),
        ("ANTHROPIC_BASE_URL", format!("http://{endpoint}")),
        ("OLLAMA_HOST", format!("http://{endpoint}")),
        ("GOOGLE_GEMINI_BASE_URL", format!("http://{endpoint}")),
    ];
    Watch::without_state(home, &variables, &[])
}

/// Ends it; its journal replays, and says how many answers were understood.
pub fn ended(home: &Home, mut watch: Watch<'_>) -> usize {
    watch.quit();
    home.succeed(&["replay", crate::program::text(&home.path("j.jsonl")), "--json"]);
    let journal = home.read("j.jsonl").into_bytes();
    let kind: &[u8] = b"\"kind\":\"ModelCallFinished\"";
    journal
        .split(|byte| *byte == b'\n')
        .filter(|line| line.windows(kind.len()).any(|it| it == kind))
        .count()
}

/// How an answer came through.
enum Passed {
    AsSent,
    Refused,
    Damaged,
    Wrong(String),
}

/// Whether the head went out before the endpoint's, since that took long.
fn has_begun_early(got: &Raw) -> bool {
    got.header("cache-control") == Some(b"no-cache") && got.header("x-number").is_none()
}

/// A body without heartbeats: a client that waits gets them before an answer, and those of a stream between its events.
fn without_heartbeats(got: &Raw) -> Vec<u8> {
    let is_early = has_begun_early(got);
    let (mut body, mut left) = (&got.body[..], Vec::with_capacity(got.body.len()));
    while let Some((first, rest)) = body.split_first() {
        let is_before = is_early && left.is_empty();
        let mut beats = HEARTBEATS.iter().filter(|beat| is_before || **beat != BLANK);
        body = match beats.find_map(|beat| body.strip_prefix(beat.as_bytes())) {
            Some(rest) => rest,
            None => {
                left.push(*first);
                rest
            }
        };
    }
    left
}

/// Whether a part of compressed bytes is in a text. A block that is only stored is text itself.
fn has_part_of(text: &[u8], packed: &[u8]) -> bool {
    let end = &packed[packed.len().saturating_sub(PART_OF_PACKED + 8)..];
    let is_binary = |part: &&[u8]| part.iter().filter(|byte| !byte.is_ascii()).count() > 4;
    let part = end.get(..PART_OF_PACKED).filter(is_binary);
    part.is_some_and(|part| text.windows(PART_OF_PACKED).any(|it| it == part))
}

/// The head of a message, for people.
fn told(raw: &Raw) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let headers =
        raw.headers.iter().map(|(name, value)| format!("{}: {}", text(name), text(value)));
    format!("{}, {}", text(&raw.first), headers.collect::<Vec<_>>().join(", "))
}

/// Compares what the client got with what was sent.
fn compare(sent: &Sent, got: Option<&Raw>, streams: bool) -> Passed {
    let expected = Raw::read(&sent.bytes, true, sent.closes);
    let wrong = |why: &str| {
        let got = got.map(|it| format!("{} {}", shown(&it.first), shown(&it.body)));
        Passed::Wrong(format!("{why}\nsent {}\ngot {got:?}", shown(&sent.bytes)))
    };
    let is_refused = got.is_none_or(|got| {
        let text = String::from_utf8_lossy(&got.body);
        got.status() == b"502" && text.contains("toolyard could not reach")
    });
    if is_refused {
        // Only what is damaged may be refused.
        let is_whole = !sent.closes && expected.is_some_and(|it| it.is_whole);
        return if is_whole { wrong("a whole answer is refused") } else { Passed::Refused };
    }
    let (Some(expected), Some(got)) = (expected, got) else { return wrong("it has no head") };
    let is_early = has_begun_early(got);
    let coding = expected.header("content-encoding").filter(|_| streams);
    let is_unpacked = coding.is_some() && got.header("content-encoding").is_none();
    let headers = |raw: &Raw| {
        let mut all = raw.passing();
        if is_unpacked {
            all.retain(|(name, _)| name != b"content-encoding");
            // Where one is taken out of a map, others change their places.
            all.sort();
        }
        all
    };
    if !is_early && (got.status(), headers(got)) != (expected.status(), headers(&expected)) {
        return wrong(&format!("another head: {}", told(got)));
    }
    let body = without_heartbeats(got);
    if is_unpacked && has_part_of(&body, &expected.body) {
        return wrong("compressed bytes in a text");
    }
    let whole = match coding.filter(|_| is_unpacked) {
        Some(coding) => unpacked(coding, &expected.body),
        None => Some(expected.body.clone()),
    };
    match (got.is_whole, expected.is_whole, whole) {
        (true, true, Some(whole)) if body == whole => Passed::AsSent,
        (true, true, Some(_)) => wrong("another body"),
        // The damage is one that only its checksum tells, which nobody looks at.
        (true, true, None) => Passed::Damaged,
        (true, false, _) => wrong("a cut answer ends as if it were whole"),
        // Damaged in its coding: the beginning was sent.
        (false, _, None) => Passed::Refused,
        (false, true, Some(_)) => wrong("a whole answer breaks off"),
        (false, false, Some(whole)) if whole.starts_with(&body) => Passed::AsSent,
        (false, false, Some(_)) => wrong("another beginning"),
    }
}

/// What so many exchanges give, in sessions of some thousand: a session keeps a little of each conversation. The number of
/// an exchange that went wrong repeats it.
fn in_sessions(
    what: &'static str,
    whole: usize,
    session: impl Fn(Range<usize>, &mut Figures),
) -> Figures {
    let only: Option<usize> =
        std::env::var("TOOLYARD_CASE").ok().and_then(|text| text.parse().ok());
    let all = only.map_or(0..cases(whole), |only| only..only + 1);
    let mut figures = Figures { what, count: all.len(), ..Figures::default() };
    for start in all.clone().step_by(SESSION) {
        session(start..all.end.min(start + SESSION), &mut figures);
    }
    figures
}

/// Mutated answers, each to a request of its own.
pub fn answers() -> Figures {
    in_sessions("answers", ANSWERS, answers_of)
}

fn answers_of(numbers: Range<usize>, all: &mut Figures) {
    let home = Home::new();
    let number = |request: &Raw| -> usize {
        let number = std::str::from_utf8(request.header("x-number").unwrap()).unwrap();
        number.parse().unwrap()
    };
    let at = endpoint(Arc::new(move |request| bodies::answer(number(&request))));
    let watch = watch(&home, at);
    let next = AtomicUsize::new(numbers.start);
    let (one_at_a_time, figures) = (Mutex::new(()), Mutex::new(Figures::default()));
    let ask = |client: &mut Client, number: usize| {
        let request = bodies::asked(number);
        let _alone = bodies::is_huge(number).then(|| one_at_a_time.lock());
        let mut got = client.ask(&request, false);
        // What does not fit a head that went out early comes when it is asked for again.
        let is_reset = |got: &Raw| has_begun_early(got) && !got.is_whole;
        if got.as_ref().is_ok_and(|got| got.as_ref().is_some_and(is_reset)) {
            got = client.ask(&request, false);
        }
        let passed = match got {
            Ok(got) => compare(&bodies::answer(number), got.as_ref(), bodies::is_streaming(number)),
            Err(why) => Passed::Wrong(why),
        };
        let mut figures = figures.lock().unwrap();
        match passed {
            Passed::AsSent => {}
            Passed::Damaged => figures.damaged += 1,
            Passed::Refused => figures.refused += 1,
            Passed::Wrong(why) => figures.wrong.push(format!("answer {number}: {why}")),
        }
    };
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = Client::new(watch.address);
                loop {
                    match next.fetch_add(1, Ordering::Relaxed) {
                        number if number < numbers.end => ask(&mut client, number),
                        _ => return,
                    }
                }
            });
        }
    });
    let mut figures = figures.into_inner().unwrap();
    figures.took(watch.id());
    let passed = numbers.len() - figures.refused;
    figures.unread = passed - ended(&home, watch).min(passed);
    all.add(figures);
    all.more = format!("{} with damage that only a checksum tells", all.damaged);
}

/// The bodies that may reach the endpoint: as they came, or a stream's with a wish for its usage.
fn bodies_of(request: &Raw) -> Vec<Vec<u8>> {
    let text = match request.header("content-encoding") {
        Some(coding) => unpacked(coding, &request.body),
        None => Some(request.body.clone()),
    };
    let asking = text.and_then(|text| chat::asking_for_usage(&text));
    [request.body.clone()].into_iter().chain(asking).collect()
}

/// Whether the endpoint got this request as it was sent.
fn is_same(sent: &Raw, got: &Raw) -> bool {
    let is_plain = got.body != sent.body;
    let headers = |raw: &Raw| {
        let mut all = raw.passing();
        all.retain(|(name, _)| !(is_plain && name == b"content-encoding"));
        all
    };
    got.asked() == sent.asked()
        && headers(got) == headers(sent)
        && bodies_of(sent).contains(&got.body)
}

/// Mutated requests, one after the other.
pub fn requests() -> Figures {
    in_sessions("requests", REQUESTS, requests_of)
}

fn requests_of(numbers: Range<usize>, all: &mut Figures) {
    let (home, record) = (Home::new(), Arc::<Mutex<Vec<Raw>>>::default());
    let kept = Arc::clone(&record);
    let at = endpoint(Arc::new(move |request| {
        kept.lock().unwrap().push(request);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        Sent { bytes: framed(head, b"{}", Framed::Length), closes: false }
    }));
    let watch = watch(&home, at);
    let mut figures = Figures::default();
    let (mut client, mut statuses) = (Client::new(watch.address), BTreeMap::new());
    let mut recent = VecDeque::new();
    for number in numbers.clone() {
        let Sent { bytes, closes } = bodies::hostile_request(number);
        let answer = client.ask(&bytes, closes);
        // What follows a request on its connection may be a further one. One whose client has left may arrive late.
        recent.push_back(Raw::requests(&bytes));
        if recent.len() > RECENT {
            recent.pop_front();
        }
        let got = std::mem::take(&mut *record.lock().unwrap());
        let is_sent = |got: &Raw| recent.iter().flatten().any(|sent| is_same(sent, got));
        let are_same = got.iter().all(is_sent);
        let status = match &answer {
            Ok(Some(raw)) => String::from_utf8_lossy(raw.status()).into_owned(),
            Ok(None) => "closed".to_owned(),
            Err(why) => why.clone(),
        };
        if !are_same || answer.is_err() || status == "200" && got.is_empty() {
            let got: Vec<String> =
                got.iter().map(|it| format!("{} {}", told(it), shown(&it.body))).collect();
            figures
                .wrong
                .push(format!("request {number}: {status}\nsent {}\ngot {got:#?}", shown(&bytes)));
        }
        figures.refused += usize::from(got.is_empty());
        *statuses.entry(status).or_insert(0) += 1;
    }
    eprintln!("requests by status: {statuses:?}");
    figures.took(watch.id());
    let understood = home.read("j.jsonl");
    let understood = understood.matches("\"kind\":\"ModelCallStarted\"").count();
    ended(&home, watch);
    let passed = numbers.len() - figures.refused;
    figures.unread = passed - understood.min(passed);
    all.add(figures);
}
