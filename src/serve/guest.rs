//! The session's end of one connection.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::desk::{Notice, SideId};
use super::line::{
    AttachLine, LONGEST, LineReader, SessionLine, VERSION, line_of, parse, record_line,
};
use super::{relay_socket, server::AttachHub};
use crate::store::journal::JournalReader;

/// The time that a side may take for its first line.
const GREETING: Duration = Duration::from_secs(10);
/// The time for which a side may read nothing of a line. Records wait in the journal meanwhile.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Next event of a connection.
enum GuestEvent {
    Line(Option<Vec<u8>>),
    Notice(Option<Notice>),
    /// The journal has more.
    Grown,
    /// The session has ended.
    Over,
    /// A record is due.
    Due,
}

/// Serves a side until it leaves, violates the protocol, or the session ends.
///
/// # Errors
/// The connection is broken, or the side does not read.
pub(super) async fn serve(
    stream: UnixStream,
    side: SideId,
    shared: &AttachHub,
    mut notices: mpsc::Receiver<Notice>,
    mut seen: watch::Receiver<u64>,
) -> io::Result<()> {
    let (read, mut out) = stream.into_split();
    let mut lines = LineReader::new(BufReader::new(read), LONGEST);
    let first = *seen.borrow_and_update();
    send(&mut out, &line_of(&shared.hello(first))).await?;
    let greeting = timeout(GREETING, lines.next()).await;
    let greeting = greeting.map_err(|_| io::Error::from(io::ErrorKind::TimedOut));
    match greeting.and_then(|line| line).map(|line| line.map(|line| parse::<AttachLine>(&line))) {
        Ok(Some(Ok(AttachLine::ToolyardAttach(VERSION)))) => {}
        Ok(None) => return Ok(()),
        Ok(Some(Ok(AttachLine::ToolyardAttach(other)))) => {
            let own = env!("CARGO_PKG_VERSION");
            let why = format!(
                "this session speaks version {VERSION} of the protocol, not {other}; attach with toolyard {own}"
            );
            return refuse(&mut out, why).await;
        }
        Ok(Some(_)) | Err(_) => {
            let why = format!("expected {{\"toolyard_attach\":{VERSION}}} as the first line");
            return refuse(&mut out, why).await;
        }
    }
    let mut records: Option<Records> = None;
    let mut is_over = false;
    loop {
        let last = *seen.borrow();
        let is_due = records.as_ref().is_some_and(|records| records.n() < last);
        if is_over && !is_due {
            return send(&mut out, &line_of(&SessionLine::Ended(true))).await;
        }
        let next = tokio::select! {
            biased;
            line = lines.next() => match line {
                Ok(line) => GuestEvent::Line(line),
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    return refuse(&mut out, error.to_string()).await;
                }
                Err(error) => return Err(error),
            },
            notice = notices.recv() => GuestEvent::Notice(notice),
            // A long journal must not keep the others waiting.
            () = tokio::task::yield_now(), if is_due => GuestEvent::Due,
            Ok(()) = seen.changed() => GuestEvent::Grown,
            () = shared.is_over.cancelled(), if !is_over => GuestEvent::Over,
        };
        match next {
            GuestEvent::Line(None) => return Ok(()),
            GuestEvent::Line(Some(line)) => match parse::<AttachLine>(&line) {
                Ok(AttachLine::From(n)) => match Records::after(&shared.opened.journal, n) {
                    Ok(after) => records = Some(after),
                    Err(why) => return refuse(&mut out, why).await,
                },
                Ok(AttachLine::Command(command)) => {
                    if let Err(why) = shared.command(side, *command) {
                        send(&mut out, &line_of(&SessionLine::Refused(why))).await?;
                    }
                }
                Ok(AttachLine::Take(_)) => shared.take(side),
                Ok(AttachLine::Leave(_)) => shared.leave(side),
                Ok(AttachLine::Relay(server)) => {
                    let Some(news) = shared.opened.relays.clone() else {
                        let why = "this session watches no agents of others, and takes no relays";
                        return refuse(&mut out, why.to_owned()).await;
                    };
                    relay_socket::serve(lines, out, server.into(), news, &shared.is_over).await;
                    return Ok(());
                }
                Ok(AttachLine::ToolyardAttach(_)) => {}
                Err(why) => return refuse(&mut out, why).await,
            },
            // Too many notices wait, so this side does not read.
            GuestEvent::Notice(None) => return Err(io::ErrorKind::TimedOut.into()),
            GuestEvent::Notice(Some(notice)) => send(&mut out, &line_of(&told(notice))).await?,
            GuestEvent::Grown if records.is_none() => {
                let n = *seen.borrow_and_update();
                send(&mut out, &line_of(&SessionLine::N(n))).await?;
            }
            GuestEvent::Grown => {}
            GuestEvent::Over => is_over = true,
            GuestEvent::Due => {
                let Some(records) = &mut records else { continue };
                match records.next() {
                    Ok(Some(line)) => send(&mut out, &line).await?,
                    // The number of a record comes after its line, so that this one is torn or gone.
                    Ok(None) => return refuse(&mut out, "the journal was cut".to_owned()).await,
                    Err(why) => return refuse(&mut out, why).await,
                }
            }
        }
    }
}

