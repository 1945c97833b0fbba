"""What the streamer may choose: `schema` names every setting, `load` reads them from a TOML file."""
