#!/bin/sh
# What a double-click on macOS starts: the same as start.sh.
exec sh "$(dirname "$0")/start.sh" "$@"
