//! The face: panes, composer, transcript view, markdown, diff, pickers.
//!
//! Nothing lives here yet. It will speak to the mind through [`base::Client`] alone.
