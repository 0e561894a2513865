use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};
use cuda_std::address_space;
use cuda_std::prelude::*;
use cuda_std::shared::dynamic_shared_mem;

#[address_space(shared)]
static mut TILE: [MaybeUninit<f32>; 32] = [const { MaybeUninit::uninit() }; 32];

#[address_space(shared)]
static UNCHANGING: MaybeUninit<[f32; 32]> = MaybeUninit::uninit();

#[address_space(shared)]
static COUNT: AtomicU32 = AtomicU32::new(0);

#[address_space(constant)]
static WEIGHTS: [f32; 2] = [0.25, 0.75];

#[address_space(global)]
static mut LAST: u32 = 7;

extern "C" {
    // Both for programs that are linked with others: nothing here uses them.
    #[cfg(target_os = "cuda")]
    #[cfg_attr(
        target_os = "cuda",
        nvvm_internal::addrspace(4),
        allow(improper_ctypes)
    )]
    #[allow(dead_code)]
    static LAUNCH_PARAMETERS: [u32; 4];

    #[cuda_std::address_space(constant)]
    #[allow(dead_code)]
    static OTHERS: [u32; 4];
}

#[kernel]
pub unsafe fn statics(values: *mut f32) {
    #[address_space(shared)]
    static mut IN_THE_KERNEL: [MaybeUninit<f32>; 32] = [const { MaybeUninit::uninit() }; 32];
    #[address_space(shared)]
    static mut SINGLE: MaybeUninit<f32> = MaybeUninit::uninit();

    let own = thread::thread_idx_x() as usize;
    TILE[own].write(*values.add(own));
    IN_THE_KERNEL[own].write(WEIGHTS[own % 2]);
    *(UNCHANGING.as_ptr() as *mut f32).add(own) = 1.0;
    if own == 0 {
        SINGLE.write(2.0);
        COUNT.store(0, Ordering::Relaxed);
    }
    thread::sync_threads();
    COUNT.load(Ordering::Relaxed);
    LAST = COUNT.load(Ordering::Relaxed) + thread::block_idx_x();
    *values.add(own) = TILE[31 - own].assume_init()
        + IN_THE_KERNEL[31 - own].assume_init()
        + *(UNCHANGING.as_ptr() as *const f32).add(31 - own)
        + SINGLE.assume_init();
}

#[kernel]
pub unsafe fn arrays(values: *mut f32) {
    let fixed = cuda_std::shared_array![f32; 32];
    let sized = dynamic_shared_mem::<f32>();
    let own = thread::thread_idx_x() as usize;
    *fixed.add(own) = *values.add(own);
    *sized.add(own) = *values.add(own);
    thread::sync_threads();
    *values.add(own) = *fixed.add(31 - own) + *sized.add(31 - own);
}
