"""The icon of the built program beside the clock, in a process of its own.

macOS wants a program's main thread for an icon, and a fault in an icon must not end the bot: so the bot
(`app/tray_icon`) starts this process, sends it menus as lines of JSON, and reads which entry was chosen.
The process ends with the bot.
"""

# What the built program is started with to be this process: packaging/program.py.
TRAY = "tray-icon"
