//! Settings and trust on a real disk, and parsers under damage.

#[cfg(test)]
mod claude_servers;
#[cfg(test)]
mod collection;
#[cfg(test)]
mod definitions;
mod layers;
mod parsers;
mod smoke;
mod trusted;
#[cfg(test)]
mod wild;
#[cfg(test)]
mod world;
