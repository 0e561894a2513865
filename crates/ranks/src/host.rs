//! Collectives of emulated devices, through the host: messages of all ranks, and sums in the order of the ranks.

use bytemuck::Zeroable;

use crate::control::{Control, Kind};
use crate::element::{Element, Reduction};
use crate::error::RankError;

/// A collective as all ranks must call it: same operation, same type, same lengths.
pub(crate) struct Call {
    /// The name of the value that is compared, for the error where it differs.
    pub(crate) name: String,
}

impl Call {
    /// Every rank's elements, in the order of the ranks.
    pub(crate) fn exchange<T: Element>(
        &self,
        control: &Control,
        own: &[T],
    ) -> Result<Vec<Vec<T>>, RankError> {
        let name = self.name.as_bytes();
        let mut message = (name.len() as u32).to_le_bytes().to_vec();
        message.extend_from_slice(name);
        message.extend_from_slice(bytemuck::cast_slice(own));
        let round = control.round(Kind::Collective, &message)?;
        let parts = round.iter().enumerate();
        parts
            .map(|(rank, it)| self.values(rank, &it[1..]))
            .collect()
    }

    /// The elements of a rank's message.
    fn values<T: Element>(&self, rank: usize, message: &[u8]) -> Result<Vec<T>, RankError> {
        let split = message.split_first_chunk::<4>().and_then(|(len, rest)| {
            let len = u32::from_le_bytes(*len) as usize;
            Some((rest.get(..len)?, rest.get(len..)?))
        });
        let (name, bytes) = split.unwrap_or((b"an unknown collective", &[]));
        if name != self.name.as_bytes() {
            return Err(RankError::Mismatch {
                rank,
                own: self.name.clone(),
                other: String::from_utf8_lossy(name).into_owned(),
            });
        }
        let mut values = vec![<T as Zeroable>::zeroed(); bytes.len() / size_of::<T>()];
        bytemuck::cast_slice_mut::<T, u8>(&mut values).copy_from_slice(bytes);
        Ok(values)
    }
}

/// The values of all ranks as one, from rank 0 on.
pub(crate) fn reduced<T: Element>(all: &[Vec<T>], by: Reduction) -> Vec<T> {
    let mut values = all[0].clone();
    for other in &all[1..] {
        for (value, other) in values.iter_mut().zip(other) {
            *value = value.reduced(*other, by);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_taken_in_the_order_of_the_ranks() {
        // In another order the small ones would count.
        let all = [vec![1.0f32], vec![1e8], vec![-1e8], vec![0.5]];
        assert_eq!(reduced(&all, Reduction::Sum), [0.5]);
        assert_eq!(reduced(&all, Reduction::Max), [1e8]);
        assert_eq!(reduced(&all, Reduction::Min), [-1e8]);
        assert_eq!(
            reduced(&[vec![250u8, 1], vec![10, 2]], Reduction::Sum),
            [4, 3]
        );
    }
}
