//! Blocks that take over the work of others that have not begun: `clusterlaunchcontrol`.

use crate::instruction::{Wanted, operations};
use crate::{Address, Operand, Reg, Space, Type};

operations! {
    /// A request to cancel blocks that have not begun, whose answer comes asynchronously.
    pub struct TryCancel {
        /// [`Space::Shared`] or [`Space::Generic`].
        pub space: Space,
        /// Whether all blocks of the cluster get the answer.
        pub multicast: bool,
        /// Where the answer goes, 16 bytes.
        pub response: Address,
        /// The mbarrier that counts its bytes.
        pub mbarrier: Address,
    }

    /// Whether an answer says that blocks were cancelled.
    pub struct IsCanceled {
        /// The predicate.
        pub p: Reg as Wanted::PREDICATE,
        /// The answer, `b128`.
        pub response: Operand as Wanted::Exactly(Type::B128),
    }

    /// The first of the blocks that an answer says were cancelled.
    pub struct FirstCanceled {
        /// x, y and z of it and a word of no meaning, or one of the three.
        pub d: Vec<Reg> as Wanted::BITS,
        /// The answer, `b128`.
        pub response: Operand as Wanted::Exactly(Type::B128),
    }
}
