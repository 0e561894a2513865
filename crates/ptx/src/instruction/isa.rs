//! The macro that makes the table of instructions into types, readers, visitors and facts.

/// A row per operation:
///
/// ```text
/// /// Its documentation, the page's too.
/// Variant(Payload) = "name".part.part if Guard::path | "other",
///     by Parser::reader,           // reads the payload; without, the payload's fields are read in order
///     in TYPES,                    // the types that `ty` may be
///     where Payload::rule,         // a rule for its modifiers
///     class Integer of .ty counts 1, // for counts: the element is a field's or a constant (`of B32`); `counts`: operations of
///                                  // arithmetic per value, 1 of a sum or a product, 2 of both; none of comparisons, moves, logic
///     meets Warp,                  // or `meeting Payload::meeting`
///     flow Branches,
///     pure if Payload::condition,  // or `pure`
///     since 7 6,                   // the version of PTX, where it is newer than 7.0
///     on 80;                       // the compute capability, where it is newer than 7.5
/// ```
///
/// A payload that no other row has may stand in its row, as `operations!` (visit.rs) takes it; `read` there: its fields are read in
/// order:
///
/// ```text
/// /// `bmsk`: b set bits from bit a on.
/// Bmsk {
///     /// The treatment of amounts above 31.
///     pub wrap: Wrap,
///     /// Destination.
///     pub d: Reg as Wanted::BITS,
///     ..
/// } = "bmsk".b32, class Logic of B32, pure, since 7 6;
/// ```
///
/// The first row in order is read whose name an instruction has, with all its parts and its guard.
macro_rules! isa {
    (
        rows { $(
            $(#[doc = $doc:literal])*
            $variant:ident $(($payload:ty))? $({ $($fields:tt)* })? = $($name:literal $(. $part:ident)* $(if $when:path)?)|+
            $(, by $reader:path)?
            $(, in $types:ident)?
            $(, where $rule:path)?
            , class $class:ident $(of . $element:ident)? $(of $constant:ident)?
            $(counts $count:literal)? $(counts by $counting:path)?
            $(, meets $meeting:ident)? $(, meeting $meeting_of:path)?
            $(, flow $flow:ident)?
            $(, pure $(if $condition:path)?)?
            $(, since $major:literal $minor:literal)?
            $(, on $architecture:literal)?
            ;
        )* }
        without_operands { $(
            $(#[doc = $unit_doc:literal])*
            $unit:ident = $unit_name:literal $(. $unit_part:ident)*
            , class $unit_class:ident
            $(, meets $unit_meeting:ident)?
            $(, flow $unit_flow:ident)?
            $(, since $unit_major:literal $unit_minor:literal)?
            $(, on $unit_architecture:literal)?
            ;
        )* }
    ) => {
        $($(operations! {
            #[doc = concat!("The modifiers and operands of [`Operation::", stringify!($variant), "`].")]
            pub struct $variant read { $($fields)* }
        })?)*

        /// An operation with its modifiers and operands.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Operation {
            $($(#[doc = $doc])* $variant(payload_type!($variant $(, $payload)?)),)*
            $($(#[doc = $unit_doc])* $unit,)*
        }

        /// A row of the table of instructions: an operation without its operands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Row {
            $($(#[doc = $doc])* $variant,)*
            $($(#[doc = $unit_doc])* $unit,)*
        }

        impl Row {
            /// All of them, in the table's order.
            pub const ALL: &[Row] = &[$(Row::$variant,)* $(Row::$unit,)*];

            /// The opcodes that are read as it: names, with the parts that must be there.
            #[must_use]
            pub const fn opcodes(self) -> &'static [&'static str] {
                match self {
                    $(Self::$variant => &[$(concat!($name $(, ".", stringify!($part))*)),+],)*
                    $(Self::$unit => &[concat!($unit_name $(, ".", stringify!($unit_part))*)],)*
                }
            }

            /// Its documentation, in Markdown.
            #[must_use]
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc),*),)*
                    $(Self::$unit => concat!($($unit_doc),*),)*
                }
            }

            /// The class that it counts as.
            #[must_use]
            pub const fn class(self) -> Class {
                match self {
                    $(Self::$variant => Class::$class,)*
                    $(Self::$unit => Class::$unit_class,)*
                }
            }

            /// The version of PTX that it came with; 7.0 for those as old or older. Modifiers and types may be newer.
            #[must_use]
            pub const fn since(self) -> (u32, u32) {
                match self {
                    $($(Self::$variant => ($major, $minor),)?)*
                    $($(Self::$unit => ($unit_major, $unit_minor),)?)*
                    #[allow(unreachable_patterns, reason = "rows that say nothing")]
                    _ => (7, 0),
                }
            }

            /// The compute capability of the first GPUs that have it: 80 is `sm_80`. Those as old as 7.5 or older have 0. Modifiers,
            /// types and shapes may be newer.
            #[must_use]
            pub const fn architecture(self) -> u32 {
                match self {
                    $($(Self::$variant => $architecture,)?)*
                    $($(Self::$unit => $unit_architecture,)?)*
                    #[allow(unreachable_patterns, reason = "rows that say nothing")]
                    _ => 0,
                }
            }
        }

        impl Operation {
            /// Its row.
            #[must_use]
            pub const fn row(&self) -> Row {
                match self {
                    $(Self::$variant(_) => Row::$variant,)*
                    $(Self::$unit => Row::$unit,)*
                }
            }

            /// The facts of its row.
            #[must_use]
            pub fn facts(&self) -> Facts {
                let mut facts = Facts::of(self.row().class());
                match self {
                    $(Self::$variant(payload) => {
                        let _ = payload;
                        $(facts.element = Some(payload.$element);)?
                        $(facts.element = Some(Type::$constant);)?
                        $(facts.operations = facts.each($count);)?
                        $(facts.operations = $counting(payload);)?
                        $(facts.meeting = Meeting::$meeting;)?
                        $(facts.meeting = $meeting_of(payload);)?
                        $(facts.flow = Flow::$flow;)?
                        $(facts.is_pure = is_pure!(payload $(, $condition)?);)?
                    })*
                    $(Self::$unit => {
                        $(facts.meeting = Meeting::$unit_meeting;)?
                        $(facts.flow = Flow::$unit_flow;)?
                    })*
                }
                facts
            }

            /// Returns whether its types and modifiers go together.
            ///
            /// # Errors
            /// Why they do not, for what follows the opcode.
            pub(crate) fn rule(&self) -> std::result::Result<(), String> {
                match self {
                    $(Self::$variant(payload) => {
                        let _ = payload;
                        $(types::one_of(payload.ty, types::$types)?;)?
                        $($rule(payload)?;)?
                    })*
                    $(Self::$unit => {})*
                }
                Ok(())
            }
        }

        impl Visit for Operation {
            fn visit(&self, wanted: Wanted, visitor: &mut dyn FnMut(Named)) {
                match self {
                    $(Self::$variant(payload) => payload.visit(wanted, visitor),)*
                    $(Self::$unit => {})*
                }
            }
        }

        /// The readers of all rows. Those that rows name are the parser's, in whose module this expands.
        macro_rules! row_readers {
            () => {
                impl<'a> Parser<'a> {
                    /// Takes the parts of an opcode that its row names.
                    fn row(&mut self, op: &mut Opcode<'a>) -> Option<Row> {
                        match op.name {
                            $($unit_name if op.has_all(&[$(stringify!($unit_part)),*]) => {
                                op.take_all(&[$(stringify!($unit_part)),*]);
                                Some(Row::$unit)
                            })*
                            $($($name if op.has_all(&[$(stringify!($part)),*]) $(&& $when(self, op))? => {
                                op.take_all(&[$(stringify!($part)),*]);
                                Some(Row::$variant)
                            })+)*
                            _ => None,
                        }
                    }

                    /// Reads the operation of a row.
                    fn operation_of(&mut self, row: Row, op: &mut Opcode<'a>) -> Result<Operation> {
                        Ok(match row {
                            $(Row::$variant => {
                                Operation::$variant(read_payload!(self, op $(, $reader)?)?)
                            })*
                            $(Row::$unit => Operation::$unit,)*
                        })
                    }
                }
            };
        }
        pub(crate) use row_readers;
    };
}

/// The payload that a row names, or its own.
macro_rules! payload_type {
    ($variant:ident) => {
        $variant
    };
    ($variant:ident, $payload:ty) => {
        $payload
    };
}

macro_rules! is_pure {
    ($payload:ident) => {
        true
    };
    ($payload:ident, $condition:path) => {
        $condition($payload)
    };
}

pub(crate) use {is_pure, isa, payload_type};
