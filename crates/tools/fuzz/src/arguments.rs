//! The words of a command.

use std::str::FromStr;

/// Options and their values, as they were given.
#[derive(Clone, Debug)]
pub struct Arguments {
    words: Vec<String>,
}

impl Arguments {
    /// Of these words.
    pub fn new(words: Vec<String>) -> Arguments {
        Arguments { words }
    }

    /// Takes an option without a value. Gives whether it was there.
    pub fn flag(&mut self, name: &str) -> bool {
        let at = self.words.iter().position(|it| it == name);
        at.map(|it| self.words.remove(it)).is_some()
    }

    /// Takes an option and its value.
    ///
    /// # Errors
    /// There is no value, or it is not of the type.
    pub fn value<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, String> {
        let Some(at) = self.words.iter().position(|it| it == name) else {
            return Ok(None);
        };
        self.words.remove(at);
        if at == self.words.len() {
            return Err(format!("{name} needs a value"));
        }
        let value = self.words.remove(at);
        let parsed = value
            .parse()
            .map_err(|_| format!("{name} {value}: no such value"))?;
        Ok(Some(parsed))
    }

    /// Takes an option's value, words with commas between them.
    ///
    /// # Errors
    /// One of them is not of the type.
    pub fn list<T: FromStr<Err: ToString>>(&mut self, name: &str) -> Result<Vec<T>, String> {
        let text: String = self.value(name)?.unwrap_or_default();
        let words = text.split(',').filter(|it| !it.is_empty());
        words
            .map(|it| {
                it.parse()
                    .map_err(|error: T::Err| format!("{name}: {}", error.to_string()))
            })
            .collect()
    }

    /// Takes the first word that is no option.
    pub fn word(&mut self) -> Option<String> {
        match self.words.first() {
            Some(first) if !first.starts_with("--") => Some(self.words.remove(0)),
            _ => None,
        }
    }

    /// # Errors
    /// Words are left that nobody has taken.
    pub fn end(&self) -> Result<(), String> {
        match self.words.first() {
            None => Ok(()),
            Some(word) => Err(format!("{word}: no such option; --help lists them")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_taken_in_any_order() {
        let words = "programs --without nan,approximate --child --seed 18446744073709551615 --x";
        let mut arguments = Arguments::new(words.split(' ').map(str::to_owned).collect());
        assert_eq!(arguments.word().as_deref(), Some("programs"));
        assert_eq!(arguments.value("--seed"), Ok(Some(u64::MAX)));
        assert!(arguments.flag("--child") && !arguments.flag("--child"));
        let classes: Result<Vec<String>, String> = arguments.list("--without");
        assert_eq!(
            classes,
            Ok(vec!["nan".to_owned(), "approximate".to_owned()])
        );
        assert!(arguments.end().is_err());
        assert!(arguments.value::<u64>("--x").is_err());
    }
}
