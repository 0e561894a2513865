//! Enums whose variants have a name in PTX.

/// A modifier that PTX writes by a name.
pub(crate) trait Modifier: Copy {
    /// The names, each variant's first.
    const NAMES: &'static [&'static str];
    /// Words for one of them, where there are better ones than all names.
    const KIND: Option<&'static str>;

    /// Returns the modifier that PTX calls so.
    fn of_name(name: &str) -> Option<Self>;
}

/// The first of these, if there is one.
pub(crate) const fn first(words: &[&'static str]) -> Option<&'static str> {
    match words {
        [first, ..] => Some(first),
        [] => None,
    }
}

/// An enum of modifiers, with the name that PTX gives each; `as` what one is called where it is missing.
macro_rules! named {
    ($(#[$outer:meta])* pub enum $name:ident $(as $words:literal)? { $($(#[$inner:meta])* $variant:ident = $text:literal $(| $other:literal)*),* $(,)? }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$inner])* $variant),* }

        impl $name {
            /// Its name in PTX, without the dot.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// The one that PTX calls so.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text $(| $other)* => Some(Self::$variant),)* _ => None }
            }
        }

        impl crate::names::Modifier for $name {
            const NAMES: &'static [&'static str] = &[$($text),*];
            const KIND: Option<&'static str> = crate::names::first(&[$($words)?]);

            fn of_name(name: &str) -> Option<Self> {
                Self::from_name(name)
            }
        }
    };
}

pub(crate) use named;
