//! Where the kernels of a module come from: which source, by the digests that `#[kernel]` wrote into their PTX.

use std::collections::HashMap;

use cuda_std::launch::{Entry, Signature};

use super::DriverError;

/// The mark that `#[kernel]` writes before the name of each kernel.
const MARK: &str = "// ptx-std kernel ";

/// The digests of the kernels of a module, by their names.
#[derive(Debug, Default)]
pub(super) struct Origin(HashMap<String, Digest>);

/// The source that a kernel was made of, as its module says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Digest {
    One(u64),
    /// Its lines contradict each other.
    Several,
}

impl Origin {
    /// Those of PTX. Machine code has none.
    pub(super) fn of(text: &str) -> Origin {
        let mut kernels = HashMap::new();
        // A search, and no look at each line: a device is opened for each of a thousand tests.
        let marks = text.match_indices(MARK);
        for (name, digest) in marks.filter_map(|(at, _)| described(text, at)) {
            kernels
                .entry(name.to_owned())
                .and_modify(|known| {
                    if *known != Digest::One(digest) {
                        *known = Digest::Several;
                    }
                })
                .or_insert(Digest::One(digest));
        }
        Origin(kernels)
    }

    /// Refuses a kernel whose PTX was not made of the source that the entry was made of.
    pub(super) fn check<S: Signature>(&self, entry: &Entry<S>) -> Result<(), DriverError> {
        let Some(expected) = entry.digest() else {
            return Ok(());
        };
        let kernel = entry.name();
        match self.0.get(kernel) {
            Some(Digest::One(digest)) if *digest == expected => Ok(()),
            Some(_) => Err(DriverError::OtherSource { kernel }),
            None => Err(DriverError::UnknownSource { kernel }),
        }
    }
}

