//! The tensors of a file: names, shapes, types and positions, checked against the size of the file.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use super::source::GgufSource;
use crate::{error::ModelFileFault, kernel::Packing};

/// The most tensors. A model of 1,024 layers has 9,219.
const MOST: u64 = 65_536;

/// The longest name in bytes, by the format's specification.
const LONGEST: u64 = 64;

/// The types of the format and their numbers.
const TYPES: [(u32, &str); 36] = [
    (0, "F32"),
    (1, "F16"),
    (2, "Q4_0"),
    (3, "Q4_1"),
    (6, "Q5_0"),
    (7, "Q5_1"),
    (8, "Q8_0"),
    (9, "Q8_1"),
    (10, "Q2_K"),
    (11, "Q3_K"),
    (12, "Q4_K"),
    (13, "Q5_K"),
    (14, "Q6_K"),
    (15, "Q8_K"),
    (16, "IQ2_XXS"),
    (17, "IQ2_XS"),
    (18, "IQ3_XXS"),
    (19, "IQ1_S"),
    (20, "IQ4_NL"),
    (21, "IQ3_S"),
    (22, "IQ2_S"),
    (23, "IQ4_XS"),
    (24, "I8"),
    (25, "I16"),
    (26, "I32"),
    (27, "I64"),
    (28, "F64"),
    (29, "IQ1_M"),
    (30, "BF16"),
    (31, "Q4_0_4_4"),
    (32, "Q4_0_4_8"),
    (33, "Q4_0_8_8"),
    (34, "TQ1_0"),
    (35, "TQ2_0"),
    (39, "MXFP4"),
    (40, "NVFP4"),
];

/// A tensor of one or two dimensions.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub rows: usize,
    pub columns: usize,
    pub packing: Packing,
    /// The position of its data in the file, in bytes.
    pub at: u64,
    /// The size of its data in bytes.
    pub bytes: u64,
}

/// All tensors by name.
pub type Tensors = BTreeMap<String, Tensor>;

/// Reads the table of tensors. The source is at its beginning.
pub fn read<R: Read + Seek>(
    source: &mut GgufSource<R>,
    count: u64,
    alignment: u64,
) -> Result<Tensors, ModelFileFault> {
    // An entry has two lengths, a dimension, a type and an offset.
    source.expect(count, 32, "tensors")?;
    if count > MOST {
        return Err(ModelFileFault::bad(format!("{count} tensors"), format!("at most {MOST}")));
    }
    let mut tensors = Tensors::new();
    for n in 1..=count {
        let name = source.text(LONGEST, &format!("the name of tensor {n}"))?;
        let tensor = read_entry(source, &name, alignment)?;
        if tensors.contains_key(&name) {
            return Err(ModelFileFault::bad(format!("two tensors `{name}`"), "one"));
        }
        tensors.insert(name, tensor);
    }
    let begin = source.at().div_ceil(alignment) * alignment;
    place(&mut tensors, begin, source.size())?;
    Ok(tensors)
}

/// Reads an entry; its position is relative to the beginning of the data.
fn read_entry<R: Read + Seek>(
    source: &mut GgufSource<R>,
    name: &str,
    alignment: u64,
) -> Result<Tensor, ModelFileFault> {
    let what = format!("the entry of tensor `{name}`");
    let bad = |found: String, expected: &str| {
        Err(ModelFileFault::bad(format!("tensor `{name}` {found}"), expected))
    };
    let dimensions = source.u32(&what)?;
    if !(1..=2).contains(&dimensions) {
        return bad(format!("has {dimensions} dimensions"), "1 or 2");
    }
    let columns = source.u64(&what)?;
    let rows = if dimensions == 2 { source.u64(&what)? } else { 1 };
    let packing = packing(source.u32(&what)?, name)?;
    let at = source.u64(&what)?;
    if at % alignment != 0 {
        return bad(format!("begins at offset {at}"), &format!("a multiple of {alignment}"));
    }
    let (block, block_bytes) = packing.block();
    if columns == 0 || rows == 0 || columns % block as u64 != 0 {
        let expected = format!("rows of a multiple of {block} numbers ({})", packing.name());
        return bad(format!("has {rows} rows of {columns} numbers"), &expected);
    }
    let bytes =
        (columns / block as u64).checked_mul(rows).and_then(|n| n.checked_mul(block_bytes as u64));
    match (bytes, usize::try_from(columns), usize::try_from(rows)) {
        (Some(bytes), Ok(columns), Ok(rows)) if bytes <= source.size() => {
            Ok(Tensor { rows, columns, packing, at, bytes })
        }
        _ => bad(
            format!("has {rows} rows of {columns} numbers"),
            &format!("a tensor that fits into a file of {} bytes", source.size()),
        ),
    }
}

fn packing(number: u32, name: &str) -> Result<Packing, ModelFileFault> {
    let known = TYPES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name);
    known.and_then(Packing::named).ok_or_else(|| {
        let kind = known.map_or_else(|| format!("the unknown type {number}"), |kind| format!("type {kind}"));
        ModelFileFault::bad(
            format!("tensor `{name}` has {kind}"),
            "F32, F16, Q8_0, Q4_0 or Q4_1; download the model in Q8_0, or convert it with `llama-quantize`",
        )
    })
}

/// Makes positions absolute. All tensors are in the file, and no two share bytes: a small file with many tensors in one
/// place would need much memory.
fn place(tensors: &mut Tensors, begin: u64, size: u64) -> Result<(), ModelFileFault> {
    for (name, tensor) in tensors.iter_mut() {
        let at = begin.checked_add(tensor.at);
        let end = at.and_then(|at| at.checked_add(tensor.bytes));
        match (at, end) {
            (Some(at), Some(end)) if end <= size => tensor.at = at,
            _ => {
                let found = format!("the file ends inside tensor `{name}` (size {size} bytes)");
                return Err(ModelFileFault::bad(found, "a complete file; download it again"));
            }
        }
    }
    let mut sorted: Vec<_> = tensors.iter().collect();
    sorted.sort_by_key(|(_, tensor)| tensor.at);
    for pair in sorted.windows(2) {
        if let [(first, a), (second, b)] = pair
            && a.at + a.bytes > b.at
        {
            let found = format!("tensors `{first}` and `{second}` overlap");
            return Err(ModelFileFault::bad(found, "separate tensors; download the file again"));
        }
    }
    Ok(())
}
