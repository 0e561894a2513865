//! A launch that is stopped, as a debugger looks into it.

use ptx::{Space, Type};

use crate::count::Listing;
use crate::exec::access::Space as AccessSpace;
use crate::exec::activation::{Activation, Group};
use crate::exec::options::Shape;
use crate::exec::registers::{Kind, LANES, lanes_of};
use crate::exec::signature::Aux;
use crate::exec::stepper::{At, Waits};
use crate::exec::steps::Steps;
use crate::memory::{Direction, windows};
use crate::module::{Kernel, name_of_shared};
use crate::source::name_of;

/// A launch that is stopped before an instruction of some lanes of a warp.
pub struct Stopped<'a> {
    kernel: &'a Kernel,
    shape: Shape,
    at: &'a At<'a, 'a>,
}

/// An instruction of the kernel's module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The function.
    pub function: u32,
    /// Its instruction.
    pub instruction: u32,
}

/// A register of PTX, as a lane has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its bits; none where the lane has not written it.
    pub bits: Option<u128>,
}

/// A parameter of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in the PTX.
    pub name: String,
    /// Its type: of an element, where it is an array.
    pub ty: Type,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A variable in shared, global or constant memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The author's name.
    pub name: String,
    /// Where it lies.
    pub space: Space,
    /// The type of an element.
    pub ty: Type,
    /// Its bytes.
    pub bytes: u64,
    /// Its generic address.
    pub address: u64,
}

/// A write of an instruction that is about to be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Who writes.
    pub lane: u32,
    /// The generic address.
    pub address: u64,
    /// How many bytes.
    pub bytes: u32,
}

/// Lanes of a warp of the block that have come to the same instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpPart {
    /// Which warp.
    pub warp: u32,
    /// Which lanes.
    pub lanes: u32,
    /// Where they are.
    pub site: Site,
    /// The reason for which they wait.
    pub waits: Waits,
}

