//! `ridgepoint profile` of a whole program, recorded while it ran.

mod compare;
mod show;

pub(super) use compare::Programs;
pub(super) use show::Outputs;
