//! How all ranks open their engines together.

use serde::{Deserialize, Serialize};

use super::engine::Engine;
use crate::control::Kind;
use crate::error::RankError;
use crate::nccl::group::{Group, Id};
use crate::nccl::{NcclError, Version, version};
use crate::rank::Rank;

/// The message of each rank to the others before it opens its engine.
#[derive(Serialize, Deserialize)]
struct Card {
    is_gpu: bool,
    /// Why this rank has no NCCL, where it needs it.
    error: Option<String>,
    /// The version of a rank's NCCL.
    version: Option<i32>,
    /// The name by which rank 0's NCCL calls the group of all ranks.
    id: Option<Vec<u8>>,
}

pub(super) fn open(rank: &Rank<'_>) -> Result<Engine, RankError> {
    let is_gpu = !rank.device().properties().is_emulated();
    let nccl = match is_gpu {
        true => Some(prepare(rank)),
        false => None,
    };
    let card = Card {
        is_gpu,
        error: nccl
            .as_ref()
            .and_then(|it| Some(it.as_ref().err()?.to_string())),
        version: nccl.as_ref().and_then(|it| Some(it.as_ref().ok()?.0)),
        id: match &nccl {
            Some(Ok((_, Some(id)))) => Some(id.bytes().to_vec()),
            _ => None,
        },
    };
    let cards = exchange(rank, &card)?;
    same_kind(&cards)?;
    let Some(nccl) = nccl else {
        return Ok(Engine::Host);
    };
    let (version, _) = nccl?;
    for (other, card) in cards.iter().enumerate() {
        if let Some(error) = &card.error {
            return Err(NcclError::OfRank(other, error.clone()).into());
        }
        if let Some(theirs) = card.version.filter(|it| *it != version) {
            return Err(RankError::Nccl(NcclError::Versions {
                rank: other,
                own: Version(version).to_string(),
                other: Version(theirs).to_string(),
            }));
        }
    }
    let id = cards[0].id.as_deref().and_then(Id::from_bytes);
    let id = id.ok_or_else(|| NcclError::OfRank(0, "it sent no id of the group".to_owned()))?;
    Ok(Engine::Nccl(Group::join(rank, id)?))
}

/// The version of this rank's NCCL, and on rank 0 an id for all.
fn prepare(rank: &Rank<'_>) -> Result<(i32, Option<Id>), NcclError> {
    let version = version()?;
    let id = match rank.rank() {
        0 => Some(Id::new()?),
        _ => None,
    };
    Ok((version.0, id))
}

fn exchange(rank: &Rank<'_>, card: &Card) -> Result<Vec<Card>, RankError> {
    let message = serde_json::to_vec(card).expect("plain numbers and texts");
    let round = rank.control().round(Kind::Collective, &message)?;
    let mut cards = Vec::with_capacity(round.len());
    for (other, message) in round.iter().enumerate() {
        let card = serde_json::from_slice(&message[1..]);
        cards.push(card.map_err(|_| RankError::Mismatch {
            rank: other,
            own: "Communicator::new".to_owned(),
            other: "another collective".to_owned(),
        })?);
    }
    Ok(cards)
}

fn same_kind(cards: &[Card]) -> Result<(), RankError> {
    let gpu = cards.iter().position(|it| it.is_gpu);
    let emulated = cards.iter().position(|it| !it.is_gpu);
    match (gpu, emulated) {
        (Some(gpu), Some(emulated)) => Err(RankError::MixedDevices { gpu, emulated }),
        _ => Ok(()),
    }
}
