//! The accesses of programs by small numbers, so that a cell can remember which it was.

use super::access::{AccessKind, Strength};
use super::finding::{SiteId, Verb};
use super::hash::Map;

/// One instruction's access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) program: u32,
    pub(super) instruction: u32,
    pub(super) what: AccessKind,
    /// Whether it is half of an asynchronous copy.
    pub(super) is_copy: bool,
    /// Whether that is through the asynchronous proxy.
    pub(super) is_bulk: bool,
    /// Whether it is `mbarrier.arrive`.
    pub(super) is_arrival: bool,
    /// The action, where another than those facts tell.
    pub(super) does: Option<Verb>,
    /// Whether an instruction of a word is about a part of it alone, of `element_bytes`.
    pub(super) is_part: bool,
    pub(super) element_bytes: u32,
}

impl Site {
    /// Whether it is a thread's own plain store.
    pub(super) fn is_plain_store(&self) -> bool {
        self.what == AccessKind::Write(Strength::Weak)
            && !self.is_copy
            && self.does.is_none()
            && self.program != OF_HOST
    }

    /// Whether a strong access and another reach as many bytes at once, so that each is atomic for the other. An atomic that is
    /// about a part of its word is one of both.
    pub(super) fn is_as_wide_as(&self, other: &Site) -> bool {
        let is_word = |it: &Site| it.is_part || it.element_bytes == 4;
        self.element_bytes == other.element_bytes
            || (self.is_part || other.is_part) && is_word(self) && is_word(other)
    }

    /// The action, for findings.
    pub(super) fn verb(&self) -> Verb {
        self.does.unwrap_or(match (self.is_copy, self.is_bulk) {
            (true, _) => Verb::Copy,
            (false, true) => Verb::Multiply,
            (false, false) => Verb::of(self.what),
        })
    }

    /// The instruction, for findings.
    pub(super) fn at(&self) -> SiteId {
        SiteId {
            program: self.program,
            instruction: self.instruction,
        }
    }
}

/// The role of an instruction at a site: a copy has several, and a compare-and-swap may only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Read,
    Write,
    /// Of a part of the word that an atomic is of.
    Byte,
    Half,
    /// At an mbarrier.
    Arrival,
    CopyFrom,
    CopyTo,
    BulkFrom,
    BulkTo,
    BulkFromGlobal,
    BulkToGlobal,
    /// By a product of matrices.
    Product,
    /// The sum of a product of matrices in tensor memory.
    Accumulate,
    /// The address of columns of tensor memory, in shared memory: by the unit that allocates.
    Allocate,
    /// The end of columns of tensor memory.
    Free,
}

impl Role {
    pub(super) fn is_copy(self) -> bool {
        matches!(self, Role::CopyFrom | Role::CopyTo)
            || self.is_bulk() && self != Role::Product && self.does().is_none()
    }

    /// The action that the role alone tells.
    pub(super) fn does(self) -> Option<Verb> {
        match self {
            Role::Accumulate => Some(Verb::Accumulate),
            Role::Allocate => Some(Verb::Write),
            Role::Free => Some(Verb::Free),
            _ => None,
        }
    }

    pub(super) fn is_bulk(self) -> bool {
        matches!(
            self,
            Role::BulkFrom
                | Role::BulkTo
                | Role::BulkFromGlobal
                | Role::BulkToGlobal
                | Role::Product
                | Role::Accumulate
                | Role::Allocate
        )
    }
}

/// In place of a program: the host's.
pub(super) const OF_HOST: u32 = u32::MAX;

/// The sites of the host's writes and of its reads.
pub(super) const HOST_WRITES: u32 = 0;
pub(super) const HOST_READS: u32 = 1;

/// All sites of a checker. The first two are the host's.
#[derive(Debug)]
pub(super) struct Sites {
    all: Vec<Site>,
    /// Per program, and per instruction, in pages.
    tables: Vec<Vec<Option<Box<Page>>>>,
    programs: Map<u32, usize>,
}

/// Instructions are numbered with gaps between functions.
const PAGE: usize = 256;
const ROLES: usize = Role::Free as usize + 1;
type Page = [[u16; ROLES]; PAGE];

/// More than a cell can number are one.
const MOST: usize = u16::MAX as usize;

impl Sites {
    pub(super) fn new() -> Sites {
        let host = |what| Site {
            program: OF_HOST,
            instruction: u32::MAX,
            what,
            is_copy: false,
            is_bulk: false,
            is_arrival: false,
            does: None,
            is_part: false,
            element_bytes: 1,
        };
        Sites {
            all: vec![
                host(AccessKind::Write(Strength::Weak)),
                host(AccessKind::Read(Strength::Weak)),
            ],
            tables: Vec::new(),
            programs: Map::default(),
        }
    }

    pub(super) fn get(&self, number: u32) -> &Site {
        &self.all[number as usize]
    }

    /// The place of a program's table.
    pub(super) fn program(&mut self, program: u32) -> usize {
        let tables = &mut self.tables;
        *self.programs.entry(program).or_insert_with(|| {
            tables.push(Vec::new());
            tables.len() - 1
        })
    }

    #[inline]
    pub(super) fn number(
        &mut self,
        table: usize,
        role: Role,
        site: impl FnOnce() -> Site,
        instruction: u32,
    ) -> u32 {
        let page = self.tables[table].get(instruction as usize / PAGE);
        if let Some(Some(page)) = page
            && let number @ 1.. = page[instruction as usize % PAGE][role as usize]
        {
            return number.into();
        }
        self.add(table, role, site())
    }

    /// Forgets them where they are many and nobody can ask for one any more.
    pub(super) fn forget(&mut self) {
        if self.all.len() > MOST / 2 {
            *self = Sites::new();
        }
    }

    #[cold]
    fn add(&mut self, table: usize, role: Role, site: Site) -> u32 {
        if self.all.len() < MOST {
            self.all.push(site);
        }
        let number = self.all.len() - 1;
        let table = &mut self.tables[table];
        let at = site.instruction as usize;
        table.resize_with(table.len().max(at / PAGE + 1), || None);
        let page = table[at / PAGE].get_or_insert_with(|| Box::new([[0; ROLES]; PAGE]));
        page[at % PAGE][role as usize] = number as u16;
        number as u32
    }
}
