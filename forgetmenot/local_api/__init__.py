"""The local interface for other programs on this computer: read only, off until it is switched on (docs/CONNECT.md).

`answers` reads what may be told, `server` guards and routes, `events` tells what happens, `description` is the OpenAPI
document, `mcp_server` offers the same to agents.
"""
