#!/bin/sh
# Starts ForgetMeNot from this folder and opens its dock in the browser: `sh start.sh`, or a double-click.
file=$0
while [ -h "$file" ]; do  # a link on the desktop, also one to another link
    target=$(readlink "$file")
    case $target in
        /*) file=$target ;;
        *) file=$(dirname "$file")/$target ;;
    esac
done
cd "$(dirname "$file")" || exit 1
for python in python3 python3.14 python3.13 python3.12 python3.11; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        found=$python
        break
    fi
done
if [ -n "${found:-}" ]; then
    "$found" "$PWD/scripts/run.py" start "$@" && exit 0
    code=$?
else
    echo "ForgetMeNot needs Python 3.11 or newer: install it from https://www.python.org/downloads/ and start this again."
    code=1
fi
if [ -t 0 ]; then  # a window that was opened for this would close before anybody has read why
    printf 'Press Enter to close. '
    read -r _
fi
exit "$code"
