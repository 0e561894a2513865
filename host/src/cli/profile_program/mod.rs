//! `ridgepoint profile` of a whole program, recorded while it ran.

mod show;

pub(super) use show::Outputs;
