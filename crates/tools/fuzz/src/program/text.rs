//! Programs as PTX.

use std::fmt::Write as _;

use super::registers::{FILES, Registers};
use super::{Program, SCRATCH_BYTES, Statement, THREADS, Times};

/// A module of these programs, each a kernel `p` and its seed, whose parameters are the addresses of the inputs, the outputs
/// and the threads' own memory.
pub fn module(programs: &[Program]) -> String {
    let mut text = String::from(
        ".version 8.1\n.target sm_90\n.address_size 64\n.const .align 16 .b32 table[16] = {0, 1, -1, 2147483647, 2139095040, \
         1065353216, 305419896, -2004318072, 1006648320, 8388607, 32896, 3212836864, 40503, 2654435769, 7, 4286578688};\n",
    );
    for program in programs {
        for (index, function) in program.functions.iter().enumerate() {
            let name = format!("f{}_{index}", program.seed);
            write_function(&mut text, &name, function);
        }
        write_kernel(&mut text, program);
    }
    text
}

fn write_function(text: &mut String, name: &str, body: &[Statement]) {
    let mut writer = Writer::of(body);
    writer.line("ld.param.b32 %t0, [a]");
    writer.line("ld.param.b64 %u0, [b]");
    for (index, name) in writer.used() {
        match Registers::ty(name) {
            "b32" => writer.line(&format!("mad.lo.u32 {name}, %t0, 0x9E3779B1, {index}")),
            "b64" => writer.line(&format!(
                "mad.lo.u64 {name}, %u0, 0x9E3779B97F4A7C15, {index}"
            )),
            "b16" => {
                writer.line(&format!("shr.u32 %t1, %t0, {}", index % 16));
                writer.line(&format!("cvt.u16.u32 {name}, %t1"));
            }
            _ => {
                writer.line(&format!("bfe.u32 %t1, %t0, {}, 1", index % 32));
                writer.line(&format!("setp.ne.u32 {name}, %t1, 0"));
            }
        }
    }
    writer.statements(body);
    writer.line("mov.b64 %u1, 0");
    for (_, name) in writer.used() {
        match Registers::ty(name) {
            "b64" => writer.line(&format!("mov.b64 %u2, {name}")),
            "pred" => writer.line(&format!("selp.b64 %u2, 1, 0, {name}")),
            "b16" => writer.line(&format!("cvt.u64.u16 %u2, {name}")),
            _ => writer.line(&format!("cvt.u64.u32 %u2, {name}")),
        }
        writer.line("mad.lo.u64 %u1, %u1, 0x9E3779B97F4A7C15, %u2");
    }
    writer.line("st.param.b64 [c], %u1");
    writer.line("ret");
    let _ = writeln!(
        text,
        ".func (.param .b64 c) {name}(.param .b32 a, .param .b64 b)\n{{\n{}{}}}",
        writer.declarations(),
        writer.text
    );
}

fn write_kernel(text: &mut String, program: &Program) {
    let mut writer = Writer::of(&program.body);
    let bytes = 8 * Registers::ALL.len();
    for line in [
        "ld.param.u64 %ki, [in]",
        "ld.param.u64 %ko, [out]",
        "ld.param.u64 %kg, [own]",
        "mov.u32 %kt, %tid.x",
        "mov.u32 %t0, %ctaid.x",
        &format!("mad.lo.u32 %t0, %t0, {THREADS}, %kt"),
        &format!("mad.wide.u32 %ki, %t0, {bytes}, %ki"),
        &format!("mad.wide.u32 %ko, %t0, {bytes}, %ko"),
        &format!("mad.wide.u32 %kg, %t0, {SCRATCH_BYTES}, %kg"),
        "mov.u32 %kb, exchanged",
        "mad.lo.u32 %kx, %kt, 16, %kb",
        "mov.u32 %t0, shared",
        "mad.lo.u32 %ks, %kt, 64, %t0",
        "mov.u64 %kl, local",
        "mov.b64 %u0, 0",
    ] {
        writer.line(line);
    }
    for offset in [0, 16, 32, 48] {
        writer.line(&format!("st.shared.v2.b64 [%ks+{offset}], {{%u0, %u0}}"));
        writer.line(&format!("st.local.v2.b64 [%kl+{offset}], {{%u0, %u0}}"));
    }
    for (index, name) in writer.used() {
        let at = 8 * index;
        match Registers::ty(name) {
            "pred" => {
                writer.line(&format!("ld.global.u8 %t0, [%ki+{at}]"));
                writer.line("and.b32 %t0, %t0, 1");
                writer.line(&format!("setp.ne.u32 {name}, %t0, 0"));
            }
            ty => writer.line(&format!("ld.global.{ty} {name}, [%ki+{at}]")),
        }
    }
    writer.statements(&program.body);
    for (index, name) in writer.used() {
        let at = 8 * index;
        match Registers::ty(name) {
            "pred" => {
                writer.line(&format!("selp.b32 %t0, 1, 0, {name}"));
                writer.line(&format!("st.global.b32 [%ko+{at}], %t0"));
            }
            ty => writer.line(&format!("st.global.{ty} [%ko+{at}], {name}")),
        }
    }
    writer.line("ret");
    let _ = writeln!(
        text,
        ".visible .entry p{}(.param .u64 in, .param .u64 out, .param .u64 own)\n.reqntid {THREADS}, 1, 1\n{{\n{}\
         .reg .b64 %ki, %ko, %kg, %kl;\n.reg .b32 %kt, %ks, %kx, %kb;\n.shared .align 16 .b8 exchanged[{}];\n\
         .shared .align 16 .b8 shared[{}];\n.local .align 16 .b8 local[64];\n{}}}",
        program.seed,
        writer.declarations(),
        16 * THREADS,
        64 * THREADS,
        writer.text
    );
}

