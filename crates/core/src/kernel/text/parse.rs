//! Text to kernel.

use std::collections::HashMap;

use crate::kernel::{Access, AtRun, Block, Buffer, Cache, Inst, Kernel, Op, Shared, Space, Type, Value};

/// Blocks inside one another at most.
const MAX_DEPTH: usize = 64;

/// A text that is no kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}, found {found:?}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// What would be right there.
    pub expected: &'static str,
    /// What stands there instead.
    pub found: String,
}

type Result<T> = std::result::Result<T, ParseError>;

/// Reads what [`print`](super::print) writes. The kernel has the form that the text says and is not verified.
///
/// # Errors
///
/// The first line that cannot be read, and what was expected there.
pub fn parse(text: &str) -> Result<Kernel> {
    let lines = text.lines().enumerate().map(|(i, line)| Line { number: i + 1, rest: line.trim() });
    let mut parser = Parser {
        lines: lines.filter(|line| !line.rest.is_empty() && !line.rest.starts_with("//")).collect(),
        next: 0,
        kernel: Kernel {
            name: String::new(),
            buffers: Vec::new(),
            shared: Vec::new(),
            threads: 0,
            cluster: 0,
            blocks: 0,
            min_blocks: 0,
            at_run: None,
            types: Vec::new(),
            body: Block::default(),
        },
        types: Vec::new(),
        // Each value stands somewhere in the text, so there are fewer than characters.
        most: text.len(),
        plain: Op::plain().map(|op| (op.to_string(), op)).collect(),
    };
    parser.header()?;
    parser.kernel.body = parser.block(0)?;
    parser.finish()
}

/// What is left of a line.
#[derive(Clone, Copy)]
struct Line<'t> {
    number: usize,
    rest: &'t str,
}

impl<'t> Line<'t> {
    fn fail<T>(&self, expected: &'static str) -> Result<T> {
        let found = if self.rest.is_empty() { "end of line" } else { self.rest };
        Err(ParseError { line: self.number, expected, found: found.into() })
    }

    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &'static str) -> Result<()> {
        if self.eat(token) { Ok(()) } else { self.fail(token) }
    }

    /// The longest run of characters of names and numbers.
    fn word(&mut self) -> &'t str {
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
        let end = self.rest.find(|c| !part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T> {
        let before = *self;
        self.word().parse().or_else(|_| before.fail("a number in range"))
    }

    /// `key=number`.
    fn setting<T: std::str::FromStr>(&mut self, key: &'static str) -> Result<T> {
        self.expect(key)?;
        self.expect("=")?;
        self.number()
    }

    fn name(&mut self) -> Result<String> {
        let before = *self;
        let word = self.word();
        if word.is_empty() { before.fail("a name") } else { Ok(word.into()) }
    }

    fn end(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { self.fail("the end of the line") }
    }
}

struct Parser<'t> {
    lines: Vec<Line<'t>>,
    next: usize,
    kernel: Kernel,
    types: Vec<Option<Type>>,
    most: usize,
    plain: HashMap<String, Op>,
}

