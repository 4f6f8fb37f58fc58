//! The choices of one execution: by them it is this one and no other, and can be had again.

use std::fmt;
use std::str::FromStr;

/// One choice that was made, and between how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Choice {
    chosen: usize,
    of: usize,
}

/// Makes the choices of one execution after another.
///
/// Zero is the choice that changes nothing: whoever was at work goes on. So an execution is described by
/// its few other choices.
#[derive(Debug)]
pub(super) struct Choices {
    made: Vec<Choice>,
    at: usize,
    beyond: Beyond,
}

/// What is chosen where nothing is laid down.
#[derive(Debug)]
enum Beyond {
    First,
    Chance(fastrand::Rng),
}

impl Choices {
    /// The first of all executions in depth-first order; [`Choices::advance`] gives the next.
    pub(super) const fn depth_first() -> Self {
        Self { made: Vec::new(), at: 0, beyond: Beyond::First }
    }

    /// Choices by chance.
    pub(super) fn random(seed: u64) -> Self {
        Self { beyond: Beyond::Chance(fastrand::Rng::with_seed(seed)), ..Self::depth_first() }
    }

    /// The choices of an execution that was seen before.
    pub(super) fn replaying(schedule: &Schedule) -> Self {
        let length = schedule.0.last().map_or(0, |(at, _)| at + 1);
        let mut made = vec![Choice { chosen: 0, of: usize::MAX }; length];
        for (at, chosen) in &schedule.0 {
            if let Some(choice) = made.get_mut(*at) {
                choice.chosen = *chosen;
            }
        }
        Self { made, ..Self::depth_first() }
    }

    /// Chooses between as many things as there are weights, which only chance looks at.
    pub(super) fn choose(&mut self, weights: &[u32]) -> usize {
        let of = weights.len();
        if of < 2 {
            return 0;
        }
        if self.at == self.made.len() {
            let chosen = match &mut self.beyond {
                Beyond::First => 0,
                Beyond::Chance(random) => weighted(random, weights),
            };
            self.made.push(Choice { chosen, of });
        }
        let chosen = match self.made.get_mut(self.at) {
            Some(choice) => {
                // A schedule from elsewhere knows only what was chosen, and may not fit.
                choice.of = of;
                choice.chosen = choice.chosen.min(of - 1);
                choice.chosen
            }
            None => 0,
        };
        self.at += 1;
        chosen
    }

    /// Goes on to the next execution in depth-first order; false where there is none.
    pub(super) fn advance(&mut self) -> bool {
        self.made.truncate(self.at);
        self.at = 0;
        while let Some(last) = self.made.last_mut() {
            if last.chosen + 1 < last.of {
                last.chosen += 1;
                return true;
            }
            self.made.pop();
        }
        false
    }

    /// What was chosen so far.
    pub(super) fn schedule(&self) -> Schedule {
        let made = self.made.iter().take(self.at).enumerate();
        Schedule(made.filter(|(_, choice)| choice.chosen > 0).map(|(at, choice)| (at, choice.chosen)).collect())
    }
}

fn weighted(random: &mut fastrand::Rng, weights: &[u32]) -> usize {
    let mut drawn = random.u32(0..weights.iter().sum::<u32>().max(1));
    for (index, weight) in weights.iter().enumerate() {
        match drawn.checked_sub(*weight) {
            None => return index,
            Some(rest) => drawn = rest,
        }
    }
    0
}

/// The choices of an execution that were not the first: `12=1,15=3`, or `-` where there are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule(Vec<(usize, usize)>);

impl Schedule {
    /// The schedules with one choice less, or with an earlier one in its place.
    pub(super) fn simpler(&self) -> impl Iterator<Item = Self> + '_ {
        let without = (0..self.0.len()).map(|index| {
            let mut choices = self.0.clone();
            choices.remove(index);
            Self(choices)
        });
        let lower = (0..self.0.len()).filter_map(|index| {
            let mut choices = self.0.clone();
            let (_, chosen) = choices.get_mut(index)?;
            *chosen -= 1;
            (*chosen > 0).then_some(Self(choices))
        });
        without.chain(lower)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("-");
        }
        for (number, (at, chosen)) in self.0.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            write!(f, "{comma}{at}={chosen}")?;
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unclear = || format!("{text:?} is no schedule; one looks like 12=1,15=3");
        let mut choices = Vec::new();
        for choice in text.split(',').filter(|_| text != "-") {
            let (at, chosen) = choice.split_once('=').ok_or_else(unclear)?;
            choices.push((at.parse().map_err(|_| unclear())?, chosen.parse().map_err(|_| unclear())?));
        }
        if !choices.is_sorted_by(|(earlier, _), (later, _)| earlier < later) || choices.iter().any(|(_, of)| *of == 0) {
            return Err(unclear());
        }
        Ok(Self(choices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All sequences in which the n-th choice is between as many things as `shape` says.
    fn all(shape: &[usize]) -> Vec<Vec<usize>> {
        let mut choices = Choices::depth_first();
        let mut seen = Vec::new();
        loop {
            seen.push(shape.iter().map(|of| choices.choose(&vec![1; *of])).collect());
            if !choices.advance() {
                return seen;
            }
        }
    }

    #[test]
    fn depth_first_meets_every_sequence_once() {
        let seen = all(&[2, 1, 3]);
        assert_eq!(seen, [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 0, 0], [1, 0, 1], [1, 0, 2]]);
    }

    #[test]
    fn a_schedule_replays_its_execution() {
        let mut chance = Choices::random(7);
        let shape = [3, 1, 4, 2, 5, 3, 2, 2];
        let chosen: Vec<usize> = shape.iter().map(|of| chance.choose(&vec![1; *of])).collect();
        let schedule: Schedule = chance.schedule().to_string().parse().unwrap();
        let mut again = Choices::replaying(&schedule);
        let replayed: Vec<usize> = shape.iter().map(|of| again.choose(&vec![1; *of])).collect();
        assert_eq!(replayed, chosen);
        assert!(chosen.iter().any(|chosen| *chosen > 0));
    }

    #[test]
    fn a_schedule_that_is_none_is_refused() {
        for text in ["", "1", "1=x", "2=1,1=1", "1=0"] {
            assert!(text.parse::<Schedule>().unwrap_err().contains("12=1,15=3"), "{text}");
        }
        assert_eq!("-".parse::<Schedule>().unwrap().to_string(), "-");
    }
}
