#!/bin/sh
# What a double-click on macOS starts: the same as start.sh.
file=$0
while [ -h "$file" ]; do
    target=$(readlink "$file")
    case $target in
        /*) file=$target ;;
        *) file=$(dirname "$file")/$target ;;
    esac
done
exec sh "$(dirname "$file")/start.sh" "$@"
