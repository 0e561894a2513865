//! `inexact-remainder`

use std::collections::{HashMap, HashSet};

use ::ptx::{Body, Cvt, FloatDiv, FloatUnary, Fma, Operand, Operation, Reg, Rounding};

use super::{Report, Subject};

const MESSAGE: &str = "the compiler makes a division and a multiply-add of `%` of floats (and of what is written so): if the \
    quotient is large, the result is not exact, may have the other sign, and may be beyond the divisor: use `rem_euclid` \
    of `cuda_std::GpuFloat`, or `libm::fmod` and `fmodf`, which are exact; if quotients stay small, allow it";

/// Finds remainders that are taken from the rounded quotient: a - trunc(a / b) * b.
pub(super) fn check(subject: &Subject<'_>) -> Vec<Report> {
    let mut reports = Vec::new();
    for function in subject.ordinary() {
        let made = Made::of(function.body);
        for (index, instruction) in function.body.instructions.iter().enumerate() {
            let of_library = || {
                subject
                    .sources
                    .is_library(subject.module, function.body, index)
            };
            if made.is_remainder(&instruction.operation) && !of_library() {
                reports.push(subject.report(function, index, MESSAGE.to_owned()));
            }
        }
    }
    reports
}

/// The instructions that make a register which no other writes.
struct Made<'b>(HashMap<Reg, &'b Operation>);

impl<'b> Made<'b> {
    fn of(body: &'b Body) -> Self {
        let mut made = HashMap::new();
        let mut twice = HashSet::new();
        for instruction in &body.instructions {
            for register in instruction.definitions() {
                if made.insert(register, &instruction.operation).is_some() {
                    twice.insert(register);
                }
            }
        }
        made.retain(|register, _| !twice.contains(register));
        Made(made)
    }

    fn made(&self, operand: Operand) -> Option<&'b Operation> {
        self.0.get(&operand.register()?).copied()
    }

    fn is_remainder(&self, operation: &Operation) -> bool {
        let Operation::Fma(Fma { a, b, c, .. }) = operation else {
            return false;
        };
        [a, b]
            .into_iter()
            .any(|factor| self.is_quotient_of(*factor, *c))
    }

    /// Whether it is the whole part of a quotient of this dividend, or the negative of that.
    fn is_quotient_of(&self, factor: Operand, dividend: Operand) -> bool {
        match self.made(factor) {
            Some(Operation::FloatNeg(FloatUnary { a, .. })) => self.is_whole_quotient(*a, dividend),
            _ => self.is_whole_quotient(factor, dividend),
        }
    }

    fn is_whole_quotient(&self, value: Operand, dividend: Operand) -> bool {
        let Some(Operation::Cvt(Cvt {
            to,
            from,
            rounding,
            a,
            ..
        })) = self.made(value)
        else {
            return false;
        };
        let truncates = to == from && *rounding == Some(Rounding::Rzi);
        let quotient = self.made(*a).filter(|_| truncates);
        matches!(quotient, Some(Operation::FloatDiv(FloatDiv { a, .. })) if *a == dividend)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Lint;
    use super::super::testing::lines;

    fn found(instructions: &str) -> Vec<String> {
        lines(
            Lint::InexactRemainder,
            &format!(".entry k() {{ .reg .f64 %d<7>; {instructions} ret; }}"),
        )
    }

    #[test]
    fn what_the_compiler_makes_of_a_remainder_is_found() {
        let of_constant = "div.rn.f32 %r2, %r1, 0f41700000; cvt.rzi.f32.f32 %r3, %r2;
.loc 1 6 3
fma.rn.f32 %r4, %r3, 0fC1700000, %r1;";
        let of_two = "div.rn.f64 %d3, %d1, %d2; cvt.rzi.f64.f64 %d4, %d3; neg.f64 %d5, %d4;
.loc 1 6 3
fma.rn.f64 %d6, %d5, %d2, %d1; testp.infinite.f64 %p1, %d2; selp.f64 %d6, %d1, %d6, %p1;";
        for remainder in [of_constant, of_two] {
            let lines = found(remainder);
            assert_eq!(lines.len(), 1, "{lines:?}");
            let start = "kernel k, kernels/src/lib.rs:6: inexact-remainder: the compiler makes";
            assert!(lines[0].starts_with(start), "{lines:?}");
        }
    }

    #[test]
    fn others_and_those_of_libraries_are_silent() {
        for other in [
            // A fraction, a remainder of a power of two, and another dividend.
            "cvt.rzi.f32.f32 %r2, %r1; sub.rn.f32 %r3, %r1, %r2;",
            "mul.rn.f32 %r2, %r1, 0f3E800000; cvt.rzi.f32.f32 %r3, %r2; fma.rn.f32 %r4, %r3, 0fC0800000, %r1;",
            "div.rn.f32 %r2, %r1, %r5; cvt.rzi.f32.f32 %r3, %r2; fma.rn.f32 %r4, %r3, %r5, %r6;",
            "div.rn.f32 %r2, %r1, %r5; cvt.rni.f32.f32 %r3, %r2; fma.rn.f32 %r4, %r3, %r5, %r1;",
            "div.rn.f32 %r2, %r1, %r5; cvt.rzi.f32.f32 %r3, %r2;\n.loc 2 9 9\nfma.rn.f32 %r4, %r3, %r5, %r1;",
        ] {
            assert_eq!(found(other), [""; 0], "{other}");
        }
    }
}
