//! Finds the entry of a price table for a configured model.
//!
//! The same model has different prices at different providers, and the table's names are only half
//! of the key: `gpt-4o` is OpenAI's, `azure/gpt-4o` is Azure's. So the provider matters. The
//! configuration names it, or a well-known address does; then only that provider's entries count.
//! For other addresses a price is a list price: what the model costs where it is sold under this name. A
//! configured model on this machine or in a private network has none: it is paid for in another way, even
//! if a provider sells a model of the same name. If a local server only forwards requests, the
//! configuration can name the provider. A watched agent says no provider, and often asks a gateway, so its
//! models have list prices there too; only ports at which nothing but local models listens are free.
//!
//! A list price counts only for a name that one seller has: with the seller's name before it, or a name of a
//! model's own author. So `qwen3` or `openai/gpt-oss-20b`, which anybody runs, have none.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

use super::{ModelPrice, PriceTable};

/// Well-known hosts, or their suffixes, and LiteLLM's name for the provider.
const HOSTS: [(&str, &str); 36] = [
    ("ai-gateway.vercel.sh", "vercel_ai_gateway"),
    ("amazonaws.com", "bedrock"),
    ("api.ai21.com", "ai21"),
    ("api.anthropic.com", "anthropic"),
    ("api.cerebras.ai", "cerebras"),
    ("api.cohere.ai", "cohere"),
    ("api.cohere.com", "cohere"),
    ("api.deepinfra.com", "deepinfra"),
    ("api.deepseek.com", "deepseek"),
    ("api.fireworks.ai", "fireworks_ai"),
    ("api.groq.com", "groq"),
    ("api.hyperbolic.xyz", "hyperbolic"),
    ("api.minimax.io", "minimax"),
    ("api.mistral.ai", "mistral"),
    ("api.moonshot.ai", "moonshot"),
    ("api.novita.ai", "novita"),
    ("api.openai.com", "openai"),
    ("api.perplexity.ai", "perplexity"),
    ("api.sambanova.ai", "sambanova"),
    ("api.studio.nebius.com", "nebius"),
    ("api.together.ai", "together_ai"),
    ("api.together.xyz", "together_ai"),
    ("api.x.ai", "xai"),
    ("api.z.ai", "zai"),
    ("codestral.mistral.ai", "codestral"),
    ("cognitiveservices.azure.com", "azure"),
    ("dashscope-intl.aliyuncs.com", "dashscope"),
    ("dashscope.aliyuncs.com", "dashscope"),
    ("databricks.com", "databricks"),
    ("generativelanguage.googleapis.com", "gemini"),
    ("inference.baseten.co", "baseten"),
    ("integrate.api.nvidia.com", "nvidia_nim"),
    ("models.github.ai", "github"),
    ("openai.azure.com", "azure"),
    ("openrouter.ai", "openrouter"),
    ("services.ai.azure.com", "azure_ai"),
];

/// Providers whose own models have names without theirs before them; resellers have such names for sizes and groups.
const AUTHORS: [&str; 8] =
    ["ai21", "anthropic", "bedrock", "cohere", "deepseek", "gemini", "openai", "vertex_ai"];

/// Authors whose models nobody else runs, so that their names are enough although the table has them with the provider's.
const CLOSED: [&str; 2] = ["gemini", "xai"];

/// Names that gateways, and Gemini's own endpoint, write before a model's, and the provider that each stands for.
const ALIASES: [(&str, &str); 3] = [("google", "gemini"), ("models", "gemini"), ("x-ai", "xai")];

/// Ports of programs that run models on this machine: Ollama, LM Studio. Others share theirs with gateways.
const FREE_PORTS: [u16; 2] = [11434, 1234];

/// Suffixes of host names in private networks.
const PRIVATE: [&str; 5] = [".home.arpa", ".internal", ".lan", ".local", ".localhost"];

