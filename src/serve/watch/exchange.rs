//! The exchange of one request: the session sees it, decides about it, and reads its answer.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use hyper::{HeaderMap, Method, Response, StatusCode};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::answer::{Pump, passed};
use super::background::BackgroundAnswer;
use super::envelope::AnswerEnvelope;
use super::own_answer::{Asker, refusal};
use super::patience::{Patience, Waiting};
use super::recent_requests::Recent;
use super::route::Route;
use super::shared::ListenerState;
use super::socket_line::SocketLine;
use super::upstream::{self, Came};
use super::{
    AnswerResult, Outgoing, background, background_reader, coding, early_answer, envelope, request,
};
use crate::domain::{self, ModelError};
use crate::model::hosted::Overheard;
use crate::model::http::{CopySender, Passing};
use crate::model::relay::{
    self, Arrival, Caller, Heard, Holds, ListenerNews, Release, RequestListenerEnd,
    RequestSessionEnd, Sending,
};
use crate::net::learn;
use crate::wire::{AddressFacts, AnswerForm, IncomingRequest, WireFormat, chat};

/// Bytes of a refusal that are searched for a field that was added here.
const REFUSAL: usize = 64 * 1024;

/// A request with its whole body.
pub struct AgentRequest {
    pub format: WireFormat,
    pub route: Route,
    /// The headers to send on.
    pub headers: HeaderMap,
    /// The body as it came.
    pub body: Bytes,
    /// The websocket that it came on; `None`: it is a request of HTTP.
    pub socket: Option<SocketLine>,
}

/// A request that passes unread.
pub struct Unread {
    pub body: Bytes,
    /// The reason, for people.
    pub why: String,
}

/// A request that was read.
pub struct DecodedRequest {
    request: AgentRequest,
    /// The body, unpacked.
    text: Bytes,
    asked: IncomingRequest,
    /// The form in which the answer is to come.
    form: AnswerForm,
}

impl AgentRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// The request was not understood.
    pub fn read(self, recent: &Recent) -> Result<DecodedRequest, Unread> {
        let unread = |body: &Bytes, why: String| Unread { body: body.clone(), why };
        let text = if self.headers.contains_key(CONTENT_ENCODING) {
            match coding::unpacked(&self.headers, &self.body) {
                Ok(text) => text.into(),
                Err(why) => return Err(unread(&self.body, why.to_string())),
            }
        } else {
            self.body.clone()
        };
        let AddressFacts { model, form, envelope } = &self.route.facts;
        let text = match envelope.map(|envelope| envelope.request(&text)) {
            Some(Err(why)) => return Err(unread(&self.body, why.to_string())),
            Some(Ok(Cow::Owned(inside))) => inside.into(),
            Some(Ok(Cow::Borrowed(_))) | None => text,
        };
        match recent.read(self.format, &text) {
            Ok(mut asked) => {
                asked.model = model.clone().unwrap_or(asked.model);
                let streamed = self.format.codec().streamed;
                let told = if asked.streams { streamed } else { AnswerForm::Whole };
                let form = form.unwrap_or(told);
                asked.streams = form.streams();
                Ok(DecodedRequest { request: self, text, asked, form })
            }
            Err(why) => Err(unread(&self.body, why.to_string())),
        }
    }
}

impl DecodedRequest {
    /// Hides the keys in its fields, as those of its headers.
    pub fn hide_keys(&self) {
        learn::body(&self.text, &self.asked.list);
    }
}

/// A request on its way, with its sender.
pub struct Exchange {
    shared: Rc<ListenerState>,
    read: DecodedRequest,
    caller: Caller,
    /// The ends of the request's way.
    ends: (RequestSessionEnd, RequestListenerEnd),
    pub asker: Asker,
    /// The hash that identifies the request.
    pub question: u64,
    /// The envelope of its answers, which the client expects.
    pub envelope: Option<AnswerEnvelope>,
}

