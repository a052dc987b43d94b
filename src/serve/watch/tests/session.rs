//! A session that lets a request pass, and records its news.

use std::sync::{Arc, mpsc};
use std::thread;

use super::{PATIENCE, block_on};
use crate::domain::{ModelError, ModelSpec, Reply};
use crate::model::relay::{Arrival, Holds, Relay, Release};
use crate::model::{Model, ModelProgress};

pub struct SessionStub {
    heard: mpsc::Receiver<ExchangeEvent>,
    release: mpsc::Sender<Release>,
}

#[derive(Debug)]
enum ExchangeEvent {
    Progress(ModelProgress),
    Ended(Result<Reply, ModelError>),
}

impl SessionStub {
    /// Lets a request pass, with this body if it changes.
    pub fn with(arrival: Arrival, holds: Holds, body: Option<&'static str>) -> Self {
        let (tell, heard) = mpsc::channel();
        let (release, released) = mpsc::channel();
        thread::spawn(move || {
            let Arrival { asked, body: came, way, .. } = arrival;
            let spec = Arc::new(ModelSpec::new("m", "an endpoint"));
            let relay = Relay::new(spec, body.map_or(came, Into::into), way);
            relay.hold(holds);
            let mut progress = |news| drop(tell.send(ExchangeEvent::Progress(news)));
            let ended = block_on(relay.ask(&asked.request, &mut progress));
            let said = ended.clone().map(Arc::new);
            let _ = tell.send(ExchangeEvent::Ended(ended));
            if let Ok(release) = released.recv_timeout(PATIENCE) {
                relay.end(&said, release);
            }
        });
        Self { heard, release }
    }

    pub fn new(arrival: Arrival) -> Self {
        Self::with(arrival, Holds::Calls, None)
    }

    /// The text, the body that was sent, and the end.
    pub fn ended(&self) -> (String, Option<String>, Result<Reply, ModelError>) {
        let (mut text, mut sent) = (String::new(), None);
        loop {
            match self.heard.recv_timeout(PATIENCE).unwrap() {
                ExchangeEvent::Progress(ModelProgress::Text(more)) => text += &more,
                ExchangeEvent::Progress(ModelProgress::Sent(body)) => {
                    sent = Some(body.text().to_owned())
                }
                ExchangeEvent::Progress(_) => {}
                ExchangeEvent::Ended(ended) => return (text, sent, ended),
            }
        }
    }

    /// The next text in its news.
    pub fn text(&self) -> String {
        loop {
            match self.heard.recv_timeout(PATIENCE).unwrap() {
                ExchangeEvent::Progress(ModelProgress::Text(text)) => return text,
                ExchangeEvent::Progress(_) => {}
                ExchangeEvent::Ended(ended) => panic!("{ended:?}"),
            }
        }
    }

    pub fn release(&self, release: Release) {
        self.release.send(release).unwrap();
    }
}
