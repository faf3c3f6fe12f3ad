//! The always-on side: HTTP and WebSocket API, web page, chat channels, cron.
//!
//! Nothing lives here yet. It will speak to the mind through [`base::Client`] and keep its queues in the store.
