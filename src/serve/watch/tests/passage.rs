//! Tests that requests and answers pass unchanged.

use super::endpoint::{EndpointStep, coded, stream, whole};
use super::session::SessionStub;
use super::*;
use crate::domain::{ModelErrorKind, Reply, Usage};
use crate::model::relay::Sending;
use crate::net::known;
use crate::watch::coding::gzip;

#[test]
fn requests_and_answers_are_the_same_with_and_without_the_listener() {
    for (format, streams) in
        WireFormat::ALL.into_iter().flat_map(|format| [(format, true), (format, false)])
    {
        let kind = if streams { "text/event-stream" } else { "application/json" };
        let endpoint = Endpoint::answering(whole("200 OK", kind, answer(format, streams)));
        let body = body(format, streams);
        let direct = Agent::at(endpoint.address).post(path(format, streams), body.as_bytes()).got();
        let asked = endpoint.asked();
        let mut yard = Yard::before(endpoint.address);
        let mut agent = yard.agent();
        agent.post(path(format, streams), body.as_bytes());
        let arrival = yard.arrival();
        assert_eq!((arrival.format, &arrival.body[..]), (format, body.as_bytes()));
        assert!(arrival.caller.endpoint.starts_with("127.0.0.1:"));
        let session = SessionStub::new(arrival);
        session.release(Release::AsCame);
        assert_eq!(agent.got(), direct, "{format} {streams}");
        assert_eq!(endpoint.asked(), asked, "{format} {streams}");
        let (text, sent, ended) = session.ended();
        let reply = ended.unwrap();
        assert_eq!((reply.text.as_str(), reply.usage.estimated), ("Hello.", false), "{format}");
        assert_eq!(text, "Hello.");
        assert!(sent.unwrap().contains(r#""hologram":[1.00]"#));
        assert_eq!(yard.listener.requests(), 1);
    }
}

#[test]
fn a_changed_body_goes_on_with_its_own_length() {
    let endpoint = Endpoint::answering(whole(
        "200 OK",
        "application/json",
        answer(WireFormat::Responses, false),
    ));
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    agent.post("/v1/responses", body(WireFormat::Responses, false).as_bytes());
    let changed = r#"{"input":"other","model":"m"}"#;
    let session = SessionStub::with(yard.arrival(), Holds::Calls, Some(changed));
    session.release(Release::AsCame);
    assert_eq!(agent.got().status(), 200);
    assert_eq!(endpoint.asked().text(), changed);
    assert_eq!(session.ended().1.as_deref(), Some(changed));
}

#[test]
fn chunks_go_on_as_they_come() {
    let chunks = [
        "data: {\"choices\":[{\"delta\":{\"content\":\"one\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"two\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    ];
    let parts = stream(&chunks);
    let endpoint = Endpoint::new(move |_| {
        parts
            .iter()
            .flat_map(|part| [EndpointStep::Write(part.clone()), EndpointStep::Wait])
            .collect()
    });
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    agent.post(path(WireFormat::Chat, true), body(WireFormat::Chat, true).as_bytes());
    let session = SessionStub::new(yard.arrival());
    assert_eq!(agent.head()[0], "HTTP/1.1 200 OK");
    for (chunk, text) in chunks.iter().zip(["one", "two"]) {
        endpoint.go();
        assert_eq!(agent.chunk().unwrap(), chunk.as_bytes());
        assert_eq!(session.text(), text);
    }
    // The answer is complete; the connection may stay open.
    assert_eq!(session.ended().2.unwrap().text, "onetwo");
    endpoint.go();
    assert_eq!(agent.chunk().unwrap(), b"");
}

#[test]
fn usage_is_asked_for_and_only_the_session_sees_it() {
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":3}}"#;
    let text =
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    let all = format!("{text}data: {usage}\n\ndata: [DONE]\n\n");
    let plain = whole("200 OK", "text/event-stream", &all);
    let packed =
        coded("200 OK", "text/event-stream", "content-encoding: gzip\r\n", &gzip(all.as_bytes()));
    for (answer, holds) in
        [Holds::Calls, Holds::All].map(|holds| [(&plain, holds), (&packed, holds)]).concat()
    {
        let endpoint = Endpoint::answering(answer.clone());
        let mut yard = Yard::before(endpoint.address);
        let mut agent = yard.agent();
        let asking = r#"{"messages":[],"model":"m","stream":true}"#;
        agent.post(path(WireFormat::Chat, true), asking.as_bytes());
        let session = SessionStub::with(yard.arrival(), holds, None);
        let asked = endpoint.asked().text();
        assert_eq!(asked, asking.replacen('{', r#"{"stream_options":{"include_usage":true},"#, 1));
        let usage = session.ended().2.unwrap().usage;
        assert_eq!(usage, Usage { tokens_in: 11, tokens_out: 3, ..Usage::default() });
        session.release(Release::AsCame);
        let got = agent.got();
        assert_eq!((got.text(), got.is_whole), (format!("{text}data: [DONE]\n\n"), true));
        assert!(!got.has("content-encoding: gzip"));
    }
}

#[test]
fn an_endpoint_that_refuses_to_be_asked_gets_the_request_as_it_was() {
    let refusal = r#"{"error":{"message":"Unknown field stream_options"}}"#;
    let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let endpoint = Endpoint::new(move |asked| {
        vec![EndpointStep::Write(match asked.text().contains("stream_options") {
            true => whole("400 Bad Request", "application/json", refusal),
            false => whole("200 OK", "text/event-stream", stream),
        })]
    });
    let mut yard = Yard::before(endpoint.address);
    let asking = r#"{"messages":[],"model":"m","stream":true}"#;
    for attempts in [2, 1] {
        let mut agent = yard.agent();
        agent.post(path(WireFormat::Chat, true), asking.as_bytes());
        let session = SessionStub::new(yard.arrival());
        session.release(Release::AsCame);
        assert_eq!(agent.got().text(), stream);
        assert_eq!(session.ended().2.unwrap().text, "Hi");
        let asked: Vec<_> = (0..attempts).map(|_| endpoint.asked().text()).collect();
        assert_eq!(asked.last().unwrap(), asking);
        assert!(endpoint.was_not_asked());
    }
}

#[test]
fn compressed_documents_pass_as_they_are_and_streams_are_unpacked() {
    for (format, streams) in
        WireFormat::ALL.into_iter().flat_map(|format| [(format, true), (format, false)])
    {
        let packed = gzip(answer(format, streams).as_bytes());
        let kind = if streams { "text/event-stream" } else { "application/json" };
        let endpoint =
            Endpoint::answering(coded("200 OK", kind, "content-encoding: gzip\r\n", &packed));
        let mut yard = Yard::before(endpoint.address);
        let mut agent = yard.agent();
        let more = "accept-encoding: br, gzip\r\n";
        agent.request("POST", path(format, streams), more, body(format, streams).as_bytes());
        let session = SessionStub::new(yard.arrival());
        session.release(Release::AsCame);
        let got = agent.got();
        let expected = if streams { answer(format, streams).into_bytes() } else { packed };
        assert!(got.body == expected, "{format} {streams}");
        assert_eq!(got.has("content-encoding: gzip"), !streams);
        assert_eq!(session.ended().2.unwrap().text, "Hello.", "{format} {streams}");
        let accepted = if streams { "identity" } else { "gzip" };
        assert!(endpoint.asked().head.contains(&format!("accept-encoding: {accepted}")));
    }
}

#[test]
fn a_damaged_compressed_stream_breaks_and_no_compressed_byte_follows_its_text() {
    let format = WireFormat::Chat;
    let text = answer(format, true);
    let packed = gzip(text.as_bytes());
    let cut = packed[..packed.len() - 12].to_vec();
    let mut damaged = packed.clone();
    let half = packed.len() / 2;
    damaged[half..].fill(0xff);
    for holds in [Holds::Calls, Holds::All] {
        for packed in [&cut, &damaged] {
            let more = "content-encoding: gzip\r\n";
            let endpoint = Endpoint::answering(coded("200 OK", "text/event-stream", more, packed));
            let mut yard = Yard::before(endpoint.address);
            let mut agent = yard.agent();
            agent.post(path(format, true), body(format, true).as_bytes());
            let session = SessionStub::with(yard.arrival(), holds, None);
            session.release(Release::AsCame);
            let got = agent.got();
            let is_packed = got.body.windows(8).any(|bytes| bytes == [0xff; 8]);
            assert!(!got.is_whole && !is_packed);
            assert!(packed != &cut || text.as_bytes().starts_with(&got.body));
        }
    }
}

#[test]
fn no_header_is_added_to_a_request() {
    for streams in [true, false] {
        let kind = if streams { "text/event-stream" } else { "application/json" };
        let answer = whole("200 OK", kind, answer(WireFormat::Chat, streams));
        let endpoint = Endpoint::answering(answer);
        let mut yard = Yard::before(endpoint.address);
        let body = body(WireFormat::Chat, streams);
        let length = format!("content-length: {}", body.len());
        let posted = format!("host: localhost\r\nx-a: 1\r\n{length}\r\n\r\n{body}");
        let mut agent = yard.agent();
        for (line, rest, expected) in [
            (
                "POST /v1/chat/completions HTTP/1.1",
                &*posted,
                vec!["x-a: 1".to_owned(), length.clone()],
            ),
            ("POST /v1/embeddings HTTP/1.1", &posted, vec!["x-a: 1".to_owned(), length.clone()]),
            ("GET /v1/models HTTP/1.1", "host: localhost\r\n\r\n", Vec::new()),
        ] {
            agent.write(format!("{line}\r\n{rest}").as_bytes());
            if line.contains("chat") {
                SessionStub::new(yard.arrival()).release(Release::AsCame);
            }
            assert_eq!(agent.got().status(), 200);
            let head = endpoint.asked().head;
            assert_eq!((head[0].as_str(), &head[1..]), (line, &expected[..]));
        }
    }
}

#[test]
fn the_usage_reaches_a_client_that_would_have_asked_for_it_elsewhere() {
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":3}}"#;
    let text =
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    let all = format!("{text}data: {usage}\n\ndata: [DONE]\n\n");
    let without = format!("{text}data: [DONE]\n\n");
    let endpoint = Endpoint::answering(whole("200 OK", "text/event-stream", &all));
    let body = r#"{"model":"m","stream":true,"messages":[{"content":"hi","role":"user"}]}"#;
    let told = "x-stainless-read-timeout: 600\r\n";
    for (openai_is_usual, more, expected) in
        [(true, "", &all), (false, "", &without), (true, told, &without)]
    {
        let mut yard = Yard::with(Upstreams {
            openai: format!("http://{}/v1", endpoint.address),
            openai_is_usual,
            ..Upstreams::default()
        });
        let mut agent = yard.agent();
        agent.request("POST", path(WireFormat::Chat, true), more, body.as_bytes());
        let session = SessionStub::new(yard.arrival());
        session.release(Release::AsCame);
        assert_eq!(agent.got().text(), *expected, "{more}");
        assert!(endpoint.asked().text().contains("include_usage"));
        assert_eq!(session.ended().2.unwrap().usage.tokens_in, 11);
    }
}

#[test]
fn what_is_not_read_passes_unread() {
    let endpoint = Endpoint::answering(whole("201 Created", "text/plain", "done"));
    let mut yard = Yard::before(endpoint.address);
    let coded = "content-encoding: br\r\n";
    for (method, path, more, body, what, why) in [
        ("POST", "/v1/embeddings?x=1", "", "{}", "POST /v1/embeddings", None),
        ("GET", "/v1/responses/r", "", "", "GET /v1/responses/r", None),
        ("DELETE", "/v1/responses/r", "", "", "DELETE /v1/responses/r", None),
        ("POST", "/s/a/v1/messages/count_tokens", "", "{}", "POST /v1/messages/count_tokens", None),
        ("POST", "/v1/chat/completions", "", "{", "POST /v1/chat/completions", Some("not JSON")),
        ("POST", "/v1/responses", coded, "{}", "POST /v1/responses", Some("not understood: br")),
    ] {
        let mut agent = yard.agent();
        agent.request(method, path, more, body.as_bytes());
        let ListenerNews::Passed { what: told, why: reason } = yard.news() else {
            panic!("{what}")
        };
        assert_eq!((told.as_str(), reason.is_some()), (what, why.is_some()), "{reason:?}");
        assert!(why.is_none_or(|why| reason.unwrap().contains(why)), "{what}");
        let got = agent.got();
        assert_eq!((got.status(), got.text().as_str()), (201, "done"), "{what}");
        assert_eq!(endpoint.asked().text(), body, "{what}");
    }
    assert_eq!(yard.listener.requests(), 6);
}

#[test]
fn a_request_that_no_session_takes_passes() {
    let endpoint = Endpoint::answering(whole("200 OK", "application/json", "{}"));
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    agent.post("/v1/responses", body(WireFormat::Responses, false).as_bytes());
    drop(yard.arrival());
    assert_eq!(agent.got().text(), "{}");
    yard.news.close();
    agent.post("/v1/responses", body(WireFormat::Responses, false).as_bytes());
    assert_eq!(agent.got().text(), "{}");
}

#[test]
fn the_sender_is_known_and_its_keys_are_not() {
    let endpoint =
        Endpoint::answering(whole("200 OK", "application/json", answer(WireFormat::Chat, false)));
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    let more = "x-toolyard-session: h\r\nx-stainless-retry-count: 3\r\n";
    let (path, body) = ("/s/mine/v1/chat/completions", body(WireFormat::Chat, false));
    agent.request("POST", path, more, body.as_bytes());
    let arrival = yard.arrival();
    assert_eq!((arrival.caller.session.as_deref(), arrival.caller.retries), (Some("mine"), 3));
    assert_eq!(known::without_known("ag3nt-key-of-tests"), "[key]");
    SessionStub::new(arrival).release(Release::AsCame);
    assert_eq!(agent.got().status(), 200);
    let head = endpoint.asked().head;
    assert_eq!(head[0], "POST /v1/chat/completions HTTP/1.1");
    assert!(!head.iter().any(|line| line.starts_with("x-toolyard")));
}

#[test]
fn the_password_of_an_endpoint_goes_with_requests_that_have_no_authorization() {
    let endpoint = Endpoint::answering(whole("200 OK", "application/json", "{}"));
    let yard = Yard::before_host(&format!("bob:pl4nted%40word@{}", endpoint.address));
    let mut agent = yard.agent();
    agent.write(
        b"GET /t/y4rd/v1/models HTTP/1.1\r\nhost: localhost\r\nx-api-key: ag3nt-key-of-tests\r\n\r\n",
    );
    assert_eq!(agent.got().status(), 200);
    let login = "Basic Ym9iOnBsNG50ZWRAd29yZA==";
    assert!(endpoint.asked().head.contains(&format!("authorization: {login}")));
    agent.request("GET", "/t/y4rd/v1/models", "", b"");
    assert_eq!(agent.got().status(), 200);
    let head = endpoint.asked().head;
    let own = head.iter().filter(|line| line.starts_with("authorization: ")).collect::<Vec<_>>();
    assert_eq!(own, ["authorization: Bearer ag3nt-key-of-tests"]);
    for text in ["pl4nted@word", "pl4nted%40word", &login[6..]] {
        let clean = known::without_known(text);
        assert!(clean.contains("[key]") && clean.len() < 11, "{text}: {clean}");
    }
}

#[test]
fn answers_in_place_of_the_endpoint_s() {
    for (format, streams) in
        WireFormat::ALL.into_iter().flat_map(|format| [(format, true), (format, false)])
    {
        let endpoint = Endpoint::answering(Vec::new());
        let mut yard = Yard::before(endpoint.address);
        let mut agent = yard.agent();
        agent.post(path(format, streams), body(format, streams).as_bytes());
        let reply = Reply::of_text("Made up.");
        assert!(yard.arrival().way.send(Sending::Instead(Ok(reply.into()))));
        let got = agent.got();
        assert!(got.status() == 200 && got.text().contains("Made up."), "{format} {streams}");
        let form = if streams { format.codec().streamed } else { AnswerForm::Whole };
        let kind = form.content_type();
        assert!(got.has(&format!("content-type: {kind}")));
        agent.post(path(format, streams), body(format, streams).as_bytes());
        let error = crate::domain::ModelError::new(ModelErrorKind::RateLimited, "slow down");
        assert!(yard.arrival().way.send(Sending::Instead(Err(error))));
        let got = agent.got();
        assert_eq!((got.status(), got.has("retry-after: 1")), (429, true));
        assert!(got.text().contains("slow down"));
        assert!(endpoint.was_not_asked());
    }
}

#[test]
fn probes_pages_and_websockets_are_answered_here() {
    let endpoint = Endpoint::answering(Vec::new());
    let yard = Yard::before(endpoint.address);
    for (method, path, more, status) in [
        ("GET", "/", "", "200"),
        ("HEAD", "/s/a", "", "200"),
        ("GET", "/v1/chat", "Connection: upgrade\r\nUpgrade: websocket\r\n", "426"),
        ("POST", "/v1/responses", "Origin: http://evil.example\r\n", "403"),
        ("POST", "/v1/responses", "Host: evil.example\r\n", "403"),
    ] {
        let mut agent = yard.agent();
        agent.request(method, path, more, b"");
        assert_eq!(agent.head()[0].split(' ').nth(1), Some(status), "{path}");
    }
    assert!(endpoint.was_not_asked() && yard.listener.requests() == 0);
}
