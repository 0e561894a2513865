use super::*;

const FLAT: Geometry = Geometry::Flat {
    dimensions: 2,
    is_layered: false,
};
const FLOATS: Way = Way::Channels { are_floats: true };

/// Four columns and two rows of the numbers 0 to 7.
fn image() -> Image {
    Image {
        start: 0,
        pitches: [16, 32],
        sizes: [4, 2, 1],
        channel: Channel::Float,
        channels: 1,
        beyond: [Beyond::Clamp; 3],
        is_linear: false,
        is_normalized: false,
        has_integers: false,
        is_plain: false,
        border: [9.0; 4],
    }
}

fn at(image: &Image, geometry: Geometry, x: f32, y: f32) -> f32 {
    let read = |address: u64| Ok::<_, ()>(u128::from((address as f32 / 4.0).to_bits()));
    let got = image.fetch((geometry, FLOATS), (0, Place::Real([x, y, 0.0])), read);
    f32::from_bits(got.expect("read")[0])
}

#[test]
fn a_description_is_read_as_it_was_written() {
    let image = Image {
        channel: Channel::Signed(2),
        channels: 4,
        beyond: [Beyond::Wrap, Beyond::Mirror, Beyond::Border],
        is_linear: true,
        has_integers: true,
        ..image()
    };
    assert_eq!(Image::of(&image.encode()), Some(image));
    assert_eq!(Image::of(&[0; BYTES]), None);
}

#[test]
fn the_nearest_element_is_the_one_that_the_coordinate_is_in() {
    let image = image();
    assert_eq!(at(&image, FLAT, 0.0, 0.0), 0.0);
    assert_eq!(at(&image, FLAT, 2.99, 1.5), 6.0);
    assert_eq!(at(&image, FLAT, -5.0, 9.0), 4.0);
}

#[test]
fn linear_weights_have_eight_bits() {
    let image = Image {
        is_linear: true,
        ..image()
    };
    assert_eq!(at(&image, FLAT, 1.5, 0.5), 1.0);
    assert_eq!(at(&image, FLAT, 2.0, 0.5), 1.5);
    assert_eq!(at(&image, FLAT, 2.0, 1.0), 3.5);
    // 1 / 3 is 85 / 256.
    assert_eq!(at(&image, FLAT, 1.5 + 1.0 / 3.0, 0.5), 1.0 + 85.0 / 256.0);
}

#[test]
fn beyond_the_image_is_what_its_mode_says() {
    let with = |beyond, is_normalized| Image {
        beyond: [beyond; 3],
        is_normalized,
        ..image()
    };
    assert_eq!(at(&with(Beyond::Border, false), FLAT, -0.5, 0.5), 9.0);
    assert_eq!(at(&with(Beyond::Wrap, true), FLAT, 1.25, 0.0), 1.0);
    assert_eq!(at(&with(Beyond::Wrap, true), FLAT, -0.25, 0.0), 3.0);
    assert_eq!(at(&with(Beyond::Mirror, true), FLAT, 1.25, 0.0), 2.0);
    // Without normalized coordinates these two are the edge.
    assert_eq!(at(&with(Beyond::Wrap, false), FLAT, 5.0, 0.0), 3.0);
    assert_eq!(at(&with(Beyond::Mirror, false), FLAT, 5.0, 0.0), 3.0);
}

#[test]
fn integers_are_read_as_they_are_or_from_minus_one_to_one() {
    let image = Image {
        channel: Channel::Signed(1),
        channels: 2,
        ..image()
    };
    let read = |_| Ok::<_, ()>(0x7f80);
    let place = (0, Place::Real([0.0; 3]));
    let floats = image.fetch((FLAT, FLOATS), place, read).expect("read");
    assert_eq!(floats.map(f32::from_bits), [-1.0, 1.0, 0.0, 1.0]);
    let integers = Way::Channels { are_floats: false };
    let integers = image.fetch((FLAT, integers), place, read).expect("read");
    assert_eq!(integers.map(u32::cast_signed), [-128, 127, 0, 1]);
}

#[test]
fn four_neighbours_are_gathered_from_the_lower_left_on() {
    let read = |address: u64| Ok::<_, ()>(u128::from((address as f32 / 4.0).to_bits()));
    let way = Way::Gather {
        channel: 0,
        are_floats: true,
    };
    let got = image().fetch((FLAT, way), (0, Place::Real([2.0, 1.0, 0.0])), read);
    assert_eq!(got.expect("read").map(f32::from_bits), [5.0, 6.0, 2.0, 1.0]);
}

#[test]
fn each_direction_meets_a_face() {
    let axes = [
        [1.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, -1.0],
    ];
    for (index, axis) in axes.into_iter().enumerate() {
        assert_eq!(face(axis), (index as u32, [0.5, 0.5]));
    }
}

#[test]
fn a_surface_is_addressed_by_bytes() {
    let image = image();
    assert_eq!(image.surface(2, None, [4, 1, 0], 4), Some(20));
    assert_eq!(image.surface(2, None, [16, 1, 0], 4), None);
    assert_eq!(image.surface(2, None, [0, 2, 0], 4), None);
    assert_eq!(image.nearest([99, 9, 0], 4), [12, 1, 0]);
}
