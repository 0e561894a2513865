//! Names of the registers that the hardware sets.

use crate::{Axis, SpecialRegister};

/// `%tid` and `x`.
pub(crate) fn with_axis(name: &str, axis: &str) -> Option<SpecialRegister> {
    let axis = Axis::from_name(axis)?;
    Some(match name {
        "%tid" => SpecialRegister::Tid(axis),
        "%ntid" => SpecialRegister::Ntid(axis),
        "%ctaid" => SpecialRegister::Ctaid(axis),
        "%nctaid" => SpecialRegister::Nctaid(axis),
        "%clusterid" => SpecialRegister::Clusterid(axis),
        "%nclusterid" => SpecialRegister::Nclusterid(axis),
        "%cluster_ctaid" => SpecialRegister::ClusterCtaid(axis),
        "%cluster_nctaid" => SpecialRegister::ClusterNctaid(axis),
        _ => return None,
    })
}

/// Those without an axis.
pub(crate) fn alone(name: &str) -> Option<SpecialRegister> {
    Some(match name {
        "%cluster_ctarank" => SpecialRegister::ClusterCtarank,
        "%cluster_nctarank" => SpecialRegister::ClusterNctarank,
        "%is_explicit_cluster" => SpecialRegister::IsExplicitCluster,
        "%laneid" => SpecialRegister::Laneid,
        "%warpid" => SpecialRegister::Warpid,
        "%nwarpid" => SpecialRegister::Nwarpid,
        "%smid" => SpecialRegister::Smid,
        "%nsmid" => SpecialRegister::Nsmid,
        "%gridid" => SpecialRegister::Gridid,
        "%lanemask_eq" => SpecialRegister::LanemaskEq,
        "%lanemask_le" => SpecialRegister::LanemaskLe,
        "%lanemask_lt" => SpecialRegister::LanemaskLt,
        "%lanemask_ge" => SpecialRegister::LanemaskGe,
        "%lanemask_gt" => SpecialRegister::LanemaskGt,
        "%clock" => SpecialRegister::Clock,
        "%clock_hi" => SpecialRegister::ClockHi,
        "%clock64" => SpecialRegister::Clock64,
        "%globaltimer" => SpecialRegister::Globaltimer,
        "%globaltimer_lo" => SpecialRegister::GlobaltimerLo,
        "%globaltimer_hi" => SpecialRegister::GlobaltimerHi,
        "%total_smem_size" => SpecialRegister::TotalSmemSize,
        "%aggr_smem_size" => SpecialRegister::AggrSmemSize,
        "%dynamic_smem_size" => SpecialRegister::DynamicSmemSize,
        "%reserved_smem_offset_begin" => SpecialRegister::ReservedSmemOffsetBegin,
        "%reserved_smem_offset_end" => SpecialRegister::ReservedSmemOffsetEnd,
        "%reserved_smem_offset_cap" => SpecialRegister::ReservedSmemOffsetCap,
        "%current_graph_exec" => SpecialRegister::CurrentGraphExec,
        _ => return numbered(name),
    })
}

/// Whether a register of the hardware is called so, all of a vector such as `%tid` too.
pub(crate) fn is_special(name: &str) -> bool {
    with_axis(name, "x").is_some() || alone(name).is_some()
}

fn numbered(name: &str) -> Option<SpecialRegister> {
    let number = |text: &str, most: u8| {
        text.parse()
            .ok()
            .filter(|&number: &u8| number <= most && !text.starts_with('+'))
    };
    if let Some(rest) = name.strip_prefix("%envreg") {
        return number(rest, 31).map(SpecialRegister::Envreg);
    }
    if let Some(rest) = name.strip_prefix("%reserved_smem_offset_") {
        return number(rest, 1).map(SpecialRegister::ReservedSmemOffset);
    }
    let rest = name.strip_prefix("%pm")?;
    match rest.strip_suffix("_64") {
        Some(rest) => number(rest, 7).map(SpecialRegister::Pm64),
        None => number(rest, 7).map(SpecialRegister::Pm),
    }
}