impl<'t> Parser<'t> {
    /// The line to be read next; an empty one behind the last.
    fn peek(&self) -> Line<'t> {
        let end = self.lines.last().map_or(1, |line| line.number + 1);
        self.lines.get(self.next).copied().unwrap_or(Line { number: end, rest: "" })
    }

    /// The next line without its first word, if it is the given one.
    fn take(&mut self, word: &str) -> Option<Line<'t>> {
        let mut line = self.peek();
        let taken = line.eat(word);
        self.next += usize::from(taken);
        taken.then_some(line)
    }

    fn header(&mut self) -> Result<()> {
        let Some(mut line) = self.take("kernel ") else { return self.peek().fail("kernel NAME") };
        self.kernel.name = line.name()?;
        self.kernel.threads = line.setting("threads")?;
        self.kernel.blocks = line.setting("blocks")?;
        self.kernel.cluster = line.setting("cluster")?;
        self.kernel.min_blocks = line.setting("min_blocks")?;
        line.end()?;
        if let Some(mut line) = self.take("at_run ") {
            let (most, step, blocks) =
                (line.setting("most")?, line.setting("step")?, line.setting("blocks")?);
            line.end()?;
            self.kernel.at_run = Some(AtRun { most, step, blocks });
        }
        while let Some(mut line) = self.take("buffer ") {
            let (name, elem, len) = self.array(&mut line)?;
            let before = line;
            let word = line.word();
            let Some(access) = Access::ALL.into_iter().find(|access| access.name() == word) else {
                return before.fail("read, write or read_write");
            };
            line.end()?;
            self.kernel.buffers.push(Buffer { name, elem, access, len });
        }
        while let Some(mut line) = self.take("shared ") {
            let start = line;
            let (name, elem, len) = self.array(&mut line)?;
            let Ok(len) = u32::try_from(len) else { return start.fail("fewer than 2^32 elements") };
            line.end()?;
            self.kernel.shared.push(Shared { name, elem, len });
        }
        while let Some(mut line) = self.take("unused ") {
            self.definition(&mut line)?;
            line.end()?;
        }
        match self.take("body:") {
            Some(line) => line.end(),
            None => self.peek().fail("body:"),
        }
    }

    /// `name: type[len]`.
    fn array(&self, line: &mut Line<'t>) -> Result<(String, Type, u64)> {
        let name = line.name()?;
        line.expect(":")?;
        let elem = self.ty(line)?;
        line.expect("[")?;
        let len = line.number()?;
        line.expect("]")?;
        Ok((name, elem, len))
    }

    fn ty(&self, line: &mut Line<'t>) -> Result<Type> {
        let before = *line;
        let word = line.word();
        if let Some((ty, _)) = Type::SCALARS.iter().find(|(_, name)| *name == word) {
            return Ok(*ty);
        }
        let found = match word.splitn(3, '.').collect::<Vec<_>>()[..] {
            ["ptr", "global", name] => {
                self.kernel.buffers.iter().position(|b| b.name == name).map(|i| Space::Global(i as u16))
            }
            ["ptr", place @ ("shared" | "remote"), name] => {
                let array = self.kernel.shared.iter().position(|s| s.name == name).map(|i| i as u16);
                array.map(|i| if place == "shared" { Space::Shared(i) } else { Space::Remote(i) })
            }
            _ => return before.fail("a type"),
        };
        found.map_or_else(|| before.fail("a pointer to a declared array"), |space| Ok(Type::Ptr(space)))
    }

    fn value(&self, line: &mut Line<'t>) -> Result<Value> {
        let before = *line;
        if !line.eat("%") {
            return before.fail("a value such as %3");
        }
        let number: u32 = line.number()?;
        if number as usize >= self.most { before.fail("a smaller value number") } else { Ok(Value(number)) }
    }

    /// Values up to the end of the list, and the offset behind the first.
    fn values(&self, line: &mut Line<'t>) -> Result<(Vec<Value>, i32)> {
        let (mut values, mut offset) = (Vec::new(), 0);
        if !line.rest.starts_with('%') {
            return Ok((values, offset));
        }
        loop {
            values.push(self.value(line)?);
            if values.len() == 1 && line.rest.starts_with(['+', '-']) {
                offset = line.number()?;
            }
            if !line.eat(",") {
                return Ok((values, offset));
            }
        }
    }

    /// `%3: type`.
    fn definition(&mut self, line: &mut Line<'t>) -> Result<Value> {
        let before = *line;
        let value = self.value(line)?;
        line.expect(":")?;
        let ty = self.ty(line)?;
        let i = value.0 as usize;
        if self.types.len() <= i {
            self.types.resize(i + 1, None);
        }
        if self.types[i].replace(ty).is_some() {
            return before.fail("a value that is not defined above");
        }
        Ok(value)
    }

    fn definitions(&mut self, line: &mut Line<'t>) -> Result<Vec<Value>> {
        let mut values = vec![self.definition(line)?];
        while line.eat(",") {
            values.push(self.definition(line)?);
        }
        Ok(values)
    }

    fn block(&mut self, depth: usize) -> Result<Block> {
        let mut block = Block::default();
        if depth > MAX_DEPTH {
            return self.peek().fail("at most 64 blocks inside one another");
        }
        if let Some(mut line) = self.take("params ") {
            block.params = self.definitions(&mut line)?;
            line.end()?;
        }
        while self.next < self.lines.len() && !self.peek().rest.starts_with('}') {
            if let Some(mut line) = self.take("yield ") {
                block.yields = self.values(&mut line)?.0;
                line.end()?;
                break;
            }
            let inst = self.instruction(depth)?;
            block.insts.push(inst);
        }
        Ok(block)
    }

    fn instruction(&mut self, depth: usize) -> Result<Inst> {
        let mut line = self.peek();
        self.next += 1;
        let mut results = Vec::new();
        if line.rest.starts_with('%') {
            results = self.definitions(&mut line)?;
            line.expect("=")?;
        }
        let ty = results.first().and_then(|v: &Value| self.types[v.0 as usize]);
        let mut op = self.op(&mut line, ty)?;
        let (mut args, distance) = self.values(&mut line)?;
        let predicate = if line.eat("if ") { Some(self.value(&mut line)?) } else { None };
        match &mut op {
            Op::Load { offset, predicated, .. } | Op::Store { offset, predicated, .. } => {
                (*offset, *predicated) = (distance, predicate.is_some());
            }
            Op::RemoteStoreAsync { offset, .. } if predicate.is_none() => *offset = distance,
            Op::BulkPrefetch { predicated } if distance == 0 => *predicated = predicate.is_some(),
            _ if distance == 0 && predicate.is_none() => {}
            _ => return line.fail("neither offset nor predicate for this operation"),
        }
        args.extend(predicate);
        let mut blocks = Vec::new();
        while line.eat("{") {
            line.end()?;
            blocks.push(self.block(depth + 1)?);
            line = match self.take("}") {
                Some(line) => line,
                None => return self.peek().fail("}"),
            };
        }
        line.end()?;
        Ok(Inst { op, args, results, blocks })
    }

    /// An operation with its attributes; offset and predicate stand among the arguments.
    fn op(&self, line: &mut Line<'t>, ty: Option<Type>) -> Result<Op> {
        let before = *line;
        let word = line.word();
        if let Some(op) = self.plain.get(word) {
            return Ok(*op);
        }
        let mut parts = word.split('.');
        let name = parts.next().unwrap_or_default();
        let number = parts.next().and_then(|part| part.parse::<u32>().ok());
        let hint = parts.next();
        let cache = match hint {
            None => Some(Cache::Default),
            Some(hint) => Cache::HINTS.into_iter().find(|cache| cache.name() == hint),
        };
        let width = number.and_then(|n| u8::try_from(n).ok());
        let (offset, predicated) = (0, false);
        let op = match (name, number, width, cache) {
            ("const", None, ..) => Some(Op::Const(constant(line, ty)?)),
            ("load", _, Some(width), Some(cache)) => Some(Op::Load { width, offset, cache, predicated }),
            ("store", _, Some(width), Some(cache)) => Some(Op::Store { width, offset, cache, predicated }),
            ("remote_store_async", _, Some(width), _) => Some(Op::RemoteStoreAsync { width, offset }),
            ("barrier_init", Some(count), ..) => Some(Op::BarrierInit { count }),
            ("bulk_wait", _, Some(pending), _) => Some(Op::BulkWait { pending }),
            ("bulk_prefetch", None, ..) => Some(Op::BulkPrefetch { predicated }),
            _ => None,
        };
        let surplus = parts.next().is_some() || (hint.is_some() && !matches!(name, "load" | "store"));
        op.filter(|_| !surplus).map_or_else(|| before.fail("an operation with its attributes"), Ok)
    }

    fn finish(mut self) -> Result<Kernel> {
        if self.next < self.lines.len() {
            return self.peek().fail("an instruction or the end");
        }
        let known = self.types.len();
        self.kernel.types = self.types.iter().flatten().copied().collect();
        if self.kernel.types.len() < known {
            return self.peek().fail("a definition or an `unused` line for every value number");
        }
        Ok(self.kernel)
    }
}

/// The bits of a constant of that type.
fn constant(line: &mut Line<'_>, ty: Option<Type>) -> Result<u64> {
    let before = *line;
    let word = line.word();
    if let Some(hex) = word.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).or_else(|_| before.fail("up to 16 hexadecimal digits"));
    }
    let bits = match ty {
        Some(Type::Bool) => word.parse::<bool>().ok().map(u64::from),
        Some(Type::I32) => word.parse::<i32>().ok().map(|x| u64::from(x as u32)),
        Some(Type::U32) => word.parse::<u32>().ok().map(u64::from),
        Some(Type::F32) => word.parse::<f32>().ok().map(|x| f64::from(x).to_bits()),
        Some(Type::F16 | Type::Bf16 | Type::F64) => word.parse::<f64>().ok().map(f64::to_bits),
        _ => word.parse::<u64>().ok(),
    };
    bits.map_or_else(|| before.fail("a constant of the result's type"), Ok)
}
