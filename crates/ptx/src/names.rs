//! Enums whose variants have a name in PTX.

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

        impl crate::parse::Read for $name {
            fn read<'a>(
                _: &mut crate::parse::Parser<'a>,
                op: &mut crate::parse::Opcode<'a>,
                _: crate::instruction::Wanted,
            ) -> crate::parse::Result<Self> {
                op.want_named(&[$($words)?], &[$($text),*], Self::from_name)
            }
        }

        impl crate::parse::Read for Option<$name> {
            fn read<'a>(
                _: &mut crate::parse::Parser<'a>,
                op: &mut crate::parse::Opcode<'a>,
                _: crate::instruction::Wanted,
            ) -> crate::parse::Result<Self> {
                Ok(op.take($name::from_name))
            }
        }

        impl crate::parse::ReadOr<$name> for $name {
            fn read_or(op: &mut crate::parse::Opcode<'_>, otherwise: Self) -> Self {
                op.take(Self::from_name).unwrap_or(otherwise)
            }
        }

        impl crate::parse::ReadOr<&$name> for $name {
            fn read_or(op: &mut crate::parse::Opcode<'_>, otherwise: &Self) -> Self {
                op.take(Self::from_name).unwrap_or(*otherwise)
            }
        }

        impl crate::instruction::Visit for $name {
            fn visit(&self, _: crate::instruction::Wanted, _: &mut dyn FnMut(crate::instruction::Named)) {}
        }
    };
}

pub(crate) use named;