/// Writes a function's body.
struct Writer {
    text: String,
    labels: u32,
    used: Vec<(usize, &'static str)>,
    counters: Vec<String>,
}

impl Writer {
    fn of(body: &[Statement]) -> Writer {
        let mut named = Vec::new();
        let mut counters = Vec::new();
        names(body, &mut named, &mut counters);
        let all = Registers::ALL.into_iter().enumerate();
        Writer {
            text: String::new(),
            labels: 0,
            used: all
                .filter(|(_, name)| named.iter().any(|it| it == name))
                .collect(),
            counters,
        }
    }

    /// The registers that statements name, and their places among all.
    fn used(&self) -> Vec<(usize, &'static str)> {
        self.used.clone()
    }

    fn declarations(&self) -> String {
        let mut text = String::from(
            ".reg .b32 %t<4>;\n.reg .b64 %u<4>;\n.reg .b16 %v<2>;\n.reg .pred %q<2>;\n",
        );
        for file in FILES {
            let _ = writeln!(text, ".reg .{} %{}<{}>;", file.ty, file.letter, file.count);
        }
        for counter in &self.counters {
            let _ = writeln!(text, ".reg .b32 {counter};");
        }
        text
    }

    fn line(&mut self, line: &str) {
        self.text += line;
        // The end of a scope has none.
        self.text += if line == "}" { "\n" } else { ";\n" };
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn place(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    fn statements(&mut self, all: &[Statement]) {
        for statement in all {
            match statement {
                Statement::Plain { lines, .. } => lines.iter().for_each(|it| self.line(it)),
                Statement::If {
                    predicate,
                    then,
                    otherwise,
                } => self.branch(predicate, then, otherwise),
                Statement::Switch { index, arms } => self.switch(index, arms),
                Statement::Loop {
                    times,
                    counter,
                    body,
                } => self.repetition(times, counter, body),
            }
        }
    }

    fn branch(&mut self, predicate: &str, then: &[Statement], otherwise: &[Statement]) {
        let (other, end) = (self.label(), self.label());
        self.line(&format!("@!{predicate} bra {other}"));
        self.statements(then);
        self.line(&format!("bra {end}"));
        self.place(&other);
        self.statements(otherwise);
        self.place(&end);
    }

    fn switch(&mut self, index: &str, arms: &[Vec<Statement>]) {
        let (table, end) = (self.label(), self.label());
        let labels: Vec<String> = arms.iter().map(|_| self.label()).collect();
        self.line(&format!("and.b32 %t3, {index}, {}", arms.len() - 1));
        self.line(&format!("{table}: .branchtargets {}", labels.join(", ")));
        self.line(&format!("brx.idx %t3, {table}"));
        for (label, arm) in labels.iter().zip(arms) {
            self.place(label);
            self.statements(arm);
            self.line(&format!("bra {end}"));
        }
        self.place(&end);
    }

    fn repetition(&mut self, times: &Times, counter: &str, body: &[Statement]) {
        match times {
            Times::Fixed(times) => self.line(&format!("mov.u32 {counter}, {times}")),
            Times::OfThread(register) => {
                self.line(&format!("and.b32 {counter}, {register}, 3"));
                self.line(&format!("add.u32 {counter}, {counter}, 1"));
            }
        }
        let begin = self.label();
        self.place(&begin);
        self.statements(body);
        self.line(&format!("sub.u32 {counter}, {counter}, 1"));
        self.line(&format!("setp.ne.u32 %q0, {counter}, 0"));
        self.line(&format!("@%q0 bra {begin}"));
    }
}

/// The registers and the counters that statements name.
fn names(all: &[Statement], named: &mut Vec<String>, counters: &mut Vec<String>) {
    for statement in all {
        match statement {
            Statement::Plain { lines, .. } => {
                lines.iter().for_each(|it| named.extend(registers(it)))
            }
            Statement::If {
                predicate,
                then,
                otherwise,
            } => {
                named.push(predicate.clone());
                names(then, named, counters);
                names(otherwise, named, counters);
            }
            Statement::Switch { index, arms } => {
                named.push(index.clone());
                arms.iter().for_each(|it| names(it, named, counters));
            }
            Statement::Loop {
                times,
                counter,
                body,
            } => {
                counters.push(counter.clone());
                if let Times::OfThread(register) = times {
                    named.push(register.clone());
                }
                names(body, named, counters);
            }
        }
    }
}

/// The words of a line that begin with `%`.
fn registers(line: &str) -> impl Iterator<Item = String> {
    line.split('%').skip(1).map(|rest| {
        let end = rest.find(|it: char| !it.is_ascii_alphanumeric());
        format!("%{}", &rest[..end.unwrap_or(rest.len())])
    })
}
