//! A private module.

/// ```
/// use planted::Hidden;
///
/// let of = Hidden::of(1);
/// assert_eq!(of.0, 1);
/// ```
pub struct Hidden(pub u32);

impl Hidden {
    pub fn of(number: u32) -> Hidden {
        Hidden(number)
    }
}

pub struct NotExported;

impl NotExported {
    pub fn new() -> NotExported {
        NotExported
    }
}