/// The name and the digest of the line that `#[kernel]` wrote, if the line begins with the mark at `at`.
fn described(text: &str, at: usize) -> Option<(&str, u64)> {
    let before = text[..at].trim_end_matches([' ', '\t']);
    if !before.is_empty() && !before.ends_with('\n') {
        return None;
    }
    let line = text[at + MARK.len()..].lines().next()?.trim_end();
    // The file's name, between them, may hold anything.
    let (name, _) = line.split_once(" file=")?;
    let (_, digest) = line.rsplit_once(" digest=")?;
    Some((name, digest.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use cuda_std::launch::{Foreign, In, Out};

    use super::*;
    use crate::{Device, DeviceChoice, Embedded, LaunchConfig, Stream};

    mod first {
        use cuda_std::prelude::*;

        #[kernel]
        pub(super) fn scale(x: &[f32], mut y: Output<f32>, a: f32) {
            y.own_with(x).for_each(|(x, y)| *y = a * x);
        }
    }

    mod second {
        use cuda_std::prelude::*;

        #[kernel]
        pub(super) fn scale(x: &[f32], mut y: Output<f32>, a: f32) {
            y.own_with(x).for_each(|(x, y)| *y = a + x);
        }
    }

    /// Kernels of one source, but for the type behind a name: as a `cfg` makes it differ on the GPU.
    mod one_type {
        macro_rules! taking {
            ($name:ident: $ty:ty) => {
                pub(super) mod $name {
                    use cuda_std::prelude::*;

                    type Handle = $ty;

                    #[kernel]
                    pub(in super::super) fn handle(handle: Handle) {
                        let _ = handle;
                    }
                }
            };
        }
        taking!(first: u32);
        taking!(second: f32);
    }

    /// Returns the PTX of a kernel `scale` that writes to `x`, with the line that `#[kernel]` wrote on the other machine.
    fn ptx(line: &str) -> String {
        format!(
            ".version 7.0\n.target sm_70\n.address_size 64\n{line}
            .visible .entry scale(.param .u64 x, .param .u64 xn, .param .u64 y, .param .u64 yn, .param .f32 a)
            {{
                .reg .b64 %rd<2>;
                .reg .b32 %r<2>;
                ld.param.u64 %rd1, [x];
                mov.u32 %r1, 7;
                st.global.u32 [%rd1], %r1;
                ret;
            }}"
        )
    }

    fn line(digest: u64) -> String {
        format!(
            "\t// ptx-std kernel scale file=a digest=1 of.rs line=3 params=8,8,8,8,4 max_threads=0 \
             min_blocks=0 block=0,0,0 allow= digest={digest}"
        )
    }

    fn device(text: &str) -> Device {
        let ptx: Embedded<'_> = (70, text, None);
        Device::open(&DeviceChoice::Cpu, &[ptx]).expect("PTX")
    }

    fn digest<S: Signature>(entry: Entry<S>) -> u64 {
        entry.digest().expect("of a kernel of ours")
    }

    fn one() -> LaunchConfig {
        LaunchConfig::blocks(1, 1)
    }

    #[test]
    fn ptx_of_other_source_is_refused_before_it_runs() {
        let stranger = device(&ptx("// not ours"));
        let error = stranger.prepare(first::scale::entry(), one()).err();
        assert!(
            matches!(error, Some(DriverError::UnknownSource { kernel: "scale" })),
            "{error:?}"
        );
        let other = device(&ptx(&line(digest(second::scale::entry()))));
        let error = other.prepare(first::scale::entry(), one()).err();
        assert!(
            matches!(error, Some(DriverError::OtherSource { kernel: "scale" })),
            "{error:?}"
        );
        let both = [first::scale::entry(), first::scale::entry()].map(digest);
        let both = format!("{}\n{}", line(both[0]), line(both[1] + 1));
        let error = device(&ptx(&both))
            .prepare(first::scale::entry(), one())
            .err();
        assert!(matches!(error, Some(DriverError::OtherSource { .. })));
    }

    #[test]
    fn ptx_of_the_kernels_own_source_runs_and_any_that_is_vouched_for() -> Result<(), DriverError> {
        let own = device(&ptx(&line(digest(first::scale::entry()))));
        own.prepare(first::scale::entry(), one())?;
        let stranger = device(&ptx("// not ours"));
        // SAFETY: it writes one element of `x`, which this test lends to nobody else.
        let vouched = unsafe { first::scale::entry().of_any_ptx() };
        let prepared = stranger.prepare(vouched, one())?;
        let x = stranger.buffer_filled(1, 1.5f32)?;
        let mut y = stranger.buffer_filled(1, 1.5f32)?;
        prepared.run(
            &Stream::new(&stranger)?,
            (x.slice(..), y.slice_mut(..), 2.0),
        )?;
        assert_eq!(x.to_vec()?[0].to_bits(), 7);
        Ok(())
    }

    #[test]
    fn a_file_is_compared_and_a_kernel_of_others_is_not() -> Result<(), DriverError> {
        let path =
            std::env::temp_dir().join(format!("ridgepoint-origin-{}.ptx", std::process::id()));
        std::fs::write(&path, ptx(&line(1))).expect("written");
        let loaded = device(&ptx("")).load(&path);
        std::fs::remove_file(&path).expect("written above");
        let loaded = loaded?;
        let error = loaded.prepare(first::scale::entry(), one()).err();
        assert!(
            matches!(error, Some(DriverError::OtherSource { .. })),
            "{error:?}"
        );
        let foreign = Entry::<Foreign<(In<f32>, u64, Out<f32>, u64, f32)>>::foreign("scale");
        loaded.prepare(foreign, one())?;
        Ok(())
    }

    #[test]
    fn a_digest_tells_sources_and_layouts_apart() {
        let all = [
            digest(first::scale::entry()),
            digest(second::scale::entry()),
            digest(one_type::first::handle::entry()),
            digest(one_type::second::handle::entry()),
        ];
        for (i, digest) in all.iter().enumerate() {
            assert!(!all[..i].contains(digest), "{all:?}");
        }
    }
}
