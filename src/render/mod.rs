//! Draws worlds on devices.