fn told(notice: Notice) -> SessionLine {
    match notice {
        Notice::Control { yours, controller } => SessionLine::Control { yours, controller },
        Notice::Asked(by) => SessionLine::Asked(by),
        Notice::Refused(why) => SessionLine::Refused(why),
    }
}

/// Sends the reason why the connection ends.
async fn refuse(out: &mut OwnedWriteHalf, why: String) -> io::Result<()> {
    send(out, &line_of(&SessionLine::Refused(why))).await
}

async fn send(out: &mut OwnedWriteHalf, line: &str) -> io::Result<()> {
    let mut rest = line.as_bytes();
    while !rest.is_empty() {
        let written = timeout(PATIENCE, out.write(rest)).await;
        let written = written.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        rest = &rest[written..];
    }
    Ok(())
}

/// The records of the journal after an event.
struct Records(JournalReader);

impl Records {
    fn after(journal: &Path, n: u64) -> Result<Self, String> {
        let mut reader = JournalReader::open_new(journal).map_err(|error| error.to_string())?;
        let last = reader.go_behind(n).map_err(|error| error.to_string())?;
        if last < n {
            return Err(format!("no event {n} yet: the last one is {last}"));
        }
        Ok(Self(reader))
    }

    /// The last event that was read.
    fn n(&self) -> u64 {
        self.0.place().n
    }

    fn next(&mut self) -> Result<Option<String>, String> {
        match self.0.next().transpose().map_err(|error| error.to_string())? {
            Some(record) => Ok(Some(record_line(&record))),
            None => {
                // The lines that were read before the line was written.
                self.0.look_again();
                let again = self.0.next().transpose().map_err(|error| error.to_string())?;
                Ok(again.map(|record| record_line(&record)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;
    use tokio::io::AsyncReadExt;

    use super::*;
    use crate::Opened;
    use crate::domain::{Record, SessionEvent};
    use crate::store::journal::{Header, Journal};

    /// The events of the session, each of them larger than what a socket holds back.
    const EVENTS: u64 = 8;

    /// A session with large events, and both ends of a connection to it.
    fn session() -> (TempDir, AttachHub, UnixStream, UnixStream) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("j.jsonl");
        let mut journal = Journal::create(&path, &Header::at(jiff::Timestamp::UNIX_EPOCH)).unwrap();
        for n in 1..=EVENTS {
            let text = n.to_string().repeat(1 << 20);
            journal.append(&Record::new(n, n, SessionEvent::Noticed { text })).unwrap();
        }
        let opened = Opened {
            place: path.clone(),
            journal: path,
            opened: String::new(),
            title: String::new(),
            relays: None,
        };
        let (commands, _) = mpsc::unbounded_channel();
        let shared = AttachHub::new(opened, commands.downgrade(), watch::channel(false).0);
        let (own, other) = UnixStream::pair().unwrap();
        (home, shared, own, other)
    }

    async fn served(stream: UnixStream, shared: &AttachHub) -> io::Result<()> {
        let (_last, seen) = watch::channel(EVENTS);
        let (_notices, told) = mpsc::channel(1);
        serve(stream, 1, shared, told, seen).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_side_that_reads_nothing_is_dropped() {
        let (_home, shared, own, mut other) = session();
        other.write_all(b"{\"toolyard_attach\":1}\n{\"from\":0}\n").await.unwrap();
        let ended = served(own, &shared).await.unwrap_err();
        assert_eq!(ended.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_side_that_says_nothing_is_told_what_is_expected() {
        let (_home, shared, own, mut other) = session();
        served(own, &shared).await.unwrap();
        let mut said = String::new();
        other.read_to_string(&mut said).await.unwrap();
        let last = said.lines().last().unwrap();
        assert!(last.contains("expected {\\\"toolyard_attach\\\":1} as the first"), "{last}");
    }

    #[tokio::test]
    async fn a_side_that_reads_late_gets_everything() {
        let (_home, shared, own, mut other) = session();
        other.write_all(b"{\"toolyard_attach\":1}\n{\"from\":2}\n").await.unwrap();
        let read = async {
            // The side requests records while the session runs, and reads them after its end.
            tokio::time::sleep(Duration::from_millis(20)).await;
            shared.is_over.cancel();
            let mut said = String::new();
            other.read_to_string(&mut said).await.unwrap();
            said
        };
        let (ended, said) = tokio::join!(served(own, &shared), read);
        ended.unwrap();
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines.len() as u64, 1 + (EVENTS - 2) + 1);
        assert!(lines[1].starts_with("{\"record\":{\"n\":3,"), "{}", &lines[1][..60]);
        assert_eq!(lines.last(), Some(&"{\"ended\":true}"));
    }
}
