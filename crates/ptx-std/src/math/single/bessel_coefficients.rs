//! The polynomials of the Bessel functions of orders 0 and 1: minimax, fitted for this file in mpmath by
//! Lawson's algorithm, with coefficients rounded one after the other; the highest power's first.

/// `J0(x)` divided by the factors of its three zeros up to 9, as a polynomial in x - 4.
pub(super) const J0: [f32; 13] = [
    -8.985213e-14,
    9.473453e-13,
    2.66279e-11,
    -2.1364513e-10,
    -4.6245052e-09,
    2.888059e-08,
    5.5069785e-07,
    -2.5394797e-06,
    -4.2778618e-05,
    0.00012922368,
    0.001897065,
    -0.0028000502,
    -0.035194863,
];

/// `(J0(x) - 1) / x²` as a polynomial in x², for x below 1.
pub(super) const J0_SMALL: [f32; 4] = [6.6363427e-06, -0.0004339281, 0.015624979, -0.25];

/// `J1(x)` divided by x and the factors of its other two zeros up to 8, as a polynomial in x - 4.
pub(super) const J1: [f32; 13] = [
    1.02468754e-13,
    1.0845324e-12,
    -2.5161083e-11,
    -2.4378133e-10,
    4.201602e-09,
    3.2875533e-08,
    -4.9972346e-07,
    -2.8830543e-06,
    3.900355e-05,
    0.00014619382,
    -0.0017405102,
    -0.003152394,
    0.032533325,
];

/// `2/pi J0(x)` as a polynomial in x², for x up to 0.6.
pub(super) const Y0_LOGARITHM: [f32; 4] = [-0.00026842437, 0.009943449, -0.15915434, 0.63661975];

/// `Y0(x) - 2/pi ln(x) J0(x)` as a polynomial in x², for x up to 0.6.
pub(super) const Y0_SMALL: [f32; 4] = [0.0005307262, -0.01607178, 0.1776058, -0.07380429];

/// `Y0` from 0.6 to 1.95 divided by the distance d from its first zero, as a polynomial in d.
pub(super) const Y0_1: [f32; 13] = [
    0.007848464,
    -0.04544505,
    0.11672904,
    -0.18126598,
    0.20420189,
    -0.20021008,
    0.19768287,
    -0.20444205,
    0.21889003,
    -0.22613281,
    0.22055362,
    -0.4920788,
    0.8794208,
];

/// `Y0` from 1.95 to 5.5, likewise with its second zero.
pub(super) const Y0_2: [f32; 12] = [
    -1.20597035e-08,
    2.6321352e-08,
    3.287817e-08,
    -3.2228323e-07,
    -5.038222e-06,
    5.0990442e-05,
    0.00019544663,
    -0.002183608,
    -0.006852659,
    0.058523875,
    0.050855923,
    -0.40254268,
];

/// `Y0` from 5.5 to 8, likewise with its third zero.
pub(super) const Y0_3: [f32; 9] = [
    6.2363273e-07,
    2.6809169e-06,
    -4.604289e-05,
    -0.00014062562,
    0.002176033,
    0.003318367,
    -0.048024077,
    -0.02117524,
    0.3000976,
];

/// `2/pi J1(x) / x` as a polynomial in x², for x up to 1.2.
pub(super) const Y1_LOGARITHM: [f32; 5] = [
    3.4360858e-07,
    -3.427571e-05,
    0.0016575841,
    -0.039788622,
    0.31830987,
];

/// `(Y1(x) - 2/pi (ln(x) J1(x) - 1 / x)) / x` as a polynomial in x², for x up to 1.2.
pub(super) const Y1_SMALL: [f32; 5] = [
    -9.928689e-07,
    7.170852e-05,
    -0.0029554022,
    0.054348733,
    -0.1960571,
];

/// `Y1` from 1.2 to 3.8 divided by the distance d from its first zero, as a polynomial in d.
pub(super) const Y1_1: [f32; 14] = [
    -2.342124e-06,
    1.4871277e-05,
    -3.730338e-05,
    5.3919615e-05,
    -8.787867e-05,
    0.00022120021,
    -0.00052070053,
    0.0010779543,
    -0.0025925187,
    0.0074191573,
    -0.0047980743,
    -0.03285702,
    -0.11851454,
    0.5207864,
];

/// `Y1` from 3.8 to 7, likewise with its second zero.
pub(super) const Y1_2: [f32; 10] = [
    2.0957295e-08,
    -5.158936e-07,
    -2.848678e-06,
    4.641016e-05,
    0.00014660167,
    -0.0021659893,
    -0.0041601076,
    0.050947964,
    0.031338677,
    -0.34031805,
];

/// `Y1` from 7 to 8, likewise with its third zero.
pub(super) const Y1_3: [f32; 7] = [
    -3.934301e-05,
    -6.7319226e-05,
    0.002096619,
    0.0025190646,
    -0.043339387,
    -0.015766311,
    0.2714633,
];

/// `sqrt(x (J0² + Y0²))` as a polynomial in 1/x².
pub(super) const AMPLITUDE_0: [f32; 4] = [-0.38612217, 0.08326983, -0.049877457, 0.7978846];

/// x times what the phase of order 0 is beyond x - pi/4, as a polynomial in 1/x².
pub(super) const PHASE_0: [f32; 4] = [1.0960706, -0.20415951, 0.06508292, -0.12499998];

/// `sqrt(x (J1² + Y1²))` as a polynomial in 1/x².
pub(super) const AMPLITUDE_1: [f32; 4] = [0.44857708, -0.15163337, 0.14958887, 0.7978846];

/// x times what the phase of order 1 is beyond x - 3 pi/4, as a polynomial in 1/x².
pub(super) const PHASE_1: [f32; 4] = [-1.647767, 0.36364537, -0.164034, 0.37499997];

/// `(sin(x) / x - 1) / x²` as a polynomial in x².
pub(super) const SINE: [f32; 4] = [2.7894898e-06, -0.00019848975, 0.00833337, -0.16666667];

/// `(cos(x) - 1) / x²` as a polynomial in x².
pub(super) const COSINE: [f32; 4] = [2.4412371e-05, -0.0013887133, 0.04166664, -0.5];
