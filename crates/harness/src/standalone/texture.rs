//! Texture and surface objects as people write them: `texture+linear+normalized:u8x4[64,48]=photo.bin`.

use super::argument::{self, Buffer};
use super::element::Element;
use crate::driver::texture::{Beyond, Channel, Image};

/// An image, and how it is read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Texture {
    /// All elements, row by row, channel by channel.
    pub(super) buffer: Buffer,
    /// As kernels read it, but for its place.
    image: Image,
}

/// Most elements along each dimension.
const MOST: u32 = 1 << 16;

impl Texture {
    /// Whether it is meant to be one.
    pub(super) fn is_meant(text: &str) -> bool {
        let kind = text.split([':', '+']).next();
        matches!(kind, Some("texture" | "surface")) && text.contains(':')
    }

    /// Reads what [is meant](Texture::is_meant) to be one.
    pub(super) fn parse(text: &str) -> Result<Texture, String> {
        let expected = || {
            format!(
                "{text:?}: expected such as texture:f32[64,48]=image.bin or texture+linear+wrap+normalized:u8x4[64,48]=photo.bin"
            )
        };
        let (how, rest) = text.split_once(':').ok_or_else(expected)?;
        let (element, rest) = rest.split_once('[').ok_or_else(expected)?;
        let (sizes, fill) = rest.split_once(']').ok_or_else(expected)?;
        let (element, channels) = channels(element)?;
        let sizes = extents(sizes).ok_or_else(expected)?;
        let elements = sizes.iter().map(|it| u64::from(*it)).product::<u64>() * u64::from(channels);
        let buffer = argument::buffer(element, &elements.to_string(), fill)?;
        let row = u64::from(sizes[0]) * u64::from(channels) * element.bytes() as u64;
        let mut image = Image {
            start: 0,
            pitches: [row, row * u64::from(sizes[1])],
            sizes,
            channel: channel(element)?,
            channels,
            beyond: [Beyond::Clamp; 3],
            is_linear: false,
            is_normalized: false,
            has_integers: !element.is_float(),
            is_plain: false,
            border: [0.0; 4],
        };
        let mut modes = how.split('+');
        let kind = modes.next();
        for mode in modes {
            let beyond = |it| [it; 3];
            match mode {
                _ if kind == Some("surface") => {
                    return Err(format!("{text:?}: a surface has no modes, such as {mode}"));
                }
                "linear" => (image.is_linear, image.has_integers) = (true, false),
                "normalized" => image.is_normalized = true,
                "floats" => image.has_integers = false,
                "memory" if sizes[1..] == [1, 1] => image.is_plain = true,
                "wrap" => image.beyond = beyond(Beyond::Wrap),
                "clamp" => image.beyond = beyond(Beyond::Clamp),
                "mirror" => image.beyond = beyond(Beyond::Mirror),
                "border" => image.beyond = beyond(Beyond::Border),
                _ => {
                    return Err(format!(
                        "{mode:?}: a texture is linear, normalized, floats or, of one dimension, memory, and one of wrap, clamp, mirror and border"
                    ));
                }
            }
        }
        Ok(Texture { buffer, image })
    }

    /// Returns the description that kernels are given the address of, of elements that begin at an address.
    pub(super) fn description(&self, start: u64) -> Vec<u8> {
        Image {
            start,
            ..self.image
        }
        .encode()
        .to_vec()
    }
}

/// The type of each channel, and how many there are.
fn channels(text: &str) -> Result<(Element, u8), String> {
    let (element, channels) = match text.split_once('x') {
        Some((element, "2")) => (element, 2),
        Some((element, "4")) => (element, 4),
        Some((_, channels)) => return Err(format!("{channels} channels: there are 1, 2 or 4")),
        None => (text, 1),
    };
    Ok((Element::parse(element)?, channels))
}

fn channel(element: Element) -> Result<Channel, String> {
    Ok(match element {
        Element::U8 | Element::U16 | Element::U32 => Channel::Unsigned(element.bytes() as u8),
        Element::I8 | Element::I16 | Element::I32 => Channel::Signed(element.bytes() as u8),
        Element::F16 => Channel::Half,
        Element::F32 => Channel::Float,
        other => return Err(format!("no texture has elements of {other}")),
    })
}

/// One to three sizes, of which none is 0.
fn extents(text: &str) -> Option<[u32; 3]> {
    let mut sizes = [1; 3];
    let mut given = text.split(',');
    for size in &mut sizes {
        let Some(text) = given.next() else { break };
        *size = text.parse().ok().filter(|it| (1..=MOST).contains(it))?;
    }
    (given.next().is_none() && !text.is_empty()).then_some(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_has_rows_and_modes() {
        let texture =
            Texture::parse("texture+linear+wrap+normalized:u8x4[6,5]=zeros").expect("one");
        let Texture { image, buffer } = texture;
        assert_eq!(buffer.bytes(), 120);
        assert_eq!((image.pitches, image.sizes), ([24, 120], [6, 5, 1]));
        assert!(image.is_linear && image.is_normalized && !image.has_integers);
        assert_eq!(image.beyond, [Beyond::Wrap; 3]);
        let plain = Texture::parse("texture+memory:i32[9]=iota").expect("one");
        assert!(plain.image.is_plain && plain.image.has_integers);
        let surface = Texture::parse("surface:f32[4,4,4]").expect("one");
        assert_eq!(surface.buffer.bytes(), 256);
    }

    #[test]
    fn what_is_no_image_is_refused() {
        for (text, expected) in [
            ("texture:f32", "expected such as texture"),
            ("texture:f32[0]", "expected such as texture"),
            ("texture:f32[1,2,3,4]", "expected such as texture"),
            ("texture:f32x3[4]", "3 channels: there are 1, 2 or 4"),
            ("texture:f64[4]", "no texture has elements of f64"),
            ("texture+cubic:f32[4]", "\"cubic\": a texture is linear"),
            ("texture+memory:f32[4,4]", "\"memory\": a texture is linear"),
            ("surface+linear:f32[4]", "a surface has no modes"),
            ("texture:f32[4]=noise", "\"noise\": expected zeros"),
        ] {
            let error = Texture::parse(text).expect_err("refused");
            assert!(error.contains(expected), "{error}");
        }
    }
}
