"""The names of the commands, and where each is."""

COMMANDS = {
    **dict.fromkeys(("start", "setup"), "bot"),
    "demo": "play",
    **dict.fromkeys(("dock", "login", "logout", "doctor", "autostart", "uninstall", "run", "listen"), "bot"),
    **dict.fromkeys(("memory", "viewer"), "memory"),
    "learn": "learn",
    **dict.fromkeys(("why", "cost", "report", "actions", "recall", "prompt", "policy"), "inspect"),
    "replay": "play",
}
"""The module of each command."""
FOR_DEVELOPERS = ("recall", "prompt", "policy", "replay")
"""What stands behind `forgetmenot dev`."""
UNLISTED = {*FOR_DEVELOPERS, "run", "listen"}
"""What the help does not list; the last two are older names of `start`."""
