//! The variables of one call.

use std::collections::BTreeMap;

use crate::scenario::template;
use crate::scenario::value::Value;

/// Names and values, those of `@param` included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    values: BTreeMap<String, Value>,
}

impl Variables {
    pub fn set(&mut self, name: impl Into<String>, value: Value) {
        self.values.insert(name.into(), value);
    }
}

impl template::Variables for Variables {
    fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }
}
