//! The header of a .npy file: a Python dictionary in text, of which only three keys and their literals may
//! occur. Parsed here rather than by a library so that each refusal can name the dtype and what would work, and
//! so that nothing is allocated on a header's word.

/// What the numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// One byte, 0 or not.
    Bool,
    /// Signed integer of so many bytes.
    Int(usize),
    /// Unsigned integer of so many bytes.
    Uint(usize),
    /// Floating point of so many bytes.
    Float(usize),
    /// bfloat16, of which numpy knows but the number of bytes.
    Brain,
    /// Two floating-point numbers of so many bytes each.
    Complex(usize),
}

impl Number {
    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Brain => 2,
            Self::Int(bytes) | Self::Uint(bytes) | Self::Float(bytes) => bytes,
            Self::Complex(bytes) => 2 * bytes,
        }
    }
}

/// What the header says.
#[derive(Debug, PartialEq, Eq)]
pub struct Header {
    /// Kind of the numbers.
    pub number: Number,
    /// Most significant byte first.
    pub big_endian: bool,
    /// First axis fastest.
    pub fortran: bool,
    /// Points along each axis.
    pub shape: Vec<u64>,
    /// The dtype as it stands there.
    pub descr: String,
}

/// Why a header was refused.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is not what numpy writes.
    Malformed(String),
    /// The numbers are none that can be transformed.
    Dtype {
        /// In words.
        what: &'static str,
        /// As it stands there.
        descr: String,
    },
}

/// Reads the header's text.
pub fn parse(text: &str) -> Result<Header, Refused> {
    let mut rest = Cursor { text: text.trim() };
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    rest.expect('{')?;
    while !rest.take('}') {
        let key = rest.string()?;
        rest.expect(':')?;
        match key {
            "descr" => descr = Some(rest.descr()?),
            "fortran_order" => fortran = Some(rest.boolean()?),
            "shape" => shape = Some(rest.shape()?),
            other => return Err(Refused::Malformed(format!("its header has an unknown key '{other}'"))),
        }
        if !rest.take(',') {
            rest.expect('}')?;
            break;
        }
    }
    let behind = rest.text.trim();
    if !behind.is_empty() {
        let got: String = behind.chars().take(12).flat_map(char::escape_debug).collect();
        return Err(Refused::Malformed(format!("its header goes on behind its end with '{got}'")));
    }
    let missing = |key: &str| Refused::Malformed(format!("its header lacks the key '{key}'"));
    let descr = descr.ok_or_else(|| missing("descr"))?;
    let fortran = fortran.ok_or_else(|| missing("fortran_order"))?;
    let shape = shape.ok_or_else(|| missing("shape"))?;
    let (number, big_endian) = dtype(&descr)?;
    Ok(Header { number, big_endian, fortran, shape, descr })
}

/// What a dtype's description means: byte order, a letter, the number of bytes.
fn dtype(descr: &str) -> Result<(Number, bool), Refused> {
    let refused = |what| Refused::Dtype { what, descr: descr.into() };
    if descr.starts_with('[') || descr.starts_with('(') {
        return Err(refused("records of several fields"));
    }
    let (order, code) = match descr.chars().next() {
        Some(order @ ('<' | '>' | '=' | '|')) => (order, &descr[1..]),
        _ => ('|', descr),
    };
    let big_endian = order == '>' || (order == '=' && cfg!(target_endian = "big"));
    let number = match code {
        "b1" | "?" => Number::Bool,
        "i1" => Number::Int(1),
        "i2" => Number::Int(2),
        "i4" => Number::Int(4),
        "i8" => Number::Int(8),
        "u1" => Number::Uint(1),
        "u2" => Number::Uint(2),
        "u4" => Number::Uint(4),
        "u8" => Number::Uint(8),
        "f2" => Number::Float(2),
        // As numpy writes arrays of ml_dtypes.bfloat16.
        "V2" => Number::Brain,
        "f4" => Number::Float(4),
        "f8" => Number::Float(8),
        "c8" => Number::Complex(4),
        "c16" => Number::Complex(8),
        "f10" | "f12" | "f16" | "c20" | "c24" | "c32" => return Err(refused("extended precision numbers")),
        _ => return Err(refused(not_numbers(code))),
    };
    Ok((number, big_endian))
}

fn not_numbers(code: &str) -> &'static str {
    match code.chars().next() {
        Some('O') => "Python objects",
        Some('U' | 'S' | 'a') => "text",
        Some('M' | 'm') => "dates or durations",
        Some('V') => "raw bytes",
        _ => "something that is no number",
    }
}

