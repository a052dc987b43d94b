//! Saved heads, as one file of the safetensors format: other programs can read the weights too.
//!
//! Layout: the header's length in bytes (u64, little endian), a JSON header with name, shape and
//! place of each tensor and with texts in `__metadata__`, then the numbers (f32, little endian).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    matrix::{BadShape, Matrix},
    mlp::Mlp,
};

/// The most bytes of a header. The names of 10,000 tools fit.
const LONGEST_HEADER: usize = 1 << 22;

/// Bytes of a number.
const BYTES: usize = 4;

/// Bytes that are not a file of heads.
#[derive(Debug, Error)]
pub enum BadHeadFile {
    #[error("the file ends early")]
    Short,
    #[error("the header has {0} bytes, more than {LONGEST_HEADER}")]
    LongHeader(u64),
    #[error("the header is not that of a safetensors file: {0}")]
    Header(#[source] serde_json::Error),
    #[error("the description of the heads is missing or wrong: {0}")]
    About(String),
    #[error("there is no tensor `{0}`")]
    Missing(String),
    #[error("tensor `{name}`: {problem}")]
    Tensor { name: String, problem: &'static str },
    #[error("the tensors do not fit together: {0}")]
    Shape(#[from] BadShape),
}

#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(rename = "__metadata__")]
    texts: BTreeMap<String, String>,
    #[serde(flatten)]
    tensors: BTreeMap<String, TensorEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(expecting = "struct Place")]
struct TensorEntry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

/// Named matrices of a file.
#[derive(Default)]
pub(super) struct Tensors(BTreeMap<String, Matrix<f32>>);

impl Tensors {
    pub(super) fn insert(&mut self, name: &str, matrix: Matrix<f32>) {
        self.0.insert(name.to_owned(), matrix);
    }

    pub(super) fn insert_row(&mut self, name: &str, row: &[f32]) -> Result<(), BadShape> {
        self.insert(name, Matrix::new(1, row.len(), row.to_vec())?);
        Ok(())
    }

    pub(super) fn insert_mlp(&mut self, name: &str, mlp: &Mlp<f32>) {
        self.insert(&format!("{name}.gate"), mlp.gate().clone());
        self.insert(&format!("{name}.up"), mlp.up().clone());
        self.insert(&format!("{name}.down"), mlp.down().clone());
    }

    pub(super) fn take(&mut self, name: &str) -> Result<Matrix<f32>, BadHeadFile> {
        self.0.remove(name).ok_or_else(|| BadHeadFile::Missing(name.to_owned()))
    }

    pub(super) fn take_row(&mut self, name: &str) -> Result<Vec<f32>, BadHeadFile> {
        Ok(self.take(name)?.data().to_vec())
    }

    pub(super) fn take_mlp(&mut self, name: &str) -> Result<Mlp<f32>, BadHeadFile> {
        let mut part = |part: &str| self.take(&format!("{name}.{part}"));
        Ok(Mlp::new(part("gate")?, part("up")?, part("down")?)?)
    }

    /// The bytes of a file with these tensors and one text.
    pub(super) fn to_bytes(&self, name: &str, text: String) -> Vec<u8> {
        let mut end = 0;
        let mut place = |matrix: &Matrix<f32>| {
            let start = end;
            end += BYTES * matrix.data().len();
            let shape = vec![matrix.rows(), matrix.cols()];
            TensorEntry { dtype: "F32".to_owned(), shape, data_offsets: [start, end] }
        };
        let tensors = self.0.iter().map(|(name, matrix)| (name.clone(), place(matrix))).collect();
        let header = Header { texts: BTreeMap::from([(name.to_owned(), text)]), tensors };
        // Maps of texts and numbers always become JSON.
        let mut header = serde_json::to_vec(&header).unwrap_or_default();
        // Spaces, so that the numbers start at a multiple of 8.
        header.resize(header.len().next_multiple_of(8), b' ');
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.reserve(header.len() + end);
        bytes.extend_from_slice(&header);
        for number in self.0.values().flat_map(|matrix| matrix.data()) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// The tensors and the text with that name. The bytes may come from anyone, so no more memory is allocated than
    /// they hold.
    pub(super) fn of_bytes(bytes: &[u8], name: &str) -> Result<(Self, String), BadHeadFile> {
        let (length, rest) = bytes.split_first_chunk().ok_or(BadHeadFile::Short)?;
        let length = u64::from_le_bytes(*length);
        let fits = usize::try_from(length).ok().filter(|length| *length <= LONGEST_HEADER);
        let length = fits.ok_or(BadHeadFile::LongHeader(length))?;
        let (header, data) = rest.split_at_checked(length).ok_or(BadHeadFile::Short)?;
        let mut header: Header = serde_json::from_slice(header).map_err(BadHeadFile::Header)?;
        let text = header.texts.remove(name);
        let text = text.ok_or_else(|| BadHeadFile::About(format!("there is no `{name}`")))?;
        let mut tensors = Self::default();
        let mut places: Vec<_> = header.tensors.into_iter().collect();
        places.sort_by_key(|(_, place)| place.data_offsets);
        let mut end = 0;
        for (name, place) in places {
            match place.read(data, &mut end) {
                Ok(matrix) => tensors.0.insert(name, matrix),
                Err(problem) => return Err(BadHeadFile::Tensor { name, problem }),
            };
        }
        Ok((tensors, text))
    }
}

impl TensorEntry {
    /// The numbers, which start at the `end` of the tensor before. As in every safetensors file, tensors share no
    /// bytes: otherwise they could require more memory than the file has.
    fn read(&self, data: &[u8], end: &mut usize) -> Result<Matrix<f32>, &'static str> {
        let (rows, cols) = match *self.shape {
            [cols] => (1, cols),
            [rows, cols] => (rows, cols),
            _ => return Err("it has more than two dimensions"),
        };
        if self.dtype != "F32" {
            return Err("its numbers are not F32");
        }
        let [from, to] = self.data_offsets;
        if from != *end {
            return Err("it does not start where the one before it ends");
        }
        let bytes = data.get(from..to).ok_or("it lies beyond the end of the file")?;
        let size = rows.checked_mul(cols).and_then(|count| count.checked_mul(BYTES));
        if size != Some(bytes.len()) {
            return Err("its shape does not fit its bytes");
        }
        *end = to;
        let numbers: Vec<f32> =
            bytes.as_chunks::<BYTES>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if numbers.iter().any(|x| !x.is_finite()) {
            return Err("a number is not finite");
        }
        Matrix::new(rows, cols, numbers).map_err(|_| "its shape does not fit its bytes")
    }
}
