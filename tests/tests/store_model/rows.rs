//! Our own stores' tables equal the model.

use proptest::prelude::*;

use crate::pair::Pair;
use crate::steps::steps;
use crate::{Subject, config};

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn random_calls_on_tables_in_memory_equal_the_model(steps in steps()) {
        let subject = Subject::memory();
        Pair::run(subject.tables, Some(subject.clock), steps)?;
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn random_calls_on_embedded_tables_equal_the_model(steps in steps()) {
        let subject = Subject::embedded();
        Pair::run(subject.tables, Some(subject.clock), steps)?;
    }
}
