"""The process of the icon: `python -m forgetmenot.tray`, or the built program with the word TRAY."""

import sys


def main() -> None:
    """Show the icon until the bot closes the pipe."""
    if sys.platform == "linux":
        from forgetmenot.tray import linux

        linux.main()
    else:
        from forgetmenot.tray import windows_macos

        windows_macos.main()


if __name__ == "__main__":
    main()
