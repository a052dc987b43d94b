//! Messages of HTTP as a plain reader understands them, for comparisons with what a proxy made of the same bytes.

/// A request or an answer, which may be damaged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Raw {
    /// The request line or the status line.
    pub first: Vec<u8>,
    /// Names in lower case. Values of one name stand together, as maps of headers keep them.
    pub headers: Vec<(Vec<u8>, Vec<u8>)>,
    /// Without the frames of chunks.
    pub body: Vec<u8>,
    /// Whether the body has its end.
    pub is_whole: bool,
    /// The bytes that it takes.
    pub length: usize,
}

/// Headers that belong to one connection, or that the proxy sets for its own.
const OF_CONNECTION: [&[u8]; 16] = [
    b"accept-encoding",
    b"connection",
    b"content-length",
    b"date",
    b"expect",
    b"host",
    b"http2-settings",
    b"keep-alive",
    b"proxy-authenticate",
    b"proxy-authorization",
    b"proxy-connection",
    b"te",
    b"trailer",
    b"transfer-encoding",
    b"upgrade",
    b"x-toolyard-session",
];

impl Raw {
    /// The first message of these bytes; `None`: its head has no end. `is_over`: no more bytes come, so that an answer of
    /// unknown length is whole.
    pub fn read(bytes: &[u8], is_answer: bool, is_over: bool) -> Option<Self> {
        let start = bytes.iter().position(|byte| !b"\r\n".contains(byte))?;
        let mut raw = Self { length: start, ..Self::default() };
        let mut lines = Vec::new();
        loop {
            let rest = &bytes[raw.length..];
            let end = rest.iter().position(|byte| *byte == b'\n')?;
            raw.length += end + 1;
            match rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]) {
                b"" => break,
                line => lines.push(line),
            }
        }
        raw.first = lines[0].to_vec();
        for line in &lines[1..] {
            let at = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
            let name = line[..at].to_ascii_lowercase();
            let value = line.get(at + 1..).unwrap_or_default().trim_ascii().to_vec();
            let last = raw.headers.iter().rposition(|(other, _)| *other == name);
            raw.headers.insert(last.map_or(raw.headers.len(), |last| last + 1), (name, value));
        }
        let rest = &bytes[raw.length..];
        let is_coding = |(name, _): &&(Vec<u8>, Vec<u8>)| name == b"transfer-encoding";
        let coding =
            raw.headers.iter().rfind(is_coding).map(|(_, value)| value.to_ascii_lowercase());
        let last =
            coding.as_deref().and_then(|codings| codings.rsplit(|byte| *byte == b',').next());
        let is_chunked = last.is_some_and(|coding| coding.trim_ascii() == b"chunked");
        let length = raw.header("content-length").map(<[u8]>::to_vec);
        let taken = if is_chunked {
            raw.unchunk(rest)
        } else if let Some(length) = length.filter(|_| coding.is_none()) {
            let length = std::str::from_utf8(&length).ok().and_then(|text| text.parse().ok());
            let length = length.unwrap_or(usize::MAX);
            raw.is_whole = rest.len() >= length;
            raw.body = rest[..length.min(rest.len())].to_vec();
            raw.body.len()
        } else {
            raw.is_whole = !is_answer || is_over || raw.has_no_body();
            raw.body = if is_answer && !raw.has_no_body() { rest.to_vec() } else { Vec::new() };
            raw.body.len()
        };
        raw.length += taken;
        Some(raw)
    }

    /// All whole messages of these bytes, one after the other.
    pub fn requests(mut bytes: &[u8]) -> Vec<Self> {
        let mut all = Vec::new();
        while let Some(raw) = Self::read(bytes, false, true).filter(|raw| raw.is_whole) {
            bytes = &bytes[raw.length..];
            all.push(raw);
        }
        all
    }

    fn has_no_body(&self) -> bool {
        [&b"1"[..], b"204", b"304"].iter().any(|code| self.status().starts_with(code))
    }

    /// Takes chunks off these bytes; returns how many bytes they are.
    fn unchunk(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        loop {
            let Some(end) = bytes[at..].windows(2).position(|it| it == b"\r\n") else { return at };
            let line = &bytes[at..at + end];
            let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
            let digits = std::str::from_utf8(digits.trim_ascii()).unwrap_or_default();
            let Ok(length) = usize::from_str_radix(digits, 16) else { return at };
            let begin = at + end + 2;
            if length == 0 {
                let trailers = &bytes[begin - 2..];
                let last = trailers.windows(4).position(|it| it == b"\r\n\r\n");
                self.is_whole = last.is_some();
                return last.map_or(bytes.len(), |last| begin + 2 + last);
            }
            let stop = begin.saturating_add(length).min(bytes.len());
            self.body.extend_from_slice(&bytes[begin..stop]);
            let after = &bytes[stop..];
            if after.len() < 2 || !after.starts_with(b"\r\n") {
                return bytes.len();
            }
            at = stop + 2;
        }
    }

    pub fn header(&self, name: &str) -> Option<&[u8]> {
        let of_name = self.headers.iter().find(|(other, _)| other == name.as_bytes());
        of_name.map(|(_, value)| value.as_slice())
    }

    /// The second word of a status line.
    pub fn status(&self) -> &[u8] {
        self.first.split(|byte| *byte == b' ').nth(1).unwrap_or_default()
    }

    /// Method and path of a request. What an address may not have is escaped, as on the way.
    pub fn asked(&self) -> Vec<u8> {
        let end = self.first.iter().rposition(|byte| *byte == b' ').unwrap_or(self.first.len());
        let escaped = |byte: &u8| match byte {
            b'{' | b'}' | b'"' | b'<' | b'>' | b'`' | b'\'' | b'^' | b'|' => {
                format!("%{byte:02X}").into_bytes()
            }
            byte => vec![*byte],
        };
        self.first[..end].iter().flat_map(escaped).collect()
    }

    /// The headers that pass a proxy.
    pub fn passing(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let connection = self.headers.iter().filter(|(name, _)| name == b"connection");
        let named: Vec<Vec<u8>> = connection
            .flat_map(|(_, value)| value.split(|byte| *byte == b','))
            .map(|name| name.trim_ascii().to_ascii_lowercase())
            .collect();
        let passes = |name: &Vec<u8>| !OF_CONNECTION.contains(&&name[..]) && !named.contains(name);
        self.headers.iter().filter(|(name, _)| passes(name)).cloned().collect()
    }
}

/// The text of a body in one of these codings; `None`: it is damaged, or the coding is another one.
pub fn unpacked(coding: &[u8], body: &[u8]) -> Option<Vec<u8>> {
    use miniz_oxide::inflate::{decompress_to_vec, decompress_to_vec_zlib};
    match coding {
        // Head and end as `gzip` below writes them.
        b"gzip" if body.starts_with(&GZIP) => decompress_to_vec(&body[GZIP.len()..]).ok(),
        b"deflate" => decompress_to_vec_zlib(body).ok(),
        _ => None,
    }
}

const GZIP: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];

pub fn packed(coding: &str, text: &[u8]) -> Vec<u8> {
    use miniz_oxide::deflate::{compress_to_vec, compress_to_vec_zlib};
    match coding {
        // Nobody looks at the sum behind it.
        "gzip" => [&GZIP[..], &compress_to_vec(text, 6), &[0; 8]].concat(),
        _ => compress_to_vec_zlib(text, 6),
    }
}