/// What is left to read.
struct Cursor<'a> {
    text: &'a str,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, wanted: char) -> bool {
        let text = self.text.trim_start();
        let found = text.strip_prefix(wanted);
        self.text = found.unwrap_or(text);
        found.is_some()
    }

    fn expect(&mut self, wanted: char) -> Result<(), Refused> {
        if self.take(wanted) {
            return Ok(());
        }
        let got: String = self.text.chars().take(12).flat_map(char::escape_debug).collect();
        let got = if got.is_empty() { "its end".into() } else { format!("'{got}'") };
        Err(Refused::Malformed(format!("its header has {got} where '{wanted}' was expected")))
    }

    fn string(&mut self) -> Result<&'a str, Refused> {
        let quote = if self.take('"') {
            '"'
        } else {
            self.expect('\'')?;
            '\''
        };
        let Some((string, rest)) = self.text.split_once(quote) else {
            return Err(Refused::Malformed("its header has a string without an end".into()));
        };
        self.text = rest;
        Ok(string)
    }

    /// A plain dtype is a string; one of several fields is a list, which is skipped whole.
    fn descr(&mut self) -> Result<String, Refused> {
        self.text = self.text.trim_start();
        if !self.text.starts_with(['[', '(']) {
            return self.string().map(Into::into);
        }
        let mut depth = 0_usize;
        for (at, letter) in self.text.char_indices() {
            match letter {
                '[' | '(' => depth += 1,
                ']' | ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                let end = at + letter.len_utf8();
                let list: String = self.text[..end].chars().take(60).collect();
                self.text = &self.text[end..];
                return Ok(list);
            }
        }
        Err(Refused::Malformed("its header has a list without an end".into()))
    }

    fn boolean(&mut self) -> Result<bool, Refused> {
        let text = self.text.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = text.strip_prefix(word) {
                self.text = rest;
                return Ok(value);
            }
        }
        Err(Refused::Malformed("its header's 'fortran_order' is neither True nor False".into()))
    }

    fn shape(&mut self) -> Result<Vec<u64>, Refused> {
        self.expect('(')?;
        let mut shape = Vec::new();
        while !self.take(')') {
            let text = self.text.trim_start();
            let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
            let extent = text[..digits].parse();
            let Ok(extent) = extent else {
                let got: String = text.chars().take(24).flat_map(char::escape_debug).collect();
                return Err(Refused::Malformed(format!("its shape has '{got}' where a length was expected")));
            };
            shape.push(extent);
            // Python 2 wrote long integers with an L.
            self.text = text[digits..].strip_prefix('L').unwrap_or(&text[digits..]);
            // One length in parentheses is a number to Python, and no shape.
            if shape.len() == 1 {
                self.expect(',')?;
            } else if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dict(descr: &str, fortran: &str, shape: &str) -> String {
        format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}      \n")
    }

    #[test]
    fn what_numpy_writes_is_read() {
        let header = parse(&dict("'>c16'", "True", "(3, 4)")).unwrap();
        assert_eq!(header.number, Number::Complex(8));
        assert!(header.big_endian && header.fortran);
        assert_eq!(header.shape, [3, 4]);
        assert!(parse(&dict("'|b1'", "False", "()")).unwrap().shape.is_empty());
        assert_eq!(parse(&dict("'<f2'", "False", "(7,)")).unwrap().shape, [7]);
        assert_eq!(parse(&dict("'<V2'", "False", "(7,)")).unwrap().number, Number::Brain);
        assert_eq!(parse(&dict("'<i8'", "False", "(7L, 2L)")).unwrap().shape, [7, 2]);
    }

    #[test]
    fn what_is_no_number_is_named() {
        for (descr, words) in [
            ("'|O'", "Python objects"),
            ("'<U5'", "text"),
            ("'<M8[ns]'", "dates or durations"),
            ("'|V8'", "raw bytes"),
            ("'<f16'", "extended precision numbers"),
            ("[('a', '<f4'), ('b', [('c', '<i2')])]", "records of several fields"),
        ] {
            let Err(Refused::Dtype { what, .. }) = parse(&dict(descr, "False", "(3,)")) else {
                panic!("{descr} was not refused for its dtype");
            };
            assert_eq!(what, words);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "{",
            "{'descr'",
            "{'descr': '<f4'}",
            "{'descr': [('a', '<f4'",
            "{'descr': '<f4', 'fortran_order': 1, 'shape': (3,)}",
            "{'descr': '<f4', 'fortran_order': True, 'shape': (-3,)}",
            "{'descr': '<f4', 'fortran_order': True, 'shape': (99999999999999999999999,)}",
            "{'descr': '<f4', 'fortran_order': True, 'shape': (3,), 'more': 1}",
            "{'descr': '<f4', 'fortran_order': True, 'shape': (3)}",
            "{'descr': '<f4', 'fortran_order': True, 'shape': (3,)} and more",
            "{'descr': 'é', 'fortran_order': True, 'shape': (é,)}",
        ] {
            assert!(matches!(parse(text), Err(Refused::Malformed(_))), "{text}");
        }
    }
}
