//! Model files that are broken, foreign or made to do harm: a clear error, no panic, and no memory beyond their size.

use std::io::Cursor;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::{env, fs, process::Command};

use toolyard::domain::Chance;
use toolyard::reader::{LocalReader, Pooling, Reader, Special, StateLayer, StateRequest};

use crate::processes::peak_memory;
use crate::reader::tiny_path;

/// Where the data of the tiny model's tensors begins, in bytes.
const DATA: usize = 12_032;

fn tiny() -> Vec<u8> {
    fs::read(tiny_path()).unwrap()
}

/// What is said of a file; `None` where it is read.
fn said(bytes: &[u8]) -> Option<String> {
    let fault = LocalReader::read(Cursor::new(bytes)).err()?;
    Some(fault.in_file("model.gguf").to_string())
}

/// The position behind a key or the name of a tensor.
fn behind(bytes: &[u8], name: &str) -> usize {
    let sized = [&(name.len() as u64).to_le_bytes()[..], name.as_bytes()].concat();
    let found = bytes.windows(sized.len()).position(|window| window == sized);
    found.unwrap_or_else(|| panic!("no {name}")) + sized.len()
}

/// The tiny model with other bytes at a position counted from behind a name.
fn with(name: &str, offset: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = tiny();
    let at = behind(&bytes, name) + offset;
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

/// The tiny model with another number of 32 bits.
fn with_number(key: &str, number: u32) -> Vec<u8> {
    with(key, 4, &number.to_le_bytes())
}

fn with_float(key: &str, number: f32) -> Vec<u8> {
    with(key, 4, &number.to_le_bytes())
}

/// The tiny model with another text in place of one of the same length.
fn replaced(old: &str, new: &str) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let mut bytes = tiny();
    let at = bytes.windows(old.len()).position(|window| window == old.as_bytes()).unwrap();
    bytes[at..at + new.len()].copy_from_slice(new.as_bytes());
    bytes
}

fn header(version: u32, tensors: u64, keys: u64) -> Vec<u8> {
    [&b"GGUF"[..], &version.to_le_bytes(), &tensors.to_le_bytes(), &keys.to_le_bytes()].concat()
}

/// A header with one key of this type and value.
fn with_key(kind: u32, value: &[u8]) -> Vec<u8> {
    let key = [&3u64.to_le_bytes()[..], b"key", &kind.to_le_bytes(), value].concat();
    [header(3, 0, 1), key].concat()
}

/// An array in an array in an array …
fn nested(depth: usize) -> Vec<u8> {
    let one = [&9u32.to_le_bytes()[..], &1u64.to_le_bytes()].concat();
    one.repeat(depth)
}

/// Files, and a part of what is said of each.
fn cases() -> Vec<(Vec<u8>, &'static str)> {
    let huge = (1u64 << 63).to_le_bytes();
    let foreign = vec![
        (Vec::new(), "not a GGUF file; expected a model file in the format GGUF, version 3"),
        (b"\x89PNG\r\n\x1a\n0000".to_vec(), "not a GGUF file"),
        (b"GGML0000".to_vec(), "not a GGUF file"),
        (b"GGUF".to_vec(), "the file ends inside the header"),
        (header(1, 0, 0), "has version 1; expected a model file in the format GGUF, version 3"),
        (header(2, 0, 0), "has version 2"),
        (header(4, 0, 0), "has version 4"),
        (header(3u32.swap_bytes(), 0, 0), "is big-endian"),
        (header(3, 0, 0), "`general.architecture` is \"\"; expected \"llama\""),
        (replaced("\u{5}\0\0\0\0\0\0\0llama", "\u{5}\0\0\0\0\0\0\0qwen2"), "is \"qwen2\""),
    ];
    let counts = vec![
        (header(3, 1 << 63, 0), "`general.architecture`"),
        (header(3, 0, 1 << 63), "metadata keys do not fit into the 0 bytes"),
        ([header(3, 0, 100_000), vec![0; 1_400_000]].concat(), "at most 65536"),
        (with_key(8, &huge), "the file ends inside the value of `key`"),
        (with_key(8, &1000u64.to_le_bytes()), "the file ends inside the value of `key`"),
        (with_key(9, &[&4u32.to_le_bytes()[..], &huge].concat()), "numbers do not fit"),
        (with_key(9, &[&8u32.to_le_bytes()[..], &huge].concat()), "values do not fit"),
        (
            with_key(9, &[&13u32.to_le_bytes()[..], &1u64.to_le_bytes(), &[0; 8]].concat()),
            "type 13",
        ),
        (with_key(9, &nested(1000)), "nests arrays more than 4 deep"),
        (with_key(99, &[]), "`key` has the unknown type 99"),
        (with("tokenizer.ggml.tokens", 8, &huge), "strings do not fit"),
        (with("tokenizer.ggml.token_type", 8, &huge), "numbers do not fit"),
        (with("tokenizer.ggml.merges", 4, &6u32.to_le_bytes()), "an array of type 6"),
        ([&tiny()[..8], &huge, &tiny()[16..]].concat(), "tensors do not fit"),
    ];
    foreign
        .into_iter()
        .chain(counts)
        .chain(shapes())
        .chain(tensors())
        .chain(vocabularies())
        .collect()
}

