//! The local reader: the tiny model of the tests and, where `TOOLYARD_READER_MODEL` names its file, SmolLM2-135M.
#![expect(clippy::unwrap_used, reason = "a bench that cannot begin stops at once")]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use toolyard::reader::{LocalReader, Pooling, Reader, Special, StateLayer, StateRequest};

criterion_group!(benches, tiny, given);
criterion_main!(benches);

/// As long as the text of a tool is.
const TEXT: &str = "tool name: <book/written_work/author>, tool description: author: retrieves the author or \
                    authors of a written work such as a novel.";

fn tiny(c: &mut Criterion) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vectors/cotools/tiny.gguf");
    measure(c, "tiny", &path, &[2, 3]);
}

fn given(c: &mut Criterion) {
    if let Some(path) = std::env::var_os("TOOLYARD_READER_MODEL").map(PathBuf::from) {
        measure(c, "given", &path, &[14, 22, 30]);
    }
}

fn measure(c: &mut Criterion, model: &str, path: &Path, layers: &[usize]) {
    let mut group = c.benchmark_group(format!("reader/{model}"));
    group.sample_size(20);
    group.bench_function("open", |b| b.iter(|| LocalReader::open(black_box(path)).unwrap()));
    let mut reader = LocalReader::open(path).unwrap();
    let go_on = AtomicBool::new(false);
    let tokens = reader.tokenizer().encode(TEXT, Special::Text).unwrap();
    let ids = tokens.and(reader.tokenizer().end()).ids;
    group.throughput(Throughput::Elements(ids.len() as u64));
    for layer in layers {
        let wanted = [StateRequest::new(StateLayer::After(*layer), Pooling::Mean)];
        group.bench_function(format!("a tool at layer {layer}, by tokens"), |b| {
            b.iter(|| {
                reader.forget();
                reader.states(&ids, &wanted, &go_on).unwrap()
            });
        });
    }
    let long = TEXT.repeat(100);
    group.throughput(Throughput::Bytes(long.len() as u64));
    group.bench_function("tokens of a text", |b| {
        b.iter(|| reader.tokenizer().encode(&long, Special::Text).unwrap());
    });
    group.finish();
}
