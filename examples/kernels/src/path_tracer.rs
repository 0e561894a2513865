//! A small path tracer, with the vectors of `glam`.

use cuda_std::prelude::*;
use glam::Vec3;

/// Reflections of a path.
const BOUNCES: u32 = 6;
/// Kept away from a surface, so that a path does not hit it again where it starts.
const NEAR: f32 = 1e-3;

struct Sphere {
    center: Vec3,
    radius: f32,
    /// How much of each colour it reflects.
    albedo: Vec3,
    /// How rough it is, from a mirror, 0, to a diffuse surface, 1.
    roughness: f32,
}

const SPHERES: [Sphere; 4] = [
    Sphere {
        center: Vec3::new(0.0, -1000.5, -3.0),
        radius: 1000.0,
        albedo: Vec3::new(0.55, 0.6, 0.5),
        roughness: 1.0,
    },
    Sphere {
        center: Vec3::new(-1.05, 0.0, -3.0),
        radius: 0.5,
        albedo: Vec3::new(0.85, 0.3, 0.25),
        roughness: 1.0,
    },
    Sphere {
        center: Vec3::new(0.0, 0.0, -3.2),
        radius: 0.5,
        albedo: Vec3::new(0.9, 0.9, 0.9),
        roughness: 0.02,
    },
    Sphere {
        center: Vec3::new(1.05, 0.0, -3.0),
        radius: 0.5,
        albedo: Vec3::new(0.9, 0.75, 0.35),
        roughness: 0.3,
    },
];

/// An image of `width` x `height` pixels, by rows from the top: red, green, blue and 255. A thread
/// for each pixel, x along the rows.
///
/// # Safety
/// `pixels` has room for width x height elements.
#[kernel(max_threads = 256)]
pub unsafe fn trace(pixels: *mut [u8; 4], width: u32, height: u32, samples: u32) {
    let index = thread::index_2d();
    if index.x < width && index.y < height {
        let color = pixel(index.x, index.y, width, height, samples);
        // SAFETY: inside the image; the pixel is this thread's alone.
        unsafe { *pixels.add((index.y * width + index.x) as usize) = color };
    }
}

/// One pixel, from so many paths.
pub fn pixel(x: u32, y: u32, width: u32, height: u32, samples: u32) -> [u8; 4] {
    let mut random = Random::new(y * width + x);
    let mut sum = Vec3::ZERO;
    for _ in 0..samples {
        let right = (x as f32 + random.next() - 0.5 * width as f32) / height as f32;
        let up = (0.5 * height as f32 - y as f32 - random.next()) / height as f32;
        sum += radiance(Vec3::new(right, up, -1.0).normalize(), &mut random);
    }
    let mean = sum / samples as f32;
    // Gamma of 2.
    let byte = |channel: f32| (channel.clamp(0.0, 1.0).sqrt() * 255.0 + 0.5) as u8;
    [byte(mean.x), byte(mean.y), byte(mean.z), 255]
}

/// The light that comes to the camera, at the origin, against `direction`.
fn radiance(mut direction: Vec3, random: &mut Random) -> Vec3 {
    let mut origin = Vec3::ZERO;
    let mut kept = Vec3::ONE;
    for _ in 0..BOUNCES {
        let Some((sphere, distance)) = nearest(origin, direction) else {
            return kept * sky(direction);
        };
        let point = origin + direction * distance;
        let normal = (point - sphere.center) / sphere.radius;
        let mirrored = direction - normal * (2.0 * direction.dot(normal));
        let diffuse = (normal + random.on_sphere()).normalize_or(normal);
        direction = mirrored
            .lerp(diffuse, sphere.roughness)
            .normalize_or(normal);
        origin = point + normal * NEAR;
        kept *= sphere.albedo;
    }
    Vec3::ZERO
}

fn sky(direction: Vec3) -> Vec3 {
    Vec3::ONE.lerp(Vec3::new(0.4, 0.6, 1.0), 0.5 * (direction.y + 1.0))
}

/// The sphere that a ray hits first, and how far away.
fn nearest(origin: Vec3, direction: Vec3) -> Option<(&'static Sphere, f32)> {
    let mut hit: Option<(&'static Sphere, f32)> = None;
    for sphere in &SPHERES {
        let to_center = sphere.center - origin;
        let along = to_center.dot(direction);
        // From the perpendicular, not from squares of lengths, which cancel for large spheres.
        let offset = to_center - direction * along;
        let inside = sphere.radius * sphere.radius - offset.length_squared();
        if inside > 0.0 {
            let distance = along - inside.sqrt();
            if distance > NEAR && hit.is_none_or(|(_, nearest)| distance < nearest) {
                hit = Some((sphere, distance));
            }
        }
    }
    hit
}

/// The generator PCG-RXS-M-XS of O'Neill's "PCG: A Family of Simple Fast Space-Efficient
/// Statistically Good Algorithms for Random Number Generation" (2014).
struct Random(u32);

impl Random {
    fn new(seed: u32) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9) ^ 0x5DEE_CE66);
        random.next();
        random
    }

    /// Uniform in 0..1.
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = ((self.0 >> ((self.0 >> 28) + 4)) ^ self.0).wrapping_mul(277_803_737);
        ((word >> 22 ^ word) >> 8) as f32 / 16_777_216.0
    }

    /// Uniform on the unit sphere.
    fn on_sphere(&mut self) -> Vec3 {
        loop {
            let point = Vec3::new(self.next(), self.next(), self.next()) * 2.0 - Vec3::ONE;
            let length = point.length_squared();
            if length > 1e-4 && length <= 1.0 {
                return point / length.sqrt();
            }
        }
    }
}
