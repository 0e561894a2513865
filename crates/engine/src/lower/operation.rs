//! The method that lowers an instruction: an arm per row of the table of instructions (`ptx::Operation`).

use ptx::Operation;

use super::{Lowered, Lowering, refused};

impl Lowering<'_> {
    /// Lowers an operation. No arm stands for all others, so that a new row does not compile before it has its own.
    #[deny(clippy::wildcard_enum_match_arm)]
    pub(super) fn operation(&mut self, operation: &Operation) -> Lowered<()> {
        use Operation as O;
        match operation {
            // Integers.
            O::IntegerAdd(it) => self.integer_add(it),
            O::IntegerSub(it) => self.integer_sub(it),
            O::IntegerMul(it) => self.integer_mul(it),
            O::IntegerMad(it) => self.integer_mad(it),
            O::Mul24(it) => self.mul24(it),
            O::Mad24(it) => self.mad24(it),
            O::Sad(it) => self.sad(it),
            O::IntegerDiv(it) => self.integer_div(it),
            O::IntegerRem(it) => self.integer_rem(it),
            O::IntegerMin(it) => self.integer_min(it),
            O::IntegerMax(it) => self.integer_max(it),
            O::IntegerAbs(it) => self.integer_abs(it),
            O::IntegerNeg(it) => self.integer_neg(it),
            O::Popc(it) => self.popc(it),
            O::Clz(it) => self.clz(it),
            O::Brev(it) => self.brev(it),
            O::Bfind(it) => self.bfind(it),
            O::Fns(it) => self.fns(it),
            O::Bfe(it) => self.bfe(it),
            O::Bfi(it) => self.bfi(it),
            O::Szext(it) => self.szext(it),
            O::Bmsk(it) => self.bmsk(it),
            O::Dp4a(it) => self.dp4a(it),
            O::Dp2a(it) => self.dp2a(it),
            // Floating point.
            O::FloatAdd(it) => self.float_add(it),
            O::FloatSub(it) => self.float_sub(it),
            O::FloatMul(it) => self.float_mul(it),
            O::Fma(it) => self.fma(it).map_err(|why| refused::fma(it, why)),
            O::FloatDiv(it) => self.float_div(it),
            O::FloatMin(it) => self.float_min(it),
            O::FloatMax(it) => self.float_max(it),
            O::FloatAbs(it) => self.float_abs(it),
            O::FloatNeg(it) => self.float_neg(it),
            O::Rcp(it) => self.rcp(it).map_err(|why| refused::rcp(it, why)),
            O::Sqrt(it) => self.sqrt(it),
            O::Rsqrt(it) => self.rsqrt(it),
            O::Sin(it) => self.sin(it),
            O::Cos(it) => self.cos(it),
            O::Lg2(it) => self.lg2(it),
            O::Ex2(it) => self.ex2(it),
            O::Tanh(it) => self.tanh(it),
            O::Testp(it) => self.testp(it),
            O::Copysign(it) => self.copysign(it),
            // Comparison and logic.
            O::Set(it) => self.set(it),
            O::Setp(it) => self.setp(it),
            O::Selp(it) => self.selp(it),
            O::Slct(it) => self.slct(it),
            O::And(it) => self.and(it),
            O::Or(it) => self.or(it),
            O::Xor(it) => self.xor(it),
            O::Not(it) => self.not(it),
            O::Cnot(it) => self.cnot(it),
            O::Lop3(it) => self.lop3(it),
            O::Shf(it) => self.shf(it),
            O::Shl(it) => self.shl(it),
            O::Shr(it) => self.shr(it),
            O::Video(it) => self.video(it),
            // Movement.
            O::MovVector(it) => self.mov_vector(it),
            O::Unpack(it) => self.unpack(it),
            O::Pack(it) => self.pack(it),
            O::Mov(it) => self.mov(it.d, &it.a),
            O::Shfl(it) => self.shfl(it),
            O::Prmt(it) => self.prmt(it),
            O::CvtPack(it) => self.cvt_pack(it),
            O::CvtFour(it) => self.cvt_four(it).map_err(|why| refused::cvt_four(it, why)),
            O::Cvt(it) => self.cvt(it),
            O::Isspacep(it) => self.isspacep(it),
            O::Cvta(it) => self.cvta(it),
            O::Mapa(it) => self.mapa(it),
            O::Getctarank(it) => self.getctarank(it),
            // Memory.
            O::Ld(it) => self.ld(it),
            O::Ldu(it) => self.ldu(it),
            O::St(it) => self.st(it),
            O::StBulk(it) => self.zeros(it),
            O::StAsync(_) | O::RedAsync(_) => Err(refused::BETWEEN_BLOCKS.to_owned()),
            O::Atom(it) => self.atom(it),
            O::Red(it) => self.red(it),
            O::CreatePolicy(it) => self.create_policy(it),
            // Hints change nothing that a thread sees.
            O::Prefetch(_)
            | O::Prefetchu(_)
            | O::ApplyPriority(_)
            | O::Discard(_)
            | O::CpAsyncBulkPrefetch(_)
            | O::Pmevent(_)
            | O::Setmaxnreg(_) => Ok(()),
            O::Griddepcontrol(it) => self.grid_dependency(*it),
            // Asynchronous copies.
            O::CpAsync(it) => self.copy_async(it),
            O::CpAsyncCommitGroup => self.commit_copies(),
            O::CpAsyncWaitGroup(but) => self.wait_for_copies(*but),
            O::CpAsyncWaitAll => self.wait_for_all_copies(),
            O::CpAsyncMbarrierArrive(it) => self.arrive_by_copies(it),
            O::CpAsyncBulk(it) => {
                let copied = self.bulk_copy(it);
                copied.map_err(|why| refused::bulk_copy(it, why))
            }
            O::CpReduceAsyncBulk(it) => {
                let reduced = self.bulk_reduction(it);
                reduced.map_err(|why| refused::bulk_reduction(it, why))
            }
            O::CpAsyncBulkTensor(it) => {
                let copied = self.tensor_copy(it);
                copied.map_err(|why| refused::tensor_copy(it, why))
            }
            O::TensorMapReplace(it) => self
                .replace_in_tensor_map(it)
                .map_err(|_| refused::TENSOR_MAP.to_owned()),
            O::TensorMapCopy(it) => self.copy_tensor_map(it),
            O::CpAsyncBulkCommitGroup => self.commit_bulk(),
            O::CpAsyncBulkWaitGroup(it) => self.wait_for_bulk(it),
            // Control: what ends a block is lowered where it does.
            O::Branch(_)
            | O::BranchIndexed(_)
            | O::Call(_)
            | O::Ret(_)
            | O::Exit
            | O::Trap
            | O::Brkpt
            | O::Barrier(_)
            | O::Stacksave(_)
            | O::Stackrestore(_)
            | O::Alloca(_) => Err("it stands within a block that it ends".to_owned()),
            O::Nanosleep(_) => self.nanosleep(),
            // Synchronisation.
            O::BarrierWarp(it) => self.barrier_warp(&it.mask),
            O::BarrierCluster(it) => self.barrier_of_cluster(it),
            O::Fence(it) => self.fence(it),
            O::Vote(it) => self.vote(it),
            O::Match(it) => self.matching(it),
            O::Activemask(it) => self.activemask(it),
            O::Redux(it) => self.redux(it),
            O::Elect(it) => self.elect(it.d, it.p, &it.mask),
            O::MbarrierInit(it) => self.mbarrier_init(it),
            O::MbarrierInval(it) => self.mbarrier_inval(it),
            O::MbarrierTransaction(it) => self.mbarrier_transaction(it),
            O::MbarrierArrive(it) => self.arrive(it),
            O::MbarrierWait(it) => self.wait(it),
            O::MbarrierPendingCount(it) => self.pending_count(it),
            // Matrices.
            O::WmmaLoad(it) => self
                .wmma_load(it)
                .map_err(|_| refused::UNDEFINED.to_owned()),
            O::WmmaStore(it) => self
                .wmma_store(it)
                .map_err(|_| refused::UNDEFINED.to_owned()),
            O::WmmaMma(it) => self.wmma_mma(it).map_err(|_| refused::wmma(it)),
            O::Mma(it) => self.mma(it).map_err(|why| refused::mma(it, why)),
            O::Ldmatrix(it) => self.ldmatrix(it).map_err(|_| refused::ELEMENTS.to_owned()),
            O::Stmatrix(it) => self.stmatrix(it).map_err(|_| refused::ELEMENTS.to_owned()),
            O::Movmatrix(it) => self.movmatrix(it),
            O::WgmmaMma(it) => self.wgmma(it).map_err(|why| refused::wgmma(it, why)),
            O::WgmmaFence => self.wgmma_fence(),
            O::WgmmaCommitGroup => self.commit_products(),
            O::WgmmaWaitGroup(but) => self.wait_for_products(*but),
            O::TryCancel(it) => self.try_cancel(it).map_err(|_| refused::CANCEL.to_owned()),
            O::IsCanceled(it) => self.is_canceled(it),
            O::FirstCanceled(it) => self.first_canceled(it),
            O::Tcgen05Alloc(it) => self.allocate_columns(it).map_err(refused::tensor_memory),
            O::Tcgen05Dealloc(it) => self.free_columns(it).map_err(refused::tensor_memory),
            O::Tcgen05Relinquish(group) => self.relinquish(*group).map_err(refused::tensor_memory),
            O::Tcgen05Load(it) => self.tensor_load(it),
            O::Tcgen05Store(it) => self.tensor_store(it),
            O::Tcgen05Copy(it) => self
                .copy_to_tensor_memory(it)
                .map_err(refused::tensor_memory),
            O::Tcgen05Mma(it) => self.tensor_product(it).map_err(refused::tensor_memory),
            O::Tcgen05Commit(it) => self
                .commit_tensor_memory(it)
                .map_err(refused::tensor_memory),
            O::Tcgen05Wait(it) => self.wait_for_tensor_memory(it),
            // The order of threads is that of their accesses to tensor memory, too.
            O::Tcgen05Fence(_) => Ok(()),

            O::Other(it) if matches!(it.name.as_str(), "tex" | "tld4" | "suld" | "sust") => {
                self.image(it).map_err(|_| refused::IMAGES.to_owned())
            }
            O::Other(it) => Err(refused::taken_apart(&it.name)),
        }
    }
}
