//! The kit against itself and against recorded traffic.

#[cfg(test)]
mod cassettes;
#[cfg(test)]
mod client;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod server;
#[cfg(test)]
mod wires;