impl Exchange {
    /// `session` is from the path of the request; `all` are its own headers.
    pub fn new(
        shared: &Rc<ListenerState>,
        read: DecodedRequest,
        session: Option<String>,
        all: &HeaderMap,
    ) -> Self {
        let DecodedRequest { request, text, asked, form } = &read;
        let envelope = request.route.facts.envelope;
        let mut caller = request::caller(all, session, request.route.endpoint.clone(), text);
        caller.fixed = envelope::fixed(all, envelope);
        shared.written.set(shared.written.get() + 1);
        let (mut way, line) = relay::way();
        let question = early_answer::question(request.route.url.as_str(), text);
        let asker = Asker {
            format: request.format,
            form: *form,
            model: asked.model.clone(),
            number: shared.written.get(),
            hides_usage: request.format == WireFormat::Chat
                && asked.streams
                && !(shared.upstreams.openai_is_usual && request::would_ask_for_usage(all, text))
                && chat::asking_for_usage(text).is_some(),
            counts_events: request::counts_events(all),
            patience: Patience::of(caller.patience, shared.kept.waited(question), asked.streams),
            is_silent: Arc::clone(&line.is_silent),
        };
        way.name_own(asker.id());
        let (shared, ends) = (Rc::clone(shared), (way, line));
        let envelope = envelope.map(AnswerEnvelope::new);
        Self { shared, read, caller, ends, asker, question, envelope }
    }

    /// Shows the request to the session, and carries out its decision.
    ///
    /// # Errors
    /// No session accepts it.
    pub async fn run(self, waiting: &Waiting) -> Result<AnswerResult, Unread> {
        let Self { shared, read, caller, ends: (way, line), asker, envelope, .. } = self;
        let is_fixed = caller.fixed.is_some();
        let DecodedRequest { request, text, asked, .. } = read;
        let not_taken = |body| Err(Unread { body, why: "no session took it".to_owned() });
        let read = asked.request.clone();
        let arrival = Arrival { format: request.format, asked, body: text.clone(), caller, way };
        if shared.news.send(ListenerNews::Arrived(Box::new(arrival))).is_err() {
            return not_taken(request.body);
        }
        let on = On { shared, request, text, read, asker, envelope, is_fixed };
        let mut line = line;
        loop {
            let RequestListenerEnd { sending, heard, release, .. } = line;
            line = match waiting.during(sending).await {
                Ok(Sending::On { body, holds, pace }) => {
                    match on.send(body, heard, (release, holds, pace), waiting).await {
                        ControlFlow::Break(answered) => return Ok(answered),
                        ControlFlow::Continue(next) => next,
                    }
                }
                Ok(Sending::Instead(said)) => return Ok(on.asker.answer(&said)),
                Ok(Sending::Recorded { said, answer, calls }) => {
                    let recorded = on.asker.recorded(&answer, calls.as_deref());
                    return Ok(recorded.map_or_else(|| on.asker.answer(&said), Ok));
                }
                Err(_) => return not_taken(on.request.body),
            };
        }
    }
}

/// A request that goes to its endpoint.
struct On {
    shared: Rc<ListenerState>,
    request: AgentRequest,
    text: Bytes,
    /// The request as read from the text.
    read: domain::Request,
    asker: Asker,
    envelope: Option<AnswerEnvelope>,
    /// Whether it must go on as it came.
    is_fixed: bool,
}

/// Result of sending a request.
struct Sent {
    came: Result<Came, ModelError>,
    copy: CopySender,
    hides_usage: bool,
}

impl On {
    /// Sends a body in the request's place, and the answer back; or returns the channels of yet another request.
    async fn send(
        &self,
        body: Bytes,
        heard: UnboundedSender<Heard>,
        (mut release, holds, pace): (oneshot::Receiver<Release>, Holds, Option<Duration>),
        waiting: &Waiting,
    ) -> ControlFlow<AnswerResult, RequestListenerEnd> {
        let overheard = self.overheard();
        let body = if self.is_fixed { self.text.clone() } else { body };
        let Sent { mut came, copy, hides_usage } = self.metered(&body, &overheard, &heard).await;
        let format = self.asker.format;
        let begun = match &mut came {
            Ok(came) => background::begun(format, &body, came).await,
            Err(_) => None,
        };
        if let Some((id, is_asked_for)) = begun {
            let answer = Rc::new(BackgroundAnswer {
                url: format!("{}/{id}", background::address(&self.request.route.url)),
                overheard: overheard.clone(),
                asker: self.asker.clone(),
                read: self.read.clone(),
                holds,
                heard,
                release: background::shared(release),
            });
            self.shared.background.add(&answer);
            release = answer.release();
            match came {
                Ok(queued) if is_asked_for => return ControlFlow::Break(Ok(passed(queued))),
                other => came = other,
            }
        } else {
            // From now on the session gets only the copies.
            drop(heard);
        }
        let holds_all = holds == Holds::All || !self.asker.form.streams();
        let Self { asker, request, .. } = self;
        ControlFlow::Break(match came {
            Ok(came) => {
                // A body that comes at once need not be sent in pieces, but a packed one can be long.
                let is_short = came.status.is_success()
                    && came.headers.contains_key(CONTENT_LENGTH)
                    && !came.headers.contains_key(CONTENT_ENCODING);
                let asker = asker.clone();
                let pump = Pump::new(came, (overheard, asker), copy, release, hides_usage);
                if holds_all || is_short {
                    return pump.held(waiting).await;
                } else {
                    Ok(pump.flow(holds, pace))
                }
            }
            Err(error) => {
                let text = error.text.clone();
                copy.send(Passing::Failed(error));
                match if holds_all { waiting.during(release).await.ok() } else { None } {
                    Some(Release::Instead(said)) => asker.answer(&said),
                    // Only an answer has calls, after which another request may follow.
                    Some(Release::AsCame | Release::Calls(_) | Release::Again(_)) | None => {
                        Ok(unreached(asker.format, &request.route.host, &text))
                    }
                }
            }
        })
    }

