//! Damped oscillators: a kernel whose parameters are a structure.

use bytemuck::{Pod, Zeroable};
use cuda_std::prelude::*;

/// The parameters that all oscillators have in common. Passed by value, like any `repr(C)` structure.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Parameters {
    /// Stiffness over mass, in 1/s².
    pub stiffness: f32,
    /// Damping over mass, in 1/s.
    pub damping: f32,
    /// Length of a step, in s.
    pub step: f32,
    /// Number of steps.
    pub steps: u32,
}

/// Position and velocity.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(8))]
pub struct State {
    /// In m.
    pub position: f32,
    /// In m/s.
    pub velocity: f32,
}

/// Moves each oscillator on by all steps.
#[kernel]
pub fn oscillate(parameters: Parameters, mut states: Output<State>) {
    for (_, state) in states.own() {
        *state = moved(parameters, *state);
    }
}

/// One oscillator, by the semi-implicit Euler method.
pub fn moved(parameters: Parameters, mut state: State) -> State {
    for _ in 0..parameters.steps {
        let force = -parameters.stiffness * state.position - parameters.damping * state.velocity;
        state.velocity = force.mul_add(parameters.step, state.velocity);
        state.position = state.velocity.mul_add(parameters.step, state.position);
    }
    state
}
