//! Readers of instructions whose fields' types alone do not tell how they are read, one file per family: which modifiers
//! each takes, then which operands. Rows of the table name them (`by`).

mod asynchronous;
mod atomic;
mod cluster_launch;
mod compare;
mod control;
mod float;
mod integer;
mod matrix;
mod mbarrier;
mod memory;
mod movement;
mod other;
mod rows;
mod synchronisation;
mod tcgen05;
mod video;