/// The result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PriceMatch<'t> {
    /// The entry of this name.
    Price(&'t str, &'t ModelPrice),
    /// The entry of this name, of a seller that the endpoint is not known to be.
    Listed(&'t str, &'t ModelPrice),
    /// Entries that match equally well and differ in content.
    Ambiguous(&'t str, &'t str),
    Nothing,
    /// The endpoint is private: as far as known, nothing is charged per token there.
    Private,
}

impl PriceTable {
    /// The price of the model that the endpoint at `base_url` calls `model`. `provider` is the
    /// table's name for who charges it; `None`: derived from the address.
    pub fn find(&self, base_url: &str, model: &str, provider: Option<&str>) -> PriceMatch<'_> {
        match provider.or_else(|| known_provider(base_url)) {
            Some(provider) => match (self.of(provider, model), without_date(model)) {
                (PriceMatch::Nothing, Some(undated)) => self.of(provider, undated).listed(),
                (found, _) => found,
            },
            None if is_private(base_url) => PriceMatch::Private,
            None => self.named(model),
        }
    }

    /// The price of the model that a watched agent asks for at `base_url`.
    pub fn find_watched(&self, base_url: &str, model: &str) -> PriceMatch<'_> {
        match self.find(base_url, model, None) {
            PriceMatch::Private if !is_local_server(base_url) => self.named(model),
            found => found,
        }
    }

    /// The model of a provider, whose name precedes some of its models' names.
    fn of(&self, provider: &str, whole: &str) -> PriceMatch<'_> {
        let model = split(whole).filter(|(first, _)| ALIASES.contains(&(first, provider)));
        let model = model.map_or(whole, |(_, rest)| rest);
        let longer = format!("{provider}/{model}");
        let shorter = split(model).filter(|(first, _)| *first == provider).map(|(_, rest)| rest);
        let named = |id: &str| self.models.get_key_value(id);
        let own = |(_, price): &(&String, &ModelPrice)| belongs(price, provider);
        let found = [
            named(model).filter(own),
            named(&longer),
            shorter.and_then(|rest| named(rest).filter(own)),
        ];
        let mut found = found.into_iter().flatten();
        let Some((id, price)) = found.next() else { return PriceMatch::Nothing };
        match found.find(|(_, other)| !price.costs_as_much_as(other)) {
            Some((other, _)) => PriceMatch::Ambiguous(id, other),
            None => PriceMatch::Price(id, price),
        }
    }

    /// The list price of a name: of this one, else in small letters, else of the model that it is a snapshot of.
    fn named(&self, model: &str) -> PriceMatch<'_> {
        let small = model.to_ascii_lowercase();
        let names = [Some(model), Some(&small), without_date(&small)];
        let found = names.into_iter().flatten().find_map(|name| self.sold(name));
        found.map_or(PriceMatch::Nothing, |(id, price)| PriceMatch::Listed(id, price))
    }

    /// The model that somebody sells by exactly this name, with or without the seller's before it.
    fn sold(&self, name: &str) -> Option<(&String, &ModelPrice)> {
        let entry = |id: &str| self.models.get_key_value(id);
        let Some((first, rest)) = split(name) else {
            let own = entry(name).filter(|(_, price)| AUTHORS.iter().any(|it| belongs(price, it)));
            let with = |author: &&str| entry(&format!("{author}/{name}"));
            return own.or_else(|| CLOSED.iter().find_map(with));
        };
        let alias = ALIASES.iter().find(|(alias, _)| *alias == first);
        let provider = alias.map_or(first, |(_, provider)| provider);
        let own = || entry(rest).filter(|(_, price)| belongs(price, provider));
        entry(name).or_else(own).or_else(|| entry(&format!("{provider}/{rest}")))
    }
}

impl PriceMatch<'_> {
    fn listed(self) -> Self {
        match self {
            PriceMatch::Price(id, price) => PriceMatch::Listed(id, price),
            other => other,
        }
    }
}

