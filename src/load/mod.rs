//! Many workers against one database: what they did and how long it took.

pub mod statistics;
