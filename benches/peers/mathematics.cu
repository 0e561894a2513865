// CUDA's functions in the loops of crates/material/mathematics/kernels, under the same names.

// nvcc would fuse a function's last product into a sum, and the function's time would lack it.
__device__ __forceinline__ float add(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double add(double a, double b) { return __dadd_rn(a, b); }

template <typename T, typename F>
__device__ __forceinline__ void speed(const T* x, const T* y, T z, T step, unsigned rounds, T* out, F value)
{
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    T at = x[i], other = y[i], sum = 0;
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
        sum = add(sum, value(at, other, z));
        at += step;
        sum = add(sum, value(at, other, z));
        at += step;
        sum = add(sum, value(at, other, z));
        at += step;
        sum = add(sum, value(at, other, z));
        at += step;
    }
    out[i] = sum;
}

#define KERNEL(name, T, expression)                                                                     \
    extern "C" __global__ void name(const T* xs, const T* ys, T z, T step, unsigned rounds, T* out)     \
    {                                                                                                   \
        speed(xs, ys, z, step, rounds, out, [](T x, T y, T z) -> T { return expression; });             \
    }
#define FUNCTION(name, single, twice) KERNEL(name##_f32, float, single) KERNEL(name##_f64, double, twice)
// A function of one argument, in C's names.
#define UNARY(name, c) FUNCTION(name, c##f(x), c(x))
#define BINARY(name, c) FUNCTION(name, c##f(x, y), c(x, y))

template <typename T>
__device__ __forceinline__ T power(T x, int n)
{
    T result = 1;
    for (unsigned rest = n < 0 ? -n : n; rest; rest >>= 1, x *= x)
        if (rest & 1) result *= x;
    return n < 0 ? 1 / result : result;
}

__device__ __forceinline__ float euclidean(float x, float y)
{
    float rest = fmodf(x, y);
    return rest < 0 ? rest + fabsf(y) : rest;
}

__device__ __forceinline__ double euclidean(double x, double y)
{
    double rest = fmod(x, y);
    return rest < 0 ? rest + fabs(y) : rest;
}

UNARY(round, round)
UNARY(sqrt, sqrt)
FUNCTION(rem_euclid, euclidean(x, y), euclidean(x, y))
FUNCTION(div_euclid, fmodf(x, y) >= 0 ? truncf(x / y) : truncf(x / y) - copysignf(1, y),
    fmod(x, y) >= 0 ? trunc(x / y) : trunc(x / y) - copysign(1.0, y))
FUNCTION(powi, power(x, int(z)), power(x, int(z)))
BINARY(powf, pow)
UNARY(exp, exp)
UNARY(exp2, exp2)
UNARY(exp10, exp10)
UNARY(exp_m1, expm1)
UNARY(ln, log)
FUNCTION(log, logf(x) / logf(y), log(x) / log(y))
UNARY(log2, log2)
UNARY(log10, log10)
UNARY(ln_1p, log1p)
UNARY(cbrt, cbrt)
UNARY(rcbrt, rcbrt)
UNARY(rsqrt, rsqrt)
BINARY(hypot, hypot)
BINARY(rhypot, rhypot)
FUNCTION(norm3d, norm3df(x, y, z), norm3d(x, y, z))
UNARY(sin, sin)
UNARY(cos, cos)
UNARY(tan, tan)
FUNCTION(sin_cos, ([x] { float s, c; sincosf(x, &s, &c); return add(s, c); }()),
    ([x] { double s, c; sincos(x, &s, &c); return add(s, c); }()))
UNARY(sinpi, sinpi)
UNARY(cospi, cospi)
FUNCTION(sincospi, ([x] { float s, c; sincospif(x, &s, &c); return add(s, c); }()),
    ([x] { double s, c; sincospi(x, &s, &c); return add(s, c); }()))
UNARY(asin, asin)
UNARY(acos, acos)
UNARY(atan, atan)
BINARY(atan2, atan2)
UNARY(sinh, sinh)
UNARY(cosh, cosh)
UNARY(tanh, tanh)
UNARY(asinh, asinh)
UNARY(acosh, acosh)
UNARY(atanh, atanh)
UNARY(erf, erf)
UNARY(erfc, erfc)
UNARY(erf_inv, erfinv)
UNARY(erfc_inv, erfcinv)
UNARY(erfcx, erfcx)
UNARY(norm_cdf, normcdf)
UNARY(norm_cdf_inv, normcdfinv)
UNARY(gamma, tgamma)
UNARY(log_gamma, lgamma)
UNARY(j0, j0)
UNARY(j1, j1)
FUNCTION(jn, jnf(int(z), x), jn(int(z), x))
UNARY(y0, y0)
UNARY(y1, y1)
FUNCTION(yn, ynf(int(z), x), yn(int(z), x))
UNARY(cyl_bessel_i0, cyl_bessel_i0)
UNARY(cyl_bessel_i1, cyl_bessel_i1)
FUNCTION(frexp, ([x] { int e; float f = frexpf(x, &e); return f + e; }()),
    ([x] { int e; double f = frexp(x, &e); return f + e; }()))
FUNCTION(ldexp, ldexpf(x, int(y)), ldexp(x, int(y)))
FUNCTION(unbiased_exp, ilogbf(x), ilogb(x))

// The peers of ApproxFloat's forms are CUDA's functions of full accuracy.
KERNEL(fast_exp_f32, float, expf(x))
KERNEL(fast_exp10_f32, float, exp10f(x))
KERNEL(fast_powf_f32, float, powf(x, y))
