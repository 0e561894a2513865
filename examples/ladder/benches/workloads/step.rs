//! A step's product of square matrices as a workload: what it launches, moves and multiplies, and what should come out.

#[path = "../../../../crates/gemm/tests/support/given.rs"]
mod given;
#[path = "../../../../crates/gemm/tests/support/number.rs"]
mod number;

use cuda_std::bf16;
use gemm::Order;
use given::Given;
use ladder::{Kernel, LadderError, Matrices, Sizes, Step};
use ridgepoint::driver::{Device, DriverError};
use ridgepoint::model::{TensorType, Work};
use ridgepoint::prelude::*;

/// `C = A B` of `n` x `n`.
pub(crate) struct Ladder;

impl Workload for Ladder {
    fn name(&self) -> &str {
        "ladder"
    }

    fn axes(&self) -> Vec<Axis> {
        let steps = Step::ALL.map(Step::name);
        let sizes = Axis::whole("n", [256, 512, 1024, 2048, 4096, 8192]).within(8..=1 << 15);
        vec![
            sizes
                .on_emulator([128, 256])
                .help("rows and columns of A, B and C"),
            Axis::one_of("step", steps, steps).help("the kernel"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let n = at.size("n");
        let size = n as u32;
        let sizes = Sizes {
            m: size,
            n: size,
            k: size,
        };
        let named = |step: &Step| step.name() == at.text("step");
        let step = Step::ALL.into_iter().find(named).expect("one of the axis");
        let plan = step
            .plan(at.device(), sizes)
            .map_err(|error| error.to_string())?;
        let given = move || Given::<bf16>::new([n; 3]);
        let allocate = move |device: &'d Device| {
            let given = given();
            let matrices = Matrices::new(device, &plan, [&given.a(), &given.b(Order::ByColumns)]);
            matrices.map_err(refused)
        };
        let check = move |it: &Matrices| given().check(it.result());

        // SAFETY: the matrices and their maps have the plan's sizes.
        let case = unsafe {
            match plan.kernel {
                Kernel::Pointers(entry) => {
                    let arrays = at.launch(entry, plan.config).arrays(allocate).check(check);
                    arrays.arguments_unchecked(move |it| it.pointers(&plan))
                }
                Kernel::Maps(entry) => {
                    let launch = at.launch(entry, plan.config).cluster(plan.cluster);
                    let arrays = launch.arrays(allocate).check(check);
                    arrays.arguments_unchecked(move |it| it.mapped(&plan))
                }
                Kernel::Gemm(entry, library) => {
                    let launch = at.launch(entry, plan.config).cluster(plan.cluster);
                    let arrays = launch.arrays(allocate).check(check);
                    arrays.arguments_unchecked(move |it| it.copied(&library))
                }
            }
        };
        let tensor = Operation::Tensor(TensorType::Bf16);
        let padded = plan.padded.map(|size| size as f64).iter().product::<f64>();
        let beside = 2.0 * (padded - (n as f64).powi(3));
        Ok(case
            .reads::<bf16>(2 * n * n)
            .writes::<bf16>(n * n)
            .operations(Precision::F32, tensor, 2 * n * n * n)
            .overhead(Work::default().operations(Precision::F32, tensor, beside)))
    }
}

fn refused(error: LadderError) -> DriverError {
    match error {
        LadderError::Driver(error) | LadderError::Gemm(gemm::GemmError::Driver(error)) => error,
        other => unreachable!("the plan's own sizes: {other}"),
    }
}
