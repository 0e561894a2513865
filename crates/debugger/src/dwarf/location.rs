//! Where a variable is: DWARF's expressions, of which compilers for GPUs write a few.

use gimli::{Encoding, EndianSlice, LittleEndian, Operation, Reader};

use super::symbols::{Symbols, register};

/// The machine that an expression refers to: one lane of a stopped launch.
pub(crate) trait Machine {
    /// The bits of a register; none where there is no such one, or it is not written yet.
    fn register(&self, name: &str) -> Option<u128>;

    /// The generic address of a variable or a parameter, by its name in the PTX.
    fn address(&self, symbol: &str) -> Option<u64>;

    /// The bytes at a generic address.
    fn read(&self, address: u64, bytes: u64) -> Option<Vec<u8>>;
}

/// Where a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// In memory, at a generic address.
    Memory(u64),
    /// In registers, or known to the compiler; none of bytes that are nowhere.
    Bytes(Vec<Option<u8>>),
}

const REGISTER: u8 = gimli::DW_OP_regx.0;
const REGISTER_OFFSET: u8 = gimli::DW_OP_bregx.0;
/// PTX is of 64 bits here, and compilers write DWARF 2.
const ENCODING: Encoding = Encoding {
    format: gimli::Format::Dwarf32,
    version: 2,
    address_size: 8,
};
/// Values on the stack, at most.
const MOST_VALUES: usize = 64;
/// Bytes of a value in pieces, at most.
const MOST_BYTES: usize = 1 << 16;

/// A number on the stack.
#[derive(Clone, Copy)]
struct Number {
    bits: u64,
    /// Whether it is computed from an address or a register. Before DWARF 4 there is no operation that says so of a constant
    /// which is the value itself.
    is_address: bool,
}

struct Evaluation<'e> {
    symbols: &'e Symbols,
    machine: &'e dyn Machine,
    stack: Vec<Number>,
    /// The value, where it is no address.
    value: Option<Vec<u8>>,
    pieces: Vec<Option<u8>>,
    has_pieces: bool,
}

/// Where a value is, by an expression; none where it says nothing that is known here.
pub(crate) fn evaluate(
    expression: &[u8],
    symbols: &Symbols,
    machine: &dyn Machine,
) -> Option<Held> {
    let mut evaluation = Evaluation {
        symbols,
        machine,
        stack: Vec::new(),
        value: None,
        pieces: Vec::new(),
        has_pieces: false,
    };
    let mut rest = EndianSlice::new(expression, LittleEndian);
    while !rest.is_empty() {
        evaluation.step(&mut rest)?;
    }
    evaluation.end()
}

impl Evaluation<'_> {
    fn step(&mut self, rest: &mut EndianSlice<'_, LittleEndian>) -> Option<()> {
        // The numbers of PTX's registers are too large for gimli's.
        match *rest.slice().first()? {
            REGISTER => {
                rest.read_u8().ok()?;
                let name = register(rest.read_uleb128().ok()?)?;
                // Of one that there is not, the pieces beside it are known all the same.
                let bits = self.machine.register(&name);
                self.value = bits.map(|it| it.to_le_bytes().to_vec());
                Some(())
            }
            REGISTER_OFFSET => {
                rest.read_u8().ok()?;
                let name = register(rest.read_uleb128().ok()?)?;
                let offset = rest.read_sleb128().ok()?;
                let bits = self.machine.register(&name)? as u64;
                self.push(bits.wrapping_add_signed(offset), true)
            }
            _ => {
                let operation = Operation::parse(rest, ENCODING).ok()?;
                self.operate(operation)
            }
        }
    }

    fn operate(&mut self, operation: Operation<EndianSlice<'_, LittleEndian>>) -> Option<()> {
        match operation {
            Operation::Nop => Some(()),
            Operation::Address { address } => {
                let (name, offset) = self.symbols.variable(address)?;
                let address = self.machine.address(name)?;
                self.push(address.wrapping_add(offset), true)
            }
            Operation::UnsignedConstant { value } => self.push(value, false),
            Operation::SignedConstant { value } => self.push(value as u64, false),
            Operation::PlusConstant { value } => self.one(|it| it.wrapping_add(value)),
            Operation::Neg => self.one(u64::wrapping_neg),
            Operation::Not => self.one(|it| !it),
            Operation::Plus => self.two(u64::wrapping_add),
            Operation::Minus => self.two(u64::wrapping_sub),
            Operation::Mul => self.two(u64::wrapping_mul),
            Operation::And => self.two(|a, b| a & b),
            Operation::Or => self.two(|a, b| a | b),
            Operation::Xor => self.two(|a, b| a ^ b),
            Operation::Shl => self.two(|a, b| a.checked_shl(b as u32).unwrap_or(0)),
            Operation::Shr => self.two(|a, b| a.checked_shr(b as u32).unwrap_or(0)),
            Operation::Deref { size, .. } => {
                let address = self.stack.pop()?.bits;
                let bytes = self.machine.read(address, u64::from(size.min(8)))?;
                self.push(number(&bytes), true)
            }
            Operation::StackValue => {
                let value = self.stack.pop()?.bits;
                self.value = Some(value.to_le_bytes().to_vec());
                Some(())
            }
            Operation::ImplicitValue { data } => {
                self.value = Some(data.slice().to_vec());
                Some(())
            }
            Operation::Piece { size_in_bits, .. } => self.piece((size_in_bits / 8) as usize),
            _ => None,
        }
    }

    fn push(&mut self, bits: u64, is_address: bool) -> Option<()> {
        self.stack.push(Number { bits, is_address });
        (self.stack.len() <= MOST_VALUES).then_some(())
    }

    fn one(&mut self, of: impl Fn(u64) -> u64) -> Option<()> {
        let it = self.stack.last_mut()?;
        it.bits = of(it.bits);
        Some(())
    }

    fn two(&mut self, of: impl Fn(u64, u64) -> u64) -> Option<()> {
        let (b, a) = (self.stack.pop()?, self.stack.pop()?);
        self.push(of(a.bits, b.bits), a.is_address || b.is_address)
    }

    /// Takes the place that was found last as that of some of the value's bytes.
    fn piece(&mut self, bytes: usize) -> Option<()> {
        if self.pieces.len() + bytes > MOST_BYTES {
            return None;
        }
        self.has_pieces = true;
        let mut found = match self.found() {
            Some(Held::Bytes(found)) => found,
            Some(Held::Memory(address)) => {
                let read = self.machine.read(address, bytes as u64).unwrap_or_default();
                read.into_iter().map(Some).collect()
            }
            None => Vec::new(),
        };
        found.resize(bytes, None);
        self.pieces.append(&mut found);
        Some(())
    }

    fn found(&mut self) -> Option<Held> {
        let known = |bytes: &[u8]| Held::Bytes(bytes.iter().copied().map(Some).collect());
        let top = self.stack.pop();
        self.stack.clear();
        match (self.value.take(), top) {
            (Some(value), _) => Some(known(&value)),
            (None, Some(it)) if it.is_address => Some(Held::Memory(it.bits)),
            (None, Some(it)) => Some(known(&it.bits.to_le_bytes())),
            (None, None) => None,
        }
    }

    fn end(mut self) -> Option<Held> {
        match self.has_pieces {
            true => Some(Held::Bytes(self.pieces)),
            false => self.found(),
        }
    }
}

/// The number of at most eight bytes.
fn number(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
    u64::from_le_bytes(all)
}
