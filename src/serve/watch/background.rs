//! Answers that an endpoint writes in the background. The client asks for such an answer by its id, until it is there;
//! only then the request has its answer.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use bytes::Bytes;
use hyper::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use memchr::memmem;
use reqwest::{Body, Url};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{oneshot, watch};
use tokio::task::spawn_local;

use super::answer::{Pump, passed};
use super::own_answer::Asker;
use super::patience::{Patience, Waiting};
use super::room::LONGEST;
use super::route::Route;
use super::shared::ListenerState;
use super::upstream::{self, Came};
use super::{AnswerResult, background_reader, coding, early_answer, exchange, request};
use crate::domain::{ModelError, ModelErrorKind, Request};
use crate::model::hosted::Overheard;
use crate::model::http::{CopySender, Pieces};
use crate::model::relay::{Heard, Holds, Release};
use crate::wire::{AnswerForm, WireFormat, json};

/// The most answers that are waited for; the oldest are forgotten.
const MOST: usize = 64;
/// The statuses of an answer that is not there yet.
const OPEN: [&str; 2] = ["queued", "in_progress"];

/// The answers in the background, the newest last.
#[derive(Default)]
pub struct BackgroundAnswers(RefCell<VecDeque<Rc<BackgroundAnswer>>>);

/// An answer in the background.
pub struct BackgroundAnswer {
    /// The address of the answer, without a query.
    pub url: String,
    pub overheard: Overheard,
    pub asker: Asker,
    pub read: Request,
    pub holds: Holds,
    pub heard: UnboundedSender<Heard>,
    /// The session's decision, which holds for each further poll, too.
    pub release: watch::Receiver<Option<Release>>,
}

/// The id of an answer that was begun in the background, and whether its client has to ask for it. `None`: the answer
/// is an ordinary one.
pub async fn begun(format: WireFormat, body: &[u8], came: &mut Came) -> Option<(String, bool)> {
    // Most requests lack the field, so they need not be read for it.
    let may_ask = format == WireFormat::Responses && came.status.is_success();
    memmem::find(body, b"\"background\"").filter(|_| may_ask)?;
    json::read(body).ok()?["background"].as_bool().filter(|asks| *asks)?;
    // A stream names its answer in its first event.
    let seen = came.look(if is_stream(came) { 1 } else { LONGEST }).await;
    let text = coding::unpacked(&came.headers, &seen).ok()?;
    if !is_stream(came) {
        let (id, status) = named(&json::read(&text).ok()?)?;
        return OPEN.contains(&&*status).then_some((id, true));
    }
    let text = String::from_utf8_lossy(&text);
    let first = text.lines().find_map(|line| line.strip_prefix("data:"))?;
    let (id, _) = named(&json::read(first.trim().as_bytes()).ok()?["response"])?;
    Some((id, false))
}