/// Hyper-parameters.
fn shapes() -> Vec<(Vec<u8>, &'static str)> {
    let nan = f32::NAN;
    vec![
        (with_number("llama.attention.head_count", 0), "head_count` is 0; expected 1 to 1024"),
        (with_number("llama.attention.head_count_kv", 0), "head_count_kv` is 0; expected 1 to 2"),
        (with_number("llama.attention.head_count_kv", 7), "head_count_kv` is 7"),
        (with_number("llama.attention.head_count", 3), "tensor `blk.0.attn_q.weight` has 64 rows"),
        (with_number("llama.rope.dimension_count", 31), "expected an even number"),
        (with_number("llama.rope.dimension_count", u32::MAX), "is 4294967295; expected 2 to 1024"),
        (with_number("llama.block_count", 0), "`llama.block_count` is 0"),
        (with_number("llama.block_count", 1_000_000_000), "is 1000000000; expected 1 to 1024"),
        (with_number("llama.block_count", 2), "`blk.2.attn_k.weight` belongs to no layer"),
        (with_number("llama.block_count", 4), "no tensor `blk.3.attn_norm.weight`"),
        (with_number("llama.embedding_length", 0), "is 0"),
        (with_number("llama.embedding_length", 96), "expected 473 rows of 96 numbers"),
        (with_number("llama.feed_forward_length", 128), "expected 128 rows of 64 numbers"),
        (with_number("llama.context_length", 0), "`llama.context_length` is 0"),
        (with_float("llama.attention.layer_norm_rms_epsilon", nan), "is NaN; expected a number"),
        (with_float("llama.attention.layer_norm_rms_epsilon", -1.0), "is -1"),
        (with_float("llama.rope.freq_base", f32::INFINITY), "is inf"),
        (with("llama.block_count", 0, &6u32.to_le_bytes()), "expected one whole number"),
        (tiny()[..DATA + 60_000].to_vec(), "the file ends inside tensor"),
        (replaced("llama.block_count", "llama.block_kount"), "no `llama.block_count`"),
        (replaced("llama.block_count", "llama.logit_scale"), "the file has `llama.logit_scale`"),
    ]
}

/// The table of tensors.
fn tensors() -> Vec<(Vec<u8>, &'static str)> {
    // Behind a name: the number of dimensions, two dimensions, the type, the offset.
    let (name, huge) = ("blk.0.attn_q.weight", (1u64 << 62).to_le_bytes());
    let of_type = |kind: u32| with(name, 20, &kind.to_le_bytes());
    let mut not_finite = tiny();
    not_finite[DATA..DATA + 2].copy_from_slice(&[0, 0x7c]);
    vec![
        (
            of_type(12),
            "tensor `blk.0.attn_q.weight` has type Q4_K; expected F32, F16, Q8_0, Q4_0 or Q4_1",
        ),
        (of_type(30), "has type BF16"),
        (of_type(4), "has the unknown type 4"),
        (of_type(8), "overlap"),
        (with(name, 0, &3u32.to_le_bytes()), "has 3 dimensions; expected 1 or 2"),
        (with(name, 0, &0u32.to_le_bytes()), "has 0 dimensions"),
        (with(name, 4, &huge), "a tensor that fits into a file of 103616 bytes"),
        (with(name, 12, &huge), "a tensor that fits into a file"),
        (with(name, 4, &33u64.to_le_bytes()), "a multiple of 32 numbers (Q4_1)"),
        (with(name, 12, &0u64.to_le_bytes()), "has 0 rows"),
        (with(name, 24, &huge), "the file ends inside tensor"),
        (with(name, 24, &33u64.to_le_bytes()), "begins at offset 33; expected a multiple of 32"),
        (with(name, 24, &0u64.to_le_bytes()), "overlap"),
        (replaced(name, "blk.0.attn_k.weight"), "two tensors `blk.0.attn_k.weight`"),
        (replaced(name, "blk.0.attn_q.scales"), "no tensor `blk.0.attn_q.weight`"),
        (not_finite, "`token_embd.weight` has a weight that is not a finite number"),
    ]
}

