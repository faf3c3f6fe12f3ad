//! Settings and trust on a real disk, and parsers under damage.

mod layers;
mod parsers;
mod smoke;
mod trusted;
#[cfg(test)]
mod world;
