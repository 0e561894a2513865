//! Global memory that asynchronous copies read that have not landed.

use std::collections::BTreeMap;

use super::hash::Map;

/// Memory that a copy reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) instance: u32,
    pub(super) thread: u32,
    pub(super) from: u64,
    pub(super) bytes: u64,
    pub(super) site: u32,
}

/// Sources, by their numbers and by their addresses: a store asks for those that it reaches, of however many blocks there are copies
/// under way.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// By the first address and the number.
    all: BTreeMap<(u64, u64), Source>,
    /// The first address of each number.
    places: Map<u64, u64>,
    /// Bytes of the longest since there was none.
    longest: u64,
    begun: u64,
}

impl Sources {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The number of the next.
    pub(super) fn next(&self) -> u64 {
        self.begun
    }

    pub(super) fn begin(&mut self, source: Source) {
        let longest = if self.is_empty() { 0 } else { self.longest };
        self.longest = longest.max(source.bytes);
        self.places.insert(self.begun, source.from);
        self.all.insert((source.from, self.begun), source);
        self.begun += 1;
    }

    /// The copy of a number has landed.
    pub(super) fn end(&mut self, number: u64) {
        if let Some(from) = self.places.remove(&number) {
            self.all.remove(&(from, number));
        }
    }

    /// A block has ended.
    pub(super) fn end_all_of(&mut self, instance: u32) {
        let places = &mut self.places;
        self.all.retain(|(_, number), source| {
            let stays = source.instance != instance;
            if !stays {
                places.remove(number);
            }
            stays
        });
    }

    /// One that has some of these bytes.
    pub(super) fn meeting(&self, address: u64, bytes: u64) -> Option<&Source> {
        let first = address.saturating_sub(self.longest);
        let before = self
            .all
            .range((first, 0)..(address.saturating_add(bytes), 0));
        let mut near = before.map(|(_, source)| source);
        near.find(|source| address < source.from.saturating_add(source.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_have_some_of_the_bytes_are_found() {
        let mut sources = Sources::default();
        let source = |instance, from, bytes| Source {
            instance,
            thread: 0,
            from,
            bytes,
            site: 0,
        };
        sources.begin(source(1, 100, 16));
        sources.begin(source(2, 100, 64));
        sources.begin(source(2, 200, 4));
        let found = |sources: &Sources, address, bytes| {
            sources
                .meeting(address, bytes)
                .map(|it| (it.from, it.bytes))
        };
        assert_eq!(found(&sources, 96, 4), None);
        assert_eq!(found(&sources, 96, 5), Some((100, 16)));
        assert_eq!(found(&sources, 116, 4), Some((100, 64)));
        assert_eq!(found(&sources, 163, 100), Some((100, 64)));
        assert_eq!(found(&sources, 164, 36), None);
        assert_eq!(found(&sources, 164, 37), Some((200, 4)));
        sources.end(1);
        assert_eq!(found(&sources, 163, 1), None);
        sources.end_all_of(2);
        assert_eq!(found(&sources, 0, 1000), Some((100, 16)));
        sources.end(0);
        assert!(sources.is_empty());
        assert!(sources.places.is_empty());
    }
}
