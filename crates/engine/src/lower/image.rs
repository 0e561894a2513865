//! Textures and surfaces, which are only taken apart by the parser.

use ptx::{Argument, Operand, Order, Other, Reg, Scope, Space, Type};

use super::handler::rare;
use super::{Lowered, Lowering};
use crate::exec::access::{Act, Data};
use crate::exec::image::{Geometry, Way};
use crate::exec::images::{Of, Outside, Reach, execute};
use crate::exec::registers::Kind;
use crate::exec::signature::{Aux, Mover};

/// The dimensions of a geometry, and whether it has layers.
fn geometry(name: &str) -> Option<Geometry> {
    let (dimensions, is_layered) = match name {
        "1d" => (1, false),
        "2d" => (2, false),
        "3d" => (3, false),
        "a1d" => (1, true),
        "a2d" => (2, true),
        "cube" => return Some(Geometry::Cube { is_layered: false }),
        "acube" => return Some(Geometry::Cube { is_layered: true }),
        _ => return None,
    };
    Some(Geometry::Flat {
        dimensions,
        is_layered,
    })
}

/// The operands of an instruction: the registers of an image's elements, its handle, and where.
struct Operands<'a> {
    data: &'a [Argument],
    handle: &'a ptx::Address,
    place: &'a [Argument],
}

/// The parts of a vector, or a value alone.
fn list(argument: &Argument) -> Option<&[Argument]> {
    match argument {
        Argument::List(all) => Some(all),
        Argument::Value(_) => Some(std::slice::from_ref(argument)),
        _ => None,
    }
}

fn operands(it: &Other) -> Option<Operands<'_>> {
    let levels = match it.modifiers.first().map(String::as_str) {
        Some("level") => 1,
        Some("grad") => 2,
        _ => 0,
    };
    let (image, data) = match (it.name.as_str(), &it.operands[..]) {
        ("sust", [image, data]) => (image, data),
        ("sust", _) => return None,
        // Behind the place there may be a level, or two gradients; not what shifts it, nor what it is compared with.
        (_, [data, image, rest @ ..]) if rest.len() == levels => (image, data),
        _ => return None,
    };
    // With a sampler of its own, the place is the third.
    let Argument::Address(handle, rest) = image else {
        return None;
    };
    let [place] = &rest[..] else { return None };
    Some(Operands {
        data: list(data)?,
        handle,
        place: list(place)?,
    })
}

