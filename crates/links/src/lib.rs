//! Reaching out: child-process supervisor, JSON-RPC, LSP, MCP and ACP.
//!
//! Nothing lives here yet. LSP and MCP clients arrive with the tools that use them; both will stand on one JSON-RPC core.
