//! Enums whose variants have a name in PTX.

/// An enum of modifiers, with the name that PTX gives each.
macro_rules! named {
    ($(#[$outer:meta])* pub enum $name:ident { $($(#[$inner:meta])* $variant:ident = $text:literal $(| $other:literal)*),* $(,)? }) => {
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

        impl crate::instruction::Visit for $name {
            fn visit(&self, _: crate::instruction::Wanted, _: &mut dyn FnMut(crate::instruction::Named)) {}
        }
    };
}

pub(crate) use named;