fn vocabularies() -> Vec<(Vec<u8>, &'static str)> {
    vec![
        (replaced("smollm", "kimi-x"), "`tokenizer.ggml.pre` is \"kimi-x\"; expected \"smollm\""),
        (replaced("\u{4}\0\0\0\0\0\0\0gpt2", "\u{4}\0\0\0\0\0\0\0bert"), "model` is \"bert\""),
        (with("tokenizer.ggml.add_bos_token", 4, &[1]), "add_bos_token` is true"),
        (with_number("tokenizer.ggml.eos_token_id", 473), "no `tokenizer.ggml.eos_token_id`"),
        (replaced("Ġ t", "Ġ q"), "merge 0 is \"Ġ q\"; expected two tokens"),
        (replaced("Ġ t", "Ġt "), "merge 0 is \"Ġt \""),
        (replaced("Ġ t", "Ġ\u{1}t"), "merge 0 is"),
    ]
}

#[test]
fn each_bad_file_has_a_clear_error() {
    for (n, (bytes, right)) in cases().into_iter().enumerate() {
        let found = said(&bytes).unwrap_or_else(|| panic!("case {n} is read; expected: {right}"));
        assert!(found.starts_with("model.gguf: ") && found.contains("; expected "), "{found}");
        assert!(found.contains(right), "case {n} says: {found}\nexpected: {right}");
    }
}

#[test]
fn a_truncated_file_is_an_error_wherever_it_ends() {
    let bytes = tiny();
    let ends = (0..=DATA).chain((DATA..bytes.len()).step_by(997));
    for end in ends {
        let found = said(&bytes[..end]).unwrap_or_else(|| panic!("read with {end} bytes"));
        assert!(found.contains("; expected "), "{end}: {found}");
    }
    assert_eq!(said(&bytes), None);
}

#[test]
fn a_header_with_other_bytes_is_read_or_refused() {
    let (bytes, mut read) = (tiny(), 0);
    for seed in 0..1_500 {
        let chance = |n: u64, below: usize| {
            usize::try_from(Chance::new(seed * 16 + n).bits() % below as u64).unwrap()
        };
        let mut bytes = bytes.clone();
        for n in 0..=chance(0, 3) as u64 {
            bytes[chance(3 * n + 1, DATA)] = [0, 1, 0x7f, 0x80, 0xff, 32][chance(3 * n + 2, 6)];
        }
        let Ok(mut reader) = LocalReader::read(Cursor::new(&bytes)) else { continue };
        read += 1;
        let tokens = reader.tokenizer().encode("the 12 <x>", Special::Token).unwrap();
        let tokens = tokens.and(reader.tokenizer().end());
        let wanted = [StateRequest::new(StateLayer::Final, Pooling::Mean)];
        // A context of a few tokens is an error.
        drop(reader.states(&tokens.ids, &wanted, &AtomicBool::new(false)));
    }
    assert!(read > 20, "{read} files were read");
}

#[test]
fn what_is_no_file_is_an_error() {
    let open = |path: &Path| LocalReader::open(path).err().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    assert!(open(folder.path()).contains("not a regular file; expected a model file"));
    assert!(
        open(&folder.path().join("none.gguf")).contains("none.gguf: cannot read the model file")
    );
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(open(&pipe).contains("not a regular file"));
    let empty = folder.path().join("empty.gguf");
    fs::write(&empty, "").unwrap();
    assert!(open(&empty).contains("empty.gguf: this is not a GGUF file"));
}

const ALONE: &str = "TOOLYARD_TEST_ALONE";

#[test]
fn bad_files_take_no_memory_beyond_their_size() {
    if env::var_os(ALONE).is_none() {
        // Other tests of this process would count.
        let name = "reader_hostile::bad_files_take_no_memory_beyond_their_size";
        let mut alone = Command::new(env::current_exe().unwrap());
        alone.args([name, "--exact", "--nocapture"]).env(ALONE, "1");
        let output = alone.output().unwrap();
        return assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let cases = cases();
    // The allocator takes memory in large pieces, and keeps them: a good file needs them too.
    assert_eq!(said(&tiny()), None);
    let Some(before) = peak_memory("self") else {
        return eprintln!("SKIPPED: this test needs /proc/self/status");
    };
    cases.iter().for_each(|(bytes, _)| drop(said(bytes)));
    let more = peak_memory("self").unwrap() - before;
    assert!(more < 16 << 20, "{more} bytes more than before");
}
