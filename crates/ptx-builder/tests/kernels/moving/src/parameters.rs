use cuda_std::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Scene<'a> {
    pub radii: &'a [f32],
    pub scale: f32,
}

#[derive(Clone, Copy)]
pub struct Mask<const N: usize>(pub [bool; N]);

#[kernel]
pub unsafe fn named_lifetime<'a>(x: &'a [f32], scene: &'a Scene<'a>, y: *mut f32) {
    *y = x[0] * scene.scale;
}

#[kernel]
pub unsafe fn unwritten_lifetime(scene: &Scene, y: *mut f32) {
    *y = scene.radii[0] * scene.scale;
}

#[kernel]
pub unsafe fn anonymous_lifetime(scene: &Scene<'_>, scenes: &[Scene<'_>], y: *mut f32) {
    *y = scene.radii[0] * scenes[1].scale;
}

#[kernel]
pub unsafe fn by_value(scene: Scene, mask: Mask<3>, y: *mut f32) {
    *y = if mask.0[1] {
        scene.radii[0]
    } else {
        scene.scale
    };
}

#[kernel]
pub unsafe fn rows(rows: &[&[f32]], y: *mut f32) {
    *y = rows[0][0];
}

#[kernel]
pub unsafe fn patterns((a, mut b): (f32, f32), [c, d]: [f32; 2], _: u32, ref e: f32, y: *mut f32) {
    b += a;
    *y = b + c + d + e;
}

#[kernel]
#[allow(improper_ctypes_definitions)]
pub unsafe extern "C" fn with_an_abi(x: &[f32], y: *mut f32) {
    *y = x[0];
}