impl<'a> Stopped<'a> {
    pub(super) fn new(kernel: &'a Kernel, shape: Shape, at: &'a At<'a, 'a>) -> Stopped<'a> {
        Stopped { kernel, shape, at }
    }

    /// How many steps the launch has taken: an instruction of some lanes is one.
    pub fn position(&self) -> u64 {
        self.at.position
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        self.kernel
    }

    /// The shape of the launch.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The block's index, x, y, z.
    pub fn block(&self) -> [u32; 3] {
        self.at.context.at.block_index
    }

    /// The warp of the block.
    pub fn warp(&self) -> u32 {
        self.at.context.at.warp
    }

    /// A lane's thread in the block, x, y, z.
    pub fn thread(&self, lane: u32) -> [u32; 3] {
        self.at.context.at.thread_index(lane as usize)
    }

    /// The lanes that are about to execute the instruction.
    pub fn running(&self) -> u32 {
        self.at.group.mask
    }

    /// The lanes of the warp that have not ended.
    pub fn live(&self) -> u32 {
        self.at.warp.live
    }

    /// The instruction.
    pub fn site(&self) -> Site {
        Site {
            function: self.at.program.index,
            instruction: self.at.instruction,
        }
    }

    /// How many calls deep the running lanes are; 0 in the kernel.
    pub fn depth(&self) -> u32 {
        self.at.warp.activations.get(self.at.group.activation).depth
    }

    /// The instruction that a lane is at, and behind it the calls that have led there; nothing of one that has ended.
    pub fn calls(&self, lane: u32) -> Vec<Site> {
        let Some((group, instruction)) = self.group(lane) else {
            return Vec::new();
        };
        let activations = &self.at.warp.activations;
        let mut sites = Vec::new();
        let mut at = Some((group.activation, instruction));
        while let Some((activation, instruction)) = at {
            let activation = activations.get(activation);
            sites.push(Site {
                function: activation.program.index,
                instruction,
            });
            at = activation.caller.map(|caller| {
                let program = &activations.get(caller.activation).program;
                let block = &program.blocks[caller.call.block as usize];
                (caller.activation, block.instruction)
            });
        }
        sites
    }

    /// A lane's registers of a function that it is in: of the first of its [`calls`](Stopped::calls), or of another.
    pub fn registers(&self, lane: u32, call: usize) -> Vec<Register> {
        self.registers_that(lane, call, |_| true)
    }

    /// One of them by its name: the first, where scopes within the function have others of that name.
    pub fn register(&self, lane: u32, call: usize, name: &str) -> Option<Register> {
        let all = self.registers_that(lane, call, |it| it == name);
        all.into_iter().next()
    }

    fn registers_that(
        &self,
        lane: u32,
        call: usize,
        is_meant: impl Fn(&str) -> bool,
    ) -> Vec<Register> {
        let Some(activation) = self.activation(lane, call) else {
            return Vec::new();
        };
        let (Some(body), Some(steps)) = (self.body(activation), &activation.program.steps) else {
            return Vec::new();
        };
        let here = self.step(lane, call, steps);
        // Before it is written, a register holds what a block before has left there.
        let is_taken = |&(block, step): &(u32, u32)| {
            activation.passed[block as usize] >> lane & 1 != 0
                || here.is_some_and(|here| block == here.0 && step < here.1)
        };
        let all = body.registers.iter().zip(&steps.slots).zip(&steps.writes);
        let register = |((declared, slot), writes): ((&ptx::Register, &Option<_>), &Vec<_>)| {
            let (slot, kind) = slot.filter(|_| is_meant(&declared.name))?;
            let bits = || lanes(activation.registers.bytes(), slot, kind)[lane as usize];
            Some(Register {
                name: declared.name.clone(),
                ty: declared.ty,
                bits: writes.iter().any(is_taken).then(bits),
            })
        };
        all.filter_map(register).collect()
    }

    /// The block of the function that a lane is in, and which of its steps comes next; none of a function that has called
    /// another, or where the lane waits at a barrier: it has gone through the block.
    fn step(&self, lane: u32, call: usize, steps: &Steps) -> Option<(u32, u32)> {
        let (group, instruction) = self.group(lane).filter(|_| call == 0)?;
        let block = group.at.block;
        let mut of_block = steps.of_blocks[block as usize].iter();
        let index = of_block.position(|it| it.instruction == instruction)?;
        Some((block, index as u32))
    }

    /// A call that a lane is in, the innermost being the first.
    fn activation(&self, lane: u32, call: usize) -> Option<&Activation> {
        let activations = &self.at.warp.activations;
        let mut activation = activations.get(self.group(lane)?.0.activation);
        for _ in 0..call {
            activation = activations.get(activation.caller?.activation);
        }
        Some(activation)
    }

    fn body(&self, activation: &Activation) -> Option<&ptx::Body> {
        let functions = &self.kernel.code.ptx().functions;
        functions[activation.program.index as usize].body.as_ref()
    }

    /// The generic address of what the PTX calls by a name: a local variable of a call that a lane is in, a parameter of the
    /// kernel, or a variable in shared, global or constant memory.
    pub fn address(&self, lane: u32, call: usize, name: &str) -> Option<u64> {
        let at = &self.at.context.at;
        let local = || {
            let activation = self.activation(lane, call)?;
            let variables = self.body(activation)?.variables.iter();
            let variables = variables.filter(|it| it.space == Space::Local);
            let mut places = variables.zip(&activation.program.frame.variables);
            let place = places.find(|it| it.0.name == name)?.1;
            let offset = u64::from(activation.local) + u64::from(place.offset);
            Some(at.local_window_of(lane as usize) + offset)
        };
        let parameter = || {
            let declared = &self.kernel.code.function().parameters;
            let index = declared.iter().position(|it| it.name == name)?;
            let place = self.kernel.parameters().nth(index)?;
            Some(windows::PARAMETERS | u64::from(place.start))
        };
        let shared = || {
            let mut all = self.kernel.code.shared_places();
            let offset = all.find(|it| it.0.name == name)?.1;
            Some(at.shared_window | u64::from(offset))
        };
        let placed = || Some(self.kernel.code.placed().find(|it| it.0.name == name)?.1);
        local().or_else(parameter).or_else(shared).or_else(placed)
    }

    /// Whether an address is in local memory.
    pub fn is_local(&self, address: u64) -> bool {
        windows::of(address) == windows::LOCAL
    }

    /// The parameters of the kernel.
    pub fn parameters(&self) -> Vec<Parameter> {
        let bytes = &self.at.context.at.launch.parameters;
        let declared = &self.kernel.code.function().parameters;
        let all = declared.iter().zip(self.kernel.parameters());
        let parameter = |(it, place): (&ptx::Parameter, std::ops::Range<u32>)| Parameter {
            name: it.name.clone(),
            ty: it.ty,
            bytes: bytes[place.start as usize..place.end as usize].to_vec(),
        };
        all.map(parameter).collect()
    }

    /// The variables that the kernel and its functions name, those in shared memory first. An array there that has no name of
    /// its own is `shared0`, `shared1` and so on.
    pub fn variables(&self) -> Vec<Variable> {
        let dynamic = self.shape.dynamic_shared;
        let mut unnamed = 0..;
        let mut name = |it: &ptx::Variable| match &*name_of_shared(&it.name) {
            "" => format!("shared{}", unnamed.next().unwrap_or(0)),
            name => name.to_owned(),
        };
        let shared = self.kernel.code.shared_places();
        let shared = shared.map(|(it, offset)| Variable {
            name: name(it),
            space: it.space,
            ty: it.ty,
            bytes: if it.bytes == 0 {
                dynamic.into()
            } else {
                it.bytes
            },
            address: self.at.context.at.shared_window | u64::from(offset),
        });
        let of_module = self.kernel.code.placed().map(|(it, address)| Variable {
            name: name_of(&it.name).into_owned(),
            space: it.space,
            ty: it.ty,
            bytes: it.bytes,
            address,
        });
        shared.chain(of_module).collect()
    }

    /// The bytes at a generic address of a lane; none where they are not all in one piece of memory.
    pub fn read(&self, lane: u32, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let at = &self.at.context.at;
        let is_within =
            |offset: u64, all: u64| offset.checked_add(bytes as u64)?.le(&all).then_some(offset);
        let start = match windows::of(address) {
            windows::SHARED => {
                let offset = is_within(address ^ at.shared_window, at.layout.bytes().into())?;
                at.shared.expose_provenance() as u64 + offset
            }
            windows::LOCAL => {
                let offset = address.checked_sub(at.local_window_of(lane as usize))?;
                let offset = is_within(offset, at.local.bytes.into())?;
                let of_lane = u64::from(lane) * u64::from(at.local.bytes);
                at.local.start.expose_provenance() as u64 + of_lane + offset
            }
            windows::PARAMETERS => {
                let offset =
                    is_within(address & windows::OFFSET, at.launch.parameters.len() as u64)?;
                at.launch.parameters.as_ptr().expose_provenance() as u64 + offset
            }
            0 | windows::CONSTANT => {
                let address = address & windows::OFFSET;
                let found = at.launch.memory.find(address)?;
                found.holds(address, bytes as u64).then_some(address)?
            }
            _ => return None,
        };
        let start = std::ptr::with_exposed_provenance::<u8>(start as usize);
        let mut read = vec![0; bytes];
        // SAFETY: all of the bytes lie in the block's shared memory, in the lane's local memory, in the launch's parameters
        // or in an allocation, by the comparisons above; none of these ends while the launch runs.
        unsafe { start.copy_to_nonoverlapping(read.as_mut_ptr(), bytes) };
        Some(read)
    }

    /// The start and the bytes of the allocation in global memory that holds an address.
    pub fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        let found = self.at.context.at.launch.memory.find(address)?;
        Some((found.start, found.bytes))
    }

    /// The writes that the instruction is about to make by stores and atomics, a compare-and-swap that may write too. Asynchronous
    /// copies and local memory are not among it.
    pub fn writes(&self) -> Vec<Write> {
        let at = self.at;
        let Some(steps) = &at.program.steps else {
            return Vec::new();
        };
        let steps = &steps.of_blocks[at.group.at.block as usize];
        let Some(index) = steps.iter().position(|it| it.instruction == at.instruction) else {
            return Vec::new();
        };
        let block = &at.program.blocks[at.group.at.block as usize];
        let end = steps.get(index + 1).map_or(block.end, |next| next.first);
        let ops = steps[index].first as usize..end as usize;
        let registers = at
            .warp
            .activations
            .get(at.group.activation)
            .registers
            .bytes();
        let mut writes = Vec::new();
        for index in ops {
            let (op, signature) = (&at.program.ops[index], &at.program.signatures[index]);
            let Aux::Access(_) = signature.aux else {
                continue;
            };
            let access = &at.program.accesses[op.aux as usize];
            let window = match access.space {
                AccessSpace::Global | AccessSpace::Generic => 0,
                AccessSpace::Shared => at.context.at.shared_window,
                AccessSpace::Cluster | AccessSpace::Local | AccessSpace::Parameters => continue,
            };
            if access.act.direction() == Direction::Write {
                let base = lanes(registers, op.a, Kind::Double);
                writes.extend(lanes_of(at.group.mask).map(|lane| Write {
                    lane: lane as u32,
                    address: (base[lane] as u64).wrapping_add_signed(access.offset) | window,
                    bytes: access.bytes(),
                }));
            }
        }
        writes
    }

    /// Where the warps of the block are, and what they wait for.
    pub fn warps(&self) -> Vec<WarpPart> {
        let own = self.warp();
        let mut notes: Vec<_> = self.at.stepper.notes().clone();
        notes.retain(|it| it.warp != own);
        self.at.warp.note(&mut notes);
        let part = |it: crate::exec::stepper::Note| WarpPart {
            warp: it.warp,
            lanes: it.mask,
            site: Site {
                function: it.function,
                instruction: it.instruction,
            },
            waits: it.waits,
        };
        let mut parts: Vec<WarpPart> = notes.into_iter().map(part).collect();
        parts.push(WarpPart {
            warp: own,
            lanes: self.running(),
            site: self.site(),
            waits: Waits::Not,
        });
        parts.sort_by_key(|it| (it.warp, it.lanes.trailing_zeros()));
        parts
    }

    /// The group of a lane, and the instruction that it is at.
    fn group(&self, lane: u32) -> Option<(Group, u32)> {
        match self.running() >> lane & 1 {
            0 => self.at.warp.group_of(lane),
            _ => Some((self.at.group, self.at.instruction)),
        }
    }
}

/// The values of a slot in each lane.
fn lanes(registers: &[u8], slot: u32, kind: Kind) -> [u128; LANES] {
    let slot = &registers[slot as usize..][..kind.bytes() as usize];
    let bytes = (kind.bits() / 8) as usize;
    std::array::from_fn(|lane| match kind {
        Kind::Predicate => u128::from(slot[lane / 8] >> (lane % 8) & 1),
        _ => {
            let mut value = [0; 16];
            value[..bytes].copy_from_slice(&slot[lane * bytes..][..bytes]);
            u128::from_le_bytes(value)
        }
    })
}
