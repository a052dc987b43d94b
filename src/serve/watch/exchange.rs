//! One request that was understood: the session sees it, decides what becomes of it, and hears its answer.

use std::rc::Rc;

use bytes::Bytes;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use hyper::{HeaderMap, Method, Response, StatusCode};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::answer::Pump;
use super::in_place::{Asker, refusal};
use super::route::Route;
use super::shared::Shared;
use super::upstream::{self, Came};
use super::{Answered, Outgoing, coding, hearing, request};
use crate::domain::ModelError;
use crate::model::hosted::Overheard;
use crate::model::http::Passing;
use crate::model::relay::{self, Arrival, Heard, Holds, Line, News, Release, Sending};
use crate::wire::{Asked, Format, chat};

/// Bytes of a refusal that are searched for a field that we have added.
const REFUSAL: usize = 64 * 1024;

/// A request with its whole body.
pub struct Request {
    pub format: Format,
    pub route: Route,
    /// The headers that go on.
    pub headers: HeaderMap,
    /// The body as it came.
    pub body: Bytes,
}

/// A request that goes on unread.
pub struct Unread {
    pub body: Bytes,
    /// Why, for people.
    pub why: String,
}

/// A request that was read.
pub struct Read {
    request: Request,
    /// The body, unpacked.
    text: Bytes,
    asked: Asked,
}

impl Request {
    /// Reads the body.
    ///
    /// # Errors
    /// The request was not understood.
    pub fn read(self) -> Result<Read, Unread> {
        let unread = |body: &Bytes, why: String| Unread { body: body.clone(), why };
        let text = if self.headers.contains_key(CONTENT_ENCODING) {
            match coding::unpacked(&self.headers, &self.body) {
                Ok(text) => text.into(),
                Err(why) => return Err(unread(&self.body, why.to_string())),
            }
        } else {
            self.body.clone()
        };
        match self.format.read_request(&text) {
            Ok(asked) => Ok(Read { request: self, text, asked }),
            Err(why) => Err(unread(&self.body, why.to_string())),
        }
    }
}

/// Shows a request to the session, and does what that says. `session` is from its path; `all` are its own headers.
///
/// # Errors
/// No session takes it.
pub async fn exchange(
    shared: &Rc<Shared>,
    read: Read,
    session: Option<String>,
    all: &HeaderMap,
) -> Result<Answered, Unread> {
    let Read { request, text, asked } = read;
    let endpoint = request.route.endpoint.clone();
    let caller = request::caller(all, session, endpoint, &text);
    shared.written.set(shared.written.get() + 1);
    let asker = Asker {
        format: request.format,
        streams: asked.streams,
        model: asked.model.clone(),
        number: shared.written.get(),
        hides_usage: request.format == Format::Chat
            && asked.streams
            && chat::asking_for_usage(&text).is_some(),
    };
    let not_taken = |body| Err(Unread { body, why: "no session took it".to_owned() });
    let (mut way, line) = relay::way();
    way.name_own(asker.id());
    let arrival = Arrival { format: request.format, asked, body: text.clone(), caller, way };
    if shared.news.send(News::Arrived(Box::new(arrival))).is_err() {
        return not_taken(request.body);
    }
    let Line { sending, heard, release } = line;
    match sending.await {
        Ok(Sending::On { body, holds }) => {
            let on = On { shared: Rc::clone(shared), request, text, asker };
            Ok(on.send(body, heard, release, holds).await)
        }
        Ok(Sending::Instead(said)) => Ok(asker.answer(&said)),
        Err(_) => not_taken(request.body),
    }
}

/// A request that goes to its endpoint.
struct On {
    shared: Rc<Shared>,
    request: Request,
    text: Bytes,
    asker: Asker,
}

/// What comes of sending a request.
struct Sent {
    came: Result<Came, ModelError>,
    copy: UnboundedSender<Passing>,
    hides_usage: bool,
}

impl On {
    async fn send(
        self,
        body: Bytes,
        heard: UnboundedSender<Heard>,
        release: oneshot::Receiver<Release>,
        holds: Holds,
    ) -> Answered {
        let overheard = self.overheard();
        let Sent { came, copy, hides_usage } = self.metered(&body, &overheard, &heard).await;
        // What the copies tell is all that the session hears from now on.
        drop(heard);
        match came {
            Ok(came) => {
                let pump = Pump::new(came, overheard, copy, release, hides_usage);
                if holds == Holds::All { pump.held(&self.asker).await } else { Ok(pump.flow()) }
            }
            Err(error) => {
                let text = error.text.clone();
                let _ = copy.send(Passing::Failed(error));
                match if holds == Holds::All { release.await.ok() } else { None } {
                    Some(Release::Instead(said)) => self.asker.answer(&said),
                    Some(Release::AsCame | Release::Calls(_)) | None => {
                        Ok(unreached(self.asker.format, &self.request.route.host, &text))
                    }
                }
            }
        }
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

    /// Sends the body, and asks for the usage of a stream. An endpoint that refuses to be asked gets the body as it was.
    async fn metered(
        &self,
        body: &Bytes,
        overheard: &Overheard,
        heard: &UnboundedSender<Heard>,
    ) -> Sent {
        let endpoint = &self.request.route.endpoint;
        let is_metered = self.asker.format == Format::Chat
            && self.asker.streams
            && !self.shared.unmetered.borrow().contains(endpoint);
        let asking = is_metered.then(|| chat::asking_for_usage(body)).flatten();
        if let Some(asking) = asking {
            let asking = Bytes::from(asking);
            let mut sent = self.attempt(&asking, overheard, heard).await;
            let is_refused = match &mut sent.came {
                Ok(came) if came.status == StatusCode::BAD_REQUEST => {
                    let said = came.look(REFUSAL).await;
                    String::from_utf8_lossy(&said).contains("stream_options")
                }
                Ok(_) | Err(_) => false,
            };
            if !is_refused {
                return Sent { hides_usage: true, ..sent };
            }
            self.shared.unmetered.borrow_mut().insert(endpoint.clone());
        }
        self.attempt(body, overheard, heard).await
    }

    async fn attempt(
        &self,
        body: &Bytes,
        overheard: &Overheard,
        heard: &UnboundedSender<Heard>,
    ) -> Sent {
        let Request { route, headers, body: own, .. } = &self.request;
        let is_same = *body == self.text;
        let mut headers = match is_same {
            true => headers.clone(),
            false => upstream::with_length(headers.clone(), body.len()),
        };
        if let Some(readable) = coding::readable(&headers) {
            headers.insert(ACCEPT_ENCODING, readable);
        }
        let sent = if is_same { own.clone() } else { body.clone() };
        let copy = hearing::hear(overheard.clone(), body.clone(), heard.clone());
        let to = (Method::POST, route.url.clone());
        let came = match &self.shared.clients {
            Ok(clients) => upstream::send(clients, to, headers, Some(sent.into())).await,
            Err(why) => return Sent { came: Err(no_client(why)), copy, hides_usage: false },
        };
        let came = came.map(Came::from).map_err(|error| overheard.failed(error));
        Sent { came, copy, hides_usage: false }
    }
}

fn no_client(why: &str) -> ModelError {
    ModelError::new(crate::domain::ModelErrorKind::Connection, why)
}

/// The answer of an endpoint that cannot be reached.
pub fn unreached(format: Format, host: &str, why: &str) -> Response<Outgoing> {
    refusal(format, 502, &format!("toolyard could not reach {host}: {why}"))
}