impl Lowering<'_> {
    /// `tex`, `tld4`, `suld.b` and `sust.b`.
    ///
    /// # Errors
    /// It is another, or of a form that is not executed.
    pub(super) fn image(&mut self, it: &Other) -> Lowered<()> {
        let other = || "this form is not emulated".to_owned();
        let modifiers: Vec<&str> = it.modifiers.iter().map(String::as_str).collect();
        match (it.name.as_str(), &modifiers[..]) {
            // Images have one level of detail, whatever level is asked for.
            ("tex", ["level" | "grad", shape, "v4", to, from])
            | ("tex", [shape, "v4", to, from]) => {
                let way = Way::Channels {
                    are_floats: are_floats(to).ok_or_else(other)?,
                };
                self.texture(it, shape, way, from)
            }
            ("tld4", [channel, shape @ "2d", "v4", to, from]) => {
                let channel = ["r", "g", "b", "a"].iter().position(|it| it == channel);
                let channel = channel.ok_or_else(other)?;
                let are_floats = are_floats(to).ok_or_else(other)?;
                self.texture(
                    it,
                    shape,
                    Way::Gather {
                        channel,
                        are_floats,
                    },
                    from,
                )
            }
            ("suld" | "sust", ["b", shape, rest @ ..]) => self.surface(it, shape, rest),
            _ => Err(other()),
        }
    }

    fn texture(&mut self, it: &Other, shape: &str, way: Way, from: &str) -> Lowered<()> {
        let other = || "this form is not emulated".to_owned();
        let geometry = geometry(shape).ok_or_else(other)?;
        let are_whole = match from {
            "f32" => false,
            "s32" => true,
            _ => return Err(other()),
        };
        let named = operands(it).ok_or_else(other)?;
        if named.data.len() != 4 {
            return Err(other());
        }
        let (dimensions, is_layered) = match geometry {
            Geometry::Flat {
                dimensions,
                is_layered,
            } => (dimensions, is_layered),
            Geometry::Cube { is_layered } => (3, is_layered),
        };
        let of = Of::Texture {
            geometry,
            way,
            are_whole,
        };
        let reach = self.reach(named.place, dimensions, is_layered, of)?;
        let mut data = Vec::new();
        for argument in named.data {
            data.push(match argument {
                Argument::Value(Operand::Register(register)) => self.word_of(*register)?,
                Argument::Nothing => Data {
                    slot: None,
                    kind: Kind::Word,
                    bits: 32,
                },
                _ => return Err(other()),
            });
        }
        let act = Act::Load {
            signed: false,
            is_read_only: true,
        };
        self.reach_image(named.handle, Type::B32, (act, data), reach)
    }

    fn surface(&mut self, it: &Other, shape: &str, rest: &[&str]) -> Lowered<()> {
        let other = || "this form is not emulated".to_owned();
        let Some(Geometry::Flat {
            dimensions,
            is_layered,
        }) = geometry(shape)
        else {
            return Err(other());
        };
        // Caches are not emulated.
        let rest = match rest {
            ["ca" | "cg" | "cs" | "cv" | "wb" | "wt", rest @ ..] => rest,
            rest => rest,
        };
        let (count, ty, outside) = match rest {
            ["v2", ty, outside] => (2, ty, outside),
            ["v4", ty, outside] => (4, ty, outside),
            [ty, outside] => (1, ty, outside),
            _ => return Err(other()),
        };
        let outside = match *outside {
            "trap" => Outside::Trap,
            "clamp" => Outside::Clamp,
            "zero" => Outside::Zero,
            _ => return Err(other()),
        };
        let ty = match *ty {
            "b8" => Type::B8,
            "b16" => Type::B16,
            "b32" => Type::B32,
            "b64" => Type::B64,
            _ => return Err(other()),
        };
        let named = operands(it).ok_or_else(other)?;
        if named.data.len() != count {
            return Err(other());
        }
        let reach = self.reach(
            named.place,
            dimensions,
            is_layered,
            Of::Surface {
                dimensions,
                outside,
            },
        )?;
        let is_load = it.name == "suld";
        let mut data = Vec::new();
        for argument in named.data {
            data.push(match argument {
                Argument::Value(Operand::Register(register)) if is_load => {
                    let (slot, kind) = self.write(*register);
                    Data {
                        slot: Some(slot),
                        kind,
                        bits: self.register_bits(*register),
                    }
                }
                Argument::Value(operand) if !is_load => {
                    let kind = match operand {
                        Operand::Register(register) => self.slots.kind(*register),
                        _ => super::slots::kind(ty),
                    };
                    Data {
                        slot: Some(self.read(operand, kind)?),
                        kind,
                        bits: 128,
                    }
                }
                _ => return Err(other()),
            });
        }
        let act = match is_load {
            true => Act::Load {
                signed: false,
                is_read_only: false,
            },
            false => Act::Store,
        };
        self.reach_image(named.handle, ty, (act, data), reach)
    }

    /// A register of 32 bits that a channel goes to.
    fn word_of(&mut self, register: Reg) -> Lowered<Data> {
        match self.write(register) {
            (slot, Kind::Word) => Ok(Data {
                slot: Some(slot),
                kind: Kind::Word,
                bits: self.register_bits(register),
            }),
            (_, kind) => Err(format!("a register of {kind:?} where a word is wanted")),
        }
    }

    /// The slots that name the place: the layer first, where there is one; what follows the coordinates is not looked at.
    fn reach(
        &mut self,
        place: &[Argument],
        dimensions: usize,
        is_layered: bool,
        of: Of,
    ) -> Lowered<Reach> {
        let mut slots = Vec::new();
        for argument in place.iter().take(dimensions + usize::from(is_layered)) {
            let Argument::Value(operand) = argument else {
                return Err("a coordinate that is no value".to_owned());
            };
            slots.push(self.read(operand, Kind::Word)?);
        }
        if slots.len() != dimensions + usize::from(is_layered) {
            return Err(format!("{} coordinates", slots.len()));
        }
        let layer = is_layered.then(|| slots.remove(0));
        Ok(Reach {
            coordinates: slots,
            layer,
            of,
        })
    }

    fn reach_image(
        &mut self,
        handle: &ptx::Address,
        ty: Type,
        (act, data): (Act, Vec<Data>),
        reach: Reach,
    ) -> Lowered<()> {
        if !matches!(handle.base, ptx::Base::Register(_)) {
            return Err("textures and surfaces by reference are not emulated".to_owned());
        }
        self.access(
            Space::Global,
            ty,
            handle,
            Order::Weak,
            Scope::System,
            act,
            data,
        )?;
        if let (Some(access), Some(last)) = (self.accesses.last_mut(), self.ops.last_mut()) {
            (access.image, access.root) = (Some(Box::new(reach)), None);
            last.handle_by(rare!(
                [a: Kind::Double, aux: Aux::Access(Mover::Image)],
                |c, op| execute(c, op)
            ));
        }
        Ok(())
    }
}

fn are_floats(name: &str) -> Option<bool> {
    match name {
        "f32" => Some(true),
        "s32" | "u32" => Some(false),
        _ => None,
    }
}
