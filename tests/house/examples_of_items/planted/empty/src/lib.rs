//! Nothing.

#[cfg(test)]
pub fn only_in_tests() {}

mod private {
    pub fn of_nobody() {}
}
