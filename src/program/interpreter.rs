//! Walks through a program without doing any IO.
