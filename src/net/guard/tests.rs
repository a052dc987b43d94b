use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::Client;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

fn checked(url: &str) -> Result<(), String> {
    check(&Url::parse(url).unwrap()).map_err(|refused| refused.to_string())
}

#[test]
fn metadata_addresses_are_refused_in_every_spelling() {
    for url in [
        "http://169.254.169.254/latest",
        "http://0xa9fea9fe",
        "http://2852039166",
        "http://0251.0376.0251.0376",
        "http://169.254.0.1",
        "http://[fe80::1]",
        "http://[febf::1]",
        "http://[fd00:ec2::254]",
        "http://100.100.100.200",
        "http://168.63.129.16",
        "http://[::ffff:169.254.169.254]",
        "http://[::a9fe:a9fe]",
        "http://[64:ff9b::a9fe:a9fe]",
        "http://[64:ff9b:1::a9fe:a9fe]",
        "http://[64:ff9b:1:a9fe:a9:fe00::]",
        "http://[2002:a9fe:a9fe::1]",
        "http://metadata.google.internal/computeMetadata",
        "http://METADATA.google.internal./",
        "http://metadata.goog",
    ] {
        let refused = checked(url).unwrap_err();
        assert!(refused.contains("is a link-local or metadata address"), "{url}: {refused}");
    }
}

#[test]
fn addresses_of_nobody_are_refused() {
    for url in [
        "http://0.0.0.0:80",
        "http://0",
        "http://0.1.2.3",
        "http://[::]",
        "http://[::ffff:0.0.0.0]",
        "http://224.0.0.251",
        "http://239.255.255.250",
        "http://[ff02::fb]",
        "http://255.255.255.255",
    ] {
        let refused = checked(url).unwrap_err();
        assert!(refused.ends_with("is an unspecified, multicast or broadcast address"), "{url}");
    }
}

#[test]
fn this_machine_and_private_networks_stay_open() {
    for url in [
        "http://127.0.0.1:1",
        "http://[::1]",
        "http://[::ffff:127.0.0.1]",
        "http://10.0.0.1",
        "http://172.16.0.1",
        "http://192.168.1.1",
        "http://[fd12::1]",
        "http://169.253.0.1",
        "http://localhost",
        "http://metadata.google.internal.example",
        "http://[fec0::1]",
        "http://[64:ff9b::808:808]",
        "http://[64:ff9b:1::808:808]",
        "http://[64:ff9b:1:808:8:800::]",
        "http://[2001:db8::1]",
    ] {
        assert_eq!(checked(url), Ok(()), "{url}");
    }
}

/// A client whose names have these addresses: the first lookup returns the first ones, and so on.
fn resolving(lookups: &'static [&'static [&'static str]]) -> (Client, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let resolver = Checked::by(move |_| {
        let at = counter.fetch_add(1, Ordering::Relaxed).min(lookups.len() - 1);
        let found = lookups[at].iter().map(|text| text.parse().unwrap()).collect();
        Box::pin(async move { Ok(found) })
    });
    let builder = builder(false, Redirects::SameServer).pool_max_idle_per_host(0);
    (builder.dns_resolver(Arc::new(resolver)).build().unwrap(), count)
}

/// The innermost cause of the request's failure.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// A server that gives each connection the next of these answers, and its port.
async fn answering(answers: Vec<String>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            assert!(stream.read(&mut request).await.unwrap() > 0);
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    port
}

fn redirect(to: &str) -> String {
    format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

const DONE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\ndone";

#[tokio::test]
async fn a_name_with_one_refused_address_is_refused_at_the_connection() {
    let (client, _) = resolving(&[&["127.0.0.1:0", "169.254.169.254:0"]]);
    let error = client.get("http://harmless.example/").send().await.unwrap_err();
    assert!(
        cause(&error).starts_with("harmless.example is not called: 169.254.169.254 is a"),
        "{error:?}"
    );
    let (client, _) = resolving(&[&["127.0.0.1:0"]]);
    let error = client.get("http://metadata.google.internal/").send().await.unwrap_err();
    assert!(cause(&error).starts_with("metadata.google.internal is not called: "), "{error:?}");
}

/// A name server that answers differently the second time has no effect: each connection has one lookup, and its
/// addresses are the checked ones.
#[tokio::test]
async fn the_checked_address_is_the_one_that_is_connected_to() {
    let (client, count) = resolving(&[&["127.0.0.1:0"], &["169.254.169.254:0"]]);
    let port = answering(vec![redirect("/next"), DONE.to_owned()]).await;
    let url = format!("http://rebinding.example:{port}/");
    let error = client.get(&url).send().await.unwrap_err();
    assert!(cause(&error).starts_with("rebinding.example is not called: 169.254"), "{error:?}");
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_redirect_stays_at_its_server() {
    let (client, _) = resolving(&[&["127.0.0.1:0"]]);
    let port = answering(vec![redirect("/next"), DONE.to_owned()]).await;
    let response = client.get(format!("http://own.example:{port}/")).send().await.unwrap();
    assert_eq!((response.url().path(), response.status().as_u16()), ("/next", 200));
    for (to, why) in [
        ("http://169.254.169.254/latest", "it redirects to another server, 169.254.169.254"),
        ("http://other.example/", "it redirects to another server, other.example"),
    ] {
        let port = answering(vec![redirect(to)]).await;
        let error = client.get(format!("http://own.example:{port}/")).send().await.unwrap_err();
        assert_eq!(cause(&error), why);
    }
    let port = answering(vec![redirect("/again"); REDIRECTS + 1]).await;
    let error = client.get(format!("http://own.example:{port}/")).send().await.unwrap_err();
    assert_eq!(cause(&error), "more than 5 redirects");
}