fn is_stream(came: &Came) -> bool {
    let kind = came.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// The id and the status of an answer.
fn named(response: &Value) -> Option<(String, String)> {
    let text = |name: &str| response[name].as_str().map(str::to_owned);
    Some((text("id")?, text("status")?))
}

impl BackgroundAnswers {
    /// Adds an answer; the oldest one is forgotten.
    pub fn add(&self, answer: &Rc<BackgroundAnswer>) {
        let _ = answer.heard.send(Heard::Detached);
        let mut all = self.0.borrow_mut();
        all.push_back(Rc::clone(answer));
        if all.len() > MOST {
            all.pop_front();
        }
    }

    /// The answer that a request to this address is about.
    pub fn find(&self, url: &Url) -> Option<Rc<BackgroundAnswer>> {
        let url = address(url);
        let url = url.strip_suffix("/cancel").unwrap_or(&url);
        self.0.borrow().iter().rev().find(|answer| answer.url == url).cloned()
    }
}

/// A decision that several polls wait for.
pub fn shared(release: oneshot::Receiver<Release>) -> watch::Receiver<Option<Release>> {
    let (given, decided) = watch::channel(None);
    spawn_local(async move {
        if let Ok(release) = release.await {
            given.send_replace(Some(release));
        }
    });
    decided
}

/// An address without its query.
pub fn address(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.as_str().trim_end_matches('/').to_owned()
}

impl BackgroundAnswer {
    /// The session's decision, also where another poll has it already.
    pub fn release(&self) -> oneshot::Receiver<Release> {
        let (tell, told) = oneshot::channel();
        let mut release = self.release.clone();
        spawn_local(async move {
            // If the session is gone, nothing is held.
            let Ok(decided) = release.wait_for(Option::is_some).await else { return };
            let _ = tell.send(match &*decided {
                Some(Release::Calls(calls)) => Release::Calls(calls.clone()),
                Some(Release::Instead(said)) => Release::Instead(said.clone()),
                Some(Release::AsCame | Release::Again(_)) | None => Release::AsCame,
            });
        });
        told
    }

    /// The channel for a copy of the answer; nobody reads one after the decision.
    fn copy(&self) -> CopySender {
        let (heard, read) = (self.heard.clone(), Some(self.read.clone()));
        match self.release.borrow().is_some() {
            true => Pieces::channel().0,
            false => background_reader::hear(self.overheard.clone(), Bytes::new(), read, heard),
        }
    }

    /// Passes what came for a poll: unchanged, unless it has the end of the answer.
    async fn give(&self, asker: Asker, mut came: Came, waiting: &Waiting) -> AnswerResult {
        let (is_ok, streams) = (came.status.is_success(), is_stream(&came));
        if !is_ok || !streams {
            let body = if is_ok { came.look(LONGEST).await } else { Bytes::new() };
            let text = coding::unpacked(&came.headers, &body).unwrap_or_default();
            let status = json::read(&text).ok().and_then(|response| named(&response));
            match status.as_ref().map(|(_, status)| status.as_str()) {
                Some("cancelled") => {
                    let why = ModelError::new(ModelErrorKind::Cancelled, "the agent cancelled it");
                    let _ = self.heard.send(Heard::Ended(Err(why)));
                    return Ok(passed(came));
                }
                Some(status) if !OPEN.contains(&status) => {}
                Some(_) | None => return Ok(passed(came)),
            }
        }
        let (asker, release) =
            (Asker { form: AnswerForm::of_stream(streams), ..asker }, self.release());
        let pump = Pump::new(came, (self.overheard.clone(), asker), self.copy(), release, false);
        if streams && self.holds < Holds::All {
            return Ok(pump.flow(self.holds, None));
        }
        match pump.held(waiting).await {
            std::ops::ControlFlow::Break(answered) => answered,
            // The session is told that the agent has read a part, so it asks for no other answer.
            std::ops::ControlFlow::Continue(_) => Err(super::Reset.into()),
        }
    }
}

/// Sends a request about an answer in the background, and what came back.
pub async fn poll(
    shared: Rc<ListenerState>,
    answer: Rc<BackgroundAnswer>,
    (parts, route): (&Parts, Route),
    body: Option<Body>,
) -> AnswerResult {
    let streams = route.url.query().is_some_and(|query| query.contains("stream=true"));
    let caller = request::caller(&parts.headers, None, String::new(), b"");
    let question = early_answer::question(route.url.as_str(), b"");
    let patience = Patience::of(caller.patience, shared.kept.waited(question), streams);
    let asker = Asker { form: AnswerForm::of_stream(streams), patience, ..answer.asker.clone() };
    let mut headers = upstream::forwarded(&parts.headers);
    coding::accept_readable(&mut headers, streams);
    let (to, kept) = ((parts.method.clone(), route.url), Rc::clone(&shared.kept));
    let own = asker.clone();
    early_answer::answer(kept, own, question, |waiting| async move {
        let came = match &shared.clients {
            Ok(clients) => upstream::send(clients, to, headers, body).await,
            Err(why) => return Ok(exchange::unreached(WireFormat::Responses, &route.host, why)),
        };
        match came {
            Ok(came) => answer.give(asker, Came::from(came), &waiting).await,
            Err(error) => {
                let why = error.told(&answer.overheard).text;
                Ok(exchange::unreached(WireFormat::Responses, &route.host, &why))
            }
        }
    })
    .await
}
