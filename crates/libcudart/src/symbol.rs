//! Variables of the program on the device.

use crate::arguments::Out;
use crate::program::variable;

runtime! {
    fn cudaGetSymbolAddress(to: Out<u64>, host: usize) { to.check()?; to.put(variable(host)?.0) }
    fn cudaGetSymbolSize(to: Out<usize>, host: usize) { to.check()?; to.put(variable(host)?.1) }
}
