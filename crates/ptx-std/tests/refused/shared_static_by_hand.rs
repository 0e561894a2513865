extern crate ptx_std as cuda_std;

fn table() -> &'static u32 {
    static ANY: cuda_std::shared::Static<&'static u32, 5> = cuda_std::shared::Static::new();
    *ANY
}

fn main() {}
