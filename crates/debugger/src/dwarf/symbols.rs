//! Sections as bytes, with numbers in place of what PTX calls by names.

use std::borrow::Cow;
use std::collections::HashMap;

use engine::debug::Site;
use ptx::{Module, Section};

/// Instructions of function `f` have addresses from `(f + 1) << 32` on.
const CODE: u32 = 32;
/// Variable `v` has those from `DATA | v << 40` on.
const DATA: u64 = 1 << 63;
const VARIABLE: u32 = 40;

/// The names of a module's sections, each with a number.
pub(crate) struct Symbols {
    numbers: HashMap<String, u64>,
    variables: Vec<String>,
}

/// The address of an instruction.
pub(crate) fn address_of(site: Site) -> u64 {
    ((u64::from(site.function) + 1) << CODE) + u64::from(site.instruction)
}

/// The function of an address in code.
pub(crate) fn function_of(address: u64) -> Option<u32> {
    u32::try_from((address >> CODE).checked_sub(1)?).ok()
}

impl Symbols {
    pub(crate) fn of(module: &Module) -> Symbols {
        let mut numbers = HashMap::new();
        for section in &module.sections {
            numbers.insert(section.name.clone(), 0);
            let labels = section.labels.iter();
            numbers.extend(labels.map(|(label, at)| (label.clone(), *at as u64)));
        }
        for (function, number) in module.functions.iter().zip(0..) {
            let labels = function.body.as_ref().map_or(&[][..], |body| &body.labels);
            for label in labels {
                let site = Site {
                    function: number,
                    instruction: label.position,
                };
                // Compilers number those that their sections name through the module.
                let known = numbers.entry(label.name.clone());
                known.or_insert_with(|| address_of(site));
            }
        }
        let mut variables = Vec::new();
        for address in module.sections.iter().flat_map(|it| &it.addresses) {
            // A section that is not here, which begins at 0, too.
            if address.symbol.starts_with('.') {
                continue;
            }
            numbers.entry(address.symbol.clone()).or_insert_with(|| {
                variables.push(address.symbol.clone());
                DATA | (variables.len() as u64 - 1) << VARIABLE
            });
        }
        Symbols { numbers, variables }
    }

    /// A section's bytes.
    pub(crate) fn bytes<'s>(&self, section: &'s Section) -> Cow<'s, [u8]> {
        let number = |name: &str| self.numbers.get(name).copied().unwrap_or(0);
        let mut bytes = Cow::Borrowed(section.bytes.as_slice());
        for address in &section.addresses {
            let value = number(&address.symbol).wrapping_add_signed(address.addend);
            let value = value.wrapping_sub(address.minus.as_deref().map_or(0, number));
            let count = usize::from(address.bytes);
            let place = bytes.to_mut().get_mut(address.offset..);
            if let Some(place) = place.and_then(|it| it.get_mut(..count)) {
                place.copy_from_slice(&value.to_le_bytes()[..count]);
            }
        }
        bytes
    }

    /// The variable at an address, and the bytes behind its beginning.
    pub(crate) fn variable(&self, address: u64) -> Option<(&str, u64)> {
        let number = (address & !DATA) >> VARIABLE;
        let name = self.variables.get(usize::try_from(number).ok()?);
        let offset = address & ((1 << VARIABLE) - 1);
        Some((name.filter(|_| address & DATA != 0)?, offset))
    }
}

/// The register of a number in DWARF: the characters of its name are the bytes of the number.
pub(crate) fn register(number: u64) -> Option<String> {
    let bytes = number.to_be_bytes();
    let name = bytes.iter().copied().skip_while(|&byte| byte == 0);
    String::from_utf8(name.collect()).ok()
}
