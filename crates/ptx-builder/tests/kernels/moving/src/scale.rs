use cuda_std::prelude::*;

#[kernel]
#[allow(improper_ctypes_definitions, clippy::missing_safety_doc)]
pub unsafe fn scale(x: &[f32], y: *mut f32) {
    let index = thread::index_1d() as usize;
    if index < x.len() {
        let element = &mut *y.add(index);
        *element = elsewhere::twice(x[index]);
    }
}