    fn overheard(&self) -> Overheard {
        let (route, model) = (&self.request.route, &self.asker.model);
        Overheard {
            format: self.asker.format,
            host: route.host.clone(),
            model: model.clone(),
            source: format!("{model} at {}", route.endpoint),
        }
    }

    /// Sends the body, and requests the usage of a stream. An endpoint that refuses this gets the original body.
    async fn metered(
        &self,
        body: &Bytes,
        overheard: &Overheard,
        heard: &UnboundedSender<Heard>,
    ) -> Sent {
        let endpoint = &self.request.route.endpoint;
        let is_metered = self.asker.format == WireFormat::Chat
            && self.asker.form.streams()
            && !self.shared.unmetered.borrow().contains(endpoint);
        let asking = is_metered.then(|| chat::asking_for_usage(body)).flatten();
        let known = (*body == self.text).then(|| self.read.clone());
        if let Some(asking) = asking {
            let asking = Bytes::from(asking);
            let mut sent = self.attempt(&asking, known.clone(), overheard, heard).await;
            let is_refused = match &mut sent.came {
                Ok(came) if came.status == StatusCode::BAD_REQUEST => {
                    let said = came.look(REFUSAL).await;
                    String::from_utf8_lossy(&said).contains("stream_options")
                }
                Ok(_) | Err(_) => false,
            };
            if !is_refused {
                return Sent { hides_usage: self.asker.hides_usage, ..sent };
            }
            self.shared.unmetered.borrow_mut().insert(endpoint.clone());
        }
        self.attempt(body, known, overheard, heard).await
    }

    /// Sends a body, which reads as the `known` request.
    async fn attempt(
        &self,
        body: &Bytes,
        known: Option<domain::Request>,
        overheard: &Overheard,
        heard: &UnboundedSender<Heard>,
    ) -> Sent {
        let AgentRequest { route, headers, body: own, .. } = &self.request;
        let is_same = *body == self.text;
        // Read later, since reading would delay the request.
        let hear =
            || background_reader::hear(overheard.clone(), body.clone(), known, heard.clone());
        let mut headers = match is_same {
            true => headers.clone(),
            false => upstream::with_length(headers.clone(), body.len()),
        };
        if !envelope::is_signed(&headers) {
            coding::accept_readable(&mut headers, self.asker.form.streams());
        }
        let sent = if is_same { own.clone() } else { body.clone() };
        let to = (Method::POST, route.url.clone());
        let came = match (&self.request.socket, &self.shared.clients) {
            (Some(line), _) => Ok(line.send(sent)),
            (None, Ok(clients)) => upstream::send(clients, to, headers, Some(sent.into())).await,
            (None, Err(why)) => {
                return Sent { came: Err(no_client(why)), copy: hear(), hides_usage: false };
            }
        };
        let came = match (came, &self.envelope) {
            (Ok(came), Some(envelope)) => Ok(envelope.open(came).await),
            (came, _) => came.map(Came::from).map_err(|error| error.told(overheard)),
        };
        Sent { came, copy: hear(), hides_usage: false }
    }
}

fn no_client(why: &str) -> ModelError {
    ModelError::new(crate::domain::ModelErrorKind::Connection, why)
}

/// The answer if an endpoint cannot be reached.
pub fn unreached(format: WireFormat, host: &str, why: &str) -> Response<Outgoing> {
    refusal(format, 502, &format!("toolyard could not reach {host}: {why}"))
}
