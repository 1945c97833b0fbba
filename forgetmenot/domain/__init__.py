"""The types that packages exchange: frozen, without behaviour.

Times are integers: milliseconds since the epoch, UTC. Twitch's ids are text. Texts of episodes, recaps and notes
name people as `<@id>` (see `forgetmenot.text.mentions`): a name is looked up last, when something is shown.
"""