/// The name without the date at its end, as `-2024-08-06`, `-20250929` or `@20250929`: a snapshot that the table does not
/// have yet mostly costs what its model does.
pub(super) fn without_date(model: &str) -> Option<&str> {
    [11, 9].into_iter().find_map(|length| {
        let (name, end) = model.split_at_checked(model.len().checked_sub(length)?)?;
        let date = end.strip_prefix(['-', '@'])?.replace('-', "");
        let is_date = date.len() == 8 && date.bytes().all(|digit| digit.is_ascii_digit());
        (is_date && date.starts_with("20") && !name.is_empty()).then_some(name)
    })
}

fn split(model: &str) -> Option<(&str, &str)> {
    model.split_once('/')
}

/// Whether this provider charges for it. Some have several names, such as
/// `vertex_ai-mistral_models`, or `bedrock_converse`.
fn belongs(price: &ModelPrice, provider: &str) -> bool {
    let rest = price.provider.strip_prefix(provider);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

fn known_provider(base_url: &str) -> Option<&'static str> {
    let url = Url::parse(base_url).ok()?;
    let host = url.host_str()?.trim_end_matches('.');
    let ends_in = |known: &str| {
        let before = host.strip_suffix(known);
        before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    HOSTS.iter().find(|(known, _)| ends_in(known)).map(|(_, provider)| *provider)
}

/// Whether only a program that runs models itself listens at this private address.
fn is_local_server(base_url: &str) -> bool {
    let port = Url::parse(base_url).ok().and_then(|url| url.port());
    port.is_some_and(|port| FREE_PORTS.contains(&port))
}

/// Whether this address is that of this machine or of a private network. Invalid addresses count as
/// private.
pub fn is_private(base_url: &str) -> bool {
    let Some(url) = Url::parse(base_url).ok().filter(Url::has_host) else { return true };
    let host = url.host_str().unwrap_or_default();
    match host.trim_matches(['[', ']']).parse() {
        Ok(IpAddr::V4(ip)) => is_private_v4(ip),
        Ok(IpAddr::V6(ip)) => is_private_v6(ip),
        Err(_) => {
            let host = host.trim_end_matches('.');
            !host.contains('.') || PRIVATE.iter().any(|end| host.ends_with(end))
        }
    }
}

fn is_private_v4(ip: Ipv4Addr) -> bool {
    // Addresses of carriers and of networks such as Tailscale's (RFC 6598).
    let [first, second, ..] = ip.octets();
    let is_shared = first == 100 && second & 0xC0 == 64;
    ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_unspecified() || is_shared
}

fn is_private_v6(ip: Ipv6Addr) -> bool {
    match ip.to_ipv4_mapped() {
        Some(ip) => is_private_v4(ip),
        None => {
            ip.is_loopback()
                || ip.is_unspecified()
                || ip.is_unique_local()
                || ip.is_unicast_link_local()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENAI: &str = "https://api.openai.com/v1";

    /// Models, their providers, and their prices.
    fn table(models: &[(&str, &str, f64)]) -> PriceTable {
        let price = |provider: &str, price_in| ModelPrice {
            provider: provider.into(),
            price_in: Some(price_in),
            ..ModelPrice::default()
        };
        let models = models.iter().map(|(id, by, paid)| ((*id).to_owned(), price(by, *paid)));
        let text = String::new;
        let (source, licence, imported, unit) = (text(), text(), text(), text());
        PriceTable { source, licence, imported, unit, models: models.collect() }
    }

    fn small() -> PriceTable {
        table(&[
            ("gpt-a", "openai", 1.0),
            ("azure/gpt-a", "azure", 2.0),
            ("azure/eu/gpt-a", "azure", 3.0),
            ("groq/open/b", "groq", 4.0),
            ("open/b", "elsewhere", 5.0),
            ("opus", "vertex_ai-anthropic_models", 6.0),
            ("vertex_ai/opus", "vertex_ai-anthropic_models", 6.0),
            ("perplexity/sonar", "perplexity", 7.0),
            ("perplexity/perplexity/sonar", "perplexity", 8.0),
        ])
    }

    /// The name of the entry, after `~` if it is a list price; `?` for ambiguous, `-` for nothing, `home` for private.
    fn told(found: PriceMatch<'_>) -> String {
        match found {
            PriceMatch::Price(id, _) => id.to_owned(),
            PriceMatch::Listed(id, _) => format!("~{id}"),
            PriceMatch::Ambiguous(..) => "?".to_owned(),
            PriceMatch::Nothing => "-".to_owned(),
            PriceMatch::Private => "home".to_owned(),
        }
    }

    fn found(base_url: &str, model: &str, provider: Option<&str>) -> String {
        told(small().find(base_url, model, provider))
    }

    #[test]
    fn a_well_known_address_says_whose_price_it_is() {
        for (url, model, entry) in [
            (OPENAI, "gpt-a", "gpt-a"),
            (OPENAI, "openai/gpt-a", "gpt-a"),
            ("https://me.openai.azure.com/openai/v1", "gpt-a", "azure/gpt-a"),
            ("https://api.groq.com/openai/v1", "open/b", "groq/open/b"),
            ("https://API.GROQ.COM./openai/v1", "open/b", "groq/open/b"),
            // Only another provider sells it.
            ("https://api.groq.com/openai/v1", "gpt-a", "-"),
            ("https://openrouter.ai/api/v1", "openai/gpt-a", "-"),
            (OPENAI, "GPT-A", "-"),
            (OPENAI, "gpt", "-"),
            (OPENAI, "", "-"),
        ] {
            assert_eq!(found(url, model, None), entry, "{model} at {url}");
        }
    }

    #[test]
    fn elsewhere_only_the_very_name_counts() {
        let url = "https://gateway.example/v1";
        for (model, entry) in [
            ("gpt-a", "~gpt-a"),
            ("openai/gpt-a", "~gpt-a"),
            ("azure/gpt-a", "~azure/gpt-a"),
            ("anthropic/gpt-a", "-"),
            ("open/b", "~open/b"),
            ("b", "-"),
            ("sonar", "-"),
        ] {
            assert_eq!(found(url, model, None), entry, "{model}");
        }
        assert_eq!(found("https://notapi.openai.com.example/v1", "groq/gpt-a", None), "-");
        assert_eq!(found("https://api.openai.com.example/v1", "open/b", None), "~open/b");
    }

    #[test]
    fn two_prices_are_none() {
        assert_eq!(found("https://api.perplexity.ai", "perplexity/sonar", None), "?");
        assert_eq!(found("https://api.perplexity.ai", "sonar", None), "perplexity/sonar");
        // Two names with the same price count as one.
        assert_eq!(found("https://gateway.example", "opus", Some("vertex_ai")), "opus");
    }

    #[test]
    fn what_runs_at_home_has_no_price_unless_somebody_says_whose() {
        for url in [
            "http://localhost:4000/v1",
            "http://127.0.0.1:8000/v1",
            "http://[::1]/v1",
            "http://[::ffff:192.168.0.1]/v1",
            "http://[fd00::1]/v1",
            "http://10.1.2.3/v1",
            "http://172.20.0.5/v1",
            "http://192.168.1.9:11434/v1",
            "http://169.254.1.1/v1",
            "http://100.101.102.103/v1",
            "http://0.0.0.0:8080/v1",
            "http://ollama:11434/v1",
            "http://box.local/v1",
            "http://box.lan./v1",
            "not an address",
        ] {
            assert_eq!(found(url, "gpt-a", None), "home", "{url}");
            assert_eq!(found(url, "gpt-a", Some("azure")), "azure/gpt-a", "{url}");
        }
        for url in ["https://8.8.8.8/v1", "http://100.128.0.1", "http://[2606:4700::1111]/v1"] {
            assert_eq!(found(url, "gpt-a", None), "~gpt-a", "{url}");
        }
    }
}
