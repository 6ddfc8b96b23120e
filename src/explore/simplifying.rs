//! Makes the schedule of a failure easier to follow.

use super::ground::Ground;
use super::judging::Found;
use super::orders::switches;
use crate::runner::RunError;
use crate::schedule::together;

/// Plays an equivalent schedule with fewer switches, and keeps it if it comes to the same.
pub fn simplify(ground: &mut Ground, found: &mut Found) -> Result<(), RunError> {
    let path = &found.played.path;
    let choices = together(&path.steps);
    let is_whole = path.steps.len() == path.choices.len() && found.played.history.unfinished.is_none();
    if switches(&choices) >= switches(&path.choices) || !is_whole {
        return Ok(());
    }
    let again = ground.play_again(choices, &found.failure.left_out)?;
    if let Some(simpler) = again.filter(|simpler| simpler.outcome == found.played.outcome) {
        found.failure.history = simpler.history.clone();
        found.played = simpler;
    }
    Ok(())
}
